//! Earlier inputs: walked, searched, kept across sessions.

use std::os::unix::fs::PermissionsExt as _;

use crossterm::event::KeyCode;
use expect_test::expect;
use snick::frontend::repl::ReplOptions;

use super::host::Scripted;
use super::stage::Stage;
use super::stage::options;
use super::stage::play;

/// Plays `act` with the history in `file`.
async fn with_history<F>(file: &std::path::Path, act: impl FnOnce(Stage) -> F)
where
    F: Future<Output = Stage>,
{
    let options = ReplOptions { history: Some(file.to_owned()), ..options() };
    play(60, 24, Scripted::new(Vec::new()), options, act).await;
}

#[tokio::test(start_paused = true)]
async fn inputs_of_earlier_sessions_come_back_as_they_were_meant() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("state/history");
    with_history(&file, async |stage| {
        stage.write("one");
        stage.control('j');
        stage.say("two");
        stage.settle().await;
        stage.paste("!rm x");
        stage.key(KeyCode::Enter);
        stage.settle().await;
        stage.say("last");
        stage.say("last");
        stage.settle().await;
        stage
    })
    .await;
    let text = std::fs::read_to_string(&file).unwrap();
    expect![[r#"
        {"text":"one\ntwo"}
        {"text":"!rm x","pasted":true}
        {"text":"last"}
    "#]]
    .assert_eq(&text);
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    std::fs::write(&file, format!("damaged\n{text}")).unwrap();
    with_history(&file, async |stage| {
        stage.write("draft");
        stage.key(KeyCode::Up);
        stage.key(KeyCode::Up);
        stage.key(KeyCode::Enter);
        stage.settle().await;
        stage.write("new");
        for _ in 0..5 {
            stage.key(KeyCode::Up);
        }
        stage.settle().await;
        stage.host.note(stage.screen());
        for _ in 0..9 {
            stage.key(KeyCode::Down);
        }
        stage.settle().await;
        stage.host.note(stage.screen());
        expect![[r#"
            turn "!rm x"
            snick 1.0  tiny  /w

            › !rm x

            — 0 s

            › one▏
              two
            ask · tiny · ? keys
            snick 1.0  tiny  /w

            › !rm x

            — 0 s

            › new▏
            ask · tiny · ? keys"#]]
        .assert_eq(&stage.host.log());
        stage
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_search_finds_older_and_older_inputs() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("history");
    let lines = ["fix the parser", "run tests", "Fix the lexer"];
    let lines = lines.map(|text| format!("{{\"text\":\"{text}\"}}\n"));
    std::fs::write(&file, lines.concat()).unwrap();
    with_history(&file, async |stage| {
        stage.control('r');
        stage.write("fix");
        stage.settle().await;
        stage.host.note(stage.screen());
        stage.control('r');
        stage.key(KeyCode::Enter);
        stage.settle().await;
        stage.host.note(stage.screen());
        expect![[r"
            snick 1.0  tiny  /w

            search: fix▏  Fix the lexer
            ask · tiny · enter takes it, ctrl+r older, esc closes
            snick 1.0  tiny  /w

            › fix the parser▏
            ask · tiny · ? keys"]]
        .assert_eq(&stage.host.log());
        stage
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_pipe_or_a_link_in_the_place_of_the_file_is_let_be() {
    let folder = tempfile::tempdir().unwrap();
    let [file, theirs] = ["history", "theirs"].map(|name| folder.path().join(name));
    rustix::fs::mkfifoat(rustix::fs::CWD, &file, rustix::fs::Mode::RWXU).unwrap();
    let say = async |stage: Stage| {
        stage.say("one");
        stage.settle().await;
        stage
    };
    with_history(&file, say).await;
    std::fs::remove_file(&file).unwrap();
    std::fs::write(&theirs, "").unwrap();
    std::os::unix::fs::symlink(&theirs, &file).unwrap();
    with_history(&file, say).await;
    assert_eq!(std::fs::read_to_string(&theirs).unwrap(), "");
}
