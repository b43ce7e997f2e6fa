//! Where names are defined and in which files they stand: by lexing, for every language that is known.
//!
//! What is kept of a file counts only while its stamp proves that it is of the file as it is; every
//! other file is lexed when something is asked. Damage makes files unproved, never answers wrong.

mod best;
mod brackets;
mod define;
mod dictionary;
mod gathering;
mod interner;
mod language;
mod lexed;
mod parse;
mod query;
mod read;
mod segment;
mod stored;
mod strings;
mod tokens;
mod update;

pub use best::{Closeness, Found, Hit};
pub use language::Language;
pub use lexed::{Definition, Kind, LARGEST, Lexed, lex};
pub use parse::{Broken, exact_lines, parses};
pub use query::{Filter, Query, definitions, each_definition, outline};
pub use read::BuildOptions;
pub use stored::Stored;
pub use update::update;

pub(super) use dictionary::{put as put_number, take as take_number};
pub(super) use interner::hash;
pub(super) use lexed::lex_with_words;
pub(super) use read::lex_all;
pub(super) use stored::{Bound, Fault};

/// Raised whenever the form or what the lexer finds is another.
const VERSION: u32 = 4;
/// The manifest's name, and how segments' names end.
const MANIFEST: &str = "symbols";
const ENDING: &str = "symbols-segment";

/// The sections of a segment and of the manifest.
mod tags {
    pub(super) const FILES: [u8; 4] = *b"FILE";
    pub(super) const PATHS: [u8; 4] = *b"PATH";
    pub(super) const DEFINITIONS: [u8; 4] = *b"DEFS";
    pub(super) const NAMES: [u8; 4] = *b"NAME";
    pub(super) const NAME_BLOCKS: [u8; 4] = *b"NBLK";
    pub(super) const WORDS: [u8; 4] = *b"WORD";
    pub(super) const WORD_BLOCKS: [u8; 4] = *b"WBLK";
    pub(super) const SEGMENTS: [u8; 4] = *b"SEGS";
    pub(super) const COUNT: [u8; 4] = *b"COUN";
}
