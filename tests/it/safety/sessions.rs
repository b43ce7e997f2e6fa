//! Sessions where the disk, the home or another process stands in the way.

use serde_json::{Value, json};

use super::place::Place;

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
