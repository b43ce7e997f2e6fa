//! The symbols of all files at one moment: kept ones where a stamp proves them, the rest lexed now.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::io::{self, Read as _};
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::SystemTime;

use super::language::Language;
use super::lexed::{Definition, LARGEST, lex_into};
use super::stored::Stored;
use super::tokens::Mixed;
use crate::index::files::table::{FileEntry, FileId, FileTable, Flags};
use crate::workspace::{Stamp, Tree};

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

/// Makes something of the bytes of a file.
type Take<'a, T> = dyn Fn(FileId, Option<Stamp>, Language, &[u8]) -> Option<T> + Sync + 'a;

/// Lexes files side by side, and hands over what each gave, in any order.
pub(super) fn lex_all<T: Send>(
    table: &FileTable,
    files: &[FileId],
    options: &BuildOptions<'_>,
    take: &Take<'_, T>,
) -> io::Result<Vec<T>> {
    let tree = Tree::open(table.root())?;
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
            let Ok((bytes, stamp)) = read(&tree, path) else { continue };
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

/// Reads a file whole. There is no stamp where it may be of other bytes than those.
fn read(tree: &Tree, path: &[u8]) -> io::Result<(Vec<u8>, Option<Stamp>)> {
    let now = SystemTime::now();
    let (mut file, before) = tree.file(path)?;
    if before.size > LARGEST {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    let mut bytes = Vec::with_capacity(usize::try_from(before.size).unwrap_or(0) + 1);
    file.by_ref().take(LARGEST).read_to_end(&mut bytes)?;
    let is_proof = !before.is_racy(now) && Stamp::of_open(&file)? == before;
    Ok((bytes, is_proof.then_some(before)))
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
    let dictionary = Mutex::new(Dictionary::default());
    let lexed = lex_all(table, &fresh, options, &|id, stamp, language, bytes| {
        let mut words = Vec::new();
        let (definitions, lines) = lex_into(bytes, language, &mut |all| {
            let mut dictionary = dictionary.lock().unwrap_or_else(PoisonError::into_inner);
            words = all.iter().filter_map(|word| dictionary.number(word)).collect();
        });
        let path = table.get(id).path.to_vec();
        Some((id, FileSymbols { path, stamp, lines, definitions }, words))
    })?;
    let mut dictionary = dictionary.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some(stored) = stored {
        let is_whole = stored.each_word(&mut |word, places| {
            let places = places.iter().filter_map(|place| kept.get(place)).map(|id| id.0);
            let places: Vec<u32> = places.collect();
            if !places.is_empty() {
                dictionary.add(word, &places);
            }
        });
        if !is_whole {
            // What is kept is damaged: nothing of it counts.
            return gather(table, None, options);
        }
    }
    for (id, symbols, words) in lexed {
        for word in words {
            dictionary.add_at(word, id.0);
        }
        files.push((id, symbols));
    }
    files.sort_unstable_by_key(|(id, _)| *id);
    let places: HashMap<u32, u32> =
        (0_u32..).zip(&files).map(|(place, (id, _))| (id.0, place)).collect();
    let (words, mut postings) = dictionary.sorted();
    for list in &mut postings {
        *list = list.iter().filter_map(|id| places.get(id).copied()).collect();
        list.sort_unstable();
    }
    let files = files.into_iter().map(|(_, file)| file).collect();
    Ok(Corpus { files, words, postings })
}

/// Words, each with a number, and the files that hold it.
#[derive(Default)]
struct Dictionary {
    numbers: HashMap<Vec<u8>, u32, BuildHasherDefault<Mixed>>,
    postings: Vec<Vec<u32>>,
}

impl Dictionary {
    /// Returns the number of a word; `None` once there are too many.
    fn number(&mut self, word: &[u8]) -> Option<u32> {
        if let Some(number) = self.numbers.get(word) {
            return Some(*number);
        }
        let number = u32::try_from(self.postings.len()).ok()?;
        self.numbers.insert(word.to_vec(), number);
        self.postings.push(Vec::new());
        Some(number)
    }

    fn add(&mut self, word: &[u8], files: &[u32]) {
        let list = self.number(word).and_then(|number| self.postings.get_mut(number as usize));
        if let Some(list) = list {
            list.extend(files);
        }
    }

    fn add_at(&mut self, number: u32, file: u32) {
        if let Some(list) = self.postings.get_mut(number as usize) {
            list.push(file);
        }
    }

    /// Returns the words in order, each with its files.
    fn sorted(mut self) -> (Vec<Vec<u8>>, Vec<Vec<u32>>) {
        let mut words: Vec<(Vec<u8>, u32)> = self.numbers.into_iter().collect();
        words.sort_unstable();
        let mut take = |number: u32| self.postings.get_mut(number as usize).map(std::mem::take);
        words.into_iter().map(|(word, number)| (word, take(number).unwrap_or_default())).unzip()
    }
}
