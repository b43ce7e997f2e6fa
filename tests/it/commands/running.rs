//! What the model reads of a command.

use std::time::Duration;

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use super::World;

async fn check(command: &str, expected: Expect) {
    expected.assert_eq(&World::new().bash(command).await);
}

async fn check_call(arguments: Value, expected: Expect) {
    let text = match World::new().call(arguments).await {
        Ok(text) => text,
        Err(error) => format!("{error:?}"),
    };
    expected.assert_eq(&text);
}

#[tokio::test]
async fn the_output_comes_first_and_the_exit_code_always() {
    check(
        "echo hi; exit 7",
        expect![[r#"
        hi
        [exit code: 7]"#]],
    )
    .await;
    check(
        "exit 3",
        expect![[r#"
        [no output]
        [exit code: 3]"#]],
    )
    .await;
    check(
        "true",
        expect![[r#"
        [no output]
        [exit code: 0]"#]],
    )
    .await;
    check(
        "printf 'no line end'",
        expect![[r#"
        no line end
        [exit code: 0]"#]],
    )
    .await;
    check(
        "nosuchcmd_q1",
        expect![[r#"
            bash: line 1: nosuchcmd_q1: command not found
            [exit code: 127]"#]],
    )
    .await;
    check(
        "echo \"unbalanced",
        expect![[r#"
            bash: -c: line 1: unexpected EOF while looking for matching `"'
            [exit code: 2]"#]],
    )
    .await;
}

#[tokio::test]
async fn both_streams_are_one_in_the_order_of_writing() {
    check(
        "echo 1; echo 2 >&2; echo 3; echo 4 >&2",
        expect![[r#"
        1
        2
        3
        4
        [exit code: 0]"#]],
    )
    .await;
}

#[tokio::test]
async fn a_signal_is_named() {
    check(
        "kill -9 $$",
        expect![[r#"
        [no output]
        [exit code: 137; bash was killed by SIGKILL]"#]],
    )
    .await;
    check(
        "exit 139",
        expect![[r#"
            [no output]
            [exit code: 139; that is 128 + SIGSEGV]"#]],
    )
    .await;
}

#[tokio::test]
async fn an_earlier_failure_in_the_last_pipeline_is_said() {
    check(
        "(exit 4) | (exit 5) | cat",
        expect![[r#"
        [no output]
        [exit code: 0; in the pipeline: 4, 5, 0]"#]],
    )
    .await;
    check(
        "false | true; exit 3",
        expect![[r#"
        [no output]
        [exit code: 3]"#]],
    )
    .await;
    check(
        "set -euo pipefail; false | true",
        expect![[r#"
        [no output]
        [exit code: 1; in the pipeline: 1, 0]"#]],
    )
    .await;
    check(
        "{ set -x; false | true; } 2>/dev/null",
        expect![[r#"
            [no output]
            [exit code: 0; in the pipeline: 1, 0]"#]],
    )
    .await;
    check(
        "set -v; false | true",
        expect![[r#"
        [no output]
        [exit code: 0]"#]],
    )
    .await;
    check(
        "false | true # a comment",
        expect![[r#"
        [no output]
        [exit code: 0; in the pipeline: 1, 0]"#]],
    )
    .await;
    check(
        "cat <<X | grep -c nothing\nhi\nX",
        expect![[r#"
        0
        [exit code: 1]"#]],
    )
    .await;
    check(
        "echo \"unbalanced | true",
        expect![[r#"
            bash: -c: line 1: unexpected EOF while looking for matching `"'
            [exit code: 2]"#]],
    )
    .await;
    check(
        "exec true | false",
        expect![[r#"
        [no output]
        [exit code: 1]"#]],
    )
    .await;
}

#[tokio::test]
async fn a_pipeline_that_did_what_it_should_is_not_mentioned() {
    check(
        "yes | head -1",
        expect![[r#"
        y
        [exit code: 0]"#]],
    )
    .await;
    check(
        "true | true",
        expect![[r#"
        [no output]
        [exit code: 0]"#]],
    )
    .await;
    check(
        "set -o pipefail; yes | head -1",
        expect![[r#"
        y
        [exit code: 141; in the pipeline: 141, 0; that is 128 + SIGPIPE]"#]],
    )
    .await;
    check(
        "false || true",
        expect![[r#"
        [no output]
        [exit code: 0]"#]],
    )
    .await;
    check(
        "false | true; true",
        expect![[r#"
        [no output]
        [exit code: 0]"#]],
    )
    .await;
    check(
        "trap 'echo bye' EXIT; false | true",
        expect![[r#"
        bye
        [exit code: 0]"#]],
    )
    .await;
}

#[tokio::test]
async fn watching_a_pipeline_leaves_no_trace_in_the_command() {
    let names = "env | cut -d= -f1 | sort | tr '\\n' ' '";
    check(names, expect![[r#"
        DEBIAN_FRONTEND EDITOR GCM_INTERACTIVE GH_PAGER GIT_EDITOR GIT_PAGER GIT_TERMINAL_PROMPT HOME MANPAGER NO_COLOR PAGER PATH PWD SHELL SHLVL SYSTEMD_PAGER TERM VISUAL _ 
        [exit code: 0]"#]]).await;
}

#[tokio::test]
async fn nothing_can_be_read_from_the_person() {
    check(
        "cat; echo after",
        expect![[r#"
        after
        [exit code: 0]"#]],
    )
    .await;
    check(
        "read x </dev/tty; echo \"rc=$?\"",
        expect![[r#"
            bash: line 1: /dev/tty: No such device or address
            rc=1
            [exit code: 0]"#]],
    )
    .await;
    check(
        "cat <<'X'\nhi\nX\ncat; echo after",
        expect![[r#"
        hi
        after
        [exit code: 0]"#]],
    )
    .await;
}

#[tokio::test]
async fn each_call_starts_anew_in_the_start_directory() {
    let world = World::new();
    expect![[r#"
        FOLDER/start/sub
        [exit code: 0]"#]]
    .assert_eq(&world.bash("mkdir sub && cd sub && export A=1 && pwd").await);
    expect![[r#"
        FOLDER/start
        A=
        [exit code: 0]"#]]
    .assert_eq(&world.bash("pwd; echo \"A=$A\"").await);
}

#[tokio::test]
async fn the_time_limit_keeps_what_came_and_tells_what_to_do() {
    check_call(
        json!({"command": "echo early; sleep 761.1", "timeout": 0.2}),
        expect![[r#"
        early
        [timed out after 0.2 s; all it started was ended; `timeout` can be up to 600 s]"#]],
    )
    .await;
}

#[tokio::test]
async fn arguments_are_checked_before_anything_runs() {
    check_call(
        json!({"command": "  "}),
        expect![[r#"Failed("`command` is empty; nothing was run")"#]],
    )
    .await;
    check_call(json!({"cmd": "true"}), expect![[r#"Failed("there is no parameter `cmd`; use `command`; `bash` takes `command`, `timeout?`, `access?`, `why?`")"#]]).await;
    check_call(
        json!({"command": "true", "timeout": -1}),
        expect![[r#"Failed("`timeout` is -1; it must be seconds above 0. Nothing was run")"#]],
    )
    .await;
    check_call(
        json!({"command": "true", "timeout": "1e400"}),
        expect![[r#"Failed("`timeout` must be a number, not a string")"#]],
    )
    .await;
    check_call(
        json!({"command": "true", "access": "network"}),
        expect![[r#"Failed("`access` needs `why`: the reason, for the person who is asked")"#]],
    )
    .await;
    check_call(
        json!({"command": "a\u{0}b"}),
        expect![[
            r#"Failed("`command` holds a NUL character, which bash cannot take; nothing was run")"#
        ]],
    )
    .await;
    check_call(
        json!({"command": "echo taken", "timeout": "5"}),
        expect![[r#"
        taken
        [exit code: 0]"#]],
    )
    .await;
}

#[tokio::test]
async fn a_cancelled_command_keeps_what_came() {
    let world = World::new();
    let mark = world.start().join("running");
    let command = "echo early; touch running; sleep 762.1";
    let cancel = async {
        while !mark.exists() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        world.cancel.cancel();
    };
    let (result, ()) = tokio::join!(world.call(json!({ "command": command })), cancel);
    expect![[r#"Err(Cancelled("early\n[cancelled by the person; all it started was ended]"))"#]]
        .assert_eq(&format!("{result:?}"));
}

#[tokio::test]
async fn the_screen_gets_all_of_a_short_output_and_the_latest_of_a_long_one() {
    let world = World::new();
    world.bash("echo one; echo two >&2").await;
    expect![[r#"
        one
        two
    "#]]
    .assert_eq(&world.shown());

    let world = World::new();
    world.bash("seq 1 100000").await;
    let shown = world.shown();
    let skips = shown.lines().filter(|line| line.contains("not shown")).count();
    assert!(skips > 0, "{}", shown.len());
    assert_eq!(shown.lines().last(), Some("100000"));
    assert!(shown.lines().all(|line| line.contains("not shown") || line.parse::<u32>().is_ok()));
}

#[tokio::test]
async fn a_directory_that_is_gone_is_said() {
    let world = World::new();
    std::fs::remove_dir(world.start()).unwrap();
    expect!["error: `FOLDER/start` cannot be the directory of a command: No such file or directory (os error 2); nothing was run"].assert_eq(&world.bash("true").await);
}
