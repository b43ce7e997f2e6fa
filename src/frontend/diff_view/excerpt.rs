//! A very long line, reduced to the places that change.

use std::ops::Range;

/// Lines up to this many characters are shown whole.
pub(super) const WHOLE: usize = 1_000;
/// Characters that are shown around a place that changes, and at the ends of the line.
const AROUND: usize = 80;
/// Places that are shown.
const PLACES: usize = 5;
/// Characters of one place that are shown at its beginning and at its end.
const PLACE: usize = 200;

/// A part of a line: shown, or left out with the number of its characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Shown(Range<usize>),
    Left(usize),
}

/// Chooses what is shown of `text`, so that each of `places` (bytes, in order) can be seen.
pub(super) fn parts(text: &str, places: &[Range<usize>]) -> Vec<Part> {
    if text.len() <= WHOLE {
        return vec![Part::Shown(0..text.len())];
    }
    let mut wanted = Vec::new();
    for place in places.iter().take(PLACES) {
        wanted.push(back(text, place.start, AROUND)..forward(text, place.start, PLACE));
        wanted.push(back(text, place.end, PLACE)..forward(text, place.end, AROUND));
    }
    wanted.push(back(text, text.len(), AROUND)..text.len());
    let mut parts = Vec::new();
    let mut shown = 0..forward(text, 0, AROUND);
    for next in wanted {
        // A gap that is not longer than its note is no gap.
        if next.start <= shown.end + 32 {
            shown.end = shown.end.max(next.end);
            continue;
        }
        parts.push(Part::Shown(shown.clone()));
        parts.push(Part::Left(text[shown.end..next.start].chars().count()));
        shown = next;
    }
    parts.push(Part::Shown(shown));
    parts
}

/// Returns where `one` and `other` differ, as one range each; for lines that nobody compared.
pub(super) fn differing(one: &str, other: &str) -> (Range<usize>, Range<usize>) {
    let same = |(a, b): &((usize, char), char)| a.1 == *b;
    let head: usize = one
        .char_indices()
        .zip(other.chars())
        .take_while(same)
        .map(|((_, character), _)| character.len_utf8())
        .sum();
    let tail: usize = one[head..]
        .chars()
        .rev()
        .zip(other[head..].chars().rev())
        .take_while(|(a, b)| a == b)
        .map(|(character, _)| character.len_utf8())
        .sum();
    (head..one.len() - tail, head..other.len() - tail)
}

fn forward(text: &str, from: usize, characters: usize) -> usize {
    text[from..].char_indices().nth(characters).map_or(text.len(), |(at, _)| from + at)
}

fn back(text: &str, from: usize, characters: usize) -> usize {
    let before = text[..from].char_indices().rev();
    before.take(characters).last().map_or(from, |(at, _)| at)
}
