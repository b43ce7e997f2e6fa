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

    /// Takes over what was said of the piece of `earlier` that does the same.
    pub(super) fn take_over(&mut self, earlier: &[Piece]) {
        let same = |piece: &&Piece| {
            piece.hunk.runs.len() == self.hunk.runs.len()
                && piece.hunk.runs.iter().zip(&self.hunk.runs).all(|(one, other)| {
                    (one.old_start, &one.old, &one.new) == (other.old_start, &other.old, &other.new)
                })
        };
        if let Some(piece) = earlier.iter().find(same) {
            self.answer = piece.answer;
            self.comment.clone_from(&piece.comment);
        }
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
