//! What commands start ends with them, however they or the program end.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use serde_json::json;

use super::{RUNGS, World, answers};

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
fn a_fork_bomb_ends_with_its_call() {
    for (number, options) in everywhere().into_iter().enumerate() {
        let world = World::new();
        let seconds = format!("49{number}.{}", std::process::id());
        // Each level waits a little, so that the machine stays usable where no limit holds it.
        let bomb = format!("f() {{ (sleep 0.2; f) & (sleep 0.2; f) & sleep {seconds}; }}; f");
        let calls = [json!({"command": bomb, "timeout": 2}), json!({"command": "echo on"})];
        let answers = world.calls(options, &calls);
        assert_eq!(answers[1], "done: on\n[exit code: 0]", "{options:?} {answers:#?}");
        assert!(!runs(&world, &seconds), "{options:?} {answers:#?}");
    }
}

#[test]
fn fork_bombs_at_once_end_where_no_namespace_bounds_them() {
    // What ends one of them must not keep what ends the others, nor what is ended, from running.
    let world = World::new();
    let bomb = |number: u32| {
        let seconds = format!("45{number}.{}", std::process::id());
        let bomb = format!("f() {{ (sleep 0.2; f) & (sleep 0.2; f) & sleep {seconds}; }}; f");
        let calls = [json!({"command": bomb, "timeout": 2}), json!({"command": "echo on"})];
        let answers = World::new().calls(RUNGS[1], &calls);
        assert!(!runs(&world, &seconds), "{answers:#?}");
        answers
    };
    let answers: Vec<_> = std::thread::scope(|scope| {
        let bombs = [0, 1, 2].map(|number| {
            scope.spawn({
                let bomb = &bomb;
                move || bomb(number)
            })
        });
        bombs.into_iter().map(|bomb| bomb.join().unwrap()).collect()
    });
    for answer in answers {
        assert!(!answer[0].contains("could not be ended"), "{answer:#?}");
        assert_eq!(answer[1], "done: on\n[exit code: 0]", "{answer:#?}");
    }
}

#[test]
fn a_fork_bomb_whose_parts_part_is_ended_where_no_namespace_bounds_it() {
    // Each is a session of its own, so that no signal reaches two and, where sessions share the
    // processors, each gets as much of them as the program does.
    for (number, options) in [RUNGS[1], &["--mode", "full"]].into_iter().enumerate() {
        let world = World::new();
        let seconds = format!("46{number}.{}", std::process::id());
        let part = "sleep 0.2; setsid bash ./part & setsid bash ./part &";
        let bomb = format!("echo '{part} sleep {seconds}' > part; bash ./part");
        let calls = [json!({"command": bomb, "timeout": 60}), json!({"command": "echo on"})];
        let answers = world.calls(options, &calls);
        let is_ended = answers[0].contains(" processes and threads; all it started was ended]");
        // Others than the superuser have a limit of their own, which comes first.
        let is_bounded = answers[0].contains("Resource temporarily unavailable")
            && world.outside("id -u").trim() != "0";
        assert!(is_ended || is_bounded, "{options:?} {answers:#?}");
        assert_eq!(answers[1], "done: on\n[exit code: 0]", "{options:?} {answers:#?}");
        assert!(!runs(&world, &seconds), "{options:?} {answers:#?}");
    }
}

/// Starts another of itself and ends, over and over for a while, deaf to all signals; then says so.
const HOPPER: &str = r#"
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

int main(void) {
    time_t end = time(0) + 10;
    for (int number = 1; number < 65; number++) signal(number, SIG_IGN);
    if (fork() != 0) return 0;
    setsid();
    for (int file = 0; file < 5; file++) close(file);
    for (unsigned long n = 0; time(0) < end; n++) {
        if (fork() != 0) _exit(0);
        if (n % 7 == 0) setsid();
    }
    close(open("survived", O_CREAT | O_WRONLY, 0600));
    return 0;
}
"#;

#[test]
fn what_starts_another_and_ends_over_and_over_ends_with_its_call() {
    for options in everywhere() {
        let world = World::new();
        world.write("ws/hopper.c", HOPPER);
        let pipe = world.path("ws/pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RWXU).unwrap();
        let flags = rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::NONBLOCK;
        let held = rustix::fs::open(&pipe, flags, rustix::fs::Mode::empty()).unwrap();
        let answers =
            world.run(options, &["cc -o hopper hopper.c", "exec 5> pipe; ./hopper & wait"]);
        assert!(answers[1].ends_with("[exit code: 0]"), "{options:?} {answers:#?}");
        // All of them hold the pipe, so it hangs up once there is none.
        let mut waited = [PollFd::new(&held, PollFlags::empty())];
        let limit = Timespec { tv_sec: 60, tv_nsec: 0 };
        assert_eq!(rustix::event::poll(&mut waited, Some(&limit)), Ok(1), "{options:?}");
        assert!(!world.path("ws/survived").exists(), "{options:?} {answers:#?}");
    }
}

#[test]
fn too_many_threads_are_ended_where_no_namespace_bounds_them() {
    // They count as processes do, and cost less.
    let probe = "python3 -c \"
import threading
threading.stack_size(64 << 10)
stop = threading.Event()
try:
    for number in range(9000):
        threading.Thread(target=stop.wait, daemon=True).start()
    print('unbounded', flush=True)
    stop.wait()
except RuntimeError:
    print('bounded')
\"";
    for options in [RUNGS[1], &["--mode", "full"]] {
        let calls = [json!({"command": probe, "timeout": 90}), json!({"command": "echo on"})];
        let answers = World::new().calls(options, &calls);
        // A user's own limit may come first.
        let is_bounded = answers[0].contains(" processes and threads; all it started was ended]")
            || answers[0].starts_with("done: bounded\n");
        assert!(is_bounded, "{options:?} {answers:#?}");
        assert_eq!(answers[1], "done: on\n[exit code: 0]");
    }
}

#[test]
fn a_command_that_fills_the_disk_is_ended() {
    for options in ["--mode full", "--mode auto --sandbox landlock"] {
        let world = World::new();
        let place = world.path("ws");
        let line = format!(
            "mount -t tmpfs -o size=320m none {0} && cd {0} && exec {1} tool --batch {options}",
            place.display(),
            env!("CARGO_BIN_EXE_snick")
        );
        let mut program = world.clean("unshare");
        program.args(["-rm", "sh", "-c", &line]);
        program.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // More than is let pass, and less than there is.
        let command = "head -c 157286400 /dev/zero > big; sleep 100";
        let answers = answers(program, &[json!({"command": command, "timeout": 90})]);
        let (said, free) = answers[0].split_once("[it left only ").unwrap_or_default();
        assert_eq!(said, "done: [no output]\n", "{options}: {answers:#?}");
        assert!(free.ends_with(" MiB of the disk free; all it started was ended]"), "{answers:#?}");
    }
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
pub(super) fn until(what: impl Fn() -> bool) {
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

#[test]
fn no_other_process_is_made_slow() {
    let rows = [
        // All of the person's processes, one by its number, and how it gets its turns.
        ("c.setpriority(2, os.getuid(), 19)", "EPERM"),
        ("c.setpriority(0, os.getppid(), 19)", "EPERM"),
        ("c.setpriority(1, os.getpgid(0), 19)", "EPERM"),
        ("c.syscall(IOPRIO, 3, os.getuid(), 3 << 13)", "EPERM"),
        ("c.syscall(IOPRIO, 1, os.getppid(), 3 << 13)", "EPERM"),
        ("c.sched_setscheduler(os.getppid(), 5, bytes(4))", "EPERM"),
        ("c.setpriority(0, 0, 7)", "done"),
        ("c.syscall(IOPRIO, 1, 0, 3 << 13)", "done"),
        ("c.sched_setscheduler(0, 5, bytes(4))", "done"),
    ];
    let number = libc::SYS_ioprio_set.to_string();
    let calls = rows.map(|(call, _)| {
        format!(
            "python3 -c \"import ctypes, errno, os
c = ctypes.CDLL(None, use_errno=True)
print('done' if {} == 0 else errno.errorcode[ctypes.get_errno()])\"",
            call.replace("IOPRIO", &number)
        )
    });
    let mut commands: Vec<&str> = calls.iter().map(String::as_str).collect();
    commands.push("echo $(($(nice -n 3 nice) - $(nice)))");
    let answers = World::new().run(RUNGS[1], &commands);
    let mut expected = rows.map(|(_, said)| format!("done: {said}\n[exit code: 0]")).to_vec();
    expected.push("done: 3\n[exit code: 0]".to_owned());
    assert_eq!(answers, expected);
}
