//! Folders looked into one by one through held handles: their names, and what each name stands for.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

use super::Stamp;
use super::beneath::Root;

/// Bytes of names that are read at once.
#[cfg(target_os = "linux")]
const NAMES_AT_ONCE: usize = 32 << 10;

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
    ///
    /// Names are looked up in it, not read.
    pub fn branch(&self, path: &[u8]) -> io::Result<Branch> {
        Ok(Branch { handle: self.root.folder(Path::new(OsStr::from_bytes(path)))? })
    }

    /// Opens a folder in the same way, and so that its names can be read.
    pub fn listing(&self, path: &[u8]) -> io::Result<Branch> {
        Ok(Branch { handle: self.root.listing(Path::new(OsStr::from_bytes(path)))? })
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

    /// Returns the stamp of what stands at `path`, which leads on by names only.
    ///
    /// This saves opening the folders on the way, but goes through one that has become a link: so it
    /// holds only where each of them is found to be a folder as well.
    pub fn stamp_beneath(&self, path: &[u8]) -> Option<Stamp> {
        self.stamp_of(path)
    }

    /// Returns the stamp of what `name` leads to, links followed.
    pub fn followed(&self, name: &[u8]) -> Option<Stamp> {
        let facts = rustix::fs::statat(&self.handle, name, AtFlags::empty()).ok()?;
        Some(Stamp::of(&facts))
    }

    /// Hands every name of a folder that was opened for that to `each`, in no order.
    ///
    /// `buffer` holds what the system tells meanwhile; it may be used again.
    #[cfg(target_os = "linux")]
    pub fn each_name(
        &self,
        buffer: &mut Vec<u8>,
        each: &mut dyn FnMut(&[u8], Kind),
    ) -> io::Result<()> {
        buffer.clear();
        buffer.reserve(NAMES_AT_ONCE);
        let mut names = rustix::fs::RawDir::new(&self.handle, buffer.spare_capacity_mut());
        while let Some(entry) = names.next() {
            let entry = entry?;
            self.one_name(entry.file_name().to_bytes(), entry.file_type(), each);
        }
        Ok(())
    }

    /// Hands every name of a folder that was opened for that to `each`, in no order.
    #[cfg(not(target_os = "linux"))]
    pub fn each_name(&self, _: &mut Vec<u8>, each: &mut dyn FnMut(&[u8], Kind)) -> io::Result<()> {
        for entry in rustix::fs::Dir::read_from(&self.handle)? {
            let entry = entry?;
            self.one_name(entry.file_name().to_bytes(), entry.file_type(), each);
        }
        Ok(())
    }

    fn one_name(&self, name: &[u8], kind: FileType, each: &mut dyn FnMut(&[u8], Kind)) {
        if name == b"." || name == b".." {
            return;
        }
        let kind = match kind {
            FileType::Directory => Kind::Folder,
            // Some file systems tell no types.
            FileType::Unknown if self.stamp_of(name).is_some_and(|at| at.is_folder()) => {
                Kind::Folder
            }
            _ => Kind::Other,
        };
        each(name, kind);
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
