//! Cutting a file into blocks of whole lines, and gathering the trigrams of each.

use std::fs::File;
use std::io::{self, Read as _};

use super::file_flags::{ALWAYS, BINARY, WHOLE};

/// Bytes of a block, but for the line that goes beyond.
const BLOCK: usize = 16 << 10;
/// Bytes of a block of a file larger than [`LARGE`].
const SMALL_BLOCK: usize = 4 << 10;
const LARGE: u64 = 256 << 10;
/// Files above this are always searched.
const HUGE: u64 = 64 << 20;
/// What a searcher reads at first: a NUL in there ends the search before it began.
const FIRST_READ: u64 = 64 << 10;
/// What is read at a time.
const WINDOW: usize = 1 << 20;

/// A block of whole lines of one file.
pub(super) struct Block<'a> {
    /// From the start of the file.
    pub offset: u64,
    /// Counted from 1.
    pub first_line: u64,
    pub bytes: &'a [u8],
}

/// Cuts files into blocks. Kept between files for its buffer.
#[derive(Default)]
pub(super) struct Cutter {
    buffer: Vec<u8>,
}

impl Cutter {
    /// Hands each block of `file` to `each`; returns the flags of the file.
    ///
    /// Where a flag says that the blocks do not describe the file, they may be only some.
    pub(super) fn cut(
        &mut self,
        file: &mut File,
        size: u64,
        each: &mut dyn FnMut(Block<'_>),
    ) -> io::Result<u32> {
        if size > HUGE {
            return Ok(ALWAYS);
        }
        let target = if size > LARGE { SMALL_BLOCK } else { BLOCK };
        let (mut offset, mut line, mut flags) = (0, 1, 0);
        let (mut filled, mut ended) = (0, false);
        if self.buffer.len() < WINDOW {
            self.buffer.resize(WINDOW, 0);
        }
        while !ended {
            if filled == self.buffer.len() {
                self.buffer.resize(filled * 2, 0);
            }
            while filled < self.buffer.len() && !ended {
                let n_read = file.read(&mut self.buffer[filled..])?;
                filled += n_read;
                ended = n_read == 0;
            }
            let mut rest = &self.buffer[..filled];
            if offset == 0 {
                match by_mark(rest) {
                    ALWAYS => return Ok(ALWAYS),
                    mark => flags = mark,
                }
            }
            while let Some(length) = next_block(rest, target, ended) {
                let (bytes, after) = rest.split_at(length);
                if let Some(nul) = memchr::memchr(0, bytes) {
                    let early = offset + (nul as u64) < FIRST_READ;
                    return Ok(if early && starts_plainly(&self.buffer) { BINARY } else { ALWAYS });
                }
                if flags == WHOLE && std::str::from_utf8(bytes).is_err() {
                    return Ok(ALWAYS);
                }
                each(Block { offset, first_line: line, bytes });
                offset += length as u64;
                line += memchr::memchr_iter(b'\n', bytes).count() as u64;
                rest = after;
            }
            let n_left = rest.len();
            self.buffer.copy_within(filled - n_left..filled, 0);
            filled = n_left;
        }
        Ok(flags)
    }
}

/// Tells by the byte order mark how a file is to be searched.
fn by_mark(start: &[u8]) -> u32 {
    match start {
        [0xEF, 0xBB, 0xBF, ..] => WHOLE,
        [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] => ALWAYS,
        _ => 0,
    }
}

/// Whether a searcher's first read goes on beyond the bytes where a mark is looked for: it ends
/// with them if a line does.
fn starts_plainly(file: &[u8]) -> bool {
    !file.iter().take(3).any(|byte| *byte == b'\n')
}

/// Returns the length of the block that `rest` begins with, once it is known.
fn next_block(rest: &[u8], target: usize, ended: bool) -> Option<usize> {
    if rest.len() <= target {
        return (ended && !rest.is_empty()).then_some(rest.len());
    }
    if let Some(end) = memchr::memrchr(b'\n', &rest[..target]) {
        return Some(end + 1);
    }
    let end = memchr::memchr(b'\n', &rest[target..]);
    end.map(|end| target + end + 1).or_else(|| ended.then_some(rest.len()))
}

/// How many words hold a bit for every trigram.
const WORDS: usize = 1 << 18;

/// Gathers distinct trigrams.
pub(super) struct Grams {
    seen: Vec<u64>,
    folded: Vec<u8>,
    found: Vec<u32>,
    n_found: usize,
}

impl Grams {
    pub(super) fn new() -> Grams {
        let seen = vec![0; WORDS];
        Grams { seen, folded: Vec::new(), found: Vec::new(), n_found: 0 }
    }

    /// Returns the trigrams of `text`, each once; none goes across a line break.
    pub(super) fn of(&mut self, text: &[u8]) -> &[u32] {
        let Grams { seen, folded, found, n_found } = self;
        for gram in &found[..*n_found] {
            seen[(gram >> 6) as usize & (WORDS - 1)] = 0;
        }
        *n_found = 0;
        folded.clear();
        folded.extend_from_slice(text);
        folded.make_ascii_lowercase();
        if found.len() < text.len() {
            found.resize(text.len(), 0);
        }
        let (room, seen) = (&mut found[..text.len()], &mut seen[..WORDS]);
        let (mut start, mut n_new) = (0, 0);
        for end in memchr::memchr_iter(b'\n', text).chain(std::iter::once(text.len())) {
            let line = folded.get(start..end).unwrap_or_default();
            start = end + 1;
            let Some((first, rest)) = line.split_at_checked(2) else { continue };
            let mut gram = u32::from(first[0]) << 8 | u32::from(first[1]);
            for byte in rest {
                gram = (gram << 8 | u32::from(*byte)) & 0x00FF_FFFF;
                let word = &mut seen[(gram >> 6) as usize & (WORDS - 1)];
                let before = *word;
                *word = before | 1 << (gram & 63);
                // Without a branch: whether a trigram is new cannot be foretold.
                room[n_new] = gram;
                n_new += usize::from(before >> (gram & 63) & 1 == 0);
            }
        }
        *n_found = n_new;
        &found[..*n_found]
    }
}
