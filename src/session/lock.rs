//! The lock of a session: held by the kernel while the session is open, released by death.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use crate::workspace::own;

/// The right to write one session's log. Dropping it, or dying, gives it back.
#[derive(Debug)]
pub(super) struct Lock {
    file: File,
}

impl Drop for Lock {
    /// Gives the lock back at once, also while a process that is just being started still has
    /// a copy of the handle.
    fn drop(&mut self) {
        // What remains locked is released when the last handle closes.
        self.file.unlock().ok();
    }
}

/// Why the lock was not taken.
#[derive(Debug)]
pub(super) enum LockError {
    /// Another process has it, named as well as its note tells.
    Held {
        holder: String,
    },
    /// The file system has no locks.
    Unsupported(io::Error),
    Io(io::Error),
}

/// Takes the lock in `folder` without waiting and notes there who has it.
pub(super) fn take(folder: &Path) -> Result<Lock, LockError> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600);
    let mut file = own::open(&mut options, &folder.join("lock")).map_err(LockError::Io)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            return Err(LockError::Held { holder: holder(&mut file) });
        }
        Err(TryLockError::Error(error)) => return Err(LockError::Unsupported(error)),
    }
    // The note only helps people; the lock holds without it, on a full disk too.
    note_holder(&mut file).ok();
    Ok(Lock { file })
}

fn note_holder(file: &mut File) -> io::Result<()> {
    let uname = rustix::system::uname();
    let host = uname.nodename().to_string_lossy();
    let note = format!("process {} on {host}\n", std::process::id());
    file.set_len(0)?;
    file.rewind()?;
    file.write_all(note.as_bytes())
}

fn holder(file: &mut File) -> String {
    let mut note = Vec::new();
    let read = file.take(200).read_to_end(&mut note);
    let note = String::from_utf8_lossy(&note);
    let note = note.trim();
    if read.is_err() || note.is_empty() || note.contains(char::is_control) {
        return "another process".to_owned();
    }
    note.to_owned()
}
