//! Bringing what is kept up to a table: what changed is lexed into new segments, the rest stays as it is.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender};

use super::gathering::Gathering;
use super::language::Language;
use super::lexed::lex_into;
use super::read::{has_symbols, read};
use super::stored::{Bound, Stored, commit};
use super::{ENDING, MANIFEST};
use crate::index::files::{FileId, FileTable};
use crate::index::folder::IndexFolder;
use crate::index::layers::{Building, Progress};
use crate::index::store::{remove, scratch_name};
use crate::workspace::Tree;

/// A segment of fewer bytes is small; once there are more than so many, they are put together.
const SMALL: u64 = 1 << 20;
const MAX_SMALL: usize = 8;
/// Files that a thread takes at a time.
const BATCH: usize = 32;

/// Lexes what has changed since the symbols in `folder` were kept, and keeps it there.
///
/// The right to write in the folder is the caller's.
///
/// # Errors
/// What keeps the files from being written; [`io::ErrorKind::Interrupted`] if it was cancelled.
pub fn update(table: &FileTable, folder: &IndexFolder, building: &Building<'_>) -> io::Result<()> {
    let (path, identity) = (folder.path(), folder.identity());
    let stored = Stored::open(path, identity);
    let bound = Bound::new(table, stored.as_ref());
    let (kept, files) = sorted_out(&bound, stored.as_ref());
    let is_same =
        stored.as_ref().is_some_and(|stored| kept.len() == stored.len() && !stored.is_damaged());
    if files.is_empty() && is_same {
        return Ok(());
    }
    let work = Work {
        table,
        files: &files,
        next: AtomicUsize::new(0),
        tree: Tree::open(table.root())?,
        folder,
        building,
        total: files.iter().map(|id| table.get(*id).stamp.size).sum(),
        read: AtomicU64::new(0),
        n_lexed: AtomicU64::new(0),
        made: Mutex::default(),
    };
    let done = work.run();
    let made = work.made.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Err(error) = done {
        for name in &made {
            remove(&path.join(name));
        }
        return Err(error);
    }
    if made.is_empty() && is_same {
        return Ok(());
    }
    let names: Vec<String> = kept.into_iter().chain(made).collect();
    let lexed = stored.as_ref().map_or(0, Stored::lexed) + work.n_lexed.into_inner();
    commit(path, identity, &names, lexed)?;
    remove_strays(path, &names);
    Ok(())
}

/// Returns the segments that stay, and the files that are to be lexed.
fn sorted_out(bound: &Bound<'_>, stored: Option<&Stored>) -> (Vec<String>, Vec<FileId>) {
    let segments = stored.map(Stored::segments).unwrap_or_default();
    let n_small = segments.iter().filter(|segment| segment.size() < SMALL).count();
    let (mut kept, mut files) = (Vec::new(), bound.fresh());
    for number in bound.segments() {
        let (segment, n_alive) = (&segments[number], bound.n_alive(number));
        let is_crowded = segment.size() < SMALL && n_small > MAX_SMALL;
        if is_crowded || n_alive * 2 < segment.n_files as usize {
            files.extend(bound.files(number).map(|(_, id)| id));
        } else {
            kept.push(segment.name.clone());
        }
    }
    files.sort_unstable();
    (kept, files)
}

/// Removes segments that are not listed, and what a writer left that died.
fn remove_strays(folder: &Path, names: &[String]) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        let is_stray = name.ends_with(ENDING) && !names.iter().any(|kept| kept == name);
        if is_stray || name.ends_with("-new") && name.contains(MANIFEST) {
            remove(&entry.path());
        }
    }
}

/// What every thread of an update sees.
struct Work<'a> {
    table: &'a FileTable,
    files: &'a [FileId],
    next: AtomicUsize,
    tree: Tree,
    folder: &'a IndexFolder,
    building: &'a Building<'a>,
    /// Bytes of all files, and of those that were read.
    total: u64,
    read: AtomicU64,
    n_lexed: AtomicU64,
    /// The names of the segments that were written.
    made: Mutex<Vec<String>>,
}

impl Work<'_> {
    fn run(&self) -> io::Result<()> {
        let threads = self.building.threads.clamp(1, self.files.len().div_ceil(BATCH).max(1));
        let broken = || Err(io::Error::other("a thread broke off"));
        let (sync, written) = mpsc::channel();
        std::thread::scope(|scope| {
            // Syncing waits for the disk, while the others go on.
            let synced =
                scope.spawn(move || written.iter().try_for_each(|file: File| file.sync_all()));
            let start = |sync: Sender<File>| scope.spawn(move || self.lex(&sync));
            let threads: Vec<_> = (1..threads).map(|_| start(sync.clone())).collect();
            let own = self.lex(&sync);
            drop(sync);
            let others = threads.into_iter().map(|one| one.join().unwrap_or_else(|_| broken()));
            let done = others.fold(own, Result::and);
            done.and(synced.join().unwrap_or_else(|_| broken()))
        })
    }

    /// Lexes files into segments until there are no more. Who gets `sync` syncs what was written.
    fn lex(&self, sync: &Sender<File>) -> io::Result<()> {
        let mut gathering = Gathering::default();
        loop {
            let start = self.next.fetch_add(BATCH, Ordering::Relaxed);
            let batch = self.files.get(start..).unwrap_or_default();
            if batch.is_empty() {
                break;
            }
            if (self.building.cancelled)() {
                return Err(io::ErrorKind::Interrupted.into());
            }
            for id in batch.iter().take(BATCH) {
                self.add(*id, &mut gathering);
                if gathering.is_full() {
                    self.write(&mut gathering, sync)?;
                }
            }
            let done = self.read.load(Ordering::Relaxed);
            (self.building.progress)(Progress::Read { done, total: self.total });
        }
        if gathering.is_empty() { Ok(()) } else { self.write(&mut gathering, sync) }
    }

    fn add(&self, id: FileId, gathering: &mut Gathering) {
        let entry = self.table.get(id);
        let Some(language) = Language::of_path(entry.path).filter(|_| has_symbols(&entry)) else {
            return;
        };
        self.read.fetch_add(entry.stamp.size, Ordering::Relaxed);
        // What cannot be read, or proves nothing, is lexed whenever something is asked.
        let Ok((bytes, Some(stamp))) = read(&self.tree, entry.path) else { return };
        self.n_lexed.fetch_add(1, Ordering::Relaxed);
        let mut add = |words: &[&[u8]]| gathering.add_words(words);
        let (definitions, lines) = lex_into(&bytes, language, &mut add);
        gathering.add_file(entry.path, stamp, lines, &definitions);
    }

    fn write(&self, gathering: &mut Gathering, sync: &Sender<File>) -> io::Result<()> {
        let name = scratch_name(ENDING);
        let writer = gathering.finish(self.folder.identity());
        let file = writer.write_unsynced(&self.folder.file(&name))?;
        self.made.lock().unwrap_or_else(PoisonError::into_inner).push(name);
        // Who would sync it is gone only when the whole has failed.
        sync.send(file).ok();
        Ok(())
    }
}
