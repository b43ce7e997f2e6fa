//! A folder held open, of which many files are read by their path.

use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use super::beneath::Root;

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

    /// Opens a regular file by its path from here, for reading, and tells what is known of it.
    ///
    /// No link is followed on the way, and nothing else than a regular file is opened.
    pub fn file(&self, relative: &[u8]) -> io::Result<(File, Metadata)> {
        let file = self.root.file(Path::new(OsStr::from_bytes(relative)))?;
        let facts = file.metadata()?;
        if facts.is_file() { Ok((file, facts)) } else { Err(io::ErrorKind::InvalidInput.into()) }
    }
}
