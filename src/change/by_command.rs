//! What commands changed: recorded after the fact, shown file by file, taken back when asked for.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::Change;
use super::journal::{Journal, JournalError, Occasion, RecordedPath, Undoable, Version};
use super::write::{LARGEST, Put, WriteError};
use crate::index::sweep::{Found, Kind};
use crate::message::CallId;
use crate::workspace::{FileError, FileImage, Located, Permissions, Workspace};

/// One line of the journal about a command. Readers that do not know the kind pass over it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CommandEntry {
    pub(super) turn: u64,
    #[serde(rename = "by_command")]
    pub(super) what: What,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) call: Option<CallId>,
    pub(super) path: RecordedPath,
    /// What stood there; `None` if nothing did, or nobody knows what.
    pub(super) before: Option<Version>,
    /// What was left there; `None` if nothing was, or it is too large.
    pub(super) after: Option<Version>,
}

/// What became of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum What {
    Created,
    Modified,
    Deleted,
    Mode,
    /// It was taken back to what it was before all entries above.
    Restored,
}

impl Journal {
    /// Whether commands changed files, as far as is known.
    pub fn knows_of_commands(&self) -> bool {
        !self.by_command().is_empty()
    }

    /// Records what a sweep has found after `call`; the earlier bytes are kept, where known.
    pub fn record_by_command(&mut self, call: &CallId, found: &Found) -> Result<(), JournalError> {
        let before = match &found.before {
            None => None,
            Some(image) => {
                let kept = self.keep(&image.bytes, image.hash)? == Undoable::Yes;
                Some(Version { hash: image.hash, mode: Some(image.mode), kept })
            }
        };
        let left = |image: &FileImage| {
            // The bytes are in the workspace; the hash tells whether they still are.
            Version { hash: image.hash, mode: Some(image.mode), kept: false }
        };
        let what = match found.kind {
            Kind::Created => What::Created,
            Kind::Modified => What::Modified,
            Kind::Deleted => What::Deleted,
            Kind::Mode { .. } => What::Mode,
        };
        self.append_by_command(CommandEntry {
            turn: self.turn(),
            what,
            call: Some(call.clone()),
            path: RecordedPath::new(&found.path),
            before,
            after: found.after.as_ref().map(left),
        })
    }
}

/// A file that commands changed in one turn.
#[derive(Clone, Debug)]
pub struct CommandChanged {
    /// As it is shown.
    pub path: String,
    pub turn: u64,
    /// What would take it back, or why nothing can.
    pub way_back: Result<Restorable, String>,
}

/// A change that takes a file back to what it was before a command.
#[derive(Clone, Debug)]
pub struct Restorable {
    pub change: Change,
    turn: u64,
    /// Permissions of a file that is gone.
    mode: Option<u32>,
}

/// Returns the files that commands changed in the last turn where they did, as far as that is
/// not taken back yet.
pub fn last_by_commands(
    workspace: &Workspace,
    journal: &Journal,
) -> Result<Vec<CommandChanged>, JournalError> {
    let mut files: Vec<Vec<&CommandEntry>> = Vec::new();
    for entry in journal.by_command() {
        let known = files
            .iter_mut()
            .find(|file| (&file[0].path, file[0].turn) == (&entry.path, entry.turn));
        match (known, entry.what) {
            (Some(file), What::Restored) => file.clear(),
            (None, What::Restored) => {}
            (Some(file), _) => file.push(entry),
            (None, _) => files.push(vec![entry]),
        }
        files.retain(|file| !file.is_empty());
    }
    let last = files.iter().map(|file| file[0].turn).max();
    files.retain(|file| Some(file[0].turn) == last);
    let found = files.iter().map(|entries| changed(workspace, journal, entries));
    // A file that came and went again needs no way back.
    let differs = |found: &CommandChanged| match &found.way_back {
        Ok(Restorable { change, .. }) => {
            change.before.as_ref().map(|image| &image.bytes) != change.after.as_ref()
        }
        Err(_) => true,
    };
    let found: Result<Vec<CommandChanged>, JournalError> = found.collect();
    found.map(|found| found.into_iter().filter(differs).collect())
}

/// Takes a file back, if it is still as it was when it was shown. The journal keeps what stood there.
pub fn restore(
    workspace: &Workspace,
    journal: &mut Journal,
    restorable: &Restorable,
) -> Result<(), WriteError> {
    let Restorable { change, turn, mode } = restorable;
    let permissions = match (&change.before, mode) {
        (None, Some(mode)) => Permissions::Exactly(*mode),
        _ => Permissions::Kept,
    };
    let put = Put {
        at: &change.at,
        before: change.before.as_ref(),
        after: change.after.as_deref(),
        permissions,
        occasion: Occasion::Restore { turn: *turn },
    };
    put.write(workspace, Some(journal)).map(|_| ())
}

/// Says what would take back all `entries` of one file, of which there is one at least.
fn changed(
    workspace: &Workspace,
    journal: &Journal,
    entries: &[&CommandEntry],
) -> Result<CommandChanged, JournalError> {
    let turn = entries[0].turn;
    let path = entries[0].path.to_path();
    let shown = path.strip_prefix(workspace.start()).unwrap_or(&path).display().to_string();
    let left = |why: &str| Err(why.to_owned());
    let contents = || entries.iter().filter(|entry| entry.what != What::Mode);
    let way_back = match (contents().next(), contents().next_back(), standing(workspace, &path)) {
        (_, _, Err(why)) => Err(why),
        (Some(first), Some(last), Ok((at, standing))) => {
            let now = standing.as_ref().map(|image| image.hash);
            let expected = last.after.map(|version| version.hash);
            let bytes = match (first.what, &first.before) {
                (What::Created, _) => Some(None),
                (_, Some(version)) => journal.bytes(version)?.map(Some),
                (_, None) => None,
            };
            match bytes {
                _ if expected.is_none() && last.what != What::Deleted => {
                    left("it is too large to be compared")
                }
                _ if now != expected => left("it was changed since"),
                None => left("its earlier bytes were not kept"),
                Some(after) => {
                    let after = after.map(Into::into);
                    let mode = first.before.and_then(|version| version.mode);
                    let modes = (mode, standing.as_ref().map(|image| image.mode));
                    let notes = match modes {
                        (Some(then), Some(now)) if then != now && after.is_some() => {
                            vec![format!("its permissions stay {now:03o}; they were {then:03o}")]
                        }
                        _ => Vec::new(),
                    };
                    let change = Change { at, before: standing, after, mode: None, notes };
                    Ok(Restorable { change, turn, mode })
                }
            }
        }
        (_, _, Ok(_)) => {
            let mode = entries[0].before.and_then(|version| version.mode);
            Err(match mode {
                Some(mode) => format!("only its permissions changed; they were {mode:03o}"),
                None => "only its permissions changed".to_owned(),
            })
        }
    };
    Ok(CommandChanged { path: shown, turn, way_back })
}

/// Reads what stands at the recorded path, which must still lead where it led.
fn standing(workspace: &Workspace, path: &Path) -> Result<(Located, Option<FileImage>), String> {
    let at = workspace.locate_path(path).map_err(|error| error.to_string())?;
    if at.path() != path {
        return Err("a symbolic link stands there or on the way".to_owned());
    }
    match workspace.read(&at, LARGEST) {
        Ok(image) => Ok((at, Some(image))),
        Err(FileError::Missing { .. }) => Ok((at, None)),
        Err(error) => Err(error.to_string()),
    }
}
