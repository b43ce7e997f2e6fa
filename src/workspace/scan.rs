//! Folders looked into one by one through held handles: their names, and what each name stands for.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;

use super::Stamp;
use super::beneath::Root;

/// A tree of folders, held open at its top.
#[derive(Debug)]
pub struct Tree {
    root: Root,
}

/// One opened folder of a tree.
#[derive(Debug)]
pub struct Branch {
    handle: OwnedFd,
}

/// What kind of thing a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Folder,
    /// A file, a link or something special.
    Other,
}

impl Tree {
    /// Opens the folder `top`, which must be absolute and free of links.
    pub fn open(top: &Path) -> io::Result<Tree> {
        Ok(Tree { root: Root::open(top)? })
    }

    /// Opens the folder at `path`, which leads on from the top by names only; no link is followed.
    pub fn branch(&self, path: &[u8]) -> io::Result<Branch> {
        Ok(Branch { handle: self.root.folder(Path::new(OsStr::from_bytes(path)))? })
    }
}

impl Branch {
    /// Returns the stamp of the folder itself.
    pub fn stamp(&self) -> io::Result<Stamp> {
        Ok(Stamp::of(&rustix::fs::fstat(&self.handle)?))
    }

    /// Returns the stamp of what stands under `name`, links not followed; `None` if nothing does.
    pub fn stamp_of(&self, name: &[u8]) -> Option<Stamp> {
        let facts = rustix::fs::statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        Some(Stamp::of(&facts))
    }

    /// Returns the stamp of what `name` leads to, links followed.
    pub fn followed(&self, name: &[u8]) -> Option<Stamp> {
        let facts = rustix::fs::statat(&self.handle, name, AtFlags::empty()).ok()?;
        Some(Stamp::of(&facts))
    }

    /// Hands every name of the folder to `each`, in no order.
    pub fn each_name(&self, each: &mut dyn FnMut(&[u8], Kind)) -> io::Result<()> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = rustix::fs::openat(&self.handle, ".", flags, Mode::empty())?;
        for entry in Dir::new(opened)? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if name == b"." || name == b".." {
                continue;
            }
            let kind = match entry.file_type() {
                FileType::Directory => Kind::Folder,
                // Some file systems tell no types.
                FileType::Unknown if self.stamp_of(name).is_some_and(|at| at.is_folder()) => {
                    Kind::Folder
                }
                _ => Kind::Other,
            };
            each(name, kind);
        }
        Ok(())
    }

    /// Reads the regular file that `name` leads to, if it has at most `limit` bytes; links are followed.
    pub fn read(&self, name: &[u8], limit: u64) -> io::Result<Vec<u8>> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let opened = rustix::fs::openat(&self.handle, name, flags, Mode::empty())?;
        read_all(File::from(opened), limit)
    }
}

/// Reads the regular file at the absolute `path`, if it has at most `limit` bytes: one of git's own.
pub fn read_file(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    read_all(File::from(rustix::fs::open(path, flags, Mode::empty())?), limit)
}

/// Returns the absolute path of `path`, which leads on from `top`.
pub fn joined(top: &Path, path: &[u8]) -> PathBuf {
    top.join(OsStr::from_bytes(path))
}

fn read_all(file: File, limit: u64) -> io::Result<Vec<u8>> {
    let facts = rustix::fs::fstat(&file)?;
    let is_file = FileType::from_raw_mode(facts.st_mode) == FileType::RegularFile;
    if !is_file {
        return Err(Errno::INVAL.into());
    }
    let mut bytes = Vec::new();
    let n_read = file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if n_read as u64 > limit {
        return Err(Errno::FBIG.into());
    }
    Ok(bytes)
}
