//! The body of a request: a prefix that is written once, the messages, and marks for the cache.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::super::options::Options;
use super::super::sendable::quoted;
use super::super::told::Told;
use super::super::{Encoded, Request, written};
use super::encode::{END, OUTCOME_START, USER_START};

/// The most tokens of a reply where nothing else is set; the field must be there.
const USUAL_LIMIT: u64 = 32_000;

/// Up to where a cached beginning reaches. Four are allowed: system, tools, two messages.
const MARK: &str = r#","cache_control":{"type":"ephemeral"}"#;

/// The unchanging part of every request of a session, serialised.
pub(super) struct Prefix {
    /// Everything up to the first message of the conversation.
    head: String,
}

impl Prefix {
    pub(super) fn new(options: &Options, request: &Request<'_>, dialect: &Dialect) -> Prefix {
        let mark = if dialect.marks() { MARK } else { "" };
        let model = quoted(&options.model);
        let (mut written, mut text) = (String::new(), String::new());
        if !request.tools.is_empty() {
            let tools = request.tools.iter().map(|spec| {
                json!({
                    "name": spec.name,
                    "description": spec.description,
                    "input_schema": spec.parameters,
                })
                .to_string()
            });
            let mut tools = tools.collect::<Vec<String>>().join(",");
            tools.insert_str(tools.len() - 1, mark);
            written = format!(r#","tools":[{tools}]"#);
        }
        if !request.system.is_empty() {
            let system = quoted(request.system);
            text = format!(r#","system":[{{"type":"text","text":{system}{mark}}}]"#);
        }
        let head = format!(r#"{{"model":{model}{written}{text},"messages":["#);
        Prefix { head }
    }

    /// Assembles the body; the messages are only copied.
    pub(super) fn body(
        &self,
        options: &Options,
        messages: &[Encoded],
        dialect: &Dialect,
    ) -> Vec<u8> {
        let mut body = written::begun(&self.head, messages, 0);
        // Where messages of the person's side end, so that the last two can be marked.
        let mut ends = Vec::new();
        let mut user_before = false;
        for message in merged(messages, dialect.keeps_thoughts()) {
            let user = message.starts_with(USER_START);
            if user && user_before {
                // All that is said to the model between two replies is one message.
                body.truncate(body.len() - END.len());
                body.push(b',');
                body.extend_from_slice(&message.as_bytes()[USER_START.len()..]);
                ends.pop();
            } else {
                if !body.ends_with(b"[") {
                    body.push(b',');
                }
                body.extend_from_slice(message.as_bytes());
            }
            if user {
                // The mark belongs into the last block.
                ends.push(body.len() - END.len() - 1);
            }
            user_before = user;
        }
        if dialect.marks() {
            for end in ends.into_iter().rev().take(2) {
                body.splice(end..end, MARK.bytes());
            }
        }
        body.push(b']');
        body.extend_from_slice(dialect.fields(options).as_bytes());
        body.push(b'}');
        body
    }
}

/// Returns the messages to send, in the order in which the server wants them: outcomes of calls
/// before words. Thoughts are taken out where the server does not take its own back.
fn merged(messages: &[Encoded], keeps_thoughts: bool) -> Vec<std::borrow::Cow<'_, str>> {
    let messages = messages.iter().map(|Encoded(text)| text.as_str());
    let mut ordered: Vec<&str> = Vec::new();
    for message in messages.filter(|text| !text.is_empty()) {
        let mut place = ordered.len();
        if message.starts_with(OUTCOME_START) {
            let is_word =
                |text: &str| text.starts_with(USER_START) && !text.starts_with(OUTCOME_START);
            place -= ordered.iter().rev().take_while(|text| is_word(text)).count();
        }
        ordered.insert(place, message);
    }
    let thoughtless = |text: &'_ str| without_thoughts(text).filter(|_| !keeps_thoughts);
    ordered.into_iter().map(|text| thoughtless(text).map_or(text.into(), Into::into)).collect()
}

/// Takes thinking blocks out of a reply; `None` where there are none.
fn without_thoughts(message: &str) -> Option<String> {
    if !message.contains("thinking\"") {
        return None;
    }
    let mut message: Value = serde_json::from_str(message).ok()?;
    if let Some(blocks) = message["content"].as_array_mut() {
        blocks.retain(
            |block| !matches!(block["type"].as_str(), Some(kind) if kind.ends_with("thinking")),
        );
    }
    Some(message.to_string())
}

/// How this server wants its requests, as far as it has told by refusing some.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Dialect {
    /// The most tokens of a reply.
    pub(super) limit: Option<u64>,
    pub(super) learned: BTreeSet<Lesson>,
}

/// One thing that a server does not take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Lesson {
    /// The model writes at most so many tokens.
    Limit(u64),
    NoCacheMarks,
    /// It does not take its own thoughts back, such as those of another model.
    NoThoughts,
    NoThinking,
    NoStream,
}

impl std::fmt::Display for Lesson {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Lesson::Limit(tokens) => write!(f, "a reply has at most {tokens} tokens from now on"),
            Lesson::NoCacheMarks => f.write_str("`cache_control` is left out from now on"),
            Lesson::NoThoughts => f.write_str("earlier thoughts are left out from now on"),
            Lesson::NoThinking => f.write_str("`thinking` is left out from now on"),
            Lesson::NoStream => f.write_str("replies come whole from now on"),
        }
    }
}

impl Dialect {
    /// Learns from a refusal what this server does not take; each lesson once.
    pub(super) fn learn(&mut self, told: &Told, options: &Options) -> Option<Lesson> {
        let lesson = self.lesson(told, options)?;
        if let Lesson::Limit(tokens) = lesson {
            self.limit = Some(tokens);
        }
        self.learned.insert(lesson).then_some(lesson)
    }

    fn lesson(&self, told: &Told, options: &Options) -> Option<Lesson> {
        if told.says(&["max_tokens"]) && told.says(&["maximum", ">"]) {
            let limit = self.limit.unwrap_or(USUAL_LIMIT);
            return least_number(&told.message, limit).map(Lesson::Limit);
        }
        if told.says(&["cache_control"]) {
            Some(Lesson::NoCacheMarks)
        } else if told.says(&["signature", "thinking block", "thinking` or `redacted_thinking"]) {
            Some(Lesson::NoThoughts)
        } else if options.effort.is_some() && told.says(&["thinking", "budget_tokens"]) {
            Some(Lesson::NoThinking)
        } else if options.stream && told.blames("stream") {
            Some(Lesson::NoStream)
        } else {
            None
        }
    }

    fn knows(&self, lesson: Lesson) -> bool {
        self.learned.contains(&lesson)
    }

    fn marks(&self) -> bool {
        !self.knows(Lesson::NoCacheMarks)
    }

    fn keeps_thoughts(&self) -> bool {
        !self.knows(Lesson::NoThoughts)
    }

    /// Returns the fields after the messages, those of `options.extra` last.
    fn fields(&self, options: &Options) -> String {
        let limit = self.limit.unwrap_or(USUAL_LIMIT);
        let stream = options.stream && !self.knows(Lesson::NoStream);
        let mut fields = serde_json::Map::new();
        fields.insert("max_tokens".to_owned(), limit.into());
        fields.insert("stream".to_owned(), stream.into());
        let budget = options.effort.as_deref().and_then(budget);
        // Thinking wants thoughts in the current cycle, so without them it is off.
        let may_think = self.keeps_thoughts() && !self.knows(Lesson::NoThinking);
        if let Some(budget) = budget.filter(|_| may_think && limit > 2_048) {
            let budget = budget.min(limit / 2);
            let thinking = json!({ "type": "enabled", "budget_tokens": budget });
            fields.insert("thinking".to_owned(), thinking);
        }
        fields.extend(options.extra.iter().map(|(key, value)| (key.clone(), value.clone())));
        let written = fields.iter().map(|(key, value)| format!(",{}:{value}", quoted(key)));
        written.collect()
    }
}

/// Returns how many tokens of thought an effort stands for.
fn budget(effort: &str) -> Option<u64> {
    match effort {
        "none" | "off" => None,
        "minimal" => Some(1_024),
        "low" => Some(4_096),
        "high" => Some(24_576),
        "xhigh" | "max" => Some(32_768),
        _ => Some(12_288),
    }
}

/// Finds the limit in a message such as "32000 > 8192, which is the maximum".
fn least_number(message: &str, above: u64) -> Option<u64> {
    let numbers = message.split(|letter: char| !letter.is_ascii_digit());
    numbers.filter_map(|number| number.parse().ok()).find(|tokens| (256..above).contains(tokens))
}
