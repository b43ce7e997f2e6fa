//! The files of a folder as the index knows them, in the order that a walk gives them.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use super::list_files::Listing;
use crate::index::Index;
use crate::index::files::table::{FileEntry, Flags};
use crate::workspace::Workspace;
use crate::workspace::scan::joined;
use crate::workspace::walk::{Entry, EntryKind, Found, Ignored};

/// Returns what a walk would find, off the index's table.
///
/// `None` where only a walk can tell: ignored files are asked for, the folder lies elsewhere or is
/// ignored itself, or the table does not cover everything.
pub(super) fn known(
    workspace: &Workspace,
    index: &Index,
    listing: &Listing,
    cancelled: &(dyn Fn() -> bool + Sync),
) -> Option<Found> {
    let folder = listing.at.path();
    let below = folder.strip_prefix(index.root()).ok()?;
    if listing.ignored == Ignored::Shown || workspace.is_ignored(folder) {
        return None;
    }
    let table = index.refresh(cancelled).ok()?;
    let tally = table.tally();
    if tally.cut.is_some() || tally.too_deep > 0 {
        return None;
    }
    let below = below.as_os_str().as_bytes();
    let start = workspace.start().strip_prefix(index.root()).ok();
    let matches = |entry: &FileEntry<'_>| {
        let Some(glob) = &listing.glob else { return true };
        let path = Path::new(OsStr::from_bytes(entry.path));
        let from_folder = path.strip_prefix(OsStr::from_bytes(below)).unwrap_or(path);
        let from_start = start.and_then(|start| path.strip_prefix(start).ok());
        glob.matches(from_folder, from_start)
    };
    let mut files: Vec<FileEntry<'_>> = table.beneath(below).filter(matches).collect();
    if files.is_empty() {
        // A walk says why.
        return None;
    }
    files.sort_by(|left, right| {
        // Each folder's content stands together: a separator is before every other byte.
        let key = |byte: &u8| if *byte == b'/' { 0 } else { *byte };
        left.path.iter().map(key).cmp(right.path.iter().map(key))
    });
    let entry = |file: FileEntry<'_>| Entry {
        path: joined(index.root(), file.path),
        kind: match file.flags {
            flags if flags.has(Flags::SYMLINK) => EntryKind::Link,
            flags if flags.has(Flags::SPECIAL) => EntryKind::Special,
            _ => EntryKind::File,
        },
    };
    let files = files.into_iter().map(entry).collect();
    let unreadable = table.unreadable_beneath(below);
    Some(Found { files, unreadable, ..Found::default() })
}
