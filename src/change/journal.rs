//! Pre-images and post-images of everything that was written: what makes undo and redo possible.
//!
//! A folder with `index.jsonl`, one entry a line, only ever appended to, and `blobs/`, files named
//! by the hash of their bytes. An entry and its blobs are synced before the write that they tell
//! of. After a crash an entry may tell of a write that did not happen; whoever reads it compares
//! with the disk.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::by_command::{CommandEntry, What};
use super::crash;
use crate::message::{CallId, ContentHash};
use crate::workspace::{FileImage, entry_hash, own};

/// Bytes of blobs that one journal holds.
const BUDGET: u64 = 200 << 20;
/// Size of the largest file that is kept.
const LARGEST: u64 = 8 << 20;

/// Size of the largest index that is read.
const LARGEST_INDEX: u64 = 256 << 20;

/// The record of what was written, in a folder of its session.
#[derive(Debug)]
pub struct Journal {
    folder: PathBuf,
    entries: Vec<Entry>,
    /// What commands changed, and what of it was taken back.
    by_command: Vec<CommandEntry>,
    turn: u64,
    batch: u64,
    /// Opened with the first entry, so that a session that writes nothing leaves nothing.
    index: Option<File>,
    stored: u64,
    budget: u64,
}

/// Why the journal cannot be read or written. Nothing is written then.
#[derive(Debug, thiserror::Error)]
#[error("the undo journal at `{path}`: {source}")]
pub struct JournalError {
    path: String,
    source: io::Error,
}

/// One write.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Entry {
    /// Writes that were made together: those of a turn, or of one undo.
    pub(super) batch: u64,
    /// The turn that it belongs to; an undo belongs to the turn it takes back.
    pub(super) turn: u64,
    pub(super) act: Act,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) call: Option<CallId>,
    pub(super) path: RecordedPath,
    /// What stood there; `None` if nothing did.
    pub(super) before: Option<Version>,
    /// What was to stand there; `None` if nothing was.
    pub(super) after: Option<Version>,
    /// Folders that were made for it, outermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) made: Vec<RecordedPath>,
}

/// What an entry was written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Act {
    Write,
    Undo,
    Redo,
}

/// One version of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Version {
    pub(super) hash: ContentHash,
    /// Permission bits, where they were known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) mode: Option<u32>,
    /// Whether its bytes are in the journal.
    pub(super) kept: bool,
}

/// A path as JSON holds it: text, or its bytes where it is not UTF-8.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum RecordedPath {
    Text(String),
    Bytes(Vec<u8>),
}

/// A write that is about to happen.
pub(super) struct Draft<'a> {
    pub(super) occasion: Occasion<'a>,
    pub(super) path: &'a Path,
    pub(super) before: Option<&'a FileImage>,
    pub(super) after: Option<&'a [u8]>,
    /// The permission bits to be, where they are set and not kept.
    pub(super) mode: Option<u32>,
    pub(super) made: &'a [PathBuf],
}

/// What a write is made for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Occasion<'a> {
    Call(&'a CallId),
    Undo {
        turn: u64,
    },
    Redo {
        turn: u64,
    },
    /// What a command of that turn changed is taken back.
    Restore {
        turn: u64,
    },
}

/// Whether a write can be taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Undoable {
    Yes,
    /// The file is larger than what is kept.
    TooLarge,
    /// The journal is full.
    Full,
}

impl Journal {
    /// Opens the journal in `folder`, which need not exist yet.
    ///
    /// Lines that a crash left unfinished are passed over.
    pub fn open(folder: &Path) -> Result<Journal, JournalError> {
        let error = |source| JournalError { path: folder.display().to_string(), source };
        let index = match own::read(&folder.join("index.jsonl"), LARGEST_INDEX) {
            Ok(index) => index,
            Err(missing) if missing.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(other) => return Err(error(other)),
        };
        let lines = index.split(|&byte| byte == b'\n');
        let lines: Vec<&[u8]> = lines.filter(|line| !line.is_empty()).collect();
        let entries: Vec<Entry> =
            lines.iter().filter_map(|line| serde_json::from_slice(line).ok()).collect();
        let by_command: Vec<CommandEntry> =
            lines.iter().filter_map(|line| serde_json::from_slice(line).ok()).collect();
        let last = |number: fn(&Entry) -> u64| entries.iter().map(number).max().unwrap_or(0);
        let (turn, batch) = (last(|entry| entry.turn), last(|entry| entry.batch));
        let turn = by_command.iter().map(|entry| entry.turn).fold(turn, u64::max);
        let stored = blob_sizes(&folder.join("blobs")).map_err(error)?;
        let folder = folder.to_owned();
        let (index, budget) = (None, BUDGET);
        Ok(Journal { folder, entries, by_command, turn, batch, index, stored, budget })
    }

    /// Begins a turn: what is written from now on is taken back together.
    pub fn begin_turn(&mut self) {
        self.turn += 1;
        self.batch += 1;
    }

    /// Begins the writes of one undo or redo.
    pub(super) fn begin_batch(&mut self) {
        self.batch += 1;
    }

    pub(super) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    pub(super) fn by_command(&self) -> &[CommandEntry] {
        &self.by_command
    }

    /// Returns the number of the turn that runs, or ran last.
    pub(super) fn turn(&self) -> u64 {
        self.turn
    }

    /// Records a write, synced, before it happens.
    pub(super) fn record(&mut self, draft: &Draft<'_>) -> Result<Undoable, JournalError> {
        let mut undoable = Undoable::Yes;
        let before = match draft.before {
            None => None,
            Some(image) => {
                undoable = self.keep(&image.bytes, image.hash)?;
                let kept = undoable == Undoable::Yes;
                Some(Version { hash: image.hash, mode: Some(image.mode), kept })
            }
        };
        let after = match draft.after {
            None => None,
            Some(bytes) => {
                let hash = entry_hash(bytes, draft.mode);
                let kept = self.keep(bytes, hash)? == Undoable::Yes;
                let mode = draft.mode.or(draft.before.map(|image| image.mode));
                Some(Version { hash, mode, kept })
            }
        };
        let (turn, act, call) = match draft.occasion {
            Occasion::Call(call) => (self.turn, Act::Write, Some(call.clone())),
            Occasion::Undo { turn } => (turn, Act::Undo, None),
            Occasion::Redo { turn } => (turn, Act::Redo, None),
            Occasion::Restore { turn } => {
                let (path, call) = (RecordedPath::new(draft.path), None);
                let what = What::Restored;
                self.append_by_command(CommandEntry { turn, what, call, path, before, after })?;
                return Ok(undoable);
            }
        };
        let path = RecordedPath::new(draft.path);
        let made = draft.made.iter().map(|folder| RecordedPath::new(folder)).collect();
        self.append(Entry { batch: self.batch, turn, act, call, path, before, after, made })?;
        Ok(undoable)
    }

    /// Returns the bytes of a version that was kept, if they still are what they were.
    pub(super) fn bytes(&self, version: &Version) -> Result<Option<Vec<u8>>, JournalError> {
        if !version.kept {
            return Ok(None);
        }
        let path = self.blob(version.hash);
        let mut bytes = Vec::new();
        let opened = own::open(OpenOptions::new().read(true), &path);
        match opened.and_then(|file| file.take(LARGEST + 1).read_to_end(&mut bytes)) {
            Ok(_) => Ok((entry_hash(&bytes, version.mode) == version.hash).then_some(bytes)),
            Err(missing) if missing.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(other) => Err(self.error(other)),
        }
    }

    /// Records what a command has done.
    pub(super) fn append_by_command(&mut self, entry: CommandEntry) -> Result<(), JournalError> {
        self.append_line(&entry)?;
        self.by_command.push(entry);
        Ok(())
    }

    /// Keeps `bytes` as a blob. It appears whole or not at all.
    pub(super) fn keep(
        &mut self,
        bytes: &[u8],
        hash: ContentHash,
    ) -> Result<Undoable, JournalError> {
        let size = bytes.len() as u64;
        if size > LARGEST {
            return Ok(Undoable::TooLarge);
        }
        let place = self.blob(hash);
        if place.exists() {
            return Ok(Undoable::Yes);
        }
        if self.stored + size > self.budget {
            return Ok(Undoable::Full);
        }
        let blobs = self.folder.join("blobs");
        let folders = own::make_folder(&self.folder).and_then(|()| own::make_folder(&blobs));
        let written = folders.and_then(|()| {
            let temporary = blobs.join(format!("{hash}.tmp"));
            let mut options = private();
            options.write(true).create(true).truncate(true);
            let mut file = own::open(&mut options, &temporary)?;
            file.write_all(bytes)?;
            file.sync_all()?;
            crash::point("blob written");
            fs::rename(&temporary, &place)?;
            crash::point("blob placed");
            File::open(&blobs)?.sync_all()
        });
        written.map_err(|source| self.error(source))?;
        self.stored += size;
        Ok(Undoable::Yes)
    }

    fn append(&mut self, entry: Entry) -> Result<(), JournalError> {
        self.append_line(&entry)?;
        self.entries.push(entry);
        Ok(())
    }

    fn append_line(&mut self, entry: &impl Serialize) -> Result<(), JournalError> {
        let line = serde_json::to_string(entry).map_err(|error| self.error(error.into()))?;
        let appended = self.opened_index().and_then(|mut index| {
            index.write_all(format!("{line}\n").as_bytes())?;
            crash::point("entry written");
            index.sync_data()
        });
        appended.map_err(|source| self.error(source))
    }

    /// Opens the index to append to it, on a new line if a crash left the last one unfinished.
    fn opened_index(&mut self) -> io::Result<&File> {
        if self.index.is_none() {
            own::make_folder(&self.folder)?;
            let path = self.folder.join("index.jsonl");
            let mut options = private();
            options.append(true).read(true).create(true);
            let mut index = own::open(&mut options, &path)?;
            let mut last = Vec::new();
            index.read_to_end(&mut last)?;
            if last.last().is_some_and(|&byte| byte != b'\n') {
                index.write_all(b"\n")?;
            }
            File::open(&self.folder)?.sync_all()?;
            self.index = Some(index);
        }
        self.index.as_ref().ok_or_else(|| io::Error::other("the index is not open"))
    }

    fn blob(&self, hash: ContentHash) -> PathBuf {
        self.folder.join("blobs").join(hash.to_string())
    }

    fn error(&self, source: io::Error) -> JournalError {
        JournalError { path: self.folder.display().to_string(), source }
    }
}

impl RecordedPath {
    pub(super) fn new(path: &Path) -> RecordedPath {
        match path.to_str() {
            Some(text) => RecordedPath::Text(text.to_owned()),
            None => RecordedPath::Bytes(path.as_os_str().as_bytes().to_vec()),
        }
    }

    pub(super) fn to_path(&self) -> PathBuf {
        match self {
            RecordedPath::Text(text) => PathBuf::from(text),
            RecordedPath::Bytes(bytes) => {
                PathBuf::from(std::ffi::OsString::from_vec(bytes.clone()))
            }
        }
    }
}

fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.mode(0o600);
    options
}

fn blob_sizes(blobs: &Path) -> io::Result<u64> {
    let folder = match fs::read_dir(blobs) {
        Ok(folder) => folder,
        Err(missing) if missing.kind() == io::ErrorKind::NotFound => return Ok(0),
        Err(error) => return Err(error),
    };
    folder.map(|blob| Ok(blob?.metadata()?.len())).sum()
}
