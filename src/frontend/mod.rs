//! `repl`, `print`, `json`, `acp`: sinks and approvers over one loop; declares `Host`, which `app` implements (switch model, rules, sessions).

pub mod diff_view;
pub mod highlight;
pub mod json;
pub mod markdown;
pub mod print;
pub mod repl;
pub mod review;
pub mod sanitise;
pub mod style;
pub mod swept;
pub mod wrap;

use std::path::PathBuf;

use async_trait::async_trait;

use crate::agent::Frontend;
use crate::approval::Mode;
use crate::event::Stop;
use crate::message::Usage;
use crate::provider::Window;

/// What a front end can ask of the program around it. All methods may be called while a turn runs.
#[async_trait]
pub trait Host: Send + Sync {
    /// Runs one turn of the current session from the person's words to its end.
    ///
    /// # Errors
    /// A provider that stays down, a log that cannot be written.
    async fn turn(&self, prompt: String, front: Frontend<'_>) -> anyhow::Result<Stop>;

    /// Goes on, without new words, with a turn that stopped at the request limit or broke off.
    async fn go_on(&self, front: Frontend<'_>) -> anyhow::Result<Stop>;

    /// Returns what `/status` shows and the status line is made from. Cheap.
    fn status(&self) -> Status;

    /// Returns the rules that hold here, a line each, to be shown.
    fn rules(&self) -> String {
        String::new()
    }

    /// Changes the mode from the next judgement on.
    fn set_mode(&self, mode: Mode);

    /// Returns what the server offers.
    async fn models(&self) -> anyhow::Result<Vec<String>>;

    /// Uses another model from the next request on.
    async fn set_model(&self, name: &str) -> anyhow::Result<()>;

    /// Replaces the older part of the conversation by a summary, of which the person's `words` say
    /// what counts. Returns what it came to, to be shown.
    async fn compact(&self, words: Option<&str>, front: Frontend<'_>) -> anyhow::Result<String> {
        let _ = (words, front);
        anyhow::bail!("nothing can be compacted here")
    }

    /// Finds out what [`Host::status`] says of the model only as a guess, where the server tells it.
    async fn look_up(&self) {}

    /// Starts a new session in place of the current one. Not while a turn runs.
    async fn new_session(&self) -> anyhow::Result<()>;

    /// Lists sessions of this workspace, newest first.
    fn sessions(&self) -> anyhow::Result<Vec<SessionLine>>;

    /// Resumes the session of `id` (or its beginning) in place of the current one; returns
    /// what was said in it, oldest first, to be shown.
    async fn resume(&self, id: &str) -> anyhow::Result<Vec<Said>>;

    /// Returns what was said in the current session, oldest first, such as after `-c`.
    async fn said(&self) -> Vec<Said>;

    /// Returns the unified diff of everything this session's tools wrote, net, per file.
    async fn session_diff(&self) -> anyhow::Result<String>;

    /// Takes back the last turn's changes; returns what was done, to be shown.
    async fn undo(&self) -> anyhow::Result<String>;

    /// Does again what the last undo took back; returns what was done, to be shown.
    async fn redo(&self) -> anyhow::Result<String>;

    /// Runs the person's own command, unsandboxed, streaming its output to `front`; the model sees
    /// it at its next request unless `hidden`. Returns the exit line, such as `[exit code: 0]`.
    async fn shell(
        &self,
        command: &str,
        hidden: bool,
        front: Frontend<'_>,
    ) -> anyhow::Result<String>;

    /// Lets the person edit `text` in the external editor and returns what was saved. The caller
    /// has given up the terminal meanwhile.
    async fn edit(&self, text: &str, suffix: &str) -> anyhow::Result<String>;

    /// Returns paths of workspace files and folders matching what stands after `@`, best first,
    /// relative to the start directory. May be called at each key.
    async fn complete_files(&self, query: &str) -> Vec<String>;
}

/// A moment's facts about the session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Status {
    pub session: String,
    pub model: String,
    /// Host of the server, never with a key.
    pub server: String,
    pub mode: Mode,
    pub workspace: PathBuf,
    pub start: PathBuf,
    /// Strength of the sandbox here, such as `none`.
    pub rung: &'static str,
    pub instructions: Vec<PathBuf>,
    pub requests: u64,
    /// Sums over the session; `input` of the last request is the present size of the conversation.
    pub usage: Usage,
    pub last_input: u64,
    /// How many tokens the model reads; `None` for scripted replies.
    pub window: Option<Window>,
    pub log: Option<PathBuf>,
    /// The last turn did not come to its end; [`Host::go_on`] takes it up.
    pub is_open: bool,
}

/// One session in a list.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionLine {
    pub id: String,
    /// RFC 3339.
    pub created: String,
    /// Seconds since it was last written.
    pub age: u64,
    /// The first words of the person.
    pub title: String,
    pub messages: usize,
}

/// One thing said in a resumed session, to be shown again.
#[derive(Clone, Debug, PartialEq)]
pub enum Said {
    Person(String),
    Model(String),
    /// Title or name of a call, and whether it was done.
    Call {
        title: String,
        done: bool,
    },
}
