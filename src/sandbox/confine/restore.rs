//! Making protected names again what they were, through handles: no link that a command left leads anywhere else.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::io::Write as _;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, RenameFlags, ResolveFlags, mkdirat, openat, openat2};
use rustix::fs::{renameat, renameat_with, statat, symlinkat};
use rustix::io::Errno;

use super::rights::Rights;
use super::system;

/// The longest name that is told in another one: no name has more than 255 bytes.
const LONGEST_TOLD: usize = 200;

/// A file or link as it was.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Content {
    File { bytes: Vec<u8>, mode: u32 },
    Link(PathBuf),
}

/// What stood where something was put back, and where it is now.
pub(super) struct Aside {
    pub(super) path: PathBuf,
    pub(super) now: PathBuf,
}

/// A folder as it was: which one, and its mode.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Folder {
    device: u64,
    inode: u64,
    mode: u32,
}

impl Folder {
    /// Returns what the folder at `path` is; `None` where there is none, or a link to one.
    pub(super) fn at(path: &Path) -> Option<Folder> {
        let found = path.symlink_metadata().ok().filter(fs::Metadata::is_dir)?;
        let (device, inode) = (found.dev(), found.ino());
        Some(Folder { device, inode, mode: found.permissions().mode() })
    }

    /// Whether it is the same folder, whatever its mode.
    pub(super) fn is_same(self, other: Folder) -> bool {
        (self.device, self.inode) == (other.device, other.inode)
    }
}

/// Whether anything was to be done.
pub(super) enum Restored {
    AsBefore,
    Undone(Vec<Aside>),
    /// It is not where it was, nor beside.
    Gone,
}

/// Makes the folder at `path` again the one that `before` says, with its mode.
pub(super) fn folder(path: &Path, before: Folder) -> io::Result<Restored> {
    match Folder::at(path) {
        Some(now) if now == before => Ok(Restored::AsBefore),
        Some(now) if now.is_same(before) => {
            let handle = whole(path)?;
            let by_number = format!("/proc/self/fd/{}", handle.as_raw_fd());
            fs::set_permissions(by_number, fs::Permissions::from_mode(before.mode))?;
            Ok(Restored::Undone(Vec::new()))
        }
        there => {
            let (folder, name) = split(path)?;
            let entries = fs::read_dir(folder)?.flatten().map(|entry| entry.path());
            let is_it = |at: &PathBuf| Folder::at(at).is_some_and(|found| found.is_same(before));
            let Some(moved) = entries.into_iter().find(is_it) else { return Ok(Restored::Gone) };
            let parent = whole(folder)?;
            let mut aside = Vec::new();
            if there.is_some() || path.symlink_metadata().is_ok() {
                aside.push(put_aside(&parent, path, name)?);
            }
            let (_, moved) = split(&moved)?;
            renameat_with(&parent, moved, &parent, name, RenameFlags::NOREPLACE)?;
            Ok(Restored::Undone(aside))
        }
    }
}

/// Makes what is at `path`, below `root`, again what it was; returns what stood in its place.
///
/// Folders that are missing are made; what stands in place of one is put aside.
pub(super) fn file(root: &Path, path: &Path, content: &Content) -> io::Result<Vec<Aside>> {
    let (folder, name) = split(path)?;
    let below = folder.strip_prefix(root).map_err(|_| io::ErrorKind::InvalidInput)?;
    let mut aside = Vec::new();
    let mut rights = Rights::default();
    rights.open(folder);
    let (handle, at) = reach(root, below, &mut aside)?;
    let new = spare(name)?;
    match content {
        Content::File { bytes, mode } => {
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
            let file = openat(&handle, &new, flags, Mode::RUSR | Mode::WUSR)?;
            let mut file = fs::File::from(file);
            file.write_all(bytes)?;
            file.set_permissions(fs::Permissions::from_mode(*mode))?;
        }
        Content::Link(target) => symlinkat(target, &handle, &new)?,
    }
    let is_free = statat(&handle, name, rustix::fs::AtFlags::SYMLINK_NOFOLLOW).is_err();
    if is_free {
        renameat(&handle, &new, &handle, name)?;
    } else if renameat_with(&handle, &new, &handle, name, RenameFlags::EXCHANGE).is_ok() {
        aside.push(Aside { path: path.to_owned(), now: at.join(new) });
    } else {
        // Some file systems cannot exchange two names.
        aside.push(put_aside(&handle, path, name)?);
        renameat(&handle, &new, &handle, name)?;
    }
    Ok(aside)
}

/// Moves the folder at `place` back to `path`, below `root`; returns what stood in its place.
pub(super) fn back(root: &Path, place: &Path, path: &Path) -> io::Result<Vec<Aside>> {
    let (folder, name) = split(path)?;
    let below = folder.strip_prefix(root).map_err(|_| io::ErrorKind::InvalidInput)?;
    let (from, old) = split(place)?;
    let mut rights = Rights::default();
    for folder in [folder, from, place] {
        rights.open(folder);
    }
    // Held before anything on the way to it is put aside.
    let from = whole(from)?;
    let mut aside = Vec::new();
    let (handle, _) = reach(root, below, &mut aside)?;
    if statat(&handle, name, rustix::fs::AtFlags::SYMLINK_NOFOLLOW).is_ok() {
        aside.push(put_aside(&handle, path, name)?);
    }
    renameat_with(&from, old, &handle, name, RenameFlags::NOREPLACE)?;
    Ok(aside)
}

/// Opens the folder `below` the folder at `root`, and makes what is missing of it. What stands in
/// place of a folder is put `aside`.
fn reach(root: &Path, below: &Path, aside: &mut Vec<Aside>) -> io::Result<(OwnedFd, PathBuf)> {
    let (mut handle, mut at) = (whole(root)?, root.to_owned());
    for part in below.components() {
        let part = part.as_os_str();
        at.push(part);
        handle = match enter(&handle, part) {
            Err(Errno::LOOP | Errno::NOTDIR) => {
                aside.push(put_aside(&handle, &at, part)?);
                make(&handle, part)?
            }
            Err(Errno::NOENT) => make(&handle, part)?,
            other => other?,
        };
    }
    Ok((handle, at))
}

/// Renames what is at `from`, to which no link may lead, to `to`.
pub(super) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    let (folder, name) = split(from)?;
    let mut rights = Rights::default();
    rights.open(folder);
    // A folder that is moved to another is changed itself.
    rights.open(from);
    Ok(renameat(whole(folder)?, name, CWD, to)?)
}

/// Opens the folder at `path`, to which no link may lead.
pub(super) fn whole(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let without_links = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    Ok(openat2(CWD, path, flags, Mode::empty(), without_links)?)
}

/// Opens the folder `name` in `folder`, which may be no link.
fn enter(folder: &OwnedFd, name: &OsStr) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(folder, name, flags, Mode::empty())
}

fn make(folder: &OwnedFd, name: &OsStr) -> rustix::io::Result<OwnedFd> {
    mkdirat(folder, name, Mode::from_raw_mode(0o755))?;
    enter(folder, name)
}

/// Gives what is at `path`, which is `name` in `folder`, a name that nothing has.
fn put_aside(folder: &OwnedFd, path: &Path, name: &OsStr) -> io::Result<Aside> {
    let new = spare(name)?;
    renameat_with(folder, name, folder, &new, RenameFlags::NOREPLACE)
        .or_else(|_| renameat(folder, name, folder, &new))?;
    Ok(Aside { path: path.to_owned(), now: path.with_file_name(new) })
}

/// Returns a name that nothing has. It tells what had `name`, unless it would be too long for that.
fn spare(name: &OsStr) -> io::Result<OsString> {
    let number = u64::from_ne_bytes(system::random()?);
    let mut new = OsString::from(".");
    if name.len() <= LONGEST_TOLD {
        new.push(name);
        new.push(".");
    }
    new.push(format!("{number:016x}"));
    Ok(new)
}

fn split(path: &Path) -> io::Result<(&Path, &OsStr)> {
    path.parent().zip(path.file_name()).ok_or_else(|| io::ErrorKind::InvalidInput.into())
}
