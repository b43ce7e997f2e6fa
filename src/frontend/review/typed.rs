//! Answers typed as a line, where there are no single keys.

use super::Awaited;
use super::Key;
use super::Review;
use super::Step;
use super::Subject;

/// Words for keys; the first letter alone does as well.
const WORDS: &[(&str, char)] = &[
    ("yes", 'y'),
    ("no", 'n'),
    ("hunks", 'h'),
    ("edit", 'e'),
    ("all", 'a'),
    ("full", 'f'),
    ("help", '?'),
    ("split", 's'),
    ("comment", 'c'),
    ("done", 'd'),
    ("quit", 'q'),
    ("remember", 'r'),
    ("next", ']'),
    ("previous", '['),
];

impl Review {
    /// Takes a whole line as an answer: a key's letter or word, after `no` and `comment` perhaps
    /// with the words for the model. An empty line answers nothing.
    pub fn typed(&mut self, line: &str) -> Step {
        if self.awaited.is_some() {
            return self.words(line);
        }
        let line = line.trim();
        let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let word = word.trim_end_matches([',', ':', '.']);
        let key = match word {
            "stop" | "esc" => Some(Key::Escape),
            _ if word.chars().count() == 1 => word.chars().next().map(Key::Char),
            _ => {
                let found = WORDS.iter().find(|(known, _)| known.eq_ignore_ascii_case(word));
                found.map(|&(_, key)| Key::Char(key))
            }
        };
        let Some(key) = key else { return Step::Stay };
        match (key, rest.trim()) {
            (_, "") => self.key(key),
            (Key::Char('n' | 'c'), words) if self.is_in_pieces() => {
                self.awaited = Some(Awaited::Comment);
                let step = self.words(words);
                if key == Key::Char('c') { step } else { self.key(key) }
            }
            (Key::Char('n'), words) => match self.key(key) {
                Step::NeedWords(_) => self.words(words),
                step => step,
            },
            _ => Step::Stay,
        }
    }

    fn is_in_pieces(&self) -> bool {
        let present = self.items.get(self.at).map(|item| &item.subject);
        matches!(present, Some(Subject::File(file)) if file.is_in_pieces())
    }
}
