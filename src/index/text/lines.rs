//! ripgrep's matcher, behind faster ones: one for a part that every match has, one for text of ASCII.

use std::cell::OnceCell;

use grep_matcher::{ByteSet, LineMatchKind, LineTerminator, Match, Matcher, NoError};
use grep_regex::{RegexCaptures, RegexMatcher};

use super::query::Pattern;

/// The matcher of one thread. It says of each line what that of the pattern says.
pub(super) struct LineMatcher<'a> {
    pattern: &'a Pattern,
    /// What the pattern is in text of ASCII.
    plain: Option<RegexMatcher>,
    /// Matches in every line that the pattern matches in.
    needed: Option<RegexMatcher>,
    /// The pattern itself, once it was used.
    whole: OnceCell<RegexMatcher>,
    /// Whether what is searched now is all ASCII.
    pub is_ascii: bool,
}

impl<'a> LineMatcher<'a> {
    pub(super) fn new(pattern: &'a Pattern) -> LineMatcher<'a> {
        LineMatcher {
            pattern,
            // A thread of its own has room of its own in each.
            plain: pattern.plain().cloned(),
            needed: pattern.needed.clone(),
            whole: OnceCell::new(),
            is_ascii: false,
        }
    }

    fn whole(&self) -> &RegexMatcher {
        self.whole.get_or_init(|| self.pattern.matcher().clone())
    }

    /// Returns the matcher for a text that is short if nothing is known of it.
    fn of(&self, text: &[u8]) -> &RegexMatcher {
        match &self.plain {
            Some(plain) if self.is_ascii || text.is_ascii() => plain,
            _ => self.whole(),
        }
    }
}

impl Matcher for LineMatcher<'_> {
    type Captures = RegexCaptures;
    type Error = NoError;

    fn find_at(&self, text: &[u8], at: usize) -> Result<Option<Match>, NoError> {
        self.of(text).find_at(text, at)
    }

    fn new_captures(&self) -> Result<RegexCaptures, NoError> {
        self.whole().new_captures()
    }

    fn shortest_match_at(&self, text: &[u8], at: usize) -> Result<Option<usize>, NoError> {
        self.of(text).shortest_match_at(text, at)
    }

    fn non_matching_bytes(&self) -> Option<&ByteSet> {
        self.plain.as_ref().unwrap_or_else(|| self.whole()).non_matching_bytes()
    }

    fn line_terminator(&self) -> Option<LineTerminator> {
        self.plain.as_ref().unwrap_or_else(|| self.whole()).line_terminator()
    }

    fn find_candidate_line(&self, text: &[u8]) -> Result<Option<LineMatchKind>, NoError> {
        match (&self.needed, &self.plain) {
            (Some(needed), _) => Ok(needed.shortest_match(text)?.map(LineMatchKind::Candidate)),
            (None, Some(plain)) if self.is_ascii => plain.find_candidate_line(text),
            (None, _) => self.whole().find_candidate_line(text),
        }
    }
}
