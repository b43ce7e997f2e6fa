//! Languages in which a function is told by its shape, a name with parameters before a brace: C, C++, Java, C#, the shell.

use super::words::{begins, is_reserved};
use super::{Scope, Walk, preceding};
use crate::index::symbols::language::Language;
use crate::index::symbols::lexed::Kind;
use crate::index::symbols::tokens::{DIRECTIVE, NUMBER, STRING, WORD};

impl Walk<'_> {
    pub(super) fn c_word(&mut self, index: usize) {
        if matches!(self.scope(), Scope::Code | Scope::Names) {
            // Types are also defined within functions.
            if matches!(self.scope(), Scope::Names) || self.language == Language::Cpp {
                return;
            }
        }
        let word = self.text(index);
        if let Some((kind, scope)) = begins(self.language, word) {
            return self.c_type(index, kind, scope);
        }
        match word {
            b"typedef" => return self.typedef(index),
            b"using" if self.is_word(index + 1) && self.is(index + 2, b'=') => {
                return self.add(Kind::Type, index + 1, self.statement_end(index + 2));
            }
            b"operator" if self.scope() != Scope::Code => return self.c_operator(index),
            _ => {}
        }
        if self.is(index + 1, b'(') && self.scope() != Scope::Code && !is_reserved(word) {
            self.c_function(index, index, index + 1);
        }
    }

    /// Notes a struct, class, union, enum or namespace that has a body.
    fn c_type(&mut self, index: usize, kind: Kind, scope: Scope) {
        let before = self.text(preceding(index));
        if before == b"enum" {
            return;
        }
        let mut name = index + 1;
        let mut told = None;
        let limit = index + 64;
        // Attributes and macros may stand before the name, and `final` after it.
        while name < limit {
            match self.kind(name) {
                WORD if matches!(self.text(name), b"class" | b"struct" | b"final" | b"alignas") => {
                }
                WORD => told = Some(name),
                b'(' | b'[' => name = self.closing(name),
                b':' if self.is(name + 1, b':') => name += 1,
                b'<' => {
                    let Some(end) = self.angle_end(name) else { return };
                    name = end;
                }
                b'{' | b':' => break,
                _ => return,
            }
            name += 1;
        }
        let body = self.head_end(name);
        if !self.is(body, b'{') {
            return;
        }
        self.tell(body, scope);
        if let Some(told) = told {
            self.add(kind, told, self.closing(body));
        }
    }

    /// Returns where the type arguments that begin at `index` end.
    pub(super) fn angle_end(&self, index: usize) -> Option<usize> {
        let mut depth = 0_i32;
        let mut at = index;
        while at < index + 200 {
            match self.kind(at) {
                b'<' => depth += 1,
                b'>' if !matches!(self.kind(preceding(at)), b'-' | b'=') => {
                    depth -= 1;
                    if depth == 0 {
                        return Some(at);
                    }
                }
                b'(' | b'[' => at = self.closing(at),
                b';' | b'{' | b'}' | 0 => return None,
                _ => {}
            }
            at += 1;
        }
        None
    }

    /// Notes the names that a typedef gives, which stand before its commas and its end.
    fn typedef(&mut self, index: usize) {
        let end = self.statement_end(index + 1);
        if !self.is(end, b';') {
            return;
        }
        // The name in brackets of a pointer to a function, or the last word outside of brackets.
        let mut name = None;
        let mut at = index + 1;
        while at <= end {
            match self.kind(at) {
                b'(' if self.is(at + 1, b'*') || self.is(at + 1, b'^') => {
                    let close = self.closing(at);
                    name = (at..close).find(|place| self.is_word(*place)).or(name);
                    at = close;
                }
                b'(' | b'[' | b'{' => at = self.closing(at),
                WORD if !is_reserved(self.text(at)) => name = Some(at),
                b',' | b';' => {
                    if let Some(name) = name.take().filter(|name| *name > index + 1) {
                        self.add(Kind::Type, name, end);
                    }
                }
                _ => {}
            }
            at += 1;
        }
    }

    fn c_operator(&mut self, index: usize) {
        let mut open = index + 1;
        if self.is(open, b'(') && self.is(open + 1, b')') {
            open += 2;
        }
        while open < index + 8 && !matches!(self.kind(open), b'(' | b';' | b'{' | 0) {
            open += 1;
        }
        if self.is(open, b'(') {
            self.c_function(index, open - 1, open);
        }
    }

    /// Notes a function if a body follows the parameters that begin at `open`.
    fn c_function(&mut self, first: usize, last: usize, open: usize) {
        let close = self.closing(open);
        let before = preceding(first);
        if close == open || matches!(self.kind(before), b'.' | b'=' | b'!' | b'?' | b',' | b'(') {
            return;
        }
        if self.is(before, b'>') && self.is(preceding(before), b'-') {
            return;
        }
        let Some(body) = self.c_body(close + 1) else { return };
        self.tell(body, Scope::Code);
        let tilde = self.is(before, b'~');
        let first = if tilde { before } else { first };
        let to = self.closing(body);
        if self.text(last).starts_with(b"SYSCALL_DEFINE") && self.is_word(open + 1) {
            return self.add(Kind::Function, open + 1, to);
        }
        self.add_named(Kind::Function, first, last, to);
        // `A::b` is a member of A wherever it stands.
        let colon = preceding(first);
        if self.is(colon, b':')
            && self.is(preceding(colon), b':')
            && let Some(found) = self.found.last_mut()
        {
            found.kind = Some(Kind::Method);
        }
    }

    /// Returns the brace of the body of a function whose parameters end before `index`.
    fn c_body(&self, mut index: usize) -> Option<usize> {
        let limit = index + 400;
        // Without a word or a colon in between, nothing but a brace may follow.
        let mut is_list = false;
        while index < limit {
            match self.kind(index) {
                b'{' if is_list && self.is_initialiser(index) => index = self.closing(index),
                b'{' => return Some(index),
                b'(' | b'[' if self.closing(index) > index => index = self.closing(index),
                b':' if self.language == Language::Cpp => is_list = true,
                // Parameters as C once had them are declared between parentheses and brace.
                b';' if self.language == Language::C && self.is_old_parameter(index) => {}
                WORD if !is_list && matches!(self.text(index), b"return" | b"if" | b"for") => {
                    return None;
                }
                WORD | STRING | b'*' | b'&' | b'<' | b'>' | b'-' | b'.' | NUMBER | b':' => {}
                b',' if is_list || self.language == Language::C => {}
                DIRECTIVE => {}
                _ => return None,
            }
            index += 1;
        }
        None
    }

    fn is_initialiser(&self, brace: usize) -> bool {
        let after = self.closing(brace) + 1;
        self.is_word(preceding(brace)) && matches!(self.kind(after), b',' | b'{')
    }

    fn is_old_parameter(&self, semicolon: usize) -> bool {
        matches!(self.kind(semicolon + 1), WORD | b'{')
            && self.is_word(preceding(semicolon))
            && self.is_word(preceding(preceding(semicolon)))
                | self.is(preceding(preceding(semicolon)), b'*')
    }

    pub(super) fn java_word(&mut self, index: usize) {
        let word = self.text(index);
        let before = preceding(index);
        if self.is(before, b'.') && !self.is(index + 1, b'(')
            || self.is(before, b'@') && word != b"interface"
        {
            return;
        }
        if let Some((kind, scope)) = begins(self.language, word) {
            let is_record_call = word == b"record" && !self.is_word(index + 1);
            if !is_record_call {
                return self.java_type(index, kind, scope);
            }
        }
        if word == b"delegate" && self.language == Language::CSharp {
            let end = self.statement_end(index);
            let open = (index..end).find(|at| self.is(*at, b'('));
            if let Some(open) = open.filter(|open| self.is_word(open - 1) && *open > index + 1) {
                self.add(Kind::Type, open - 1, end);
            }
            return;
        }
        if self.scope() == Scope::Members && !is_reserved(word) {
            self.java_method(index);
        }
    }

    fn java_type(&mut self, index: usize, kind: Kind, scope: Scope) {
        let mut name = index + 1;
        if matches!(self.text(name), b"class" | b"struct") {
            return;
        }
        if !self.is_word(name) || matches!(self.text(name), b"where") {
            return;
        }
        let first = name;
        while kind == Kind::Module && self.is(name + 1, b'.') && self.is_word(name + 2) {
            name += 2;
        }
        let body = self.head_end(name + 1);
        if self.is(body, b'{') {
            let is_code = self.is(preceding(body), b'=');
            if is_code {
                return;
            }
            self.tell(body, scope);
            self.add_named(kind, first, name, self.closing(body));
        } else if self.is(body, b';') && (kind == Kind::Module || self.is_positional(name, body)) {
            let to = if kind == Kind::Module { self.tokens.len().saturating_sub(1) } else { body };
            self.add_named(kind, first, name, to);
        }
    }

    /// Whether a record is all in its parameters.
    fn is_positional(&self, name: usize, end: usize) -> bool {
        self.is(name + 1, b'(') && end > name
    }

    /// Notes a method or constructor if the word at `index` is named as one.
    fn java_method(&mut self, index: usize) {
        let mut open = index + 1;
        if self.is(open, b'<') {
            let Some(end) = self.angle_end(open) else { return };
            open = end + 1;
        }
        if !self.is(open, b'(') {
            return;
        }
        let close = self.closing(open);
        let before = preceding(index);
        if begins(self.language, self.text(before)).is_some() {
            // It is the name of a record, whose parameters follow.
            return;
        }
        let follows_type = matches!(self.kind(before), WORD | b'>' | b']' | b'?' | b'*')
            && !matches!(self.text(before), b"new" | b"return" | b"throw" | b"else");
        let starts = matches!(self.kind(before), b'}' | b'{' | b';' | b')' | b'~' | b'.');
        if close == open || !(follows_type || starts) {
            return;
        }
        let mut end = close + 1;
        let limit = end + 200;
        while end < limit {
            match self.kind(end) {
                b'{' | b';' => break,
                b'=' if self.is(end + 1, b'>') => break,
                b'(' | b'[' => end = self.closing(end),
                WORD | b'.' | b',' | b'<' | b'>' | b'@' | b':' | b'?' | STRING | NUMBER => {}
                _ => return,
            }
            end += 1;
        }
        match self.kind(end) {
            b'{' => {
                self.tell(end, Scope::Code);
                self.add(Kind::Method, index, self.closing(end));
            }
            b'=' => self.add(Kind::Method, index, self.statement_end(end)),
            // Without a body it is a declaration only where a type stands before it.
            b';' if follows_type => self.add(Kind::Method, index, end),
            _ => {}
        }
    }

    pub(super) fn shell_word(&mut self, index: usize) {
        let is_keyword = self.text(index) == b"function" && self.is_word(index + 1);
        let starts =
            self.is_first(index) || matches!(self.kind(preceding(index)), b';' | b'{' | b'&');
        if !is_keyword && !starts {
            return;
        }
        let first = if is_keyword { index + 1 } else { index };
        let mut last = first;
        // A name may hold hyphens, dots and colons.
        while matches!(self.kind(last + 1), b'-' | b'.' | b':' | WORD | NUMBER)
            && self.tokens[last + 1].start == self.tokens[last].end
        {
            last += 1;
        }
        let has_parameters = self.is(last + 1, b'(') && self.is(last + 2, b')');
        if !is_keyword && !has_parameters {
            return;
        }
        let body = if has_parameters { last + 3 } else { last + 1 };
        if matches!(self.kind(body), b'{' | b'(') {
            self.add_named(Kind::Function, first, last, self.closing(body));
        } else if has_parameters {
            self.add_named(Kind::Function, first, last, last + 2);
        }
    }
}
