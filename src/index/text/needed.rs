//! The part of a pattern that is looked for first: it stands in every match, and nearly nowhere else.

use regex_syntax::hir::{Class, Hir, HirKind};

/// Most characters of a class that is part of it.
const MAX_CLASS: usize = 16;
/// Most copies of a repeated part that are asked for, and most characters in all.
const MAX_COPIES: u32 = 4;
const MAX_LENGTH: usize = 32;
/// Most ways in which it begins: as many as are looked for at once.
const MAX_STARTS: usize = 32;
/// How often a text may have it, for it to be worth a look of its own: once in so many bytes.
const RARE: f64 = 250.0;
/// How much rarer it has to be than what the pattern begins with, which is looked for in any case.
const RARER: f64 = 4.0;

/// Returns a pattern that matches a part of every match of `pattern`, and is found faster.
pub(super) fn needed(pattern: &Hir) -> Option<Hir> {
    let mut within = pattern;
    while let HirKind::Capture(capture) = within.kind() {
        within = &capture.sub;
    }
    let HirKind::Concat(parts) = within.kind() else { return None };
    if pattern.properties().look_set().contains_anchor_haystack() {
        // What such an anchor means depends on where a search begins.
        return None;
    }
    let n_looks = parts.iter().take_while(|part| matches!(part.kind(), HirKind::Look(_))).count();
    let begin = Run::of(&parts[n_looks..]);
    let runs = (n_looks + 1..parts.len()).map(|start| Run::of(&parts[start..]));
    let best = runs.min_by(|one, other| one.share.total_cmp(&other.share))?;
    let is_worth_it = best.n_starts <= MAX_STARTS
        && best.length >= 2
        && best.share * RARE <= 1.0
        && best.share * RARER <= begin.share;
    is_worth_it.then(|| Hir::concat(best.parts))
}

/// Parts that follow each other and of which each is one of few characters.
struct Run {
    parts: Vec<Hir>,
    length: usize,
    /// How many pairs of characters it may begin with.
    n_starts: usize,
    /// At how many places of usual text it stands, as far as one can guess.
    share: f64,
}

impl Run {
    /// Returns the run that `parts` begin with.
    fn of(parts: &[Hir]) -> Run {
        let mut run = Run { parts: Vec::new(), length: 0, n_starts: 1, share: 1.0 };
        for part in parts {
            if run.length >= MAX_LENGTH || !run.take(part) {
                break;
            }
        }
        run
    }

    /// Takes a part in; false if nothing may follow it.
    fn take(&mut self, part: &Hir) -> bool {
        match part.kind() {
            HirKind::Literal(literal) => {
                for byte in literal.0.iter().take(MAX_LENGTH) {
                    self.add(1, share(*byte));
                }
                let whole = literal.0.len() <= MAX_LENGTH;
                let bytes = literal.0[..literal.0.len().min(MAX_LENGTH)].to_vec();
                self.parts.push(Hir::literal(bytes));
                whole
            }
            HirKind::Class(class) => {
                let Some((n_members, share)) = members(class) else { return false };
                self.add(n_members, share);
                self.parts.push(part.clone());
                true
            }
            HirKind::Repetition(repeated) => {
                let HirKind::Class(class) = repeated.sub.kind() else { return false };
                let Some((n_members, share)) = members(class) else { return false };
                let copies = repeated.min.min(MAX_COPIES);
                for _ in 0..copies {
                    self.add(n_members, share);
                    self.parts.push((*repeated.sub).clone());
                }
                repeated.max == Some(copies)
            }
            _ => false,
        }
    }

    fn add(&mut self, n_members: usize, share: f64) {
        if self.length < 2 {
            self.n_starts *= n_members;
        }
        self.length += 1;
        self.share *= share;
    }
}

/// Returns the number of characters of a class of few, and at how many places of text one stands.
fn members(class: &Class) -> Option<(usize, f64)> {
    let mut found: Vec<char> = Vec::new();
    match class {
        Class::Unicode(class) => {
            for range in class.ranges() {
                found.extend((range.start()..=range.end()).take(MAX_CLASS + 1 - found.len()));
            }
        }
        Class::Bytes(class) => {
            for range in class.ranges() {
                let bytes = (range.start()..=range.end()).map(char::from);
                found.extend(bytes.take(MAX_CLASS + 1 - found.len()));
            }
        }
    }
    let fits = !found.is_empty() && found.len() <= MAX_CLASS;
    let share = found.iter().map(|member| u8::try_from(*member).map_or(0.0, share)).sum();
    fits.then_some((found.len(), share))
}

/// Guesses at how many places of usual text a byte stands.
fn share(byte: u8) -> f64 {
    match byte {
        b' ' | b'\t' => 0.1,
        b'e' | b't' | b'a' | b'i' | b's' | b'r' | b'n' | b'o' => 0.05,
        b'a'..=b'z' => 0.02,
        b'_' | b'\n' => 0.03,
        b'A'..=b'Z' => 0.006,
        b'0'..=b'9'
        | b'('
        | b')'
        | b','
        | b';'
        | b'.'
        | b'-'
        | b'='
        | b'*'
        | b'/'
        | b'"'
        | b'>' => 0.01,
        _ => 0.003,
    }
}
