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

/// The shortest text that may be a key: what people write where a server wants any is shorter.
const SHORTEST_SECRET: usize = 16;

/// One conversation: its records in memory and, unless it is kept nowhere, on disk.
///
/// A session of a [`Store`] is locked while it lives; nobody else can write to it.
#[derive(Debug)]
pub struct Session {
    header: Header,
    records: Vec<Record>,
    log: Option<Log>,
    /// Texts that are never written down.
    secrets: Vec<String>,
}

impl Session {
    /// Starts a session that is kept nowhere.
    pub fn in_memory(header: Header) -> Session {
        Session { header, records: Vec::new(), log: None, secrets: Vec::new() }
    }

    /// Keeps each of `secrets` out of what is written from now on, wherever it came from.
    pub fn keep_out(&mut self, secrets: impl IntoIterator<Item = String>) {
        // What is so short is no key, and may be a part of anything.
        self.secrets.extend(secrets.into_iter().filter(|secret| secret.len() >= SHORTEST_SECRET));
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
            Some(_) => {
                let line = record.to_line().map_err(|source| SessionError::Encode { source })?;
                let hide = |line: String, secret: &String| line.replace(secret.as_str(), "[key]");
                self.secrets.iter().filter(|secret| is_plain(secret)).fold(line, hide)
            }
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

/// Whether a text stands in JSON as it is.
fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\\'))
}
