//! Snick's own files: a link in the place of one is not followed, and a pipe is not waited for.
//!
//! The folders that hold everything may be links that the person made; what is in them is ours.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;

use rustix::fs::OFlags;
use rustix::io::Errno;

/// Opens the file at `path` as `options` say; anything else than a file is an error.
pub fn open(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
    let opened = options.custom_flags(flags.bits().cast_signed()).open(path);
    let file = opened.map_err(|error| match Errno::from_io_error(&error) {
        Some(Errno::LOOP) => other(path, "a link"),
        // A pipe that nobody reads.
        Some(Errno::NXIO) => other(path, "no file"),
        _ => error,
    })?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(other(path, "no file")) }
}

/// Reads the file at `path`, which has at most `most` bytes.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = open(OpenOptions::new().read(true), path)?;
    if file.take(most.saturating_add(1)).read_to_end(&mut bytes)? as u64 > most {
        return Err(io::Error::other(format!("`{}` has more than {most} bytes", path.display())));
    }
    Ok(bytes)
}

/// Makes the folder at `path`, and those above it, for this user alone.
pub fn make_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)?;
    if path.symlink_metadata()?.is_dir() { Ok(()) } else { Err(other(path, "a link")) }
}

fn other(path: &Path, what: &str) -> io::Error {
    let text = format!("`{}` is {what}; remove it, it is not Snick's", path.display());
    io::Error::other(text)
}
