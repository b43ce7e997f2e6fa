//! The small file in which a map waits for the next session, and when it is made anew.

use std::io;
use std::path::Path;

use super::rank::Focus;
use super::render::{BUDGET, rendered};
use super::saved;
use crate::index::files::{FileId, FileTable};
use crate::index::folder::IndexFolder;
use crate::index::layers::Building;
use crate::index::store::{Reader, StoreError, Writer};
use crate::index::symbols::{Bound, BuildOptions, Stored};

const NAME: &str = "map";
const KIND: [u8; 4] = *b"rmap";
/// Raised whenever the form is another, or what is ranked first.
const VERSION: u32 = 2;
const TEXT: [u8; 4] = *b"text";
/// How many files had been lexed and how many there were; then the stamps of those that are shown.
const MADE: [u8; 4] = *b"made";
const PATHS: [u8; 4] = *b"path";
/// A map is made anew once one of so many files has changed.
const SHARE: u64 = 256;
/// Of no more files than these the graph is gathered anew after every change, which takes a few
/// hundredths of a second; of more, with the map.
const FEW: usize = 20_000;

/// Reads the map that was left for the workspace that `identity` names; `None` if there is none.
pub fn kept(folder: &Path, identity: &[u8]) -> Option<String> {
    let reader = Reader::open(&folder.join(NAME), KIND, VERSION, identity).ok()?;
    let text = str::from_utf8(reader.section(TEXT).ok()?).ok()?;
    (!text.is_empty() && text.len() <= BUDGET).then(|| text.to_owned())
}

/// Leaves a map in the folder of an index, if what is there is too old.
///
/// # Errors
/// What keeps the file from being written; [`io::ErrorKind::Interrupted`] if it was cancelled.
pub fn update(table: &FileTable, folder: &IndexFolder, building: &Building<'_>) -> io::Result<()> {
    let (path, identity) = (folder.path(), folder.identity());
    let Some(stored) = Stored::open(path, identity) else { return Ok(()) };
    let options = BuildOptions { threads: building.threads, cancelled: building.cancelled };
    let is_current = is_current(table, &stored, path, identity).unwrap_or(false);
    if !is_current || table.len() <= FEW {
        saved::update(&stored, &Bound::new(table, Some(&stored)), &options)?;
    }
    if is_current {
        return Ok(());
    }
    let map = rendered(table, Some(&stored), &Focus::default(), BUDGET, &options)?;
    let mut writer = Writer::new(KIND, VERSION, identity);
    writer.section(TEXT, map.text.into_bytes());
    let mut made = stored.lexed().to_le_bytes().to_vec();
    made.extend((table.len() as u64).to_le_bytes());
    made.extend(map.files.iter().flat_map(|id| state(table, *id)));
    writer.section(MADE, made);
    let paths: Vec<&[u8]> = map.files.iter().map(|id| table.get(*id).path).collect();
    writer.section(PATHS, paths.join(&0));
    writer.write(&folder.file(NAME))
}

/// Whether the map that is there was made of about the files there are, and shows none that changed.
fn is_current(
    table: &FileTable,
    stored: &Stored,
    folder: &Path,
    identity: &[u8],
) -> Result<bool, StoreError> {
    let reader = Reader::open(&folder.join(NAME), KIND, VERSION, identity)?;
    let made = reader.section(MADE)?;
    let (Some(lexed), Some(count)) = (long(made, 0), long(made, 8)) else {
        return Err(StoreError::Damaged);
    };
    let n_files = table.len() as u64;
    let n_changed = stored.lexed().abs_diff(lexed).saturating_add(n_files.abs_diff(count));
    if n_changed > n_files / SHARE {
        return Ok(false);
    }
    let paths = reader.section(PATHS)?;
    let mut paths = paths.split(|byte| *byte == 0).filter(|path| !path.is_empty());
    let mut states = made.get(16..).unwrap_or_default().chunks(STATE);
    Ok(paths.all(|path| {
        let id = table.find(path);
        id.is_some_and(|id| states.next() == Some(&state(table, id)))
    }))
}

/// Bytes that tell whether a file is as it was.
const STATE: usize = 24;

fn state(table: &FileTable, id: FileId) -> [u8; STATE] {
    let stamp = table.get(id).stamp;
    let mut state = [0; STATE];
    state[..8].copy_from_slice(&stamp.size.to_le_bytes());
    state[8..16].copy_from_slice(&stamp.altered.to_le_bytes());
    state[16..].copy_from_slice(&stamp.inode.to_le_bytes());
    state
}

fn long(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}
