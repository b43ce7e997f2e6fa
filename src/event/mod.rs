//! What a front end can show while a turn runs; the `EventSink` trait; `Stop`.

use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;
use serde::Serialize;

use crate::approval::Answer;
use crate::change::Change;
use crate::message::{CallId, Outcome, ToolCall, Usage};

/// Something that happened, in the order it happened. `--json` prints one a line.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event {
    /// A session is open.
    Session {
        id: String,
        version: &'static str,
        workspace: PathBuf,
        model: String,
        rung: &'static str,
        instructions: Vec<PathBuf>,
    },
    TurnStarted,
    /// More of the reply's text.
    Text {
        delta: String,
    },
    /// More of the reply's reasoning.
    Reasoning {
        delta: String,
    },
    /// The request is made again after `wait`; what had arrived of the reply is void.
    Restarted {
        why: String,
        #[serde(rename = "wait_seconds", serialize_with = "seconds")]
        wait: Duration,
    },
    /// The model is writing a call; its arguments are not complete.
    #[serde(skip)]
    CallArriving {
        name: String,
    },
    CallStarted {
        call: ToolCall,
        title: String,
        effect: &'static str,
    },
    Approval {
        call: CallId,
        verdict: Answer,
        by: String,
    },
    CallOutput {
        call: CallId,
        delta: String,
    },
    CallFinished {
        call: CallId,
        outcome: Outcome,
    },
    /// A file was written.
    Change {
        path: String,
        /// Unified, without colour.
        diff: String,
        added: usize,
        removed: usize,
        by: String,
        /// The whole change, for front ends that draw it themselves.
        #[serde(skip)]
        change: Box<Change>,
    },
    /// Commands changed these files, as a look at the workspace after `call` has found.
    CommandChanges {
        call: CallId,
        changes: Vec<CommandChange>,
        /// Changed files beyond those.
        more: usize,
        /// Whether the workspace is too large to have been looked at whole.
        cut: bool,
    },
    Usage {
        #[serde(flatten)]
        usage: Usage,
    },
    /// Something the person should know.
    Notice {
        text: String,
    },
    TurnEnded {
        stop: Stop,
        /// The text of the last reply.
        text: String,
        changed_files: Vec<String>,
        /// Titles of calls that were denied though a person could have allowed them.
        denied_calls: Vec<String>,
    },
}

/// A file that a command changed.
#[derive(Clone, Debug, Serialize)]
pub struct CommandChange {
    pub path: String,
    /// `created`, `modified`, `deleted` or `mode`.
    pub kind: &'static str,
    /// Unified, where the earlier bytes are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    pub added: usize,
    pub removed: usize,
    /// Permissions before and after, where only they changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modes: Option<[String; 2]>,
    /// The whole change, for front ends that draw it themselves.
    #[serde(skip)]
    pub change: Option<Box<Change>>,
}

fn seconds<S: serde::Serializer>(wait: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(wait.as_secs_f64())
}

/// Why a turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// The model asked for nothing more.
    EndTurn,
    RequestLimit,
    /// The model's reply was cut by its token limit, again after being told.
    TokenLimit,
    CostLimit,
    /// The model or its server declined to answer.
    Refused,
    /// The model answered nothing.
    Empty,
    /// The same call with the same result, three times in a row.
    Repetition,
    Cancelled,
    /// The person said no without words.
    Denied,
}

/// Receives events: a prompt loop, a JSON stream, an editor, a test.
///
/// `emit` may wait for a slow reader; deltas may be merged meanwhile. It cannot fail: a front
/// end that has lost its reader drops events and cancels the turn through its token, which
/// also ends every wait.
#[async_trait]
pub trait EventSink: Send + Sync {
    async fn emit(&self, event: Event);
}

/// Keeps every event, for tests.
#[derive(Default)]
pub struct Recorded(pub Mutex<Vec<Event>>);

#[async_trait]
impl EventSink for Recorded {
    async fn emit(&self, event: Event) {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(event);
    }
}
