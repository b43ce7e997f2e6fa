//! The person's editor on a temporary file.

use std::path::Path;

use expect_test::{Expect, expect};
use snick::sandbox::interactive::{Editor, edit};

use super::environment;

/// Edits `before` with `command`, whose last argument will be the file.
async fn check(command: &str, name: &str, before: &str, expected: Expect) {
    let temporary = tempfile::tempdir().unwrap();
    let environment = environment("/usr/bin:/bin");
    let editor = Editor {
        roots: &[],
        command,
        directory: Path::new("/"),
        environment: &environment,
        temporary: temporary.path(),
    };
    let text = match edit(&editor, name, before).await {
        Ok(text) => format!("{text:?}"),
        Err(error) => error.to_string(),
    };
    expected.assert_eq(&text);
    assert_eq!(std::fs::read_dir(temporary.path()).unwrap().count(), 0, "left behind");
}

#[tokio::test]
async fn the_text_comes_back_as_it_was_saved() {
    check("true", "a.txt", "one\n\u{e9} no end", expect![[r#""one\né no end""#]]).await;
    check("printf 'new\\n' >", "a.txt", "old\n", expect![[r#""new\n""#]]).await;
    let by_rename = "sh -c 'echo new > \"$1\".swap && mv \"$1\".swap \"$1\"' editor";
    check(by_rename, "a.txt", "old\n", expect![[r#""new\n""#]]).await;
}

#[tokio::test]
async fn the_file_is_private_and_keeps_the_ending_of_its_name() {
    let look = "sh -c 'stat -c %a \"$1\" >> \"$1\"; basename \"$1\" >> \"$1\"' editor";
    check(look, "src/my main.rs", "", expect![[r#""600\nmymain.rs\n""#]]).await;
    check(look, "../..", "", expect![[r#""600\ntext\n""#]]).await;
}

#[tokio::test]
async fn what_went_wrong_is_said_and_nothing_is_taken() {
    check("sh -c 'echo new > \"$1\"; exit 3' editor", "a", "old", expect![[r#"the editor `sh -c 'echo new > "$1"; exit 3' editor` ended with exit status: 3; its text was not taken"#]]).await;
    check("nosuchcmd_q2 2>/dev/null", "a", "old", expect!["the editor `nosuchcmd_q2 2>/dev/null` ended with exit status: 127; its text was not taken"]).await;
    check(
        "kill -9 $$ ;",
        "a",
        "old",
        expect!["the editor `kill -9 $$ ;` ended with signal: 9 (SIGKILL); its text was not taken"],
    )
    .await;
    check(
        "printf '\\377' >",
        "a",
        "old",
        expect!["the edited text could not be read back: stream did not contain valid UTF-8"],
    )
    .await;
    check(
        "rm",
        "a",
        "old",
        expect!["the edited text could not be read back: No such file or directory (os error 2)"],
    )
    .await;
}
