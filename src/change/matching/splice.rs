//! Writes the new lines of an edit into the place found for it, with the file's line ends.

use std::borrow::Cow;
use std::ops::Range;

use super::Wanted;
use super::align;
use super::align::Origin;
use super::error::Refusal;
use super::source::Source;

/// Returns the new text for the place of an exact match.
pub(super) fn exact(source: &Source<'_>, at: &Range<usize>, wanted: &Wanted<'_>) -> String {
    if !source.has_crlf() {
        return wanted.new.to_owned();
    }
    let alike = |line, _| Ok(Cow::Borrowed(line));
    // Writing lines as they were sent refuses nothing.
    lines(source, at, wanted, alike).unwrap_or_else(|_| wanted.new.to_owned())
}

/// Returns the new text for the place of a match.
///
/// Kept lines are the file's; `write` gives the text of each other line. A line that stands for
/// one of the file takes its line end, and a new line that of its neighbour.
pub(super) fn lines<'a>(
    source: &Source<'_>,
    at: &Range<usize>,
    wanted: &Wanted<'a>,
    write: impl Fn(&'a str, Origin) -> Result<Cow<'a, str>, Refusal>,
) -> Result<String, Refusal> {
    let file: Vec<&str> = source.text()[at.clone()].split('\n').collect();
    let ends = line_ends(source, at, &file);
    let origins = align::origins(&wanted.old_lines, &wanted.new_lines);
    let mut text = String::with_capacity(wanted.new.len() + at.len());
    let mut last_end = None;
    for (index, (&line, &origin)) in wanted.new_lines.iter().zip(&origins).enumerate() {
        match origin {
            Origin::Kept(old) => text.push_str(file[old]),
            Origin::Replaces(_) | Origin::Inserted => text.push_str(&write(line, origin)?),
        }
        if index + 1 < wanted.new_lines.len() {
            let own = end_of(origin, &ends);
            let following = || origins[index..].iter().find_map(|&origin| end_of(origin, &ends));
            let before = || source.line_end_before(at.start);
            let end = own.or(last_end).or_else(following).or_else(before).unwrap_or("\n");
            text.push_str(end);
            last_end = Some(end);
        }
    }
    Ok(text)
}

/// Returns the line end of each line at a place; only the last line of a file may have none.
fn line_ends(source: &Source<'_>, at: &Range<usize>, file: &[&str]) -> Vec<Option<&'static str>> {
    let mut offset = at.start;
    let mut ends = Vec::with_capacity(file.len());
    for line in &file[..file.len() - 1] {
        offset += line.len();
        ends.push(Some(source.line_end_at(offset)));
        offset += 1;
    }
    ends.push(source.line_end_after(at.end));
    ends
}

fn end_of(origin: Origin, ends: &[Option<&'static str>]) -> Option<&'static str> {
    match origin {
        Origin::Kept(old) | Origin::Replaces(old) => ends[old],
        Origin::Inserted => None,
    }
}
