//! Reading files as they are: regular ones only, bounded, hashed.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::sync::Arc;

use super::folder::CreateFolders;
use super::{Located, Workspace};
use crate::message::ContentHash;

/// A file as it was at one moment: bytes, their hash, and what a rewrite must keep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileImage {
    pub bytes: Arc<[u8]>,
    pub hash: ContentHash,
    /// Permission bits; of a symbolic link, [`LINK_MODE`].
    pub mode: u32,
    /// Number of names (hard links).
    pub links: u64,
}

/// The mode of a symbolic link, whose bytes are where it leads.
pub const LINK_MODE: u32 = 0o120_777;

/// Whether `mode` is that of a symbolic link.
pub fn is_link_mode(mode: u32) -> bool {
    mode & 0o170_000 == 0o120_000
}

/// The mode of a folder, whose bytes are none.
pub const FOLDER_MODE: u32 = 0o040_755;

/// Returns the hash of what stands at a path with this `mode`: a link is never taken for a file
/// that holds where it leads.
pub fn entry_hash(bytes: &[u8], mode: Option<u32>) -> ContentHash {
    if mode.is_some_and(is_link_mode) {
        return ContentHash::of(&[b"symbolic link\0", bytes].concat());
    }
    ContentHash::of(bytes)
}

impl FileImage {
    /// Makes the image of a symbolic link that leads to `target`.
    pub fn link(target: &[u8]) -> FileImage {
        let hash = entry_hash(target, Some(LINK_MODE));
        FileImage { bytes: target.into(), hash, mode: LINK_MODE, links: 1 }
    }

    /// Makes the image of a folder that holds nothing.
    pub fn folder() -> FileImage {
        let hash = entry_hash(&[], Some(FOLDER_MODE));
        FileImage { bytes: [].into(), hash, mode: FOLDER_MODE, links: 1 }
    }

    /// Whether it is of a symbolic link.
    pub fn is_link(&self) -> bool {
        is_link_mode(self.mode)
    }

    /// Whether its permissions let nobody write it, which a rename would get around.
    pub fn is_read_only(&self) -> bool {
        self.mode & 0o222 == 0
    }

    /// Reads an opened regular file of at most `limit` bytes.
    pub(super) fn of(mut file: File, limit: u64, shown: &str) -> Result<FileImage, FileError> {
        let io = |source| FileError::Io { path: shown.to_owned(), source };
        let facts = file.metadata().map_err(io)?;
        let too_large = |size| FileError::TooLarge { path: shown.to_owned(), size, limit };
        if facts.len() > limit {
            return Err(too_large(facts.len()));
        }
        let mut bytes = Vec::with_capacity(usize::try_from(facts.len()).unwrap_or(0));
        file.by_ref().take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(io)?;
        if bytes.len() as u64 > limit {
            return Err(too_large(bytes.len() as u64));
        }
        Ok(FileImage {
            hash: ContentHash::of(&bytes),
            bytes: bytes.into(),
            mode: facts.mode() & 0o7777,
            links: facts.nlink(),
        })
    }
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

/// Why a file cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    #[error("`{path}` does not exist")]
    Missing { path: String },
    #[error("`{path}` is a directory")]
    Directory { path: String },
    #[error("a folder on the way to `{path}` is not a directory")]
    NotDirectory { path: String },
    #[error("`{path}` is not a regular file (a FIFO, socket or device)")]
    Special { path: String },
    #[error("`{path}` became a symbolic link after it was looked up; try again")]
    Link { path: String },
    #[error("`{path}` has {size} bytes; at most {limit} can be read")]
    TooLarge { path: String, size: u64, limit: u64 },
    #[error(
        "`{path}` is outside the workspace, where nothing is written; the person can add its folder with `--add-dir`"
    )]
    Outside { path: String },
    #[error("`{path}` is not what it was when the change was computed; nothing was written")]
    Changed { path: String },
    #[error("`{path}`: {source}")]
    Io { path: String, source: io::Error },
}

impl FileError {
    /// Says what `source` means for the file shown as `path`.
    pub(super) fn from_io(path: &str, source: io::Error) -> FileError {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::NotFound => FileError::Missing { path },
            io::ErrorKind::NotADirectory => FileError::NotDirectory { path },
            _ if source.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => {
                FileError::Link { path }
            }
            _ => FileError::Io { path, source },
        }
    }
}

impl Workspace {
    /// Reads the whole of a regular file of at most `limit` bytes.
    pub fn read(&self, at: &Located, limit: u64) -> Result<FileImage, FileError> {
        FileImage::of(self.open_file(at)?, limit, at.shown())
    }

    /// Reads what stands at `at` itself: a symbolic link is not followed, and its bytes are where
    /// it leads.
    pub fn read_entry(&self, at: &Located, limit: u64) -> Result<FileImage, FileError> {
        let entry = self.parent_of(at, CreateFolders::No)?.read_entry(limit)?;
        entry.ok_or_else(|| FileError::Missing { path: at.shown().to_owned() })
    }

    /// Opens a regular file for reading, never waiting, through no link.
    pub fn open_file(&self, at: &Located) -> Result<File, FileError> {
        self.parent_of(at, CreateFolders::No)?
            .open()?
            .ok_or_else(|| FileError::Missing { path: at.shown().to_owned() })
    }

    /// Whether the file at `at` begins as text does.
    pub fn begins_as_text(&self, at: &Located) -> bool {
        let mut start = [0; 512];
        let read = self.open_file(at).ok().and_then(|mut file| file.read(&mut start).ok());
        read.is_some_and(|length| !start[..length].contains(&0))
    }

    /// Returns what stands at `at`.
    pub fn kind(&self, at: &Located) -> FileKind {
        match std::fs::symlink_metadata(at.path()) {
            Ok(facts) if facts.is_file() => FileKind::File,
            Ok(facts) if facts.is_dir() => FileKind::Directory,
            Ok(_) => FileKind::Special,
            Err(_) => FileKind::Absent,
        }
    }
}
