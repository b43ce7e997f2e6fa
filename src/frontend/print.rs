//! Headless front end for people: progress on stderr while a turn runs; the answer is printed after it.

use std::collections::HashMap;
use std::io::Write;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;

use super::diff_view::{self, ViewOptions};
use super::sanitise;
use super::style::{Ink, Line, Theme};
use super::swept;
use crate::change::diff;
use crate::event::{Event, EventSink, Stop};
use crate::message::{CallId, Outcome, Status};

/// Lines of a call's text that are shown, its last ones.
const SHOWN_LINES: usize = 6;

/// How much is shown, and how.
#[derive(Clone, Copy, Debug)]
pub struct ProgressOptions {
    pub color: bool,
    /// Nothing but what went wrong.
    pub quiet: bool,
    /// Reasoning and whole outputs, too.
    pub verbose: bool,
}

/// Writes one line for each thing that happens.
pub struct Progress<W> {
    options: ProgressOptions,
    state: Mutex<State<W>>,
}

struct State<W> {
    out: W,
    /// Text of the present reply: progress if calls follow, the answer if not.
    text: String,
    /// What the calls under way would do, by id.
    effects: HashMap<CallId, &'static str>,
}

impl<W: Write + Send> Progress<W> {
    /// Writes to `out`.
    pub fn new(out: W, options: ProgressOptions) -> Progress<W> {
        Progress {
            options,
            state: Mutex::new(State { out, text: String::new(), effects: HashMap::new() }),
        }
    }

    fn lines(&self, event: &Event, state: &mut State<W>) -> Vec<Line> {
        let text = &mut state.text;
        let faint = |text: &str| vec![Line::of(sanitise::dropped(text), Ink::Faint)];
        match event {
            Event::Text { delta } => {
                text.push_str(delta);
                Vec::new()
            }
            Event::CallStarted { call, title, effect } => {
                state.effects.insert(call.id.clone(), effect);
                let said = std::mem::take(text);
                let said = sanitise::dropped(said.trim());
                let mut lines: Vec<Line> = said.lines().map(Line::plain).collect();
                lines.push(
                    Line::of("● ", Ink::Accent).with(&sanitise::visible_line(title), Ink::Text),
                );
                lines
            }
            Event::CallFinished { call, outcome } => {
                self.finished(outcome, state.effects.remove(call).unwrap_or_default())
            }
            Event::CallOutput { delta, .. } if self.options.verbose => {
                sanitise::dropped(delta).lines().map(|line| Line::of(line, Ink::Faint)).collect()
            }
            Event::Reasoning { delta } if self.options.verbose => faint(delta),
            Event::Change { change, .. } => {
                let colour = self.options.color;
                let options = ViewOptions { width: None, colour, folded: true };
                diff_view::render(&diff::diff(change), options)
            }
            Event::CommandChanges { changes, more, .. } => {
                let colour = self.options.color;
                let options = ViewOptions { width: None, colour, folded: true };
                swept::lines(changes, *more, options)
            }
            Event::Restarted { why, wait } => {
                text.clear();
                let why = sanitise::dropped(why);
                let after = if wait.is_zero() {
                    String::new()
                } else {
                    format!(" in {:.0} s", wait.as_secs_f64())
                };
                vec![Line::of(format!("{why}; again{after}"), Ink::Warning)]
            }
            Event::Notice { text } => vec![Line::of(sanitise::dropped(text), Ink::Warning)],
            Event::TurnEnded { stop, denied_calls, .. } => ended(*stop, denied_calls),
            Event::Session { .. }
            | Event::TurnStarted
            | Event::CallArriving { .. }
            | Event::Approval { .. }
            | Event::CallOutput { .. }
            | Event::Reasoning { .. }
            | Event::Usage { .. } => Vec::new(),
        }
    }

    /// Shows what a call gave: a change was shown already, a command's end is enough.
    fn finished(&self, outcome: &Outcome, effect: &str) -> Vec<Line> {
        let (mark, ink) = match outcome.status {
            Status::Done if effect == "write" => return Vec::new(),
            Status::Done if effect == "read" && !self.options.verbose => return Vec::new(),
            Status::Done => ("  ", Ink::Faint),
            Status::Failed => ("  ✗ ", Ink::Error),
            Status::Denied => ("  ✗ ", Ink::Warning),
            Status::Cancelled => ("  – ", Ink::Warning),
        };
        let text = sanitise::dropped(&outcome.text);
        let all: Vec<&str> = text.lines().collect();
        let streamed = self.options.verbose && effect == "execute";
        let limit = match (streamed, self.options.verbose) {
            (true, _) => 1,
            (false, true) => usize::MAX,
            (false, false) => SHOWN_LINES,
        };
        let hidden = all.len().saturating_sub(limit);
        let mut lines = Vec::new();
        if hidden > 0 && !streamed {
            lines.push(Line::of(format!("  … {hidden} more lines (-v shows them)"), Ink::Faint));
        }
        lines.extend(all[hidden..].iter().map(|line| Line::of(format!("{mark}{line}"), ink)));
        lines
    }
}

/// Says why a turn ended that did not simply end.
fn ended(stop: Stop, denied_calls: &[String]) -> Vec<Line> {
    let why = match stop {
        Stop::EndTurn => None,
        Stop::RequestLimit => Some("stopped at the request limit (`--max-requests`)"),
        Stop::TokenLimit => Some("the reply was cut by the model's token limit"),
        Stop::CostLimit => Some("stopped at the cost limit (`--max-cost`)"),
        Stop::Refused => Some("the model declined to answer"),
        Stop::Empty => Some("the model answered nothing"),
        Stop::Repetition => {
            Some("stopped: the same call with the same result, three times in a row")
        }
        Stop::Cancelled => Some("interrupted"),
        Stop::Denied => Some("stopped: a call was rejected"),
    };
    let mut lines: Vec<Line> = why.map(|why| Line::of(why, Ink::Warning)).into_iter().collect();
    for title in denied_calls {
        let text = format!(
            "denied, since nobody was there to ask: {} (see `--mode`)",
            sanitise::visible_line(title)
        );
        lines.push(Line::of(text, Ink::Warning));
    }
    lines
}

#[async_trait]
impl<W: Write + Send> EventSink for Progress<W> {
    async fn emit(&self, event: Event) {
        let state = &mut *self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let lines = self.lines(&event, state);
        let matters = matches!(event, Event::Notice { .. } | Event::TurnEnded { .. });
        if self.options.quiet && !matters {
            return;
        }
        let theme = if self.options.color { Theme::Basic } else { Theme::Plain };
        let text: String = lines.iter().map(|line| line.draw(theme) + "\n").collect();
        // Progress that nobody reads is no reason to stop the work.
        state.out.write_all(text.as_bytes()).ok();
        state.out.flush().ok();
    }
}
