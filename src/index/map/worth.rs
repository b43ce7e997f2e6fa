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

/// Returns how much a name tells: longer and composed ones more, as nobody uses them by chance.
pub(super) fn quality(name: &[u8]) -> f64 {
    if name.first() == Some(&b'_') {
        return 0.1;
    }
    let by_length = match name.len() {
        0..=2 => return 0.0,
        3 => 0.05,
        4..=5 => 0.2,
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
        (false, false) => by_length * 0.5,
    }
}

/// Whether a definition says something of the workspace's shape.
pub(super) fn is_worth(kind: Kind, quality: f64) -> bool {
    quality > 0.0 && !matches!(kind, Kind::Constant | Kind::Variable | Kind::Macro)
}

/// Whether a file only supports the others.
pub(super) fn is_aside(path: &[u8]) -> bool {
    let is_at = |part: &[u8]| path.windows(part.len()).any(|own| own.eq_ignore_ascii_case(part));
    ASIDE.iter().any(|part| is_at(part.as_bytes()))
}
