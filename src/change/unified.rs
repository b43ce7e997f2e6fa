//! A change as a unified diff in plain text, and as the short account that the model reads.

use std::fmt::Write as _;

use super::Change;
use super::diff::{DiffHunk, DiffKind, DiffLine, FileDiff, LineTag, diff};

/// Bytes of a unified diff, at most; what is left out is counted.
const DIFF_BYTES: usize = 100_000;
/// Characters of a line in a unified diff and in an excerpt.
const DIFF_CHARACTERS: usize = 2_000;
const EXCERPT_CHARACTERS: usize = 300;
/// Lines that an excerpt shows, about; beyond it there are only ranges.
const EXCERPT_LINES: usize = 20;
/// Unchanged lines on either side of a changed one in an excerpt.
const EXCERPT_CONTEXT: usize = 2;
/// Ranges that an excerpt names.
const EXCERPT_RANGES: usize = 20;

/// Returns the difference as a unified diff in plain text, odd characters made visible.
pub fn unified(change: &Change) -> String {
    let diff = diff(change);
    let path = visible(&diff.path);
    let (old, new) = match diff.kind {
        DiffKind::Created => ("/dev/null".to_owned(), format!("b/{path}")),
        DiffKind::Edited => (format!("a/{path}"), format!("b/{path}")),
        DiffKind::Deleted => (format!("a/{path}"), "/dev/null".to_owned()),
    };
    let mut text = format!("--- {old}\n+++ {new}\n");
    if diff.hunks.iter().all(|hunk| hunk.lines.is_empty()) {
        text.extend(diff.notes.iter().map(|note| format!("[{}]\n", visible(note))));
    }
    let mut left_out = 0;
    for hunk in diff.hunks.iter().filter(|hunk| !hunk.lines.is_empty()) {
        if text.len() > DIFF_BYTES {
            left_out += hunk.lines.len();
            continue;
        }
        text.push_str(&header(hunk));
        for line in &hunk.lines {
            if text.len() > DIFF_BYTES {
                left_out += 1;
                continue;
            }
            let sign = match line.tag {
                LineTag::Same => ' ',
                LineTag::Removed => '-',
                LineTag::Added => '+',
            };
            text.push(sign);
            text.push_str(&visible(&windowed(line, DIFF_CHARACTERS)));
            text.push('\n');
            if line.no_newline {
                text.push_str("\\ No newline at end of file\n");
            }
        }
    }
    if left_out > 0 {
        // Writing to a string does not fail.
        writeln!(text, "[{left_out} more lines of this diff are not shown]").ok();
    }
    text
}

fn header(hunk: &DiffHunk) -> String {
    let count = |other| hunk.lines.iter().filter(|line| line.tag != other).count();
    let (old, new) = (count(LineTag::Added), count(LineTag::Removed));
    // A side without lines is named by the line before it, as diff does.
    let start = |start: usize, count| if count == 0 { start.saturating_sub(1) } else { start };
    let (old_start, new_start) = (start(hunk.old_start, old), start(hunk.new_start, new));
    format!("@@ -{old_start},{old} +{new_start},{new} @@\n")
}

/// Returns what the model is told of a change that was written.
pub fn outcome_excerpt(change: &Change) -> String {
    let diff = diff(change);
    let mut text = match diff.kind {
        DiffKind::Created => {
            format!("Created `{}`: {}", diff.path, plural(diff.added, "line"))
        }
        DiffKind::Deleted => format!("Deleted `{}`", diff.path),
        DiffKind::Edited => {
            format!("Changed `{}`: +{} -{} lines", diff.path, diff.added, diff.removed)
        }
    };
    if diff.kind == DiffKind::Edited {
        push_places(&mut text, &diff);
    }
    text
}

/// Returns the lines that `change` made, as `lines 3-5, 9`; `None` where it has no lines to name.
pub fn changed_lines(change: &Change) -> Option<String> {
    let hunks = diff(change).hunks;
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for line in hunks.iter().flat_map(|hunk| &hunk.lines) {
        let (LineTag::Added, Some(new)) = (line.tag, line.new) else { continue };
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == new => *last = new,
            _ => ranges.push((new, new)),
        }
    }
    let shown = |(first, last): &(usize, usize)| {
        if first == last { first.to_string() } else { format!("{first}-{last}") }
    };
    let named: Vec<String> = ranges.iter().take(EXCERPT_RANGES).map(shown).collect();
    let word = match ranges.as_slice() {
        [] => return None,
        [(first, last)] if first == last => "line",
        _ => "lines",
    };
    let more = match ranges.len().saturating_sub(EXCERPT_RANGES) {
        0 => String::new(),
        more => format!(" and {more} more places"),
    };
    Some(format!("{word} {}{more}", named.join(", ")))
}

fn plural(count: usize, word: &str) -> String {
    format!("{count} {word}{}", if count == 1 { "" } else { "s" })
}

/// Adds the new lines of each hunk while there is room, then ranges.
fn push_places(text: &mut String, diff: &FileDiff) {
    let mut room = EXCERPT_LINES;
    let mut ranges = Vec::new();
    for place in diff.hunks.iter().flat_map(places) {
        let (Some(first), Some(last)) = (place.first(), place.last()) else { continue };
        let numbers = (first.new.unwrap_or(0), last.new.unwrap_or(0));
        if place.len() > room {
            ranges.push(numbers);
            continue;
        }
        room -= place.len();
        let named = match numbers {
            (first, last) if first == last => format!("line {first} is"),
            (first, last) => format!("lines {first}-{last} are"),
        };
        writeln!(text, "\n{named} now:").ok();
        for line in &place {
            text.push_str(&windowed(line, EXCERPT_CHARACTERS));
            text.push('\n');
        }
        text.truncate(text.trim_end_matches('\n').len());
    }
    if !ranges.is_empty() {
        let named =
            ranges.iter().take(EXCERPT_RANGES).map(|range| format!("{}-{}", range.0, range.1));
        let named = named.collect::<Vec<String>>().join(", ");
        let more = match ranges.len().saturating_sub(EXCERPT_RANGES) {
            0 => String::new(),
            more => format!(" and {more} more places"),
        };
        write!(text, "\nchanged, not shown here: lines {named}{more}").ok();
    }
}

/// Returns the new lines of a hunk around each changed part, with some unchanged ones.
fn places(hunk: &DiffHunk) -> Vec<Vec<&DiffLine>> {
    let near = |index: usize| {
        let from = index.saturating_sub(EXCERPT_CONTEXT);
        let until = (index + EXCERPT_CONTEXT + 1).min(hunk.lines.len());
        hunk.lines[from..until].iter().any(|line| line.tag != LineTag::Same)
    };
    let mut places = vec![Vec::new()];
    for (index, line) in hunk.lines.iter().enumerate() {
        if line.tag == LineTag::Removed {
            continue;
        }
        if !near(index) {
            places.push(Vec::new());
        } else if let Some(place) = places.last_mut() {
            place.push(line);
        }
    }
    places.retain(|place| !place.is_empty());
    places
}

/// Returns the text of a line, or of a long one the part around what changes, saying so.
fn windowed(line: &DiffLine, limit: usize) -> String {
    let total = line.text.chars().count();
    if total <= limit {
        return line.text.clone();
    }
    let changed = line.emphasis.first().map_or(0, |range| line.text[..range.start].chars().count());
    let from = changed.saturating_sub(limit / 2).min(total - limit);
    let part: String = line.text.chars().skip(from).take(limit).collect();
    let before = if from > 0 { format!("[{from} characters] \u{2026}") } else { String::new() };
    let after = match total - limit - from {
        0 => String::new(),
        after => format!("\u{2026} [{after} characters]"),
    };
    format!("{before}{part}{after}")
}

/// Returns `text` with what a terminal would act on spelt out; tabs stay.
fn visible(text: &str) -> String {
    let mut seen = String::with_capacity(text.len());
    for c in text.chars() {
        let acts = (c.is_control() && c != '\t')
            || matches!(u32::from(c), 0x61C | 0x200B..=0x200F | 0x2028..=0x202E
                | 0x2060..=0x206F | 0xFEFF | 0xE0000..=0xE0FFF);
        match c {
            '\r' => seen.push('\u{240D}'),
            c if acts => seen.extend(format!("<U+{:04X}>", u32::from(c)).chars()),
            c => seen.push(c),
        }
    }
    seen
}
