//! Languages in which a word begins each definition: Rust, Go, Kotlin, Swift, PHP.

use super::words::begins;
use super::{Scope, Walk, preceding};
use crate::index::symbols::language::Language;
use crate::index::symbols::lexed::Kind;
use crate::index::symbols::tokens::{DIRECTIVE, NUMBER, STRING, WORD};

impl Walk<'_> {
    /// Notes what begins with the word at `index` and is named by the next one.
    ///
    /// True if the word is one that begins definitions.
    pub(super) fn keyword(&mut self, index: usize) -> bool {
        let word = self.text(index);
        if matches!(self.language, Language::Kotlin | Language::Swift) && self.mobile(index, word) {
            return true;
        }
        let Some((kind, scope)) = begins(self.language, word) else {
            return self.namespace(index, word);
        };
        let before = preceding(index);
        // `X.class`, `X::class`, `$class`, `->class` use the word as a name.
        let is_name = matches!(self.kind(before), b'.' | b'$')
            || self.is(before, b':') && self.is(preceding(before), b':')
            || self.is(before, b'>') && self.is(preceding(before), b'-');
        if is_name {
            return false;
        }
        let mut name = index + 1;
        if self.is(name, b'*') || self.is(name, b'&') && self.language == Language::Php {
            name += 1;
        }
        if self.language == Language::Swift && kind == Kind::Function && !self.is_word(name) {
            return self.operator(name);
        }
        let is_type = matches!(kind, Kind::Class | Kind::Interface);
        if !self.is_word(name) || is_type && matches!(self.text(name), b"extends" | b"implements") {
            return true;
        }
        if self.language == Language::Rust && self.text(name) == b"mut" {
            name += 1;
        }
        if self.language == Language::Kotlin && kind == Kind::Class {
            // `enum class X`, `annotation class X`: the word before tells which.
            let told = if self.text(before) == b"enum" { Kind::Enum } else { kind };
            self.define(told, name, Scope::Members);
            return true;
        }
        self.define(kind, name, scope);
        true
    }

    /// Notes the definition of the word at `name`, whose body is found.
    pub(super) fn define(&mut self, kind: Kind, name: usize, scope: Scope) {
        let end = self.body_of(kind, name);
        if self.is(end, b'{') {
            self.tell(end, scope);
        }
        let to = if self.is(end, b'{') { self.closing(end) } else { end };
        let to = if matches!(self.kind(to), b'}' | b')' | b']' | DIRECTIVE) && !self.is(end, b'{') {
            to.saturating_sub(1)
        } else {
            to
        };
        self.add(kind, name, to);
    }

    /// Returns the brace of the body, or the last token of a definition that has none.
    fn body_of(&self, kind: Kind, name: usize) -> usize {
        let is_value = matches!(kind, Kind::Constant | Kind::Variable | Kind::Type);
        if is_value && self.language == Language::Rust {
            return self.statement_end(name + 1);
        }
        // A brace between type parameters is no body.
        let angle = if self.is(name + 1, b'<') { self.angle_end(name + 1) } else { None };
        let last = angle.unwrap_or(name);
        if !self.language.ends_by_line() {
            return self.head_end(last + 1);
        }
        if is_value {
            return self.line_end(name);
        }
        self.open_line_head(last)
    }

    /// Returns the semicolon that ends a statement, brackets in it passed over.
    pub(super) fn statement_end(&self, mut index: usize) -> usize {
        let limit = self.tokens.len().min(index + super::FAR * 8);
        while index < limit {
            match self.kind(index) {
                b'(' | b'[' | b'{' if self.closing(index) > index => index = self.closing(index),
                b';' | b'}' | b')' | b']' => return index,
                _ => {}
            }
            index += 1;
        }
        limit.saturating_sub(1)
    }

    /// Returns the last token of what goes on from `index`: as far as brackets and signs at the
    /// ends of lines carry it.
    pub(super) fn line_end(&self, mut index: usize) -> usize {
        let limit = self.tokens.len().min(index + super::FAR * 4);
        while index < limit {
            if matches!(self.kind(index), b'(' | b'[' | b'{') {
                index = self.closing(index);
            }
            let next = index + 1;
            let ends = self.language.is_script() && self.is(next, b',');
            if ends
                || next >= self.tokens.len()
                || matches!(self.kind(next), b'}' | b')' | b']' | b';')
            {
                return index;
            }
            let carries =
                matches!(self.kind(index), b'=' | b',' | b'+' | b'|' | b'&' | b'?' | b':')
                    || matches!(self.kind(next), b'.' | b'|' | b'&' | b'?' | b'=' | b'{');
            if self.line(next) != self.end_line(index) && !carries {
                return index;
            }
            index = next;
        }
        limit.saturating_sub(1)
    }

    /// Returns the brace of a body where a definition without one ends with its line.
    fn open_line_head(&self, name: usize) -> usize {
        let mut index = name;
        let limit = self.tokens.len().min(index + super::FAR);
        while index < limit {
            let next = index + 1;
            match self.kind(next) {
                // A type written out: `class A extends B<{ c: number }> {`.
                b'{' if self.language.is_script() && !self.is_body(next) => {
                    index = self.closing(next).max(next);
                    continue;
                }
                b'{' => return next,
                b'(' | b'[' if self.closing(next) > next => {
                    index = self.closing(next);
                    continue;
                }
                b'}' | b')' | b']' | b';' | 0 => return index,
                b'=' if self.language == Language::Kotlin && !self.is(next + 1, b'=') => {
                    return self.line_end(next);
                }
                _ => {}
            }
            let goes_on = matches!(self.kind(index), b':' | b',' | b'>' | b'<' | b'&' | b'.')
                || matches!(self.kind(next), b':' | b',' | b'-' | b'.' | b'<' | b'>')
                || matches!(
                    self.text(next),
                    b"where" | b"throws" | b"async" | b"extends" | b"implements"
                );
            if self.line(next) != self.line(index) && !goes_on {
                return index;
            }
            index = next;
        }
        index
    }

    fn namespace(&mut self, index: usize, word: &[u8]) -> bool {
        if self.language != Language::Php || word != b"namespace" || !self.is_word(index + 1) {
            return false;
        }
        let mut last = index + 1;
        while self.is(last + 1, b'\\') && self.is_word(last + 2) {
            last += 2;
        }
        let end = self.head_end(last + 1);
        self.tell(end, Scope::Top);
        self.add_named(Kind::Module, index + 1, last, self.closing(end));
        true
    }

    pub(super) fn rust_word(&mut self, index: usize) {
        match self.text(index) {
            b"macro_rules" if self.is(index + 1, b'!') && self.is_word(index + 2) => {
                let end = self.closing(index + 3);
                self.add(Kind::Macro, index + 2, end);
            }
            b"impl" if self.is_impl(index) => {
                let end = self.head_end(index + 1);
                if self.is(end, b'{') {
                    self.tell(end, Scope::Members);
                    self.add_container(self.impl_name(index + 1, end), end);
                }
            }
            b"const"
                if matches!(self.text(index + 1), b"fn" | b"unsafe" | b"extern" | b"async") => {}
            b"static" | b"const"
                if !self.is_word(index + 1)
                    || matches!(self.kind(preceding(index)), b'*' | b'<' | b',' | b'&') => {}
            b"union" | b"type" | b"mod" if !self.is_word(index + 1) => {}
            b"union" if !matches!(self.kind(index + 2), b'{' | b'<') => {}
            // A lifetime such as `'static` is a quote and a word.
            b"fn" | b"struct" | b"enum" | b"union" | b"trait" | b"mod" | b"type" | b"const"
            | b"static"
                if !self.is(preceding(index), b'\'') =>
            {
                self.keyword(index);
            }
            _ => {}
        }
    }

    /// Whether `impl` begins a block, and is no type.
    fn is_impl(&self, index: usize) -> bool {
        let before = preceding(index);
        matches!(self.kind(before), 0 | b'}' | b'{' | b';' | b']' | b')')
            || matches!(self.text(before), b"unsafe" | b"default")
    }

    /// Returns the last name of the type that a block is for.
    fn impl_name(&self, from: usize, to: usize) -> usize {
        let mut depth = 0_i32;
        let mut name = from;
        for place in from..to {
            match self.kind(place) {
                b'<' => depth += 1,
                b'>' if !self.is(preceding(place), b'-') => depth -= 1,
                WORD if depth == 0 => match self.text(place) {
                    b"where" => break,
                    b"dyn" | b"for" | b"mut" | b"const" => {}
                    _ => name = place,
                },
                _ => {}
            }
        }
        name
    }

    pub(super) fn go_word(&mut self, index: usize) {
        let is_top = self.scopes.is_empty();
        match self.text(index) {
            b"func" => {
                let receiver = self.is(index + 1, b'(');
                let name = if receiver { self.closing(index + 1) + 1 } else { index + 1 };
                if !is_top || !self.is_first(index) || !self.is_word(name) {
                    return;
                }
                self.define(
                    if receiver { Kind::Method } else { Kind::Function },
                    name,
                    Scope::Code,
                );
            }
            b"type" if self.is_first(index) || is_top => self.go_group(index, Kind::Type),
            b"const" if is_top => self.go_group(index, Kind::Constant),
            b"var" if is_top => self.go_group(index, Kind::Variable),
            _ => {}
        }
    }

    fn go_group(&mut self, index: usize, kind: Kind) {
        if !self.is(index + 1, b'(') {
            return self.go_names(index + 1, kind);
        }
        let end = self.closing(index + 1);
        let mut place = index + 2;
        while place < end {
            if self.is_first(place) && self.is_word(place) {
                self.go_names(place, kind);
            }
            if matches!(self.kind(place), b'(' | b'[' | b'{') {
                place = self.closing(place);
            }
            place += 1;
        }
    }

    fn go_names(&mut self, name: usize, kind: Kind) {
        if !self.is_word(name) {
            return;
        }
        if kind != Kind::Type {
            let mut place = name;
            let end = self.line_end(name);
            loop {
                self.add(kind, place, end);
                if !self.is(place + 1, b',') || !self.is_word(place + 2) {
                    return;
                }
                place += 2;
            }
        }
        let mut at = name + 1;
        if self.is(at, b'[') && self.closing(at) > at + 1 {
            // Parameters of a type, or an array: what follows tells the kind in both.
            at = self.closing(at) + 1;
        }
        let kind = match self.text(at) {
            b"struct" => Kind::Struct,
            b"interface" => Kind::Interface,
            _ => Kind::Type,
        };
        let end = if self.is(at + 1, b'{') { self.closing(at + 1) } else { self.line_end(name) };
        self.add(kind, name, end);
    }

    /// Notes what only Kotlin and Swift have. True if the word was one of theirs.
    fn mobile(&mut self, index: usize, word: &[u8]) -> bool {
        let is_declared = matches!(self.scope(), Scope::Top | Scope::Members);
        match (self.language, word) {
            (Language::Kotlin, b"fun") => {
                if let Some(name) = self.kotlin_name(index + 1) {
                    self.define(Kind::Function, name, Scope::Code);
                }
            }
            (Language::Swift, b"extension") if self.is_word(index + 1) => {
                let end = self.head_end(index + 1);
                let mut name = index + 1;
                while self.is(name + 1, b'.') && self.is_word(name + 2) {
                    name += 2;
                }
                self.tell(end, Scope::Members);
                self.add_container(name, end);
            }
            (Language::Swift, b"init" | b"deinit" | b"subscript")
                if self.scope() == Scope::Members
                    && !self.is(preceding(index), b'.')
                    && matches!(self.kind(index + 1), b'(' | b'{' | b'?' | b'<' | b'!') =>
            {
                self.define(Kind::Method, index, Scope::Code);
            }
            (Language::Swift, b"class")
                if matches!(self.text(index + 1), b"func" | b"var" | b"let" | b"subscript") => {}
            (_, b"val" | b"var" | b"let") if is_declared && !self.is(index + 1, b'(') => {
                if let Some(name) = self.kotlin_name(index + 1) {
                    let is_fixed = word != b"var";
                    let kind = if is_fixed { Kind::Constant } else { Kind::Variable };
                    let end = self.line_end(name);
                    self.add(kind, name, end);
                }
            }
            _ => return false,
        }
        true
    }

    /// Returns the name after type parameters and a receiver.
    fn kotlin_name(&self, mut at: usize) -> Option<usize> {
        let mut name = None;
        let limit = at + 64;
        let mut depth = 0_i32;
        while at < limit {
            match self.kind(at) {
                b'<' => depth += 1,
                b'>' => depth -= 1,
                b'`' => {}
                WORD if depth == 0 => {
                    if name.is_some_and(|name| self.is_word(name) && name + 1 == at) {
                        return name;
                    }
                    name = Some(at);
                }
                b'.' | b'?' | b'*' | b',' | NUMBER | STRING => {}
                _ if depth > 0 => {}
                _ => return name,
            }
            at += 1;
        }
        name
    }

    /// Notes the definition of an operator of Swift.
    fn operator(&mut self, name: usize) -> bool {
        let mut last = name;
        while last < name + 4 && !matches!(self.kind(last + 1), b'(' | b'<' | WORD | 0) {
            last += 1;
        }
        let end = self.open_line_head(last);
        let to = if self.is(end, b'{') { self.closing(end) } else { end };
        self.add_named(Kind::Function, name, last, to);
        true
    }
}
