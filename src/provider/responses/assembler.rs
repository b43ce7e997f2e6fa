//! A reply put together from the events of a stream, or from a single response.

use std::collections::{BTreeMap, VecDeque};

use serde_json::{Value, json};

use crate::message::{ArgumentsError, CallId, Finish, RawMessage, Reply, ToolCall, Usage};

use super::super::Chunk;
use super::super::document::with_fields;
use super::super::exchange::Assemble;
use super::super::sendable::{made_id, sendable_name};
use super::super::told::Told;
use super::encode::{plain, sendable_id};

/// A reply as far as it has come.
pub(in super::super) struct Assembler {
    wire: String,
    /// By their place in the output.
    items: BTreeMap<u64, Item>,
    usage: Option<Usage>,
    status: Option<String>,
    /// Why the reply is incomplete.
    why: Option<String>,
    over: bool,
}

/// One item of the output, as far as it has come.
#[derive(Default)]
struct Item {
    /// As the server gave it at its begin or at its end.
    value: Value,
    /// What came piece by piece; it counts where no end of the item came.
    text: String,
    arguments: String,
    ended: bool,
}

impl Assembler {
    pub(super) fn new(wire: String) -> Assembler {
        let (items, usage, status, why) = (BTreeMap::new(), None, None, None);
        Assembler { wire, items, usage, status, why, over: false }
    }

    fn take_item(&mut self, index: u64, value: Value, ended: bool, ready: &mut VecDeque<Chunk>) {
        let known = self.items.contains_key(&index);
        let item = self.items.entry(index).or_default();
        let called = value["name"].as_str().filter(|_| value["type"] == "function_call");
        if let Some(name) = called.filter(|_| !known || item.value.is_null()) {
            ready.push_back(Chunk::Call(name.to_owned()));
        }
        item.value = with_fields(value);
        item.ended = ended;
        if ended && item.text.is_empty() && item.value["type"] == "message" {
            let text = text_of(&item.value);
            ready.extend((!text.is_empty()).then_some(Chunk::Text(text.clone())));
            item.text = text;
        }
    }

    fn take_response(&mut self, response: Value, ready: &mut VecDeque<Chunk>) {
        let mut response = with_fields(response);
        let usage = &response["usage"];
        if usage.is_object() {
            let count = |place: &str| usage.pointer(place).and_then(Value::as_u64).unwrap_or(0);
            self.usage = Some(Usage {
                input: count("/input_tokens"),
                cached: count("/input_tokens_details/cached_tokens"),
                output: count("/output_tokens"),
                cost: usage["cost"].as_f64(),
            });
        }
        let reason = &response["incomplete_details"]["reason"];
        self.why = reason.as_str().map(str::to_owned);
        self.status = response["status"].as_str().map(str::to_owned);
        if let Value::Array(items) = response["output"].take() {
            // The list at the end counts for what has not come on its own.
            for (index, value) in (0..).zip(items) {
                if !self.items.get(&index).is_some_and(|item| item.ended) {
                    self.take_item(index, value, true, ready);
                }
            }
        }
        self.over = true;
    }

    fn judge(&self, calls: &[ToolCall], refused: bool) -> Finish {
        let cut = |call: &ToolCall| call.object() == Err(ArgumentsError::CutOff);
        match self.why.as_deref() {
            Some("content_filter") => Finish::Refused,
            _ if refused && calls.is_empty() => Finish::Refused,
            Some(_) => Finish::Length,
            None if self.status.as_deref() == Some("incomplete") => Finish::Length,
            None if calls.last().is_some_and(cut) => Finish::Length,
            None => Finish::Complete,
        }
    }
}

impl Item {
    fn is(&self, kind: &str) -> bool {
        self.value["type"] == kind
    }

    /// Returns the call, its id made where `taken` is true for the one that came.
    fn call(&self, taken: impl Fn(&str) -> bool) -> ToolCall {
        let text = |key: &str| self.value[key].as_str().filter(|text| !text.is_empty());
        let mut id = text("call_id").or(text("id")).unwrap_or_default().to_owned();
        while id.is_empty() || taken(&id) {
            id = made_id();
        }
        let arguments = text("arguments").unwrap_or(&self.arguments).to_owned();
        ToolCall { id: CallId(id), name: text("name").unwrap_or_default().to_owned(), arguments }
    }

    /// Returns the item as it goes back; `None` for one that would be refused.
    fn raw(self, call: Option<&ToolCall>) -> Option<Value> {
        let mut value = self.value;
        match (value["type"].as_str(), call) {
            // Nothing is stored there, so reasoning counts only where it is all in the item.
            (Some("reasoning"), _) if !value["encrypted_content"].is_string() => None,
            (Some("message"), _) if text_of(&value).is_empty() => None,
            (Some("function_call"), Some(call)) => {
                value["call_id"] = sendable_id(&call.id.0).into();
                value["name"] = sendable_name(&call.name).into();
                value["arguments"] = call.json().into();
                Some(value)
            }
            (Some("function_call") | None, _) => None,
            (Some(_), _) => Some(value),
        }
    }
}

/// Returns what a message says, a refusal too.
fn text_of(message: &Value) -> String {
    let parts = message["content"].as_array().into_iter().flatten();
    let texts = parts.filter_map(|part| part["text"].as_str().or(part["refusal"].as_str()));
    texts.collect()
}

fn refuses(message: &Value) -> bool {
    let mut parts = message["content"].as_array().into_iter().flatten();
    parts.any(|part| part["type"] == "refusal")
}

impl Assemble for Assembler {
    fn is_whole(document: &Value) -> bool {
        document["object"] == "response" || document["output"].is_array()
    }

    fn error_in(document: &Value) -> Option<Told> {
        let failed = &document["response"]["error"];
        if failed.is_object() {
            return Told::from_value(&json!({ "error": failed }));
        }
        let is_error = document["type"] == "error" || document["error"].is_object();
        if is_error { Told::from_value(document) } else { None }
    }

    fn says_more(document: &Value) -> bool {
        let kind = document["type"].as_str().unwrap_or_default();
        let delta = document["delta"].as_str();
        kind.starts_with("response.output_item.") || delta.is_some_and(|delta| !delta.is_empty())
    }

    fn n_parts(&self) -> usize {
        self.items.len()
    }

    fn add(&mut self, mut document: Value, ready: &mut VecDeque<Chunk>) {
        let index = document["output_index"].as_u64().unwrap_or(0);
        let delta = document["delta"].as_str().unwrap_or_default().to_owned();
        match document["type"].as_str() {
            Some("response.output_item.added") => {
                self.take_item(index, document["item"].take(), false, ready);
            }
            Some("response.output_item.done") => {
                self.take_item(index, document["item"].take(), true, ready);
            }
            Some("response.output_text.delta" | "response.refusal.delta") => {
                self.items.entry(index).or_default().text.push_str(&delta);
                ready.push_back(Chunk::Text(delta));
            }
            Some("response.reasoning_summary_text.delta" | "response.reasoning_text.delta") => {
                self.items.entry(index).or_default().text.push_str(&delta);
                ready.push_back(Chunk::Reasoning(delta));
            }
            Some("response.reasoning_summary_part.added") => {
                let item = self.items.entry(index).or_default();
                if !item.text.is_empty() {
                    item.text.push_str("\n\n");
                    ready.push_back(Chunk::Reasoning("\n\n".to_owned()));
                }
            }
            Some("response.function_call_arguments.delta") => {
                self.items.entry(index).or_default().arguments.push_str(&delta);
            }
            Some("response.completed" | "response.incomplete" | "response.done") => {
                self.take_response(document["response"].take(), ready);
            }
            Some("response.failed") => self.status = Some("failed".to_owned()),
            _ if Assembler::is_whole(&document) => self.take_response(document, ready),
            // What only tells of progress, and what a later version adds.
            _ => {}
        }
    }

    fn is_ended(&self) -> bool {
        self.status.is_some()
    }

    fn is_over(&self) -> bool {
        self.over
    }

    fn failure(&self) -> Option<&str> {
        self.status.as_deref().filter(|status| matches!(*status, "failed" | "cancelled"))
    }

    fn finish(mut self, taken: impl Fn(&str) -> bool) -> (Reply, VecDeque<Chunk>) {
        let (mut text, mut reasoning) = (String::new(), String::new());
        let (mut calls, mut refused): (Vec<ToolCall>, bool) = (Vec::new(), false);
        for item in self.items.values_mut() {
            if item.value.is_null() {
                // Only pieces came of it.
                let part = json!({ "type": "output_text", "text": item.text });
                item.value = json!({ "type": "message", "role": "assistant", "content": [part] });
            }
            if item.is("function_call") {
                let used = |id: &str| taken(id) || calls.iter().any(|call| call.id.0 == id);
                let call = item.call(used);
                calls.push(call);
            } else if item.is("message") {
                text.push_str(&if item.ended { text_of(&item.value) } else { item.text.clone() });
                refused |= refuses(&item.value);
            } else if item.is("reasoning") {
                reasoning.push_str(&item.text);
            }
        }
        let finish = self.judge(&calls, refused);
        if finish == Finish::Refused {
            calls.clear();
        }
        let Assembler { wire, items, usage, .. } = self;
        let mut next = calls.iter();
        let output = items.into_values().filter_map(|item| {
            let call = if item.is("function_call") { next.next() } else { None };
            item.raw(call)
        });
        let output: Vec<String> = output.map(|item| item.to_string()).collect();
        let output = output.join(",");
        let is_kept = finish != Finish::Refused
            && !(text.is_empty() && calls.is_empty())
            && output != plain(&text, &calls);
        let json = format!(r#"{{"output":[{output}]}}"#);
        let raw = is_kept.then_some(RawMessage { wire, json, origin: String::new() });
        (Reply { text, reasoning, calls, finish, usage, raw }, VecDeque::new())
    }
}
