//! Reading files as they are: regular ones only, bounded, hashed.

use std::sync::Arc;

use super::{Located, Workspace};
use crate::message::ContentHash;

/// A file as it was at one moment: bytes, their hash, and what a rewrite must keep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileImage {
    pub bytes: Arc<[u8]>,
    pub hash: ContentHash,
    /// Permission bits.
    pub mode: u32,
    /// Number of names (hard links).
    pub links: u64,
}

/// What stands at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    File,
    Directory,
    /// FIFO, socket or device: never opened.
    Special,
    Absent,
}

/// Why a file cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    #[error("`{path}` does not exist")]
    Missing { path: String },
    #[error("`{path}` is a directory")]
    Directory { path: String },
    #[error("`{path}` is not a regular file")]
    Special { path: String },
    #[error("`{path}` has {size} bytes; at most {limit} can be read")]
    TooLarge { path: String, size: u64, limit: u64 },
    #[error("`{path}`: {source}")]
    Io { path: String, source: std::io::Error },
}

impl Workspace {
    /// Reads the whole of a regular file of at most `limit` bytes.
    pub fn read(&self, at: &Located, limit: u64) -> Result<FileImage, FileError> {
        let shown = || at.shown().to_owned();
        let io = |source| FileError::Io { path: shown(), source };
        let data = std::fs::metadata(at.path()).map_err(io)?;
        if data.len() > limit {
            return Err(FileError::TooLarge { path: shown(), size: data.len(), limit });
        }
        let bytes = std::fs::read(at.path()).map_err(io)?;
        Ok(FileImage { hash: ContentHash::of(&bytes), bytes: bytes.into(), mode: 0o644, links: 1 })
    }

    /// Returns what stands at `at`, links followed.
    pub fn kind(&self, at: &Located) -> FileKind {
        match std::fs::metadata(at.path()) {
            Ok(data) if data.is_file() => FileKind::File,
            Ok(data) if data.is_dir() => FileKind::Directory,
            Ok(_) => FileKind::Special,
            Err(_) => FileKind::Absent,
        }
    }
}
