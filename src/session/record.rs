//! The lines of a session log.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::message::{CallId, Message, ToolSpec};

/// The first line: what wrote the log, where, and for which model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// Format of the log, 1.
    pub snick: u32,
    pub id: String,
    /// Version of the program that made it.
    pub version: String,
    /// RFC 3339.
    pub created: String,
    pub workspace: PathBuf,
    pub start: PathBuf,
    pub model: String,
    /// Made by `-p`: `-c` passes over it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub print: bool,
    /// The session this one was forked from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
}

/// What stands before every message of the session, sent again byte for byte.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Prefix {
    pub system: String,
    pub tools: Vec<ToolSpec>,
    /// The instruction files that `system` holds.
    #[serde(default)]
    pub instructions: Vec<PathBuf>,
}

/// One line after the first. Fields are added, never renamed; unknown kinds are kept and skipped.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Record {
    Prefix(Prefix),
    Message {
        message: Message,
    },
    /// The effect of a call of the last reply is about to happen.
    Started {
        call: CallId,
    },
    /// How a call was judged: `allow`, `ask` or `deny`, and by whom.
    Approval {
        call: CallId,
        verdict: String,
        by: String,
    },
    /// Something that happened outside the conversation.
    Note {
        text: String,
        /// Whether the model is told, at its next request.
        to_model: bool,
    },
    /// Messages before it are replaced by `summary` in requests.
    Compaction {
        summary: String,
    },
    /// A kind this version does not know.
    #[serde(other)]
    Unknown,
}
