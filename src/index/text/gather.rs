//! Gathering what is known of files: a run of files that follow each other, of which segments are made.

use super::block::Block;
use super::grams::put_number;
use super::lists::Lists;
use super::segment::{NOT_COUNTED, narrow, stamp_bytes};
use crate::workspace::Stamp;

/// Most blocks of a run: a list of all of them has fewer bytes than 16 bits can tell.
const MAX_BLOCKS: usize = 32_768;
/// Pairs of trigram and block after which a run ends, and more than any text has in one file:
/// this is what bounds the memory of a build.
const ENOUGH_PAIRS: usize = 4_000_000;
const MAX_PAIRS: usize = 24_000_000;

/// What is noted of a file.
pub(super) struct Described<'a> {
    pub path: &'a [u8],
    pub stamp: &'a Stamp,
    pub flags: u32,
    pub n_lines: Option<u64>,
}

/// What is known of files that follow each other. Numbers of files and blocks count from its begin.
#[derive(Default)]
pub(super) struct Run {
    /// Each path by what it has in common with the one before.
    pub paths: Vec<u8>,
    pub files: Vec<u8>,
    pub n_files: usize,
    pub blocks: Vec<u8>,
    pub n_blocks: usize,
    pub lists: Lists,
    /// Bytes of the files.
    pub source: u64,
}

/// A run that is being gathered.
pub(super) struct Gathering {
    run: Run,
    /// The path of the file before.
    path: Vec<u8>,
    /// By the first byte of a trigram: its other two, then the block, in 16 bits each.
    pairs: Vec<Vec<u32>>,
    n_pairs: usize,
}

impl Gathering {
    pub(super) fn new() -> Gathering {
        Gathering {
            run: Run::default(),
            path: Vec::new(),
            pairs: vec![Vec::new(); 256],
            n_pairs: 0,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.run.n_files == 0
    }

    /// Whether any other file should go to the next run.
    pub(super) fn is_full(&self) -> bool {
        self.room() == 0 || self.n_pairs >= ENOUGH_PAIRS
    }

    /// How many more blocks there is room for.
    pub(super) fn room(&self) -> usize {
        if self.n_pairs < MAX_PAIRS { MAX_BLOCKS - self.run.n_blocks } else { 0 }
    }

    pub(super) fn n_blocks(&self) -> usize {
        self.run.n_blocks
    }

    /// Adds a block to the file that is added next. Without room it is dropped.
    pub(super) fn add_block(&mut self, block: &Block<'_>, grams: &[u32]) {
        let Ok(number) = u32::try_from(self.run.n_blocks) else { return };
        if self.room() == 0 {
            return;
        }
        // No larger file is cut into blocks.
        let blocks = &mut self.run.blocks;
        blocks.extend(u32::try_from(block.offset).unwrap_or(u32::MAX).to_le_bytes());
        blocks.extend(narrow(self.run.n_files));
        blocks.extend(u32::try_from(block.first_line).unwrap_or(u32::MAX).to_le_bytes());
        self.run.n_blocks += 1;
        self.n_pairs += grams.len();
        for gram in grams {
            self.pairs[(gram >> 16) as usize].push(gram << 16 | number);
        }
    }

    /// Adds the file whose blocks are those since `first_block`. Files come in the order of paths.
    pub(super) fn add_file(&mut self, file: &Described<'_>, first_block: usize) {
        let Described { path, stamp, flags, n_lines } = *file;
        let n_lines = n_lines.and_then(|n_lines| u32::try_from(n_lines).ok());
        let run = &mut self.run;
        let same = self.path.iter().zip(path).take_while(|(one, other)| one == other).count();
        let n_shared = u8::try_from(same).unwrap_or(u8::MAX);
        let rest = &path[usize::from(n_shared)..];
        run.paths.push(n_shared);
        put_number(&mut run.paths, rest.len());
        run.paths.extend(rest);
        self.path.truncate(usize::from(n_shared));
        self.path.extend(rest);
        run.files.extend(flags.to_le_bytes());
        run.files.extend(narrow(first_block));
        run.files.extend(stamp_bytes(stamp));
        run.files.extend(n_lines.unwrap_or(NOT_COUNTED).to_le_bytes());
        run.n_files += 1;
        run.source += stamp.size;
    }

    /// Returns the run, and begins another one.
    pub(super) fn finish(&mut self) -> Run {
        let lists = Lists::of(&mut self.pairs);
        self.path.clear();
        self.n_pairs = 0;
        Run { lists, ..std::mem::take(&mut self.run) }
    }
}
