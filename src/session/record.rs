//! The lines of a session log.

use std::hash::BuildHasher as _;
use std::hash::Hasher as _;
use std::hash::RandomState;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::message::{CallId, Message, ToolSpec, Usage};

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

/// The format of logs that this version reads and writes.
pub(super) const FORMAT: u32 = 1;

impl Header {
    /// Returns the header of a session that begins now, with an id of its own.
    pub fn new(workspace: PathBuf, start: PathBuf, model: impl Into<String>) -> Header {
        Header {
            snick: FORMAT,
            id: new_id(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            created: jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            workspace,
            start,
            model: model.into(),
            print: false,
            parent: None,
        }
    }
}

/// Returns eight letters and digits that no other session has: 40 bits from the system.
fn new_id() -> String {
    const DIGITS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u32(std::process::id());
    let mut bits = hasher.finish();
    let mut id = String::new();
    for _ in 0..8 {
        id.push(char::from(DIGITS[(bits & 31) as usize]));
        bits >>= 5;
    }
    id
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
        /// Instruction files that `text` holds.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        instructions: Vec<PathBuf>,
    },
    /// Messages before it are replaced by `summary` in requests.
    Compaction {
        summary: String,
        /// How many records right before it stay as they are.
        #[serde(default, skip_serializing_if = "is_zero")]
        kept: usize,
        /// The model's window in tokens, where its server has told it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        window: Option<u64>,
        /// The model whose window that is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        /// What the summary has cost.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        usage: Option<Usage>,
    },
    /// What a request has used whose reply was not kept, such as one that was empty.
    Spent {
        usage: Usage,
    },
    /// A line of a kind this version does not know, as it stands in the log.
    #[serde(skip)]
    Unknown(String),
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields so")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// The kinds that [`Record`] knows, by the word in `type`.
const KINDS: [&str; 7] =
    ["prefix", "message", "started", "approval", "note", "compaction", "spent"];

#[derive(Deserialize)]
struct Kind {
    r#type: String,
}

impl Record {
    /// Returns a note that the model is told at its next request.
    pub fn note(text: impl Into<String>) -> Record {
        Record::Note { text: text.into(), to_model: true, instructions: Vec::new() }
    }

    /// Reads one line of a log. A kind that is not known is kept as it stands.
    ///
    /// # Errors
    /// Text that is no JSON object with a `type`, and a known kind without its fields.
    pub fn parse(line: &str) -> Result<Record, serde_json::Error> {
        let error = match serde_json::from_str(line) {
            Ok(record) => return Ok(record),
            Err(error) => error,
        };
        match serde_json::from_str::<Kind>(line) {
            Ok(kind) if !KINDS.contains(&kind.r#type.as_str()) => {
                Ok(Record::Unknown(line.to_owned()))
            }
            Ok(_) | Err(_) => Err(error),
        }
    }

    /// Returns the line that stands for it in a log, without a line end.
    ///
    /// # Errors
    /// None is known: every record can be written.
    pub fn to_line(&self) -> Result<String, serde_json::Error> {
        match self {
            Record::Unknown(line) => Ok(line.clone()),
            Record::Prefix(_)
            | Record::Message { .. }
            | Record::Started { .. }
            | Record::Approval { .. }
            | Record::Note { .. }
            | Record::Compaction { .. }
            | Record::Spent { .. } => serde_json::to_string(self),
        }
    }
}
