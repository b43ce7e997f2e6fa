//! What commands changed, after the fact: a few lines a file, the rest counted.

use super::diff_view::{self, ViewOptions};
use super::sanitise;
use super::style::{Ink, Line};
use crate::change::diff;
use crate::event::CommandChange;

/// Files whose diff is shown, and files that are named at all.
const SHOWN_DIFFS: usize = 4;
const SHOWN_FILES: usize = 12;
/// Lines shown of one diff.
const SHOWN_LINES: usize = 8;

/// Draws `changes`, and says that there are `more` of them.
pub fn lines(changes: &[CommandChange], more: usize, view: ViewOptions) -> Vec<Line> {
    let n_files = diff_view::counted(changes.len() + more, "file");
    let mut lines = vec![Line::of(format!("commands changed {n_files}:"), Ink::Warning)];
    let mut diffs = 0;
    for found in changes.iter().take(SHOWN_FILES) {
        match &found.change {
            Some(change) if diffs < SHOWN_DIFFS => {
                diffs += 1;
                let drawn = diff_view::render(&diff::diff(change), view);
                let hidden = drawn.len().saturating_sub(SHOWN_LINES + 1);
                // One line more takes no more room than saying that there is one.
                let shown = if hidden > 1 { drawn.len() - hidden } else { drawn.len() };
                lines.extend(drawn.into_iter().take(shown));
                if hidden > 1 {
                    lines.push(Line::of(format!("  … {hidden} more lines of it"), Ink::Faint));
                }
            }
            _ => lines.push(named(found)),
        }
    }
    let unnamed = changes.len().saturating_sub(SHOWN_FILES) + more;
    if unnamed > 0 {
        let text = format!("  … and {}", diff_view::counted(unnamed, "more file"));
        lines.push(Line::of(text, Ink::Faint));
    }
    lines
}

/// Returns everything about `changes` as plain text, to be unfolded.
pub fn whole(changes: &[CommandChange]) -> String {
    let text = changes.iter().map(|found| match &found.diff {
        Some(diff) => diff.clone(),
        None => named(found).text() + "\n",
    });
    text.collect()
}

/// Draws one file by its name.
fn named(found: &CommandChange) -> Line {
    let what = match found.kind {
        "created" => "new file",
        "deleted" => "delete",
        "mode" => "mode",
        _ => "edit",
    };
    let mut line = Line::of(format!("{what} "), Ink::Faint);
    line.push(&sanitise::visible_line(&found.path), Ink::Accent);
    match (&found.modes, &found.change) {
        (Some([before, after]), _) => line.push(&format!("  {before} → {after}"), Ink::Faint),
        (None, Some(_)) => {
            line.push(&format!("  +{} −{}", found.added, found.removed), Ink::Faint);
        }
        (None, None) => line.push("  what it was before is not known", Ink::Faint),
    }
    line
}
