//! Whole turns: what the front end is told of changes by commands.

use std::fmt::Write as _;
use std::time::Duration;

use expect_test::{Expect, expect};
use serde_json::json;

use snick::agent::Patience;
use snick::approval::Mode;
use snick::event::Event;

use crate::world::{World, call, reply};

/// Runs one turn whose calls are made one reply after the other; compares the events after calls.
async fn check(files: &[(&str, &str)], calls: &[(&str, serde_json::Value)], expected: &Expect) {
    let mut replies: Vec<_> =
        calls.iter().map(|(name, arguments)| reply("", vec![call(name, arguments)])).collect();
    replies.push(reply("done", vec![]));
    let mut world = World::new(Mode::Full, files, replies);
    // The scripted model answers at once: without this no look would be complete in time.
    let long = Duration::from_mins(10);
    world.agent.options.patience = Patience { first: long, later: long };
    let end = world.turn("go").await.unwrap();
    let mut text = String::new();
    for event in world.events.0.lock().unwrap().iter() {
        match event {
            Event::CallFinished { outcome, .. } => {
                writeln!(text, "{:?}: {}", outcome.status, outcome.text.trim_end()).unwrap();
            }
            Event::CommandChanges { .. } => {
                let event = serde_json::to_string(event).unwrap();
                writeln!(text, "{event}").unwrap();
            }
            Event::Notice { text: notice } => writeln!(text, "notice: {notice}").unwrap(),
            _ => {}
        }
    }
    write!(text, "by tools: {:?}", end.changed_files).unwrap();
    expected.assert_eq(&text);
}

fn bash(command: &str) -> (&'static str, serde_json::Value) {
    ("bash", json!({ "command": command }))
}

#[tokio::test]
async fn what_a_command_changed_is_told_with_its_diff() {
    check(
        &[("a.txt", "one\ntwo\n"), ("b.txt", "b\n")],
        &[bash("sed -i s/two/2/ a.txt; rm b.txt; echo c > c.txt; chmod 600 c.txt")],
        &expect![[r#"
            Done: [no output]
            [exit code: 0]
            {"type":"command_changes","call":"a","changes":[{"path":"a.txt","kind":"modified","diff":"--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n","added":1,"removed":1},{"path":"b.txt","kind":"deleted","diff":"--- a/b.txt\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-b\n","added":0,"removed":1},{"path":"c.txt","kind":"created","diff":"--- /dev/null\n+++ b/c.txt\n@@ -0,0 +1,1 @@\n+c\n","added":1,"removed":0}],"more":0,"cut":false}
            by tools: []"#]],
    )
    .await;
}

#[tokio::test]
async fn edits_by_tools_between_commands_are_not_told_again() {
    check(
        &[("a.txt", "one\ntwo\n")],
        &[
            bash("true"),
            ("read_file", json!({"path": "a.txt"})),
            ("edit_file", json!({"path": "a.txt", "old_string": "one", "new_string": "1"})),
            bash("echo three >> a.txt"),
        ],
        &expect![[r#"
            Done: [no output]
            [exit code: 0]
            Done: one
            two
            Done: Changed `a.txt`: +1 -1 lines
            lines 1-2 are now:
            1
            two
            Done: [no output]
            [exit code: 0]
            {"type":"command_changes","call":"a","changes":[{"path":"a.txt","kind":"modified","diff":"--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,3 @@\n 1\n two\n+three\n","added":1,"removed":0}],"more":0,"cut":false}
            by tools: ["a.txt"]"#]],
    )
    .await;
}

#[tokio::test]
async fn a_command_that_changes_nothing_is_followed_by_nothing() {
    check(
        &[("a.txt", "one\n")],
        &[bash("cat a.txt"), bash("ls")],
        &expect![[r#"
        Done: one
        [exit code: 0]
        Done: a.txt
        [exit code: 0]
        by tools: []"#]],
    )
    .await;
}

#[tokio::test]
async fn a_model_that_answers_at_once_hides_nothing_of_what_its_first_command_changes() {
    let replies = vec![
        reply("", vec![call("bash", &json!({ "command": "rm a.txt" }))]),
        reply("done", vec![]),
    ];
    let mut world = World::new(Mode::Full, &[("a.txt", "one\n")], replies);
    let first = Duration::from_mins(10);
    world.agent.options.patience = Patience { first, later: Duration::ZERO };
    world.turn("go").await.unwrap();
    let events = world.events.0.lock().unwrap();
    let told = events.iter().filter_map(|event| match event {
        Event::CommandChanges { changes, .. } => Some(changes.as_slice()),
        _ => None,
    });
    let told: Vec<(&str, &str)> =
        told.flatten().map(|change| (change.path.as_str(), change.kind)).collect();
    assert_eq!(told, [("a.txt", "deleted")]);
}
