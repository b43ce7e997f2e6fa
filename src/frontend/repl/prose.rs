//! The model's text as it streams: finished lines once, the unfinished one for the live area.

use crate::frontend::sanitise;
use crate::frontend::style::Line;
use crate::frontend::wrap;

/// A text that is still coming.
#[derive(Debug)]
pub(super) struct Prose {
    columns: usize,
    rest: String,
}

impl Prose {
    /// Starts a text for a screen of `columns`.
    pub(super) fn new(columns: usize) -> Prose {
        Prose { columns, rest: String::new() }
    }

    /// Takes note of a new width.
    pub(super) fn resize(&mut self, columns: usize) {
        self.columns = columns;
    }

    /// Takes more text; returns the lines that are finished by it.
    pub(super) fn push(&mut self, delta: &str) -> Vec<Line> {
        self.rest.push_str(delta);
        let Some(end) = self.rest.rfind('\n') else { return Vec::new() };
        let whole: String = self.rest.drain(..=end).collect();
        self.lines(&whole)
    }

    /// Returns the lines that are not finished.
    pub(super) fn pending(&self) -> Vec<Line> {
        self.lines(&self.rest)
    }

    /// Ends the text; returns what was still open.
    pub(super) fn finish(&mut self) -> Vec<Line> {
        let rest = std::mem::take(&mut self.rest);
        self.lines(&rest)
    }

    fn lines(&self, text: &str) -> Vec<Line> {
        let text = sanitise::dropped(text).into_owned();
        let lines = text.lines().map(Line::plain);
        lines.flat_map(|line| wrap::words(&line, self.columns, &Line::default())).collect()
    }
}
