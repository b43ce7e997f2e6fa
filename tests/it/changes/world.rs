//! A workspace in a temporary directory, with the tools that change files.

use std::path::PathBuf;
use std::sync::Mutex;

use serde_json::Value;
use snick::approval::{Answer, Decision, Grant, Policy, Scope, Settled, judge, settle};
use snick::change::undo::UndoReport;
use snick::change::{Change, Journal, undo};
use snick::event::Recorded;
use snick::index::Index;
use snick::message::{CallId, ToolSpec};
use snick::tools::{
    CommandOptions, Context, EditFile, Ledger, Prepare, Prepared, ReadFile, Tool, ToolError,
    WriteFile,
};
use snick::workspace::{Options, Workspace};
use tokio_util::sync::CancellationToken;

pub(super) struct World {
    folder: tempfile::TempDir,
    pub(super) workspace: Workspace,
    pub(super) ledger: Ledger,
    pub(super) journal: Mutex<Journal>,
}

impl World {
    /// Makes a workspace of files; a name that ends in `/` is a folder.
    pub(super) fn new(files: &[(&str, &str)]) -> World {
        let folder = tempfile::tempdir().unwrap();
        let start = folder.path().join("work");
        std::fs::create_dir(&start).unwrap();
        let journal = Journal::open(&folder.path().join("journal")).unwrap();
        let options = Options { start, ..Options::default() };
        let workspace = Workspace::open(options).unwrap();
        let world =
            World { folder, workspace, ledger: Ledger::default(), journal: Mutex::new(journal) };
        for (name, content) in files {
            if name.ends_with('/') {
                std::fs::create_dir_all(world.path(name)).unwrap();
            } else {
                world.put(name, content.as_bytes());
            }
        }
        world.begin_turn();
        world
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.workspace.start().join(name)
    }

    /// Writes a file as a person's editor would.
    pub(super) fn put(&self, name: &str, content: &[u8]) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    pub(super) fn read(&self, name: &str) -> String {
        let bytes = std::fs::read(self.path(name));
        bytes.map_or_else(|_| "(absent)".to_owned(), |bytes| bytes.escape_ascii().to_string())
    }

    /// Returns every file and folder below the workspace, sorted.
    pub(super) fn tree(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut folders = vec![self.workspace.start().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let name = path.strip_prefix(self.workspace.start()).unwrap();
                let end = if path.is_dir() { "/" } else { "" };
                found.push(format!("{}{end}", name.display()));
                if path.is_dir() && !path.is_symlink() {
                    folders.push(path);
                }
            }
        }
        found.sort();
        found
    }

    pub(super) fn begin_turn(&self) {
        self.journal.lock().unwrap().begin_turn();
    }

    /// Opens the journal again, as a resumed session does.
    pub(super) fn reopen_journal(&self) {
        let journal = Journal::open(&self.folder.path().join("journal")).unwrap();
        *self.journal.lock().unwrap() = journal;
    }

    pub(super) fn journal_folder(&self) -> PathBuf {
        self.folder.path().join("journal")
    }

    pub(super) fn undo(&self) -> String {
        let report = undo::undo(&self.workspace, &mut self.journal.lock().unwrap()).unwrap();
        told(report)
    }

    pub(super) fn redo(&self) -> String {
        let report = undo::redo(&self.workspace, &mut self.journal.lock().unwrap()).unwrap();
        told(report)
    }

    /// Prepares a call without running it.
    pub(super) async fn prepare(&self, name: &str, arguments: &Value) -> Result<Prepared, String> {
        let (spec, tool): (&str, Box<dyn Tool>) = match name {
            "edit_file" => (include_str!("../../../tools/edit_file.json"), Box::new(EditFile)),
            "write_file" => (include_str!("../../../tools/write_file.json"), Box::new(WriteFile)),
            "read_file" => (include_str!("../../../tools/read_file.json"), Box::new(ReadFile)),
            other => panic!("no tool {other}"),
        };
        let spec: ToolSpec = serde_json::from_str(spec).unwrap();
        let arguments = arguments.as_object().unwrap().clone();
        let cx = Prepare { spec: &spec, workspace: &self.workspace, ledger: &self.ledger };
        tool.prepare(arguments, &cx).await.map_err(|error| error.to_string())
    }

    /// Runs a prepared call under a grant.
    pub(super) async fn run(
        &mut self,
        prepared: Prepared,
        grant: Grant,
    ) -> Result<(String, Option<Change>), ToolError> {
        let commands = CommandOptions {
            default_timeout: 1,
            max_timeout: 1,
            environment: Vec::new(),
            most_memory: None,
            sandbox: None,
            own_keys: Vec::new(),
        };
        let cx = Context {
            unreadable: &snick::approval::Unreadable::default(),
            workspace: &self.workspace,
            index: &std::sync::Arc::new(Index::unkept(self.workspace.root())),
            call: &CallId("call".to_owned()),
            events: &Recorded::default(),
            cancel: &CancellationToken::new(),
            journal: Some(&self.journal),
            outputs: None,
            commands: &commands,
            wish: None,
            allowance: None,
        };
        let output = prepared.action.run(grant, &cx).await?;
        self.ledger.note(&output.files);
        Ok((output.text, output.change))
    }

    /// Performs a call, every question answered yes.
    pub(super) async fn call(&mut self, name: &str, arguments: Value) -> String {
        self.decide(name, arguments, Decision::Accept(Scope::Once)).await
    }

    /// Performs a call with `decision` as the answer. A failure is told as `error: ...`.
    pub(super) async fn decide(
        &mut self,
        name: &str,
        arguments: Value,
        decision: Decision,
    ) -> String {
        let prepared = match self.prepare(name, &arguments).await {
            Ok(prepared) => prepared,
            Err(error) => return format!("error: {error}"),
        };
        let verdict = judge(&Policy::default(), &prepared.effect);
        let decision = (verdict.answer == Answer::Ask).then_some(decision);
        let Settled::Granted { grant, .. } = settle(&prepared.effect, &verdict, decision) else {
            return "denied".to_owned();
        };
        match self.run(prepared, grant).await {
            Ok((text, _)) => text,
            Err(error) => format!("error: {error}"),
        }
    }
}

fn told(report: Option<UndoReport>) -> String {
    let Some(report) = report else { return "nothing".to_owned() };
    let restored = report.restored.iter().map(|change| change.at.shown().to_owned());
    let left = report.conflicts.iter().map(|left| format!("{}: {}", left.path, left.why));
    let lost = report.not_undoable.iter().map(|left| format!("{}: {}", left.path, left.why));
    restored.chain(left).chain(lost).collect::<Vec<String>>().join("; ")
}
