//! Which blocks of a segment a plan leaves.

use super::grams::{AT_ONCE, Found, Grams, List};
use super::plan::{Gram, Plan, word_begins, word_ends};
use super::postings::Segment;
use crate::index::store::StoreError;

/// With fewer blocks left it is not asked where words begin and end.
const FEW: usize = 4;

/// A set of blocks.
struct Set {
    words: Vec<u64>,
}

impl Set {
    fn none(n_blocks: usize) -> Set {
        Set { words: vec![0; n_blocks.div_ceil(64)] }
    }

    fn all(n_blocks: usize) -> Set {
        let mut blocks = Set { words: vec![u64::MAX; n_blocks.div_ceil(64)] };
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

    fn has(&self, block: u16) -> bool {
        let word = self.words.get(usize::from(block / 64));
        word.is_some_and(|word| word >> (block % 64) & 1 != 0)
    }

    fn intersect(&mut self, other: &Set) {
        self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word &= other);
    }

    fn unite(&mut self, other: &Set) {
        self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word |= other);
    }

    fn len(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    /// Returns the blocks in order.
    fn iter(&self) -> impl Iterator<Item = usize> {
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

/// What is left of a segment's blocks: few are told one by one.
enum Blocks {
    /// In order.
    Few(Vec<u16>),
    Many(Set),
}

impl Blocks {
    fn is_empty(&self) -> bool {
        match self {
            Blocks::Few(few) => few.is_empty(),
            Blocks::Many(many) => many.is_empty(),
        }
    }

    fn len(&self) -> usize {
        match self {
            Blocks::Few(few) => few.len(),
            Blocks::Many(many) => many.len(),
        }
    }

    /// Returns what is in both.
    fn and(self, other: Blocks) -> Blocks {
        match (self, other) {
            (Blocks::Many(mut one), Blocks::Many(other)) => {
                one.intersect(&other);
                Blocks::Many(one)
            }
            (Blocks::Few(mut few), Blocks::Many(many))
            | (Blocks::Many(many), Blocks::Few(mut few)) => {
                few.retain(|block| many.has(*block));
                Blocks::Few(few)
            }
            (Blocks::Few(mut few), Blocks::Few(other)) => {
                few.retain(|block| other.binary_search(block).is_ok());
                Blocks::Few(few)
            }
        }
    }

    /// Adds these to `set`.
    fn add_to(&self, set: &mut Set) -> Result<(), StoreError> {
        match self {
            Blocks::Many(many) => set.unite(many),
            Blocks::Few(few) => few.iter().try_for_each(|block| set.add(usize::from(*block)))?,
        }
        Ok(())
    }

    fn numbers(self) -> Vec<u16> {
        match self {
            Blocks::Few(few) => few,
            Blocks::Many(many) => {
                many.iter().filter_map(|block| u16::try_from(block).ok()).collect()
            }
        }
    }
}

/// A plan being followed in one segment.
pub(super) struct Lookup<'a> {
    segment: &'a Segment,
    grams: Grams<'a>,
    reach: Reach,
}

impl<'a> Lookup<'a> {
    pub(super) fn new(segment: &'a Segment, reach: Reach) -> Result<Lookup<'a>, StoreError> {
        Ok(Lookup { segment, grams: Grams::of(segment)?, reach })
    }

    /// Puts what is rarest in this segment first, wherever all of several is asked: it mostly is
    /// rare in others too.
    pub(super) fn order(&self, plan: &mut Plan) -> Result<(), StoreError> {
        let (Plan::And(parts) | Plan::Or(parts)) = plan else { return Ok(()) };
        parts.iter_mut().try_for_each(|part| self.order(part))?;
        if let Plan::And(parts) = plan {
            let mut found = Vec::with_capacity(parts.len());
            let grams: Vec<Gram> = grams(parts).collect();
            self.grams.find(&grams, &mut found)?;
            let mut weights = found.iter().map(|found| found.weight);
            let weigh = |part: Plan| match part {
                Plan::Gram(_) => (weights.next().unwrap_or(u32::MAX), part),
                _ => (u32::MAX, part),
            };
            let mut weighed: Vec<(u32, Plan)> = parts.drain(..).map(weigh).collect();
            weighed.sort_by_key(|(weight, _)| *weight);
            parts.extend(weighed.into_iter().map(|(_, part)| part));
        }
        Ok(())
    }

    /// Returns the blocks that `plan` leaves, in order.
    ///
    /// # Errors
    /// Damage: then nothing is known, and every file has to be searched.
    pub(super) fn follow(&self, plan: &Plan) -> Result<Vec<u16>, StoreError> {
        self.left(plan).map(Blocks::numbers)
    }

    fn left(&self, plan: &Plan) -> Result<Blocks, StoreError> {
        let n_blocks = self.segment.n_blocks;
        match plan {
            Plan::All => Ok(Blocks::Many(Set::all(n_blocks))),
            Plan::Nothing => Ok(Blocks::Few(Vec::new())),
            Plan::Gram(gram) => self.narrowed(None, self.list(*gram)?),
            Plan::Begins(pair) => self.any(word_begins(*pair)),
            Plan::Ends(pair) => self.any(word_ends(*pair)),
            Plan::And(parts) => self.follow_all(parts),
            Plan::Or(parts) => {
                let mut blocks = Set::none(n_blocks);
                for part in parts {
                    match part {
                        Plan::Gram(gram) if self.reach == Reach::Block => {
                            self.add(self.list(*gram)?, &mut blocks)?;
                        }
                        _ => self.left(part)?.add_to(&mut blocks)?,
                    }
                }
                Ok(Blocks::Many(blocks))
            }
        }
    }

    fn list(&self, gram: Gram) -> Result<List, StoreError> {
        let mut found = Vec::with_capacity(1);
        self.grams.find(&[gram], &mut found)?;
        Ok(found.first().map_or(List::None, |found| found.list))
    }

    /// Returns the blocks that have any of some trigrams.
    fn any(&self, grams: impl Iterator<Item = Gram>) -> Result<Blocks, StoreError> {
        let mut blocks = Set::none(self.segment.n_blocks);
        let (grams, mut found) = (grams.collect::<Vec<Gram>>(), Vec::new());
        self.grams.find(&grams, &mut found)?;
        found.iter().try_for_each(|found| self.add(found.list, &mut blocks))?;
        self.reached(blocks).map(Blocks::Many)
    }

    /// Follows trigrams first, and no further than something is left.
    fn follow_all(&self, parts: &[Plan]) -> Result<Blocks, StoreError> {
        let mut all = self.follow_grams(parts)?;
        for part in parts.iter().filter(|part| !matches!(part, Plan::Gram(_))) {
            all = Some(match all {
                None => self.left(part)?,
                Some(left) if left.is_empty() => return Ok(left),
                // These would cost more than to read what they might rule out.
                Some(left)
                    if matches!(part, Plan::Begins(_) | Plan::Ends(_)) && left.len() < FEW =>
                {
                    left
                }
                Some(left) => left.and(self.left(part)?),
            });
        }
        Ok(all.unwrap_or_else(|| Blocks::Many(Set::all(self.segment.n_blocks))))
    }

    /// Returns the blocks that have all trigrams of `parts`; `None` if there are none of these.
    ///
    /// Some are looked up at a time, so that memory is waited for only once, and then the rarest
    /// of them comes first.
    fn follow_grams(&self, parts: &[Plan]) -> Result<Option<Blocks>, StoreError> {
        let grams: Vec<Gram> = grams(parts).collect();
        let mut left = None;
        let mut found = Vec::with_capacity(AT_ONCE);
        for grams in grams.chunks(AT_ONCE) {
            self.grams.find(grams, &mut found)?;
            found.sort_by_key(|found| found.weight);
            for Found { list, .. } in &found {
                let now = self.narrowed(left, *list)?;
                if now.is_empty() {
                    return Ok(Some(now));
                }
                left = Some(now);
            }
        }
        Ok(left)
    }

    /// Leaves of `left`, which is everything at first, what is in a list.
    fn narrowed(&self, left: Option<Blocks>, list: List) -> Result<Blocks, StoreError> {
        let is_set = matches!(list, List::Set(_)) || self.reach == Reach::File;
        match (left, is_set) {
            (None, true) => self.blocks(list).map(Blocks::Many),
            (None, false) => self.grams.those(list, |_| true).map(Blocks::Few),
            (Some(Blocks::Few(few)), false) if self.grams.is_short(list, few.len())? => {
                let mut set = Set::none(self.segment.n_blocks);
                few.iter().try_for_each(|block| set.add(usize::from(*block)))?;
                self.grams.those(list, |block| set.has(block)).map(Blocks::Few)
            }
            (Some(Blocks::Few(mut few)), _) => {
                self.grams.keep(list, &mut few)?;
                Ok(Blocks::Few(few))
            }
            (Some(Blocks::Many(mut many)), true) => {
                many.intersect(&self.blocks(list)?);
                Ok(Blocks::Many(many))
            }
            (Some(Blocks::Many(many)), false) => {
                self.grams.those(list, |block| many.has(block)).map(Blocks::Few)
            }
        }
    }

    /// Adds the blocks of a list.
    fn add(&self, list: List, blocks: &mut Set) -> Result<(), StoreError> {
        if let List::Set(start) = list {
            let words = self.grams.words(start)?;
            blocks.words.iter_mut().zip(words).for_each(|(word, other)| *word |= other);
            return Ok(());
        }
        let mut fits = true;
        self.grams.each(list, |block| {
            fits = blocks.add(usize::from(block)).is_ok();
            fits
        })?;
        if fits { Ok(()) } else { Err(StoreError::Damaged) }
    }

    fn blocks(&self, list: List) -> Result<Set, StoreError> {
        let mut blocks = Set::none(self.segment.n_blocks);
        self.add(list, &mut blocks)?;
        self.reached(blocks)
    }

    /// Adds what counts as having a trigram when these do.
    fn reached(&self, blocks: Set) -> Result<Set, StoreError> {
        match self.reach {
            Reach::Block => Ok(blocks),
            Reach::File => self.widened(&blocks),
        }
    }

    /// Adds to each block all others of its file.
    fn widened(&self, blocks: &Set) -> Result<Set, StoreError> {
        let mut wide = Set::none(self.segment.n_blocks);
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

/// Returns the trigrams among `parts`.
fn grams(parts: &[Plan]) -> impl Iterator<Item = Gram> {
    parts.iter().filter_map(|part| match part {
        Plan::Gram(gram) => Some(*gram),
        _ => None,
    })
}
