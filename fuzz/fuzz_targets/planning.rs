//! Any pattern and any text: where the pattern matches, its plan has not ruled the text out.

#![no_main]

use std::collections::HashSet;

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
    let matches = if pattern.is_multi_line() {
        pattern.is_match(text)
    } else {
        text.split_inclusive(|&byte| byte == b'\n').any(|line| pattern.is_match(line))
    };
    assert!(!matches, "ruled out: {:?}", pattern.plan());
});

/// Whether it takes long to compile for what it is.
fn is_slow(pattern: &str) -> bool {
    let digits = pattern.split(|character: char| !character.is_ascii_digit());
    pattern.matches('{').count() > REPEATED || digits.map(str::len).any(|n| n > MOST_DIGITS)
}

/// The trigrams of a text, and what stands for words at the edges of its lines, found in the plainest way.
fn grams(text: &[u8]) -> HashSet<u32> {
    let folded = text.to_ascii_lowercase();
    let mut grams = HashSet::new();
    for line in folded.split(|byte| *byte == b'\n') {
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let edges = [
            line.first().map(|byte| [b'\n', b'\n', *byte]),
            line.last().map(|byte| [*byte, b'\n', b'\n']),
        ];
        let edges = edges.into_iter().flatten().filter(|edge| edge.iter().any(is_word));
        let within = line.windows(3).map(|gram| [gram[0], gram[1], gram[2]]);
        grams.extend(within.chain(edges).map(|[a, b, c]| u32::from_be_bytes([0, a, b, c])));
    }
    grams
}
