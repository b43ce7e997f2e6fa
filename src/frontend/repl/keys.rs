//! Keys that mean something to the whole prompt loop, told apart from those of the input.

use crossterm::event::KeyCode;
use crossterm::event::KeyEvent;
use crossterm::event::KeyModifiers;

/// What a key asks of the loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wish {
    /// Esc.
    Stop,
    /// Ctrl-C.
    Interrupt,
    /// Ctrl-D, which ends on an empty input.
    End,
    /// Ctrl-Z.
    Suspend,
    /// Shift+Tab.
    NextMode,
    /// Tab.
    Complete,
    /// Ctrl-G.
    Editor,
    /// Ctrl-R.
    Search,
    /// Ctrl-O.
    Expand,
    /// Ctrl-L.
    Redraw,
    /// Nothing of these.
    None,
}

/// Returns what `key` asks of the loop.
pub(super) fn wish(key: KeyEvent) -> Wish {
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    match key.code {
        KeyCode::Esc => Wish::Stop,
        KeyCode::BackTab => Wish::NextMode,
        KeyCode::Tab if key.modifiers.contains(KeyModifiers::SHIFT) => Wish::NextMode,
        KeyCode::Tab => Wish::Complete,
        KeyCode::Char(letter) if control => match letter.to_ascii_lowercase() {
            'c' => Wish::Interrupt,
            'd' => Wish::End,
            'z' => Wish::Suspend,
            'g' => Wish::Editor,
            'r' => Wish::Search,
            'o' => Wish::Expand,
            'l' => Wish::Redraw,
            _ => Wish::None,
        },
        _ => Wish::None,
    }
}

/// Returns the key that SIGINT stands for.
pub(super) fn interrupt() -> KeyEvent {
    KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL)
}

/// Returns the letter that `key` types, if it types one.
pub(super) fn letter(key: KeyEvent) -> Option<char> {
    let special = key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT);
    match key.code {
        KeyCode::Char(letter) if !special => Some(letter),
        _ => None,
    }
}
