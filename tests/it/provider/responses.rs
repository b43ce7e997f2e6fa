//! Responses: what is sent, byte for byte, and what a stream comes to.

use expect_test::expect;
use snick::message::{CallId, Outcome, Status, ToolCall, ToolResult};

use super::*;

fn responses(server: &WireServer) -> Client {
    Client::new(Wire::Responses, options(server)).unwrap()
}

/// Writes events, numbered as the maker's own server numbers them.
fn events(events: impl IntoIterator<Item = Value>) -> String {
    let numbered = events.into_iter().zip(0..).map(|(mut event, number)| {
        event["sequence_number"] = number.into();
        format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap())
    });
    numbered.collect()
}

/// Reasoning, text and a call.
fn stream() -> String {
    let reasoning = json!({"id": "rs_1", "type": "reasoning", "summary": [{"type": "summary_text", "text": "Looking."}], "encrypted_content": "gAAA="});
    let message = json!({"id": "msg_1", "type": "message", "status": "completed", "role": "assistant", "content": [{"type": "output_text", "text": "I look.", "annotations": []}]});
    let call = json!({"id": "fc_1", "type": "function_call", "status": "completed", "call_id": "call_1", "name": "bash", "arguments": "{\"command\": \"ls\"}"});
    events([
        json!({"type": "response.created", "response": {"id": "resp_1", "object": "response", "status": "in_progress", "error": null, "output": []}}),
        json!({"type": "response.output_item.added", "output_index": 0, "item": {"id": "rs_1", "type": "reasoning", "summary": []}}),
        json!({"type": "response.reasoning_summary_text.delta", "output_index": 0, "item_id": "rs_1", "summary_index": 0, "delta": "Looking."}),
        json!({"type": "response.output_item.done", "output_index": 0, "item": reasoning}),
        json!({"type": "response.output_item.added", "output_index": 1, "item": {"id": "msg_1", "type": "message", "status": "in_progress", "role": "assistant", "content": []}}),
        json!({"type": "response.output_text.delta", "output_index": 1, "content_index": 0, "item_id": "msg_1", "delta": "I "}),
        json!({"type": "response.output_text.delta", "output_index": 1, "content_index": 0, "item_id": "msg_1", "delta": "look."}),
        json!({"type": "response.output_text.done", "output_index": 1, "content_index": 0, "item_id": "msg_1", "text": "I look."}),
        json!({"type": "response.output_item.done", "output_index": 1, "item": message}),
        json!({"type": "response.output_item.added", "output_index": 2, "item": {"id": "fc_1", "type": "function_call", "status": "in_progress", "call_id": "call_1", "name": "bash", "arguments": ""}}),
        json!({"type": "response.function_call_arguments.delta", "output_index": 2, "item_id": "fc_1", "delta": "{\"command\": \"ls\"}"}),
        json!({"type": "response.function_call_arguments.done", "output_index": 2, "item_id": "fc_1", "arguments": "{\"command\": \"ls\"}"}),
        json!({"type": "response.output_item.done", "output_index": 2, "item": call}),
        json!({"type": "response.completed", "response": {"id": "resp_1", "object": "response", "status": "completed", "error": null, "output": [reasoning, message, call],
            "usage": {"input_tokens": 30, "input_tokens_details": {"cached_tokens": 20}, "output_tokens": 9, "output_tokens_details": {"reasoning_tokens": 4}, "total_tokens": 39}}}),
    ])
}

fn whole(status: &str, rest: Value) -> String {
    let message = json!({"id": "msg_1", "type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "ok"}]});
    let mut document = json!({"id": "resp_2", "object": "response", "status": status, "error": null, "output": [message]});
    document.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
    document.to_string()
}

fn ok() -> Answer {
    Answer::json("200 OK", &whole("completed", json!({})))
}

async fn tell_stream(answer: Answer) -> String {
    let server = WireServer::start([answer]);
    tell(&ask(&responses(&server), &[Message::user("go")]).await, &server.host())
}

async fn check_stream(answer: Answer, expected: Expect) {
    expected.assert_eq(&tell_stream(answer).await);
}

fn result(id: &str, text: &str) -> Message {
    let outcome = Outcome::new(Status::Done, text);
    Message::Tool(ToolResult { call: CallId(id.into()), outcome })
}

fn call(id: &str, arguments: &str) -> ToolCall {
    ToolCall { id: CallId(id.into()), name: "bash".into(), arguments: arguments.into() }
}

#[tokio::test]
async fn a_stream_of_reasoning_text_and_a_call_is_put_together() {
    check_stream(Answer::events(&stream()), expect![[r#"
        reasoning: Looking.
        text: I look.
        call: bash
        done: Complete
          call_1 bash({"command": "ls"})
          usage {"input":30,"cached":20,"output":9}
          raw responses HOST: {"output":[{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"Looking."}],"encrypted_content":"gAAA="},{"id":"msg_1","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":"I look.","annotations":[]}]},{"id":"fc_1","type":"function_call","status":"completed","call_id":"call_1","name":"bash","arguments":"{\"command\": \"ls\"}"}]}"#]]).await;
}

#[tokio::test]
async fn a_stream_gives_the_same_wherever_it_is_split() {
    let stream = stream();
    let whole = tell_stream(Answer::events(&stream)).await;
    for cut in (1..stream.len()).step_by(11) {
        let (head, tail) = stream.split_at(cut);
        let answer = Answer::opened().chunk(head).chunk(tail).end();
        assert_eq!(tell_stream(answer).await, whole, "split at {cut}");
    }
}

#[tokio::test]
async fn items_that_come_only_in_pieces_or_only_at_the_end_count() {
    let pieces = events([
        json!({"type": "response.output_text.delta", "output_index": 0, "delta": "hi"}),
        json!({"type": "response.output_item.added", "output_index": 1, "item": {"type": "function_call", "call_id": "c", "name": "bash", "arguments": ""}}),
        json!({"type": "response.function_call_arguments.delta", "output_index": 1, "delta": "{}"}),
        json!({"type": "response.completed", "response": {"status": "completed"}}),
    ]);
    check_stream(
        Answer::events(&pieces),
        expect![[r#"
        text: hi
        call: bash
        done: Complete
          c bash({})"#]],
    )
    .await;
    let document: Value = serde_json::from_str(&whole("completed", json!({}))).unwrap();
    let end = events([json!({"type": "response.completed", "response": document})]);
    check_stream(Answer::events(&end), expect![[r#"
        text: ok
        done: Complete
          raw responses HOST: {"output":[{"id":"msg_1","type":"message","role":"assistant","content":[{"type":"output_text","text":"ok"}]}]}"#]]).await;
}

#[tokio::test]
async fn the_end_of_a_whole_response_is_judged() {
    let refusal = json!([{"type": "message", "role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]}]);
    for (status, rest, expected) in [
        ("completed", json!({}), "Complete ok"),
        ("incomplete", json!({"incomplete_details": {"reason": "max_output_tokens"}}), "Length ok"),
        ("incomplete", json!({"incomplete_details": {"reason": "content_filter"}}), "Refused ok"),
        ("completed", json!({"output": refusal}), "Refused No."),
    ] {
        let server = WireServer::start([Answer::json("200 OK", &whole(status, rest))]);
        let found = reply(ask(&responses(&server), &[Message::user("go")]).await);
        assert_eq!(format!("{:?} {}", found.finish, found.text), expected);
    }
}

#[tokio::test]
async fn failures_in_the_stream_end_it() {
    let failed = |code: &str, message: &str| {
        events([
            json!({"type": "response.output_text.delta", "output_index": 0, "delta": "begun"}),
            json!({"type": "response.failed", "response": {"object": "response", "status": "failed", "error": {"code": code, "message": message}}}),
        ])
    };
    let broken = failed("server_error", "The model failed");
    check_stream(
        Answer::events(&broken),
        expect![[r#"
        text: begun
        error: HOST reported an error: The model failed
        hint: None"#]],
    )
    .await;
    let long =
        failed("context_length_exceeded", "Your input exceeds the context window of this model");
    check_stream(Answer::events(&long), expect![[r#"
        text: begun
        error: the conversation is too long for `m` at HOST: Your input exceeds the context window of this model
        hint: Some("begin a new conversation, or compact this one; a local server may need a larger context length")"#]]).await;
    let error = json!({"type": "error", "code": "rate_limit_exceeded", "message": "slow down", "param": null});
    check_stream(
        Answer::events(&events([error])),
        expect![[r#"
        error: HOST reported an error: slow down
        hint: None"#]],
    )
    .await;
    let cut: String = stream().split_inclusive("\n\n").take(6).collect();
    check_stream(Answer::events(&cut), expect![[r#"
        reasoning: Looking.
        text: I 
        error: the reply of HOST broke off before it was complete: the stream ended without saying so
        hint: None"#]]).await;
}

#[tokio::test]
async fn a_request_is_written_whole() {
    let server = WireServer::start([ok()]);
    let mut options = options(&server);
    options.key = Some("sk-1".into());
    options.effort = Some("low".into());
    options.max_tokens = Some(99);
    options.extra = json!({"service_tier": "flex"}).as_object().cloned().unwrap();
    let long = "x".repeat(65);
    let messages = [
        Message::user("go"),
        Message::Assistant(Reply::new(
            "I look.",
            vec![call("c1", "{\"command\":\"ls\"}"), call(&long, "[")],
        )),
        result("c1", "out"),
        result(&long, ""),
        Message::Assistant(Reply::new("", vec![])),
        Message::user("and now?"),
    ];
    ask(&Client::new(Wire::Responses, options).unwrap(), &messages).await;
    let request = &server.received()[0];
    expect![[r#"
        POST /v1/responses HTTP/1.1
        [Some("Bearer sk-1"), Some("application/json")]"#]]
    .assert_eq(&format!(
        "{}\n{:?}",
        request.head.lines().next().unwrap(),
        ["authorization", "content-type"].map(|name| request.header(name))
    ));
    expect![[r#"{"model":"m","instructions":"S","tools":[{"type":"function","name":"bash","description":"Run.","parameters":{"type":"object","properties":{},"additionalProperties":false},"strict":false}],"input":[{"type":"message","role":"user","content":"go"},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"I look."}]},{"type":"function_call","call_id":"c1","name":"bash","arguments":"{\"command\":\"ls\"}"},{"type":"function_call","call_id":"call_a32b4a703f5d61b2","name":"bash","arguments":"{}"},{"type":"function_call_output","call_id":"c1","output":"out"},{"type":"function_call_output","call_id":"call_a32b4a703f5d61b2","output":"(no output)"},{"type":"message","role":"user","content":"and now?"}],"stream":true,"store":false,"include":["reasoning.encrypted_content"],"reasoning":{"effort":"low"},"max_output_tokens":99,"service_tier":"flex"}"#]].assert_eq(&request.body);
}

#[tokio::test]
async fn a_reply_goes_back_as_it_came_to_its_own_server_only() {
    let server = WireServer::start([Answer::events(&stream()), ok()]);
    let provider = responses(&server);
    let first = reply(ask(&provider, &[Message::user("go")]).await);
    let messages = [Message::user("go"), Message::Assistant(first), result("call_1", "1")];
    ask(&provider, &messages).await;
    expect![[r#"{"model":"m","instructions":"S","tools":[{"type":"function","name":"bash","description":"Run.","parameters":{"type":"object","properties":{},"additionalProperties":false},"strict":false}],"input":[{"type":"message","role":"user","content":"go"},{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"Looking."}],"encrypted_content":"gAAA="},{"id":"msg_1","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":"I look.","annotations":[]}]},{"id":"fc_1","type":"function_call","status":"completed","call_id":"call_1","name":"bash","arguments":"{\"command\": \"ls\"}"},{"type":"function_call_output","call_id":"call_1","output":"1"}],"stream":true,"store":false,"include":["reasoning.encrypted_content"]}"#]].assert_eq(&server.received()[1].body);
    let other = WireServer::start([ok()]);
    ask(&responses(&other), &messages).await;
    expect![[r#"{"model":"m","instructions":"S","tools":[{"type":"function","name":"bash","description":"Run.","parameters":{"type":"object","properties":{},"additionalProperties":false},"strict":false}],"input":[{"type":"message","role":"user","content":"go"},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"I look."}]},{"type":"function_call","call_id":"call_1","name":"bash","arguments":"{\"command\": \"ls\"}"},{"type":"function_call_output","call_id":"call_1","output":"1"}],"stream":true,"store":false,"include":["reasoning.encrypted_content"]}"#]].assert_eq(&other.received()[0].body);
}

#[tokio::test]
async fn a_reply_goes_over_to_every_other_wire() {
    let server = WireServer::start([Answer::events(&stream())]);
    let first = reply(ask(&responses(&server), &[Message::user("go")]).await);
    let other = WireServer::start([]);
    let chat = chat(&other).encode(&Message::Assistant(first.clone())).0;
    let anthropic = Client::new(Wire::Anthropic, options(&other)).unwrap();
    let anthropic = anthropic.encode(&Message::Assistant(first)).0;
    expect![[r#"
        {"role":"assistant","content":"I look.","tool_calls":[{"id":"call_1","type":"function","function":{"name":"bash","arguments":"{\"command\": \"ls\"}"}}]}
        {"role":"assistant","content":[{"type":"text","text":"I look."},{"type":"tool_use","id":"call_1","name":"bash","input":{"command":"ls"}}]}"#]].assert_eq(&format!("{chat}\n{anthropic}"));
}

#[tokio::test]
async fn what_a_server_refuses_is_left_out_from_then_on() {
    let refusal = |message: &str, parameter: &str| {
        let error = json!({"error": {"type": "invalid_request_error", "message": message, "param": parameter}});
        Answer::json("400 Bad Request", &error.to_string())
    };
    let server = WireServer::start([
        Answer::events(&stream()),
        refusal("Unknown parameter", "include"),
        refusal("The encrypted content could not be verified", "input"),
        ok(),
    ]);
    let provider = responses(&server);
    let first = reply(ask(&provider, &[Message::user("go")]).await);
    let messages = [Message::user("go"), Message::Assistant(first), result("call_1", "1")];
    let chunks = ask(&provider, &messages).await;
    expect![[r#"
        restarted: HOST refused the request: `include` is left out from now on
        restarted: HOST refused the request: earlier reasoning is left out from now on
        text: ok
        done: Complete
          raw responses HOST: {"output":[{"id":"msg_1","type":"message","role":"assistant","content":[{"type":"output_text","text":"ok"}]}]}"#]].assert_eq(&tell(&chunks, &server.host()));
    expect![[r#"{"model":"m","instructions":"S","tools":[{"type":"function","name":"bash","description":"Run.","parameters":{"type":"object","properties":{},"additionalProperties":false},"strict":false}],"input":[{"type":"message","role":"user","content":"go"},{"type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":"I look.","annotations":[]}]},{"type":"function_call","status":"completed","call_id":"call_1","name":"bash","arguments":"{\"command\": \"ls\"}"},{"type":"function_call_output","call_id":"call_1","output":"1"}],"stream":true,"store":false}"#]].assert_eq(&server.received()[3].body);
}
