//! Texts of which each is kept once and has a number, in little memory.

/// Returns a number that stands for `text`; the same in every run.
pub(crate) fn hash(text: &[u8]) -> u64 {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64 ^ text.len() as u64;
    let mut add = |word: u64| {
        state = (state ^ word).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        state ^= state >> 29;
    };
    let (words, rest) = text.as_chunks();
    for word in words {
        add(u64::from_le_bytes(*word));
    }
    if !rest.is_empty() {
        add(packed(rest));
    }
    state = state.wrapping_mul(0x94D0_49BB_1331_11EB);
    state ^ (state >> 32)
}

/// Returns fewer than eight bytes as the low ones of a number, without a loop.
pub(super) fn packed(bytes: &[u8]) -> u64 {
    match bytes {
        [] => 0,
        // The two halves may share bytes, which are the same in both.
        [.., _, _, _, _] => {
            let ahead = bytes.len() - 4;
            let low = bytes.first_chunk().map_or(0, |low| u32::from_le_bytes(*low));
            let high = bytes.last_chunk().map_or(0, |high| u32::from_le_bytes(*high));
            u64::from(low) | u64::from(high) << (ahead * 8)
        }
        [first, .., last] => {
            let middle = bytes.len() / 2;
            u64::from(*first)
                | u64::from(bytes[middle]) << (middle * 8)
                | u64::from(*last) << ((bytes.len() - 1) * 8)
        }
        [only] => u64::from(*only),
    }
}

/// Numbered texts.
#[derive(Debug, Default)]
pub(super) struct Interner {
    text: Vec<u8>,
    /// Where each text ends.
    ends: Vec<u32>,
    /// Numbers counted from one, by hash, each with a part of its hash above it; zero where there
    /// is none. The length is a power of two.
    slots: Vec<u64>,
}

impl Interner {
    /// Returns the number of a text, a new one if it is new.
    pub(super) fn number(&mut self, text: &[u8]) -> u32 {
        if self.ends.len() * 2 >= self.slots.len() {
            self.grow();
        }
        let hash = hash(text);
        let mut at = self.slot(hash);
        loop {
            let slot = self.slots[at];
            if slot == 0 {
                break;
            }
            // What differs in its hash need not be looked at.
            if slot >> 32 == hash >> 32 {
                let number = number_in(slot);
                if self.get(number) == text {
                    return number;
                }
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
        let number = small(self.ends.len());
        self.text.extend_from_slice(text);
        self.ends.push(small(self.text.len()));
        self.slots[at] = filled(hash, number);
        number
    }

    /// Returns the text of a number that was given.
    pub(super) fn get(&self, number: u32) -> &[u8] {
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before as usize]);
        &self.text[start as usize..self.ends[number as usize] as usize]
    }

    /// Returns how many there are.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns the bytes of memory that it takes.
    pub(super) fn memory(&self) -> usize {
        self.text.len() + self.ends.len() * 4 + self.slots.len() * 8
    }

    /// Returns all numbers in the order of their texts.
    pub(super) fn sorted(&self) -> Vec<u32> {
        // The first bytes stand beside the number: most texts are told apart without being looked at.
        let key = |number: u32| {
            let text = self.get(number);
            let first = text
                .first_chunk()
                .map_or_else(|| packed(text).swap_bytes(), |first| u64::from_be_bytes(*first));
            (first, number)
        };
        let mut keys: Vec<(u64, u32)> = (0..small(self.len())).map(key).collect();
        keys.sort_unstable_by(|(first, one), (second, other)| {
            first.cmp(second).then_with(|| self.get(*one).cmp(self.get(*other)))
        });
        keys.into_iter().map(|(_, number)| number).collect()
    }

    fn slot(&self, hash: u64) -> usize {
        // Only the low bits count.
        usize::try_from(hash & (self.slots.len() as u64 - 1)).unwrap_or_default()
    }

    fn grow(&mut self) {
        self.slots = vec![0; (self.slots.len() * 2).max(1024)];
        for number in 0..small(self.ends.len()) {
            let hash = hash(self.get(number));
            let mut at = self.slot(hash);
            while self.slots[at] != 0 {
                at = (at + 1) & (self.slots.len() - 1);
            }
            self.slots[at] = filled(hash, number);
        }
    }
}

fn filled(hash: u64, number: u32) -> u64 {
    hash >> 32 << 32 | (u64::from(number) + 1)
}

fn number_in(slot: u64) -> u32 {
    u32::try_from((slot & 0xFFFF_FFFF).wrapping_sub(1)).unwrap_or_default()
}

/// A count of what one segment holds: far below four thousand million.
pub(super) fn small(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
