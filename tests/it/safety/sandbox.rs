//! What the kernel keeps a confined command from, on rungs A and C.

use std::io::Read as _;
use std::net::{TcpListener, UdpSocket};
use std::os::unix::net::UnixListener;

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use snick::approval::Rung;
use snick::sandbox::{Command, OutputReceiver, Sandbox, SandboxOptions, Wish};

use super::{READS_ALL, RUNGS, World};

const NAMESPACES: &[&str] = &["--mode", "auto"];

#[test]
fn this_machine_offers_the_rungs_that_the_tests_ask_for() {
    for (options, rung) in RUNGS.iter().zip(["namespaces", "landlock"]) {
        let world = World::new();
        let mut command = world.clean(env!("CARGO_BIN_EXE_snick"));
        let output = command.arg("doctor").args(*options).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let line = text.lines().find(|line| line.contains(" sandbox  ")).unwrap();
        assert!(line.contains(rung), "{line}");
    }
}

#[test]
fn nothing_outside_is_written_linked_moved_or_touched() {
    for options in RUNGS {
        let world = World::new();
        world.write("out/v", "v\n");
        world.write("out/d/e", "e\n");
        world.write("home/.bashrc", "b\n");
        let before = [world.picture("out"), world.picture("home")];
        let answers = world.run(
            options,
            &[
                "echo p > $OUT/p; echo p >> ~/.bashrc; cp a $OUT/; ln -s $OUT o; echo p > o/q; true",
                "ln $OUT/v h && echo p > h; mv $OUT/d .; mv $OUT/v ~/.bashrc .; : > $OUT/v; true",
                "python3 -c \"import os; os.truncate('$OUT/v', 0)\"; echo p > $(pwd)/../out/p; true",
                "echo inside > made; cat made",
            ],
        );
        assert_eq!([world.picture("out"), world.picture("home")], before, "{answers:#?}");
        assert_eq!(answers[3], "done: inside\n[exit code: 0]");
    }
}

#[test]
fn modes_and_times_outside_stay_as_they_are() {
    let world = World::new();
    world.write("out/v", "v\n");
    let before = world.picture("out");
    let answers = world.run(
        NAMESPACES,
        &["chmod 777 $OUT/v; touch -d 2001-01-01 $OUT/v; setfattr -n user.x -v 1 $OUT/v; true"],
    );
    assert_eq!(world.picture("out"), before, "{answers:#?}");
}

#[test]
fn signals_have_their_usual_effect_in_commands() {
    let full: &[&str] = &["--mode", "full"];
    for options in RUNGS.iter().chain([&full]) {
        let world = World::new();
        let answers = world.run(
            options,
            &[
                // The two that a C library keeps for itself are left out.
                "grep -E '^Sig(Blk|Ign)' /proc/self/status |
                 while read name set; do echo $name $((0x$set & 0x7fffffff)); done",
                "(while echo x; do sleep 0.01; done) 2>/dev/null | head -1",
            ],
        );
        let expected = ["done: SigBlk: 0\nSigIgn: 0\n[exit code: 0]", "done: x\n[exit code: 0]"];
        assert_eq!(answers, expected, "{options:?}");
    }
}

#[test]
fn in_mode_read_modes_and_times_of_files_stay_too() {
    for rung in [&[][..], &["--sandbox", "landlock"]] {
        let world = World::new();
        world.write("ws/.git/hooks/post-commit", "#!/bin/sh\n");
        world.write("ws/a", "a\n");
        let before = world.picture("ws");
        let options = [&["--mode", "read"], rung].concat();
        let answers = world.run(
            &options,
            &[
                "chmod 4777 a; touch -d 2001-01-01 a; chmod +x .git/hooks/post-commit; chmod 777 .",
                "python3 -c \"import os; os.setxattr('a', 'user.x', b'1')\"",
                "cat a",
            ],
        );
        assert_eq!(world.picture("ws"), before, "{options:?}: {answers:#?}");
        assert!(!answers[1].contains("exit code: 0"), "{}", answers[1]);
        assert_eq!(answers[2], "done: a\n[exit code: 0]");
    }
}

#[test]
fn no_byte_leaves_by_any_network() {
    for options in RUNGS {
        let world = World::new();
        let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
        let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
        tcp.set_nonblocking(true).unwrap();
        udp.set_nonblocking(true).unwrap();
        let [tcp_port, udp_port] =
            [tcp.local_addr(), udp.local_addr()].map(|address| address.unwrap().port());
        let multipath = "import socket; socket.socket(2, 1, 262)";
        let answers = world.run(
            options,
            &[
                &format!("exec 3<>/dev/tcp/127.0.0.1/{tcp_port} && echo x >&3 && echo WORKS"),
                &format!("echo x > /dev/udp/127.0.0.1/{udp_port} && echo WORKS"),
                &format!("python3 -c '{multipath}; print(\"WOR\" + \"KS\")'"),
            ],
        );
        assert!(tcp.accept().is_err() && udp.recv(&mut [0; 9]).is_err());
        assert!(answers.iter().all(|answer| !answer.contains("WORKS")), "{answers:#?}");
        assert!(answers[0].contains("`access`: `network`"), "{answers:#?}");
    }
}

/// Python that makes one system call and prints its error's name.
fn system_call(number: u32, arguments: &str) -> String {
    format!(
        "python3 -c \"import ctypes, errno
c = ctypes.CDLL(None, use_errno=True)
b = ctypes.create_string_buffer(256)
r = c.syscall({number}, {arguments})
print('WORKS' if r >= 0 else errno.errorcode[ctypes.get_errno()])\""
    )
}

#[cfg(target_arch = "x86_64")]
#[test]
fn calls_that_lead_around_the_layers_are_refused() {
    // Calls and arguments that work for root outside: io_uring_setup, bpf, keyctl (get the
    // session's key ring), unshare of users, clone of one, mount over a folder, x32 getpid.
    let refused = [
        (425, "4, b", "EPERM"),
        (321, "0, b, 72", "EPERM"),
        (250, "0, -3, 1", "EPERM"),
        (272, "0x10000000", "EPERM"),
        (165, "b'none', b'/mnt', b'tmpfs', 0, 0", "EPERM"),
        (435, "b, 88", "ENOSYS"),
        (0x4000_0000 + 39, "0", "ENOSYS"),
    ];
    for options in RUNGS {
        let commands: Vec<String> =
            refused.iter().map(|(number, arguments, _)| system_call(*number, arguments)).collect();
        let commands: Vec<&str> = commands.iter().map(String::as_str).collect();
        let answers = World::new().run(options, &commands);
        for ((number, _, error), answer) in refused.iter().zip(answers) {
            assert!(answer.starts_with(&format!("done: {error}\n")), "{number}: {answer}");
        }
    }
}

#[test]
fn sockets_of_services_outside_are_not_reached() {
    let world = World::new();
    let listeners = ["home/.docker/run/docker.sock", "out/service.sock"].map(|name| {
        let path = world.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let listener = UnixListener::bind(&path).unwrap();
        listener.set_nonblocking(true).unwrap();
        (path, listener)
    });
    let connect = |path: &std::path::Path| {
        let (folder, name) =
            (path.parent().unwrap().display(), path.file_name().unwrap().display());
        format!(
            "cd {folder} && python3 -c \"import socket; s=socket.socket(1); s.connect('{name}'); \
             s.send(b'x'); print('WOR'+'KS')\""
        )
    };
    let commands = listeners.each_ref().map(|(path, _)| connect(path));
    let answers = world.run(NAMESPACES, &commands.each_ref().map(String::as_str));
    for ((_, listener), answer) in listeners.iter().zip(answers) {
        assert!(!answer.contains("WORKS"), "{answer}");
        assert!(listener.accept().is_err(), "{answer}");
    }
}

#[test]
fn credentials_secrets_and_snicks_own_folders_are_not_to_be_seen() {
    let world = World::new();
    let secrets = [
        "home/.ssh/id_rsa",
        "home/.aws/credentials",
        "home/.netrc",
        "home/.local/state/snick/x",
        "ws/.env",
        "ws/apps/web/.env.local",
        "ws/deploy.pem",
        "ws/.git-credentials",
        "ws/.aws/credentials",
        "ws/store.jks",
    ];
    for name in secrets {
        world.write(name, "CANARY\n");
    }
    world.write("ws/.env.example", "EXAMPLE=1\n");
    // Nothing that it reads is named by the command, which would be asked.
    world.write("ws/read.py", READS_ALL);
    let answers = world.run(NAMESPACES, &["python3 read.py; env"]);
    assert!(!answers[0].contains("CANARY"), "{}", answers[0]);
    assert!(answers[0].contains("EXAMPLE=1"), "{}", answers[0]);
}

#[test]
fn what_the_program_inherited_open_is_not_inherited_further() {
    for options in RUNGS {
        let world = World::new();
        world.write("out/fd", "");
        let call = r#"{"tool":"bash","args":{"command":"echo p >&9; ls /proc/self/fd | wc -l"}}"#;
        let script = format!(
            "exec 9>>\"$OUT/fd\"; printf '%s\\n' '{call}' | {} tool --batch {}",
            env!("CARGO_BIN_EXE_snick"),
            options.join(" ")
        );
        let printed = world.outside(&script);
        assert!(printed.contains("Bad file descriptor"), "{printed}");
        assert_eq!(std::fs::read_to_string(world.path("out/fd")).unwrap(), "");
    }
}

#[test]
fn nothing_is_typed_into_a_terminal() {
    let probe = "python3 -c \"
import fcntl, pty, os, errno
a, b = pty.openpty()
os.setsid() if os.getsid(0) != os.getpid() else None
for request in (0x5412, 0x5412 | 1 << 32, 0x541c):
    try:
        import ctypes
        c = ctypes.CDLL(None, use_errno=True)
        c.ioctl.argtypes = [ctypes.c_int, ctypes.c_ulong, ctypes.c_char_p]
        r = c.ioctl(b, request, b'x')
        print('WORKS' if r >= 0 else errno.errorcode[ctypes.get_errno()])
    except OSError as error:
        print(error)
\"";
    // Where terminals are the person's, there is none to try it on.
    let answers = World::new().run(NAMESPACES, &[probe]);
    assert!(answers[0].starts_with("done: EPERM\nEPERM\nEPERM\n"), "{}", answers[0]);
    let on_input = "python3 -c 'import fcntl; fcntl.ioctl(0, 0x5412, b\"x\")'";
    for options in RUNGS {
        let answers = World::new().run(options, &[on_input]);
        assert!(answers[0].contains("Operation not permitted"), "{}", answers[0]);
    }
}

#[test]
fn usual_work_is_possible() {
    let world = World::new();
    let answers = world.run(
        NAMESPACES,
        &[
            "python3 -c 'import multiprocessing as m; print(m.get_context(\"fork\").Pool(2).map(abs, [-1]))'",
            "mkfifo f && echo fifo && rm f; script -qc 'echo pty' /dev/null; cat <(echo sub)",
            "echo t > /tmp/t; mktemp -d > /dev/null && cat /tmp/t",
            "cat /tmp/t; ls /dev/shm; echo x > /dev/shm/y && echo shared",
            "python3 -c 'import socket; a, b = socket.socketpair(); print(\"pair\")'",
        ],
    );
    let expected = [
        "done: [1]\n[exit code: 0]",
        "done: fifo\npty\nsub\n[exit code: 0]",
        "done: t\n[exit code: 0]",
        "done: t\nshared\n[exit code: 0]",
        "done: pair\n[exit code: 0]",
    ];
    let answers: Vec<String> = answers.iter().map(|answer| answer.replace('\r', "")).collect();
    assert_eq!(answers, expected);
}

#[test]
fn protected_names_stay_and_git_works() {
    let world = World::new();
    world.write("ws/.vscode/tasks.json", "{}\n");
    world.write("ws/n", "n\n");
    let answers = world.run(
        NAMESPACES,
        &[
            "python3 -c \"open('.git/hooks/post-checkout', 'w').write('x')\"",
            "python3 -c \"import os; os.rename('.git', 'g')\"",
            "python3 -c \"import shutil; shutil.rmtree('.vscode')\"",
            "git config core.fsmonitor x",
            "git -c core.hooksPath=/tmp/h commit --allow-empty -m x",
            "git add n && git -c user.name=a -c user.email=a@b commit -qm n && git switch -qc topic",
        ],
    );
    assert!(!world.path("ws/.git/hooks/post-checkout").exists());
    let config = std::fs::read_to_string(world.path("ws/.git/config")).unwrap();
    assert!(!config.contains("fsmonitor"), "{answers:#?}");
    let tasks = std::fs::read_to_string(world.path("ws/.vscode/tasks.json")).unwrap();
    assert_eq!(tasks, "{}\n", "{answers:#?}");
    for answer in &answers[..2] {
        assert!(answer.contains("the sandbox blocked a write"), "{answer}");
    }
    assert_eq!(answers[5], "done: [no output]\n[exit code: 0]", "{answers:#?}");
    let there = world.outside("git rev-list --count HEAD; git branch --show-current");
    assert_eq!(there, "2\ntopic\n");
}

#[test]
fn a_hook_makes_nothing_from_which_git_takes_settings() {
    let traps = [
        "commondir",
        "config.worktree",
        "info/attributes",
        "modules/x/config",
        "branches/x",
        "remotes/x",
        "worktrees/x/commondir",
    ];
    for name in traps {
        let world = World::new();
        world.outside("rm -rf .git/info .git/branches");
        let hook = format!(
            "#!/bin/sh\nmkdir -p $(dirname .git/{name}); echo .. > .git/{name}; sleep 60\n"
        );
        world.write("ws/.git/hooks/pre-commit", &hook);
        world.outside("chmod +x .git/hooks/pre-commit");
        let commit = "git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x";
        let answers = world.run(NAMESPACES, &[commit, "git log -1 --format=%s"]);
        assert!(answers[0].contains("[ended: it made `"), "{name}: {answers:#?}");
        assert!(
            answers[0].ends_with("[exit code: 137; bash was killed by SIGKILL]"),
            "{answers:#?}"
        );
        assert_eq!(answers[1], "done: a\n[exit code: 0]", "{name}");
        let first = name.split('/').next().unwrap();
        assert!(!world.path("ws/.git").join(first).exists(), "{name}");
    }
}

#[test]
fn git_that_starts_other_programs_does_not_change_its_folder() {
    let world = World::new();
    let commit = "git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x";
    world.outside(&[commit; 4].join("; "));
    let commands = [
        "git clone -q -c core.sshCommand='touch .git/ran; false' ssh://x/y z",
        "git clone -q -u 'touch .git/ran; false' . z",
        "git fetch -q --upload-pack='touch .git/ran; false' .",
        "git grep -O'touch .git/ran' a",
        "git grep --open-files-in-pager='touch .git/ran' a",
        "git -c alias.z='!touch .git/ran' z",
        "git remote-ext x 'touch .git/ran'",
        "git -c core.fsmonitor='touch .git/ran; false' status",
        "git bisect start HEAD HEAD~3 && git bisect run touch .git/ran; git bisect reset",
        "git submodule foreach 'touch .git/ran'",
        "git rebase -q -f --exec 'touch .git/ran' HEAD",
        "git send-email --smtp-server=/bin/false x",
    ];
    let answers = world.run(NAMESPACES, &commands);
    assert!(!world.path("ws/.git/ran").exists(), "{answers:#?}");
}

#[test]
fn nothing_is_written_on_the_terminal_of_the_person() {
    let world = World::new();
    // Without a sandbox it can be reached by its path, but is no command's own.
    let full: &[&str] = &["--mode", "full"];
    let of_rungs = RUNGS.iter().map(|options| (*options, "TERMINAL /dev/tty"));
    for (options, terminals) in of_rungs.chain([(full, "/dev/tty")]) {
        let command = format!("for t in {terminals}; do echo forged > $t; done; true");
        let call = serde_json::json!({"tool": "bash", "args": {"command": command}});
        world.write("call", &format!("{call}\n"));
        let line = format!(
            "sed s#TERMINAL#$(tty)# {} | {} tool --batch {} > {}",
            world.path("call").display(),
            env!("CARGO_BIN_EXE_snick"),
            options.join(" "),
            world.path("answer").display()
        );
        let screen = world.outside(&format!("script -qec '{line}' /dev/null"));
        let answer = std::fs::read_to_string(world.path("answer")).unwrap();
        assert!(answer.contains("done"), "{answer}");
        assert_eq!(screen, "", "{options:?}");
    }
}

#[test]
fn the_sandbox_leaves_no_trace_in_the_workspace() {
    for options in RUNGS {
        let world = World::new();
        // Git tells of no empty folder.
        let before = world.outside("find . | sort");
        world.run(options, &["true"]);
        assert_eq!(world.outside("find . | sort"), before, "{options:?}");
    }
}

#[test]
fn mode_read_changes_nothing() {
    for more in [&[][..], &["--sandbox", "landlock"]] {
        let world = World::new();
        let before = world.picture("ws");
        let options = [&["--mode", "read"], more].concat();
        let answers = world.run(&options, &["echo x > made; rm -f a; cat a", "git add a; echo $?"]);
        assert_eq!(world.picture("ws"), before, "{answers:#?}");
        assert!(answers[0].contains("a\n"), "{answers:#?}");
    }
}

#[test]
fn without_a_sandbox_auto_asks_and_headless_refuses_to_start() {
    let world = World::new();
    let options = ["--mode", "auto", "--sandbox", "off"];
    let answers = world.run(&options, &["touch made"]);
    assert!(answers[0].starts_with("denied: "), "{answers:#?}");
    assert!(!world.path("ws/made").exists());
    world.write("replies.jsonl", "{\"text\":\"done\"}\n");
    let mut command = world.clean(env!("CARGO_BIN_EXE_snick"));
    command.args(["-p", "go", "--replay"]).arg(world.path("replies.jsonl")).args(options);
    let output = command.output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("needs a sandbox"), "{text}");
}

/// Returns a shell line that runs `line` below so many Landlock rulesets that none can be added.
fn below_most_layers(line: &str) -> String {
    let script = "import ctypes, os, struct, sys
c = ctypes.CDLL(None, use_errno=True)
c.prctl(38, 1, 0, 0, 0)
attribute = struct.pack('Q', 1 << 12)
while (ruleset := c.syscall(444, attribute, 8, 0)) >= 0 and c.syscall(446, ruleset, 0) == 0:
    os.close(ruleset)
os.execvp('sh', ['sh', '-c', sys.argv[1]])";
    format!("python3 -c \"{script}\" '{line}'")
}

#[test]
fn where_nothing_can_confine_commands_it_is_said_and_nothing_runs_unasked() {
    let world = World::new();
    world.write("call", "{\"tool\":\"bash\",\"args\":{\"command\":\"touch pwn\"}}\n");
    world.write(
        "replies.jsonl",
        "{\"calls\":[{\"name\":\"bash\",\"arguments\":{\"command\":\"touch pwn\"}}]}\n",
    );
    let (program, call) = (env!("CARGO_BIN_EXE_snick"), world.path("call"));
    let batch = format!("{program} tool --batch --mode auto < {}", call.display());
    let answer = world.outside(&below_most_layers(&batch));
    assert!(answer.contains("\"denied\"") && answer.contains("no sandbox"), "{answer}");
    let replay = format!(
        "{program} -p go --mode auto --replay {} 2>&1; echo $?",
        world.path("replies.jsonl").display()
    );
    let answer = world.outside(&below_most_layers(&replay));
    assert!(answer.contains("needs a sandbox") && answer.ends_with("\n2\n"), "{answer}");
    let answer = world.outside(&below_most_layers(&format!("{program} doctor")));
    let line = answer.lines().find(|line| line.contains(" sandbox  "));
    assert!(line.is_some_and(|line| line.contains("none")), "{answer}");
    assert!(!world.path("ws/pwn").exists());
}

#[test]
fn what_a_repository_makes_git_run_runs_inside() {
    for options in RUNGS {
        let world = World::new();
        world.outside("git config core.fsmonitor \"touch $OUT/ran; false\"; git config diff.external \"touch $OUT/ran\"; echo b > a");
        let before = world.picture("out");
        let answers =
            world.run(options, &["git status", "git diff", "git -c core.fsmonitor=false status"]);
        assert_eq!(world.picture("out"), before, "{answers:#?}");
    }
}

#[test]
fn an_archive_unpacks_nothing_outside() {
    for options in RUNGS {
        let world = World::new();
        let make = "python3 -c \"
import tarfile, io
archive = tarfile.open('a.tar', 'w')
for name in ('../out/slip', '$OUT/slip', 'link/slip'):
    if name == 'link/slip':
        link = tarfile.TarInfo('link'); link.type = tarfile.SYMTYPE; link.linkname = '../out'
        archive.addfile(link)
    entry = tarfile.TarInfo(name); entry.size = 1
    archive.addfile(entry, io.BytesIO(b'x'))
archive.close()\"";
        world.outside(make);
        let before = world.picture("out");
        let answers = world.run(options, &["tar -xPf a.tar; tar -xf a.tar; true"]);
        assert_eq!(world.picture("out"), before, "{answers:#?}");
    }
}

#[test]
fn the_program_is_not_to_be_looked_into() {
    use std::io::Write as _;
    for options in RUNGS {
        let world = World::new();
        let mut child = world.batch(options).env("OPENAI_API_KEY", "sk-CANARY").spawn().unwrap();
        let pid = child.id();
        let probe = format!(
            "python3 -c \"
import ctypes, os
p = {pid}
c = ctypes.CDLL(None)
found = []
def attempt(name, what):
    try:
        what()
        found.append(name)
    except OSError:
        pass
attempt('kill', lambda: os.kill(p, 0))
attempt('mem', lambda: open(f'/proc/{{p}}/mem', 'r+b'))
attempt('environ', lambda: open(f'/proc/{{p}}/environ').read())
if c.ptrace(0x4206, p, 0, 0) == 0: found.append('ptrace')
print(found)\"; cat /proc/*/environ 2>/dev/null | tr '\\\\0' '\\\\n' | grep -c CANAR[Y]"
        );
        let mut input = child.stdin.take().unwrap();
        let call = serde_json::json!({"tool": "bash", "args": {"command": probe}});
        writeln!(input, "{call}").unwrap();
        drop(input);
        let mut text = String::new();
        child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
        child.wait().unwrap();
        assert!(text.contains("[]\\n0\\n"), "{text}");
    }
}

/// A sandbox beneath which what the trial writes outside lies within a root, so that it holds less
/// than it should.
#[tokio::test]
async fn a_rung_that_fails_its_trial_is_not_believed_and_runs_nothing() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().canonicalize().unwrap();
    for rung in [Rung::Namespaces, Rung::Landlock] {
        let sandbox = Sandbox::new(SandboxOptions {
            strongest: rung,
            helper: env!("CARGO_BIN_EXE_snick").into(),
            roots: vec![folder.clone()],
            home: None,
            private: Vec::new(),
            temporary: folder.clone(),
            views: Vec::new(),
            untold: folder.join("untold"),
            environment: vec![("PATH".into(), "/usr/bin:/bin".into())],
        });
        // Its end would end what other tests of this process run.
        let sandbox = std::mem::ManuallyDrop::new(sandbox);
        assert_eq!(sandbox.rung(), Rung::None, "{rung:?}");
        assert!(sandbox.why_not_more().contains("a file outside could be written"), "{rung:?}");
        let command = Command {
            roots: &[],
            text: "touch pwn",
            directory: &folder,
            environment: &[("PATH".into(), "/usr/bin:/bin".into())],
            timeout: None,
            most_memory: None,
            confined: Some((&*sandbox, &Wish::default())),
        };
        let ran = snick::sandbox::run(&command, &mut Nothing, &CancellationToken::new()).await;
        assert!(ran.is_err() && !folder.join("pwn").exists(), "{ran:?}");
    }
}

/// Takes no output.
struct Nothing;

#[async_trait]
impl OutputReceiver for Nothing {
    async fn receive(&mut self, _: &[u8]) {}
}
