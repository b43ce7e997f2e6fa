//! Languages whose blocks show by the start of their lines: Python, and Ruby by its custom.

use super::{Scope, Walk, preceding};
use crate::index::symbols::lexed::Kind;
use crate::index::symbols::tokens::{STRING, WORD};

impl Walk<'_> {
    /// Returns the width of the blanks before the token, which is the first of its line.
    fn indent(&self, index: usize) -> usize {
        let start = self.tokens.get(index).map_or(0, |token| token.start as usize);
        let line = memchr::memrchr(b'\n', &self.bytes[..start]).map_or(0, |before| before + 1);
        self.bytes[line..start].iter().map(|byte| if *byte == b'\t' { 8 } else { 1 }).sum()
    }

    pub(super) fn python(&mut self) {
        // Definitions that are open: where they were noted, and how far they are indented.
        let mut open: Vec<(usize, usize)> = Vec::new();
        let mut inside = 0;
        for index in 0..self.tokens.len() {
            if index < inside {
                continue;
            }
            if matches!(self.kind(index), b'(' | b'[' | b'{') {
                inside = self.closing(index);
            }
            if self.is_first(index) {
                let indent = self.indent(index);
                while open.last().is_some_and(|(_, other)| indent <= *other) {
                    self.end(&mut open, index);
                }
            }
            if !self.is_word(index) {
                continue;
            }
            let word = self.text(index);
            let starts = self.is_first(index)
                || self.text(preceding(index)) == b"async"
                || self.is(preceding(index), b':');
            if matches!(word, b"def" | b"class") && starts && self.is_word(index + 1) {
                let first = if self.text(preceding(index)) == b"async" { index - 1 } else { index };
                let kind = if word == b"def" { Kind::Function } else { Kind::Class };
                let indent = if self.is_first(first) { self.indent(first) } else { usize::MAX - 1 };
                self.add(kind, index + 1, index + 1);
                open.push((self.found.len() - 1, indent));
            } else if self.is(index + 1, b'=') && self.text(index + 2) == b"lambda" {
                if self.is_first(index) {
                    let to = self.line_end(index + 2);
                    self.add(Kind::Function, index, to);
                }
            } else if self.is_first(index) && open.is_empty() && self.indent(index) == 0 {
                self.python_value(index);
            }
        }
        while !open.is_empty() {
            self.end(&mut open, self.tokens.len());
        }
    }

    fn end(&mut self, open: &mut Vec<(usize, usize)>, next: usize) {
        if let Some((place, _)) = open.pop()
            && let Some(found) = self.found.get_mut(place)
        {
            found.to = found.to.max(next.saturating_sub(1));
        }
    }

    /// Notes a value of the module itself.
    fn python_value(&mut self, index: usize) {
        let mut value = index + 1;
        if self.text(index) == b"type" && self.is_word(index + 1) {
            let to = self.line_end(index + 1);
            return self.add(Kind::Type, index + 1, to);
        }
        if self.is(value, b':') {
            let line = self.line(index);
            while self.line(value) == line && !self.is(value, b'=') {
                value += 1;
            }
            if self.line(value) != line {
                return;
            }
        }
        if !self.is(value, b'=') || self.is(value + 1, b'=') {
            return;
        }
        let is_fixed = self.text(index).iter().all(|byte| !byte.is_ascii_lowercase());
        let kind = if is_fixed { Kind::Constant } else { Kind::Variable };
        let to = self.line_end(value);
        self.add(kind, index, to);
    }

    pub(super) fn ruby(&mut self) {
        let mut open: Vec<(usize, usize)> = Vec::new();
        for index in 0..self.tokens.len() {
            if !self.is_word(index)
                || self.is(preceding(index), b'.')
                || self.is(preceding(index), b':')
            {
                continue;
            }
            let word = self.text(index);
            if word == b"end" {
                let is_first = self.is_first(index);
                let indent = if is_first { self.indent(index) } else { usize::MAX };
                while open.last().is_some_and(|(_, other)| is_first && indent < *other) {
                    open.pop();
                }
                let same_line = open.last().is_some_and(|(place, _)| {
                    self.line(self.found[*place].from) == self.line(index)
                });
                let closes = open.last().is_some_and(|(_, other)| is_first && indent == *other);
                if closes || !is_first && same_line {
                    self.end(&mut open, index + 1);
                }
                continue;
            }
            let starts = self.statement_begins(index);
            let indent = |walk: &Self| {
                let mut first = index;
                while !walk.is_first(first) {
                    first -= 1;
                }
                walk.indent(first)
            };
            match word {
                b"def" => {
                    let Some((first, last, is_endless)) = self.ruby_name(index + 1) else {
                        continue;
                    };
                    let is_method = self.scope() == Scope::Members || !open.is_empty();
                    let kind = if is_method { Kind::Method } else { Kind::Function };
                    let to = if is_endless { self.line_end(last) } else { last };
                    self.add_named(kind, first, last, to);
                    if !is_endless {
                        open.push((self.found.len() - 1, indent(self)));
                    }
                }
                b"class" | b"module" if starts && self.is_word(index + 1) => {
                    let mut name = index + 1;
                    while self.is(name + 1, b':')
                        && self.is(name + 2, b':')
                        && self.is_word(name + 3)
                    {
                        name += 3;
                    }
                    let kind = if word == b"class" { Kind::Class } else { Kind::Module };
                    self.add(kind, name, name);
                    open.push((self.found.len() - 1, indent(self)));
                }
                _ if starts
                    && word[0].is_ascii_uppercase()
                    && self.is(index + 1, b'=')
                    && !matches!(self.kind(index + 2), b'=' | b'>' | b'~') =>
                {
                    let to = self.line_end(index + 1);
                    self.add(Kind::Constant, index, to);
                }
                _ => {}
            }
        }
    }

    fn statement_begins(&self, index: usize) -> bool {
        self.is_first(index) || self.is(preceding(index), b';')
    }

    /// Returns the first and last token of a method's name, and whether its body is its line.
    fn ruby_name(&self, mut at: usize) -> Option<(usize, usize, bool)> {
        if self.is_word(at) && self.is(at + 1, b'.') {
            at += 2;
        }
        let mut last = at;
        if self.is_word(at) {
            let next = self.tokens.get(at + 1)?;
            let touches = next.start == self.tokens[at].end;
            let is_setter = next.kind == b'='
                && matches!(self.kind(at + 2), b'(' | WORD)
                && self.tokens.get(at + 2).is_some_and(|after| after.start == next.end);
            if touches && (matches!(next.kind, b'?' | b'!') || is_setter) {
                last = at + 1;
            }
        } else {
            if matches!(self.kind(at), 0 | STRING) {
                return None;
            }
            while last < at + 3
                && !matches!(self.kind(last + 1), b'(' | WORD | 0)
                && self.line(last + 1) == self.line(at)
                && self.tokens[last + 1].start == self.tokens[last].end
            {
                last += 1;
            }
        }
        let mut after = last + 1;
        if self.is(after, b'(') {
            after = self.closing(after) + 1;
        }
        let is_endless = self.is(after, b'=')
            && self.line(after) == self.line(last)
            && !matches!(self.kind(after + 1), b'=' | b'>' | b'~');
        Some((at, last, is_endless))
    }
}
