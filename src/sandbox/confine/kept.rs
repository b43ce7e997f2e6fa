//! Files and links as they were before a command, for who puts them back.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use super::repository;
use super::restore::Content;
use super::touched::Touched;

/// The most that is kept of one file, and of all together.
const MOST_OF_ONE: u64 = 1 << 20;
const MOST_OF_ALL: u64 = 16 << 20;

/// A file or link as it was.
pub(super) struct Kept {
    pub(super) stamp: Stamp,
    /// `None` where it was too large.
    pub(super) content: Option<Content>,
}

/// What tells that a file is unchanged: nothing inside a sandbox can forge the time of a change.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    inode: u64,
    size: u64,
    changed: (i64, i64),
}

impl Kept {
    /// Returns what is to become of the settings at `path`, if they are not what git may make of
    /// them.
    pub(super) fn rewritten(&self, path: &Path) -> Option<Touched> {
        if stamp(path) == Some(self.stamp) {
            return None;
        }
        match &self.content {
            Some(Content::File { bytes, mode }) => (!repository::is_harmless_change(bytes, path))
                .then(|| Touched::Settings {
                    path: path.into(),
                    bytes: bytes.clone(),
                    mode: *mode,
                }),
            Some(Content::Link(_)) | None => Some(Touched::Changed(path.into())),
        }
    }

    /// Returns what is to become of the file at `path`, if it does not hold what it did.
    pub(super) fn overwritten(&self, path: &Path) -> Option<Touched> {
        if stamp(path) == Some(self.stamp) {
            return None;
        }
        match &self.content {
            Some(before) if content(path).as_ref() == Some(before) => None,
            Some(Content::File { bytes, mode }) => {
                Some(Touched::Settings { path: path.into(), bytes: bytes.clone(), mode: *mode })
            }
            Some(Content::Link(_)) | None => Some(Touched::Changed(path.into())),
        }
    }
}

/// Keeps what is in the files at `paths`, and nothing else; unchanged ones are not read again.
pub(super) fn keep(kept: &mut BTreeMap<PathBuf, Kept>, paths: &BTreeSet<PathBuf>) {
    kept.retain(|path, _| paths.contains(path));
    // One that is too large takes nothing from the others.
    let holds = |kept: &&Kept| kept.content.is_some();
    let mut bytes: u64 = kept.values().filter(holds).map(|kept| kept.stamp.size).sum();
    for path in paths {
        let Some(stamp) = stamp(path) else { continue };
        if kept.get(path).is_some_and(|kept| kept.stamp == stamp) {
            continue;
        }
        let fits = stamp.size <= MOST_OF_ONE && bytes + stamp.size <= MOST_OF_ALL;
        bytes += if fits { stamp.size } else { 0 };
        let content = if fits { content(path) } else { None };
        kept.insert(path.clone(), Kept { stamp, content });
    }
}

/// Returns what tells whether what is at `path` changes.
pub(super) fn stamp(path: &Path) -> Option<Stamp> {
    let found = path.symlink_metadata().ok()?;
    let changed = (found.ctime(), found.ctime_nsec());
    Some(Stamp { inode: found.ino(), size: found.size(), changed })
}

/// Returns what is at `path`, if it is a small file or a link.
pub(super) fn content(path: &Path) -> Option<Content> {
    let found = path.symlink_metadata().ok()?;
    if found.is_symlink() {
        return Some(Content::Link(fs::read_link(path).ok()?));
    }
    if !found.is_file() || found.size() > MOST_OF_ONE {
        return None;
    }
    Some(Content::File { bytes: fs::read(path).ok()?, mode: found.permissions().mode() })
}
