//! Which blocks of a segment a plan leaves.

use std::collections::HashMap;

use super::plan::{Gram, Plan};
use super::postings::Segment;
use super::segment::{GRAM_ROW, Numbers, form};
use crate::index::store::{Section, StoreError};

/// A set of blocks.
#[derive(Clone, Debug)]
pub(super) struct Blocks {
    words: Vec<u64>,
}

impl Blocks {
    fn none(n_blocks: usize) -> Blocks {
        Blocks { words: vec![0; n_blocks.div_ceil(64)] }
    }

    fn all(n_blocks: usize) -> Blocks {
        let mut blocks = Blocks { words: vec![u64::MAX; n_blocks.div_ceil(64)] };
        if let Some(last) = blocks.words.last_mut()
            && !n_blocks.is_multiple_of(64)
        {
            *last = (1 << (n_blocks % 64)) - 1;
        }
        blocks
    }

    fn add(&mut self, block: usize) -> Result<(), StoreError> {
        let word = self.words.get_mut(block / 64).ok_or(StoreError::Damaged)?;
        *word |= 1 << (block % 64);
        Ok(())
    }

    fn intersect(&mut self, other: &Blocks) {
        self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word &= other);
    }

    fn unite(&mut self, other: &Blocks) {
        self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word |= other);
    }

    fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    /// Returns the blocks in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = usize> {
        self.words.iter().enumerate().flat_map(|(place, word)| {
            let mut word = *word;
            std::iter::from_fn(move || {
                let bit = word.trailing_zeros() as usize;
                (word != 0).then(|| {
                    word &= word - 1;
                    place * 64 + bit
                })
            })
        })
    }
}

/// Whether a trigram counts for its block, or for all blocks of its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    Block,
    File,
}

/// Where the blocks of a trigram stand.
#[derive(Clone, Copy, Debug)]
enum List {
    None,
    One(u32),
    /// Start, and how many.
    Distances(u32, u32),
    Bits(u32),
}

/// A plan being followed in one segment.
pub(super) struct Lookup<'a> {
    segment: &'a Segment,
    rows: Section<'a>,
    lists: Section<'a>,
    reach: Reach,
    known: HashMap<Gram, List>,
}

impl<'a> Lookup<'a> {
    pub(super) fn new(segment: &'a Segment, reach: Reach) -> Result<Lookup<'a>, StoreError> {
        let (rows, lists) = (segment.section(*b"GRAM")?, segment.section(*b"LIST")?);
        Ok(Lookup { segment, rows, lists, reach, known: HashMap::new() })
    }

    /// Returns the blocks that `plan` leaves.
    ///
    /// # Errors
    /// Damage: then nothing is known, and every file has to be searched.
    pub(super) fn follow(&mut self, plan: &Plan) -> Result<Blocks, StoreError> {
        let n_blocks = self.segment.n_blocks;
        match plan {
            Plan::All => Ok(Blocks::all(n_blocks)),
            Plan::Nothing => Ok(Blocks::none(n_blocks)),
            Plan::Gram(gram) => {
                let list = self.find(*gram)?;
                self.blocks(list)
            }
            Plan::And(parts) => self.follow_all(parts),
            Plan::Or(parts) => {
                let mut blocks = Blocks::none(n_blocks);
                for part in parts {
                    blocks.unite(&self.follow(part)?);
                }
                Ok(blocks)
            }
        }
    }

    /// Follows the shortest lists first, and no further than something is left.
    fn follow_all(&mut self, parts: &[Plan]) -> Result<Blocks, StoreError> {
        let mut lists = Vec::new();
        for part in parts {
            if let Plan::Gram(gram) = part {
                let list = self.find(*gram)?;
                if matches!(list, List::None) {
                    return Ok(Blocks::none(self.segment.n_blocks));
                }
                lists.push(list);
            }
        }
        lists.sort_by_key(|list| match list {
            List::None => 0,
            List::One(_) => 1,
            List::Distances(_, count) => *count,
            List::Bits(_) => u32::MAX,
        });
        let mut blocks: Option<Blocks> = None;
        for list in lists {
            let these = self.blocks(list)?;
            match &mut blocks {
                None => blocks = Some(these),
                Some(blocks) => blocks.intersect(&these),
            }
            if blocks.as_ref().is_some_and(Blocks::is_empty) {
                break;
            }
        }
        for part in parts.iter().filter(|part| !matches!(part, Plan::Gram(_))) {
            if blocks.as_ref().is_some_and(Blocks::is_empty) {
                break;
            }
            let these = self.follow(part)?;
            match &mut blocks {
                None => blocks = Some(these),
                Some(blocks) => blocks.intersect(&these),
            }
        }
        Ok(blocks.unwrap_or_else(|| Blocks::all(self.segment.n_blocks)))
    }

    fn find(&mut self, gram: Gram) -> Result<List, StoreError> {
        if let Some(list) = self.known.get(&gram) {
            return Ok(*list);
        }
        let (mut low, mut high) = (0, self.rows.len() / GRAM_ROW);
        let mut list = List::None;
        while low < high {
            let middle = usize::midpoint(low, high);
            let key = self.rows.number(middle * 2)?;
            if key >> 8 == gram {
                let value = self.rows.number(middle * 2 + 1)?;
                list = match key & 0xFF {
                    form::ONE => List::One(value),
                    form::LIST => {
                        let count = Numbers::new(self.lists, value as usize).next()?;
                        let count = u32::try_from(count).map_err(|_| StoreError::Damaged)?;
                        List::Distances(value, count)
                    }
                    form::BITS => List::Bits(value),
                    _ => return Err(StoreError::Damaged),
                };
                break;
            }
            if key >> 8 < gram {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        self.known.insert(gram, list);
        Ok(list)
    }

    fn blocks(&self, list: List) -> Result<Blocks, StoreError> {
        let n_blocks = self.segment.n_blocks;
        let mut blocks = Blocks::none(n_blocks);
        match list {
            List::None => {}
            List::One(block) => blocks.add(block as usize)?,
            List::Distances(start, _) => {
                let mut numbers = Numbers::new(self.lists, start as usize);
                let mut left = numbers.next()?;
                let mut block = 0_usize;
                while left > 0 {
                    // Nearly all distances have one byte.
                    for &distance in numbers.short(left) {
                        block += usize::from(distance);
                        blocks.add(block)?;
                        left -= 1;
                    }
                    if left > 0 {
                        let distance = numbers.next()?;
                        block += usize::try_from(distance).map_err(|_| StoreError::Damaged)?;
                        blocks.add(block)?;
                        left -= 1;
                    }
                }
            }
            List::Bits(start) => {
                let bytes = self.lists.get(start as usize, n_blocks.div_ceil(8))?;
                for (word, bytes) in blocks.words.iter_mut().zip(bytes.chunks(8)) {
                    let mut whole = [0; 8];
                    whole[..bytes.len()].copy_from_slice(bytes);
                    *word = u64::from_le_bytes(whole);
                }
            }
        }
        match self.reach {
            Reach::Block => Ok(blocks),
            Reach::File => self.widened(&blocks),
        }
    }

    /// Adds to each block all others of its file.
    fn widened(&self, blocks: &Blocks) -> Result<Blocks, StoreError> {
        let mut wide = Blocks::none(self.segment.n_blocks);
        let mut done = 0;
        for block in blocks.iter() {
            if block < done {
                continue;
            }
            let (file, ..) = self.segment.block(block)?;
            let (first, end) = self.segment.blocks_of(file as usize)?;
            for block in first..end {
                wide.add(block)?;
            }
            done = end;
        }
        Ok(wide)
    }
}
