//! A diff as a person reads it: numbered on both sides, nothing hidden, long ones folded.
//!
//! A changed line begins with `+` or `-` in its first column, in every form. The whole is bounded,
//! and whatever is left out is counted where it is missing.

mod excerpt;
mod row;

use super::style::Ink;
use super::style::Line;
use super::style::Style;
use super::wrap;
use crate::change::diff::DiffHunk;
use crate::change::diff::DiffKind;
use crate::change::diff::FileDiff;
use crate::change::diff::LineTag;
use crate::frontend::sanitise;

/// Rows of the file that are shown while the diff is folded.
const FOLDED_ROWS: usize = 200;
/// Rows of the file that are shown at most.
const MAX_ROWS: usize = 20_000;
/// Bytes of text without a screen, and with one.
const MAX_PLAIN_BYTES: usize = 48 << 10;
const MAX_BYTES: usize = 4 << 20;
/// Hidden characters that are named.
const MAX_NAMED: usize = 8;

/// How a diff is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ViewOptions {
    /// Columns of the screen; `None` where lines are not wrapped.
    pub width: Option<u16>,
    /// Whether colours will be drawn, so that syntax is worth looking at.
    pub colour: bool,
    /// Whether only the beginning of a large diff is drawn.
    pub folded: bool,
}

/// Draws `diff` whole: its header, what to know about it, its hunks.
pub fn render(diff: &FileDiff, options: ViewOptions) -> Vec<Line> {
    let mut lines = header(diff, options);
    let gutter = row::Gutter::of(&diff.hunks, options);
    lines.extend(draw_hunks(&diff.path, &diff.hunks, gutter, options));
    lines
}

/// Draws one hunk alone, as [`render`] would draw it. `path` tells the language.
pub fn render_hunk(path: &str, hunk: &DiffHunk, options: ViewOptions) -> Vec<Line> {
    let hunks = std::slice::from_ref(hunk);
    draw_hunks(path, hunks, row::Gutter::of(hunks, options), options)
}

/// Draws what stands above the hunks: what is done to which file, how much, and what to know.
pub fn header(diff: &FileDiff, options: ViewOptions) -> Vec<Line> {
    let what = match diff.kind {
        DiffKind::Created => "new file",
        DiffKind::Edited => "edit",
        DiffKind::Deleted => "delete",
    };
    let mut title = Line::of(what, Ink::Faint)
        .with(" ", Style::default())
        .with(&sanitise::visible_line(&diff.path), Style::from(Ink::Accent).bold());
    title.append(&counts(diff));
    let mut lines = fitted(title, options);
    for note in &diff.notes {
        let note = format!("  {}", sanitise::visible_line(note));
        lines.extend(fitted(Line::plain(note), options));
    }
    let hidden = hidden_in(diff);
    if !hidden.is_empty() {
        let note = format!("  warning: added lines hold characters that act or hide: {hidden}");
        lines.extend(fitted(Line::of(note, Ink::Warning), options));
    }
    let nothing = diff.added == 0 && diff.removed == 0 && diff.notes.is_empty();
    if nothing {
        let empty = match diff.kind {
            DiffKind::Created | DiffKind::Deleted => "  an empty file",
            DiffKind::Edited => "  no line changes",
        };
        lines.extend(fitted(Line::of(empty, Ink::Faint), options));
    }
    lines
}

/// Draws how many lines are new and how many go, two blanks before them.
pub fn counts(diff: &FileDiff) -> Line {
    let mut line = Line::default();
    if diff.added > 0 {
        line.push(&format!("  +{}", grouped(diff.added)), Ink::Added);
    }
    if diff.removed > 0 {
        line.push(if diff.added > 0 { " " } else { "  " }, Style::default());
        line.push(&format!("−{}", grouped(diff.removed)), Ink::Removed);
    }
    line
}

/// Names the characters of added lines that nobody would see or expect, a line's own `\r` aside.
fn hidden_in(diff: &FileDiff) -> String {
    let lines = diff.hunks.iter().flat_map(|hunk| &hunk.lines);
    let added = lines.filter(|line| line.tag == LineTag::Added);
    let mut hidden: Vec<char> = added
        .flat_map(|line| sanitise::hidden_characters(line.text.trim_end_matches('\r')))
        .collect();
    hidden.sort_unstable();
    hidden.dedup();
    let shown = hidden.iter().take(MAX_NAMED).map(|&character| sanitise::placeholder(character));
    let mut shown: Vec<String> = shown.collect();
    if hidden.len() > MAX_NAMED {
        shown.push(format!("and {} more", hidden.len() - MAX_NAMED));
    }
    shown.join(" ")
}

fn fitted(line: Line, options: ViewOptions) -> Vec<Line> {
    match options.width {
        Some(columns) => wrap::words(&line, columns.into(), &Line::plain("    ")),
        None => vec![line],
    }
}

/// Draws `hunks` within the limits, and says what is missing.
fn draw_hunks(
    path: &str,
    hunks: &[DiffHunk],
    gutter: row::Gutter,
    options: ViewOptions,
) -> Vec<Line> {
    let max_rows = if options.folded { FOLDED_ROWS } else { MAX_ROWS };
    let mut bytes = if options.width.is_none() { MAX_PLAIN_BYTES } else { MAX_BYTES };
    let mut rows = 0;
    let mut lines = Vec::new();
    for (index, hunk) in hunks.iter().enumerate() {
        if index > 0 {
            lines.push(Line::of(gutter.gap(), Ink::Faint));
        }
        let mut painter = row::Painter::new(path, hunk, gutter, options);
        for at in 0..hunk.lines.len() {
            let drawn = painter.draw(at);
            let cost: usize = drawn.iter().flat_map(|line| &line.spans).map(|s| s.text.len()).sum();
            // The first row is always shown; each row is bounded in itself.
            if rows > 0 && (rows >= max_rows || cost > bytes) {
                let note = Line::of(missing(hunks, index, at, options), Ink::Warning);
                lines.extend(fitted(note, options));
                return lines;
            }
            rows += 1;
            bytes = bytes.saturating_sub(cost);
            lines.extend(drawn);
        }
    }
    lines
}

/// Says how much of `hunks` comes from line `at` of hunk `index` on.
fn missing(hunks: &[DiffHunk], index: usize, at: usize, options: ViewOptions) -> String {
    let rest: usize = hunks[index..].iter().map(|hunk| hunk.lines.len()).sum();
    let (n_lines, n_hunks) = (rest - at, hunks.len() - index);
    let more = format!("… {} more lines in {}", grouped(n_lines), counted(n_hunks, "hunk"));
    if options.folded && options.width.is_some() { more + "; press f for all" } else { more }
}

/// Writes `number` with its thousands apart.
pub(super) fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Writes `number` of `things`.
pub(super) fn counted(number: usize, thing: &str) -> String {
    format!("{} {thing}{}", grouped(number), if number == 1 { "" } else { "s" })
}
