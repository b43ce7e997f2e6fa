//! What the person decides: rejection, alteration, files that change meanwhile, nobody to ask.

use expect_test::expect;
use serde_json::json;

use snick::approval::{Decision, HunkDecision, Mode, Scope};
use snick::event::Stop;
use snick::message::Reply;

use super::check;
use crate::world::{World, call, reply};

/// Two edits of `a.txt`, one of `b.txt`, a command; then a closing text.
fn replies() -> Vec<Reply> {
    let edit = |path: &str, old: &str, new: &str| {
        call("edit_file", &json!({"path": path, "old_string": old, "new_string": new}))
    };
    let calls = vec![
        edit("a.txt", "one", "ONE"),
        edit("b.txt", "bee", "BEE"),
        edit("a.txt", "nine", "NINE"),
        call("bash", &json!({"command": "touch made"})),
    ];
    vec![reply("", calls), reply("done", vec![])]
}

const FILES: &[(&str, &str)] =
    &[("a.txt", "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n"), ("b.txt", "bee\n")];

fn yes() -> Decision {
    Decision::Accept(Scope::Once)
}

#[tokio::test]
async fn a_rejection_with_words_tells_the_model_and_cancels_the_rest() {
    let words = Some("keep it lower case".to_owned());
    let decisions = [yes(), Decision::Reject { words }, yes()];
    let mut world = World::new(Mode::Ask, FILES, replies()).answering(decisions);
    let end = world.turn("go").await.unwrap();
    assert_eq!((end.stop, end.changed_files), (Stop::EndTurn, vec!["a.txt".to_owned()]));
    assert_eq!(world.file("b.txt"), "bee\n");
    assert!(world.last_request().contains("They say: keep it lower case"));
    check(
        &world,
        &expect![[r#"
            user: go
            model: 
              a edit_file
              b edit_file
              c edit_file
              d bash
            a ask by person
            a started
            a done: Changed `a.txt`: +1 -1 lines
            lines 1-3 are now:
            ONE
            two
            three
            b ask by person
            b denied: denied by the person; nothing of it was done. They say: keep it lower case. Follow that; do not do what was refused another way.
            c cancelled: not started: the person rejected an earlier call of this reply
            d cancelled: not started: the person rejected an earlier call of this reply
            model: done
        "#]],
    );
}

#[tokio::test]
async fn a_rejection_without_words_stops_the_turn() {
    let decisions = [Decision::Reject { words: None }];
    let mut world = World::new(Mode::Ask, FILES, replies()).answering(decisions);
    let end = world.turn("go").await.unwrap();
    assert_eq!((end.stop, end.changed_files), (Stop::Denied, vec![]));
    check(
        &world,
        &expect![[r#"
            user: go
            model: 
              a edit_file
              b edit_file
              c edit_file
              d bash
            a ask by person
            a denied: denied by the person; nothing of it was done. Do not try to achieve it another way.
            b cancelled: not started: the person rejected an earlier call of this reply
            c cancelled: not started: the person rejected an earlier call of this reply
            d cancelled: not started: the person rejected an earlier call of this reply
        "#]],
    );
}

#[tokio::test]
async fn an_altered_change_shows_later_changes_of_that_file_again() {
    let amended = FILES[0].1.replace("one", "First");
    let decisions = [Decision::Amend(amended), yes(), yes(), yes(), yes()];
    let mut world = World::new(Mode::Ask, FILES, replies()).answering(decisions);
    world.turn("go").await.unwrap();
    assert_eq!(world.file("a.txt"), "First\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nNINE\n");
    assert_eq!(world.file("b.txt"), "BEE\n");
    assert_eq!(world.asked(), "edit a.txt + edit b.txt + edit a.txt\nedit a.txt\nrun touch made");
    check(
        &world,
        &expect![[r#"
            user: go
            model: 
              a edit_file
              b edit_file
              c edit_file
              d bash
            a ask by person
            a started
            a done: Changed `a.txt`: +1 -1 lines
            lines 1-3 are now:
            First
            two
            three
            [the person edited your text before it was written; from yours to theirs:
            -ONE
            +First]
            b ask by person
            b started
            b done: Changed `b.txt`: +1 -1 lines
            line 1 is now:
            BEE
            c ask by person
            c started
            c done: Changed `a.txt`: +1 -1 lines
            lines 7-9 are now:
            seven
            eight
            NINE
            d ask by person
            d started
            d done: [no output]
            [exit code: 0]
            model: done
        "#]],
    );
}

#[tokio::test]
async fn only_accepted_hunks_are_written_and_the_model_is_told_which() {
    let content = FILES[0].1.replace("one", "ONE").replace("nine", "NINE");
    let write = call("write_file", &json!({"path": "a.txt", "content": content}));
    let read = call("read_file", &json!({"path": "a.txt"}));
    let replies = vec![reply("", vec![read, write]), reply("done", vec![])];
    let comment = "not this one".to_owned();
    let hunks = vec![
        HunkDecision { accepted: true, comment: String::new() },
        HunkDecision { accepted: false, comment },
    ];
    let mut world = World::new(Mode::Ask, FILES, replies).answering([Decision::Hunks(hunks)]);
    world.turn("go").await.unwrap();
    assert_eq!(world.file("a.txt"), FILES[0].1.replace("one", "ONE"));
    check(
        &world,
        &expect![[r#"
        user: go
        model: 
          a read_file
          b write_file
        a done: one
        two
        three
        four
        five
        six
        seven
        eight
        nine
        b ask by person
        b started
        b done: Changed `a.txt`: +1 -1 lines
        lines 1-3 are now:
        ONE
        two
        three
        [the part at line 9 (`-nine` `+NINE`) was refused by the person and not written; they say: not this one]
        model: done
    "#]],
    );
}

#[tokio::test]
async fn yes_to_the_rest_of_the_reply_covers_changes_but_not_commands_nor_protected_names() {
    let write = |path: &str| call("write_file", &json!({"path": path, "content": "new\n"}));
    let read = call("read_file", &json!({"path": "b.txt"}));
    let command = call("bash", &json!({"command": "touch made"}));
    let calls = vec![write("one.txt"), read, write("two.txt"), write("AGENTS.md"), command];
    let replies = vec![reply("", calls), reply("done", vec![])];
    let decisions = [Decision::Accept(Scope::Reply)];
    let mut world = World::new(Mode::Ask, FILES, replies).answering(decisions);
    let end = world.turn("go").await.unwrap();
    assert_eq!(world.asked(), "create one.txt\ncreate AGENTS.md\nrun touch made");
    assert_eq!(end.denied_calls, ["create AGENTS.md", "run touch made"]);
    assert_eq!(world.file("two.txt"), "new\n");
}

#[tokio::test]
async fn a_file_that_changes_while_its_diff_is_on_screen_is_shown_again() {
    let edit =
        call("edit_file", &json!({"path": "a.txt", "old_string": "one", "new_string": "ONE"}));
    let replies = vec![reply("", vec![edit]), reply("done", vec![])];
    let mut world = World::new(Mode::Ask, FILES, replies).answering([yes(), yes()]);
    let path = world.folder.path().join("a.txt");
    let mut texts = vec!["one\nby the person\n"].into_iter();
    world = world.meanwhile(move |_| {
        if let Some(text) = texts.next() {
            std::fs::write(&path, text).unwrap();
        }
    });
    world.turn("go").await.unwrap();
    assert_eq!(world.asked(), "edit a.txt\nedit a.txt");
    assert_eq!(world.file("a.txt"), "ONE\nby the person\n");
}

#[tokio::test]
async fn with_nobody_to_ask_a_question_is_a_denial_that_is_reported() {
    let mut world = World::new(Mode::Ask, FILES, replies());
    let end = world.turn("go").await.unwrap();
    assert_eq!(end.denied_calls, ["edit a.txt", "edit b.txt", "edit a.txt", "run touch made"]);
    assert_eq!(world.file("a.txt"), FILES[0].1);
    check(
        &world,
        &expect![[r#"
            user: go
            model: 
              a edit_file
              b edit_file
              c edit_file
              d bash
            a ask by nobody to ask
            a denied: denied: this needs a person's yes (mode `ask`), and nobody is here to ask. Do not try to achieve it another way; say in your answer what was left undone.
            b ask by nobody to ask
            b denied: denied: this needs a person's yes (mode `ask`), and nobody is here to ask. Do not try to achieve it another way; say in your answer what was left undone.
            c ask by nobody to ask
            c denied: denied: this needs a person's yes (mode `ask`), and nobody is here to ask. Do not try to achieve it another way; say in your answer what was left undone.
            d ask by nobody to ask
            d denied: denied: this needs a person's yes (commands are asked), and nobody is here to ask. Do not try to achieve it another way; say in your answer what was left undone.
            model: done
        "#]],
    );
}

#[tokio::test]
async fn mode_read_refuses_changes_and_commands() {
    let mut world = World::new(Mode::Read, FILES, replies());
    let end = world.turn("go").await.unwrap();
    assert_eq!((end.denied_calls, world.asked().as_str()), (vec![], ""));
    check(
        &world,
        &expect![[r#"
            user: go
            model: 
              a edit_file
              b edit_file
              c edit_file
              d bash
            a deny by the mode is `read`: nothing is changed
            a denied: denied: the mode is `read`: nothing is changed
            b deny by the mode is `read`: nothing is changed
            b denied: denied: the mode is `read`: nothing is changed
            c deny by the mode is `read`: nothing is changed
            c denied: denied: the mode is `read`: nothing is changed
            d deny by the mode is `read`: only commands of the read-only list run
            d denied: denied: the mode is `read`: only commands of the read-only list run
            model: done
        "#]],
    );
}
