//! What is hidden, where it is shown a second time.

use std::os::unix::net::UnixListener;
use std::process::Stdio;

use serde_json::json;

use super::bubblewrap::{self, is_here};
use super::{World, answers};

/// Runs `command` in a session of its own mounts, which `mounts` makes in `$OUT`; gives what the
/// model reads. `None` where nothing can be mounted, which is said.
#[expect(clippy::print_stderr, reason = "who runs the tests must hear of it")]
fn run(world: &World, mounts: &str, options: &[&str], command: &str) -> Option<String> {
    if world.outside("unshare -rmn echo yes 2>/dev/null") != "yes\n" {
        eprintln!("skipped: nothing can be mounted here");
        return None;
    }
    let program = env!("CARGO_BIN_EXE_snick");
    let line = format!("({mounts}) && exec {program} tool --batch {}", options.join(" "));
    let mut program = world.clean("unshare");
    program.args(["-rmn", "bash", "-c", &line]);
    program.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let command = world.named(command);
    let said = answers(program, &[json!({"command": command})]);
    Some(said.into_iter().next().unwrap_or_default())
}

fn rungs() -> impl Iterator<Item = &'static [&'static str]> {
    let first: &[&str] = &["--mode", "auto"];
    [first].into_iter().chain([bubblewrap::OPTIONS].into_iter().filter(|_| is_here()))
}

/// A home and a workspace with secrets of all kinds.
fn world() -> World {
    let world = World::new();
    for name in [
        "home/.ssh/id_rsa",
        "home/.netrc",
        "home/.local/state/snick/x",
        "home/private",
        "ws/.env",
        "ws/d/e/.env",
        "ws/shut/a",
        "ws/ruled/a",
    ] {
        world.write(name, "CANARY\n");
    }
    world.write("home/seen", "seen\n");
    world.write("ws/seen", "seen\n");
    world.write("ws/.snickignore", "shut\n");
    let home = world.path("home");
    let rule =
        format!("[[deny]]\nread = 'ruled/**'\n[[deny]]\nread = '{}/private'\n", home.display());
    world.write("home/.config/snick/rules.toml", &rule);
    world
}

#[test]
fn what_is_hidden_is_hidden_wherever_it_is_mounted() {
    let rows = [
        // What is above, all of it, or a part.
        ("mkdir $OUT/m && mount --bind .. $OUT/m", "seen\nseen\n"),
        (
            "mkdir $OUT/m && mount --bind ../home $OUT/m && mkdir $OUT/n && mount --bind . $OUT/n",
            "seen\nseen\n",
        ),
        // Over one another, with what is on top only to be seen.
        ("mkdir $OUT/m && mount --bind ../home $OUT/m && mount --bind . $OUT/m", "seen\n"),
        // What is hidden, and what is in it.
        (
            "mkdir $OUT/m $OUT/n && touch $OUT/o && mount --bind ../home/.ssh $OUT/m && \
             mount --bind shut $OUT/n && mount --bind ../home/.ssh/id_rsa $OUT/o",
            "",
        ),
        // A name with blanks.
        ("mkdir \"$OUT/a b\\\\c\" && mount --bind ../home \"$OUT/a b\\\\c\"", "seen\n"),
        // What is hidden is a mount by itself.
        (
            "mount --bind ../home/.ssh ../home/.ssh && mount --bind .env .env && \
             mount --bind ../home/.local/state ../home/.local/state && mount -t tmpfs none $OUT",
            "",
        ),
    ];
    for (mounts, expected) in rows {
        for options in rungs() {
            let world = world();
            let look = "find $OUT ~ . -type f -name '[a-z.]*' -not -path '*/.git/*' \
                        -not -name '.snickignore' -not -name 'rules.toml' -exec cat {} + 2>/dev/null; true";
            let Some(said) = run(&world, mounts, options, look) else { return };
            let seen = said.matches("seen\n").count();
            assert!(!said.contains("CANARY"), "{mounts} {options:?}: {said}");
            assert_eq!(
                seen,
                expected.matches("seen\n").count() + 2,
                "{mounts} {options:?}: {said}"
            );
        }
    }
}

#[test]
fn a_workspace_that_is_mounted_from_where_it_is_hidden_stays() {
    for options in rungs() {
        let world = world();
        world.write("home/.ssh/w/a", "inside\n");
        let mounts = "mkdir $OUT/w && mount --bind ../home/.ssh/w $OUT/w && cd $OUT/w";
        let mounts = format!("{mounts}); cd $OUT/w && (true");
        let Some(said) = run(
            &world,
            &mounts,
            options,
            "cat a; find ~ -name 'id_r*' -exec cat {} +; echo b > b; cat b",
        ) else {
            return;
        };
        assert_eq!(said, "done: inside\nb\n[exit code: 0]", "{options:?}");
    }
}

#[test]
fn a_socket_that_is_mounted_by_itself_leads_nowhere() {
    // Who listens is in another network, so the socket is not in this one's list.
    let mounts = "touch $OUT/t && mount --bind $OUT/s $OUT/t";
    let connect = "python3 -c \"import socket; socket.socket(socket.AF_UNIX).connect('$OUT/t')\" \
                   2>&1 | tail -1";
    for options in rungs() {
        let world = World::new();
        let listener = UnixListener::bind(world.path("out/s")).unwrap();
        let Some(said) = run(&world, mounts, options, connect) else { return };
        assert!(said.contains("ConnectionRefusedError"), "{options:?}: {said}");
        listener.set_nonblocking(true).unwrap();
        assert!(listener.accept().is_err(), "{options:?}");
    }
}

#[test]
fn what_is_protected_is_so_where_it_is_a_mount() {
    let mounts = "mkdir -p .vscode && mount --bind .git/hooks .git/hooks && \
                  mount --bind .vscode .vscode && mount --bind .git .git";
    let change = "python3 -c \"import os
for path in ('.git/hooks/pre-commit', '.git/description', '.vscode/tasks.json'):
  try: open(path, 'w').close(); print(path)
  except OSError: pass\"";
    for options in rungs() {
        let world = World::new();
        let Some(said) = run(&world, mounts, options, change) else { return };
        assert_eq!(said, "done: [no output]\n[exit code: 0]", "{options:?}");
    }
}
