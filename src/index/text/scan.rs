//! Searching the live bytes of one file: whole, or the blocks that a plan left.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt as _;

use grep_matcher::LineTerminator;
use grep_searcher::{
    BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkFinish, SinkMatch,
};

use super::hit::{FileHit, Line};
use super::lines::LineMatcher;
use super::postings::Segment;
use super::query::Pattern;
use super::search::Options;
use super::segment::stamp_bytes;
use crate::index::store::StoreError;
use crate::workspace::{Opener, Tree};

/// Blocks that lie this near to each other are read at once: as much as a call of the kernel costs.
const GAP: u64 = 4 << 10;

/// What one thread searches with.
pub(super) struct Scanner<'a> {
    files: Opener<'a>,
    pattern: &'a Pattern,
    options: &'a Options<'a>,
    matcher: LineMatcher<'a>,
    /// Made when the first file is searched whole.
    whole: Option<Searcher>,
    builder: SearcherBuilder,
    part: Searcher,
    buffer: Vec<u8>,
    /// What is read of a file, and the number of the line that each range begins with.
    ranges: Vec<(Range<u64>, u32)>,
    /// Room for what one file gives, kept for the next one.
    room: FileHit,
    /// Bytes that were read of blocks, and files that were searched whole.
    pub n_read: u64,
    pub n_whole: usize,
}

/// Blocks of a file that a segment describes.
#[derive(Clone, Copy)]
pub(super) struct Part<'a> {
    pub segment: &'a Segment,
    pub file: usize,
    pub blocks: &'a [u16],
}

impl<'a> Scanner<'a> {
    pub(super) fn new(
        tree: &'a Tree,
        pattern: &'a Pattern,
        options: &'a Options<'a>,
    ) -> Scanner<'a> {
        let mut builder = SearcherBuilder::new();
        if pattern.crlf {
            builder.line_terminator(LineTerminator::crlf());
        }
        builder
            .line_number(true)
            .multi_line(pattern.multi_line)
            .binary_detection(BinaryDetection::quit(0))
            .before_context(options.context)
            .after_context(options.context)
            .bom_sniffing(true);
        // A block begins anywhere: what looks like a mark there is text. It is in memory already,
        // and files with a NUL are described by no blocks.
        let part = builder
            .clone()
            .bom_sniffing(false)
            .binary_detection(BinaryDetection::none())
            .heap_limit(Some(1))
            .build();
        Scanner {
            files: Opener::new(tree),
            pattern,
            options,
            matcher: LineMatcher::new(pattern),
            whole: None,
            builder,
            part,
            buffer: Vec::new(),
            ranges: Vec::new(),
            room: FileHit::default(),
            n_read: 0,
            n_whole: 0,
        }
    }

    /// Searches a file of which nothing is known. The caller knows its path; the hit has none.
    pub(super) fn file(&mut self, path: &[u8]) -> io::Result<FileHit> {
        let (file, _) = self.files.file(path)?;
        self.all_of(&file)
    }

    fn all_of(&mut self, file: &File) -> io::Result<FileHit> {
        self.n_whole += 1;
        self.matcher.is_ascii = false;
        let mut sink = self.sink();
        let whole = self.whole.get_or_insert_with(|| self.builder.build());
        let searched = whole.search_file(&self.matcher, file, &mut sink);
        let hit = self.taken(sink);
        searched.map(|()| hit)
    }

    /// Searches those blocks of a file, if it still is what the segment describes.
    pub(super) fn part(&mut self, path: &[u8], part: &Part<'_>) -> io::Result<FileHit> {
        let (file, stamp) = self.files.file(path)?;
        let stamp = stamp_bytes(&stamp);
        let same = part.segment.stamp(part.file).is_ok_and(|stored| stored == stamp);
        let is_whole = self.pattern.multi_line || self.options.context > 0;
        if !same || is_whole || ranges(part, &mut self.ranges).is_err() {
            return self.all_of(&file);
        }
        let mut sink = self.sink();
        for (range, first_line) in &self.ranges {
            let length = usize::try_from(range.end - range.start).map_err(io::Error::other)?;
            self.buffer.resize(length.max(self.buffer.len()), 0);
            let bytes = &mut self.buffer[..length];
            if file.read_exact_at(bytes, range.start).is_err() {
                // It has been cut in this moment: it is searched as it is now.
                return self.all_of(&file);
            }
            self.n_read += length as u64;
            (sink.offset, sink.line) = (range.start, u64::from(*first_line) - 1);
            self.matcher.is_ascii = bytes.is_ascii();
            self.part.search_slice(&self.matcher, bytes, &mut sink)?;
            if sink.is_full {
                break;
            }
        }
        Ok(self.taken(sink))
    }

    /// Returns what was found, in no more memory than it needs, and keeps the room it was put in.
    fn taken(&mut self, sink: Collector<'_>) -> FileHit {
        let hit = if sink.hit.n_lines > 0 { sink.hit.clone() } else { sink.hit.without_lines() };
        self.room = sink.hit;
        hit
    }

    fn sink(&mut self) -> Collector<'a> {
        Collector {
            hit: std::mem::take(&mut self.room).emptied(),
            pattern: self.pattern,
            options: self.options,
            offset: 0,
            line: 0,
            is_full: false,
            spans: Vec::new(),
        }
    }
}

/// Finds out what to read of the file, and the number of the line that each range begins with.
fn ranges(part: &Part<'_>, ranges: &mut Vec<(Range<u64>, u32)>) -> Result<(), StoreError> {
    ranges.clear();
    let row = part.segment.row(part.file)?;
    let (_, last) = part.segment.blocks_of(part.file)?;
    for block in part.blocks {
        let block = usize::from(*block);
        let (_, start, first_line) = part.segment.block(block)?;
        let end = if block + 1 < last { part.segment.block(block + 1)?.1 } else { row.size };
        if end < start || end > row.size || first_line == 0 {
            return Err(StoreError::Damaged);
        }
        match ranges.last_mut() {
            Some((range, _)) if start <= range.end + GAP => range.end = end,
            _ => ranges.push((start..end, first_line)),
        }
    }
    Ok(())
}

/// Takes in what the searcher finds.
struct Collector<'a> {
    hit: FileHit,
    pattern: &'a Pattern,
    options: &'a Options<'a>,
    /// Where what is searched begins: bytes and lines before it.
    offset: u64,
    line: u64,
    is_full: bool,
    spans: Vec<(usize, usize)>,
}

impl Collector<'_> {
    fn push(&mut self, number: u64, offset: u64, bytes: &[u8], is_match: bool) -> io::Result<()> {
        self.spans.clear();
        if is_match && self.options.spans > 0 {
            // A line of its own, as matches are told; the line break is not part of it.
            let text = bytes.strip_suffix(b"\n").unwrap_or(bytes);
            let (spans, most) = (&mut self.spans, self.options.spans);
            let found = self.pattern.places(text, |start, end| {
                spans.push((start, end));
                spans.len() < most
            });
            found.map_err(io::Error::other)?;
        }
        let (number, offset) = (self.line + number, self.offset + offset);
        self.hit.push(&Line { number, offset, bytes, spans: &self.spans, is_match });
        Ok(())
    }
}

impl Sink for Collector<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        let n_before = self.hit.n_lines;
        let n_lines = if self.pattern.multi_line { found.lines().count() as u64 } else { 1 };
        self.hit.n_lines += n_lines;
        if self.hit.n_kept() < self.options.keep {
            let number = found.line_number().unwrap_or(0);
            self.push(number, found.absolute_byte_offset(), found.bytes(), true)?;
        } else if self.options.stop_when_full {
            self.hit.n_lines = n_before;
            self.is_full = true;
            return Ok(false);
        }
        Ok(!self.hit.n_lines.is_multiple_of(4096) || !(self.options.cancelled)())
    }

    fn context(&mut self, _: &Searcher, found: &SinkContext<'_>) -> io::Result<bool> {
        if self.hit.n_kept() < self.options.keep {
            let number = found.line_number().unwrap_or(0);
            self.push(number, found.absolute_byte_offset(), found.bytes(), false)?;
        }
        Ok(true)
    }

    fn binary_data(&mut self, _: &Searcher, offset: u64) -> io::Result<bool> {
        self.hit.binary = Some(offset);
        Ok(false)
    }

    fn finish(&mut self, _: &Searcher, finish: &SinkFinish) -> io::Result<()> {
        self.hit.binary = self.hit.binary.or(finish.binary_byte_offset());
        Ok(())
    }
}
