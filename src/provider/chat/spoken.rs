//! Calls that a model wrote as text, because its server or its training knows no better.

use serde_json::{Map, Value};

use crate::message::{CallId, Finish, Reply, ToolCall, ToolSpec};

use super::super::sendable::made_id;

const CALL: (&str, &str) = ("<tool_call>", "</tool_call>");
const FUNCTION: (&str, &str) = ("<function=", "</function>");
const PARAMETER: (&str, &str) = ("<parameter=", "</parameter>");

/// A call as it was read: name and arguments.
type Spoken = (String, Map<String, Value>);

/// Turns a reply whose text is calls into one that makes them; returns their names.
///
/// It counts only without proper calls, for tools that were offered, with arguments that are an
/// object. JSON must be the whole text; before tags, which nobody writes by chance, a text may
/// stand.
pub(super) fn recover(reply: &mut Reply, tools: &[ToolSpec]) -> Vec<String> {
    if !reply.calls.is_empty() || reply.finish != Finish::Complete {
        return Vec::new();
    }
    let is_offered = |(name, _): &Spoken| tools.iter().any(|tool| tool.name == *name);
    let Some((before, spoken)) = tagged(&reply.text).or_else(|| bare(&reply.text)) else {
        return Vec::new();
    };
    if spoken.is_empty() || !spoken.iter().all(is_offered) {
        return Vec::new();
    }
    reply.text = before.trim_end().to_owned();
    reply.raw = None;
    let calls = spoken.into_iter().map(|(name, arguments)| ToolCall {
        id: CallId(made_id()),
        name,
        arguments: Value::Object(arguments).to_string(),
    });
    reply.calls = calls.collect();
    reply.calls.iter().map(|call| call.name.clone()).collect()
}

/// Reads one or more JSON objects, in a fence or not, that are the whole text.
fn bare(text: &str) -> Option<(&str, Vec<Spoken>)> {
    let text = text.trim();
    let text = match text.strip_prefix("```") {
        Some(fenced) => fenced.strip_suffix("```")?.split_once('\n')?.1,
        None => text,
    };
    if !text.trim_start().starts_with(['{', '[']) {
        return None;
    }
    let mut calls = Vec::new();
    for document in serde_json::Deserializer::from_str(text).into_iter::<Value>() {
        match document.ok()? {
            Value::Array(items) => {
                for item in items {
                    calls.push(call_of(item)?);
                }
            }
            document => calls.push(call_of(document)?),
        }
    }
    Some(("", calls))
}

/// Reads calls between tags, up to the end of the text.
fn tagged(text: &str) -> Option<(&str, Vec<Spoken>)> {
    let start = [CALL, FUNCTION].iter().filter_map(|(open, _)| text.find(open)).min()?;
    let (before, mut rest) = text.split_at(start);
    let mut calls = Vec::new();
    while !rest.is_empty() {
        let (call, after) = if let Some(inner) = rest.strip_prefix(CALL.0) {
            let (inner, after) = inner.split_once(CALL.1).unwrap_or((inner, ""));
            let inner = inner.trim();
            let call = match inner.strip_prefix(FUNCTION.0) {
                Some(function) => function_of(function.trim_end_matches(FUNCTION.1)),
                None => serde_json::from_str(inner).ok().and_then(call_of),
            };
            (call?, after)
        } else {
            let (inner, after) = rest.strip_prefix(FUNCTION.0)?.split_once(FUNCTION.1)?;
            // A closing tag without its opening one is common.
            let after = after.trim_start();
            (function_of(inner)?, after.strip_prefix(CALL.1).unwrap_or(after))
        };
        calls.push(call);
        rest = after.trim_start();
    }
    Some((before, calls))
}

/// Reads `{"name": ..., "arguments": {...}}`, as several models are trained to write it.
fn call_of(mut document: Value) -> Option<Spoken> {
    if let Some(function) = document.get_mut("function").filter(|function| function.is_object()) {
        document = function.take();
    }
    let name = document.get("name")?.as_str()?.to_owned();
    let arguments = ["arguments", "parameters"].iter().find_map(|key| document.get(key))?;
    match arguments {
        Value::Object(arguments) => Some((name, arguments.clone())),
        Value::String(text) => Some((name, serde_json::from_str(text).ok()?)),
        _ => None,
    }
}

/// Reads what follows `<function=`: a name, then JSON or a list of parameters.
fn function_of(inner: &str) -> Option<Spoken> {
    let end = inner.find(['>', '=', '{'])?;
    let (name, rest) = inner.split_at(end);
    let name = name.trim().to_owned();
    let rest = rest.trim_start_matches(['>', '=']).trim();
    if rest.starts_with('{') {
        return Some((name, serde_json::from_str(rest.trim_end_matches('>')).ok()?));
    }
    let mut arguments = Map::new();
    let mut rest = rest;
    while !rest.is_empty() {
        let (parameter, after) = rest.strip_prefix(PARAMETER.0)?.split_once(PARAMETER.1)?;
        let (key, value) = parameter.split_once('>')?;
        // One line end on each side belongs to the tags.
        let value = value.strip_prefix('\n').unwrap_or(value);
        let value = value.strip_suffix('\n').unwrap_or(value);
        arguments.insert(key.trim().to_owned(), value.into());
        rest = after.trim_start();
    }
    Some((name, arguments))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares the text that stays and the calls, told in one line.
    #[track_caller]
    fn check(text: &str, expected: &str) {
        let tool = |name: &str| ToolSpec {
            name: name.into(),
            description: String::new(),
            parameters: Value::Null,
        };
        let mut reply = Reply::new(text, vec![]);
        recover(&mut reply, &[tool("bash"), tool("read_file")]);
        let calls = reply.calls.iter().map(|call| format!(" {}({})", call.name, call.arguments));
        assert_eq!(format!("{:?}{}", reply.text, calls.collect::<String>()), expected);
    }

    #[test]
    fn json_that_is_the_whole_text_is_a_call() {
        let call = r#"{"name": "bash", "arguments": {"command": "ls"}}"#;
        let expected = r#""" bash({"command":"ls"})"#;
        check(call, expected);
        check(&format!("```json\n{call}\n```\n"), expected);
        check(&format!("[{call}]"), expected);
        check(&format!("{call}\n{call}"), r#""" bash({"command":"ls"}) bash({"command":"ls"})"#);
        check(r#"{"function":{"name":"bash","parameters":"{\"command\":\"ls\"}"}}"#, expected);
    }

    #[test]
    fn tags_hold_calls_and_text_may_stand_before() {
        check(
            "I look.\n<tool_call>\n{\"name\":\"bash\",\"arguments\":{}}\n</tool_call>\n",
            r#""I look." bash({})"#,
        );
        check(
            "<tool_call>\n<function=read_file>\n<parameter=path>\na.rs\n</parameter>\n\
             <parameter=limit>\n5\n</parameter>\n</function>\n</tool_call>",
            r#""" read_file({"path":"a.rs","limit":"5"})"#,
        );
        check("<function=bash>\n</function>\n</tool_call>", r#""" bash({})"#);
        check("<function=bash={\"command\":\"ls\"}</function>", r#""" bash({"command":"ls"})"#);
    }

    #[test]
    fn anything_else_is_text() {
        for text in [
            "Done.",
            r#"{"name": "rm", "arguments": {}}"#,
            r#"{"name": "bash", "arguments": [1]}"#,
            r#"{"name": "bash", "arguments": {"command": "ls"#,
            r#"For example: {"name": "bash", "arguments": {}}"#,
            "<tool_call>nothing</tool_call>",
            "<function=bash>\n</function> and so on",
            "{}",
        ] {
            check(text, &format!("{text:?}"));
        }
    }
}
