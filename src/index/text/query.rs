//! A pattern, ready to be searched: ripgrep's matcher, and the plan of what it needs.

use grep_regex::{ErrorKind, RegexMatcher, RegexMatcherBuilder};
use regex_syntax::hir::{Hir, Look};
use regex_syntax::{ParserBuilder, escape};

use super::lines::LineMatcher;
use super::lookup::Reach;
use super::needed::needed;
use super::plan::Plan;

/// Most bytes that a compiled pattern may take.
const SIZE_LIMIT: usize = 32 << 20;

/// How a pattern is meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
pub struct PatternOptions {
    /// Every character stands for itself.
    pub literal: bool,
    pub ignore_case: bool,
    /// Only where words begin and end.
    pub word: bool,
    pub multi_line: MultiLine,
    /// Whether a line may also end with a carriage return and a line feed for `$` and `.`.
    pub crlf: bool,
}

/// Whether one match may go across lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MultiLine {
    /// Where the pattern names a line break.
    #[default]
    Auto,
    Always,
}

/// A pattern, ready to be searched.
#[derive(Clone, Debug)]
pub struct Pattern {
    pub(super) matcher: LineMatcher,
    pub(super) plan: Plan,
    pub(super) multi_line: bool,
    pub(super) crlf: bool,
}

/// Why a pattern is none: its own words, with the place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct PatternError(String);

impl Pattern {
    /// Reads `pattern` as ripgrep does.
    pub fn new(pattern: &str, options: PatternOptions) -> Result<Pattern, PatternError> {
        if !options.literal {
            // Read as it stands, so that an error shows it as it stands.
            let read = parser(options).build().parse(pattern);
            read.map_err(|error| PatternError(error.to_string()))?;
        }
        let multi_line = options.multi_line == MultiLine::Always;
        let (matcher, multi_line) = match matcher(pattern, options, multi_line) {
            Err(error) if !multi_line && matches!(error.kind(), ErrorKind::NotAllowed(_)) => {
                (matcher(pattern, options, true), true)
            }
            matcher => (matcher, multi_line),
        };
        let whole = matcher.map_err(|error| PatternError(error.to_string()))?;
        let escaped = if options.literal { escape(pattern) } else { pattern.to_owned() };
        let read = parser(options).build().parse(&escaped).ok();
        // Where the pattern is not understood every block is possible.
        let plan = match read.clone() {
            Some(read) if options.word => {
                let (begin, end) = (Look::WordStartHalfUnicode, Look::WordEndHalfUnicode);
                Plan::new(&Hir::concat(vec![Hir::look(begin), read, Hir::look(end)]))
            }
            Some(read) => Plan::new(&read),
            None => Plan::All,
        };
        let needed = read.filter(|_| !multi_line).and_then(|read| needed(&read));
        let needed = needed.and_then(|needed| look(&needed, options).ok());
        let matcher = LineMatcher { whole, needed };
        Ok(Pattern { matcher, plan, multi_line, crlf: options.crlf })
    }

    /// Returns the matcher.
    pub fn matcher(&self) -> &RegexMatcher {
        &self.matcher.whole
    }

    /// Returns what a block must have for a match.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Whether one match may go across lines.
    pub fn is_multi_line(&self) -> bool {
        self.multi_line
    }

    pub(super) fn reach(&self) -> Reach {
        if self.multi_line { Reach::File } else { Reach::Block }
    }
}

fn matcher(
    pattern: &str,
    options: PatternOptions,
    multi_line: bool,
) -> Result<RegexMatcher, grep_regex::Error> {
    let mut builder = RegexMatcherBuilder::new();
    builder
        .multi_line(true)
        .unicode(true)
        .octal(false)
        .fixed_strings(options.literal)
        .case_insensitive(options.ignore_case)
        .word(options.word)
        .size_limit(SIZE_LIMIT);
    match (multi_line, options.crlf) {
        (true, true) => builder.crlf(true).line_terminator(None),
        (true, false) => &mut builder,
        (false, true) => builder.crlf(true),
        (false, false) => builder.line_terminator(Some(b'\n')),
    };
    builder.build(pattern)
}

/// Makes the matcher that looks for lines which may match.
fn look(needed: &Hir, options: PatternOptions) -> Result<RegexMatcher, grep_regex::Error> {
    // It tells letters apart as it was read, so nothing is left to be folded.
    let mut builder = RegexMatcherBuilder::new();
    builder.multi_line(true).unicode(true);
    if options.crlf {
        builder.crlf(true)
    } else {
        builder.line_terminator(Some(b'\n'))
    };
    builder.build(&needed.to_string())
}

fn parser(options: PatternOptions) -> ParserBuilder {
    let mut parser = ParserBuilder::new();
    parser
        .utf8(false)
        .unicode(true)
        .multi_line(true)
        .crlf(options.crlf)
        .case_insensitive(options.ignore_case);
    parser
}
