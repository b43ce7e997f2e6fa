//! Changes of files: each diff is seen once, before the question or, unasked, after the write.

use crossterm::event::KeyCode;
use expect_test::expect;
use snick::approval::Answer;
use snick::approval::Effect;
use snick::approval::Verdict;
use snick::change::Change;
use snick::event::CommandChange;
use snick::event::Event;
use snick::message::CallId;
use snick::message::ContentHash;
use snick::message::Outcome;
use snick::message::Status;
use snick::workspace::FileImage;
use snick::workspace::Options;
use snick::workspace::Workspace;

use super::host::Beat;
use super::host::Scripted;
use super::host::finished;
use super::host::started;
use super::stage::options;
use super::stage::play;

fn change() -> Change {
    let folder = tempfile::tempdir().unwrap();
    let start = folder.path().to_owned();
    let workspace = Workspace::open(Options { start, ..Options::default() }).unwrap();
    let before = "one\ntwo\nthree\n".as_bytes();
    let image =
        FileImage { bytes: before.into(), hash: ContentHash::of(before), mode: 0o644, links: 1 };
    let after = "one\n2\nthree\n".as_bytes();
    let at = workspace.locate("a.txt").unwrap();
    Change { at, before: Some(image), after: Some(after.into()), mode: None, notes: Vec::new() }
}

fn written(by: &str) -> Beat {
    let (path, by) = ("a.txt".to_owned(), by.to_owned());
    let change = Box::new(change());
    let diff = String::new();
    Beat::Event(Event::Change { path, diff, added: 1, removed: 1, by, change })
}

fn ask() -> Beat {
    let rule = "mode `ask`".to_owned();
    let verdict = Verdict { answer: Answer::Ask, rule, always: false };
    Beat::Ask(vec![("edit a.txt".to_owned(), Effect::Write(change()), verdict)])
}

#[tokio::test(start_paused = true)]
async fn a_reviewed_diff_is_shown_once_and_an_unasked_one_after_the_write() {
    let start = |id| started(id, "edit_file", "edit a.txt", "write");
    let end = |id| finished(id, Outcome::new(Status::Done, "written"));
    // The review's call is `0`, as the scripted host numbers them.
    let turn =
        vec![start("0"), ask(), written("person"), end("0"), start("1"), written("mode"), end("1")];
    play(60, 40, Scripted::new(vec![turn]), options(), async |stage| {
        stage.say("go");
        stage.until("esc no and stop").await;
        stage.host.note(stage.screen());
        stage.pause().await;
        stage.key(KeyCode::Char('y'));
        stage.until("— ").await;
        stage.settle().await;
        stage.host.note(stage.screen());
        expect![[r#"
            turn "go"
            snick 1.0  tiny  /w

            › go

            edit a.txt  +1 −1
              1 1 │ one
            - 2   │ two
            +   2 │ 2
              3 3 │ three

            edit a.txt?  +1 −1  (mode `ask`)
            y yes · n no · h hunk · e edit · f full · a rest of this
              reply · A all this session · ? help · esc no and stop

            › ▏
            ask · tiny · shift+tab mode
            decided [Accept(Once)]
            snick 1.0  tiny  /w

            › go

            edit a.txt  +1 −1
              1 1 │ one
            - 2   │ two
            +   2 │ 2
              3 3 │ three
            ✓ edit a.txt  +1 −1

            edit a.txt  +1 −1
              1 1 │ one
            - 2   │ two
            +   2 │ 2
              3 3 │ three
            ✓ edit a.txt  +1 −1

            — 0 s

            › ▏
            ask · tiny · ? keys"#]]
        .assert_eq(&stage.host.log());
        stage
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn what_commands_changed_never_tears_a_paragraph_apart() {
    let text = |delta: &str| Beat::Event(Event::Text { delta: delta.to_owned() });
    let found = CommandChange {
        path: "a.txt".to_owned(),
        kind: "modified",
        diff: None,
        added: 1,
        removed: 1,
        modes: None,
        change: Some(Box::new(change())),
    };
    let (call, changes) = (CallId("0".to_owned()), vec![found]);
    let swept = Event::CommandChanges { call, changes, more: 0, cut: false };
    let turn = vec![
        started("0", "bash", "run make", "execute"),
        finished("0", Outcome::new(Status::Done, "made\n[exit code: 0]")),
        Beat::Event(swept.clone()),
        text("It is "),
        Beat::Event(swept),
        text("made.\n"),
    ];
    play(60, 40, Scripted::new(vec![turn]), options(), async |stage| {
        stage.say("go");
        stage.until("— ").await;
        stage.settle().await;
        stage.host.note(stage.screen());
        expect![[r#"
            turn "go"
            snick 1.0  tiny  /w

            › go

            ✓ run make
              │ made

            commands changed 1 file:
            edit a.txt  +1 −1
              1 1 │ one
            - 2   │ two
            +   2 │ 2
              3 3 │ three

            It is made.

            commands changed 1 file:
            edit a.txt  +1 −1
              1 1 │ one
            - 2   │ two
            +   2 │ 2
              3 3 │ three

            — 0 s

            › ▏
            ask · tiny · ? keys"#]]
        .assert_eq(&stage.host.log());
        stage
    })
    .await;
}
