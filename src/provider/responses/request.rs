//! The body of a request: a prefix that is written once, the items, and what this server takes.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::super::options::Options;
use super::super::sendable::quoted;
use super::super::told::Told;
use super::super::{Encoded, Request, written};

/// The unchanging part of every request of a session, serialised.
pub(super) struct Prefix {
    /// Everything up to the first item of the conversation.
    head: String,
}

impl Prefix {
    pub(super) fn new(options: &Options, request: &Request<'_>) -> Prefix {
        let model = quoted(&options.model);
        let (mut instructions, mut written) = (String::new(), String::new());
        if !request.system.is_empty() {
            instructions = format!(r#","instructions":{}"#, quoted(request.system));
        }
        if !request.tools.is_empty() {
            let tools = request.tools.iter().map(|spec| {
                json!({
                    "type": "function",
                    "name": spec.name,
                    "description": spec.description,
                    "parameters": spec.parameters,
                    "strict": false,
                })
            });
            written = format!(r#","tools":{}"#, tools.collect::<Value>());
        }
        let head = format!(r#"{{"model":{model}{instructions}{written},"input":["#);
        Prefix { head }
    }

    /// Assembles the body; the items are only copied.
    pub(super) fn body(
        &self,
        options: &Options,
        messages: &[Encoded],
        dialect: &Dialect,
    ) -> Vec<u8> {
        let mut body = written::begun(&self.head, messages, 0);
        for Encoded(items) in messages {
            let unsealed =
                dialect.knows(Lesson::Sealed).then(|| without_reasoning(items)).flatten();
            let items = unsealed.as_deref().unwrap_or(items);
            if items.is_empty() {
                continue;
            }
            if !body.ends_with(b"[") {
                body.push(b',');
            }
            body.extend_from_slice(items.as_bytes());
        }
        body.push(b']');
        body.extend_from_slice(dialect.fields(options).as_bytes());
        body.push(b'}');
        body
    }
}

/// Takes sealed reasoning out of the items of a reply; `None` where there is none.
fn without_reasoning(items: &str) -> Option<String> {
    if !items.contains("encrypted_content") {
        return None;
    }
    let mut items: Vec<Value> = serde_json::from_str(&format!("[{items}]")).ok()?;
    items.retain(|item| item["type"] != "reasoning");
    for item in items.iter_mut().filter_map(Value::as_object_mut) {
        // What is known by its id there is known together with its reasoning only.
        item.shift_remove("id");
    }
    Some(items.iter().map(Value::to_string).collect::<Vec<String>>().join(","))
}

/// How this server wants its requests, as far as it has told by refusing some.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Dialect {
    pub(super) learned: BTreeSet<Lesson>,
}

/// One thing that a server does not take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Lesson {
    Include,
    Store,
    Effort,
    Limit,
    Stream,
    /// Sealed reasoning cannot be read there, such as that of another model.
    Sealed,
}

impl std::fmt::Display for Lesson {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Lesson::Include => "`include` is left out from now on",
            Lesson::Store => "`store` is left out from now on",
            Lesson::Effort => "`reasoning` is left out from now on",
            Lesson::Limit => "`max_output_tokens` is left out from now on",
            Lesson::Stream => "replies come whole from now on",
            Lesson::Sealed => "earlier reasoning is left out from now on",
        })
    }
}

impl Dialect {
    /// Learns from a refusal what this server does not take; each lesson once.
    pub(super) fn learn(&mut self, told: &Told, options: &Options) -> Option<Lesson> {
        let lesson = if told.says(&["encrypted content", "invalid_encrypted_content", "rs_"]) {
            Lesson::Sealed
        } else if told.blames("include") {
            Lesson::Include
        } else if told.blames("store") {
            Lesson::Store
        } else if options.effort.is_some()
            && (told.blames("reasoning") || told.says(&["reasoning.effort", "reasoning_effort"]))
        {
            Lesson::Effort
        } else if options.max_tokens.is_some() && told.blames("max_output_tokens") {
            Lesson::Limit
        } else if options.stream && told.blames("stream") {
            Lesson::Stream
        } else {
            return None;
        };
        self.learned.insert(lesson).then_some(lesson)
    }

    fn knows(&self, lesson: Lesson) -> bool {
        self.learned.contains(&lesson)
    }

    /// Returns the fields after the items, those of `options.extra` last.
    fn fields(&self, options: &Options) -> String {
        let mut fields = Map::new();
        let mut set = |key: &str, value: Value| fields.insert(key.to_owned(), value);
        set("stream", (options.stream && !self.knows(Lesson::Stream)).into());
        if !self.knows(Lesson::Store) {
            set("store", false.into());
        }
        if !self.knows(Lesson::Include) {
            set("include", json!(["reasoning.encrypted_content"]));
        }
        if let Some(effort) = options.effort.as_ref().filter(|_| !self.knows(Lesson::Effort)) {
            set("reasoning", json!({ "effort": effort }));
        }
        if let Some(tokens) = options.max_tokens.filter(|_| !self.knows(Lesson::Limit)) {
            set("max_output_tokens", tokens.into());
        }
        fields.extend(options.extra.iter().map(|(key, value)| (key.clone(), value.clone())));
        let written = fields.iter().map(|(key, value)| format!(",{}:{value}", quoted(key)));
        written.collect()
    }
}
