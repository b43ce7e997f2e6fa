//! An approval in front of a person: what is shown, what each key means, what comes of it.
//!
//! A state machine without a terminal. A front end prints what it is given above the question,
//! draws [`Review::lines`] as the question, and hands over keys, words and edited texts until
//! the decisions are there. Only [`may_answer`] says when a key may answer at all.

mod command;
mod file;
mod guard;
mod item;
mod legend;
mod typed;

pub use guard::may_answer;

use super::diff_view;
use super::diff_view::ViewOptions;
use super::sanitise;
use super::style::Ink;
use super::style::Line;
use super::style::Style;
use super::wrap;
use crate::approval::Asked;
use crate::approval::Decision;
use crate::approval::Scope;
use item::Item;
use item::Subject;
use legend::Entry;

/// Most characters of the rule that a question names.
const MOST_RULE: usize = 240;

/// A key as the review knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    Char(char),
    /// Up or left.
    Previous,
    /// Down or right.
    Next,
    Escape,
}

impl Key {
    /// Whether it answers rather than looks around: for such a key [`may_answer`] is asked.
    pub fn is_answer(self) -> bool {
        match self {
            Key::Char(key) => "ynadArw".contains(key),
            Key::Escape => true,
            Key::Previous | Key::Next => false,
        }
    }
}

/// What a key, words or a text led to.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// It means nothing here.
    Stay,
    /// The question changed.
    Redraw,
    /// The question changed, and this belongs above it.
    Print(Vec<Line>),
    /// The person is to write a line, for [`Review::words`]; this stands before it.
    NeedWords(String),
    /// The person is to edit `text`, for [`Review::edited`]; the file's name ends in `suffix`.
    NeedEditor { text: String, suffix: String },
    /// One decision for each question. `unseen` was accepted without having been shown.
    Decided { decisions: Vec<Decision>, unseen: Vec<Line> },
}

/// Questions that are decided together, one by one.
#[derive(Clone, Debug)]
pub struct Review {
    items: Vec<Item>,
    at: usize,
    view: ViewOptions,
    help: bool,
    /// What the words that were asked for are for.
    awaited: Option<Awaited>,
    /// Said once above the question.
    note: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Awaited {
    Reason,
    Comment,
}

/// What the part of a question made of a key.
enum Reply {
    Stay,
    Print(Vec<Line>),
    Note(String),
    Comment(String),
    Edit { text: String, suffix: String },
    Reject,
    Decide(Decision),
}

impl Review {
    /// Takes up `asked`. The first thing to print is [`Review::shown`].
    pub fn new(asked: &[Asked<'_>], view: ViewOptions) -> Review {
        let mut items: Vec<Item> = asked.iter().map(Item::new).collect();
        items.iter_mut().take(1).for_each(|item| item.seen = true);
        Review { items, at: 0, view, help: false, awaited: None, note: None }
    }

    /// Takes note of a new width; what was printed stays as it is.
    pub fn resize(&mut self, width: Option<u16>) {
        self.view.width = width;
    }

    /// Draws what the present question is about: a diff, a hunk, a command.
    pub fn shown(&self) -> Vec<Line> {
        let folded = ViewOptions { folded: true, ..self.view };
        self.items.get(self.at).map_or(Vec::new(), |item| item.shown(folded))
    }

    /// Draws the question: what is asked and why, how far it is, the keys that apply.
    pub fn lines(&self) -> Vec<Line> {
        let Some(item) = self.items.get(self.at) else { return Vec::new() };
        let mut lines = Vec::new();
        lines.extend(self.note.iter().map(|note| Line::of(note.clone(), Ink::Warning)));
        let question = match &item.subject {
            Subject::File(file) => file.question(&item.title),
            Subject::Command(command) => command.question(),
            Subject::Read => format!("{}?", sanitise::visible_line(&item.title)),
        };
        let mut line = Line::of(question, Style::from(Ink::Accent).bold());
        if let Subject::File(file) = &item.subject {
            line.append(&diff_view::counts(file.diff()));
        }
        if self.items.len() > 1 {
            let text = format!("  [{} of {}]", self.at + 1, self.items.len());
            line.push(&text, Ink::Faint);
        }
        // It may name the command that made a change, which is the model's text.
        line.push(&format!("  ({})", sanitise::excerpt(&item.rule, MOST_RULE)), Ink::Faint);
        lines.push(line);
        if let Subject::File(file) = &item.subject
            && let Some(comment) = file.present_comment()
        {
            let comment = format!("your comment: {}", sanitise::visible_line(comment));
            lines.push(Line::plain(comment));
        }
        let entries = self.entries(item);
        lines.push(legend::line(&entries));
        if self.help {
            lines.extend(legend::help(&entries));
        }
        match self.view.width {
            Some(columns) => lines
                .iter()
                .flat_map(|line| wrap::words(line, columns.into(), &Line::plain("  ")))
                .collect(),
            None => lines,
        }
    }

    /// Returns the paths that the questions would write, as shown.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.items.iter().filter_map(|item| match &item.subject {
            Subject::File(file) => Some(file.path()),
            Subject::Command(_) | Subject::Read => None,
        })
    }

    /// Does what `key` asks for.
    pub fn key(&mut self, key: Key) -> Step {
        if self.awaited.take().is_some() && key == Key::Escape {
            return Step::Redraw;
        }
        self.note = None;
        let Some(item) = self.items.get_mut(self.at).filter(|item| item.decision.is_none()) else {
            return Step::Stay;
        };
        match key {
            Key::Escape => return self.stop(),
            Key::Char('?') => {
                self.help = !self.help;
                return Step::Redraw;
            }
            Key::Char('[') => return self.go(self.neighbour(-1)),
            Key::Char(']') => return self.go(self.neighbour(1)),
            Key::Char('a') if item.offers_scope(Scope::Reply) => {
                return self.accept(Scope::Reply);
            }
            Key::Char('A') if item.offers_scope(Scope::Session) => {
                return self.accept(Scope::Session);
            }
            _ => {}
        }
        let reply = match &mut item.subject {
            Subject::File(file) => file.key(key, self.view),
            Subject::Command(command) => command.key(key),
            Subject::Read => match key {
                Key::Char('y') => Reply::Decide(Decision::Accept(Scope::Once)),
                Key::Char('n') => Reply::Reject,
                _ => Reply::Stay,
            },
        };
        self.take(reply)
    }

    /// Takes the words that [`Step::NeedWords`] asked for.
    pub fn words(&mut self, words: &str) -> Step {
        let words = words.trim();
        match self.awaited.take() {
            None => Step::Stay,
            Some(Awaited::Reason) if words.is_empty() => self.stop(),
            Some(Awaited::Reason) => {
                self.decide(Decision::Reject { words: Some(words.to_owned()) })
            }
            Some(Awaited::Comment) => {
                if let Some(Item { subject: Subject::File(file), .. }) = self.items.get_mut(self.at)
                {
                    file.comment(words);
                }
                Step::Redraw
            }
        }
    }

    /// Takes the text that [`Step::NeedEditor`] asked for; it is shown before it is decided.
    pub fn edited(&mut self, text: &str) -> Step {
        let Some(item) = self.items.get_mut(self.at) else { return Step::Stay };
        let reply = match &mut item.subject {
            Subject::File(file) => file.edited(text, self.view),
            Subject::Command(command) => command.edited(text, self.view),
            Subject::Read => Reply::Stay,
        };
        self.take(reply)
    }

    /// Returns the decisions of a turn that is cancelled while the question stands.
    pub fn cancelled(&self) -> Vec<Decision> {
        let decisions = self.items.iter().map(|item| item.decision.clone());
        decisions.map(|decision| decision.unwrap_or(Decision::Cancelled)).collect()
    }

    fn take(&mut self, reply: Reply) -> Step {
        match reply {
            Reply::Stay => Step::Stay,
            Reply::Print(lines) => Step::Print(lines),
            Reply::Note(note) => {
                self.note = Some(note);
                Step::Redraw
            }
            Reply::Comment(prompt) => {
                self.awaited = Some(Awaited::Comment);
                Step::NeedWords(prompt)
            }
            Reply::Edit { text, suffix } => Step::NeedEditor { text, suffix },
            Reply::Reject => {
                self.awaited = Some(Awaited::Reason);
                let dropped = self.items.len() > self.at + 1;
                let also = if dropped { "what follows is dropped; " } else { "" };
                Step::NeedWords(format!("no: {also}what instead? (empty stops) "))
            }
            Reply::Decide(decision) => self.decide(decision),
        }
    }

    /// Records the decision of the present question and goes on to the next that needs one.
    fn decide(&mut self, decision: Decision) -> Step {
        let Some(item) = self.items.get_mut(self.at) else { return Step::Stay };
        let path = item.path().map(str::to_owned);
        let is_whole = item.is_whole(&decision);
        item.decision = Some(decision);
        if !is_whole && path.is_some() {
            // Later changes of the same file are computed and shown anew.
            for later in self.items.iter_mut().skip(self.at + 1) {
                if later.path() == path.as_deref() {
                    later.decision = Some(Decision::Unanswered);
                }
            }
        }
        self.go_on()
    }

    /// Says yes to the present question and to the others that this yes reaches.
    fn accept(&mut self, scope: Scope) -> Step {
        let mut unseen = Vec::new();
        let full = ViewOptions { folded: true, ..self.view };
        for (index, item) in self.items.iter_mut().enumerate() {
            let reached = index == self.at || item.is_reached_by(scope);
            if item.decision.is_some() || !reached {
                continue;
            }
            if !item.seen {
                unseen.extend(item.shown(full));
            }
            item.seen = true;
            item.decision = Some(Decision::Accept(scope));
        }
        match self.go_on() {
            Step::Decided { decisions, .. } => Step::Decided { decisions, unseen },
            Step::Print(lines) => Step::Print(unseen.into_iter().chain(lines).collect()),
            other => other,
        }
    }

    /// Says no to everything that is not decided: the turn stops.
    fn stop(&mut self) -> Step {
        let decide =
            |item: &mut Item| item.decision.get_or_insert(Decision::Reject { words: None }).clone();
        let decisions = self.items.iter_mut().map(decide).collect();
        Step::Decided { decisions, unseen: Vec::new() }
    }

    /// Goes to the next question that needs an answer: none after a refusal does.
    fn go_on(&mut self) -> Step {
        let refused = |item: &Item| matches!(item.decision, Some(Decision::Reject { .. }));
        let end = self.items.iter().position(refused).unwrap_or(self.items.len());
        let open = |index: &usize| self.items[*index].decision.is_none();
        let next = (self.at..end).find(open).or_else(|| (0..end).find(open));
        match next {
            Some(next) => self.go(Some(next)),
            None => self.stop(),
        }
    }

    /// Shows another question.
    fn go(&mut self, index: Option<usize>) -> Step {
        let Some(index) = index else { return Step::Stay };
        self.at = index;
        self.items[index].seen = true;
        Step::Print(self.shown())
    }

    /// Returns the nearest open question before or after the present one, around the end.
    fn neighbour(&self, direction: isize) -> Option<usize> {
        let count = self.items.len();
        let step = |from: usize| match direction {
            1 => (from + 1) % count,
            _ => (from + count - 1) % count,
        };
        let others = std::iter::successors(Some(step(self.at)), |&index| Some(step(index)));
        others.take(count - 1).find(|&index| self.items[index].decision.is_none())
    }

    /// Returns the keys that apply.
    fn entries(&self, item: &Item) -> Vec<Entry> {
        let mut entries = match &item.subject {
            Subject::File(file) => file.entries(),
            Subject::Command(command) => command.entries(),
            Subject::Read => vec![
                Entry::new("y", "yes", "read it this once"),
                Entry::new("n", "no", "no; then words for the model, or none to stop"),
            ],
        };
        if item.offers_scope(Scope::Reply) {
            entries.push(Entry::new("a", "rest of this reply", "yes to all changes of this reply"));
        }
        if item.offers_scope(Scope::Session) {
            let long = "yes to all changes of this session; never to protected names or deletions";
            entries.push(Entry::new("A", "all this session", long));
        }
        if self.neighbour(1).is_some() {
            entries.push(Entry::new("[ ]", "other files", "the file before, the file after"));
        }
        entries.push(Entry::new("?", "help", "what the keys mean"));
        entries.push(Entry::new("esc", "no and stop", "no to all that is open, and stop the turn"));
        entries
    }
}
