//! Names in `.git` that no command may make: git would take settings or programs from them.
//!
//! A hook that git runs may do in `.git` what git may. What is there is read-only; what is not there
//! cannot be covered, so it is watched for: whoever makes it is ended, and it is taken away.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::inotify::{self, CreateFlags, WatchFlags};

/// The names, as far as git itself never makes them in a folder that it has: of its sub-commands that
/// count, none makes a work tree.
const NAMES: &[&str] = &[
    "branches",
    "commondir",
    "config.worktree",
    "hooks",
    "info",
    "modules",
    "remotes",
    "worktrees",
];

/// A watch over those names that are not there.
pub(super) struct Trap {
    /// Tells when something is made in one of the folders.
    events: OwnedFd,
    absent: Vec<PathBuf>,
}

impl Trap {
    /// Lays the trap in those of `folders` that are there; `None` where there is nothing to watch.
    ///
    /// # Errors
    /// A folder that cannot be watched.
    pub(super) fn set(mut folders: Vec<PathBuf>) -> Result<Option<Trap>, String> {
        folders.retain(|git| git.is_dir() && !git.is_symlink());
        let names = folders.iter().flat_map(|git| NAMES.iter().map(|name| git.join(name)));
        let absent: Vec<PathBuf> = names.filter(|path| !is_there(path)).collect();
        if absent.is_empty() {
            return Ok(None);
        }
        let failed = |error: rustix::io::Errno| format!("watching `.git`: {error}");
        let events = inotify::init(CreateFlags::CLOEXEC).map_err(failed)?;
        for git in &folders {
            let made = WatchFlags::CREATE | WatchFlags::MOVED_TO;
            inotify::add_watch(&events, git, made).map_err(failed)?;
        }
        Ok(Some(Trap { events, absent }))
    }

    /// Waits until something that may not be made is there.
    pub(super) fn wait(&self) {
        let mut events = [0; 4096];
        while self.found().is_none() {
            // A watch that cannot be read any more leaves the last look to the end of the command.
            if rustix::io::retry_on_intr(|| rustix::io::read(&self.events, &mut events)).is_err() {
                return;
            }
        }
    }

    /// Returns what was made though it may not be.
    fn found(&self) -> Option<&Path> {
        self.absent.iter().map(PathBuf::as_path).find(|path| is_there(path))
    }

    /// Takes away what was made, once nothing runs that could make it again; says what it was.
    pub(super) fn clear(&self) -> Option<String> {
        let first = self.found()?.display().to_string();
        for path in self.absent.iter().filter(|path| is_there(path)) {
            if std::fs::remove_file(path).is_err() {
                std::fs::remove_dir_all(path).ok();
            }
        }
        Some(first)
    }
}

fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}
