//! What one file defines and names.

use super::brackets;
use super::define;
use super::language::Language;
use super::tokens;

/// Files beyond this size are not lexed: data, or generated.
pub const LARGEST: u64 = 8 << 20;

/// What is defined.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Kind {
    Function,
    Method,
    Class,
    Struct,
    Enum,
    Union,
    Trait,
    Interface,
    Module,
    Type,
    Constant,
    Variable,
    Macro,
}

/// All kinds and their names, in the order of their numbers.
const KINDS: [(Kind, &str); 13] = [
    (Kind::Function, "function"),
    (Kind::Method, "method"),
    (Kind::Class, "class"),
    (Kind::Struct, "struct"),
    (Kind::Enum, "enum"),
    (Kind::Union, "union"),
    (Kind::Trait, "trait"),
    (Kind::Interface, "interface"),
    (Kind::Module, "module"),
    (Kind::Type, "type"),
    (Kind::Constant, "constant"),
    (Kind::Variable, "variable"),
    (Kind::Macro, "macro"),
];

impl Kind {
    /// Returns the name, such as `function`.
    pub fn name(self) -> &'static str {
        KINDS[self as usize].1
    }

    /// Returns all names.
    pub fn names() -> impl Iterator<Item = &'static str> {
        KINDS.iter().map(|(_, name)| *name)
    }

    /// Returns the kind of that name.
    pub fn from_name(name: &str) -> Option<Kind> {
        KINDS.iter().find(|(_, other)| *other == name).map(|(kind, _)| *kind)
    }

    /// Returns the kind of that number.
    pub(super) fn from_number(number: u8) -> Option<Kind> {
        KINDS.get(usize::from(number)).map(|(kind, _)| *kind)
    }
}

/// One definition.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Definition {
    pub name: String,
    pub kind: Kind,
    /// The name of what it stands in; empty at the top.
    pub container: String,
    /// The line of the name. Lines count from 1.
    pub line: u32,
    /// First and last line, modifiers and decorators included.
    pub start: u32,
    pub end: u32,
}

/// What one file defines and names.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Lexed {
    /// In the order of the file.
    pub definitions: Vec<Definition>,
    /// Each identifier once, sorted.
    pub identifiers: Vec<Vec<u8>>,
    pub lines: u32,
}

/// Lexes a file. Any bytes will do; more than [`LARGEST`] are not looked at.
pub fn lex(bytes: &[u8], language: Language) -> Lexed {
    let mut identifiers: Vec<Vec<u8>> = Vec::new();
    let (definitions, lines) = lex_into(bytes, language, &mut |words| {
        identifiers = words.iter().map(|word| word.to_vec()).collect();
    });
    identifiers.sort_unstable();
    Lexed { definitions, identifiers, lines }
}

/// Lexes a file, hands over its identifiers, and returns its definitions.
pub(in crate::index) fn lex_with_words(
    bytes: &[u8],
    language: Language,
    words: &mut dyn FnMut(&[&[u8]]),
) -> Vec<Definition> {
    lex_into(bytes, language, words).0
}

/// Takes each identifier of a file once, in any order.
type TakeWords<'a> = dyn FnMut(&[&[u8]]) + 'a;

/// Lexes a file, hands over its identifiers, and returns its definitions and lines.
pub(super) fn lex_into(
    bytes: &[u8],
    language: Language,
    words: &mut TakeWords<'_>,
) -> (Vec<Definition>, u32) {
    if bytes.len() as u64 > LARGEST {
        return (Vec::new(), 0);
    }
    let found = tokens::tokens(bytes, language);
    let close = brackets::partners(bytes, &found.all, language);
    let definitions = define::definitions(bytes, &found.all, &close, language, found.lines);
    let all: Vec<&[u8]> = found.words.into_iter().collect();
    words(&all);
    // The end of the last line begins no other.
    let lines = found.lines - u32::from(bytes.ends_with(b"\n"));
    (definitions, lines)
}
