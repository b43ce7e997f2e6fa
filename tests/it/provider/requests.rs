//! What is sent, byte for byte, and what is left out after a server has refused it.

use expect_test::{Expect, expect};
use serde_json::json;
use snick::message::{CallId, Outcome, Status, ToolCall, ToolResult};

use super::*;

const OK: &str = "data: {\"choices\":[{\"delta\":{\"content\":\"ok\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";

fn conversation() -> Vec<Message> {
    let call = ToolCall { id: CallId("c1".into()), name: "bash".into(), arguments: "{}".into() };
    let outcome = Outcome::new(Status::Done, "out");
    vec![
        Message::user("go"),
        Message::Assistant(Reply::new("", vec![call])),
        Message::Tool(ToolResult { call: CallId("c1".into()), outcome }),
        Message::Assistant(Reply::new("", vec![])),
        Message::user("and now?"),
    ]
}

#[tokio::test]
async fn a_request_is_written_whole() {
    let server = WireServer::start([Answer::events(OK)]);
    let mut options = options(&server);
    options.url.push_str("/chat/completions?api-version=7");
    options.key = Some("sk-1".into());
    options.headers = vec![("api-key".into(), "k2".into())];
    options.effort = Some("low".into());
    options.max_tokens = Some(99);
    options.extra = json!({"provider": {"sort": "price"}}).as_object().cloned().unwrap();
    ask(&Client::new(Wire::Chat, options).unwrap(), &conversation()).await;
    let request = &server.received()[0];
    expect!["POST /v1/chat/completions?api-version=7 HTTP/1.1"]
        .assert_eq(request.head.lines().next().unwrap());
    let headers = ["authorization", "api-key", "content-type", "transfer-encoding"];
    expect![[r#"[Some("Bearer sk-1"), Some("k2"), Some("application/json"), None]"#]]
        .assert_eq(&format!("{:?}", headers.map(|name| request.header(name))));
    assert_eq!(request.header("content-length"), Some(request.body.len().to_string().as_str()));
    expect![[r#"{"model":"m","messages":[{"role":"system","content":"S"},{"role":"user","content":"go"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"bash","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":"out"},{"role":"user","content":"and now?"}],"tools":[{"type":"function","function":{"name":"bash","description":"Run.","parameters":{"type":"object","properties":{},"additionalProperties":false}}}],"stream":true,"stream_options":{"include_usage":true},"reasoning_effort":"low","max_tokens":99,"provider":{"sort":"price"}}"#]].assert_eq(&request.body);
}

#[tokio::test]
async fn without_system_tools_and_key_there_is_nothing_of_them() {
    let server = WireServer::start([Answer::json(
        "200 OK",
        r#"{"choices":[{"message":{"content":"ok"}}]}"#,
    )]);
    let chat = Client::new(Wire::Chat, Options { stream: false, ..options(&server) }).unwrap();
    let messages = [Encoded(String::new()), chat.encode(&Message::user("go"))];
    let request = Request { system: "", tools: &[], messages: &messages };
    let chunks: Vec<_> = chat.stream(request).collect().await;
    expect![[r"
        text: ok
        done: Complete"]]
    .assert_eq(&tell(&chunks, &server.host()));
    let request = &server.received()[0];
    assert_eq!(request.header("authorization"), None);
    expect![[r#"{"model":"m","messages":[{"role":"user","content":"go"}],"stream":false}"#]]
        .assert_eq(&request.body);
}

/// The first request is refused with `refusal`; compares what differs in the next two.
async fn check_lesson(refusal: serde_json::Value, change: impl Fn(&mut Options), expected: Expect) {
    let refusal = Answer::json("400 Bad Request", &refusal.to_string());
    let server = WireServer::start([refusal, Answer::events(OK), Answer::events(OK)]);
    let mut options = options(&server);
    change(&mut options);
    let chat = Client::new(Wire::Chat, options).unwrap();
    let chunks = ask(&chat, &conversation()).await;
    ask(&chat, &conversation()).await;
    let bodies: Vec<String> = server.received().into_iter().map(|request| request.body).collect();
    assert_eq!(bodies.len(), 3);
    assert_eq!(bodies[1], bodies[2], "the lesson is remembered");
    let told = tell(&chunks, &server.host());
    expected.assert_eq(&format!(
        "{told}\n- {}\n+ {}",
        differing(&bodies[0], &bodies[1]),
        differing(&bodies[1], &bodies[0])
    ));
}

/// Returns the middle of `one` that is not in `other`.
fn differing(one: &str, other: &str) -> String {
    let same = |(a, b): &(u8, u8)| a == b;
    let start = one.bytes().zip(other.bytes()).take_while(same).count();
    let end = one[start..].bytes().rev().zip(other[start..].bytes().rev()).take_while(same).count();
    one[start..one.len() - end].to_owned()
}

#[tokio::test]
async fn refused_parameters_are_left_out_or_swapped() {
    let named = |name: &str, message: &str| json!({"error": {"message": message, "param": name}});
    check_lesson(
        named("stream_options", "Unrecognized"),
        |_| {},
        expect![[r#"
        restarted: HOST refused the request: `stream_options` is left out from now on
        text: ok
        done: Complete
        - ,"stream_options":{"include_usage":true}
        + "#]],
    )
    .await;
    check_lesson(
        json!({"detail": [{"loc": ["body", "stream_options"], "msg": "Extra inputs"}]}),
        |_| {},
        expect![[r#"
            restarted: HOST refused the request: `stream_options` is left out from now on
            text: ok
            done: Complete
            - ,"stream_options":{"include_usage":true}
            + "#]],
    )
    .await;
    check_lesson(
        named("reasoning_effort", "Function tools with reasoning_effort are not supported"),
        |_| {},
        expect![[r#"
            restarted: HOST refused the request: with tools it does not reason, so `reasoning_effort` is `none`
            text: ok
            done: Complete
            - 
            + ,"reasoning_effort":"none""#]],
    )
    .await;
    check_lesson(
        named("reasoning_effort", "Unrecognized request argument"),
        |options| options.effort = Some("high".into()),
        expect![[r#"
            restarted: HOST refused the request: how much to reason is left out from now on
            text: ok
            done: Complete
            - ,"reasoning_effort":"high"
            + "#]],
    )
    .await;
    check_lesson(
        json!({"error": "'max_tokens' is not supported, use 'max_completion_tokens'"}),
        |options| options.max_tokens = Some(7),
        expect![[r"
            restarted: HOST refused the request: the token limit is `max_completion_tokens` from now on
            text: ok
            done: Complete
            - 
            + completion_"]],
    )
    .await;
    check_lesson(
        named("stream", "Your organization must be verified"),
        |_| {},
        expect![[r#"
        restarted: HOST refused the request: replies come whole from now on
        text: ok
        done: Complete
        - true,"stream_options":{"include_usage":true}
        + false"#]],
    )
    .await;
}

#[tokio::test]
async fn refused_messages_are_written_as_the_server_wants_them() {
    let says = |message: &str| json!({"object": "error", "message": message});
    check_lesson(
        says("Unexpected role 'user' after role 'tool'"),
        |_| {},
        expect![[r#"
        restarted: HOST refused the request: a reply is put between a tool and a person from now on
        text: ok
        done: Complete
        - 
        + assistant","content":"Understood."},{"role":""#]],
    )
    .await;
    check_lesson(
        says("content must be a string, not null"),
        |_| {},
        expect![[r#"
        restarted: HOST refused the request: calls go back with an empty text from now on
        text: ok
        done: Complete
        - null
        + """#]],
    )
    .await;
    check_lesson(says("Missing `reasoning_content` field"), |_| {}, expect![[r#"
        restarted: HOST refused the request: every reply goes back with `reasoning_content` from now on
        text: ok
        done: Complete
        - 
        + reasoning_content":"",""#]]).await;
}

#[tokio::test]
async fn ids_of_another_server_are_shortened_in_both_places() {
    let says =
        json!({"message": "Tool call id was c1 but must be a-z, A-Z, 0-9, with a length of 9."});
    check_lesson(says, |_| {}, expect![[r#"
        restarted: HOST refused the request: ids of calls go back shortened from now on
        text: ok
        done: Complete
        - c1","type":"function","function":{"name":"bash","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1
        + 26d65c79b","type":"function","function":{"name":"bash","arguments":"{}"}}]},{"role":"tool","tool_call_id":"26d65c79b"#]]).await;
}

#[tokio::test]
async fn a_refusal_that_nothing_is_learned_from_is_an_error() {
    let refusal = json!({"error": {"message": "no", "param": "stream_options"}}).to_string();
    let refusals = (0..9).map(|_| Answer::json("400 Bad Request", &refusal));
    let server = WireServer::start(refusals);
    let chunks = ask(&chat(&server), &[Message::user("go")]).await;
    expect![[r"
        restarted: HOST refused the request: `stream_options` is left out from now on
        error: HOST answered 400: no
        hint: None"]]
    .assert_eq(&tell(&chunks, &server.host()));
    assert_eq!(server.received().len(), 2);
}
