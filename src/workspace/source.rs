//! Files of one tree read whole by their path, with the stamp that what was read had.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::fs::{Mode, OFlags};

use super::Stamp;
use super::beneath::Root;

/// A tree held open at its top, so that what is read lies beneath it whatever happens to its path.
#[derive(Debug)]
pub struct Source {
    root: Root,
}

impl Source {
    /// Opens the folder `top`, which must be absolute and free of links.
    pub fn open(top: &Path) -> io::Result<Source> {
        Ok(Source { root: Root::open(top)? })
    }

    /// Reads the regular file at `path`, which leads on from the top by names only.
    ///
    /// The stamp is `None` where the file was altered while it was read.
    ///
    /// # Errors
    /// What is no regular file, is larger than `limit` bytes, or cannot be read.
    pub fn read(&self, path: &[u8], limit: u64) -> io::Result<(Vec<u8>, Option<Stamp>)> {
        let path = Path::new(OsStr::from_bytes(path));
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let folder = self.root.folder(path.parent().unwrap_or(Path::new("")))?;
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let handle = rustix::fs::openat(&folder, name, flags, Mode::empty())?;
        let before = Stamp::of(&rustix::fs::fstat(&handle)?);
        if !before.is_regular() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        if before.size > limit {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let mut file = File::from(handle);
        let mut bytes = Vec::with_capacity(usize::try_from(before.size).unwrap_or(0) + 1);
        file.by_ref().take(limit + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > limit {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let after = Stamp::of(&rustix::fs::fstat(&file)?);
        Ok((bytes, (before == after).then_some(after)))
    }
}
