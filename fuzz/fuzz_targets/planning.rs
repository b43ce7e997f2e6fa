//! Any pattern and any text: where the pattern matches, its plan has not ruled the text out.

#![no_main]

use std::collections::HashSet;

use grep_matcher::Matcher as _;
use libfuzzer_sys::fuzz_target;
use snick::index::text::{MultiLine, Pattern, PatternOptions};

/// Longer patterns only take longer to compile, and longer texts longer to search.
const LONGEST_PATTERN: usize = 32;
const LONGEST_TEXT: usize = 160;
/// So do repetitions of repetitions, and those by large numbers.
const REPEATED: usize = 2;
const MOST_DIGITS: usize = 2;

fuzz_target!(|data: &[u8]| {
    let Some((&flags, data)) = data.split_first() else { return };
    let mut parts = data.splitn(2, |&byte| byte == 0xFF);
    let (Some(pattern), Some(text)) = (parts.next(), parts.next()) else { return };
    let Ok(pattern) = std::str::from_utf8(pattern) else { return };
    if pattern.len() > LONGEST_PATTERN || text.len() > LONGEST_TEXT || is_slow(pattern) {
        return;
    }
    let options = PatternOptions {
        literal: flags & 1 != 0,
        ignore_case: flags & 2 != 0,
        word: flags & 4 != 0,
        crlf: flags & 8 != 0,
        multi_line: if flags & 16 != 0 { MultiLine::Always } else { MultiLine::Auto },
    };
    let Ok(pattern) = Pattern::new(pattern, options) else { return };
    let grams = grams(text);
    if pattern.plan().admits(&|gram| grams.contains(&gram)) {
        return;
    }
    let is_match = |text: &[u8]| pattern.matcher().is_match(text).unwrap_or(false);
    let matches = if pattern.is_multi_line() {
        is_match(text)
    } else {
        text.split_inclusive(|&byte| byte == b'\n').any(is_match)
    };
    assert!(!matches, "ruled out: {:?}", pattern.plan());
});

/// Whether it takes long to compile for what it is.
fn is_slow(pattern: &str) -> bool {
    let digits = pattern.split(|character: char| !character.is_ascii_digit());
    pattern.matches('{').count() > REPEATED || digits.map(str::len).any(|n| n > MOST_DIGITS)
}

/// The trigrams of a text, found in the plainest way.
fn grams(text: &[u8]) -> HashSet<u32> {
    let folded = text.to_ascii_lowercase();
    let lines = folded.split(|byte| *byte == b'\n');
    let grams = lines.flat_map(|line| line.windows(3));
    grams.map(|gram| u32::from_be_bytes([0, gram[0], gram[1], gram[2]])).collect()
}
