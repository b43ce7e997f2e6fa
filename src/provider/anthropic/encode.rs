//! Messages as Anthropic takes them: a role and a list of content blocks each.

use serde_json::{Value, json};

use super::super::sendable::{quoted, sendable_name};
use crate::message::{Finish, Message, RawMessage, Reply, Status, ToolCall, ToolResult};

/// The name of this wire format, as logs have it.
pub(super) const WIRE: &str = "anthropic";

/// The beginning of every message that is not the model's.
pub(super) const USER_START: &str = r#"{"role":"user","content":["#;

/// The end of every message.
pub(super) const END: &str = "]}";

/// The beginning of every outcome of a call, up to the id of the call.
pub(super) const OUTCOME_START: &str =
    r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"#;

/// What stands for a tool's text when there is none, since an empty one is refused.
const NO_OUTPUT: &str = "(no output)";

/// Returns `message` as a JSON object; an empty text where there is nothing to send.
pub(super) fn encode(message: &Message, wire: &str) -> String {
    match message {
        Message::User(user) => format!("{USER_START}{}{END}", text_block(&user.text())),
        Message::Tool(result) => outcome(result),
        Message::Assistant(reply) => assistant(reply, wire),
    }
}

/// Returns the id of a call in the letters that are taken.
pub(super) fn sendable_id(id: &str) -> String {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if !id.is_empty() && id.len() <= 64 && id.bytes().all(fits) {
        return id.to_owned();
    }
    format!("call_{}", &blake3::hash(id.as_bytes()).to_hex()[..16])
}

fn text_block(text: &str) -> String {
    let text = if text.trim().is_empty() { NO_OUTPUT } else { text };
    format!(r#"{{"type":"text","text":{}}}"#, quoted(text))
}

fn outcome(result: &ToolResult) -> String {
    let text = result.outcome.text.as_str();
    let text = if text.trim().is_empty() { NO_OUTPUT } else { text };
    let failed = if result.outcome.status == Status::Done { "" } else { r#","is_error":true"# };
    let id = quoted(&sendable_id(&result.call.0));
    format!(r#"{OUTCOME_START}{id},"content":{}{failed}}}{END}"#, quoted(text))
}

fn assistant(reply: &Reply, wire: &str) -> String {
    match reply.finish {
        // Half of a call must not go back, and a refusal may stand in no text of a server's own.
        Finish::Cancelled | Finish::Refused => plain(&reply.text, &[]),
        Finish::Complete | Finish::Length if reply.text.is_empty() && reply.calls.is_empty() => {
            String::new()
        }
        Finish::Complete | Finish::Length => match &reply.raw {
            Some(raw) if is_of(raw, reply, wire) => raw.json.clone(),
            _ => plain(&reply.text, &reply.calls),
        },
    }
}

/// Whether `raw` is of this wire, whole, and about the calls of `reply`.
fn is_of(raw: &RawMessage, reply: &Reply, wire: &str) -> bool {
    let is_message = |message: &Value| {
        let blocks = message["content"].as_array().into_iter().flatten();
        let ids = blocks.filter(|block| block["type"] == "tool_use").map(|block| &block["id"]);
        message["role"] == "assistant" && ids.eq(reply.calls.iter().map(|call| &call.id.0))
    };
    raw.wire == wire && serde_json::from_str(&raw.json).is_ok_and(|message| is_message(&message))
}

/// Writes an assistant message from nothing but its text and its calls.
pub(super) fn plain(text: &str, calls: &[ToolCall]) -> String {
    let mut blocks = Vec::new();
    // Blanks at the end of a reply are refused.
    let text = text.trim_end();
    if !text.is_empty() {
        blocks.push(text_block(text));
    }
    blocks.extend(calls.iter().map(|call| call_block(call).to_string()));
    if blocks.is_empty() {
        return String::new();
    }
    format!(r#"{{"role":"assistant","content":[{}{END}"#, blocks.join(","))
}

/// Returns a call as a content block.
pub(super) fn call_block(call: &ToolCall) -> Value {
    let input = Value::Object(call.object().unwrap_or_default());
    json!({
        "type": "tool_use",
        "id": sendable_id(&call.id.0),
        "name": sendable_name(&call.name),
        "input": input,
    })
}
