//! Making postings: all of them, or those of what changed; beside readers, and safe from a crash at any step.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use super::block::{Cutter, Grams};
use super::file_flags::ALWAYS;
use super::gather::{Described, Gathering, Run};
use super::postings::{Binding, Postings};
use super::segment::{Waiting, written};
use super::{MANIFEST, MANIFEST_NAME, SEGMENT_ENDING, VERSION};
use crate::index::files::{FileEntry, FileId, FileTable, Flags};
use crate::index::store::{self, Writer, WriterLock, scratch_name};
use crate::workspace::{Stamp, Tree};

/// Files after which it is asked whether to go on.
const BATCH: usize = 32;
/// How much a thread takes at a time: a few times all that there is, within these bounds, in bytes
/// of files and as many as the opening of a file is worth.
const SHARES: u64 = 4;
const LEAST_SHARE: u64 = 1 << 20;
const MOST_SHARE: u64 = 24 << 20;
const OPENING: u64 = 4 << 10;
/// A segment with fewer blocks is small, and this many small ones are put together.
const SMALL: usize = 2_048;
const MAX_SMALL: usize = 8;
/// The least size of a block, as far as the room for a file's blocks is told beforehand.
const LEAST_BLOCK: u64 = 3 << 10;

/// How postings are made.
#[derive(Clone, Copy)]
pub struct BuildOptions<'a> {
    pub threads: usize,
    /// Whether everything else goes first.
    pub in_background: bool,
    /// Asked now and then; once it says yes, nothing is kept.
    pub cancelled: &'a (dyn Fn() -> bool + Sync),
    /// Told now and then how many bytes were read, of how many.
    pub progress: &'a (dyn Fn(u64, u64) + Sync),
}

/// What was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Built {
    /// Files that were read.
    pub files: usize,
    /// Files that could not be: they are looked at in every search.
    pub unreadable: usize,
    /// Segments that there are now.
    pub segments: usize,
}

/// Why postings were not made.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    #[error("another process has written this index meanwhile")]
    Busy,
    #[error("the making of the index was stopped")]
    Cancelled,
    #[error("the index cannot be written")]
    Io(#[from] io::Error),
}

/// Makes the postings of every file of `table` anew, in `folder`, of which the lock is held.
pub fn build(
    table: &FileTable,
    folder: &Path,
    identity: &[u8],
    _: &WriterLock,
    options: &BuildOptions<'_>,
) -> Result<Built, BuildError> {
    let files: Vec<FileId> = table.iter().filter(is_indexed).map(|entry| entry.id).collect();
    remove_strays(folder, &kept(folder, identity));
    let made = make(table, &files, folder, identity, options)?;
    commit(folder, identity, &made.names)?;
    Ok(Built { segments: made.names.len(), ..made.built })
}

/// Makes the postings of those files of `table` that `postings` do not describe as they are.
///
/// What `postings` hold is kept, but for segments that are small or mostly of the past where
/// there are too many: their files are read again. `None` if there was nothing to do.
pub fn update(
    table: &FileTable,
    postings: &Postings,
    binding: &Binding,
    folder: &Path,
    _: &WriterLock,
    options: &BuildOptions<'_>,
) -> Result<Option<Built>, BuildError> {
    let identity = postings.identity();
    if !postings.is_current(folder) {
        // Another process has written since; what it wrote is to be opened first.
        return Err(BuildError::Busy);
    }
    let (keep, mut files) = binding.sorted_out(postings, SMALL, MAX_SMALL);
    files.retain(|id| is_indexed(&table.get(*id)));
    files.sort_unstable();
    let kept: Vec<String> = keep.iter().map(|place| postings.name(*place).to_owned()).collect();
    let made = make(table, &files, folder, identity, options)?;
    if made.names.is_empty() && keep.len() == postings.len() {
        return Ok(None);
    }
    let names: Vec<String> = kept.into_iter().chain(made.names).collect();
    commit(folder, identity, &names)?;
    Ok(Some(Built { segments: names.len(), ..made.built }))
}

/// Whether postings of `entry` are made: ignored files are not worth them, links have no text.
pub(super) fn is_indexed(entry: &FileEntry<'_>) -> bool {
    let ignored = entry.flags.has(Flags::IGNORED) && !entry.flags.has(Flags::TRACKED);
    entry.stamp.is_regular() && !ignored
}

/// Puts the list of segments in place, then removes what it does not name.
fn commit(folder: &Path, identity: &[u8], names: &[String]) -> io::Result<()> {
    let mut writer = Writer::new(MANIFEST, VERSION, identity);
    writer.section(*b"SEGS", names.join("\n").into_bytes());
    writer.write(&folder.join(MANIFEST_NAME))?;
    remove_strays(folder, names);
    Ok(())
}

/// Returns the segments that the manifest names.
fn kept(folder: &Path, identity: &[u8]) -> Vec<String> {
    Postings::open(folder, identity).map_or_else(Vec::new, Postings::into_names)
}

/// Removes segments that no manifest names, and what a writer left that died. Under the lock.
fn remove_strays(folder: &Path, names: &[String]) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        let segment = name.ends_with(SEGMENT_ENDING) && !names.iter().any(|kept| kept == name);
        if segment || name.ends_with("-new") && name.contains("text") {
            store::remove(&entry.path());
        }
    }
}

/// What the threads made.
#[derive(Default)]
struct Made {
    names: Vec<String>,
    built: Built,
}

/// Reads `files` and writes their segments.
fn make(
    table: &FileTable,
    files: &[FileId],
    folder: &Path,
    identity: &[u8],
    options: &BuildOptions<'_>,
) -> Result<Made, BuildError> {
    let tree = Tree::open(table.root())?;
    let shares = shares(table, files, options.threads);
    let (sync, written) = mpsc::channel();
    let work = Work {
        table,
        files,
        shares: &shares,
        next: AtomicUsize::new(0),
        n_read: AtomicU64::new(0),
        n_bytes: files.iter().map(|id| table.get(*id).stamp.size).sum(),
        waiting: Mutex::default(),
        tree: &tree,
        folder,
        identity,
        options,
    };
    let (mut results, synced) = std::thread::scope(|scope| {
        let work = &work;
        let threads = options.threads.clamp(1, shares.len().max(1));
        let start = |sync: Sender<File>| scope.spawn(move || work.run(&sync));
        let threads: Vec<_> = (0..threads).map(|_| start(sync.clone())).collect();
        // Syncing waits for the disk, while the threads go on.
        let syncing = scope.spawn(move || written.iter().try_for_each(|file| file.sync_all()));
        let broken = || Err(BuildError::Io(io::Error::other("a thread broke off")));
        let ended = threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| broken()));
        let mut results: Vec<Result<Made, BuildError>> = ended.collect();
        if results.iter().all(Result::is_ok) {
            results.push(work.rest(&sync));
        }
        drop(sync);
        (results, syncing.join().unwrap_or_else(|_| Err(io::Error::other("a thread broke off"))))
    });
    results.extend(synced.err().map(|error| Err(BuildError::Io(error))));
    let mut made = Made::default();
    let mut failed = None;
    for result in results {
        match result {
            Ok(part) => {
                made.names.extend(part.names);
                made.built.files += part.built.files;
                made.built.unreadable += part.built.unreadable;
            }
            Err(error) => failed = Some(error),
        }
    }
    match failed {
        None => Ok(made),
        Some(error) => {
            made.names.iter().for_each(|name| store::remove(&folder.join(name)));
            Err(error)
        }
    }
}

/// Cuts `files` into shares of about the same work, each of files that follow each other.
fn shares(table: &FileTable, files: &[FileId], n_threads: usize) -> Vec<Range<usize>> {
    let cost = |id: &FileId| table.get(*id).stamp.size + OPENING;
    let whole: u64 = files.iter().map(cost).sum();
    let most = (whole / (n_threads.max(1) as u64 * SHARES)).clamp(LEAST_SHARE, MOST_SHARE);
    let (mut shares, mut start, mut sum) = (Vec::new(), 0, 0);
    for (place, id) in files.iter().enumerate() {
        sum += cost(id);
        if sum >= most || place + 1 == files.len() {
            shares.push(start..place + 1);
            (start, sum) = (place + 1, 0);
        }
    }
    shares
}

/// What every thread of a build sees.
struct Work<'a> {
    table: &'a FileTable,
    files: &'a [FileId],
    /// What a thread takes at a time, and which is next.
    shares: &'a [Range<usize>],
    next: AtomicUsize,
    /// Bytes that were read, and that are to be.
    n_read: AtomicU64,
    n_bytes: u64,
    waiting: Mutex<Waiting>,
    tree: &'a Tree,
    folder: &'a Path,
    identity: &'a [u8],
    options: &'a BuildOptions<'a>,
}

impl Work<'_> {
    /// Reads files until there are no more. What it wrote is to be synced by who gets `sync`.
    fn run(&self, sync: &Sender<File>) -> Result<Made, BuildError> {
        if self.options.in_background {
            // The thread ends with this work; on a system without priorities it is only less polite.
            rustix::process::setpriority_process(None, 10).ok();
        }
        let mut made = Made::default();
        let result = self.take_shares(&mut made, sync);
        if result.is_err() {
            made.names.iter().for_each(|name| store::remove(&self.folder.join(name)));
        }
        result.map(|()| made)
    }

    fn take_shares(&self, made: &mut Made, sync: &Sender<File>) -> Result<(), BuildError> {
        let mut reading = Reading::new();
        loop {
            let place = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(share) = self.shares.get(place) else { return Ok(()) };
            let runs = self.gather(&self.files[share.clone()], &mut reading, &mut made.built)?;
            let whole = self.waiting().add(place, runs);
            for runs in whole {
                made.names.push(self.write(runs, sync)?);
            }
        }
    }

    /// Writes what no more runs come to.
    fn rest(&self, sync: &Sender<File>) -> Result<Made, BuildError> {
        let mut made = Made::default();
        let rest = self.waiting().rest();
        if let Some(runs) = rest {
            made.names.push(self.write(runs, sync)?);
        }
        Ok(made)
    }

    fn waiting(&self) -> std::sync::MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, runs: Vec<Run>, sync: &Sender<File>) -> io::Result<String> {
        let name = scratch_name(SEGMENT_ENDING);
        let file = written(runs, self.identity).write_unsynced(&self.folder.join(&name))?;
        // Who would sync it is gone only when the whole has failed.
        sync.send(file).ok();
        Ok(name)
    }

    /// Reads the files of one share: mostly they are one run.
    fn gather(
        &self,
        files: &[FileId],
        reading: &mut Reading,
        built: &mut Built,
    ) -> Result<Vec<Run>, BuildError> {
        let mut runs = Vec::new();
        for batch in files.chunks(BATCH) {
            if (self.options.cancelled)() {
                return Err(BuildError::Cancelled);
            }
            let mut n_bytes = 0;
            for id in batch {
                let entry = self.table.get(*id);
                n_bytes += entry.stamp.size;
                let gathering = &mut reading.gathering;
                let needed = entry.stamp.size / LEAST_BLOCK + 1;
                let crowded = needed > gathering.room() as u64 && !gathering.is_empty();
                if crowded || gathering.is_full() {
                    runs.push(gathering.finish());
                }
                match reading.add(self.tree, &entry) {
                    Ok(()) => built.files += 1,
                    Err(_) => built.unreadable += 1,
                }
            }
            let before = self.n_read.fetch_add(n_bytes, Ordering::Relaxed);
            (self.options.progress)(before + n_bytes, self.n_bytes);
        }
        if !reading.gathering.is_empty() {
            runs.push(reading.gathering.finish());
        }
        Ok(runs)
    }
}

/// What one thread reads files with.
struct Reading {
    gathering: Gathering,
    grams: Grams,
    cutter: Cutter,
}

impl Reading {
    fn new() -> Reading {
        Reading { gathering: Gathering::new(), grams: Grams::new(), cutter: Cutter::default() }
    }

    /// Reads one file. Its stamp is taken before and after; if it may not be that of what was
    /// read, nothing is noted, and the file is looked at in every search until it is read again.
    fn add(&mut self, tree: &Tree, entry: &FileEntry<'_>) -> io::Result<()> {
        let Reading { gathering, grams, cutter } = self;
        let now = SystemTime::now();
        let (mut file, stamp) = tree.file(entry.path)?;
        if stamp.is_racy(now) {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let first_block = gathering.n_blocks();
        let mut dropped = false;
        let cut = cutter.cut(&mut file, stamp.size, &mut |block| {
            dropped |= gathering.room() == 0;
            gathering.add_block(&block, grams.of(block.bytes));
        });
        // Blocks without their file would be taken for the next one's.
        let (flags, n_lines) = cut.unwrap_or((ALWAYS, None));
        let mut flags = flags | if dropped { ALWAYS } else { 0 };
        if Stamp::of_open(&file).ok() != Some(stamp) {
            flags = super::file_flags::UNPROVEN;
        }
        let described = Described { path: entry.path, stamp: &stamp, flags, n_lines };
        gathering.add_file(&described, first_block);
        Ok(())
    }
}
