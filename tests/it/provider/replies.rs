//! Replies put together from streams of every kind, and what of them goes back.

use expect_test::{Expect, expect};
use serde_json::{Value, json};
use snick::message::{Finish, Message};
use snick::provider::Provider as _;

use super::*;

/// Gets a stream of one delta a value.
async fn check_deltas(pieces: Vec<Value>, expected: Expect) {
    check(Answer::events(&deltas(pieces, "tool_calls")), expected).await;
}

fn piece(piece: Value) -> Value {
    json!({"tool_calls": [piece]})
}

#[tokio::test]
async fn a_stream_of_text_reasoning_call_and_usage() {
    let body = [
        ": OPENROUTER PROCESSING\n\n".to_owned(),
        event(json!({"choices": [], "prompt_filter_results": []})),
        delta(json!({"role": "assistant", "content": ""})),
        delta(json!({"reasoning": "let me"})),
        delta(json!({"reasoning": " see"})),
        delta(json!({"content": "I lo"})),
        delta(json!({"content": "ok é"})),
        delta(piece(json!({"index": 0, "id": "c1", "type": "function", "function": {"name": "bash", "arguments": ""}}))),
        delta(piece(json!({"index": 0, "function": {"arguments": "{\"command\":"}}))),
        delta(piece(json!({"index": 0, "function": {"arguments": "\"ls\"}"}}))),
        event(json!({"choices": [{"index": 0}]})),
        event(json!({"choices": [{"delta": {"content": ""}, "finish_reason": "tool_calls"}]})),
        event(json!({"choices": [], "usage": {"prompt_tokens": 90, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 64}, "cost": 0.25}})),
        "data: [DONE]\n\n".to_owned(),
    ]
    .concat();
    check(Answer::events(&body), expect![[r#"
        reasoning: let me see
        text: I look é
        call: bash
        done: Complete
          c1 bash({"command":"ls"})
          usage {"input":90,"cached":64,"output":7,"cost":0.25}
          raw chat: {"role":"assistant","content":"I look é","reasoning":"let me see","tool_calls":[{"id":"c1","type":"function","function":{"name":"bash","arguments":"{\"command\":\"ls\"}"}}]}"#]]).await;
}

#[tokio::test]
async fn every_cut_of_the_stream_gives_the_same_reply() {
    let body = [
        "\u{feff}: hi\r\n\r\n".to_owned(),
        delta(json!({"content": "é€😀"})).replace('\n', "\r\n"),
        delta(piece(json!({"index": 0, "id": "c1", "function": {"name": "bash", "arguments": "{\"a\":\"€\"}"}}))),
        "event: message\ndata: {\"choices\":[{\"delta\":{},\ndata: \"finish_reason\":\"stop\"}]}\n\ndata: [DONE]".to_owned(),
    ]
    .concat();
    let cuts = 1..body.len();
    let answers = cuts.clone().map(|cut| {
        let (head, tail) = body.as_bytes().split_at(cut);
        Answer::opened().chunk(head).chunk(tail).end()
    });
    let server = WireServer::start(answers);
    let chat = chat(&server);
    let mut seen = std::collections::BTreeSet::new();
    for _ in cuts {
        seen.insert(tell(&ask(&chat, &[Message::user("go")]).await, &server.host()));
    }
    expect![[r#"
        text: é€😀
        call: bash
        done: Complete
          c1 bash({"a":"€"})"#]]
    .assert_eq(&seen.into_iter().collect::<Vec<String>>().join("\n--\n"));
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn a_whole_call_in_one_delta_and_its_arguments_as_an_object() {
    check_deltas(
        vec![
            piece(json!({"index": 0, "id": "c1", "function": {"name": "bash", "arguments": "{}"}})),
            piece(json!({"index": 1, "id": "c2", "function": {"name": "bash", "arguments": {"command": "ls"}}})),
        ],
        expect![[r#"
            call: bash
            call: bash
            done: Complete
              c1 bash({})
              c2 bash({"command":"ls"})"#]],
    )
    .await;
}

#[tokio::test]
async fn two_ids_under_one_index_are_two_calls() {
    check_deltas(
        vec![
            piece(json!({"index": 0, "id": "c1", "function": {"name": "bash", "arguments": "{\"a\""}})),
            piece(json!({"index": 0, "function": {"arguments": ":1}"}})),
            piece(json!({"index": 0, "id": "c2", "function": {"name": "bash", "arguments": ""}})),
            piece(json!({"index": 0, "function": {"arguments": "{\"b\":2}"}})),
        ],
        expect![[r#"
            call: bash
            call: bash
            done: Complete
              c1 bash({"a":1})
              c2 bash({"b":2})"#]],
    )
    .await;
}

#[tokio::test]
async fn without_index_pieces_belong_to_the_last_call() {
    check_deltas(
        vec![
            piece(json!({"id": "c1", "function": {"name": "bash"}})),
            piece(json!({"function": {"arguments": "{\"a\""}})),
            piece(json!({"function": {"arguments": ":1}"}})),
            piece(json!({"id": "c2", "function": {"name": "read_file", "arguments": "{}"}})),
        ],
        expect![[r#"
            call: bash
            call: read_file
            done: Complete
              c1 bash({"a":1})
              c2 read_file({})"#]],
    )
    .await;
}

#[tokio::test]
async fn id_and_name_repeated_with_each_piece_are_one_call() {
    let with = |id: &str, arguments: &str| {
        piece(json!({"index": 0, "id": id, "function": {"name": "bash", "arguments": arguments}}))
    };
    check_deltas(
        vec![with("c1", "{\"a\""), with("c1", ":1}"), with("c1", "")],
        expect![[r#"
        call: bash
        done: Complete
          c1 bash({"a":1})"#]],
    )
    .await;
}

#[tokio::test]
async fn a_new_id_without_a_name_is_more_of_the_same_call() {
    let with = |id: &str, arguments: &str| {
        piece(json!({"index": 0, "id": id, "function": {"arguments": arguments}}))
    };
    let first = json!({"index": 0, "id": "c1", "function": {"name": "bash", "arguments": ""}});
    check_deltas(
        vec![piece(first), with("c7", "{\"a\""), with("c8", ":1}")],
        expect![[r#"
        call: bash
        done: Complete
          c1 bash({"a":1})"#]],
    )
    .await;
}

#[tokio::test]
async fn a_name_in_pieces_and_a_call_without_arguments() {
    check_deltas(
        vec![
            piece(json!({"index": 0, "id": "c1", "function": {"name": "read"}})),
            piece(json!({"index": 0, "function": {"name": "_file"}})),
            piece(json!({"index": 0, "function": {"arguments": null}})),
        ],
        expect![[r"
            call: read
            done: Complete
              c1 read_file()"]],
    )
    .await;
}

#[tokio::test]
async fn ids_that_are_missing_repeated_or_of_an_earlier_turn_are_replaced() {
    let whole = |index: u64, id: Value| {
        piece(json!({"index": index, "id": id, "function": {"name": "bash", "arguments": "{}"}}))
    };
    let nameless = json!({"tool_calls": [
        {"function": {"name": "bash", "arguments": "{\"n\":1}"}},
        {"function": {"name": "bash", "arguments": "{\"n\":2}"}},
    ]});
    let pieces = [whole(0, json!("c1")), whole(1, json!("c1")), whole(2, json!("")), nameless];
    let body = deltas(pieces.clone(), "stop");
    let server = WireServer::start([Answer::events(&body), Answer::events(&body)]);
    let chat = chat(&server);
    let first = reply(ask(&chat, &[Message::user("go")]).await);
    let outcome = snick::message::Outcome::new(snick::message::Status::Done, "ok");
    let result = |call: &snick::message::ToolCall| {
        let (call, outcome) = (call.id.clone(), outcome.clone());
        Message::Tool(snick::message::ToolResult { call, outcome })
    };
    let mut messages = vec![Message::user("go"), Message::Assistant(first.clone())];
    messages.extend(first.calls.iter().map(result));
    let second = reply(ask(&chat, &messages).await);

    assert_eq!(first.calls[0].id.0, "c1");
    let ids: Vec<&str> =
        first.calls.iter().chain(&second.calls).map(|call| call.id.0.as_str()).collect();
    assert_eq!(ids.len(), 10);
    let distinct: std::collections::HashSet<&&str> = ids.iter().collect();
    assert_eq!(distinct.len(), ids.len(), "{ids:?}");
    let made = ids.iter().filter(|id| **id != "c1");
    let plain = |id: &&str| id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
    assert!(made.into_iter().all(plain), "{ids:?}");
}

#[tokio::test]
async fn arguments_that_are_cut_make_the_reply_cut_whatever_the_server_says() {
    let cut =
        piece(json!({"index": 0, "id": "c1", "function": {"name": "bash", "arguments": "{\"a"}}));
    check(
        Answer::events(&deltas([cut], "tool_calls")),
        expect![[r#"
        call: bash
        done: Length
          c1 bash({"a)"#]],
    )
    .await;
    check(
        Answer::events(&deltas([json!({"content": "so"})], "length")),
        expect![[r"
        text: so
        done: Length"]],
    )
    .await;
}

#[tokio::test]
async fn a_refusal_is_shown_and_ends_the_reply() {
    let pieces = [json!({"refusal": "I can"}), json!({"refusal": "not"})];
    check(
        Answer::events(&deltas(pieces, "stop")),
        expect![[r"
        text: I cannot
        done: Refused"]],
    )
    .await;
    check(Answer::events(&deltas([], "content_filter")), expect!["done: Refused"]).await;
}

#[tokio::test]
async fn fields_that_mean_nothing_here_go_back_as_they_came() {
    let pieces = [
        json!({"role": "assistant", "content": null, "reasoning_content": "think"}),
        json!({"reasoning_content": "ing", "reasoning": "thinking"}),
        json!({"reasoning_details": [{"type": "reasoning.text", "index": 0, "text": "a"}]}),
        json!({"reasoning_details": [{"type": "reasoning.text", "index": 0, "text": "b", "signature": "s"}]}),
        piece(json!({"index": 0, "id": "c1", "type": "function",
            "function": {"name": "bash", "arguments": "{ \"command\" : \"ls\" }"},
            "extra_content": {"google": {"thought_signature": "SIG=="}}})),
    ];
    let server = WireServer::start([Answer::events(&deltas(pieces, "tool_calls"))]);
    let chat = chat(&server);
    let chunks = ask(&chat, &[Message::user("go")]).await;
    expect![[r#"
        reasoning: thinking
        call: bash
        done: Complete
          c1 bash({ "command" : "ls" })
          raw chat: {"role":"assistant","content":null,"reasoning_content":"thinking","reasoning":"thinking","reasoning_details":[{"type":"reasoning.text","index":0,"text":"ab","signature":"s"}],"tool_calls":[{"id":"c1","type":"function","function":{"name":"bash","arguments":"{ \"command\" : \"ls\" }"},"extra_content":{"google":{"thought_signature":"SIG=="}}}]}"#]].assert_eq(&tell(&chunks, &server.host()));
    let reply = reply(chunks);
    let raw = reply.raw.clone().unwrap();
    assert_eq!(chat.encode(&Message::Assistant(reply)).0, raw.json);
}

#[tokio::test]
async fn arguments_that_are_no_object_go_back_as_an_empty_one() {
    let bad = piece(
        json!({"index": 0, "id": "c1", "x": 1, "function": {"name": "bash", "arguments": "[\"ls\"]"}}),
    );
    check_deltas(vec![bad], expect![[r#"
        call: bash
        done: Complete
          c1 bash(["ls"])
          raw chat: {"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"bash","arguments":"{}"},"x":1}]}"#]]).await;
}

#[tokio::test]
async fn reasoning_between_tags_is_told_from_text_and_goes_back() {
    let pieces = [json!({"content": "<thi"}), json!({"content": "nk>why</think>\n\nso"})];
    check(
        Answer::events(&deltas(pieces, "stop")),
        expect![[r#"
        reasoning: why
        text: so
        done: Complete
          raw chat: {"role":"assistant","content":"<think>why</think>\n\nso"}"#]],
    )
    .await;
}

#[tokio::test]
async fn a_whole_completion_is_taken_where_a_stream_was_asked_for() {
    let body = json!({"choices": [{"index": 0, "finish_reason": "stop", "message": {
        "role": "assistant", "content": "hi", "reasoning_content": "r", "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": "{}"}},
            {"id": "c2", "type": "function", "function": {"name": "bash", "arguments": ""}},
        ]}}], "usage": {"prompt_tokens": 3, "completion_tokens": 4, "prompt_cache_hit_tokens": 2}});
    check(Answer::json("200 OK", &format!("\n  \n{body}")), expect![[r#"
        reasoning: r
        text: hi
        call: bash
        call: bash
        done: Complete
          c1 bash({})
          c2 bash()
          usage {"input":3,"cached":2,"output":4}
          raw chat: {"role":"assistant","content":"hi","reasoning_content":"r","tool_calls":[{"id":"c1","type":"function","function":{"name":"bash","arguments":"{}"}},{"id":"c2","type":"function","function":{"name":"bash","arguments":"{}"}}]}"#]]).await;
}

#[tokio::test]
async fn half_a_surrogate_pair_is_replaced() {
    let body = "data: {\"choices\":[{\"delta\":{\"content\":\"a\\ud83d\"}}]}\n\n\
        data: {\"choices\":[{\"delta\":{\"content\":\"\\\\ud83d \\ud83d\\ude00\"},\"finish_reason\":\"stop\"}]}\n\n";
    check(
        Answer::events(body),
        expect![[r"
        text: a�\ud83d 😀
        done: Complete"]],
    )
    .await;
}

#[tokio::test]
async fn an_end_without_done_counts_if_the_server_called_it_one() {
    let body =
        event(json!({"choices": [{"delta": {"content": "a"}, "finish_reason": "end_turn"}]}));
    check(
        Answer::events(&body),
        expect![[r"
        text: a
        done: Complete"]],
    )
    .await;
    let body = format!("{}data: [DONE]\n\n", delta(json!({"content": "b"})));
    check(
        Answer::events(&body),
        expect![[r"
        text: b
        done: Complete"]],
    )
    .await;
}

#[tokio::test]
async fn an_empty_reply_is_an_empty_reply() {
    let server = WireServer::start([Answer::events(&deltas([json!({"content": ""})], "stop"))]);
    let reply = reply(ask(&chat(&server), &[Message::user("go")]).await);
    assert_eq!((reply.text.as_str(), reply.calls.len(), reply.finish), ("", 0, Finish::Complete));
    assert_eq!(chat(&server).encode(&Message::Assistant(reply)).0, "");
}

#[tokio::test]
async fn a_call_that_was_written_as_text_is_a_call() {
    let text = "{\"name\": \"bash\", \"arguments\": {}}";
    let server = WireServer::start([Answer::events(&deltas([json!({"content": text})], "stop"))]);
    let chunks = ask(&chat(&server), &[Message::user("go")]).await;
    let (told, id) = (tell(&chunks, &server.host()), reply(chunks).calls[0].id.0.clone());
    expect![[r#"
        text: {"name": "bash", "arguments": {}}
        call: bash
        done: Complete
          MADE bash({})"#]]
    .assert_eq(&told.replace(&id, "MADE"));
    let quoted = Answer::events(&deltas([json!({"content": text})], "stop"));
    check_with(
        quoted,
        |options| options.spoken_calls = false,
        expect![[r#"
        text: {"name": "bash", "arguments": {}}
        done: Complete"#]],
    )
    .await;
}
