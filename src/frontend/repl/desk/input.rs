//! Keys and pastes, given to whom they are meant for.

use std::time::Duration;

use crossterm::event::KeyCode;
use crossterm::event::KeyEvent;

use super::Desk;
use super::Instant;
use super::jobs::EditFor;
use crate::frontend::repl::ExitKind;
use crate::frontend::repl::complete::Popup;
use crate::frontend::repl::complete::Token;
use crate::frontend::repl::editor::Edited;
use crate::frontend::repl::editor::Written;
use crate::frontend::repl::keys;
use crate::frontend::repl::keys::Wish;

/// Two interrupts within this time quit.
const TWICE: Duration = Duration::from_secs(2);

/// A search among earlier inputs.
#[derive(Clone, Debug, Default)]
pub(super) struct Search {
    pub(super) query: String,
    /// The entry found, and its place.
    pub(super) found: Option<(usize, Written)>,
}

impl Desk<'_> {
    pub(super) fn key(&mut self, key: KeyEvent) {
        let now = Instant::now();
        let since_last = now.saturating_duration_since(self.last_key.at);
        self.last_key.at = now;
        self.hint = None;
        let panel = std::mem::take(&mut self.panel);
        if panel && (key.code == KeyCode::Esc || keys::letter(key) == Some('?')) {
            return;
        }
        match keys::wish(key) {
            Wish::Interrupt => self.interrupt(now),
            Wish::Redraw => self.redraw(),
            Wish::Expand => self.transcript.expand(),
            Wish::NextMode => self.next_mode(),
            wish => self.key_in_place(key, wish, since_last),
        }
    }

    /// Inserts a paste as text, whatever it holds. It never answers.
    pub(super) fn paste(&mut self, text: &str) {
        self.last_key.at = Instant::now();
        self.popup = None;
        if let Some(search) = &mut self.search {
            search.query.extend(text.lines().next());
            return self.find(usize::MAX);
        }
        if self.pick.is_none() {
            self.history.leave();
            self.editor.paste(text);
        }
    }

    fn key_in_place(&mut self, key: KeyEvent, wish: Wish, since_last: Duration) {
        if self.pick.is_some() {
            return self.pick_key(key);
        }
        if self.search.is_some() {
            return self.search_key(key, wish);
        }
        if self.question_key(key, since_last) || self.popup_key(key) {
            return;
        }
        self.last_key.answered = false;
        match wish {
            Wish::Stop => self.escape(),
            Wish::End if self.editor.is_empty() => self.leave(ExitKind::Quit),
            Wish::Editor => {
                let text = self.editor.written().text;
                self.start_edit(text, ".md".to_owned(), EditFor::Input);
            }
            Wish::Search => {
                self.search = Some(Search::default());
                self.popup = None;
            }
            Wish::Complete => self.complete(),
            _ if keys::letter(key) == Some('?') && self.editor.is_empty() => self.panel = true,
            _ => self.edit_key(key),
        }
    }

    fn edit_key(&mut self, key: KeyEvent) {
        let up = key.code == KeyCode::Up;
        if up
            && self.editor.is_empty()
            && self.words.is_none()
            && let Some(last) = self.queue.pop_back()
        {
            return self.editor.set(&last);
        }
        match self.editor.key(key, self.input_columns()) {
            Edited::Send if self.words.is_some() => self.give_words(),
            Edited::Send => {
                self.popup = None;
                let written = self.editor.take();
                self.submit(written);
            }
            Edited::Above => {
                let present = self.editor.written();
                if let Some(older) = self.history.older(present).cloned() {
                    self.editor.set(&older);
                }
            }
            Edited::Below => {
                if let Some(newer) = self.history.newer() {
                    self.editor.set(&newer);
                }
            }
            Edited::Yes => {
                if keys::letter(key).is_some() || key.code == KeyCode::Backspace {
                    self.history.leave();
                    self.complete();
                } else {
                    self.popup = None;
                }
            }
            Edited::No => {}
        }
    }

    /// Opens, narrows or closes the list of completions for what is typed.
    fn complete(&mut self) {
        let token = Token::find(&self.editor);
        if token.is_none() || self.words.is_some() || token == self.dismissed {
            (self.popup, self.completion) = (None, None);
            return;
        }
        self.dismissed = None;
        match token {
            Some(Token::Command(word)) => self.popup = Popup::commands(&word),
            Some(token) => {
                if matches!(&self.popup, Some(popup) if matches!(popup.token, Token::Command(_))) {
                    self.popup = None;
                }
                self.start_completion(token);
            }
            None => {}
        }
    }

    /// Gives a key to the list of completions. Returns whether it was for it.
    fn popup_key(&mut self, key: KeyEvent) -> bool {
        let current = Token::find(&self.editor);
        let Some(popup) = &mut self.popup else { return false };
        match key.code {
            KeyCode::Esc => {
                self.dismissed = current;
                self.popup = None;
            }
            KeyCode::Up => popup.step(false),
            KeyCode::Down => popup.step(true),
            // What was found for an older token is not put in place of a newer one.
            KeyCode::Tab | KeyCode::Enter if current.as_ref() != Some(&popup.token) => {
                return false;
            }
            KeyCode::Enter if popup.is_exact() || !key.modifiers.is_empty() => return false,
            KeyCode::Tab | KeyCode::Enter => {
                let popup = popup.clone();
                popup.accept(&mut self.editor);
                self.popup = None;
                let command = matches!(popup.token, Token::Command(_));
                if command && key.code == KeyCode::Enter {
                    return false;
                }
                if !command {
                    // A folder's own files come next.
                    self.complete();
                }
            }
            _ => return false,
        }
        true
    }

    fn search_key(&mut self, key: KeyEvent, wish: Wish) {
        let Some(search) = &mut self.search else { return };
        match (wish, key.code) {
            (Wish::Stop, _) => self.search = None,
            (Wish::Search, _) => {
                let before = search.found.as_ref().map_or(usize::MAX, |(index, _)| *index);
                self.find(before);
            }
            (_, KeyCode::Backspace) => {
                search.query.pop();
                self.find(usize::MAX);
            }
            (_, _) if keys::letter(key).is_some() => {
                search.query.extend(keys::letter(key));
                self.find(usize::MAX);
            }
            _ => {
                // Any other key takes what was found into the input, to be seen before it is sent.
                if let Some(Search { found: Some((_, written)), .. }) = self.search.take() {
                    self.editor.set(&written);
                }
            }
        }
    }

    fn find(&mut self, before: usize) {
        let Some(search) = &mut self.search else { return };
        if search.query.is_empty() {
            search.found = None;
            return;
        }
        match self.history.find(&search.query, before) {
            Some((index, written)) => search.found = Some((index, written.clone())),
            None if before == usize::MAX => search.found = None,
            None => self.hint("no earlier input holds it"),
        }
    }

    fn escape(&mut self) {
        if self.words.is_some() {
            self.take_back_words();
        } else if self.job.is_some() {
            self.stop();
        }
    }

    fn interrupt(&mut self, now: Instant) {
        let twice = self.interrupted.is_some_and(|before| now - before < TWICE);
        self.interrupted = Some(now);
        if twice || self.leaving.is_some() {
            return self.leave(ExitKind::Quit);
        }
        self.popup = None;
        if self.search.take().is_some() || self.pick.take().is_some() {
        } else if self.job.is_some() {
            self.stop();
        } else {
            self.going_on = None;
            self.history.leave();
            self.editor.clear();
        }
        self.hint("ctrl+c again quits");
    }

    /// Stops the program until the shell lets it go on.
    pub(super) async fn suspend(&mut self) {
        self.give_terminal_away();
        self.terminal.stop().await;
        self.take_terminal();
    }
}
