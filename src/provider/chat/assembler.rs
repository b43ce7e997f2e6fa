//! A reply put together from the documents of a stream, or from a single one.

use std::collections::VecDeque;

use serde_json::{Map, Value, json};

use crate::message::{ArgumentsError, Finish, RawMessage, Reply, ToolCall, Usage};

use super::super::Chunk;
use super::super::exchange::Assemble;
use super::super::told::Told;
use super::calls::{Calls, Finished};
use super::encode::{WIRE, plain};
use super::merge::merge;
use super::think::Think;

/// A reply as far as it has come.
#[derive(Default)]
pub(in super::super) struct Assembler {
    /// The content as it came; it goes back so.
    content: String,
    think: Think,
    text: String,
    reasoning: String,
    /// The field that reasoning is read from, since some servers send it in two at once.
    reasoning_field: Option<String>,
    refusal: String,
    calls: Calls,
    extra: Map<String, Value>,
    usage: Option<Usage>,
    /// What the server said last about the end; servers invent words for it.
    finish: Option<String>,
}

impl Assemble for Assembler {
    fn is_whole(document: &Value) -> bool {
        document["choices"][0]["message"].is_object()
    }

    fn error_in(document: &Value) -> Option<Told> {
        let has_choices =
            document["choices"].get(0).is_some_and(|choice| choice.get("delta").is_some());
        let error = &document["error"];
        let says_error = error.is_object() || error.is_string() || document["object"] == "error";
        let kind = document["type"] == "error" || !document["errors"].is_null();
        if says_error || kind || (!has_choices && document.get("choices").is_none()) {
            return Told::from_value(document);
        }
        None
    }

    fn says_more(document: &Value) -> bool {
        let delta = document["choices"][0]["delta"].as_object();
        delta.into_iter().flatten().any(|(key, value)| match value {
            Value::String(text) => key != "role" && !text.is_empty(),
            Value::Array(parts) => !parts.is_empty(),
            Value::Object(fields) => !fields.is_empty(),
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        })
    }

    fn n_parts(&self) -> usize {
        self.calls.len()
    }

    fn add(&mut self, mut document: Value, ready: &mut VecDeque<Chunk>) {
        self.take_usage(&document["usage"]);
        let Some(choice) = document["choices"].get_mut(0) else { return };
        self.take_usage(&choice["usage"]);
        if let Some(finish) = choice["finish_reason"].as_str().filter(|word| !word.is_empty()) {
            self.finish = Some(finish.to_owned());
        }
        let delta = choice.get_mut("delta").map(Value::take).filter(Value::is_object);
        let whole = choice.get_mut("message").map(Value::take);
        let whole = whole.filter(|_| self.is_void());
        if let Some(Value::Object(message)) = delta.or(whole) {
            self.add_message(message, ready);
        }
    }

    fn is_ended(&self) -> bool {
        self.finish.is_some()
    }

    fn failure(&self) -> Option<&str> {
        let finish = self.finish.as_deref()?;
        matches!(finish, "error" | "network_error" | "server_error").then_some(finish)
    }

    fn finish(mut self, taken: impl Fn(&str) -> bool) -> (Reply, VecDeque<Chunk>) {
        let mut ready = VecDeque::new();
        let rest = self.think.finish();
        self.show(rest, &mut ready);
        let finished = std::mem::take(&mut self.calls).finish(taken);
        let (mut calls, mut raws) = (Vec::new(), Vec::new());
        for Finished { call, raw } in finished {
            calls.push(call);
            raws.push(raw);
        }
        let finish = self.judge(&calls);
        if finish == Finish::Refused {
            if self.text.is_empty() {
                self.text = std::mem::take(&mut self.refusal);
            }
            calls.clear();
        }
        let raw = self.raw(raws);
        let sent_plainly = plain(&self.text, &calls);
        let raw = (finish != Finish::Refused && raw != sent_plainly && !self.is_blank(&calls))
            .then(|| RawMessage { wire: WIRE.to_owned(), json: raw, origin: String::new() });
        let Assembler { text, reasoning, usage, .. } = self;
        (Reply { text, reasoning, calls, finish, usage, raw }, ready)
    }
}

impl Assembler {
    /// Whether nothing of a reply has come.
    fn is_void(&self) -> bool {
        self.content.is_empty() && self.calls.is_empty() && self.refusal.is_empty()
    }

    fn is_blank(&self, calls: &[ToolCall]) -> bool {
        self.text.is_empty() && calls.is_empty()
    }

    /// Judges the end by what has come; the server's word counts only where nothing else tells.
    fn judge(&self, calls: &[ToolCall]) -> Finish {
        let cut = |call: &ToolCall| call.object() == Err(ArgumentsError::CutOff);
        match self.finish.as_deref() {
            _ if !self.refusal.is_empty() && calls.is_empty() => Finish::Refused,
            Some("content_filter" | "refusal" | "sensitive" | "SAFETY") => Finish::Refused,
            Some("length" | "max_tokens" | "model_context_window_exceeded") => Finish::Length,
            _ if calls.last().is_some_and(cut) => Finish::Length,
            _ => Finish::Complete,
        }
    }

    /// Writes the message as it came: role and content first, then what has no meaning here.
    fn raw(&mut self, calls: Vec<Value>) -> String {
        let content = match self.content.as_str() {
            "" if !calls.is_empty() => Value::Null,
            content => content.replace('\0', "\u{fffd}").into(),
        };
        let mut message = Map::new();
        message.insert("role".to_owned(), "assistant".into());
        message.insert("content".to_owned(), content);
        message.extend(std::mem::take(&mut self.extra));
        if !calls.is_empty() {
            message.insert("tool_calls".to_owned(), Value::Array(calls));
        }
        Value::Object(message).to_string()
    }

    fn add_message(&mut self, message: Map<String, Value>, ready: &mut VecDeque<Chunk>) {
        let (mut content, mut refusal, mut pieces) = (Value::Null, Value::Null, Vec::new());
        for (key, value) in message {
            match (key.as_str(), value) {
                ("content", value) => content = value,
                ("refusal", value) => refusal = value,
                ("tool_calls", Value::Array(calls)) => pieces = calls,
                ("function_call", function @ Value::Object(_)) => {
                    pieces.push(json!({ "function": function }));
                }
                ("role" | "tool_calls" | "function_call", _) => {}
                (_, value) => {
                    self.show_reasoning(&key, &value, ready);
                    merge(&mut self.extra, key, value);
                }
            }
        }
        match content {
            Value::String(text) => self.add_content(&text, ready),
            Value::Array(parts) => self.add_parts(parts, ready),
            _ => {}
        }
        if let Value::String(text) = refusal {
            self.refusal.push_str(&text);
            ready.extend((!text.is_empty()).then_some(Chunk::Text(text)));
        }
        let begun = pieces.into_iter().filter_map(|piece| self.calls.add(piece));
        ready.extend(begun.map(Chunk::Call));
    }

    fn add_content(&mut self, text: &str, ready: &mut VecDeque<Chunk>) {
        self.content.push_str(text);
        let pieces = self.think.split(text);
        self.show(pieces, ready);
    }

    /// Reads content given as a list of parts, as one maker's reasoning models send it.
    fn add_parts(&mut self, parts: Vec<Value>, ready: &mut VecDeque<Chunk>) {
        for part in parts {
            if let Some(text) = part["text"].as_str() {
                self.add_content(text, ready);
            }
            let thoughts = part["thinking"].as_array().into_iter().flatten();
            let thoughts = thoughts.filter_map(|thought| thought["text"].as_str());
            let thoughts = thoughts.map(|thought| Chunk::Reasoning(thought.to_owned())).collect();
            self.show(thoughts, ready);
        }
    }

    /// Shows reasoning from the first field in which any comes.
    fn show_reasoning(&mut self, key: &str, value: &Value, ready: &mut VecDeque<Chunk>) {
        let Some(text) = value.as_str().filter(|text| !text.is_empty()) else { return };
        if matches!(key, "reasoning" | "reasoning_content")
            && self.reasoning_field.get_or_insert_with(|| key.to_owned()) == key
        {
            self.show(vec![Chunk::Reasoning(text.to_owned())], ready);
        }
    }

    fn show(&mut self, pieces: Vec<Chunk>, ready: &mut VecDeque<Chunk>) {
        for piece in pieces {
            match &piece {
                Chunk::Text(text) => self.text.push_str(text),
                Chunk::Reasoning(text) => self.reasoning.push_str(text),
                Chunk::Call(_) | Chunk::Restarted { .. } | Chunk::Done(_) => {}
            }
            ready.push_back(piece);
        }
    }

    fn take_usage(&mut self, usage: &Value) {
        if usage.is_object() {
            self.usage = Some(read_usage(usage));
        }
    }
}

/// Reads usage from all the places where servers put its figures.
fn read_usage(usage: &Value) -> Usage {
    let figure = |places: &[&str]| places.iter().find_map(|place| usage.pointer(place)?.as_u64());
    Usage {
        input: figure(&["/prompt_tokens", "/input_tokens"]).unwrap_or(0),
        cached: figure(&[
            "/prompt_tokens_details/cached_tokens",
            "/input_tokens_details/cached_tokens",
            "/prompt_cache_hit_tokens",
            "/cached_tokens",
        ])
        .unwrap_or(0),
        output: figure(&["/completion_tokens", "/output_tokens"]).unwrap_or(0),
        cost: usage["cost"].as_f64(),
    }
}
