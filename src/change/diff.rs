//! A change as people read it: hunks of lines with context, numbered on both sides.
//!
//! The model is plain data. Text in it is the file's own, odd characters included: whoever
//! draws it makes them visible.

use std::ops::Range;

use super::Change;
use super::compare;
use super::compare::Compared;
use super::emphasis;
use super::hunks::{Hunk, Run};
use super::notes;
pub use super::unified::{changed_lines, outcome_excerpt, unified, unified_of};
use crate::workspace::text;
use crate::workspace::text::{Line as TextLine, LineEnd};

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

/// Number of unchanged lines shown on either side of a changed one.
const CONTEXT: usize = 3;

/// Returns the difference that `change` makes.
pub fn diff(change: &Change) -> FileDiff {
    let kind = match (&change.before, &change.after) {
        (None, _) => DiffKind::Created,
        (Some(_), Some(_)) => DiffKind::Edited,
        (Some(_), None) => DiffKind::Deleted,
    };
    let hunks = change.hunks();
    let texts = Texts::new(change);
    let sides = texts.sides();
    let mut notes = change.notes.clone();
    notes.extend(notes::about(change));
    let hunks: Vec<DiffHunk> = hunks.iter().map(|hunk| sides.hunk(hunk)).collect();
    let count =
        |tag| hunks.iter().flat_map(|hunk| &hunk.lines).filter(|line| line.tag == tag).count();
    let (added, removed) = (count(LineTag::Added), count(LineTag::Removed));
    FileDiff { path: change.at.shown().to_owned(), kind, notes, added, removed, hunks }
}

/// Returns one hunk of `change` to draw: any of [`Change::hunks`] or a part of one.
pub fn hunk(change: &Change, hunk: &Hunk) -> DiffHunk {
    Texts::new(change).sides().hunk(hunk)
}

/// Both versions of a file, decoded; empty where they are not text.
struct Texts {
    old: String,
    new: String,
}

/// Both versions of a file in lines as people read them.
struct Sides<'a> {
    old: Vec<TextLine<'a>>,
    new: Vec<TextLine<'a>>,
}

impl Texts {
    /// What is not text has no lines to show.
    fn new(change: &Change) -> Texts {
        let (before, after) = (change.before_bytes(), change.after.as_deref());
        if !Compared::is_text(before, after) {
            return Texts { old: String::new(), new: String::new() };
        }
        let decoded = |bytes: Option<&[u8]>| {
            let text = compare::decoded(bytes.unwrap_or_default());
            text.map(|text| text.content).unwrap_or_default()
        };
        Texts { old: decoded(before), new: decoded(after) }
    }

    fn sides(&self) -> Sides<'_> {
        Sides { old: text::lines(&self.old).collect(), new: text::lines(&self.new).collect() }
    }
}

impl Sides<'_> {
    fn hunk(&self, hunk: &Hunk) -> DiffHunk {
        let fits = |run: &Run| {
            run.old_start + run.old.len() <= self.old.len() + 1
                && run.new_start + run.new.len() <= self.new.len() + 1
        };
        let runs: Vec<&Run> = hunk.runs.iter().filter(|run| fits(run)).collect();
        let Some(first) = runs.first() else { return DiffHunk::default() };
        let before = CONTEXT.min(first.old_start - 1).min(first.new_start - 1);
        let mut lines = Vec::new();
        let (mut old, mut new) = (first.old_start - before, first.new_start - before);
        let starts = (old, new);
        for run in &runs {
            self.same(&mut lines, old, new, run.old_start.saturating_sub(old));
            self.run(&mut lines, run);
            (old, new) = (run.old_start + run.old.len(), run.new_start + run.new.len());
        }
        let left = |lines: &[TextLine<'_>], from: usize| (lines.len() + 1).saturating_sub(from);
        let (old_left, new_left) = (left(&self.old, old), left(&self.new, new));
        self.same(&mut lines, old, new, CONTEXT.min(old_left).min(new_left));
        DiffHunk {
            old_start: if self.old.is_empty() { 0 } else { starts.0 },
            new_start: if self.new.is_empty() { 0 } else { starts.1 },
            lines,
        }
    }

    /// Adds `count` unchanged lines from the numbers `old` and `new` on.
    fn same(&self, lines: &mut Vec<DiffLine>, old: usize, new: usize, count: usize) {
        for index in 0..count {
            let line = &self.old[old - 1 + index];
            lines.push(DiffLine {
                tag: LineTag::Same,
                old: Some(old + index),
                new: Some(new + index),
                text: line.text.to_owned(),
                emphasis: Vec::new(),
                no_newline: line.end == LineEnd::None,
            });
        }
    }

    fn run(&self, lines: &mut Vec<DiffLine>, run: &Run) {
        let old = &self.old[run.old_start - 1..run.old_start - 1 + run.old.len()];
        let new = &self.new[run.new_start - 1..run.new_start - 1 + run.new.len()];
        let texts = |lines: &[TextLine<'_>]| lines.iter().map(with_odd_end).collect();
        let (old_texts, new_texts): (Vec<String>, Vec<String>) = if only_ends_differ(old, new) {
            (texts(old), texts(new))
        } else {
            (plain(old), plain(new))
        };
        let emphasis = emphasis::of(&old_texts, &new_texts);
        let line = |tag, text, emphasis, line: &TextLine<'_>| DiffLine {
            tag,
            old: None,
            new: None,
            text,
            emphasis,
            no_newline: line.end == LineEnd::None,
        };
        for (index, (text, emphasis)) in old_texts.into_iter().zip(emphasis.old).enumerate() {
            let line = line(LineTag::Removed, text, emphasis, &old[index]);
            lines.push(DiffLine { old: Some(run.old_start + index), ..line });
        }
        for (index, (text, emphasis)) in new_texts.into_iter().zip(emphasis.new).enumerate() {
            let line = line(LineTag::Added, text, emphasis, &new[index]);
            lines.push(DiffLine { new: Some(run.new_start + index), ..line });
        }
    }
}

fn with_odd_end(line: &TextLine<'_>) -> String {
    let end = if line.end == LineEnd::CrLf { "\r" } else { "" };
    format!("{}{end}", line.text)
}

fn plain(lines: &[TextLine<'_>]) -> Vec<String> {
    lines.iter().map(|line| line.text.to_owned()).collect()
}

fn only_ends_differ(old: &[TextLine<'_>], new: &[TextLine<'_>]) -> bool {
    old.len() == new.len() && old.iter().zip(new).all(|(old, new)| old.text == new.text)
}
