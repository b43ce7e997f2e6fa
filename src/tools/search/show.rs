//! The matching lines as the model sees them: within a budget, fairly shared out among files.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use super::counted;
use super::order::{Purpose, defines};
use crate::index::text::{FileHit, Line, Summary};
use crate::tools::clip::Budget;
use crate::tools::page::grouped;
use crate::workspace::name::quoted;

/// Files that are named without their lines.
const MAX_NAMED: usize = 12;
/// The fewest lines that each file may have when there are many.
const FEWEST: usize = 5;

/// How lines are shown.
pub(super) struct Shown<'a> {
    /// The folder as the model names it.
    pub base: &'a Path,
    /// Most matching lines.
    pub limit: usize,
    pub context: usize,
    /// Most bytes of text.
    pub bytes: usize,
}

impl Shown<'_> {
    /// Writes the lines of `hits`, and says how many there are in all.
    pub(super) fn lines(&self, hits: Vec<FileHit>, summary: &Summary) -> String {
        let mut ranked: Vec<(Purpose, bool, FileHit)> =
            hits.into_iter().map(|hit| (Purpose::of(&hit.path), defines(&hit), hit)).collect();
        ranked.sort_by(|one, other| {
            let key = |(purpose, defines, hit): &(Purpose, bool, FileHit)| {
                let made = *purpose == Purpose::Made;
                (made, !*defines, *purpose, std::cmp::Reverse(hit.n_lines))
            };
            key(one).cmp(&key(other)).then_with(|| one.2.path.cmp(&other.2.path))
        });
        // Files that programs write are only counted, unless there is nothing else.
        let n_own = ranked.iter().filter(|(purpose, ..)| *purpose != Purpose::Made).count();
        let n_listed = if n_own == 0 { ranked.len() } else { n_own };
        let share = (self.limit / n_listed.max(1)).max(FEWEST);
        let mut budget = Left { lines: self.limit, bytes: self.bytes };
        let mut text = String::new();
        let (mut shown_lines, mut rest) = (0, Vec::new());
        for (place, (_, _, hit)) in ranked.iter().enumerate() {
            let n_shown =
                if place < n_listed { self.file(hit, share, &mut budget, &mut text) } else { 0 };
            shown_lines += n_shown;
            if n_shown == 0 {
                rest.push(hit);
            }
        }
        self.say(&mut text, summary, shown_lines, &rest, n_own > 0 && n_own < ranked.len());
        text
    }

    /// Writes the lines of one file as far as there is room; returns how many of them match.
    fn file(&self, hit: &FileHit, share: usize, left: &mut Left, text: &mut String) -> u64 {
        let path = self.path(hit);
        let (mut n_shown, mut last) = (0_usize, None);
        for line in hit.lines() {
            if line.is_match && (n_shown >= share || left.lines == 0) {
                break;
            }
            let mut written = String::new();
            if self.context > 0 && last.is_some_and(|last| last + 1 < line.number) {
                written.push_str("--\n");
            }
            let mark = if line.is_match { ':' } else { '-' };
            let lines = line.bytes.split_inclusive(|byte| *byte == b'\n');
            for (number, bytes) in (line.number..).zip(lines) {
                let body = around(&Line { bytes, ..line });
                // Writing to a string does not fail.
                writeln!(written, "{path}{mark}{number}{mark} {body}").ok();
                last = Some(number);
            }
            if written.len() > left.bytes {
                left.lines = 0;
                break;
            }
            left.bytes -= written.len();
            text.push_str(&written);
            if line.is_match {
                let n_lines = line.bytes.split_inclusive(|byte| *byte == b'\n').count();
                n_shown += n_lines;
                left.lines = left.lines.saturating_sub(n_lines);
            }
        }
        let n_shown = n_shown as u64;
        if n_shown > 0 && n_shown < hit.n_lines {
            let more = grouped(hit.n_lines - n_shown);
            writeln!(text, "[{path}: {more} more]").ok();
        }
        n_shown
    }

    fn path(&self, hit: &FileHit) -> String {
        quoted(&self.base.join(OsStr::from_bytes(&hit.path)))
    }

    /// Says how much there is, and how to see what is not shown.
    fn say(
        &self,
        text: &mut String,
        summary: &Summary,
        shown: u64,
        rest: &[&FileHit],
        has_made: bool,
    ) {
        let total = summary.matched_lines;
        let lines = counted(usize::try_from(total).unwrap_or(usize::MAX), "matching line");
        let files = counted(summary.matched_files, "file");
        if total == shown {
            write!(text, "[{lines} in {files}]").ok();
            return;
        }
        let advice = "to see others give a `path`, a `glob` or a narrower pattern";
        write!(text, "[{lines} in {files}; {} shown; {advice}]", grouped(shown)).ok();
        if rest.is_empty() {
            return;
        }
        let named: Vec<String> = rest
            .iter()
            .take(MAX_NAMED)
            .map(|hit| format!("{} ({})", self.path(hit), grouped(hit.n_lines)))
            .collect();
        let more = rest.len().saturating_sub(MAX_NAMED);
        let more =
            if more > 0 { format!(", and {}", counted(more, "more file")) } else { String::new() };
        let made =
            if has_made { " (locks, translations and what is generated come last)" } else { "" };
        write!(text, "\n[also in{made}: {}{more}]", named.join(", ")).ok();
    }
}

/// What of the budget is left.
struct Left {
    lines: usize,
    bytes: usize,
}

/// Returns the text of a line, cut around what matches if it is long.
fn around(line: &Line<'_>) -> String {
    let mut bytes = line.bytes;
    while let Some(rest) = bytes.strip_suffix(b"\n").or_else(|| bytes.strip_suffix(b"\r")) {
        bytes = rest;
    }
    let width = Budget::SEARCH.line_characters;
    let (start, end) = line.spans.first().copied().unwrap_or((0, 0));
    if bytes.len() <= width {
        return String::from_utf8_lossy(bytes).into_owned();
    }
    // The match is decoded apart, so that its place is known in characters.
    let before = String::from_utf8_lossy(bytes.get(..start).unwrap_or(bytes)).into_owned();
    let rest = String::from_utf8_lossy(bytes.get(start..).unwrap_or_default()).into_owned();
    let n_match =
        String::from_utf8_lossy(bytes.get(start..end.min(bytes.len())).unwrap_or_default())
            .chars()
            .count();
    let (n_before, n_rest) = (before.chars().count(), rest.chars().count());
    if n_before + n_rest <= width {
        return before + &rest;
    }
    let margin = width.saturating_sub(n_match.min(width)) / 2;
    let skipped = n_before.saturating_sub(margin).min((n_before + n_rest).saturating_sub(width));
    let cut: String = before.chars().chain(rest.chars()).skip(skipped).take(width).collect();
    let head = if skipped > 0 { "…" } else { "" };
    let tail = if skipped + width < n_before + n_rest { "…" } else { "" };
    format!("{head}{cut}{tail}")
}
