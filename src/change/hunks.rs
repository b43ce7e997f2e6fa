//! A change in pieces that are decided one by one: whole lines, on the real bytes.

use std::ops::Range;

use super::Change;
use super::compare::{Compared, lines};

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
    /// not text are one piece. The same change always has the same pieces.
    pub fn hunks(&self) -> Vec<Hunk> {
        if self.before_bytes() == self.after.as_deref() {
            return Vec::new();
        }
        let compared = Compared::new(self.before_bytes(), self.after.as_deref());
        let owned = |lines: &[&[u8]]| lines.iter().map(|&line| line.into()).collect();
        let hunk = |group: Range<usize>| Hunk {
            runs: compared.runs[group]
                .iter()
                .map(|run| Run {
                    old_start: run.old.start + 1,
                    new_start: run.new.start + 1,
                    old: owned(&compared.old[run.old.clone()]),
                    new: owned(&compared.new[run.new.clone()]),
                })
                .collect(),
        };
        compared.groups().into_iter().map(hunk).collect()
    }

    /// Returns this change with only the accepted hunks; one flag a hunk, in order. A hunk
    /// without a flag is not accepted.
    #[must_use]
    pub fn with_hunks(&self, accepted: &[bool]) -> Change {
        let hunks = self.hunks();
        if accepted.len() >= hunks.len() && accepted.iter().take(hunks.len()).all(|&yes| yes) {
            return self.clone();
        }
        let flags = accepted.iter().copied().chain(std::iter::repeat(false));
        let kept = hunks.into_iter().zip(flags).filter(|(_, yes)| *yes).map(|(hunk, _)| hunk);
        self.with_only(&kept.collect::<Vec<Hunk>>())
    }

    /// Returns this change with `hunks` only: any of [`Change::hunks`] or of their parts, in order.
    #[must_use]
    pub fn with_only(&self, hunks: &[Hunk]) -> Change {
        let after = match (&self.before, &self.after) {
            (before, _) if hunks.is_empty() => before.as_ref().map(|before| before.bytes.clone()),
            (_, None) => None,
            (before, Some(_)) => {
                let old = before.as_ref().map_or(&[][..], |before| &before.bytes);
                Some(patched(&self.base_lines(old), hunks).into())
            }
        };
        Change { after, ..self.clone() }
    }

    /// Returns the lines that hunks are counted in.
    fn base_lines<'a>(&self, old: &'a [u8]) -> Vec<&'a [u8]> {
        if Compared::is_text(self.before_bytes(), self.after.as_deref()) {
            return lines(old);
        }
        if old.is_empty() { Vec::new() } else { vec![old] }
    }

    pub(super) fn before_bytes(&self) -> Option<&[u8]> {
        self.before.as_ref().map(|before| &before.bytes[..])
    }
}

/// Returns the lines of `old` with `hunks` applied; one that does not fit is passed over.
fn patched(old: &[&[u8]], hunks: &[Hunk]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut from = 0;
    for run in hunks.iter().flat_map(|hunk| &hunk.runs) {
        let start = run.old_start.saturating_sub(1);
        let end = start + run.old.len();
        if start < from || end > old.len() {
            continue;
        }
        bytes.extend(old[from..start].concat());
        bytes.extend(run.new.concat());
        from = end;
    }
    bytes.extend(old[from..].concat());
    bytes
}
