//! Whole turns against servers as they are: each `fixtures/wire/turns/NAME.wire` must give `NAME.txt`.

mod compaction;
mod history;
mod script;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use expect_test::expect_file;
use serde_json::Value;
use snick::approval::Mode;
use snick::event::Event;
use snick::message::Message;
use snick::provider::{Client, Known, Patience, Retrying};
use snick::session::Record;

use crate::wire_server::{Answer, Received, WireServer};
use crate::world::World;
use script::Script;

/// Prepares a turn over a model behind `server`.
fn world(server: &WireServer, script: &Script) -> World {
    let mut world = World::new(Mode::Full, &[("a.txt", "hello\n")], Vec::new());
    let soon = Duration::from_millis(1);
    let patience = Patience { soon, later: soon, ..Patience::default() };
    let client = Client::new(script.wire, script.options(server.url())).unwrap();
    let client = Retrying::with(client, patience);
    // What nothing is known of would be asked about.
    world.agent.provider = match script.facts.window {
        Some(_) => Box::new(Known::new(client, script.facts)),
        None => Box::new(client),
    };
    world
}

/// Tells what was shown, pieces of text joined.
fn shown(world: &World, host: &str) -> String {
    let mut shown = String::new();
    let mut last = "";
    for event in world.events.0.lock().unwrap().iter() {
        let (kind, text) = match event {
            Event::Text { delta } => ("text", delta.clone()),
            Event::Reasoning { delta } => ("reasoning", delta.clone()),
            Event::Restarted { why, .. } => ("restarted", why.clone()),
            Event::CallArriving { name } => ("arriving", name.clone()),
            Event::CallStarted { title, .. } => ("started", title.clone()),
            Event::Usage { usage } => ("usage", serde_json::to_string(usage).unwrap()),
            Event::Notice { text } => ("notice", text.clone()),
            Event::TurnEnded { stop, .. } => ("ended", format!("{stop:?}")),
            _ => continue,
        };
        if kind == last && matches!(kind, "text" | "reasoning") {
            shown.push_str(&text);
        } else {
            write!(shown, "\n  {kind}: {text}").unwrap();
        }
        last = kind;
    }
    shown.replace(host, "HOST")
}

/// Tells of each request the messages that the one before it did not have, and the other fields
/// where they differ.
fn sent(received: &[Received]) -> String {
    let mut sent = String::new();
    let (mut before, mut fields) = (Vec::new(), Value::Null);
    for (number, request) in received.iter().enumerate() {
        // Before a reset the last byte of a request stays unread.
        let whole = [request.body.trim_end_matches('\0'), "}"].concat();
        let body = serde_json::from_str(&request.body).or_else(|_| serde_json::from_str(&whole));
        let mut body: Value = body.unwrap();
        let list = if body["messages"].is_array() { "messages" } else { "input" };
        let messages = body[list].take().as_array().unwrap().clone();
        let same = messages.iter().zip(&before).take_while(|(one, other)| one == other).count();
        let gone = before.len() - same;
        write!(sent, "\n  {}:", number + 1).unwrap();
        if gone > 0 {
            write!(sent, " {gone} messages taken back").unwrap();
        }
        body.as_object_mut().unwrap().remove("tools");
        body.as_object_mut().unwrap().remove(list);
        if body != fields {
            write!(sent, "\n    {body}").unwrap();
        }
        for message in &messages[same..] {
            write!(sent, "\n    {message}").unwrap();
        }
        (before, fields) = (messages, body);
    }
    sent
}

/// Plays `script` and tells what was shown, logged and sent.
async fn play(script: &Script) -> String {
    let ok = "{\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"done\"},\"finish_reason\":\"stop\"}]}";
    let mut answers = script.answers();
    answers.push(Answer::json("200 OK", ok));
    let server = WireServer::start(answers);
    let mut world = world(&server, script);
    let mut errors = String::new();
    for prompt in &script.prompts {
        if let Err(error) = world.turn(prompt).await {
            write!(errors, "\n  error: {error}").unwrap();
        }
    }
    let log = world.log();
    let log: String = log.lines().flat_map(|line| ["\n  ", line]).collect();
    let told = format!(
        "shown:{}{}\nlog:{log}\nsent:{}\n",
        shown(&world, &server.host()),
        errors.replace(&server.host(), "HOST"),
        sent(&server.received())
    );
    without_made_ids(&world, script, told)
}

/// Replaces ids that were made here, and what is different in each run.
fn without_made_ids(world: &World, script: &Script, mut told: String) -> String {
    let mut made = 0;
    for record in world.conversation.session.records() {
        let Record::Message { message: Message::Assistant(reply) } = record else { continue };
        for call in &reply.calls {
            if !script.text.contains(&call.id.0) {
                made += 1;
                told = told.replace(&call.id.0, &format!("MADE{made}"));
            }
        }
    }
    told.replace(world.folder.path().to_str().unwrap(), "FOLDER")
}

fn scripts() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/wire/turns");
    let files = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let mut scripts: Vec<_> = files.filter(|path| path.extension().unwrap() == "wire").collect();
    scripts.sort();
    scripts
}

#[tokio::test]
async fn turns_with_real_servers_go_as_they_should() {
    let scripts = scripts();
    assert!(!scripts.is_empty());
    for path in scripts {
        let script = Script::read(&std::fs::read_to_string(&path).unwrap());
        expect_file![path.with_extension("txt")].assert_eq(&play(&script).await);
    }
}
