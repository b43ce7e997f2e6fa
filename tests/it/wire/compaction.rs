//! What stays of a conversation that was too long: whole calls, the newest words, no more than fits.

use std::collections::HashSet;

use expect_test::{Expect, expect};
use serde_json::{Value, json};
use snick::agent::{Conversation, Frontend};
use snick::approval::Mode;
use snick::message::{Message, Outcome, Reply, Status, ToolResult};
use snick::provider::{Client, Facts, Known, Options, Retrying, Wire};
use snick::session::{Record, Session};
use tokio_util::sync::CancellationToken;

use crate::wire_server::{Answer, WireServer};
use crate::world::{World, call, reply};

const OVERFLOW: &str = r#"{"error":{"message":"This model's maximum context length is 8192 tokens","code":"context_length_exceeded"}}"#;

fn overflow() -> Answer {
    Answer::json("400 Bad Request", OVERFLOW)
}

fn text(text: &str) -> Answer {
    let message = json!({"role": "assistant", "content": text});
    let body = json!({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]});
    Answer::json("200 OK", &body.to_string())
}

/// A world whose model is behind `server`, with a past of `turns`: for each, the bytes of each
/// call's outcome.
fn world(server: &WireServer, turns: &[&[usize]]) -> World {
    let mut world = World::new(Mode::Full, &[("a.txt", "hello\n")], vec![]);
    world.agent.provider =
        Box::new(Client::new(Wire::Chat, Options::new(server.url(), "m")).unwrap());
    let mut append = |message| world.conversation.append(Record::Message { message }).unwrap();
    for (turn, outcomes) in turns.iter().enumerate() {
        append(Message::user(format!("question {turn}")));
        for (number, bytes) in outcomes.iter().enumerate() {
            let mut asked = reply("", vec![call("read_file", &json!({"path": "a.txt"}))]);
            asked.calls[0].id.0 = format!("t{turn}c{number}");
            let id = asked.calls[0].id.clone();
            append(Message::Assistant(asked));
            let outcome = Outcome::new(Status::Done, "x".repeat(*bytes));
            append(Message::Tool(ToolResult { call: id, outcome }));
        }
        append(Message::Assistant(Reply::new(format!("answer {turn}"), vec![])));
    }
    world
}

/// Tells the messages of a request in short: role, ids, and the length or the text.
fn told(body: &str) -> String {
    let body: Value = serde_json::from_str(body).unwrap();
    let lines = body["messages"].as_array().unwrap().iter().map(|message| {
        let role = message["role"].as_str().unwrap();
        let text = message["content"].as_str().unwrap_or_default();
        let text = if text.contains("xxxx") {
            format!("{} bytes", text.len())
        } else {
            text.replace('\n', "|")
        };
        let calls = message["tool_calls"].as_array().into_iter().flatten();
        let ids: Vec<&str> = calls.map(|call| call["id"].as_str().unwrap()).collect();
        let id = message["tool_call_id"].as_str().unwrap_or_default();
        format!("{role} {}{id}{text}\n", ids.join(" "))
    });
    lines.collect()
}

/// Every outcome follows its call, and every call has its outcome.
#[track_caller]
fn assert_whole(body: &str) {
    let body: Value = serde_json::from_str(body).unwrap();
    let (mut open, mut before) = (HashSet::new(), "");
    for message in body["messages"].as_array().unwrap() {
        let role = message["role"].as_str().unwrap();
        if role == "tool" {
            assert!(open.remove(message["tool_call_id"].as_str().unwrap()), "{body}");
        } else {
            assert!(open.is_empty(), "{open:?} {body}");
            assert!(role != "user" || before != "user", "{body}");
        }
        let calls = message["tool_calls"].as_array().into_iter().flatten();
        open.extend(calls.map(|call| call["id"].as_str().unwrap()));
        before = role;
    }
}

async fn check(turns: &[&[usize]], expected: Expect) {
    let server = WireServer::start([overflow(), text("SUMMARY"), text("done")]);
    let mut world = world(&server, turns);
    world.turn("and now").await.unwrap();
    let requests = server.received();
    assert_whole(&requests[2].body);
    expected.assert_eq(&told(&requests[2].body));
}

#[tokio::test]
async fn the_newest_turns_stay_and_the_oldest_become_a_summary() {
    check(
        &[&[9_000], &[8_000, 700], &[300]],
        expect![[r#"
            system system
            user <summary of="the conversation so far">|SUMMARY|</summary>
            assistant t1c1
            tool t1c1700 bytes
            assistant answer 1
            user question 2
            assistant t2c0
            tool t2c0300 bytes
            assistant answer 2
            user and now
        "#]],
    )
    .await;
    // A single outcome that is larger than all that may stay goes, with its call.
    check(
        &[&[100, 100], &[90_000]],
        expect![[r#"
        system system
        user <summary of="the conversation so far">|SUMMARY|</summary>
        assistant answer 1
        user and now
    "#]],
    )
    .await;
}

#[tokio::test]
async fn wherever_the_cut_falls_calls_and_outcomes_stay_together() {
    for bytes in (0..7_000).step_by(500) {
        let server = WireServer::start([overflow(), text("SUMMARY"), text("done")]);
        let mut world = world(&server, &[&[bytes, 2_000, bytes], &[700, bytes, 100]]);
        world.turn("and now").await.unwrap();
        let requests = server.received();
        assert_whole(&requests[2].body);
        assert!(requests[2].body.len() < requests[0].body.len(), "{bytes}");
    }
}

#[tokio::test]
async fn a_compacted_session_is_resumed_and_compacted_again() {
    let server = WireServer::start([overflow(), text("FIRST"), text("done")]);
    let mut first = world(&server, &[&[9_000], &[300]]);
    first.turn("and now").await.unwrap();
    assert_eq!(first.conversation.window("m"), Some(8_192));
    let sent = server.received()[2].body.clone();

    // The log alone gives the same messages again.
    let mut session = Session::in_memory(first.conversation.session.header().clone());
    for record in first.conversation.session.records() {
        let line = record.to_line().unwrap();
        session.append(Record::parse(&line).unwrap()).unwrap();
    }
    let server = WireServer::start([text("again"), overflow(), text("SECOND"), text("done")]);
    let mut second = world(&server, &[]);
    second.conversation = Conversation::new(session);
    assert_eq!(second.conversation.window("m"), Some(8_192));
    second.turn("more").await.unwrap();
    let requests = server.received();
    let messages = |body: &str| told(body).lines().map(str::to_owned).collect::<Vec<String>>();
    let (before, after) = (messages(&sent), messages(&requests[0].body));
    assert_eq!(after[..before.len()], before);

    second.turn(&"long ".repeat(2_000)).await.unwrap();
    let requests = server.received();
    assert_whole(&requests[3].body);
    let summing = &requests[2].body;
    assert!(summing.contains("before: <summary") && summing.contains("FIRST"), "{summing}");
    assert!(!requests[3].body.contains("FIRST") && requests[3].body.contains("SECOND"));
}

#[tokio::test]
async fn a_person_can_compact_at_any_time() {
    let server = WireServer::start([text("SUMMARY"), text("done")]);
    let mut world = world(&server, &[&[9_000], &[300]]);
    let cancel = CancellationToken::new();
    let front = Frontend { events: &world.events, approver: &world.answers, cancel: &cancel };
    let compacted = world.agent.compact_now(&mut world.conversation, None, front).await.unwrap();
    expect!["16019 bytes of conversation are now 6871"].assert_eq(&compacted.unwrap().to_string());
    // What is left is new: there is nothing to replace any more.
    world.turn("and now").await.unwrap();
    expect![[r#"
        system system
        user <summary of="the conversation so far">|SUMMARY|</summary>
        assistant answer 0
        user question 1
        assistant t1c0
        tool t1c0300 bytes
        assistant answer 1
        user and now
    "#]]
    .assert_eq(&told(&server.received()[1].body));
}

/// A model that reads `window` tokens, behind `server`.
fn known(server: &WireServer, window: Option<u64>) -> Box<Known> {
    let client = Client::new(Wire::Chat, Options::new(server.url(), "m")).unwrap();
    let facts = Facts { window, ..Facts::default() };
    Box::new(Known::new(Retrying::new(client), facts))
}

/// A reply of `message` to a request of `tokens`.
fn counted(message: &Value, tokens: u64) -> Answer {
    let usage = json!({"prompt_tokens": tokens, "completion_tokens": 1});
    let body = json!({"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage});
    Answer::json("200 OK", &body.to_string())
}

#[tokio::test]
async fn a_conversation_that_will_hardly_fit_is_compacted_before_it_is_refused() {
    let said = |text: &str| json!({"content": text});
    // The first request has 15 kB, tools and all; the server counts a token for every four bytes.
    for (window, requests) in [(Some(4_300), 3), (Some(5_000), 2), (None, 2)] {
        let server = WireServer::start([
            counted(&said("first"), 3_700),
            counted(&said("SUMMARY"), 9),
            counted(&said("last"), 9),
        ]);
        server.tells("/nothing", "");
        let mut world = world(&server, &[&[9_500], &[300]]);
        world.agent.provider = known(&server, window);
        world.turn("and now").await.unwrap();
        world.turn("and then").await.unwrap();
        let received = server.received();
        assert_eq!(received.len(), requests, "{window:?}");
        if requests == 3 {
            assert_whole(&received[2].body);
            expect![[r#"
                system system
                user <summary of="the conversation so far">|SUMMARY|</summary>
                assistant answer 0
                user question 1
                assistant t1c0
                tool t1c0300 bytes
                assistant answer 1
                user and now
                assistant first
                user and then
            "#]]
            .assert_eq(&told(&received[2].body));
        }
    }
}

#[tokio::test]
async fn outcomes_are_shorter_where_little_of_the_window_is_left() {
    let read = json!({"content": null, "tool_calls": [{"id": "c1", "function":
        {"name": "read_file", "arguments": "{\"path\": \"long.txt\"}"}}]});
    let said = json!({"content": "done"});
    let mut lengths = Vec::new();
    for window in [None, Some(100_000), Some(8_000), Some(5_200)] {
        let server = WireServer::start([counted(&read, 3_700), counted(&said, 3_800)]);
        server.tells("/nothing", "");
        let mut world = world(&server, &[&[9_500], &[300]]);
        let lines = "a line of a file\n".repeat(2_000);
        std::fs::write(world.folder.path().join("long.txt"), lines).unwrap();
        world.agent.provider = known(&server, window);
        world.turn("and now").await.unwrap();
        let request: Value = serde_json::from_str(&server.received()[1].body).unwrap();
        let messages = request["messages"].as_array().unwrap();
        let outcome = messages.last().unwrap()["content"].as_str().unwrap();
        let last = outcome.lines().last().unwrap();
        lengths.push(format!("{window:?}: {last}"));
    }
    expect![[r#"
        None: a line of a file
        Some(100000): a line of a file
        Some(8000): [lines 1-386 of 2,000; go on with offset=387]
        Some(5200): [lines 1-117 of 2,000; go on with offset=118]"#]]
    .assert_eq(&lengths.join("\n"));
}

#[tokio::test]
async fn a_long_request_to_an_unknown_model_asks_how_much_it_reads() {
    let stream =
        "data: {\"choices\":[{\"delta\":{\"content\":\"ok\"},\"finish_reason\":\"stop\"}]}\n\n";
    for (bytes, expected) in [(3_000, "a guess"), (14_000, "4096 tokens")] {
        let answer = Answer::opened().chunk(": begun\n\n").chunk(stream);
        let server = WireServer::start([answer.chunk("data: [DONE]\n\n").end()]);
        server.tells("/props", r#"{"default_generation_settings":{"n_ctx":4096}}"#);
        let mut world = world(&server, &[&[bytes]]);
        world.agent.provider = known(&server, None);
        world.turn("and now").await.unwrap();
        assert_eq!(server.asked().is_empty(), expected == "a guess");
        let window = world.agent.window(&world.conversation).unwrap().to_string();
        assert!(window.contains(expected), "{window}");
    }
}

#[tokio::test]
async fn a_window_that_one_model_has_told_is_not_that_of_another() {
    let server = WireServer::start([overflow(), text("SUMMARY"), text("done")]);
    let mut world = world(&server, &[&[9_000], &[300]]);
    world.turn("and now").await.unwrap();
    let windows = ["m", "n"].map(|model| world.conversation.window(model));
    assert_eq!(windows, [Some(8_192), None]);
}

#[tokio::test]
async fn words_that_were_too_long_do_not_stand_in_the_way_of_later_ones() {
    let long = "long ".repeat(9_000);
    // Refused at once; or kept in a summary as the last words, and refused again.
    let rows: [(&[&[usize]], Vec<Answer>); 2] =
        [(&[], vec![overflow()]), (&[&[9_000]], vec![overflow(), text("FIRST"), overflow()])];
    for (past, mut answers) in rows {
        answers.extend([overflow(), text("SUMMARY"), text("done")]);
        let server = WireServer::start(answers);
        let mut world = world(&server, past);
        world.turn(&long).await.unwrap_err();
        world.turn("and now").await.unwrap();
        let requests = server.received();
        let last = &requests.last().unwrap().body;
        assert_whole(last);
        expect![[r#"
            system system
            user <summary of="the conversation so far">|SUMMARY|</summary>||and now
        "#]]
        .assert_eq(&told(last));
    }
}
