//! Messages as the input items of the Responses format, several for a reply that makes calls.

use serde_json::{Value, json};

use super::super::sendable::{quoted, sendable_name};
use crate::message::{Finish, Message, RawMessage, Reply, ToolCall, ToolResult};

/// The name of this wire format, as logs have it.
pub(super) const WIRE: &str = "responses";

/// The beginning of every outcome of a call, up to the id of the call.
pub(super) const OUTCOME_START: &str = r#"{"type":"function_call_output","call_id":"#;

/// What stands for a tool's text when there is none.
const NO_OUTPUT: &str = "(no output)";

/// The longest id of a call that is taken.
const LONGEST_ID: usize = 64;

/// Returns the items of `message`, joined by commas; an empty text where there is nothing to send.
pub(super) fn encode(message: &Message, wire: &str) -> String {
    match message {
        Message::User(user) => {
            format!(r#"{{"type":"message","role":"user","content":{}}}"#, quoted(&user.text()))
        }
        Message::Tool(result) => outcome(result),
        Message::Assistant(reply) => assistant(reply, wire),
    }
}

/// Returns the id of a call in a length that is taken.
pub(super) fn sendable_id(id: &str) -> String {
    if !id.is_empty() && id.len() <= LONGEST_ID {
        return id.to_owned();
    }
    format!("call_{}", &blake3::hash(id.as_bytes()).to_hex()[..16])
}

fn outcome(result: &ToolResult) -> String {
    let text = result.outcome.text.as_str();
    let text = if text.is_empty() { NO_OUTPUT } else { text };
    let id = quoted(&sendable_id(&result.call.0));
    format!(r#"{OUTCOME_START}{id},"output":{}}}"#, quoted(text))
}

fn assistant(reply: &Reply, wire: &str) -> String {
    match reply.finish {
        // Half of a call must not go back, and a refusal may stand in no text of a server's own.
        Finish::Cancelled | Finish::Refused => plain(&reply.text, &[]),
        Finish::Complete | Finish::Length if reply.text.is_empty() && reply.calls.is_empty() => {
            String::new()
        }
        Finish::Complete | Finish::Length => {
            let raw = reply.raw.as_ref().and_then(|raw| items_of(raw, reply, wire));
            raw.unwrap_or_else(|| plain(&reply.text, &reply.calls))
        }
    }
}

/// Returns the items of `raw` if it is of this wire, whole, and about the calls of `reply`.
fn items_of(raw: &RawMessage, reply: &Reply, wire: &str) -> Option<String> {
    let document: Value = serde_json::from_str(&raw.json).ok().filter(|_| raw.wire == wire)?;
    let items = document["output"].as_array()?;
    let calls = items.iter().filter(|item| item["type"] == "function_call");
    let same = calls.map(|call| &call["call_id"]).eq(reply.calls.iter().map(|call| &call.id.0));
    let inner = raw.json.strip_prefix(r#"{"output":["#)?.strip_suffix("]}")?;
    same.then(|| inner.to_owned())
}

/// Writes a reply from nothing but its text and its calls.
pub(super) fn plain(text: &str, calls: &[ToolCall]) -> String {
    let mut items = Vec::new();
    if !text.is_empty() {
        items.push(format!(
            r#"{{"type":"message","role":"assistant","content":[{{"type":"output_text","text":{}}}]}}"#,
            quoted(text)
        ));
    }
    items.extend(calls.iter().map(|call| {
        json!({
            "type": "function_call",
            "call_id": sendable_id(&call.id.0),
            "name": sendable_name(&call.name),
            "arguments": call.json(),
        })
        .to_string()
    }));
    items.join(",")
}
