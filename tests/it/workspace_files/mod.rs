//! Paths, text files, walking, reading, listing, instructions.

mod arguments;
mod folder;
mod instructions;
mod listing;
mod opening;
mod paths;
mod reading;
mod searching;
mod symbols;
mod text;

use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use serde_json::Value;
use snick::approval::Grant;
use snick::event::Recorded;
use snick::index::Index;
use snick::message::{CallId, FileNote, ToolSpec};
use snick::tools::{CommandOptions, Context, Ledger, ListFiles, Prepare, ReadFile, Search, Tool};
use snick::workspace::{Options, Workspace};
use tokio_util::sync::CancellationToken;

/// A temporary folder `w` with files in it, beside a folder `outside`.
struct Tree {
    // Removes everything when dropped.
    _folder: tempfile::TempDir,
    top: PathBuf,
}

impl Tree {
    fn new() -> Tree {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        for name in ["w", "outside", "home", "state"] {
            std::fs::create_dir(top.join(name)).unwrap();
        }
        Tree { _folder: folder, top }
    }

    /// A tree that is a repository.
    fn repository() -> Tree {
        Tree::new().folder(".git/info")
    }

    fn path(&self) -> PathBuf {
        self.top.join("w")
    }

    fn file(self, path: impl AsRef<Path>, content: impl AsRef<[u8]>) -> Tree {
        let path = self.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
        self
    }

    fn folder(self, path: &str) -> Tree {
        std::fs::create_dir_all(self.path().join(path)).unwrap();
        self
    }

    fn link(self, path: &str, target: &str) -> Tree {
        let path = self.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(target, path).unwrap();
        self
    }

    fn fifo(self, path: &str) -> Tree {
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        let kind = rustix::fs::FileType::Fifo;
        rustix::fs::mknodat(rustix::fs::CWD, self.path().join(path), kind, mode, 0).unwrap();
        self
    }

    fn options(&self, start: &str) -> Options {
        Options {
            start: self.path().join(start),
            home: Some(self.top.join("home")),
            private: vec![self.top.join("state")],
            outputs: Some(self.top.join("state/outputs")),
            ..Options::default()
        }
    }

    /// Opens the workspace from a start directory beneath the tree.
    fn open(&self, start: &str) -> Workspace {
        Workspace::open(self.options(start)).unwrap()
    }

    /// Calls a tool from the top of the tree and returns what the model reads.
    fn call(&self, tool: &dyn Tool, spec: &str, arguments: &Value) -> String {
        self.outcome(tool, spec, arguments).0
    }

    fn read(&self, arguments: &Value) -> String {
        self.call(&ReadFile, include_str!("../../../tools/read_file.json"), arguments)
    }

    fn list(&self, arguments: &Value) -> String {
        self.call(&ListFiles, include_str!("../../../tools/list_files.json"), arguments)
    }

    fn search(&self, arguments: &Value) -> String {
        self.call(&Search, include_str!("../../../tools/search.json"), arguments)
    }

    fn outcome(&self, tool: &dyn Tool, spec: &str, arguments: &Value) -> (String, Vec<FileNote>) {
        let index = Index::unkept(self.open("").root());
        self.outcome_within(tool, spec, arguments, index, None)
    }

    /// Calls a tool with an index, and with no more room than `allowance`.
    fn outcome_within(
        &self,
        tool: &dyn Tool,
        spec: &str,
        arguments: &Value,
        index: Index,
        allowance: Option<usize>,
    ) -> (String, Vec<FileNote>) {
        let spec: ToolSpec = serde_json::from_str(spec).unwrap();
        let arguments = arguments.as_object().unwrap().clone();
        let (workspace, ledger) = (self.open(""), Ledger::default());
        let prepare = Prepare { spec: &spec, workspace: &workspace, ledger: &ledger };
        let commands = CommandOptions {
            default_timeout: 1,
            max_timeout: 1,
            environment: Vec::new(),
            most_memory: None,
            sandbox: None,
            own_keys: Vec::new(),
        };
        let context = Context {
            unreadable: &snick::approval::Unreadable::default(),
            workspace: &workspace,
            index: &std::sync::Arc::new(index),
            call: &CallId("1".to_owned()),
            events: &Recorded::default(),
            cancel: &CancellationToken::new(),
            outputs: None,
            commands: &commands,
            wish: None,
            allowance,
            journal: None,
        };
        let run = async {
            let prepared = tool.prepare(arguments, &prepare).await?;
            prepared.action.run(Grant::Read, &context).await
        };
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        match runtime.block_on(run) {
            Ok(output) => (self.hide(&output.text), output.files),
            Err(error) => (format!("error: {}", self.hide(&error.to_string())), Vec::new()),
        }
    }

    /// Replaces the place of the tree, which differs in every run.
    fn hide(&self, text: &str) -> String {
        text.replace(self.top.to_str().unwrap(), "/top")
    }
}

fn odd(bytes: &[u8]) -> &Path {
    Path::new(std::ffi::OsStr::from_bytes(bytes))
}
