//! What each key does to the input.

use crossterm::event::KeyCode;
use crossterm::event::KeyEvent;
use crossterm::event::KeyModifiers;

use super::Editor;
use super::Layout;
use super::Origin;
use super::motion;

/// What became of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edited {
    /// It was taken.
    Yes,
    /// The input is to be sent.
    Send,
    /// Up on the first row, down on the last one: the history may move.
    Above,
    Below,
    /// It means nothing to the input.
    No,
}

impl Editor {
    /// Does what `key` asks for, in an input drawn `columns` wide.
    pub fn key(&mut self, key: KeyEvent, columns: usize) -> Edited {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        let alt = key.modifiers.contains(KeyModifiers::ALT);
        let shift = key.modifiers.contains(KeyModifiers::SHIFT);
        match key.code {
            KeyCode::Enter if alt || shift || control => self.newline(),
            KeyCode::Enter => return self.enter(),
            KeyCode::Char(letter) if control && !alt => return self.control(letter),
            KeyCode::Char(letter) if alt && !control => return self.alt(letter),
            KeyCode::Char(letter) => self.type_letter(letter),
            KeyCode::Backspace if alt || control => self.kill_to(motion::word_left),
            KeyCode::Backspace => self.erase_left(),
            KeyCode::Delete if alt || control => self.kill_to(motion::word_right),
            KeyCode::Delete => self.erase_right(),
            KeyCode::Left if alt || control => self.go(motion::word_left),
            KeyCode::Right if alt || control => self.go(motion::word_right),
            KeyCode::Left => self.go(motion::left),
            KeyCode::Right => self.go(motion::right),
            KeyCode::Home => self.go(motion::line_start),
            KeyCode::End => self.go(motion::line_end),
            KeyCode::Up => return self.vertical(columns, Edited::Above),
            KeyCode::Down => return self.vertical(columns, Edited::Below),
            _ => return Edited::No,
        }
        Edited::Yes
    }

    fn control(&mut self, letter: char) -> Edited {
        match letter.to_ascii_lowercase() {
            'j' => self.newline(),
            'a' => self.go(motion::line_start),
            'e' => self.go(motion::line_end),
            'b' => self.go(motion::left),
            'f' => self.go(motion::right),
            'h' => self.erase_left(),
            'd' => self.erase_right(),
            // At the end of a line it joins the next one, as in Emacs.
            'k' => self.kill_to(|text, at| {
                let end = motion::line_end(text, at);
                if end == at { motion::right(text, at) } else { end }
            }),
            'u' => self.kill_to(|text, at| {
                let start = motion::line_start(text, at);
                if start == at { motion::left(text, at) } else { start }
            }),
            'w' => self.kill_to(motion::run_left),
            'y' => self.yank(),
            '_' | '7' | '/' => self.step_back(),
            _ => return Edited::No,
        }
        Edited::Yes
    }

    fn alt(&mut self, letter: char) -> Edited {
        match letter.to_ascii_lowercase() {
            'b' => self.go(motion::word_left),
            'f' => self.go(motion::word_right),
            'd' => self.kill_to(motion::word_right),
            _ => return Edited::No,
        }
        Edited::Yes
    }

    fn type_letter(&mut self, letter: char) {
        if !self.typing {
            self.remember();
        }
        self.insert(letter.encode_utf8(&mut [0; 4]), Origin::Typed);
        self.typing = true;
    }

    /// A backslash before Enter is the newline of terminals that cannot tell Shift+Enter.
    fn enter(&mut self) -> Edited {
        if !self.text[..self.cursor].ends_with('\\') {
            return Edited::Send;
        }
        self.remember();
        self.remove(self.cursor - 1, self.cursor);
        self.insert("\n", Origin::Typed);
        Edited::Yes
    }

    fn newline(&mut self) {
        self.remember();
        self.insert("\n", Origin::Typed);
    }

    fn go(&mut self, motion: fn(&str, usize) -> usize) {
        self.cursor = motion(&self.text, self.cursor);
        self.aim = None;
        self.typing = false;
    }

    fn erase_left(&mut self) {
        let start = motion::left(&self.text, self.cursor);
        self.erase(start, self.cursor);
    }

    fn erase_right(&mut self) {
        let end = motion::right(&self.text, self.cursor);
        self.erase(self.cursor, end);
    }

    fn erase(&mut self, start: usize, end: usize) {
        if start < end {
            self.remember();
            self.remove(start, end);
        }
    }

    fn kill_to(&mut self, motion: impl Fn(&str, usize) -> usize) {
        let other = motion(&self.text, self.cursor);
        let (start, end) = (other.min(self.cursor), other.max(self.cursor));
        if start < end {
            self.remember();
            let removed = self.remove(start, end);
            let origin = if self.pasted { Origin::Pasted } else { Origin::Typed };
            self.killed = Some((self.unfolded(&removed), origin));
        }
    }

    fn yank(&mut self) {
        if let Some((killed, origin)) = self.killed.clone() {
            self.remember();
            self.insert(&killed, origin);
        }
    }

    fn vertical(&mut self, columns: usize, edge: Edited) -> Edited {
        let layout = Layout::of(self, columns);
        let (row, column) = layout.cursor;
        let target = match edge {
            Edited::Above => row.checked_sub(1),
            _ => Some(row + 1).filter(|&row| row < layout.rows.len()),
        };
        let Some(target) = target else { return edge };
        let aim = self.aim.unwrap_or(column);
        self.cursor = layout.place(self, target, aim);
        self.aim = Some(aim);
        self.typing = false;
        Edited::Yes
    }
}
