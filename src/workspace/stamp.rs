//! What the file system tells of a file without opening it: by this most changes are seen.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::walk::Entry;

/// The type bits of a mode, and those of a regular file.
const TYPE: u32 = 0o170_000;
const REGULAR: u32 = 0o100_000;
/// How coarse the clock of a file system may be that counts below seconds, and of one that does not.
const FINE: Duration = Duration::from_millis(20);
const COARSE: Duration = Duration::from_secs(2);

/// The facts of a file that a write alters. Links are not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    pub size: u64,
    /// Nanoseconds since 1970 of the last write, as the file's owner may set it.
    pub modified: i64,
    /// Nanoseconds since 1970 of the last alteration, which nobody can set.
    pub altered: i64,
    pub inode: u64,
    /// Type and permissions.
    pub mode: u32,
}

impl Stamp {
    /// Looks up the file at the absolute `path`; `None` if there is none.
    pub fn at(path: &Path) -> Option<Stamp> {
        Some(Stamp::of(&std::fs::symlink_metadata(path).ok()?))
    }

    /// Takes the stamp out of what is known of a file.
    pub fn of(facts: &Metadata) -> Stamp {
        let moment =
            |seconds: i64, rest: i64| seconds.saturating_mul(1_000_000_000).saturating_add(rest);
        Stamp {
            size: facts.len(),
            modified: moment(facts.mtime(), facts.mtime_nsec()),
            altered: moment(facts.ctime(), facts.ctime_nsec()),
            inode: facts.ino(),
            mode: facts.mode(),
        }
    }

    /// Whether it is a file with bytes of its own: no link, no device.
    pub fn is_regular(&self) -> bool {
        self.mode & TYPE == REGULAR
    }

    /// Returns the permission bits.
    pub fn permissions(&self) -> u32 {
        self.mode & 0o7777
    }

    /// Whether the file could be written after `now` and have this stamp all the same, since the
    /// clock of its file system had not moved on.
    pub fn is_racy(&self, now: SystemTime) -> bool {
        let whole = self.altered % 1_000_000_000 == 0;
        let slack = if whole { COARSE } else { FINE };
        let since = now.duration_since(UNIX_EPOCH).unwrap_or_default().saturating_sub(slack);
        i64::try_from(since.as_nanos()).is_ok_and(|since| self.altered >= since)
    }
}

impl Entry {
    /// Looks up the stamp; `None` if the file is gone.
    pub fn stamp(&self) -> Option<Stamp> {
        Stamp::at(&self.path)
    }
}
