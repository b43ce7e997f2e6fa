//! The parts of a change that are decided one by one.

use std::ops::Range;

use crate::change::Change;
use crate::change::Hunk;
use crate::change::diff;
use crate::change::diff::DiffHunk;
use crate::change::diff::FileDiff;

/// A hunk, or a part of one, and what the person says of it.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    pub(super) hunk: Hunk,
    pub(super) shown: DiffHunk,
    /// Whether it is one of the change's own hunks.
    pub(super) is_whole: bool,
    pub(super) answer: Option<bool>,
    pub(super) comment: String,
}

impl Piece {
    fn new(hunk: Hunk, shown: DiffHunk, is_whole: bool) -> Piece {
        Piece { hunk, shown, is_whole, answer: None, comment: String::new() }
    }

    pub(super) fn is_untouched(&self) -> bool {
        self.answer.is_none() && self.comment.is_empty()
    }

    /// Whether it does the same as `other`.
    fn is_like(&self, other: &Piece) -> bool {
        self.hunk.runs.len() == other.hunk.runs.len()
            && self.hunk.runs.iter().zip(&other.hunk.runs).all(|(one, other)| {
                (one.old_start, &one.old, &one.new) == (other.old_start, &other.old, &other.new)
            })
    }

    /// Takes over what was said of the piece of `earlier` that does the same.
    fn take_over(mut self, earlier: &[Piece]) -> Piece {
        if let Some(piece) = earlier.iter().find(|piece| self.is_like(piece)) {
            self.answer = piece.answer;
            self.comment.clone_from(&piece.comment);
        }
        self
    }
}

/// Returns the hunks of `change` as pieces.
pub(super) fn of(change: &Change, diff: &FileDiff) -> Vec<Piece> {
    let shown = diff.hunks.iter().cloned().chain(std::iter::repeat(DiffHunk::default()));
    change
        .hunks()
        .into_iter()
        .zip(shown)
        .map(|(hunk, shown)| Piece::new(hunk, shown, true))
        .collect()
}

/// Returns the hunks of `change`, which was edited, as pieces: split where they were among the
/// `earlier` ones, and with what was said of those that do the same.
pub(super) fn after_edit(change: &Change, diff: &FileDiff, earlier: &[Piece]) -> Vec<Piece> {
    let parts = |piece: Piece| {
        let was_split = |part: &Piece| earlier.iter().any(|one| !one.is_whole && one.is_like(part));
        match split(change, &piece).filter(|parts| parts.iter().any(was_split)) {
            Some(parts) => parts,
            None => vec![piece],
        }
    };
    let pieces = of(change, diff).into_iter().flat_map(parts);
    pieces.map(|piece| piece.take_over(earlier)).collect()
}

/// Splits `piece` at its unchanged lines, if it has any.
pub(super) fn split(change: &Change, piece: &Piece) -> Option<Vec<Piece>> {
    let parts = piece.hunk.clone().split();
    if parts.len() < 2 {
        return None;
    }
    let part = |hunk: Hunk| {
        let shown = diff::hunk(change, &hunk);
        let comment = piece.comment.clone();
        Piece { comment, ..Piece::new(hunk, shown, false) }
    };
    Some(parts.into_iter().map(part).collect())
}

/// Returns where the new lines of `hunk` stand in `text`, the whole new text; `None` where they
/// do not stand there byte for byte, as in another encoding.
pub(super) fn new_text(text: &str, hunk: &Hunk) -> Option<Range<usize>> {
    let (first, last) = (hunk.runs.first()?, hunk.runs.last()?);
    let mut starts = vec![0];
    starts.extend(text.match_indices('\n').map(|(at, _)| at + 1));
    if starts.last() == Some(&text.len()) {
        starts.pop();
    }
    let at = |line: usize| starts.get(line - 1).copied().unwrap_or(text.len());
    for run in &hunk.runs {
        let range = at(run.new_start)..at(run.new_start + run.new.len());
        if text.as_bytes()[range] != run.new.concat() {
            return None;
        }
    }
    Some(at(first.new_start)..at(last.new_start + last.new.len()))
}
