//! The table of a segment's trigrams: found by a hash with two looks into memory, each with its blocks.

use super::plan::Gram;
use super::postings::Segment;
use super::segment::narrow;
use crate::index::store::{Section, StoreError};

/// Bytes of a row, and how many rows have one hash at most, in the middle.
const ROW: usize = 8;
const ROWS_OF_HASH: usize = 16;
/// Bytes of the longest number.
const MOST_BYTES: usize = 4;
/// The lower byte of each pair, what adds up four pairs in the highest one, and what marks that a
/// number goes on.
const PAIRS: u64 = 0x00FF_00FF_00FF_00FF;
const SUM: u64 = 0x0001_0001_0001_0001;
const LONG: u64 = 0x8080_8080_8080_8080;

/// How a trigram's blocks are written: the low bits of what stands beside it.
mod form {
    pub(super) const BITS: u32 = 2;
    pub(super) const MASK: u32 = (1 << BITS) - 1;
    /// There is one block, and it stands in the row.
    pub(super) const ONE: u32 = 0;
    /// There are two, and they stand in the row.
    pub(super) const TWO: u32 = 1;
    /// How many bytes follow, then distances, each in as few bytes as it needs.
    pub(super) const LIST: u32 = 2;
    /// A bit for every block.
    pub(super) const SET: u32 = 3;
}

/// Where the blocks of a trigram stand.
#[derive(Clone, Copy, Debug)]
pub(super) enum List {
    None,
    One(u16),
    Two(u16, u16),
    Distances(u32),
    Set(u32),
}

/// What is known of a trigram before its blocks are looked at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    pub list: List,
    /// Grows with the number of blocks.
    pub weight: u32,
}

/// A table that is being made.
pub(super) struct GramTable {
    n_blocks: usize,
    /// Trigram with form and weight, and value.
    rows: Vec<(u32, u32)>,
    lists: Vec<u8>,
    /// Room for one list.
    room: Vec<u8>,
}

impl GramTable {
    pub(super) fn new(n_blocks: usize) -> GramTable {
        GramTable { n_blocks, rows: Vec::new(), lists: Vec::new(), room: Vec::new() }
    }

    /// Adds a trigram that has at least one block; its blocks come in order.
    pub(super) fn add(&mut self, gram: Gram, blocks: &[u16]) {
        let start = u32::try_from(self.lists.len()).unwrap_or(u32::MAX);
        let n_bytes = self.n_blocks.div_ceil(8);
        let (form, value) = match blocks {
            [one] => (form::ONE, u32::from(*one)),
            [one, other] => (form::TWO, u32::from(*one) << 16 | u32::from(*other)),
            _ if blocks.len() > n_bytes => {
                let mut bits = vec![0_u8; n_bytes];
                for block in blocks {
                    bits[usize::from(block / 8)] |= 1 << (block % 8);
                }
                self.lists.extend(bits);
                (form::SET, start)
            }
            _ => {
                let mut before = 0;
                self.room.clear();
                for block in blocks {
                    put_number(&mut self.room, usize::from(block - before));
                    before = *block;
                }
                put_number(&mut self.lists, self.room.len());
                self.lists.extend_from_slice(&self.room);
                (form::LIST, start)
            }
        };
        self.rows.push((gram << 8 | weight(blocks.len()) << form::BITS | form, value));
    }

    /// Returns where the rows of each hash begin, the rows, and the lists they name.
    pub(super) fn finish(self) -> (Vec<u8>, Vec<u8>, Vec<u8>) {
        let n_heads = (self.rows.len() / ROWS_OF_HASH).max(1).next_power_of_two();
        let n_bits = n_heads.trailing_zeros();
        let mut starts = vec![0_usize; n_heads + 1];
        for (key, _) in &self.rows {
            starts[hash(key >> 8, n_bits) + 1] += 1;
        }
        for place in 1..starts.len() {
            starts[place] += starts[place - 1];
        }
        let heads = starts.iter().flat_map(|start| narrow(*start)).collect();
        let mut rows = vec![0; self.rows.len() * ROW];
        for (key, value) in &self.rows {
            let next = &mut starts[hash(key >> 8, n_bits)];
            let row = &mut rows[*next * ROW..(*next + 1) * ROW];
            row[..4].copy_from_slice(&key.to_le_bytes());
            row[4..].copy_from_slice(&value.to_le_bytes());
            *next += 1;
        }
        (heads, rows, self.lists)
    }
}

/// Returns under which hash of so many bits the row of a trigram stands.
fn hash(gram: Gram, n_bits: u32) -> usize {
    gram.wrapping_mul(0x9E37_79B1).checked_shr(32 - n_bits).unwrap_or(0) as usize
}

/// Tells so many blocks in six bits, and fewer of them by less.
fn weight(n_blocks: usize) -> u32 {
    let n_blocks = u32::try_from(n_blocks).unwrap_or(u32::MAX).max(4);
    let log = n_blocks.ilog2();
    ((log - 2) * 4 + (n_blocks >> (log - 2) & 3)).min(63)
}

/// The table of a segment, as it is asked.
#[derive(Clone, Copy)]
pub(super) struct Grams<'a> {
    heads: Section<'a>,
    n_bits: u32,
    rows: Section<'a>,
    lists: Section<'a>,
    n_blocks: usize,
}

impl<'a> Grams<'a> {
    pub(super) fn of(segment: &'a Segment) -> Result<Grams<'a>, StoreError> {
        let heads = segment.section(*b"HEAD")?;
        let n_heads = (heads.len() / 4).saturating_sub(1);
        let n_bits = n_heads.trailing_zeros();
        if !n_heads.is_power_of_two() || n_bits > 24 {
            return Err(StoreError::Damaged);
        }
        Ok(Grams {
            heads,
            n_bits,
            rows: segment.section(*b"GRAM")?,
            lists: segment.section(*b"LIST")?,
            n_blocks: segment.n_blocks,
        })
    }

    /// Looks a trigram up.
    pub(super) fn find(&self, gram: Gram) -> Result<Found, StoreError> {
        let head = hash(gram, self.n_bits);
        let (start, end) = two(self.heads.get(head * 4, 8)?);
        let length = end.checked_sub(start).ok_or(StoreError::Damaged)? as usize;
        for row in self.rows.get(start as usize * ROW, length * ROW)?.chunks_exact(ROW) {
            let (key, value) = two(row);
            if key >> 8 == gram {
                let list = match key & form::MASK {
                    form::ONE => List::One((value & 0xFFFF) as u16),
                    form::TWO => List::Two((value >> 16) as u16, (value & 0xFFFF) as u16),
                    form::LIST => List::Distances(value),
                    _ => List::Set(value),
                };
                return Ok(Found { list, weight: (key & 0xFF) >> form::BITS });
            }
        }
        Ok(Found { list: List::None, weight: 0 })
    }

    /// Leaves of `few`, which are in order, what is in a list.
    pub(super) fn keep(&self, list: List, few: &mut Vec<u16>) -> Result<(), StoreError> {
        match list {
            List::None => few.clear(),
            List::One(block) => few.retain(|kept| *kept == block),
            List::Two(one, other) => few.retain(|kept| *kept == one || *kept == other),
            List::Distances(start) => {
                let mut distances = self.distances(start)?;
                let (mut n_kept, mut next) = (0, 0);
                while let Some(wanted) = few.get(next).copied() {
                    if !distances.reach(u32::from(wanted))? {
                        break;
                    }
                    if distances.block == u32::from(wanted) {
                        few[n_kept] = wanted;
                        n_kept += 1;
                    }
                    next += 1;
                }
                few.truncate(n_kept);
            }
            List::Set(start) => {
                let set = self.set(start)?;
                let has = |block: u16| {
                    set.get(usize::from(block / 8)).is_some_and(|byte| byte >> (block % 8) & 1 != 0)
                };
                few.retain(|block| has(*block));
            }
        }
        Ok(())
    }

    /// Hands each block of a list to `each`, in order, until that says no.
    #[inline]
    pub(super) fn each(
        &self,
        list: List,
        mut each: impl FnMut(u16) -> bool,
    ) -> Result<(), StoreError> {
        match list {
            List::None => {}
            List::One(block) => drop(each(block)),
            List::Two(one, other) => drop(each(one) && each(other)),
            List::Distances(start) => {
                let mut distances = self.distances(start)?;
                while distances.step()? {
                    if !each(number_of(distances.block)?) {
                        break;
                    }
                }
            }
            List::Set(start) => {
                for (word, bits) in (0_u32..).zip(self.words(start)?) {
                    let mut bits = bits;
                    while bits != 0 {
                        let block = word * 64 + bits.trailing_zeros();
                        if !each(number_of(block)?) {
                            return Ok(());
                        }
                        bits &= bits - 1;
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns a list from before its first block on.
    fn distances(&self, start: u32) -> Result<Distances<'a>, StoreError> {
        let start = start as usize;
        let left = self.lists.len().saturating_sub(start);
        let mut length = Distances { rest: self.lists.get(start, left.min(MOST_BYTES))?, block: 0 };
        let n_bytes = length.next()? as usize;
        let start = start + left.min(MOST_BYTES) - length.rest.len();
        Ok(Distances { rest: self.lists.get(start, n_bytes)?, block: 0 })
    }

    /// Returns the words of a set.
    pub(super) fn words(
        &self,
        start: u32,
    ) -> Result<impl Iterator<Item = u64> + use<'a>, StoreError> {
        let bytes = self.set(start)?;
        let (whole, rest) = bytes.as_chunks();
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        let last = (!rest.is_empty()).then_some(last);
        Ok(whole.iter().copied().chain(last).map(u64::from_le_bytes))
    }

    /// Returns the bytes of a set.
    pub(super) fn set(&self, start: u32) -> Result<&'a [u8], StoreError> {
        self.lists.get(start as usize, self.n_blocks.div_ceil(8))
    }
}

fn number_of(block: u32) -> Result<u16, StoreError> {
    u16::try_from(block).map_err(|_| StoreError::Damaged)
}

/// Reads two numbers of four bytes.
fn two(bytes: &[u8]) -> (u32, u32) {
    let whole = bytes.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
    ((whole & 0xFFFF_FFFF) as u32, (whole >> 32) as u32)
}

fn put_number(bytes: &mut Vec<u8>, mut number: usize) {
    loop {
        let [low, ..] = number.to_le_bytes();
        number >>= 7;
        if number == 0 {
            bytes.push(low);
            return;
        }
        bytes.push(low | 0x80);
    }
}

/// A list of distances that is gone through.
struct Distances<'a> {
    /// What was not gone through.
    rest: &'a [u8],
    /// Where it has come to.
    block: u32,
}

impl Distances<'_> {
    /// Goes on to the next block; false at the end.
    #[inline]
    fn step(&mut self) -> Result<bool, StoreError> {
        match self.rest.split_first() {
            None => return Ok(false),
            // Nearly all distances have one byte.
            Some((byte, rest)) if *byte < 0x80 => {
                self.rest = rest;
                self.block += u32::from(*byte);
            }
            Some(_) => self.block = self.block.saturating_add(self.next()?),
        }
        Ok(true)
    }

    /// Goes on to the first block that is not before `wanted`; false if there is none.
    #[inline]
    fn reach(&mut self, wanted: u32) -> Result<bool, StoreError> {
        // Eight distances at a time, as long as they have one byte each and end before it.
        while let Some((eight, rest)) = self.rest.split_first_chunk() {
            let eight = u64::from_le_bytes(*eight);
            let pairs = (eight & PAIRS) + (eight >> 8 & PAIRS);
            let end = self.block + (pairs.wrapping_mul(SUM) >> 48) as u32;
            if eight & LONG != 0 || end >= wanted {
                break;
            }
            (self.rest, self.block) = (rest, end);
        }
        while self.block < wanted {
            if !self.step()? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Reads a number, of which all fit 28 bits.
    fn next(&mut self) -> Result<u32, StoreError> {
        let mut number = 0;
        for shift in [0, 7, 14, 21] {
            let (byte, rest) = self.rest.split_first().ok_or(StoreError::Damaged)?;
            self.rest = rest;
            number |= u32::from(byte & 0x7F) << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(StoreError::Damaged)
    }
}
