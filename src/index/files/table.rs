//! The files of one root at one moment, sorted by the bytes of their paths.

use std::io;
use std::ops::BitOr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use ignore::WalkBuilder;

use crate::workspace::Stamp;

/// The number of a file in one table.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FileId(pub u32);

/// What is known of a file. Combine with |.
#[derive(Clone, Copy, PartialEq, Eq, Default, Hash, Debug)]
pub struct Flags(pub u16);

impl Flags {
    /// It or a folder on the way begins with a dot.
    pub const HIDDEN: Flags = Flags(1 << 2);
    /// A symbolic link, not followed.
    pub const SYMLINK: Flags = Flags(1 << 3);
    /// FIFO, socket or device: never opened.
    pub const SPECIAL: Flags = Flags(1 << 5);
    /// Written so lately that a later write could leave the same stamp.
    pub const RACY: Flags = Flags(1 << 6);

    /// Whether all of `other` hold.
    pub fn has(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether it is a file with bytes of its own.
    pub fn is_regular(self) -> bool {
        self.0 & (Flags::SYMLINK | Flags::SPECIAL).0 == 0
    }
}

impl BitOr for Flags {
    type Output = Flags;

    fn bitor(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
}

/// One file of a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FileEntry<'a> {
    pub id: FileId,
    /// From the root, '/'-separated.
    pub path: &'a [u8],
    pub flags: Flags,
    pub stamp: Stamp,
}

/// The files of one root at one moment, sorted by path bytes.
#[derive(Clone, Debug)]
pub struct FileTable {
    root: PathBuf,
    files: Vec<(Vec<u8>, Flags, Stamp)>,
}

impl FileTable {
    /// Lists the files beneath `root`, which is absolute and free of links.
    ///
    /// # Errors
    /// A root that is no folder or cannot be opened.
    pub fn from_walk(root: &Path) -> io::Result<FileTable> {
        let root = root.canonicalize()?;
        std::fs::read_dir(&root)?;
        let now = std::time::SystemTime::now();
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
            } else if !stamp.is_regular() {
                flags = flags | Flags::SPECIAL;
            }
            if stamp.is_racy(now) {
                flags = flags | Flags::RACY;
            }
            files.push((path, flags, stamp));
        }
        files.sort_unstable_by(|one, other| one.0.cmp(&other.0));
        Ok(FileTable { root, files })
    }

    /// Returns the folder that all paths lead on from.
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

    /// Returns the file of a number that this table gave.
    pub fn get(&self, id: FileId) -> FileEntry<'_> {
        let (path, flags, stamp) = &self.files[id.0 as usize];
        FileEntry { id, path, flags: *flags, stamp: *stamp }
    }

    /// Returns all files in the order of their paths' bytes.
    pub fn iter(&self) -> impl Iterator<Item = FileEntry<'_>> {
        (0..).map(FileId).take(self.len()).map(|id| self.get(id))
    }

    /// Returns the number of the file at `path`.
    pub fn find(&self, path: &[u8]) -> Option<FileId> {
        let place = self.files.binary_search_by(|(other, ..)| other.as_slice().cmp(path)).ok()?;
        u32::try_from(place).ok().map(FileId)
    }
}
