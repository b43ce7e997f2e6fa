//! Anthropic Messages: what is sent, byte for byte, and what a stream comes to.

use expect_test::expect;
use snick::message::{CallId, Outcome, Status, ToolCall, ToolResult};

use super::*;

/// Thinking, text and two calls, as the maker's own server streams them.
const STREAM: &str = r#"event: message_start
data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","content":[],"stop_reason":null,"usage":{"input_tokens":7,"cache_creation_input_tokens":20,"cache_read_input_tokens":100,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}

event: ping
data: {"type": "ping"}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Let me "}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"look."}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"EqQB+/=="}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"c2VjcmV0"}}

event: content_block_stop
data: {"type":"content_block_stop","index":1}

event: content_block_start
data: {"type":"content_block_start","index":2,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"I read — "}}

event: content_block_delta
data: {"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"both."}}

event: content_block_stop
data: {"type":"content_block_stop","index":2}

event: content_block_start
data: {"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"toolu_1","name":"bash","input":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"{\"command\": \"l"}}

event: content_block_delta
data: {"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"s\"}"}}

event: content_block_stop
data: {"type":"content_block_stop","index":3}

event: content_block_start
data: {"type":"content_block_start","index":4,"content_block":{"type":"tool_use","id":"toolu_2","name":"bash","input":{}}}

event: content_block_stop
data: {"type":"content_block_stop","index":4}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":42}}

event: message_stop
data: {"type":"message_stop"}

"#;

const OK: &str = r#"{"id":"msg_2","type":"message","role":"assistant","content":[{"type":"text","text":"ok"}],"stop_reason":"end_turn","usage":{"input_tokens":3,"output_tokens":1}}"#;

fn anthropic(server: &WireServer) -> Client {
    Client::new(Wire::Anthropic, options(server)).unwrap()
}

async fn check_stream(answer: Answer, expected: Expect) {
    let server = WireServer::start([answer]);
    let chunks = ask(&anthropic(&server), &[Message::user("go")]).await;
    expected.assert_eq(&tell(&chunks, &server.host()));
}

fn event_of(document: Value) -> String {
    format!("event: {}\ndata: {document}\n\n", document["type"].as_str().unwrap())
}

/// A stream of one text block that ends with `stop`.
fn text_stream(text: &str, stop: &str) -> String {
    [
        json!({"type": "message_start", "message": {"usage": {"input_tokens": 3}}}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 2}}),
        json!({"type": "message_stop"}),
    ]
    .map(event_of)
    .concat()
}

fn result(id: &str, status: Status, text: &str) -> Message {
    let outcome = Outcome::new(status, text);
    Message::Tool(ToolResult { call: CallId(id.into()), outcome })
}

/// Two calls whose outcomes stand beside words of the person, then a call of another wire.
fn conversation() -> Vec<Message> {
    let call = |id: &str, arguments: &str| ToolCall {
        id: CallId(id.into()),
        name: "bash".into(),
        arguments: arguments.into(),
    };
    vec![
        Message::user("go"),
        Message::Assistant(Reply::new("", vec![call("a", "{\"command\":\"ls\"}"), call("b", "[")])),
        Message::user("quick"),
        result("a", Status::Done, "out"),
        result("b", Status::Failed, ""),
        Message::Assistant(Reply::new("Hm. \n", vec![call("call:3", "{}")])),
        result("call:3", Status::Done, "x"),
        Message::user("and now?"),
    ]
}

#[tokio::test]
async fn a_stream_of_thoughts_text_and_calls_is_put_together() {
    check_stream(Answer::events(STREAM), expect![[r#"
        reasoning: Let me look.
        text: I read — both.
        call: bash
        call: bash
        done: Complete
          toolu_1 bash({"command": "ls"})
          toolu_2 bash({})
          usage {"input":127,"cached":100,"output":42}
          raw anthropic HOST: {"role":"assistant","content":[{"type":"thinking","thinking":"Let me look.","signature":"EqQB+/=="},{"type":"redacted_thinking","data":"c2VjcmV0"},{"type":"text","text":"I read — both."},{"type":"tool_use","id":"toolu_1","name":"bash","input":{"command":"ls"}},{"type":"tool_use","id":"toolu_2","name":"bash","input":{}}]}"#]]).await;
}

#[tokio::test]
async fn a_stream_gives_the_same_wherever_it_is_split() {
    let whole = tell_stream(Answer::events(STREAM)).await;
    for cut in (1..STREAM.len()).filter(|cut| STREAM.is_char_boundary(*cut)).step_by(7) {
        let (head, tail) = STREAM.split_at(cut);
        let answer = Answer::opened().chunk(head).chunk(tail).end();
        assert_eq!(tell_stream(answer).await, whole, "split at {cut}");
    }
}

async fn tell_stream(answer: Answer) -> String {
    let server = WireServer::start([answer]);
    tell(&ask(&anthropic(&server), &[Message::user("go")]).await, &server.host())
}

#[tokio::test]
async fn a_whole_message_is_read_as_well() {
    let body = json!({
        "type": "message", "role": "assistant", "stop_reason": "tool_use",
        "content": [
            {"type": "text", "text": "Look."},
            {"type": "tool_use", "id": "t", "name": "bash", "input": {"command": "ls"}},
        ],
        "usage": {"input_tokens": 3, "output_tokens": 4},
    });
    check_stream(
        Answer::json("200 OK", &body.to_string()),
        expect![[r#"
        text: Look.
        call: bash
        done: Complete
          t bash({"command":"ls"})
          usage {"input":3,"cached":0,"output":4}"#]],
    )
    .await;
}

#[tokio::test]
async fn the_reason_of_the_end_is_kept() {
    for (stop, expected) in [
        ("end_turn", "Complete"),
        ("stop_sequence", "Complete"),
        ("pause_turn", "Complete"),
        ("max_tokens", "Length"),
        ("model_context_window_exceeded", "Length"),
        ("refusal", "Refused"),
    ] {
        let server = WireServer::start([Answer::events(&text_stream("t", stop))]);
        let found = reply(ask(&anthropic(&server), &[Message::user("go")]).await);
        assert_eq!(format!("{:?} {}", found.finish, found.text), format!("{expected} t"), "{stop}");
    }
}

#[tokio::test]
async fn an_error_in_the_stream_ends_it() {
    let begun: String = text_stream("begun", "end_turn").split_inclusive("\n\n").take(3).collect();
    let error =
        json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
    check_stream(
        Answer::events(&(begun.clone() + &event_of(error))),
        expect![[r#"
        text: begun
        error: HOST reported an error: Overloaded
        hint: None"#]],
    )
    .await;
    check_stream(Answer::events(&begun), expect![[r#"
        text: begun
        error: the reply of HOST broke off before it was complete: the stream ended without saying so
        hint: None"#]]).await;
}

#[tokio::test]
async fn failing_answers_have_their_meaning() {
    let error = |kind: &str, message: &str| {
        json!({"type": "error", "error": {"type": kind, "message": message}, "request_id": "r"})
            .to_string()
    };
    let long = error("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum");
    check_stream(Answer::json("400 Bad Request", &long), expect![[r#"
        error: the conversation is too long for `m` at HOST: prompt is too long: 210000 tokens > 200000 maximum
        hint: Some("begin a new conversation, or compact this one; a local server may need a larger context length")"#]]).await;
    let key = error("authentication_error", "invalid x-api-key");
    check_stream(
        Answer::json("401 Unauthorized", &key),
        expect![[r#"
        error: HOST answered 401: invalid x-api-key
        hint: Some("no key was sent: set AGENT_API_KEY to the key of this server")"#]],
    )
    .await;
    let busy = error("overloaded_error", "Overloaded");
    check_stream(
        Answer::json("529 Overloaded", &busy),
        expect![[r#"
        error: HOST answered 529: Overloaded
        hint: None"#]],
    )
    .await;
    let missing = error("not_found_error", "model: m");
    check_stream(Answer::json("404 Not Found", &missing), expect![[r#"
        error: HOST has no model `m`: model: m
        hint: Some("`snick models` lists what the server offers; choose with -m NAME or AGENT_MODEL")"#]]).await;
}

#[tokio::test]
async fn a_request_is_written_whole() {
    let server = WireServer::start([Answer::json("200 OK", OK)]);
    let mut options = options(&server);
    options.key = Some("sk-ant-1".into());
    options.effort = Some("low".into());
    options.extra = json!({"metadata": {"user_id": "u"}}).as_object().cloned().unwrap();
    ask(&Client::new(Wire::Anthropic, options).unwrap(), &conversation()).await;
    let request = &server.received()[0];
    let headers = ["x-api-key", "authorization", "anthropic-version", "content-type"];
    expect![[r#"
        POST /v1/messages HTTP/1.1
        [Some("sk-ant-1"), None, Some("2023-06-01"), Some("application/json")]"#]]
    .assert_eq(&format!(
        "{}\n{:?}",
        request.head.lines().next().unwrap(),
        headers.map(|name| request.header(name))
    ));
    assert_eq!(request.header("content-length"), Some(request.body.len().to_string().as_str()));
    expect![[r#"{"model":"m","tools":[{"name":"bash","description":"Run.","input_schema":{"type":"object","properties":{},"additionalProperties":false},"cache_control":{"type":"ephemeral"}}],"system":[{"type":"text","text":"S","cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":[{"type":"text","text":"go"}]},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"bash","input":{"command":"ls"}},{"type":"tool_use","id":"b","name":"bash","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"out"},{"type":"tool_result","tool_use_id":"b","content":"(no output)","is_error":true},{"type":"text","text":"quick","cache_control":{"type":"ephemeral"}}]},{"role":"assistant","content":[{"type":"text","text":"Hm."},{"type":"tool_use","id":"call_244508d3aba8e7cf","name":"bash","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_244508d3aba8e7cf","content":"x"},{"type":"text","text":"and now?","cache_control":{"type":"ephemeral"}}]}],"max_tokens":32000,"stream":true,"thinking":{"type":"enabled","budget_tokens":4096},"metadata":{"user_id":"u"}}"#]].assert_eq(&request.body);
}

#[tokio::test]
async fn a_reply_goes_back_as_it_came_to_its_own_server_only() {
    let server = WireServer::start([Answer::events(STREAM), Answer::json("200 OK", OK)]);
    let provider = anthropic(&server);
    let first = reply(ask(&provider, &[Message::user("go")]).await);
    let messages = |first: &Reply| {
        vec![
            Message::user("go"),
            Message::Assistant(first.clone()),
            result("toolu_1", Status::Done, "1"),
            result("toolu_2", Status::Done, "2"),
        ]
    };
    ask(&provider, &messages(&first)).await;
    expect![[r#"{"model":"m","tools":[{"name":"bash","description":"Run.","input_schema":{"type":"object","properties":{},"additionalProperties":false},"cache_control":{"type":"ephemeral"}}],"system":[{"type":"text","text":"S","cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":[{"type":"text","text":"go","cache_control":{"type":"ephemeral"}}]},{"role":"assistant","content":[{"type":"thinking","thinking":"Let me look.","signature":"EqQB+/=="},{"type":"redacted_thinking","data":"c2VjcmV0"},{"type":"text","text":"I read — both."},{"type":"tool_use","id":"toolu_1","name":"bash","input":{"command":"ls"}},{"type":"tool_use","id":"toolu_2","name":"bash","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"1"},{"type":"tool_result","tool_use_id":"toolu_2","content":"2","cache_control":{"type":"ephemeral"}}]}],"max_tokens":32000,"stream":true}"#]].assert_eq(&server.received()[1].body);
    let other = WireServer::start([Answer::json("200 OK", OK)]);
    ask(&anthropic(&other), &messages(&first)).await;
    expect![[r#"{"model":"m","tools":[{"name":"bash","description":"Run.","input_schema":{"type":"object","properties":{},"additionalProperties":false},"cache_control":{"type":"ephemeral"}}],"system":[{"type":"text","text":"S","cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":[{"type":"text","text":"go","cache_control":{"type":"ephemeral"}}]},{"role":"assistant","content":[{"type":"text","text":"I read — both."},{"type":"tool_use","id":"toolu_1","name":"bash","input":{"command":"ls"}},{"type":"tool_use","id":"toolu_2","name":"bash","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"1"},{"type":"tool_result","tool_use_id":"toolu_2","content":"2","cache_control":{"type":"ephemeral"}}]}],"max_tokens":32000,"stream":true}"#]].assert_eq(&other.received()[0].body);
}

#[tokio::test]
async fn what_a_server_refuses_is_left_out_from_then_on() {
    let refusal = |message: &str| {
        let error = json!({"type": "error", "error": {"type": "invalid_request_error", "message": message}});
        Answer::json("400 Bad Request", &error.to_string())
    };
    let server = WireServer::start([
        refusal(
            "max_tokens: 32000 > 8192, which is the maximum allowed number of output tokens for m",
        ),
        refusal("cache_control: Extra inputs are not permitted"),
        refusal("messages.1.content.0: Invalid `signature` in `thinking` block"),
        Answer::json("200 OK", OK),
    ]);
    let provider = anthropic(&server);
    let mut thought = Reply::new("t", vec![]);
    let json = r#"{"role":"assistant","content":[{"type":"thinking","thinking":"h","signature":"s"},{"type":"text","text":"t"}]}"#;
    let wire = format!("anthropic {}", server.host());
    thought.raw =
        Some(snick::message::RawMessage { wire, json: json.into(), origin: String::new() });
    let messages = [Message::user("go"), Message::Assistant(thought), Message::user("on")];
    let chunks = ask(&provider, &messages).await;
    expect![[r#"
        restarted: HOST refused the request: a reply has at most 8192 tokens from now on
        restarted: HOST refused the request: `cache_control` is left out from now on
        restarted: HOST refused the request: earlier thoughts are left out from now on
        text: ok
        done: Complete
          usage {"input":3,"cached":0,"output":1}"#]]
    .assert_eq(&tell(&chunks, &server.host()));
    expect![[r#"{"model":"m","tools":[{"name":"bash","description":"Run.","input_schema":{"type":"object","properties":{},"additionalProperties":false}}],"system":[{"type":"text","text":"S"}],"messages":[{"role":"user","content":[{"type":"text","text":"go"}]},{"role":"assistant","content":[{"type":"text","text":"t"}]},{"role":"user","content":[{"type":"text","text":"on"}]}],"max_tokens":8192,"stream":true}"#]].assert_eq(&server.received()[3].body);
}

#[tokio::test]
async fn the_models_are_listed() {
    let list = r#"{"data":[{"type":"model","id":"claude-x","display_name":"X"}],"has_more":false}"#;
    let server = WireServer::start([Answer::json("200 OK", list)]);
    let models = anthropic(&server).models().await.unwrap();
    let request = &server.received()[0];
    expect![[r#"[ModelInfo { id: "claude-x", context: None, price: None }] GET /v1/models HTTP/1.1 Some("2023-06-01")"#]].assert_eq(&format!(
        "{:?} {} {:?}",
        models,
        request.head.lines().next().unwrap(),
        request.header("anthropic-version")
    ));
}
