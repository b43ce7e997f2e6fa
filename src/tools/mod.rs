//! The handlers of `tools/*.json`, and the one place that clips what goes to the model; declares `Delegate`, which `agent` implements for sub-agents.

pub mod after_edit;
pub mod arguments;
mod bash;
mod behind;
pub mod clean;
pub mod clip;
mod edit_file;
mod hidden;
mod ledger;
mod list_files;
mod listed;
mod page;
mod placeholder;
mod proposal;
mod read_file;
mod search;
mod symbols;
mod target;
mod tree;
mod write_file;

pub use bash::{Bash, command_of};
pub use behind::binding;
pub use edit_file::EditFile;
pub use ledger::Ledger;
pub use list_files::ListFiles;
pub use proposal::proposed;
pub use read_file::ReadFile;
pub use search::Search;
pub use symbols::Symbols;
pub use write_file::WriteFile;

use std::path::Path;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::approval::{Effect, Grant, Rung, Unreadable};
use crate::change::{Change, Journal};
use crate::event::EventSink;
use crate::index::Index;
use crate::message::{CallId, FileNote, ToolSpec};
use crate::sandbox::{Sandbox, Wish};
use crate::workspace::Workspace;

/// A kind of action that the model may ask for.
#[async_trait]
pub trait Tool: Send + Sync {
    /// Checks `arguments` and returns the action they describe, without doing it.
    ///
    /// # Errors
    /// Arguments the tool does not have, and whatever makes the action impossible. The text
    /// goes to the model: it says what is wrong and what to do next.
    async fn prepare(
        &self,
        arguments: Map<String, Value>,
        cx: &Prepare<'_>,
    ) -> Result<Prepared, ToolError>;
}

/// A tool as the model sees it, and as we run it.
pub type Entry = (ToolSpec, Box<dyn Tool>);

/// Pairs a data file with its handler; the file's stem is the tool's name.
macro_rules! tool {
    ($name:literal, $handler:expr) => {
        (include_str!(concat!("../../tools/", $name, ".json")), Box::new($handler))
    };
}

/// Returns every built-in tool, in the order the model sees them.
pub fn builtin() -> Result<Vec<Entry>, serde_json::Error> {
    let tools: [(&str, Box<dyn Tool>); 7] = [
        tool!("read_file", ReadFile),
        tool!("list_files", ListFiles),
        tool!("search", Search),
        tool!("symbols", Symbols),
        tool!("edit_file", EditFile),
        tool!("write_file", WriteFile),
        tool!("bash", Bash),
    ];
    tools.into_iter().map(|(spec, tool)| Ok((serde_json::from_str(spec)?, tool))).collect()
}

/// What `prepare` may look at.
#[derive(Clone, Copy)]
pub struct Prepare<'a> {
    /// The tool's own description, by which its arguments are parsed.
    pub spec: &'a ToolSpec,
    pub workspace: &'a Workspace,
    /// Files as the model knows them, and what this reply has proposed so far.
    pub ledger: &'a Ledger,
}

/// A checked call: it knows its title and its effect before it runs.
pub struct Prepared {
    /// A short line for people, such as `read src/main.rs`.
    pub title: String,
    pub effect: Effect,
    pub action: Box<dyn Action>,
}

/// A checked call that can be done once.
#[async_trait]
pub trait Action: Send + Sync {
    /// Does what `grant` allows, which may be less or other than what was proposed.
    async fn run(self: Box<Self>, grant: Grant, cx: &Context<'_>) -> Result<Output, ToolError>;
}

/// What a running action has at hand.
pub struct Context<'a> {
    pub workspace: &'a Workspace,
    /// Where everything in the workspace's root is; nothing of it is read before its first use.
    pub index: &'a Arc<Index>,
    pub call: &'a CallId,
    pub events: &'a dyn EventSink,
    pub cancel: &'a CancellationToken,
    /// Where what is written is recorded for undo, if the session keeps it.
    pub journal: Option<&'a Mutex<Journal>>,
    /// Where full outputs are kept, if the session keeps any.
    pub outputs: Option<&'a Path>,
    /// Bytes that the text for the model may have at the most, since little of its window is left.
    pub allowance: Option<usize>,
    /// Settings of commands.
    pub commands: &'a CommandOptions,
    /// How a command is confined; `None` for not at all.
    pub wish: Option<&'a Wish>,
    /// What rules keep from a tool that goes through files.
    pub unreadable: &'a Unreadable,
}

/// Settings of `bash`, resolved once.
#[derive(Clone, Debug)]
pub struct CommandOptions {
    /// Seconds, when the call names none.
    pub default_timeout: u64,
    /// Seconds, the most that a call may ask for.
    pub max_timeout: u64,
    /// The whole environment of a command: allow-listed names and fixed values.
    pub environment: Vec<(std::ffi::OsString, std::ffi::OsString)>,
    /// The most bytes of memory for a command; `None` for three quarters of the machine's.
    pub most_memory: Option<u64>,
    /// What confines commands, where something does.
    pub sandbox: Option<Arc<Sandbox>>,
    /// Keys of Snick's own, which are taken out of whatever a command prints.
    pub own_keys: Vec<String>,
}

impl CommandOptions {
    /// Returns how strong the sandbox is, tried out at the first call.
    pub fn rung(&self) -> Rung {
        self.sandbox.as_ref().map_or(Rung::None, |sandbox| sandbox.rung())
    }
}

/// What an action gives. The agent makes the outcome of it.
#[derive(Debug, Default)]
pub struct Output {
    /// For the model, clipped.
    pub text: String,
    pub files: Vec<FileNote>,
    /// The change as it was written, for the screen and the events.
    pub change: Option<Change>,
}

/// Why a call could not be prepared or done. The text goes to the model.
#[derive(Debug, thiserror::Error)]
pub enum ToolError {
    /// The call is wrong or the world is not as it expects.
    #[error("{0}")]
    Failed(String),
    /// The person stopped it; the text tells what had happened by then.
    #[error("{0}")]
    Cancelled(String),
    /// The file changed between the proposal and the write: propose again.
    #[error("`{path}` changed since the change was proposed; nothing was written")]
    Stale { path: String },
}
