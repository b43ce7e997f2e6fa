//! What a terminal sends, told apart: keys, pastes, and answers that nobody asked for.
//!
//! Pure: bytes in, inputs out. Whoever reads the bytes waits as long as [`Decoder::patience`] says and then
//! calls [`Decoder::give_up`], since only time tells the key Esc from the beginning of a sequence.

mod sequence;

use std::time::Duration;

use crossterm::event::KeyCode;
use crossterm::event::KeyEvent;
use crossterm::event::KeyModifiers;

use super::terminal::Input;
use sequence::Parsed;

const PASTE_BEGINS: &[u8] = b"\x1b[200~";
const PASTE_ENDS: &[u8] = b"\x1b[201~";

/// How long the rest of a sequence may take.
const SEQUENCE: Duration = Duration::from_millis(40);
/// How long a paste may stand still; without its end it would swallow every key.
const PASTE: Duration = Duration::from_secs(2);

/// Turns the bytes of a terminal into inputs.
#[derive(Debug, Default)]
pub struct Decoder {
    /// Bytes that are not a whole input yet.
    pending: Vec<u8>,
    /// What was pasted so far, while a paste goes on.
    paste: Option<Vec<u8>>,
}

impl Decoder {
    /// Takes `bytes` and returns the inputs that they complete.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<Input> {
        self.pending.extend_from_slice(bytes);
        let mut inputs = Vec::new();
        loop {
            if let Some(mut paste) = self.paste.take() {
                let searched = paste.len().saturating_sub(PASTE_ENDS.len() - 1);
                paste.append(&mut self.pending);
                let end = memchr::memmem::find(&paste[searched..], PASTE_ENDS);
                let Some(end) = end.map(|end| searched + end) else {
                    self.paste = Some(paste);
                    return inputs;
                };
                self.pending = paste.split_off(end + PASTE_ENDS.len());
                paste.truncate(end);
                inputs.push(pasted(&paste));
            } else if self.pending.starts_with(PASTE_BEGINS) {
                self.pending.drain(..PASTE_BEGINS.len());
                self.paste = Some(Vec::new());
            } else {
                match sequence::parse(&self.pending) {
                    Parsed::Partial => return inputs,
                    Parsed::Key(key, length) => {
                        inputs.push(Input::Key(key));
                        self.pending.drain(..length);
                    }
                    Parsed::Nothing(length) => {
                        self.pending.drain(..length);
                    }
                }
            }
        }
    }

    /// Returns how long the rest of what has begun may take; none if nothing has begun.
    pub fn patience(&self) -> Option<Duration> {
        match (&self.paste, self.pending.is_empty()) {
            (Some(_), _) => Some(PASTE),
            (None, false) => Some(SEQUENCE),
            (None, true) => None,
        }
    }

    /// Takes what has begun for all there is.
    pub fn give_up(&mut self) -> Vec<Input> {
        if let Some(paste) = self.paste.take() {
            return vec![pasted(&paste)];
        }
        let pending = std::mem::take(&mut self.pending);
        let escape = KeyEvent::new(KeyCode::Esc, KeyModifiers::NONE);
        match pending[..] {
            [0x1b] => vec![Input::Key(escape)],
            [0x1b, 0x1b] => vec![Input::Key(escape), Input::Key(escape)],
            [0x1b, byte] if byte.is_ascii() => {
                let letter = KeyCode::Char(char::from(byte));
                vec![Input::Key(KeyEvent::new(letter, KeyModifiers::ALT))]
            }
            // A sequence that was torn is no text.
            _ => Vec::new(),
        }
    }
}

fn pasted(bytes: &[u8]) -> Input {
    Input::Paste(String::from_utf8_lossy(bytes).into_owned())
}
