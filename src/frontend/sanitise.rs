//! The one sanitiser between words that are not ours and the terminal.
//!
//! Text of a model, a file, a command or a server may hold characters that move the cursor, set the
//! clipboard, reorder what is read or hide in it. Two answers: [`visible`] shows each as a
//! placeholder, for whatever a person decides on; [`dropped`] leaves them out, for whatever a
//! person only reads. Neither lets anything but `\n` and `\t` of the control characters through.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Shows each odd character of `text` as a placeholder: `␛` for controls, `<U+202E>` for the rest.
///
/// For approvals and diffs, where a person must see every character that counts.
pub fn visible(text: &str) -> Cow<'_, str> {
    let Some(first) = first_odd(text, Keep::Visible) else { return Cow::Borrowed(text) };
    let mut out = String::with_capacity(text.len() + 16);
    out.push_str(&text[..first]);
    walk(text, first, Keep::Visible, |character, odd| {
        if odd { push_placeholder(&mut out, character) } else { out.push(character) }
    });
    Cow::Owned(out)
}

/// Like [`visible`], with line ends and tabs as placeholders too: for names and titles.
pub fn visible_line(text: &str) -> Cow<'_, str> {
    match visible(text) {
        shown if shown.contains(['\n', '\t']) => {
            Cow::Owned(shown.replace('\n', "␊").replace('\t', "␉"))
        }
        shown => shown,
    }
}

/// Shows the beginning and the end of `text` on one line, at most about `most` characters, as
/// [`visible_line`] does. Blanks in a row become one, so that none push anything away.
pub fn excerpt(text: &str, most: usize) -> String {
    let words = text.split_whitespace().collect::<Vec<&str>>().join(" ");
    let shown = visible_line(&words);
    let count = shown.chars().count();
    if count <= most {
        return shown.into_owned();
    }
    let (first, last) = (most * 3 / 4, most / 4);
    let begin: String = shown.chars().take(first).collect();
    let end: String = shown.chars().skip(count - last).collect();
    format!("{begin} [… {} characters …] {end}", count - first - last)
}

/// Leaves out what a terminal would act on, and what cannot be seen: for text of the model and output.
///
/// Escape sequences go whole; one that is never closed ends at its line. `\r\n` is a line end, and
/// so is a lone `\r`.
pub fn dropped(text: &str) -> Cow<'_, str> {
    let Some(first) = first_odd(text, Keep::Dropped) else { return Cow::Borrowed(text) };
    let mut out = String::with_capacity(text.len());
    out.push_str(&text[..first]);
    let mut rest = first;
    while let Some(character) = text[rest..].chars().next() {
        let next = rest + character.len_utf8();
        let previous = out.chars().next_back();
        let following = text[next..].chars().next();
        rest = match introduced(character, following) {
            Some(sequence) => end_of_sequence(text, next, sequence),
            None => next,
        };
        match character {
            '\r' if following == Some('\n') => {}
            '\r' | '\u{2028}' | '\u{2029}' | '\u{85}' => out.push('\n'),
            _ if is_odd(character, previous, following, Keep::Dropped) => {}
            _ => out.push(character),
        }
    }
    Cow::Owned(out)
}

/// Returns the odd characters of `text`, each once, in the order they are met.
///
/// Empty means that what a person sees of `text` is all there is to it.
pub fn odd_characters(text: &str) -> Vec<char> {
    found(text, Keep::Visible)
}

/// Returns those of [`odd_characters`] that act or hide: not the blanks of other widths.
pub fn hidden_characters(text: &str) -> Vec<char> {
    found(text, Keep::Dropped)
}

/// Returns the words of `text` that mix Latin letters with look-alikes of other alphabets.
pub fn mixed_words(text: &str) -> Vec<&str> {
    let latin = |c: char| c.is_ascii_alphabetic();
    let alike = |c: char| matches!(c, '\u{370}'..='\u{52f}' | '\u{ff21}'..='\u{ff5a}');
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.contains(latin) && word.contains(alike))
        .collect()
}

/// Returns the placeholder of one odd character.
pub fn placeholder(character: char) -> String {
    let mut out = String::new();
    push_placeholder(&mut out, character);
    out
}

fn found(text: &str, keep: Keep) -> Vec<char> {
    let mut found = Vec::new();
    let Some(first) = first_odd(text, keep) else { return found };
    walk(text, first, keep, |character, odd| {
        if odd && !found.contains(&character) {
            found.push(character);
        }
    });
    found
}

/// Which of the two answers is asked for: they differ in what is harmless.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keep {
    Visible,
    Dropped,
}

fn push_placeholder(out: &mut String, character: char) {
    let code = u32::from(character);
    match character {
        '\u{7f}' => out.push('␡'),
        '\0'..='\u{1f}' => out.extend(char::from_u32(0x2400 + code)),
        // Writing to a string cannot fail.
        _ => drop(write!(out, "<U+{code:04X}>")),
    }
}

/// Calls `each` for every character from `start` on, with whether it is odd.
fn walk(text: &str, start: usize, keep: Keep, mut each: impl FnMut(char, bool)) {
    let mut previous = text[..start].chars().next_back();
    let mut characters = text[start..].chars().peekable();
    while let Some(character) = characters.next() {
        each(character, is_odd(character, previous, characters.peek().copied(), keep));
        previous = Some(character);
    }
}

/// Returns where the first odd character stands. Plain text is passed over at the speed of bytes.
fn first_odd(text: &str, keep: Keep) -> Option<usize> {
    let plain = |byte: &u8| matches!(byte, b'\n' | b'\t' | 0x20..=0x7e);
    let start = text.bytes().position(|byte| !plain(&byte))?;
    let mut previous = text[..start].chars().next_back();
    let mut characters = text[start..].char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        let following = characters.peek().map(|&(_, following)| following);
        if is_odd(character, previous, following, keep) {
            return Some(start + at);
        }
        previous = Some(character);
    }
    None
}

/// Says whether `character`, between its neighbours, is one that acts or hides.
fn is_odd(character: char, previous: Option<char>, following: Option<char>, keep: Keep) -> bool {
    match character {
        '\n' | '\t' | ' '..='~' => false,
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' => true,
        // Joiners make emoji out of emoji, and letters of some scripts need them.
        '\u{200c}' | '\u{200d}' => !match keep {
            Keep::Visible => pictured(previous) && pictured(following),
            Keep::Dropped => joinable(previous) && joinable(following),
        },
        // One presentation selector after a symbol chooses how it is drawn.
        '\u{fe0e}' | '\u{fe0f}' => !(pictured(previous) || keycap(previous)),
        // Blanks that are not the blank: they only matter to somebody who decides.
        '\u{a0}'
        | '\u{1680}'
        | '\u{2000}'..='\u{200a}'
        | '\u{202f}'
        | '\u{205f}'
        | '\u{2800}'
        | '\u{fffc}' => keep == Keep::Visible,
        // The blank of Chinese and Japanese text is one only there.
        '\u{3000}' => keep == Keep::Visible && !wide(previous) && !wide(following),
        _ => is_hidden(character),
    }
}

/// Bidirectional controls, zero-width and filler characters, tags, selectors, separators, and what is
/// no character. Those for private use are none of them: many fonts of terminals draw icons with
/// them, each as wide as a letter, and they neither act nor hide anything.
fn is_hidden(character: char) -> bool {
    matches!(
        character,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}' | '\u{1160}'
            | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fdd0}'..='\u{fdef}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{fffe}' | '\u{ffff}'
            | '\u{13430}'..='\u{1343f}' | '\u{13441}' | '\u{13442}'
            | '\u{16fe4}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    ) || u32::from(character) & 0xfffe == 0xfffe
}

/// Symbols, and letters of scripts that are not Latin, Greek or Cyrillic.
fn joinable(neighbour: Option<char>) -> bool {
    let letter = |c: char| c >= '\u{600}' && c.is_alphanumeric() && !is_hidden(c);
    pictured(neighbour) || neighbour.is_some_and(letter)
}

/// Letters and marks of Chinese, Japanese and Korean text.
fn wide(neighbour: Option<char>) -> bool {
    neighbour.is_some_and(|c| matches!(c, '\u{2e80}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' | '\u{f900}'..='\u{faff}' | '\u{ff01}'..='\u{ff9f}' | '\u{20000}'..='\u{3ffff}') && c != '\u{3164}')
}

/// Symbols that emoji are made of; the selector counts as part of the one before it.
fn pictured(neighbour: Option<char>) -> bool {
    neighbour.is_some_and(|character| {
        matches!(character, '\u{a9}' | '\u{ae}' | '\u{203c}'..='\u{2049}' | '\u{2122}'..='\u{303d}'
            | '\u{fe0f}' | '\u{1f000}'..='\u{1faff}')
    })
}

fn keycap(neighbour: Option<char>) -> bool {
    neighbour.is_some_and(|character| matches!(character, '0'..='9' | '#' | '*'))
}

/// The shapes of escape sequences.
#[derive(Clone, Copy)]
enum Sequence {
    /// `ESC [`: parameters, then a final letter.
    Control,
    /// `ESC ]`, `ESC P`, `ESC X`, `ESC ^`, `ESC _`: any text, up to a terminator.
    Text,
    /// `ESC` and perhaps intermediates, then one final character.
    Short,
}

/// Returns what `character` introduces, in its 7-bit or 8-bit form.
fn introduced(character: char, following: Option<char>) -> Option<Sequence> {
    match (character, following) {
        ('\u{9b}', _) | ('\u{1b}', Some('[')) => Some(Sequence::Control),
        ('\u{90}' | '\u{98}' | '\u{9d}' | '\u{9e}' | '\u{9f}', _)
        | ('\u{1b}', Some('P' | 'X' | ']' | '^' | '_')) => Some(Sequence::Text),
        ('\u{1b}', _) => Some(Sequence::Short),
        _ => None,
    }
}

/// Returns where the sequence ends whose introducer ends at `start`; at the latest before a line end.
fn end_of_sequence(text: &str, start: usize, sequence: Sequence) -> usize {
    let seven_bit = text[..start].ends_with('\u{1b}');
    let body = match sequence {
        Sequence::Control | Sequence::Text if seven_bit => start + 1,
        _ => start,
    };
    let line_end = text[body..].find(['\n', '\r']).map_or(text.len(), |at| body + at);
    let line = &text[body..line_end];
    match sequence {
        Sequence::Control => {
            let length = line.find(|c: char| !matches!(c, ' '..='?')).unwrap_or(line.len());
            let last = line[length..].chars().next().filter(|c| matches!(c, '@'..='~'));
            body + length + last.map_or(0, char::len_utf8)
        }
        Sequence::Text => {
            let found = line.char_indices().find(|&(at, character)| match character {
                '\u{7}' | '\u{9c}' => true,
                '\u{1b}' => line[at..].starts_with("\u{1b}\\"),
                _ => false,
            });
            match found {
                Some((at, '\u{1b}')) => body + at + 2,
                Some((at, terminator)) => body + at + terminator.len_utf8(),
                None => line_end,
            }
        }
        Sequence::Short => {
            let length = line.find(|c: char| !matches!(c, ' '..='/')).unwrap_or(line.len());
            let last = line[length..].chars().next().filter(|c| matches!(c, '0'..='~'));
            body + length + last.map_or(0, char::len_utf8)
        }
    }
}
