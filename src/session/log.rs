//! The open end of a log: one write a record, nothing on disk before the first.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use super::SessionError;
use super::lock::{self, Lock, LockError};

/// Name of the log in its session's folder.
pub(super) const LOG: &str = "log.jsonl";

/// The largest line that is written or read.
pub(super) const LINE_LIMIT: usize = 64 << 20;

/// Where the records of one session are added.
#[derive(Debug)]
pub(super) struct Log {
    folder: PathBuf,
    /// `None` until the first record.
    end: Option<End>,
    /// Whole lines that are not on disk: the header at first, later what a full disk refused.
    pending: Vec<u8>,
}

#[derive(Debug)]
struct End {
    file: File,
    device: u64,
    inode: u64,
    /// `None` only where the file system has no locks and the session is new.
    _lock: Option<Lock>,
    unsynced: bool,
    /// Whether the names of file and folder must be made durable, too.
    new: bool,
}

impl Log {
    /// A log that comes into being with its first record; `head` is written before that.
    pub(super) fn planned(folder: PathBuf, head: Vec<u8>) -> Log {
        Log { folder, end: None, pending: head }
    }

    /// A log that exists, is whole up to its end, and is locked.
    pub(super) fn existing(folder: PathBuf, file: File, lock: Lock) -> io::Result<Log> {
        let end = End::new(file, Some(lock), false)?;
        Ok(Log { folder, end: Some(end), pending: Vec::new() })
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Adds `line`, which holds no line end.
    pub(super) fn append(&mut self, line: &str) -> Result<(), SessionError> {
        if line.len() > LINE_LIMIT {
            return Err(SessionError::TooLarge { bytes: line.len(), limit: LINE_LIMIT });
        }
        self.pending.extend_from_slice(line.as_bytes());
        self.pending.push(b'\n');
        self.flush()
    }

    /// Waits until everything added is on the disk.
    pub(super) fn sync(&mut self) -> Result<(), SessionError> {
        if self.end.is_some() {
            self.flush()?;
        }
        let Some(end) = &mut self.end else { return Ok(()) };
        let path = self.folder.join(LOG);
        if end.unsynced {
            end.file.sync_data().map_err(SessionError::write(&path))?;
            end.unsynced = false;
        }
        if end.new {
            sync_names(&self.folder).map_err(SessionError::write(&path))?;
            end.new = false;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), SessionError> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let path = self.folder.join(LOG);
        let end = match &mut self.end {
            Some(end) => end,
            None => self.end.insert(start(&self.folder)?),
        };
        end.write(&path, &self.pending)?;
        self.pending.clear();
        Ok(())
    }
}

impl End {
    fn new(file: File, lock: Option<Lock>, new: bool) -> io::Result<End> {
        let metadata = file.metadata()?;
        let (device, inode) = (metadata.dev(), metadata.ino());
        Ok(End { file, device, inode, _lock: lock, unsynced: false, new })
    }

    /// Writes `lines` whole or not at all. They are one `write`, unless the disk is full.
    fn write(&mut self, path: &Path, lines: &[u8]) -> Result<(), SessionError> {
        let found = path.symlink_metadata().ok();
        let Some(found) =
            found.filter(|found| (found.dev(), found.ino()) == (self.device, self.inode))
        else {
            return Err(SessionError::Replaced { path: path.display().to_string() });
        };
        if let Err(source) = self.file.write_all(lines) {
            // Half a record must not stand before the next one.
            self.file.set_len(found.len()).ok();
            return Err(SessionError::write(path)(source));
        }
        self.unsynced = true;
        Ok(())
    }
}

/// Makes the session's folder and its empty log.
fn start(folder: &Path) -> Result<End, SessionError> {
    let path = folder.join(LOG);
    if let Some(parent) = folder.parent() {
        private_folder().recursive(true).create(parent).map_err(SessionError::write(&path))?;
    }
    private_folder()
        .create(folder)
        .or_else(left_by_full_disk)
        .map_err(SessionError::write(&path))?;
    let lock = match lock::take(folder) {
        Ok(lock) => Some(lock),
        // The id is new, so nobody else knows of the session.
        Err(LockError::Unsupported(_)) => None,
        Err(LockError::Held { holder }) => {
            return Err(SessionError::Busy { id: name_of(folder), holder });
        }
        Err(LockError::Io(source)) => return Err(SessionError::write(&path)(source)),
    };
    let mut options = OpenOptions::new();
    options.append(true).create_new(true).mode(0o600);
    let file = options.open(&path).map_err(SessionError::write(&path))?;
    End::new(file, lock, true).map_err(SessionError::write(&path))
}

/// A first try may have made the folder and then found no room for the log in it.
fn left_by_full_disk(error: io::Error) -> io::Result<()> {
    if error.kind() == io::ErrorKind::AlreadyExists { Ok(()) } else { Err(error) }
}

fn private_folder() -> DirBuilder {
    let mut builder = DirBuilder::new();
    builder.mode(0o700);
    builder
}

fn name_of(folder: &Path) -> String {
    folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn sync_names(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()?;
    match folder.parent() {
        Some(parent) => File::open(parent)?.sync_all(),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_full_disk_refused_is_written_with_the_next_record() {
        let dir = tempfile::tempdir().unwrap();
        let mut log = Log::planned(dir.path().join("a/b"), b"head\n".to_vec());
        log.append("one").unwrap();
        let working = std::mem::replace(&mut log.end.as_mut().unwrap().file, {
            OpenOptions::new().append(true).open("/dev/full").unwrap()
        });
        log.append("two").unwrap_err();
        log.end.as_mut().unwrap().file = working;
        log.append("three").unwrap();
        let text = std::fs::read_to_string(dir.path().join("a/b/log.jsonl")).unwrap();
        assert_eq!(text, "head\none\ntwo\nthree\n");
    }
}
