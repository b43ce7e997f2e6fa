//! Handles of the folders on the way to names that are kept from commands: they tell where one is now.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::{Path, PathBuf};

use super::found::Found;
use super::restore::{Folder, whole};
use super::rights::Rights;

/// How many handles are kept. Folders that hold what is hidden come first.
const MOST_HANDLES: usize = 512;

/// The folders on the way to names, by their paths before a command; the roots among them.
#[derive(Default)]
pub(super) struct Ways {
    folders: BTreeMap<PathBuf, (OwnedFd, Folder)>,
}

impl Ways {
    /// Takes the folders above `names` up to their roots.
    pub(super) fn set(&mut self, names: &BTreeSet<Found>, roots: &[PathBuf]) {
        let above = |found: &Found| -> Vec<PathBuf> {
            let path = found.path();
            let Some(root) = roots.iter().find(|root| path.starts_with(root)) else {
                return Vec::new();
            };
            let folders = path.ancestors().skip(1).take_while(|folder| folder.starts_with(root));
            folders.map(Path::to_owned).collect()
        };
        let (first, second): (Vec<&Found>, Vec<&Found>) =
            names.iter().partition(|found| found.hidden().is_some());
        let first: BTreeSet<PathBuf> = first.into_iter().flat_map(above).collect();
        let second: BTreeSet<PathBuf> =
            second.into_iter().flat_map(above).chain(roots.iter().cloned()).collect();
        self.folders.retain(|path, (_, before)| {
            let wanted = first.contains(path) || second.contains(path);
            wanted && Folder::at(path).is_some_and(|now| now.is_same(*before))
        });
        for path in first.into_iter().chain(second) {
            if self.folders.len() >= MOST_HANDLES || self.folders.contains_key(&path) {
                continue;
            }
            if let (Ok(handle), Some(folder)) = (whole(&path), Folder::at(&path)) {
                self.folders.insert(path, (handle, folder));
            }
        }
    }

    /// Gives the person their rights to these folders, wherever they are.
    pub(super) fn open(&self, rights: &mut Rights) {
        self.folders.values().for_each(|(handle, _)| rights.open_handle(handle));
    }

    /// Returns the folders, outer ones first.
    pub(super) fn paths(&self) -> impl Iterator<Item = &Path> {
        self.folders.keys().map(PathBuf::as_path)
    }

    /// Returns where the folder is that was at `path`; nothing if it is gone.
    pub(super) fn place(&self, path: &Path) -> Option<PathBuf> {
        let (handle, before) = self.folders.get(path)?;
        let place = fs::read_link(format!("/proc/self/fd/{}", handle.as_raw_fd())).ok()?;
        Folder::at(&place).filter(|now| now.is_same(*before)).map(|_| place)
    }
}
