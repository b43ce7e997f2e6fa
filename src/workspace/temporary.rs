//! A file written beside the one it is to become, and the exchange of the two.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::hash::{BuildHasher as _, RandomState};
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;

use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use super::attributes;
use super::file::{FileError, LINK_MODE, entry_hash};
use super::folder::Folder;
use crate::message::ContentHash;

/// Which permission bits a written file gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permissions {
    /// Those of the file that stands under the name, else what the system gives new files.
    Kept,
    /// Exactly these.
    Exactly(u32),
}

/// A file on disk that is not yet under its name. Dropped without being placed, it is removed.
#[derive(Debug)]
pub struct Temporary<'a> {
    folder: &'a Folder,
    name: OsString,
    /// Device and inode, to know it again.
    identity: (u64, u64),
    /// What could not be kept of the file it stands for.
    lost: Vec<String>,
    gone: bool,
}

impl<'a> Temporary<'a> {
    /// Writes and syncs `bytes` beside the folder's file.
    pub(super) fn write(
        folder: &'a Folder,
        bytes: &[u8],
        permissions: Permissions,
    ) -> Result<Temporary<'a>, FileError> {
        let io = |source| FileError::Io { path: folder.shown.clone(), source };
        let model = match folder.open() {
            // What takes the place of a link keeps nothing of it.
            Err(FileError::Link { .. }) => None,
            opened => opened?,
        };
        let private = model.is_some() || permissions != Permissions::Kept;
        let mode = Mode::from_raw_mode(if private { 0o600 } else { 0o666 });
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let (name, handle) = loop {
            let name = fresh_name();
            match rustix::fs::openat(&folder.handle, &name, flags, mode) {
                Err(Errno::EXIST) => {}
                Err(error) => return Err(folder.error(error)),
                Ok(handle) => break (name, handle),
            }
        };
        let mut file = File::from(handle);
        let mut temporary =
            Temporary { folder, name, identity: (0, 0), lost: Vec::new(), gone: false };
        let facts = file.metadata().map_err(io)?;
        temporary.identity = (facts.dev(), facts.ino());
        file.write_all(bytes).map_err(io)?;
        temporary.lost = attributes::carry(model.as_ref(), &file, permissions).map_err(io)?;
        file.sync_all().map_err(io)?;
        Ok(temporary)
    }

    /// Makes a symbolic link beside the folder's file.
    pub(super) fn link_to(folder: &'a Folder, target: &[u8]) -> Result<Temporary<'a>, FileError> {
        loop {
            let name = fresh_name();
            match rustix::fs::symlinkat(OsStr::from_bytes(target), &folder.handle, &name) {
                Err(Errno::EXIST) => {}
                Err(error) => return Err(folder.error(error)),
                Ok(()) => {
                    let mut link =
                        Temporary { folder, name, identity: (0, 0), lost: Vec::new(), gone: false };
                    link.identity = link.standing().unwrap_or_default();
                    return Ok(link);
                }
            }
        }
    }

    /// Returns what could not be kept of the file it stands for, such as its owner, in words.
    pub fn lost(&self) -> &[String] {
        &self.lost
    }

    /// Puts it under the name, where nothing may stand.
    ///
    /// # Errors
    /// [`FileError::Changed`] if something does; it is left as it is.
    pub fn create(mut self) -> Result<(), FileError> {
        match self.rename(RenameFlags::NOREPLACE) {
            Ok(()) => {}
            Err(Errno::EXIST) => return Err(self.folder.changed()),
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => return self.link(),
            Err(error) => return Err(self.folder.error(error)),
        }
        self.gone = true;
        Ok(())
    }

    /// Puts it in place of the file under the name, if that still holds the bytes of `base`.
    ///
    /// The two are exchanged, and only then the displaced one is looked at: nobody can slip a
    /// version in between the look and the rename. One that is not the base is put back.
    ///
    /// # Errors
    /// [`FileError::Changed`] if the file is another or gone; then nothing has changed.
    pub fn replace(mut self, base: ContentHash) -> Result<(), FileError> {
        match self.rename(RenameFlags::EXCHANGE) {
            Ok(()) => {}
            Err(Errno::NOENT) => return Err(self.folder.changed()),
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => return self.rename_over(base),
            Err(error) => return Err(self.folder.error(error)),
        }
        if self.folder.has(&self.name, base) {
            // Dropping removes what is under the temporary name: the displaced file.
            return Ok(());
        }
        self.rename(RenameFlags::EXCHANGE).map_err(|error| self.stranded(error))?;
        if self.is_own() {
            return Err(self.folder.changed());
        }
        // Somebody wrote between the two exchanges: the newest version belongs under the name.
        self.rename(RenameFlags::EXCHANGE).map_err(|error| self.stranded(error))?;
        Err(self.folder.changed())
    }

    /// Removes the file under the folder's name if it holds the bytes of `base`.
    ///
    /// It is moved aside before it is looked at, and put back if it is another.
    pub(super) fn take(folder: &Folder, base: ContentHash) -> Result<(), FileError> {
        let mut aside = Temporary {
            folder,
            name: fresh_name(),
            identity: (0, 0),
            lost: Vec::new(),
            gone: false,
        };
        // The look beforehand spares a folder or a link the move; the one afterwards counts.
        if !folder.has(&folder.name, base) {
            aside.gone = true;
            return Err(folder.changed());
        }
        let (from, to) = (&folder.name, &aside.name);
        if let Err(error) = rustix::fs::renameat(&folder.handle, from, &folder.handle, to) {
            aside.gone = true;
            return Err(folder.error(error));
        }
        if folder.has(&aside.name, base) {
            return Ok(());
        }
        match aside.rename(RenameFlags::NOREPLACE) {
            Ok(()) => aside.gone = true,
            // A newer version is there already; what was moved aside is superseded.
            Err(Errno::EXIST) => {}
            Err(error) => return Err(aside.stranded(error)),
        }
        Err(folder.changed())
    }

    /// Does what [`Temporary::create`] does where the system cannot rename without replacing.
    fn link(mut self) -> Result<(), FileError> {
        let Folder { handle, name, .. } = self.folder;
        match rustix::fs::linkat(handle, &self.name, handle, name, AtFlags::empty()) {
            // Dropping removes the temporary name.
            Ok(()) => Ok(()),
            Err(Errno::EXIST) => Err(self.folder.changed()),
            Err(Errno::PERM | Errno::NOTSUP | Errno::NOSYS) => {
                if self.folder.open()?.is_some() {
                    return Err(self.folder.changed());
                }
                self.rename(RenameFlags::empty()).map_err(|error| self.folder.error(error))?;
                self.gone = true;
                Ok(())
            }
            Err(error) => Err(self.folder.error(error)),
        }
    }

    /// Does what [`Temporary::replace`] does where the system cannot exchange two files.
    fn rename_over(mut self, base: ContentHash) -> Result<(), FileError> {
        if !self.folder.has(&self.folder.name, base) {
            return Err(self.folder.changed());
        }
        self.rename(RenameFlags::empty()).map_err(|error| self.folder.error(error))?;
        self.gone = true;
        Ok(())
    }

    fn rename(&self, flags: RenameFlags) -> Result<(), Errno> {
        let Folder { handle, name, .. } = self.folder;
        if flags.is_empty() {
            return rustix::fs::renameat(handle, &self.name, handle, name);
        }
        rustix::fs::renameat_with(handle, &self.name, handle, name, flags)
    }

    /// Whether the temporary name still is the file that was written.
    fn is_own(&self) -> bool {
        self.standing() == Some(self.identity)
    }

    /// Returns device and inode of what is under the temporary name.
    fn standing(&self) -> Option<(u64, u64)> {
        let (handle, flags) = (&self.folder.handle, AtFlags::SYMLINK_NOFOLLOW);
        let facts = rustix::fs::statat(handle, &self.name, flags).ok()?;
        Some((facts.st_dev, facts.st_ino))
    }

    /// Keeps a file that could not be put back under its name, and says where it is.
    fn stranded(&mut self, error: Errno) -> FileError {
        self.gone = true;
        let place = self.name.to_string_lossy().into_owned();
        let why =
            format!("could not be put back ({error}); its bytes are kept beside as `{place}`");
        FileError::Io { path: self.folder.shown.clone(), source: std::io::Error::other(why) }
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        if !self.gone {
            // A file that cannot be removed stays under its telling name.
            rustix::fs::unlinkat(&self.folder.handle, &self.name, AtFlags::empty()).ok();
        }
    }
}

impl Folder {
    /// Whether what is under `name` is exactly `base`: a file with its bytes, or its link.
    fn has(&self, name: &OsStr, base: ContentHash) -> bool {
        if let Ok(target) = rustix::fs::readlinkat(&self.handle, name, Vec::new()) {
            return entry_hash(target.as_bytes(), Some(LINK_MODE)) == base;
        }
        let file = self.open_name(name).ok().flatten();
        let hash = file.and_then(|file| ContentHash::of_all(file).ok());
        hash == Some(base)
    }
}

/// Makes a name that nobody can foresee. It tells what left it, should it ever stay behind.
fn fresh_name() -> OsString {
    let random = RandomState::new().hash_one(std::process::id());
    format!(".snick-{random:016x}.tmp").into()
}
