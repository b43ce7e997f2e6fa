//! What a pattern needs to be there: trigrams, all of them or one of several; only ever too wide.

use std::collections::BTreeSet;

use regex_syntax::hir::{Class, Hir, HirKind, Look, Repetition};

/// Most strings that are followed at a time: two digits after a sign are a hundred.
const MAX_STRINGS: usize = 128;
/// Most bytes of all those strings.
const MAX_BYTES: usize = 4_096;
/// Most characters of a class that are told one by one.
const MAX_CLASS: u32 = 16;
/// Most trigrams that are asked of one string.
const MAX_GRAMS: usize = 64;
/// Most copies of a repeated part that are looked at.
const MAX_COPIES: u32 = 3;

/// Parts that are looked at to tell what follows the edge of a word, and how many beginnings of
/// words are told one by one.
const FEW_PARTS: usize = 4;
const MAX_EDGES: usize = 8;

/// Three bytes, letters of ASCII in lower case. None is a line break, but that one byte of a word
/// beside two of them stands for a line that begins or ends with it.
pub type Gram = u32;

/// The first or the last two bytes of a word.
pub type Pair = u16;

/// What a block must have, for the pattern to be able to match in it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Plan {
    /// Nothing is known: every block is possible.
    All,
    /// The pattern matches nothing.
    Nothing,
    Gram(Gram),
    /// A word begins with these, as far as one can tell.
    Begins(Pair),
    /// A word ends with these.
    Ends(Pair),
    And(Vec<Plan>),
    Or(Vec<Plan>),
}

impl Plan {
    /// Makes the plan of a pattern.
    pub fn new(pattern: &Hir) -> Plan {
        Shape::of(pattern).plan
    }

    /// Whether `has` may hold the pattern, given which trigrams are there.
    pub fn admits(&self, has: &dyn Fn(Gram) -> bool) -> bool {
        match self {
            Plan::All => true,
            Plan::Nothing => false,
            Plan::Gram(gram) => has(*gram),
            Plan::Begins(pair) => word_begins(*pair).any(has),
            Plan::Ends(pair) => word_ends(*pair).any(has),
            Plan::And(parts) => parts.iter().all(|part| part.admits(has)),
            Plan::Or(parts) => parts.iter().any(|part| part.admits(has)),
        }
    }

    fn and(parts: impl IntoIterator<Item = Plan>) -> Plan {
        let mut all = BTreeSet::new();
        for part in parts {
            match part {
                Plan::All => {}
                Plan::Nothing => return Plan::Nothing,
                Plan::And(parts) => all.extend(parts),
                part => drop(all.insert(part)),
            }
        }
        one_or(all, Plan::All, Plan::And)
    }

    fn or(parts: impl IntoIterator<Item = Plan>) -> Plan {
        let mut all = BTreeSet::new();
        for part in parts {
            match part {
                Plan::All => return Plan::All,
                Plan::Nothing => {}
                Plan::Or(parts) => all.extend(parts),
                part => drop(all.insert(part)),
            }
        }
        one_or(all, Plan::Nothing, Plan::Or)
    }
}

/// Whether a byte is one that words consist of, whatever the text is.
pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Returns what stands for a line that begins with a folded byte of a word.
pub(super) fn line_begins(byte: u8) -> Gram {
    u32::from_be_bytes([0, b'\n', b'\n', byte])
}

/// Returns what stands for a line that ends with one.
pub(super) fn line_ends(byte: u8) -> Gram {
    u32::from_be_bytes([0, byte, b'\n', b'\n'])
}

/// Returns the trigrams of which there is one wherever a word begins with a pair.
pub(super) fn word_begins(pair: Pair) -> impl Iterator<Item = Gram> {
    let [first, second] = pair.to_be_bytes();
    let before = beside_words().map(move |byte| u32::from_be_bytes([0, byte, first, second]));
    before.chain([line_begins(first)])
}

/// Returns the trigrams of which there is one wherever a word ends with a pair.
pub(super) fn word_ends(pair: Pair) -> impl Iterator<Item = Gram> {
    let [first, second] = pair.to_be_bytes();
    let after = beside_words().map(move |byte| u32::from_be_bytes([0, first, second, byte]));
    after.chain([line_ends(second)])
}

/// Returns the bytes that may stand beside a word within its line: all that are no letter of ASCII.
fn beside_words() -> impl Iterator<Item = u8> {
    (0..=u8::MAX).filter(|byte| !is_word(*byte) && *byte != b'\n')
}

fn one_or(parts: BTreeSet<Plan>, none: Plan, many: fn(Vec<Plan>) -> Plan) -> Plan {
    let mut parts: Vec<Plan> = parts.into_iter().collect();
    match parts.len() {
        0 => none,
        1 => parts.pop().unwrap_or(none),
        _ => many(parts),
    }
}

/// Writes `byte` as trigrams have it.
fn fold(byte: u8) -> u8 {
    byte.to_ascii_lowercase()
}

type Strings = BTreeSet<Vec<u8>>;

/// What is known of every text that a part of a pattern matches. All strings are folded.
#[derive(Clone, Debug)]
struct Shape {
    /// Whether the text is one of `first`, and `first` and `last` are the same.
    exact: bool,
    /// The text begins with one of these.
    first: Strings,
    /// The text ends with one of these.
    last: Strings,
    /// What else it has.
    plan: Plan,
}

impl Shape {
    fn of(pattern: &Hir) -> Shape {
        match pattern.kind() {
            HirKind::Empty | HirKind::Look(_) => Shape::exact(Strings::from([Vec::new()])),
            HirKind::Literal(literal) => {
                Shape::exact(Strings::from([literal.0.iter().copied().map(fold).collect()]))
            }
            HirKind::Class(class) => strings_of(class).map_or_else(Shape::any, Shape::exact),
            HirKind::Repetition(repetition) => Shape::repeated(repetition),
            HirKind::Capture(capture) => Shape::of(&capture.sub),
            HirKind::Concat(parts) => {
                let empty = Shape::exact(Strings::from([Vec::new()]));
                let (mut whole, mut edges) = (empty.clone(), Vec::new());
                for (place, part) in parts.iter().enumerate() {
                    if let HirKind::Look(look) = part.kind() {
                        let after = parts[place + 1..].iter().take(FEW_PARTS);
                        let after =
                            after.fold(empty.clone(), |all, part| all.then(&Shape::of(part)));
                        edges.push(edge(*look, &whole.last, &after.first));
                    }
                    whole = whole.then(&Shape::of(part));
                }
                whole.plan = Plan::and(edges.into_iter().chain([whole.plan]));
                whole
            }
            HirKind::Alternation(parts) => Shape::one_of(parts.iter().map(Shape::of).collect()),
        }
    }

    fn any() -> Shape {
        let nothing = Strings::from([Vec::new()]);
        Shape { exact: false, first: nothing.clone(), last: nothing, plan: Plan::All }
    }

    fn exact(strings: Strings) -> Shape {
        let plan = plan_of(&strings);
        Shape { exact: true, first: strings.clone(), last: strings, plan }
    }

    /// Forgets that the strings are all there is.
    fn loosened(self) -> Shape {
        Shape { exact: false, first: begins(&self.first), last: ends(&self.last), plan: self.plan }
    }

    fn repeated(repetition: &Repetition) -> Shape {
        let Repetition { min, max, .. } = *repetition;
        let once = Shape::of(&repetition.sub);
        if min == 0 {
            return match max {
                Some(0) => Shape::exact(Strings::from([Vec::new()])),
                Some(1) => Shape::one_of(vec![Shape::exact(Strings::from([Vec::new()])), once]),
                _ => Shape::any(),
            };
        }
        let copies = min.min(MAX_COPIES);
        let shape = (1..copies).fold(once.clone(), |shape, _| shape.then(&once));
        if max == Some(copies) { shape } else { shape.loosened() }
    }

    fn then(self, next: &Shape) -> Shape {
        if self.exact
            && next.exact
            && let Some(both) = cross(&self.first, &next.first)
        {
            return Shape::exact(both);
        }
        // What is told of the place where the two meet.
        let middle = cross(&self.last, &next.first)
            .or_else(|| cross(&ends(&self.last), &begins(&next.first)));
        let middle = middle.map_or(Plan::All, |strings| plan_of(&strings));
        let first = if self.exact {
            cross(&self.first, &next.first).unwrap_or(self.first)
        } else {
            self.first
        };
        let last = if next.exact {
            cross(&self.last, &next.last).unwrap_or_else(|| next.last.clone())
        } else {
            next.last.clone()
        };
        let plan = Plan::and([self.plan, next.plan.clone(), middle]);
        Shape { exact: false, first: begins(&first), last: ends(&last), plan }
    }

    fn one_of(shapes: Vec<Shape>) -> Shape {
        if shapes.iter().all(|shape| shape.exact) {
            let strings: Strings = shapes.iter().flat_map(|shape| shape.first.clone()).collect();
            if is_small(&strings) {
                return Shape::exact(strings);
            }
        }
        let mut whole =
            Shape { exact: false, first: Strings::new(), last: Strings::new(), plan: Plan::All };
        let mut plans = Vec::new();
        for shape in shapes {
            whole.first.extend(begins(&shape.first));
            whole.last.extend(ends(&shape.last));
            plans.push(shape.plan);
        }
        let (first, last) = (begins(&whole.first), ends(&whole.last));
        Shape { exact: false, first, last, plan: Plan::or(plans) }
    }
}

/// Says what an edge of a word asks for, between a text that ends and one that begins with some.
fn edge(look: Look, before: &Strings, after: &Strings) -> Plan {
    let (begins, ends) = match look {
        Look::WordAscii | Look::WordUnicode => (true, true),
        Look::WordStartAscii
        | Look::WordStartUnicode
        | Look::WordStartHalfAscii
        | Look::WordStartHalfUnicode => (true, false),
        Look::WordEndAscii
        | Look::WordEndUnicode
        | Look::WordEndHalfAscii
        | Look::WordEndHalfUnicode => (false, true),
        _ => return Plan::All,
    };
    let begins = (begins && after.len() <= MAX_EDGES).then(|| {
        Plan::or(after.iter().map(|string| match string[..] {
            [first, second, ..] if is_word(first) && second != b'\n' => {
                Plan::Begins(u16::from_be_bytes([first, second]))
            }
            _ => Plan::All,
        }))
    });
    let ends = (ends && before.len() <= MAX_EDGES).then(|| {
        Plan::or(before.iter().map(|string| match string[..] {
            [.., first, second] if is_word(second) && first != b'\n' => {
                Plan::Ends(u16::from_be_bytes([first, second]))
            }
            _ => Plan::All,
        }))
    });
    Plan::and(begins.into_iter().chain(ends))
}

/// Returns the texts of a class of few characters.
fn strings_of(class: &Class) -> Option<Strings> {
    let mut strings = Strings::new();
    match class {
        Class::Unicode(class) => {
            for range in class.ranges() {
                let (start, end) = (u32::from(range.start()), u32::from(range.end()));
                if end - start >= MAX_CLASS * 2 {
                    return None;
                }
                for letter in (start..=end).filter_map(char::from_u32) {
                    strings.insert(letter.to_string().bytes().map(fold).collect());
                }
            }
        }
        Class::Bytes(class) => {
            for range in class.ranges() {
                if u32::from(range.end() - range.start()) >= MAX_CLASS * 2 {
                    return None;
                }
                strings.extend((range.start()..=range.end()).map(|byte| vec![fold(byte)]));
            }
        }
    }
    (strings.len() <= MAX_CLASS as usize).then_some(strings)
}

fn is_small(strings: &Strings) -> bool {
    let n_bytes: usize = strings.iter().map(Vec::len).sum();
    strings.len() <= MAX_STRINGS && (n_bytes <= MAX_BYTES || strings.len() == 1)
}

/// Returns each of `left` followed by each of `right`, unless that is too much.
fn cross(left: &Strings, right: &Strings) -> Option<Strings> {
    if left.len().saturating_mul(right.len()) > MAX_STRINGS * 4 {
        return None;
    }
    let joined = left.iter().flat_map(|one| right.iter().map(|other| [&one[..], other].concat()));
    let joined: Strings = joined.collect();
    is_small(&joined).then_some(joined)
}

/// Returns the two bytes that each begins with: what a trigram across a joint needs.
fn begins(strings: &Strings) -> Strings {
    few(strings.iter().map(|string| string[..string.len().min(2)].to_vec()).collect())
}

/// Returns the two bytes that each ends with.
fn ends(strings: &Strings) -> Strings {
    few(strings.iter().map(|string| string[string.len().saturating_sub(2)..].to_vec()).collect())
}

fn few(strings: Strings) -> Strings {
    if strings.len() <= MAX_STRINGS { strings } else { Strings::from([Vec::new()]) }
}

/// Says that one of `strings` is there.
fn plan_of(strings: &Strings) -> Plan {
    Plan::or(strings.iter().map(|string| {
        let grams = string.windows(3).filter_map(gram).take(MAX_GRAMS);
        Plan::and(grams.map(Plan::Gram))
    }))
}

/// Returns the trigram of three folded bytes, if they can lie in one line.
fn gram(bytes: &[u8]) -> Option<Gram> {
    let line = !bytes.contains(&b'\n');
    line.then(|| bytes.iter().fold(0, |gram, byte| gram << 8 | Gram::from(*byte)))
}
