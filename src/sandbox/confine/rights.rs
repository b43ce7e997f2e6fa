//! The person's rights to their own folders, given back while protected names are looked at.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::fstat;

use super::leads::follow;
use super::restore::whole;

/// To enter, to list and to change.
const ALL: u32 = 0o700;

/// To enter and to list.
const TO_BE_IN: u32 = 0o500;

/// Most folders of a repository that are opened for a look at what it starts.
const MOST_OF_GIT: usize = 1000;

/// Folders that were made open for their owner, who is the person. Dropped, they are again as they
/// were.
#[derive(Default)]
pub(super) struct Rights {
    opened: Vec<(OwnedFd, u32)>,
    /// In these alone folders are opened that only stand in the way.
    roots: Vec<PathBuf>,
}

impl Rights {
    /// Takes the roots, in which [`Rights::reach`] may open folders.
    pub(super) fn within(roots: Vec<PathBuf>) -> Rights {
        Rights { opened: Vec::new(), roots }
    }

    /// Hands over what was opened, to be closed by whoever gets it.
    pub(super) fn take(&mut self) -> Rights {
        let rights = Rights::within(self.roots.clone());
        std::mem::replace(self, rights)
    }

    /// Asks `path` for something; where closed folders of the roots stand in the way, they are opened.
    pub(super) fn reach<T>(
        &mut self,
        path: &Path,
        ask: impl Fn(&Path) -> io::Result<T>,
    ) -> io::Result<T> {
        ask(path).or_else(|error| {
            if error.kind() != io::ErrorKind::PermissionDenied {
                return Err(error);
            }
            follow(path, self);
            ask(path)
        })
    }

    /// Reads the link at `path`, of which no folder on the way is one.
    pub(super) fn read_link(&mut self, path: &Path) -> io::Result<PathBuf> {
        fs::read_link(path).or_else(|error| match path.parent() {
            Some(folder)
                if error.kind() == io::ErrorKind::PermissionDenied
                    && self.roots.iter().any(|root| folder.starts_with(root)) =>
            {
                self.open(folder);
                fs::read_link(path)
            }
            _ => Err(error),
        })
    }

    /// Opens the folder of a repository at `git` and those in it that say what it starts.
    pub(super) fn open_git(&mut self, git: &Path) {
        self.open(git);
        let parts = ["hooks", "branches", "remotes", "modules"];
        let mut pending: Vec<PathBuf> = parts.iter().map(|name| git.join(name)).collect();
        let mut left = MOST_OF_GIT;
        while let Some(folder) = pending.pop().filter(|_| left > 0) {
            left -= 1;
            self.open(&folder);
            let entries = fs::read_dir(folder).into_iter().flatten().flatten();
            let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
            pending.extend(folders.map(|entry| entry.path()));
        }
    }

    /// Opens the folder at `path`, to which no link may lead, and those above as far as it must.
    pub(super) fn open(&mut self, path: &Path) {
        let folder = whole(path).or_else(|error| match path.parent() {
            Some(parent) if error.kind() == io::ErrorKind::PermissionDenied => {
                self.open(parent);
                whole(path)
            }
            _ => Err(error),
        });
        if let Ok(folder) = folder
            && let Ok(found) = fstat(&folder)
            && is_closed(found.st_uid, found.st_mode)
        {
            self.change(folder, found.st_mode);
        }
    }

    /// Opens the folder at `path`, which `found` tells of.
    pub(super) fn open_found(&mut self, path: &Path, found: &fs::Metadata) {
        if is_closed(found.uid(), found.mode())
            && let Ok(folder) = whole(path)
        {
            self.change(folder, found.mode());
        }
    }

    /// Opens the folder behind `handle`, wherever it is.
    pub(super) fn open_handle(&mut self, handle: &OwnedFd) {
        if let Ok(found) = fstat(handle)
            && is_closed(found.st_uid, found.st_mode)
            && let Ok(folder) = handle.try_clone()
        {
            self.change(folder, found.st_mode);
        }
    }

    fn change(&mut self, folder: OwnedFd, mode: u32) {
        if set_mode(&folder, mode | ALL).is_ok() {
            self.opened.push((folder, mode));
        }
    }

    /// Makes all of them again as they were.
    pub(super) fn close(&mut self) {
        while let Some((folder, mode)) = self.opened.pop() {
            // One that the look has made another is not closed again.
            if fstat(&folder).is_ok_and(|now| now.st_mode & 0o7777 == (mode | ALL) & 0o7777) {
                set_mode(&folder, mode).ok();
            }
        }
    }
}

impl Drop for Rights {
    fn drop(&mut self) {
        self.close();
    }
}

/// Returns the modes of those `roots` that can be entered and listed.
pub(super) fn open_modes(roots: &[PathBuf]) -> BTreeMap<PathBuf, u32> {
    let open = roots.iter().filter_map(|root| {
        let found = root.symlink_metadata().ok()?;
        let is_open = found.is_dir() && found.mode() & TO_BE_IN == TO_BE_IN;
        is_open.then(|| (root.clone(), found.mode()))
    });
    open.collect()
}

/// Gives those of the roots that have become closed the modes that they had; returns which.
pub(super) fn open_again(modes: &BTreeMap<PathBuf, u32>) -> Vec<PathBuf> {
    let closed = modes.iter().filter(|(root, mode)| {
        let found = root.symlink_metadata();
        let is_lost = |found: fs::Metadata| {
            let has_it = found.mode() & TO_BE_IN == TO_BE_IN;
            found.is_dir() && !has_it && is_closed(found.uid(), found.mode())
        };
        found.is_ok_and(is_lost)
            && whole(root).is_ok_and(|folder| set_mode(&folder, **mode).is_ok())
    });
    closed.map(|(root, _)| root.clone()).collect()
}

/// Whether a folder of `owner` and `mode` is the person's and closed to them all the same.
fn is_closed(owner: u32, mode: u32) -> bool {
    mode & ALL != ALL && rustix::process::geteuid().as_raw() == owner && owner != 0
}

fn set_mode(folder: &OwnedFd, mode: u32) -> io::Result<()> {
    let by_number = format!("/proc/self/fd/{}", folder.as_raw_fd());
    fs::set_permissions(by_number, fs::Permissions::from_mode(mode & 0o7777))
}
