//! Patterns made of a tree's own words, simple and odd ones.

use std::fs;

use snick::index::files::{FileId, FileTable};

use super::Chance;

/// Words and pieces of lines that patterns are made of.
const WORDS: usize = 4_000;
/// What has no literal, or little.
const PLAIN: &[&str] = &[
    "[A-Z]{5,}_[0-9]{3,}",
    "0x[0-9a-f]{7,}",
    r"\d{9,}",
    r"[^ -~\t\r]{2,}",
    "é|ö|ü",
    r"\bq\w*z\b",
    r"^\s*$\n\n\n",
    r"(?:ab|cd)+x",
    "k[eé]lvin",
];

/// What patterns are made of.
pub(crate) struct Patterns {
    words: Vec<String>,
}

/// A pattern with its flags.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct Asked {
    pub pattern: String,
    pub literal: bool,
    pub ignore_case: bool,
    pub word: bool,
    pub crlf: bool,
    pub multi_line: bool,
}

impl Asked {
    /// Returns the flags as ripgrep takes them.
    pub(crate) fn flags(&self) -> impl Iterator<Item = &'static str> {
        let flags = [
            (self.literal, "-F"),
            (self.ignore_case, "-i"),
            (self.word, "-w"),
            (self.crlf, "--crlf"),
            (self.multi_line, "-U"),
        ];
        flags.into_iter().filter(|(is_on, _)| *is_on).map(|(_, flag)| flag)
    }
}

impl Patterns {
    /// Takes words and pieces of lines of any files.
    pub(crate) fn of(table: &FileTable, chance: &mut Chance) -> Patterns {
        let mut words = Vec::with_capacity(WORDS);
        while words.len() < WORDS {
            let id = FileId(u32::try_from(chance.below(table.len())).unwrap());
            let path = String::from_utf8_lossy(table.get(id).path).into_owned();
            let text = fs::read(table.root().join(path)).unwrap_or_default();
            let text = String::from_utf8_lossy(&text).into_owned();
            let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
            if lines.is_empty() {
                continue;
            }
            for _ in 0..4 {
                let line = chance.one_of(&lines);
                let is_apart = |character: char| !(character.is_alphanumeric() || character == '_');
                let parts: Vec<&str> = line.split(is_apart).filter(|part| part.len() > 2).collect();
                if !parts.is_empty() {
                    words.push(chance.one_of(&parts).to_owned());
                }
                let line: Vec<char> = line.trim().chars().collect();
                let (start, length) = (chance.below(line.len()), 3 + chance.below(14));
                let piece: String = line.iter().skip(start).take(length).collect();
                // No argument of a program has a NUL in it.
                if piece.len() > 2 && !piece.contains('\0') {
                    words.push(piece);
                }
            }
        }
        Patterns { words }
    }

    /// Returns a word or a piece of a line.
    pub(crate) fn word(&self, chance: &mut Chance) -> &str {
        &self.words[chance.below(self.words.len())]
    }

    /// Makes one pattern.
    pub(crate) fn one(&self, chance: &mut Chance) -> Asked {
        let literal = chance.one_in(4);
        let pattern = if literal { self.word(chance).to_owned() } else { self.regex(chance, 2) };
        let is_across = pattern.contains(r"\n") && !literal;
        Asked {
            ignore_case: chance.one_in(4),
            word: chance.one_in(5),
            crlf: chance.one_in(6),
            multi_line: is_across || chance.one_in(10),
            pattern,
            literal,
        }
    }

    /// Makes a regular expression, no deeper than `depth`.
    fn regex(&self, chance: &mut Chance, depth: usize) -> String {
        let word = |chance: &mut Chance| regex_syntax::escape(self.word(chance));
        if depth == 0 {
            return word(chance);
        }
        let inner = |chance: &mut Chance| self.regex(chance, depth - 1);
        match chance.below(20) {
            0 => format!("(?:{}|{})", inner(chance), inner(chance)),
            1 => format!("{}.*{}", inner(chance), inner(chance)),
            2 => format!(r"{}\s+{}", inner(chance), inner(chance)),
            3 => format!("(?:{})?{}", inner(chance), inner(chance)),
            4 => format!(r"^\s*{}", inner(chance)),
            5 => format!("{}$", inner(chance)),
            6 => format!(r"\b{}\b", word(chance)),
            7 => format!(r"{}\w+", word(chance)),
            8 => format!(r"\w+{}", word(chance)),
            9 => chance.one_of(PLAIN).to_owned(),
            10 => format!(r"{}\n\s*{}", word(chance), word(chance)),
            11 => format!("(?i:{}){}", word(chance), word(chance)),
            12 => format!(r"{}[^\n]{{0,9}}{}", word(chance), word(chance)),
            13 => format!("(?:{}){{1,2}}", inner(chance)),
            _ => word(chance),
        }
    }
}
