//! The blocks of each trigram in one run of files, and those of several runs put together.

use super::grams::{GramTable, Numbers, put_number};

/// With fewer pairs, or trigrams, of one first byte it is faster to sort them than to count.
const FEW: usize = 8_192;
/// Where a chain of lists ends.
const END: u32 = u32::MAX;

/// The lists of a run, in the order of trigrams.
#[derive(Default)]
pub(super) struct Lists {
    /// Where the rows end of the trigrams with each first byte, and their bytes.
    ends: Vec<(usize, usize)>,
    rows: Vec<Row>,
    bytes: Vec<u8>,
}

/// One list.
struct Row {
    /// The trigram without its first byte.
    rest: u16,
    last: u16,
    n_blocks: u16,
    n_bytes: u16,
}

/// The blocks of a trigram in one run: distances, of which the first is from the run's begin.
#[derive(Clone, Copy)]
pub(super) struct List<'a> {
    /// Blocks of the runs before.
    pub base: usize,
    pub n_blocks: usize,
    pub last: usize,
    pub bytes: &'a [u8],
}

impl Lists {
    /// Makes the lists of pairs: for each first byte the rest of a trigram and a block, in 16 bits
    /// each, in the order of blocks. The pairs are used up.
    pub(super) fn of(pairs: &mut [Vec<u32>]) -> Lists {
        let mut lists = Lists::default();
        let mut sorter = Sorter::default();
        for pairs in pairs {
            for list in sorter.sorted(pairs).chunk_by(|one, other| one >> 16 == other >> 16) {
                lists.add(list);
            }
            pairs.clear();
            lists.ends.push((lists.rows.len(), lists.bytes.len()));
        }
        // These wait for those of other runs.
        lists.rows.shrink_to_fit();
        lists.bytes.shrink_to_fit();
        lists
    }

    /// Adds the pairs of one trigram.
    fn add(&mut self, pairs: &[u32]) {
        let (start, mut before, mut rest) = (self.bytes.len(), 0, 0);
        for pair in pairs {
            let block = pair & 0xFFFF;
            put_number(&mut self.bytes, (block - before) as usize);
            (before, rest) = (block, pair >> 16);
        }
        self.rows.push(Row {
            rest: low(rest as usize),
            last: low(before as usize),
            n_blocks: low(pairs.len()),
            n_bytes: low(self.bytes.len() - start),
        });
    }

    /// Returns the lists of the trigrams with a first byte, with the rest of each of these.
    fn of_first(&self, first: usize, base: usize) -> impl Iterator<Item = (u16, List<'_>)> {
        let (start, mut at) = first.checked_sub(1).map_or((0, 0), |before| self.ends[before]);
        self.rows[start..self.ends[first].0].iter().map(move |row| {
            let (n_blocks, last) = (usize::from(row.n_blocks), usize::from(row.last));
            let bytes = &self.bytes[at..at + usize::from(row.n_bytes)];
            at += bytes.len();
            (row.rest, List { base, n_blocks, last, bytes })
        })
    }

    /// Returns the bytes of all lists.
    pub(super) fn n_bytes(&self) -> usize {
        self.bytes.len()
    }
}

impl List<'_> {
    /// Returns the blocks, counted from the first one of the first run.
    pub(super) fn blocks(&self) -> impl Iterator<Item = usize> {
        let mut block = self.base;
        Numbers(self.bytes).map(move |distance| {
            block += distance as usize;
            block
        })
    }

    /// Puts the distances to `bytes`, the first one from `before`.
    pub(super) fn put(&self, before: usize, bytes: &mut Vec<u8>) {
        let mut numbers = Numbers(self.bytes);
        let first = numbers.next().unwrap_or_default() as usize;
        put_number(bytes, self.base + first - before);
        bytes.extend_from_slice(numbers.0);
    }
}

/// What fits 16 bits, as all parts of a pair do, and all that is told of the blocks of one run.
fn low(number: usize) -> u16 {
    u16::try_from(number).unwrap_or(u16::MAX)
}

/// Sorts pairs that are in the order of blocks. Kept for its memory.
#[derive(Default)]
struct Sorter {
    sorted: Vec<u32>,
    starts: Vec<u32>,
}

impl Sorter {
    /// Returns the pairs by trigram, then by block.
    fn sorted<'a>(&'a mut self, pairs: &'a mut [u32]) -> &'a [u32] {
        if pairs.len() < FEW {
            pairs.sort_unstable();
            return pairs;
        }
        // Blocks come in order, so counting places them in order too.
        let Sorter { sorted, starts } = self;
        starts.clear();
        starts.resize((1 << 16) + 1, 0);
        for pair in &*pairs {
            starts[(pair >> 16) as usize + 1] += 1;
        }
        for place in 1..starts.len() {
            starts[place] += starts[place - 1];
        }
        sorted.resize(pairs.len(), 0);
        for pair in &*pairs {
            let next = &mut starts[(pair >> 16) as usize];
            sorted[*next as usize] = *pair;
            *next += 1;
        }
        sorted
    }
}

/// Puts the lists of runs that follow each other together, given how many blocks each run has.
pub(super) fn joined(runs: &[(Lists, usize)]) -> GramTable {
    let mut chains = Chains::default();
    let mut table = GramTable::new(runs.iter().map(|(_, n_blocks)| n_blocks).sum());
    let mut found = Vec::new();
    for first in 0..256_u32 {
        chains.begin();
        let mut base: usize = runs.iter().map(|(_, n_blocks)| n_blocks).sum();
        // The last run first, so that each chain goes from the first one on.
        for (lists, n_blocks) in runs.iter().rev() {
            base -= n_blocks;
            for (rest, list) in lists.of_first(first as usize, base) {
                chains.add(rest, list);
            }
        }
        chains.each(|rest, lists| {
            found.clear();
            found.extend(lists);
            table.add(first << 16 | u32::from(rest), &found);
        });
    }
    table
}

/// The lists of each trigram with one first byte.
struct Chains<'a> {
    /// For each rest of a trigram, its first link.
    heads: Vec<u32>,
    links: Vec<(List<'a>, u32)>,
    rests: Vec<u16>,
}

impl Default for Chains<'_> {
    fn default() -> Self {
        Chains { heads: vec![END; 1 << 16], links: Vec::new(), rests: Vec::new() }
    }
}

impl<'a> Chains<'a> {
    fn begin(&mut self) {
        self.links.clear();
        self.rests.clear();
    }

    /// Puts a list before those of its trigram.
    fn add(&mut self, rest: u16, list: List<'a>) {
        let head = &mut self.heads[usize::from(rest)];
        if *head == END {
            self.rests.push(rest);
        }
        let link = u32::try_from(self.links.len()).unwrap_or(END);
        self.links.push((list, std::mem::replace(head, link)));
    }

    /// Hands over the lists of each trigram, in the order of these.
    fn each(&mut self, mut each: impl FnMut(u16, &mut dyn Iterator<Item = List<'a>>)) {
        self.rests.sort_unstable();
        for rest in &self.rests {
            let mut next = std::mem::replace(&mut self.heads[usize::from(*rest)], END);
            let mut lists = std::iter::from_fn(|| {
                let (list, after) = self.links.get(next as usize)?;
                next = *after;
                Some(*list)
            });
            each(*rest, &mut lists);
        }
    }
}
