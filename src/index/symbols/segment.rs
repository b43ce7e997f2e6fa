//! One file of symbols on disk, opened for reading: files with stamps, their definitions, names and words.

use std::path::{Path, PathBuf};

use super::dictionary::{Dictionary, take};
use super::lexed::{Definition, Kind};
use super::read::is_proved;
use super::{VERSION, tags};
use crate::index::files::{FileId, FileTable};
use crate::index::store::{Reader, StoreError};
use crate::workspace::Stamp;

pub(super) const KIND: [u8; 4] = *b"SYMS";
/// Bytes of a file's row.
pub(super) const FILE_ROW: usize = 64;

/// An opened segment.
#[derive(Debug)]
pub(in crate::index) struct Segment {
    pub(super) name: String,
    pub(super) path: PathBuf,
    pub(super) n_files: u32,
    reader: Reader,
}

/// One definition, its names by their numbers; that of a container counts from one.
#[derive(Clone, Copy, Debug)]
pub(in crate::index) struct Raw {
    pub(in crate::index) name: u32,
    pub(super) container: u32,
    pub(in crate::index) kind: Kind,
    pub(super) line: u32,
    pub(super) start: u32,
    pub(super) end: u32,
}

impl Segment {
    pub(super) fn open(folder: &Path, name: &str, identity: &[u8]) -> Result<Segment, StoreError> {
        let path = folder.join(name);
        let reader = Reader::open(&path, KIND, VERSION, identity)?;
        let n_files = reader.lazy(tags::FILES)?.len() / FILE_ROW;
        let n_files = u32::try_from(n_files).map_err(|_| StoreError::Damaged)?;
        Ok(Segment { name: name.to_owned(), path, n_files, reader })
    }

    /// Hands over which files of `table` are described as they are, with their places here.
    pub(super) fn bind(
        &self,
        table: &FileTable,
        each: &mut dyn FnMut(FileId, u32),
    ) -> Result<(), StoreError> {
        let paths = self.reader.lazy(tags::PATHS)?;
        // Where most files are meant, walking beside them is cheaper than halving for each.
        let is_dense = self.n_files as usize > table.len() / 16;
        let mut all = table.iter().peekable();
        let mut start = 0;
        for place in 0..self.n_files {
            let row = self.row(place)?;
            let end = short(row, 0)? as usize;
            let path = paths.get(start, end.checked_sub(start).ok_or(StoreError::Damaged)?)?;
            start = end;
            let entry = if is_dense {
                while all.next_if(|entry| entry.path < path).is_some() {}
                all.next_if(|entry| entry.path == path)
            } else {
                table.find(path).map(|id| table.get(id))
            };
            let Some(entry) = entry else { continue };
            if is_proved(&entry, stamp(row)?) {
                each(entry.id, place);
            }
        }
        Ok(())
    }

    fn row(&self, place: u32) -> Result<&[u8], StoreError> {
        self.reader.lazy(tags::FILES)?.get(place as usize * FILE_ROW, FILE_ROW)
    }

    /// Hands over the definitions of the file at `place`, in order.
    pub(in crate::index) fn definitions(
        &self,
        place: u32,
        each: &mut dyn FnMut(&Raw) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let row = self.row(place)?;
        let (start, count) = (short(row, 4)? as usize, short(row, 8)?);
        let section = self.reader.lazy(tags::DEFINITIONS)?;
        let end = match place + 1 {
            last if last == self.n_files => section.len(),
            next => short(self.row(next)?, 4)? as usize,
        };
        let length = end.checked_sub(start).ok_or(StoreError::Damaged)?;
        let mut bytes = section.get(start, length)?;
        let mut before = 0;
        for _ in 0..count {
            let (name, container) = (take(&mut bytes)?, take(&mut bytes)?);
            let (&kind, rest) = bytes.split_first().ok_or(StoreError::Damaged)?;
            bytes = rest;
            let kind = Kind::from_number(kind).ok_or(StoreError::Damaged)?;
            let line = unfolded(take(&mut bytes)?, before)?;
            let start = unfolded(take(&mut bytes)?, line)?;
            let end = unfolded(take(&mut bytes)?, line)?;
            before = line;
            each(&Raw { name, container, kind, line, start, end })?;
        }
        if bytes.is_empty() { Ok(()) } else { Err(StoreError::Damaged) }
    }

    /// Returns the names of definitions and containers, with the places of the files that define them.
    pub(in crate::index) fn names(&self) -> Result<Dictionary<'_>, StoreError> {
        let (entries, blocks) = (tags::NAMES, tags::NAME_BLOCKS);
        Ok(Dictionary { entries: self.reader.lazy(entries)?, blocks: self.reader.lazy(blocks)? })
    }

    /// Returns all identifiers, with the places of the files that hold them.
    pub(in crate::index) fn words(&self) -> Result<Dictionary<'_>, StoreError> {
        let (entries, blocks) = (tags::WORDS, tags::WORD_BLOCKS);
        Ok(Dictionary { entries: self.reader.lazy(entries)?, blocks: self.reader.lazy(blocks)? })
    }

    /// Makes the whole of a definition.
    pub(super) fn whole(&self, raw: &Raw) -> Result<Definition, StoreError> {
        let names = self.names()?;
        let text = |number: u32| {
            let mut key = Vec::new();
            names.key(number, &mut key)?;
            String::from_utf8(key).map_err(|_| StoreError::Damaged)
        };
        let container = raw.container.checked_sub(1).map_or(Ok(String::new()), text)?;
        let Raw { kind, line, start, end, .. } = *raw;
        Ok(Definition { name: text(raw.name)?, kind, container, line, start, end })
    }
}

fn unfolded(number: u32, from: u32) -> Result<u32, StoreError> {
    let line = match number & 1 {
        0 => from.checked_add(number >> 1),
        _ => from.checked_sub((number >> 1) + 1),
    };
    line.ok_or(StoreError::Damaged)
}

fn short(row: &[u8], at: usize) -> Result<u32, StoreError> {
    let bytes = row.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
    bytes.map(u32::from_le_bytes).ok_or(StoreError::Damaged)
}

fn stamp(row: &[u8]) -> Result<Stamp, StoreError> {
    let long = |at: usize| {
        let bytes = row.get(at..at + 8).and_then(|bytes| bytes.try_into().ok());
        bytes.ok_or(StoreError::Damaged)
    };
    Ok(Stamp {
        mode: short(row, 16)?,
        size: u64::from_le_bytes(long(24)?),
        inode: u64::from_le_bytes(long(32)?),
        device: u64::from_le_bytes(long(40)?),
        modified: i64::from_le_bytes(long(48)?),
        altered: i64::from_le_bytes(long(56)?),
    })
}
