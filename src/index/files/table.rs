//! The files of one root at one moment, sorted by the bytes of their paths.

use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use ignore::WalkBuilder;

use crate::workspace::Stamp;

/// The number of a file in one table.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FileId(pub u32);

/// What is known of a file. Combine with `|`.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Flags(pub u16);

impl Flags {
    pub const TRACKED: Flags = Flags(1);
    pub const IGNORED: Flags = Flags(2);
    pub const HIDDEN: Flags = Flags(4);
    pub const SYMLINK: Flags = Flags(8);
    pub const RACY: Flags = Flags(16);

    /// Whether all of `other` are set.
    pub fn has(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }
}

impl std::ops::BitOr for Flags {
    type Output = Flags;

    fn bitor(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
}

/// One file of a table.
#[derive(Clone, Copy, Debug)]
pub struct FileEntry<'a> {
    pub id: FileId,
    /// From the root, parts separated by `/`.
    pub path: &'a [u8],
    pub flags: Flags,
    pub stamp: Stamp,
}

/// The files of one root at one moment, sorted by the bytes of their paths.
#[derive(Debug, Default)]
pub struct FileTable {
    root: PathBuf,
    files: Vec<(Vec<u8>, Flags, Stamp)>,
}

impl FileTable {
    /// Returns the root, absolute.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the number of files.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Whether there is no file.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Returns the file of that number, which must be of this table.
    pub fn get(&self, id: FileId) -> FileEntry<'_> {
        let (path, flags, stamp) = &self.files[id.0 as usize];
        FileEntry { id, path, flags: *flags, stamp: *stamp }
    }

    /// Returns all files, in order.
    pub fn iter(&self) -> impl Iterator<Item = FileEntry<'_>> {
        (0..self.files.len()).map(|id| self.get(FileId(u32::try_from(id).unwrap_or(u32::MAX))))
    }

    /// Finds a file by its path.
    pub fn find(&self, path: &[u8]) -> Option<FileId> {
        let place = self.files.binary_search_by(|(other, ..)| other.as_slice().cmp(path)).ok()?;
        Some(FileId(u32::try_from(place).ok()?))
    }

    /// Walks `root` under its ignore rules.
    pub fn from_walk(root: &Path) -> io::Result<FileTable> {
        let root = root.canonicalize()?;
        let mut files = Vec::new();
        let mut builder = WalkBuilder::new(&root);
        builder.hidden(false).require_git(false).add_custom_ignore_filename(".snickignore");
        builder.filter_entry(|entry| entry.file_name() != ".git");
        for entry in builder.build().flatten() {
            let Some(stamp) = Stamp::at(entry.path()) else { continue };
            let Ok(path) = entry.path().strip_prefix(&root) else { continue };
            if stamp.is_folder() || path.as_os_str().is_empty() {
                continue;
            }
            let path = path.as_os_str().as_bytes().to_vec();
            let hidden = path.split(|byte| *byte == b'/').any(|name| name.starts_with(b"."));
            let mut flags = if hidden { Flags::HIDDEN } else { Flags(0) };
            if stamp.is_link() {
                flags = flags | Flags::SYMLINK;
            }
            files.push((path, flags, stamp));
        }
        files.sort_unstable_by(|one, other| one.0.cmp(&other.0));
        Ok(FileTable { root, files })
    }
}
