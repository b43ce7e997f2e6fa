//! Texts that look like keys, found by the shapes that issuers give them.

use std::ops::Range;

/// Beginnings of keys, each with the fewest key characters that follow.
const SHAPES: &[(&str, usize)] = &[
    ("sk-", 20),
    ("sk_live_", 16),
    ("sk_test_", 16),
    ("rk_live_", 16),
    ("ghp_", 30),
    ("gho_", 30),
    ("ghu_", 30),
    ("ghs_", 30),
    ("ghr_", 30),
    ("github_pat_", 30),
    ("glpat-", 16),
    ("AKIA", 16),
    ("ASIA", 16),
    ("AIza", 30),
    ("ya29.", 30),
    ("xoxb-", 16),
    ("xoxp-", 16),
    ("xoxa-", 16),
    ("xoxs-", 16),
    ("xapp-", 16),
    ("hf_", 30),
    ("gsk_", 30),
    ("xai-", 30),
    ("pplx-", 30),
    ("npm_", 30),
    ("pypi-", 30),
    ("dop_v1_", 30),
    ("shpat_", 30),
    ("SG.", 30),
    ("eyJ", 60),
];

/// What stands for a key that was taken out.
pub(super) const REMOVED: &str = "[key removed]";

const PEM_BEGIN: &str = "-----BEGIN ";
const PEM_PRIVATE: &str = "PRIVATE KEY-----";
const PEM_END: &str = "-----END ";

/// Returns `text` with everything that looks like a key replaced, and how much there was.
pub(super) fn without_keys(text: &str) -> (String, usize) {
    let mut out = String::with_capacity(text.len());
    let mut removed = 0;
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        let before = &text[..text.len() - rest.len()];
        let found = if ends_in_word(before) {
            password(rest)
        } else {
            private_key(rest).or_else(|| key(rest)).or_else(|| password(rest))
        };
        let Some(secret) = found else {
            out.push(next);
            rest = &rest[next.len_utf8()..];
            continue;
        };
        out.push_str(&rest[..secret.start]);
        out.push_str(REMOVED);
        removed += 1;
        rest = &rest[secret.end..];
    }
    (out, removed)
}

/// Whether a key cannot begin after `text`. The `n` of an escaped `\n` is no word.
fn ends_in_word(text: &str) -> bool {
    let escape = ["\\n", "\\r", "\\t"].iter().any(|escape| text.ends_with(escape));
    !escape && text.ends_with(is_key_character)
}

fn is_key_character(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')
}

/// Finds the key that `text` begins with.
fn key(text: &str) -> Option<Range<usize>> {
    let bearer = text.get(..7).filter(|word| word.eq_ignore_ascii_case("bearer "));
    let (prefix, least) = match bearer {
        Some(prefix) => (prefix, 20),
        None => *SHAPES.iter().find(|(prefix, _)| text.starts_with(prefix))?,
    };
    let rest = &text[prefix.len()..];
    let length = rest.find(|c| !is_key_character(c)).unwrap_or(rest.len());
    // Names made of words have the length of a key, too, but no digits or capitals.
    let unlike_words =
        |byte: u8| byte.is_ascii_digit() || (bearer.is_none() && byte.is_ascii_uppercase());
    let found = length >= least && rest[..length].bytes().any(unlike_words);
    found.then_some(0..prefix.len() + length)
}

/// Finds the private key in PEM armour that `text` begins with.
fn private_key(text: &str) -> Option<Range<usize>> {
    let first = text.strip_prefix(PEM_BEGIN)?;
    let head = first.find(PEM_PRIVATE).filter(|&at| at <= 20)?;
    let body = PEM_BEGIN.len() + head + PEM_PRIVATE.len();
    let Some(end) = text[body..].find(PEM_END) else { return Some(0..text.len()) };
    let tail = body + end + PEM_END.len();
    let close = text[tail..].find("-----").map_or(text.len(), |at| tail + at + 5);
    Some(0..close)
}

/// Finds the password in the rest of a URL, from its `://`.
fn password(text: &str) -> Option<Range<usize>> {
    let rest = text.strip_prefix("://")?;
    let end = rest.find(|c: char| c.is_whitespace() || "/?#\"'`<>{}$\\".contains(c));
    let authority = &rest[..end.unwrap_or(rest.len())];
    let at = authority.rfind('@')?;
    let colon = authority[..at].find(':')?;
    (colon + 1 < at).then_some(3 + colon + 1..3 + at)
}
