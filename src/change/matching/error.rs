//! Why an edit finds no place, in words that end a loop of retries.

use std::fmt::Write as _;

use super::Step;
use super::explain::Closest;

/// Why one step refuses, although the text stands there in some way.
#[derive(Debug)]
pub(super) enum Refusal {
    /// It stands at several places.
    Several { lines: Vec<usize>, total: usize },
    /// The place is known, but not what to write there.
    Doubtful(String),
}

impl Refusal {
    pub(super) fn joins_lines() -> Refusal {
        Refusal::Doubtful(
            "old_string ends in a line break and new_string does not, which would join two \
             lines; end both strings alike"
                .to_owned(),
        )
    }
}

/// Why an edit cannot be made. Nothing is changed then.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MatchError {
    #[error("old_string is empty, so there is no place to edit")]
    EmptyOld,
    #[error("old_string and new_string are identical{}; nothing would change", aside(*by_line_ends))]
    Equal { by_line_ends: bool },
    #[error("the file already reads as new_string says; nothing would change")]
    NothingChanges,
    #[error("{}", several(*step, lines, *total))]
    Several { step: Step, lines: Vec<usize>, total: usize },
    #[error("old_string was not found as it is written: {why}")]
    Doubtful { step: Step, why: String },
    #[error(
        "old_string was not found, but new_string stands at line {line} already: the edit seems \
         to be applied"
    )]
    AlreadyApplied { line: usize },
    #[error(
        "old_string was not found; it looks over-escaped: without {what} it stands at line \
         {line}. Send both strings just as the file has them, {example}"
    )]
    OverEscaped { what: &'static str, line: usize, example: String },
    #[error(
        "old_string was not found; it looks like it has line numbers before its lines, which are \
         not in the file. Send the lines without them"
    )]
    LineNumbers,
    #[error(
        "old_string was not found; its line `{line}` seems to stand for lines left out. Send the \
         text in full, or make one edit for each part"
    )]
    Elided { line: String },
    #[error("old_string was not found: the file is empty")]
    EmptyFile,
    #[error("old_string was not found{}", closest(closest_place.as_deref()))]
    NotFound { closest_place: Option<Box<Closest>> },
}

fn aside(by_line_ends: bool) -> &'static str {
    if by_line_ends {
        " apart from line ends, which an edit keeps as the file has them"
    } else {
        ""
    }
}

fn several(step: Step, lines: &[usize], total: usize) -> String {
    let numbers: Vec<String> = lines.iter().map(usize::to_string).collect();
    let mut numbers = numbers.join(", ");
    if total > lines.len() {
        // Writing to a string does not fail.
        write!(numbers, " and {} more", total - lines.len()).ok();
    }
    match step.overlooked() {
        None => format!(
            "old_string matches {total} places: lines {numbers}. Add lines around the one that \
             is meant, or set replace_all to change every one"
        ),
        Some(overlooked) => format!(
            "old_string was not found as it is written; apart from {overlooked}, it matches \
             {total} places: lines {numbers}. Send it just as the file has it, with lines around \
             the one that is meant"
        ),
    }
}

fn closest(closest: Option<&Closest>) -> String {
    closest.map_or_else(
        || "; nothing in the file resembles it".to_owned(),
        |closest| format!(". {closest}"),
    )
}
