//! The graph of a workspace on disk, so that a map with another focus need not gather it anew.
//!
//! It holds for exactly the files and the segments of symbols it was made of, and only where symbols
//! are kept of every file; in any other case it is as if there were none.

use std::collections::HashMap;
use std::io;

use super::graph::{Definer, Graph, graph};
use super::lists::Lists;
use crate::index::files::Flags;
use crate::index::store::{Reader, StoreError, Writer};
use crate::index::symbols::{Bound, BuildOptions, Fault, Stored, put_number, take_number};

const NAME: &str = "graph";
const KIND: [u8; 4] = *b"rgra";
/// Raised whenever the form is another, or what is gathered.
const VERSION: u32 = 1;
/// What it was made of.
const MADE_OF: [u8; 4] = *b"made";
/// A byte for each file: whether it only supports the others.
const ASIDE: [u8; 4] = *b"asid";
/// What stands for each name, and of each the number of what it tells by itself among the levels.
const NAMES: [u8; 4] = *b"name";
const QUALITIES: [u8; 4] = *b"qual";
const LEVELS: [u8; 4] = *b"levl";
/// How many items all lists have; then of each name how many, each by its distance to the last.
const DEFINED: [u8; 4] = *b"defi";
const USED: [u8; 4] = *b"used";
/// A graph that takes more bytes on disk is not kept: it is gathered when it is asked for.
const LARGEST: usize = 32 << 20;

/// Returns the graph of the files that `bound` knows: the one on disk, if it is of exactly those.
pub(super) fn saved_or_made(
    stored: Option<&Stored>,
    bound: &Bound<'_>,
    options: &BuildOptions<'_>,
) -> Result<Graph, Fault> {
    let saved = stored.filter(|_| bound.fresh().is_empty()).and_then(|stored| {
        let reader = opened(stored).ok()?;
        is_of(&reader, &made_of(bound)).ok().filter(|is_same| *is_same)?;
        read(&reader, bound.table().len()).ok()
    });
    saved.map_or_else(|| graph(bound, options), Ok)
}

/// Leaves the graph in the folder of the index, unless it is there or some files have no symbols yet.
///
/// # Errors
/// What keeps the file from being written; [`io::ErrorKind::Interrupted`] if it was cancelled.
pub(super) fn update(
    stored: &Stored,
    bound: &Bound<'_>,
    options: &BuildOptions<'_>,
) -> io::Result<()> {
    if !bound.fresh().is_empty() {
        return Ok(());
    }
    let made_of = made_of(bound);
    if opened(stored).and_then(|reader| is_of(&reader, &made_of)).unwrap_or(false) {
        return Ok(());
    }
    let graph = match graph(bound, options) {
        Ok(graph) => graph,
        Err(Fault::Io(error)) => return Err(error),
        // That segment is made anew by the next update, and the graph with it.
        Err(Fault::Segment(_)) => return Ok(()),
    };
    let Some(mut writer) = written(&graph, stored.identity()) else { return Ok(()) };
    writer.section(MADE_OF, made_of.to_vec());
    writer.write(&stored.folder().join(NAME))
}

fn opened(stored: &Stored) -> Result<Reader, StoreError> {
    Reader::open(&stored.folder().join(NAME), KIND, VERSION, stored.identity())
}

fn is_of(reader: &Reader, made_of: &[u8; 32]) -> Result<bool, StoreError> {
    Ok(reader.section(MADE_OF)? == made_of)
}

/// Returns what tells a graph's sources from all others: the segments, and of each file its path,
/// whether it is shown, and its place in them, where it stands only if it is as it was.
fn made_of(bound: &Bound<'_>) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    for number in bound.segments() {
        hasher.update(bound.name(number).as_bytes());
        hasher.update(b"\n");
    }
    let mut rows = Vec::new();
    for entry in bound.table().iter() {
        let place = bound.place(entry.id).unwrap_or((u32::MAX, u32::MAX));
        rows.extend_from_slice(entry.path);
        rows.push(0);
        rows.push(u8::from(entry.flags.has(Flags::IGNORED)));
        rows.extend(place.0.to_le_bytes());
        rows.extend(place.1.to_le_bytes());
    }
    hasher.update(&rows);
    *hasher.finalize().as_bytes()
}

/// Writes a graph; `None` if it is too large to be kept.
fn written(graph: &Graph, identity: &[u8]) -> Option<Writer> {
    let (mut hashes, mut qualities, mut levels) = (Vec::new(), Vec::new(), Vec::<f64>::new());
    for (hash, quality) in &graph.names {
        hashes.extend(hash.to_le_bytes());
        let known = levels.iter().position(|level| level.to_bits() == quality.to_bits());
        let level = known.unwrap_or_else(|| {
            levels.push(*quality);
            levels.len() - 1
        });
        qualities.push(u8::try_from(level).ok()?);
    }
    let (mut defined, mut used) = (counted(&graph.defined)?, counted(&graph.used)?);
    for name in 0..graph.names.len() {
        let files = graph.defined.get(name);
        put_number(&mut defined, u32::try_from(files.len()).ok()?);
        let mut last = 0;
        for Definer { file, key } in files {
            put_number(&mut defined, file - last);
            put_number(&mut defined, *key);
            last = *file;
        }
        let files = graph.used.get(name);
        put_number(&mut used, u32::try_from(files.len()).ok()?);
        let mut last = 0;
        for file in files {
            put_number(&mut used, file - last);
            last = *file;
        }
    }
    let levels = levels.iter().flat_map(|level| level.to_le_bytes()).collect();
    let aside = graph.aside.iter().map(|is_aside| u8::from(*is_aside)).collect();
    if hashes.len() + qualities.len() + defined.len() + used.len() > LARGEST {
        return None;
    }
    let mut writer = Writer::new(KIND, VERSION, identity);
    let sections =
        [(ASIDE, aside), (NAMES, hashes), (QUALITIES, qualities), (LEVELS, levels), (USED, used)];
    for (tag, bytes) in sections.into_iter().chain([(DEFINED, defined)]) {
        writer.section(tag, bytes);
    }
    Some(writer)
}

/// Begins lists with the number of all their items.
fn counted<T: Copy + Default + Ord>(lists: &Lists<T>) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    put_number(&mut bytes, u32::try_from(lists.len().1).ok()?);
    Some(bytes)
}

/// Reads a graph of so many files; nothing in it names one beyond them.
fn read(reader: &Reader, n_files: usize) -> Result<Graph, StoreError> {
    let aside: Vec<bool> = reader.section(ASIDE)?.iter().map(|byte| *byte != 0).collect();
    let (levels, rest) = reader.section(LEVELS)?.as_chunks();
    let (hashes, left) = reader.section(NAMES)?.as_chunks();
    let qualities = reader.section(QUALITIES)?;
    let is_whole = rest.is_empty() && left.is_empty();
    if !is_whole || aside.len() != n_files || hashes.len() != qualities.len() {
        return Err(StoreError::Damaged);
    }
    let mut names = Vec::with_capacity(hashes.len());
    for (hash, level) in hashes.iter().zip(qualities) {
        let level = levels.get(usize::from(*level)).ok_or(StoreError::Damaged)?;
        names.push((u64::from_le_bytes(*hash), f64::from_le_bytes(*level)));
    }
    let beyond = |file: u32| file as usize >= n_files;
    let defined = lists(reader.section(DEFINED)?, names.len(), &mut |bytes, last: Definer| {
        let file = last.file.checked_add(take_number(bytes)?).ok_or(StoreError::Damaged)?;
        let key = take_number(bytes)?;
        if beyond(file) { Err(StoreError::Damaged) } else { Ok(Definer { file, key }) }
    })?;
    let used = lists(reader.section(USED)?, names.len(), &mut |bytes, last: u32| {
        let file = last.checked_add(take_number(bytes)?).ok_or(StoreError::Damaged)?;
        if beyond(file) { Err(StoreError::Damaged) } else { Ok(file) }
    })?;
    Ok(Graph { n_files, aside, names, defined, used, lexed: HashMap::new() })
}

/// Takes an item off the front of the bytes, by the one before it in its list.
type Take<'a, T> = dyn FnMut(&mut &[u8], T) -> Result<T, StoreError> + 'a;

fn lists<T: Copy + Default + Ord>(
    mut bytes: &[u8],
    n_lists: usize,
    take: &mut Take<'_, T>,
) -> Result<Lists<T>, StoreError> {
    // Each item takes a byte at least.
    let n_items = (take_number(&mut bytes)? as usize).min(bytes.len());
    let mut lists = Lists::with_room(n_lists, n_items);
    for _ in 0..n_lists {
        let mut last = T::default();
        for _ in 0..take_number(&mut bytes)? {
            last = take(&mut bytes, last)?;
            lists.push(last);
        }
        lists.end();
    }
    if bytes.is_empty() { Ok(lists) } else { Err(StoreError::Damaged) }
}
