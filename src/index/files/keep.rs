//! A file table on disk and back. What is read is checked in every place; what does not fit is not used.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::rules::Sources;
use super::table::{FileTable, Flags, Layout, Mark, NOWHERE, State, Tally};
use crate::index::store::{Reader, StoreError, Writer};
use crate::workspace::Stamp;

/// The kind of file, and the version of what is in it.
const KIND: [u8; 4] = *b"file";
const VERSION: u32 = 1;
/// Bits of a mark.
const RACY: u8 = 1;
const READABLE: u8 = 2;
/// Bits of the sources.
const RULES_RACY: u8 = 1;
const INDEX_RACY: u8 = 2;
const HAS_GLOBAL: u8 = 4;

impl FileTable {
    /// Keeps the table in the file at `path`. A table that was cut is not kept.
    pub fn save(&self, path: &Path, identity: &[u8]) -> std::io::Result<()> {
        if self.tally.cut.is_some() {
            return Ok(());
        }
        let mut writer = Writer::new(KIND, VERSION, identity);
        let (layout, mut bytes) = (&self.layout, Vec::new());
        for (path, mark) in layout.folders.iter().zip(&self.marks) {
            put(&mut bytes, path);
            put_stamp(&mut bytes, mark.stamp);
            let racy = if mark.racy { RACY } else { 0 };
            let readable = if mark.readable { READABLE } else { 0 };
            bytes.extend([racy | readable, mark.rules]);
            bytes.extend(mark.flags.0.to_le_bytes());
        }
        writer.section(*b"fold", std::mem::take(&mut bytes));
        let mut before: &[u8] = b"";
        for (index, state) in self.states.iter().enumerate() {
            let path = layout.path(index);
            let shared = before.iter().zip(path).take_while(|(left, right)| left == right).count();
            put_number(&mut bytes, shared as u64);
            put(&mut bytes, &path[shared..]);
            put_number(&mut bytes, u64::from(layout.homes[index].wrapping_add(1)));
            bytes.extend(state.flags.0.to_le_bytes());
            put_stamp(&mut bytes, state.stamp);
            before = path;
        }
        writer.section(*b"file", std::mem::take(&mut bytes));
        let sources = &*self.sources;
        let flags = u8::from(sources.racy) * RULES_RACY
            + u8::from(sources.index_racy) * INDEX_RACY
            + u8::from(sources.global.is_some()) * HAS_GLOBAL;
        bytes.push(flags);
        let global = sources.global.as_deref().unwrap_or(Path::new(""));
        put(&mut bytes, global.as_os_str().as_bytes());
        for list in [&sources.rules, &sources.index, &sources.stray_rules] {
            put_number(&mut bytes, list.len() as u64);
            for (path, stamp) in list {
                put(&mut bytes, path.as_os_str().as_bytes());
                bytes.push(u8::from(stamp.is_some()));
                put_stamp(&mut bytes, stamp.unwrap_or_default());
            }
        }
        put_number(&mut bytes, u64::from(self.tally.too_deep));
        for path in &sources.strays {
            put(&mut bytes, path);
        }
        writer.section(*b"from", bytes);
        writer.write(path)
    }

    /// Reads a kept table back, as it was when it was kept.
    ///
    /// # Errors
    /// A file that is missing, damaged, or not of this root.
    pub fn load(path: &Path, root: &Path, identity: &[u8]) -> Result<FileTable, StoreError> {
        let reader = Reader::open(path, KIND, VERSION, identity)?;
        let read = |tag| reader.section(tag).map(|bytes| Bytes { rest: bytes });
        let mut table = folders(&mut read(*b"fold")?)
            .and_then(|(layout, marks)| files(&mut read(*b"file").ok()?, layout, marks))
            .ok_or(StoreError::Damaged)?;
        let (sources, too_deep) = sources(&mut read(*b"from")?).ok_or(StoreError::Damaged)?;
        let unreadable = table.marks.iter().filter(|mark| !mark.readable).count();
        let unreadable = u32::try_from(unreadable).unwrap_or(u32::MAX);
        table.tally = Tally { cut: None, unreadable, too_deep };
        table.sources = Arc::new(sources);
        root.clone_into(&mut table.root);
        Ok(table)
    }
}

fn folders(bytes: &mut Bytes<'_>) -> Option<(Layout, Vec<Mark>)> {
    let (mut layout, mut marks) = (Layout::default(), Vec::new());
    while !bytes.rest.is_empty() {
        let path = bytes.text()?;
        if !path.is_empty() && !is_plain(path) {
            return None;
        }
        layout.folders.push(path.into());
        let stamp = bytes.stamp()?;
        let [bits, rules] = bytes.array()?;
        let (racy, readable) = (bits & RACY != 0, bits & READABLE != 0);
        let flags = Flags(u16::from_le_bytes(bytes.array()?));
        marks.push(Mark { stamp, racy, rules, flags, readable });
    }
    Some((layout, marks))
}

fn files(bytes: &mut Bytes<'_>, mut layout: Layout, marks: Vec<Mark>) -> Option<FileTable> {
    let (mut states, mut path) = (Vec::new(), Vec::<u8>::new());
    while !bytes.rest.is_empty() {
        let shared = usize::try_from(bytes.number()?).ok()?;
        let rest = bytes.text()?;
        // They are in order, and the first is compared with nothing.
        if path.get(shared..)? >= rest && !path.is_empty() {
            return None;
        }
        path.truncate(shared);
        path.extend_from_slice(rest);
        let home = u32::try_from(bytes.number()?).ok()?.wrapping_sub(1);
        let is_home = home == NOWHERE
            || layout.folders.get(home as usize).is_some_and(|folder| **folder == *parent(&path));
        if !is_home || !is_plain(&path) {
            return None;
        }
        let flags = Flags(u16::from_le_bytes(bytes.array()?));
        states.push(State { flags, stamp: bytes.stamp()? });
        if !layout.push(&path, home) {
            return None;
        }
    }
    layout.group_files();
    let (layout, sources) = (Arc::new(layout), Arc::default());
    Some(FileTable {
        root: PathBuf::new(),
        layout,
        states,
        marks,
        sources,
        tally: Tally::default(),
    })
}

fn sources(bytes: &mut Bytes<'_>) -> Option<(Sources, u32)> {
    let [flags] = bytes.array()?;
    let global = path_of(bytes.text()?);
    let [rules, index, stray_rules] = [bytes.list()?, bytes.list()?, bytes.list()?];
    let too_deep = u32::try_from(bytes.number()?).ok()?;
    let mut strays = Vec::new();
    while !bytes.rest.is_empty() {
        let path = bytes.text()?;
        if !is_plain(path) {
            return None;
        }
        strays.push(path.into());
    }
    let global = (flags & HAS_GLOBAL != 0).then_some(global);
    let (racy, index_racy) = (flags & RULES_RACY != 0, flags & INDEX_RACY != 0);
    Some((Sources { rules, index, strays, stray_rules, racy, index_racy, global }, too_deep))
}

fn parent(path: &[u8]) -> &[u8] {
    super::join::split(path).0
}

fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(bytes))
}

/// Whether `path` leads down by names only.
fn is_plain(path: &[u8]) -> bool {
    path.split(|byte| *byte == b'/').all(|name| !matches!(name, b"" | b"." | b".."))
        && !path.contains(&0)
}

fn put(bytes: &mut Vec<u8>, text: &[u8]) {
    put_number(bytes, text.len() as u64);
    bytes.extend_from_slice(text);
}

fn put_number(bytes: &mut Vec<u8>, mut number: u64) {
    loop {
        let [low, ..] = number.to_le_bytes();
        number >>= 7;
        if number == 0 {
            return bytes.push(low & 0x7f);
        }
        bytes.push(low | 0x80);
    }
}

fn put_stamp(bytes: &mut Vec<u8>, stamp: Stamp) {
    let Stamp { size, modified, altered, inode, device, mode } = stamp;
    put_number(bytes, size);
    bytes.extend(modified.to_le_bytes());
    bytes.extend(altered.to_le_bytes());
    put_number(bytes, inode);
    put_number(bytes, device);
    put_number(bytes, u64::from(mode));
}

/// Bytes that are read one after the other; reading beyond the end gives `None`.
struct Bytes<'a> {
    rest: &'a [u8],
}

impl<'a> Bytes<'a> {
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (array, rest) = self.rest.split_first_chunk::<N>()?;
        self.rest = rest;
        Some(*array)
    }

    fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let [byte] = self.array()?;
            number |= u64::from(byte & 0x7f).checked_shl(shift)?;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    fn text(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.number()?).ok()?;
        let (text, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(text)
    }

    fn stamp(&mut self) -> Option<Stamp> {
        Some(Stamp {
            size: self.number()?,
            modified: i64::from_le_bytes(self.array()?),
            altered: i64::from_le_bytes(self.array()?),
            inode: self.number()?,
            device: self.number()?,
            mode: u32::try_from(self.number()?).ok()?,
        })
    }

    fn list(&mut self) -> Option<Vec<(PathBuf, Option<Stamp>)>> {
        let count = self.number()?;
        let mut list = Vec::new();
        for _ in 0..count {
            let path = path_of(self.text()?);
            let [is_there] = self.array()?;
            let stamp = self.stamp()?;
            list.push((path, (is_there != 0).then_some(stamp)));
        }
        Some(list)
    }
}
