//! The input line: a text of several lines, a cursor, and what keys do to them. Knows no screen.

mod keys;
mod layout;
mod motion;

pub use keys::Edited;
pub use layout::{Layout, Row};

/// Pastes of more lines or bytes than this are folded to one mark.
const FOLD_LINES: usize = 10;
const FOLD_BYTES: usize = 2_000;

/// Steps back that are kept.
const UNDO_STEPS: usize = 200;

/// A folded paste stands in the text as one character of a private plane, from this one on.
const FOLD_BASE: u32 = 0x10_F000;

/// Where a text came from: only what is typed can act as a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    Typed,
    Pasted,
}

/// The text being written and the state of writing it.
#[derive(Clone, Debug, Default)]
pub struct Editor {
    text: String,
    /// Byte offset, always between two letters.
    cursor: usize,
    folds: Vec<String>,
    /// Whether the first letter was typed.
    typed: bool,
    /// Whether anything was pasted since the input was last empty.
    pasted: bool,
    /// What was cut last, unfolded, and whether it can act.
    killed: Option<(String, Origin)>,
    /// Column that moves up and down aim at.
    aim: Option<usize>,
    undo: Vec<Step>,
    /// Whether the last key typed a letter: a run of them is undone as one.
    typing: bool,
}

/// A state to go back to.
#[derive(Clone, Debug)]
struct Step {
    text: String,
    cursor: usize,
    typed: bool,
}

/// A finished input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    pub text: String,
    /// Whether a prefix at its start was typed, and so acts.
    pub typed: bool,
}

impl Editor {
    /// Returns the text as it is edited: folded pastes are single characters.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the byte offset of the cursor.
    pub fn cursor(&self) -> usize {
        self.cursor
    }

    /// Says whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Says whether the first letter was typed by hand, so that a prefix acts.
    pub fn is_typed(&self) -> bool {
        self.typed
    }

    /// Returns what is written, pastes unfolded.
    pub fn written(&self) -> Written {
        Written { text: self.unfolded(&self.text), typed: self.typed }
    }

    /// Takes what is written and leaves the input empty.
    pub fn take(&mut self) -> Written {
        let written = self.written();
        self.clear();
        written
    }

    /// Empties the input.
    pub fn clear(&mut self) {
        *self = Editor { killed: self.killed.take(), ..Editor::default() };
    }

    /// Replaces the whole input, with the cursor at its end.
    pub fn set(&mut self, written: &Written) {
        self.remember();
        self.text.clear();
        self.folds.clear();
        self.cursor = 0;
        self.pasted = !written.typed;
        self.typed = false;
        self.put(&written.text);
        self.typed = written.typed;
    }

    /// Inserts a paste at the cursor: as it is, or folded when it is long.
    pub fn paste(&mut self, pasted: &str) {
        let text = pasted.replace("\r\n", "\n").replace('\r', "\n");
        if text.is_empty() {
            return;
        }
        self.remember();
        let long = text.lines().count() > FOLD_LINES || text.len() > FOLD_BYTES;
        let marks = text.chars().any(|character| u32::from(character) >= FOLD_BASE);
        let mark = (long || marks).then(|| self.fold(&text)).flatten();
        self.insert(&mark.map_or(text, String::from), Origin::Pasted);
    }

    /// Inserts `text` at the cursor.
    pub fn insert(&mut self, text: &str, origin: Origin) {
        if self.text.is_empty() {
            self.pasted = false;
        }
        if self.cursor == 0 {
            self.typed = origin == Origin::Typed;
        }
        self.pasted |= origin == Origin::Pasted;
        self.put(text);
    }

    /// Replaces the bytes `range`, which end at the cursor, by `text`: what completion does.
    pub fn complete(&mut self, start: usize, text: &str) {
        self.remember();
        let typed = self.typed;
        self.text.replace_range(start..self.cursor, "");
        self.cursor = start;
        self.put(text);
        self.typed = typed;
    }

    /// Returns what a folded paste is drawn as.
    pub(super) fn label(&self, character: char) -> Option<String> {
        let text = self.folded(character)?;
        Some(match text.lines().count() {
            1 => format!("[pasted {} characters]", text.chars().count()),
            lines => format!("[pasted {lines} lines]"),
        })
    }

    fn put(&mut self, text: &str) {
        self.text.insert_str(self.cursor, text);
        self.cursor += text.len();
        self.aim = None;
    }

    fn fold(&mut self, text: &str) -> Option<char> {
        let index = u32::try_from(self.folds.len()).ok()?;
        let mark = char::from_u32(FOLD_BASE + index)?;
        self.folds.push(text.to_owned());
        Some(mark)
    }

    fn folded(&self, character: char) -> Option<&String> {
        let index = u32::from(character).checked_sub(FOLD_BASE)?;
        self.folds.get(usize::try_from(index).ok()?)
    }

    fn unfolded(&self, text: &str) -> String {
        if self.folds.is_empty() {
            return text.to_owned();
        }
        let mut out = String::new();
        for character in text.chars() {
            match self.folded(character) {
                Some(text) => out.push_str(text),
                None => out.push(character),
            }
        }
        out
    }

    /// Takes out the bytes from `start` to `end` and puts the cursor there.
    fn remove(&mut self, start: usize, end: usize) -> String {
        let removed: String = self.text.drain(start..end).collect();
        self.cursor = start;
        self.aim = None;
        if start == 0 && end > 0 {
            // What is first now was typed only if nothing was ever pasted.
            self.typed &= !self.pasted;
        }
        removed
    }

    /// Keeps the present state for undo.
    fn remember(&mut self) {
        self.typing = false;
        if self.undo.last().is_some_and(|step| step.text == self.text) {
            return;
        }
        if self.undo.len() == UNDO_STEPS {
            self.undo.remove(0);
        }
        let Editor { text, cursor, typed, .. } = &*self;
        self.undo.push(Step { text: text.clone(), cursor: *cursor, typed: *typed });
    }

    fn step_back(&mut self) {
        if let Some(Step { text, cursor, typed }) = self.undo.pop() {
            (self.text, self.cursor, self.typed) = (text, cursor, typed);
            (self.typing, self.aim) = (false, None);
        }
    }
}
