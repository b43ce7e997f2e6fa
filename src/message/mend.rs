//! Arguments that are nearly JSON, mended where only one thing can be meant.

use std::borrow::Cow;
use std::fmt::Write as _;

use serde_json::{Map, Value};

/// What stands for an object, and why it is none.
pub(super) enum Found {
    Object(Map<String, Value>),
    /// It ends in the middle.
    Cut,
    /// JSON of another kind, or no JSON at all.
    Nothing,
}

/// Reads an object that stands in a code fence, is a JSON string, or holds line ends in its strings
/// or commas after its last members. Nothing is ever added at the end: what is cut stays cut.
pub(super) fn object(text: &str) -> Found {
    let text = unfenced(text);
    match serde_json::from_str(text) {
        Ok(Value::String(inner)) => match parsed(&inner) {
            // Twice is what happens; deeper is no mistake of encoding any more.
            Found::Nothing => mended(&inner),
            found => found,
        },
        Ok(Value::Object(object)) => Found::Object(object),
        Ok(_) => Found::Nothing,
        Err(error) if error.is_eof() => Found::Cut,
        Err(_) => mended(text),
    }
}

fn mended(text: &str) -> Found {
    match corrected(text) {
        Cow::Borrowed(_) => Found::Nothing,
        Cow::Owned(text) => parsed(&text),
    }
}

fn parsed(text: &str) -> Found {
    match serde_json::from_str(text) {
        Ok(Value::Object(object)) => Found::Object(object),
        Err(error) if error.is_eof() => Found::Cut,
        Ok(_) | Err(_) => Found::Nothing,
    }
}

/// Returns what a code fence around the whole text holds.
fn unfenced(text: &str) -> &str {
    let text = text.trim();
    let Some((opening, rest)) = text.split_once('\n') else { return text };
    if !opening.starts_with("```") || opening[3..].contains('`') {
        return text;
    }
    rest.trim_end().strip_suffix("```").unwrap_or(rest).trim()
}

/// Escapes control characters in strings and leaves out commas that no member follows.
fn corrected(text: &str) -> Cow<'_, str> {
    let mut result = String::with_capacity(text.len() + 16);
    let (mut inside, mut escaped, mut changed, mut last) = (false, false, false, ' ');
    for (at, letter) in text.char_indices() {
        if inside && letter < ' ' {
            if escaped {
                // A backslash before it may stand for itself or for nothing.
                return Cow::Borrowed(text);
            }
            changed = true;
            match letter {
                '\n' => result.push_str("\\n"),
                '\r' => result.push_str("\\r"),
                '\t' => result.push_str("\\t"),
                // Writing to a string does not fail.
                letter => write!(result, "\\u{:04x}", u32::from(letter)).unwrap_or_default(),
            }
            continue;
        }
        if inside {
            inside = escaped || letter != '"';
            escaped = !escaped && letter == '\\';
        } else if letter == '"' {
            inside = true;
        } else if letter == ',' && ends(&text[at + 1..]) && !matches!(last, '{' | '[' | ',' | ':') {
            changed = true;
            continue;
        }
        if !letter.is_whitespace() {
            last = letter;
        }
        result.push(letter);
    }
    if changed { Cow::Owned(result) } else { Cow::Borrowed(text) }
}

/// Whether an object or a list ends here.
fn ends(rest: &str) -> bool {
    rest.trim_start().starts_with(['}', ']'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_can_mean_one_thing_is_mended() {
        let rows = [
            (r#"{"a": [1, 2,], "b": {"c": 1,},}"#, r#"{"a":[1,2],"b":{"c":1}}"#),
            ("{\"a\": \"one\n\ttwo\r\u{1}\"}", r#"{"a":"one\n\ttwo\r\u0001"}"#),
            ("```json\n{\"a\": 1,}\n```\n", r#"{"a":1}"#),
            ("```\n{\"a\": \"```\"}", r#"{"a":"```"}"#),
            (r#""{\"a\": 1}""#, r#"{"a":1}"#),
            (r#""{\"a\": 1,}""#, r#"{"a":1}"#),
            (r#"{"a": ", }", "b": "\", ]",}"#, r#"{"a":", }","b":"\", ]"}"#),
            // Cut, whatever else.
            ("{\"a\": \"one\n", "cut"),
            ("```json\n{\"a\": 1,", "cut"),
            (r#""{\"a\""#, "cut"),
            (r#""{\"a\": ""#, "cut"),
            // Anything else may mean several things.
            ("{'a': 1}", "nothing"),
            ("{a: 1}", "nothing"),
            (r#"{"a": 1} and {"b": 2}"#, "nothing"),
            (r#"{"a": "\d"}"#, "nothing"),
            ("{\"a\": \"one \\\ntwo\"}", "nothing"),
            ("{,}", "nothing"),
            (r#"{"a": [1,,]}"#, "nothing"),
            (r#"{"a": 1, "b":,}"#, "nothing"),
            (r#""\"{\\\"a\\\": 1}\"""#, "nothing"),
            ("[1,]", "nothing"),
            ("null", "nothing"),
        ];
        for (text, expected) in rows {
            let found = match object(text) {
                Found::Object(object) => Value::Object(object).to_string(),
                Found::Cut => "cut".to_owned(),
                Found::Nothing => "nothing".to_owned(),
            };
            assert_eq!(found, expected, "{text}");
        }
    }
}
