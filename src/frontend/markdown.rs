//! The model's text as it streams: finished blocks come out once, the unfinished one can be looked at.
//!
//! Text is cut where a block surely ends: at blank lines, headings and fences. Each piece is parsed
//! once when it is finished, code comes out line by line, and nothing that came out is rewritten.

mod block;
mod table;

use super::highlight::Lexer;
use super::sanitise;
use super::style::Ink;
use super::style::Line;
use super::style::Style;
use super::wrap;

/// Bytes after which a block, or a line, is brought out though it has not ended.
const MAX_BLOCK: usize = 16 << 10;

/// Markdown that is still coming.
#[derive(Clone, Debug)]
pub struct Streaming {
    columns: usize,
    /// The line that has not ended, as it came.
    partial: String,
    /// The lines of the block that has not ended, cleaned.
    block: String,
    fence: Option<Fence>,
    place: Place,
}

/// What the text before says about the block to come.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    /// Something came out before.
    begun: bool,
    /// A blank line came since.
    gap: bool,
    /// Indented text belongs to a list.
    in_list: bool,
    /// The number of the last item, if the list goes on.
    ordinal: Option<u64>,
}

/// An open code block.
#[derive(Clone, Debug)]
struct Fence {
    mark: char,
    length: usize,
    indent: usize,
    lexer: Option<Lexer>,
}

impl Streaming {
    /// Starts a text for a screen of `columns`.
    pub fn new(columns: usize) -> Streaming {
        let (partial, block) = (String::new(), String::new());
        Streaming { columns, partial, block, fence: None, place: Place::default() }
    }

    /// Takes note of a new width; what came out stays as it is.
    pub fn resize(&mut self, columns: usize) {
        self.columns = columns;
    }

    /// Takes more text; returns the lines that are finished by it.
    pub fn push(&mut self, delta: &str) -> Vec<Line> {
        let mut out = Vec::new();
        for piece in delta.split_inclusive('\n') {
            self.partial.push_str(piece);
            if piece.ends_with('\n') || self.partial.len() > MAX_BLOCK {
                self.end_line(&mut out);
            }
        }
        out
    }

    /// Returns the lines of what is not finished, as they would be if the text ended here.
    pub fn pending(&self) -> Vec<Line> {
        let half_fence = |c: char| c == '`' || c == '~' || c.is_whitespace();
        if self.partial.chars().all(half_fence) && self.block.is_empty() {
            return Vec::new();
        }
        let mut rest = self.clone();
        rest.finish()
    }

    /// Ends the text; returns the lines that were still open. What comes next is a new text.
    pub fn finish(&mut self) -> Vec<Line> {
        let mut out = Vec::new();
        if !self.partial.is_empty() {
            self.end_line(&mut out);
        }
        self.end_block(&mut out);
        *self = Streaming::new(self.columns);
        out
    }

    fn end_line(&mut self, out: &mut Vec<Line>) {
        let partial = std::mem::take(&mut self.partial);
        // A carriage return inside makes lines of its own.
        for line in sanitise::dropped(partial.trim_end_matches(['\n', '\r'])).split('\n') {
            self.line(line, out);
        }
    }

    /// Takes one whole line, cleaned.
    fn line(&mut self, line: &str, out: &mut Vec<Line>) {
        if let Some(fence) = &mut self.fence {
            if fence.is_closed_by(line) {
                self.fence = None;
            } else {
                out.extend(fence.draw(line, self.columns));
            }
            return;
        }
        if line.trim().is_empty() {
            self.end_block(out);
            self.place.gap = self.place.begun;
            return;
        }
        let (marker, rest) = split_marker(line);
        let indent = indentation(rest);
        let is_code = indent >= 4 && marker.is_empty() && !self.place.in_list;
        if let Some(fence) = Fence::opened_by(rest).filter(|_| !is_code) {
            if !marker.is_empty() {
                self.block.push_str(marker);
                self.block.push('\n');
            }
            self.end_block(out);
            self.begin(out);
            self.place.in_list &= indent > 0 || !marker.is_empty();
            let indent = marker.chars().count() + fence.indent;
            self.fence = Some(Fence { indent, ..fence });
            return;
        }
        let is_heading = is_heading(line);
        // An item further out than the text above it begins a piece of its own.
        let above = self.block.lines().next().map_or(0, indentation);
        let is_outer = self.place.in_list && !marker.is_empty() && indentation(line) < above;
        if is_heading || is_outer {
            self.end_block(out);
        }
        self.block.push_str(line);
        self.block.push('\n');
        if is_heading || self.block.len() > MAX_BLOCK {
            self.end_block(out);
        }
    }

    /// Parses the block and brings it out.
    fn end_block(&mut self, out: &mut Vec<Line>) {
        let block = std::mem::take(&mut self.block);
        let Some(first) = block.lines().next() else { return };
        self.begin(out);
        // Indented text after a blank line goes on with the list item above it.
        let margin = if self.place.in_list { indentation(first) } else { 0 };
        let block: String =
            block.lines().flat_map(|line| [unindented(line, margin), "\n"]).collect();
        let is_item = |line: &str| !split_marker(line).0.is_empty();
        self.place.in_list = block.lines().any(is_item) || self.place.in_list && margin > 0;
        let room = self.columns.saturating_sub(margin).max(1);
        let drawn = if margin > 0 {
            block::draw(&block, room, None)
        } else {
            block::draw(&block, room, self.place.ordinal)
        };
        if margin == 0 {
            self.place.ordinal = drawn.ordinal;
        }
        let margin = Line::plain(" ".repeat(margin));
        out.extend(drawn.lines.iter().map(|line| {
            let mut placed = margin.clone();
            placed.append(line);
            placed
        }));
    }

    /// Separates what comes from what came, where the source does.
    fn begin(&mut self, out: &mut Vec<Line>) {
        if self.place.gap {
            out.push(Line::default());
        }
        self.place.gap = false;
        self.place.begun = true;
    }
}

impl Fence {
    /// Returns the fence that `line` opens.
    fn opened_by(line: &str) -> Option<Fence> {
        let text = line.trim_start();
        let mark = text.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
        let length = text.chars().take_while(|&character| character == mark).count();
        let tag = text[length..].trim();
        if length < 3 || mark == '`' && tag.contains('`') {
            return None;
        }
        let language = tag.split([' ', ',', '{']).next().unwrap_or_default();
        // Some write the path of the file where the language stands.
        let lexer = Lexer::for_language(language).or_else(|| Lexer::for_path(language));
        Some(Fence { mark, length, indent: indentation(line), lexer })
    }

    fn is_closed_by(&self, line: &str) -> bool {
        let text = line.trim();
        text.chars().all(|character| character == self.mark) && text.len() >= self.length
    }

    fn draw(&mut self, line: &str, columns: usize) -> Vec<Line> {
        let margin = " ".repeat(self.indent + 2);
        code_line(unindented(line, self.indent), self.lexer.as_mut(), columns, &Line::plain(margin))
    }
}

/// Draws a line of code behind `margin`, broken exactly at the width.
fn code_line(text: &str, lexer: Option<&mut Lexer>, columns: usize, margin: &Line) -> Vec<Line> {
    let inks = lexer.map(|lexer| lexer.line(text)).unwrap_or_default();
    if text.trim_end().is_empty() {
        return vec![Line::default()];
    }
    let mut line = margin.clone();
    let mut column = 0;
    let mut put = |range: std::ops::Range<usize>, ink: Ink| {
        let shown = wrap::expand_tabs(&text[range], column, ' ');
        column += super::style::width(&shown);
        line.push(&shown, Style::from(ink));
    };
    let mut at = 0;
    for (range, ink) in inks {
        put(at..range.start, Ink::Text);
        at = range.end;
        put(range, ink);
    }
    put(at..text.len(), Ink::Text);
    wrap::exactly(&line, columns, margin)
}

fn is_heading(line: &str) -> bool {
    let text = line.trim_start();
    let level = text.bytes().take_while(|byte| *byte == b'#').count();
    let is_apart = text[level..].is_empty() || text[level..].starts_with([' ', '\t']);
    indentation(line) < 4 && (1..=6).contains(&level) && is_apart
}

/// Splits a list item's marker, its indentation and its blanks from the rest of `line`.
fn split_marker(line: &str) -> (&str, &str) {
    let text = line.trim_start();
    let length = match text.bytes().next() {
        Some(b'-' | b'*' | b'+') => 1,
        Some(b'0'..=b'9') => {
            let digits = text.bytes().take_while(u8::is_ascii_digit).count();
            if !text[digits..].starts_with(['.', ')']) || digits > 9 {
                return ("", line);
            }
            digits + 1
        }
        _ => return ("", line),
    };
    let rest = &text[length..];
    if !rest.is_empty() && !rest.starts_with([' ', '\t']) {
        return ("", line);
    }
    let blanks = rest.len() - rest.trim_start().len();
    line.split_at(line.len() - rest.len() + blanks.min(1))
}

/// Returns how many columns of blanks `line` begins with.
fn indentation(line: &str) -> usize {
    let blanks = line.chars().take_while(|character| matches!(character, ' ' | '\t'));
    blanks.fold(
        0,
        |columns, blank| if blank == '\t' { columns + 4 - columns % 4 } else { columns + 1 },
    )
}

/// Takes up to `columns` of blanks from the beginning of `line`.
fn unindented(line: &str, columns: usize) -> &str {
    let mut rest = line;
    let mut left = columns;
    while left > 0 {
        rest = match rest.as_bytes().first() {
            Some(b' ') => {
                left -= 1;
                &rest[1..]
            }
            Some(b'\t') if left >= 4 => {
                left -= 4;
                &rest[1..]
            }
            _ => break,
        };
    }
    rest
}
