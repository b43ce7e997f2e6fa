//! A pattern, ready to be searched: ripgrep's matcher, and the plan of what it needs.

use std::sync::OnceLock;

use grep_matcher::{Matcher as _, NoError};
use grep_regex::{ErrorKind, RegexMatcher, RegexMatcherBuilder};
use memchr::memmem::Finder;
use regex_syntax::hir::{Hir, HirKind, Look};
use regex_syntax::{ParserBuilder, escape, is_meta_character};

use super::lookup::Reach;
use super::needed::needed;
use super::plain::plain;
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
    form: Form,
    /// Finds a part of every match.
    pub(super) needed: Option<RegexMatcher>,
    pub(super) plan: Plan,
    pub(super) multi_line: bool,
    pub(super) crlf: bool,
}

/// What finds a pattern.
#[derive(Clone, Debug)]
enum Form {
    /// It is one text, and needs no matcher: to make one would take longer than most searches.
    Text(Box<Finder<'static>>),
    Made(RegexMatcher),
    /// It takes long to be made, and only text beyond ASCII needs it: until then this is enough.
    Later {
        plain: RegexMatcher,
        made: OnceLock<RegexMatcher>,
        text: String,
        options: PatternOptions,
    },
}

/// Why a pattern is none: its own words, with the place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct PatternError(String);

impl Pattern {
    /// Reads `pattern` as ripgrep does.
    pub fn new(pattern: &str, options: PatternOptions) -> Result<Pattern, PatternError> {
        let read = if is_text(pattern, options) {
            Some(Hir::literal(pattern.as_bytes()))
        } else if options.literal {
            parser(options).build().parse(&escape(pattern)).ok()
        } else {
            // Read as it stands, so that an error shows it as it stands.
            let read = parser(options).build().parse(pattern);
            Some(read.map_err(|error| PatternError(error.to_string()))?)
        };
        let read = read.map(|read| if options.word { as_word(read) } else { read });
        let (form, multi_line) = form(pattern, options, read.as_ref())?;
        let needed = read.as_ref().filter(|_| !multi_line).and_then(needed);
        let needed = needed.and_then(|needed| lines_of(&needed, options));
        // Where the pattern is not understood every block is possible.
        let plan = read.as_ref().map_or(Plan::All, Plan::new);
        Ok(Pattern { form, needed, plan, multi_line, crlf: options.crlf })
    }

    /// Returns what finds the pattern where that is one text within a line.
    pub(super) fn text(&self) -> Option<&Finder<'static>> {
        match &self.form {
            Form::Text(text) => Some(text),
            Form::Made(_) | Form::Later { .. } => None,
        }
    }

    /// Returns ripgrep's matcher; `None` where [`Pattern::text`] takes its place.
    pub(super) fn matcher(&self) -> Option<&RegexMatcher> {
        match &self.form {
            Form::Text(_) => None,
            Form::Made(matcher) => Some(matcher),
            Form::Later { plain, made, text, options } => Some(made.get_or_init(|| {
                // It is far from too large, so it is made.
                matcher(text, *options, false).unwrap_or_else(|_| plain.clone())
            })),
        }
    }

    /// Returns a matcher that says the same of text that is all ASCII, if there is one.
    pub(super) fn plain(&self) -> Option<&RegexMatcher> {
        match &self.form {
            Form::Text(_) | Form::Made(_) => None,
            Form::Later { plain, .. } => Some(plain),
        }
    }

    /// Hands over where each match in `line` begins and ends, until `each` says no.
    pub(super) fn places(
        &self,
        line: &[u8],
        mut each: impl FnMut(usize, usize) -> bool,
    ) -> Result<(), NoError> {
        if let Some(text) = self.text() {
            let length = text.needle().len();
            text.find_iter(line).all(|start| each(start, start + length));
            return Ok(());
        }
        let matcher = self.plain().filter(|_| line.is_ascii()).or_else(|| self.matcher());
        matcher.map_or(Ok(()), |matcher| {
            matcher.find_iter(line, |found| each(found.start(), found.end()))
        })
    }

    /// Whether the pattern matches somewhere in `text`, line breaks or not.
    pub fn is_match(&self, text: &[u8]) -> bool {
        match self.matcher() {
            Some(matcher) => matcher.is_match(text).unwrap_or(false),
            None => self.text().is_some_and(|wanted| wanted.find(text).is_some()),
        }
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

/// Whether a pattern is read as the characters it is written with, so that it need not be parsed.
fn is_text(pattern: &str, options: PatternOptions) -> bool {
    !options.ignore_case && (options.literal || !pattern.chars().any(is_meta_character))
}

/// Asks that a pattern stands where words begin and end.
fn as_word(pattern: Hir) -> Hir {
    let (begin, end) = (Look::WordStartHalfUnicode, Look::WordEndHalfUnicode);
    Hir::concat(vec![Hir::look(begin), pattern, Hir::look(end)])
}

/// Makes the matcher of a pattern, as far as that is due, and tells whether it goes across lines.
fn form(
    pattern: &str,
    options: PatternOptions,
    read: Option<&Hir>,
) -> Result<(Form, bool), PatternError> {
    let multi_line = options.multi_line == MultiLine::Always;
    if let Some(HirKind::Literal(text)) = read.filter(|_| !multi_line).map(Hir::kind)
        && !text.0.iter().any(|byte| matches!(byte, b'\n' | b'\r'))
    {
        return Ok((Form::Text(Box::new(Finder::new(&text.0).into_owned())), false));
    }
    let plain = read.filter(|_| !multi_line).and_then(plain);
    if let Some(plain) = plain.and_then(|plain| lines_of(&plain, options)) {
        let (made, text) = (OnceLock::new(), pattern.to_owned());
        return Ok((Form::Later { plain, made, text, options }, false));
    }
    let (matcher, multi_line) = match matcher(pattern, options, multi_line) {
        Err(error) if !multi_line && matches!(error.kind(), ErrorKind::NotAllowed(_)) => {
            (matcher(pattern, options, true), true)
        }
        matcher => (matcher, multi_line),
    };
    let matcher = matcher.map_err(|error| PatternError(error.to_string()))?;
    Ok((Form::Made(matcher), multi_line))
}

/// Makes a matcher that looks for lines by a pattern as it was read; `None` if it cannot be written.
fn lines_of(read: &Hir, options: PatternOptions) -> Option<RegexMatcher> {
    // Letters and edges of words stand in it as they are meant, so nothing is left to be added.
    let options = PatternOptions { literal: false, ignore_case: false, word: false, ..options };
    let text = read.to_string();
    // Not all that can be read is written so that it is read as the same again.
    let is_same = parser(options).build().parse(&text).is_ok_and(|again| again == *read);
    is_same.then(|| matcher(&text, options, false).ok()).flatten()
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
