//! What finds the lines of a pattern: ripgrep's matcher, or what is faster and says the same.

use std::cell::OnceCell;

use grep_matcher::{ByteSet, LineMatchKind, LineTerminator, Match, Matcher, NoCaptures, NoError};
use grep_regex::RegexMatcher;
use memchr::memmem::Finder;

use super::query::Pattern;

/// The matcher of one thread. It says of each line what that of the pattern says.
pub(super) struct LineMatcher<'a> {
    pattern: &'a Pattern,
    /// The text that the pattern is; then there is no other matcher.
    text: Option<&'a Finder<'static>>,
    /// What the pattern is in text of ASCII.
    plain: Option<RegexMatcher>,
    /// Matches in every line that the pattern matches in.
    needed: Option<RegexMatcher>,
    /// The pattern itself, once it was used.
    whole: OnceCell<Option<RegexMatcher>>,
    /// Whether what is searched now is all ASCII.
    pub is_ascii: bool,
}

impl<'a> LineMatcher<'a> {
    pub(super) fn new(pattern: &'a Pattern) -> LineMatcher<'a> {
        LineMatcher {
            pattern,
            text: pattern.text(),
            // A thread of its own has room of its own in each.
            plain: pattern.plain().cloned(),
            needed: pattern.needed.clone(),
            whole: OnceCell::new(),
            is_ascii: false,
        }
    }

    fn whole(&self) -> Option<&RegexMatcher> {
        self.whole.get_or_init(|| self.pattern.matcher().cloned()).as_ref()
    }

    /// Returns the matcher for a text that is short if nothing is known of it.
    fn of(&self, text: &[u8]) -> Option<&RegexMatcher> {
        match &self.plain {
            Some(plain) if self.is_ascii || text.is_ascii() => Some(plain),
            _ => self.whole(),
        }
    }
}

impl Matcher for LineMatcher<'_> {
    type Captures = NoCaptures;
    type Error = NoError;

    fn find_at(&self, text: &[u8], at: usize) -> Result<Option<Match>, NoError> {
        if let Some(wanted) = self.text {
            let start = text.get(at..).and_then(|rest| wanted.find(rest)).map(|place| at + place);
            return Ok(start.map(|start| Match::new(start, start + wanted.needle().len())));
        }
        self.of(text).map_or(Ok(None), |matcher| matcher.find_at(text, at))
    }

    fn new_captures(&self) -> Result<NoCaptures, NoError> {
        Ok(NoCaptures::new())
    }

    fn shortest_match_at(&self, text: &[u8], at: usize) -> Result<Option<usize>, NoError> {
        if self.text.is_some() {
            return Ok(self.find_at(text, at)?.map(|found| found.end()));
        }
        self.of(text).map_or(Ok(None), |matcher| matcher.shortest_match_at(text, at))
    }

    fn non_matching_bytes(&self) -> Option<&ByteSet> {
        self.plain.as_ref().or_else(|| self.whole())?.non_matching_bytes()
    }

    fn line_terminator(&self) -> Option<LineTerminator> {
        if self.text.is_some() {
            let crlf = self.pattern.crlf;
            return Some(if crlf { LineTerminator::crlf() } else { LineTerminator::byte(b'\n') });
        }
        self.plain.as_ref().or_else(|| self.whole())?.line_terminator()
    }

    fn find_candidate_line(&self, text: &[u8]) -> Result<Option<LineMatchKind>, NoError> {
        match (&self.text, &self.needed, &self.plain) {
            (Some(wanted), ..) => Ok(wanted.find(text).map(LineMatchKind::Confirmed)),
            (_, Some(needed), _) => Ok(needed.shortest_match(text)?.map(LineMatchKind::Candidate)),
            (_, _, Some(plain)) if self.is_ascii => plain.find_candidate_line(text),
            _ => self.whole().map_or(Ok(None), |matcher| matcher.find_candidate_line(text)),
        }
    }
}
