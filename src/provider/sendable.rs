//! Texts, names, arguments and ids in the form that servers take.

use std::hash::{BuildHasher as _, RandomState};

/// The longest name of a tool that servers take.
const LONGEST_NAME: usize = 64;

/// Writes `text` as a JSON string, without NUL, which several servers refuse.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text.replace('\0', "\u{fffd}")).to_string()
}

/// Returns the name of a call in the letters that servers take.
pub(super) fn sendable_name(name: &str) -> String {
    let letters = name.chars().take(LONGEST_NAME);
    let name: String = letters
        .map(|letter| match letter {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '-' => letter,
            _ => '_',
        })
        .collect();
    if name.is_empty() { "unnamed".to_owned() } else { name }
}

/// Makes an id of nine letters and digits, which every server takes.
pub(super) fn made_id() -> String {
    const LETTERS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
    // The keys of a new state are random; hashing anything shows them.
    let mut random = RandomState::new().hash_one(0_u8);
    let mut id = String::new();
    for _ in 0..9 {
        id.push(char::from(LETTERS[usize::try_from(random % 32).unwrap_or(0)]));
        random /= 32;
    }
    id
}
