//! Questions to the person: approvals, lists to pick from, whether to go on past a limit.

use std::time::Duration;

use crossterm::event::KeyCode;
use crossterm::event::KeyEvent;

use super::Desk;
use super::Instant;
use super::LastKey;
use super::jobs::EditFor;
use crate::frontend::repl::dialog::Act;
use crate::frontend::repl::dialog::Dialog;
use crate::frontend::repl::keys;
use crate::frontend::repl::link::Question;
use crate::frontend::repl::pick::Picked;
use crate::frontend::review::may_answer;

/// What an open list is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PickFor {
    Model,
    Session,
}

impl Desk<'_> {
    /// Shows a question of the turn, or keeps it behind the one that is open.
    pub(super) fn ask(&mut self, question: Question) {
        if self.leaving.is_some() {
            return;
        }
        if self.dialog.is_some() {
            return self.asked.push_back(question);
        }
        let (dialog, lines) = Dialog::open(question, self.transcript.view());
        self.transcript.reviewed(dialog.changes());
        self.transcript.diff(lines);
        self.dialog = Some(dialog);
        // A key that was on its way when the question came was not meant for it.
        self.last_key = LastKey { at: Instant::now(), answered: false };
    }

    /// Gives a key to the question that stands. Returns whether it was for it; the rest is text.
    pub(super) fn question_key(&mut self, key: KeyEvent, since_last: Duration) -> bool {
        if self.words.is_some() || (self.dialog.is_none() && !self.limit) {
            return false;
        }
        if !self.editor.is_empty() {
            if key.code == KeyCode::Esc {
                self.hint("the input holds text: ctrl+u clears it, then answer");
                return true;
            }
            return false;
        }
        // Saying no is never too early.
        if !may_answer(true, Some(since_last), false) && key.code != KeyCode::Esc {
            let typed = keys::letter(key).is_some() && !self.last_key.answered;
            if !typed {
                self.hint("too soon after another key: press it again");
            }
            return !typed;
        }
        self.last_key.answered = true;
        if self.limit {
            return self.limit_key(key);
        }
        let Some(dialog) = &mut self.dialog else { return false };
        let act = dialog.key(key);
        self.act(act);
        true
    }

    /// Takes the words that a question waits for.
    pub(super) fn give_words(&mut self) {
        let words = self.editor.take().text;
        self.words = None;
        if let Some(dialog) = &mut self.dialog {
            let act = dialog.words(&words);
            self.act(act);
        }
    }

    /// Goes back from the words to the question.
    pub(super) fn take_back_words(&mut self) {
        self.words = None;
        self.editor.clear();
        if let Some(dialog) = &mut self.dialog {
            let act = dialog.no_words();
            self.act(act);
        }
    }

    /// Does what a question came to.
    pub(super) fn act(&mut self, act: Act) {
        match act {
            Act::Stay => {}
            Act::Print(lines) => self.transcript.diff(lines),
            Act::Words(before) => self.words = Some(before),
            Act::Edit { text, suffix } => self.start_edit(text, suffix, EditFor::Dialog),
            Act::Done(unseen) => {
                self.transcript.diff(unseen);
                self.dialog = None;
                if let Some(next) = self.asked.pop_front() {
                    self.ask(next);
                }
            }
        }
    }

    /// Gives a key to the open list.
    pub(super) fn pick_key(&mut self, key: KeyEvent) {
        let Some((pick, pick_for)) = &mut self.pick else { return };
        match (pick.key(key), *pick_for) {
            (Picked::Open, _) => return,
            (Picked::Closed, _) => self.pick = None,
            (Picked::Chosen(name), PickFor::Model) => {
                self.pick = None;
                self.use_model(name);
            }
            (Picked::Chosen(id), PickFor::Session) => {
                self.pick = None;
                self.resume(id);
            }
        }
        self.send_queued();
    }

    fn limit_key(&mut self, key: KeyEvent) -> bool {
        match key.code {
            KeyCode::Char('y') | KeyCode::Enter => {
                self.limit = false;
                self.start_turn(None);
            }
            KeyCode::Char('n') | KeyCode::Esc => {
                self.limit = false;
                self.send_queued();
            }
            _ => return false,
        }
        true
    }
}
