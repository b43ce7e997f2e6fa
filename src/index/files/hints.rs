//! What a name must begin or end with, or have in it, for a rule to speak of it: most names are told apart by this alone.

use memchr::memmem::Finder;

/// Most endings that one rule is spelled out into.
const MAX_SPELLED: usize = 16;
/// What stands for other characters in a rule.
const SPECIAL: &[u8] = b"*?[]{}\\";

/// The beginnings, endings and other parts of names that some rule of a file speaks of; it may speak of fewer.
#[derive(Debug, Default)]
pub(super) struct Hints {
    /// Whether some rule may speak of any name.
    any: bool,
    /// The bits of the first bytes of the beginnings, and of the last bytes of the endings.
    first: Bytes,
    last: Bytes,
    beginnings: Vec<Box<[u8]>>,
    /// Sorted by their last bytes.
    endings: Vec<Box<[u8]>>,
    /// For rules that leave both open.
    inner: Vec<Finder<'static>>,
}

/// A set of bytes.
#[derive(Debug, Default)]
struct Bytes([u64; 4]);

impl Bytes {
    fn add(&mut self, byte: u8) {
        self.0[usize::from(byte >> 6)] |= 1 << (byte & 63);
    }

    fn has(&self, byte: u8) -> bool {
        self.0[usize::from(byte >> 6)] >> (byte & 63) & 1 == 1
    }
}

impl Hints {
    /// Takes in one line of a file with rules.
    pub(super) fn add(&mut self, line: &str) {
        let rule = line.trim_end();
        if rule.is_empty() || rule.starts_with('#') {
            return;
        }
        let rule = rule.strip_prefix('!').unwrap_or(rule);
        let rule = rule.strip_suffix('/').unwrap_or(rule).as_bytes();
        let (above, name) = match memchr::memrchr(b'/', rule) {
            Some(at) => rule.split_at(at + 1),
            None => rule.split_at(0),
        };
        // A class that holds a separator, alternatives, a blank that is kept at the end.
        if above.contains(&b'[') || rule.contains(&b'{') || line.ends_with("\\ ") {
            self.any = true;
            return;
        }
        let endings = endings(name, rule);
        if endings.iter().all(|ending| !ending.is_empty()) {
            for ending in endings {
                ending.last().into_iter().for_each(|byte| self.last.add(*byte));
                let place = self.endings.partition_point(|other| other.last() <= ending.last());
                self.endings.insert(place, ending.into());
            }
            return;
        }
        // Two stars may stand for a separator, so that what stands before them is of another name.
        let is_plain = memchr::memmem::find(name, b"**").is_none();
        let beginning = name.iter().take_while(|byte| !SPECIAL.contains(byte)).count();
        let longest = pieces(name).max_by_key(|piece| piece.len()).unwrap_or_default();
        match name.first() {
            Some(first) if beginning > 0 && is_plain => {
                self.first.add(*first);
                self.beginnings.push(name[..beginning].into());
            }
            _ if longest.len() > 1 && is_plain => {
                self.inner.push(Finder::new(longest).into_owned());
            }
            _ => self.any = true,
        }
    }

    /// Whether a rule may speak of what is called `name`.
    pub(super) fn may_speak_of(&self, name: &[u8]) -> bool {
        let (Some(first), Some(last)) = (name.first(), name.last()) else { return true };
        if self.any {
            return true;
        }
        let begins = || self.beginnings.iter().any(|beginning| name.starts_with(beginning));
        let has_inner = || self.inner.iter().any(|finder| finder.find(name).is_some());
        if self.first.has(*first) && begins() || has_inner() {
            return true;
        }
        if !self.last.has(*last) {
            return false;
        }
        let from = self.endings.partition_point(|ending| ending.last() < Some(last));
        let same = self.endings[from..].iter().take_while(|ending| ending.last() == Some(last));
        same.into_iter().any(|ending| name.ends_with(ending))
    }
}

/// Returns the pieces of a rule that stand for themselves.
fn pieces(name: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = name;
    std::iter::from_fn(move || {
        let at = rest.iter().position(|byte| SPECIAL.contains(byte));
        let piece = &rest[..at.unwrap_or(rest.len())];
        let special = rest.get(piece.len())?;
        rest = &rest[piece.len() + 1..];
        if *special == b'[' {
            // A bracket that comes first in a class is of the class.
            let end = rest.iter().skip(1).position(|byte| *byte == b']');
            rest = end.and_then(|end| rest.get(end + 2..)).unwrap_or_default();
        }
        Some(piece)
    })
}

/// Returns what a name ends with that the last part of a rule, `name`, speaks of: one of these.
fn endings(name: &[u8], rule: &[u8]) -> Vec<Vec<u8>> {
    let is_special = |byte: &u8| SPECIAL.contains(byte);
    let from = name.iter().rposition(is_special).map_or(0, |at| at + 1);
    let (before, ending) = name.split_at(from);
    // The letters of a class are spelled out, if there is but one class and it has but letters.
    let spelled = before.strip_suffix(b"]").and_then(|class| {
        let open = class.iter().rposition(|byte| *byte == b'[')?;
        let (before, letters) = (&class[..open], &class[open + 1..]);
        let is_one = rule.iter().filter(|byte| matches!(byte, b'[' | b']')).count() == 2;
        let is_one = is_one && !rule.contains(&b'\\');
        let is_simple = letters.iter().all(u8::is_ascii_alphanumeric);
        let fits = (1..=MAX_SPELLED).contains(&letters.len());
        (is_one && is_simple && fits).then_some((before, letters))
    });
    let Some((before, letters)) = spelled else { return vec![ending.to_vec()] };
    let from = before.iter().rposition(is_special).map_or(0, |at| at + 1);
    letters.iter().map(|letter| [&before[from..], &[*letter], ending].concat()).collect()
}
