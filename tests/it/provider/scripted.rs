//! Replies that are played from a file.

use expect_test::{Expect, expect};
use snick::provider::Scripted;

use super::*;

/// Plays `text` for `requests` requests and compares everything that came.
async fn check_replay(text: &str, requests: usize, expected: Expect) {
    let provider = match Scripted::replay("r.jsonl", text) {
        Ok(provider) => provider,
        Err(error) => return expected.assert_eq(&error.to_string()),
    };
    let mut told = Vec::new();
    for _ in 0..requests {
        told.push(tell(&ask(&provider, &[Message::user("go")]).await, "-"));
    }
    expected.assert_eq(&told.join("\n--\n"));
}

#[tokio::test]
async fn prepared_replies_are_played_in_order() {
    check_replay(
        r#"{"text":"Let me look.","reasoning":"hm","calls":[{"name":"bash","arguments":{"command":"ls"}},{"name":"bash","arguments":"{\"cut"}],"usage":{"input":5,"output":2}}

{"text":"Done.","delay_ms":1}
{"error":"the model is away"}
"#,
        4,
        expect![[r#"
            reasoning: hm
            text: Let me look.
            call: bash
            call: bash
            done: Complete
              call1x1 bash({"command":"ls"})
              call1x2 bash({"cut)
              usage {"input":5,"cached":0,"output":2}
            --
            text: Done.
            done: Complete
            --
            error: the model is away
            hint: None
            --
            error: the replay `r.jsonl` has no more replies (3 used)
            hint: None"#]],
    )
    .await;
}

#[tokio::test]
async fn the_replies_of_a_session_log_are_played() {
    check_replay(
        r#"{"snick":1,"id":"x","version":"0.1.0"}
{"type":"prefix","system":"S","tools":[]}
{"type":"message","message":{"role":"user","parts":[]}}
{"type":"message","message":{"role":"assistant","text":"a","calls":[{"id":"1","name":"bash","arguments":"{}"}],"finish":"complete","new":1}}
{"type":"kind of the future"}
{"type":"message","message":{"role":"assistant","text":"b","finish":"cancelled"}}
{"type":"mess"#,
        3,
        expect![[r"
            text: a
            call: bash
            done: Complete
              1 bash({})
            --
            text: b
            done: Complete
            --
            error: the replay `r.jsonl` has no more replies (2 used)
            hint: None"]],
    )
    .await;
}

#[tokio::test]
async fn a_line_that_is_no_reply_is_named() {
    check_replay("{\"text\":\"a\"}\n\n{\"txt\":\"b\"}\n", 0, expect!["line 3 of the replay `r.jsonl` is not a reply: unknown field `txt`, expected one of `text`, `reasoning`, `calls`, `usage`, `finish`, `delay_ms`, `error` at line 1 column 6"]).await;
}

#[tokio::test]
async fn requests_are_remembered_for_tests() {
    let provider = Scripted::new([Reply::new("a", vec![])]);
    let chunks = ask(&provider, &[Message::user("go")]).await;
    let pieces: Vec<_> = chunks.iter().filter_map(|chunk| chunk.as_ref().ok()).collect();
    assert_eq!(pieces, [&Chunk::Text("a".into()), &Chunk::Done(Reply::new("a", vec![]))]);
    expect![[r#"[Made { system: "S", tools: ["bash"], messages: ["{\"role\":\"user\",\"content\":\"go\"}"] }]"#]].assert_eq(&format!("{:?}", provider.requests()));
}
