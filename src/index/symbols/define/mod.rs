//! Definitions read off the tokens of a file.

mod calls;
mod keywords;
mod lines;
mod values;
mod words;

use super::brackets::NONE;
use super::language::Language;
use super::lexed::{Definition, Kind};
use super::tokens::{DIRECTIVE, STRING, Token, WORD};

/// How far ahead of a name its body is looked for.
const FAR: usize = 2_000;

/// What the text between two braces holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Scope {
    /// Functions, types and values beside each other: a file, a namespace.
    Top,
    /// The members of a type.
    Members,
    /// Statements.
    Code,
    /// The names of an enumeration.
    Names,
    /// An object written out, in JavaScript.
    Object,
}

/// A definition by the places of its tokens.
#[derive(Clone, Copy, Debug)]
struct Found {
    /// Where the name stands.
    name: (u32, u32),
    /// `None` for what only contains, as an `impl`.
    kind: Option<Kind>,
    /// The token of the name, and the last one that belongs to it.
    from: usize,
    to: usize,
}

/// A walk over the tokens of a file.
struct Walk<'a> {
    bytes: &'a [u8],
    tokens: &'a [Token],
    close: &'a [u32],
    language: Language,
    found: Vec<Found>,
    /// What is between the braces at these tokens, as far as a definition told.
    bodies: Vec<(usize, Scope)>,
    /// The braces around the place: where each ends, and what is between.
    scopes: Vec<(usize, Scope)>,
}

/// Returns the definitions of a file, in order.
pub(super) fn definitions(
    bytes: &[u8],
    tokens: &[Token],
    close: &[u32],
    language: Language,
    lines: u32,
) -> Vec<Definition> {
    let (found, bodies, scopes) = (Vec::new(), Vec::new(), Vec::new());
    let mut walk = Walk { bytes, tokens, close, language, found, bodies, scopes };
    match language {
        Language::Python => walk.python(),
        Language::Ruby => walk.ruby(),
        _ => walk.braces(),
    }
    walk.finish(lines)
}

/// Returns the token before `index`, or one beyond the end.
fn preceding(index: usize) -> usize {
    index.checked_sub(1).unwrap_or(usize::MAX)
}

impl<'a> Walk<'a> {
    /// Returns the sign at `index`; 0 beyond the end.
    fn kind(&self, index: usize) -> u8 {
        self.tokens.get(index).map_or(0, |token| token.kind)
    }

    fn is(&self, index: usize, kind: u8) -> bool {
        self.kind(index) == kind
    }

    /// Whether a word stands at `index`.
    fn is_word(&self, index: usize) -> bool {
        self.is(index, WORD)
    }

    /// Returns the text of the token at `index`; nothing beyond the end.
    fn text(&self, index: usize) -> &'a [u8] {
        self.tokens
            .get(index)
            .map_or(&[], |token| &self.bytes[token.start as usize..token.end as usize])
    }

    fn line(&self, index: usize) -> u32 {
        self.tokens.get(index).map_or(0, |token| token.line)
    }

    /// Whether nothing stands before it on its line.
    fn is_first(&self, index: usize) -> bool {
        index == 0 || self.line(index - 1) != self.line(index)
    }

    /// Returns where the bracket at `index` closes, or else `index`.
    fn closing(&self, index: usize) -> usize {
        match self.close.get(index) {
            Some(&close) if close != NONE => close as usize,
            _ => index,
        }
    }

    fn scope(&self) -> Scope {
        self.scopes.last().map_or(Scope::Top, |(_, scope)| *scope)
    }

    /// Notes the definition of the word at `name`, which lasts to the token `to`.
    fn add(&mut self, kind: Kind, name: usize, to: usize) {
        self.add_named(kind, name, name, to);
    }

    /// Notes a definition of which the name runs from one token to another.
    fn add_named(&mut self, kind: Kind, first: usize, last: usize, to: usize) {
        let (Some(start), Some(end)) = (self.tokens.get(first), self.tokens.get(last)) else {
            return;
        };
        let name = (start.start, end.end);
        self.found.push(Found { name, kind: Some(kind), from: first, to: to.max(last) });
    }

    /// Notes what contains others but is no definition of its own.
    fn add_container(&mut self, name: usize, body: usize) {
        if let Some(token) = self.tokens.get(name) {
            let (name, to) = ((token.start, token.end), self.closing(body));
            self.found.push(Found { name, kind: None, from: body, to });
        }
    }

    /// Returns where the head of a definition ends that goes on at `index`: at a brace, or at
    /// what ends it without a body.
    fn head_end(&self, mut index: usize) -> usize {
        let limit = self.tokens.len().min(index + FAR);
        while index < limit {
            match self.kind(index) {
                b'(' | b'[' if self.closing(index) > index => index = self.closing(index),
                // A type written out.
                b'{' if self.language.is_script() && !self.is_body(index) => {
                    index = self.closing(index);
                }
                b'{' | b';' | b'}' | b')' | b']' | DIRECTIVE => return index,
                _ => {}
            }
            index += 1;
        }
        limit.saturating_sub(1)
    }

    /// Goes over a file whose blocks stand in braces.
    fn braces(&mut self) {
        let mut index = 0;
        while index < self.tokens.len() {
            while self.scopes.last().is_some_and(|(end, _)| index >= *end) {
                self.scopes.pop();
            }
            match self.kind(index) {
                b'{' => self.open(index),
                WORD => self.word(index),
                DIRECTIVE => self.directive(index),
                STRING | b'[' if self.language.is_script() => self.script_member(index),
                _ => {}
            }
            index += 1;
        }
    }

    fn open(&mut self, index: usize) {
        let end = self.closing(index);
        if end == index {
            return;
        }
        while self.bodies.first().is_some_and(|(place, _)| *place < index) {
            self.bodies.remove(0);
        }
        let told = self.bodies.iter().find(|(place, _)| *place == index).map(|(_, scope)| *scope);
        let scope = told.unwrap_or_else(|| self.untold(index));
        self.scopes.push((end, scope));
    }

    /// Judges a brace of which no definition told what is within.
    fn untold(&self, index: usize) -> Scope {
        let before = preceding(index);
        match self.language {
            language if language.is_script() => match self.kind(before) {
                b'=' | b'(' | b',' | b':' | b'[' | b'?' | b'|' | b'&' => Scope::Object,
                WORD if matches!(self.text(before), b"return" | b"default") => Scope::Object,
                _ => Scope::Code,
            },
            Language::C | Language::Cpp if self.kind(before) == STRING => self.scope(),
            // Some macros and tests put declarations of a file between bare braces.
            Language::Java if self.kind(before) == b')' && self.is_creation(before) => {
                Scope::Members
            }
            _ => Scope::Code,
        }
    }

    /// Whether the parenthesis that closes at `close` belongs to `new Name(...)`.
    fn is_creation(&self, close: usize) -> bool {
        let from = close.saturating_sub(200);
        let open = (from..close).rev().find(|place| self.closing(*place) == close);
        let Some(open) = open else { return false };
        let mut place = open;
        for _ in 0..16 {
            place = preceding(place);
            match self.kind(place) {
                WORD if self.text(place) == b"new" => return true,
                WORD | b'.' | b'<' | b'>' | b',' => {}
                _ => return false,
            }
        }
        false
    }

    fn tell(&mut self, brace: usize, scope: Scope) {
        if self.is(brace, b'{') {
            self.bodies.push((brace, scope));
            self.bodies.sort_unstable_by_key(|(place, _)| *place);
        }
    }

    fn word(&mut self, index: usize) {
        match self.language {
            Language::Rust => self.rust_word(index),
            Language::Go => self.go_word(index),
            Language::Kotlin | Language::Swift | Language::Php => {
                self.keyword(index);
            }
            Language::JavaScript | Language::TypeScript | Language::Tsx => self.script_word(index),
            Language::C | Language::Cpp => self.c_word(index),
            Language::Java | Language::CSharp => self.java_word(index),
            Language::Shell => self.shell_word(index),
            Language::Python | Language::Ruby => {}
        }
    }

    fn directive(&mut self, index: usize) {
        let text = self.text(index);
        let rest = text.get(1..).unwrap_or_default().trim_ascii_start();
        if self.language == Language::CSharp || !rest.starts_with(b"define") {
            return;
        }
        let rest = rest[6..].trim_ascii_start();
        let length = rest.iter().take_while(|byte| super::tokens::is_in_word(**byte)).count();
        let Some(token) = self.tokens.get(index).filter(|_| length > 0) else { return };
        let Ok(skipped) = u32::try_from(text.len() - rest.len()) else { return };
        let start = token.start + skipped;
        let Ok(length) = u32::try_from(length) else { return };
        let name = (start, start + length);
        self.found.push(Found { name, kind: Some(Kind::Macro), from: index, to: index });
    }

    /// Returns the first token of the statement that names something at `index`.
    fn statement_start(&self, index: usize) -> usize {
        let mut first = index;
        if self.language.ends_by_line() {
            while first > 0 && !self.is_first(first) && !matches!(self.kind(first - 1), b'{' | b';')
            {
                first -= 1;
            }
            return self.with_decorators(first);
        }
        for _ in 0..200 {
            let Some(before) = first.checked_sub(1) else { break };
            let ends = matches!(self.kind(before), b';' | b'{' | b'}' | b',' | DIRECTIVE);
            // A label such as `public:` is no part of what follows.
            let is_label = self.is(before, b':')
                && (matches!(self.language, Language::C | Language::Cpp)
                    && !self.is(preceding(before), b':')
                    && !self.is(before + 1, b':'));
            // A bracket is an attribute's where it closes one; else it opens what is around.
            if ends && !self.is_within_brackets(before) || is_label || self.is(before, b'(') {
                break;
            }
            first = before;
        }
        first
    }

    /// Whether the comma at `index` stands between type arguments or in an attribute.
    fn is_within_brackets(&self, index: usize) -> bool {
        self.is(index, b',')
            && (1..12).any(|ahead| matches!(self.kind(index + ahead), b'>' | b']' | b')'))
            && matches!(
                self.language,
                Language::Java | Language::CSharp | Language::Cpp | Language::Rust
            )
    }

    /// Goes up from the first token of a line over the lines of decorators above it.
    fn with_decorators(&self, mut first: usize) -> usize {
        for _ in 0..32 {
            let line_before = first.checked_sub(1).map(|last| self.line(last));
            let Some(line) = line_before else { return first };
            let mut start = first - 1;
            for _ in 0..64 {
                if self.is_first(start) || self.line(start) != line {
                    break;
                }
                start -= 1;
            }
            if !self.is(start, b'@') || !self.is_first(start) {
                return first;
            }
            first = start;
        }
        first
    }

    /// Makes definitions of what was found: names, lines, containers.
    fn finish(mut self, lines: u32) -> Vec<Definition> {
        let mut found = std::mem::take(&mut self.found);
        found.sort_by_key(|found| (found.from, found.kind.is_some()));
        found.dedup_by_key(|found| (found.name, found.kind));
        let text = |(start, end): (u32, u32)| {
            let name = String::from_utf8_lossy(&self.bytes[start as usize..end as usize]);
            name.chars().filter(|c| !c.is_whitespace()).take(200).collect::<String>()
        };
        let mut around: Vec<(usize, String, bool)> = Vec::new();
        let mut definitions = Vec::new();
        for one in &found {
            while around.last().is_some_and(|(end, ..)| one.from > *end) {
                around.pop();
            }
            let name = text(one.name);
            let is_type = matches!(
                one.kind,
                None | Some(
                    Kind::Class
                        | Kind::Struct
                        | Kind::Enum
                        | Kind::Union
                        | Kind::Trait
                        | Kind::Interface
                )
            );
            if let Some(mut kind) = one.kind {
                let within = around.last();
                if kind == Kind::Function && within.is_some_and(|(.., is_type)| *is_type) {
                    kind = Kind::Method;
                }
                let container = within.map_or(String::new(), |(_, name, _)| name.clone());
                let line = self.line(one.from).clamp(1, lines.max(1));
                let start = self.line(self.statement_start(one.from)).clamp(1, line);
                let end = self.end_line(one.to).clamp(line, lines.max(line));
                definitions.push(Definition {
                    name: name.clone(),
                    kind,
                    container,
                    line,
                    start,
                    end,
                });
            }
            let is_value = matches!(one.kind, Some(Kind::Constant | Kind::Variable | Kind::Type));
            let contains = self.language.is_script() || !is_value;
            if one.to > one.from && contains && around.len() < 64 {
                around.push((one.to, name, is_type));
            }
        }
        definitions
    }

    /// Returns the last line of the token at `index`, which may be a long string or directive.
    fn end_line(&self, index: usize) -> u32 {
        let Some(token) = self.tokens.get(index) else { return 0 };
        let text = &self.bytes[token.start as usize..token.end as usize];
        let more = memchr::memchr_iter(b'\n', text).count();
        token.line + u32::try_from(more).unwrap_or(0)
    }
}
