//! One line of a file inside a diff: its sign, its numbers, its text with everything visible.

use std::ops::Range;

use super::ViewOptions;
use super::excerpt;
use super::excerpt::Part;
use super::grouped;
use crate::change::diff::DiffHunk;
use crate::change::diff::DiffLine;
use crate::change::diff::LineTag;
use crate::frontend::highlight;
use crate::frontend::sanitise;
use crate::frontend::style::Ground;
use crate::frontend::style::Ink;
use crate::frontend::style::Line;
use crate::frontend::style::Style;
use crate::frontend::style::width;
use crate::frontend::wrap;

/// Screens narrower than this get one column of numbers, and none below the second limit.
const TWO_NUMBERS: u16 = 48;
const ONE_NUMBER: u16 = 24;

/// Bytes of a line that are drawn in full where all is asked for.
const MAX_WHOLE: usize = 256 << 10;

/// The room for line numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gutter {
    digits: usize,
    columns: usize,
}

impl Gutter {
    /// Returns the gutter that the numbers of `hunks` need.
    pub(super) fn of(hunks: &[DiffHunk], options: ViewOptions) -> Gutter {
        let last = hunks.iter().flat_map(|hunk| hunk.lines.iter().rev().take(1));
        let largest = hunks
            .iter()
            .map(|hunk| hunk.old_start.max(hunk.new_start) + hunk.lines.len())
            .chain(last.filter_map(|line| line.old.max(line.new)))
            .max();
        let mut lines = hunks.iter().flat_map(|hunk| &hunk.lines);
        let first = lines.next().map(|line| line.tag);
        let one_sided = first != Some(LineTag::Same) && lines.all(|line| Some(line.tag) == first);
        let columns = match options.width {
            Some(columns) if columns < ONE_NUMBER => 0,
            Some(columns) if columns < TWO_NUMBERS => 1,
            Some(_) | None => 2 - usize::from(one_sided),
        };
        Gutter { digits: largest.unwrap_or(0).to_string().len(), columns }
    }

    /// Returns what stands between two hunks.
    pub(super) fn gap(self) -> String {
        format!("{:>width$}", "⋮", width = self.width().max(1))
    }

    fn width(self) -> usize {
        1 + self.columns * (self.digits + 1) + usize::from(self.columns > 0)
    }

    fn numbers(self, line: &DiffLine) -> String {
        let cell = |number: Option<usize>| match number {
            Some(number) => format!("{number:>width$} ", width = self.digits),
            None => " ".repeat(self.digits + 1),
        };
        match self.columns {
            0 => String::new(),
            1 => format!(" {}", cell(line.new.or(line.old))),
            _ => format!(" {}{}", cell(line.old), cell(line.new)),
        }
    }
}

/// Draws the lines of one hunk, in order.
pub(super) struct Painter<'a> {
    hunk: &'a DiffHunk,
    gutter: Gutter,
    options: ViewOptions,
    /// For each line that is long and was not compared, the place where it differs.
    places: Vec<Option<Range<usize>>>,
    /// One for the old text and one for the new: a comment may be open in one of them only.
    syntax: Option<(highlight::Lexer, highlight::Lexer)>,
}

impl<'a> Painter<'a> {
    pub(super) fn new(
        path: &str,
        hunk: &'a DiffHunk,
        gutter: Gutter,
        options: ViewOptions,
    ) -> Painter<'a> {
        let lexer = || highlight::Lexer::for_path(path);
        let syntax = if options.colour { lexer().zip(lexer()) } else { None };
        Painter { hunk, gutter, options, places: places(&hunk.lines), syntax }
    }

    /// Draws line `at` of the hunk.
    pub(super) fn draw(&mut self, at: usize) -> Vec<Line> {
        let line = &self.hunk.lines[at];
        let (sign, ink, ground, part) = match line.tag {
            LineTag::Same => (" ", Ink::Faint, Ground::None, Ground::None),
            LineTag::Removed => ("-", Ink::Removed, Ground::Removed, Ground::RemovedPart),
            LineTag::Added => ("+", Ink::Added, Ground::Added, Ground::AddedPart),
        };
        let inks = self.inks(line);
        let mut row = Line::of(sign, Style::from(ink).on(ground));
        row.push(&self.gutter.numbers(line), Ink::Faint);
        row.push("│ ", Ink::Faint);
        let mut pen = Pen { row, changed: line.tag != LineTag::Same, column: 0 };
        let emphasis = match &self.places[at] {
            Some(place) => std::slice::from_ref(place),
            None => &line.emphasis[..],
        };
        let emphasis = clamped(&line.text, emphasis);
        let unfolded = self.options.width.is_some() && !self.options.folded;
        let whole = unfolded && line.text.len() <= MAX_WHOLE;
        let parts = if whole {
            vec![Part::Shown(0..line.text.len())]
        } else {
            excerpt::parts(&line.text, &emphasis)
        };
        for shown in parts {
            match shown {
                Part::Left(characters) => {
                    pen.row.push(&format!("… {} characters …", grouped(characters)), Ink::Warning);
                }
                Part::Shown(range) => {
                    for piece in pieces(&line.text, range, &emphasis, &inks) {
                        let ground = if piece.emphasised { part } else { ground };
                        pen.write(&line.text, piece.range, Style::from(piece.ink).on(ground));
                    }
                }
            }
        }
        let mut lines = self.fitted(&pen.row);
        if line.no_newline {
            let blank = " ".repeat(self.gutter.width());
            let note = format!("{blank}│ \\ no newline at end of file");
            lines.extend(self.fitted(&Line::of(note, Ink::Faint)));
        }
        lines
    }

    fn inks(&mut self, line: &DiffLine) -> Vec<(Range<usize>, Ink)> {
        let Some((old, new)) = &mut self.syntax else { return Vec::new() };
        if line.text.len() > excerpt::WHOLE {
            return Vec::new();
        }
        match line.tag {
            LineTag::Removed => old.line(&line.text),
            LineTag::Added => new.line(&line.text),
            LineTag::Same => {
                old.line(&line.text);
                new.line(&line.text)
            }
        }
    }

    fn fitted(&self, row: &Line) -> Vec<Line> {
        let Some(columns) = self.options.width else { return vec![row.clone()] };
        let hanging = Line::of(" ".repeat(self.gutter.width()) + "┊ ", Ink::Faint);
        wrap::exactly(row, columns.into(), &hanging)
    }
}

/// Writes text of the file with everything in it visible.
struct Pen {
    row: Line,
    changed: bool,
    /// Column of the file's text, for tabs.
    column: usize,
}

impl Pen {
    /// Writes `range` of `text`, blanks at the end of a changed line included.
    fn write(&mut self, text: &str, range: Range<usize>, style: Style) {
        let trimmed = text.trim_end_matches([' ', '\t']).len();
        let split = if self.changed { trimmed.clamp(range.start, range.end) } else { range.end };
        self.put(&text[range.start..split], style, ' ');
        self.put(&text[split..range.end], style, '·');
    }

    fn put(&mut self, text: &str, style: Style, blank: char) {
        let shown = sanitise::visible(text).replace('\n', "␊");
        let tab = if self.changed { '→' } else { ' ' };
        let shown = if blank == ' ' { shown } else { shown.replace(' ', &blank.to_string()) };
        let shown = wrap::expand_tabs(&shown, self.column, tab);
        self.column += width(&shown);
        self.row.push(&shown, style);
    }
}

/// A part of a line that is drawn in one style.
struct Piece {
    range: Range<usize>,
    ink: Ink,
    emphasised: bool,
}

/// Cuts `range` wherever the ink or the emphasis changes.
fn pieces(
    text: &str,
    range: Range<usize>,
    emphasis: &[Range<usize>],
    inks: &[(Range<usize>, Ink)],
) -> Vec<Piece> {
    let edges = emphasis.iter().chain(inks.iter().map(|(range, _)| range));
    let mut cuts: Vec<usize> = edges
        .flat_map(|edge| [edge.start, edge.end])
        .filter(|&cut| range.contains(&cut) && text.is_char_boundary(cut))
        .chain([range.start, range.end])
        .collect();
    cuts.sort_unstable();
    cuts.dedup();
    let ink_at = |at: usize| {
        // They are in order and apart.
        let found = inks.get(inks.partition_point(|(range, _)| range.end <= at));
        found.filter(|(range, _)| range.contains(&at)).map_or(Ink::Text, |&(_, ink)| ink)
    };
    cuts.windows(2)
        .map(|cut| Piece {
            range: cut[0]..cut[1],
            ink: ink_at(cut[0]),
            emphasised: emphasis.iter().any(|range| range.contains(&cut[0])),
        })
        .collect()
}

/// Leaves out what is no range of `text`.
fn clamped(text: &str, ranges: &[Range<usize>]) -> Vec<Range<usize>> {
    ranges.iter().filter(|range| text.get((*range).clone()).is_some()).cloned().collect()
}

/// Finds, for long lines that carry no emphasis, where they differ from their counterparts: also
/// where the difference is that there is nothing.
fn places(lines: &[DiffLine]) -> Vec<Option<Range<usize>>> {
    let mut places = vec![None; lines.len()];
    let mut start = 0;
    while start < lines.len() {
        let run = |from: usize, tag: LineTag| {
            from + lines[from..].iter().take_while(|line| line.tag == tag).count()
        };
        let middle = run(start, LineTag::Removed);
        let end = run(middle, LineTag::Added);
        if end - middle == middle - start {
            for (old, new) in (start..middle).zip(middle..end) {
                let (one, other) = (&lines[old], &lines[new]);
                let long = one.text.len().max(other.text.len()) > excerpt::WHOLE;
                if long && (one.emphasis.is_empty() || other.emphasis.is_empty()) {
                    let (in_old, in_new) = excerpt::differing(&one.text, &other.text);
                    places[old] = one.emphasis.is_empty().then_some(in_old);
                    places[new] = other.emphasis.is_empty().then_some(in_new);
                }
            }
        }
        start = end.max(start + 1);
    }
    places
}
