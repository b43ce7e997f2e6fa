//! Reading and lexing files of a table, side by side.

use std::io::{self, Read as _};
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::SystemTime;

use super::language::Language;
use super::lexed::LARGEST;
use crate::index::files::{FileEntry, FileId, FileTable, Flags};
use crate::workspace::{Stamp, Tree};

/// How work over all files is done.
#[derive(Clone, Copy)]
pub struct BuildOptions<'a> {
    pub threads: usize,
    pub cancelled: &'a (dyn Fn() -> bool + Sync),
}

/// Whether symbols are to be had of a file at all.
pub(super) fn has_symbols(entry: &FileEntry<'_>) -> bool {
    entry.stamp.is_regular()
        && entry.stamp.size <= LARGEST
        && Language::of_path(entry.path).is_some()
}

/// Whether what is kept with `stamp` is proved to be of the file as it is.
pub(super) fn is_proved(entry: &FileEntry<'_>, stamp: Stamp) -> bool {
    stamp == entry.stamp && !entry.flags.has(Flags::RACY)
}

/// Reads a file whole. There is no stamp where it may be of other bytes than those.
pub(super) fn read(tree: &Tree, path: &[u8]) -> io::Result<(Vec<u8>, Option<Stamp>)> {
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

/// Makes something of the bytes of a file.
type Take<'a, T> = dyn Fn(FileId, Language, &[u8]) -> Option<T> + Sync + 'a;

/// Reads files side by side, and returns what each gave, in any order.
///
/// # Errors
/// A root that cannot be opened; [`io::ErrorKind::Interrupted`] if it was cancelled.
pub(in crate::index) fn lex_all<T: Send>(
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
            let Ok((bytes, _)) = read(&tree, path) else { continue };
            mine.extend(take(*id, language, &bytes));
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
