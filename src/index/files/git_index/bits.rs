//! The compressed bitmaps of a split index.

use super::decode::Cursor;

/// Bits of one word.
const WORD: u64 = 64;
/// How a marker word is cut up: one bit, then the run's length, then the number of literal words.
const RUN_BITS: u32 = 32;
const RUN_MASK: u64 = 0xffff_ffff;

/// Reads a bitmap and returns the places of the bits that are set, all below `limit`.
pub(super) fn places(cursor: &mut Cursor<'_>, limit: usize) -> Option<Vec<usize>> {
    let n_bits = u64::from(cursor.number()?);
    let n_words = usize::try_from(cursor.number()?).ok()?;
    let mut words = cursor
        .take(n_words.checked_mul(8)?)?
        .chunks_exact(8)
        .map(|word| word.iter().fold(0_u64, |number, byte| number << 8 | u64::from(*byte)));
    // Where the last marker stands: only writers need it.
    cursor.number()?;
    let limit = (limit as u64).min(n_bits);
    let mut places = Vec::new();
    let mut at = 0_u64;
    let mut add = |from: u64, to: u64| {
        let range = from..to.min(limit);
        places.extend(range.filter_map(|place| usize::try_from(place).ok()));
        to <= limit.next_multiple_of(WORD)
    };
    while let Some(marker) = words.next() {
        let run = (marker >> 1 & RUN_MASK) * WORD;
        let n_literal = marker >> (RUN_BITS + 1);
        let end = at.checked_add(run)?;
        if marker & 1 == 1 && !add(at, end) {
            return None;
        }
        at = end;
        for _ in 0..n_literal {
            let word = words.next()?;
            for bit in (0..WORD).filter(|bit| word >> bit & 1 == 1) {
                if at + bit >= limit {
                    return None;
                }
                add(at + bit, at + bit + 1);
            }
            at = at.checked_add(WORD)?;
        }
    }
    Some(places)
}
