//! What the person decides of the changes of a command, in whole turns.

use std::sync::{Arc, Mutex};

use expect_test::expect;
use serde_json::json;
use tempfile::TempDir;

use snick::approval::{Decision, Effect, HunkDecision, Mode, Rung, Scope};
use snick::event::Stop;
use snick::message::Reply;
use snick::sandbox::{Sandbox, SandboxOptions};

use crate::world::{World, call, reply};

const LINES: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\neleven\ntwelve\n";

/// Returns a folder beside the workspace for what the sandbox needs.
pub(super) fn place() -> TempDir {
    tempfile::tempdir().unwrap()
}

/// A workspace whose commands are confined; the model runs `command`, then what follows.
pub(super) fn world(place: &TempDir, command: &str, then: Vec<Reply>) -> World {
    let bash = call("bash", &json!({ "command": command }));
    let after = call("bash", &json!({ "command": "echo after > after" }));
    let mut replies = vec![reply("", vec![bash, after])];
    replies.extend(then);
    replies.push(reply("end", vec![]));
    let mut world = World::new(Mode::Ask, &[("a", LINES), ("b", "bee\n")], replies);
    let sandbox = Arc::new(Sandbox::new(SandboxOptions {
        strongest: Rung::Namespaces,
        helper: env!("CARGO_BIN_EXE_snick").into(),
        roots: vec![world.agent.workspace.root().to_owned()],
        home: None,
        private: Vec::new(),
        temporary: place.path().to_owned(),
        views: vec![place.path().join("views")],
        untold: place.path().join("untold"),
        environment: world.agent.commands.environment.clone(),
    }));
    // Its end would end what other tests of this process run.
    std::mem::forget(Arc::clone(&sandbox));
    world.agent.commands.sandbox = Some(sandbox);
    world
}

pub(super) fn yes() -> Decision {
    Decision::Accept(Scope::Once)
}

const EDIT: &str = "sed -i 's/one/ONE/; s/twelve/TWELVE/' a; echo buzz >> b; echo c > c";

#[tokio::test]
async fn only_accepted_hunks_and_files_are_written() {
    let hunk = |accepted| HunkDecision { accepted, comment: String::new() };
    let decisions = [Decision::Hunks(vec![hunk(true), hunk(false)]), yes(), yes(), yes()];
    let place = place();
    let mut world = world(&place, EDIT, vec![]).answering(decisions);
    let end = world.turn("go").await.unwrap();
    assert_eq!(end.changed_files, ["a", "b", "c", "after"]);
    assert_eq!(world.file("a"), LINES.replace("one", "ONE"));
    expect![[r#"
        edit a + edit b + create c
        create after
        user: go
        model: 
          a bash
          b bash
        a allow by mode `ask`, in a copy-on-write view
        a started
        a ask by person
        a ask by person
        a ask by person
        a done: [no output]
        [exit code: 0]
        [of what it changed was written:
        edit a: +1 -1 lines
        edit b: +1 -0 lines
        create c: +1 -0 lines]
        [a: the part at line 12 (`-twelve` `+TWELVE`) was refused by the person and not written]
        b allow by mode `ask`, in a copy-on-write view
        b started
        b ask by person
        b done: [no output]
        [exit code: 0]
        [of what it changed was written:
        create after: +1 -0 lines]
        model: end
    "#]]
    .assert_eq(&format!("{}\n{}", world.asked(), world.log()));
}

#[tokio::test]
async fn a_refusal_with_words_reaches_the_model_and_ends_the_reply() {
    let words = Some("leave b alone".to_owned());
    let decisions = [yes(), Decision::Reject { words }, Decision::Reject { words: None }];
    let place = place();
    let mut world = world(&place, EDIT, vec![]).answering(decisions);
    let end = world.turn("go").await.unwrap();
    assert_eq!((end.stop, end.changed_files), (Stop::EndTurn, vec!["a".to_owned()]));
    assert_eq!(world.file("b"), "bee\n");
    expect![[r#"
        user: go
        model: 
          a bash
          b bash
        a allow by mode `ask`, in a copy-on-write view
        a started
        a ask by person
        a ask by person
        a ask by person
        a done: [no output]
        [exit code: 0]
        [of what it changed was written:
        edit a: +2 -2 lines]
        [refused by the person and not written:
        edit b; they say: leave b alone
        create c
        Do not try to achieve it another way]
        b cancelled: not started: the person rejected what an earlier call changed
        model: end
    "#]]
    .assert_eq(&world.log());
}

#[tokio::test]
async fn a_refusal_without_words_ends_the_turn() {
    let decisions = [(); 3].map(|()| Decision::Reject { words: None });
    let place = place();
    let mut world = world(&place, EDIT, vec![]).answering(decisions);
    let end = world.turn("go").await.unwrap();
    assert_eq!((end.stop, end.changed_files), (Stop::Denied, vec![]));
    assert_eq!(world.file("a"), LINES);
    expect![[r#"
        user: go
        model: 
          a bash
          b bash
        a allow by mode `ask`, in a copy-on-write view
        a started
        a ask by person
        a ask by person
        a ask by person
        a denied: [no output]
        [exit code: 0]
        [refused by the person and not written:
        edit a
        edit b
        create c
        Do not try to achieve it another way]
        b cancelled: not started: the person rejected what an earlier call changed
    "#]]
    .assert_eq(&world.log());
}

#[tokio::test]
async fn yes_to_all_of_the_session_answers_later_commands_but_no_deletion_and_no_link_out() {
    let link = call("bash", &json!({"command": "ln -s a in; ln -s /etc/passwd out"}));
    let remove = call("bash", &json!({"command": "python3 -c \"import os; os.remove('b')\""}));
    let more = reply("", vec![call("bash", &json!({"command": "echo more >> a"})), link, remove]);
    let unanswered = [Decision::Unanswered, Decision::Unanswered];
    let decisions = [Decision::Accept(Scope::Session), yes(), yes()].into_iter().chain(unanswered);
    let place = place();
    let mut world = world(&place, EDIT, vec![more]).answering(decisions);
    let end = world.turn("go").await.unwrap();
    expect![[r#"
        edit a + edit b + create c
        create out
        delete b
        ["create out", "delete b"]"#]]
    .assert_eq(&format!("{}\n{:?}", world.asked(), end.denied_calls));
    let there = |name: &str| world.folder.path().join(name).is_symlink();
    assert_eq!([there("in"), there("out")], [true, false]);
    assert_eq!(world.file("b"), "bee\nbuzz\n");
}

#[tokio::test]
async fn a_file_that_somebody_writes_while_it_is_decided_is_shown_again() {
    let place = place();
    let mut world = world(&place, EDIT, vec![]).answering([yes(), yes(), yes(), yes(), yes()]);
    let path = world.folder.path().join("b");
    let mut times = 0;
    let notes = Arc::new(Mutex::new(Vec::<String>::new()));
    let shown = Arc::clone(&notes);
    world = world.meanwhile(move |asked| {
        times += 1;
        if times == 1 {
            std::fs::write(&path, "theirs\n").unwrap();
        }
        if times == 2 {
            let Effect::Write(change) = asked[0].effect else { panic!("{asked:?}") };
            shown.lock().unwrap().extend(change.notes.clone());
        }
    });
    world.turn("go").await.unwrap();
    expect![[r#"
        edit a + edit b + create c
        edit b
        create after"#]]
    .assert_eq(&world.asked());
    let told = [
        "somebody else changed it while the question stood; this is against the file as it is now",
    ];
    assert_eq!(*notes.lock().unwrap(), told);
    assert_eq!(world.file("b"), "bee\nbuzz\n");
}

#[tokio::test]
async fn a_cancelled_review_writes_nothing_more() {
    let decisions = [yes(), Decision::Cancelled, Decision::Cancelled];
    let place = place();
    let mut world = world(&place, EDIT, vec![]).answering(decisions);
    world.turn("go").await.unwrap();
    assert_eq!(world.file("b"), "bee\n");
    expect![[r#"
        user: go
        model: 
          a bash
          b bash
        a allow by mode `ask`, in a copy-on-write view
        a started
        a ask by person
        a cancelled: [no output]
        [exit code: 0]
        [of what it changed was written:
        edit a: +2 -2 lines]
        [the review was cancelled; what is left of it was dropped]
        b cancelled: cancelled by the person before it was started
        model: end
    "#]]
    .assert_eq(&world.log());
}

#[tokio::test]
async fn a_command_that_the_person_was_asked_about_writes_itself() {
    let place = place();
    let mut world =
        world(&place, "git() { echo \"$@\" > c; }; git add a; rm -r x; echo d > d", vec![])
            .answering([yes(), yes()]);
    let end = world.turn("go").await.unwrap();
    assert_eq!(end.changed_files, ["after"]);
    assert_eq!(world.file("d"), "d\n");
    expect![[r#"
        run git() { echo "$@" > c; }; git add a; rm -r x; echo d > d
        create after"#]]
    .assert_eq(&world.asked());
}

#[tokio::test]
async fn a_file_that_somebody_writes_while_the_command_runs_is_shown_as_it_is_now() {
    let place = place();
    let command =
        "echo mine >> b; echo c > c; echo > target/begun; until [ -e target/go ]; do :; done";
    let mut world = world(&place, command, vec![]).answering([yes(), yes(), yes()]);
    let root = world.folder.path().to_owned();
    std::fs::write(root.join(".gitignore"), "target/\n").unwrap();
    std::fs::create_dir(root.join("target")).unwrap();
    let somebody = std::thread::spawn(move || {
        while !root.join("target/begun").exists() {
            std::thread::yield_now();
        }
        std::fs::write(root.join("b"), "theirs\n").unwrap();
        std::fs::write(root.join("target/go"), "").unwrap();
    });
    let shown = Arc::new(Mutex::new(String::new()));
    let told = Arc::clone(&shown);
    world = world.meanwhile(move |asked| {
        for asked in asked {
            let Effect::Write(change) = asked.effect else { panic!("{asked:?}") };
            told.lock().unwrap().push_str(&snick::change::diff::unified(change));
            told.lock().unwrap().push_str(&change.notes.join("\n"));
        }
    });
    world.turn("go").await.unwrap();
    somebody.join().unwrap();
    expect![[r#"
        --- a/b
        +++ b/b
        @@ -1,1 +1,2 @@
        -theirs
        +bee
        +mine
        somebody else changed it while the command ran; this is against the file as it is now--- /dev/null
        +++ b/c
        @@ -0,0 +1,1 @@
        +c
        --- /dev/null
        +++ b/after
        @@ -0,0 +1,1 @@
        +after
    "#]].assert_eq(&shown.lock().unwrap());
}

#[tokio::test]
async fn an_output_replaces_nothing_that_came_while_others_were_decided() {
    let place = place();
    let folder = "d/d/d/d/d/out";
    let command = format!("echo mine > {folder}/new; echo mine > {folder}/old; echo buzz >> b");
    let mut world = world(&place, &command, vec![]).answering([yes(), yes()]);
    let root = world.folder.path().to_owned();
    std::fs::write(root.join(".gitignore"), "out/\n").unwrap();
    std::fs::create_dir_all(root.join(folder)).unwrap();
    std::fs::write(root.join(folder).join("old"), "old\n").unwrap();
    world = world.meanwhile(move |_| {
        std::fs::write(root.join(folder).join("new"), "theirs\n").unwrap();
    });
    world.turn("go").await.unwrap();
    let file = |name: &str| world.file(&format!("{folder}/{name}"));
    assert_eq!((file("new"), file("old")), ("theirs\n".to_owned(), "mine\n".to_owned()));
    expect![[r#"
        user: go
        model: 
          a bash
          b bash
        a allow by mode `ask`, in a copy-on-write view
        a started
        a ask by person
        a done: [no output]
        [exit code: 0]
        [of what it changed was written:
        edit b: +1 -0 lines]
        [not written:
        an ignored file: `d/d/d/d/d/out/new`: File exists (os error 17)]
        b allow by mode `ask`, in a copy-on-write view
        b started
        b ask by person
        b done: [no output]
        [exit code: 0]
        [of what it changed was written:
        create after: +1 -0 lines]
        model: end
    "#]]
    .assert_eq(&world.log());
}
