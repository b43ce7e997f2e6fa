//! Devices of the machine: what a command may open, and that what programs need is there.

use super::bubblewrap::{self, is_here};
use super::{RUNGS, World};

/// Python that opens the disks and consoles of the machine for reading, and what else gives away
/// more than itself. To open some other devices has an effect, so these are left alone.
const OPENS: &str = r"
import os, stat, sys
opened = []
for name in sorted(os.listdir('/dev')) + sys.argv[1:]:
    path = os.path.join('/dev', name)
    try:
        is_disk = stat.S_ISBLK(os.stat(path).st_mode)
        is_console = name.startswith(('tty', 'console', 'vcs')) and name != 'tty'
        if is_disk or is_console or name in ('kmsg', 'kvm', 'fuse', 'mem'):
            os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY))
            opened.append(path)
    except OSError:
        pass
print('opened', *opened)
";

/// All rungs that confine and can be tried here.
fn rungs() -> impl Iterator<Item = &'static [&'static str]> {
    RUNGS.iter().copied().chain([bubblewrap::OPTIONS].into_iter().filter(|_| is_here()))
}

/// Whether the test itself can open such devices; says so if not.
#[expect(clippy::print_stderr, reason = "who runs the tests must hear of it")]
fn are_open(world: &World) -> bool {
    let can = world.outside("python3 opens.py") != "opened\n";
    if !can {
        eprintln!("skipped: no device can be opened here that a command could be kept from");
    }
    can
}

#[test]
fn no_disk_and_no_console_can_be_read() {
    let world = World::new();
    world.write("ws/opens.py", OPENS);
    if !are_open(&world) {
        return;
    }
    for options in rungs() {
        let answers = world.run(options, &["python3 opens.py"]);
        assert_eq!(answers, ["done: opened\n[exit code: 0]"], "{options:?}");
    }
}

#[test]
fn a_disk_of_another_name_is_one_too() {
    let world = World::new();
    world.write("ws/opens.py", OPENS);
    let make =
        "d=$(lsblk -ndo MAJ:MIN | head -1 | tr : ' ') && mknod \"$OUT/d\" b $d && mknod e b $d";
    world.outside(make);
    let all = ["out/d", "ws/e"].map(|name| world.path(name).to_str().unwrap().to_owned());
    let line = format!("python3 opens.py {}", all.join(" "));
    if !world.outside(&line).contains("/ws/e") {
        return;
    }
    // Where there is no view of the file system, only the folder of devices is known.
    for options in rungs().filter(|options| !options.contains(&"landlock")) {
        let answers = world.run(options, &[&line]);
        assert_eq!(answers, ["done: opened\n[exit code: 0]"], "{options:?}");
    }
}

#[test]
fn what_programs_need_of_devices_is_there() {
    let rows = [
        ("cat /dev/null; echo x > /dev/null; head -c 3 /dev/zero | wc -c", "3\n"),
        ("head -c 3 /dev/urandom | wc -c; head -c 3 /dev/random | wc -c", "3\n3\n"),
        ("(echo x > /dev/full) 2>/dev/null || echo full", "full\n"),
        ("(: < /dev/tty) 2>/dev/null || echo none", "none\n"),
        ("echo a | cat /dev/stdin; echo b > /dev/stdout; echo c > /dev/stderr", "a\nb\nc\n"),
        ("cat <(echo a) <(echo b); echo c > >(cat); wait $!", "a\nb\nc\n"),
        ("f=$(mktemp) && echo a > $f && cat $f", "a\n"),
        (
            "python3 -c 'import multiprocessing as m; p = m.Pool(2); print(p.map(abs, [-1, 2]))'",
            "[1, 2]\n",
        ),
    ];
    let commands: Vec<&str> = rows.iter().map(|(command, _)| *command).collect();
    let expected: Vec<String> =
        rows.iter().map(|(_, printed)| format!("done: {printed}[exit code: 0]")).collect();
    for options in rungs() {
        let world = World::new();
        let rows = if options.contains(&"landlock") { 0..rows.len() - 1 } else { 0..rows.len() };
        assert_eq!(world.run(options, &commands[rows.clone()]), expected[rows], "{options:?}");
    }
}

#[test]
fn programs_get_terminals_of_their_own() {
    let rows = [
        ("python3 -c \"import pty; pty.spawn(['tty'])\"", "/dev/pts/0\n"),
        ("script -qec tty /dev/null; ls -d /dev/pts/*", "/dev/pts/0\n/dev/pts/ptmx\n"),
        ("mkdir -p /dev/shm/a && echo x > /dev/shm/a/b && cat /dev/shm/a/b", "x\n"),
        ("touch /dev/made 2>/dev/null || echo none", "none\n"),
    ];
    let commands: Vec<&str> = rows.iter().map(|(command, _)| *command).collect();
    let world = World::new();
    let answers = world.run(RUNGS[0], &commands);
    let expected = rows.map(|(_, printed)| format!("done: {printed}[exit code: 0]"));
    assert_eq!(answers, expected);
}

#[test]
fn what_is_typed_into_another_terminal_cannot_be_read() {
    // The test holds a terminal, and its command tries to open that.
    const HOLDS: &str = r#"
import json, os, pty, subprocess, sys
_, terminal = pty.openpty()
name = os.ttyname(terminal)
opens = f"import os; os.open('{name}', os.O_RDONLY | os.O_NOCTTY); print('OPENED')"
call = json.dumps({"tool": "bash", "args": {"command": f'python3 -c "{opens}" 2>&1 | tail -1'}})
subprocess.run(sys.argv[1:], input=call.encode(), stderr=subprocess.DEVNULL)
"#;
    for options in rungs() {
        let world = World::new();
        world.write("ws/holds.py", HOLDS);
        let program = env!("CARGO_BIN_EXE_snick");
        let line = format!("python3 holds.py {program} tool --batch {}", options.join(" "));
        let said = world.outside(&line);
        let is_kept = said.contains("PermissionError") || said.contains("FileNotFoundError");
        assert!(is_kept && !said.contains("OPENED"), "{options:?}: {said}");
    }
}
