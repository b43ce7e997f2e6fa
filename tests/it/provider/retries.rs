//! Requests that are made again, and those that are not.

use expect_test::{Expect, expect};
use serde_json::json;
use snick::provider::{Patience, Retrying};

use super::*;

async fn check_answers(answers: Vec<Answer>, expected: Expect) {
    let soon = Duration::from_millis(1);
    let patience = Patience { soon, later: soon, ..Patience::default() };
    let server = WireServer::start(answers);
    let provider = Retrying::with(chat(&server), patience);
    let chunks = ask(&provider, &[Message::user("go")]).await;
    let told = tell(&chunks, &server.host());
    expected.assert_eq(&format!("{told}\n{} requests", server.received().len()));
}

fn ok() -> Answer {
    Answer::events(&deltas([json!({"content": "ok"})], "stop"))
}

fn status(status: &str, headers: &str, message: &str) -> Answer {
    Answer::whole(status, headers, &json!({"error": {"message": message}}).to_string())
}

#[tokio::test]
async fn what_may_pass_is_asked_again() {
    let cut = Answer::opened().chunk(delta(json!({"content": "so fa"}))).close();
    check_answers(
        vec![
            status("503 Service Unavailable", "", "busy"),
            status("529 Overloaded", "Retry-After-Ms: 2\r\n", "overloaded"),
            cut,
            Answer::default().close(),
            ok(),
        ],
        expect![[r"
            restarted: HOST answered 503: busy
            restarted: HOST answered 529: overloaded
            text: so fa
            restarted: the reply of HOST broke off before it was complete: the connection was closed
            restarted: the reply of HOST broke off before it was complete: the connection was closed
            text: ok
            done: Complete
            5 requests"]],
    )
    .await;
}

#[tokio::test]
async fn five_tries_are_enough() {
    let busy = || status("429 Too Many Requests", "Retry-After: 0\r\n", "slow down");
    check_answers(
        (0..9).map(|_| busy()).collect(),
        expect![[r"
        restarted: HOST answered 429: slow down
        restarted: HOST answered 429: slow down
        restarted: HOST answered 429: slow down
        restarted: HOST answered 429: slow down
        error: HOST answered 429: slow down
        hint: None
        5 requests"]],
    )
    .await;
}

#[tokio::test]
async fn what_cannot_pass_is_told_at_once() {
    for answer in [
        status("401 Unauthorized", "", "who"),
        status("429 Too Many Requests", "", "monthly limit reached"),
        status("429 Too Many Requests", "Retry-After: 3600\r\n", "slow down"),
        status("500 Oh", "X-Should-Retry: false\r\n", "no use"),
    ] {
        let server = WireServer::start([answer, ok()]);
        let chunks = ask(&Retrying::new(chat(&server)), &[Message::user("go")]).await;
        assert!(matches!(chunks[..], [Err(_)]), "{chunks:?}");
        assert_eq!(server.received().len(), 1);
    }
}
