//! Bytes of files as they were, within a budget: what a later difference is shown against.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::snapshot::Snapshot;
use crate::workspace::{FileImage, Stamp, Workspace};

/// Size of the largest file that is kept.
pub(super) const LARGEST: u64 = 256 << 10;
/// Bytes that are kept in all.
const BUDGET: u64 = 4 << 20;
/// A workspace of no more files and bytes than this is kept whole, whatever was read of it.
const SMALL_FILES: usize = 500;
const SMALL_BYTES: u64 = 2 << 20;
/// Files that are read in one look.
const MAX_READ: usize = 1_000;

/// Files as they were when they had a certain stamp.
#[derive(Clone, Debug, Default)]
pub struct Keepsakes {
    files: HashMap<PathBuf, (Stamp, FileImage)>,
    bytes: u64,
}

impl Keepsakes {
    /// Returns the file as it was under `stamp`, if it is kept.
    pub fn get(&self, path: &Path, stamp: Stamp) -> Option<&FileImage> {
        self.files.get(path).filter(|(kept, _)| *kept == stamp).map(|(_, image)| image)
    }

    /// Reads what of `wanted` is not kept as `snapshot` has it, and lets go of what is gone.
    pub(super) fn refresh(
        &mut self,
        workspace: &Workspace,
        snapshot: &Snapshot,
        wanted: impl IntoIterator<Item = PathBuf>,
    ) {
        for path in wanted.into_iter().take(MAX_READ) {
            match snapshot.stamp(&path) {
                Some(stamp) => self.keep(workspace, path, stamp),
                None => self.forget(&path),
            }
        }
        let n_files = snapshot.len();
        if n_files <= SMALL_FILES {
            let regular = || snapshot.files().filter(|(_, stamp)| stamp.is_regular());
            if regular().map(|(_, stamp)| stamp.size).sum::<u64>() <= SMALL_BYTES {
                for (path, stamp) in regular() {
                    self.keep(workspace, path, stamp);
                }
            }
        }
    }

    /// Reads the file at `path`, unless it is kept as it was under this stamp already.
    ///
    /// What has another stamp by the time it was read is not what it was in the snapshot.
    pub(super) fn keep(&mut self, workspace: &Workspace, path: PathBuf, stamp: Stamp) {
        let is_kept = self.get(&path, stamp).is_some();
        if is_kept && !stamp.is_racy(SystemTime::now()) {
            return;
        }
        match self.read(workspace, &path, stamp) {
            Some(image) => {
                self.forget(&path);
                self.bytes += image.bytes.len() as u64;
                self.files.insert(path, (stamp, image));
            }
            // It was changed since, but it is known what it was.
            None if is_kept => {}
            None => self.forget(&path),
        }
    }

    /// Reads the file if there is room for it and it still has this stamp.
    fn read(&self, workspace: &Workspace, path: &Path, stamp: Stamp) -> Option<FileImage> {
        let has_room = stamp.size <= LARGEST && self.bytes + stamp.size <= BUDGET;
        if !stamp.is_regular() || !has_room {
            return None;
        }
        let at = workspace.locate_path(path).ok().filter(|at| at.path() == path)?;
        let image = workspace.read(&at, LARGEST).ok()?;
        (Stamp::at(path) == Some(stamp)).then_some(image)
    }

    /// Lets go of the file at `path`.
    pub(super) fn forget(&mut self, path: &Path) {
        if let Some((_, image)) = self.files.remove(path) {
            self.bytes -= image.bytes.len() as u64;
        }
    }
}
