//! The parent directory of one file, held open: the file's name is read and replaced in it and nowhere else.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, RenameFlags};
use rustix::fs::{Timespec, Timestamps, UTIME_OMIT};
use rustix::io::Errno;

use super::beneath::Root;
use super::copy;
use super::file::FileImage;
use super::temporary::{Permissions, Temporary};
use super::{FileError, Located, Place, Workspace};
use crate::message::ContentHash;

/// Whether missing folders on the way to a file are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CreateFolders {
    No,
    Yes,
}

/// An opened parent directory and the name of one file in it, which need not exist.
///
/// A write takes these steps: [`Folder::write_temporary`], then [`Temporary::create`] or
/// [`Temporary::replace`], then [`Folder::sync`]. Whoever moves folders or plants links
/// meanwhile cannot make it land elsewhere.
#[derive(Debug)]
pub struct Folder {
    pub(super) handle: OwnedFd,
    pub(super) name: OsString,
    pub(super) shown: String,
    made: Vec<PathBuf>,
}

impl Workspace {
    /// Opens the folder that holds `at`, for writing in it.
    ///
    /// # Errors
    /// Anything outside the workspace, a root itself, and a folder that is missing with
    /// [`CreateFolders::No`].
    pub fn folder_of(&self, at: &Located, create: CreateFolders) -> Result<Folder, FileError> {
        if at.place() != Place::Workspace {
            return Err(FileError::Outside { path: at.shown().to_owned() });
        }
        if self.is_root(at) {
            return Err(FileError::Directory { path: at.shown().to_owned() });
        }
        self.parent_of(at, create)
    }

    /// Opens the folder that holds `at`, wherever it is.
    pub(super) fn parent_of(
        &self,
        at: &Located,
        create: CreateFolders,
    ) -> Result<Folder, FileError> {
        let error = |source| FileError::from_io(at.shown(), source);
        let (Some(parent), Some(name)) = (at.path().parent(), at.path().file_name()) else {
            return Err(FileError::Directory { path: at.shown().to_owned() });
        };
        let elsewhere;
        let (root, relative) = if let Some(found) = self.beneath(parent) {
            found
        } else {
            elsewhere = Root::open(Path::new("/")).map_err(error)?;
            (&elsewhere, elsewhere.relative(parent).unwrap_or(Path::new("")))
        };
        let (handle, made) = match (root.folder(relative), create) {
            (Err(missing), CreateFolders::Yes) if missing.kind() == io::ErrorKind::NotFound => {
                root.make_folder(relative).map_err(error)?
            }
            (opened, _) => (opened.map_err(error)?, Vec::new()),
        };
        Ok(Folder { handle, name: name.to_owned(), shown: at.shown().to_owned(), made })
    }
}

impl Folder {
    /// Returns the name of the file in the folder.
    pub fn name(&self) -> &OsStr {
        &self.name
    }

    /// Returns the folders that were made on the way, outermost first, absolute.
    pub fn made(&self) -> &[PathBuf] {
        &self.made
    }

    /// Reads the file; `None` if nothing stands under the name.
    pub fn read(&self, limit: u64) -> Result<Option<FileImage>, FileError> {
        self.open()?.map(|file| FileImage::of(file, limit, &self.shown)).transpose()
    }

    /// Reads what stands under the name, a symbolic link as what it is; `None` if nothing does.
    pub fn read_entry(&self, limit: u64) -> Result<Option<FileImage>, FileError> {
        match rustix::fs::readlinkat(&self.handle, &self.name, Vec::new()) {
            Ok(target) => Ok(Some(FileImage::link(target.as_bytes()))),
            // It is no link, or nothing.
            Err(_) => self.read(limit),
        }
    }

    /// Makes a symbolic link to `target` beside. It is removed again unless it is placed.
    pub fn write_link(&self, target: &[u8]) -> Result<Temporary<'_>, FileError> {
        Temporary::link_to(self, target)
    }

    /// Writes `bytes` to a new file beside, synced, with what the file under the name has of
    /// owner and extended attributes. It is removed again unless it is placed.
    pub fn write_temporary(
        &self,
        bytes: &[u8],
        permissions: Permissions,
    ) -> Result<Temporary<'_>, FileError> {
        Temporary::write(self, bytes, permissions)
    }

    /// Removes the file if its bytes still are those of `base`.
    pub fn remove(&self, base: ContentHash) -> Result<(), FileError> {
        Temporary::take(self, base)
    }

    /// Removes the folder under the name, which must be empty.
    pub fn remove_empty_folder(&self) -> Result<(), FileError> {
        let removed = rustix::fs::unlinkat(&self.handle, &self.name, AtFlags::REMOVEDIR);
        removed.map_err(|error| self.error(error))
    }

    /// Moves what stands at `from` under the name: a folder where nothing stands, a file also in
    /// place of a file if it `replaces` one. From another file system it is copied.
    ///
    /// `from` is a path of Snick's own folders.
    pub fn take_in(&self, from: &Path, replaces: bool) -> Result<(), FileError> {
        let facts = rustix::fs::lstat(from).map_err(|error| self.error(error))?;
        let is_file = FileType::from_raw_mode(facts.st_mode) == FileType::RegularFile;
        let here = rustix::fs::statat(&self.handle, &self.name, AtFlags::SYMLINK_NOFOLLOW);
        let stands_file =
            here.is_ok_and(|facts| FileType::from_raw_mode(facts.st_mode) == FileType::RegularFile);
        let flags = if replaces && is_file && stands_file {
            RenameFlags::empty()
        } else {
            RenameFlags::NOREPLACE
        };
        match rustix::fs::renameat_with(CWD, from, &self.handle, &self.name, flags) {
            Err(Errno::XDEV) => copy::copy(from, &self.handle, &self.name, replaces)
                .map_err(|error| FileError::from_io(&self.shown, error)),
            moved => moved.map_err(|error| self.error(error)),
        }
    }

    /// Makes a folder under the name, unless one is there.
    pub fn make_here(&self) -> Result<(), FileError> {
        match rustix::fs::mkdirat(&self.handle, &self.name, Mode::from_raw_mode(0o777)) {
            Ok(()) | Err(Errno::EXIST) => Ok(()),
            Err(error) => Err(self.error(error)),
        }
    }

    /// Sets when the file or link under the name was last written.
    pub fn set_modified(&self, time: SystemTime) -> Result<(), FileError> {
        let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        let last_modification = Timespec {
            tv_sec: since.as_secs().try_into().unwrap_or(i64::MAX),
            tv_nsec: since.subsec_nanos().into(),
        };
        let last_access = Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT };
        let times = Timestamps { last_access, last_modification };
        rustix::fs::utimensat(&self.handle, &self.name, &times, AtFlags::SYMLINK_NOFOLLOW)
            .map_err(|error| self.error(error))
    }

    /// Removes the file under the name, whatever it holds.
    pub fn discard(&self) -> Result<(), FileError> {
        rustix::fs::unlinkat(&self.handle, &self.name, AtFlags::empty())
            .map_err(|error| self.error(error))
    }

    /// Makes what was placed or removed here last through a power cut.
    pub fn sync(&self) -> Result<(), FileError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        match rustix::fs::openat(&self.handle, ".", flags, Mode::empty()) {
            // A folder that may be searched but not listed cannot be opened for it.
            Err(Errno::ACCESS) => Ok(()),
            Err(error) => Err(self.error(error)),
            Ok(handle) => match rustix::fs::fsync(&handle) {
                // Some file systems have nothing to sync for a directory.
                Ok(()) | Err(Errno::INVAL | Errno::NOTSUP) => Ok(()),
                Err(error) => Err(self.error(error)),
            },
        }
    }

    /// Opens the regular file under the name; `None` if nothing is there.
    pub(super) fn open(&self) -> Result<Option<File>, FileError> {
        self.open_name(&self.name)
    }

    /// Opens a regular file of the folder. Looks first, since opening a FIFO wakes its writer.
    pub(super) fn open_name(&self, name: &OsStr) -> Result<Option<File>, FileError> {
        let facts = match rustix::fs::statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => return Ok(None),
            facts => facts.map_err(|error| self.error(error))?,
        };
        self.check_regular(FileType::from_raw_mode(facts.st_mode))?;
        let flags =
            OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = match rustix::fs::openat(&self.handle, name, flags, Mode::empty()) {
            Err(Errno::NOENT) => return Ok(None),
            file => file.map_err(|error| self.error(error))?,
        };
        let facts = rustix::fs::fstat(&file).map_err(|error| self.error(error))?;
        self.check_regular(FileType::from_raw_mode(facts.st_mode))?;
        Ok(Some(File::from(file)))
    }

    fn check_regular(&self, kind: FileType) -> Result<(), FileError> {
        let path = self.shown.clone();
        match kind {
            FileType::RegularFile => Ok(()),
            FileType::Directory => Err(FileError::Directory { path }),
            FileType::Symlink => Err(FileError::Link { path }),
            _ => Err(FileError::Special { path }),
        }
    }

    pub(super) fn error(&self, error: Errno) -> FileError {
        FileError::from_io(&self.shown, error.into())
    }

    pub(super) fn changed(&self) -> FileError {
        FileError::Changed { path: self.shown.clone() }
    }
}
