//! What becomes of protected names that a command made or changed all the same.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::git::Git;
use super::keeper::Keeper;
use super::restore::{self, Content};
use super::tripwire::{Touched, Tripwire};
use crate::approval::Barred;

/// The folder of what was taken away.
const AWAY: &str = "taken-away";

/// How many entries are copied where a folder cannot be moved.
const MOST_COPIED: usize = 1000;

/// A protected name that a command made or changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guarded {
    pub path: PathBuf,
    pub fate: Fate,
}

/// What became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is again as it was before the command; what stood there then is here, if anything did.
    Undone(Option<PathBuf>),
    /// It was new, and is now here.
    Moved(PathBuf),
    /// It is as the command left it.
    Stays,
}

/// Who looks at protected names.
pub(in crate::sandbox) enum Watch {
    Keeper(Arc<Keeper>),
    /// This process, where there is no keeper.
    Here(Arc<Mutex<Tripwire>>),
}

impl Watch {
    fn look(&self, git: bool) -> Vec<Touched> {
        match self {
            Watch::Keeper(keeper) => keeper.look(git),
            Watch::Here(tripwire) => {
                tripwire.lock().unwrap_or_else(PoisonError::into_inner).spring(git)
            }
        }
    }
}

/// The look at protected names that is due when a command has ended.
pub(in crate::sandbox) struct Aftermath {
    pub(super) watch: Watch,
    /// Whether the command can have made or changed any.
    pub(super) looks: bool,
    /// What the command does if it is git alone.
    pub(super) git: Option<Git>,
    /// Where what is taken away is kept.
    pub(super) away: PathBuf,
    /// What alone counts, where all else that the command wrote is looked at by the person.
    pub(super) only: Option<Unseen>,
}

/// What a command in a view can have written without a look of anybody.
pub(in crate::sandbox) struct Unseen {
    /// The folders of the roots that were written to themselves.
    pub(super) folders: Vec<PathBuf>,
    /// What rules keep from the command there; nothing else is looked for in outputs.
    pub(super) barred: Barred,
}

impl Unseen {
    /// Whether a command can have written anything there that counts.
    pub(super) fn has_any(&self) -> bool {
        !self.folders.is_empty() && !self.barred.is_empty()
    }

    fn concerns(&self, path: &Path) -> bool {
        self.folders.iter().any(|folder| path.starts_with(folder))
            && self.barred.rule_against(path).is_some()
    }
}

impl Aftermath {
    /// Looks, and takes away what is new. Nothing of the command may run any more.
    pub(in crate::sandbox) fn settle(self) -> Vec<Guarded> {
        if !self.looks {
            return Vec::new();
        }
        let settle = |touched| match touched {
            Touched::Undone { path, replaced } => {
                let path = PathBuf::from(path);
                let kept = replaced.map(PathBuf::from).map(|replaced| {
                    take_away(&replaced, path.file_name(), &self.away).unwrap_or(replaced)
                });
                Guarded { path, fate: Fate::Undone(kept) }
            }
            Touched::Settings { path, bytes, mode } => {
                let path = PathBuf::from(path);
                let content = Content::File { bytes, mode };
                let folder = path.parent().unwrap_or(Path::new("/"));
                let Ok(aside) = restore::file(folder, &path, &content) else {
                    return Guarded { path, fate: Fate::Stays };
                };
                let kept = aside.into_iter().next().map(|aside| {
                    take_away(&aside.now, path.file_name(), &self.away).unwrap_or(aside.now)
                });
                Guarded { path, fate: Fate::Undone(kept) }
            }
            Touched::Changed(path) => Guarded { path: path.into(), fate: Fate::Stays },
            // What is committed may have any name; it is the repository's.
            Touched::Made(path) if self.git.is_some_and(|git| git.checks_out) => {
                Guarded { path: path.into(), fate: Fate::Stays }
            }
            Touched::Made(path) | Touched::Planted(path) => {
                let path = PathBuf::from(path);
                let moved = take_away(&path, path.file_name(), &self.away).ok();
                Guarded { path, fate: moved.map_or(Fate::Stays, Fate::Moved) }
            }
        };
        let only = self.only.as_ref();
        let mut touched = self.watch.look(self.git.is_some());
        touched.retain(|touched| only.is_none_or(|unseen| unseen.concerns(touched.path())));
        touched.into_iter().map(settle).collect()
    }
}

/// Moves what is at `path` below `away`, where it is called `name`; returns where it is then.
fn take_away(path: &Path, name: Option<&OsStr>, away: &Path) -> io::Result<PathBuf> {
    let name = name.ok_or(io::ErrorKind::InvalidInput)?;
    let away = away.join(AWAY);
    fs::create_dir_all(&away)?;
    for number in 0..1000 {
        let folder = away.join(format!("{number:03}"));
        match fs::create_dir(&folder) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            Err(error) => return Err(error),
        }
        let target = folder.join(name);
        match restore::rename(path, &target) {
            Ok(()) => {}
            // It lies on another file system.
            Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
                move_over(path, &target)?;
            }
            Err(error) => {
                fs::remove_dir(&folder)?;
                return Err(error);
            }
        }
        return Ok(target);
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// Copies what is at `path` to `target`, on another file system, and removes it.
fn move_over(path: &Path, target: &Path) -> io::Result<()> {
    copy(path, target)?;
    if path.symlink_metadata()?.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }
}

/// Copies files, folders and links.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let mut pending = vec![(from.to_owned(), to.to_owned())];
    let mut copied = 0;
    while let Some((from, to)) = pending.pop() {
        copied += 1;
        let found = from.symlink_metadata()?;
        if copied > MOST_COPIED {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        if found.is_dir() {
            fs::create_dir(&to)?;
            for entry in fs::read_dir(&from)? {
                let entry = entry?;
                pending.push((entry.path(), to.join(entry.file_name())));
            }
        } else if found.is_symlink() {
            std::os::unix::fs::symlink(fs::read_link(&from)?, &to)?;
        } else if found.is_file() {
            fs::copy(&from, &to)?;
        }
    }
    Ok(())
}
