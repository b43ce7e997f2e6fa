//! The right to write one folder of the index: held by the kernel, released by death.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::SystemTime;

use crate::workspace::own;

/// The right to write. Dropping it gives it back; readers need none.
#[derive(Debug)]
pub struct WriterLock {
    file: File,
}

impl WriterLock {
    /// Leaves the time, by which the index that was used least lately is found.
    pub fn note_use(&self) {
        // A wrong age harms nobody.
        self.file.set_modified(SystemTime::now()).ok();
    }
}

impl Drop for WriterLock {
    fn drop(&mut self) {
        // What remains locked is released when the last handle closes.
        self.file.unlock().ok();
    }
}

/// Takes the lock `name` in `folder` without waiting; `None` if another has it.
pub fn lock(folder: &Path, name: &str) -> io::Result<Option<WriterLock>> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600);
    let file = own::open(&mut options, &folder.join(name))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(WriterLock { file })),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}
