//! Calls in order, side by side, unknown and malformed ones.

use expect_test::expect;
use serde_json::json;

use snick::approval::{Decision, Mode, Scope};
use snick::message::{CallId, Reply, ToolCall};

use super::check;
use crate::world::{World, call, reply};

#[tokio::test]
async fn a_command_sees_the_edit_before_it_in_the_same_reply() {
    let calls = vec![
        call("edit_file", &json!({"path": "a.txt", "old_string": "one", "new_string": "two"})),
        call("read_file", &json!({"path": "a.txt"})),
        call("bash", &json!({"command": "cat a.txt"})),
    ];
    let replies = vec![reply("", calls), reply("done", vec![])];
    let mut world = World::new(Mode::Full, &[("a.txt", "one\n")], replies);
    world.turn("go").await.unwrap();
    check(
        &world,
        &expect![[r#"
            user: go
            model: 
              a edit_file
              b read_file
              c bash
            a allow by mode `full`
            a started
            a done: Changed `a.txt`: +1 -1 lines
            line 1 is now:
            two
            b done: two
            c allow by mode `full`
            c started
            c done: two
            [exit code: 0]
            model: done
        "#]],
    );
}

#[tokio::test]
async fn neighbouring_reads_are_answered_in_their_order() {
    let calls = ["a.txt", "missing.txt", "b.txt"]
        .map(|path| call("read_file", &json!({"path": path})))
        .to_vec();
    let replies = vec![reply("", calls), reply("done", vec![])];
    let files = [("a.txt", "A\n"), ("b.txt", "B\n")];
    let mut world = World::new(Mode::Ask, &files, replies);
    world.turn("go").await.unwrap();
    check(
        &world,
        &expect![[r#"
        user: go
        model: 
          a read_file
          b read_file
          c read_file
        a done: A
        b failed: `missing.txt` does not exist
        c done: B
        model: done
    "#]],
    );
}

#[tokio::test]
async fn two_edits_of_one_file_build_on_each_other_and_are_asked_together() {
    let edit = |old: &str, new: &str| {
        call("edit_file", &json!({"path": "a.txt", "old_string": old, "new_string": new}))
    };
    let replies =
        vec![reply("", vec![edit("one", "two"), edit("two", "three")]), reply("ok", vec![])];
    let mut world = World::new(Mode::Ask, &[("a.txt", "one\n")], replies)
        .answering([Decision::Accept(Scope::Once), Decision::Accept(Scope::Once)]);
    world.turn("go").await.unwrap();
    assert_eq!(world.asked(), "edit a.txt + edit a.txt");
    assert_eq!(world.file("a.txt"), "three\n");
}

#[tokio::test]
async fn calls_that_cannot_be_run_are_answered_and_never_run() {
    let raw = |name: &str, arguments: &str| ToolCall {
        id: CallId(String::new()),
        name: name.to_owned(),
        arguments: arguments.to_owned(),
    };
    let calls = vec![
        raw("grep", "{}"),
        raw("bash", r#"{"command": "touch made"#),
        raw("bash", r#"{"command": touch made}"#),
        raw("bash", r#"["touch made"]"#),
        raw("bash", r#"{"cmd": "touch made"}"#),
        raw("bash", ""),
    ];
    let replies = vec![reply("", calls), reply("I see", vec![])];
    let mut world = World::new(Mode::Full, &[], replies);
    world.turn("go").await.unwrap();
    assert!(!world.folder.path().join("made").exists());
    check(
        &world,
        &expect![[r#"
            user: go
            model: 
              a grep
              b bash
              c bash
              d bash
              e bash
              f bash
            a failed: there is no tool `grep`; the tools are: read_file, list_files, search, symbols, edit_file, write_file, bash
            b failed: the arguments end in the middle; the call was cut off, so use smaller steps. Nothing was run; send the call again
            c failed: the arguments are not valid JSON (expected ident at line 1 column 14); they begin with `{"command": touch made}`. Nothing was run; send the call again
            d failed: the arguments are a list, not a JSON object. Nothing was run; send the call again
            e failed: there is no parameter `cmd`; use `command`; `bash` takes `command`, `timeout?`, `access?`, `why?`
            f failed: `command` is missing; `bash` takes `command`, `timeout?`, `access?`, `why?`
            model: I see
        "#]],
    );
}

#[tokio::test]
async fn only_so_many_calls_of_one_reply_are_run() {
    let one = |number: usize| ToolCall {
        id: CallId(format!("c{number}")),
        ..call("read_file", &json!({"path": "a.txt"}))
    };
    let replies = vec![Reply::new("", (1..=130).map(one).collect()), reply("done", vec![])];
    let mut world = World::new(Mode::Ask, &[("a.txt", "A\n")], replies);
    world.turn("go").await.unwrap();
    let log = world.log();
    let outcomes: Vec<&str> = log.lines().filter(|line| line.starts_with('c')).collect();
    assert_eq!(outcomes.len(), 130);
    expect![[r"
        c128 done: A
        c129 failed: not run: it comes after 128 calls in one reply
        c130 failed: not run: it comes after 128 calls in one reply"]]
    .assert_eq(&outcomes[127..].join("\n"));
}
