//! What became of a call, in the words the model reads and in facts the log keeps.

use serde::{Deserialize, Serialize};

use super::reply::CallId;

/// What became of one call. Every call gets exactly one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolResult {
    pub call: CallId,
    pub outcome: Outcome,
}

/// Whether a call did what it should, and its text for the model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    pub status: Status,
    /// What the model reads: clipped, never empty.
    pub text: String,
    /// Files that the model saw or that were written, with the hash of their bytes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<FileNote>,
}

impl Outcome {
    /// Returns an outcome without files.
    pub fn new(status: Status, text: impl Into<String>) -> Outcome {
        Outcome { status, text: text.into(), files: Vec::new() }
    }
}

/// The four ends a call can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Done,
    Failed,
    Denied,
    Cancelled,
}

/// One file as a call left it in the model's mind: by this, a later change is found stale.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileNote {
    /// Absolute, links resolved; bytes that are not UTF-8 are replaced.
    pub path: String,
    /// Hash of the whole file; `None` when it was deleted.
    pub hash: Option<ContentHash>,
    pub touch: FileTouch,
}

/// What a call did with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileTouch {
    Read,
    Written,
}

/// BLAKE3 of a file's bytes. Staleness is judged by it, never by a time stamp.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ContentHash([u8; 32]);

impl ContentHash {
    /// Hashes `bytes`.
    pub fn of(bytes: &[u8]) -> ContentHash {
        ContentHash(*blake3::hash(bytes).as_bytes())
    }

    /// Hashes all that `reader` gives, in blocks.
    pub fn of_all(reader: impl std::io::Read) -> std::io::Result<ContentHash> {
        let mut hasher = blake3::Hasher::new();
        hasher.update_reader(reader)?;
        Ok(ContentHash(*hasher.finalize().as_bytes()))
    }
}

impl std::fmt::Display for ContentHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&blake3::Hash::from_bytes(self.0).to_hex())
    }
}

impl std::fmt::Debug for ContentHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ContentHash({self})")
    }
}

impl From<ContentHash> for String {
    fn from(hash: ContentHash) -> String {
        hash.to_string()
    }
}

impl TryFrom<String> for ContentHash {
    type Error = String;

    fn try_from(text: String) -> Result<ContentHash, String> {
        let hash = blake3::Hash::from_hex(&text).map_err(|error| error.to_string())?;
        Ok(ContentHash(*hash.as_bytes()))
    }
}
