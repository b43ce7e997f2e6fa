//! A file as words, brackets and signs: what is left when comments and the insides of strings are passed over.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};

use super::interner::packed;
use super::language::Language;
use super::strings;

/// What a token is: itself for a sign, or one of these.
pub(super) const WORD: u8 = b'a';
pub(super) const STRING: u8 = b'"';
pub(super) const NUMBER: u8 = b'0';
/// A whole directive to a preprocessor.
pub(super) const DIRECTIVE: u8 = b'#';

/// One word, sign, string or number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) start: u32,
    pub(super) end: u32,
    /// From 1.
    pub(super) line: u32,
    pub(super) kind: u8,
}

/// All that one pass over a file gives.
#[derive(Debug, Default)]
pub(super) struct Tokens<'a> {
    pub(super) all: Vec<Token>,
    /// Each identifier once, in any order.
    pub(super) words: HashSet<&'a [u8], BuildHasherDefault<Mixed>>,
    pub(super) lines: u32,
}

/// A fast hash for short words of one file. Nothing that is kept depends on it.
#[derive(Debug, Default)]
pub(super) struct Mixed(u64);

impl Hasher for Mixed {
    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 29)
    }

    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks();
        let words = words.iter().map(|word| u64::from_le_bytes(*word));
        for word in words.chain(std::iter::once(packed(rest))) {
            self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
        }
    }

    fn write_usize(&mut self, number: usize) {
        self.0 ^= number as u64;
    }
}

/// Whether each byte may stand within a word, in every language.
const IN_WORD: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        #[expect(clippy::cast_possible_truncation, reason = "it counts to 255")]
        let character = byte as u8;
        table[byte] = character.is_ascii_alphanumeric() || character == b'_' || character >= 128;
        byte += 1;
    }
    table
};

/// Whether `byte` may stand within a word.
pub(super) fn is_in_word(byte: u8) -> bool {
    IN_WORD[usize::from(byte)]
}

/// A place in a file that is being read.
pub(super) struct Scanner<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) at: usize,
    pub(super) line: u32,
    pub(super) language: Language,
    pub(super) tokens: Vec<Token>,
    /// Heredocs whose text begins after this line: their last lines.
    pub(super) heredocs: Vec<strings::Heredoc<'a>>,
    words: HashSet<&'a [u8], BuildHasherDefault<Mixed>>,
    /// For each template string that is open around the place: the depth of braces it began at.
    templates: Vec<u32>,
    depth: u32,
}

/// Reads a file of at most 4 GB into tokens.
pub(super) fn tokens(bytes: &[u8], language: Language) -> Tokens<'_> {
    let mut scanner = Scanner {
        bytes,
        at: 0,
        line: 1,
        language,
        tokens: Vec::with_capacity(bytes.len() / 6),
        heredocs: Vec::new(),
        words: HashSet::with_capacity_and_hasher(bytes.len() / 64, BuildHasherDefault::default()),
        templates: Vec::new(),
        depth: 0,
    };
    if language == Language::Php {
        scanner.skip_markup();
    }
    while scanner.at < bytes.len() {
        scanner.step();
    }
    Tokens { all: scanner.tokens, words: scanner.words, lines: scanner.line }
}

impl<'a> Scanner<'a> {
    /// Returns the byte `ahead` of the place; 0 beyond the end.
    pub(super) fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    /// Returns what is left.
    pub(super) fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }

    /// Goes on to `end`, counting lines.
    pub(super) fn pass(&mut self, end: usize) {
        let end = end.min(self.bytes.len());
        let lines = memchr::memchr_iter(b'\n', &self.bytes[self.at..end]).count();
        self.line = self.line.saturating_add(u32::try_from(lines).unwrap_or(u32::MAX));
        self.at = end;
    }

    #[expect(clippy::cast_possible_truncation, reason = "files are far below 4 GB")]
    fn push(&mut self, kind: u8, start: usize, end: usize) {
        self.tokens.push(Token { start: start as u32, end: end as u32, line: self.line, kind });
    }

    /// Takes a string that ends at `end`.
    pub(super) fn take_string(&mut self, end: usize) {
        let end = end.clamp(self.at + 1, self.bytes.len());
        self.push(STRING, self.at, end);
        self.pass(end);
    }

    fn step(&mut self) {
        let byte = self.bytes[self.at];
        if is_in_word(byte) {
            return self.word();
        }
        match byte {
            b' ' | b'\t' | b'\r' | 0 => self.at += 1,
            b'$' if self.has_dollars() && is_in_word(self.peek(1)) => self.word(),
            // Variables of Ruby that are named by a sign, such as a quote.
            b'$' if self.language == Language::Ruby && self.peek(1).is_ascii_punctuation() => {
                self.at += 2;
            }
            b'\n' => self.new_line(),
            b'\\' if matches!(self.language, Language::Shell) => {
                let end = self.at + 2;
                self.pass(end);
            }
            b'/' if self.slash() => {}
            b'#' if self.hash() => {}
            b'"' | b'\'' | b'`' if strings::quote(self) => {}
            b'<' if strings::heredoc(self) => {}
            b'%' if self.language == Language::Ruby && strings::percent(self) => {}
            b'@' | b'$' if self.language == Language::CSharp && strings::c_sharp(self) => {}
            b'?' if self.language == Language::Php && self.peek(1) == b'>' => self.skip_markup(),
            b'=' if self.language == Language::Ruby && strings::ruby_comment(self) => {}
            b'}' if self.templates.last() == Some(&self.depth) => {
                self.templates.pop();
                self.template();
            }
            _ => {
                match byte {
                    b'{' => self.depth += 1,
                    b'}' => self.depth = self.depth.saturating_sub(1),
                    _ => {}
                }
                self.push(byte, self.at, self.at + 1);
                self.at += 1;
            }
        }
    }

    fn new_line(&mut self) {
        self.line = self.line.saturating_add(1);
        self.at += 1;
        for heredoc in std::mem::take(&mut self.heredocs) {
            let end = heredoc.end(self.bytes, self.at);
            self.pass(end);
        }
    }

    /// Whether a dollar sign may stand within a word.
    fn has_dollars(&self) -> bool {
        self.language.is_script() || self.language == Language::Java
    }

    fn word(&mut self) {
        let start = self.at;
        let mut end = start + 1;
        let dollar = self.has_dollars();
        while let Some(&byte) = self.bytes.get(end) {
            let goes_on = is_in_word(byte) || dollar && byte == b'$';
            if !goes_on {
                break;
            }
            end += 1;
        }
        if self.bytes[start].is_ascii_digit() {
            self.push(NUMBER, start, end);
            self.at = end;
            return;
        }
        self.at = end;
        if strings::prefixed(self, start) {
            return;
        }
        self.words.insert(&self.bytes[start..end]);
        self.push(WORD, start, end);
        self.at = end;
    }

    fn slash(&mut self) -> bool {
        let next = self.peek(1);
        if self.language.has_slash_comments() && next == b'/' {
            self.skip_line();
        } else if self.language.has_slash_comments() && next == b'*' {
            let end = strings::comment_end(self.bytes, self.at, self.language.nests_comments());
            self.pass(end);
        } else if self.language.is_script() || self.language == Language::Ruby {
            let before = self.tokens.last().map(|last| (last.kind, self.text(last)));
            return strings::regex(self, before);
        } else {
            return false;
        }
        true
    }

    fn text(&self, token: &Token) -> &'a [u8] {
        &self.bytes[token.start as usize..token.end as usize]
    }

    /// Goes on to the end of the line; a PHP tag ends a comment too.
    fn skip_line(&mut self) {
        let end = memchr::memchr(b'\n', self.rest()).map_or(self.bytes.len(), |to| self.at + to);
        let mut stop = end;
        if self.language == Language::Php {
            let tag = memchr::memmem::find(&self.bytes[self.at..end], b"?>");
            stop = tag.map_or(end, |to| self.at + to);
        }
        // A backslash at the end of the line continues the comment in C.
        if matches!(self.language, Language::C | Language::Cpp) {
            stop = strings::continued_line(self.bytes, stop);
        }
        self.pass(stop);
    }

    fn hash(&mut self) -> bool {
        let before = self.at.checked_sub(1).map_or(b'\n', |place| self.bytes[place]);
        if self.language == Language::Php && self.peek(1) == b'[' {
            return false;
        }
        if self.language == Language::Shell && !matches!(before, b' ' | b'\t' | b'\n' | b';') {
            self.at += 1;
            return true;
        }
        if self.language.has_hash_comments() {
            self.skip_line();
            return true;
        }
        if self.language == Language::Swift && strings::swift_raw(self) {
            return true;
        }
        if self.language.is_script() && self.at == 0 && self.peek(1) == b'!' {
            self.skip_line();
            return true;
        }
        let is_first = self.tokens.last().is_none_or(|last| last.line != self.line);
        if self.language.has_directives() && is_first {
            self.directive();
            return true;
        }
        false
    }

    /// Takes a directive as one token, and the words in it.
    fn directive(&mut self) {
        let end = memchr::memchr(b'\n', self.rest()).map_or(self.bytes.len(), |to| self.at + to);
        let mut end = strings::continued_line(self.bytes, end);
        let text = &self.bytes[self.at..end];
        if let Some(comment) = memchr::memmem::find(text, b"/*") {
            // A comment that begins in a directive may end lines later.
            end = end.min(self.at + comment);
        }
        self.push(DIRECTIVE, self.at, end);
        let text = &self.bytes[self.at..end];
        for word in text.split(|byte| !is_in_word(*byte)) {
            if word.first().is_some_and(|first| !first.is_ascii_digit()) {
                self.words.insert(word);
            }
        }
        self.pass(end);
    }

    /// Goes on from the place, which is in a template string, to its end or to code in it.
    pub(super) fn template(&mut self) {
        let start = self.at;
        let mut at = start + 1;
        loop {
            let rest = self.bytes.get(at..).unwrap_or_default();
            let Some(found) = memchr::memchr3(b'`', b'\\', b'$', rest) else {
                return self.take_string(self.bytes.len());
            };
            at += found;
            match self.bytes[at] {
                b'\\' => at += 2,
                b'`' => return self.take_string(at + 1),
                _ if self.bytes.get(at + 1) == Some(&b'{') && self.templates.len() < 64 => {
                    self.templates.push(self.depth);
                    return self.take_string(at + 2);
                }
                _ => at += 1,
            }
        }
    }

    /// Goes on to the next PHP tag.
    fn skip_markup(&mut self) {
        let end = memchr::memmem::find(self.rest(), b"<?").map_or(self.bytes.len(), |found| {
            let at = self.at + found + 2;
            if self.bytes[at..].starts_with(b"php") { at + 3 } else { at }
        });
        self.push(b';', self.at, self.at);
        self.pass(end);
    }
}
