//! Rung B, where the system has bubblewrap.

use super::{READS_ALL, World};

pub(super) const OPTIONS: &[&str] = &["--mode", "auto", "--sandbox", "bubblewrap"];

/// Whether bubblewrap can be tried here; says so if not.
#[expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "what the machine has decides, and who runs the tests must hear of it"
)]
pub(super) fn is_here() -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).any(|folder| folder.join("bwrap").is_file());
    if !found {
        eprintln!("skipped: there is no `bwrap` on PATH");
    }
    found
}

#[test]
fn the_rung_is_chosen_by_trying_and_said() {
    if !is_here() {
        return;
    }
    let world = World::new();
    let mut command = world.clean(env!("CARGO_BIN_EXE_snick"));
    let output = command.arg("doctor").args(OPTIONS).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let line = text.lines().find(|line| line.contains(" sandbox  ")).unwrap();
    assert!(line.trim_end().ends_with(" bubblewrap"), "{line}");
}

#[test]
fn no_repository_chooses_a_weaker_one() {
    if !is_here() {
        return;
    }
    let world = World::new();
    world.write("ws/.env", "CANARY\n");
    let full = "for n in $(seq 3100); do mkdir d$n; : > d$n/.env; done";
    // Within a session, and from the start.
    let script = "for n in $(seq 3100); do mkdir e$n; : > e$n/.e''nv; done";
    let answers = world.run(OPTIONS, &[script, "cat .e*"]);
    let why = "words, and bubblewrap takes 9000";
    assert!(answers[1].contains(why) && !answers[1].contains("CANARY"), "{answers:#?}");
    world.outside(full);
    let answers = world.run(OPTIONS, &["cat .e*"]);
    assert!(answers[0].starts_with("denied: "), "{answers:#?}");
}

#[test]
fn it_confines_as_the_rung_above_does() {
    if !is_here() {
        return;
    }
    let world = World::new();
    world.write("out/v", "v\n");
    world.write("ws/.env", "CANARY\n");
    world.write("home/.ssh/id_rsa", "CANARY\n");
    world.write("home/.local/state/snick/x", "CANARY\n");
    world.write("ws/read.py", READS_ALL);
    // Git may write in its folder, and so may this, but not there.
    world.write("ws/.git/hooks/pre-commit", "#!/bin/sh\necho x > .git/hooks/post-commit || true\n");
    world.outside("chmod +x .git/hooks/pre-commit");
    let before = [world.picture("out"), world.picture("home")];
    let answers = world.run(
        OPTIONS,
        &[
            "echo p > $OUT/p; chmod 777 $OUT/v; echo p >> ~/.bashrc; true",
            "python3 read.py",
            "python3 -c 'import socket; socket.socket()' 2>/dev/null && echo WORKS",
            "python3 -c \"open('.git/hooks/x', 'w')\" 2>/dev/null && echo WORKS",
            "python3 -c \"open('.env' + 'rc', 'w')\"",
            "echo inside > made; cat made; echo t > /tmp/t; cat /tmp/t",
            "git add made && git -c user.name=a -c user.email=a@b commit -qm n",
            "sleep 300 & echo started",
            "kill -9 $$",
            "grep CapEff /proc/self/status",
        ],
    );
    assert_eq!([world.picture("out"), world.picture("home")], before, "{answers:#?}");
    let all = answers.join("\n");
    assert!(!all.contains("CANARY") && !all.contains("WORKS"), "{all}");
    assert!(answers[4].contains("is a protected name"), "{}", answers[4]);
    assert_eq!(answers[5], "done: inside\nt\n[exit code: 0]");
    assert_eq!(world.outside("git rev-list --count HEAD"), "2\n");
    assert!(answers[7].contains("1 process still running"), "{}", answers[7]);
    assert!(answers[8].contains("bash was killed by SIGKILL"), "{}", answers[8]);
    assert_eq!(answers[9], "done: CapEff:\t0000000000000000\n[exit code: 0]");
    assert!(!world.path("ws/.git/hooks/post-commit").exists(), "{answers:#?}");
}
