//! Directories opened beneath a held root: no link is followed on the way, so what was judged is what is opened.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

/// How a directory is opened as a place to look names up in.
#[cfg(target_os = "linux")]
const LOOKUP: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
/// How a directory is opened as a place to look names up in.
#[cfg(not(target_os = "linux"))]
const LOOKUP: OFlags = OFlags::DIRECTORY.union(OFlags::CLOEXEC);

/// How a directory is opened to read the names in it.
const LISTING: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// How a file is opened for reading.
const READING: OFlags =
    OFlags::RDONLY.union(OFlags::NOFOLLOW).union(OFlags::NONBLOCK).union(OFlags::CLOEXEC);

/// Opens the regular file `name` of a folder that was opened beneath a root, in the same way.
pub(super) fn file_in(folder: BorrowedFd<'_>, name: &OsStr) -> io::Result<File> {
    let bytes = name.as_bytes();
    if matches!(bytes, b"" | b"." | b"..") || bytes.contains(&b'/') {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    Ok(File::from(rustix::fs::openat(folder, name, READING, Mode::empty())?))
}

/// A folder that was opened once, so that it stays the same whatever happens to its path.
#[derive(Debug)]
pub(super) struct Root {
    path: PathBuf,
    handle: OwnedFd,
}

impl Root {
    /// Opens `path`, which must be absolute and free of links.
    pub(super) fn open(path: &Path) -> io::Result<Root> {
        let handle = rustix::fs::open(path, LOOKUP, Mode::empty())?;
        Ok(Root { path: path.to_owned(), handle })
    }

    /// Returns the path of an absolute `path` from here, if it lies beneath.
    pub(super) fn relative<'a>(&self, path: &'a Path) -> Option<&'a Path> {
        path.strip_prefix(&self.path).ok()
    }

    /// Opens the folder `relative`, which must hold names only. No link is followed.
    pub(super) fn folder(&self, relative: &Path) -> io::Result<OwnedFd> {
        open_folder(self.handle.as_fd(), relative)
    }

    /// Opens the folder `relative`, which must hold names only, to read the names in it. No link is followed.
    pub(super) fn listing(&self, relative: &Path) -> io::Result<OwnedFd> {
        open_listing(self.handle.as_fd(), relative)
    }

    /// Opens the regular file `relative` for reading. No link is followed, nothing blocks.
    pub(super) fn file(&self, relative: &Path) -> io::Result<File> {
        Ok(File::from(open_file(self.handle.as_fd(), relative, READING)?))
    }

    /// Opens the folder `relative`, making what is missing of it. Returns what was made, outermost first.
    pub(super) fn make_folder(&self, relative: &Path) -> io::Result<(OwnedFd, Vec<PathBuf>)> {
        let mut handle = rustix::fs::openat(&self.handle, ".", LOOKUP, Mode::empty())?;
        let mut made = Vec::new();
        let mut path = self.path.clone();
        for name in names(relative)? {
            path.push(name);
            match rustix::fs::mkdirat(&handle, name, Mode::from_raw_mode(0o777)) {
                Ok(()) => made.push(path.clone()),
                Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
            handle = step(handle.as_fd(), name)?;
        }
        Ok((handle, made))
    }
}

#[cfg(target_os = "linux")]
fn open_folder(root: BorrowedFd<'_>, relative: &Path) -> io::Result<OwnedFd> {
    use rustix::fs::ResolveFlags;
    if relative.as_os_str().is_empty() {
        return walk(root, relative);
    }
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    match rustix::fs::openat2(root, relative, LOOKUP, Mode::empty(), resolve) {
        Ok(handle) => Ok(handle),
        // Old kernels lack the call, and some confinements forbid it.
        Err(Errno::NOSYS | Errno::PERM | Errno::INVAL | Errno::AGAIN) => walk(root, relative),
        Err(error) => Err(error.into()),
    }
}

#[cfg(target_os = "linux")]
fn open_listing(root: BorrowedFd<'_>, relative: &Path) -> io::Result<OwnedFd> {
    use rustix::fs::ResolveFlags;
    if relative.as_os_str().is_empty() {
        return step_to_listing(root, relative);
    }
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    match rustix::fs::openat2(root, relative, LISTING, Mode::empty(), resolve) {
        Ok(handle) => Ok(handle),
        Err(Errno::NOSYS | Errno::PERM | Errno::INVAL | Errno::AGAIN) => {
            step_to_listing(root, relative)
        }
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(target_os = "linux"))]
fn open_listing(root: BorrowedFd<'_>, relative: &Path) -> io::Result<OwnedFd> {
    step_to_listing(root, relative)
}

/// Opens a folder as a place to look names up in, then to read its names.
fn step_to_listing(root: BorrowedFd<'_>, relative: &Path) -> io::Result<OwnedFd> {
    let folder = walk(root, relative)?;
    Ok(rustix::fs::openat(folder, ".", LISTING, Mode::empty())?)
}

#[cfg(target_os = "linux")]
fn open_file(root: BorrowedFd<'_>, relative: &Path, flags: OFlags) -> io::Result<OwnedFd> {
    use rustix::fs::ResolveFlags;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    match rustix::fs::openat2(root, relative, flags, Mode::empty(), resolve) {
        Ok(handle) => Ok(handle),
        Err(Errno::NOSYS | Errno::PERM | Errno::INVAL | Errno::AGAIN) => {
            step_to_file(root, relative, flags)
        }
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(target_os = "linux"))]
fn open_file(root: BorrowedFd<'_>, relative: &Path, flags: OFlags) -> io::Result<OwnedFd> {
    step_to_file(root, relative, flags)
}

/// Opens the folder that holds a file, then the file.
fn step_to_file(root: BorrowedFd<'_>, relative: &Path, flags: OFlags) -> io::Result<OwnedFd> {
    let name = relative.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let folder = walk(root, relative.parent().unwrap_or(Path::new("")))?;
    Ok(rustix::fs::openat(folder, name, flags, Mode::empty())?)
}

#[cfg(not(target_os = "linux"))]
fn open_folder(root: BorrowedFd<'_>, relative: &Path) -> io::Result<OwnedFd> {
    walk(root, relative)
}

/// Opens one folder after the other, for where the kernel cannot do it in one step.
fn walk(root: BorrowedFd<'_>, relative: &Path) -> io::Result<OwnedFd> {
    let start = rustix::fs::openat(root, ".", LOOKUP, Mode::empty())?;
    names(relative)?.into_iter().try_fold(start, |handle, name| step(handle.as_fd(), name))
}

/// Opens the folder `name` of `folder`. A link gives an error, as anything else that is no folder.
fn step(folder: BorrowedFd<'_>, name: &OsStr) -> io::Result<OwnedFd> {
    Ok(rustix::fs::openat(folder, name, LOOKUP | OFlags::NOFOLLOW, Mode::empty())?)
}

/// Returns the names that `relative` consists of; an error where it holds anything else.
fn names(relative: &Path) -> io::Result<Vec<&OsStr>> {
    let name = |component| match component {
        Component::Normal(name) => Ok(name),
        _ => Err(io::Error::from(io::ErrorKind::InvalidInput)),
    };
    relative.components().map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kernel's way and the step by step way agree on folders, links and what is missing.
    #[test]
    fn both_ways_of_opening_agree() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("a/b")).unwrap();
        std::fs::write(dir.path().join("a/file"), "").unwrap();
        std::os::unix::fs::symlink("a", dir.path().join("link")).unwrap();
        let root = Root::open(dir.path()).unwrap();
        let kinds = |open: fn(BorrowedFd<'_>, &Path) -> io::Result<OwnedFd>| {
            ["", "a", "a/b", "link/b", "link", "a/file", "a/none"].map(|path| {
                open(root.handle.as_fd(), Path::new(path)).map_err(|error| error.kind()).err()
            })
        };
        let expected = [
            None,
            None,
            None,
            Some(io::ErrorKind::NotADirectory),
            Some(io::ErrorKind::NotADirectory),
            Some(io::ErrorKind::NotADirectory),
            Some(io::ErrorKind::NotFound),
        ];
        assert_eq!(kinds(walk), expected);
        let kernel = kinds(open_folder);
        assert_eq!(kernel.map(|kind| kind.is_some()), expected.map(|kind| kind.is_some()));
    }
}
