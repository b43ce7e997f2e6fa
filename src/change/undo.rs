//! Takes back what the journal tells of, and does it again: only where nobody wrote since.

use std::path::{Path, PathBuf};

use super::Change;
use super::journal::{Act, Entry, Journal, JournalError, Occasion, RecordedPath, Version};
use super::write::{LARGEST, Put, remove_folders};
use crate::message::ContentHash;
use crate::workspace::{FileError, FileImage, Located, Permissions, Workspace, is_link_mode};

/// What an undo or a redo did, path by path.
#[derive(Debug, Default)]
pub struct UndoReport {
    /// The turn that was taken back or done again.
    pub turn: u64,
    /// Files that are now as they were, with the change that made them so.
    pub restored: Vec<Change>,
    /// Files that were left alone, and why.
    pub conflicts: Vec<Left>,
    /// Files whose earlier bytes were not kept.
    pub not_undoable: Vec<Left>,
}

/// A file that was left as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Left {
    pub path: String,
    pub why: String,
}

/// One turn that wrote something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnWrites {
    pub turn: u64,
    /// Absolute paths, in the order they were first written.
    pub paths: Vec<PathBuf>,
    /// Whether it is taken back at present.
    pub undone: bool,
}

/// Returns the turns that wrote something, oldest first.
pub fn list(journal: &Journal) -> Vec<TurnWrites> {
    let mut turns: Vec<TurnWrites> = Vec::new();
    for entry in journal.entries() {
        let path = entry.path.to_path();
        let undone = entry.act == Act::Undo;
        match turns.iter_mut().find(|turn| turn.turn == entry.turn) {
            Some(turn) => {
                turn.undone = undone;
                if !turn.paths.contains(&path) {
                    turn.paths.push(path);
                }
            }
            None => turns.push(TurnWrites { turn: entry.turn, paths: vec![path], undone }),
        }
    }
    turns
}

/// Takes back what the last turn wrote, as far as it is not taken back yet; `None` if there is
/// nothing to take back.
///
/// A turn of which some files were left alone is not in the way of those before it.
pub fn undo(
    workspace: &Workspace,
    journal: &mut Journal,
) -> Result<Option<UndoReport>, JournalError> {
    for TurnWrites { turn, undone, .. } in list(journal).into_iter().rev() {
        let report = revert(workspace, journal, Occasion::Undo { turn })?;
        if !report.restored.is_empty() || (!undone && !report.is_empty()) {
            return Ok(Some(report));
        }
    }
    Ok(None)
}

/// Does again what was taken back last; `None` if nothing was, or something was written since.
pub fn redo(
    workspace: &Workspace,
    journal: &mut Journal,
) -> Result<Option<UndoReport>, JournalError> {
    let turns = list(journal);
    let last_write = journal.entries().iter().rposition(|entry| entry.act == Act::Write);
    let since = last_write.map_or(0, |index| index + 1);
    let undone = |turn: u64| turns.iter().any(|other| other.turn == turn && other.undone);
    let last = journal.entries()[since..]
        .iter()
        .rev()
        .find(|entry| entry.act == Act::Undo && undone(entry.turn));
    let Some(turn) = last.map(|entry| entry.turn) else { return Ok(None) };
    revert(workspace, journal, Occasion::Redo { turn }).map(Some)
}

impl UndoReport {
    fn is_empty(&self) -> bool {
        self.restored.is_empty() && self.conflicts.is_empty() && self.not_undoable.is_empty()
    }
}

/// Reverts the last batch of each file of a turn: writes for an undo, undos for a redo.
fn revert(
    workspace: &Workspace,
    journal: &mut Journal,
    occasion: Occasion<'_>,
) -> Result<UndoReport, JournalError> {
    let turn = match occasion {
        Occasion::Undo { turn } | Occasion::Redo { turn } => turn,
        Occasion::Call(_) | Occasion::Restore { .. } => return Ok(UndoReport::default()),
    };
    let mut files: Vec<Vec<Entry>> = Vec::new();
    for entry in journal.entries().iter().filter(|entry| entry.turn == turn) {
        match files.iter_mut().find(|file| file[0].path == entry.path) {
            Some(file) => file.push(entry.clone()),
            None => files.push(vec![entry.clone()]),
        }
    }
    journal.begin_batch();
    let mut report = UndoReport { turn, ..UndoReport::default() };
    // The last written goes first, so that folders are empty when their turn comes.
    for entries in files.iter().rev() {
        let one = OnePath { workspace, path: entries[0].path.to_path(), occasion };
        one.revert(entries, journal, &mut report)?;
    }
    Ok(report)
}

/// One file that is taken back to an earlier version.
struct OnePath<'a> {
    workspace: &'a Workspace,
    path: PathBuf,
    occasion: Occasion<'a>,
}

impl OnePath<'_> {
    fn revert(
        &self,
        entries: &[Entry],
        journal: &mut Journal,
        report: &mut UndoReport,
    ) -> Result<(), JournalError> {
        let (at, standing) = match self.standing() {
            Ok(found) => found,
            Err(why) => {
                if self.reverts(&entries[entries.len() - 1]) {
                    report.conflicts.push(self.left(why));
                }
                return Ok(());
            }
        };
        let now = standing.as_ref().map(|image| image.hash);
        let entries = self.to_revert(entries, now);
        let way = way_back(entries, now);
        if let Some(why) = way.conflict {
            report.conflicts.push(self.left(why));
        }
        let (bytes, mode) = match way.target {
            Target::Nothing => return Ok(()),
            Target::Absent => (None, None),
            Target::Version(version) => (journal.bytes(&version)?, version.mode),
        };
        if bytes.is_none() && way.target != Target::Absent {
            report.not_undoable.push(self.left("its earlier bytes are not in the undo journal"));
            return Ok(());
        }
        let permissions = match (&standing, mode) {
            (None, Some(mode)) => Permissions::Exactly(mode),
            (Some(_), Some(mode)) if way.modes || is_link_mode(mode) => Permissions::Exactly(mode),
            _ => Permissions::Kept,
        };
        let put = Put {
            at: &at,
            before: standing.as_ref(),
            after: bytes.as_deref(),
            permissions,
            occasion: self.occasion,
        };
        match put.write(self.workspace, Some(journal)) {
            Ok(_) => {}
            Err(super::WriteError::Journal(error)) => return Err(error),
            Err(error) => {
                report.conflicts.push(self.left(error.to_string()));
                return Ok(());
            }
        }
        for entry in way.made {
            let folders: Vec<PathBuf> = entry.made.iter().map(RecordedPath::to_path).collect();
            remove_folders(self.workspace, &folders);
        }
        let after = bytes.map(Into::into);
        let mode = None;
        report.restored.push(Change { at, before: standing, after, mode, notes: Vec::new() });
        Ok(())
    }

    /// Returns the last batch of a file, if it is one that this undo or redo reverts.
    ///
    /// An entry at the end whose write a crash prevented tells of nothing.
    fn to_revert<'e>(&self, entries: &'e [Entry], now: Option<ContentHash>) -> &'e [Entry] {
        let hash = |version: Option<Version>| version.map(|version| version.hash);
        let is_done = |entry: &Entry| hash(entry.after) == now || hash(entry.before) != now;
        let done = entries.iter().rposition(is_done).map_or(0, |index| index + 1);
        let entries = &entries[..done];
        let Some(last) = entries.last().filter(|last| self.reverts(last)) else { return &[] };
        let start = entries.iter().position(|entry| entry.batch == last.batch);
        &entries[start.unwrap_or(0)..]
    }

    /// Whether an entry is of the kind that is reverted: an undo by a redo, else a write.
    fn reverts(&self, entry: &Entry) -> bool {
        (entry.act == Act::Undo) == matches!(self.occasion, Occasion::Redo { .. })
    }

    /// Reads the file at the recorded path, which must still lead where it led.
    fn standing(&self) -> Result<(Located, Option<FileImage>), String> {
        let at = self.workspace.locate_entry(&self.path).map_err(|error| error.to_string())?;
        if at.path() != self.path {
            return Err("a symbolic link stands there or on the way now".to_owned());
        }
        match self.workspace.read_entry(&at, LARGEST) {
            Ok(image) => Ok((at, Some(image))),
            Err(FileError::Missing { .. }) => Ok((at, None)),
            Err(error) => Err(error.to_string()),
        }
    }

    fn left(&self, why: impl Into<String>) -> Left {
        let path = self.path.strip_prefix(self.workspace.start()).unwrap_or(&self.path);
        Left { path: Path::display(path).to_string(), why: why.into() }
    }
}

/// What a file is taken back to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    /// It is there already.
    Nothing,
    Absent,
    Version(Version),
}

/// How far a file can be taken back.
struct WayBack<'a> {
    target: Target,
    /// The entries on the way that made folders, latest first.
    made: Vec<&'a Entry>,
    /// Whether permissions changed on the way.
    modes: bool,
    conflict: Option<String>,
}

/// Goes back through the writes of one file, as long as each left what stands there.
fn way_back(entries: &[Entry], now: Option<ContentHash>) -> WayBack<'_> {
    let hash = |version: &Option<Version>| version.map(|version| version.hash);
    let mut way =
        WayBack { target: Target::Nothing, made: Vec::new(), modes: false, conflict: None };
    let mut at = now;
    for entry in entries.iter().rev() {
        if hash(&entry.after) == at {
            at = hash(&entry.before);
            way.target = entry.before.map_or(Target::Absent, Target::Version);
            way.modes |= changes_mode(entry);
            if !entry.made.is_empty() {
                way.made.push(entry);
            }
        } else if hash(&entry.before) != at {
            // Neither done nor undone: somebody else wrote it.
            let why = match at {
                None => "it was removed since",
                Some(_) => "it was changed since",
            };
            way.conflict = Some(why.to_owned());
            break;
        }
    }
    if at == now && !way.modes {
        way.target = Target::Nothing;
    }
    way
}

/// Whether an entry tells of other permissions after the write than before.
fn changes_mode(entry: &Entry) -> bool {
    let mode = |version: Option<Version>| version.and_then(|version| version.mode);
    mode(entry.before).zip(mode(entry.after)).is_some_and(|(before, after)| before != after)
}
