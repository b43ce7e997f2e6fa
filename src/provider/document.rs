//! JSON documents as servers send them, with what some break in them mended.

use serde_json::{Map, Value};

/// Parses a document; half of a surrogate pair, which some servers cut off, is replaced.
pub(super) fn parse(text: &str) -> Option<Value> {
    match serde_json::from_str(text) {
        Ok(value) => Some(value),
        Err(_) if text.contains("\\u") => serde_json::from_str(&mend_surrogates(text)).ok(),
        Err(_) => None,
    }
}

/// Returns `value` if it has fields, else one without any: what is in a document may be anything.
pub(super) fn with_fields(value: Value) -> Value {
    if value.is_object() { value } else { Value::Object(Map::new()) }
}

fn mend_surrogates(text: &str) -> String {
    let mut mended = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('\\') {
        let (before, escape) = rest.split_at(start);
        mended.push_str(before);
        let length = match (surrogate(escape), escape.get(6..).and_then(surrogate)) {
            (Some(Half::High), Some(Half::Low)) => 12,
            (Some(_), _) => {
                mended.push_str("\\ufffd");
                rest = &escape[6..];
                continue;
            }
            (None, _) => escape.chars().take(2).map(char::len_utf8).sum(),
        };
        mended.push_str(&escape[..length]);
        rest = &escape[length..];
    }
    mended.push_str(rest);
    mended
}

#[derive(PartialEq, Eq)]
enum Half {
    High,
    Low,
}

fn surrogate(escape: &str) -> Option<Half> {
    let code = u16::from_str_radix(escape.strip_prefix("\\u")?.get(..4)?, 16).ok()?;
    match code {
        0xD800..=0xDBFF => Some(Half::High),
        0xDC00..=0xDFFF => Some(Half::Low),
        _ => None,
    }
}
