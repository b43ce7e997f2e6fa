//! Calls as they run and as they end: a title, a mark, and as much of the output as helps.

use std::time::Duration;

use tokio::time::Instant;

use super::super::figures;
use crate::frontend::sanitise;
use crate::frontend::style::Ink;
use crate::frontend::style::Line;
use crate::message::CallId;
use crate::message::Outcome;
use crate::message::Status;

/// Bytes of a running command's output that are kept to be shown.
const KEPT: usize = 64 << 10;
/// Last lines shown of a running command.
const TAIL: usize = 4;
/// Lines shown of a finished command, half from each end; longer ones are folded.
const FOLD: usize = 8;
/// From here on the time is worth saying.
const SLOW: Duration = Duration::from_secs(3);

/// A call that has started and not ended.
#[derive(Debug)]
pub(super) struct Running {
    pub id: CallId,
    pub title: String,
    pub effect: &'static str,
    pub since: Instant,
    /// What it has printed lately.
    pub output: String,
    /// Lines added and removed by what it wrote.
    pub counts: Option<(usize, usize)>,
}

impl Running {
    /// Takes more output; the oldest is let go.
    pub(super) fn add(&mut self, delta: &str) {
        self.output.push_str(delta);
        if self.output.len() > 2 * KEPT {
            let cut = self.output.floor_char_boundary(self.output.len() - KEPT);
            self.output.drain(..cut);
        }
    }

    /// Draws it while it runs.
    pub(super) fn live(&self, spinner: char, now: Instant) -> Vec<Line> {
        let elapsed = now.saturating_duration_since(self.since);
        let mut line = Line::of(format!("{spinner} "), Ink::Accent);
        line.push(&sanitise::visible_line(&self.title), Ink::Text);
        line.push(&format!("  {}", figures::time(elapsed)), Ink::Faint);
        let clean = sanitise::dropped(&self.output);
        let lines: Vec<&str> = clean.lines().collect();
        let first = lines.len().saturating_sub(TAIL);
        let tail = lines[first..].iter().map(|text| quoted(text));
        std::iter::once(line).chain(tail).collect()
    }

    /// Draws it when it has ended.
    pub(super) fn finished(&self, outcome: &Outcome, now: Instant) -> Vec<Line> {
        let (mark, ink) = match outcome.status {
            Status::Done => ("✓ ", Ink::Good),
            Status::Failed | Status::Denied => ("✗ ", Ink::Error),
            Status::Cancelled => ("◌ ", Ink::Warning),
        };
        let mut line = Line::of(mark, ink);
        line.push(&sanitise::visible_line(&self.title), Ink::Text);
        let elapsed = now.saturating_duration_since(self.since);
        let mut remarks = self.remarks(outcome);
        if elapsed >= SLOW && self.effect == "execute" {
            remarks.push(figures::time(elapsed));
        }
        if !remarks.is_empty() {
            line.push(&format!("  {}", remarks.join(" · ")), Ink::Faint);
        }
        let mut lines = vec![line];
        lines.extend(self.body(outcome));
        lines
    }

    fn remarks(&self, outcome: &Outcome) -> Vec<String> {
        match (outcome.status, self.effect) {
            (Status::Done, "read") => {
                vec![figures::counted(outcome.text.lines().count(), "line")]
            }
            (Status::Done, _) => self
                .counts
                .map(|(added, removed)| format!("+{added} −{removed}"))
                .into_iter()
                .collect(),
            (Status::Denied, _) => vec!["denied".to_owned()],
            (Status::Cancelled, _) => vec!["cancelled".to_owned()],
            (Status::Failed, _) => Vec::new(),
        }
    }

    /// Returns the lines below the title: a command's output, or why it did not work.
    fn body(&self, outcome: &Outcome) -> Vec<Line> {
        let text = sanitise::dropped(&outcome.text);
        match (outcome.status, self.effect) {
            (Status::Done, "execute") => folded(&without_plain_end(&text)),
            (Status::Done | Status::Cancelled, _) => Vec::new(),
            (Status::Failed | Status::Denied, _) => folded(&text.lines().collect::<Vec<_>>()),
        }
    }
}

/// Returns the lines of a command's output; that it succeeded needs no line.
fn without_plain_end(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.trim_end().lines().collect();
    if lines.last() == Some(&"[exit code: 0]") {
        lines.pop();
    }
    lines
}

/// Returns all of `lines`, or both ends and how many are between.
pub(super) fn folded(lines: &[&str]) -> Vec<Line> {
    if lines.len() <= FOLD + 1 {
        return lines.iter().map(|text| quoted(text)).collect();
    }
    let (head, tail) = (&lines[..FOLD / 2], &lines[lines.len() - FOLD / 2..]);
    let left_out = lines.len() - FOLD;
    let note = Line::of(format!("  │ … {left_out} more lines (ctrl+o)"), Ink::Faint);
    let mut out: Vec<Line> = head.iter().map(|text| quoted(text)).collect();
    out.push(note);
    out.extend(tail.iter().map(|text| quoted(text)));
    out
}

/// Returns a line of output behind a bar.
pub(super) fn quoted(text: &str) -> Line {
    let text = text.replace('\t', "    ");
    Line::of("  │ ", Ink::Faint).with(&text, Ink::Faint)
}
