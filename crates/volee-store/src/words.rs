//! Words with dense numbers: what states are kept as where a state is one word, by itself or by its name.
//!
//! A table by cache lines ([`crate::slots`]) from a tag of the word to its number, and the words by number.
//! So a word that is known costs two fetches from memory, which whoever has several words to look up starts
//! for all of them first: the line when the word is made, the word when the line is there.

use volee_system::Limit;

use crate::hash::mix;
use crate::pieces::Pieces;
use crate::slots::Slots;

/// What has a number.
pub trait Word: Copy + Eq {
    /// 32 bits of a hash, whose lowest bits are well mixed.
    fn tag(self) -> u32;
}

impl Word for u64 {
    #[inline(always)]
    fn tag(self) -> u32 {
        (mix(self) >> 32) as u32
    }
}

impl Word for u128 {
    #[inline(always)]
    fn tag(self) -> u32 {
        (mix(self as u64 ^ mix((self >> 64) as u64)) >> 32) as u32
    }
}

/// The words met so far.
#[derive(Debug)]
pub struct Words<W> {
    slots: Slots<(), 8>,
    words: Pieces<W>,
}

impl<W: Word> Words<W> {
    pub fn new() -> Self {
        Words { slots: Slots::new(), words: Pieces::new() }
    }

    pub fn len(&self) -> u32 {
        self.slots.len()
    }

    pub fn bytes(&self) -> usize {
        self.slots.bytes() + self.words.bytes()
    }

    /// The word with this number.
    #[inline(always)]
    pub fn get(&self, number: u32) -> W {
        *self.words.get(number as usize)
    }

    /// Starts fetching the word with this number.
    #[inline(always)]
    pub fn prefetch(&self, number: u32) {
        self.words.prefetch(number as usize);
    }

    /// Starts fetching the line of a tag.
    #[inline(always)]
    pub fn prefetch_line(&self, tag: u32) {
        self.slots.prefetch(tag);
    }

    /// Reads the line of a tag, and starts fetching the word that is probably the one that was meant.
    #[inline(always)]
    pub fn approach(&self, tag: u32) {
        if let Ok(at) = self.slots.search(tag, |_| true) {
            self.prefetch(self.slots.number(at));
        }
    }

    /// The number of a word, new or old; the tag is its own.
    ///
    /// # Errors
    /// There are more than 2^32 - 2 words.
    #[inline(always)]
    pub fn insert(&mut self, word: W, tag: u32) -> Result<u32, Limit> {
        match self.slots.search(tag, |number| *self.words.get(number as usize) == word) {
            Ok(at) => Ok(self.slots.number(at)),
            Err(at) => {
                let number = self.slots.fill(at, tag, ())?;
                self.words.push(word);
                Ok(number)
            }
        }
    }

    /// All words change, one to one; they keep their numbers.
    ///
    /// # Errors
    /// None that were not met before.
    pub fn rename(&mut self, mut translate: impl FnMut(W) -> W) -> Result<(), Limit> {
        let old = std::mem::replace(self, Words::new());
        for number in 0..old.len() {
            let word = translate(old.get(number));
            self.insert(word, word.tag())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_keep_their_numbers_while_the_table_grows_and_when_they_change() {
        let mut words: Words<u128> = Words::new();
        // Words that differ in their upper half alone, and in their lower half alone.
        let word = |n: u128| if n.is_multiple_of(2) { n << 64 } else { n };
        for n in 0..60_000 {
            let tag = word(n).tag();
            words.prefetch_line(tag);
            words.approach(tag);
            assert_eq!(words.insert(word(n), tag), Ok(n as u32));
        }
        for n in 0..60_000 {
            assert_eq!(words.insert(word(n), word(n).tag()), Ok(n as u32));
            assert_eq!(words.get(n as u32), word(n));
        }
        words.rename(|word| !word).expect("as many as before");
        for n in 0..60_000 {
            assert_eq!(words.insert(!word(n), (!word(n)).tag()), Ok(n as u32));
        }
        assert_eq!(words.len(), 60_000);
    }
}
