//! Any bytes, torn anywhere: what a server sends gives a reply or an error, and the same either way.

#![no_main]

use std::collections::HashSet;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use snick::message::{Message, Reply, ToolSpec};
use snick::provider::{Chunk, Client, Encoded, Options, Provider, ProviderError, Request, Wire};
use tokio::runtime::{Builder, Runtime};

struct Place {
    clients: Vec<Client>,
    tools: Vec<ToolSpec>,
    runtime: Runtime,
}

static PLACE: LazyLock<Option<Place>> = LazyLock::new(|| {
    let options = || Options::new("http://localhost/v1", "m");
    let wires = [Wire::Chat, Wire::Anthropic, Wire::Responses];
    let clients: Result<Vec<Client>, ProviderError> =
        wires.into_iter().map(|wire| Client::new(wire, options())).collect();
    let tool = |name: &str| ToolSpec {
        name: name.to_owned(),
        description: String::new(),
        parameters: Value::Null,
    };
    Some(Place {
        clients: clients.ok()?,
        tools: vec![tool("bash"), tool("read_file")],
        runtime: Builder::new_current_thread().enable_all().build().ok()?,
    })
});

fuzz_target!(|data: &[u8]| {
    let [wire, cut, body @ ..] = data else { return };
    let Some(place) = LazyLock::force(&PLACE) else { return };
    let Some(client) = place.clients.get(usize::from(wire % 3)) else { return };
    let whole = read(place, client, &[body]);
    let size = usize::from(*cut) % 16 + 1;
    let pieces: Vec<&[u8]> = body.chunks(size).collect();
    let torn = read(place, client, &pieces);
    assert_eq!(told(&whole), told(&torn), "in pieces of {size}");
    if let Some(Ok(Chunk::Done(reply))) = whole.last() {
        is_sound(client, reply);
    }
});

fn read(place: &Place, client: &Client, pieces: &[&[u8]]) -> Vec<Result<Chunk, ProviderError>> {
    let messages = [client.encode(&Message::user("go"))];
    let request = Request { system: "S", tools: &place.tools, messages: &messages };
    place.runtime.block_on(client.read(request, pieces))
}

/// Tells what came, pieces of text joined, without the ids that were made.
fn told(items: &[Result<Chunk, ProviderError>]) -> Vec<String> {
    let mut told: Vec<String> = Vec::new();
    let mut kind = "";
    for item in items {
        let (next, text) = match item {
            Ok(Chunk::Text(text)) => ("text", text.clone()),
            Ok(Chunk::Reasoning(text)) => ("reasoning", text.clone()),
            Ok(Chunk::Call(name)) => ("call", name.clone()),
            Ok(Chunk::Restarted { why, .. }) => ("restarted", why.clone()),
            Ok(Chunk::Done(reply)) => {
                let calls: Vec<_> =
                    reply.calls.iter().map(|call| (&call.name, &call.arguments)).collect();
                let Reply { text, reasoning, finish, usage, .. } = reply;
                ("done", format!("{text:?} {reasoning:?} {calls:?} {finish:?} {usage:?}"))
            }
            Err(error) => ("error", error.to_string()),
        };
        match told.last_mut() {
            Some(last) if kind == next && matches!(kind, "text" | "reasoning") => {
                last.push_str(&text);
            }
            _ => told.push(text),
        }
        kind = next;
    }
    told
}

/// What goes back to the server is JSON, each call has an id of its own, and its arguments there
/// are an object, whichever wire carries them.
fn is_sound(client: &Client, reply: &Reply) {
    let ids: HashSet<&str> = reply.calls.iter().map(|call| call.id.0.as_str()).collect();
    assert!(ids.len() == reply.calls.len() && !ids.contains(""), "{:?}", reply.calls);
    let Encoded(sent) = client.encode(&Message::Assistant(reply.clone()));
    let Ok(Value::Array(sent)) = serde_json::from_str(&format!("[{sent}]")) else {
        panic!("not JSON: {sent}");
    };
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let chat = sent.iter().flat_map(|message| list(&message["tool_calls"]));
    let chat = chat.map(|call| parsed(&call["function"]["arguments"]));
    let blocks = sent.iter().flat_map(|message| list(&message["content"]));
    let blocks = blocks.filter(|block| block["type"] == "tool_use");
    let blocks = blocks.map(|block| block["input"].clone());
    let items = sent.iter().filter(|item| item["type"] == "function_call");
    let items = items.map(|item| parsed(&item["arguments"]));
    let arguments: Vec<Value> = chat.chain(blocks).chain(items).collect();
    assert!(arguments.iter().all(Value::is_object), "{sent:?}");
    assert_eq!(arguments.len(), reply.calls.len(), "{sent:?}");
}

/// Parses the arguments of a call, which most wires carry as a text.
fn parsed(arguments: &Value) -> Value {
    serde_json::from_str(arguments.as_str().unwrap_or_default()).unwrap_or(Value::Null)
}
