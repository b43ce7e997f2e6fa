//! Cutting a file into blocks of whole lines, and gathering the trigrams of each.

use std::fs::File;
use std::io::{self, Read as _};

use super::file_flags::{ALWAYS, BINARY, WHOLE};
use super::plan::{is_word, line_begins, line_ends};

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
    /// Hands each block of `file` to `each`; returns the flags of the file, and its lines if they
    /// were counted.
    ///
    /// Where a flag says that the blocks do not describe the file, they may be only some.
    pub(super) fn cut(
        &mut self,
        file: &mut File,
        size: u64,
        each: &mut dyn FnMut(Block<'_>),
    ) -> io::Result<(u32, Option<u64>)> {
        if size > HUGE {
            return Ok((ALWAYS, None));
        }
        let target = if size > LARGE { SMALL_BLOCK } else { BLOCK };
        let (mut offset, mut line, mut flags) = (0, 1, 0);
        let (mut filled, mut ended, mut is_open) = (0, false, false);
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
                    ALWAYS => return Ok((ALWAYS, None)),
                    mark => flags = mark,
                }
            }
            while let Some(length) = next_block(rest, target, ended) {
                let (bytes, after) = rest.split_at(length);
                if let Some(nul) = memchr::memchr(0, bytes) {
                    let early = offset + (nul as u64) < FIRST_READ;
                    let binary = early && starts_plainly(&self.buffer);
                    return Ok((if binary { BINARY } else { ALWAYS }, None));
                }
                if flags == WHOLE && std::str::from_utf8(bytes).is_err() {
                    return Ok((ALWAYS, None));
                }
                let n_ended = memchr::memchr_iter(b'\n', bytes).count() as u64;
                is_open = bytes.last() != Some(&b'\n');
                each(Block { offset, first_line: line, bytes });
                offset += length as u64;
                line += n_ended;
                rest = after;
            }
            let n_left = rest.len();
            self.buffer.copy_within(filled - n_left..filled, 0);
            filled = n_left;
        }
        Ok((flags, Some(line - 1 + u64::from(is_open))))
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

/// Room for all that words at the edges of lines can give.
const EDGES: usize = 2 * 64;

/// How many words hold a bit for every trigram.
const WORDS: usize = 1 << 18;

/// Gathers distinct trigrams.
pub(super) struct Grams {
    /// A bit for every trigram that was seen; those across a line break are seen from the start.
    seen: Vec<u64>,
    folded: Vec<u8>,
    found: Vec<u32>,
    /// How many of these have their bits in `seen`.
    n_found: usize,
}

impl Grams {
    pub(super) fn new() -> Grams {
        let mut seen: Vec<u64> = (0..WORDS).map(unseen).collect();
        // Those that begin with a break, and those that have one in the middle.
        let of_byte = WORDS / 256;
        let middle = usize::from(b'\n') * 4;
        for words in seen.chunks_exact_mut(of_byte) {
            words[middle..middle + 4].fill(u64::MAX);
        }
        seen[usize::from(b'\n') * of_byte..][..of_byte].fill(u64::MAX);
        Grams { seen, folded: Vec::new(), found: Vec::new(), n_found: 0 }
    }

    /// Returns the trigrams of `text`, which is whole lines, each once.
    pub(super) fn of(&mut self, text: &[u8]) -> &[u32] {
        let Grams { seen, folded, found, n_found } = self;
        // Those that go across a break are never found: their bits stay.
        for gram in &found[..*n_found] {
            let (word, _) = place(*gram);
            seen[word] = unseen(word);
        }
        folded.clear();
        folded.extend_from_slice(text);
        folded.make_ascii_lowercase();
        if found.len() < text.len() + EDGES {
            found.resize(text.len() + EDGES, 0);
        }
        *n_found = gather(folded, seen, found);
        let n_edges = add_edges(folded, &mut found[*n_found..]);
        &found[..*n_found + n_edges]
    }
}

/// Puts what stands for the words that lines of `folded` begin and end with into `found`; returns
/// how many that are.
fn add_edges(folded: &[u8], found: &mut [u32]) -> usize {
    let (mut begins, mut ends) = ([false; 256], [false; 256]);
    let mut start = 0;
    for end in memchr::memchr_iter(b'\n', folded).chain([folded.len()]) {
        if let [first, ..] = folded[start..end] {
            begins[usize::from(first)] = true;
            ends[usize::from(folded[end - 1])] = true;
        }
        start = (end + 1).min(folded.len());
    }
    let words = || (0..=u8::MAX).filter(|byte| is_word(*byte));
    let begins = words().filter(|byte| begins[usize::from(*byte)]).map(line_begins);
    let ends = words().filter(|byte| ends[usize::from(*byte)]).map(line_ends);
    let edges = found.iter_mut().zip(begins.chain(ends));
    edges.map(|(place, edge)| *place = edge).count()
}

fn place(gram: u32) -> (usize, u64) {
    ((gram >> 6) as usize & (WORDS - 1), 1 << (gram & 63))
}

/// Returns a word of which no trigram was seen, but the one that ends with a line break if it has it.
fn unseen(word: usize) -> u64 {
    u64::from(word.is_multiple_of(4)) << b'\n'
}

/// Puts the trigrams of `text` that were not seen into `found`; returns how many there are.
///
/// Apart from its caller, so that its few values stay in registers: most of a build is this loop.
#[inline(never)]
fn gather(text: &[u8], seen: &mut [u64], found: &mut [u32]) -> usize {
    let (seen, found) = (&mut seen[..WORDS], &mut found[..text.len()]);
    let mut gram = u32::from_be_bytes([0, 0, b'\n', b'\n']);
    let mut n_found = 0;
    for byte in text {
        gram = (gram << 8 | u32::from(*byte)) & 0x00FF_FFFF;
        let (word, bit) = place(gram);
        let before = seen[word];
        seen[word] = before | bit;
        // Without a branch: whether a trigram is new cannot be foretold.
        found[n_found] = gram;
        n_found += usize::from(before & bit == 0);
    }
    n_found
}
