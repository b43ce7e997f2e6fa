//! One segment: up to 65,536 blocks of files with their stamps, and for each trigram the blocks that have it.

use std::collections::BTreeMap;
use std::ops::Range;

use super::gather::Run;
use super::lists::joined;
use super::{MAX_BLOCKS, SEGMENT, VERSION};
use crate::index::store::Writer;
use crate::workspace::Stamp;

/// Bytes of a row of the table of files, and of that of blocks.
pub(super) const FILE_ROW: usize = 56;
pub(super) const BLOCK_ROW: usize = 12;

/// Where in its row a file has its flags, first block, stamp and lines.
pub(super) const FLAGS: usize = 0;
pub(super) const FIRST_BLOCK: usize = 4;
pub(super) const STAMP: Range<usize> = 8..52;
pub(super) const LINES: usize = 52;
/// The lines of a file that were not counted.
pub(super) const NOT_COUNTED: u32 = u32::MAX;
/// Where in its row a block has its file.
pub(super) const FILE: usize = 4;

/// Puts runs that follow each other together as the file of one segment.
///
/// They have no more blocks than fit.
pub(super) fn written(runs: Vec<Run>, identity: &[u8]) -> Writer {
    let mut whole = Run::default();
    let mut lists = Vec::new();
    for mut run in runs {
        add_to_each(&mut run.files, FILE_ROW, FIRST_BLOCK, whole.n_blocks);
        add_to_each(&mut run.blocks, BLOCK_ROW, FILE, whole.n_files);
        whole.files.append(&mut run.files);
        whole.blocks.append(&mut run.blocks);
        whole.paths.append(&mut run.paths);
        whole.n_files += run.n_files;
        whole.n_blocks += run.n_blocks;
        whole.source += run.source;
        lists.push((run.lists, run.n_blocks));
    }
    let grams = joined(&lists);
    drop(lists);
    let mut writer = Writer::new(SEGMENT, VERSION, identity);
    let counts = [whole.n_files as u64, whole.n_blocks as u64, whole.source];
    writer.section(*b"INFO", counts.iter().flat_map(|count| count.to_le_bytes()).collect());
    writer.section(*b"FILE", whole.files);
    writer.section(*b"PATH", whole.paths);
    writer.section(*b"BLOK", whole.blocks);
    let (heads, rows, lists) = grams.finish();
    writer.section(*b"HEAD", heads);
    writer.section(*b"GRAM", rows);
    writer.section(*b"LIST", lists);
    writer
}

/// Adds `more` to the number that stands at `at` in each row.
fn add_to_each(rows: &mut [u8], length: usize, at: usize, more: usize) {
    for row in rows.chunks_exact_mut(length) {
        if let Some(bytes) = row[at..].first_chunk_mut() {
            *bytes = narrow(u32::from_le_bytes(*bytes) as usize + more);
        }
    }
}

/// Bytes of the lists of one segment's runs: while they are put together, these are there twice.
const MAX_LISTS: usize = 40 << 20;

/// Runs that wait until there are enough for a segment, in the order of their files.
#[derive(Default)]
pub(super) struct Waiting {
    /// The place of those that come next.
    next: usize,
    /// What came before it was its turn.
    early: BTreeMap<usize, Vec<Run>>,
    runs: Vec<Run>,
    n_blocks: usize,
    n_list_bytes: usize,
}

impl Waiting {
    /// Takes the runs of one place in; returns what makes whole segments now.
    pub(super) fn add(&mut self, place: usize, runs: Vec<Run>) -> Vec<Vec<Run>> {
        self.early.insert(place, runs);
        let mut whole = Vec::new();
        while let Some(runs) = self.early.remove(&self.next) {
            self.next += 1;
            for run in runs {
                let n_list_bytes = run.lists.n_bytes();
                if self.n_blocks + run.n_blocks > MAX_BLOCKS
                    || self.n_list_bytes + n_list_bytes > MAX_LISTS
                {
                    whole.extend(self.rest());
                }
                self.n_blocks += run.n_blocks;
                self.n_list_bytes += n_list_bytes;
                self.runs.push(run);
            }
        }
        whole
    }

    /// Returns what is left, if anything is.
    pub(super) fn rest(&mut self) -> Option<Vec<Run>> {
        (self.n_blocks, self.n_list_bytes) = (0, 0);
        Some(std::mem::take(&mut self.runs)).filter(|runs| !runs.is_empty())
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
