//! Questions to the person: approvals, lists to pick from, whether to go on with a turn.

use std::time::Duration;

use crossterm::event::KeyCode;
use crossterm::event::KeyEvent;

use super::Desk;
use super::Instant;
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

/// Why the person is asked whether a turn is to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::frontend::repl) enum GoingOn {
    /// It reached the request limit.
    Limit,
    /// The model made the same call with the same result, three times in a row.
    Repetition,
    /// The session was left, or the program killed, before its end.
    BrokenOff,
}

impl GoingOn {
    pub(in crate::frontend::repl) fn question(self) -> &'static str {
        match self {
            GoingOn::Limit => "The request limit is reached. Go on?",
            GoingOn::Repetition => "The model repeats the same call. Go on, and tell it so?",
            GoingOn::BrokenOff => "The last turn did not come to its end. Go on with it?",
        }
    }
}

impl Desk<'_> {
    /// Asks whether to go on, unless the person is about to leave.
    pub(super) fn offer_to_go_on(&mut self, why: GoingOn) {
        self.going_on = self.leaving.is_none().then_some(why);
        self.last_key.at = Instant::now();
    }

    /// Offers to take up a turn that broke off. Who has said something else already is not asked.
    pub(super) fn offer_if_open(&mut self) {
        if self.queue.is_empty() && self.host.status().is_open {
            self.offer_to_go_on(GoingOn::BrokenOff);
        }
    }

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
        // A key that was on its way when the question came was not meant for it. After an answer it
        // is no text either: who goes through questions fast is told to press it again.
        self.last_key.at = Instant::now();
    }

    /// Gives a key to the question that stands. Returns whether it was for it; the rest is text.
    pub(super) fn question_key(&mut self, key: KeyEvent, since_last: Duration) -> bool {
        if self.words.is_some() || (self.dialog.is_none() && self.going_on.is_none()) {
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
        if self.going_on.is_some() {
            return self.going_on_key(key);
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

    fn going_on_key(&mut self, key: KeyEvent) -> bool {
        match key.code {
            KeyCode::Char('y') | KeyCode::Enter => {
                self.start_turn(None);
            }
            KeyCode::Char('n') | KeyCode::Esc => {
                self.going_on = None;
                self.send_queued();
            }
            _ => return false,
        }
        true
    }
}
