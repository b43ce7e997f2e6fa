//! What a confined process sees of the file system: everything read-only but its own places.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use super::policy::{Overlay, Policy, credentials, is_secret};
use super::system::{self, Reach};
use crate::approval::{PROTECTED_FILES, PROTECTED_FOLDERS};

/// How many entries of the workspace are looked at for names to protect or hide.
const MOST_ENTRIES: usize = 20_000;

/// How deep below a root names are looked for.
const MOST_DEPTH: usize = 6;

/// Folders that hold what others made, where no protected name matters.
const SKIPPED: &[&str] = &["node_modules", "target", ".venv", "venv", "__pycache__", "dist"];

/// What of `.git` stays read-only when a command may change the rest.
pub(super) const OF_GIT: &[&str] =
    &["hooks", "config", "config.worktree", "info", "modules", "worktrees"];

/// Folders of temporary files, which a confined process has for itself.
const TEMPORARY: &[&str] = &["/tmp", "/var/tmp"];

/// Makes the view. The namespace must be the process's own already.
pub(super) fn build(policy: &Policy) -> Result<(), String> {
    system::keep_mounts_private().map_err(says(Path::new("/")))?;
    let sockets = sockets(policy);
    let roots = policy.roots.iter().map(Path::new);
    let hidden: Vec<&Path> = policy.private.iter().map(Path::new).collect();
    // Copies of what is to be seen where something else will cover it.
    let mut shown: Vec<(&Path, OwnedFd, bool)> = Vec::new();
    let covered = |path: &Path| {
        let over = TEMPORARY.iter().map(Path::new).chain(hidden.iter().copied());
        over.into_iter().any(|over| path.starts_with(over))
    };
    let home = policy.home.as_deref().map(Path::new).filter(|home| covered(home));
    let others = policy.visible.iter().map(Path::new).chain(home);
    let others: Vec<&Path> = others.filter(|path| path.exists()).collect();
    let temporary = Path::new(&policy.temporary);
    let private = system::clone_tree(temporary).map_err(says(temporary))?;
    let second = system::clone_tree(temporary).map_err(says(temporary))?;
    for (path, writable) in others
        .into_iter()
        .map(|path| (path, false))
        .chain(roots.clone().map(|root| (root, !policy.read_only)))
    {
        let over = policy.view.iter().find(|over| writable && Path::new(&over.root) == path);
        let tree = match over {
            Some(over) => overlay(over)?,
            None => system::clone_tree(path).map_err(says(path))?,
        };
        shown.push((path, tree, writable));
        // One that is gone by now needs no place in the view.
        let through = over.into_iter().flat_map(|over| &over.through).map(Path::new);
        shown.extend(through.filter_map(|path| Some((path, system::clone_tree(path).ok()?, true))));
    }
    system::set_read_only(Path::new("/"), true, Reach::All).map_err(says(Path::new("/")))?;
    for folder in hidden.iter().filter(|folder| folder.is_dir()) {
        system::mount(c"tmpfs", folder, "mode=0755,size=64k").map_err(says(folder))?;
    }
    for (folder, tree) in TEMPORARY.iter().map(Path::new).zip([private, second]) {
        if folder.is_dir() {
            system::attach(&tree, folder).map_err(says(folder))?;
        }
    }
    // Outer ones first, so that they do not cover inner ones.
    shown.sort_by_key(|(path, ..)| path.components().count());
    for (path, tree, writable) in &shown {
        if !path.exists() {
            fs::create_dir_all(path).map_err(says(path))?;
        }
        system::attach(tree, path).map_err(says(path))?;
        if !writable {
            system::set_read_only(path, true, Reach::All).map_err(says(path))?;
        }
    }
    devices(policy)?;
    hide(policy, &sockets);
    for root in roots {
        protect(root)?;
    }
    system::mount(c"proc", Path::new("/proc"), "").map_err(says(Path::new("/proc")))
}

/// Lays a view over a root, which is put in its place later.
///
/// To be called while everything can be written: an overlay of what cannot be is read-only.
fn overlay(over: &Overlay) -> Result<OwnedFd, String> {
    let open = |path: &OsString| {
        let path = Path::new(path);
        system::folder(path).map_err(says(path))
    };
    let (root, upper, work) = (open(&over.root)?, open(&over.upper)?, open(&over.work)?);
    system::overlay(&root, &upper, &work)
        .map_err(|error| format!("a copy-on-write view of `{}`: {error}", over.root.display()))
}

/// Names `what` in an error.
fn says(what: &Path) -> impl Fn(io::Error) -> String + '_ {
    move |error| format!("`{}`: {error}", what.display())
}

/// Gives the process shared memory and terminals of its own.
fn devices(policy: &Policy) -> Result<(), String> {
    let shared = Path::new("/dev/shm");
    if shared.is_dir() {
        let failed = |error| format!("`/dev/shm`: {error}");
        system::mount(c"tmpfs", shared, "mode=1777,size=1g").map_err(failed)?;
    }
    let terminals = Path::new("/dev/pts");
    if terminals.is_dir() {
        let options = format!("newinstance,ptmxmode=0666,mode=0620,uid={}", policy.user);
        let failed = |error| format!("`/dev/pts`: {error}");
        system::mount(c"devpts", terminals, &options).map_err(failed)?;
        let (own, usual) = (Path::new("/dev/pts/ptmx"), Path::new("/dev/ptmx"));
        if !usual.is_symlink() {
            let tree = system::clone_tree(own).map_err(failed)?;
            system::attach(&tree, usual).map_err(failed)?;
        }
    }
    Ok(())
}

/// Returns the sockets that processes outside listen on, by path.
fn sockets(policy: &Policy) -> Vec<PathBuf> {
    let listed = fs::read_to_string(format!("/proc/{}/net/unix", policy.parent));
    let listed = listed.unwrap_or_default();
    let path = |line: &str| line.split_whitespace().nth(7).map(PathBuf::from);
    let mut paths: Vec<PathBuf> =
        listed.lines().filter_map(path).filter(|path| path.is_absolute()).collect();
    paths.sort();
    paths.dedup();
    paths
}

/// Hides credentials and the doors to services outside. What is hidden is empty, not forbidden.
fn hide(policy: &Policy, sockets: &[PathBuf]) {
    let kept = |path: &Path| {
        let within = |root: &OsString| Path::new(root).starts_with(path);
        policy.roots.iter().any(within) || policy.visible.iter().any(within)
    };
    let home = policy.home.as_deref().map(Path::new);
    let users = Path::new("/run/user");
    let listed = home.into_iter().flat_map(credentials).chain([users.to_owned()]);
    for path in listed.chain(sockets.iter().cloned()).filter(|path| !kept(path)) {
        cover(&path);
    }
}

/// Covers `path`, if it is there, with nothing. A failure leaves the mode of the file to guard it.
fn cover(path: &Path) {
    let Ok(found) = fs::metadata(path) else { return };
    if found.is_dir() {
        system::mount(c"tmpfs", path, "mode=0555,size=4k,nr_inodes=1").ok();
    } else if let Ok(nothing) = system::clone_tree(Path::new("/dev/null")) {
        system::attach(&nothing, path).ok();
    }
}

/// Makes protected names below `root` read-only and hides its secrets.
///
/// Only what exists can be covered; nothing is made in the workspace.
fn protect(root: &Path) -> Result<(), String> {
    let mut pending = vec![(root.to_owned(), Vec::new())];
    let mut left = MOST_ENTRIES;
    while let Some((folder, parents)) = pending.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            left = left.saturating_sub(1);
            if left == 0 {
                return Ok(());
            }
            let Ok(name) = entry.file_name().into_string() else { continue };
            let Ok(kind) = entry.file_type() else { continue };
            let path = entry.path();
            let lower = name.to_lowercase();
            let is = |listed: &&str| listed.to_lowercase() == lower;
            let workflows = lower == "workflows" && folder.ends_with(".github");
            if lower == ".git" && kind.is_dir() {
                protect_git(&path)?;
            } else if workflows || PROTECTED_FOLDERS.iter().chain(PROTECTED_FILES).any(is) {
                if !kind.is_symlink() {
                    read_only(&path)?;
                }
            } else if kind.is_file() && is_secret(&name, &parents) {
                cover(&path);
            } else if kind.is_dir()
                && parents.len() < MOST_DEPTH
                && !SKIPPED.contains(&name.as_str())
            {
                let mut parents = parents.clone();
                parents.push(name);
                pending.push((path, parents));
            }
        }
    }
    Ok(())
}

/// Makes `.git` read-only as a whole, and some of it for good.
fn protect_git(git: &Path) -> Result<(), String> {
    read_only(git)?;
    for name in OF_GIT {
        let path = git.join(name);
        if path.exists() {
            read_only(&path)?;
        }
    }
    Ok(())
}

/// Lets a command change `.git` below `root`, its protected parts excepted.
pub(super) fn open_git(root: &Path) -> Result<(), String> {
    let git = root.join(".git");
    if !git.is_dir() || git.is_symlink() {
        return Ok(());
    }
    let failed = |error| format!("`{}`: {error}", git.display());
    system::set_read_only(&git, false, Reach::One).map_err(failed)
}

/// Makes `path` a mount of its own, so that it cannot be moved away, and read-only.
fn read_only(path: &Path) -> Result<(), String> {
    let failed = |error| format!("`{}`: {error}", path.display());
    let tree = system::clone_tree(path).map_err(failed)?;
    system::attach(&tree, path).map_err(failed)?;
    system::set_read_only(path, true, Reach::All).map_err(failed)
}
