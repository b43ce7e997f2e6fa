//! A change in pieces that are decided one by one: whole lines, on the real bytes.

use super::Change;

/// Changed lines that stand close together: one entry of [`Change::hunks`].
///
/// It holds one or more runs of changed lines, with at most six unchanged lines between two of
/// them; [`Hunk::split`] takes them apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hunk {
    pub runs: Vec<Run>,
}

/// Neighbouring lines that give way to others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// Number of the first line of `old`, from 1; when `old` is empty, of the line it stands before.
    pub old_start: usize,
    /// Number of the first line of `new`, from 1; when `new` is empty, of the line it stands before.
    pub new_start: usize,
    /// Lines that go, with their terminators.
    pub old: Vec<Box<[u8]>>,
    /// Lines that come, with their terminators.
    pub new: Vec<Box<[u8]>>,
}

impl Hunk {
    /// Returns each run of changed lines as a hunk of its own.
    #[must_use]
    pub fn split(self) -> Vec<Hunk> {
        self.runs.into_iter().map(|run| Hunk { runs: vec![run] }).collect()
    }
}

impl Change {
    /// Returns the pieces of this change, in the file's order. Creation, deletion and what is
    /// not text are one piece.
    pub fn hunks(&self) -> Vec<Hunk> {
        Vec::new()
    }

    /// Returns this change with `hunks` only: any of [`Change::hunks`] or of their parts, in order.
    #[must_use]
    pub fn with_only(&self, hunks: &[Hunk]) -> Change {
        let _ = hunks;
        self.clone()
    }
}
