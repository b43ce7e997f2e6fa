//! A question of the turn in front of the person: what is printed above it, and keys to an answer.

use crossterm::event::KeyCode;
use crossterm::event::KeyEvent;
use tokio::sync::oneshot;

use super::link::OwnedAsked;
use super::link::Question;
use crate::approval::Decision;
use crate::approval::Effect;
use crate::approval::Scope;
use crate::change::Change;
use crate::change::diff;
use crate::frontend::sanitise;
use crate::frontend::style::Ink;
use crate::frontend::style::Line;

/// What a key or an answer led to.
#[derive(Debug)]
pub(super) enum Act {
    Stay,
    /// Lines for the scrollback, above the question that goes on.
    Print(Vec<Line>),
    /// The person is to write a line; this stands before it.
    Words(String),
    /// The person is to edit a text.
    Edit {
        text: String,
        suffix: String,
    },
    Done,
}

/// An open question.
#[derive(Debug)]
pub(super) struct Dialog {
    asked: Vec<OwnedAsked>,
    decided: Vec<Decision>,
    answer: Option<oneshot::Sender<Vec<Decision>>>,
}

impl Dialog {
    /// Opens `question`; returns it and what is to be printed first.
    pub(super) fn open(question: Question, columns: usize) -> (Dialog, Vec<Line>) {
        let Question { asked, answer } = question;
        let dialog = Dialog { asked, decided: Vec::new(), answer: Some(answer) };
        let lines = dialog.shown(columns);
        (dialog, lines)
    }

    /// Returns the paths whose change is shown.
    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.asked.iter().filter_map(|asked| match &asked.effect {
            Effect::Write(change) => Some(change.at.shown()),
            Effect::Read(_) | Effect::Execute(_) => None,
        })
    }

    /// Draws the question.
    pub(super) fn lines(&self, _columns: usize) -> Vec<Line> {
        let Some(asked) = self.asked.get(self.decided.len()) else { return Vec::new() };
        let title = sanitise::visible_line(&asked.title);
        vec![
            Line::of(format!("{title}?"), Ink::Accent),
            Line::of("y yes · n no · esc no and stop", Ink::Faint),
        ]
    }

    /// Does what `key` asks for.
    pub(super) fn key(&mut self, key: KeyEvent, columns: usize) -> Act {
        match key.code {
            KeyCode::Char('y') => self.decide(Decision::Accept(Scope::Once)),
            KeyCode::Char('f') => Act::Print(self.shown(columns)),
            KeyCode::Char('e') => self.edit(),
            KeyCode::Char('n') => Act::Words("what instead? (empty stops) ".to_owned()),
            KeyCode::Esc => self.decide(Decision::Reject { words: None }),
            _ => Act::Stay,
        }
    }

    /// Takes the words that were asked for.
    pub(super) fn words(&mut self, words: String, _columns: usize) -> Act {
        let words = Some(words).filter(|words| !words.trim().is_empty());
        self.decide(Decision::Reject { words })
    }

    /// Takes the text that was edited.
    pub(super) fn edited(&mut self, text: String, _columns: usize) -> Act {
        self.decide(Decision::Amend(text))
    }

    /// Returns the question in one line, for where lines are read.
    pub(super) fn plain_question(&self) -> String {
        let title = self.asked.get(self.decided.len()).map_or("", |asked| &asked.title);
        format!("{}? [y/n] ", sanitise::visible_line(title))
    }

    /// Takes a typed answer: a word, and after a no what the model should know.
    pub(super) fn plain_answer(&mut self, line: &str) -> Act {
        let (word, words) = line.trim().split_once(' ').unwrap_or((line.trim(), ""));
        match word {
            "y" | "yes" => self.decide(Decision::Accept(Scope::Once)),
            "n" | "no" => self.words(words.to_owned(), 0),
            _ => Act::Stay,
        }
    }

    fn decide(&mut self, decision: Decision) -> Act {
        self.decided.push(decision);
        if self.decided.len() < self.asked.len() {
            return Act::Stay;
        }
        if let Some(answer) = self.answer.take() {
            // A turn that no longer waits needs no answer.
            answer.send(std::mem::take(&mut self.decided)).ok();
        }
        Act::Done
    }

    /// Gives the text that is asked about to the editor.
    fn edit(&self) -> Act {
        let text = match self.asked.get(self.decided.len()).map(|asked| &asked.effect) {
            Some(Effect::Write(Change { after: Some(after), .. })) => {
                String::from_utf8_lossy(after).into_owned()
            }
            _ => return Act::Stay,
        };
        Act::Edit { text, suffix: ".txt".to_owned() }
    }

    fn shown(&self, columns: usize) -> Vec<Line> {
        let mut lines = Vec::new();
        for asked in &self.asked {
            match &asked.effect {
                Effect::Write(change) => lines.extend(change_lines(change, columns)),
                Effect::Execute(execute) => {
                    let command = sanitise::visible(&execute.command);
                    lines.extend(command.lines().map(Line::plain));
                }
                Effect::Read(_) => lines.push(Line::plain(asked.title.clone())),
            }
        }
        lines
    }
}

/// Draws what `change` does to its file.
pub(super) fn change_lines(change: &Change, _columns: usize) -> Vec<Line> {
    let text = diff::unified(change);
    text.lines().map(|text| Line::plain(sanitise::visible(text).into_owned())).collect()
}
