//! JavaScript and TypeScript, where a function may be a value, a member, or a word of its own.

use super::words::begins;
use super::{Scope, Walk, preceding};
use crate::index::symbols::language::Language;
use crate::index::symbols::lexed::Kind;
use crate::index::symbols::tokens::{STRING, WORD};

impl Walk<'_> {
    pub(super) fn script_word(&mut self, index: usize) {
        let word = self.text(index);
        let before = preceding(index);
        let is_property = self.is(before, b'.') && !self.is(preceding(before), b'.');
        if !is_property && self.script_keyword(index, word) {
            return;
        }
        match self.scope() {
            Scope::Members | Scope::Object => self.script_member(index),
            Scope::Top | Scope::Code if is_property => self.assigned(index),
            Scope::Top | Scope::Code => {
                if matches!(word, b"const" | b"let" | b"var") {
                    self.script_values(index);
                } else if self.is(index + 1, b'=') {
                    self.assigned(index);
                }
            }
            Scope::Names => {}
        }
    }

    /// Notes a function, class or type that a word begins. False if it begins none.
    fn script_keyword(&mut self, index: usize, word: &[u8]) -> bool {
        let is_key = matches!(self.kind(index + 1), b':' | b'(' | b'=' | b'?' | b',' | b';' | b'}');
        if is_key && word != b"function" {
            return false;
        }
        if let Some((kind, scope)) = begins(self.language, word) {
            let mut name = index + 1;
            if self.is(name, b'*') {
                name += 1;
            }
            let anonymous = !self.is_word(name) || self.text(name) == b"extends";
            if kind == Kind::Class && anonymous {
                let body = self.head_end(index + 1);
                self.tell(body, Scope::Members);
                return true;
            }
            if anonymous {
                return word == b"function";
            }
            // `type` and `namespace` are also names.
            if kind == Kind::Type && !matches!(self.kind(name + 1), b'=' | b'<') {
                return false;
            }
            while kind == Kind::Module && self.is(name + 1, b'.') && self.is_word(name + 2) {
                name += 2;
            }
            self.define(kind, name, scope);
            return true;
        }
        match word {
            b"module" if self.is(index + 2, b'{') && self.language != Language::JavaScript => {
                if self.is_word(index + 1) {
                    self.define(Kind::Module, index + 1, Scope::Top);
                } else {
                    self.tell(index + 2, Scope::Top);
                }
                true
            }
            b"global" if self.is(index + 1, b'{') => {
                self.tell(index + 1, Scope::Top);
                true
            }
            _ => false,
        }
    }

    /// Notes the names after `const`, `let` or `var`.
    fn script_values(&mut self, index: usize) {
        let is_top = self.scopes.iter().all(|(_, scope)| *scope == Scope::Top);
        let name = index + 1;
        if !self.is_word(name) || self.text(name) == b"enum" {
            return;
        }
        let Some(value) = self.value_of(name) else {
            return;
        };
        if let Some(end) = self.function_value(value) {
            return self.add(Kind::Function, name, end);
        }
        if self.text(value) == b"class" {
            let body = self.head_end(value + 1);
            if self.is(body, b'{') {
                self.tell(body, Scope::Members);
                self.add(Kind::Class, name, self.closing(body));
            }
            return;
        }
        if is_top {
            let is_fixed = self.text(index) == b"const";
            let kind = if is_fixed { Kind::Constant } else { Kind::Variable };
            self.add(kind, name, self.line_end(value));
        }
    }

    /// Returns where the value begins that is given to the name; `None` if it gets none.
    fn value_of(&self, name: usize) -> Option<usize> {
        if self.is(name + 1, b'=') {
            return (!self.is(name + 2, b'=')).then_some(name + 2);
        }
        if !self.is(name + 1, b':') {
            return None;
        }
        let mut at = name + 2;
        while at < name + 200 {
            match self.kind(at) {
                b'=' if self.is(at + 1, b'>') => at += 1,
                b'=' => return Some(at + 1),
                b'(' | b'[' | b'{' if self.closing(at) > at => at = self.closing(at),
                b';' | b'}' | b')' | 0 => return None,
                _ => {}
            }
            at += 1;
        }
        None
    }

    /// Returns where the function ends that begins at `value`; `None` if it is something else.
    fn function_value(&mut self, value: usize) -> Option<usize> {
        let mut at = value;
        if self.text(at) == b"async" {
            at += 1;
        }
        if self.text(at) == b"function" {
            let open = (at..at + 4).find(|place| self.is(*place, b'('))?;
            let body = self.head_end(self.closing(open) + 1);
            self.tell(body, Scope::Code);
            return self.is(body, b'{').then(|| self.closing(body));
        }
        if self.is(at, b'<') {
            at = self.angle_end(at)? + 1;
        }
        if self.is(at, b'(') && self.closing(at) > at {
            at = self.closing(at) + 1;
        } else if self.is_word(at) {
            at += 1;
        } else {
            return None;
        }
        if self.is(at, b':') {
            at = self.arrow_after(at + 1)?;
        }
        if !(self.is(at, b'=') && self.is(at + 1, b'>')) {
            return None;
        }
        if self.is(at + 2, b'{') {
            self.tell(at + 2, Scope::Code);
            return Some(self.closing(at + 2));
        }
        Some(self.line_end(at + 2))
    }

    /// Returns the arrow after the type that begins at `at`.
    fn arrow_after(&self, mut at: usize) -> Option<usize> {
        for _ in 0..100 {
            match self.kind(at) {
                b'=' if self.is(at + 1, b'>') => return Some(at),
                b'(' | b'[' | b'{' if self.closing(at) > at => at = self.closing(at),
                WORD | b'.' | b'<' | b'>' | b'|' | b'&' | STRING | b',' => {}
                _ => return None,
            }
            at += 1;
        }
        None
    }

    /// Notes a function or class that is given to a name or a property.
    fn assigned(&mut self, index: usize) {
        if !self.is(index + 1, b'=') || matches!(self.kind(index + 2), b'=' | b'>') {
            return;
        }
        let is_method = self.text(index.saturating_sub(2)) == b"prototype";
        let value = index + 2;
        // A name alone that gets an arrow is a parameter's default as often as a function.
        if let Some(end) = self.function_value(value) {
            let kind = if is_method { Kind::Method } else { Kind::Function };
            self.add(kind, index, end);
        } else if self.text(value) == b"class" {
            let body = self.head_end(value + 1);
            if self.is(body, b'{') {
                self.tell(body, Scope::Members);
                self.add(Kind::Class, index, self.closing(body));
            }
        }
    }

    /// Notes a method, or a member that is a function.
    pub(super) fn script_member(&mut self, index: usize) {
        let scope = self.scope();
        if !matches!(scope, Scope::Members | Scope::Object) {
            return;
        }
        let before = preceding(index);
        if !self.begins_member(before, scope, index) {
            return;
        }
        let (first, mut last) = (index, index);
        if self.is(index, b'[') {
            last = self.closing(index);
            // A computed name is told by what it is computed of.
            if last == index || last > index + 8 {
                return;
            }
        }
        let mut next = last + 1;
        if self.is(next, b'?') || self.is(next, b'!') {
            next += 1;
        }
        if scope == Scope::Members && matches!(self.kind(next), b':' | b'=') {
            return self.field(first, last, next);
        }
        if scope == Scope::Object && self.is(next, b':') {
            if let Some(end) = self.function_value(next + 1) {
                self.add_member(Kind::Method, first, last, end);
            }
            return;
        }
        if self.is(next, b'<') {
            let Some(end) = self.angle_end(next) else { return };
            next = end + 1;
        }
        if !self.is(next, b'(') || self.closing(next) == next {
            return;
        }
        let close = self.closing(next);
        let is_statement =
            matches!(self.text(index), b"if" | b"for" | b"while" | b"switch" | b"catch");
        if is_statement && scope == Scope::Object {
            return;
        }
        let end = self.member_end(close + 1);
        if self.is(end, b'{') {
            self.tell(end, Scope::Code);
            self.add_member(Kind::Method, first, last, self.closing(end));
        } else if scope == Scope::Members && self.language != Language::JavaScript {
            self.add_member(Kind::Method, first, last, end);
        }
    }

    fn begins_member(&self, before: usize, scope: Scope, index: usize) -> bool {
        match self.kind(before) {
            b'{' | b',' | b'*' | b'#' => true,
            b';' | b'}' => scope == Scope::Members,
            b')' | b']' | STRING | b'>' => scope == Scope::Members && self.is_first(index),
            WORD => {
                self.is_first(index) && scope == Scope::Members
                    || matches!(
                        self.text(before),
                        b"static"
                            | b"async"
                            | b"get"
                            | b"set"
                            | b"public"
                            | b"private"
                            | b"protected"
                            | b"readonly"
                            | b"abstract"
                            | b"override"
                            | b"declare"
                            | b"accessor"
                    )
            }
            _ => scope == Scope::Members && self.is_first(index) && self.kind(before) == b'0',
        }
    }

    /// Notes a field that holds a function.
    fn field(&mut self, first: usize, last: usize, next: usize) {
        let is_type = self.is(next, b':') && matches!(self.kind(next + 1), b'(' | b'<');
        let value = if self.is(next, b'=') { Some(next + 1) } else { self.value_of(last) };
        let mut end = value.and_then(|value| self.function_value(value));
        if end.is_none() && is_type {
            // A field that has a function's type is as good as a method.
            end = self.function_value(next + 1);
        }
        if let Some(end) = end {
            self.add_member(Kind::Method, first, last, end);
        }
    }

    fn add_member(&mut self, kind: Kind, first: usize, last: usize, to: usize) {
        self.add_named(kind, first, last, to);
        // A name in quotes is noted without them.
        if self.is(first, STRING)
            && let Some(found) = self.found.last_mut()
            && found.name.1 - found.name.0 > 2
        {
            found.name = (found.name.0 + 1, found.name.1 - 1);
        }
    }

    /// Returns the brace of a member's body, or its last token.
    fn member_end(&self, mut at: usize) -> usize {
        let is_typed = self.is(at, b':');
        for _ in 0..200 {
            match self.kind(at) {
                b'{' if is_typed && !self.is_body(at) => at = self.closing(at),
                b'{' | b';' => return at,
                b'(' | b'[' if self.closing(at) > at => at = self.closing(at),
                b'}' | b',' | b')' | b'=' | 0 if !self.is(at + 1, b'>') => {
                    return at.saturating_sub(1);
                }
                WORD if !is_typed => return at.saturating_sub(1),
                _ => {}
            }
            let is_open = matches!(self.kind(at), b':' | b'|' | b'&' | b'>' | b'.' | b'<' | b',');
            let goes_on = matches!(self.kind(at + 1), b'|' | b'&' | b'{' | b'.' | b':');
            if self.line(at + 1) != self.line(at) && !is_open && !goes_on {
                return at;
            }
            at += 1;
        }
        at
    }

    /// Whether a brace after a type is the body: a type's own brace stands after a sign.
    pub(super) fn is_body(&self, brace: usize) -> bool {
        !matches!(self.kind(preceding(brace)), b':' | b'|' | b'&' | b'<' | b',' | b'>')
            || self.is(preceding(brace), b'>') && !self.is(preceding(preceding(brace)), b'=')
    }
}
