//! What is not finished, for the live area: a paragraph, running calls, or that the model thinks.

use tokio::time::Instant;

use super::Transcript;
use super::Turn;
use super::figures;
use crate::frontend::repl::screen;
use crate::frontend::sanitise;
use crate::frontend::style::Ink;
use crate::frontend::style::Line;
use crate::frontend::style::Style;
use crate::frontend::wrap;

/// Rows of a live paragraph.
const ROWS: usize = 12;

impl Transcript {
    /// Draws what is not finished: a paragraph, running calls, or that the model thinks.
    pub(in crate::frontend::repl) fn live(&self, now: Instant) -> Vec<Line> {
        let spinner = spinner(self.turn.as_ref().map_or(now, |turn| turn.since), now);
        let mut lines = Vec::new();
        if let Some(text) = &self.text {
            let pending = text.pending();
            let first = pending.len().saturating_sub(ROWS);
            lines.extend_from_slice(&pending[first..]);
        }
        for call in &self.calls {
            lines.extend(call.live(spinner, now));
        }
        if let Some((_, rest)) = &self.shell
            && !rest.is_empty()
        {
            lines.push(Line::plain(sanitise::dropped(rest)));
        }
        if let Some(turn) = &self.turn {
            lines.extend(self.thinking(turn, spinner, now));
        }
        let columns = self.columns;
        lines.iter().flat_map(|line| wrap::exactly(line, columns, &Line::plain("    "))).collect()
    }

    /// Says what the turn waits for; its calls say it themselves.
    fn thinking(&self, turn: &Turn, spinner: char, now: Instant) -> Vec<Line> {
        if !self.calls.is_empty() {
            return Vec::new();
        }
        let passed = |since| figures::time(now.saturating_duration_since(since));
        let what = match (&turn.arriving, turn.retry, turn.thinking) {
            (_, Some(at), _) if at > now => format!("asking again in {}", figures::time(at - now)),
            (Some(name), _, Some(since)) => {
                format!("writing a call of {} {}", sanitise::visible_line(name), passed(since))
            }
            (None, _, Some(since)) => format!("thinking {}", passed(since)),
            (_, _, None) => format!("writing {}", passed(turn.since)),
        };
        let mut line = Line::of(format!("{spinner} "), Ink::Accent);
        line.push(&format!("{what} · esc stops"), Ink::Faint);
        let text = sanitise::dropped(&turn.reasoning);
        let latest = text.trim_end().lines().next_back().unwrap_or("").trim();
        if latest.is_empty() || self.columns < 30 {
            return vec![line];
        }
        let style = Style::from(Ink::Faint).italic();
        let latest = screen::cut_to(&Line::of(format!("  {latest}"), style), self.columns);
        vec![line, latest]
    }
}

/// Returns the sign that time passes.
fn spinner(since: Instant, now: Instant) -> char {
    const SIGNS: [char; 4] = ['◐', '◓', '◑', '◒'];
    let steps = now.saturating_duration_since(since).as_millis() / 250;
    SIGNS[usize::try_from(steps % 4).unwrap_or(0)]
}
