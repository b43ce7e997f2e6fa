//! Text from a file made harmless for showing: no terminal commands, no hidden characters.

/// Takes out escape sequences, control characters and invisible tag characters, and makes
/// every line end a plain one. An escape sequence that is never closed ends with its line.
pub fn cleaned(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    let mut clean = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(at) = rest.find(is_removed) {
        clean.push_str(&rest[..at]);
        rest = &rest[at..];
        let mut characters = rest.chars();
        rest = match characters.next() {
            Some('\u{1B}') => after_escape(characters.as_str()),
            Some('\u{9B}') => after_parameters(characters.as_str()),
            Some('\u{90}' | '\u{98}' | '\u{9D}'..='\u{9F}') => after_string(characters.as_str()),
            Some('\r') => {
                clean.push('\n');
                characters.as_str()
            }
            _ => characters.as_str(),
        };
    }
    clean.push_str(rest);
    clean
}

/// Takes out the invisible characters of the tag block, which can carry hidden instructions.
/// Returns the text and how many there were; `None` if there are none.
pub fn without_tags(text: &str) -> Option<(String, usize)> {
    let is_tag = |character: &char| matches!(character, '\u{E0000}'..='\u{E007F}');
    // Each of them begins with these two bytes.
    if !text.as_bytes().windows(2).any(|pair| pair == [0xF3, 0xA0]) {
        return None;
    }
    let tags = text.chars().filter(is_tag).count();
    (tags > 0).then(|| (text.chars().filter(|character| !is_tag(character)).collect(), tags))
}

fn is_removed(character: char) -> bool {
    character.is_control() && !matches!(character, '\n' | '\t')
        || matches!(character, '\u{FEFF}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
        || matches!(character, '\u{E0000}'..='\u{E007F}')
}

/// Returns what follows an escape sequence, given what follows the escape character.
fn after_escape(rest: &str) -> &str {
    let mut characters = rest.chars();
    match characters.next() {
        Some('[') => after_parameters(characters.as_str()),
        Some(']' | 'P' | 'X' | '^' | '_') => after_string(characters.as_str()),
        // Intermediate characters, then one final one.
        Some(' '..='/') => {
            let rest = characters.as_str().trim_start_matches(|next| matches!(next, ' '..='/'));
            rest.strip_prefix(|next| matches!(next, '0'..='~')).unwrap_or(rest)
        }
        Some('0'..='~') => characters.as_str(),
        _ => rest,
    }
}

/// Returns what follows a sequence of parameters and a final character.
fn after_parameters(rest: &str) -> &str {
    let rest = rest.trim_start_matches(|next| matches!(next, ' '..='?'));
    rest.strip_prefix(|next| matches!(next, '@'..='~')).unwrap_or(rest)
}

/// Returns what follows a string for the terminal: its terminator's end, or the line's.
fn after_string(rest: &str) -> &str {
    let ends = |next: char| matches!(next, '\u{7}' | '\u{1B}' | '\u{9C}' | '\n');
    let Some(at) = rest.find(ends) else { return "" };
    let rest = &rest[at..];
    rest.strip_prefix("\u{1B}\\").or_else(|| rest.strip_prefix(['\u{7}', '\u{9C}'])).unwrap_or(rest)
}
