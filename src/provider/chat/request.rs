//! The body of a request: a prefix that is written once, the messages, and what this server takes.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::message::ToolSpec;

use super::super::sendable::quoted;
use super::super::told::Told;
use super::super::{Encoded, Request};
use super::Options;
use super::encode::{ASSISTANT_START, TOOL_START, USER_START};

/// What an assistant says where a server wants one between a tool and a person.
const BETWEEN: &str = r#"{"role":"assistant","content":"Understood."}"#;

/// The unchanging part of every request of a session, serialised.
pub(super) struct Prefix {
    system: String,
    specs: Vec<ToolSpec>,
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
        Prefix { system: request.system.to_owned(), specs: request.tools.to_vec(), head, tools }
    }

    pub(super) fn is_of(&self, request: &Request<'_>) -> bool {
        self.system == request.system && self.specs == request.tools
    }

    /// Assembles the body; the messages are only copied.
    pub(super) fn body(&self, messages: &[Encoded], dialect: &Dialect, extra: &str) -> Vec<u8> {
        let length = messages.iter().map(|Encoded(text)| text.len() + 1).sum::<usize>();
        let mut body = Vec::with_capacity(self.head.len() + length + self.tools.len() + 512);
        body.extend_from_slice(self.head.as_bytes());
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
        body.extend_from_slice(extra.as_bytes());
        body.push(b'}');
        body
    }
}

/// How this server wants its requests, as far as it has told by refusing some.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Dialect {
    stream: bool,
    effort: Option<String>,
    /// The most tokens of a reply.
    limit: Option<u64>,
    learned: BTreeSet<Lesson>,
}

/// One thing that a server does not take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Lesson {
    NoStreamOptions,
    NoStream,
    NoEffort,
    /// Tools are taken only without reasoning.
    EffortNone,
    /// The limit is called `max_completion_tokens`.
    OtherLimit,
    /// Assistant messages need `reasoning_content`, though it be empty.
    Reasoning,
    /// An assistant speaks between a tool and a person.
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
            Lesson::NoEffort => "`reasoning_effort` is left out from now on",
            Lesson::EffortNone => "with tools it does not reason, so `reasoning_effort` is `none`",
            Lesson::OtherLimit => "the token limit is `max_completion_tokens` from now on",
            Lesson::Reasoning => "every reply goes back with `reasoning_content` from now on",
            Lesson::Alternate => "a reply is put between a tool and a person from now on",
            Lesson::EmptyContent => "calls go back with an empty text from now on",
            Lesson::ShortIds => "ids of calls go back shortened from now on",
        })
    }
}

impl Dialect {
    pub(super) fn new(options: &Options) -> Dialect {
        let (effort, limit) = (options.effort.clone(), options.max_tokens);
        Dialect { stream: options.stream, effort, limit, learned: BTreeSet::new() }
    }

    /// Learns from a refusal what this server does not take.
    ///
    /// Each lesson is learned once, so a request that is refused for another reason is not
    /// repeated for ever.
    pub(super) fn learn(&mut self, told: &Told, has_tools: bool) -> Option<Lesson> {
        let lesson = self.lesson(told, has_tools)?;
        self.learned.insert(lesson).then_some(lesson)
    }

    fn lesson(&self, told: &Told, has_tools: bool) -> Option<Lesson> {
        let speaks_of_effort = told.blames("reasoning_effort") || told.says(&["reasoning_effort"]);
        if self.streams() && !self.knows(Lesson::NoStreamOptions) && told.blames("stream_options") {
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

    fn knows(&self, lesson: Lesson) -> bool {
        self.learned.contains(&lesson)
    }

    fn streams(&self) -> bool {
        self.stream && !self.knows(Lesson::NoStream)
    }

    fn effort(&self) -> Option<&str> {
        let usual =
            if self.knows(Lesson::EffortNone) { Some("none") } else { self.effort.as_deref() };
        usual.filter(|_| !self.knows(Lesson::NoEffort))
    }

    /// Returns the fields after messages and tools.
    fn fields(&self) -> String {
        let mut fields = vec![format!(r#","stream":{}"#, self.streams())];
        if self.streams() && !self.knows(Lesson::NoStreamOptions) {
            fields.push(r#","stream_options":{"include_usage":true}"#.to_owned());
        }
        if let Some(effort) = self.effort() {
            fields.push(format!(r#","reasoning_effort":{}"#, quoted(effort)));
        }
        if let Some(tokens) = self.limit {
            let other = self.knows(Lesson::OtherLimit);
            let name = if other { "max_completion_tokens" } else { "max_tokens" };
            fields.push(format!(r#","{name}":{tokens}"#));
        }
        fields.concat()
    }

    /// Writes one message as this server wants it.
    fn write(&self, message: &str, previous: &str, body: &mut Vec<u8>) {
        let shortened = self.knows(Lesson::ShortIds).then(|| with_short_ids(message)).flatten();
        let message = shortened.as_deref().unwrap_or(message);
        let is_turn = previous.starts_with(TOOL_START) && message.starts_with(USER_START);
        if is_turn && self.knows(Lesson::Alternate) {
            body.extend_from_slice(BETWEEN.as_bytes());
            body.push(b',');
        }
        let mut rest = message;
        if let Some(fields) = message.strip_prefix(ASSISTANT_START) {
            body.extend_from_slice(ASSISTANT_START.as_bytes());
            rest = fields;
            let has_reasoning = || message.contains(r#""reasoning_content":"#);
            if self.knows(Lesson::Reasoning) && !has_reasoning() {
                body.extend_from_slice(br#""reasoning_content":"","#);
            }
            if self.knows(Lesson::EmptyContent)
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
    if told.says(&ids) && told.says(&shape) {
        Some(Lesson::ShortIds)
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

/// Rewrites a message that names calls, so that each id is nine letters and digits of its hash.
fn with_short_ids(message: &str) -> Option<String> {
    let mut message: Value = serde_json::from_str(message).ok()?;
    let shorten = |id: &mut Value| {
        if let Some(text) = id.as_str() {
            *id = short_id(text).into();
        }
    };
    if let Some(id) = message.get_mut("tool_call_id") {
        shorten(id);
    }
    let calls = message.get_mut("tool_calls").and_then(Value::as_array_mut);
    calls.into_iter().flatten().filter_map(|call| call.get_mut("id")).for_each(shorten);
    Some(message.to_string())
}

fn short_id(id: &str) -> String {
    let is_short = id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if is_short { id.to_owned() } else { blake3::hash(id.as_bytes()).to_hex()[..9].to_owned() }
}
