//! The provider over the wire, against a small server that can stall, split and cut a stream.
#![expect(clippy::needless_pass_by_value, reason = "documents are written where they are used")]

mod anthropic;
mod connection;
mod cuts;
mod errors;
mod fixtures;
mod replies;
mod requests;
mod responses;
mod retries;
mod scripted;

use std::fmt::Write as _;
use std::time::Duration;

use expect_test::Expect;
use futures_util::StreamExt as _;
use serde_json::{Value, json};
use snick::message::{Message, Reply, ToolSpec};

use snick::provider::{Chunk, Client, Encoded, Options, Provider, ProviderError, Request, Wire};

use crate::wire_server::{Answer, WireServer};

/// A model at `server`, with limits that no healthy test meets.
fn options(server: &WireServer) -> Options {
    Options::new(server.url(), "m")
}

fn chat(server: &WireServer) -> Client {
    Client::new(Wire::Chat, options(server)).unwrap()
}

fn tools() -> Vec<ToolSpec> {
    vec![ToolSpec {
        name: "bash".into(),
        description: "Run.".into(),
        parameters: json!({"type": "object", "properties": {}, "additionalProperties": false}),
    }]
}

/// Asks `provider` once and returns everything that came.
async fn ask(provider: &dyn Provider, messages: &[Message]) -> Vec<Result<Chunk, ProviderError>> {
    let messages: Vec<Encoded> = messages.iter().map(|message| provider.encode(message)).collect();
    let tools = tools();
    let request = Request { system: "S", tools: &tools, messages: &messages };
    provider.stream(request).collect().await
}

/// Returns the reply at the end of `chunks`.
fn reply(chunks: Vec<Result<Chunk, ProviderError>>) -> Reply {
    match chunks.into_iter().last() {
        Some(Ok(Chunk::Done(reply))) => reply,
        other => panic!("no reply: {other:?}"),
    }
}

/// Tells chunks one a line; pieces of text and of reasoning are joined.
fn tell(chunks: &[Result<Chunk, ProviderError>], host: &str) -> String {
    let mut told = String::new();
    let mut last = "";
    for chunk in chunks {
        let (kind, text) = match chunk {
            Ok(Chunk::Text(text)) => ("text", text.clone()),
            Ok(Chunk::Reasoning(text)) => ("reasoning", text.clone()),
            Ok(Chunk::Call(name)) => ("call", name.clone()),
            Ok(Chunk::Restarted { why, .. }) => ("restarted", why.clone()),
            Ok(Chunk::Done(reply)) => ("done", tell_reply(reply)),
            Err(error) => ("error", format!("{error}\nhint: {:?}", error.hint())),
        };
        if kind == last && matches!(kind, "text" | "reasoning") {
            told.push_str(&text);
        } else {
            let end = if told.is_empty() { "" } else { "\n" };
            write!(told, "{end}{kind}: {text}").unwrap();
        }
        last = kind;
    }
    told.replace(host, "HOST")
}

fn tell_reply(reply: &Reply) -> String {
    let mut told = format!("{:?}", reply.finish);
    for call in &reply.calls {
        write!(told, "\n  {} {}({})", call.id, call.name, call.arguments).unwrap();
    }
    if let Some(usage) = reply.usage {
        write!(told, "\n  usage {}", serde_json::to_string(&usage).unwrap()).unwrap();
    }
    if let Some(raw) = &reply.raw {
        write!(told, "\n  raw {}: {}", raw.wire, raw.json).unwrap();
    }
    told
}

/// Asks once, gets `answer`, and compares everything that came.
async fn check(answer: Answer, expected: Expect) {
    check_with(answer, |_| {}, expected).await;
}

async fn check_with(answer: Answer, change: impl Fn(&mut Options), expected: Expect) {
    let server = WireServer::start([answer]);
    let mut options = options(&server);
    change(&mut options);
    let chunks = ask(&Client::new(Wire::Chat, options).unwrap(), &[Message::user("go")]).await;
    expected.assert_eq(&tell(&chunks, &server.host()));
}

/// One event with one delta.
fn delta(delta: Value) -> String {
    event(json!({"choices": [{"index": 0, "delta": delta}]}))
}

fn event(document: Value) -> String {
    format!("data: {document}\n\n")
}

/// A stream of `deltas` that ends as it should, with `finish`.
fn deltas(deltas: impl IntoIterator<Item = Value>, finish: &str) -> String {
    let mut body: String = deltas.into_iter().map(delta).collect();
    body.push_str(&event(json!({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})));
    body + "data: [DONE]\n\n"
}
