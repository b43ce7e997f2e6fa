//! The files of a folder as the index knows them, in the order that a walk gives them.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::Arc;

use super::target::Target;
use crate::index::Index;
use crate::index::files::{FileEntry, FileId, FileTable, Flags};
use crate::workspace::Workspace;
use crate::workspace::scan::joined;
use crate::workspace::walk::{Entry, EntryKind, Found, Glob, Ignored};

/// Files of the index's table.
pub(super) struct Known {
    pub(super) table: Arc<FileTable>,
    pub(super) files: Vec<FileId>,
}

/// Returns the files beneath `folder` that match `glob`, if there are any.
///
/// `None` where only a walk can tell: the folder lies elsewhere or is ignored itself, or the root
/// is no repository, so that the table may be cut.
pub(super) fn files(
    workspace: &Workspace,
    index: &Index,
    folder: &Path,
    glob: Option<&Glob>,
    cancelled: &(dyn Fn() -> bool + Sync),
) -> Option<Known> {
    let below = folder.strip_prefix(index.root()).ok()?;
    if index.is_bounded() || workspace.is_ignored(folder) {
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
        let Some(glob) = glob else { return true };
        let path = Path::new(OsStr::from_bytes(entry.path));
        let from_folder = path.strip_prefix(OsStr::from_bytes(below)).unwrap_or(path);
        let from_start = start.and_then(|start| path.strip_prefix(start).ok());
        glob.matches(from_folder, from_start)
    };
    let files: Vec<FileId> = table.beneath(below).filter(matches).map(|file| file.id).collect();
    // A walk says why there are none.
    (!files.is_empty()).then_some(Known { table, files })
}

/// What a walk finds, and the lines of each file where they are known.
pub(super) struct Listed {
    pub(super) found: Found,
    pub(super) n_lines: Vec<Option<u32>>,
}

/// Returns what a walk would find, off the index's table; `None` where only a walk can tell.
pub(super) fn known(
    workspace: &Workspace,
    index: &Index,
    target: &Target,
    cancelled: &(dyn Fn() -> bool + Sync),
) -> Option<Listed> {
    if target.ignored == Ignored::Shown {
        return None;
    }
    // What is only made while this runs is not waited for.
    let has_text = index.has_text();
    let folder = target.at.path();
    let Known { table, files } =
        self::files(workspace, index, folder, target.glob.as_ref(), cancelled)?;
    let text = if has_text { index.text(&table) } else { None };
    let mut files: Vec<FileEntry<'_>> = files.into_iter().map(|id| table.get(id)).collect();
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
    let n_lines = |file: &FileEntry<'_>| text.as_ref().and_then(|text| text.n_lines(file.id));
    let n_lines = files.iter().map(n_lines).collect();
    let files = files.into_iter().map(entry).collect();
    let below = folder.strip_prefix(index.root()).ok()?;
    let unreadable = table.unreadable_beneath(below.as_os_str().as_bytes());
    Some(Listed { found: Found { files, unreadable, ..Found::default() }, n_lines })
}
