//! The kernel's table of what is mounted: where the same files are shown twice.
//!
//! What is hidden at one path can be reached by another where a folder above it is mounted a second
//! time: by a bind, as a volume of a container, as a system keeps its own tree.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::fd::AsFd as _;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fs::{AtFlags, FileType, StatxFlags};

const TABLE: &str = "/proc/self/mountinfo";

/// Where each part of one file system is mounted.
type Parts = BTreeMap<PathBuf, Vec<PathBuf>>;

/// What was mounted when it was read.
pub(super) struct Mounted {
    /// Tells when it was changed.
    table: File,
    /// The file system at each place, by its device, and which part of it. Empty where nothing is
    /// shown twice.
    places: HashMap<PathBuf, (Vec<u8>, PathBuf)>,
    /// The file systems of which something is shown twice.
    systems: HashMap<Vec<u8>, Parts>,
    /// Sockets that are mounted by themselves: who listens there may be in another network, where
    /// it is not known.
    sockets: Vec<PathBuf>,
}

impl Mounted {
    /// Reads the table of this process's mounts.
    pub(super) fn read() -> io::Result<Mounted> {
        let mut table = File::open(TABLE)?;
        let mut text = Vec::new();
        table.read_to_end(&mut text)?;
        let (mut places, mut systems) = (HashMap::new(), HashMap::<Vec<u8>, Parts>::new());
        let mut sockets = Vec::new();
        for (device, part, place) in text.split(|&byte| byte == b'\n').filter_map(line) {
            let parts = systems.entry(device.clone()).or_default();
            parts.entry(part.clone()).or_default().push(place.clone());
            if part != Path::new("/") && is_socket(&place) {
                sockets.push(place.clone());
            }
            // What was mounted later is on top.
            places.insert(place, (device, part));
        }
        systems.retain(|_, parts| is_shown_twice(parts));
        if systems.is_empty() {
            places = HashMap::new();
        }
        Ok(Mounted { table, places, systems, sockets })
    }

    /// Returns the sockets that are mounted by themselves.
    pub(super) fn sockets(&self) -> &[PathBuf] {
        &self.sockets
    }

    /// Whether the table changed since the last time this was asked.
    pub(super) fn has_changed(&self) -> bool {
        let mut waiting = [PollFd::from_borrowed_fd(self.table.as_fd(), PollFlags::PRI)];
        let now = Timespec::default();
        rustix::event::poll(&mut waiting, Some(&now)).is_ok()
            && waiting[0].revents().intersects(PollFlags::PRI | PollFlags::ERR)
    }

    /// Returns where else `path`, to which no link leads, is shown, or something in it.
    pub(super) fn elsewhere(&self, path: &Path) -> Vec<PathBuf> {
        let of_place = |place| Some((place, self.places.get(place)?));
        let Some((place, (device, part))) = path.ancestors().find_map(of_place) else {
            return Vec::new();
        };
        let Some(parts) = self.systems.get(device) else { return Vec::new() };
        let Ok(below) = path.strip_prefix(place) else { return Vec::new() };
        let inner = joined(part, below);
        let mut found = Vec::new();
        // A part that has it in it.
        for above in inner.ancestors() {
            let places = parts.get(above).into_iter().flatten();
            let rest = inner.strip_prefix(above).unwrap_or(Path::new(""));
            found.extend(places.map(|place| (path.to_owned(), joined(place, rest))));
        }
        // A part that is in it.
        let within = parts.range(inner.clone()..).take_while(|(part, _)| part.starts_with(&inner));
        for (part, places) in within.filter(|(part, _)| **part != inner) {
            let rest = part.strip_prefix(&inner).unwrap_or(Path::new(""));
            found.extend(places.iter().map(|place| (joined(path, rest), place.clone())));
        }
        // Another mount may cover it there.
        found.retain(|(here, there)| here != there && is_same(here, there));
        found.into_iter().map(|(_, there)| there).collect()
    }
}

/// Returns where something is mounted in a folder beneath `root`.
pub(super) fn beneath(root: &Path) -> Option<PathBuf> {
    let text = fs::read(TABLE).ok()?;
    let lines = text.split(|&byte| byte == b'\n').filter_map(line);
    lines.map(|(.., place)| place).find(|place| place != root && place.starts_with(root))
}

/// Reads the device, the part that is mounted, and the place out of a line of the table.
fn line(line: &[u8]) -> Option<(Vec<u8>, PathBuf, PathBuf)> {
    let mut fields = line.split(|&byte| byte == b' ').skip(2);
    let (device, part, place) = (fields.next()?, fields.next()?, fields.next()?);
    Some((device.to_owned(), unescaped(part), unescaped(place)))
}

/// Whether a part of a file system is mounted twice, or within another that is mounted.
fn is_shown_twice(parts: &Parts) -> bool {
    // What is in a part comes right after it.
    let mut pairs = parts.keys().zip(parts.keys().skip(1));
    parts.values().any(|places| places.len() > 1)
        || pairs.any(|(outer, part)| part.starts_with(outer))
}

/// Joins what may be empty to `path`, without a separator at the end.
fn joined(path: &Path, rest: &Path) -> PathBuf {
    if rest.as_os_str().is_empty() { path.to_owned() } else { path.join(rest) }
}

/// Whether there is a socket at `path`; no server is asked.
fn is_socket(path: &Path) -> bool {
    let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::STATX_DONT_SYNC;
    rustix::fs::statx(rustix::fs::CWD, path, flags, StatxFlags::TYPE)
        .is_ok_and(|found| FileType::from_raw_mode(found.stx_mode.into()) == FileType::Socket)
}

/// Whether both paths lead to the same file or folder.
fn is_same(one: &Path, other: &Path) -> bool {
    let Ok(one) = one.symlink_metadata() else { return false };
    let other = other.symlink_metadata();
    other.is_ok_and(|other| (one.dev(), one.ino()) == (other.dev(), other.ino()))
}

/// Takes back what the kernel does to blanks and backslashes in its lists: three octal digits.
fn unescaped(mut place: &[u8]) -> PathBuf {
    let mut path = Vec::with_capacity(place.len());
    while let Some((&byte, rest)) = place.split_first() {
        let code = rest.get(..3).and_then(|digits| str::from_utf8(digits).ok());
        let code = code.and_then(|digits| u8::from_str_radix(digits, 8).ok());
        let (byte, rest) = match code.filter(|_| byte == b'\\') {
            Some(code) => (code, rest.get(3..).unwrap_or_default()),
            None => (byte, rest),
        };
        path.push(byte);
        place = rest;
    }
    PathBuf::from(OsString::from_vec(path))
}
