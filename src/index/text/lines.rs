//! ripgrep's matcher, behind a faster look for lines that may match.

use grep_matcher::{ByteSet, LineMatchKind, LineTerminator, Match, Matcher, NoError};
use grep_regex::{RegexCaptures, RegexMatcher};

/// A matcher that says the same as `whole`, and looks for lines by `needed` where that is faster.
#[derive(Clone, Debug)]
pub(super) struct LineMatcher {
    pub whole: RegexMatcher,
    /// Matches in every line that `whole` matches in.
    pub needed: Option<RegexMatcher>,
}

impl Matcher for LineMatcher {
    type Captures = RegexCaptures;
    type Error = NoError;

    fn find_at(&self, text: &[u8], at: usize) -> Result<Option<Match>, NoError> {
        self.whole.find_at(text, at)
    }

    fn new_captures(&self) -> Result<RegexCaptures, NoError> {
        self.whole.new_captures()
    }

    fn shortest_match_at(&self, text: &[u8], at: usize) -> Result<Option<usize>, NoError> {
        self.whole.shortest_match_at(text, at)
    }

    fn non_matching_bytes(&self) -> Option<&ByteSet> {
        self.whole.non_matching_bytes()
    }

    fn line_terminator(&self) -> Option<LineTerminator> {
        self.whole.line_terminator()
    }

    fn find_candidate_line(&self, text: &[u8]) -> Result<Option<LineMatchKind>, NoError> {
        match &self.needed {
            Some(needed) => Ok(needed.shortest_match(text)?.map(LineMatchKind::Candidate)),
            None => self.whole.find_candidate_line(text),
        }
    }
}
