//! What a name tells by itself, before anybody refers to it.

use crate::index::symbols::Kind;

/// Parts of paths whose files support the others: tests, examples, what others wrote.
const ASIDE: [&str; 10] = [
    "test",
    "spec/",
    "mock",
    "example",
    "fixture",
    "vendor/",
    "third_party/",
    "node_modules/",
    "generated",
    ".min.",
];

/// The bytes that these begin with.
const FIRST: [bool; 256] = {
    let (mut first, mut place) = ([false; 256], 0);
    while place < ASIDE.len() {
        first[ASIDE[place].as_bytes()[0] as usize] = true;
        place += 1;
    }
    first
};

/// Returns how much a name tells: longer and composed ones more, as nobody uses them by chance.
pub(super) fn quality(name: &[u8]) -> f64 {
    if name.first() == Some(&b'_') {
        return 0.1;
    }
    let by_length = match name.len() {
        0..=2 => return 0.0,
        3 => 0.05,
        4..=5 => 0.1,
        6..=7 => 0.5,
        _ => 1.0,
    };
    let is_composed = name.windows(2).any(|pair| {
        matches!(pair, [before, b'_'] if before.is_ascii_alphanumeric())
            || pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase()
    });
    let is_proper = name[0].is_ascii_uppercase() && name.iter().any(u8::is_ascii_lowercase);
    match (is_composed, is_proper) {
        (true, _) if by_length >= 1.0 => 3.0,
        (true, _) => by_length,
        (false, true) => by_length.max(0.5) * 2.0,
        (false, false) => by_length * 0.3,
    }
}

/// Whether a definition says something of the workspace's shape.
pub(super) fn is_worth(kind: Kind, quality: f64) -> bool {
    quality > 0.0 && is_kind(kind)
}

/// Whether definitions of this kind say something of the workspace's shape.
pub(super) fn is_kind(kind: Kind) -> bool {
    !matches!(kind, Kind::Constant | Kind::Variable | Kind::Macro)
}

/// Whether a file only supports the others.
pub(super) fn is_aside(path: &[u8]) -> bool {
    let begins = |path: &[u8], part: &[u8]| {
        path.get(..part.len()).is_some_and(|own| own.eq_ignore_ascii_case(part))
    };
    let is_at = |place: usize| {
        let (rest, first) = (&path[place..], path[place].to_ascii_lowercase());
        // Most bytes begin none of them.
        FIRST[usize::from(first)] && ASIDE.iter().any(|part| begins(rest, part.as_bytes()))
    };
    (0..path.len()).any(is_at)
}
