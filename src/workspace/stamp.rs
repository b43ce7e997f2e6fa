//! What the file system tells of a file without opening it: by this most changes are seen.

use std::fs::File;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::Stat;

use super::walk::Entry;

/// The type bits of a mode, and those of a regular file, a link and a folder.
const TYPE: u32 = 0o170_000;
const REGULAR: u32 = 0o100_000;
const LINK: u32 = 0o120_000;
const FOLDER: u32 = 0o040_000;
/// A bit that no mode has: the file can be reached, and so changed, by other names too.
const LINKED: u32 = 1 << 31;
/// How coarse the clock of a file system may be that counts below seconds, and of one that does not.
const FINE: Duration = Duration::from_millis(20);
const COARSE: Duration = Duration::from_secs(2);

/// The facts of a file that a write alters. Links are not followed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    pub size: u64,
    /// Nanoseconds since 1970 of the last write, as the file's owner may set it.
    pub modified: i64,
    /// Nanoseconds since 1970 of the last alteration, which nobody can set.
    pub altered: i64,
    pub inode: u64,
    pub device: u64,
    /// Type and permissions, and whether a regular file has other names too.
    pub mode: u32,
}

impl Stamp {
    /// Looks up the file at the absolute `path`; `None` if there is none.
    pub fn at(path: &Path) -> Option<Stamp> {
        rustix::fs::lstat(path).ok().map(|facts| Stamp::of(&facts))
    }

    /// Looks up what the absolute `path` leads to, links followed.
    pub fn followed(path: &Path) -> Option<Stamp> {
        rustix::fs::stat(path).ok().map(|facts| Stamp::of(&facts))
    }

    /// Looks up the file that is open.
    pub fn of_open(file: &File) -> std::io::Result<Stamp> {
        Ok(Stamp::of(&rustix::fs::fstat(file)?))
    }

    /// Reads the stamp off what the system told of a file.
    #[expect(clippy::unnecessary_cast, reason = "the widths differ between systems")]
    pub(super) fn of(facts: &Stat) -> Stamp {
        let rest = |nanoseconds| i64::try_from(nanoseconds).unwrap_or_default();
        let moment =
            |seconds: i64, rest: i64| seconds.saturating_mul(1_000_000_000).saturating_add(rest);
        let is_linked = facts.st_mode as u32 & TYPE == REGULAR && facts.st_nlink as u64 > 1;
        Stamp {
            size: u64::try_from(facts.st_size).unwrap_or_default(),
            modified: moment(facts.st_mtime as i64, rest(facts.st_mtime_nsec)),
            altered: moment(facts.st_ctime as i64, rest(facts.st_ctime_nsec)),
            inode: facts.st_ino as u64,
            device: facts.st_dev as u64,
            mode: facts.st_mode as u32 | if is_linked { LINKED } else { 0 },
        }
    }

    /// Whether it is a regular file that has other names too.
    pub fn has_other_names(&self) -> bool {
        self.mode & LINKED != 0
    }

    /// Whether it is a file with bytes of its own: no link, no device.
    pub fn is_regular(&self) -> bool {
        self.mode & TYPE == REGULAR
    }

    /// Whether it is a symbolic link.
    pub fn is_link(&self) -> bool {
        self.mode & TYPE == LINK
    }

    /// Whether it is a folder.
    pub fn is_folder(&self) -> bool {
        self.mode & TYPE == FOLDER
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
