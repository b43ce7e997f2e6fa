//! Reading a file of sections through a map; every byte is checked before it is used.

use std::fs::{File, OpenOptions};
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use memmap2::Mmap;

use super::{FIXED, MAGIC, PAGE, ROW, StoreError};
use crate::workspace::own;

/// One mapped, checksummed file of sections. Never modified in place.
#[derive(Debug)]
pub struct Reader {
    map: Mmap,
    /// Where the body begins.
    body: usize,
    sections: Vec<([u8; 4], Range<usize>)>,
    /// The checksum of each page of the body.
    sums: Vec<u32>,
    /// A bit for each page that was found whole.
    checked: Vec<AtomicU64>,
}

/// A section whose pages are checked as they are used.
#[derive(Clone, Copy, Debug)]
pub struct Section<'a> {
    reader: &'a Reader,
    /// From the start of the body.
    start: usize,
    length: usize,
}

impl Reader {
    /// Opens the file at `path`, if it is of that kind and version and about `identity`.
    ///
    /// # Errors
    /// A file that is missing, foreign or damaged: what is in it must not be used.
    pub fn open(
        path: &Path,
        kind: [u8; 4],
        version: u32,
        identity: &[u8],
    ) -> Result<Reader, StoreError> {
        let file = own::open(OpenOptions::new().read(true), path)?;
        let map = map(&file)?;
        let (body, sections, sums) = parse(&map, kind, version, identity)?;
        let checked = (0..sums.len().div_ceil(64)).map(|_| AtomicU64::new(0)).collect();
        Ok(Reader { map, body, sections, sums, checked })
    }

    /// Returns a section, all of it checked.
    pub fn section(&self, tag: [u8; 4]) -> Result<&[u8], StoreError> {
        let section = self.lazy(tag)?;
        section.get(0, section.length)
    }

    /// Returns a section of which each part is checked when it is asked for.
    pub fn lazy(&self, tag: [u8; 4]) -> Result<Section<'_>, StoreError> {
        let found = self.sections.iter().find(|(other, _)| *other == tag);
        let (_, range) = found.ok_or(StoreError::Damaged)?;
        Ok(Section { reader: self, start: range.start, length: range.len() })
    }

    /// Returns the bytes of the file.
    pub fn size(&self) -> u64 {
        self.map.len() as u64
    }

    /// Checks the pages that `range` of the body lies on.
    fn check(&self, range: &Range<usize>) -> Result<(), StoreError> {
        if range.is_empty() {
            return Ok(());
        }
        for page in range.start / PAGE..=(range.end - 1) / PAGE {
            let (word, bit) = (&self.checked[page / 64], 1_u64 << (page % 64));
            if word.load(Ordering::Relaxed) & bit != 0 {
                continue;
            }
            let start = self.body + page * PAGE;
            let end = (start + PAGE).min(self.map.len());
            let bytes = self.map.get(start..end).ok_or(StoreError::Damaged)?;
            if self.sums.get(page) != Some(&crc32fast::hash(bytes)) {
                return Err(StoreError::Damaged);
            }
            word.fetch_or(bit, Ordering::Relaxed);
        }
        Ok(())
    }
}

impl<'a> Section<'a> {
    /// Returns `length` bytes from `start`.
    pub fn get(&self, start: usize, length: usize) -> Result<&'a [u8], StoreError> {
        let end = start.checked_add(length).ok_or(StoreError::Damaged)?;
        if end > self.length {
            return Err(StoreError::Damaged);
        }
        let range = self.start + start..self.start + end;
        self.reader.check(&range)?;
        let body = self.reader.body;
        self.reader.map.get(body + range.start..body + range.end).ok_or(StoreError::Damaged)
    }

    /// Returns the number at `place`, counted in numbers of four bytes.
    pub fn number(&self, place: usize) -> Result<u32, StoreError> {
        let start = place.checked_mul(4).ok_or(StoreError::Damaged)?;
        let bytes = self.get(start, 4)?;
        bytes.try_into().map(u32::from_le_bytes).map_err(|_| StoreError::Damaged)
    }

    /// Returns the number of bytes.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }
}

#[expect(unsafe_code, reason = "a map is the only way to read a little of a large file at no cost")]
fn map(file: &File) -> std::io::Result<Mmap> {
    // SAFETY: files of the index lie in a folder of the user's own, and are replaced, never modified.
    unsafe { Mmap::map(file) }
}

type Parsed = (usize, Vec<([u8; 4], Range<usize>)>, Vec<u32>);

/// Reads the header, all of which its own checksum covers.
fn parse(bytes: &[u8], kind: [u8; 4], version: u32, identity: &[u8]) -> Result<Parsed, StoreError> {
    if bytes.get(..MAGIC.len()).ok_or(StoreError::Damaged)? != MAGIC {
        return Err(StoreError::Foreign);
    }
    let (length, n_body) = (long(bytes, 16)?, long(bytes, 24)?);
    let end = length.checked_sub(4).ok_or(StoreError::Damaged)?;
    let header = bytes.get(..end).ok_or(StoreError::Damaged)?;
    if crc32fast::hash(header) != short(bytes, end)? {
        return Err(StoreError::Damaged);
    }
    if length.checked_add(n_body) != Some(bytes.len()) {
        return Err(StoreError::Damaged);
    }
    if header.get(8..12) != Some(&kind) || short(header, 12)? != version {
        return Err(StoreError::Foreign);
    }
    let n_identity = short(header, 32)? as usize;
    let n_sections = short(header, 36)? as usize;
    let rest = header.get(FIXED..).ok_or(StoreError::Damaged)?;
    if rest.get(..n_identity).ok_or(StoreError::Damaged)? != identity {
        return Err(StoreError::Foreign);
    }
    let rest = &rest[n_identity..];
    let table = n_sections.checked_mul(ROW).and_then(|length| rest.split_at_checked(length));
    let (table, rest) = table.ok_or(StoreError::Damaged)?;
    let sections = table.chunks_exact(ROW).map(|row| {
        let (start, length) = (long(row, 8)?, long(row, 16)?);
        let end = start.checked_add(length).filter(|end| *end <= n_body);
        let tag = row[..4].try_into().map_err(|_| StoreError::Damaged)?;
        Ok((tag, start..end.ok_or(StoreError::Damaged)?))
    });
    let sections = sections.collect::<Result<_, StoreError>>()?;
    if rest.len() != n_body.div_ceil(PAGE) * 4 {
        return Err(StoreError::Damaged);
    }
    let sums = rest.chunks_exact(4).map(|sum| short(sum, 0)).collect::<Result<_, _>>()?;
    Ok((length, sections, sums))
}

fn short(bytes: &[u8], at: usize) -> Result<u32, StoreError> {
    let bytes = bytes.get(at..at + 4).ok_or(StoreError::Damaged)?;
    bytes.try_into().map(u32::from_le_bytes).map_err(|_| StoreError::Damaged)
}

fn long(bytes: &[u8], at: usize) -> Result<usize, StoreError> {
    let bytes = bytes.get(at..at + 8).ok_or(StoreError::Damaged)?;
    let number = bytes.try_into().map(u64::from_le_bytes).map_err(|_| StoreError::Damaged)?;
    usize::try_from(number).map_err(|_| StoreError::Damaged)
}
