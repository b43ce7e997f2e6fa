//! Events to lines: what is finished is printed once, what is not is shown in the live area. Knows no terminal.

mod call;
mod ending;
mod live;
mod said;

use std::time::Duration;

use tokio::time::Instant;

use self::call::Running;
use super::figures;
use crate::event::Event;
use crate::frontend::diff_view::ViewOptions;
use crate::frontend::markdown::Streaming;
use crate::frontend::sanitise;
use crate::frontend::style::Ink;
use crate::frontend::style::Line;
use crate::frontend::style::Style;
use crate::frontend::style::Theme;
use crate::frontend::swept;
use crate::frontend::wrap;
use crate::message::CallId;
use crate::message::Outcome;
use crate::message::Usage;

/// Bytes of reasoning that are kept to be expanded.
const REASONING: usize = 64 << 10;
/// Lines of the person's words that are printed; they know the rest.
const PERSON_LINES: usize = 30;

/// How much is said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detail {
    Quiet,
    #[default]
    Usual,
    Verbose,
}

/// What kind of thing was printed last: kinds are set apart by an empty line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Start,
    Person,
    Text,
    Call,
    Diff,
    Note,
}

/// The turn that runs.
#[derive(Debug)]
struct Turn {
    since: Instant,
    usage: Usage,
    /// Since when nothing has come from the model.
    thinking: Option<Instant>,
    /// The last words of reasoning.
    reasoning: String,
    /// The call that is being written.
    arriving: Option<String>,
    retry: Option<Instant>,
}

/// What has happened, as lines.
#[derive(Debug)]
pub(super) struct Transcript {
    detail: Detail,
    columns: usize,
    colour: bool,
    printed: Vec<Line>,
    last: Kind,
    text: Option<Streaming>,
    calls: Vec<Running>,
    turn: Option<Turn>,
    /// Changes that the person has just seen in a question, and that are not settled.
    reviewed: Vec<(CallId, String)>,
    /// What Ctrl-O shows: its title and its whole text.
    folded: Option<(String, String)>,
    /// The person's own command that runs, and its unfinished line.
    shell: Option<(CallId, String)>,
    /// Lines that wait for the end of the text.
    held: Vec<Line>,
}

impl Transcript {
    /// Returns an empty transcript for a screen of `columns`.
    pub(super) fn new(detail: Detail, columns: usize, theme: Theme) -> Transcript {
        Transcript {
            detail,
            columns,
            colour: theme != Theme::Plain,
            printed: Vec::new(),
            last: Kind::Start,
            text: None,
            calls: Vec::new(),
            turn: None,
            reviewed: Vec::new(),
            folded: None,
            shell: None,
            held: Vec::new(),
        }
    }

    /// Takes the lines that are finished, to be printed once.
    pub(super) fn take_printed(&mut self) -> Vec<Line> {
        std::mem::take(&mut self.printed)
    }

    /// Takes note of a new width.
    pub(super) fn resize(&mut self, columns: usize) {
        self.columns = columns;
        if let Some(text) = &mut self.text {
            text.resize(columns);
        }
    }

    /// Prints what the person said.
    pub(super) fn person(&mut self, words: &str) {
        self.begin(Kind::Person);
        let text = sanitise::dropped(words);
        for (index, text) in text.lines().take(PERSON_LINES).enumerate() {
            let mark = if index == 0 { "› " } else { "  " };
            let line = Line::of(mark, Ink::Faint).with(&text.replace('\t', "    "), Ink::Accent);
            self.printed.extend(wrap::words(&line, self.columns, &Line::plain("  ")));
        }
        if let Some(more) = text.lines().count().checked_sub(PERSON_LINES + 1) {
            let more = figures::counted(more + 1, "more line");
            self.printed.push(Line::of(format!("  … {more}"), Ink::Faint));
        }
    }

    /// Prints something Snick has to say.
    pub(super) fn note(&mut self, text: &str, ink: Ink) {
        self.begin(Kind::Note);
        for text in sanitise::dropped(text).lines() {
            let line = Line::of(text, ink);
            self.printed.extend(wrap::words(&line, self.columns, &Line::default()));
        }
    }

    /// Prints lines as they are.
    pub(super) fn lines(&mut self, lines: impl IntoIterator<Item = Line>) {
        self.begin(Kind::Note);
        self.printed.extend(lines);
    }

    /// Prints the diff of a change, or what else belongs above a question.
    pub(super) fn diff(&mut self, lines: Vec<Line>) {
        if !lines.is_empty() {
            self.begin(Kind::Diff);
            self.printed.extend(lines);
        }
    }

    /// Returns how diffs are drawn here.
    pub(super) fn view(&self) -> ViewOptions {
        let width = u16::try_from(self.columns).ok();
        ViewOptions { width, colour: self.colour, folded: true }
    }

    /// Remembers that the person sees these changes in a question: each call with its path.
    pub(super) fn reviewed(&mut self, calls: Vec<(CallId, String)>) {
        self.reviewed.extend(calls);
    }

    /// Prints the whole of what was folded last.
    pub(super) fn expand(&mut self) {
        let reasoning = self.turn.as_ref().map(|turn| turn.reasoning.clone());
        let thinking = reasoning.filter(|text| !text.is_empty());
        let live = self.calls.last().filter(|call| !call.output.is_empty());
        let (title, text) = match (live, thinking, &self.folded) {
            (Some(call), _, _) => (call.title.clone(), call.output.clone()),
            (None, Some(reasoning), _) => ("the reasoning so far".to_owned(), reasoning),
            (None, None, Some(folded)) => folded.clone(),
            (None, None, None) => return self.note("there is no output to expand", Ink::Faint),
        };
        self.begin(Kind::Note);
        let title = sanitise::visible_line(&title);
        self.printed.push(Line::of("▾ ", Ink::Faint).with(&title, Ink::Text));
        let text = sanitise::dropped(&text);
        self.printed.extend(text.lines().map(call::quoted));
    }

    /// Takes one event.
    pub(super) fn event(&mut self, event: Event, now: Instant) {
        match event {
            Event::Session { .. } => {}
            Event::TurnStarted => self.start(now),
            Event::Text { delta } => {
                self.answered();
                self.stream(&delta);
            }
            Event::Reasoning { delta } => self.reason(&delta, now),
            Event::Restarted { why, wait } => self.restarted(&why, wait, now),
            Event::CallArriving { name } => {
                if let Some(turn) = &mut self.turn {
                    turn.thinking.get_or_insert(now);
                    turn.arriving = Some(name);
                }
            }
            Event::CallStarted { call, title, effect } => {
                self.answered();
                self.finish_text();
                let (output, counts) = (String::new(), None);
                self.calls.push(Running { id: call.id, title, effect, since: now, output, counts });
            }
            Event::Approval { call, verdict, by } => {
                // The time that is told is the call's own, without the person's.
                if let Some(running) = self.calls.iter_mut().find(|running| running.id == call) {
                    running.since = now;
                }
                if self.detail == Detail::Verbose {
                    self.note(&format!("{}: {by}", verdict.name()), Ink::Faint);
                }
            }
            Event::CallOutput { call, delta } => self.output(&call, &delta),
            Event::CallFinished { call, outcome } => self.finished(&call, &outcome, now),
            Event::Change { path, added, removed, change, .. } => {
                self.count(added, removed);
                if !self.reviewed.iter().any(|(_, seen)| *seen == path) {
                    self.diff(super::dialog::change_lines(&change, self.view()));
                }
            }
            Event::CommandChanges { changes, more, .. } => {
                let lines = swept::lines(&changes, more, self.view());
                self.folded = Some(("what commands changed".to_owned(), swept::whole(&changes)));
                match &self.text {
                    // They must not tear a paragraph apart.
                    Some(_) => self.held.extend(lines),
                    None => self.diff(lines),
                }
            }
            Event::Usage { usage } => {
                if let Some(turn) = &mut self.turn {
                    figures::add(&mut turn.usage, &usage);
                }
            }
            Event::Notice { text } => self.note(&text, Ink::Warning),
            Event::TurnEnded { stop, changed_files, denied_calls, .. } => {
                self.ended(stop, &changed_files, &denied_calls, now);
            }
        }
    }

    /// Ends what a turn left open, when it has ended in whatever way.
    pub(super) fn close_turn(&mut self) {
        self.finish_text();
        self.turn = None;
        self.calls.clear();
        self.reviewed.clear();
    }

    /// Starts showing the person's own command.
    pub(super) fn shell_started(&mut self, command: &str, hidden: bool) {
        self.person(&format!("{}{command}", if hidden { "!!" } else { "!" }));
        self.shell = Some((CallId(String::new()), String::new()));
    }

    /// Ends it with its last line.
    pub(super) fn shell_ended(&mut self, end: &str) {
        if let Some((_, rest)) = self.shell.take()
            && !rest.is_empty()
        {
            self.shell_line(&rest);
        }
        let ink = if end == "[exit code: 0]" { Ink::Faint } else { Ink::Warning };
        self.printed.push(Line::of(sanitise::dropped(end), ink));
        self.last = Kind::Call;
    }

    /// Says whether something is shown that moves by itself.
    pub(super) fn moves(&self) -> bool {
        self.turn.is_some() || self.shell.is_some()
    }

    fn start(&mut self, now: Instant) {
        self.turn = Some(Turn {
            since: now,
            usage: Usage::default(),
            thinking: Some(now),
            reasoning: String::new(),
            arriving: None,
            retry: None,
        });
    }

    /// Something of the reply is here: the model is no longer thinking.
    fn answered(&mut self) {
        let Some(turn) = &mut self.turn else { return };
        (turn.thinking, turn.arriving, turn.retry) = (None, None, None);
        let reasoning = std::mem::take(&mut turn.reasoning);
        if reasoning.is_empty() {
            return;
        }
        if self.detail == Detail::Verbose {
            self.begin(Kind::Note);
            let text = sanitise::dropped(&reasoning);
            let style = Style::from(Ink::Faint).italic();
            self.printed.extend(text.trim().lines().map(|text| Line::of(text, style)));
        }
        self.folded = Some(("the reasoning before this".to_owned(), reasoning));
    }

    fn reason(&mut self, delta: &str, now: Instant) {
        let Some(turn) = &mut self.turn else { return };
        turn.thinking.get_or_insert(now);
        turn.reasoning.push_str(delta);
        if turn.reasoning.len() > 2 * REASONING {
            let cut = turn.reasoning.floor_char_boundary(turn.reasoning.len() - REASONING);
            turn.reasoning.drain(..cut);
        }
    }

    fn restarted(&mut self, why: &str, wait: Duration, now: Instant) {
        let void = self.text.is_some();
        self.finish_text();
        let after = match wait.as_secs() {
            0 => String::new(),
            _ => format!(" in {}", figures::time(wait)),
        };
        let void = if void { "; the reply above broke off and is void" } else { "" };
        self.note(&format!("↻ asking again{after}: {why}{void}"), Ink::Warning);
        if let Some(turn) = &mut self.turn {
            turn.reasoning.clear();
            (turn.thinking, turn.arriving, turn.retry) = (Some(now), None, Some(now + wait));
        }
    }

    fn stream(&mut self, delta: &str) {
        if self.text.is_none() {
            if delta.trim().is_empty() {
                return;
            }
            self.begin(Kind::Text);
        }
        let columns = self.columns;
        let text = self.text.get_or_insert_with(|| Streaming::new(columns));
        self.printed.extend(text.push(delta));
    }

    fn finish_text(&mut self) {
        if let Some(mut text) = self.text.take() {
            self.printed.extend(text.finish());
            let held = std::mem::take(&mut self.held);
            self.diff(held);
        }
    }

    fn output(&mut self, id: &CallId, delta: &str) {
        if let Some(call) = self.calls.iter_mut().find(|call| call.id == *id) {
            return call.add(delta);
        }
        let Some((_, rest)) = &mut self.shell else { return };
        rest.push_str(delta);
        while let Some((_, rest)) = &mut self.shell
            && let Some(end) = rest.find('\n')
        {
            let line: String = rest.drain(..=end).collect();
            self.shell_line(&line);
        }
    }

    /// Output of the person's own command is printed whole: it was asked for.
    fn shell_line(&mut self, line: &str) {
        let text = sanitise::dropped(line).replace('\t', "    ");
        self.printed.extend(text.lines().map(|text| Line::plain(text.to_owned())));
    }

    fn count(&mut self, added: usize, removed: usize) {
        if let Some(call) = self.calls.iter_mut().find(|call| call.effect == "write") {
            call.counts = Some((added, removed));
        }
    }

    fn finished(&mut self, id: &CallId, outcome: &Outcome, now: Instant) {
        self.reviewed.retain(|(call, _)| call != id);
        let Some(index) = self.calls.iter().position(|call| call.id == *id) else { return };
        let call = self.calls.remove(index);
        self.begin(Kind::Call);
        self.printed.extend(call.finished(outcome, now));
        self.folded = Some((call.title, outcome.text.clone()));
        if self.calls.is_empty()
            && let Some(turn) = &mut self.turn
        {
            turn.thinking = Some(now);
        }
    }

    /// Sets what comes apart from what came before.
    fn begin(&mut self, kind: Kind) {
        if kind != Kind::Text {
            self.finish_text();
        }
        let together = self.last == kind && matches!(kind, Kind::Call | Kind::Note)
            || self.last == Kind::Start
            || (self.last == Kind::Diff && kind == Kind::Call);
        if !together {
            self.printed.push(Line::default());
        }
        self.last = kind;
    }
}
