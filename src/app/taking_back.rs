//! What undo and redo say of what they did.

use std::fmt::Write as _;

use crate::change::Journal;
use crate::change::diff;
use crate::change::undo::{self, UndoReport};
use crate::workspace::Workspace;

/// What was done, for the person; and what the model is told of it, if there is anything.
pub(super) struct Told {
    pub(super) person: String,
    pub(super) model: Option<String>,
}

/// Takes back the last turn's changes.
pub(super) fn undo(workspace: &Workspace, journal: &mut Journal) -> anyhow::Result<Told> {
    let report = undo::undo(workspace, journal)?;
    Ok(told(report, "taken back", "there is nothing to take back"))
}

/// Does again what was taken back last.
pub(super) fn redo(workspace: &Workspace, journal: &mut Journal) -> anyhow::Result<Told> {
    let report = undo::redo(workspace, journal)?;
    Ok(told(report, "done again", "there is nothing to do again"))
}

/// Lists the turns that wrote something, the last first.
pub(super) fn listed(journal: &Journal) -> String {
    let mut text = String::new();
    for turn in undo::list(journal).into_iter().rev() {
        let undone = if turn.undone { " (taken back)" } else { "" };
        writeln!(text, "turn {}{undone}", turn.turn).ok();
        for path in turn.paths {
            writeln!(text, "  {}", path.display()).ok();
        }
    }
    if text.is_empty() { "nothing was changed\n".to_owned() } else { text }
}

fn told(report: Option<UndoReport>, done: &str, nothing: &str) -> Told {
    let Some(report) = report else {
        return Told { person: format!("{nothing}\n"), model: None };
    };
    let mut person = String::new();
    let mut paths = Vec::new();
    for change in &report.restored {
        let model = diff::diff(change);
        let path = change.at.shown();
        writeln!(person, "{done}: {path}  +{} -{}", model.added, model.removed).ok();
        paths.push(path.to_owned());
    }
    for left in report.conflicts.iter().chain(&report.not_undoable) {
        writeln!(person, "left as it is: {}: {}", left.path, left.why).ok();
    }
    let model = (!paths.is_empty()).then(|| {
        format!("The person has {done} your changes of these files: {}", paths.join(", "))
    });
    Told { person, model }
}
