//! Nothing outlives a command.

use std::ffi::OsString;
use std::path::Path;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use expect_test::{Expect, expect};
use serde_json::json;
use snick::sandbox::{Command, End, OutputReceiver};
use tokio_util::sync::CancellationToken;

use super::{World, environment};

/// How many processes run whose command line holds `part`.
fn running(part: &str) -> usize {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = entries.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    lines.filter(|line| String::from_utf8_lossy(line).replace('\0', " ").contains(part)).count()
}

/// Runs `command`; its text, and that none of `gone` runs afterwards.
async fn check(command: &str, timeout: f64, gone: &[&str], expected: Expect) {
    let start = Instant::now();
    let call = json!({ "command": command, "timeout": timeout });
    let text = World::new().call(call).await.unwrap();
    expected.assert_eq(&text);
    for part in gone {
        assert_eq!(running(part), 0, "{part}");
    }
    assert!(start.elapsed() < Duration::from_secs(8), "{:?}", start.elapsed());
}

#[tokio::test]
async fn what_holds_the_pipe_in_the_background_is_ended() {
    check(
        "sleep 725.25 & echo started",
        20.0,
        &["sleep 725.25"],
        expect![[r#"
        started
        [1 process still running in the background was ended with the call]
        [exit code: 0]"#]],
    )
    .await;
}

#[tokio::test]
async fn a_new_session_is_ended() {
    let command = "setsid sleep 726.26 & (setsid sleep 727.27 >/dev/null 2>&1 &) ; echo up";
    check(
        command,
        20.0,
        &["sleep 726.26", "sleep 727.27"],
        expect![[r#"
        up
        [2 processes still running in the background were ended with the call]
        [exit code: 0]"#]],
    )
    .await;
}

#[tokio::test]
async fn a_double_fork_without_environment_is_ended() {
    let command =
        "(env -i setsid bash -c 'sleep 728.28 & sleep 729.29' >/dev/null 2>&1 &); echo up";
    check(
        command,
        20.0,
        &["sleep 728.28", "sleep 729.29"],
        expect![[r#"
        up
        [3 processes still running in the background were ended with the call]
        [exit code: 0]"#]],
    )
    .await;
}

#[tokio::test]
async fn what_ignores_term_is_killed() {
    check(
        "trap '' TERM; sleep 741.41; sleep 742.42",
        0.3,
        &["sleep 741.41", "sleep 742.42"],
        expect![[r#"
            [no output]
            [timed out after 0.3 s; all it started was ended; `timeout` can be up to 600 s]"#]],
    )
    .await;
    check(
        "(trap '' TERM; sleep 743.43; sleep 744.44) & echo up",
        20.0,
        &["sleep 743.43", "sleep 744.44"],
        expect![[r#"
            up
            [2 processes still running in the background were ended with the call]
            [exit code: 0]"#]],
    )
    .await;
}

#[tokio::test]
async fn the_time_limit_ends_the_whole_tree() {
    check(
        "bash -c 'sleep 731.31; true'; echo no",
        0.3,
        &["sleep 731.31"],
        expect![[r#"
        [no output]
        [timed out after 0.3 s; all it started was ended; `timeout` can be up to 600 s]"#]],
    )
    .await;
    check(
        "setsid sleep 732.32 & setsid sleep 733.33",
        0.3,
        &["732.32", "733.33"],
        expect![[r#"
        [no output]
        [timed out after 0.3 s; all it started was ended; `timeout` can be up to 600 s]"#]],
    )
    .await;
}

#[tokio::test]
async fn what_ends_soon_after_the_shell_may_finish() {
    check(
        "echo kept > >(sleep 0.05; cat > out); true",
        20.0,
        &[],
        expect![[r#"
        [no output]
        [exit code: 0]"#]],
    )
    .await;
    let world = World::new();
    world.bash("echo kept > >(sleep 0.05; cat > out); true").await;
    assert_eq!(std::fs::read_to_string(world.start().join("out")).unwrap(), "kept\n");
}

#[tokio::test]
async fn a_fork_bomb_of_one_group_is_ended() {
    let command = "bomb() { sleep 751.51 & bomb2 & }; bomb2() { sleep 751.51 & }; \
                   for i in $(seq 30); do bomb & done; echo up";
    let text = World::new().call(json!({ "command": command, "timeout": 20 })).await.unwrap();
    assert!(text.starts_with("up\n[") && text.ends_with("[exit code: 0]"), "{text}");
    assert_eq!(running("sleep 751.51"), 0);
}

#[tokio::test]
async fn other_children_of_this_process_are_left_alone() {
    #[expect(clippy::disallowed_methods, reason = "a child that the sandbox knows nothing of")]
    let mut other = std::process::Command::new("sleep").arg("735.35").spawn().unwrap();
    let text = World::new().bash("setsid sleep 736.36 & echo up").await;
    let still = other.try_wait().unwrap();
    other.kill().unwrap();
    other.wait().unwrap();
    assert_eq!(still, None);
    expect![[r#"
        up
        [1 process still running in the background was ended with the call]
        [exit code: 0]"#]]
    .assert_eq(&text);
}

#[tokio::test]
async fn two_commands_at_once_end_their_own() {
    let world = World::new();
    let (one, two) = tokio::join!(
        world.bash("setsid sleep 737.37 & echo one"),
        world.bash("setsid sleep 0.6 & wait; echo two")
    );
    expect![[r#"
        one
        [1 process still running in the background was ended with the call]
        [exit code: 0]"#]]
    .assert_eq(&one);
    expect![[r#"
        two
        [exit code: 0]"#]]
    .assert_eq(&two);
}

#[tokio::test]
async fn a_dropped_call_leaves_nothing() {
    let world = World::new();
    let command = "setsid sleep 738.38 & touch running; sleep 739.39";
    let mark = world.start().join("running");
    tokio::select! {
        text = world.bash(command) => panic!("{text}"),
        () = async { while !mark.exists() { tokio::time::sleep(Duration::from_millis(1)).await } } => {}
    }
    assert_eq!(running("sleep 738.38") + running("sleep 739.39"), 0);
}

/// Counts, and keeps nothing.
struct Count(u64);

#[async_trait]
impl OutputReceiver for Count {
    async fn receive(&mut self, bytes: &[u8]) {
        self.0 += bytes.len() as u64;
    }
}

async fn run(text: &str, environment: &[(OsString, OsString)]) -> Result<End, String> {
    let (directory, timeout) = (Path::new("/"), Some(Duration::from_millis(300)));
    let command = Command {
        text,
        directory,
        environment,
        timeout,
        most_memory: None,
        confined: None,
        roots: &[],
    };
    let run = snick::sandbox::run(&command, &mut Count(0), &CancellationToken::new()).await;
    run.map(|finished| finished.end).map_err(|error| error.to_string())
}

#[tokio::test]
async fn endless_output_does_not_hold_up_the_clock() {
    let start = Instant::now();
    assert_eq!(run("yes", &environment("/usr/bin:/bin")).await, Ok(End::TimedOut));
    assert_eq!(run("yes & yes", &environment("/usr/bin:/bin")).await, Ok(End::TimedOut));
    assert!(start.elapsed() < Duration::from_secs(4), "{:?}", start.elapsed());
}

/// Takes its time over each block, as on a machine that does much else.
struct Slow(usize);

#[async_trait]
impl OutputReceiver for Slow {
    async fn receive(&mut self, _: &[u8]) {
        std::thread::sleep(Duration::from_millis(1));
        self.0 += 1;
    }
}

#[tokio::test]
async fn who_takes_output_slowly_does_not_hold_up_the_clock_either() {
    // As a task of its own, as turns are: the runtime asks it again and again before it looks at
    // anything else.
    let mut turns = tokio::task::JoinSet::new();
    turns.spawn(async {
        let command = Command {
            roots: &[],
            text: "yes",
            directory: Path::new("/"),
            environment: &environment("/usr/bin:/bin"),
            timeout: Some(Duration::from_millis(100)),
            most_memory: None,
            confined: None,
        };
        let mut slow = Slow(0);
        let run = snick::sandbox::run(&command, &mut slow, &CancellationToken::new()).await;
        (run.map(|finished| finished.end).map_err(|error| error.to_string()), slow.0)
    });
    let (end, blocks) = turns.join_next().await.unwrap().unwrap();
    assert_eq!(end, Ok(End::TimedOut));
    // As many as can come in the time, and what the pipe held.
    assert!(blocks < 1000, "{blocks} blocks");
}

#[tokio::test]
async fn a_missing_bash_is_said() {
    let environment = [("PATH".into(), "relative:/nonexistent".into())];
    expect![[r#"Err("`bash` was not found on PATH (relative:/nonexistent); install it, or add its folder to PATH")"#]].assert_eq(&format!("{:?}", run("true", &environment).await));
}

#[tokio::test]
async fn what_this_process_inherited_does_not_reach_a_command() {
    let folder = tempfile::tempdir().unwrap();
    let file = std::fs::File::create(folder.path().join("outside")).unwrap();
    // Open without the flag that closes it at exec, as a parent may leave it.
    let inherited = rustix::io::dup(&file).unwrap();
    let number = std::os::fd::AsRawFd::as_raw_fd(&inherited);
    assert_eq!(rustix::io::fcntl_getfd(&inherited), Ok(rustix::io::FdFlags::empty()));

    let command = format!("echo in >&{number}; ls /proc/self/fd");
    let text = World::new().call(json!({ "command": command })).await.unwrap();

    assert_eq!(std::fs::read(folder.path().join("outside")).unwrap(), b"");
    let expected =
        format!("bash: line 1: {number}: Bad file descriptor\n0\n1\n2\n3\n[exit code: 0]");
    assert_eq!(text, expected);
}

#[tokio::test]
async fn a_command_has_the_usual_effects_of_signals() {
    let command = json!({ "command": "grep -E 'Sig(Blk|Ign)' /proc/self/status" });
    let text = World::new().call(command).await.unwrap();
    let sets = text.lines().filter_map(|line| line.split_once(":\t")).map(|(name, set)| {
        // 32 and 33 belong to the C library and cannot be set.
        (name, u64::from_str_radix(set, 16).unwrap() & 0x7fff_ffff)
    });
    assert_eq!(sets.collect::<Vec<_>>(), [("SigBlk", 0), ("SigIgn", 0)]);
}

#[tokio::test]
async fn what_takes_too_much_memory_is_ended_and_told() {
    let world = World { most_memory: Some(64 << 20), ..World::new() };
    let take = "python3 -c 'import time; held = bytearray(b\"x\" * (200 << 20)); time.sleep(317)'";
    // Half of it each: only together it is too much.
    let both = "f() { python3 -c 'import time; held = b\"x\" * (48 << 20); time.sleep(317)'; }; \
                f & f & wait";
    for command in [take, both] {
        let text = world.call(json!({ "command": command, "timeout": 60 })).await.unwrap();
        let (said, most) = text.split_once(" MiB of memory; ").unwrap();
        assert!(said.starts_with("[no output]\n[it used "), "{text}");
        assert_eq!(most, "the most is 64 MiB; all it started was ended]");
        assert_eq!(running("time.sleep(317)"), 0);
    }
}
