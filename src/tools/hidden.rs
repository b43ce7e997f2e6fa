//! Keys taken out of a text that comes in pieces.

/// What stands in the place of a key.
const INSTEAD: &str = "[key]";

/// What is so short is no key, and may be a part of anything.
const SHORTEST: usize = 16;

/// Takes keys out of pieces of text, also where one piece ends within a key.
pub(super) struct Hidden {
    keys: Vec<String>,
    /// The end of the last piece, which may be the beginning of a key.
    held: String,
}

impl Hidden {
    /// Takes the keys.
    pub(super) fn new(keys: &[String]) -> Hidden {
        let keys = keys.iter().filter(|key| key.len() >= SHORTEST).cloned().collect();
        Hidden { keys, held: String::new() }
    }

    /// Puts what may be handed on by now in the place of the next piece.
    pub(super) fn pass(&mut self, piece: &mut String) {
        if self.keys.is_empty() {
            return;
        }
        piece.insert_str(0, &std::mem::take(&mut self.held));
        for key in &self.keys {
            if piece.contains(key.as_str()) {
                *piece = piece.replace(key.as_str(), INSTEAD);
            }
        }
        let begun = self.keys.iter().map(|key| begun(piece, key)).max().unwrap_or(0);
        self.held = piece.split_off(piece.len() - begun);
    }

    /// Adds what was held back to the last piece.
    pub(super) fn finish(&mut self, piece: &mut String) {
        self.pass(piece);
        piece.push_str(&std::mem::take(&mut self.held));
    }
}

/// Returns how many bytes at the end of `text` are the beginning of `key`, and not all of it.
fn begun(text: &str, key: &str) -> usize {
    let most = text.len().min(key.len() - 1);
    let lengths = (1..=most).rev().filter(|&length| key.is_char_boundary(length));
    lengths.into_iter().find(|&length| text.ends_with(&key[..length])).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_taken_out_wherever_the_pieces_end() {
        let key = "sk-0123456789abcdef";
        let text = format!("a {key} b sk-01 {key}{key} sk-0123456789abcde\u{e9}");
        for size in 1..=text.chars().count() {
            let mut hidden = Hidden::new(&[key.to_owned()]);
            let (mut whole, mut piece) = (String::new(), String::new());
            let characters: Vec<char> = text.chars().collect();
            for part in characters.chunks(size) {
                piece.clear();
                piece.extend(part);
                hidden.pass(&mut piece);
                whole.push_str(&piece);
            }
            piece.clear();
            hidden.finish(&mut piece);
            whole.push_str(&piece);
            assert_eq!(whole, "a [key] b sk-01 [key][key] sk-0123456789abcde\u{e9}", "{size}");
        }
    }
}
