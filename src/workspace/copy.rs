//! Files and folders brought in from another file system, opened name by name, no link followed.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

/// Copies what stands at `from` under `name` in `folder`; a file takes the place of a file if it
/// `replaces` one.
///
/// FIFOs, sockets and devices are left out.
pub(super) fn copy(from: &Path, folder: &OwnedFd, name: &OsStr, replaces: bool) -> io::Result<()> {
    let facts = std::fs::symlink_metadata(from)?;
    let kind = facts.file_type();
    if kind.is_symlink() {
        rustix::fs::symlinkat(std::fs::read_link(from)?, folder, name)?;
    } else if kind.is_file() {
        if replaces {
            match rustix::fs::unlinkat(folder, name, AtFlags::empty()) {
                Ok(()) | Err(Errno::NOENT) => {}
                Err(error) => return Err(error.into()),
            }
        }
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let to = rustix::fs::openat(folder, name, flags, Mode::from_raw_mode(0o600))?;
        let mut to = File::from(to);
        io::copy(&mut File::open(from)?, &mut to)?;
        to.set_permissions(std::fs::Permissions::from_mode(facts.mode() & 0o7777))?;
        to.set_modified(facts.modified()?)?;
    } else if kind.is_dir() {
        rustix::fs::mkdirat(folder, name, Mode::from_raw_mode(0o700))?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let made = rustix::fs::openat(folder, name, flags, Mode::empty())?;
        for entry in std::fs::read_dir(from)? {
            let entry = entry?;
            copy(&entry.path(), &made, &entry.file_name(), false)?;
        }
        rustix::fs::fchmod(&made, Mode::from_raw_mode(facts.mode() & 0o7777))?;
    }
    Ok(())
}
