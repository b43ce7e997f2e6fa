//! The binary: command lines, exit codes, streams.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

/// A home and a workspace of their own, and the binary in them.
pub(crate) struct Place {
    pub(crate) folder: TempDir,
}

impl Place {
    pub(crate) fn new(files: &[(&str, &str)]) -> Place {
        let folder = tempfile::tempdir().unwrap();
        for name in ["home", "ws"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        let place = Place { folder };
        for (name, text) in files {
            let path = place.workspace().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        place
    }

    pub(crate) fn workspace(&self) -> std::path::PathBuf {
        self.folder.path().join("ws")
    }

    /// Writes a file of scripted replies beside the workspace and returns its path.
    pub(crate) fn script(&self, replies: &[Value]) -> String {
        let path = self.folder.path().join("replies.jsonl");
        let lines: String = replies.iter().map(|reply| reply.to_string() + "\n").collect();
        std::fs::write(&path, lines).unwrap();
        path.to_str().unwrap().to_owned()
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        snick(&self.folder.path().join("home"), &self.workspace(), arguments)
    }

    /// Runs the binary to its end with `stdin`; gives exit code, stdout and stderr.
    fn run(&self, arguments: &[&str], stdin: &str) -> (i32, String, String) {
        let mut child = self
            .command(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(stdin.as_bytes()).unwrap();
        let Output { status, stdout, stderr } = child.wait_with_output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (status.code().unwrap(), text(stdout), text(stderr))
    }
}

/// Returns the binary with nothing of this process's environment but the search path.
fn snick(home: &Path, directory: &Path, arguments: &[&str]) -> Command {
    #[expect(clippy::disallowed_methods, reason = "the test is outside of the program")]
    let (mut command, path) =
        (Command::new(env!("CARGO_BIN_EXE_snick")), std::env::var_os("PATH").unwrap_or_default());
    command.args(arguments).current_dir(directory);
    command.env_clear().env("HOME", home).env("PATH", path).env("TERM", "dumb");
    command
}

#[test]
fn without_a_model_a_headless_turn_says_what_to_set() {
    let (code, out, err) = Place::new(&[]).run(&["-p", "hello"], "");
    assert_eq!((code, out.as_str()), (2, ""));
    for word in ["AGENT_API_URL", "AGENT_MODEL", "AGENT_API_KEY", "snick demo"] {
        assert!(err.contains(word), "{err}");
    }
}

#[test]
fn a_server_without_a_model_is_a_usage_error_that_names_the_way_on() {
    let place = Place::new(&[]);
    let (code, _, err) = place.run(&["-p", "hello", "--api-url", "http://127.0.0.1:9/v1"], "");
    assert_eq!(code, 2);
    assert!(err.contains("127.0.0.1:9") && err.contains("-m NAME"), "{err}");
}

#[test]
fn a_server_that_is_not_there_is_named_with_what_to_check() {
    let place = Place::new(&[]);
    let url = "http://127.0.0.1:9/v1";
    let (code, out, err) = place.run(&["-p", "hello", "-m", "m", "--api-url", url], "");
    assert_eq!((code, out.as_str()), (1, ""));
    assert!(err.contains("127.0.0.1:9") && err.contains("running"), "{err}");
}

#[test]
fn exit_codes_tell_how_a_headless_turn_ended() {
    let run =
        |command: &str| json!({"calls": [{"name": "bash", "arguments": {"command": command}}]});
    let done = json!({"text": "done"});
    let mut costly = run("echo 1");
    costly["usage"] = json!({"input": 9, "output": 9, "cost": 0.75});
    let rows = [
        (vec![done.clone()], vec![], 0),
        (vec![run("touch made"), done.clone()], vec![], 3),
        (vec![run("touch made"), done.clone()], vec!["--yolo"], 0),
        (vec![run("echo 1"), run("echo 2"), done.clone()], vec!["--max-requests", "2"], 4),
        (vec![run("echo 1"), run("echo 1"), run("echo 1"), done.clone()], vec![], 4),
        (vec![costly, done.clone()], vec!["--yolo", "--max-cost", "0.5"], 4),
        (vec![json!({"text": ""}); 4], vec![], 5),
        (vec![run("echo 1")], vec![], 1),
        (vec![done.clone()], vec!["--mode", "sometimes"], 2),
        (vec![done], vec!["--config", "mode=\"full\""], 2),
    ];
    for (replies, options, expected) in rows {
        let place = Place::new(&[]);
        let script = place.script(&replies);
        let arguments = [vec!["-p", "go", "--replay", &script], options].concat();
        let (code, _, err) = place.run(&arguments, "");
        assert_eq!(code, expected, "{replies:?} {err}");
    }
}

#[test]
fn the_answer_is_alone_on_stdout_and_piped_text_joins_the_prompt() {
    let place = Place::new(&[("a.txt", "one\n")]);
    let read = json!({"text": "I look.", "calls": [{"name": "read_file", "arguments": {"path": "a.txt"}}]});
    let script = place.script(&[read, json!({"text": "It says one."})]);
    let (code, out, err) = place.run(&["-p", "what?", "--replay", &script], "piped words");
    assert_eq!((code, out.as_str()), (0, "It says one.\n"));
    assert!(err.contains("I look.") && err.contains("read a.txt"), "{err}");
    let (_, list, _) = place.run(&["sessions"], "");
    assert!(list.contains("what?") && list.lines().count() == 1, "{list}");
    let id = list.split_whitespace().next().unwrap();
    let (code, shown, _) = place.run(&["sessions", "show", id], "");
    assert_eq!(
        (code, shown.as_str()),
        (0, "> what?\n> \n> piped words\nI look.\n  ✓ read_file a.txt\nIt says one.\n")
    );
}

#[test]
fn events_are_json_lines_from_session_to_turn_ended() {
    let place = Place::new(&[("a.txt", "one\n")]);
    let edit = json!({"path": "a.txt", "old_string": "one", "new_string": "two"});
    let calls = json!({"calls": [{"name": "edit_file", "arguments": edit}]});
    let script = place.script(&[calls, json!({"text": "Done."})]);
    let arguments = ["-p", "go", "--json", "--mode", "auto", "--replay", &script];
    let (code, out, err) = place.run(&arguments, "");
    assert_eq!((code, err.as_str()), (0, ""));
    let events: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut types: Vec<&str> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    types.dedup();
    let expected = [
        "session",
        "turn_started",
        "call_started",
        "approval",
        "change",
        "call_finished",
        "text",
        "turn_ended",
    ];
    assert_eq!(types, expected);
    let change = events.iter().find(|event| event["type"] == "change").unwrap();
    assert_eq!((&change["added"], &change["removed"]), (&json!(1), &json!(1)));
    let end = events.last().unwrap();
    let expected = json!({"type": "turn_ended", "stop": "end_turn", "text": "Done.",
        "changed_files": ["a.txt"], "denied_calls": []});
    assert_eq!(end, &expected);
}

#[test]
fn a_session_is_resumed_by_its_id_with_what_changed_meanwhile() {
    let place = Place::new(&[("a.txt", "one\n"), ("AGENTS.md", "Rule one.\n")]);
    let read = json!({"calls": [{"name": "read_file", "arguments": {"path": "a.txt"}}]});
    let script = place.script(&[read, json!({"text": "It says one."})]);
    place.run(&["-p", "read it", "--replay", &script], "");
    std::fs::write(place.workspace().join("a.txt"), "two\n").unwrap();
    std::fs::write(place.workspace().join("AGENTS.md"), "Rule two.\n").unwrap();
    let (_, list, _) = place.run(&["sessions"], "");
    let id = list.split_whitespace().next().unwrap().to_owned();
    let script = place.script(&[json!({"text": "I see."})]);
    let (code, out, err) = place.run(&["-p", "again", "-r", &id, "--replay", &script], "");
    assert_eq!((code, out.as_str()), (0, "I see.\n"), "{err}");
    let (_, log, _) = place.run(&["sessions", "export", "--json", &id], "");
    let log: Value = serde_json::from_str(&log).unwrap();
    let records = log["records"].as_array().unwrap();
    let note = records.iter().find(|record| record["type"] == "note").unwrap();
    let expected = "The project's instructions changed since the session began. They are now:\n";
    let text = note["text"].as_str().unwrap();
    assert!(
        text.starts_with(expected) && text.contains("Rule two.") && text.contains("a.txt"),
        "{text}"
    );
}

#[test]
fn the_system_text_holds_where_one_is_and_the_instructions() {
    let place = Place::new(&[("AGENTS.md", "Use tabs.\n"), ("Cargo.toml", "")]);
    let (code, out, _) = place.run(&["prompt"], "");
    assert_eq!(code, 0);
    for words in ["Use tabs.", "cargo test", "AGENTS.md Cargo.toml", "directory: "] {
        assert!(out.contains(words), "{words} in {out}");
    }
    let own = place.folder.path().join("own.md");
    std::fs::write(&own, "Be a poet.\n").unwrap();
    let (_, out, _) = place.run(&["prompt", "--system", own.to_str().unwrap()], "");
    assert!(out.starts_with("Be a poet.\n\nWhere you are\n"), "{out}");
}

#[test]
fn a_folder_with_many_or_long_names_makes_no_long_system_text() {
    let place = Place::new(&[]);
    let length = |place: &Place| place.run(&["prompt"], "").1.len();
    let before = length(&place);
    for number in 0..60 {
        std::fs::write(place.workspace().join(format!("{number:03}{}", "n".repeat(100))), "")
            .unwrap();
    }
    let (_, out, _) = place.run(&["prompt"], "");
    assert!(out.contains(" and 59 more"), "{out}");
    assert!(length(&place) < before + 250, "{out}");
}

#[test]
fn a_tool_runs_alone_or_in_a_batch_of_one_session() {
    let place = Place::new(&[("a.txt", "one\n")]);
    let (code, out, _) = place.run(&["tool", "read_file", r#"{"path":"a.txt"}"#], "");
    assert_eq!((code, out.as_str()), (0, "one\n"));
    let (code, _, err) = place.run(&["tool", "reed", "{}"], "");
    assert!(code == 2 && err.contains("read_file"), "{err}");
    let (code, out, _) = place.run(&["tool", "bash", r#"{"command":"touch made"}"#], "");
    assert!(code == 3 && out.contains("nobody"), "{out}");
    let lines = [
        json!({"tool": "edit_file", "args": {"path": "a.txt", "old_string": "one", "new_string": "two"}}),
        json!({"tool": "bash", "args": {"command": "cat a.txt"}}),
        json!("nonsense"),
    ];
    let stdin: String = lines.iter().map(|line| line.to_string() + "\n").collect();
    let (code, out, _) = place.run(&["tool", "--yes", "--batch"], &stdin);
    let answers: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let ok: Vec<&Value> = answers.iter().map(|answer| &answer["ok"]).collect();
    assert_eq!((code, ok), (0, vec![&json!(true), &json!(true), &json!(false)]));
    assert!(answers[0]["display"].as_str().unwrap().contains("two"));
    assert!(answers[1]["output"].as_str().unwrap().starts_with("two\n"));
}

#[test]
fn the_demo_changes_its_project_and_its_tests_pass() {
    let (code, out, err) = Place::new(&[]).run(&["demo"], "");
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    assert!(out.lines().filter(|line| line.starts_with('+')).count() > 3, "{out}");
    assert!(out.contains("[exit code: 0]"), "{out}");
}

#[test]
fn a_project_cannot_choose_the_server_or_loosen_the_mode() {
    let place =
        Place::new(&[(".snick/config.toml", "api_url = \"http://evil\"\nmode = \"auto\"\n")]);
    let script = place.script(&[json!({"text": "hi"})]);
    let (code, _, err) = place.run(&["-p", "go", "--replay", &script], "");
    assert_eq!(code, 0);
    assert!(err.contains("`api_url`") && err.contains("`mode`"), "{err}");
    let broken = Place::new(&[(".snick/config.toml", "mode = ")]);
    let (code, _, err) = broken.run(&["-p", "go"], "");
    assert!(code == 2 && err.contains("config.toml") && err.contains("line 1"), "{err}");
}

#[test]
fn a_settings_file_that_cannot_be_used_is_named_once_with_its_line() {
    let rows: &[(&[u8], &str)] = &[
        (b"nonsense [[[ = 3", "is wrong: TOML parse error at line 1, column 10"),
        (b"colour = 1\n", "is wrong: TOML parse error at line 1, column 1"),
        (b"mode = \"full\"\n", "never taken from a file; use `--yolo`"),
        (b"\xff\xfe\0", "cannot be read: stream did not contain valid UTF-8"),
    ];
    for (bytes, expected) in rows {
        let place = Place::new(&[(".snick/config.toml", "")]);
        std::fs::write(place.workspace().join(".snick/config.toml"), bytes).unwrap();
        let (code, _, err) = place.run(&["prompt"], "");
        assert_eq!((code, err.matches(expected).count()), (2, 1), "{err}");
    }
}

#[test]
fn a_settings_file_that_is_none_is_not_waited_for() {
    let place = Place::new(&[(".snick/config.toml", "")]);
    let path = place.workspace().join(".snick/config.toml");
    std::fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
    let (code, _, err) = place.run(&["prompt"], "");
    assert_eq!(code, 2);
    assert!(err.ends_with("cannot be read: it is not a file\n"), "{err}");
    // A file in place of the folder is no settings file at all.
    let place = Place::new(&[(".snick", "mine")]);
    assert_eq!(place.run(&["prompt"], "").0, 0);
}

#[test]
fn settings_and_rules_that_nobody_wrote_are_not_read() {
    for name in ["config.toml", "rules.toml"] {
        let long = "# nothing\n".repeat(200_000);
        let place = Place::new(&[(&format!(".snick/{name}"), &long)]);
        let (code, _, err) = place.run(&["prompt"], "");
        assert_eq!(code, 2);
        assert!(err.ends_with("cannot be read: it has more than 1048576 bytes\n"), "{err}");
    }
}

#[test]
fn replies_without_an_end_are_refused() {
    let (code, _, err) = Place::new(&[]).run(&["-p", "hello", "--replay", "/dev/zero"], "");
    assert_eq!(code, 2);
    assert!(err.contains("the replay file `/dev/zero`: it has more than"), "{err}");
}

#[test]
fn what_is_piped_in_without_an_end_is_refused() {
    let place = Place::new(&[]);
    let script = place.script(&[json!({"text": "hi"})]);
    let of_all = "snick: stdin cannot be read: it has more than 64 MiB\n";
    let of_line = "snick: stdin cannot be read: a line of it has more than 64 MiB\n";
    let rows = [
        (vec!["-p", "go", "--replay", &script], of_all),
        (vec!["tool", "read_file", "-"], of_all),
        (vec!["tool", "--batch"], of_line),
    ];
    for (arguments, expected) in rows {
        let zeros = std::fs::File::open("/dev/zero").unwrap();
        let output = place.command(&arguments).stdin(zeros).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), said.as_str()), (Some(1), expected));
    }
}

#[test]
fn events_that_cannot_be_written_are_an_error_and_no_interruption() {
    let place = Place::new(&[]);
    let script = place.script(&[json!({"text": "hi"})]);
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut command = place.command(&["-p", "--json", "--replay", &script, "go"]);
    let output = command.stdin(Stdio::null()).stdout(full).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        (output.status.code(), said.as_str()),
        (
            Some(1),
            "snick: the events could not be written to stdout: No space left on device (os error 28)\n"
        )
    );
}

#[test]
fn the_message_about_an_unknown_tool_shows_what_is_hidden_in_its_name() {
    let place = Place::new(&[]);
    let (code, _, said) = place.run(&["tool", "ba\u{202e}s\u{1b}[2Jh"], "");
    let said = said.split(';').next().unwrap_or_default();
    let expected = r"snick: there is no tool `ba\u{202e}s\u{1b}[2Jh`";
    assert_eq!((code, said), (2, expected));
}
