//! The picture: finished lines printed once as plain scrollback, and a live area under them that is redrawn.
//!
//! Pure: it turns frames into the bytes that change the screen from the one before.

use std::fmt::Write as _;

use unicode_segmentation::UnicodeSegmentation as _;

use super::terminal::Size;
use crate::frontend::style::Line;
use crate::frontend::style::Theme;
use crate::frontend::style::width;

/// The live area as it should be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    pub rows: Vec<Line>,
    /// Row and column of the cursor; hidden where there is none.
    pub cursor: Option<(usize, usize)>,
}

/// What stands on the screen now.
#[derive(Debug)]
pub struct Screen {
    theme: Theme,
    size: Size,
    drawn: Frame,
    /// Row of the live area that the terminal's cursor is on.
    row: usize,
    /// Whether the rows may be compared with those on the screen.
    known: bool,
}

impl Screen {
    /// Returns a screen with nothing of ours on it; the cursor stands at the start of a line.
    pub fn new(theme: Theme, size: Size) -> Screen {
        Screen { theme, size, drawn: Frame::default(), row: 0, known: false }
    }

    /// Returns what prints `printed` above the live area and shows `frame` in it. Empty when nothing changes.
    pub fn draw(&mut self, printed: &[Line], frame: Frame) -> String {
        let frame = self.fitted(frame);
        if printed.is_empty() && self.known && frame == self.drawn {
            return String::new();
        }
        let mut out = String::from("\x1b[?2026h\x1b[?25l");
        self.to_top(&mut out);
        let row = if printed.is_empty() && self.known {
            self.rewrite(&frame, &mut out)
        } else {
            self.write(printed, &frame, &mut out)
        };
        let (target, column) = frame.cursor.unwrap_or((frame.rows.len().saturating_sub(1), 0));
        up(row.saturating_sub(target), &mut out);
        down(row, target, frame.rows.len(), &mut out);
        if column > 0 {
            write!(out, "\x1b[{column}C").ok();
        }
        if frame.cursor.is_some() {
            out.push_str("\x1b[?25h");
        }
        out.push_str("\x1b[?2026l");
        (self.row, self.drawn, self.known) = (target, frame, true);
        out
    }

    /// Returns what removes the live area and leaves the cursor at the start of its first line.
    pub fn erase(&mut self) -> String {
        let mut out = String::new();
        self.to_top(&mut out);
        out.push_str("\x1b[J\x1b[?25h");
        (self.row, self.drawn, self.known) = (0, Frame::default(), false);
        out
    }

    /// Draws everything again next time.
    pub fn forget(&mut self) {
        self.known = false;
    }

    /// Takes note that the terminal has another size, and so has broken rows that were too long.
    pub fn resize(&mut self, size: Size) {
        if size == self.size {
            return;
        }
        let columns = size.columns.max(1);
        let rows = self.drawn.rows.iter().take(self.row);
        let above: usize = rows.map(|row| row.width().div_ceil(columns).max(1)).sum();
        let within = self.drawn.cursor.map_or(0, |(_, column)| column / columns);
        self.row = (above + within).min(size.rows.saturating_sub(1));
        (self.size, self.known) = (size, false);
    }

    /// Cuts the frame to what the terminal can hold: the lowest rows that keep the cursor.
    fn fitted(&self, mut frame: Frame) -> Frame {
        let room = self.size.rows.saturating_sub(1).max(1);
        let below = frame.cursor.map_or(0, |(row, _)| frame.rows.len().saturating_sub(row + 1));
        // A cursor that would leave at the top takes rows from the bottom instead.
        let spare = frame.rows.len().saturating_sub(room);
        let lower = (below + 1).saturating_sub(room);
        frame.rows.truncate(frame.rows.len() - lower);
        frame.rows.drain(..spare.saturating_sub(lower));
        frame.cursor = frame.cursor.map(|(row, column)| {
            let columns = self.size.columns.saturating_sub(1);
            (row.saturating_sub(spare.saturating_sub(lower)), column.min(columns))
        });
        let columns = self.size.columns.saturating_sub(1).max(1);
        for row in &mut frame.rows {
            *row = cut_to(row, columns);
        }
        frame
    }

    fn to_top(&self, out: &mut String) {
        up(self.row, out);
        out.push('\r');
    }

    /// Writes everything anew from the top of the live area; returns the row it ends on.
    fn write(&self, printed: &[Line], frame: &Frame, out: &mut String) -> usize {
        out.push_str("\x1b[J");
        for line in printed {
            out.push_str(&line.draw(self.theme));
            out.push_str("\r\n");
        }
        for (index, row) in frame.rows.iter().enumerate() {
            if index > 0 {
                out.push_str("\r\n");
            }
            out.push_str(&row.draw(self.theme));
        }
        frame.rows.len().saturating_sub(1)
    }

    /// Writes only the rows that differ, from the top of the live area; returns the row it ends on.
    fn rewrite(&self, frame: &Frame, out: &mut String) -> usize {
        let old = &self.drawn.rows;
        let mut at = 0;
        for (index, row) in frame.rows.iter().enumerate() {
            if old.get(index) == Some(row) {
                continue;
            }
            down(at, index, old.len(), out);
            at = index;
            write!(out, "{}\x1b[K", row.draw(self.theme)).ok();
        }
        if frame.rows.len() < old.len() {
            down(at, frame.rows.len(), old.len(), out);
            at = frame.rows.len();
            out.push_str("\x1b[J");
        }
        at
    }
}

/// Returns `line`, cut where it is wider than `columns`, the cut being shown.
pub(super) fn cut_to(line: &Line, columns: usize) -> Line {
    if line.width() > columns { cut(line, columns) } else { line.clone() }
}

fn cut(line: &Line, columns: usize) -> Line {
    let mut out = Line::default();
    let mut left = columns.saturating_sub(1);
    for span in &line.spans {
        for letter in span.text.graphemes(true) {
            let Some(rest) = left.checked_sub(width(letter)) else {
                return out.with("…", span.style);
            };
            left = rest;
            out.push(letter, span.style);
        }
    }
    out
}

fn up(rows: usize, out: &mut String) {
    if rows > 0 {
        write!(out, "\x1b[{rows}A").ok();
    }
}

/// Moves from row `from` to the start of row `to`, making rows that are not there yet.
fn down(from: usize, to: usize, existing: usize, out: &mut String) {
    let last = existing.saturating_sub(1);
    let steps = to.min(last).saturating_sub(from);
    if steps > 0 {
        write!(out, "\x1b[{steps}B").ok();
    }
    out.push('\r');
    for _ in last.max(from)..to {
        out.push_str("\r\n");
    }
}
