//! Making postings: all of them, or those of what changed; beside readers, and safe from a crash at any step.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::SystemTime;

use super::block::{Cutter, Grams};
use super::file_flags::ALWAYS;
use super::postings::{Binding, Postings};
use super::segment::Gathering;
use super::{MANIFEST, MANIFEST_NAME, MAX_BLOCKS, SEGMENT_ENDING, VERSION};
use crate::index::files::{FileEntry, FileId, FileTable, Flags};
use crate::index::store::{self, Writer, WriterLock, scratch_name};
use crate::workspace::{Stamp, Tree};

/// Files that a thread takes at a time.
const BATCH: usize = 32;
/// A segment with fewer blocks is small, and this many small ones are put together.
const SMALL: usize = MAX_BLOCKS / 8;
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
    /// Counts the files that were read.
    pub progress: &'a AtomicU64,
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
    let next = AtomicUsize::new(0);
    let work = Work { table, files, next: &next, tree: &tree, folder, identity, options };
    let results: Vec<Result<Made, BuildError>> = std::thread::scope(|scope| {
        let threads = options.threads.clamp(1, files.len().div_ceil(BATCH).max(1));
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(|| work.run())).collect();
        let broken = || Err(BuildError::Io(io::Error::other("a thread broke off")));
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| broken())).collect()
    });
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

/// What every thread of a build sees.
struct Work<'a> {
    table: &'a FileTable,
    files: &'a [FileId],
    next: &'a AtomicUsize,
    tree: &'a Tree,
    folder: &'a Path,
    identity: &'a [u8],
    options: &'a BuildOptions<'a>,
}

impl Work<'_> {
    fn run(&self) -> Result<Made, BuildError> {
        if self.options.in_background {
            // The thread ends with this work; on a system without priorities it is only less polite.
            rustix::process::setpriority_process(None, 10).ok();
        }
        let mut made = Made::default();
        let (mut gathering, mut grams, mut cutter) =
            (Gathering::new(), Grams::new(), Cutter::default());
        loop {
            let start = self.next.fetch_add(BATCH, Ordering::Relaxed);
            let Some(batch) = self.files.get(start..) else { break };
            if batch.is_empty() {
                break;
            }
            if (self.options.cancelled)() {
                made.names.iter().for_each(|name| store::remove(&self.folder.join(name)));
                return Err(BuildError::Cancelled);
            }
            for id in batch.iter().take(BATCH) {
                let entry = self.table.get(*id);
                let needed = entry.stamp.size / LEAST_BLOCK + 1;
                let crowded = needed > gathering.room() as u64 && !gathering.is_empty();
                if crowded || gathering.is_full() {
                    made.names.push(self.write(&mut gathering)?);
                }
                match self.add(&entry, &mut gathering, &mut grams, &mut cutter) {
                    Ok(()) => made.built.files += 1,
                    Err(_) => made.built.unreadable += 1,
                }
                self.options.progress.fetch_add(1, Ordering::Relaxed);
            }
        }
        if !gathering.is_empty() {
            made.names.push(self.write(&mut gathering)?);
        }
        Ok(made)
    }

    fn write(&self, gathering: &mut Gathering) -> io::Result<String> {
        let name = scratch_name(SEGMENT_ENDING);
        gathering.finish(self.identity).write(&self.folder.join(&name))?;
        Ok(name)
    }

    /// Reads one file. Its stamp is taken before and after; if it may not be that of what was
    /// read, nothing is noted, and the file is looked at in every search until it is read again.
    fn add(
        &self,
        entry: &FileEntry<'_>,
        gathering: &mut Gathering,
        grams: &mut Grams,
        cutter: &mut Cutter,
    ) -> io::Result<()> {
        let now = SystemTime::now();
        let (mut file, stamp) = self.tree.file(entry.path)?;
        if stamp.is_racy(now) {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let first_block = gathering.n_blocks();
        let mut dropped = false;
        let flags = cutter.cut(&mut file, stamp.size, &mut |block| {
            dropped |= gathering.room() == 0;
            gathering.add_block(&block, grams.of(block.bytes));
        });
        // Blocks without their file would be taken for the next one's.
        let mut flags = flags.unwrap_or(ALWAYS) | if dropped { ALWAYS } else { 0 };
        if Stamp::of_open(&file).ok() != Some(stamp) {
            flags = super::file_flags::UNPROVEN;
        }
        gathering.add_file(entry.path, &stamp, flags, first_block);
        Ok(())
    }
}
