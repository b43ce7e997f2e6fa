//! The bytes of git's index: versions 2 to 4, extended flags, split and sparse.

use std::fmt::Write as _;

use super::bits;
use super::{Flags, Tracked};

/// What stands before the name of an entry: times, numbers, owner and size.
const FACTS: usize = 40;
/// Where the mode stands among the facts.
const MODE: usize = 24;
/// The lengths of the two kinds of hashes.
const HASHES: [usize; 2] = [20, 32];
/// The bit of an entry's flags that says that more flags follow, and two of those.
const EXTENDED: u16 = 0x4000;
const SKIP_WORKTREE: u16 = 0x4000;
const INTENT_TO_ADD: u16 = 0x2000;
/// The type bits of a mode, and those of a folder, a link and another repository.
const TYPE: u32 = 0o170_000;
const FOLDER: u32 = 0o040_000;
const LINK: u32 = 0o120_000;
const REPOSITORY: u32 = 0o160_000;

/// Bytes that are read one after the other; reading beyond the end gives `None`.
pub(super) struct Cursor<'a> {
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    pub(super) fn take(&mut self, n: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(n)?;
        self.rest = rest;
        Some(taken)
    }

    pub(super) fn number(&mut self) -> Option<u32> {
        Some(u32::from_be_bytes(self.take(4)?.try_into().ok()?))
    }

    fn short(&mut self) -> Option<u16> {
        Some(u16::from_be_bytes(self.take(2)?.try_into().ok()?))
    }

    /// Takes what stands before the next NUL, and the NUL.
    fn text(&mut self) -> Option<&'a [u8]> {
        let end = memchr::memchr(0, self.rest)?;
        let text = self.take(end)?;
        self.take(1)?;
        Some(text)
    }

    /// Takes a number as version 4 writes it: seven bits a byte, each step offset by one.
    fn varying(&mut self) -> Option<usize> {
        let mut byte = *self.take(1)?.first()?;
        let mut number = usize::from(byte & 0x7f);
        while byte & 0x80 != 0 {
            byte = *self.take(1)?.first()?;
            number = number.checked_add(1)?.checked_mul(128)? + usize::from(byte & 0x7f);
        }
        Some(number)
    }
}

/// One index file by itself.
struct Parsed {
    entries: Vec<(Vec<u8>, Flags)>,
    link: Option<Link>,
}

/// What a split index says of the shared one: its hash, which entries are gone, which are replaced.
struct Link {
    hash: String,
    bitmaps: Vec<u8>,
}

/// Reads an index with the shared one that it builds on.
pub(super) fn index(
    bytes: &[u8],
    shared: &mut dyn FnMut(&str) -> Option<Vec<u8>>,
) -> Option<Tracked> {
    // Nothing in the file says which hash it uses, but only with the right one does it add up.
    let parsed = HASHES.iter().find_map(|hash| parse(bytes, *hash))?;
    let Some(link) = parsed.link else { return whole(parsed.entries) };
    if link.hash.bytes().all(|digit| digit == b'0') {
        return whole(parsed.entries);
    }
    let base = shared(&link.hash)?;
    let mut base = parse(&base, link.hash.len() / 2)?.entries;
    let mut cursor = Cursor { rest: &link.bitmaps };
    let (deleted, replaced) = if link.bitmaps.is_empty() {
        (Vec::new(), Vec::new())
    } else {
        (bits::places(&mut cursor, base.len())?, bits::places(&mut cursor, base.len())?)
    };
    let mut entries = parsed.entries.into_iter();
    for place in replaced {
        let (name, flags) = entries.next()?;
        // Its name is left out, since that of the replaced entry holds.
        if !name.is_empty() {
            return None;
        }
        base.get_mut(place)?.1 = flags;
    }
    let mut gone = deleted.into_iter().peekable();
    let mut place = 0;
    base.retain(|_| {
        let is_gone = gone.next_if_eq(&place).is_some();
        place += 1;
        !is_gone
    });
    // What is added comes first, so that it stands where both name a path.
    let mut all: Vec<(Vec<u8>, Flags)> = entries.collect();
    if all.iter().any(|(name, _)| name.is_empty()) {
        return None;
    }
    all.append(&mut base);
    Some(Tracked::new(all))
}

fn whole(entries: Vec<(Vec<u8>, Flags)>) -> Option<Tracked> {
    let is_named = entries.iter().all(|(name, _)| !name.is_empty());
    is_named.then(|| Tracked::new(entries))
}

fn parse(bytes: &[u8], hash: usize) -> Option<Parsed> {
    // The trailer is a checksum, or zeros where git was told to leave it out; git itself does not
    // look at it when it reads.
    let body = bytes.len().checked_sub(hash)?;
    let mut cursor = Cursor { rest: bytes.get(..body)? };
    if cursor.take(4)? != b"DIRC" {
        return None;
    }
    let version = cursor.number()?;
    if !(2..=4).contains(&version) {
        return None;
    }
    let n_entries = usize::try_from(cursor.number()?).ok()?;
    // Nothing is reserved for entries that the bytes cannot hold.
    if n_entries > body / (FACTS + hash) {
        return None;
    }
    let mut entries: Vec<(Vec<u8>, Flags)> = Vec::with_capacity(n_entries);
    for _ in 0..n_entries {
        let before = entries.last().map_or(&[][..], |(name, _)| name);
        let entry = entry(&mut cursor, version, hash, before)?;
        entries.push(entry);
    }
    let mut link = None;
    while !cursor.rest.is_empty() {
        let signature = cursor.take(4)?;
        let n = usize::try_from(cursor.number()?).ok()?;
        let content = cursor.take(n)?;
        match signature {
            b"link" => {
                let (name, bitmaps) = content.split_at_checked(hash)?;
                link = Some(Link { hash: hex(name), bitmaps: bitmaps.to_vec() });
            }
            b"sdir" => {}
            // What begins with a capital may be passed over; what does not must be understood.
            [first, ..] if first.is_ascii_uppercase() => {}
            _ => return None,
        }
    }
    Some(Parsed { entries, link })
}

/// Reads one entry; `before` is the name of the one before.
fn entry(
    cursor: &mut Cursor<'_>,
    version: u32,
    hash: usize,
    before: &[u8],
) -> Option<(Vec<u8>, Flags)> {
    let n_rest = cursor.rest.len();
    let facts = cursor.take(FACTS)?;
    let mode = u32::from_be_bytes(facts.get(MODE..MODE + 4)?.try_into().ok()?);
    cursor.take(hash)?;
    let base = cursor.short()?;
    let extended = if base & EXTENDED == 0 {
        0
    } else if version >= 3 {
        cursor.short()?
    } else {
        return None;
    };
    let name = if version == 4 {
        let kept = before.len().checked_sub(cursor.varying()?)?;
        [before.get(..kept)?, cursor.text()?].concat()
    } else {
        let name = cursor.text()?.to_vec();
        // One to eight NULs fill the entry up; one of them is taken.
        let n_used = n_rest - cursor.rest.len() - 1;
        cursor.take((n_used / 8 + 1) * 8 - n_used - 1)?;
        name
    };
    let mut flags = Flags::TRACKED;
    flags |= if extended & SKIP_WORKTREE == 0 { Flags::default() } else { Flags::SKIPPED };
    flags |= if extended & INTENT_TO_ADD == 0 { Flags::default() } else { Flags::INTENDED };
    flags |= match mode & TYPE {
        FOLDER => Flags::FOLDER,
        LINK => Flags::SYMLINK,
        REPOSITORY => Flags::SUBMODULE,
        _ => Flags::default(),
    };
    Some((name, flags))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string does not fail.
        write!(text, "{byte:02x}").ok();
        text
    })
}
