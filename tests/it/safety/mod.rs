//! What must hold against a hostile repository and a gullible model.

mod aliases;
mod broken_off;
mod bubblewrap;
mod bytes;
mod cases;
mod closed;
mod credentials;
mod devices;
mod display;
mod files;
mod gate;
mod home;
mod leads;
mod many;
mod moved;
mod path_links;
mod path_rules;
mod place;
mod processes;
mod programs;
mod protected;
mod repositories;
mod sandbox;
mod secrets;
mod sessions;
mod several;
mod shut;
mod terminal;
mod trust;
mod view;

use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

/// A workspace that is a git repository, a home and a folder outside, none of them below `/tmp`.
pub(crate) struct World {
    folder: TempDir,
}

impl World {
    pub(crate) fn new() -> World {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        for name in ["home", "ws", "out"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        let world = World { folder };
        world.write("ws/a", "a\n");
        world.outside(
            "git init -q -b main && git add a && git -c user.name=a -c user.email=a@b commit -qm a",
        );
        world
    }

    /// One without a repository, where everybody reaches it.
    fn open_to_all() -> World {
        let world = World { folder: tempfile::tempdir().unwrap() };
        for name in ["home", "ws", "out"] {
            std::fs::create_dir(world.path(name)).unwrap();
        }
        world
    }

    /// Does what [`World::run`] does, but never as root, who enters every folder.
    fn run_without_root(&self, options: &[&str], commands: &[&str]) -> Vec<String> {
        const OTHER: &str = "65534";
        let mut program = self.batch(options);
        if rustix::process::geteuid().is_root() {
            let binary = self.path("snick");
            std::fs::copy(env!("CARGO_BIN_EXE_snick"), &binary).unwrap();
            self.outside(&format!("chown -R {OTHER}:{OTHER} ..; chmod 755 .."));
            program = self.clean("setpriv");
            program.args([&format!("--reuid={OTHER}"), &format!("--regid={OTHER}")]);
            program.args(["--clear-groups", binary.to_str().unwrap(), "tool", "--batch"]);
            program.args(options);
            program.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        }
        let calls: Vec<Value> =
            commands.iter().map(|command| json!({"command": command})).collect();
        answers(program, &calls)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Runs `command` as the test itself, in the workspace; gives what it prints.
    pub(crate) fn outside(&self, command: &str) -> String {
        let output = self.clean("bash").args(["-c", command]).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    }

    fn clean(&self, program: &str) -> Command {
        #[expect(clippy::disallowed_methods, reason = "the test is outside of the program")]
        let (mut command, path) =
            (Command::new(program), std::env::var_os("PATH").unwrap_or_default());
        command.current_dir(self.path("ws")).env_clear();
        command.env("HOME", self.path("home")).env("PATH", path).env("OUT", self.path("out"));
        command
    }

    /// Returns the binary, about to take one call of `bash` a line.
    pub(crate) fn batch(&self, options: &[&str]) -> Command {
        let mut command = self.clean(env!("CARGO_BIN_EXE_snick"));
        command.args(["tool", "--batch"]).args(options);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs calls of `bash` in one session; gives what the model reads of each.
    pub(crate) fn run(&self, options: &[&str], commands: &[&str]) -> Vec<String> {
        let calls = commands.iter().map(|command| json!({"command": self.named(command)}));
        self.calls(options, &calls.collect::<Vec<Value>>())
    }

    /// Puts the folder outside into a command by its path.
    fn named(&self, command: &str) -> String {
        command.replace("$OUT", self.path("out").to_str().unwrap())
    }

    pub(crate) fn calls(&self, options: &[&str], calls: &[Value]) -> Vec<String> {
        answers(self.batch(options), calls)
    }

    /// Returns every path below `name`, with kind, mode, time and content.
    pub(crate) fn picture(&self, name: &str) -> String {
        let listed = "find . -mindepth 1 -not -path './.local*' -printf '%p %y %m %T@ %l\\n' | sort; \
                      find . -type f -not -path './.local/*' -exec sha256sum {} + | sort";
        let output =
            self.clean("bash").args(["-c", listed]).current_dir(self.path(name)).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    }
}

/// Gives `calls` of `bash` to a program that takes them; gives what the model reads of each.
fn answers(mut program: Command, calls: &[Value]) -> Vec<String> {
    use std::io::Write as _;
    let mut child = program.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    for call in calls {
        writeln!(input, "{}", json!({"tool": "bash", "args": call})).unwrap();
    }
    drop(input);
    let output = child.wait_with_output().unwrap();
    let lines = String::from_utf8(output.stdout).unwrap();
    let text = |line: &str| -> String {
        let answer: Value = serde_json::from_str(line).unwrap();
        format!("{}: {}", answer["status"].as_str().unwrap(), answer["output"].as_str().unwrap())
    };
    lines.lines().map(text).collect()
}

/// The options of rungs A and C, in mode `auto`.
pub(crate) const RUNGS: &[&[&str]] =
    &[&["--mode", "auto"], &["--mode", "auto", "--sandbox", "landlock"]];

/// Python that prints every file that it can read in the home and the workspace.
pub(crate) const READS_ALL: &str = "import os\nfor top in (os.path.expanduser('~'), '.'):\n  for folder, _, names in os.walk(top):\n    for name in names:\n      try: print(open(os.path.join(folder, name), errors='replace').read())\n      except OSError: pass\n";
