//! A pattern as it is for text of ASCII alone: much smaller where it has classes of Unicode.

use regex_syntax::hir::{
    Capture, Class, ClassUnicode, ClassUnicodeRange, Hir, HirKind, Look, Repetition,
};

/// Below this a pattern is not worth two forms of it, and above that it may be too large for one.
const WORTH_IT: u64 = 16;
const SURELY_FITS: u64 = 20_000;
/// What an edge of a word of Unicode costs, in ranges of characters.
const EDGE: u64 = 100;

/// Returns what matches the same in text of ASCII as `pattern` does, if that is worth it.
///
/// `pattern` then surely can be compiled for lines, too.
pub(super) fn plain(pattern: &Hir) -> Option<Hir> {
    if pattern.properties().look_set().contains_anchor_haystack() {
        return None;
    }
    let cost = cost(pattern)?;
    (WORTH_IT < cost && cost <= SURELY_FITS).then(|| restricted(pattern))
}

/// Tells about how much Unicode there is in a pattern; `None` if it names a line break.
fn cost(pattern: &Hir) -> Option<u64> {
    let is_break = |byte: u32| byte == u32::from(b'\n') || byte == u32::from(b'\r');
    match pattern.kind() {
        HirKind::Empty => Some(0),
        HirKind::Literal(literal) => {
            let has_break = literal.0.iter().any(|byte| is_break(u32::from(*byte)));
            (!has_break).then_some(0)
        }
        HirKind::Class(Class::Unicode(class)) => {
            let mut ends = class.ranges().iter().flat_map(|range| [range.start(), range.end()]);
            let is_other = ends.any(|end| !is_break(u32::from(end)));
            let n_ranges = class.ranges().iter().filter(|range| !range.end().is_ascii()).count();
            is_other.then_some(n_ranges as u64)
        }
        HirKind::Class(Class::Bytes(class)) => {
            let mut ends = class.ranges().iter().flat_map(|range| [range.start(), range.end()]);
            ends.any(|end| !is_break(u32::from(end))).then_some(0)
        }
        HirKind::Look(look) => Some(if *look == of_ascii(*look) { 0 } else { EDGE }),
        HirKind::Repetition(Repetition { min, max, sub, .. }) => {
            let copies = u64::from(max.unwrap_or(*min)).max(1) + 1;
            Some(cost(sub)?.saturating_mul(copies))
        }
        HirKind::Capture(capture) => cost(&capture.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => {
            parts.iter().try_fold(0_u64, |sum, part| Some(sum.saturating_add(cost(part)?)))
        }
    }
}

/// Takes from a pattern what ASCII cannot be.
fn restricted(pattern: &Hir) -> Hir {
    match pattern.kind() {
        HirKind::Empty | HirKind::Literal(_) | HirKind::Class(Class::Bytes(_)) => pattern.clone(),
        HirKind::Class(Class::Unicode(class)) => {
            let mut class = class.clone();
            class.intersect(&ClassUnicode::new([ClassUnicodeRange::new('\0', '\x7F')]));
            Hir::class(Class::Unicode(class))
        }
        HirKind::Look(look) => Hir::look(of_ascii(*look)),
        HirKind::Repetition(repetition) => Hir::repetition(Repetition {
            sub: Box::new(restricted(&repetition.sub)),
            ..repetition.clone()
        }),
        HirKind::Capture(capture) => Hir::capture(Capture {
            index: capture.index,
            name: capture.name.clone(),
            sub: Box::new(restricted(&capture.sub)),
        }),
        HirKind::Concat(parts) => Hir::concat(parts.iter().map(restricted).collect()),
        HirKind::Alternation(parts) => Hir::alternation(parts.iter().map(restricted).collect()),
    }
}

/// Returns what an edge of a word is where there is only ASCII.
fn of_ascii(look: Look) -> Look {
    match look {
        Look::WordUnicode => Look::WordAscii,
        Look::WordUnicodeNegate => Look::WordAsciiNegate,
        Look::WordStartUnicode => Look::WordStartAscii,
        Look::WordEndUnicode => Look::WordEndAscii,
        Look::WordStartHalfUnicode => Look::WordStartHalfAscii,
        Look::WordEndHalfUnicode => Look::WordEndHalfAscii,
        other => other,
    }
}
