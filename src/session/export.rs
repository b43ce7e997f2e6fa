//! A session as a text for people or programs, without anything that looks like a key.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::secrets;
use super::{Header, Record, SessionError};
use crate::message::{Message, Reply, Status, ToolResult};

/// Writes a session as Markdown: what was said, each call, each outcome.
pub fn markdown(header: &Header, records: &[Record]) -> String {
    let mut out = format!(
        "# Session {}\n\n- created: {}\n- workspace: `{}`\n- model: {}\n- Snick {}\n",
        header.id,
        header.created,
        header.workspace.display(),
        header.model,
        header.version
    );
    if let Some(parent) = &header.parent {
        add(&mut out, format_args!("- forked from: {parent}\n"));
    }
    for record in records {
        match record {
            Record::Message { message: Message::User(user) } => {
                add(&mut out, format_args!("\n## Person\n\n{}\n", user.text()));
            }
            Record::Message { message: Message::Assistant(reply) } => model(&mut out, reply),
            Record::Message { message: Message::Tool(result) } => outcome(&mut out, result),
            Record::Note { text, .. } => add(&mut out, format_args!("\n> {text}\n")),
            Record::Compaction { summary, .. } => {
                add(&mut out, format_args!("\n## Summary of what came before\n\n{summary}\n"));
            }
            Record::Prefix(_)
            | Record::Started { .. }
            | Record::Approval { .. }
            | Record::Spent { .. }
            | Record::Unknown(_) => {}
        }
    }
    let (mut out, removed) = secrets::without_keys(&out);
    if removed > 0 {
        add(&mut out, format_args!("\n> Texts that look like keys were removed: {removed}.\n"));
    }
    out
}

/// Writes a session as one JSON object: the header, the records, how many keys were removed.
///
/// # Errors
/// None is known: every record can be written.
pub fn json(header: &Header, records: &[Record]) -> Result<String, SessionError> {
    let encode = |source| SessionError::Encode { source };
    let mut removed = 0;
    let mut lines = Vec::with_capacity(records.len());
    for record in records {
        let line = record.to_line().map_err(encode)?;
        lines.push(clean(serde_json::from_str(&line).map_err(encode)?, &mut removed));
    }
    let header = clean(serde_json::to_value(header).map_err(encode)?, &mut removed);
    let all = json!({ "header": header, "records": lines, "keys_removed": removed });
    serde_json::to_string_pretty(&all).map_err(encode)
}

/// Takes keys out of every text in `value`.
fn clean(value: Value, removed: &mut usize) -> Value {
    match value {
        Value::String(text) => {
            let (text, found) = secrets::without_keys(&text);
            *removed += found;
            Value::String(text)
        }
        Value::Array(items) => items.into_iter().map(|item| clean(item, removed)).collect(),
        Value::Object(members) => Value::Object(
            members.into_iter().map(|(name, value)| (name, clean(value, removed))).collect(),
        ),
        Value::Null | Value::Bool(_) | Value::Number(_) => value,
    }
}

fn model(out: &mut String, reply: &Reply) {
    out.push_str("\n## Model\n");
    if !reply.text.trim().is_empty() {
        add(out, format_args!("\n{}\n", reply.text.trim_end()));
    }
    for call in &reply.calls {
        add(out, format_args!("\nCall of `{}`:\n\n{}", call.name, fenced(&call.arguments, "json")));
    }
}

fn outcome(out: &mut String, result: &ToolResult) {
    let status = match result.outcome.status {
        Status::Done => "done",
        Status::Failed => "failed",
        Status::Denied => "denied",
        Status::Cancelled => "cancelled",
    };
    add(out, format_args!("\nOutcome, {status}:\n\n{}", fenced(&result.outcome.text, "")));
}

/// Puts `text` between fences longer than any run of backquotes in it.
fn fenced(text: &str, language: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let end = if text.ends_with('\n') { "" } else { "\n" };
    format!("{fence}{language}\n{text}{end}{fence}\n")
}

fn add(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a `String` cannot fail.
    out.write_fmt(text).ok();
}
