//! Where a cursor may stand: boundaries of letters as people see them, of words and of lines.

use unicode_segmentation::GraphemeCursor;
use unicode_segmentation::UnicodeSegmentation as _;

/// Returns the place one letter left of `at`.
pub(super) fn left(text: &str, at: usize) -> usize {
    let mut cursor = GraphemeCursor::new(at, text.len(), true);
    cursor.prev_boundary(text, 0).ok().flatten().unwrap_or(0)
}

/// Returns the place one letter right of `at`.
pub(super) fn right(text: &str, at: usize) -> usize {
    let mut cursor = GraphemeCursor::new(at, text.len(), true);
    cursor.next_boundary(text, 0).ok().flatten().unwrap_or(text.len())
}

/// Returns the start of the word left of `at`.
pub(super) fn word_left(text: &str, at: usize) -> usize {
    let words = text[..at].split_word_bound_indices();
    words.rev().find(|(_, word)| is_word(word)).map_or(0, |(start, _)| start)
}

/// Returns the end of the word right of `at`.
pub(super) fn word_right(text: &str, at: usize) -> usize {
    let mut words = text[at..].split_word_bound_indices();
    let word = words.find(|(_, word)| is_word(word));
    word.map_or(text.len(), |(start, word)| at + start + word.len())
}

/// Returns the start of the run of letters that are no blanks left of `at`, as a shell's Ctrl-W takes it.
pub(super) fn run_left(text: &str, at: usize) -> usize {
    let trimmed = text[..at].trim_end();
    let blank = trimmed.char_indices().rev().find(|(_, character)| character.is_whitespace());
    blank.map_or(0, |(start, character)| start + character.len_utf8())
}

/// Returns the start of the line that `at` stands on.
pub(super) fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |newline| newline + 1)
}

/// Returns the end of the line that `at` stands on, before its line end.
pub(super) fn line_end(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |newline| at + newline)
}

fn is_word(piece: &str) -> bool {
    piece.chars().any(char::is_alphanumeric)
}
