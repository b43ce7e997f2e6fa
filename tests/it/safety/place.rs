//! A home, a workspace and a folder outside of both, with the binary driven by a scripted model.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};

/// The key that must be found nowhere.
pub(super) const KEY: &str = "sk-test-CANARY-000";

/// Throw-away folders; what lies in `out` and `home` must stay as it was.
pub(super) struct Place {
    folder: tempfile::TempDir,
}

/// How one run of the binary ended.
pub(super) struct Ran {
    pub(super) code: i32,
    pub(super) out: String,
    pub(super) err: String,
}

impl Ran {
    /// Returns the outcomes that the model was given, one after the other.
    pub(super) fn outcomes(&self) -> Vec<(String, String)> {
        let lines = self.out.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        lines
            .filter(|event| event["type"] == "call_finished")
            .map(|event| (text(&event["outcome"]["status"]), text(&event["outcome"]["text"])))
            .collect()
    }

    pub(super) fn statuses(&self) -> Vec<String> {
        self.outcomes().into_iter().map(|(status, _)| status).collect()
    }
}

impl Place {
    pub(super) fn new() -> Place {
        let folder = tempfile::tempdir().unwrap();
        for name in ["home", "ws", "out"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        Place { folder }
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Lays a file in one of the folders.
    pub(super) fn file(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub(super) fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// Runs the binary with `arguments` and nothing of this process's environment.
    pub(super) fn snick(&self, arguments: &[&str], environment: &[(&str, &str)]) -> Ran {
        self.run(env!("CARGO_BIN_EXE_snick"), arguments, environment)
    }

    /// Runs `program`, which may start the binary under another umask or limit.
    pub(super) fn run(
        &self,
        program: &str,
        arguments: &[&str],
        environment: &[(&str, &str)],
    ) -> Ran {
        #[expect(clippy::disallowed_methods, reason = "the test is outside of the program")]
        let (mut command, path) =
            (Command::new(program), std::env::var_os("PATH").unwrap_or_default());
        command.args(arguments).current_dir(self.path("ws")).env_clear();
        command.env("HOME", self.path("home")).env("PATH", path).env("TERM", "dumb");
        command.env("CANARY_TOKEN", "tok-CANARY-111");
        command.envs(environment.iter().copied()).stdin(std::process::Stdio::null());
        let Output { status, stdout, stderr } = command.output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Ran { code: status.code().unwrap_or(-1), out: text(stdout), err: text(stderr) }
    }

    /// Lets a scripted model make `calls`, a reply each, with nobody to ask.
    pub(super) fn turn(&self, options: &[&str], calls: &[(&str, Value)]) -> Ran {
        let script = self.script(calls);
        let fixed = ["-p", "go", "--json", "--replay", &script];
        self.snick(&[&fixed[..], options].concat(), &[("AGENT_API_KEY", KEY)])
    }

    /// Does the same, and returns the most memory that the program had, in kilobytes, too.
    pub(super) fn measured(&self, options: &[&str], calls: &[(&str, Value)]) -> (Ran, u64) {
        let script = self.script(calls);
        let measured = "import resource, subprocess, sys; code = subprocess.run(sys.argv[1:]); \
                        print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)";
        let fixed = [
            "-c",
            measured,
            env!("CARGO_BIN_EXE_snick"),
            "-p",
            "go",
            "--json",
            "--replay",
            &script,
        ];
        let ran = self.run("python3", &[&fixed[..], options].concat(), &[("AGENT_API_KEY", KEY)]);
        let most = ran.out.lines().last().and_then(|line| line.parse().ok());
        let most = most.unwrap_or_else(|| panic!("{}{}", ran.out, ran.err));
        (ran, most)
    }

    /// Returns the outcomes of `calls`, one each.
    pub(super) fn outcomes(
        &self,
        options: &[&str],
        calls: &[(&str, Value)],
    ) -> Vec<(String, String)> {
        let ran = self.turn(options, calls);
        let outcomes = ran.outcomes();
        assert_eq!(outcomes.len(), calls.len(), "{}{}", ran.out, ran.err);
        outcomes
    }

    /// Writes the scripted model and returns where.
    pub(super) fn script(&self, calls: &[(&str, Value)]) -> String {
        let replies = calls
            .iter()
            .map(|(name, arguments)| json!({"calls": [{"name": name, "arguments": arguments}]}))
            .chain([json!({"text": "done"})]);
        let lines: String = replies.map(|reply| reply.to_string() + "\n").collect();
        self.file("replies.jsonl", &lines);
        self.path("replies.jsonl").to_str().unwrap().to_owned()
    }

    /// Returns what lies beneath a folder: kind, mode and content of each.
    pub(super) fn tree(&self, name: &str) -> BTreeMap<PathBuf, String> {
        let mut found = BTreeMap::new();
        walk(&self.path(name), &mut found);
        found
    }
}

fn walk(folder: &Path, found: &mut BTreeMap<PathBuf, String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let facts = path.symlink_metadata().unwrap();
        let content = match facts.file_type() {
            kind if kind.is_dir() => {
                walk(&path, found);
                "folder".to_owned()
            }
            kind if kind.is_symlink() => format!("link to {}", path.read_link().unwrap().display()),
            kind if kind.is_file() => {
                String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned()
            }
            _ => "special".to_owned(),
        };
        found.insert(path, format!("{:o} {content}", facts.permissions().mode()));
    }
}
