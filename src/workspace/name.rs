//! Names of files that are hard to write: odd bytes, unseen characters, two Unicode forms.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use unicode_normalization::UnicodeNormalization as _;

/// Most names of a folder that are looked at.
const MAX_NAMES: usize = 10_000;

/// Shows a path on one line whatever its bytes are: as it is, or quoted with escapes.
/// [`Workspace::locate`](super::Workspace::locate) takes either form.
pub fn quoted(path: &Path) -> String {
    let bytes = path.as_os_str().as_bytes();
    let plain = str::from_utf8(bytes).ok().filter(|text| {
        !text.starts_with('"') && !text.ends_with(' ') && !text.chars().any(is_unseen)
    });
    if let Some(plain) = plain {
        return plain.to_owned();
    }
    let mut shown = String::from("\"");
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                '"' | '\\' => shown.extend(['\\', character]),
                '\n' => shown.push_str("\\n"),
                '\t' => shown.push_str("\\t"),
                _ if is_unseen(character) => shown.extend(character.escape_unicode()),
                _ => shown.push(character),
            }
        }
        shown.extend(chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")));
    }
    shown.push('"');
    shown
}

/// Most characters of a word that [`shown`] gives whole.
const MOST_SHOWN: usize = 80;

/// Shows a short word of somebody else's on one line: what cannot be seen by its number, the rest cut.
pub fn shown(word: &str) -> String {
    let mut shown = String::new();
    for character in word.chars().take(MOST_SHOWN) {
        if is_unseen(character) {
            shown.extend(character.escape_unicode());
        } else {
            shown.push(character);
        }
    }
    if word.chars().nth(MOST_SHOWN).is_some() { shown + "…" } else { shown }
}

/// Reads what [`quoted`] wrote; `None` if it is nothing of the kind.
pub(super) fn unquoted(text: &str) -> Option<PathBuf> {
    let mut rest = text.strip_prefix('"')?.strip_suffix('"')?;
    let mut bytes = Vec::new();
    while let Some((plain, escaped)) = rest.split_once('\\') {
        bytes.extend(plain.bytes());
        let mut characters = escaped.chars();
        let letter = characters.next()?;
        rest = characters.as_str();
        match letter {
            'n' => bytes.push(b'\n'),
            't' => bytes.push(b'\t'),
            'x' => {
                bytes.push(u8::from_str_radix(rest.get(..2)?, 16).ok()?);
                rest = &rest[2..];
            }
            'u' => {
                let (digits, after) = rest.strip_prefix('{')?.split_once('}')?;
                let character = char::from_u32(u32::from_str_radix(digits, 16).ok()?)?;
                bytes.extend(character.encode_utf8(&mut [0; 4]).bytes());
                rest = after;
            }
            other => bytes.extend(other.encode_utf8(&mut [0; 4]).bytes()),
        }
    }
    bytes.extend(rest.bytes());
    Some(PathBuf::from(OsString::from_vec(bytes)))
}

/// Whether a character is no mark on the screen, or changes how others are shown.
fn is_unseen(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{2069}')
        || matches!(character, '\u{FEFF}' | '\u{E0000}'..='\u{E007F}')
}

/// Returns the names in `folder`, in no order, not more than can be looked at.
pub(super) fn names_in(folder: &Path) -> impl Iterator<Item = OsString> + use<> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().take(MAX_NAMES);
    entries.filter_map(|entry| Some(entry.ok()?.file_name()))
}

/// Returns the name in `folder` that differs from `name` only in its Unicode form.
///
/// To people and models they are one name, so a second file of it is never made.
pub(super) fn other_form(folder: &Path, name: &OsStr) -> Option<OsString> {
    let name = name.to_str().filter(|name| !name.is_ascii())?;
    names_in(folder).find(|other| other.to_str().is_some_and(|other| other.nfc().eq(name.nfc())))
}
