//! How the text of the input lies on the screen: rows of a width, and the cell of the cursor.

use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation as _;

use super::Editor;
use crate::frontend::sanitise;
use crate::frontend::style::width;

/// The input as rows that fit a width.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    pub rows: Vec<Row>,
    /// Row and column of the cursor.
    pub cursor: (usize, usize),
}

/// One row: which bytes of the text it shows, and what is drawn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    pub start: usize,
    pub end: usize,
    pub shown: String,
}

impl Layout {
    /// Lays out the text of `editor` in rows of at most `columns`, broken after blanks where it can be.
    ///
    /// A row is never quite full, so that the cursor has a cell behind its last letter.
    pub fn of(editor: &Editor, columns: usize) -> Layout {
        let room = columns.saturating_sub(1).max(1);
        let mut rows = Vec::new();
        let mut start = 0;
        for line in editor.text().split('\n') {
            break_line(editor, line, start, room, &mut rows);
            start += line.len() + 1;
        }
        let at = editor.cursor();
        // Between two rows of one line the cursor stands at the start of the lower one.
        let row = rows.iter().rposition(|row: &Row| row.start <= at).unwrap_or(0);
        let before = &editor.text()[rows[row].start..at.min(rows[row].end)];
        let column = before.graphemes(true).map(|letter| width(&shown(editor, letter))).sum();
        Layout { rows, cursor: (row, column) }
    }

    /// Returns the place in the text that is drawn at `column` of `row`, or the last one before it.
    pub(super) fn place(&self, editor: &Editor, row: usize, column: usize) -> usize {
        let Some(Row { start, end, .. }) = self.rows.get(row) else {
            return editor.text().len();
        };
        let mut used = 0;
        for (offset, letter) in editor.text()[*start..*end].grapheme_indices(true) {
            used += width(&shown(editor, letter));
            if used > column {
                return start + offset;
            }
        }
        // The end of a row that goes on below belongs to the row below.
        let goes_on = self.rows.get(row + 1).is_some_and(|next| next.start == *end);
        if goes_on { super::motion::left(editor.text(), *end).max(*start) } else { *end }
    }
}

fn break_line(editor: &Editor, line: &str, offset: usize, room: usize, rows: &mut Vec<Row>) {
    let mut row = Row { start: offset, end: offset, shown: String::new() };
    let mut used = 0;
    // Where the row may be broken: its bytes and its drawn bytes up to there.
    let mut blank: Option<(usize, usize)> = None;
    for (at, letter) in line.grapheme_indices(true) {
        let drawn = shown(editor, letter);
        let wide = width(&drawn);
        if used + wide > room && row.end > row.start {
            let (end, drawn_end) = blank.take().unwrap_or((row.end, row.shown.len()));
            let rest = row.shown.split_off(drawn_end);
            let next = Row { start: end, end: row.end, shown: rest };
            row.end = end;
            used = width(&next.shown);
            rows.push(std::mem::replace(&mut row, next));
        }
        row.shown.push_str(&drawn);
        row.end = offset + at + letter.len();
        used += wide;
        if letter == " " {
            blank = Some((row.end, row.shown.len()));
        }
    }
    rows.push(row);
}

/// Returns what is drawn for one letter: folded pastes by their size, tabs and odd characters visibly.
fn shown<'a>(editor: &Editor, letter: &'a str) -> Cow<'a, str> {
    if let Some(label) = letter.chars().next().and_then(|first| editor.label(first)) {
        return Cow::Owned(label);
    }
    match letter {
        "\t" => Cow::Borrowed("    "),
        _ => sanitise::visible_line(letter),
    }
}
