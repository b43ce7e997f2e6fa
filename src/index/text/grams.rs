//! The table of a segment's trigrams: found by a hash with two looks into memory, each with its blocks.

use super::lists::List as Part;
use super::plan::Gram;
use super::postings::Segment;
use super::segment::narrow;
use crate::index::store::{Section, StoreError};

/// Bytes of a row, and how many rows have one hash at most, in the middle.
const ROW: usize = 6;
const ROWS_OF_HASH: usize = 16;
/// Bits of a hash at least, so that what is left of a trigram leaves enough bits in its row.
const LEAST_BITS: u32 = 10;
const GRAM_BITS: u32 = 24;
/// Trigrams that are looked up at a time.
pub(super) const AT_ONCE: usize = 8;
/// Steps through a list that take as long as to go on to a certain block of it.
const STEPS: usize = 5;
/// Most bytes of the number of bytes of a list.
const LENGTH: usize = 2;
/// Bytes of the longest number.
const MOST_BYTES: usize = 4;
/// The lower byte of each pair, what adds up four pairs in the highest one, and what marks that a
/// number goes on.
const PAIRS: u64 = 0x00FF_00FF_00FF_00FF;
const SUM: u64 = 0x0001_0001_0001_0001;
const LONG: u64 = 0x8080_8080_8080_8080;

/// How a trigram's blocks are written: the low bits of its row.
mod form {
    pub(super) const BITS: u32 = 2;
    pub(super) const MASK: u64 = (1 << BITS) - 1;
    /// There is one block, and it stands in the row.
    pub(super) const ONE: u64 = 0;
    /// There are two, and they stand in the row.
    pub(super) const TWO: u64 = 1;
    /// How many bytes follow, then distances, each in as few bytes as it needs.
    pub(super) const LIST: u64 = 2;
    /// A bit for every block.
    pub(super) const SET: u64 = 3;
    /// Two blocks have so many bits each, and so many stand before the place of a list or a set:
    /// about how many blocks it has.
    pub(super) const BLOCK: u32 = 16;
    pub(super) const WEIGHT: u32 = 5;
}

/// Where the blocks of a trigram stand.
#[derive(Clone, Copy, Debug)]
pub(super) enum List {
    None,
    One(u16),
    Two(u16, u16),
    Distances(usize),
    Set(usize),
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
    /// Trigram, form, and what else stands in the row.
    rows: Vec<(Gram, u64)>,
    lists: Vec<u8>,
    /// Room for one list.
    room: Vec<u8>,
}

impl GramTable {
    pub(super) fn new(n_blocks: usize) -> GramTable {
        GramTable { n_blocks, rows: Vec::new(), lists: Vec::new(), room: Vec::new() }
    }

    /// Adds a trigram that has at least one block; its blocks come in order.
    pub(super) fn add(&mut self, gram: Gram, parts: &[Part<'_>]) {
        let n_blocks: usize = parts.iter().map(|part| part.n_blocks).sum();
        let n_bytes = self.n_blocks.div_ceil(8);
        let mut blocks = parts.iter().flat_map(Part::blocks);
        let listed = (self.lists.len() as u64) << form::WEIGHT | u64::from(weight(n_blocks));
        let (form, value) = match n_blocks {
            0 => return,
            1 => (form::ONE, blocks.next().unwrap_or(0) as u64),
            2 => {
                let (one, other) = (blocks.next().unwrap_or(0), blocks.next().unwrap_or(0));
                (form::TWO, (other << form::BLOCK | one) as u64)
            }
            _ if n_blocks < n_bytes && self.listed(parts) < n_bytes => {
                put_number(&mut self.lists, self.room.len());
                self.lists.extend_from_slice(&self.room);
                (form::LIST, listed)
            }
            _ => {
                let start = self.lists.len();
                self.lists.resize(start + n_bytes, 0);
                let bits = &mut self.lists[start..];
                blocks.for_each(|block| bits[block / 8] |= 1 << (block % 8));
                (form::SET, listed)
            }
        };
        self.rows.push((gram, value << form::BITS | form));
    }

    /// Writes a list to the room for one; returns the bytes it takes with their number before it.
    fn listed(&mut self, parts: &[Part<'_>]) -> usize {
        self.room.clear();
        let mut before = 0;
        for part in parts {
            part.put(before, &mut self.room);
            before = part.base + part.last;
        }
        self.room.len() + LENGTH
    }

    /// Returns where the rows of each hash begin, the rows, and the lists they name.
    ///
    /// A row always has the bits for its value: no list takes more than 8,192 bytes, so that where
    /// it stands is told in 17 bits more than a hash has.
    pub(super) fn finish(self) -> (Vec<u8>, Vec<u8>, Vec<u8>) {
        let n_heads = (self.rows.len() / ROWS_OF_HASH).max(1 << LEAST_BITS).next_power_of_two();
        let n_bits = n_heads.trailing_zeros();
        let mut starts = vec![0_usize; n_heads + 1];
        for (gram, _) in &self.rows {
            starts[hash(*gram, n_bits).0 + 1] += 1;
        }
        for place in 1..starts.len() {
            starts[place] += starts[place - 1];
        }
        let heads = starts.iter().flat_map(|start| narrow(*start)).collect();
        let mut rows = vec![0; self.rows.len() * ROW];
        for (gram, value) in &self.rows {
            let (head, rest) = hash(*gram, n_bits);
            let next = &mut starts[head];
            let row = value << (GRAM_BITS - n_bits) | rest;
            rows[*next * ROW..(*next + 1) * ROW].copy_from_slice(&row.to_le_bytes()[..ROW]);
            *next += 1;
        }
        (heads, rows, self.lists)
    }
}

/// Returns under which hash of so many bits the row of a trigram stands, and what is left of it:
/// the two are told by each other.
fn hash(gram: Gram, n_bits: u32) -> (usize, u64) {
    let mixed = gram.wrapping_mul(0x9E_3779) & ((1 << GRAM_BITS) - 1);
    let n_rest = GRAM_BITS - n_bits;
    ((mixed >> n_rest) as usize, u64::from(mixed & ((1 << n_rest) - 1)))
}

/// Tells so many blocks in five bits, and fewer of them by less.
fn weight(n_blocks: usize) -> u32 {
    let n_blocks = u32::try_from(n_blocks).unwrap_or(u32::MAX).max(2);
    let log = n_blocks.ilog2();
    ((log - 1) * 2 + (n_blocks >> (log - 1) & 1)).min(31)
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
        if !n_heads.is_power_of_two() || !(LEAST_BITS..=GRAM_BITS).contains(&n_bits) {
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

    /// Looks trigrams up, all of them at once, so that memory is waited for only twice.
    pub(super) fn find(&self, grams: &[Gram], found: &mut Vec<Found>) -> Result<(), StoreError> {
        found.clear();
        let mut rows = [(0, &[][..]); AT_ONCE];
        for grams in grams.chunks(AT_ONCE) {
            for (gram, rows) in grams.iter().zip(&mut rows) {
                let (head, rest) = hash(*gram, self.n_bits);
                let (start, end) = two(self.heads.get(head * 4, 8)?);
                let length = end.checked_sub(start).ok_or(StoreError::Damaged)? as usize;
                *rows = (rest, self.rows.get(start as usize * ROW, length * ROW)?);
            }
            for (rest, rows) in rows.iter().take(grams.len()) {
                found.push(self.found(*rest, rows));
            }
        }
        Ok(())
    }

    /// Looks among the rows of one hash for the one with the given rest.
    fn found(&self, rest: u64, rows: &[u8]) -> Found {
        let n_rest = GRAM_BITS - self.n_bits;
        let rows = rows
            .as_chunks::<ROW>()
            .0
            .iter()
            .map(|[a, b, c, d, e, f]| u64::from_le_bytes([*a, *b, *c, *d, *e, *f, 0, 0]));
        let mut rows = rows.filter(|row| row & ((1 << n_rest) - 1) == rest);
        let Some(row) = rows.next() else { return Found { list: List::None, weight: 0 } };
        let row = row >> n_rest;
        let value = row >> form::BITS;
        let block = |value: u64| (value & 0xFFFF) as u16;
        let place = (value >> form::WEIGHT) as usize;
        let list = match row & form::MASK {
            form::ONE => List::One(block(value)),
            form::TWO => List::Two(block(value), block(value >> form::BLOCK)),
            form::LIST => List::Distances(place),
            _ => List::Set(place),
        };
        let weight = match list {
            List::Distances(_) | List::Set(_) => (value & ((1 << form::WEIGHT) - 1)) as u32,
            _ => 0,
        };
        Found { list, weight }
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

    /// Whether it is faster to go through all of a list than to look in it for so many blocks.
    pub(super) fn is_short(&self, list: List, n_wanted: usize) -> Result<bool, StoreError> {
        let List::Distances(start) = list else { return Ok(false) };
        Ok(self.distances(start)?.rest.len() < n_wanted * STEPS)
    }

    /// Returns the blocks of a list that are wanted.
    #[inline]
    pub(super) fn those(
        &self,
        list: List,
        wanted: impl Fn(u16) -> bool,
    ) -> Result<Vec<u16>, StoreError> {
        let n_most = match list {
            List::Distances(start) => self.distances(start)?.rest.len(),
            List::Set(_) => self.n_blocks,
            List::None | List::One(_) | List::Two(..) => 2,
        };
        let (mut blocks, mut n_found) = (vec![0; n_most], 0);
        self.each(list, |block| {
            // Without a branch: whether a block is wanted cannot be foretold.
            let Some(place) = blocks.get_mut(n_found) else { return false };
            *place = block;
            n_found += usize::from(wanted(block));
            true
        })?;
        blocks.truncate(n_found);
        Ok(blocks)
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
    fn distances(&self, start: usize) -> Result<Distances<'a>, StoreError> {
        let left = self.lists.len().saturating_sub(start);
        let head = self.lists.get(start, left.min(MOST_BYTES))?;
        let mut length = Numbers(head);
        let n_bytes = length.next().ok_or(StoreError::Damaged)? as usize;
        let start = start + head.len() - length.0.len();
        Ok(Distances { rest: self.lists.get(start, n_bytes)?, block: 0 })
    }

    /// Returns the words of a set.
    pub(super) fn words(
        &self,
        start: usize,
    ) -> Result<impl Iterator<Item = u64> + use<'a>, StoreError> {
        let bytes = self.set(start)?;
        let (whole, rest) = bytes.as_chunks();
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        let last = (!rest.is_empty()).then_some(last);
        Ok(whole.iter().copied().chain(last).map(u64::from_le_bytes))
    }

    /// Returns the bytes of a set.
    pub(super) fn set(&self, start: usize) -> Result<&'a [u8], StoreError> {
        self.lists.get(start, self.n_blocks.div_ceil(8))
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

/// Writes a number in as few bytes as it needs.
pub(super) fn put_number(bytes: &mut Vec<u8>, mut number: usize) {
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

/// Numbers as they were written, up to the end or to one that is none.
pub(super) struct Numbers<'a>(pub &'a [u8]);

impl Iterator for Numbers<'_> {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        let mut number = 0;
        for shift in [0, 7, 14, 21] {
            let (byte, rest) = self.0.split_first()?;
            self.0 = rest;
            number |= u32::from(byte & 0x7F) << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
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
            Some(_) => {
                let mut numbers = Numbers(self.rest);
                let distance = numbers.next().ok_or(StoreError::Damaged)?;
                (self.rest, self.block) = (numbers.0, self.block.saturating_add(distance));
            }
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
}
