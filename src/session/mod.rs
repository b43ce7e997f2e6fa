//! The append-only log on disk: open, resume, fork, list, export.

mod coherent;
mod error;
pub mod export;
mod lock;
mod log;
mod read;
mod record;
mod secrets;
mod store;
mod summary;

pub use error::SessionError;
pub use read::Damage;
pub use record::{Header, Prefix, Record};
pub use store::{Scope, Store, Transcript};
pub use summary::Summary;

use std::path::{Path, PathBuf};

use log::Log;

/// One conversation: its records in memory and, unless it is kept nowhere, on disk.
///
/// A session of a [`Store`] is locked while it lives; nobody else can write to it.
#[derive(Debug)]
pub struct Session {
    header: Header,
    records: Vec<Record>,
    log: Option<Log>,
}

impl Session {
    /// Starts a session that is kept nowhere.
    pub fn in_memory(header: Header) -> Session {
        Session { header, records: Vec::new(), log: None }
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
    ///
    /// The first record makes the folder and the log; until then nothing is on disk.
    ///
    /// # Errors
    /// A log that cannot be written. The record is in memory then, and is written before the
    /// next one.
    pub fn append(&mut self, record: Record) -> Result<(), SessionError> {
        let line = match &self.log {
            Some(_) => record.to_line().map_err(|source| SessionError::Encode { source })?,
            None => String::new(),
        };
        self.records.push(record);
        match &mut self.log {
            Some(log) => log.append(&line),
            None => Ok(()),
        }
    }

    /// Waits until everything appended is on the disk, before it is acted on.
    ///
    /// # Errors
    /// A log that cannot be written.
    pub fn sync(&mut self) -> Result<(), SessionError> {
        match &mut self.log {
            Some(log) => log.sync(),
            None => Ok(()),
        }
    }

    /// Returns the folder of the session's files, such as `outputs/`; none for a session kept
    /// nowhere. It is there as soon as there is a record.
    pub fn folder(&self) -> Option<&Path> {
        self.log.as_ref().map(Log::folder)
    }

    /// Returns the path of the log; none for a session kept nowhere.
    pub fn log_path(&self) -> Option<PathBuf> {
        self.folder().map(|folder| folder.join(log::LOG))
    }
}
