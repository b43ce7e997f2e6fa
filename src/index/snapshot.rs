//! The files of the workspace that the ignore rules admit, each with its stamp, at one moment.

use std::cmp::Ordering;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use crate::workspace::walk::{Ignored, Query};
use crate::workspace::{Stamp, Workspace};

/// How much one look may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub files: usize,
    pub time: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { files: 50_000, time: Duration::from_millis(600) }
    }
}

/// What keeps a snapshot from covering the whole workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// There are more files than the limit.
    Files,
    /// The time was up.
    Time,
}

/// The files with their stamps. Compact: a path costs little more than its bytes.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    trees: Vec<Tree>,
    /// What it does not cover, if it was cut.
    pub cut: Option<Cut>,
}

/// The files beneath one root, in the order of their paths.
#[derive(Clone, Debug)]
struct Tree {
    root: PathBuf,
    /// Paths from the root, one after the other.
    names: Vec<u8>,
    items: Vec<Item>,
    whole: bool,
}

#[derive(Clone, Copy, Debug)]
struct Item {
    /// Where its path ends in the names.
    end: usize,
    /// Whether a write after the look could have left the same stamp.
    racy: bool,
    stamp: Stamp,
}

/// A file that is not the same in two snapshots, or may not be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Absolute.
    pub path: PathBuf,
    pub before: Option<Stamp>,
    pub after: Option<Stamp>,
}

impl Difference {
    /// Whether the stamps are the same, and prove nothing: the bytes must be compared.
    pub fn is_doubtful(&self) -> bool {
        self.before == self.after
    }
}

impl Snapshot {
    /// Looks at the workspace. It is cut where the limits are met or `cancelled` says yes.
    pub fn take(workspace: &Workspace, limits: Limits, cancelled: &dyn Fn() -> bool) -> Snapshot {
        let (began, now) = (Instant::now(), SystemTime::now());
        let out_of_time = || began.elapsed() > limits.time || cancelled();
        let roots: Vec<&Path> = workspace.roots().collect();
        let is_beneath =
            |root: &Path| roots.iter().any(|other| *other != root && root.starts_with(other));
        let mut snapshot = Snapshot::default();
        let mut left = limits.files;
        for root in roots.iter().filter(|root| !is_beneath(root)) {
            let Ok(at) = workspace.locate_path(root) else { continue };
            let ignored = Ignored::Hidden;
            let query = Query { ignored, glob: None, limit: left, cancelled: &out_of_time };
            let mut tree = Tree::new(root);
            let found = workspace.walk_each(&at, &query, &mut |entry| {
                if let Some(stamp) = entry.stamp() {
                    tree.push(&entry.path, stamp, stamp.is_racy(now));
                }
            });
            left = left.saturating_sub(tree.items.len());
            tree.whole = !found.cut;
            if found.cut {
                let cut = if out_of_time() { Cut::Time } else { Cut::Files };
                snapshot.cut = snapshot.cut.or(Some(cut));
            }
            tree.names.shrink_to_fit();
            tree.items.shrink_to_fit();
            snapshot.trees.push(tree);
        }
        snapshot
    }

    /// Returns the number of files.
    pub fn len(&self) -> usize {
        self.trees.iter().map(|tree| tree.items.len()).sum()
    }

    /// Whether there is no file.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the stamp of the file at the absolute `path`.
    pub fn stamp(&self, path: &Path) -> Option<Stamp> {
        self.trees.iter().find_map(|tree| {
            let name = path.strip_prefix(&tree.root).ok()?;
            let found = tree.search(name).ok()?;
            Some(tree.items[found].stamp)
        })
    }

    /// Returns absolute paths and stamps.
    pub fn files(&self) -> impl Iterator<Item = (PathBuf, Stamp)> {
        self.trees.iter().flat_map(|tree| {
            (0..tree.items.len())
                .map(|index| (tree.root.join(tree.name(index)), tree.items[index].stamp))
        })
    }

    /// Returns the files whose stamp does not prove that they stay what they are.
    pub fn racy(&self) -> impl Iterator<Item = PathBuf> {
        self.trees.iter().flat_map(|tree| {
            let racy = (0..tree.items.len()).filter(|&index| tree.items[index].racy);
            racy.map(|index| tree.root.join(tree.name(index)))
        })
    }

    /// Returns what is not as it was in `old`, in the order of paths; where one of the two was
    /// cut, only what both cover.
    pub fn changes_since(&self, old: &Snapshot) -> Vec<Difference> {
        let mut differences = Vec::new();
        for tree in &self.trees {
            let before = old.trees.iter().find(|other| other.root == tree.root);
            if let Some(before) = before {
                tree.compare(before, &mut differences);
            }
        }
        differences
    }
}

impl Tree {
    fn new(root: &Path) -> Tree {
        Tree { root: root.to_owned(), names: Vec::new(), items: Vec::new(), whole: true }
    }

    fn push(&mut self, path: &Path, stamp: Stamp, racy: bool) {
        let Ok(name) = path.strip_prefix(&self.root) else { return };
        self.names.extend_from_slice(name.as_os_str().as_bytes());
        self.items.push(Item { end: self.names.len(), racy, stamp });
    }

    fn name(&self, index: usize) -> &Path {
        let start = index.checked_sub(1).map_or(0, |before| self.items[before].end);
        Path::new(OsStr::from_bytes(&self.names[start..self.items[index].end]))
    }

    fn search(&self, name: &Path) -> Result<usize, usize> {
        let (mut low, mut high) = (0, self.items.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            match self.name(middle).cmp(name) {
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
                Ordering::Equal => return Ok(middle),
            }
        }
        Err(low)
    }

    /// Whether what is not listed at `name` is known not to be there.
    fn covers(&self, name: &Path) -> bool {
        self.whole || self.items.len().checked_sub(1).is_some_and(|last| name <= self.name(last))
    }

    /// Walks both in step; each is in the order of its paths.
    fn compare(&self, old: &Tree, differences: &mut Vec<Difference>) {
        let (mut here, mut there) = (0, 0);
        loop {
            let (now, then) = (self.items.get(here), old.items.get(there));
            let order = match (now, then) {
                (None, None) => return,
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(_), Some(_)) => self.name(here).cmp(old.name(there)),
            };
            let name = if order == Ordering::Greater { old.name(there) } else { self.name(here) };
            let after = now.filter(|_| order != Ordering::Greater);
            let before = then.filter(|_| order != Ordering::Less);
            let same = match (before, after) {
                (Some(before), Some(after)) => before.stamp == after.stamp && !before.racy,
                (Some(_), None) => !self.covers(name),
                (None, _) => !old.covers(name),
            };
            if !same {
                differences.push(Difference {
                    path: self.root.join(name),
                    before: before.map(|item| item.stamp),
                    after: after.map(|item| item.stamp),
                });
            }
            here += usize::from(order != Ordering::Greater);
            there += usize::from(order != Ordering::Less);
        }
    }
}
