//! A folder held open, of which many files are read by their path.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use super::beneath::Root;
use super::{FileError, FileImage, Stamp};

/// A folder held open, so that what is read lies beneath it whatever happens to its path.
#[derive(Debug)]
pub struct Tree {
    root: Root,
}

impl Tree {
    /// Opens `path`, which must be absolute and free of links.
    pub fn open(path: &Path) -> io::Result<Tree> {
        Ok(Tree { root: Root::open(path)? })
    }

    /// Opens a regular file by its path from here, for reading, and tells its stamp.
    ///
    /// No link is followed on the way, and nothing else than a regular file is opened.
    pub fn file(&self, relative: &[u8]) -> io::Result<(File, Stamp)> {
        let file = self.root.file(Path::new(OsStr::from_bytes(relative)))?;
        let stamp = Stamp::of_open(&file)?;
        if stamp.is_regular() { Ok((file, stamp)) } else { Err(io::ErrorKind::InvalidInput.into()) }
    }

    /// Reads a regular file of at most `limit` bytes by its path from here.
    pub fn image(&self, relative: &Path, limit: u64) -> Result<FileImage, FileError> {
        let shown = relative.display().to_string();
        match self.file(relative.as_os_str().as_bytes()) {
            Ok((file, _)) => FileImage::of(file, limit, &shown),
            Err(source) => Err(FileError::from_io(&shown, source)),
        }
    }
}
