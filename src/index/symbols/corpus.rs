//! The symbols of all files at one moment: kept ones where a stamp proves them, the rest lexed now.

use std::collections::HashMap;
use std::io;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::language::Language;
use super::lexed::{Definition, LARGEST, Lexed, lex};
use super::stored::Stored;
use crate::index::files::{FileEntry, FileId, FileTable, Flags};
use crate::workspace::{Source, Stamp};

/// How work over all files is done.
#[derive(Clone, Copy)]
pub struct BuildOptions<'a> {
    pub threads: usize,
    pub cancelled: &'a (dyn Fn() -> bool + Sync),
}

/// What one file defines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileSymbols {
    /// From the root, '/'-separated.
    pub path: Vec<u8>,
    /// The stamp that what was lexed had; `None` if it may have changed meanwhile.
    pub stamp: Option<Stamp>,
    pub lines: u32,
    pub definitions: Vec<Definition>,
}

/// The symbols of all files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Corpus {
    /// In the order of their paths.
    pub files: Vec<FileSymbols>,
    /// All identifiers, sorted.
    pub words: Vec<Vec<u8>>,
    /// For each identifier the places in `files` of those that hold it, ascending.
    pub postings: Vec<Vec<u32>>,
}

/// Whether symbols are to be had of a file at all.
pub(super) fn has_symbols(entry: &FileEntry<'_>) -> bool {
    entry.flags.is_regular()
        && entry.stamp.size <= LARGEST
        && Language::of_path(entry.path).is_some()
}

/// Whether what is kept with `stamp` is proved to be of the file as it is.
pub(super) fn is_proved(entry: &FileEntry<'_>, stamp: Option<Stamp>) -> bool {
    stamp == Some(entry.stamp) && !entry.flags.has(Flags::RACY)
}

/// Lexes files side by side, and hands over what each gave, in any order.
pub(super) fn lex_all<T: Send>(
    table: &FileTable,
    files: &[FileId],
    options: &BuildOptions<'_>,
    take: &(dyn Fn(FileId, Option<Stamp>, Language, &[u8]) -> Option<T> + Sync),
) -> io::Result<Vec<T>> {
    let source = Source::open(table.root())?;
    let next = AtomicUsize::new(0);
    let all = Mutex::new(Vec::new());
    let work = || {
        let mut mine = Vec::new();
        while let Some(id) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            if (options.cancelled)() {
                break;
            }
            let path = table.get(*id).path;
            let Some(language) = Language::of_path(path) else { continue };
            // A file that went away or cannot be read has no symbols; the listing counts those.
            let Ok((bytes, stamp)) = source.read(path, LARGEST) else { continue };
            mine.extend(take(*id, stamp, language, &bytes));
        }
        all.lock().unwrap_or_else(PoisonError::into_inner).append(&mut mine);
    };
    let threads = options.threads.clamp(1, files.len().div_ceil(8).max(1));
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(work);
        }
        work();
    });
    if (options.cancelled)() {
        return Err(io::ErrorKind::Interrupted.into());
    }
    Ok(all.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// Collects the symbols of all files.
///
/// # Errors
/// A root that cannot be opened; [`io::ErrorKind::Interrupted`] if it was cancelled.
pub fn gather(
    table: &FileTable,
    stored: Option<&Stored>,
    options: &BuildOptions<'_>,
) -> io::Result<Corpus> {
    let wanted: Vec<FileId> = table.iter().filter(has_symbols).map(|entry| entry.id).collect();
    let mut kept: HashMap<u32, FileId> = HashMap::new();
    let mut files: Vec<(FileId, FileSymbols)> = Vec::with_capacity(wanted.len());
    let mut fresh = Vec::new();
    for id in wanted {
        let entry = table.get(id);
        let place = stored.and_then(|stored| stored.find(entry.path));
        let whole = place
            .zip(stored)
            .and_then(|(place, stored)| Some((place, stored.file(place)?)))
            .filter(|(_, file)| is_proved(&entry, file.stamp));
        match whole {
            Some((place, file)) => {
                kept.insert(place, id);
                files.push((id, file));
            }
            None => fresh.push(id),
        }
    }
    let lexed = lex_all(table, &fresh, options, &|id, stamp, language, bytes| {
        Some((id, stamp, lex(bytes, language)))
    })?;
    let mut words: HashMap<Vec<u8>, Vec<u32>> = HashMap::new();
    if let Some(stored) = stored {
        let is_whole = stored.each_word(&mut |word, places| {
            let places = places.iter().filter_map(|place| kept.get(place)).map(|id| id.0);
            let places: Vec<u32> = places.collect();
            if !places.is_empty() {
                words.insert(word.to_vec(), places);
            }
        });
        if !is_whole {
            // What is kept is damaged: nothing of it counts.
            return gather(table, None, options);
        }
    }
    for (id, stamp, Lexed { definitions, identifiers, lines }) in lexed {
        for word in identifiers {
            words.entry(word).or_default().push(id.0);
        }
        let path = table.get(id).path.to_vec();
        files.push((id, FileSymbols { path, stamp, lines, definitions }));
    }
    files.sort_unstable_by_key(|(id, _)| *id);
    let places: HashMap<u32, u32> =
        (0_u32..).zip(&files).map(|(place, (id, _))| (id.0, place)).collect();
    let mut words: Vec<(Vec<u8>, Vec<u32>)> = words.into_iter().collect();
    words.sort_unstable_by(|one, other| one.0.cmp(&other.0));
    let (words, mut postings): (Vec<_>, Vec<_>) = words.into_iter().unzip();
    for list in &mut postings {
        *list = list.iter().filter_map(|id| places.get(id).copied()).collect();
        list.sort_unstable();
    }
    let files = files.into_iter().map(|(_, file)| file).collect();
    Ok(Corpus { files, words, postings })
}
