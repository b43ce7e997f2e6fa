//! What undo and redo say of what they did.

use std::fmt::Write as _;

use crate::change::Journal;
use crate::change::diff;
use crate::change::undo::{self, UndoReport};
use crate::change::{CommandChanged, last_by_commands, restore};
use crate::frontend::diff_view::{self, ViewOptions};
use crate::frontend::style::Theme;
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

/// What the person wants of one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wish {
    TakeBack,
    Leave,
}

/// Shows each file that commands changed last with what would take it back, and does as `ask` says.
pub(super) fn undo_commands(
    workspace: &Workspace,
    journal: &mut Journal,
    colour: bool,
    ask: &mut dyn FnMut(&str) -> anyhow::Result<Wish>,
) -> anyhow::Result<Told> {
    let found = last_by_commands(workspace, journal)?;
    if found.is_empty() {
        let person = "no command has changed a file, as far as is known\n".to_owned();
        return Ok(Told { person, model: None });
    }
    let view = ViewOptions { width: None, colour, folded: true };
    let theme = if colour { Theme::Basic } else { Theme::Plain };
    let (mut person, mut paths) = (String::new(), Vec::new());
    for CommandChanged { path, way_back, .. } in found {
        let restorable = match way_back {
            Ok(restorable) => restorable,
            Err(why) => {
                writeln!(person, "left as it is: {path}: {why}").ok();
                continue;
            }
        };
        let lines = diff_view::render(&diff::diff(&restorable.change), view);
        let shown: String = lines.iter().map(|line| line.draw(theme) + "\n").collect();
        match ask(&shown)? {
            Wish::Leave => {
                writeln!(person, "left as it is: {path}").ok();
            }
            Wish::TakeBack => match restore(workspace, journal, &restorable) {
                Ok(()) => {
                    writeln!(person, "taken back: {path}").ok();
                    paths.push(path);
                }
                Err(error) => {
                    writeln!(person, "left as it is: {path}: {error}").ok();
                }
            },
        }
    }
    let model = (!paths.is_empty()).then(|| {
        let paths = paths.join(", ");
        format!("The person has taken back what commands changed in these files: {paths}")
    });
    Ok(Told { person, model })
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
