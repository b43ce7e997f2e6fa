//! Names of files that are no UTF-8: nothing that is kept from commands may go by its bytes.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::UnixListener;

use super::{RUNGS, World};

/// Python that prints what it can read of every file in the workspace, by bytes.
const READS: &str = "import os\nfor folder, _, names in os.walk(b'.'):\n  for name in names:\n    try: print(open(os.path.join(folder, name), errors='replace').read())\n    except OSError: pass\n";

/// A workspace with files of odd names, each of which something keeps from commands.
fn world(rules: &str) -> World {
    let world = World::new();
    world.write("home/.config/snick/rules.toml", rules);
    world.write("ws/read.py", READS);
    world.outside(
        "printf '*.hid\\n' > .snickignore; mkdir -p $'Vertr\\xe4ge/deep' $'old\\xff/.vscode' seen
         for name in $'Vertr\\xe4ge/.env' $'Vertr\\xe4ge/deep/id_rsa' $'.env.\\xff' $'\\xff.pem' \
             $'Vertr\\xe4ge/a.secret' $'\\xe4.secret' $'Vertr\\xe4ge/a.hid' $'\\xe4.hid'
         do echo CANARY > $name; done
         for name in $'old\\xff/AGENTS.md' $'old\\xff/.vscode/tasks.json' $'x\\xff.lock' $'seen/\\xff'
         do echo orig > $name; done
         git add -A; git -c user.name=a -c user.email=a@b commit -qm b",
    );
    world
}

#[test]
fn a_command_sees_no_credentials_by_a_name_of_any_bytes() {
    let world = world("[[deny]]\nread = \"*.secret\"\n");
    for mode in ["auto", "ask", "read"] {
        let answers = world.run(&["--mode", mode], &["python3 read.py"]);
        assert!(answers[0].starts_with("done") && answers[0].contains("orig"), "{answers:#?}");
        assert!(!answers[0].contains("CANARY"), "{mode}: {answers:#?}");
    }
}

#[test]
fn a_command_changes_and_makes_nothing_protected_by_a_name_of_any_bytes() {
    for options in RUNGS {
        let world = world("[[deny]]\nwrite = \"*.lock\"\n");
        world.write(
            "ws/s",
            "for name in $'x\\xff.lock' $'y\\xff.lock' $'\\xff.code-workspace'; do echo P > $name; done
             for at in $'old\\xff' $'new\\xff'; do mkdir -p $at/.vscode; echo P > $at/AGENTS.md
             echo P > $at/.vscode/tasks.json; done; echo free > $'seen/\\xff'",
        );
        let answers = world.run(options, &["bash s"]);
        let changed = world.outside("git status --porcelain --ignored");
        assert_eq!(changed, " M \"seen/\\377\"\n?? s\n", "{options:?}: {answers:#?}");
    }
}

#[test]
fn a_name_as_long_as_names_can_be_is_put_back() {
    let world = World::new();
    world.write("home/.config/snick/rules.toml", "[[deny]]\nwrite = \"*.lock\"\n");
    for long in ["printf 'x%.0s' {1..250}", "printf '\\xff%.0s' {1..250}"] {
        world.outside(&format!("echo orig > \"$({long}).lock\""));
        world.write("ws/s", &format!("echo P > \"$({long}).lock\""));
        let answers = world.run(RUNGS[1], &["bash s"]);
        assert_eq!(world.outside("cat *.lock; rm *.lock"), "orig\n", "{answers:#?}");
    }
}

#[test]
fn sockets_stay_hidden_whatever_names_others_have() {
    let world = World::new();
    let odd = world.path("out").join(OsStr::from_bytes(b"\xff"));
    let blank = world.path("out/with a blank");
    let listeners = [odd, blank.clone()].map(|path| UnixListener::bind(path).unwrap());
    let connects = format!(
        "python3 -c \"import socket; socket.socket(socket.AF_UNIX).connect('{}'); print('REACHED')\"",
        blank.display()
    );
    let answers = world.run(RUNGS[0], &[&connects, "echo on"]);
    assert!(!answers[0].contains("REACHED\n"), "{answers:#?}");
    assert_eq!(answers[1], "done: on\n[exit code: 0]");
    drop(listeners);
}

#[test]
fn rules_for_paths_hold_in_a_workspace_of_any_name() {
    let world = World::new();
    world.write("home/.config/snick/rules.toml", "[[deny]]\nwrite = \"*.lock\"\n");
    world.outside("mkdir $'../w\\xff'; echo orig > $'../w\\xff/a.lock'");
    let there = world.path("").join(OsStr::from_bytes(b"w\xff"));
    for options in RUNGS {
        let mut program = world.batch(options);
        program.arg("--no-session").current_dir(&there);
        let command = "for f in a.l*; do echo P > $f; done; echo on > other";
        let answers = super::answers(program, &[serde_json::json!({"command": command})]);
        let left = world.outside("cat $'../w\\xff/a.lock' $'../w\\xff/other'");
        assert_eq!(left, "orig\non\n", "{options:?}: {answers:#?}");
    }
}
