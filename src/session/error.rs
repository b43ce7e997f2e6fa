//! Why a session log cannot be used, in words that say what to do.

use std::io;
use std::path::Path;

/// Why the log cannot be used. A log that cannot be written ends the turn; the conversation
/// stays in memory, and what could not be written is tried again with the next record.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    #[error(
        "the session log `{path}` cannot be written, so the conversation is in memory only; make \
         space, or start with another `AGENT_SESSIONS_DIR` or with `--no-session`"
    )]
    Write { path: String, source: io::Error },
    #[error("the session's folder `{path}` cannot be removed")]
    Remove { path: String, source: io::Error },
    #[error("the session log `{path}` cannot be read")]
    Read { path: String, source: io::Error },
    #[error("a record of {bytes} bytes is too large for the session log, which takes {limit}")]
    TooLarge { bytes: usize, limit: usize },
    #[error("the record cannot be put into the session log")]
    Encode { source: serde_json::Error },
    #[error(
        "the session log `{path}` was moved, removed or replaced while it was in use; \
         start a new session"
    )]
    Replaced { path: String },
    #[error(
        "session `{id}` is open in {holder}; close it there, or go on in a copy: `--fork {id}`"
    )]
    Busy { id: String, holder: String },
    #[error(
        "the file system of `{path}` offers no locks, so the session could be written twice; \
         go on in a copy: `--fork`"
    )]
    NoLocks { path: String, source: io::Error },
    #[error("`{path}` was written by a newer Snick (format {format}); this one reads format 1")]
    Newer { path: String, format: u32 },
    #[error("`{id}` is no session id; ids have lower-case letters, digits and `-` only")]
    BadId { id: String },
    #[error("there is no session `{id}`; `snick sessions list` shows those there are")]
    NotFound { id: String },
    #[error("`{id}` could be several sessions: {candidates}; type more of it")]
    Ambiguous { id: String, candidates: String },
}

impl SessionError {
    /// Whether another process holds the session, so that a fork is the way on.
    pub fn is_busy(&self) -> bool {
        matches!(self, SessionError::Busy { .. })
    }

    pub(super) fn write(path: &Path) -> impl FnOnce(io::Error) -> SessionError {
        let path = path.display().to_string();
        move |source| SessionError::Write { path, source }
    }

    pub(super) fn read(path: &Path) -> impl FnOnce(io::Error) -> SessionError {
        let path = path.display().to_string();
        move |source| SessionError::Read { path, source }
    }
}
