//! A numbered list to pick from, narrowed by typing.

use crossterm::event::KeyCode;
use crossterm::event::KeyEvent;

use super::keys;
use crate::frontend::sanitise;
use crate::frontend::style::Ink;
use crate::frontend::style::Line;

/// Rows shown at a time.
const ROWS: usize = 10;

/// What a key did to the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Picked {
    Open,
    /// The value of the chosen item.
    Chosen(String),
    Closed,
}

/// The open list.
#[derive(Clone, Debug)]
pub(super) struct Pick {
    title: String,
    items: Vec<Item>,
    filter: String,
    /// Index among the items that the filter lets through.
    selected: usize,
}

/// One thing to choose.
#[derive(Clone, Debug)]
pub(super) struct Item {
    pub value: String,
    pub label: String,
    /// Faint words behind it.
    pub about: String,
}

impl Pick {
    /// Opens a list.
    pub(super) fn new(title: impl Into<String>, items: Vec<Item>) -> Pick {
        Pick { title: title.into(), items, filter: String::new(), selected: 0 }
    }

    /// Does what `key` asks for.
    pub(super) fn key(&mut self, key: KeyEvent) -> Picked {
        match key.code {
            KeyCode::Esc => return Picked::Closed,
            KeyCode::Enter => {
                let value = self.matching().nth(self.selected).map(|(_, item)| item.value.clone());
                return value.map_or(Picked::Open, Picked::Chosen);
            }
            KeyCode::Up => self.selected = self.selected.saturating_sub(1),
            KeyCode::Down => {
                self.selected = (self.selected + 1).min(self.matching().count().max(1) - 1);
            }
            KeyCode::Backspace => {
                self.filter.pop();
                self.selected = 0;
            }
            _ => {
                if let Some(letter) = keys::letter(key) {
                    self.filter.push(letter);
                    self.selected = 0;
                }
            }
        }
        Picked::Open
    }

    /// Draws the list.
    pub(super) fn lines(&self) -> Vec<Line> {
        let count = self.matching().count();
        let mut title = Line::of(self.title.clone(), Ink::Accent);
        if !self.filter.is_empty() {
            title.push(&format!("  {}", self.filter), Ink::Code);
        }
        let mut lines = vec![title];
        let first = self.selected.saturating_sub(ROWS - 1);
        for (place, (number, item)) in self.matching().enumerate().skip(first).take(ROWS) {
            let chosen = place == self.selected;
            let mark = if chosen { "›" } else { " " };
            let ink = if chosen { Ink::Accent } else { Ink::Text };
            let label = sanitise::visible_line(&item.label);
            let mut line = Line::of(format!("{mark} {number:>2}  {label}"), ink);
            if !item.about.is_empty() {
                line.push(&format!("  {}", item.about), Ink::Faint);
            }
            lines.push(line);
        }
        let hint = match count {
            0 => "nothing matches · esc closes".to_owned(),
            count if count > ROWS => format!("{} of {count} · type to narrow", self.selected + 1),
            _ => "enter chooses · type to narrow · esc closes".to_owned(),
        };
        lines.push(Line::of(hint, Ink::Faint));
        lines
    }

    /// Returns the items that the filter lets through, with their numbers; the one whose number it is comes first.
    fn matching(&self) -> impl Iterator<Item = (usize, &Item)> {
        let wanted = self.filter.to_lowercase();
        let number: Option<usize> = self.filter.parse().ok();
        let numbered = move || self.items.iter().enumerate().map(|(index, item)| (index + 1, item));
        let exact = numbered().filter(move |(at, _)| Some(*at) == number);
        let others = numbered().filter(move |(at, item)| {
            Some(*at) != number
                && (item.label.to_lowercase().contains(&wanted)
                    || item.about.to_lowercase().contains(&wanted))
        });
        exact.chain(others)
    }
}
