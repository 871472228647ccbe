//! Words with numbers: what packed names do not have room for themselves, each once.
//!
//! A place of the table has the number of a word and, in the bits that numbers leave, a few of its hash: so a
//! look-up reads one word, the right one, nearly always. The words grow by an eighth at a time, for there may
//! be about as many as states. Words of more than 64 bits have the rest of them in an array of its own, which
//! is there only where it is needed.

use crate::hash::mix;

/// Words with numbers from 0 on.
#[derive(Debug, Clone, Default)]
pub(crate) struct Others {
    words: Vec<u64>,
    /// The bits of each word above the 64th; empty where words have none.
    tops: Vec<u32>,
    is_tall: bool,
    /// By hash: the number of a word plus one, and above it some bits of its hash. 0 is a free place.
    places: Vec<u32>,
}

const NUMBER: u32 = (1 << Others::NUMBER_BITS) - 1;

impl Others {
    /// Numbers plus one have this many bits.
    pub const NUMBER_BITS: u32 = 23;

    /// Words have this many bits, at most.
    pub const WORD_BITS: u32 = 64 + u32::BITS;

    /// For words of this many bits.
    pub fn new(bits: u32) -> Self {
        debug_assert!(bits <= Self::WORD_BITS, "words of {bits} bits are too long");
        Others { is_tall: bits > 64, ..Others::default() }
    }

    /// The word of a number; 0 where there is none.
    #[inline(always)]
    pub fn get(&self, number: usize) -> u128 {
        let word = u128::from(self.words.get(number).copied().unwrap_or(0));
        match self.tops.get(number) {
            Some(&top) => u128::from(top) << 64 | word,
            None => word,
        }
    }

    /// The number of a word that is known.
    #[inline]
    pub fn find(&self, word: u128) -> Option<usize> {
        let (low, top) = (word as u64, (word >> 64) as u32);
        let place = self.places[self.place_of((low, top), hash(low, top))?];
        (place != 0).then(|| (place & NUMBER) as usize - 1)
    }

    /// Where the number of a word is, or would be. `None` where there are no places.
    #[inline]
    fn place_of(&self, (low, top): (u64, u32), hash: u64) -> Option<usize> {
        let mask = self.places.len().checked_sub(1)?;
        let mut at = (hash >> 32) as usize & mask;
        loop {
            let place = self.places[at];
            if place == 0 {
                return Some(at);
            }
            let number = (place & NUMBER) as usize - 1;
            if (place ^ tag(hash)) & !NUMBER == 0
                && self.words[number] == low
                && (!self.is_tall || self.tops[number] == top)
            {
                return Some(at);
            }
            at = (at + 1) & mask;
        }
    }

    /// The number of a word that was not known. `None` when there are too many.
    #[cold]
    pub fn add(&mut self, word: u128) -> Option<usize> {
        if self.words.len() * 4 >= self.places.len() * 3 {
            self.grow();
        }
        let (low, top) = (word as u64, (word >> 64) as u32);
        let hash = hash(low, top);
        let at = self.place_of((low, top), hash)?;
        let number = self.words.len();
        if number + 1 > NUMBER as usize {
            return None;
        }
        if number == self.words.capacity() {
            self.words.reserve_exact(number / 8 + 64);
        }
        self.words.push(low);
        if self.is_tall {
            if number == self.tops.capacity() {
                self.tops.reserve_exact(number / 8 + 64);
            }
            self.tops.push(top);
        }
        self.places[at] = tag(hash) & !NUMBER | (number as u32 + 1);
        Some(number)
    }

    #[cold]
    fn grow(&mut self) {
        let len = (self.places.len() * 2).max(64);
        self.places = Vec::new();
        self.places = vec![0; len];
        for (number, &low) in self.words.iter().enumerate() {
            let hash = hash(low, self.tops.get(number).copied().unwrap_or(0));
            let mut at = (hash >> 32) as usize & (len - 1);
            while self.places[at] != 0 {
                at = (at + 1) & (len - 1);
            }
            self.places[at] = tag(hash) & !NUMBER | (number as u32 + 1);
        }
    }

    /// What one more word takes.
    pub fn growth(&self) -> u64 {
        let (len, mut all) = (self.words.len(), 0);
        if len * 4 >= self.places.len() * 3 {
            all += self.places.len().max(64) * 4;
        }
        if len == self.words.capacity() {
            all += (len / 8 + 64) * 8;
        }
        if self.is_tall && len == self.tops.capacity() {
            all += (len / 8 + 64) * 4;
        }
        all as u64
    }

    pub fn bytes(&self) -> u64 {
        (self.words.capacity() * 8 + (self.tops.capacity() + self.places.capacity()) * 4) as u64
    }
}

#[inline(always)]
fn hash(low: u64, top: u32) -> u64 {
    mix(low ^ u64::from(top).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

/// Bits of a hash that its place does not tell, where numbers leave room.
#[inline(always)]
fn tag(hash: u64) -> u32 {
    hash as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_keep_their_numbers() {
        for bits in [64, Others::WORD_BITS] {
            let mut others = Others::new(bits);
            let mut twin = std::collections::HashMap::new();
            for i in (0..30_000u64).chain(0..30_000) {
                // Many words differ above the 64th bit alone.
                let word = u128::from(mix(i / 2) >> (i % 3 * 20)) | u128::from(i % 5) << 64;
                let word = word & ((1 << bits) - 1);
                let next = twin.len();
                let number = *twin.entry(word).or_insert(next);
                let known = others.find(word);
                assert_eq!(known.or_else(|| others.add(word)), Some(number));
                assert_eq!(others.get(number), word);
            }
            assert_eq!(others.get(twin.len()), 0);
        }
    }
}
