//! Texts of which each is kept once and has a number, in little memory.

/// Returns a number that stands for `text`; the same in every run.
pub(crate) fn hash(text: &[u8]) -> u64 {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64 ^ text.len() as u64;
    for part in text.chunks(8) {
        let mut word = [0; 8];
        word[..part.len()].copy_from_slice(part);
        state = (state ^ u64::from_le_bytes(word)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        state ^= state >> 29;
    }
    state = state.wrapping_mul(0x94D0_49BB_1331_11EB);
    state ^ (state >> 32)
}

/// Numbered texts.
#[derive(Debug, Default)]
pub(super) struct Interner {
    text: Vec<u8>,
    /// Where each text ends.
    ends: Vec<u32>,
    /// Numbers counted from one, by hash; zero where there is none. The length is a power of two.
    slots: Vec<u32>,
}

impl Interner {
    /// Returns the number of a text, a new one if it is new.
    pub(super) fn number(&mut self, text: &[u8]) -> u32 {
        if self.ends.len() * 2 >= self.slots.len() {
            self.grow();
        }
        let mut at = self.slot(text);
        loop {
            match self.slots[at] {
                0 => break,
                number if self.get(number - 1) == text => return number - 1,
                _ => at = (at + 1) & (self.slots.len() - 1),
            }
        }
        let number = small(self.ends.len());
        self.text.extend_from_slice(text);
        self.ends.push(small(self.text.len()));
        self.slots[at] = number + 1;
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
        self.text.len() + (self.ends.len() + self.slots.len()) * 4
    }

    /// Returns all numbers in the order of their texts.
    pub(super) fn sorted(&self) -> Vec<u32> {
        let mut numbers: Vec<u32> = (0..small(self.len())).collect();
        numbers.sort_unstable_by(|one, other| self.get(*one).cmp(self.get(*other)));
        numbers
    }

    fn slot(&self, text: &[u8]) -> usize {
        // Only the low bits count.
        usize::try_from(hash(text) & (self.slots.len() as u64 - 1)).unwrap_or_default()
    }

    fn grow(&mut self) {
        self.slots = vec![0; (self.slots.len() * 2).max(1024)];
        for number in 0..small(self.ends.len()) {
            let mut at = self.slot(self.get(number));
            while self.slots[at] != 0 {
                at = (at + 1) & (self.slots.len() - 1);
            }
            self.slots[at] = number + 1;
        }
    }
}

/// A count of what one segment holds: far below four thousand million.
pub(super) fn small(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
