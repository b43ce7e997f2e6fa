//! One segment: up to 32,768 blocks of files with their stamps, and for each trigram the blocks that have it.

use std::ops::Range;

use super::block::Block;
use super::grams::GramTable;
use super::{MAX_BLOCKS, SEGMENT, VERSION};
use crate::index::store::Writer;
use crate::workspace::Stamp;

/// Bytes of a row of the table of files, and of that of blocks.
pub(super) const FILE_ROW: usize = 60;
pub(super) const BLOCK_ROW: usize = 12;
/// Pairs of trigram and block in one segment; this is what bounds the memory of a build.
const MAX_PAIRS: usize = 14_000_000;

/// Where the stamp and the lines of a file stand in its row.
pub(super) const STAMP: Range<usize> = 12..56;
pub(super) const LINES: usize = 56;
/// The lines of a file that were not counted.
pub(super) const NOT_COUNTED: u32 = u32::MAX;

/// What is noted of a file.
pub(super) struct Described<'a> {
    pub path: &'a [u8],
    pub stamp: &'a Stamp,
    pub flags: u32,
    pub n_lines: Option<u64>,
}

/// A segment that is being gathered.
pub(super) struct Gathering {
    paths: Vec<u8>,
    files: Vec<u8>,
    n_files: usize,
    blocks: Vec<u8>,
    n_blocks: usize,
    /// By the first byte of a trigram: its other two, then the block, in 16 bits each.
    pairs: Vec<Vec<u32>>,
    n_pairs: usize,
    /// Bytes of the files.
    source: u64,
}

impl Gathering {
    pub(super) fn new() -> Gathering {
        Gathering {
            paths: Vec::new(),
            files: Vec::new(),
            n_files: 0,
            blocks: Vec::new(),
            n_blocks: 0,
            pairs: vec![Vec::new(); 256],
            n_pairs: 0,
            source: 0,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.n_files == 0
    }

    /// Whether one more block, or any other file, should go to the next segment.
    pub(super) fn is_full(&self) -> bool {
        self.n_blocks >= MAX_BLOCKS || self.n_pairs >= MAX_PAIRS
    }

    /// How many more blocks there is room for.
    pub(super) fn room(&self) -> usize {
        MAX_BLOCKS - self.n_blocks
    }

    pub(super) fn n_blocks(&self) -> usize {
        self.n_blocks
    }

    /// Adds a block to the file that is added next. Without room it is dropped.
    pub(super) fn add_block(&mut self, block: &Block<'_>, grams: &[u32]) {
        let Ok(number) = u32::try_from(self.n_blocks) else { return };
        if self.n_blocks >= MAX_BLOCKS {
            return;
        }
        // No larger file is cut into blocks.
        self.blocks.extend(u32::try_from(block.offset).unwrap_or(u32::MAX).to_le_bytes());
        self.blocks.extend(narrow(self.n_files));
        self.blocks.extend(u32::try_from(block.first_line).unwrap_or(u32::MAX).to_le_bytes());
        self.n_blocks += 1;
        self.n_pairs += grams.len();
        for gram in grams {
            self.pairs[(gram >> 16) as usize].push(gram << 16 | number);
        }
    }

    /// Adds the file whose blocks are those since `first_block`. Files come in the order of paths.
    pub(super) fn add_file(&mut self, file: &Described<'_>, first_block: usize) {
        let Described { path, stamp, flags, n_lines } = *file;
        let n_lines = n_lines.and_then(|n_lines| u32::try_from(n_lines).ok());
        self.paths.extend(path);
        self.files.extend(narrow(self.paths.len()));
        self.files.extend(flags.to_le_bytes());
        self.files.extend(narrow(first_block));
        self.files.extend(stamp_bytes(stamp));
        self.files.extend(n_lines.unwrap_or(NOT_COUNTED).to_le_bytes());
        self.n_files += 1;
        self.source += stamp.size;
    }

    /// Makes the file of the segment, and empties this for the next one.
    pub(super) fn finish(&mut self, identity: &[u8]) -> Writer {
        let mut writer = Writer::new(SEGMENT, VERSION, identity);
        let grams = self.encode();
        let counts = [self.n_files as u64, self.n_blocks as u64, self.source];
        writer.section(*b"INFO", counts.iter().flat_map(|count| count.to_le_bytes()).collect());
        writer.section(*b"FILE", std::mem::take(&mut self.files));
        writer.section(*b"PATH", std::mem::take(&mut self.paths));
        writer.section(*b"BLOK", std::mem::take(&mut self.blocks));
        let (heads, rows, lists) = grams.finish();
        writer.section(*b"HEAD", heads);
        writer.section(*b"GRAM", rows);
        writer.section(*b"LIST", lists);
        (self.n_files, self.n_blocks, self.n_pairs, self.source) = (0, 0, 0, 0);
        self.pairs.iter_mut().for_each(Vec::clear);
        writer
    }

    /// Returns the table of trigrams with the blocks of each.
    fn encode(&self) -> GramTable {
        let mut grams = GramTable::new(self.n_blocks);
        let mut sorted = Vec::new();
        let mut starts = vec![0_u32; (1 << 16) + 1];
        for (first, pairs) in (0_u32..).zip(&self.pairs) {
            if pairs.is_empty() {
                continue;
            }
            // Blocks come in order, so counting places them in order too.
            starts.fill(0);
            for pair in pairs {
                starts[(pair >> 16) as usize + 1] += 1;
            }
            for place in 1..starts.len() {
                starts[place] += starts[place - 1];
            }
            sorted.resize(pairs.len(), 0_u16);
            for pair in pairs {
                let next = &mut starts[(pair >> 16) as usize];
                sorted[*next as usize] = (pair & 0xFFFF) as u16;
                *next += 1;
            }
            // Each start has moved to the end of its list.
            let mut start = 0;
            for (rest, end) in (0_u32..1 << 16).zip(&starts) {
                let list = &sorted[start..*end as usize];
                start = *end as usize;
                if !list.is_empty() {
                    grams.add(first << 16 | rest, list);
                }
            }
        }
        grams
    }
}

/// A count or place in a segment, all of which are far from filling 32 bits.
pub(super) fn narrow(number: usize) -> [u8; 4] {
    u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes()
}

/// Returns a stamp as a segment has it.
pub(super) fn stamp_bytes(stamp: &Stamp) -> [u8; 44] {
    let mut bytes = [0; 44];
    let parts: [&[u8]; 6] = [
        &stamp.mode.to_le_bytes(),
        &stamp.size.to_le_bytes(),
        &stamp.modified.to_le_bytes(),
        &stamp.altered.to_le_bytes(),
        &stamp.inode.to_le_bytes(),
        &stamp.device.to_le_bytes(),
    ];
    let mut rest = &mut bytes[..];
    for part in parts {
        let (now, after) = rest.split_at_mut(part.len());
        now.copy_from_slice(part);
        rest = after;
    }
    bytes
}
