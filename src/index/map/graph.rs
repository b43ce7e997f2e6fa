//! Which files define the names that other files hold: what the map's ranks are reckoned from.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::lists::{Lists, NOWHERE};
use super::worth::{is_aside, is_kind, is_worth, quality};
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

/// Names and files. Names come in an order that does not depend on how they were come by.
#[derive(Debug, Default)]
pub(super) struct Graph {
    /// How many files the table has.
    pub(super) n_files: usize,
    /// Whether each file is one that only supports the others.
    pub(super) aside: Vec<bool>,
    /// What stands for each name, and how much it tells by itself.
    pub(super) names: Vec<(u64, f64)>,
    /// Of each name, the files that define it, and the others that hold it.
    pub(super) defined: Lists<Definer>,
    pub(super) used: Lists<u32>,
    /// The definitions of files that were lexed for this.
    pub(super) lexed: HashMap<FileId, Vec<Definition>>,
}

/// A file that defines a name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Definer {
    pub(super) file: u32,
    /// The name's number in the file's segment; nothing where the file was lexed for this.
    pub(super) key: u32,
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

/// How many files define a name, which of them did last, and how many hold it.
#[derive(Clone, Copy, Debug)]
struct Counts {
    defined: usize,
    last: u32,
    held: usize,
}

/// Names that are being gathered.
#[derive(Default)]
struct Gathered {
    numbers: HashMap<u64, u32, BuildHasherDefault<Unmixed>>,
    /// A bit for each remainder that the hash of a name leaves: most words are told apart by it, and
    /// where there are few names it stays in the nearest cache.
    sieve: Vec<u64>,
    names: Vec<(u64, f64)>,
    counts: Vec<Counts>,
    /// Names with the files that define them, and with those that hold them.
    defined: Vec<(u32, Definer)>,
    held: Vec<(u32, u32)>,
    common: usize,
}

/// Bits of the sieve for each name: one of so many lets a word through that is none.
const SPARSE: usize = 16;

/// Returns the place of a hash in a sieve of so many numbers of 64 bits, a power of two.
fn sieved(hash: u64, numbers: usize) -> (usize, u64) {
    let place = hash >> 32;
    (usize::try_from(place / 64).unwrap_or_default() & (numbers - 1), 1 << (place % 64))
}

impl Gathered {
    fn define(&mut self, hash: u64, quality: f64, definer: Definer) {
        let Ok(next) = u32::try_from(self.names.len()) else { return };
        let number = *self.numbers.entry(hash).or_insert(next);
        if number == next {
            self.names.push((hash, quality));
            self.counts.push(Counts { defined: 0, last: NOWHERE, held: 0 });
        }
        let counts = &mut self.counts[number as usize];
        // All definitions of a file come before those of the next.
        if counts.last != definer.file {
            counts.defined += 1;
            counts.last = definer.file;
            self.defined.push((number, definer));
        }
    }

    /// Makes the sieve, once all names are defined.
    fn sift(&mut self) {
        let bits = (self.names.len() * SPARSE).next_power_of_two();
        self.sieve = vec![0; bits.div_ceil(64)];
        for (hash, _) in &self.names {
            let (place, bit) = sieved(*hash, self.sieve.len());
            self.sieve[place] |= bit;
        }
    }

    /// Returns the number of a word that is a name, unless too many files define it.
    fn number(&self, hash: u64) -> Option<u32> {
        let (place, bit) = sieved(hash, self.sieve.len());
        if self.sieve[place] & bit == 0 {
            return None;
        }
        let number = *self.numbers.get(&hash)?;
        (self.counts[number as usize].defined <= SPREAD).then_some(number)
    }

    fn hold(&mut self, number: u32, file: u32) {
        let counts = &mut self.counts[number as usize];
        counts.held += 1;
        if counts.held <= self.common {
            self.held.push((number, file));
        }
    }

    /// Leaves out what says little, and puts the rest into order.
    fn finish(self) -> (Vec<(u64, f64)>, Lists<Definer>, Lists<u32>) {
        let Gathered { names, counts, defined, held, common, numbers, .. } = self;
        drop(numbers);
        let mut order: Vec<u32> = (0..).take(names.len()).collect();
        order.retain(|number| {
            let Counts { defined, held, .. } = counts[*number as usize];
            defined <= SPREAD && held <= common
        });
        order.sort_unstable_by_key(|number| names[*number as usize].0);
        let mut places = vec![NOWHERE; names.len()];
        for (place, number) in (0..).zip(&order) {
            places[*number as usize] = place;
        }
        let defined = Lists::new(order.len(), &places, &defined);
        let mut held = held;
        held.retain(|(number, file)| {
            let place = places[*number as usize];
            place != NOWHERE
                && !defined.get(place as usize).iter().any(|definer| definer.file == *file)
        });
        let used = Lists::new(order.len(), &places, &held);
        let names = order.into_iter().map(|number| names[number as usize]).collect();
        (names, defined, used)
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
    let defined = by_segment(bound, options, &|number| {
        bound.with(number, |segment| {
            let (mut names, mut defined) = (Vec::new(), Vec::new());
            segment.names()?.each(&mut |_, name, _| {
                names.push((hash(name), quality(name)));
                Ok(())
            })?;
            for (place, id) in bound.files(number).filter(|(_, id)| is_shown(*id)) {
                segment.definitions(place, &mut |raw| {
                    if let Some((hash, quality)) = names.get(raw.name as usize)
                        && is_worth(raw.kind, *quality)
                    {
                        defined.push((*hash, *quality, Definer { file: id.0, key: raw.name }));
                    }
                    Ok(())
                })?;
            }
            Ok(defined)
        })
    })?;
    for (hash, quality, definer) in defined.into_iter().flat_map(|(_, defined)| defined) {
        all.define(hash, quality, definer);
    }
    for Lexed { id, definitions, .. } in &lexed {
        let by_it = Definer { file: id.0, key: 0 };
        for one in definitions {
            all.define(hash(one.name.as_bytes()), quality(one.name.as_bytes()), by_it);
        }
    }
    all.sift();
    let held = by_segment(bound, options, &|number| {
        bound.with(number, |segment| {
            let mut held = Vec::new();
            segment.words()?.each(&mut |_, word, places| {
                let Some(name) = all.number(hash(word)) else { return Ok(()) };
                places.each(&mut |place| {
                    if let Some(id) = bound.file(number, place).filter(|id| is_shown(*id)) {
                        held.push((name, id.0));
                    }
                })
            })?;
            Ok(held)
        })
    })?;
    for (name, file) in held.into_iter().flat_map(|(_, held)| held) {
        all.hold(name, file);
    }
    let mut definitions = HashMap::new();
    for one in lexed {
        for word in one.words {
            if let Some(name) = all.number(word) {
                all.hold(name, one.id.0);
            }
        }
        definitions.insert(one.id, one.definitions);
    }
    let (names, defined, used) = all.finish();
    let lexed = definitions;
    Ok(Graph { n_files: table.len(), aside, names, defined, used, lexed })
}

impl Graph {
    /// Returns the first definition of the name that `name` stands for in a file that defines it.
    pub(super) fn definition(
        &self,
        bound: &Bound<'_>,
        definer: Definer,
        name: u64,
    ) -> Result<Option<Definition>, Fault> {
        let id = FileId(definer.file);
        if let Some(lexed) = self.lexed.get(&id) {
            let is_named = |one: &&Definition| hash(one.name.as_bytes()) == name;
            return Ok(lexed.iter().find(is_named).cloned());
        }
        bound.first_definition(id, &|raw| raw.name == definer.key && is_kind(raw.kind))
    }
}

/// Does `work` for each segment, side by side; gives what came of each, in their order.
fn by_segment<T: Send>(
    bound: &Bound<'_>,
    options: &BuildOptions<'_>,
    work: &(dyn Fn(usize) -> Result<T, Fault> + Sync),
) -> Result<Vec<(usize, T)>, Fault> {
    let numbers: Vec<usize> = bound.segments().collect();
    let next = AtomicUsize::new(0);
    let some = || {
        let mut done = Vec::new();
        while let Some(number) = numbers.get(next.fetch_add(1, Ordering::Relaxed)) {
            if (options.cancelled)() {
                return Err(Fault::Io(io::ErrorKind::Interrupted.into()));
            }
            done.push((*number, work(*number)?));
        }
        Ok(done)
    };
    let broken = || Err(Fault::Io(io::Error::other("a thread broke off")));
    let mut done = std::thread::scope(|scope| {
        let threads = options.threads.min(numbers.len());
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(some)).collect();
        let own = some();
        others.into_iter().fold(own, |done, other| {
            let mut done = done?;
            done.extend(other.join().unwrap_or_else(|_| broken())?);
            Ok(done)
        })
    })?;
    done.sort_unstable_by_key(|(number, _)| *number);
    Ok(done)
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
