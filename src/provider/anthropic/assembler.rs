//! A reply put together from the events of a stream, or from a single message.

use std::collections::VecDeque;

use serde_json::{Map, Value, json};

use crate::message::{ArgumentsError, CallId, Finish, RawMessage, Reply, ToolCall, Usage};

use super::super::Chunk;
use super::super::document::with_fields;
use super::super::exchange::Assemble;
use super::super::sendable::made_id;
use super::super::told::Told;
use super::encode::{call_block, plain};

/// A reply as far as it has come.
pub(in super::super) struct Assembler {
    wire: String,
    blocks: Vec<Block>,
    usage: Option<Usage>,
    /// Tokens of the request, by the name that the server gives them.
    counts: Map<String, Value>,
    stop: Option<String>,
    over: bool,
}

/// One content block, as far as it has come.
struct Block {
    index: u64,
    /// As it began; texts that came since are in it.
    value: Value,
    /// The arguments of a call, as they came.
    input: String,
}

impl Assembler {
    pub(super) fn new(wire: String) -> Assembler {
        let (blocks, usage, counts) = (Vec::new(), None, Map::new());
        Assembler { wire, blocks, usage, counts, stop: None, over: false }
    }

    fn begin(&mut self, index: u64, value: Value, ready: &mut VecDeque<Chunk>) {
        let shown = |key: &str| value[key].as_str().filter(|text| !text.is_empty());
        match value["type"].as_str() {
            Some("text") => ready.extend(shown("text").map(|text| Chunk::Text(text.to_owned()))),
            Some("thinking") => {
                ready.extend(shown("thinking").map(|text| Chunk::Reasoning(text.to_owned())));
            }
            Some("tool_use") => {
                ready.extend(shown("name").map(|name| Chunk::Call(name.to_owned())));
            }
            _ => {}
        }
        let value = with_fields(value);
        self.blocks.push(Block { index, value, input: String::new() });
    }

    fn extend(&mut self, index: u64, delta: &Value, ready: &mut VecDeque<Chunk>) {
        if !self.blocks.iter().any(|block| block.index == index) {
            let kind = if delta["thinking"].is_string() { "thinking" } else { "text" };
            self.begin(index, json!({ "type": kind }), ready);
        }
        let Some(block) = self.blocks.iter_mut().rfind(|block| block.index == index) else {
            return;
        };
        for key in ["text", "thinking", "signature", "partial_json"] {
            let Some(piece) = delta[key].as_str().filter(|piece| !piece.is_empty()) else {
                continue;
            };
            match key {
                "partial_json" => {
                    block.input.push_str(piece);
                    continue;
                }
                "text" => ready.push_back(Chunk::Text(piece.to_owned())),
                "thinking" => ready.push_back(Chunk::Reasoning(piece.to_owned())),
                _ => {}
            }
            let before = block.value[key].as_str().unwrap_or_default();
            block.value[key] = format!("{before}{piece}").into();
        }
        if let Some(citation) = delta.get("citation") {
            match block.value["citations"].as_array_mut() {
                Some(citations) => citations.push(citation.clone()),
                None => block.value["citations"] = json!([citation]),
            }
        }
    }

    fn take_usage(&mut self, usage: &Value) {
        let Some(usage) = usage.as_object() else { return };
        // Later figures are sums as well, and leave out what did not change.
        let known = usage.iter().filter(|(_, value)| !value.is_null());
        self.counts.extend(known.map(|(key, value)| (key.clone(), value.clone())));
        let count = |key: &str| self.counts.get(key).and_then(Value::as_u64).unwrap_or(0);
        let cached = count("cache_read_input_tokens");
        self.usage = Some(Usage {
            input: count("input_tokens") + cached + count("cache_creation_input_tokens"),
            cached,
            output: count("output_tokens"),
            cost: self.counts.get("cost").and_then(Value::as_f64),
        });
    }

    fn take_whole(&mut self, mut message: Value, ready: &mut VecDeque<Chunk>) {
        self.take_usage(&message["usage"]);
        self.stop = message["stop_reason"].as_str().map(str::to_owned);
        if let Value::Array(blocks) = message["content"].take() {
            for (index, block) in (0..).zip(blocks) {
                self.begin(index, block, ready);
            }
        }
    }

    fn judge(&self, calls: &[ToolCall]) -> Finish {
        let cut = |call: &ToolCall| call.object() == Err(ArgumentsError::CutOff);
        match self.stop.as_deref() {
            Some("refusal" | "content_filter") => Finish::Refused,
            Some("max_tokens" | "model_context_window_exceeded") => Finish::Length,
            _ if calls.last().is_some_and(cut) => Finish::Length,
            _ => Finish::Complete,
        }
    }
}

impl Block {
    fn text(&self, key: &str) -> &str {
        self.value[key].as_str().unwrap_or_default()
    }

    fn is(&self, kind: &str) -> bool {
        self.value["type"] == kind
    }

    /// Returns the call, its id made where `taken` is true for the one that came.
    fn call(&self, taken: &impl Fn(&str) -> bool) -> ToolCall {
        let mut id = self.text("id").to_owned();
        while id.is_empty() || taken(&id) {
            id = made_id();
        }
        let arguments = match &self.value["input"] {
            _ if !self.input.is_empty() => self.input.clone(),
            Value::Object(input) if !input.is_empty() => Value::Object(input.clone()).to_string(),
            _ => "{}".to_owned(),
        };
        ToolCall { id: CallId(id), name: self.text("name").to_owned(), arguments }
    }

    /// Returns the block as it goes back; `None` for one that would be refused.
    fn raw(self, call: Option<&ToolCall>) -> Option<Value> {
        let mut value = self.value;
        if let Some(call) = call {
            let fields = call_block(call);
            for key in ["id", "name", "input"] {
                value[key] = fields[key].clone();
            }
        }
        let is_void = value["type"] == "text"
            && value["text"].as_str().is_none_or(|text| text.trim().is_empty());
        (!is_void).then_some(value)
    }
}

impl Assemble for Assembler {
    fn is_whole(document: &Value) -> bool {
        document["type"] == "message" || document["content"].is_array()
    }

    fn error_in(document: &Value) -> Option<Told> {
        if document["type"] == "error" || document["error"].is_object() {
            return Told::from_value(document);
        }
        None
    }

    fn says_more(document: &Value) -> bool {
        let filled = |value: &Value| value.as_str().is_some_and(|text| !text.is_empty());
        match document["type"].as_str() {
            Some("content_block_start") => true,
            Some("content_block_delta") => {
                let delta = document["delta"].as_object();
                delta.into_iter().flatten().any(|(key, value)| key != "type" && filled(value))
            }
            _ => false,
        }
    }

    fn n_parts(&self) -> usize {
        self.blocks.len()
    }

    fn add(&mut self, mut document: Value, ready: &mut VecDeque<Chunk>) {
        let index = document["index"].as_u64().unwrap_or(0);
        match document["type"].as_str() {
            Some("message_start") => self.take_usage(&document["message"]["usage"]),
            Some("content_block_start") => {
                self.begin(index, document["content_block"].take(), ready);
            }
            Some("content_block_delta") => self.extend(index, &document["delta"], ready),
            Some("message_delta") => {
                self.take_usage(&document["usage"]);
                if let Some(stop) = document["delta"]["stop_reason"].as_str() {
                    self.stop = Some(stop.to_owned());
                }
            }
            Some("message_stop") => self.over = true,
            _ if Assembler::is_whole(&document) => self.take_whole(document, ready),
            // Pings, ends of blocks, and what a later version adds.
            _ => {}
        }
    }

    fn is_ended(&self) -> bool {
        self.stop.is_some()
    }

    fn is_over(&self) -> bool {
        self.over
    }

    fn failure(&self) -> Option<&str> {
        None
    }

    fn finish(self, taken: impl Fn(&str) -> bool) -> (Reply, VecDeque<Chunk>) {
        let (mut text, mut reasoning, mut calls) = (String::new(), String::new(), Vec::new());
        let mut used: Vec<String> = Vec::new();
        for block in &self.blocks {
            if block.is("tool_use") {
                let call = block.call(&|id| taken(id) || used.iter().any(|known| known == id));
                used.push(call.id.0.clone());
                calls.push(call);
            } else if block.is("text") {
                text.push_str(block.text("text"));
            } else if block.is("thinking") {
                reasoning.push_str(block.text("thinking"));
            }
        }
        let finish = self.judge(&calls);
        if finish == Finish::Refused {
            calls.clear();
        }
        let Assembler { wire, blocks, usage, .. } = self;
        let mut next = calls.iter();
        let content = blocks.into_iter().filter_map(|block| {
            let call = if block.is("tool_use") { next.next() } else { None };
            block.raw(call)
        });
        let content: Vec<Value> = content.collect();
        let json = json!({ "role": "assistant", "content": content }).to_string();
        let is_kept = finish != Finish::Refused
            && !(text.is_empty() && calls.is_empty())
            && json != plain(&text, &calls);
        let raw = is_kept.then_some(RawMessage { wire, json, origin: String::new() });
        (Reply { text, reasoning, calls, finish, usage, raw }, VecDeque::new())
    }
}
