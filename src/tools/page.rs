//! One page of a text: the lines asked for, within what a reply may hold, and what is said of the rest.

use std::fmt::Write as _;

use super::clip::Budget;

/// Most lines, and characters of one line, that a page shows.
pub(super) const MAX_LINES: u64 = 2_000;
pub(super) const MAX_WIDTH: usize = 2_000;
/// Most cut lines that are named.
const MAX_NAMED: usize = 5;

/// Which lines are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    /// The first one, counted from 1.
    pub(super) offset: u64,
    pub(super) limit: u64,
}

/// Takes the lines of a text one after the other and keeps those of one page.
#[derive(Debug)]
pub(super) struct Pager {
    range: Range,
    /// Most bytes of text.
    bytes: usize,
    text: String,
    /// Lines seen so far.
    total: u64,
    /// The last line that was kept; 0 before the first.
    last: u64,
    full: bool,
    /// Lines that were cut: number, and characters in all.
    cut: Vec<(u64, usize)>,
    has_nul: bool,
    /// Whether the last line that was kept ends in a line end.
    ended: bool,
}

impl Pager {
    pub(super) fn new(range: Range, budget: Budget) -> Pager {
        let (text, cut) = (String::new(), Vec::new());
        let (total, last, full, has_nul, ended) = (0, 0, false, false, true);
        let bytes = budget.bytes;
        Pager { range, bytes, text, total, last, full, cut, has_nul, ended }
    }

    /// Whether the next line may be kept, so that the caller need not decode others.
    pub(super) fn wants_next(&self) -> bool {
        let next = self.total + 1;
        !self.full && next >= self.range.offset && next - self.range.offset < self.range.limit
    }

    /// Passes over a line that is not kept.
    pub(super) fn skip(&mut self) {
        self.total += 1;
    }

    /// Takes the next line, without its line end. `more` characters of it are not at hand.
    pub(super) fn line(&mut self, line: &str, more: usize, ended: bool) {
        if !self.wants_next() {
            return self.skip();
        }
        let (shown, left) = match line.char_indices().nth(MAX_WIDTH) {
            Some((end, _)) => (&line[..end], line[end..].chars().count() + more),
            None => (line, more),
        };
        let taken = self.last != 0;
        let lines = self.total + 1 - self.range.offset;
        if taken && self.text.len() + shown.len() + 1 > self.bytes || lines >= MAX_LINES {
            self.full = true;
            return self.skip();
        }
        self.total += 1;
        self.last = self.total;
        self.ended = ended;
        if shown.contains('\0') {
            self.has_nul = true;
            self.text.push_str(&shown.replace('\0', "\u{2400}"));
        } else {
            self.text.push_str(shown);
        }
        if left > 0 {
            write!(self.text, " …[{} more characters]", grouped(left as u64)).ok();
            self.cut.push((self.total, shown.chars().count() + left));
        }
        if ended {
            self.text.push('\n');
        }
    }

    /// Returns the page of the file that people know as `name`, with `remarks` on it.
    pub(super) fn finish(self, name: &str, remarks: &[String]) -> String {
        let total = grouped(self.total);
        if self.total == 0 {
            return format!("[`{name}` is empty]");
        }
        if self.last == 0 {
            let offset = grouped(self.range.offset);
            let lines = if self.total == 1 { "line" } else { "lines" };
            return format!("[`{name}` has {total} {lines}; offset {offset} is past its end]");
        }
        let mut notes = Vec::new();
        if self.last < self.total {
            notes.push(format!(
                "lines {}-{} of {total}; go on with offset={}",
                grouped(self.range.offset),
                grouped(self.last),
                self.last + 1,
            ));
        } else if self.range.offset > 1 {
            notes.push(format!("lines {}-{total} of {total}", grouped(self.range.offset)));
        }
        notes.extend(self.note_of_cuts(name));
        if self.has_nul {
            notes.push("NUL characters are shown as \u{2400}".to_owned());
        }
        notes.extend(remarks.iter().cloned());
        let mut text = self.text;
        if !notes.is_empty() && !self.ended {
            text.push('\n');
        }
        let notes = notes.iter().map(|note| format!("[{note}]"));
        text + &notes.collect::<Vec<String>>().join("\n")
    }

    fn note_of_cuts(&self, name: &str) -> Option<String> {
        let (first, _) = self.cut.first()?;
        let named = self.cut.iter().take(MAX_NAMED).map(|(line, characters)| {
            format!("line {} ({} characters)", grouped(*line), grouped(*characters as u64))
        });
        let mut named = named.collect::<Vec<String>>().join(", ");
        if self.cut.len() > MAX_NAMED {
            write!(named, " and {} more", self.cut.len() - MAX_NAMED).ok();
        }
        let file = shell_quoted(name);
        Some(format!(
            "cut after {} characters: {named}; to see more use bash, as in: sed -n {first}p {file} | cut -c {}-{}",
            grouped(MAX_WIDTH as u64),
            MAX_WIDTH + 1,
            4 * MAX_WIDTH,
        ))
    }
}

/// Writes a number with its thousands apart.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Quotes a file's name for a shell, where it needs that.
fn shell_quoted(name: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-+".contains(letter);
    if name.chars().all(is_plain) && !name.starts_with('-') {
        return name.to_owned();
    }
    let start = if name.starts_with('-') { "./" } else { "" };
    format!("'{start}{}'", name.replace('\'', r"'\''"))
}
