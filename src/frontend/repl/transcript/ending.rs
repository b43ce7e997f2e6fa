//! The line at the end of a turn.

use tokio::time::Instant;

use super::Detail;
use super::Kind;
use super::Transcript;
use super::figures;
use crate::event::Stop;
use crate::frontend::sanitise;
use crate::frontend::style::Ink;
use crate::frontend::style::Line;

impl Transcript {
    pub(super) fn ended(
        &mut self,
        stop: Stop,
        changed_files: &[String],
        denied_calls: &[String],
        now: Instant,
    ) {
        self.answered();
        self.finish_text();
        let Some(turn) = self.turn.take() else { return };
        let mut parts = Vec::new();
        parts.extend(why(stop).map(str::to_owned));
        if self.detail != Detail::Quiet {
            parts.push(figures::time(now.saturating_duration_since(turn.since)));
            parts.extend(figures::usage(&turn.usage));
        }
        let mut files: Vec<&String> = changed_files.iter().collect();
        files.sort();
        files.dedup();
        match files.as_slice() {
            [] => {}
            [path] => parts.push(format!("changed {}", sanitise::visible_line(path))),
            files => parts.push(format!("changed {}", figures::counted(files.len(), "file"))),
        }
        if !denied_calls.is_empty() {
            parts.push(format!("{} denied", figures::counted(denied_calls.len(), "call")));
        }
        if parts.is_empty() {
            return;
        }
        self.begin(Kind::Note);
        let ink = if stop == Stop::EndTurn { Ink::Faint } else { Ink::Warning };
        self.printed.push(Line::of(format!("— {}", parts.join(" · ")), ink));
    }
}

/// Returns why a turn ended otherwise than by being done.
fn why(stop: Stop) -> Option<&'static str> {
    match stop {
        Stop::EndTurn => None,
        Stop::RequestLimit => Some("the request limit is reached"),
        Stop::TokenLimit => Some("the reply was cut by the token limit"),
        Stop::CostLimit => Some("the cost limit is reached"),
        Stop::Refused => Some("the model declined to answer"),
        Stop::Empty => Some("the model answered nothing"),
        Stop::Repetition => Some("the model repeats the same call"),
        Stop::Cancelled => Some("stopped"),
        Stop::Denied => Some("stopped by your no"),
    }
}
