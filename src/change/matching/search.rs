//! Searches that count every place, overlapping ones too, in linear time.

use std::ops::Range;

use super::error::Refusal;
use super::source::Source;

/// Number of places that an error lists.
const LISTED: usize = 20;

/// Returns the offset of the only place where `wanted` stands; `None` if there is none.
pub(super) fn only(source: &Source<'_>, wanted: &str) -> Result<Option<usize>, Refusal> {
    let text = source.text();
    let Some(first) = text.find(wanted) else { return Ok(None) };
    let next = first + text[first..].chars().next().map_or(1, char::len_utf8);
    if !text[next..].contains(wanted) {
        return Ok(Some(first));
    }
    let offsets = places(text.as_bytes(), wanted.as_bytes());
    let lines = offsets.iter().take(LISTED).map(|&offset| source.line_number(offset)).collect();
    Err(Refusal::Several { lines, total: offsets.len() })
}

/// Returns where `wanted` stands as whole lines, each compared by `key`, if at one place only.
///
/// With `terminated`, the last line's end belongs to the place, and must be there.
pub(super) fn only_lines(
    source: &Source<'_>,
    wanted: &[&str],
    terminated: bool,
    key: fn(&str) -> &str,
) -> Result<Option<Range<usize>>, Refusal> {
    let lines = source.lines();
    let keys: Vec<&str> = lines.iter().map(|line| key(line)).collect();
    let wanted: Vec<&str> = wanted.iter().map(|line| key(line)).collect();
    let found = places(&keys, &wanted);
    let [first] = found[..] else {
        if found.is_empty() {
            return Ok(None);
        }
        let lines = found.iter().take(LISTED).map(|&line| line + 1).collect();
        return Err(Refusal::Several { lines, total: found.len() });
    };
    let start = offset_of(&lines, first);
    let end = offset_of(&lines, first + wanted.len());
    if !terminated {
        return Ok(Some(start..end - 1));
    }
    // The end of a last line that has none lies one past the text.
    Ok((end <= source.text().len()).then_some(start..end))
}

/// Returns the offset at which line `index` begins.
fn offset_of(lines: &[&str], index: usize) -> usize {
    lines[..index].iter().map(|line| line.len() + 1).sum()
}

/// Returns the index of every place of `needle` in `hay`, overlapping ones included.
///
/// Knuth, Morris and Pratt's search: no input makes it slower than linear.
pub(super) fn places<T: Eq>(hay: &[T], needle: &[T]) -> Vec<usize> {
    if needle.is_empty() || needle.len() > hay.len() {
        return Vec::new();
    }
    let borders = borders(needle);
    let mut found = Vec::new();
    let mut matched = 0;
    for (index, item) in hay.iter().enumerate() {
        while matched > 0 && (matched == needle.len() || needle[matched] != *item) {
            matched = borders[matched - 1];
        }
        if needle[matched] == *item {
            matched += 1;
        }
        if matched == needle.len() {
            found.push(index + 1 - matched);
        }
    }
    found
}

/// Returns for each prefix of `needle` the length of its longest proper border.
fn borders<T: Eq>(needle: &[T]) -> Vec<usize> {
    let mut borders = vec![0; needle.len()];
    let mut matched = 0;
    for index in 1..needle.len() {
        while matched > 0 && needle[matched] != needle[index] {
            matched = borders[matched - 1];
        }
        if needle[matched] == needle[index] {
            matched += 1;
        }
        borders[index] = matched;
    }
    borders
}
