//! What becomes of protected names that a command made or changed all the same.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::git::Git;
use super::keeper::Keeper;
use super::restore::{self, Content};
use super::rights::Rights;
use super::touched::Touched;
use super::tripwire::Tripwire;

/// The folder of what was taken away.
const AWAY: &str = "taken-away";

/// How many entries are copied where a folder cannot be moved.
const MOST_COPIED: usize = 1000;

/// The mode of what its owner can read.
const READABLE: u32 = 0o400;

/// A protected name that a command made or changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guarded {
    pub path: PathBuf,
    pub fate: Fate,
}

/// What became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is as it was, here, with the folder that it is in.
    Along(PathBuf),
    /// The folder was moved, and is again where it was. It was moved to here.
    Back(PathBuf),
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
            Touched::Along { from, to } => {
                Guarded { path: from.into(), fate: Fate::Along(to.into()) }
            }
            Touched::Back { path, from } => {
                Guarded { path: path.into(), fate: Fate::Back(from.into()) }
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
        self.watch.look(self.git.is_some()).into_iter().map(settle).collect()
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
    let mut rights = Rights::default();
    copy(path, target, &mut rights)?;
    if path.symlink_metadata()?.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }
}

/// Copies files, folders and links.
fn copy(from: &Path, to: &Path, rights: &mut Rights) -> io::Result<()> {
    let mut pending = vec![(from.to_owned(), to.to_owned())];
    let mut copied = 0;
    while let Some((from, to)) = pending.pop() {
        copied += 1;
        let found = from.symlink_metadata()?;
        if copied > MOST_COPIED {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        if found.is_dir() {
            rights.open(&from);
            fs::create_dir(&to)?;
            for entry in fs::read_dir(&from)? {
                let entry = entry?;
                pending.push((entry.path(), to.join(entry.file_name())));
            }
        } else if found.is_symlink() {
            std::os::unix::fs::symlink(fs::read_link(&from)?, &to)?;
        } else if found.is_file() {
            let mode = found.permissions().mode();
            if mode & READABLE == 0 {
                // It is the person's, and goes from here.
                fs::set_permissions(&from, fs::Permissions::from_mode(mode | READABLE))?;
            }
            fs::copy(&from, &to)?;
        }
    }
    Ok(())
}
