//! Where the index of one root is kept, and what all indexes together may take.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::facade::identity_of;
use super::store::{self, WriterLock};
use crate::message::ContentHash;
use crate::workspace::own;

/// The file that is locked by who writes; its time tells when the index was used last.
const LOCK: &str = "lock";
/// Hexadecimal digits of a folder's name.
const DIGITS: usize = 32;

/// The folder of one root's index.
#[derive(Clone, Debug)]
pub struct IndexFolder {
    path: PathBuf,
    identity: Vec<u8>,
}

impl IndexFolder {
    /// Finds the folder of `root` beneath `cache`; it need not exist.
    ///
    /// # Errors
    /// A root that is not there.
    pub fn of(cache: &Path, root: &Path) -> io::Result<IndexFolder> {
        let identity = identity_of(root)?;
        let mut name = ContentHash::of(&identity).to_string();
        name.truncate(DIGITS);
        Ok(IndexFolder { path: cache.join(name), identity })
    }

    /// Returns its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the path of a file in it.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Returns what a kept file must say of the root it describes.
    pub fn identity(&self) -> &[u8] {
        &self.identity
    }

    /// Makes the folder and takes the right to write in it; `None` if another process has it.
    ///
    /// # Errors
    /// A folder or file that cannot be made.
    pub fn lock(&self) -> io::Result<Option<WriterLock>> {
        own::make_folder(&self.path)?;
        let lock = store::lock(&self.path, LOCK)?;
        if let Some(lock) = &lock {
            lock.note_use();
        }
        Ok(lock)
    }

    /// Returns the kept files with their sizes.
    pub fn sizes(&self) -> Vec<(String, u64)> {
        let mut sizes: Vec<(String, u64)> = files_in(&self.path)
            .filter(|(path, _)| !path.ends_with(LOCK))
            .filter_map(|(path, size)| Some((path.file_name()?.to_str()?.to_owned(), size)))
            .collect();
        sizes.sort();
        sizes
    }

    /// Returns how long ago a file was kept.
    pub fn age_of(&self, name: &str) -> Option<Duration> {
        fs::metadata(self.file(name)).ok()?.modified().ok()?.elapsed().ok()
    }

    /// Takes the right to write.
    ///
    /// # Errors
    /// As [`IndexFolder::lock`]; another process that has it.
    pub fn lock_or_fail(&self) -> io::Result<WriterLock> {
        let busy = || {
            let text = "another process is writing the index of this folder; try again later";
            io::Error::new(io::ErrorKind::WouldBlock, text)
        };
        self.lock()?.ok_or_else(busy)
    }

    /// Removes every kept file, and leaves the lock to who has it.
    ///
    /// # Errors
    /// Files that cannot be removed.
    pub fn clear(&self) -> io::Result<()> {
        let mut kept = files_in(&self.path).filter(|(path, _)| !path.ends_with(LOCK));
        kept.try_for_each(|(path, _)| fs::remove_file(path))
    }

    /// Removes it with all that is in it.
    ///
    /// # Errors
    /// Files that cannot be removed; another process that is writing them.
    pub fn remove(&self) -> io::Result<()> {
        if !self.path.is_dir() {
            return Ok(());
        }
        let _lock = self.lock_or_fail()?;
        fs::remove_dir_all(&self.path)
    }

    /// Removes the indexes of other roots, least lately used first, until all take at most `cap`.
    ///
    /// # Errors
    /// A cache that cannot be read.
    pub fn trim(&self, cap: u64) -> io::Result<()> {
        let Some(cache) = self.path.parent() else { return Ok(()) };
        let mut others = Vec::new();
        let mut total = size_of(&self.path);
        for path in folders_in(cache).filter(|path| *path != self.path) {
            let used = fs::metadata(path.join(LOCK)).and_then(|facts| facts.modified());
            let size = size_of(&path);
            total += size;
            others.push((used.unwrap_or(SystemTime::UNIX_EPOCH), size, path));
        }
        others.sort();
        for (_, size, path) in others {
            if total <= cap {
                break;
            }
            // One that cannot be removed stays, and the next is tried.
            if fs::remove_dir_all(&path).is_ok() {
                total -= size;
            }
        }
        Ok(())
    }
}

/// Returns the bytes that all indexes beneath `cache` take.
pub(super) fn total(cache: &Path) -> u64 {
    folders_in(cache).map(|path| size_of(&path)).sum()
}

/// Returns the folders of indexes; whatever else stands there is not ours.
fn folders_in(cache: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(cache).into_iter().flatten().flatten();
    entries.filter_map(|entry| {
        let name = entry.file_name();
        let name = name.to_str()?;
        let is_ours = name.len() == DIGITS && name.bytes().all(|byte| byte.is_ascii_hexdigit());
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        (is_ours && is_folder).then(|| entry.path())
    })
}

/// Returns what is in `folder` and no folder. In one that a link leads to nothing is ours.
fn files_in(folder: &Path) -> impl Iterator<Item = (PathBuf, u64)> {
    let is_ours = folder.symlink_metadata().is_ok_and(|facts| facts.is_dir());
    let listed = is_ours.then(|| fs::read_dir(folder)).into_iter().flatten();
    let entries = listed.flatten().flatten();
    entries.filter_map(|entry| {
        let facts = entry.metadata().ok()?;
        (!facts.is_dir()).then(|| (entry.path(), facts.len()))
    })
}

fn size_of(folder: &Path) -> u64 {
    files_in(folder).map(|(_, size)| size).sum()
}
