//! What a command left in a copy-on-write view: changes to decide, outputs to keep, and what cannot be carried over.
//!
//! Only the upper layer is read, so it costs what was changed and not what there is.

mod keep;
mod layer;
mod outputs;
mod remade;

pub use keep::{Output, keep, keep_time, make_folder, remove_emptied, remove_folder};
pub use remade::LeftBefore;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use super::Change;
use crate::workspace::{FOLDER_MODE, FileError, FileImage, Workspace, is_link_mode};

/// Most changes of one command that are decided, and most bytes of them.
const MOST_CHANGES: usize = 1_000;
const MOST_BYTES: u64 = 32 << 20;

/// One root and what was written over it.
#[derive(Clone, Copy, Debug)]
pub struct Layer<'a> {
    pub root: &'a Path,
    pub upper: &'a Path,
}

/// What tells which paths are decided although git ignores them.
#[derive(Clone, Copy)]
pub struct Decides<'a> {
    /// Whether the name of a path below its root is protected.
    pub protects: &'a dyn Fn(&Path) -> bool,
    /// Whether a rule keeps commands from writing this absolute path or, if it is a folder, all in it.
    pub guards: &'a dyn Fn(&Path, bool) -> bool,
    /// Whether there is any such rule.
    pub has_rules: bool,
    /// The absolute paths that such rules spell out.
    pub spelled_out: &'a [PathBuf],
    /// What earlier commands left of outputs.
    pub left_before: &'a LeftBefore,
}

/// What a command left.
#[derive(Debug, Default)]
pub struct Seen {
    /// To be decided, folder by folder.
    pub changes: Vec<Change>,
    /// Build outputs and other ignored files.
    pub outputs: Vec<Output>,
    /// Folders that are gone if nothing is left in them, inner ones first.
    pub emptied: Vec<PathBuf>,
    /// What is not carried over.
    pub left: Vec<Left>,
    /// Why none of it is carried over.
    pub too_much: Option<String>,
    bytes: u64,
}

/// Something of a view that is not carried over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Left {
    /// As it is shown.
    pub path: String,
    pub why: String,
}

impl Seen {
    /// Whether the command left everything as it was.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
            && self.outputs.is_empty()
            && self.emptied.is_empty()
            && self.left.is_empty()
            && self.too_much.is_none()
    }

    /// Whether there is room for a change.
    fn has_room_for(&self, change: &Change) -> bool {
        self.bytes + size(change) <= MOST_BYTES
    }

    /// Takes a change in, as long as there are not too many.
    fn add(&mut self, change: Change) {
        self.bytes += size(&change);
        if self.changes.len() == MOST_CHANGES {
            self.too_much = Some(format!("it changed more than {MOST_CHANGES} files"));
        } else if self.bytes > MOST_BYTES {
            self.too_much = Some(format!("it changed files of more than {} MiB", MOST_BYTES >> 20));
        } else {
            self.changes.push(change);
        }
        if self.too_much.is_some() {
            self.changes.clear();
        }
    }
}

fn size(change: &Change) -> u64 {
    let size = |bytes: Option<&[u8]>| bytes.map_or(0, |bytes| bytes.len() as u64);
    size(change.before_bytes()) + size(change.after.as_deref())
}

/// Reads what a command that began at `since` left in its view.
///
/// Nothing may write there any more. What `decides` says is decided even if it is ignored.
pub fn read(
    workspace: &Workspace,
    layers: &[Layer<'_>],
    since: SystemTime,
    decides: Decides<'_>,
) -> Seen {
    let mut seen = Seen::default();
    for layer in layers {
        layer::read(workspace, *layer, since, decides, &mut seen);
    }
    seen
}

/// Returns `change` as one of the file as it is now, which is not the one that it was computed on;
/// `None` if nothing is left to be done.
///
/// One that only changes the permissions stays such a one.
///
/// # Errors
/// Why it cannot be, in words: a file that cannot be read any more, or other permissions for what
/// has none of its own.
pub fn on_present(workspace: &Workspace, change: &Change) -> Result<Option<Change>, String> {
    let before = match workspace.read_entry(&change.at, super::LARGEST) {
        Ok(image) => Some(image),
        Err(FileError::Missing { .. }) => None,
        Err(error) => return Err(error.to_string()),
    };
    let (mut after, mut mode) = (change.after.clone(), change.mode);
    if is_of_mode(change) {
        match &before {
            None => return Err("somebody else removed it while the question stood".to_owned()),
            Some(image) if image.is_link() => {
                let why = "only its permissions were to change, and it is a symbolic link by now";
                return Err(why.to_owned());
            }
            Some(image) => after = Some(Arc::clone(&image.bytes)),
        }
    } else if let (None, Some(_), None, Some(image)) = (&before, &after, mode, &change.before)
        && !image.is_link()
    {
        // Somebody removed it; made anew it has the permissions that it had.
        mode = Some(image.mode);
    }
    let is_done = match (&before, &after) {
        (None, None) => true,
        (Some(image), Some(after)) => {
            let same = mode.is_none_or(|mode| mode == image.mode);
            same && image.bytes == *after && image.is_link() == mode.is_some_and(is_link_mode)
        }
        (None, Some(_)) | (Some(_), None) => false,
    };
    if is_done {
        return Ok(None);
    }
    let mut notes = layer::notes(before.as_ref(), after.as_deref(), mode);
    notes.push(layer::STOOD.to_owned());
    if change.notes.iter().any(|note| note == layer::IGNORED) {
        notes.push(layer::IGNORED.to_owned());
    }
    Ok(Some(Change { at: change.at.clone(), before, after, mode, notes }))
}

/// Whether `change` is one of the permissions alone.
fn is_of_mode(change: &Change) -> bool {
    let own = change.mode.is_some_and(|mode| !is_link_mode(mode) && mode != FOLDER_MODE);
    let same = |image: &FileImage| !image.is_link() && change.after.as_ref() == Some(&image.bytes);
    own && change.before.as_ref().is_some_and(same)
}
