//! The body of a request: a prefix that is written once, the messages, and what this server takes.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};

use serde_json::{Map, Value};

use super::super::connection::Connection;
use super::super::options::Options;
use super::super::sendable::quoted;
use super::super::told::Told;
use super::super::{Encoded, Request, written};
use super::effort::Field;
use super::encode::{ASSISTANT_START, TOOL_START, USER_START};

/// What an assistant says where a server wants one between a tool and a person.
const BETWEEN: &str = r#"{"role":"assistant","content":"Understood."}"#;

/// What one maker takes for the signature of a call that its model did not make.
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

/// The unchanging part of every request of a session, serialised.
pub(super) struct Prefix {
    /// Up to the first message of the conversation.
    head: String,
    /// The list of tools, as a field; empty where there is none.
    tools: String,
}

impl Prefix {
    pub(super) fn new(options: &Options, request: &Request<'_>) -> Prefix {
        let mut head = format!(r#"{{"model":{},"messages":["#, quoted(&options.model));
        if !request.system.is_empty() {
            head.push_str(r#"{"role":"system","content":"#);
            head.push_str(&quoted(request.system));
            head.push('}');
        }
        let specs = request.tools.iter().map(|spec| {
            serde_json::json!({ "type": "function", "function": {
                "name": spec.name,
                "description": spec.description,
                "parameters": spec.parameters,
            }})
        });
        let tools = match specs.collect() {
            Value::Array(specs) if specs.is_empty() => String::new(),
            specs => format!(r#","tools":{specs}"#),
        };
        Prefix { head, tools }
    }

    /// Assembles the body; the messages are only copied.
    pub(super) fn body(&self, messages: &[Encoded], dialect: &Dialect) -> Vec<u8> {
        let mut body = written::begun(&self.head, messages, self.tools.len());
        let mut previous = "";
        for Encoded(message) in messages.iter().filter(|Encoded(text)| !text.is_empty()) {
            if !body.ends_with(b"[") {
                body.push(b',');
            }
            dialect.write(message, previous, &mut body);
            previous = message;
        }
        body.push(b']');
        body.extend_from_slice(self.tools.as_bytes());
        body.extend_from_slice(dialect.fields().as_bytes());
        body.push(b'}');
        body
    }
}

/// How this server wants its requests, as far as it has told by refusing some.
#[derive(Debug)]
pub(super) struct Dialect {
    stream: bool,
    effort: Option<String>,
    /// Where the effort goes.
    effort_field: Field,
    /// The most tokens of a reply.
    limit: Option<u64>,
    /// Fields that the settings add, as they are.
    extra: Map<String, Value>,
    learned: BTreeSet<Lesson>,
    /// Messages that had to be rewritten, so that each is only once.
    rewritten: RefCell<HashMap<String, String>>,
}

/// One thing that a server does not take.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Lesson {
    NoStreamOptions,
    NoStream,
    NoEffort,
    /// Tools are taken only without reasoning.
    EffortNone,
    /// The limit is called `max_completion_tokens`.
    OtherLimit,
    /// A field that the settings add is not taken.
    Without(String),
    /// Assistant messages need `reasoning_content`, though it be empty.
    Reasoning,
    /// Assistant messages hold nothing but content and calls.
    Plain,
    /// Calls need the signature of a thought; there is one that stands for none.
    Signatures,
    /// An assistant speaks between a tool and a person, and between two words of the person.
    Alternate,
    /// Beside calls, content is an empty text instead of null.
    EmptyContent,
    /// Ids of calls, made by another server, are too long or hold other letters.
    ShortIds,
}

impl std::fmt::Display for Lesson {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Lesson::NoStreamOptions => "`stream_options` is left out from now on",
            Lesson::NoStream => "replies come whole from now on",
            Lesson::NoEffort => "how much to reason is left out from now on",
            Lesson::EffortNone => "with tools it does not reason, so `reasoning_effort` is `none`",
            Lesson::OtherLimit => "the token limit is `max_completion_tokens` from now on",
            Lesson::Without(name) => {
                return write!(f, "`{name}` is left out from now on");
            }
            Lesson::Reasoning => "every reply goes back with `reasoning_content` from now on",
            Lesson::Plain => "replies go back as text and calls only from now on",
            Lesson::Signatures => "calls go back with a signature from now on",
            Lesson::Alternate => "a reply is put between a tool and a person from now on",
            Lesson::EmptyContent => "calls go back with an empty text from now on",
            Lesson::ShortIds => "ids of calls go back shortened from now on",
        })
    }
}

impl Dialect {
    pub(super) fn new(connection: &Connection) -> Dialect {
        let Connection { server, options, .. } = connection;
        Dialect {
            effort_field: Field::of(&server.host, server.loopback),
            stream: options.stream,
            effort: options.effort.clone(),
            limit: options.max_tokens,
            extra: options.extra.clone(),
            learned: BTreeSet::new(),
            rewritten: RefCell::default(),
        }
    }

    /// Learns from a refusal what this server does not take.
    ///
    /// Each lesson is learned once, so a request that is refused for another reason is not
    /// repeated for ever.
    pub(super) fn learn(&mut self, told: &Told, has_tools: bool) -> Option<Lesson> {
        let lesson = self.lesson(told, has_tools)?;
        self.rewritten.get_mut().clear();
        self.learned.insert(lesson.clone()).then_some(lesson)
    }

    fn lesson(&self, told: &Told, has_tools: bool) -> Option<Lesson> {
        let speaks_of_effort = told.blames("reasoning_effort")
            || told.says(&["reasoning_effort"])
            || self.effort_fields().iter().any(|(name, _)| told.blames(name));
        let added = self.extra.keys().find(|name| told.blames(name));
        if let Some(name) = added.filter(|name| !self.knows(&Lesson::Without((*name).clone()))) {
            Some(Lesson::Without(name.clone()))
        } else if self.streams()
            && !self.knows(&Lesson::NoStreamOptions)
            && told.blames("stream_options")
        {
            Some(Lesson::NoStreamOptions)
        } else if speaks_of_effort && has_tools && self.wants_none(told) {
            Some(Lesson::EffortNone)
        } else if speaks_of_effort && self.effort().is_some() {
            Some(Lesson::NoEffort)
        } else if self.limit.is_some() && told.blames("max_tokens") {
            Some(Lesson::OtherLimit)
        } else if self.streams() && (told.blames("stream") || told.says(&["not support streaming"]))
        {
            Some(Lesson::NoStream)
        } else {
            lesson_about_messages(told)
        }
    }

    fn wants_none(&self, told: &Told) -> bool {
        self.effort() != Some("none") && told.says(&["tool"])
    }

    fn knows(&self, lesson: &Lesson) -> bool {
        self.learned.contains(lesson)
    }

    fn streams(&self) -> bool {
        self.stream && !self.knows(&Lesson::NoStream)
    }

    fn effort(&self) -> Option<&str> {
        let usual =
            if self.knows(&Lesson::EffortNone) { Some("none") } else { self.effort.as_deref() };
        usual.filter(|_| !self.knows(&Lesson::NoEffort))
    }

    fn effort_fields(&self) -> Vec<(&'static str, Value)> {
        // That a server does not reason with tools, it says of the first maker's field.
        let field = if self.knows(&Lesson::EffortNone) { Field::Effort } else { self.effort_field };
        self.effort().map(|effort| field.asks(effort)).unwrap_or_default()
    }

    /// Returns the fields after messages and tools.
    fn fields(&self) -> String {
        let mut fields = vec![format!(r#","stream":{}"#, self.streams())];
        if self.streams() && !self.knows(&Lesson::NoStreamOptions) {
            fields.push(r#","stream_options":{"include_usage":true}"#.to_owned());
        }
        for (name, value) in self.effort_fields() {
            fields.push(format!(r#","{name}":{value}"#));
        }
        if let Some(tokens) = self.limit {
            let other = self.knows(&Lesson::OtherLimit);
            let name = if other { "max_completion_tokens" } else { "max_tokens" };
            fields.push(format!(r#","{name}":{tokens}"#));
        }
        for (name, value) in &self.extra {
            if !self.knows(&Lesson::Without(name.clone())) {
                fields.push(format!(",{}:{value}", quoted(name)));
            }
        }
        fields.concat()
    }

    /// Writes one message as this server wants it.
    fn write(&self, message: &str, previous: &str, body: &mut Vec<u8>) {
        let after = previous.starts_with(TOOL_START) || previous.starts_with(USER_START);
        if after && message.starts_with(USER_START) && self.knows(&Lesson::Alternate) {
            body.extend_from_slice(BETWEEN.as_bytes());
            body.push(b',');
        }
        let rewriting = [Lesson::ShortIds, Lesson::Plain, Lesson::Signatures];
        let names_calls = message.starts_with(TOOL_START) || message.starts_with(ASSISTANT_START);
        if !names_calls || !rewriting.iter().any(|lesson| self.knows(lesson)) {
            return self.write_assistant(message, body);
        }
        let mut rewritten = self.rewritten.borrow_mut();
        if let Some(known) = rewritten.get(message) {
            return self.write_assistant(known, body);
        }
        let text = rewrite(message, &self.learned).unwrap_or_else(|| message.to_owned());
        self.write_assistant(&text, body);
        rewritten.insert(message.to_owned(), text);
    }

    fn write_assistant(&self, message: &str, body: &mut Vec<u8>) {
        let mut rest = message;
        if let Some(fields) = message.strip_prefix(ASSISTANT_START) {
            body.extend_from_slice(ASSISTANT_START.as_bytes());
            rest = fields;
            let has_reasoning = || message.contains(r#""reasoning_content":"#);
            if self.knows(&Lesson::Reasoning) && !has_reasoning() {
                body.extend_from_slice(br#""reasoning_content":"","#);
            }
            if self.knows(&Lesson::EmptyContent)
                && let Some(fields) = rest.strip_prefix(r#""content":null"#)
            {
                body.extend_from_slice(br#""content":"""#);
                rest = fields;
            }
        }
        body.extend_from_slice(rest.as_bytes());
    }
}

/// Learns what the messages must look like.
fn lesson_about_messages(told: &Told) -> Option<Lesson> {
    let missing = ["missing", "must", "required", "pass"];
    let no_text = ["null", "none", "string", "required", "missing"];
    let ids = ["tool call id", "tool_call_id", "tool_calls[", "].id"];
    let shape = ["length", "too long", "a-z", "characters"];
    let foreign = ["reasoning", "extra_content", "refusal", "annotations"];
    let unknown = ["unsupported", "not permitted", "extra inputs", "unknown", "unrecognized"];
    if told.says(&ids) && told.says(&shape) {
        Some(Lesson::ShortIds)
    } else if told.says(&["thought_signature"]) && told.says(&missing) {
        Some(Lesson::Signatures)
    } else if told.says(&["messages"]) && told.says(&foreign) && told.says(&unknown) {
        Some(Lesson::Plain)
    } else if told.says(&["reasoning_content"]) && told.says(&missing) {
        Some(Lesson::Reasoning)
    } else if told.says(&["after role", "must alternate"]) {
        Some(Lesson::Alternate)
    } else if told.says(&["content"]) && told.says(&no_text) {
        Some(Lesson::EmptyContent)
    } else {
        None
    }
}

/// Rewrites a message of the assistant or a tool by what was learned.
fn rewrite(message: &str, learned: &BTreeSet<Lesson>) -> Option<String> {
    let mut message: Map<String, Value> = serde_json::from_str(message).ok()?;
    if learned.contains(&Lesson::Plain) && message.get("role")? == "assistant" {
        message.retain(|key, _| matches!(key.as_str(), "role" | "content" | "tool_calls"));
    }
    let shortens = learned.contains(&Lesson::ShortIds);
    if let Some(id) = message.get_mut("tool_call_id").filter(|_| shortens) {
        shorten(id);
    }
    let calls = message.get_mut("tool_calls").and_then(Value::as_array_mut);
    let calls = calls.into_iter().flatten().filter_map(Value::as_object_mut);
    for (position, call) in calls.enumerate() {
        if learned.contains(&Lesson::Plain) {
            call.retain(|key, _| matches!(key.as_str(), "id" | "type" | "function"));
        }
        if learned.contains(&Lesson::Signatures)
            && position == 0
            && !call.contains_key("extra_content")
        {
            let google = serde_json::json!({ "google": { "thought_signature": NO_SIGNATURE } });
            call.insert("extra_content".to_owned(), google);
        }
        if let Some(id) = call.get_mut("id").filter(|_| shortens) {
            shorten(id);
        }
    }
    serde_json::to_string(&message).ok()
}

/// Makes an id nine letters and digits of its hash.
fn shorten(id: &mut Value) {
    if let Some(text) = id.as_str() {
        *id = short_id(text).into();
    }
}

fn short_id(id: &str) -> String {
    let is_short = id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if is_short { id.to_owned() } else { blake3::hash(id.as_bytes()).to_hex()[..9].to_owned() }
}
