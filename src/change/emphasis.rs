//! Which words differ between a line that goes and the one that comes for it.

use std::ops::Range;

use similar::Algorithm;
use similar::DiffOp;

/// Most words of a line that are compared one by one; a longer line is compared from its ends.
const WORDS: usize = 200;
/// Bytes from which on a line is compared from its ends where its words tell nothing.
const LONG: usize = 300;
/// Bytes from which on words are not looked for.
const VERY_LONG: usize = 20_000;
/// Most lines of a run whose partners are looked for.
const LINES: usize = 200;
/// Most lines that are tried as the partner of one.
const CANDIDATES: usize = 5;
/// Least share, in hundredths, that two lines have in common to be partners.
const IN_COMMON: usize = 40;

/// The ranges of bytes that differ, for each line of either side.
pub(super) struct Emphasis {
    pub(super) old: Vec<Parts>,
    pub(super) new: Vec<Parts>,
}

/// Parts of a line, in bytes.
type Parts = Vec<Range<usize>>;

/// Returns what differs between neighbouring lines `old` and the lines `new` in their place.
pub(super) fn of(old: &[String], new: &[String]) -> Emphasis {
    let mut emphasis =
        Emphasis { old: vec![Vec::new(); old.len()], new: vec![Vec::new(); new.len()] };
    if old.is_empty() || new.is_empty() || old.len().max(new.len()) > LINES {
        return emphasis;
    }
    let mut from = 0;
    for (index, line) in old.iter().enumerate() {
        // Lines left over on the new side are as far as one may look for a partner.
        let spare = new.len().saturating_sub(old.len() - index).max(from);
        for (partner, candidate) in
            new.iter().enumerate().take(spare + 1).skip(from).take(CANDIDATES)
        {
            if let Some((left, right)) = between(line, candidate) {
                emphasis.old[index] = left;
                emphasis.new[partner] = right;
                from = partner + 1;
                break;
            }
        }
    }
    emphasis
}

/// Returns what differs between two lines; `None` if they have too little in common.
fn between(old: &str, new: &str) -> Option<(Parts, Parts)> {
    if old.len().max(new.len()) > VERY_LONG {
        return from_ends(old, new);
    }
    let (left, right) = (words(old), words(new));
    if left.len() > WORDS || right.len() > WORDS {
        return from_ends(old, new);
    }
    let (mut there, mut here) = (Vec::new(), Vec::new());
    let mut common = 0;
    let texts = |text: &str, words: &[Range<usize>]| -> Vec<String> {
        words.iter().map(|word| text[word.clone()].to_owned()).collect()
    };
    let (left_texts, right_texts) = (texts(old, &left), texts(new, &right));
    for op in similar::capture_diff_slices(Algorithm::Myers, &left_texts, &right_texts) {
        if let DiffOp::Equal { .. } = op {
            let solid = |text: &&String| !text.trim().is_empty();
            common +=
                left_texts[op.old_range()].iter().filter(solid).map(String::len).sum::<usize>();
            continue;
        }
        extend(&mut there, &left[op.old_range()]);
        extend(&mut here, &right[op.new_range()]);
    }
    let solid = |text: &str| text.chars().filter(|c| !c.is_whitespace()).map(char::len_utf8).sum();
    let longer: usize = usize::max(solid(old), solid(new));
    if common * 100 >= longer * IN_COMMON {
        return Some((there, here));
    }
    // A long line of few words, such as a table of numbers in text, may differ within one.
    if old.len().min(new.len()) > LONG { from_ends(old, new) } else { None }
}

fn extend(ranges: &mut Vec<Range<usize>>, words: &[Range<usize>]) {
    let (Some(first), Some(last)) = (words.first(), words.last()) else { return };
    match ranges.last_mut() {
        Some(range) if range.end == first.start => range.end = last.end,
        _ => ranges.push(first.start..last.end),
    }
}

/// Returns the one part between the equal beginnings and ends of two long lines.
fn from_ends(old: &str, new: &str) -> Option<(Parts, Parts)> {
    let same = |(left, right): &(char, char)| left == right;
    let width = |(c, _): (char, char)| c.len_utf8();
    let head: usize = old.chars().zip(new.chars()).take_while(same).map(width).sum();
    let (left, right) = (&old[head..], &new[head..]);
    let tail: usize = left.chars().rev().zip(right.chars().rev()).take_while(same).map(width).sum();
    let part = |text: &str| {
        let range = head..text.len() - tail;
        if range.is_empty() { Vec::new() } else { vec![range] }
    };
    let enough = (head + tail) * 100 >= old.len().max(new.len()) * IN_COMMON;
    enough.then(|| (part(old), part(new)))
}

/// Returns the words of a line: runs of letters and digits, runs of blanks, and single signs.
fn words(line: &str) -> Vec<Range<usize>> {
    let kind = |c: char| match c {
        c if c.is_alphanumeric() || c == '_' => 0,
        c if c.is_whitespace() => 1,
        _ => 2,
    };
    let mut words: Vec<Range<usize>> = Vec::new();
    let mut last = 2;
    for (start, c) in line.char_indices() {
        let end = start + c.len_utf8();
        match words.last_mut() {
            Some(word) if kind(c) == last && last != 2 => word.end = end,
            _ => words.push(start..end),
        }
        last = kind(c);
        if words.len() > WORDS {
            break;
        }
    }
    words
}
