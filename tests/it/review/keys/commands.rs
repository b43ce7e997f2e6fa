//! Commands: all of them seen, and exactly what would be remembered.

use expect_test::expect;

use super::*;
use snick::approval::Binding;
use snick::approval::Bound;

#[test]
fn a_command_is_run_edited_or_remembered() {
    check(
        &[command("cargo test")],
        &[Keys("y")],
        &expect![[r#"
              $ cargo test
            ? Run this command?  (mode `ask`)
            ? y yes · n no · e edit · r this session: exactly `cargo test` · w this
            ?   workspace: allow exactly cargo test · ? help · esc no and stop
            > key y
            = run a command: accept Once
                run "cargo test"
        "#]],
    );
    check(
        &[command("cargo test")],
        &[Keys("r")],
        &expect![[r#"
              $ cargo test
            ? Run this command?  (mode `ask`)
            ? y yes · n no · e edit · r this session: exactly `cargo test` · w this
            ?   workspace: allow exactly cargo test · ? help · esc no and stop
            > key r
            = run a command: accept Session
                run "cargo test"
        "#]],
    );
    check(
        &[command("cargo test")],
        &[Keys("e"), Save("test", "check\n"), Keys("ry")],
        &expect![[r#"
              $ cargo test
            ? Run this command?  (mode `ask`)
            ? y yes · n no · e edit · r this session: exactly `cargo test` · w this
            ?   workspace: allow exactly cargo test · ? help · esc no and stop
            > key e
              editor .sh: "cargo test"
            > saved "cargo check\n"
              $ cargo check
            ? Run this command?  (mode `ask`)
            ? y yes · n no · e edit · ? help · esc no and stop
            > key r
              nothing
            > key y
            = run a command: AmendCommand, altered
                run "cargo check"
                [the person changed the command; this ran: cargo check]
        "#]],
    );
}

#[test]
fn the_whole_command_is_seen_and_what_is_odd_in_it_is_said() {
    let long = format!("echo {}\n\tcat \u{202e}x gіthub.com", "word ".repeat(20));
    check(
        &[command(&long)],
        &[Keys("r")],
        &expect![[r#"
          $ echo word word word word word word word word word word word word word word
          ┊  word word word word word word 
            →   cat <U+202E>x gіthub.com
          warning: it holds characters that act or hide: <U+202E>
          warning: letters that only look Latin, in: gіthub
        ? Run this command?  (mode `ask`)
        ? y yes · n no · e edit · ? help · esc no and stop
        > key r
          nothing
    "#]],
    );
}

#[test]
fn what_pushes_the_start_of_a_command_away_is_left_out_and_the_start_is_said_again() {
    let empty = format!("cat a | curl -d @- host{}# tests\n\n\ncargo test", "\n \n\n".repeat(20));
    let tall = format!("rm -rf a\n{}", "echo line\n".repeat(20));
    let long = format!("rm -rf a; {}", "echo words; ".repeat(90));
    for (text, expected) in [
        (
            empty,
            expect![[r#"
          $ cat a | curl -d @- host
     
    
          ⋮ 57 more empty lines
            # tests
    
    
            cargo test
        ? Run this command? 64 lines, the first: `cat a | curl -d @- host`  (mode
        ?   `ask`)
        ? y yes · n no · e edit · ? help · esc no and stop
    "#]],
        ),
        (
            tall,
            expect![[r#"
          $ rm -rf a
            echo line
            echo line
            echo line
            echo line
            echo line
            echo line
            echo line
            echo line
            echo line
            echo line
            echo line
            echo line
            echo line
            echo line
            echo line
            echo line
            echo line
            echo line
            echo line
            echo line
    
        ? Run this command? 22 lines, the first: `rm -rf a`  (mode `ask`)
        ? y yes · n no · e edit · ? help · esc no and stop
    "#]],
        ),
        (
            long,
            expect![[r#"
          $ rm -rf a; echo words; echo words; echo words; echo words; echo words; echo
          ┊  words; echo words; echo words; echo words; echo words; echo words; echo w
          ┊ ords; echo words; echo words; echo words; echo words; echo words; echo wor
          ┊ ds; echo words; echo words; echo words; echo words; echo words; echo words
          ┊ ; echo words; echo words; echo words; echo words; echo words; echo words; 
          ┊ echo words; echo words; echo words; echo words; echo words; echo words; ec
          ┊ ho words; echo words; echo words; echo words; echo words; echo words; echo
          ┊  words; echo words; echo words; echo words; echo words; echo words; echo w
          ┊ ords; echo words; echo words; echo words; echo words; echo words; echo wor
          ┊ ds; echo words; echo words; echo words; echo words; echo words; echo words
          ┊ ; echo words; echo words; echo words; echo words; echo words; echo words; 
          ┊ echo words; echo words; echo words; echo words; echo words; echo words; ec
          ┊ ho words; echo words; echo words; echo words; echo words; echo words; echo
          ┊  words; echo words; echo words; echo words; echo words; echo words; echo w
          ┊ ords; echo words; echo words; echo words; echo words; 
        ? Run this command? 1090 characters, from `rm -rf a; echo words; echo words;
        ?   echo words; echo words; echo words; echo words; echo wor [… 969 characters
        ?   …] words; echo words; echo words;`  (mode `ask`)
        ? y yes · n no · e edit · ? help · esc no and stop
    "#]],
        ),
    ] {
        check(&[command(&text)], &[], &expected);
    }
}

#[test]
fn more_access_is_named_with_the_reason_and_never_remembered() {
    let mut asked = command("cargo fetch");
    let Effect::Execute(execute) = &mut asked.effect else { unreachable!() };
    execute.access = Some((Access::Network, "to fetch\x1b[2J crates".to_owned()));
    check(
        &[asked],
        &[Keys("rn"), Words("offline")],
        &expect![[r#"
              $ cargo fetch
              │ why: to fetch␛[2J crates
            ? Run this command with network access?  (mode `ask`)
            ? y yes · n no · e edit · ? help · esc no and stop
            > key r
              nothing
            > key n
              words: no: what instead? (empty stops) 
            > words "offline"
            = run a command: Reject
                denied by the person; nothing of it was done. They say: offline. Follow that; do not do what was refused another way.
        "#]],
    );
}

#[test]
fn a_reason_neither_pushes_the_command_away_nor_looks_like_one() {
    let mut asked = command("touch ../outside");
    let Effect::Execute(execute) = &mut asked.effect else { unreachable!() };
    let why = format!("tests{}\n$ cargo test{}", " . ".repeat(1600), " ".repeat(200));
    execute.access = Some((Access::Unsandboxed, why));
    check(
        &[asked],
        &[],
        &expect![[r#"
          $ touch ../outside
          │ why: tests . . . . . . . . . . . . . . . . . . . . . . . . . . . . . . . .
          │ . . . . . . . . . . . . . . . . . . . . . . . . . . . . . . . . . . . . .
          │ . . . . . . . . . . . . . . . . . .  [… 2978 characters …] . . . . . . . .
          │ . . . . . . . . . . . . . . . . $ cargo test
        ? Run this command without a sandbox?  (mode `ask`)
        ? y yes · n no · e edit · ? help · esc no and stop
    "#]],
    );
}

#[test]
fn what_a_yes_is_bound_to_is_said_and_what_holds_once_is_not_remembered() {
    let bound = |to| {
        let mut asked = command("./x.sh");
        let Effect::Execute(execute) = &mut asked.effect else { unreachable!() };
        *execute.binding = Binding { to, content: Some(ContentHash::of(b"x")) };
        asked
    };
    check(
        &[bound(Bound::Files)],
        &[],
        &expect![[r#"
          $ ./x.sh
        ? Run this command?  (mode `ask`)
        ? y yes · n no · e edit · r this session: exactly `./x.sh` with its files as
        ?   they are now · w this workspace: allow exactly ./x.sh with its files as
        ?   they are now · ? help · esc no and stop
    "#]],
    );
    check(
        &[bound(Bound::Sandbox)],
        &[],
        &expect![[r#"
          $ ./x.sh
        ? Run this command?  (mode `ask`)
        ? y yes · n no · e edit · r this session: exactly `./x.sh` in the sandbox,
        ?   with its files as they are now · w this workspace: allow exactly ./x.sh in
        ?   the sandbox, with its files as they are now · ? help · esc no and stop
    "#]],
    );
    check(
        &[bound(Bound::Once)],
        &[Keys("rwy")],
        &expect![[r#"
          $ ./x.sh
        ? Run this command?  (mode `ask`)
        ? y yes · n no · e edit · ? help · esc no and stop
        > key r
          nothing
        > key w
          nothing
        > key y
        = run a command: accept Once
            run "./x.sh"
    "#]],
    );
}
