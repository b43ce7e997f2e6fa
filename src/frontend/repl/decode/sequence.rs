//! One key at the beginning of some bytes.

use crossterm::event::KeyCode;
use crossterm::event::KeyEvent;
use crossterm::event::KeyModifiers;

/// The longest sequence that is waited for.
const LONGEST: usize = 4096;

/// What stands at the beginning of some bytes, and how many of them it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Parsed {
    Key(KeyEvent, usize),
    /// Something that is no key.
    Nothing(usize),
    /// The rest has not come yet.
    Partial,
}

use Parsed::{Key, Nothing, Partial};

/// Returns what `bytes` begin with.
pub(super) fn parse(bytes: &[u8]) -> Parsed {
    match bytes {
        [] | [0x1b] => Partial,
        [0x1b, rest @ ..] => after_escape(rest, bytes.len()),
        [byte @ 0..=0x7f, ..] => Key(plain(*byte), 1),
        _ => letter(bytes),
    }
}

fn after_escape(rest: &[u8], whole: usize) -> Parsed {
    match rest {
        [b'[', parameters @ ..] => control_sequence(parameters),
        [b'O' | 0x1b] => Partial,
        [b'O', byte, ..] => single_shift(*byte).map_or(Nothing(3), |code| Key(code.into(), 3)),
        // Answers of the terminal: they end with BEL or ST.
        [b']' | b'P' | b'_' | b'^' | b'X', text @ ..] => match string_end(text) {
            Some(length) => Nothing(2 + length),
            None if whole > LONGEST => Nothing(whole),
            None => Partial,
        },
        // Alt with a key that is a sequence itself.
        [0x1b, b'[' | b'O', ..] => with_alt(parse(rest)),
        [0x1b, ..] => Key(KeyCode::Esc.into(), 1),
        _ => with_alt(parse(rest)),
    }
}

fn with_alt(parsed: Parsed) -> Parsed {
    match parsed {
        Key(mut key, length) => {
            key.modifiers |= KeyModifiers::ALT;
            Key(key, length + 1)
        }
        Nothing(length) => Nothing(length + 1),
        Partial => Partial,
    }
}

/// Returns the key of one byte of ASCII.
fn plain(byte: u8) -> KeyEvent {
    let control =
        |letter: u8| KeyEvent::new(KeyCode::Char(char::from(letter)), KeyModifiers::CONTROL);
    match byte {
        b'\r' => KeyCode::Enter.into(),
        b'\t' => KeyCode::Tab.into(),
        0x7f => KeyCode::Backspace.into(),
        0 => control(b' '),
        0x01..=0x1a => control(byte - 1 + b'a'),
        0x1c..=0x1f => control(byte - 0x1c + b'4'),
        _ => typed(char::from(byte)),
    }
}

fn typed(letter: char) -> KeyEvent {
    let shift = if letter.is_uppercase() { KeyModifiers::SHIFT } else { KeyModifiers::NONE };
    KeyEvent::new(KeyCode::Char(letter), shift)
}

/// Returns the letter of several bytes; what is no UTF-8 is passed over.
fn letter(bytes: &[u8]) -> Parsed {
    let some = &bytes[..bytes.len().min(4)];
    let valid = match std::str::from_utf8(some) {
        Ok(text) => text,
        Err(error) if error.valid_up_to() > 0 => {
            std::str::from_utf8(&some[..error.valid_up_to()]).unwrap_or_default()
        }
        Err(error) => return error.error_len().map_or(Partial, Nothing),
    };
    valid.chars().next().map_or(Nothing(1), |letter| Key(typed(letter), letter.len_utf8()))
}

fn single_shift(byte: u8) -> Option<KeyCode> {
    Some(match byte {
        b'A'..=b'D' | b'F' | b'H' | b'P'..=b'S' => named(byte)?,
        b'M' => KeyCode::Enter,
        // The keypad, when it sends sequences.
        b'j'..=b'y' => KeyCode::Char(char::from(byte - 0x40)),
        _ => return None,
    })
}

/// Returns the key that the last letter of a sequence names.
fn named(last: u8) -> Option<KeyCode> {
    Some(match last {
        b'A' => KeyCode::Up,
        b'B' => KeyCode::Down,
        b'C' => KeyCode::Right,
        b'D' => KeyCode::Left,
        b'F' => KeyCode::End,
        b'H' => KeyCode::Home,
        b'P'..=b'S' => KeyCode::F(last - b'P' + 1),
        b'Z' => KeyCode::BackTab,
        _ => return None,
    })
}

/// Reads what follows `ESC [`.
fn control_sequence(bytes: &[u8]) -> Parsed {
    // The Linux console names its first function keys so.
    if let [b'[', rest @ ..] = bytes {
        return match rest {
            [] => Partial,
            [last @ b'A'..=b'E', ..] => Key(KeyCode::F(last - b'A' + 1).into(), 4),
            _ => Nothing(4),
        };
    }
    let Some(end) = bytes.iter().position(|byte| !(0x20..0x40).contains(byte)) else {
        return if bytes.len() > LONGEST { Nothing(2 + bytes.len()) } else { Partial };
    };
    let (parameters, last) = (&bytes[..end], bytes[end]);
    if !(0x40..0x7f).contains(&last) {
        // It was broken off; what comes instead is looked at by itself.
        return Nothing(2 + end);
    }
    let key = if parameters.first().is_some_and(|first| (0x3c..0x40).contains(first)) {
        // Private: an answer, a mouse.
        None
    } else {
        key_of(&numbers(parameters), last)
    };
    let length = 2 + end + 1;
    key.map_or(Nothing(length), |key| Key(key, length))
}

/// Parameters, and the parts of each; what is missing is 0.
fn numbers(parameters: &[u8]) -> Vec<Vec<u32>> {
    let number = |part: &[u8]| std::str::from_utf8(part).ok()?.parse().ok();
    let parts = |parameter: &[u8]| {
        parameter.split(|&byte| byte == b':').map(|part| number(part).unwrap_or(0)).collect()
    };
    parameters.split(|&byte| byte == b';').map(parts).collect()
}

fn key_of(numbers: &[Vec<u32>], last: u8) -> Option<KeyEvent> {
    let at = |parameter: usize, part: usize| {
        numbers.get(parameter).and_then(|parts| parts.get(part)).copied().unwrap_or(0)
    };
    let (mut modifiers, released) = (modifiers(at(1, 0)), at(1, 1) == 3);
    if released {
        return None;
    }
    let code = match last {
        b'u' => coded(at(0, 0))?,
        b'~' if at(0, 0) == 27 => coded(at(2, 0))?,
        b'~' => numbered(at(0, 0))?,
        _ => named(last)?,
    };
    let code = match code {
        KeyCode::Tab if modifiers.contains(KeyModifiers::SHIFT) => KeyCode::BackTab,
        // Shift alone only makes another letter.
        KeyCode::Char(letter) if modifiers == KeyModifiers::SHIFT => {
            let shifted = char::from_u32(at(0, 1)).filter(|&letter| letter != '\0');
            KeyCode::Char(shifted.unwrap_or_else(|| letter.to_ascii_uppercase()))
        }
        code => code,
    };
    if code == KeyCode::BackTab {
        modifiers |= KeyModifiers::SHIFT;
    }
    Some(KeyEvent::new(code, modifiers))
}

fn modifiers(sent: u32) -> KeyModifiers {
    let bits = sent.saturating_sub(1);
    [
        (1, KeyModifiers::SHIFT),
        (2, KeyModifiers::ALT),
        (4, KeyModifiers::CONTROL),
        (8, KeyModifiers::SUPER),
    ]
    .into_iter()
    .filter(|(bit, _)| bits & bit != 0)
    .fold(KeyModifiers::NONE, |all, (_, modifier)| all | modifier)
}

fn numbered(number: u32) -> Option<KeyCode> {
    Some(match number {
        1 | 7 => KeyCode::Home,
        2 => KeyCode::Insert,
        3 => KeyCode::Delete,
        4 | 8 => KeyCode::End,
        5 => KeyCode::PageUp,
        6 => KeyCode::PageDown,
        _ => return None,
    })
}

/// Returns the key of a code point, or of the numbers that terminals give to keys beside them.
fn coded(number: u32) -> Option<KeyCode> {
    Some(match number {
        8 | 127 => KeyCode::Backspace,
        9 => KeyCode::Tab,
        13 | 57414 => KeyCode::Enter,
        27 => KeyCode::Esc,
        57399..=57408 => KeyCode::Char(char::from_digit(number - 57399, 10)?),
        57409 => KeyCode::Char('.'),
        57410 => KeyCode::Char('/'),
        57411 => KeyCode::Char('*'),
        57412 => KeyCode::Char('-'),
        57413 => KeyCode::Char('+'),
        57415 => KeyCode::Char('='),
        57417 => KeyCode::Left,
        57418 => KeyCode::Right,
        57419 => KeyCode::Up,
        57420 => KeyCode::Down,
        57423 => KeyCode::Home,
        57424 => KeyCode::End,
        57426 => KeyCode::Delete,
        // The rest of the private area: locks, media, modifiers alone.
        57344..=63743 => return None,
        _ => KeyCode::Char(char::from_u32(number).filter(|letter| !letter.is_control())?),
    })
}

/// Returns how long a string of the terminal's is, its end included.
fn string_end(text: &[u8]) -> Option<usize> {
    let end = text.iter().position(|&byte| byte == 0x07 || byte == 0x1b)?;
    match text[end..] {
        [0x07, ..] => Some(end + 1),
        [0x1b, b'\\', ..] => Some(end + 2),
        [0x1b] => None,
        // Another sequence breaks it off.
        _ => Some(end),
    }
}
