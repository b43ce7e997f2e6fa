//! Messages as chat completions take them, one JSON object each.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::message::{Finish, Message, RawMessage, Reply, ToolCall, ToolResult};

use super::super::sendable::{quoted, sendable_name};

/// The name of this wire format, as logs have it.
pub(super) const WIRE: &str = "chat";

/// The beginning of every tool message, up to the id of its call.
pub(super) const TOOL_START: &str = r#"{"role":"tool","tool_call_id":"#;

/// The beginning of every message of the person.
pub(super) const USER_START: &str = r#"{"role":"user","#;

/// The beginning of every assistant message.
pub(super) const ASSISTANT_START: &str = r#"{"role":"assistant","#;

/// What stands for a tool's text when there is none, since several servers refuse an empty one.
const NO_OUTPUT: &str = "(no output)";

/// Returns `message` as a JSON object; an empty text where there is nothing to send.
pub(crate) fn encode(message: &Message) -> String {
    match message {
        Message::User(user) => format!(r#"{USER_START}"content":{}}}"#, quoted(&user.text())),
        Message::Tool(result) => tool(result),
        Message::Assistant(reply) => assistant(reply),
    }
}

fn tool(result: &ToolResult) -> String {
    let text = result.outcome.text.as_str();
    let text = if text.is_empty() { NO_OUTPUT } else { text };
    format!(r#"{TOOL_START}{},"content":{}}}"#, quoted(&result.call.0), quoted(text))
}

fn assistant(reply: &Reply) -> String {
    match reply.finish {
        // Half of a call must not go back, and a refusal may stand in no text of a server's own.
        Finish::Cancelled | Finish::Refused => plain(&reply.text, &[]),
        Finish::Complete | Finish::Length if reply.text.is_empty() && reply.calls.is_empty() => {
            String::new()
        }
        Finish::Complete | Finish::Length => match &reply.raw {
            Some(raw) if is_of(raw, reply) => raw.json.clone(),
            _ => plain(&reply.text, &reply.calls),
        },
    }
}

/// Whether `raw` is of this wire, whole, and about the calls of `reply`.
fn is_of(raw: &RawMessage, reply: &Reply) -> bool {
    #[derive(Deserialize)]
    struct Raw {
        role: String,
        #[serde(default)]
        tool_calls: Vec<RawCall>,
    }
    #[derive(Deserialize)]
    struct RawCall {
        id: String,
    }
    raw.wire == WIRE
        && serde_json::from_str(&raw.json).is_ok_and(|Raw { role, tool_calls }| {
            role == "assistant"
                && tool_calls
                    .iter()
                    .map(|call| &call.id)
                    .eq(reply.calls.iter().map(|call| &call.id.0))
        })
}

/// Writes an assistant message from nothing but its text and its calls.
pub(super) fn plain(text: &str, calls: &[ToolCall]) -> String {
    #[derive(Serialize)]
    struct Call<'a> {
        id: &'a str,
        r#type: &'a str,
        function: Function<'a>,
    }
    #[derive(Serialize)]
    struct Function<'a> {
        name: String,
        arguments: Cow<'a, str>,
    }
    let content = match (text, calls) {
        ("", []) => return String::new(),
        ("", _) => "null".to_owned(),
        (text, _) => quoted(text),
    };
    if calls.is_empty() {
        return format!(r#"{ASSISTANT_START}"content":{content}}}"#);
    }
    let calls = calls.iter().map(|call| Call {
        id: &call.id.0,
        r#type: "function",
        function: Function { name: sendable_name(&call.name), arguments: call.json() },
    });
    let calls = serde_json::to_string(&calls.collect::<Vec<Call<'_>>>()).unwrap_or_default();
    format!(r#"{ASSISTANT_START}"content":{content},"tool_calls":{calls}}}"#)
}

#[cfg(test)]
mod tests {
    use crate::message::CallId;
    use crate::message::{Outcome, Status};
    use expect_test::{Expect, expect};

    use super::*;

    #[track_caller]
    fn check(message: &Message, expected: &Expect) {
        expected.assert_eq(&encode(message));
    }

    fn call(name: &str, arguments: &str) -> ToolCall {
        ToolCall { id: CallId("a1".into()), name: name.into(), arguments: arguments.into() }
    }

    #[test]
    fn a_person_is_a_user() {
        check(
            &Message::user("say \"hi\"\0\n"),
            &expect![[r#"{"role":"user","content":"say \"hi\"�\n"}"#]],
        );
    }

    #[test]
    fn a_tool_without_text_has_a_placeholder() {
        let outcome = Outcome::new(Status::Done, "");
        check(
            &Message::Tool(ToolResult { call: CallId("a1".into()), outcome }),
            &expect![[r#"{"role":"tool","tool_call_id":"a1","content":"(no output)"}"#]],
        );
    }

    #[test]
    fn arguments_that_are_no_object_and_odd_names_are_made_sendable() {
        let calls = vec![
            call("bash", r#"{ "command":"ls" }"#),
            call("functions.bash", r#"{"command":"l"#),
            call("", ""),
        ];
        check(
            &Message::Assistant(Reply::new("", calls)),
            &expect![[
                r#"{"role":"assistant","content":null,"tool_calls":[{"id":"a1","type":"function","function":{"name":"bash","arguments":"{ \"command\":\"ls\" }"}},{"id":"a1","type":"function","function":{"name":"functions_bash","arguments":"{}"}},{"id":"a1","type":"function","function":{"name":"unnamed","arguments":"{}"}}]}"#
            ]],
        );
    }

    #[test]
    fn a_cancelled_reply_keeps_its_text_only() {
        let mut reply = Reply::new("so far", vec![call("bash", "{}")]);
        reply.finish = Finish::Cancelled;
        check(
            &Message::Assistant(reply.clone()),
            &expect![[r#"{"role":"assistant","content":"so far"}"#]],
        );
        reply.text.clear();
        check(&Message::Assistant(reply), &expect![[""]]);
    }

    #[test]
    fn a_reply_of_nothing_is_not_sent() {
        let mut reply = Reply::new("", vec![]);
        reply.reasoning = "hm".into();
        check(&Message::Assistant(reply), &expect![[""]]);
    }

    #[test]
    fn a_raw_message_goes_back_byte_for_byte_on_its_own_wire_only() {
        let mut reply = Reply::new("hi", vec![]);
        let json = r#"{"role":"assistant","content":"hi","x":{"b":1,"a":2}}"#.to_owned();
        for (wire, json, expected) in [
            ("chat", json.as_str(), json.as_str()),
            ("other", json.as_str(), r#"{"role":"assistant","content":"hi"}"#),
            ("chat", &json[1..], r#"{"role":"assistant","content":"hi"}"#),
        ] {
            reply.raw = Some(RawMessage {
                wire: wire.into(),
                json: json.to_owned(),
                origin: String::new(),
            });
            assert_eq!(encode(&Message::Assistant(reply.clone())), expected);
        }
    }
}
