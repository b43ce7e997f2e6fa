//! What a confined process sees of the file system: everything read-only but its own places.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, StatVfsMountFlags, StatxAttributes, StatxFlags};

use super::devices::{self, Devices};
use super::found::Found;
use super::mounted::Mounted;
use super::policy::{Overlay, Policy};
use super::repository;
use super::system::{self, Reach};
use crate::workspace::credentials;

/// What of `.git` stays read-only when a command may change the rest.
pub(super) const OF_GIT: &[&str] = &[
    "hooks",
    "config",
    "config.worktree",
    "info",
    "modules",
    "worktrees",
    "commondir",
    "gitdir",
    "branches",
    "remotes",
];

/// How many entries of a folder near the roots are looked at, and how many folders.
const MOST_NEAR: usize = 500;
const MOST_FOLDERS: usize = 128;

/// Folders of temporary files, which a confined process has for itself.
pub(super) const TEMPORARY: &[&str] = &["/tmp", "/var/tmp"];

/// Where the kernel tells root what goes on: there are keys, and what is typed.
const OF_KERNEL: &[&str] = &["/sys/kernel/debug", "/sys/kernel/tracing"];

/// The view that commands share, and what must be known to keep it right.
pub(super) struct View {
    policy: Policy,
    /// What was mounted before.
    mounted: Mounted,
}

impl View {
    /// Makes the view. The namespace must be the process's own already.
    pub(super) fn build(policy: &Policy) -> Result<View, String> {
        let mounted = Mounted::read().map_err(|error| format!("the table of mounts: {error}"))?;
        build(policy, &mounted)?;
        let view = View { policy: policy.clone(), mounted };
        // These changes were its own.
        while view.mounted.has_changed() {}
        Ok(view)
    }

    /// Covers what is to be hidden or read-only and is not yet; `false` if another changed what is
    /// mounted: then the view may show what it must not.
    ///
    /// `homes` are where git keeps what belongs to work trees. Only what exists can be covered;
    /// nothing is made in the workspace.
    pub(super) fn cover(&self, names: &BTreeSet<Found>, homes: &[PathBuf]) -> Result<bool, String> {
        if self.mounted.has_changed() {
            return Ok(false);
        }
        let hiding = Hiding { policy: &self.policy, mounted: Some(&self.mounted) };
        hiding.hide();
        hiding.guard(names, homes)?;
        while self.mounted.has_changed() {}
        Ok(true)
    }
}

/// How what is to be hidden is hidden, wherever it is shown.
struct Hiding<'a> {
    policy: &'a Policy,
    /// Without it, all that is shown elsewhere is hidden there already.
    mounted: Option<&'a Mounted>,
}

impl Hiding<'_> {
    /// Covers what is to be hidden or read-only in the workspace and is not yet.
    fn guard(&self, names: &BTreeSet<Found>, homes: &[PathBuf]) -> Result<(), String> {
        for found in names {
            match found {
                Found::Way(path) => keep_in_place(path)?,
                Found::Protected(path) => read_only(path)?,
                Found::Git(path) => protect_git(path)?,
                // Git must not take what it cannot see for deleted.
                Found::Secret(path) | Found::Both(path) => self.cover(path, "mode=0000"),
                Found::Bare(path) if !repository::is_harmless(path) => protect_parts(path)?,
                Found::Bare(_) | Found::Link(_) => {}
            }
        }
        homes.iter().try_for_each(|home| protect_git(home))
    }

    /// Hides credentials and the doors to services outside. What is hidden is empty, not forbidden.
    fn hide(&self) {
        for path in to_hide(self.policy, self.mounted) {
            self.cover(&path, "mode=0555");
        }
    }

    /// Covers `path`, if it is there, with nothing: a folder with one of this `mode`. A failure
    /// leaves the mode of the file to guard it.
    fn cover(&self, path: &Path, mode: &str) {
        if path.symlink_metadata().is_err() {
            return;
        }
        // A link leads to what must not be seen; the link itself cannot be covered.
        let Ok(path) = path.canonicalize() else { return };
        if is_covered(&path) {
            return;
        }
        self.cover_elsewhere(&path, mode);
        cover(&path, mode);
    }

    /// Covers what is the same as `path`, shown by another mount.
    fn cover_elsewhere(&self, path: &Path, mode: &str) {
        let elsewhere = self.mounted.iter().flat_map(|mounted| mounted.elsewhere(path));
        for alias in elsewhere.filter(|alias| !holds_shown(self.policy, alias)) {
            cover(&alias, mode);
        }
    }
}

/// Gives this process, the first of its own namespace, what belongs to one command alone: its
/// processes and its shared memory.
pub(super) fn own() -> Result<(), String> {
    let shared = Path::new("/dev/shm");
    if shared.is_dir() {
        system::mount(c"tmpfs", shared, "mode=1777,size=1g").map_err(says(shared))?;
    }
    system::mount(c"proc", Path::new("/proc"), "").map_err(says(Path::new("/proc")))
}

fn build(policy: &Policy, mounted: &Mounted) -> Result<(), String> {
    let hiding = Hiding { policy, mounted: Some(mounted) };
    system::keep_mounts_private().map_err(says(Path::new("/")))?;
    let devices = Devices::take()?;
    let hidden: Vec<&Path> = policy.private.iter().map(Path::new).collect();
    let temporary = Path::new(&policy.temporary);
    let private = system::clone_tree(temporary).map_err(says(temporary))?;
    let second = system::clone_tree(temporary).map_err(says(temporary))?;
    // Copies of what is to be seen where something else will cover it.
    let mut shown: Vec<(PathBuf, OwnedFd, bool)> = Vec::new();
    for (path, writable) in self::shown(policy) {
        let tree = system::clone_tree(&path).map_err(says(&path))?;
        shown.push((path, tree, writable));
    }
    system::set_read_only(Path::new("/"), true, Reach::All).map_err(says(Path::new("/")))?;
    // What is shown, or stands in for temporary files, may lie in it.
    devices.lay(policy.user)?;
    for folder in hidden.iter().filter(|folder| folder.is_dir()) {
        hiding.cover_elsewhere(folder, "mode=0555");
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
        hide_own(policy, path)?;
    }
    close_own(policy)?;
    for path in near(policy) {
        hiding.cover(&path, "mode=0555");
    }
    devices::close()
}

/// Returns Snick's own folders that lie in `place`.
fn own_in<'a>(policy: &'a Policy, place: &Path) -> impl Iterator<Item = &'a Path> {
    let private = policy.private.iter().map(Path::new);
    private.filter(move |path| *path != place && path.starts_with(place) && path.is_dir())
}

/// Hides Snick's own folders again that `place`, which was just shown, uncovered.
fn hide_own(policy: &Policy, place: &Path) -> Result<(), String> {
    own_in(policy, place).try_for_each(|folder| {
        system::mount(c"tmpfs", folder, "mode=0755,size=64k").map_err(says(folder))
    })
}

/// Lets nothing be written where Snick's own folders in the roots are hidden: it would be lost.
fn close_own(policy: &Policy) -> Result<(), String> {
    policy.roots.iter().flat_map(|root| own_in(policy, Path::new(root))).try_for_each(|folder| {
        system::set_read_only(folder, true, Reach::One).map_err(says(folder))
    })
}

/// Returns what is to be seen where something else covers it, outer ones first so that they do not
/// cover inner ones, and whether it may be changed.
pub(super) fn shown(policy: &Policy) -> Vec<(PathBuf, bool)> {
    let covered = |path: &Path| {
        let private = policy.private.iter().map(Path::new);
        TEMPORARY.iter().map(Path::new).chain(private).any(|over| path.starts_with(over))
    };
    let home = policy.home.as_deref().map(Path::new).filter(|home| covered(home));
    let others = policy.visible.iter().map(Path::new).chain(home).filter(|path| path.exists());
    let roots = policy.roots.iter().map(|root| (PathBuf::from(root), !policy.read_only));
    // A helper makes its own view out of this, and hides it.
    let views = policy.views.iter().filter(|_| !policy.view.is_empty());
    let views = views.map(|views| (PathBuf::from(views), true));
    let mut shown: Vec<(PathBuf, bool)> =
        others.map(|path| (path.to_owned(), false)).chain(roots).chain(views).collect();
    for root in policy.roots.iter().map(Path::new) {
        // What is hidden in a root must stay there: a mount of its own cannot be moved away.
        let above = own_in(policy, root).flat_map(|folder| folder.ancestors().skip(1));
        let above = above.filter(|folder| *folder != root && folder.starts_with(root));
        shown.extend(above.map(|folder| (folder.to_owned(), !policy.read_only)));
    }
    shown.sort_by_key(|(path, _)| path.components().count());
    shown.dedup();
    shown
}

/// Lays `view` over the roots, for this helper alone, and hides where it is kept.
pub(super) fn lay(
    view: &[Overlay],
    policy: &Policy,
    names: &BTreeSet<Found>,
    homes: &[PathBuf],
) -> Result<(), String> {
    for over in view {
        let root = Path::new(&over.root);
        // One that is gone by now needs no place in the view.
        let through: Vec<(&Path, OwnedFd)> = over
            .through
            .iter()
            .map(Path::new)
            .filter_map(|path| Some((path, system::clone_tree(path).ok()?)))
            .collect();
        let visible = policy.visible.iter().map(Path::new).filter(|path| path.starts_with(root));
        let visible: Vec<(&Path, OwnedFd)> =
            visible.filter_map(|path| Some((path, system::clone_tree(path).ok()?))).collect();
        system::attach(&overlay(over)?, root).map_err(says(root))?;
        for (path, tree) in through {
            system::attach(&tree, path).map_err(says(path))?;
        }
        hide_own(policy, root)?;
        for (path, tree) in visible {
            fs::create_dir_all(path).map_err(says(path))?;
            system::attach(&tree, path).map_err(says(path))?;
        }
    }
    close_own(policy)?;
    // Elsewhere it was hidden for all commands.
    Hiding { policy, mounted: None }.guard(names, homes)?;
    hold_in_outputs(view, names)?;
    match policy.views.as_deref().map(Path::new) {
        Some(views) => system::mount(c"tmpfs", views, "mode=0555,size=4k").map_err(says(views)),
        None => Ok(()),
    }
}

/// Keeps the folders where they are in which something is hidden, in folders that are written to
/// themselves: outside of the view it would be seen where such a folder was moved to.
fn hold_in_outputs(view: &[Overlay], names: &BTreeSet<Found>) -> Result<(), String> {
    let outputs: Vec<&Path> =
        view.iter().flat_map(|over| over.through.iter().map(Path::new)).collect();
    if outputs.is_empty() {
        return Ok(());
    }
    let mut folders = BTreeSet::new();
    for hidden in names.iter().filter_map(Found::hidden) {
        // What is covered is what a link on the way leads to.
        let Ok(path) = hidden.canonicalize() else { continue };
        for output in outputs.iter().filter(|output| path.starts_with(output)) {
            let above = path.ancestors().skip(1).take_while(|folder| folder != output);
            folders.extend(above.map(Path::to_owned));
        }
    }
    // The outer ones come first.
    folders.iter().try_for_each(|folder| keep_in_place(folder))
}

/// Lays a view over a root, which is put in its place later.
///
/// To be called while the upper folder can be written: otherwise the overlay is read-only.
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
pub(super) fn says(what: &Path) -> impl Fn(io::Error) -> String + '_ {
    move |error| format!("`{}`: {error}", what.display())
}

/// Returns the sockets that processes outside listen on, by path.
fn sockets(policy: &Policy) -> Vec<PathBuf> {
    let listed = fs::read(format!("/proc/{}/net/unix", policy.parent)).unwrap_or_default();
    let mut paths: Vec<PathBuf> = listed.split(|&byte| byte == b'\n').filter_map(socket).collect();
    paths.sort();
    paths.dedup();
    paths
}

/// Returns the path in a line of the kernel's list of sockets. It is the rest of the line after
/// seven fields, whatever bytes and blanks it has.
fn socket(line: &[u8]) -> Option<PathBuf> {
    let mut rest = line;
    for _ in 0..7 {
        rest = rest.trim_ascii_start();
        rest = &rest[rest.iter().position(|byte| *byte == b' ')?..];
    }
    let path = Path::new(OsStr::from_bytes(rest.strip_prefix(b" ")?));
    path.is_absolute().then(|| path.to_owned())
}

/// Returns the folders directly in `folder`.
fn folders_in(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().take(MOST_NEAR);
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    folders.map(|entry| entry.path())
}

/// Returns files that hold credentials directly in the home, in the folder that each program has
/// there, beside the roots, and in the folders beside them. Deeper ones are not looked for: that
/// would take too long.
pub(super) fn near(policy: &Policy) -> Vec<PathBuf> {
    let within = |path: &Path| policy.roots.iter().any(|root| path.starts_with(root));
    let is_shared = |path: &Path| {
        path.parent().is_none() || TEMPORARY.iter().any(|place| path == Path::new(place))
    };
    let home = policy.home.as_deref().map(Path::new);
    let mut above: Vec<&Path> =
        policy.roots.iter().filter_map(|root| Path::new(root).parent()).collect();
    above.retain(|path| !is_shared(path));
    above.dedup();
    let beside = above.iter().flat_map(|folder| folders_in(folder)).filter(|path| !within(path));
    let mut folders: Vec<PathBuf> =
        home.into_iter().chain(above.iter().copied()).map(Path::to_owned).collect();
    folders.extend(beside.take(MOST_FOLDERS));
    folders.sort();
    folders.dedup();
    let settings = home.into_iter().flat_map(credentials::settings_in);
    let programs = settings.flat_map(|folder| folders_in(&folder).take(MOST_FOLDERS));
    let kept = programs.flat_map(|folder| credentials::of_program(&folder, MOST_NEAR));
    let files = folders.iter().flat_map(|folder| credentials::directly_in(folder, MOST_NEAR));
    let files = files.chain(kept);
    let leads_in = |path: &PathBuf| path.canonicalize().is_ok_and(|path| within(&path));
    files.filter(|path| !within(path) && !leads_in(path)).collect()
}

/// Returns what is not to be seen outside of the workspace, whether it is there or not.
pub(super) fn to_hide(policy: &Policy, mounted: Option<&Mounted>) -> Vec<PathBuf> {
    let home = policy.home.as_deref().map(Path::new);
    let users = Path::new("/run/user");
    let listed = home.into_iter().flat_map(credentials::in_home).chain([users.to_owned()]);
    // Others than root cannot enter these.
    let of_kernel = OF_KERNEL.iter().filter(|_| policy.user == 0).map(PathBuf::from);
    // Below the roots they are found by their names.
    let within = |path: &Path| policy.roots.iter().any(|root| path.starts_with(root));
    let barred = policy.barred.spelled_out().into_iter();
    let barred = barred.filter(|(path, bar)| bar.hides && !within(path)).map(|(path, _)| path);
    let listed = listed.chain(of_kernel).chain(barred);
    let doors = mounted.iter().flat_map(|mounted| mounted.sockets().iter().cloned());
    listed.chain(sockets(policy)).chain(doors).filter(|path| !holds_shown(policy, path)).collect()
}

/// Whether something that commands are to see is `path`, or lies in it.
pub(super) fn holds_shown(policy: &Policy, path: &Path) -> bool {
    policy.roots.iter().chain(&policy.visible).any(|shown| Path::new(shown).starts_with(path))
}

/// Covers `path`, which is no link, with nothing, if that is not done yet.
fn cover(path: &Path, mode: &str) {
    if is_covered(path) {
        return;
    }
    if path.is_dir() {
        system::mount(c"tmpfs", path, &format!("{mode},size=4k,nr_inodes=1")).ok();
    } else if let Ok(nothing) = system::clone_tree(Path::new("/dev/null")) {
        system::attach(&nothing, path).ok();
    }
}

/// Whether `path` is covered with nothing already. That something is mounted there does not tell: a folder
/// of keys may be a mount by itself.
fn is_covered(path: &Path) -> bool {
    if !is_mounted(path) {
        return false;
    }
    let Ok(found) = path.symlink_metadata() else { return false };
    if found.is_dir() {
        return rustix::fs::statfs(path)
            .is_ok_and(|system| system.f_type == libc::TMPFS_MAGIC && system.f_files == 1);
    }
    found.file_type().is_char_device() && found.rdev() == libc::makedev(1, 3)
}

/// Whether `path` is where something is mounted.
fn is_mounted(path: &Path) -> bool {
    let (flags, nothing) = (AtFlags::SYMLINK_NOFOLLOW, StatxFlags::empty());
    rustix::fs::statx(rustix::fs::CWD, path, flags, nothing)
        .is_ok_and(|found| found.stx_attributes.contains(StatxAttributes::MOUNT_ROOT))
}

/// Makes `.git` read-only as a whole, and some of it for good.
fn protect_git(git: &Path) -> Result<(), String> {
    read_only(git)?;
    protect_parts(git)
}

/// Makes that of a repository read-only from which git takes programs, settings and remotes.
fn protect_parts(git: &Path) -> Result<(), String> {
    OF_GIT
        .iter()
        .map(|name| git.join(name))
        .filter(|path| path.exists())
        .try_for_each(|path| read_only(&path))
}

/// Lets a command change the folder `git`, its protected parts excepted; its settings, too, if
/// `settings` says so.
pub(super) fn open_git(git: &Path, settings: bool) -> Result<(), String> {
    if !git.symlink_metadata().is_ok_and(|found| found.is_dir()) {
        return Ok(());
    }
    system::set_read_only(git, false, Reach::One).map_err(says(git))?;
    let config = git.join("config");
    if settings && is_mounted(&config) {
        // Git replaces the file, which nothing may be mounted on.
        system::unmount(&config).map_err(says(&config))?;
    }
    Ok(())
}

/// Makes `path` a mount of its own, so that it cannot be moved away, and read-only.
fn read_only(path: &Path) -> Result<(), String> {
    let is_done = || {
        rustix::fs::statvfs(path)
            .is_ok_and(|found| found.f_flag.contains(StatVfsMountFlags::RDONLY))
    };
    if is_mounted(path) && is_done() {
        return Ok(());
    }
    keep_in_place(path)?;
    system::set_read_only(path, true, Reach::All).map_err(says(path))
}

/// Makes `path` a mount of its own, so that it cannot be moved away.
fn keep_in_place(path: &Path) -> Result<(), String> {
    if is_mounted(path) {
        return Ok(());
    }
    let tree = system::clone_tree(path).map_err(says(path))?;
    system::attach(&tree, path).map_err(says(path))
}
