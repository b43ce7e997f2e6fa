//! The keys that apply, in one line and in words.

use crate::frontend::style::Ink;
use crate::frontend::style::Line;
use crate::frontend::style::Style;

/// A key and what it does.
pub(super) struct Entry {
    key: &'static str,
    short: String,
    long: &'static str,
}

impl Entry {
    pub(super) fn new(key: &'static str, short: impl Into<String>, long: &'static str) -> Entry {
        Entry { key, short: short.into(), long }
    }
}

/// Draws all keys in one line, each with a word.
pub(super) fn line(entries: &[Entry]) -> Line {
    let mut line = Line::default();
    for (index, entry) in entries.iter().enumerate() {
        if index > 0 {
            line.push(" · ", Ink::Faint);
        }
        line.push(entry.key, Style::default().bold());
        line.push(&format!(" {}", entry.short), Ink::Faint);
    }
    line
}

/// Draws each key on a line of its own, with a sentence.
pub(super) fn help(entries: &[Entry]) -> Vec<Line> {
    entries
        .iter()
        .map(|entry| {
            let key = format!("  {:<4}", entry.key);
            Line::of(key, Style::default().bold()).with(entry.long, Style::default())
        })
        .collect()
}
