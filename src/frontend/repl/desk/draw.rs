//! The live area, from top to bottom: what runs, what is asked, what is queued, the input, the list under it, the status.

use tokio_util::sync::CancellationToken;

use super::Desk;
use super::Instant;
use crate::approval::Mode;
use crate::frontend::repl::ExitKind;
use crate::frontend::repl::editor::Layout;
use crate::frontend::repl::figures;
use crate::frontend::repl::help;
use crate::frontend::repl::screen::Frame;
use crate::frontend::repl::screen::cut_to;
use crate::frontend::sanitise;
use crate::frontend::style::Ink;
use crate::frontend::style::Line;
use crate::frontend::style::Style;
use crate::frontend::style::width;
use crate::frontend::wrap;

/// Queued inputs that are shown one by one.
const QUEUED: usize = 4;
/// On a screen with fewer rows nothing is set apart by empty ones.
const LOW: usize = 12;
/// What stands before the input.
const PROMPT: &str = "› ";

impl Desk<'_> {
    /// Draws what has changed, unless the terminal is away or the last picture is very fresh.
    pub(super) fn draw(&mut self) {
        let now = Instant::now();
        if self.edit.is_some() || (self.dirty && now < self.drawn + super::FRAME) {
            return;
        }
        if self.hint.as_ref().is_some_and(|(_, until)| now >= *until) {
            self.hint = None;
        }
        let frame = self.frame(now);
        let printed = self.transcript.take_printed();
        let bytes = self.screen.draw(&printed, frame);
        (self.drawn, self.dirty) = (now, false);
        self.write(&bytes);
    }

    /// Prints what is left and removes the live area.
    pub(super) fn finish(&mut self, exit: ExitKind) {
        self.transcript.close_turn();
        let status = self.host.status();
        if exit == ExitKind::Quit && status.requests > 0 && status.log.is_some() {
            let id = sanitise::visible_line(&status.session);
            self.transcript.note(&format!("to go on: snick -r {id}"), Ink::Faint);
        }
        let printed = self.transcript.take_printed();
        let mut bytes = self.screen.draw(&printed, Frame::default());
        bytes.push_str(&self.screen.erase());
        self.write(&bytes);
    }

    /// Says what this is, once.
    pub(super) fn greet(&mut self) {
        let status = self.host.status();
        let what = Line::of("snick", Style::from(Ink::Accent).bold())
            .with(&format!(" {}", self.options.version), Ink::Faint)
            .with(&format!("  {}", sanitise::visible_line(&status.model)), Ink::Text);
        let place = status.workspace.display().to_string();
        let place = what.with(&format!("  {}", sanitise::visible_line(&place)), Ink::Faint);
        self.transcript.lines([place]);
    }

    /// Draws everything again from where the live area begins.
    pub(super) fn redraw(&mut self) {
        self.screen.forget();
        self.dirty = false;
        self.draw();
    }

    /// Removes the live area and gives the terminal back for a while.
    pub(super) fn give_terminal_away(&mut self) {
        let printed = self.transcript.take_printed();
        let mut bytes = self.screen.draw(&printed, Frame::default());
        bytes.push_str(&self.screen.erase());
        self.write(&bytes);
        self.terminal.give_back();
    }

    /// Returns the columns that the text of the input may take.
    pub(super) fn input_columns(&self) -> usize {
        let before = self.words.as_deref().map_or(width(PROMPT), |_| width(PROMPT));
        self.columns().saturating_sub(before).max(1)
    }

    /// Writes to the terminal. One that is gone ends the program, once what runs has settled.
    fn write(&mut self, bytes: &str) {
        if !bytes.is_empty() && self.terminal.write(bytes).is_err() && self.leaving.is_none() {
            self.leave(ExitKind::Hangup);
        }
    }

    fn frame(&self, now: Instant) -> Frame {
        let roomy = self.size.rows >= LOW;
        let mut rows = Vec::new();
        let mut part = |lines: Vec<Line>| {
            if roomy && !lines.is_empty() {
                rows.push(Line::default());
            }
            rows.extend(lines);
        };
        // What waits for an answer does not run.
        if self.dialog.is_none() {
            part(self.transcript.live(now));
        }
        part(self.question_lines());
        part(self.queued_lines());
        if roomy {
            rows.push(Line::default());
        }
        let mut cursor = None;
        if self.pick.is_none() {
            let (lines, (row, column)) = self.input_lines();
            cursor = Some((rows.len() + row, column));
            rows.extend(lines);
        }
        if self.panel {
            rows.extend(help::keys());
        }
        if let Some(popup) = &self.popup {
            rows.extend(popup.lines());
        }
        rows.push(self.status_line());
        Frame { rows, cursor: cursor.filter(|_| self.leaving.is_none()) }
    }

    fn question_lines(&self) -> Vec<Line> {
        let columns = self.columns();
        let lines = match (&self.dialog, &self.pick) {
            (Some(dialog), _) => dialog.lines(),
            (None, Some((pick, _))) => pick.lines(),
            (None, None) => match self.going_on {
                Some(going_on) => vec![
                    Line::of(going_on.question(), Ink::Accent),
                    Line::of("y yes · n no", Ink::Faint),
                ],
                None => Vec::new(),
            },
        };
        let hanging = Line::plain("  ");
        lines.iter().flat_map(|line| wrap::exactly(line, columns, &hanging)).collect()
    }

    fn queued_lines(&self) -> Vec<Line> {
        let shown = self.queue.iter().take(QUEUED).map(|written| {
            let first = written.text.lines().next().unwrap_or("");
            let line = Line::of(format!("queued: {}", sanitise::visible_line(first)), Ink::Faint);
            cut_to(&line, self.columns())
        });
        let mut lines: Vec<Line> = shown.collect();
        if let Some(more) = self.queue.len().checked_sub(QUEUED).filter(|more| *more > 0) {
            lines.push(Line::of(format!("and {more} more"), Ink::Faint));
        }
        lines
    }

    /// Draws the input, and says where its cursor is.
    fn input_lines(&self) -> (Vec<Line>, (usize, usize)) {
        if let Some(search) = &self.search {
            let found = search.found.as_ref().map_or("", |(_, written)| written.text.as_str());
            let first = found.lines().next().unwrap_or("");
            let before = format!("search: {}", sanitise::visible_line(&search.query));
            let column = width(&before);
            let line = Line::of(before, Ink::Accent)
                .with(&format!("  {}", sanitise::visible_line(first)), Ink::Text);
            return (vec![cut_to(&line, self.columns())], (0, column));
        }
        let layout = Layout::of(&self.editor, self.input_columns());
        let (at, column) = layout.cursor;
        let most = (self.size.rows / 2).clamp(1, 12);
        let first = (at + 1).saturating_sub(most);
        let rows = layout.rows.iter().enumerate().skip(first).take(most);
        let mut lines: Vec<Line> = rows
            .map(|(index, row)| {
                let before = if index == first { PROMPT } else { "  " };
                Line::of(before, Ink::Accent).with(&row.shown, Ink::Text)
            })
            .collect();
        let above = match &self.words {
            Some(words) => wrap::words(
                &Line::of(words.trim_end(), Ink::Accent),
                self.columns(),
                &Line::default(),
            ),
            None => Vec::new(),
        };
        let row = above.len() + at - first;
        lines.splice(0..0, above);
        (lines, (row, column + width(PROMPT)))
    }

    fn status_line(&self) -> Line {
        let columns = self.columns();
        if let Some((hint, _)) = &self.hint {
            return cut_to(&Line::of(hint.clone(), Ink::Warning), columns);
        }
        let status = self.host.status();
        let ink = match status.mode {
            Mode::Full => Ink::Error,
            Mode::Auto => Ink::Warning,
            Mode::Read | Mode::Ask => Ink::Good,
        };
        let mut parts = vec![sanitise::visible_line(&status.model).into_owned()];
        if status.last_input > 0 {
            parts.push(format!("{} tokens", figures::tokens(status.last_input)));
        }
        parts.extend(status.usage.cost.map(figures::money));
        parts.push(self.advice().to_owned());
        let line = Line::of(status.mode.name(), Style::from(ink).bold());
        cut_to(&line.with(&format!(" · {}", parts.join(" · ")), Ink::Faint), columns)
    }

    fn advice(&self) -> &'static str {
        let stopping = self.cancel.as_ref().is_some_and(CancellationToken::is_cancelled);
        match () {
            () if self.leaving.is_some() => "leaving",
            () if stopping => "stopping",
            () if self.words.is_some() => "enter sends the words, esc goes back",
            () if self.search.is_some() => "enter takes it, ctrl+r older, esc closes",
            () if self.dialog.is_some() && !self.editor.is_empty() => "clear the input to answer",
            () if self.dialog.is_some() => "shift+tab mode",
            () if self.job.is_some() => "esc stops, enter queues",
            () => "? keys",
        }
    }
}
