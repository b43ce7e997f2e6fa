//! Tables: aligned where they fit, with broken cells where they nearly fit, else as records.

use pulldown_cmark::Alignment;

use crate::frontend::style::Ink;
use crate::frontend::style::Line;
use crate::frontend::style::Style;
use crate::frontend::wrap;

/// Columns below which a cell is not squeezed.
const MIN_CELL: usize = 10;
const BETWEEN: &str = " │ ";

/// A table being read, then drawn.
pub(super) struct Table {
    alignments: Vec<Alignment>,
    rows: Vec<Vec<Line>>,
}

impl Table {
    pub(super) fn new(alignments: Vec<Alignment>) -> Table {
        Table { alignments, rows: Vec::new() }
    }

    pub(super) fn start_row(&mut self) {
        self.rows.push(Vec::new());
    }

    pub(super) fn start_cell(&mut self) {
        self.rows.iter_mut().rev().take(1).for_each(|row| row.push(Line::default()));
    }

    /// Returns the cell that is being written.
    pub(super) fn cell(&mut self) -> Option<&mut Line> {
        self.rows.last_mut().and_then(|row| row.last_mut())
    }

    /// Draws it into `room` columns.
    pub(super) fn draw(self, room: usize) -> Vec<Line> {
        let n_columns = self.alignments.len();
        let mut widths = vec![1; n_columns];
        for (width, cell) in self.rows.iter().flat_map(|row| widths_of(row, n_columns)) {
            let widest: &mut usize = &mut widths[cell];
            *widest = (*widest).max(width);
        }
        let between = 3 * n_columns.saturating_sub(1);
        if !squeeze(&mut widths, room.saturating_sub(between)) {
            return self.records(room);
        }
        let mut lines = Vec::new();
        for (index, row) in self.rows.iter().enumerate() {
            lines.extend(self.draw_row(row, &widths, index == 0));
            if index == 0 {
                let rules: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
                lines.push(Line::of(rules.join("─┼─"), Ink::Faint));
            }
        }
        lines
    }

    fn draw_row(&self, row: &[Line], widths: &[usize], is_head: bool) -> Vec<Line> {
        let cells: Vec<Vec<Line>> = row
            .iter()
            .zip(widths)
            .map(|(cell, width)| wrap::words(cell, *width, &Line::default()))
            .collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or(1);
        let mut lines = Vec::new();
        for at in 0..height {
            let mut line = Line::default();
            for (column, width) in widths.iter().enumerate() {
                if column > 0 {
                    line.push(BETWEEN, Ink::Faint);
                }
                let cell = cells.get(column).and_then(|cell| cell.get(at)).cloned();
                let mut cell = cell.unwrap_or_default();
                if is_head {
                    cell.spans.iter_mut().for_each(|span| span.style.bold = true);
                }
                let free = width.saturating_sub(cell.width());
                let left = match self.alignments.get(column) {
                    Some(Alignment::Right) => free,
                    Some(Alignment::Center) => free / 2,
                    _ => 0,
                };
                let is_last = column + 1 == widths.len();
                line.push(&" ".repeat(left), Style::default());
                line.append(&cell);
                line.push(&" ".repeat(if is_last { 0 } else { free - left }), Style::default());
            }
            lines.push(line);
        }
        lines
    }

    /// Draws each row as lines of `head: cell`, with a blank line between rows.
    fn records(&self, room: usize) -> Vec<Line> {
        let Some((head, rows)) = self.rows.split_first() else { return Vec::new() };
        let mut lines = Vec::new();
        for (index, row) in rows.iter().enumerate() {
            if index > 0 {
                lines.push(Line::default());
            }
            for (name, cell) in head.iter().zip(row) {
                let mut line = Line::of(name.text() + ": ", Style::default().bold());
                line.append(cell);
                lines.extend(wrap::words(&line, room, &Line::plain("  ")));
            }
        }
        lines
    }
}

fn widths_of(row: &[Line], n_columns: usize) -> impl Iterator<Item = (usize, usize)> {
    row.iter().take(n_columns).enumerate().map(|(column, cell)| (cell.width(), column))
}

/// Takes from the widest until all fit in `room`; false if that leaves too little to read.
fn squeeze(widths: &mut [usize], room: usize) -> bool {
    loop {
        let total: usize = widths.iter().sum();
        if total <= room {
            return true;
        }
        let Some(widest) = widths.iter_mut().max() else { return true };
        let excess = total - room;
        if *widest <= MIN_CELL {
            return false;
        }
        // Half of the excess at a time comes close to an even share, and ends.
        *widest = widest.saturating_sub(excess.div_ceil(2)).max(MIN_CELL);
    }
}
