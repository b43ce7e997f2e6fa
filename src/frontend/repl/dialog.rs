//! A question of the turn in front of the person: a review, tied to whoever waits for its decisions.

use crossterm::event::KeyCode;
use crossterm::event::KeyEvent;
use tokio::sync::oneshot;

use super::keys;
use super::link::OwnedAsked;
use super::link::Question;
use crate::approval::Asked;
use crate::approval::Decision;
use crate::approval::Effect;
use crate::change::Change;
use crate::change::diff;
use crate::frontend::diff_view;
use crate::frontend::diff_view::ViewOptions;
use crate::frontend::review::Key;
use crate::frontend::review::Review;
use crate::frontend::review::Step;
use crate::frontend::style::Line;
use crate::message::CallId;

/// What a key or an answer led to.
#[derive(Debug)]
pub(super) enum Act {
    /// It means nothing to the question.
    Stay,
    /// The question changed; these lines belong above it.
    Print(Vec<Line>),
    /// The person is to write a line; this stands before it.
    Words(String),
    /// The person is to edit a text; its file's name ends in `suffix`.
    Edit { text: String, suffix: String },
    /// It is answered. These lines were accepted without having been shown.
    Done(Vec<Line>),
}

/// An open question.
#[derive(Debug)]
pub(super) struct Dialog {
    review: Review,
    answer: Option<oneshot::Sender<Vec<Decision>>>,
    changes: Vec<(CallId, String)>,
}

impl Dialog {
    /// Opens `question`; returns it and what is to be printed first.
    pub(super) fn open(question: Question, view: ViewOptions) -> (Dialog, Vec<Line>) {
        let Question { asked, answer } = question;
        let borrowed: Vec<Asked<'_>> = asked.iter().map(OwnedAsked::borrowed).collect();
        let review = Review::new(&borrowed, view);
        let shown = review.shown();
        let changes = asked.into_iter().filter_map(|asked| match asked.effect {
            Effect::Write(change) => Some((asked.call, change.at.shown().to_owned())),
            Effect::Read(_) | Effect::Execute(_) => None,
        });
        let changes = changes.collect();
        (Dialog { review, answer: Some(answer), changes }, shown)
    }

    /// Returns the calls whose changes are shown before they are decided, with their paths.
    pub(super) fn changes(&self) -> Vec<(CallId, String)> {
        self.changes.clone()
    }

    /// Takes note of a new width.
    pub(super) fn resize(&mut self, columns: usize) {
        self.review.resize(u16::try_from(columns).ok());
    }

    /// Draws the question.
    pub(super) fn lines(&self) -> Vec<Line> {
        self.review.lines()
    }

    /// Does what `key` asks for.
    pub(super) fn key(&mut self, key: KeyEvent) -> Act {
        let key = match (key.code, keys::letter(key)) {
            (_, Some(letter)) => Key::Char(letter),
            (KeyCode::Up | KeyCode::Left, _) => Key::Previous,
            (KeyCode::Down | KeyCode::Right, _) => Key::Next,
            (KeyCode::Esc, _) => Key::Escape,
            _ => return Act::Stay,
        };
        let step = self.review.key(key);
        self.act(step)
    }

    /// Takes the words that were asked for.
    pub(super) fn words(&mut self, words: &str) -> Act {
        let step = self.review.words(words);
        self.act(step)
    }

    /// Goes back from the words that were asked for.
    pub(super) fn no_words(&mut self) -> Act {
        let step = self.review.key(Key::Escape);
        self.act(step)
    }

    /// Takes the text that was edited.
    pub(super) fn edited(&mut self, text: &str) -> Act {
        let step = self.review.edited(text);
        self.act(step)
    }

    /// Takes an answer that was typed as a line.
    pub(super) fn typed(&mut self, line: &str) -> Act {
        let step = self.review.typed(line);
        self.act(step)
    }

    fn act(&mut self, step: Step) -> Act {
        match step {
            Step::Stay => Act::Stay,
            Step::Redraw => Act::Print(Vec::new()),
            Step::Print(lines) => Act::Print(lines),
            Step::NeedWords(before) => Act::Words(before),
            Step::NeedEditor { text, suffix } => Act::Edit { text, suffix },
            Step::Decided { decisions, unseen } => {
                if let Some(answer) = self.answer.take() {
                    // A turn that no longer waits needs no answer.
                    answer.send(decisions).ok();
                }
                Act::Done(unseen)
            }
        }
    }
}

/// Draws what `change` does to its file.
pub(super) fn change_lines(change: &Change, view: ViewOptions) -> Vec<Line> {
    diff_view::render(&diff::diff(change), view)
}
