//! Bringing lines to a width: nothing is cut, and styles stay with their letters.

use unicode_segmentation::UnicodeSegmentation as _;

use super::style::Line;
use super::style::Style;
use super::style::width;

/// How many columns a tab reaches at most.
pub const TAB: usize = 4;

/// Breaks `line` to `columns`, between words where it can; for prose.
///
/// Blanks at a break are left out. Lines after the first begin with `hanging`.
pub fn words(line: &Line, columns: usize, hanging: &Line) -> Vec<Line> {
    broken(line, columns, hanging, Break::Words)
}

/// Breaks `line` to `columns` exactly there and leaves nothing out; for code and commands.
///
/// Lines after the first begin with `hanging`.
pub fn exactly(line: &Line, columns: usize, hanging: &Line) -> Vec<Line> {
    broken(line, columns, hanging, Break::Anywhere)
}

/// Expands the tabs of `text`, which starts at `column`; `mark` is drawn where each begins.
pub fn expand_tabs(text: &str, column: usize, mark: char) -> String {
    if !text.contains('\t') {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut column = column;
    for piece in text.split_inclusive('\t') {
        let plain = piece.strip_suffix('\t').unwrap_or(piece);
        out.push_str(plain);
        column += width(plain);
        if plain.len() < piece.len() {
            let reach = TAB - column % TAB;
            out.push(mark);
            out.extend(std::iter::repeat_n(' ', reach - 1));
            column += reach;
        }
    }
    out
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Break {
    Words,
    Anywhere,
}

/// A piece of a line that stays together when broken.
struct Cluster<'a> {
    text: &'a str,
    style: Style,
    width: usize,
}

fn broken(line: &Line, columns: usize, hanging: &Line, at: Break) -> Vec<Line> {
    if line.width() <= columns {
        return vec![line.clone()];
    }
    let clusters: Vec<Cluster<'_>> = line
        .spans
        .iter()
        .flat_map(|span| {
            span.text.graphemes(true).map(|text| Cluster {
                text,
                style: span.style,
                width: width(text),
            })
        })
        .collect();
    // A screen too narrow for the hanging text goes without it.
    let empty = Line::default();
    let hanging = if hanging.width() * 2 > columns { &empty } else { hanging };
    let mut lines = Vec::new();
    let mut start = 0;
    while start < clusters.len() {
        let mut out = if lines.is_empty() { Line::default() } else { hanging.clone() };
        let room = columns.saturating_sub(out.width()).max(1);
        let (end, next) = next_break(&clusters, start, room, at);
        for cluster in &clusters[start..end] {
            out.push(cluster.text, cluster.style);
        }
        lines.push(out);
        start = next;
    }
    lines
}

/// Returns where the line that begins at `start` ends, and where the next one begins.
fn next_break(clusters: &[Cluster<'_>], start: usize, room: usize, at: Break) -> (usize, usize) {
    let mut used = 0;
    let mut fits = start;
    while fits < clusters.len() && (used + clusters[fits].width <= room || fits == start) {
        used += clusters[fits].width;
        fits += 1;
    }
    if fits == clusters.len() || at == Break::Anywhere {
        return (fits, fits);
    }
    let blank = |index: usize| clusters[index].text == " ";
    // The blank may also be the first thing that does not fit.
    let Some(last) = (start..=fits).rev().find(|&index| blank(index)) else {
        return (fits, fits);
    };
    let end = (start..last).rev().find(|&index| !blank(index)).map_or(start, |index| index + 1);
    if end == start {
        return (fits, fits);
    }
    let next = (last..clusters.len()).find(|&index| !blank(index)).unwrap_or(clusters.len());
    (end, next)
}
