//! Which lines an edit keeps, which it replaces and which are new.

use std::time::Duration;
use std::time::Instant;

use similar::Algorithm;
use similar::DiffOp;

/// Longest time spent on finding kept lines; after it, more lines count as replaced.
const PATIENCE: Duration = Duration::from_millis(300);

/// Where a new line comes from: an index of an old line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// It is the old line, unchanged.
    Kept(usize),
    /// It stands for that old line.
    Replaces(usize),
    /// It stands for none.
    Inserted,
}

/// Returns the origin of each line of `new`.
///
/// Lines alike at the beginning and at the end are kept; between them, the longest common
/// sequence is.
pub(super) fn origins(old: &[&str], new: &[&str]) -> Vec<Origin> {
    let same = |(left, right): &(&&str, &&str)| left == right;
    let head = old.iter().zip(new).take_while(same).count();
    let shorter = old.len().min(new.len()) - head;
    let tail = old.iter().rev().zip(new.iter().rev()).take(shorter).take_while(same).count();
    let mut origins: Vec<Origin> = (0..head).map(Origin::Kept).collect();
    origins.resize(new.len() - tail, Origin::Inserted);
    let (middle_old, middle_new) = (&old[head..old.len() - tail], &new[head..new.len() - tail]);
    let deadline = Some(Instant::now() + PATIENCE);
    let ops =
        similar::capture_diff_slices_deadline(Algorithm::Myers, middle_old, middle_new, deadline);
    for op in ops {
        let (old, new) = (op.old_range(), op.new_range());
        let pairs = new.map(|index| index + head).zip(old.map(|index| index + head));
        for (new, old) in pairs {
            origins[new] = match op {
                DiffOp::Equal { .. } => Origin::Kept(old),
                DiffOp::Insert { .. } | DiffOp::Delete { .. } | DiffOp::Replace { .. } => {
                    Origin::Replaces(old)
                }
            };
        }
    }
    origins.extend((old.len() - tail..old.len()).map(Origin::Kept));
    origins
}
