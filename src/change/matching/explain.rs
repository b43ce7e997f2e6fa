//! What is known about text that was not found: each answer holds something new.

use std::collections::HashMap;
use std::collections::HashSet;
use std::fmt;

use super::MatchError;
use super::Wanted;
use super::numbered;
use super::source::Source;
use super::trimmed;

/// Characters of a line that a message shows.
const SHOWN_CHARACTERS: usize = 160;
/// Lines of the closest place that a message shows.
const SHOWN_LINES: usize = 12;
/// Bytes of the file that are looked through for similar lines.
const SIMILARITY_BUDGET: usize = 4_000_000;
/// Share of a line's pairs of characters that a similar line has.
const SIMILAR: f64 = 0.6;

/// The place in the file that is most like the text that was not found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Closest {
    /// Number of the first line shown.
    first: usize,
    lines: Vec<String>,
    /// The first line that differs: its number, as the file has it, as it was sent.
    difference: Option<(usize, String, String)>,
}

impl fmt::Display for Closest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = lines_named(self.first, self.first + self.lines.len() - 1);
        writeln!(f, "The closest place is at {lines}:")?;
        for (line, number) in self.lines.iter().zip(self.first..) {
            writeln!(f, "{number:>6}\t{line}")?;
        }
        let Some((number, file, sent)) = &self.difference else { return Ok(()) };
        write!(f, "Line {number} differs:\n  file: {file}\n  sent: {sent}")?;
        let legend = [("\u{2192}", "\u{2192} is a tab"), ("\u{B7}", "\u{B7} is a space")];
        let used = legend.iter().filter(|(sign, _)| file.contains(sign) || sent.contains(sign));
        let used: Vec<&str> = used.map(|(_, meaning)| *meaning).collect();
        if used.is_empty() { Ok(()) } else { write!(f, "\n  ({})", used.join(", ")) }
    }
}

/// Names a range of lines in words.
fn lines_named(first: usize, last: usize) -> String {
    if first == last { format!("line {first}") } else { format!("lines {first}-{last}") }
}

/// Says why the text of an edit is not in the file, as far as that can be told.
pub(super) fn not_found(source: &Source<'_>, wanted: &Wanted<'_>) -> MatchError {
    if source.text().is_empty() {
        return MatchError::EmptyFile;
    }
    let found = |text: &str| source.text().find(text).map(|offset| source.line_number(offset));
    if trimmed(wanted.new).len() > 8
        && let Some(line) = found(wanted.new)
    {
        return MatchError::AlreadyApplied { line };
    }
    let readings = [
        ("the backslashes", without_backslashes(wanted.old)),
        ("the HTML entities", without_entities(wanted.old)),
    ];
    for (what, plain) in readings {
        let differs = plain != wanted.old && !plain.trim().is_empty();
        if let Some(line) = differs.then(|| found(&plain)).flatten() {
            let example = plain.lines().map(str::trim).find(|line| !line.is_empty());
            let example = format!("such as `{}`", shortened(example.unwrap_or_default(), 0));
            return MatchError::OverEscaped { what, line, example };
        }
    }
    if numbered::looks_numbered(&wanted.old_lines) {
        return MatchError::LineNumbers;
    }
    if let Some(line) = wanted.old_lines.iter().find(|line| is_elision(line)) {
        return MatchError::Elided { line: shortened(trimmed(line), 0) };
    }
    let closest_place = closest(&source.lines(), &wanted.old_lines).map(Box::new);
    MatchError::NotFound { closest_place }
}

fn without_backslashes(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        match (c, characters.clone().next()) {
            ('\\', Some(escaped @ ('"' | '\'' | '`' | '\\' | '/' | '$' | 'n' | 't'))) => {
                characters.next();
                plain.push(match escaped {
                    'n' => '\n',
                    't' => '\t',
                    other => other,
                });
            }
            _ => plain.push(c),
        }
    }
    plain
}

fn without_entities(text: &str) -> String {
    let entities = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&apos;", "'"),
        ("&#39;", "'"),
        ("&amp;", "&"),
    ];
    entities.iter().fold(text.to_owned(), |text, (entity, plain)| text.replace(entity, plain))
}

/// Whether a line says that lines are left out: dots, perhaps in a comment.
pub(super) fn is_elision(line: &str) -> bool {
    let bare = line.trim().trim_start_matches(['/', '#', '-', '*', ';', '<', '!', '%', ' ']);
    let bare = bare.trim_end_matches(['/', '*', '-', '>', ' ']);
    let dots = |text: &str| text.starts_with("...") || text.starts_with('\u{2026}');
    let only_dots = !bare.is_empty() && bare.chars().all(|c| c == '.' || c == '\u{2026}');
    (only_dots && dots(bare)) || (dots(bare) && bare.len() > 6 && bare.ends_with("..."))
}

fn closest(file: &[&str], old: &[&str]) -> Option<Closest> {
    let old = if let [lines @ .., ""] = old { lines } else { old };
    let start = by_equal_lines(file, old).or_else(|| by_similar_line(file, old))?;
    let lines = file.iter().enumerate().skip(start).take(old.len());
    let difference = lines.zip(old).find(|((_, file), sent)| file != sent);
    let first_shown = difference.map_or(start, |((index, _), _)| {
        if index - start < SHOWN_LINES { start } else { index - SHOWN_LINES / 2 }
    });
    let shown = file.iter().skip(first_shown).take(old.len().min(SHOWN_LINES));
    Some(Closest {
        first: first_shown + 1,
        lines: shown.map(|line| visible(&shortened(line, 0), Blanks::Plain)).collect(),
        difference: difference.map(|((index, file), sent)| {
            let (file, sent) = contrast(file, sent);
            (index + 1, file, sent)
        }),
    })
}

/// Returns where most of the lines stand, blanks at their ends aside, at their distances.
fn by_equal_lines(file: &[&str], old: &[&str]) -> Option<usize> {
    let mut wanted: HashMap<&str, Vec<usize>> = HashMap::new();
    for (index, line) in old.iter().enumerate().take(400) {
        if trimmed(line).chars().filter(|c| c.is_alphanumeric()).count() >= 3 {
            wanted.entry(trimmed(line)).or_default().push(index);
        }
    }
    let mut votes: HashMap<usize, usize> = HashMap::new();
    for (at, line) in file.iter().enumerate() {
        for index in wanted.get(trimmed(line)).into_iter().flatten().take(20) {
            if let Some(start) = at.checked_sub(*index) {
                *votes.entry(start).or_default() += trimmed(line).len().min(40);
            }
        }
    }
    votes.into_iter().max_by_key(|&(start, weight)| (weight, usize::MAX - start)).map(|vote| vote.0)
}

/// Returns where a line stands that has most of the character pairs of the longest line.
fn by_similar_line(file: &[&str], old: &[&str]) -> Option<usize> {
    let (index, line) = old.iter().enumerate().take(50).max_by_key(|(_, line)| line.len())?;
    let wanted = pairs(line);
    if wanted.is_empty() {
        return None;
    }
    let mut budget = SIMILARITY_BUDGET;
    let mut best: Option<(f64, usize)> = None;
    for (at, line) in file.iter().enumerate() {
        budget = budget.checked_sub(line.len().min(2000))?;
        let standing = pairs(line);
        let common = wanted.intersection(&standing).count();
        #[expect(clippy::cast_precision_loss, reason = "counts of a few thousand at most")]
        let share = common as f64 / wanted.len() as f64;
        if share >= SIMILAR && best.is_none_or(|(most, _)| share > most) {
            best = Some((share, at));
        }
    }
    best.map(|(_, at)| at.saturating_sub(index))
}

fn pairs(line: &str) -> HashSet<(char, char)> {
    let characters = || trimmed(line).chars().take(2000);
    characters().zip(characters().skip(1)).collect()
}

/// Whether blanks are drawn.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Blanks {
    Plain,
    Drawn,
}

/// Returns both lines around their first difference; blanks are drawn if these are what differs.
fn contrast(file: &str, sent: &str) -> (String, String) {
    let words = |text: &str| text.split_whitespace().collect::<Vec<&str>>().concat();
    let blanks = if words(file) == words(sent) { Blanks::Drawn } else { Blanks::Plain };
    let alike = file.chars().zip(sent.chars()).take_while(|(left, right)| left == right).count();
    let from = if alike < SHOWN_CHARACTERS / 2 { 0 } else { alike - SHOWN_CHARACTERS / 4 };
    (visible(&shortened(file, from), blanks), visible(&shortened(sent, from), blanks))
}

/// Returns some characters of `line` from the character `from` on, saying where it is cut.
fn shortened(line: &str, from: usize) -> String {
    let start = if from > 0 { "\u{2026}" } else { "" };
    let mut rest = line.chars().skip(from);
    let mut text = start.to_owned();
    text.extend(rest.by_ref().take(SHOWN_CHARACTERS));
    if rest.next().is_some() {
        text.push('\u{2026}');
    }
    text
}

/// Returns `text` with characters that cannot be seen spelt out.
fn visible(text: &str, blanks: Blanks) -> String {
    let mut seen = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            ' ' if blanks == Blanks::Drawn => seen.push('\u{B7}'),
            '\t' if blanks == Blanks::Drawn => seen.push('\u{2192}'),
            '\t' => seen.push(c),
            c if is_unseen(c) => seen.extend(format!("<U+{:04X}>", u32::from(c)).chars()),
            c => seen.push(c),
        }
    }
    seen
}

/// Whether `c` is a control, a blank of an unusual kind, or takes no room.
fn is_unseen(c: char) -> bool {
    c.is_control()
        || (c.is_whitespace() && c != ' ')
        || matches!(u32::from(c), 0xAD | 0x61C | 0x180E | 0x200B..=0x200F | 0x202A..=0x202E
            | 0x2060..=0x206F | 0xFE00..=0xFE0F | 0xFEFF | 0xE0000..=0xE0FFF)
}
