//! Which lines of two versions of a file differ. The same bytes always give the same answer.
//!
//! A decision names hunks by their order, so no clock may have a say in where they lie: work is
//! bounded by counting it.

use std::collections::HashMap;
use std::ops::Range;

use similar::Algorithm;
use similar::DiffOp;

use crate::workspace::text;
use crate::workspace::text::Encoding;
use crate::workspace::text::Text;

/// Most lines, both sides together, that are compared without looking for anchors first.
const SMALL: usize = 6_000;
/// Sum of squares of the lines compared; a block beyond it counts as changed as a whole.
const BUDGET: usize = 200_000_000;
/// Unchanged lines between two runs that belong to one hunk: those the two contexts share.
pub(super) const CLOSE: usize = 6;

/// Two versions of a file in lines, and the runs of lines that differ.
pub(super) struct Compared<'a> {
    pub(super) old: Vec<&'a [u8]>,
    pub(super) new: Vec<&'a [u8]>,
    /// In order; between two of them lie lines that are equal.
    pub(super) runs: Vec<Differing>,
}

/// Neighbouring lines that differ, as indexes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Differing {
    pub(super) old: Range<usize>,
    pub(super) new: Range<usize>,
}

impl<'a> Compared<'a> {
    pub(super) fn new(before: Option<&'a [u8]>, after: Option<&'a [u8]>) -> Compared<'a> {
        let (old, new) = (before.unwrap_or_default(), after.unwrap_or_default());
        if !Compared::is_text(before, after) {
            let whole = |bytes: &'a [u8]| if bytes.is_empty() { vec![] } else { vec![bytes] };
            let (old, new) = (whole(old), whole(new));
            let runs = vec![Differing { old: 0..old.len(), new: 0..new.len() }];
            return Compared { old, new, runs };
        }
        let (old, new) = (lines(old), lines(new));
        let runs = match (before, after) {
            (Some(_), Some(_)) => differing(&old, &new),
            _ => vec![Differing { old: 0..old.len(), new: 0..new.len() }],
        };
        Compared { old, new, runs }
    }

    /// Whether both versions are text whose lines can be mixed.
    pub(super) fn is_text(before: Option<&[u8]>, after: Option<&[u8]>) -> bool {
        let bytes = before.into_iter().chain(after).filter(|bytes| !bytes.is_empty());
        let widths: Option<Vec<Width>> = bytes.map(width).collect();
        widths.is_some_and(|widths| widths.windows(2).all(|pair| pair[0] == pair[1]))
    }

    /// Returns the runs that lie close together, as ranges of `runs`.
    pub(super) fn groups(&self) -> Vec<Range<usize>> {
        let mut groups: Vec<Range<usize>> = Vec::new();
        for (index, run) in self.runs.iter().enumerate() {
            match groups.last_mut() {
                Some(group) if run.old.start - self.runs[group.end - 1].old.end <= CLOSE => {
                    group.end = index + 1;
                }
                _ => groups.push(index..index + 1),
            }
        }
        groups
    }
}

/// Splits `bytes` into lines with their ends, by the encoding that its mark tells.
pub(super) fn lines(bytes: &[u8]) -> Vec<&[u8]> {
    let end: &[u8] = match bytes {
        [0xFF, 0xFE, ..] => b"\n\0",
        [0xFE, 0xFF, ..] => b"\0\n",
        _ => return bytes.split_inclusive(|&byte| byte == b'\n').collect(),
    };
    let mut lines = Vec::new();
    let mut start = 0;
    for at in (0..bytes.len()).step_by(2) {
        if bytes.get(at..at + 2) == Some(end) {
            lines.push(&bytes[start..at + 2]);
            start = at + 2;
        }
    }
    if start < bytes.len() {
        lines.push(&bytes[start..]);
    }
    lines
}

/// Decodes a version of a file to be shown. Whatever is UTF-8 is: a NUL hides no change.
pub(super) fn decoded(bytes: &[u8]) -> Option<Text> {
    text::decode(bytes).ok().or_else(|| {
        let content = str::from_utf8(bytes).ok()?.to_owned();
        Some(Text { content, encoding: Encoding::Utf8 })
    })
}

/// What a character of a text is made of.
#[derive(PartialEq, Eq)]
enum Width {
    Bytes,
    LittlePairs,
    BigPairs,
}

fn width(bytes: &[u8]) -> Option<Width> {
    match decoded(bytes)?.encoding {
        Encoding::Utf16Le => Some(Width::LittlePairs),
        Encoding::Utf16Be => Some(Width::BigPairs),
        Encoding::Utf8 | Encoding::Utf8Marked | Encoding::Legacy(_) => Some(Width::Bytes),
    }
}

fn differing(old: &[&[u8]], new: &[&[u8]]) -> Vec<Differing> {
    // Most of a file is the same at both ends, and need not be numbered.
    let same = |(left, right): &(&&[u8], &&[u8])| left == right;
    let head = old.iter().zip(new).take_while(same).count();
    let (old, new) = (&old[head..], &new[head..]);
    let tail = old.iter().rev().zip(new.iter().rev()).take_while(same).count();
    let (old, new) = numbered(&old[..old.len() - tail], &new[..new.len() - tail]);
    let mut runs = Vec::new();
    let mut budget = BUDGET;
    compare(&old, &new, (head, head), &mut budget, &mut runs);
    runs
}

/// Gives equal lines equal numbers, so that comparing two is comparing two numbers.
fn numbered(old: &[&[u8]], new: &[&[u8]]) -> (Vec<u32>, Vec<u32>) {
    let mut numbers = HashMap::new();
    let mut number = |line| {
        let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
        *numbers.entry(line).or_insert(next)
    };
    let old = old.iter().map(|&line| number(line)).collect();
    (old, new.iter().map(|&line| number(line)).collect())
}

/// Adds the runs of two blocks that begin at the lines `at`.
fn compare(
    old: &[u32],
    new: &[u32],
    at: (usize, usize),
    budget: &mut usize,
    runs: &mut Vec<Differing>,
) {
    let same = |(left, right): &(&u32, &u32)| left == right;
    let head = old.iter().zip(new).take_while(same).count();
    let (old, new, at) = (&old[head..], &new[head..], (at.0 + head, at.1 + head));
    let tail = old.iter().rev().zip(new.iter().rev()).take_while(same).count();
    let (old, new) = (&old[..old.len() - tail], &new[..new.len() - tail]);
    if old.is_empty() || new.is_empty() {
        push(runs, at.0..at.0 + old.len(), at.1..at.1 + new.len());
        return;
    }
    let lines = old.len() + new.len();
    let cost = lines.saturating_mul(lines);
    if lines <= SMALL && cost <= *budget {
        *budget -= cost;
        by_longest_sequence(old, new, at, runs);
        return;
    }
    let anchors = anchors(old, new);
    if anchors.is_empty() {
        push(runs, at.0..at.0 + old.len(), at.1..at.1 + new.len());
        return;
    }
    let mut from = (0, 0);
    for to in anchors.into_iter().chain([(old.len(), new.len())]) {
        let start = (at.0 + from.0, at.1 + from.1);
        compare(&old[from.0..to.0], &new[from.1..to.1], start, budget, runs);
        from = (to.0 + 1, to.1 + 1);
    }
}

fn by_longest_sequence(old: &[u32], new: &[u32], at: (usize, usize), runs: &mut Vec<Differing>) {
    for op in similar::capture_diff_slices(Algorithm::Myers, old, new) {
        if let DiffOp::Equal { .. } = op {
            continue;
        }
        let (old, new) = (op.old_range(), op.new_range());
        push(runs, at.0 + old.start..at.0 + old.end, at.1 + new.start..at.1 + new.end);
    }
}

/// Adds a run, as part of the one before where no equal line lies between them.
fn push(runs: &mut Vec<Differing>, old: Range<usize>, new: Range<usize>) {
    if old.is_empty() && new.is_empty() {
        return;
    }
    match runs.last_mut() {
        Some(last) if last.old.end == old.start && last.new.end == new.start => {
            (last.old.end, last.new.end) = (old.end, new.end);
        }
        _ => runs.push(Differing { old, new }),
    }
}

/// Returns the longest chain of lines that occur once on either side, as index pairs.
fn anchors(old: &[u32], new: &[u32]) -> Vec<(usize, usize)> {
    let (there, here) = (once(old), once(new));
    let pairs = old.iter().enumerate().filter_map(|(index, line)| {
        there.get(line)?.as_ref()?;
        Some((index, (*here.get(line)?)?))
    });
    // Patience: the longest sequence that rises on the new side.
    let mut piles: Vec<(usize, usize)> = Vec::new();
    let mut pairs_before: HashMap<(usize, usize), (usize, usize)> = HashMap::new();
    for pair in pairs {
        let pile = piles.partition_point(|top| top.1 < pair.1);
        if let Some(before) = pile.checked_sub(1) {
            pairs_before.insert(pair, piles[before]);
        }
        match piles.get_mut(pile) {
            Some(top) => *top = pair,
            None => piles.push(pair),
        }
    }
    let mut chain: Vec<(usize, usize)> =
        std::iter::successors(piles.last().copied(), |pair| pairs_before.get(pair).copied())
            .collect();
    chain.reverse();
    chain
}

/// Returns for each line where it stands, or nothing if it stands at several places.
fn once(lines: &[u32]) -> HashMap<u32, Option<usize>> {
    let mut places = HashMap::with_capacity(lines.len());
    for (index, line) in lines.iter().enumerate() {
        places.entry(*line).and_modify(|place| *place = None).or_insert(Some(index));
    }
    places
}
