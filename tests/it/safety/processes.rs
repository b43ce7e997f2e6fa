//! What commands start ends with them, however they or the program end.

use std::io::{BufRead as _, BufReader, Write as _};
use std::time::{Duration, Instant};

use serde_json::json;

use super::{RUNGS, World};

/// Rungs A and C, and no sandbox at all.
fn everywhere() -> Vec<&'static [&'static str]> {
    let full: &[&str] = &["--mode", "full"];
    RUNGS.iter().copied().chain([full]).collect()
}

/// Whether a process with `seconds` in its arguments runs.
fn runs(world: &World, seconds: &str) -> bool {
    !world.outside(&format!("pgrep -f '[s]leep {seconds}'")).is_empty()
}

#[test]
fn a_daemon_ends_with_its_time() {
    for (number, options) in everywhere().into_iter().enumerate() {
        let world = World::new();
        let seconds = format!("47{number}.{}", std::process::id());
        let command = format!("setsid sh -c 'trap \"\" TERM; sleep {seconds}' & sleep 100");
        let answers = world.calls(options, &[json!({"command": command, "timeout": 1})]);
        assert!(answers[0].contains("timed out after 1 s"), "{answers:#?}");
        assert!(!runs(&world, &seconds), "{options:?}");
    }
}

#[test]
fn a_killed_shell_is_said_to_be_killed() {
    for options in everywhere() {
        let answers = World::new().run(options, &["kill -9 $$", "echo a; kill -TERM $$", "exit 7"]);
        assert_eq!(
            answers,
            [
                "done: [no output]\n[exit code: 137; bash was killed by SIGKILL]",
                "done: a\n[exit code: 143; bash was killed by SIGTERM]",
                "done: [no output]\n[exit code: 7]",
            ],
            "{options:?}"
        );
    }
}

#[test]
fn what_holds_the_pipe_is_ended_and_told() {
    for options in everywhere() {
        let answers = World::new().run(options, &["sleep 300 & echo started"]);
        let expected = "done: started\n[1 process still running in the background was ended with \
                        the call]\n[exit code: 0]";
        assert_eq!(answers, [expected], "{options:?}");
    }
}

#[test]
fn the_programs_death_takes_its_commands_along() {
    for (number, options) in everywhere().into_iter().enumerate() {
        let world = World::new();
        let seconds = format!("48{number}.{}", std::process::id());
        let command = format!(
            "setsid sh -c 'trap \"\" TERM HUP INT; sleep {seconds}' & echo $! > started; \
             sh -c 'trap \"\" TERM HUP INT; sleep {seconds}'"
        );
        let mut child = world.batch(options).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        writeln!(input, "{}", json!({"tool": "bash", "args": {"command": command}})).unwrap();
        until(|| world.path("ws/started").exists() && runs(&world, &seconds));
        child.kill().unwrap();
        child.wait().unwrap();
        drop(input);
        until(|| !runs(&world, &seconds));
    }
}

#[test]
fn processes_are_bounded() {
    let probe = "python3 -c \"
import os, signal
children = []
try:
    while len(children) < 20000:
        child = os.fork()
        if child == 0:
            signal.pause()
        children.append(child)
    print('unbounded')
except BlockingIOError:
    print('bounded')
\"";
    let answers = World::new().run(&["--mode", "auto"], &[probe, "echo on"]);
    assert!(answers[0].starts_with("done: bounded\n"), "{answers:#?}");
    assert_eq!(answers[1], "done: on\n[exit code: 0]");
}

#[test]
fn a_file_cannot_fill_the_disk() {
    // Sparse, so that a missing limit costs nothing.
    let probe =
        "python3 -c \"open('big', 'wb').truncate(100 << 30)\" 2>/dev/null; echo $?; ulimit -c";
    for options in RUNGS {
        let answers = World::new().run(options, &[probe]);
        assert!(answers[0].starts_with("done: 1\n0\n"), "{answers:#?}");
    }
}

#[test]
fn one_session_takes_many_commands() {
    for options in RUNGS {
        let world = World::new();
        let mut child = world.batch(options).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        for number in 0..20 {
            let command = format!("echo {number} | cat | cat");
            writeln!(input, "{}", json!({"tool": "bash", "args": {"command": command}})).unwrap();
            let line = lines.next().unwrap().unwrap();
            assert!(line.contains(&format!("\"{number}\\n[exit code: 0]")), "{line}");
        }
        drop(input);
        assert!(child.wait().unwrap().success());
    }
}

/// Waits for `what`, which comes soon; a minute is for machines that do much else.
fn until(what: impl Fn() -> bool) {
    let start = Instant::now();
    while !what() {
        assert!(start.elapsed() < Duration::from_mins(1), "it never came");
        std::thread::yield_now();
    }
}

#[test]
fn limits_of_other_processes_are_not_a_command_s_to_set() {
    let set = |pid: &str| {
        format!(
            "python3 -c \"import resource as r, os; r.prlimit({pid}, r.RLIMIT_NOFILE, (99, 99)); \
             print(r.getrlimit(r.RLIMIT_NOFILE))\""
        )
    };
    for options in RUNGS {
        let world = World::new();
        let answers =
            world.run(options, &[&set("os.getppid()"), &set("0"), "ulimit -n 98; ulimit -n"]);
        assert!(answers[0].contains("PermissionError"), "{options:?}: {}", answers[0]);
        let own = ["done: (99, 99)\n[exit code: 0]", "done: 98\n[exit code: 0]"];
        assert_eq!(answers[1..], own, "{options:?}");
    }
}
