//! The one place that cuts what goes to the model, between lines and between characters.

use std::fmt::Write as _;

/// How much of a text the model gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    pub lines: usize,
    pub bytes: usize,
    /// Longer lines are cut.
    pub line_characters: usize,
}

impl Budget {
    /// For the output of commands.
    pub const COMMAND: Budget = Budget { lines: 2000, bytes: 16_000, line_characters: 2000 };
    /// For matching lines.
    pub const SEARCH: Budget = Budget { lines: 2000, bytes: 16_000, line_characters: 250 };
    /// For the text of files.
    pub const FILE: Budget = Budget { lines: 2000, bytes: 40_000, line_characters: 2000 };

    /// Returns the budget with no more than `allowance` bytes.
    #[must_use]
    pub fn within(self, allowance: Option<usize>) -> Budget {
        Budget { bytes: self.bytes.min(allowance.unwrap_or(usize::MAX)), ..self }
    }
}

/// The beginning of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    pub text: String,
    /// Lines that are shown, in full or cut.
    pub lines: usize,
    /// Lines that are not shown.
    pub lines_left: usize,
    /// Lines among the shown that were cut.
    pub lines_cut: usize,
}

/// Keeps the first lines of `text` that fit in `budget`: at least a part of the first.
pub fn head(text: &str, budget: Budget) -> Head {
    let mut head = Head { text: String::new(), lines: 0, lines_left: 0, lines_cut: 0 };
    let mut full = false;
    for line in text.split_inclusive('\n') {
        if full || head.lines == budget.lines {
            head.lines_left += 1;
            continue;
        }
        let (kept, cut) = cut_line(line, budget.line_characters);
        if head.lines > 0 && head.text.len() + kept.len() > budget.bytes {
            (full, head.lines_left) = (true, 1);
            continue;
        }
        head.text.push_str(&kept);
        head.lines += 1;
        head.lines_cut += usize::from(cut);
    }
    head
}

/// Returns `line` with at most `characters` characters and a note of the rest, and whether it was cut.
fn cut_line(line: &str, characters: usize) -> (std::borrow::Cow<'_, str>, bool) {
    let body = line.strip_suffix('\n').unwrap_or(line);
    let Some((at, _)) = body.char_indices().nth(characters) else { return (line.into(), false) };
    let note = cut_note(body[at..].chars().count());
    (format!("{}{note}{}", &body[..at], &line[body.len()..]).into(), true)
}

fn cut_note(characters: usize) -> String {
    format!(" [... {} more characters in this line]", number(characters))
}

/// Returns `n` with its digits in groups of three.
pub fn number(n: usize) -> String {
    let digits = n.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// Keeps the beginning and the end of a text that comes in pieces, in bounded memory.
///
/// A quarter of the budget is for the beginning, where compilers put the first error, the rest
/// for the end, where a result stands.
#[derive(Debug)]
pub struct Ends {
    budget: Budget,
    /// The first bytes of the text, at most all of the budget's.
    start: String,
    /// The last bytes of what did not go into `start`.
    end: String,
    /// Bytes and line ends so far, cut lines as they were cut.
    bytes: usize,
    terminators: usize,
    /// Characters so far of the line that is not complete.
    line: usize,
    lines_cut: usize,
}

impl Ends {
    /// Returns an empty text.
    pub fn new(budget: Budget) -> Ends {
        let (start, end) = (String::new(), String::new());
        Ends { budget, start, end, bytes: 0, terminators: 0, line: 0, lines_cut: 0 }
    }

    /// Adds `text`.
    pub fn push(&mut self, text: &str) {
        // Lines that need no cut are kept together, from `from` on.
        let (mut from, mut at) = (0, 0);
        for stop in memchr::memchr_iter(b'\n', text.as_bytes()) {
            if self.is_long(&text[at..stop]) {
                self.keep(&text[from..at]);
                self.keep_part(&text[at..stop]);
                self.note_cut();
                from = stop;
            }
            self.line = 0;
            at = stop + 1;
        }
        self.keep(&text[from..at]);
        self.keep_part(&text[at..]);
    }

    /// Whether nothing is lost by what [`Ends::finish`] gives.
    pub fn is_whole(&self) -> bool {
        let cut = self.lines_cut > 0 || self.line > self.budget.line_characters;
        !cut && self.fits()
    }

    /// Whether nothing was added.
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// Returns the text, or its two ends with a note between them of what is missing;
    /// `whereabouts` says in the note where all of it is.
    pub fn finish(mut self, whereabouts: &str) -> String {
        if self.line > self.budget.line_characters {
            self.note_cut();
        }
        if self.fits() {
            if self.lines_cut > 0 {
                end_line(&mut self.start);
                writeln!(self.start, "[{} cut; {whereabouts}]", lines(self.lines_cut)).ok();
            }
            return self.start;
        }
        let head = first_lines(&self.start, self.budget.lines / 4, self.budget.bytes / 4);
        let rest = format!("{}{}", &self.start[head.len()..], self.end);
        let tail = last_lines(&rest, self.budget.lines * 3 / 4, self.budget.bytes * 3 / 4);
        let shown = count_line_ends(head) + count_line_ends(tail);
        let missing = match self.terminators - shown {
            0 => String::new(),
            left => format!("{}, ", lines(left)),
        };
        let bytes = number(self.bytes - head.len() - tail.len());
        let mut text = head.to_owned();
        end_line(&mut text);
        writeln!(text, "[... {missing}{bytes} bytes left out here; {whereabouts} ...]").ok();
        text.push_str(tail);
        text
    }

    fn fits(&self) -> bool {
        self.bytes <= self.budget.bytes && self.terminators <= self.budget.lines
    }

    /// Whether the open line gets too long with `part`.
    fn is_long(&self, part: &str) -> bool {
        let most = self.budget.line_characters;
        self.line + part.len() > most && self.line + part.chars().count() > most
    }

    /// Keeps of the open line what its limit allows.
    fn keep_part(&mut self, part: &str) {
        let room = self.budget.line_characters.saturating_sub(self.line);
        if part.len() <= room {
            self.keep(part);
        } else {
            let at = part.char_indices().nth(room).map_or(part.len(), |(at, _)| at);
            self.keep(&part[..at]);
        }
        self.line += part.chars().count();
    }

    /// Says at the end of the open line how much of it is missing.
    fn note_cut(&mut self) {
        self.lines_cut += 1;
        self.keep(&cut_note(self.line - self.budget.line_characters));
    }

    fn keep(&mut self, text: &str) {
        self.bytes += text.len();
        self.terminators += count_line_ends(text);
        let room = self.budget.bytes.saturating_sub(self.start.len());
        // Once something went to the end, all that follows does.
        let room = if self.end.is_empty() { room } else { 0 };
        let (start, rest) = text.split_at(text.floor_char_boundary(room));
        self.start.push_str(start);
        let most = self.budget.bytes;
        let rest = &rest[rest.ceil_char_boundary(rest.len().saturating_sub(most))..];
        if rest.len() + self.end.len() > 4 * most {
            let dropped = self.end.len().saturating_sub(most);
            self.end.drain(..self.end.ceil_char_boundary(dropped));
        }
        self.end.push_str(rest);
    }
}

/// Returns the first lines of `text` within the limits; of a first line that is longer, a part.
fn first_lines(text: &str, lines: usize, bytes: usize) -> &str {
    let within = &text.as_bytes()[..bytes.min(text.len())];
    match memchr::memchr_iter(b'\n', within).take(lines).last() {
        Some(last) => &text[..=last],
        None => &text[..text.floor_char_boundary(bytes)],
    }
}

/// Returns the last lines of `text` within the limits; of a last line that is longer, a part.
fn last_lines(text: &str, lines: usize, bytes: usize) -> &str {
    let from = text.len().saturating_sub(bytes);
    let body = text.strip_suffix('\n').unwrap_or(text).len().max(from);
    let ends = memchr::memrchr_iter(b'\n', &text.as_bytes()[from.saturating_sub(1)..body]);
    match ends.take(lines).last() {
        Some(end) => &text[from.saturating_sub(1) + end + 1..],
        None => &text[text.ceil_char_boundary(from)..],
    }
}

fn count_line_ends(text: &str) -> usize {
    memchr::memchr_iter(b'\n', text.as_bytes()).count()
}

fn end_line(text: &mut String) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
}

fn lines(n: usize) -> String {
    let noun = if n == 1 { "line" } else { "lines" };
    format!("{} {noun}", number(n))
}
