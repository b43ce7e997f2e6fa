//! Sorted keys, each with a list of ascending numbers: front-coded, in blocks that are found by halving.

use super::interner::small;
use crate::index::store::{Section, StoreError};

/// Keys of one block; the first of each is whole.
const BLOCK: usize = 16;

/// Adds a number in as many bytes as it needs.
pub(in crate::index) fn put(bytes: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        bytes.push((number & 0x7F) as u8 | 0x80);
        number >>= 7;
    }
    bytes.push((number & 0x7F) as u8);
}

/// Takes a number off the front.
pub(in crate::index) fn take(bytes: &mut &[u8]) -> Result<u32, StoreError> {
    let (mut number, mut shift) = (0_u32, 0);
    loop {
        let (&byte, rest) = bytes.split_first().ok_or(StoreError::Damaged)?;
        *bytes = rest;
        if shift > 28 || shift == 28 && byte > 0x0F {
            return Err(StoreError::Damaged);
        }
        number |= u32::from(byte & 0x7F) << shift;
        if byte < 0x80 {
            return Ok(number);
        }
        shift += 7;
    }
}

/// A dictionary that is being written.
#[derive(Debug, Default)]
pub(super) struct DictionaryWriter {
    entries: Vec<u8>,
    /// Where each block begins.
    blocks: Vec<u8>,
    before: Vec<u8>,
    count: usize,
    list: Vec<u8>,
}

impl DictionaryWriter {
    /// Adds a key, which comes after all before it, with its ascending numbers.
    pub(super) fn add(&mut self, key: &[u8], numbers: &[u32]) {
        let mut shared = 0;
        if self.count.is_multiple_of(BLOCK) {
            self.blocks.extend(small(self.entries.len()).to_le_bytes());
        } else {
            shared = key.iter().zip(&self.before).take_while(|(one, other)| one == other).count();
        }
        self.count += 1;
        put(&mut self.entries, small(shared));
        put(&mut self.entries, small(key.len() - shared));
        self.entries.extend_from_slice(&key[shared..]);
        self.before.clear();
        self.before.extend_from_slice(key);
        self.list.clear();
        let mut last = 0;
        for number in numbers {
            put(&mut self.list, number - last);
            last = *number;
        }
        put(&mut self.entries, small(self.list.len()));
        self.entries.extend_from_slice(&self.list);
    }

    /// Returns the entries, and where their blocks begin.
    pub(super) fn finish(self) -> (Vec<u8>, Vec<u8>) {
        (self.entries, self.blocks)
    }
}

/// A dictionary that is read; every byte of it is checked.
#[derive(Clone, Copy, Debug)]
pub(in crate::index) struct Dictionary<'a> {
    pub(super) entries: Section<'a>,
    pub(super) blocks: Section<'a>,
}

/// Takes a key with its number and its list.
type Each<'e, 'a> = dyn FnMut(u32, &[u8], List<'a>) -> Result<(), StoreError> + 'e;

/// Ascending numbers.
#[derive(Clone, Copy, Debug)]
pub(in crate::index) struct List<'a>(&'a [u8]);

impl List<'_> {
    /// Hands every number to `each`.
    pub(in crate::index) fn each(self, each: &mut dyn FnMut(u32)) -> Result<(), StoreError> {
        let (mut bytes, mut last) = (self.0, 0_u32);
        while !bytes.is_empty() {
            last = last.checked_add(take(&mut bytes)?).ok_or(StoreError::Damaged)?;
            each(last);
        }
        Ok(())
    }
}

/// A place among entries.
struct Entries<'a, 'k> {
    bytes: &'a [u8],
    key: &'k mut Vec<u8>,
}

impl<'a> Entries<'a, '_> {
    /// Goes to the next key; `None` at the end.
    fn next(&mut self) -> Result<Option<List<'a>>, StoreError> {
        if self.bytes.is_empty() {
            return Ok(None);
        }
        let shared = take(&mut self.bytes)? as usize;
        let rest = self.part()?;
        if shared > self.key.len() {
            return Err(StoreError::Damaged);
        }
        self.key.truncate(shared);
        self.key.extend_from_slice(rest);
        Ok(Some(List(self.part()?)))
    }

    /// Takes as many bytes as the number before them says.
    fn part(&mut self) -> Result<&'a [u8], StoreError> {
        let length = take(&mut self.bytes)? as usize;
        let (part, rest) = self.bytes.split_at_checked(length).ok_or(StoreError::Damaged)?;
        self.bytes = rest;
        Ok(part)
    }
}

impl<'a> Dictionary<'a> {
    fn n_blocks(self) -> usize {
        self.blocks.len() / 4
    }

    /// Returns the entries of a block.
    fn block(self, place: usize) -> Result<&'a [u8], StoreError> {
        let start = self.blocks.number(place)? as usize;
        let end = match place + 1 {
            last if last == self.n_blocks() => self.entries.len(),
            next => self.blocks.number(next)? as usize,
        };
        self.entries.get(start, end.checked_sub(start).ok_or(StoreError::Damaged)?)
    }

    /// Finds a key: its number, counted from the first, and its list.
    pub(super) fn find(self, key: &[u8]) -> Result<Option<(u32, List<'a>)>, StoreError> {
        let mut own = Vec::new();
        let (mut low, mut high) = (0, self.n_blocks());
        // The last block whose first key is not beyond the key.
        while low < high {
            let middle = usize::midpoint(low, high);
            own.clear();
            Entries { bytes: self.block(middle)?, key: &mut own }.next()?;
            if own.as_slice() <= key {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let Some(place) = low.checked_sub(1) else { return Ok(None) };
        own.clear();
        let mut entries = Entries { bytes: self.block(place)?, key: &mut own };
        let mut number = small(place * BLOCK);
        while let Some(list) = entries.next()? {
            if entries.key.as_slice() == key {
                return Ok(Some((number, list)));
            }
            number += 1;
        }
        Ok(None)
    }

    /// Writes the key of a number into `key`.
    pub(super) fn key(self, number: u32, key: &mut Vec<u8>) -> Result<(), StoreError> {
        key.clear();
        let number = number as usize;
        let mut entries = Entries { bytes: self.block(number / BLOCK)?, key };
        for _ in 0..=number % BLOCK {
            entries.next()?.ok_or(StoreError::Damaged)?;
        }
        Ok(())
    }

    /// Hands every key to `each`, in order, with its number and its list.
    pub(in crate::index) fn each(self, each: &mut Each<'_, 'a>) -> Result<(), StoreError> {
        let mut key = Vec::new();
        let bytes = self.entries.get(0, self.entries.len())?;
        let mut entries = Entries { bytes, key: &mut key };
        let mut number = 0;
        while let Some(list) = entries.next()? {
            each(number, entries.key, list)?;
            number += 1;
        }
        Ok(())
    }
}
