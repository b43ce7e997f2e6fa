//! The one place that writes files of the workspace: only what was decided, whole, or not at all.

use super::crash;
use super::journal::{Draft, Journal, JournalError, Occasion, Undoable};
use super::{Change, Decided};
use crate::message::{CallId, ContentHash};
use crate::workspace::{CreateFolders, FOLDER_MODE, FileError, FileImage, Folder};
use crate::workspace::{Located, Permissions, Workspace, entry_hash, is_link_mode};

/// Size of the largest file that is changed.
pub const LARGEST: u64 = 64 << 20;

/// What was written.
#[derive(Debug)]
pub struct Written {
    pub change: Change,
    /// Hash of the file as it is now; `None` if it was deleted.
    pub hash: Option<ContentHash>,
    /// What could not be kept, such as the owner, or that it cannot be undone.
    pub notes: Vec<String>,
}

/// Why a change was not written. The file is as it was.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    #[error("`{path}` changed since the change was computed; nothing was written")]
    Stale { path: String },
    #[error(
        "`{path}` is read-only (mode {mode:03o}); nothing was written. If it is meant to be \
         changed, its mode must be changed first"
    )]
    ReadOnly { path: String, mode: u32 },
    #[error(transparent)]
    File(FileError),
    #[error("nothing was written, since it could not be recorded for undo: {0}")]
    Journal(#[from] JournalError),
}

/// Writes a change as decided, in the name of `call`.
///
/// The file is read again just before. If it is not the one the change was computed on, nothing
/// is written.
pub fn write(
    workspace: &Workspace,
    decided: Decided,
    call: &CallId,
    journal: Option<&mut Journal>,
) -> Result<Written, WriteError> {
    let change = decided.0;
    let put = Put {
        at: &change.at,
        before: change.before.as_ref(),
        after: change.after.as_deref(),
        permissions: change.mode.map_or(Permissions::Kept, Permissions::Exactly),
        occasion: Occasion::Call(call),
    };
    let notes = put.write(workspace, journal)?;
    let hash = change.after.as_deref().map(|bytes| entry_hash(bytes, change.mode));
    Ok(Written { change, hash, notes })
}

/// Takes what a command made of a file as a change of `call`, so that an undo takes it back, too.
///
/// `None` if the file is as it was `before`. Unlike a write this is recorded afterwards: what
/// stood there before is in the journal already when it was written by the same call.
///
/// # Errors
/// A file that can no longer be read, and a journal that cannot be written.
pub fn adopt(
    workspace: &Workspace,
    at: &Located,
    before: FileImage,
    call: &CallId,
    journal: Option<&mut Journal>,
) -> Result<Option<Written>, WriteError> {
    let after = match workspace.read(at, LARGEST) {
        Ok(image) => Some(image),
        Err(FileError::Missing { .. }) => None,
        Err(error) => return Err(WriteError::File(error)),
    };
    let hash = after.as_ref().map(|image| image.hash);
    if hash == Some(before.hash) {
        return Ok(None);
    }
    let after = after.map(|image| image.bytes);
    let mut notes = Vec::new();
    if let Some(journal) = journal {
        let undoable = journal.record(&Draft {
            occasion: Occasion::Call(call),
            path: at.path(),
            before: Some(&before),
            after: after.as_deref(),
            mode: None,
            made: &[],
        })?;
        notes.extend(undoable.remark().map(str::to_owned));
    }
    let (at, before, notes_of) = (at.clone(), Some(before), Vec::new());
    let change = Change { at, before, after, mode: None, notes: notes_of };
    Ok(Some(Written { change, hash, notes }))
}

/// Bytes to stand at a path in place of others.
pub(super) struct Put<'a> {
    pub(super) at: &'a Located,
    pub(super) before: Option<&'a FileImage>,
    pub(super) after: Option<&'a [u8]>,
    pub(super) permissions: Permissions,
    pub(super) occasion: Occasion<'a>,
}

impl Put<'_> {
    /// Writes it and returns what is to be remarked.
    pub(super) fn write(
        &self,
        workspace: &Workspace,
        journal: Option<&mut Journal>,
    ) -> Result<Vec<String>, WriteError> {
        let create = match self.before {
            None => CreateFolders::Yes,
            Some(_) => CreateFolders::No,
        };
        let folder = match workspace.folder_of(self.at, create) {
            // The folder went away together with the file.
            Err(FileError::Missing { .. }) if self.before.is_some() => return Err(self.stale()),
            folder => folder.map_err(|error| self.explained(error))?,
        };
        let written = self.write_in(&folder, journal);
        if written.is_err() {
            remove_folders(workspace, folder.made());
        }
        written
    }

    fn write_in(
        &self,
        folder: &Folder,
        journal: Option<&mut Journal>,
    ) -> Result<Vec<String>, WriteError> {
        let standing = folder.read_entry(LARGEST).map_err(|error| self.explained(error))?;
        let hash = |image: &FileImage| image.hash;
        if standing.as_ref().map(hash) != self.before.map(hash) {
            return Err(self.stale());
        }
        let mode = match self.permissions {
            Permissions::Kept => None,
            Permissions::Exactly(mode) => Some(mode),
        };
        let is_kept = |image: &&FileImage| image.is_read_only() && mode.is_none();
        if let Some(image) = standing.as_ref().filter(is_kept) {
            let path = self.at.shown().to_owned();
            return Err(WriteError::ReadOnly { path, mode: image.mode });
        }
        let mut notes = Vec::new();
        let same_mode = |image: &FileImage| mode.is_none_or(|mode| mode == image.mode);
        if standing.as_ref().map(|image| &image.bytes[..]) == self.after
            && standing.as_ref().is_none_or(same_mode)
        {
            return Ok(notes);
        }
        if let Some(journal) = journal {
            let undoable = journal.record(&Draft {
                occasion: self.occasion,
                path: self.at.path(),
                before: standing.as_ref(),
                after: self.after,
                mode,
                made: folder.made(),
            })?;
            notes.extend(undoable.remark().map(str::to_owned));
        }
        crash::point("recorded");
        notes.extend(self.place(folder, standing.as_ref())?);
        crash::point("placed");
        folder.sync().map_err(WriteError::File)?;
        Ok(notes)
    }

    fn place(
        &self,
        folder: &Folder,
        standing: Option<&FileImage>,
    ) -> Result<Vec<String>, WriteError> {
        let placed = match (self.after, standing) {
            (None, None) => Ok(Vec::new()),
            (None, Some(base)) => folder.remove(base.hash).map(|()| Vec::new()),
            (Some(_), None) if self.permissions == Permissions::Exactly(FOLDER_MODE) => {
                folder.make_here().map(|()| Vec::new())
            }
            (Some(bytes), _) => {
                let temporary = match self.permissions {
                    Permissions::Exactly(mode) if is_link_mode(mode) => folder.write_link(bytes),
                    permissions => folder.write_temporary(bytes, permissions),
                };
                temporary.and_then(|temporary| {
                    crash::point("temporary written");
                    let lost = temporary.lost().to_vec();
                    match standing {
                        Some(base) => temporary.replace(base.hash),
                        None => temporary.create(),
                    }
                    .map(|()| lost)
                })
            }
        };
        placed.map_err(|error| self.explained(error))
    }

    fn stale(&self) -> WriteError {
        WriteError::Stale { path: self.at.shown().to_owned() }
    }

    fn explained(&self, error: FileError) -> WriteError {
        match error {
            FileError::Changed { .. } | FileError::Link { .. } => self.stale(),
            other => WriteError::File(other),
        }
    }
}

impl Undoable {
    pub(super) fn remark(self) -> Option<&'static str> {
        match self {
            Undoable::Yes => None,
            Undoable::TooLarge => Some("cannot be undone: the file is larger than 8 MiB"),
            Undoable::Full => Some("cannot be undone: the session's undo journal is full"),
        }
    }
}

/// Removes folders that are empty, the innermost first.
pub(super) fn remove_folders(workspace: &Workspace, folders: &[std::path::PathBuf]) {
    for path in folders.iter().rev() {
        let Ok(at) = workspace.locate_path(path) else { return };
        let removed = workspace
            .folder_of(&at, CreateFolders::No)
            .and_then(|parent| parent.remove_empty_folder());
        if removed.is_err() {
            // Something else is in it by now.
            return;
        }
    }
}
