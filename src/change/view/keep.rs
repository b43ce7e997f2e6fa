//! Ignored files that a command made, changed or removed: kept as they are, without a question.

use std::io;
use std::path::{Path, PathBuf};

use super::Layer;
use crate::change::journal::{Draft, Journal, Occasion};
use crate::change::{Decided, WriteError, Written};
use crate::message::CallId;
use crate::workspace::{CreateFolders, FileError, Located, Workspace};

/// Attributes that the view leaves on what it held.
const ATTRIBUTES: &[&str] =
    &["user.overlay.opaque", "user.overlay.origin", "user.overlay.impure", "user.overlay.uuid"];

/// One ignored file or folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// What stands at `from` in the view belongs to the path `to`, where a file stands only if it
    /// is one that may be lost.
    Made { from: PathBuf, to: PathBuf, replaces: bool },
    /// An ignored folder, for what of it is kept.
    Folder(PathBuf),
    /// The file is gone.
    Removed(PathBuf),
}

/// Keeps `output` in the workspace.
///
/// # Errors
/// Another kind of file in its place, a folder that cannot be made, another file system.
pub fn keep(workspace: &Workspace, output: &Output) -> Result<(), FileError> {
    let folder = |path: &Path| {
        let shown = || path.display().to_string();
        let at = workspace.locate_path(path).ok().filter(|at| at.path() == path);
        let at = at.ok_or_else(|| FileError::Link { path: shown() })?;
        // A new folder may hold nothing else.
        workspace.folder_of(&at, CreateFolders::Yes)
    };
    match output {
        Output::Removed(path) => folder(path)?.discard(),
        Output::Folder(path) => folder(path)?.make_here(),
        Output::Made { from, to, replaces } => {
            for name in ATTRIBUTES {
                // Most are not there.
                rustix::fs::lremovexattr(from, *name).ok();
            }
            folder(to)?.take_in(from, *replaces)
        }
    }
}

/// Gives a file that was written as a command left it the time at which the command wrote it: what
/// builds goes by the order of these times.
pub fn keep_time(workspace: &Workspace, layers: &[Layer<'_>], at: &Located) {
    let inside = layers.iter().filter(|layer| at.path().starts_with(layer.root));
    let Some(layer) = inside.max_by_key(|layer| layer.root.as_os_str().len()) else { return };
    let Ok(below) = at.path().strip_prefix(layer.root) else { return };
    let time = layer.upper.join(below).symlink_metadata().and_then(|facts| facts.modified());
    if let (Ok(time), Ok(folder)) = (time, workspace.folder_of(at, CreateFolders::No)) {
        // Without it the file is as good, only newer.
        folder.set_modified(time).ok();
    }
}

/// Removes those of `folders` that hold nothing any more; inner ones come first.
pub fn remove_emptied(workspace: &Workspace, folders: &[PathBuf]) {
    for path in folders {
        let Ok(at) = workspace.locate_path(path) else { continue };
        if at.path() == path
            && let Ok(folder) = workspace.folder_of(&at, CreateFolders::No)
        {
            // One that holds something stays.
            folder.remove_empty_folder().ok();
        }
    }
}

/// Removes a folder that holds nothing, as decided, in the name of `call`.
///
/// # Errors
/// One that holds something or is gone, and a journal that cannot be written. Nothing was done then.
pub fn remove_folder(
    workspace: &Workspace,
    decided: Decided,
    call: &CallId,
    journal: Option<&mut Journal>,
) -> Result<Written, WriteError> {
    let change = decided.0;
    let folder = workspace.folder_of(&change.at, CreateFolders::No).map_err(WriteError::File)?;
    let (path, shown) = (change.at.path(), change.at.shown());
    let error = |source| WriteError::File(FileError::Io { path: shown.to_owned(), source });
    if std::fs::read_dir(path).map_err(error)?.next().is_some() {
        return Err(error(io::ErrorKind::DirectoryNotEmpty.into()));
    }
    let mut notes = Vec::new();
    if let Some(journal) = journal {
        let (occasion, before) = (Occasion::Call(call), change.before.as_ref());
        let draft = Draft { occasion, path, before, after: None, mode: change.mode, made: &[] };
        notes.extend(journal.record(&draft)?.remark().map(str::to_owned));
    }
    folder.remove_empty_folder().map_err(WriteError::File)?;
    Ok(Written { change, hash: None, notes })
}

/// Makes the folder `at`, and those on the way to it.
///
/// # Errors
/// A place where no folder can be.
pub fn make_folder(workspace: &Workspace, at: &Located) -> Result<(), FileError> {
    workspace.folder_of(at, CreateFolders::Yes)?.make_here()
}
