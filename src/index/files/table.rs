//! The files of one root at one moment, sorted by the bytes of their paths.

use std::io;
use std::ops::{BitOr, BitOrAssign, Range};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::list::{Limits, list};
use super::rules::Sources;
use crate::index::snapshot::Cut;
use crate::workspace::Stamp;

/// The number of a file in one table.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FileId(pub u32);

/// What is known of a file. Combine with |.
#[derive(Clone, Copy, PartialEq, Eq, Default, Hash, Debug)]
pub struct Flags(pub u16);

impl Flags {
    /// Named by git's index.
    pub const TRACKED: Flags = Flags(1);
    /// Named by an ignore rule, and listed since it is tracked.
    pub const IGNORED: Flags = Flags(1 << 1);
    /// It or a folder on the way begins with a dot, and no rule says that it is wanted.
    pub const HIDDEN: Flags = Flags(1 << 2);
    /// A symbolic link, not followed.
    pub const SYMLINK: Flags = Flags(1 << 3);
    /// Within a submodule; in git's index: the submodule itself.
    pub const SUBMODULE: Flags = Flags(1 << 4);
    /// FIFO, socket or device: never opened.
    pub const SPECIAL: Flags = Flags(1 << 5);
    /// Written so lately that a later write could leave the same stamp.
    pub const RACY: Flags = Flags(1 << 6);
    /// In git's index: not to be in the working tree.
    pub const SKIPPED: Flags = Flags(1 << 7);
    /// In git's index: to be added, its content is not.
    pub const INTENDED: Flags = Flags(1 << 8);
    /// In git's index: a whole folder that is not in the working tree.
    pub const FOLDER: Flags = Flags(1 << 9);

    /// Whether all of `other` hold.
    pub fn has(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether any of `other` holds.
    pub fn any(self, other: Flags) -> bool {
        self.0 & other.0 != 0
    }

    /// Returns these without `other`.
    #[must_use]
    pub fn without(self, other: Flags) -> Flags {
        Flags(self.0 & !other.0)
    }

    /// Whether a search reads it that looks at what ripgrep looks at: regular files that are
    /// neither ignored nor hidden.
    pub fn is_usual(self) -> bool {
        !self.any(Flags::IGNORED | Flags::HIDDEN | Flags::SYMLINK | Flags::SPECIAL)
    }

    /// Whether it is a file with bytes of its own.
    pub fn is_regular(self) -> bool {
        !self.any(Flags::SYMLINK | Flags::SPECIAL)
    }
}

impl BitOr for Flags {
    type Output = Flags;

    fn bitor(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
}

impl BitOrAssign for Flags {
    fn bitor_assign(&mut self, other: Flags) {
        self.0 |= other.0;
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
    pub(super) root: PathBuf,
    pub(super) layout: Arc<Layout>,
    /// Of each file, in order.
    pub(super) states: Vec<State>,
    /// Of each folder, in order.
    pub(super) marks: Vec<Mark>,
    pub(super) sources: Arc<Sources>,
    pub(super) tally: Tally,
}

/// The names of a table, which most looks leave as they are.
#[derive(Debug, Default)]
pub(super) struct Layout {
    /// Paths from the root, one after the other.
    pub(super) names: Vec<u8>,
    /// Where each path ends in the names.
    pub(super) ends: Vec<u32>,
    /// The folder of each file; [`NOWHERE`] for what lies in no folder that is walked.
    pub(super) homes: Vec<u32>,
    /// Paths of folders that are walked, in order, so that a look finds near together what lies so.
    /// The root's is empty.
    pub(super) folders: Vec<Box<[u8]>>,
    /// The files of all folders, and where those of each folder end.
    pub(super) grouped: Vec<u32>,
    pub(super) group_ends: Vec<u32>,
}

/// The home of a tracked file in an ignored folder.
pub(super) const NOWHERE: u32 = u32::MAX;

/// What one look told of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct State {
    pub(super) stamp: Stamp,
    pub(super) flags: Flags,
}

/// A folder as it was when its names were read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) stamp: Stamp,
    /// Whether a name could have come or gone since, and the stamp be the same.
    pub(super) racy: bool,
    /// Which files with rules stood in it, a bit for each.
    pub(super) rules: u8,
    /// What all beneath it share.
    pub(super) flags: Flags,
    /// Whether its names could be read.
    pub(super) readable: bool,
}

/// What a listing met beside files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// What keeps the table from covering the whole root.
    pub cut: Option<Cut>,
    /// Folders that could not be read, or whose ignore rules could not.
    pub unreadable: u32,
    /// Folders beyond the greatest depth.
    pub too_deep: u32,
}

impl FileTable {
    /// Lists the files beneath `root`, which is absolute and free of links, from nothing.
    ///
    /// # Errors
    /// A root that is no folder or cannot be opened.
    pub fn from_walk(root: &Path) -> io::Result<FileTable> {
        list(root, Limits::default(), &|| false)
    }

    /// Returns the folder that all paths lead on from.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the number of files.
    pub fn len(&self) -> usize {
        self.states.len()
    }

    /// Whether there is no file.
    pub fn is_empty(&self) -> bool {
        self.states.is_empty()
    }

    /// Returns the file of a number that this table gave.
    pub fn get(&self, id: FileId) -> FileEntry<'_> {
        let index = id.0 as usize;
        let State { stamp, flags } = self.states[index];
        FileEntry { id, path: self.layout.path(index), flags, stamp }
    }

    /// Returns all files in the order of their paths' bytes.
    pub fn iter(&self) -> impl Iterator<Item = FileEntry<'_>> {
        (0..).map(FileId).take(self.len()).map(|id| self.get(id))
    }

    /// Returns the number of the file at `path`.
    pub fn find(&self, path: &[u8]) -> Option<FileId> {
        let at = self.first_from(path);
        let is_it = at < self.len() && self.layout.path(at) == path;
        is_it.then(|| u32::try_from(at).ok().map(FileId)).flatten()
    }

    /// Returns the path of the file of a number that this table gave.
    pub fn path(&self, id: FileId) -> &[u8] {
        self.layout.path(id.0 as usize)
    }

    /// Returns the files beneath `folder`, in order; an empty path is the root.
    pub fn beneath(&self, folder: &[u8]) -> impl Iterator<Item = FileEntry<'_>> {
        self.ids_beneath(folder).map(|id| self.get(id))
    }

    /// Returns the numbers of the files beneath `folder`, in order; an empty path is the root.
    pub fn ids_beneath(&self, folder: &[u8]) -> impl Iterator<Item = FileId> + use<> {
        let range = if folder.is_empty() {
            0..self.len()
        } else {
            let from = [folder, b"/"].concat();
            // The byte after the separator: nothing beneath the folder comes so late.
            let to = [folder, b"0"].concat();
            self.first_from(&from)..self.first_from(&to)
        };
        range.filter_map(|index| u32::try_from(index).ok().map(FileId))
    }

    /// Returns how many folders beneath `folder` could not be read.
    pub fn unreadable_beneath(&self, folder: &[u8]) -> usize {
        let folders = self.layout.folders.iter().zip(&self.marks);
        let unreadable = folders.filter(|(_, mark)| !mark.readable).map(|(path, _)| &**path);
        let is_beneath = |path: &&[u8]| {
            let rest = path.strip_prefix(folder);
            rest.is_some_and(|rest| folder.is_empty() || rest.is_empty() || rest[0] == b'/')
        };
        unreadable.filter(is_beneath).count()
    }

    /// Returns what the listing met beside files.
    pub fn tally(&self) -> Tally {
        self.tally
    }

    /// Returns the bytes of all regular files.
    pub fn bytes(&self) -> u64 {
        let regular = self.states.iter().filter(|state| state.flags.is_regular());
        regular.map(|state| state.stamp.size).sum()
    }

    /// Returns the number of folders that were walked.
    pub fn n_folders(&self) -> usize {
        self.marks.len()
    }

    /// Whether the same files are listed with the same stamps and flags.
    pub fn is_same(&self, other: &FileTable) -> bool {
        self.states == other.states && self.has_names_of(other)
    }

    /// Whether the same files are listed.
    pub fn has_names_of(&self, other: &FileTable) -> bool {
        let (ours, theirs) = (&self.layout, &other.layout);
        Arc::ptr_eq(ours, theirs) || ours.ends == theirs.ends && ours.names == theirs.names
    }

    /// Returns the files whose stamps are not as in `old`, in order; `None` if the names are others.
    pub fn differing(&self, old: &FileTable) -> Option<Vec<FileId>> {
        if !Arc::ptr_eq(&self.layout, &old.layout) {
            return None;
        }
        let both = self.states.iter().zip(&old.states).zip((0..).map(FileId));
        let differing = both.filter(|((new, old), _)| new.stamp != old.stamp);
        Some(differing.map(|(_, id)| id).collect())
    }

    /// Returns the index of the first file whose path is not before `path`.
    fn first_from(&self, path: &[u8]) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            if self.layout.path(middle) < path {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }
}

impl Layout {
    /// Returns the path of the file at `index`.
    pub(super) fn path(&self, index: usize) -> &[u8] {
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.names[start as usize..self.ends[index] as usize]
    }

    /// Returns the files of the folder at `index`.
    pub(super) fn files_of(&self, index: usize) -> &[u32] {
        &self.grouped[self.group(index)]
    }

    fn group(&self, index: usize) -> Range<usize> {
        let start = index.checked_sub(1).map_or(0, |before| self.group_ends[before]);
        start as usize..self.group_ends[index] as usize
    }

    /// Takes one more file in; false where there is no room for it.
    pub(super) fn push(&mut self, path: &[u8], home: u32) -> bool {
        let end = u32::try_from(self.names.len() + path.len());
        let Ok(end) = end else { return false };
        self.names.extend_from_slice(path);
        self.ends.push(end);
        self.homes.push(home);
        true
    }

    /// Puts the folders and their marks into order, before there are files. Returns the new number of
    /// each.
    pub(super) fn sort_folders(&mut self, marks: &mut Vec<Mark>) -> Vec<u32> {
        let folders = std::mem::take(&mut self.folders);
        let mut all: Vec<_> = folders.into_iter().zip(marks.drain(..)).zip(0_u32..).collect();
        all.sort_by(|((left, _), _), ((right, _), _)| left.cmp(right));
        let mut places = vec![NOWHERE; all.len()];
        for (place, ((folder, mark), number)) in (0..).zip(all) {
            places[number as usize] = place;
            self.folders.push(folder);
            marks.push(mark);
        }
        places
    }

    /// Sorts the files by their folders, once all are there.
    pub(super) fn group_files(&mut self) {
        let mut ends = vec![0_u32; self.folders.len()];
        for home in &self.homes {
            if let Some(end) = ends.get_mut(*home as usize) {
                *end += 1;
            }
        }
        let mut total = 0;
        for end in &mut ends {
            let count = *end;
            *end = total;
            total += count;
        }
        self.grouped = vec![0; total as usize];
        for (file, home) in (0_u32..).zip(&self.homes) {
            if let Some(end) = ends.get_mut(*home as usize) {
                self.grouped[*end as usize] = file;
                *end += 1;
            }
        }
        self.group_ends = ends;
    }
}
