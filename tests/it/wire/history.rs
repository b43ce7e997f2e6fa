//! A long history costs nothing anew: each message is encoded once, and the beginning stays.

use std::sync::{Arc, Mutex};

use futures_util::stream::BoxStream;
use serde_json::json;
use snick::approval::Mode;
use snick::message::{Message, Outcome, Price, Reply, Status, ToolResult, Usage};
use snick::provider::{
    Chunk, Client, Encoded, Facts, Known, Options, Provider, ProviderError, Request, Retrying,
    Scripted, Wire,
};
use snick::session::Record;

use crate::wire_server::{Answer, Received, WireServer};
use crate::world::{World, call, reply};

/// Counts what is encoded, and keeps where the texts of each request lie in memory.
struct Counted {
    inner: Scripted,
    encoded: Mutex<Vec<String>>,
    requests: Mutex<Vec<Vec<(usize, usize)>>>,
}

impl Provider for Counted {
    fn model(&self) -> &str {
        self.inner.model()
    }

    fn encode(&self, message: &Message) -> Encoded {
        let encoded = self.inner.encode(message);
        self.encoded.lock().unwrap().push(encoded.0.clone());
        encoded
    }

    fn stream<'a>(&'a self, request: Request<'a>) -> BoxStream<'a, Result<Chunk, ProviderError>> {
        let places = request.messages.iter().map(|text| (text.0.as_ptr() as usize, text.0.len()));
        self.requests.lock().unwrap().push(places.collect());
        self.inner.stream(request)
    }
}

/// Adds `count` messages of the past: what was asked, what was called, what it gave.
fn fill(world: &mut World, count: usize) {
    for number in 0..count / 4 {
        let id = format!("past{number}");
        let mut past = reply("", vec![call("read_file", &json!({"path": "a.txt"}))]);
        past.calls[0].id.0.clone_from(&id);
        let result = ToolResult {
            call: past.calls[0].id.clone(),
            outcome: Outcome::new(Status::Done, format!("line {number}\n")),
        };
        for message in [
            Message::user(format!("read {number}")),
            Message::Assistant(past),
            Message::Tool(result),
            Message::Assistant(Reply::new("read", vec![])),
        ] {
            world.conversation.append(Record::Message { message }).unwrap();
        }
    }
}

#[tokio::test]
async fn of_five_hundred_messages_each_is_encoded_once_and_never_copied() {
    let read = || reply("", vec![call("read_file", &json!({"path": "a.txt"}))]);
    let with_id = |mut reply: Reply, id: &str| {
        reply.calls[0].id.0 = id.to_owned();
        reply
    };
    let replies = [with_id(read(), "x1"), with_id(read(), "x2"), Reply::new("done", vec![])];
    let counted = Arc::new(Counted {
        inner: Scripted::new(replies),
        encoded: Mutex::default(),
        requests: Mutex::default(),
    });
    let mut world = World::new(Mode::Full, &[("a.txt", "hello\n")], vec![]);
    fill(&mut world, 500);
    world.agent.provider = Box::new(counted.clone());
    world.turn("go").await.unwrap();

    // 500 of the past and the prompt; then two replies with their outcomes.
    let encoded = counted.encoded.lock().unwrap();
    assert_eq!(encoded.len(), 501 + 2 + 2);
    let requests = counted.requests.lock().unwrap();
    let lengths: Vec<usize> = requests.iter().map(Vec::len).collect();
    assert_eq!(lengths, [501, 503, 505]);
    assert_eq!(requests[0][..], requests[1][..501]);
    assert_eq!(requests[1][..], requests[2][..503]);
}

#[tokio::test]
async fn another_model_gets_text_and_calls_and_nothing_sealed() {
    let message = json!({"role": "assistant", "content": null, "reasoning_content": "hm",
        "tool_calls": [{"id": "c1", "type": "function", "extra_content": {"seal": "SIG"},
            "function": {"name": "read_file", "arguments": "{\"path\":\"a.txt\"}"}}]});
    let body = json!({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]});
    let done = json!({"choices": [{"message": {"content": "done"}, "finish_reason": "stop"}]});
    let answers = [&body, &done, &done, &done];
    let server = WireServer::start(answers.map(|body| Answer::json("200 OK", &body.to_string())));
    let mut world = World::new(Mode::Full, &[("a.txt", "hello\n")], vec![]);
    for (model, prompt) in [("m", "go"), ("n", "and you"), ("m", "and you again")] {
        world.agent.provider =
            Box::new(Client::new(Wire::Chat, Options::new(server.url(), model)).unwrap());
        world.conversation.forget_encoding();
        world.turn(prompt).await.unwrap();
    }
    let sealed = |request: &Received| {
        (request.body.contains("\"c1\""), request.body.contains("SIG"), request.body.contains("hm"))
    };
    let sealed: Vec<_> = server.received()[1..].iter().map(sealed).collect();
    assert_eq!(sealed, [(true, true, true), (true, false, false), (true, true, true)]);
}

#[tokio::test]
async fn a_price_of_the_settings_is_used_where_the_server_tells_no_cost() {
    let price = Price { input: 2.0, cached: Some(0.5), output: 10.0 };
    for (told, cached, expected) in [
        (None, Some(0.5), 1.0 + 0.25 + 1.0),
        (None, None, 2.0 + 1.0),
        (Some(0.125), Some(0.5), 0.125),
    ] {
        let usage = json!({"prompt_tokens": 1_000_000, "completion_tokens": 100_000, "cost": told,
            "prompt_tokens_details": {"cached_tokens": 500_000}});
        let choice = json!({"message": {"content": "done"}, "finish_reason": "stop"});
        let body = json!({"choices": [choice], "usage": usage});
        let server = WireServer::start([Answer::json("200 OK", &body.to_string())]);
        let client = Client::new(Wire::Chat, Options::new(server.url(), "m")).unwrap();
        let set = Facts { price: Some(Price { cached, ..price }), ..Facts::default() };
        let mut world = World::new(Mode::Full, &[], vec![]);
        world.agent.provider = Box::new(Known::new(Retrying::new(client), set));
        world.turn("go").await.unwrap();
        let used = world.conversation.totals().usage;
        let cost = Some(expected);
        assert_eq!(used, Usage { input: 1_000_000, cached: 500_000, output: 100_000, cost });
    }
}
