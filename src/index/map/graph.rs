//! Which files define the names that other files hold: what the map's ranks are reckoned from.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::io;

use super::worth::{is_aside, is_worth, quality};
use crate::index::files::{FileId, FileTable, Flags};
use crate::index::symbols::{
    Bound, BuildOptions, Definition, Fault, hash, lex_all, lex_with_words,
};

/// A name that is defined in more files than this is a convention, such as `new`.
const SPREAD: usize = 8;
/// A word that stands in more files than this, or than one of so many, says little of where it is
/// defined.
const COMMON: usize = 400;
const COMMON_SHARE: usize = 10;

/// A name with the files that define it and those that hold it, both ascending.
#[derive(Debug)]
pub(super) struct Name {
    pub(super) hash: u64,
    /// How much it tells by itself.
    pub(super) quality: f64,
    pub(super) defined: Vec<u32>,
    pub(super) used: Vec<u32>,
}

/// Names and files.
#[derive(Debug, Default)]
pub(super) struct Graph {
    /// How many files the table has.
    pub(super) n_files: usize,
    /// Whether each file is one that only supports the others.
    pub(super) aside: Vec<bool>,
    /// In an order that does not depend on how they were come by.
    pub(super) names: Vec<Name>,
    /// The definitions of files that were lexed for this.
    pub(super) lexed: HashMap<FileId, Vec<Definition>>,
}

/// A hash is spread enough as it is.
#[derive(Debug, Default)]
struct Unmixed(u64);

impl Hasher for Unmixed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = hash(bytes);
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }
}

/// Names that are being gathered.
#[derive(Default)]
struct Gathered {
    numbers: HashMap<u64, u32, BuildHasherDefault<Unmixed>>,
    names: Vec<Name>,
    /// How many files hold each name, also beyond those that are noted.
    counts: Vec<usize>,
    common: usize,
}

impl Gathered {
    fn define(&mut self, hash: u64, quality: f64, file: u32) {
        let Ok(next) = u32::try_from(self.names.len()) else { return };
        let number = *self.numbers.entry(hash).or_insert(next);
        if number == next {
            self.names.push(Name { hash, quality, defined: Vec::new(), used: Vec::new() });
            self.counts.push(0);
        }
        let Some(name) = self.names.get_mut(number as usize) else { return };
        // One more than may be shows that there are too many.
        if name.defined.last() != Some(&file) && name.defined.len() <= SPREAD {
            name.defined.push(file);
        }
    }

    /// Returns the number of a word that is a name.
    fn number(&self, hash: u64) -> Option<usize> {
        self.numbers.get(&hash).map(|number| *number as usize)
    }

    fn hold(&mut self, number: usize, file: u32) {
        self.counts[number] += 1;
        if self.counts[number] <= self.common {
            self.names[number].used.push(file);
        }
    }
}

/// What one file gives that is lexed now.
struct Lexed {
    id: FileId,
    definitions: Vec<Definition>,
    words: Vec<u64>,
}

/// Reads the graph of a table off what is kept, and off the files themselves where nothing is.
pub(super) fn graph(bound: &Bound<'_>, options: &BuildOptions<'_>) -> Result<Graph, Fault> {
    let table = bound.table();
    let aside = table.iter().map(|entry| is_aside(entry.path)).collect();
    let is_shown = |id: FileId| !table.get(id).flags.has(Flags::IGNORED);
    let fresh: Vec<FileId> = bound.fresh().into_iter().filter(|id| is_shown(*id)).collect();
    let lexed = lexed(table, &fresh, options).map_err(Fault::Io)?;
    let common = COMMON.max(table.len() / COMMON_SHARE);
    let mut all = Gathered { common, ..Gathered::default() };
    for number in bound.segments() {
        bound.with(number, |segment| {
            let mut names = Vec::new();
            segment.names()?.each(&mut |_, name, _| {
                names.push((hash(name), quality(name)));
                Ok(())
            })?;
            for (place, id) in bound.files(number).filter(|(_, id)| is_shown(*id)) {
                segment.definitions(place, &mut |raw| {
                    if let Some((hash, quality)) = names.get(raw.name as usize)
                        && is_worth(raw.kind, *quality)
                    {
                        all.define(*hash, *quality, id.0);
                    }
                    Ok(())
                })?;
            }
            Ok(())
        })?;
    }
    for Lexed { id, definitions, .. } in &lexed {
        for one in definitions {
            all.define(hash(one.name.as_bytes()), quality(one.name.as_bytes()), id.0);
        }
    }
    for number in bound.segments() {
        if (options.cancelled)() {
            return Err(Fault::Io(io::ErrorKind::Interrupted.into()));
        }
        bound.with(number, |segment| {
            segment.words()?.each(&mut |_, word, places| {
                let Some(name) = all.number(hash(word)) else { return Ok(()) };
                places.each(&mut |place| {
                    if let Some(id) = bound.file(number, place).filter(|id| is_shown(*id)) {
                        all.hold(name, id.0);
                    }
                })
            })
        })?;
    }
    let mut definitions = HashMap::new();
    for one in lexed {
        for name in one.words.iter().filter_map(|word| all.number(*word)).collect::<Vec<usize>>() {
            all.hold(name, one.id.0);
        }
        definitions.insert(one.id, one.definitions);
    }
    let counts = all.counts;
    let told = all.names.into_iter().zip(counts).filter(|(name, count)| {
        *count <= common && name.defined.len() <= SPREAD && !name.defined.is_empty()
    });
    let mut names: Vec<Name> = told.map(|(name, _)| name).collect();
    for name in &mut names {
        name.defined.sort_unstable();
        name.defined.dedup();
        name.used.sort_unstable();
    }
    names.sort_unstable_by_key(|name| name.hash);
    Ok(Graph { n_files: table.len(), aside, names, lexed: definitions })
}

fn lexed(
    table: &FileTable,
    fresh: &[FileId],
    options: &BuildOptions<'_>,
) -> io::Result<Vec<Lexed>> {
    let mut lexed = lex_all(table, fresh, options, &|id, language, bytes| {
        let mut words = Vec::new();
        let mut take = |all: &[&[u8]]| words = all.iter().map(|word| hash(word)).collect();
        let mut definitions = lex_with_words(bytes, language, &mut take);
        definitions.retain(|one| is_worth(one.kind, quality(one.name.as_bytes())));
        Some(Lexed { id, definitions, words })
    })?;
    lexed.sort_unstable_by_key(|one| one.id);
    Ok(lexed)
}
