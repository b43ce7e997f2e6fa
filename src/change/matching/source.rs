//! The file's text with its line ends unified, and the way back to the text as it is.

use std::borrow::Cow;
use std::ops::Range;

use super::Found;

/// A file's text, its line ends unified for matching.
///
/// A `\r` that does not stand before `\n` is an ordinary character.
pub(super) struct Source<'a> {
    original: &'a str,
    text: Cow<'a, str>,
    /// Offsets in `text` of the line ends that are `\r\n` in the file.
    crlf: Vec<usize>,
}

impl<'a> Source<'a> {
    pub(super) fn new(original: &'a str) -> Source<'a> {
        let text = unified_line_ends(original);
        let ends = original.match_indices("\r\n").enumerate();
        let crlf = ends.map(|(before, (offset, _))| offset - before).collect();
        Source { original, text, crlf }
    }

    pub(super) fn original(&self) -> &str {
        self.original
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Whether some lines end in `\r\n`.
    pub(super) fn has_crlf(&self) -> bool {
        !self.crlf.is_empty()
    }

    /// Returns the lines, without the empty one after a final line end.
    pub(super) fn lines(&self) -> Vec<&str> {
        let mut lines: Vec<&str> = self.text.split('\n').collect();
        if lines.last() == Some(&"") {
            lines.pop();
        }
        lines
    }

    /// Returns the number, from 1, of the line that holds the character at `offset`.
    pub(super) fn line_number(&self, offset: usize) -> usize {
        1 + self.text[..offset].matches('\n').count()
    }

    /// Returns the line end that stands at `offset` of the unified text.
    pub(super) fn line_end_at(&self, offset: usize) -> &'static str {
        match self.crlf.binary_search(&offset) {
            Ok(_) => "\r\n",
            Err(_) => "\n",
        }
    }

    /// Returns the first line end at or after `offset`; `None` on an unterminated last line.
    pub(super) fn line_end_after(&self, offset: usize) -> Option<&'static str> {
        self.text[offset..].find('\n').map(|found| self.line_end_at(offset + found))
    }

    /// Returns the last line end before `offset`; `None` on the first line.
    pub(super) fn line_end_before(&self, offset: usize) -> Option<&'static str> {
        self.text[..offset].rfind('\n').map(|found| self.line_end_at(found))
    }

    /// Returns the part of the file at `at` as it is, given in offsets of the unified text.
    pub(super) fn original_at(&self, at: &Range<usize>) -> &'a str {
        &self.original[self.original_offset(at.start)..self.original_offset(at.end)]
    }

    /// Returns the file's text with each place replaced. Places are in order and do not overlap.
    pub(super) fn with(&self, places: &[Found]) -> String {
        let added: usize = places.iter().map(|place| place.text.len()).sum();
        let mut text = String::with_capacity(self.original.len() + added);
        let mut from = 0;
        for place in places {
            text.push_str(self.original_at(&(from..place.at.start)));
            text.push_str(&place.text);
            from = place.at.end;
        }
        text.push_str(self.original_at(&(from..self.text.len())));
        text
    }

    fn original_offset(&self, offset: usize) -> usize {
        offset + self.crlf.partition_point(|&line_end| line_end < offset)
    }
}

/// Returns `text` with `\n` for each `\r\n`.
pub(super) fn unified_line_ends(text: &str) -> Cow<'_, str> {
    if text.contains("\r\n") { Cow::Owned(text.replace("\r\n", "\n")) } else { Cow::Borrowed(text) }
}
