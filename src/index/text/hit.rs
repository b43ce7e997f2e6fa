//! What a search found in one file: lines as they are on disk now.

use std::ops::Range;

use crate::index::files::FileId;

/// The lines of one file that match, with the lines around them if asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileHit {
    /// The file's number in the table that was searched; `None` if it came by its path.
    pub id: Option<FileId>,
    /// From the root.
    pub path: Vec<u8>,
    lines: Vec<Kept>,
    text: Vec<u8>,
    spans: Vec<(usize, usize)>,
    /// Lines that match, also those that were not kept.
    pub n_lines: u64,
    /// Where a NUL ended the search: what follows was not looked at.
    pub binary: Option<u64>,
}

/// One kept line; places are in `text` and `spans`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Kept {
    number: u64,
    offset: u64,
    text: Range<usize>,
    spans: Range<usize>,
    is_match: bool,
}

/// One line of a file, or several that one match goes across.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// Of the first line, counted from 1.
    pub number: u64,
    /// Where it begins, in bytes from the start of the file.
    pub offset: u64,
    /// With its line breaks, as far as it has any.
    pub bytes: &'a [u8],
    /// Where the pattern matches in it, if that was asked; from the start of the line.
    pub spans: &'a [(usize, usize)],
    /// Whether it matches, or only stands beside one that does.
    pub is_match: bool,
}

impl FileHit {
    /// Returns the lines that were kept, in order.
    pub fn lines(&self) -> impl ExactSizeIterator<Item = Line<'_>> {
        self.lines.iter().map(|line| Line {
            number: line.number,
            offset: line.offset,
            bytes: &self.text[line.text.clone()],
            spans: &self.spans[line.spans.clone()],
            is_match: line.is_match,
        })
    }

    /// Returns the bytes of the lines that were kept.
    pub fn n_bytes(&self) -> usize {
        self.text.len()
    }

    /// Keeps only how many lines there are.
    #[must_use]
    pub fn counted(self) -> FileHit {
        let FileHit { id, path, n_lines, binary, .. } = self;
        FileHit { id, path, n_lines, binary, ..FileHit::default() }
    }

    /// Returns what is said of the file apart from its lines.
    pub(super) fn without_lines(&self) -> FileHit {
        FileHit { binary: self.binary, ..FileHit::default() }
    }

    /// Returns this with nothing in it, but with the room that it has.
    pub(super) fn emptied(mut self) -> FileHit {
        self.lines.clear();
        self.text.clear();
        self.spans.clear();
        let FileHit { lines, text, spans, .. } = self;
        FileHit { lines, text, spans, ..FileHit::default() }
    }

    /// Keeps no more than `limit` matching lines, and what stands beside them.
    #[must_use]
    pub fn first(mut self, limit: u64) -> FileHit {
        let (mut n_lines, mut n_kept) = (0, 0);
        for line in &self.lines {
            if line.is_match && n_lines >= limit {
                break;
            }
            n_lines += u64::from(line.is_match);
            n_kept += 1;
        }
        self.lines.truncate(n_kept);
        self.n_lines = self.n_lines.min(limit);
        self
    }

    /// Adds a line.
    pub(super) fn push(&mut self, line: &Line<'_>) {
        let (text, spans) = (self.text.len(), self.spans.len());
        self.text.extend_from_slice(line.bytes);
        self.spans.extend_from_slice(line.spans);
        self.lines.push(Kept {
            number: line.number,
            offset: line.offset,
            text: text..self.text.len(),
            spans: spans..self.spans.len(),
            is_match: line.is_match,
        });
    }

    /// Returns the number of kept lines.
    pub(super) fn n_kept(&self) -> usize {
        self.lines.len()
    }
}
