//! Words with numbers: what packed names do not have room for themselves, each once.
//!
//! A place of the table has the number of a word and, in the bits that numbers leave, a few of its hash: so a look-up reads
//! one word, the right one, nearly always. The words grow by an eighth at a time, for there may be about as many as states.

use crate::hash::mix;

/// Words with numbers from 0 on.
#[derive(Debug, Clone, Default)]
pub(crate) struct Others {
    words: Vec<u64>,
    /// By hash: the number of a word plus one, and above it some bits of its hash. 0 is a free place.
    places: Vec<u32>,
}

const NUMBER: u32 = (1 << Others::NUMBER_BITS) - 1;

impl Others {
    /// Numbers plus one have so many bits.
    pub const NUMBER_BITS: u32 = 23;

    /// The word of a number; 0 where there is none.
    #[inline(always)]
    pub fn get(&self, number: usize) -> u64 {
        self.words.get(number).copied().unwrap_or(0)
    }

    /// The number of a word, a new one if it is new. `None` when there are too many.
    #[inline]
    pub fn intern(&mut self, word: u64) -> Option<usize> {
        if self.words.len() * 4 >= self.places.len() * 3 {
            self.grow();
        }
        let hash = mix(word);
        let mask = self.places.len() - 1;
        let mut at = (hash >> 32) as usize & mask;
        loop {
            let place = self.places[at];
            if place == 0 {
                return self.add(word, at);
            }
            let number = (place & NUMBER) as usize - 1;
            if (place ^ tag(hash)) & !NUMBER == 0 && self.words[number] == word {
                return Some(number);
            }
            at = (at + 1) & mask;
        }
    }

    #[cold]
    fn add(&mut self, word: u64, at: usize) -> Option<usize> {
        let number = self.words.len();
        if number + 1 > NUMBER as usize {
            return None;
        }
        if number == self.words.capacity() {
            self.words.reserve_exact(number / 8 + 64);
        }
        self.words.push(word);
        self.places[at] = tag(mix(word)) & !NUMBER | (number as u32 + 1);
        Some(number)
    }

    #[cold]
    fn grow(&mut self) {
        let len = (self.places.len() * 2).max(64);
        self.places = Vec::new();
        self.places = vec![0; len];
        for (number, &word) in self.words.iter().enumerate() {
            let hash = mix(word);
            let mut at = (hash >> 32) as usize & (len - 1);
            while self.places[at] != 0 {
                at = (at + 1) & (len - 1);
            }
            self.places[at] = tag(hash) & !NUMBER | (number as u32 + 1);
        }
    }

    pub fn bytes(&self) -> u64 {
        (self.words.capacity() * 8 + self.places.capacity() * 4) as u64
    }
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
        let mut others = Others::default();
        let mut twin = std::collections::HashMap::new();
        for i in (0..30_000u64).chain(0..30_000) {
            let word = mix(i / 2) >> (i % 3 * 20);
            let next = twin.len();
            let number = *twin.entry(word).or_insert(next);
            assert_eq!(others.intern(word), Some(number));
            assert_eq!(others.get(number), word);
        }
        assert_eq!(others.get(twin.len()), 0);
    }
}
