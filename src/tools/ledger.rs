//! Files as the model knows them: what it last saw of each, and what this reply proposes.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::change::Change;
use crate::message::{ContentHash, FileNote};
use crate::workspace::{FileError, FileImage, Located, Workspace};

/// Files over this size, in bytes, are taken for changed rather than read at a session's start.
const MAX_COMPARED: u64 = 16 << 20;

/// Files as the model knows them. Rebuilt from the log's outcomes when a session is resumed.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    seen: HashMap<PathBuf, Option<ContentHash>>,
    proposed: HashMap<PathBuf, Option<Arc<[u8]>>>,
}

impl Ledger {
    /// Takes in what an outcome says about files.
    pub fn note(&mut self, files: &[FileNote]) {
        for file in files {
            self.seen.insert(PathBuf::from(&file.path), file.hash);
        }
    }

    /// Returns the hash of the file as the model last read or wrote it; `None` if it never did.
    pub fn seen(&self, path: &Path) -> Option<Option<ContentHash>> {
        self.seen.get(path).copied()
    }

    /// Returns the files, as shown, whose bytes are not as the model last saw them.
    pub fn changed(&self, workspace: &Workspace) -> Vec<String> {
        let mut changed: Vec<String> = self
            .seen
            .iter()
            .filter_map(|(path, seen)| {
                let at = workspace.locate_path(path).ok()?;
                let now = workspace.read(&at, MAX_COMPARED).ok().map(|image| image.hash);
                (now != *seen).then(|| at.shown().to_owned())
            })
            .collect();
        changed.sort();
        changed
    }

    /// Makes later calls of this reply see `change` as if it were written.
    pub fn propose(&mut self, change: &Change) {
        self.proposed.insert(change.at.path().to_owned(), change.after.clone());
    }

    /// Forgets the proposals: the reply's changes are written or refused.
    pub fn settle(&mut self) {
        self.proposed.clear();
    }

    /// Whether this reply has proposed a change to the file.
    pub fn is_proposed(&self, path: &Path) -> bool {
        self.proposed.contains_key(path)
    }

    /// Returns the file as the reply has it so far: proposed, else on disk; `None` if absent.
    pub fn image(
        &self,
        workspace: &Workspace,
        at: &Located,
        limit: u64,
    ) -> Result<Option<FileImage>, FileError> {
        let disk = match workspace.read(at, limit) {
            Ok(image) => Some(image),
            Err(FileError::Missing { .. }) => None,
            Err(error) => return Err(error),
        };
        let Some(proposed) = self.proposed.get(at.path()) else { return Ok(disk) };
        let (mode, links) = disk.map_or((0o644, 1), |image| (image.mode, image.links));
        Ok(proposed.clone().map(|bytes| FileImage {
            hash: ContentHash::of(&bytes),
            bytes,
            mode,
            links,
        }))
    }
}
