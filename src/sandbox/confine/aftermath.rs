//! What becomes of protected names that a command made or changed all the same.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use super::super::guard::Guard;
use super::git::Git;
use super::keeper::{self, Keeper};
use super::restore::{self, Content};
use super::rights::Rights;
use super::touched::Touched;
use super::tripwire::Tripwire;
use super::untold;
use crate::approval::Barred;
use crate::workspace::own;

/// The folder of what was taken away.
const AWAY: &str = "taken-away";

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
    /// It is a root that the command closed, and is open again.
    Opened,
    /// Not all could be looked through that the command left here.
    Unseen,
}

/// Who looks at protected names.
#[derive(Clone)]
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

/// What must be known to deal with what a command left, also by who does it in place of this
/// process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::sandbox) struct Charge {
    /// What the command does if it is git alone.
    pub(super) git: Option<Git>,
    /// Where what is taken away is kept.
    pub(super) away: OsString,
    /// The first root.
    pub(super) workspace: OsString,
    /// The folder of what is to be said at the next start.
    pub(super) untold: OsString,
    /// What was there before, where no keeper knows it.
    pub(super) before: Option<Before>,
    /// What alone counts, where all else that the command wrote is looked at by the person.
    pub(super) only: Option<Unseen>,
}

/// The protected names that were there before a command.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::sandbox) struct Before {
    pub(super) roots: Vec<OsString>,
    pub(super) home: Option<OsString>,
    pub(super) barred: Barred,
    pub(super) names: Vec<(usize, OsString)>,
}

/// What a command in a view can have written without a look of anybody.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::sandbox) struct Unseen {
    /// The folders of the roots that were written to themselves.
    pub(super) folders: Vec<OsString>,
    /// What rules keep from the command there; nothing else is looked for in outputs.
    pub(super) barred: Barred,
}

impl Unseen {
    /// Whether a command can have written anything there that counts.
    pub(super) fn has_any(&self) -> bool {
        !self.folders.is_empty() && !self.barred.is_empty()
    }

    fn concerns(&self, touched: &Touched) -> bool {
        let path = touched.path();
        // Where not all could be looked through, it may be there as well.
        matches!(touched, Touched::Unseen(_) | Touched::Opened(_))
            || self.folders.iter().any(|folder| path.starts_with(folder))
                && self.barred.rule_against(path).is_some()
    }
}

impl Charge {
    /// Looks in place of the process that asked the keeper on `control`, or knew itself what was there
    /// before, and takes away what is new. Nothing of the command may run any more.
    pub(in crate::sandbox) fn take_over(&self, control: Option<&UnixStream>) {
        let git = self.git.is_some();
        let touched = match (control, &self.before) {
            (Some(control), _) => keeper::last_look(control, git).ok(),
            (None, Some(before)) => Some(Tripwire::set_before(before).spring(git)),
            (None, None) => None,
        };
        let root = || vec![Touched::Unseen(self.workspace.clone())];
        self.settle_untold(touched.unwrap_or_else(root));
    }

    /// Deals with what was `touched`, where nobody hears of it now.
    fn settle_untold(&self, touched: Vec<Touched>) {
        let guarded = self.settle(touched);
        // Without the note it is where it is said to be all the same.
        untold::keep(Path::new(&self.untold), &self.workspace, &guarded).ok();
    }

    fn settle(&self, touched: Vec<Touched>) -> Vec<Guarded> {
        let mut away = Away::new(Path::new(&self.away));
        let settle = |touched| match touched {
            Touched::Undone { path, replaced } => {
                let path = PathBuf::from(path);
                let kept = replaced.map(PathBuf::from);
                let kept = kept.map(|replaced| away.kept(&replaced, &path));
                Guarded { path, fate: Fate::Undone(kept) }
            }
            Touched::Settings { path, bytes, mode } => {
                let path = PathBuf::from(path);
                let content = Content::File { bytes, mode };
                let folder = path.parent().unwrap_or(Path::new("/"));
                let Ok(aside) = restore::file(folder, &path, &content) else {
                    return Guarded { path, fate: Fate::Stays };
                };
                let kept = aside.into_iter().next().map(|aside| away.kept(&aside.now, &path));
                Guarded { path, fate: Fate::Undone(kept) }
            }
            Touched::Along { from, to } => {
                Guarded { path: from.into(), fate: Fate::Along(to.into()) }
            }
            Touched::Back { path, from } => {
                Guarded { path: path.into(), fate: Fate::Back(from.into()) }
            }
            Touched::Changed(path) => Guarded { path: path.into(), fate: Fate::Stays },
            Touched::Unseen(root) => Guarded { path: root.into(), fate: Fate::Unseen },
            Touched::Opened(root) => Guarded { path: root.into(), fate: Fate::Opened },
            // What is committed may have any name; it is the repository's.
            Touched::Made(path) if self.git.is_some_and(|git| git.checks_out) => {
                Guarded { path: path.into(), fate: Fate::Stays }
            }
            Touched::Made(path) | Touched::Planted(path) => {
                let path = PathBuf::from(path);
                let moved = away.take(&path, path.file_name()).ok();
                Guarded { path, fate: moved.map_or(Fate::Stays, Fate::Moved) }
            }
        };
        let only = self.only.as_ref();
        let counts = |touched: &Touched| only.is_none_or(|unseen| unseen.concerns(touched));
        touched.into_iter().filter(counts).map(settle).collect()
    }
}

/// The look at protected names that is due when a command has ended.
pub(in crate::sandbox) struct Aftermath {
    watch: Watch,
    /// Whether the command can have made or changed any.
    looks: bool,
    charge: Charge,
    /// Who does it if this process is killed.
    guard: Option<Arc<Guard>>,
}

impl Aftermath {
    /// Takes care of it from now on. The command may begin only after this.
    pub(super) fn begin(
        watch: Watch,
        looks: bool,
        charge: Charge,
        guard: Option<Arc<Guard>>,
    ) -> Aftermath {
        if let Some(guard) = guard.as_ref().filter(|_| looks) {
            let keeper = match &watch {
                Watch::Keeper(keeper) => Some(keeper.control()),
                Watch::Here(_) => None,
            };
            // Where the guard is gone it is only done by this process.
            guard.entrust(&charge, keeper).ok();
        }
        Aftermath { watch, looks, charge, guard }
    }

    /// Looks, and takes away what is new. Nothing of the command may run any more.
    pub(in crate::sandbox) fn settle(self) -> Vec<Guarded> {
        let touched = self.look();
        let guarded = self.charge.settle(touched);
        self.relieve();
        guarded
    }

    /// Does the same where nobody waits for it any more.
    pub(in crate::sandbox) fn settle_untold(self) {
        let touched = self.look();
        self.charge.settle_untold(touched);
        self.relieve();
    }

    fn look(&self) -> Vec<Touched> {
        if self.looks { self.watch.look(self.charge.git.is_some()) } else { Vec::new() }
    }

    fn relieve(&self) {
        if let Some(guard) = self.guard.as_ref().filter(|_| self.looks) {
            guard.relieve().ok();
        }
    }
}

/// Where what is taken away is put, each in a folder of its own.
struct Away {
    folder: PathBuf,
    /// The number that none of the folders has, nor any after it.
    next: Option<usize>,
}

impl Away {
    fn new(outputs: &Path) -> Away {
        Away { folder: outputs.join(AWAY), next: None }
    }

    /// Moves what is at `aside`, which stood at `path`; returns where it is then.
    fn kept(&mut self, aside: &Path, path: &Path) -> PathBuf {
        self.take(aside, path.file_name()).unwrap_or_else(|_| aside.to_owned())
    }

    /// Moves what is at `path`, to be called `name`; returns where it is then.
    fn take(&mut self, path: &Path, name: Option<&OsStr>) -> io::Result<PathBuf> {
        let name = name.ok_or(io::ErrorKind::InvalidInput)?;
        let folder = self.folder()?;
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
        Ok(target)
    }

    /// Makes the next folder. There is no last one.
    fn folder(&mut self) -> io::Result<PathBuf> {
        loop {
            let number = match self.next {
                Some(next) => next,
                None => self.first_free()?,
            };
            self.next = Some(number + 1);
            let folder = self.folder.join(format!("{number:03}"));
            match fs::create_dir(&folder) {
                Ok(()) => return Ok(folder),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn first_free(&self) -> io::Result<usize> {
        own::make_folder(&self.folder)?;
        let names = fs::read_dir(&self.folder)?.flatten().map(|entry| entry.file_name());
        let numbers = names.filter_map(|name| name.to_str()?.parse::<usize>().ok());
        Ok(numbers.max().map_or(0, |last| last.saturating_add(1)))
    }
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
    while let Some((from, to)) = pending.pop() {
        let found = from.symlink_metadata()?;
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
