//! One connection for a whole session, and requests that end when nobody waits for them.

use expect_test::expect;
use serde_json::json;
use snick::provider::Timeouts;

use super::*;

fn ok() -> Answer {
    Answer::events(&deltas([json!({"content": "ok"})], "stop"))
}

#[tokio::test]
async fn requests_share_one_connection() {
    // The end of the body comes a little after the reply is complete.
    let body = deltas([json!({"content": "ok"})], "stop");
    let late = Answer::opened().chunk(body).pause(Duration::from_millis(5)).end();
    let failing = Answer::json("500 Oh", r#"{"error":"x"}"#);
    let list = Answer::json("200 OK", r#"{"data":[{"id":"m","context_length":5}]}"#);
    let whole = Answer::json("200 OK", r#"{"choices":[{"message":{"content":"ok"}}]}"#);
    let server = WireServer::start([ok(), late, failing, list, whole, ok()]);
    let chat = chat(&server);
    for _ in 0..3 {
        ask(&chat, &[Message::user("go")]).await;
    }
    let models = chat.models().await.unwrap();
    assert_eq!((models[0].id.as_str(), models[0].context), ("m", Some(5)));
    for _ in 0..2 {
        reply(ask(&chat, &[Message::user("go")]).await);
    }
    assert_eq!((server.received().len(), server.connections()), (6, 1));
    assert!(server.received()[3].head.starts_with("GET /v1/models HTTP/1.1\r\n"));
}

#[tokio::test]
async fn a_reply_is_complete_although_its_body_does_not_end() {
    let body = deltas([json!({"content": "ok"})], "stop");
    let server = WireServer::start([Answer::opened().chunk(body).hold(), ok()]);
    let chat = chat(&server);
    assert_eq!(reply(ask(&chat, &[Message::user("go")]).await).text, "ok");
    assert_eq!(reply(ask(&chat, &[Message::user("go")]).await).text, "ok");
    assert_eq!(server.connections(), 2);
}

#[tokio::test]
async fn a_connection_that_the_server_closed_is_made_anew() {
    let server = WireServer::start([ok().close(), ok()]);
    let chat = chat(&server);
    reply(ask(&chat, &[Message::user("go")]).await);
    // The client sees the end of the connection only when its task runs.
    let again = snick::provider::Retrying::new(chat);
    assert_eq!(reply(ask(&again, &[Message::user("go")]).await).text, "ok");
    assert_eq!(server.connections(), 2);
}

#[tokio::test]
async fn comments_keep_a_slow_reply_alive() {
    let limits = Timeouts { idle: Duration::from_secs(1), ..Timeouts::default() };
    let mut answer = Answer::opened().chunk(": ping\n\n");
    for _ in 0..5 {
        answer = answer.pause(Duration::from_millis(220)).chunk(": ping\n\n");
    }
    let body = deltas([json!({"content": "ok"})], "stop");
    let server = WireServer::start([answer.chunk(body).end()]);
    let chat = Client::new(Wire::Chat, Options { timeouts: limits, ..options(&server) }).unwrap();
    assert_eq!(reply(ask(&chat, &[Message::user("go")]).await).text, "ok");
}

/// Asks over `wire` a server that sends `body`, then `again` for ever; tells what came.
async fn told_of_signs(wire: Wire, body: &str, again: &str) -> String {
    let pace = Duration::from_millis(3);
    let server = WireServer::start([Answer::opened().chunk(body).repeat(again, pace)]);
    let limits = Timeouts { reply: Duration::from_millis(250), ..Timeouts::default() };
    let client = Client::new(wire, Options { timeouts: limits, ..options(&server) }).unwrap();
    tell(&ask(&client, &[Message::user("go")]).await, &server.host())
}

#[tokio::test]
async fn signs_of_life_do_not_prolong_a_reply_without_end() {
    let rows = [
        (Wire::Chat, ": ping\n\n"),
        (Wire::Chat, "x"),
        (Wire::Chat, " "),
        (Wire::Chat, "{"),
        (Wire::Chat, "data: 1\n\n"),
        (Wire::Chat, "data: {\"choices\":[],\"usage\":{}}\n\n"),
        (
            Wire::Chat,
            "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n",
        ),
        (Wire::Anthropic, "event: ping\ndata: {\"type\":\"ping\"}\n\n"),
        (Wire::Anthropic, "data: {\"type\":\"message_start\",\"message\":{}}\n\n"),
        (Wire::Responses, "data: {\"type\":\"response.in_progress\",\"response\":{}}\n\n"),
    ];
    for (wire, sign) in rows {
        let told = told_of_signs(wire, sign, sign).await;
        let expected = expect![[r#"
            error: HOST gave signs of life, but nothing more of the reply, for 0.25 s
            hint: Some("a model that reasons for longer needs more seconds as `reply_timeout` in the settings file")"#]];
        expected.assert_eq(&told);
    }
    let so = delta(json!({"content": "so"}));
    let told = told_of_signs(Wire::Chat, &so, ": ping\n\n").await;
    assert!(told.starts_with("text: so\nerror: HOST gave signs of life"), "{told}");
}

#[tokio::test]
async fn signs_of_life_do_not_hold_back_a_reply_that_is_complete() {
    let body = delta(json!({"content": "ok"}))
        + &event(json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}));
    let told = told_of_signs(Wire::Chat, &body, ": ping\n\n").await;
    expect!["text: ok\ndone: Complete"].assert_eq(&told);
}

#[tokio::test]
async fn dropping_the_stream_ends_the_request() {
    let server =
        WireServer::start([Answer::opened().chunk(delta(json!({"content": "so"}))).hold(), ok()]);
    let chat = chat(&server);
    let messages = [chat.encode(&Message::user("go"))];
    let mut stream = chat.stream(Request { system: "", tools: &[], messages: &messages });
    let first = stream.next().await.unwrap().unwrap();
    assert_eq!(first, Chunk::Text("so".into()));
    drop(stream);
    assert_eq!(reply(ask(&chat, &[Message::user("go")]).await).text, "ok");
    assert_eq!(server.connections(), 2);
}
