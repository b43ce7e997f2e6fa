//! Completion under the input: files after `@`, commands after `/`.

use super::command;
use super::editor::Editor;
use crate::frontend::sanitise;
use crate::frontend::style::Ink;
use crate::frontend::style::Line;
use crate::frontend::style::width;

/// Rows shown at a time.
const ROWS: usize = 8;
/// Candidates kept.
const MOST: usize = 50;

/// The token before the cursor that can be completed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// What stands after the `/` at the start of the input.
    Command(String),
    /// What stands after an `@`, and where the `@` is.
    File { query: String, start: usize },
}

impl Token {
    /// Finds the token that the cursor of `editor` stands behind.
    pub(super) fn find(editor: &Editor) -> Option<Token> {
        let before = &editor.text()[..editor.cursor()];
        if let Some(word) = before.strip_prefix('/')
            && editor.is_typed()
            && !word.contains(char::is_whitespace)
        {
            return Some(Token::Command(word.to_owned()));
        }
        let start = before.rfind('@')?;
        let query = &before[start + 1..];
        let alone = before[..start].chars().next_back().is_none_or(char::is_whitespace);
        (alone && !query.contains(char::is_whitespace))
            .then(|| Token::File { query: query.to_owned(), start })
    }
}

/// The list under the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Popup {
    pub token: Token,
    /// What would stand in the input, and a word about it.
    candidates: Vec<(String, String)>,
    selected: usize,
}

impl Popup {
    /// Returns the commands that begin with `word`; none if there is no such command.
    pub(super) fn commands(word: &str) -> Option<Popup> {
        let entries = command::COMMANDS.iter().filter(|entry| entry.name.starts_with(word));
        let candidates: Vec<(String, String)> =
            entries.map(|entry| (format!("/{}", entry.name), entry.help.to_owned())).collect();
        let token = Token::Command(word.to_owned());
        (!candidates.is_empty()).then_some(Popup { token, candidates, selected: 0 })
    }

    /// Returns the files found for `token`; none if nothing was found.
    pub(super) fn files(token: Token, found: Vec<String>) -> Option<Popup> {
        let candidates: Vec<(String, String)> =
            found.into_iter().take(MOST).map(|path| (path, String::new())).collect();
        (!candidates.is_empty()).then_some(Popup { token, candidates, selected: 0 })
    }

    /// Moves the selection; it goes round.
    pub(super) fn step(&mut self, forward: bool) {
        let count = self.candidates.len();
        let step = if forward { 1 } else { count - 1 };
        self.selected = (self.selected + step) % count;
    }

    /// Says whether the input already holds what is selected.
    pub(super) fn is_exact(&self) -> bool {
        let chosen = self.chosen();
        match &self.token {
            Token::Command(word) => chosen.strip_prefix('/') == Some(word),
            Token::File { query, .. } => chosen == query,
        }
    }

    /// Puts the selected candidate into `editor`.
    pub(super) fn accept(&self, editor: &mut Editor) {
        match &self.token {
            Token::Command(_) => editor.complete(0, self.chosen()),
            Token::File { start, .. } => {
                // A folder is a step on the way; a file is finished.
                let after = if self.chosen().ends_with('/') { "" } else { " " };
                editor.complete(*start, &format!("@{}{after}", self.chosen()));
            }
        }
    }

    /// Draws the candidates around the selected one.
    pub(super) fn lines(&self) -> Vec<Line> {
        let first = self.selected.saturating_sub(ROWS - 1);
        let shown = self.candidates.iter().enumerate().skip(first).take(ROWS);
        let widest = self.candidates.iter().map(|(text, _)| width(text)).max().unwrap_or(0);
        let mut lines: Vec<Line> = shown
            .map(|(index, (text, help))| {
                let chosen = index == self.selected;
                let mark = if chosen { "› " } else { "  " };
                let ink = if chosen { Ink::Accent } else { Ink::Text };
                let line = Line::of(format!("{mark}{}", sanitise::visible_line(text)), ink);
                match help.as_str() {
                    "" => line,
                    help => line.with(
                        &format!("{:gap$}{help}", "", gap = 2 + widest - width(text)),
                        Ink::Faint,
                    ),
                }
            })
            .collect();
        if self.candidates.len() > ROWS {
            let more = format!("  {} of {}", self.selected + 1, self.candidates.len());
            lines.push(Line::of(more, Ink::Faint));
        }
        lines
    }

    fn chosen(&self) -> &str {
        self.candidates.get(self.selected).map_or("", |(text, _)| text)
    }
}
