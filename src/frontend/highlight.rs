//! Enough of each language to colour its lines: comments, strings, numbers, keywords.
//!
//! A line at a time, in the time it takes to read it. It may be wrong where a hunk begins inside a
//! comment or a string; it never changes a letter.

mod languages;

use std::ops::Range;

use super::style::Ink;
use languages::Language;

/// Colours the lines of one text, in order.
#[derive(Clone, Debug)]
pub struct Lexer {
    language: &'static Language,
    inside: Inside,
}

/// What the line before left open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Inside {
    Code,
    Comment(&'static str),
    Literal(&'static str),
}

impl Lexer {
    /// Returns a lexer for the language that the name of a file tells.
    pub fn for_path(path: &str) -> Option<Lexer> {
        let name = path.rsplit('/').next().unwrap_or(path);
        let word = match name.rsplit_once('.') {
            Some((_, extension)) => extension,
            None => name,
        };
        Lexer::for_language(word)
    }

    /// Returns a lexer for a language's name or extension, as after the fence of a code block.
    pub fn for_language(name: &str) -> Option<Lexer> {
        let language = languages::find(&name.to_ascii_lowercase())?;
        Some(Lexer { language, inside: Inside::Code })
    }

    /// Returns the ranges of `line` that are more than plain text, in order.
    pub fn line(&mut self, line: &str) -> Vec<(Range<usize>, Ink)> {
        let mut inks = Vec::new();
        let mut at = 0;
        while at < line.len() {
            let (length, ink) = match self.inside {
                Inside::Comment(end) => (self.up_to(&line[at..], end, 0), Ink::Comment),
                Inside::Literal(end) => (self.up_to(&line[at..], end, 0), Ink::Literal),
                Inside::Code => self.token(line, at),
            };
            if ink != Ink::Text {
                inks.push((at..at + length, ink));
            }
            at += length;
        }
        // What opens and closes on one line is not carried over by mistake.
        if let Inside::Literal("\"" | "'") = self.inside {
            self.inside = Inside::Code;
        }
        inks
    }

    /// Returns the length and the kind of what begins at `at`, outside comments and strings.
    fn token(&mut self, line: &str, at: usize) -> (usize, Ink) {
        let rest = &line[at..];
        if self.language.line_comments.iter().any(|mark| begins_comment(line, at, mark)) {
            return (rest.len(), Ink::Comment);
        }
        if let Some((open, close)) = self.language.block_comment
            && rest.starts_with(open)
        {
            self.inside = Inside::Comment(close);
            return (self.up_to(rest, close, open.len()), Ink::Comment);
        }
        if let Some(quote) = self.language.quotes.iter().find(|quote| rest.starts_with(**quote)) {
            if let Some(length) = self.not_a_string(rest, quote) {
                return (length, Ink::Text);
            }
            self.inside = Inside::Literal(quote);
            return (self.up_to(rest, quote, quote.len()), Ink::Literal);
        }
        let first = rest.chars().next().unwrap_or(' ');
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        if !is_word(first) {
            return (first.len_utf8(), Ink::Text);
        }
        let length = rest
            .find(|c: char| !(is_word(c) || first.is_ascii_digit() && c == '.'))
            .unwrap_or(rest.len());
        let ink = match &rest[..length] {
            _ if first.is_ascii_digit() => Ink::Number,
            word if self.language.is_keyword(word) => Ink::Keyword,
            _ => Ink::Text,
        };
        (length, ink)
    }

    /// Returns the length of what ends with `end`, searched from `from` on; if it does end in
    /// `rest`, what follows is code.
    fn up_to(&mut self, rest: &str, end: &str, from: usize) -> usize {
        let may_escape = matches!(self.inside, Inside::Literal(_)) && self.language.escapes;
        let mut escaped = false;
        for (at, character) in rest[from..].char_indices() {
            if escaped {
                escaped = false;
            } else if may_escape && character == '\\' {
                escaped = true;
            } else if rest[from + at..].starts_with(end) {
                self.inside = Inside::Code;
                return from + at + end.len();
            }
        }
        rest.len()
    }

    /// Returns the length of an apostrophe that opens no string, such as that of a lifetime.
    fn not_a_string(&self, rest: &str, quote: &str) -> Option<usize> {
        if quote != "'" || !self.language.lifetimes {
            return None;
        }
        let mut characters = rest.chars().skip(1);
        let closed = match characters.next() {
            Some('\\') => true,
            Some(_) => characters.next() == Some('\''),
            None => false,
        };
        (!closed).then_some(1)
    }
}

/// A `#` inside a word, as in `a#b` or `$#`, opens no comment; a word such as `rem` needs its end.
fn begins_comment(line: &str, at: usize, mark: &str) -> bool {
    let Some(after) = line[at..].strip_prefix(mark) else { return false };
    match mark {
        "#" => line[..at].chars().next_back().is_none_or(|c| c.is_whitespace() || c == ';'),
        _ => !mark.ends_with(char::is_alphabetic) || after.starts_with(' '),
    }
}
