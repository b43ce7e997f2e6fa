//! Where names are defined and in which files they stand: by lexing, for every language that is known.

mod brackets;
mod corpus;
mod define;
mod language;
mod lexed;
mod parse;
mod query;
mod stored;
mod strings;
mod tokens;

pub use corpus::{BuildOptions, Corpus, FileSymbols, gather};
pub use language::Language;
pub use lexed::{Definition, Kind, LARGEST, Lexed, lex};
pub use parse::{Broken, exact_lines, parses};
pub use query::{Closeness, Found, Hit, Query, definitions, outline};
pub use stored::Stored;

use std::io;

use super::files::table::FileTable;
use super::folder::IndexFolder;
use super::layers::Building;

/// Lexes what has changed since the symbols in `folder` were kept, and keeps all of it there.
///
/// A small map of what matters is left beside it, for the start of sessions.
///
/// # Errors
/// What keeps the files from being written; [`io::ErrorKind::Interrupted`] if it was cancelled.
pub fn update(table: &FileTable, folder: &IndexFolder, building: &Building<'_>) -> io::Result<()> {
    let (path, identity) = (folder.path(), folder.identity());
    let options = BuildOptions { threads: building.threads, cancelled: building.cancelled };
    let stored = Stored::open(path, identity);
    let corpus = gather(table, stored.as_ref(), &options)?;
    stored::write(&corpus, path, identity)?;
    let map = super::map::render(&corpus, &super::map::Focus::default(), super::map::BUDGET);
    super::map::keep(&map, path, identity)
}
