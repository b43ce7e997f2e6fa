//! Commands: output, time limits, processes, clipping, cleaning, the read-only list.
#![expect(clippy::needless_raw_string_hashes, reason = "snapshots are written with them")]

mod cleaning;
mod clipping;
mod editor;
mod environment;
mod policy;
mod processes;
mod running;

use std::ffi::OsString;
use std::path::Path;

use serde_json::{Map, Value, json};
use snick::approval::{Decision, Effect, Policy, Scope, Settled, judge, settle};
use snick::event::{Event, Recorded};
use snick::index::Index;
use snick::message::{CallId, ToolSpec};
use snick::tools::{Bash, CommandOptions, Context, Ledger, Prepare, Tool, ToolError};
use snick::workspace::{Options, Workspace};
use tokio_util::sync::CancellationToken;

/// A folder to run commands in, with a place for saved outputs beside it.
pub(super) struct World {
    folder: tempfile::TempDir,
    pub(super) workspace: Workspace,
    pub(super) events: Recorded,
    pub(super) cancel: CancellationToken,
    pub(super) saves_outputs: bool,
    /// The most bytes of memory for a command.
    pub(super) most_memory: Option<u64>,
    /// The PATH of commands.
    pub(super) path: String,
}

impl World {
    pub(super) fn new() -> World {
        let folder = tempfile::tempdir().unwrap();
        let start = folder.path().join("start");
        std::fs::create_dir(&start).unwrap();
        let workspace = Workspace::open(Options { start, ..Options::default() }).unwrap();
        let (events, cancel) = (Recorded::default(), CancellationToken::new());
        let path = "/usr/local/bin:/usr/bin:/bin".to_owned();
        World { folder, workspace, events, cancel, saves_outputs: true, most_memory: None, path }
    }

    pub(super) fn start(&self) -> &Path {
        self.workspace.start()
    }

    pub(super) fn outputs(&self) -> std::path::PathBuf {
        self.folder.path().join("outputs")
    }

    /// Runs one call of the tool, allowed by the person.
    pub(super) async fn call(&self, arguments: Value) -> Result<String, ToolError> {
        let Value::Object(arguments) = arguments else { panic!("{arguments}") };
        let prepared = self.prepare(arguments).await?;
        let verdict = judge(&Policy::default(), &prepared.effect);
        let decision = Some(Decision::Accept(Scope::Once));
        let Settled::Granted { grant, .. } = settle(&prepared.effect, &verdict, decision) else {
            panic!("{verdict:?}")
        };
        let commands = CommandOptions {
            default_timeout: 60,
            max_timeout: 600,
            environment: environment(&self.path),
            most_memory: self.most_memory,
            sandbox: None,
            own_keys: Vec::new(),
        };
        let outputs = self.outputs();
        let context = Context {
            unreadable: &snick::approval::Unreadable::default(),
            workspace: &self.workspace,
            index: &std::sync::Arc::new(Index::unkept(self.workspace.root())),
            call: &CallId("1".to_owned()),
            events: &self.events,
            cancel: &self.cancel,
            journal: None,
            outputs: self.saves_outputs.then_some(outputs.as_path()),
            commands: &commands,
            wish: None,
            allowance: None,
        };
        Ok(prepared.action.run(grant, &context).await?.text)
    }

    /// Runs `command` and returns what the model reads, the test's folders replaced.
    pub(super) async fn bash(&self, command: &str) -> String {
        let text = match self.call(json!({ "command": command })).await {
            Ok(text) => text,
            Err(error) => format!("error: {error}"),
        };
        text.replace(self.folder.path().to_str().unwrap(), "FOLDER")
    }

    /// Returns what `command` would do.
    pub(super) async fn effect(&self, command: &str) -> Effect {
        let Value::Object(arguments) = json!({ "command": command }) else { unreachable!() };
        self.prepare(arguments).await.unwrap().effect
    }

    async fn prepare(
        &self,
        arguments: Map<String, Value>,
    ) -> Result<snick::tools::Prepared, ToolError> {
        let spec: ToolSpec =
            serde_json::from_str(include_str!("../../../tools/bash.json")).unwrap();
        let (workspace, ledger) = (&self.workspace, &Ledger::default());
        Bash.prepare(arguments, &Prepare { spec: &spec, workspace, ledger }).await
    }

    /// Returns what the screen got, put together.
    pub(super) fn shown(&self) -> String {
        let events = self.events.0.lock().unwrap();
        let deltas = events.iter().filter_map(|event| match event {
            Event::CallOutput { delta, .. } => Some(delta.as_str()),
            _ => None,
        });
        deltas.collect()
    }
}

fn environment(path: &str) -> Vec<(OsString, OsString)> {
    let inherited = [("PATH", path), ("HOME", "/nonexistent")];
    let pair = |(name, value): (&str, &str)| (name.into(), value.into());
    snick::sandbox::environment(&inherited.map(pair), &[])
}
