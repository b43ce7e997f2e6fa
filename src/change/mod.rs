//! A proposed change to a file: matching, diff, hunks, atomic write, journal, undo.

mod by_command;
mod compare;
mod crash;
pub mod diff;
mod emphasis;
mod hunks;
mod journal;
pub mod matching;
mod net;
mod notes;
pub mod undo;
mod unified;
pub mod view;
mod write;

pub use by_command::{CommandChanged, Restorable, last_by_commands, restore};
pub use hunks::{Hunk, Run};
pub use journal::{Journal, JournalError};
pub use net::net_changes;
pub use write::{LARGEST, WriteError, Written, adopt, write};

use std::sync::Arc;

use crate::workspace::text::Encoding;
use crate::workspace::{FileImage, Located, is_link_mode};

/// The exact before and after of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    pub at: Located,
    /// The bytes the change was computed on; `None` when the file is new.
    pub before: Option<FileImage>,
    /// The bytes to be; `None` when the file is deleted.
    pub after: Option<Arc<[u8]>>,
    /// The permission bits to be, or the mode of a symbolic link or an empty folder; `None` for those that the file
    /// has, or the usual ones of a new one.
    pub mode: Option<u32>,
    /// What the person and the model should know, such as the matching step that was needed.
    pub notes: Vec<String>,
}

/// Why an edited proposal cannot become a change.
#[derive(Debug, thiserror::Error)]
pub enum AmendError {
    #[error("`{path}` is deleted by this change; there is no text to edit")]
    Deleted { path: String },
    #[error("`{path}` is in {encoding}, which cannot hold `{character}`")]
    Unencodable { path: String, encoding: &'static str, character: char },
}

impl Change {
    /// Returns the new text as a person edits it; `None` for a deletion and for what is not text.
    pub fn text(&self) -> Option<String> {
        compare::decoded(self.after.as_deref()?).map(|text| text.content)
    }

    /// Returns this change with `text` as the whole new text of the file.
    ///
    /// # Errors
    /// A deletion, and text that the file's encoding cannot hold.
    pub fn amended(&self, text: &str) -> Result<Change, AmendError> {
        let path = || self.at.shown().to_owned();
        let Some(after) = &self.after else { return Err(AmendError::Deleted { path: path() }) };
        // A link leads to one name, with which no line ends.
        let is_link = self.mode.is_some_and(is_link_mode);
        let text = if is_link { text.trim_end_matches('\n') } else { text };
        let encoding = compare::decoded(after).map_or(Encoding::Utf8, |text| text.encoding);
        let bytes = encoding.encode(text).map_err(|error| AmendError::Unencodable {
            path: path(),
            encoding: error.encoding,
            character: error.character,
        })?;
        Ok(Change { after: Some(bytes.into()), ..self.clone() })
    }
}

/// A change as decided: whole, some of its hunks, or amended. [`write`] takes nothing else.
///
/// Only `approval` makes one; `tests/it/tidy.rs` watches over it.
#[derive(Debug)]
pub struct Decided(Change);

impl Decided {
    /// Marks `change` as allowed. To be called in `src/approval` only.
    pub fn new(change: Change) -> Decided {
        Decided(change)
    }

    /// Returns what will be written.
    pub fn change(&self) -> &Change {
        &self.0
    }
}
