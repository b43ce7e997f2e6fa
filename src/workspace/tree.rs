//! A folder held open, of which many files are read by their path.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use super::beneath::{self, Root};
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
        stamped(self.root.file(Path::new(OsStr::from_bytes(relative)))?)
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

/// Opens files of a tree one after the other, those of one folder through a handle of it.
#[derive(Debug)]
pub struct Opener<'a> {
    tree: &'a Tree,
    /// The folder of the file before, and its handle once a second file of it was asked for.
    folder: Vec<u8>,
    handle: Option<OwnedFd>,
}

impl<'a> Opener<'a> {
    /// Makes one that has opened nothing yet.
    pub fn new(tree: &'a Tree) -> Opener<'a> {
        Opener { tree, folder: Vec::new(), handle: None }
    }

    /// Opens a file as [`Tree::file`] does.
    pub fn file(&mut self, relative: &[u8]) -> io::Result<(File, Stamp)> {
        let Some(end) = memchr::memrchr(b'/', relative) else { return self.tree.file(relative) };
        let (folder, name) = (&relative[..end], OsStr::from_bytes(&relative[end + 1..]));
        if self.folder != folder {
            self.folder.clear();
            self.folder.extend_from_slice(folder);
            self.handle = None;
            return self.tree.file(relative);
        }
        if self.handle.is_none() {
            self.handle = self.tree.root.folder(Path::new(OsStr::from_bytes(folder))).ok();
        }
        let handle = self.handle.as_ref();
        match handle.and_then(|handle| beneath::file_in(handle.as_fd(), name).ok()) {
            Some(file) => stamped(file),
            // Another folder may stand at its path by now.
            None => self.tree.file(relative),
        }
    }
}

/// Tells the stamp of a file, if it is a regular one.
fn stamped(file: File) -> io::Result<(File, Stamp)> {
    let stamp = Stamp::of_open(&file)?;
    if stamp.is_regular() { Ok((file, stamp)) } else { Err(io::ErrorKind::InvalidInput.into()) }
}
