//! Where the text of an edit stands in a file, and what the file becomes.
//!
//! A ladder of steps, from exact to loose. Each must find one place, counted with overlap; at
//! several places the edit is refused and no further step is tried. Loose steps decide only
//! *where*: lines that an edit keeps, and all that lies outside it, keep their own characters,
//! and new text is never unescaped, folded or expanded.

mod align;
mod error;
mod explain;
mod fold;
mod indentation;
mod numbered;
mod search;
mod source;
mod splice;
mod typographic;

pub use error::MatchError;

use std::borrow::Cow;
use std::ops::Range;

use error::Refusal;
use source::Source;

/// A replacement as the model asks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edit<'a> {
    pub old: &'a str,
    pub new: &'a str,
    pub places: Places,
    pub reach: Reach,
}

/// How many places an edit is meant for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Places {
    One,
    /// Every exact one, from the left, without overlap.
    All,
}

/// How far the ladder is climbed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    Exact,
    Loose,
}

/// The step of the ladder that found the place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Character by character; `\n` and `\r\n` are equal.
    Exact,
    /// As [`Step::Exact`], at the end of a file that does not end in a line break.
    FinalNewline,
    /// Whole lines, blanks at their ends aside.
    TrailingBlanks,
    /// Line numbers before every line, proved by the lines that stand there.
    LineNumbers,
    /// Whole lines, indented otherwise by one rule for all of them.
    Indentation,
    /// Quotes, dashes, blanks and accents of another form.
    Typographic,
}

impl Step {
    /// Returns what was overlooked to find the place; nothing for an exact match.
    pub fn overlooked(self) -> Option<&'static str> {
        match self {
            Step::Exact => None,
            Step::FinalNewline => Some("the line break at the end of old_string and new_string"),
            Step::TrailingBlanks => Some("blanks at the ends of lines"),
            Step::LineNumbers => Some("the line numbers in it, which were left out"),
            Step::Indentation => Some("its indentation, which was fitted to the file's"),
            Step::Typographic => Some("the form of its quotes, dashes, blanks or accents"),
        }
    }
}

/// A text after an edit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replaced {
    pub text: String,
    pub step: Step,
    /// How many places were replaced.
    pub places: usize,
}

/// Returns `text` with `edit` applied.
///
/// # Errors
/// Every reason for which the edit is not certain; nothing is guessed.
pub fn replace(text: &str, edit: &Edit<'_>) -> Result<Replaced, MatchError> {
    let old = source::unified_line_ends(edit.old);
    let new = source::unified_line_ends(edit.new);
    if old.is_empty() {
        return Err(MatchError::EmptyOld);
    }
    if old == new {
        return Err(MatchError::Equal { by_line_ends: edit.old != edit.new });
    }
    let source = Source::new(text);
    let wanted = Wanted::new(&old, &new);
    match edit.places {
        Places::All => replace_all(&source, &wanted),
        Places::One => replace_one(&source, &wanted, edit.reach),
    }
}

/// Returns `new` as the whole text that `old` becomes: lines that stay keep their line ends, and
/// new lines take those of their neighbours.
pub fn with_line_ends(old: &str, new: &str) -> String {
    let source = Source::new(old);
    let new = source::unified_line_ends(new);
    let at = 0..source.text().len();
    splice::exact(&source, &at, &Wanted::new(source.text(), &new))
}

/// The two strings of an edit, line ends unified, and in lines.
struct Wanted<'a> {
    old: &'a str,
    new: &'a str,
    old_lines: Vec<&'a str>,
    new_lines: Vec<&'a str>,
}

impl<'a> Wanted<'a> {
    fn new(old: &'a str, new: &'a str) -> Wanted<'a> {
        let (old_lines, new_lines) = (old.split('\n').collect(), new.split('\n').collect());
        Wanted { old, new, old_lines, new_lines }
    }

    /// Whether a loose match would join two lines, where an exact one does it knowingly.
    fn joins_lines(&self) -> bool {
        self.old.ends_with('\n') && !self.new.is_empty() && !self.new.ends_with('\n')
    }

    /// Returns the whole lines that a loose step looks for; `None` where there is nothing to hold on to.
    fn whole_lines(&self) -> Option<&[&'a str]> {
        let lines = match self.old_lines.as_slice() {
            [lines @ .., ""] if !lines.is_empty() => lines,
            lines => lines,
        };
        lines.iter().any(|line| !is_blank(line)).then_some(lines)
    }
}

/// What one step found: where, and what is to stand there, with the file's line ends.
struct Found {
    at: Range<usize>,
    text: String,
}

fn replace_all(source: &Source<'_>, wanted: &Wanted<'_>) -> Result<Replaced, MatchError> {
    let mut places = Vec::new();
    let mut from = 0;
    while let Some(found) = source.text()[from..].find(wanted.old) {
        let at = from + found..from + found + wanted.old.len();
        from = at.end;
        places.push(Found { text: splice::exact(source, &at, wanted), at });
    }
    if places.is_empty() {
        return Err(explain::not_found(source, wanted));
    }
    Ok(Replaced { step: Step::Exact, places: places.len(), text: source.with(&places) })
}

fn replace_one(
    source: &Source<'_>,
    wanted: &Wanted<'_>,
    reach: Reach,
) -> Result<Replaced, MatchError> {
    type Climb = fn(&Source<'_>, &Wanted<'_>) -> Result<Option<Found>, Refusal>;
    let ladder: [(Step, Climb); 6] = [
        (Step::Exact, exact),
        (Step::FinalNewline, final_newline),
        (Step::TrailingBlanks, trailing_blanks),
        (Step::LineNumbers, numbered::find),
        (Step::Indentation, indentation::find),
        (Step::Typographic, typographic::find),
    ];
    let steps = match reach {
        Reach::Exact => &ladder[..1],
        Reach::Loose => &ladder[..],
    };
    for (step, climb) in steps {
        match climb(source, wanted) {
            Ok(None) => {}
            Ok(Some(found)) => {
                let text = source.with(&[found]);
                if text == source.original() {
                    return Err(MatchError::NothingChanges);
                }
                return Ok(Replaced { text, step: *step, places: 1 });
            }
            Err(Refusal::Several { lines, total }) => {
                return Err(MatchError::Several { step: *step, lines, total });
            }
            Err(Refusal::Doubtful(why)) => return Err(MatchError::Doubtful { step: *step, why }),
        }
    }
    Err(explain::not_found(source, wanted))
}

fn exact(source: &Source<'_>, wanted: &Wanted<'_>) -> Result<Option<Found>, Refusal> {
    let Some(start) = search::only(source, wanted.old)? else { return Ok(None) };
    let at = start..start + wanted.old.len();
    Ok(Some(Found { text: splice::exact(source, &at, wanted), at }))
}

/// Finds the last lines of a file that does not end in a line break, though the edit's text does.
#[expect(clippy::unnecessary_wraps, reason = "a step of the ladder as any other")]
fn final_newline(source: &Source<'_>, wanted: &Wanted<'_>) -> Result<Option<Found>, Refusal> {
    let (Some(old), Some(new)) = (wanted.old.strip_suffix('\n'), wanted.new.strip_suffix('\n'))
    else {
        return Ok(None);
    };
    if is_blank(old) || !source.text().ends_with(old) {
        return Ok(None);
    }
    let at = source.text().len() - old.len()..source.text().len();
    let text = splice::exact(source, &at, &Wanted::new(old, new));
    Ok(Some(Found { at, text }))
}

fn trailing_blanks(source: &Source<'_>, wanted: &Wanted<'_>) -> Result<Option<Found>, Refusal> {
    let Some(lines) = wanted.whole_lines() else { return Ok(None) };
    let Some(at) = search::only_lines(source, lines, wanted.old.ends_with('\n'), end_trimmed)?
    else {
        return Ok(None);
    };
    if wanted.joins_lines() {
        return Err(Refusal::joins_lines());
    }
    let text = splice::lines(source, &at, wanted, |line, _| Ok(Cow::Borrowed(line)))?;
    Ok(Some(Found { at, text }))
}

/// Returns `line` without the blanks at its end.
fn end_trimmed(line: &str) -> &str {
    line.trim_end_matches([' ', '\t'])
}

/// Returns `line` without the blanks at both ends.
fn trimmed(line: &str) -> &str {
    line.trim_matches([' ', '\t'])
}

fn is_blank(line: &str) -> bool {
    trimmed(line).is_empty()
}
