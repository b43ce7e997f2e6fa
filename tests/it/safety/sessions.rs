//! Sessions where the disk, the home or another process stands in the way.

use rustix::process::{Resource, Rlimit, getrlimit, prlimit};
use serde_json::{Value, json};

use super::place::Place;
use super::terminal::Screen;

/// Puts something that leads to the first path at the second one.
type Put<'a> = &'a dyn Fn(&std::path::Path, &std::path::Path);

/// Returns the session logs beneath the home.
fn logs(place: &Place) -> Vec<String> {
    let tree = place.tree("home");
    let logs = tree.keys().filter(|path| path.ends_with("log.jsonl"));
    logs.map(|path| std::fs::read_to_string(path).unwrap()).collect()
}

#[test]
fn a_file_that_may_not_grow_is_an_error_and_no_death() {
    let place = Place::new();
    let calls = [("bash", json!({"command": "head -c 3000000 /dev/zero | tr '\\0' a"}))];
    let script = place.script(&calls);
    let program = env!("CARGO_BIN_EXE_snick");
    // Blocks of 1024 bytes: the log's first records fit, the output does not.
    let line = format!("ulimit -f 16; exec '{program}' -p go --mode full --replay '{script}'");
    let ran = place.run("/bin/bash", &["-c", &line], &[]);
    assert!(ran.code >= 0, "killed by a signal: {}", ran.err);
    for log in logs(&place) {
        for line in log.split_inclusive('\n').filter(|line| line.ends_with('\n')) {
            assert!(serde_json::from_str::<Value>(line).is_ok(), "{line}");
        }
    }
}

#[test]
fn half_a_record_stands_before_no_other_once_there_is_room_again() {
    let place = Place::new();
    let replies = ["one", "two"].map(|word| json!({"text": format!("said {word}")}).to_string());
    place.file("one.jsonl", &replies[0]);
    place.file("two.jsonl", &replies[1]);
    let replay = |name: &str| place.path(name).to_str().unwrap().to_owned();
    place.snick(&["-p", "first words", "--replay", &replay("one.jsonl")], &[]);
    let header: Value = serde_json::from_str(logs(&place)[0].lines().next().unwrap()).unwrap();
    let again = ["-r", header["id"].as_str().unwrap(), "--replay", &replay("two.jsonl")];
    let mut screen = Screen::start(&place, &again, &[]);
    screen.until("\u{203a}");
    // A part of the next record still fits.
    let most = Some(logs(&place)[0].len() as u64 + 20);
    let limit = Rlimit { current: most, ..getrlimit(Resource::Fsize) };
    let process = Some(screen.process());
    let before = prlimit(process, Resource::Fsize, limit).unwrap();
    screen.press("second words\r");
    screen.until("AGENT_SESSIONS_DIR");
    prlimit(process, Resource::Fsize, before).unwrap();
    screen.press("third words\r");
    screen.until("said two");
    screen.press("/quit\r");
    screen.end();
    let log = &logs(&place)[0];
    let said: Vec<String> = log.lines().filter_map(words).collect();
    assert_eq!(said, ["first words", "said one", "second words", "third words", "said two"]);
}

/// Returns what the person or the model says in a line of a log, which must be a whole record.
fn words(line: &str) -> Option<String> {
    let record: Value = serde_json::from_str(line).expect(line);
    let message = &record["message"];
    let said = message["text"].as_str().or_else(|| message["parts"][0]["text"].as_str());
    said.map(str::to_owned)
}

#[test]
fn an_id_that_is_a_path_is_a_usage_error() {
    let place = Place::new();
    place.file("out/x/log.jsonl", "{\"snick\":1}\n");
    let before = place.tree("out");
    for id in ["../../out/x", "/etc", "..", "a/b"] {
        let ran = place.snick(&["-r", id, "-p", "x", "--replay", "/dev/null"], &[]);
        assert_eq!(ran.code, 2, "{id}: {}", ran.err);
    }
    assert_eq!(place.tree("out"), before);
}

#[test]
fn many_processes_at_once_keep_their_own_sessions() {
    let place = Place::new();
    let script = place.script(&[("bash", json!({"command": "echo x"}))]);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let ran = place.snick(&["-p", "hi", "--replay", &script], &[]);
                assert_eq!(ran.code, 0, "{}", ran.err);
            });
        }
    });
    let logs = logs(&place);
    let whole = |log: &&String| log.lines().all(|line| serde_json::from_str::<Value>(line).is_ok());
    assert_eq!((logs.len(), logs.iter().filter(whole).count()), (8, 8));
}

#[test]
fn a_value_that_looks_like_options_stays_a_value() {
    let place = Place::new();
    let script = place.script(&[("bash", json!({"command": "touch pwn"}))]);
    let words = "--config=/nonexistent/evil.toml --mode full hello";
    let ran = place.snick(&["--replay", &script, "-p", "--", words], &[]);
    assert_eq!(ran.code, 3, "{}", ran.err);
    assert!(!place.path("ws/pwn").exists());
    assert!(logs(&place)[0].contains(words));
}

#[test]
fn what_stands_in_the_place_of_a_session_s_files_is_neither_followed_nor_waited_for() {
    let put_link = |target: &std::path::Path, path: &std::path::Path| {
        std::os::unix::fs::symlink(target, path).unwrap();
    };
    let put_pipe = |_: &std::path::Path, path: &std::path::Path| {
        rustix::fs::mkfifoat(rustix::fs::CWD, path, rustix::fs::Mode::RWXU).unwrap();
    };
    let rows: [(&str, &str, Put<'_>); 8] = [
        ("lock", "out/k", &put_link),
        ("log.torn", "out/k", &put_link),
        ("log.torn", "out/k", &put_pipe),
        ("journal", "out", &put_link),
        ("journal/blobs", "out", &put_link),
        ("journal/index.jsonl", "out/k", &put_link),
        ("journal/index.jsonl", "out/k", &put_pipe),
        ("outputs", "out", &put_link),
    ];
    for (name, target, put) in rows {
        let place = Place::new();
        place.file("out/k", "keep\n");
        let write = json!({"path": "ws.txt", "content": "one\n"});
        let big = json!({"command": "seq 9999"});
        let calls = [("write_file", write), ("bash", big)];
        let options = ["--mode", "full"];
        let ran = place.turn(&options, &calls);
        assert_eq!(ran.statuses(), ["done", "done"], "{}", ran.err);
        let tree = place.tree("home");
        let log = tree.keys().find(|path| path.ends_with("log.jsonl")).unwrap();
        let session = log.parent().unwrap();
        let id = session.file_name().unwrap().to_str().unwrap();
        if name == "log.torn" {
            let text = std::fs::read_to_string(log).unwrap();
            std::fs::write(log, text + "{\"torn").unwrap();
        }
        let planted = session.join(name);
        if planted.is_dir() {
            std::fs::remove_dir_all(&planted).unwrap();
        } else if planted.exists() {
            std::fs::remove_file(&planted).unwrap();
        }
        put(&place.path(target), &planted);
        let before = place.tree("out");
        let write = json!({"path": "new.txt", "content": "two\n"});
        let big = json!({"command": "seq 9999"});
        place.turn(&["--mode", "full", "-r", id], &[("write_file", write), ("bash", big)]);
        assert_eq!(place.tree("out"), before, "{name}");
        place.snick(&["undo"], &[]);
        assert_eq!(place.tree("out"), before, "{name}");
    }
    // A log that is a pipe is no session.
    let place = Place::new();
    let script = place.script(&[]);
    place.snick(&["-p", "go", "--replay", &script], &[]);
    let tree = place.tree("home");
    let log = tree.keys().find(|path| path.ends_with("log.jsonl")).unwrap();
    std::fs::remove_file(log).unwrap();
    put_pipe(log, log);
    let id = log.parent().unwrap().file_name().unwrap().to_str().unwrap();
    for arguments in [&["sessions", "list"][..], &["sessions", "show", id], &["-p", "-r", id, "x"]]
    {
        let ran = place.snick(arguments, &[]);
        assert!(ran.code >= 0, "{arguments:?}: {}{}", ran.out, ran.err);
    }
}
