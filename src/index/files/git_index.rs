//! Git's index read directly: which files of a repository are tracked.

mod bits;
mod decode;

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::table::Flags;
use crate::workspace::Stamp;
use crate::workspace::scan::read_file;

/// Most bytes of an index that is read.
const MAX_INDEX: u64 = 1 << 30;
/// Most bytes of the small files of a repository.
const MAX_SMALL: u64 = 1 << 20;

/// Where git keeps what it knows of one working tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitFolder {
    /// Of this working tree: its index.
    pub own: PathBuf,
    /// Of all working trees of the repository: what it excludes.
    pub common: PathBuf,
}

/// The paths that one index names, sorted by bytes, each once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tracked {
    names: Vec<u8>,
    items: Vec<Item>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Item {
    /// Where its path ends in the names.
    end: usize,
    flags: Flags,
}

/// What an index tells, and by which stamps its files are known again.
#[derive(Clone, Debug, Default)]
pub struct ReadIndex {
    pub tracked: Tracked,
    /// The index, and the shared one that it builds on.
    pub files: Vec<(PathBuf, Option<Stamp>)>,
}

impl GitFolder {
    /// Finds it for the working tree at `root`: `.git` is a folder, or a file that names one.
    pub fn of(root: &Path) -> Option<GitFolder> {
        let dot = root.join(".git");
        let own = if dot.is_dir() {
            dot
        } else {
            let text = read_file(&dot, MAX_SMALL).ok()?;
            root.join(line(text.strip_prefix(b"gitdir:")?)?)
        };
        let common = match read_file(&own.join("commondir"), MAX_SMALL) {
            Ok(text) => own.join(line(&text)?),
            Err(_) => own.clone(),
        };
        Some(GitFolder { own, common })
    }

    /// Reads the index; `None` if there is none, or none that is understood.
    pub fn read_index(&self) -> Option<ReadIndex> {
        let path = self.own.join("index");
        // Whoever replaces it while it is read leaves another stamp.
        let stamp = Stamp::at(&path);
        let bytes = read_file(&path, MAX_INDEX).ok()?;
        let mut files = vec![(path, stamp)];
        let tracked = decode::index(&bytes, &mut |name| {
            let path = self.own.join(format!("sharedindex.{name}"));
            let stamp = Stamp::at(&path);
            let bytes = read_file(&path, MAX_INDEX).ok()?;
            files.push((path, stamp));
            Some(bytes)
        })?;
        Some(ReadIndex { tracked, files })
    }
}

impl Tracked {
    /// Reads an index from its bytes; `shared` gives the bytes of a shared index by its hash in hex.
    pub fn decode(
        bytes: &[u8],
        shared: &mut dyn FnMut(&str) -> Option<Vec<u8>>,
    ) -> Option<Tracked> {
        decode::index(bytes, shared)
    }

    fn new(mut entries: Vec<(Vec<u8>, Flags)>) -> Tracked {
        entries.retain(|(path, _)| is_plain(path));
        entries.sort_by(|left, right| left.0.cmp(&right.0));
        // A conflict has one entry for each side.
        entries.dedup_by(|left, right| left.0 == right.0);
        let mut tracked = Tracked::default();
        for (path, flags) in entries {
            tracked.names.extend_from_slice(&path);
            tracked.items.push(Item { end: tracked.names.len(), flags });
        }
        tracked
    }

    /// Returns the paths with what the index says of each.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], Flags)> {
        let mut start = 0;
        self.items.iter().map(move |item| {
            let path = &self.names[start..item.end];
            start = item.end;
            (path, item.flags)
        })
    }

    /// Returns the number of paths.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether no path is tracked.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}

/// Whether `path` leads down by names only, so that it can be looked up beneath a root.
fn is_plain(path: &[u8]) -> bool {
    let path = path.strip_suffix(b"/").unwrap_or(path);
    path.split(|byte| *byte == b'/').all(|name| !matches!(name, b"" | b"." | b".." | b".git"))
}

/// Returns the path that a file of one line holds.
fn line(text: &[u8]) -> Option<&Path> {
    let line = text.split(|byte| *byte == b'\n').next()?.trim_ascii();
    (!line.is_empty()).then(|| Path::new(OsStr::from_bytes(line)))
}
