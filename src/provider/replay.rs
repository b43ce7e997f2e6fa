//! Replies read from a file: prepared ones, or those of a session log.

use std::collections::VecDeque;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use crate::message::{CallId, Finish, Reply, ToolCall, Usage};

use super::error::ProviderError;
use super::scripted::Scene;

/// A reply as it is prepared by hand.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Prepared {
    #[serde(default)]
    text: String,
    #[serde(default)]
    reasoning: String,
    #[serde(default)]
    calls: Vec<PreparedCall>,
    usage: Option<Usage>,
    finish: Option<Finish>,
    #[serde(default)]
    delay_ms: u64,
    error: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PreparedCall {
    id: Option<String>,
    name: String,
    /// An object, or the raw text of one, which may then be anything.
    #[serde(default)]
    arguments: Value,
}

/// Reads the replies in `text`, the content of `file`.
pub(super) fn read(file: &str, text: &str) -> Result<VecDeque<Scene>, ProviderError> {
    let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).peekable();
    let is_log = lines.peek().is_some_and(|(_, line)| is_header(line));
    let mut scenes = VecDeque::new();
    while let Some((number, line)) = lines.next() {
        // A crash may have cut the last line of a log.
        let is_torn = is_log && lines.peek().is_none();
        let scene = if is_log { logged(line) } else { prepared(line, scenes.len()).map(Some) };
        match scene {
            Ok(scene) => scenes.extend(scene),
            Err(_) if is_torn => {}
            Err(error) => {
                let (file, why) = (file.to_owned(), error.to_string());
                return Err(ProviderError::ReplayLine { file, line: number + 1, why });
            }
        }
    }
    Ok(scenes)
}

fn is_header(line: &str) -> bool {
    serde_json::from_str(line).is_ok_and(|header: Value| header.get("snick").is_some())
}

fn prepared(line: &str, position: usize) -> serde_json::Result<Scene> {
    let prepared: Prepared = serde_json::from_str(line)?;
    let calls = prepared.calls.into_iter().enumerate().map(|(number, call)| ToolCall {
        id: CallId(call.id.unwrap_or_else(|| format!("call{}x{}", position + 1, number + 1))),
        name: call.name,
        arguments: match call.arguments {
            Value::String(raw) => raw,
            Value::Null => String::new(),
            arguments => arguments.to_string(),
        },
    });
    let mut reply = Reply::new(prepared.text, calls.collect());
    reply.reasoning = prepared.reasoning;
    reply.usage = prepared.usage;
    reply.finish = prepared.finish.unwrap_or(Finish::Complete);
    let delay = Duration::from_millis(prepared.delay_ms);
    Ok(Scene { reply, delay, error: prepared.error })
}

/// Reads a line of a session log; only replies of the model are played.
fn logged(line: &str) -> serde_json::Result<Option<Scene>> {
    let mut record: Value = serde_json::from_str(line)?;
    if record["type"] != "message" || record["message"]["role"] != "assistant" {
        return Ok(None);
    }
    let mut reply: Reply = serde_json::from_value(record["message"].take())?;
    if reply.finish == Finish::Cancelled {
        // The person who stopped it is not here to stop it again.
        reply.finish = Finish::Complete;
    }
    Ok(Some(Scene::from(reply)))
}
