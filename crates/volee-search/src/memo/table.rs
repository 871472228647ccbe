//! A small hash table from a masked word and the number of a memory to what is remembered there.
//!
//! Open addressing, half full at most, never a deletion: a look-up is one line of cache, mostly.

use volee_store::{mix, prefetch_at};

use super::Word;

/// Bytes from which on look-ups are worth a prefetch.
const LARGE: usize = 1 << 21;
const FIRST_PLACES: usize = 1 << 8;
/// Entries at most; then all are forgotten.
const MOST_ENTRIES: usize = 1 << 21;

#[derive(Debug, Clone, Copy, Default)]
struct Place<W, V> {
    key: W,
    /// 0 is a free place.
    memory: u32,
    value: V,
}

/// Values by memory (from 1 on) and key.
#[derive(Debug, Clone)]
pub(super) struct Table<W, V> {
    places: Vec<Place<W, V>>,
    len: usize,
    shift: u32,
}

impl<W, V> Default for Table<W, V> {
    /// Without any place: it must be cleared before it is used.
    fn default() -> Self {
        Table { places: Vec::new(), len: 0, shift: 0 }
    }
}

impl<W: Word, V: Copy + Default> Table<W, V> {
    #[inline(always)]
    pub fn get(&self, key: W, memory: u32) -> Option<&V> {
        let mask = self.places.len() - 1;
        let mut at = self.home(key, memory);
        loop {
            let place = &self.places[at];
            if place.memory == memory && place.key == key {
                return Some(&place.value);
            }
            if place.memory == 0 {
                return None;
            }
            at = (at + 1) & mask;
        }
    }

    /// Whether it is larger than what stays near the processor anyway.
    #[inline(always)]
    pub fn is_large(&self) -> bool {
        self.places.len() * size_of::<Place<W, V>>() > LARGE
    }

    #[inline(always)]
    pub fn prefetch(&self, key: W, memory: u32) {
        prefetch_at(&self.places, self.home(key, memory));
    }

    /// Whether the next entry makes it grow.
    #[inline]
    pub fn is_full(&self) -> bool {
        (self.len + 1) * 2 > self.places.len()
    }

    /// Adds what is not there. `false` when there is too much, and all was forgotten.
    pub fn add(&mut self, key: W, memory: u32, value: V) -> bool {
        self.put(Place { key, memory, value });
        self.len += 1;
        self.len * 2 <= self.places.len() || self.grow()
    }

    fn put(&mut self, entry: Place<W, V>) {
        let mask = self.places.len() - 1;
        let mut at = self.home(entry.key, entry.memory);
        while self.places[at].memory != 0 {
            at = (at + 1) & mask;
        }
        self.places[at] = entry;
    }

    #[cold]
    fn grow(&mut self) -> bool {
        if self.len >= MOST_ENTRIES {
            self.places.fill(Place::default());
            self.len = 0;
            return false;
        }
        let larger = vec![Place::default(); self.places.len() * 2];
        self.shift -= 1;
        let old = std::mem::replace(&mut self.places, larger);
        old.into_iter().filter(|place| place.memory != 0).for_each(|place| self.put(place));
        true
    }

    /// Forgets all, and gives memory back.
    pub fn clear(&mut self) {
        self.places = vec![Place::default(); FIRST_PLACES];
        self.shift = 64 - FIRST_PLACES.trailing_zeros();
        self.len = 0;
    }

    #[inline(always)]
    fn home(&self, key: W, memory: u32) -> usize {
        (mix(key.hash() ^ u64::from(memory) << 40) >> self.shift) as usize
    }

    pub fn bytes(&self) -> u64 {
        (self.places.capacity() * size_of::<Place<W, V>>()) as u64
    }
}
