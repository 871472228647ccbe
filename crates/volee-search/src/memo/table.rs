//! A small hash table from a masked word and the number of a memory to what is remembered there.
//!
//! Open addressing, never a deletion: a look-up is one line of cache, mostly. A small table is half full at
//! most; a large one three quarters, because there bytes count more than a look at the next place. A value has
//! a short part, which has room beside the number of the memory, and a rest.

use volee_store::{mix, prefetch_at};

use super::Word;

/// Bytes from which on look-ups are worth a prefetch.
const LARGE: usize = 1 << 21;
const FIRST_PLACES: usize = 1 << 8;
/// Places of a table from which on bytes count.
const MANY_PLACES: usize = 1 << 16;
/// Entries at most; then all are forgotten.
const MOST_ENTRIES: usize = 1 << 21;

/// Aligned so that half a line of cache has one, where a word is a name.
#[derive(Debug, Clone, Copy, Default)]
#[repr(align(32))]
struct Place<W, V> {
    key: W,
    /// 0 is a free place.
    memory: u32,
    short: u32,
    rest: V,
}

/// Values by memory (from 1 on) and key.
#[derive(Debug, Clone)]
pub(super) struct Table<W, V> {
    places: Vec<Place<W, V>>,
    len: usize,
}

impl<W, V> Default for Table<W, V> {
    /// Without any place: it must be cleared before it is used.
    fn default() -> Self {
        Table { places: Vec::new(), len: 0 }
    }
}

impl<W: Word, V: Copy + Default> Table<W, V> {
    #[inline(always)]
    pub fn get(&self, key: W, memory: u32) -> Option<(u32, &V)> {
        let mut at = self.home(key, memory);
        loop {
            let place = &self.places[at];
            if place.memory == memory && place.key == key {
                return Some((place.short, &place.rest));
            }
            if place.memory == 0 {
                return None;
            }
            at = self.after(at);
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
        is_crowded(self.len + 1, self.places.len())
    }

    /// Adds what is not there. `false` when there is too much, and all was forgotten.
    pub fn add(&mut self, key: W, memory: u32, (short, rest): (u32, V)) -> bool {
        self.put(Place { key, memory, short, rest });
        self.len += 1;
        !is_crowded(self.len, self.places.len()) || self.grow()
    }

    fn put(&mut self, entry: Place<W, V>) {
        let mut at = self.home(entry.key, entry.memory);
        while self.places[at].memory != 0 {
            at = self.after(at);
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
        let larger = vec![Place::default(); larger(self.places.len())];
        let old = std::mem::replace(&mut self.places, larger);
        old.into_iter().filter(|place| place.memory != 0).for_each(|place| self.put(place));
        true
    }

    /// Changes the entries of some memories, and forgets the others; each must have a key of its own
    /// afterwards.
    pub fn change(&mut self, lasts: impl Fn(u32) -> bool, mut change: impl FnMut(&mut W, u32, &mut V)) {
        let old = std::mem::take(&mut self.places);
        self.len = old.iter().filter(|place| place.memory != 0 && lasts(place.memory)).count();
        let mut places = FIRST_PLACES;
        while is_crowded(self.len, places) {
            places = larger(places);
        }
        self.places = vec![Place::default(); places];
        for mut place in old.into_iter().filter(|place| place.memory != 0 && lasts(place.memory)) {
            change(&mut place.key, place.short, &mut place.rest);
            self.put(place);
        }
    }

    /// Forgets all, and gives memory back.
    pub fn clear(&mut self) {
        self.places = vec![Place::default(); FIRST_PLACES];
        self.len = 0;
    }

    #[inline(always)]
    fn home(&self, key: W, memory: u32) -> usize {
        let hash = mix(key.hash() ^ u64::from(memory) << 40);
        ((u128::from(hash) * self.places.len() as u128) >> 64) as usize
    }

    #[inline(always)]
    fn after(&self, at: usize) -> usize {
        if at + 1 == self.places.len() { 0 } else { at + 1 }
    }

    pub fn bytes(&self) -> u64 {
        (self.places.capacity() * size_of::<Place<W, V>>()) as u64
    }
}

/// Whether so many entries are too many for so many places.
#[inline]
fn is_crowded(entries: usize, places: usize) -> bool {
    if places < MANY_PLACES { entries * 2 > places } else { entries * 4 > places * 3 }
}

/// The places of the next larger table.
fn larger(places: usize) -> usize {
    if places < MANY_PLACES { places * 2 } else { places / 4 * 5 }
}

/// Memories that somebody still looks at.
pub(super) struct Members(Vec<bool>);

impl Members {
    /// None of this many.
    pub fn new(memories: u32) -> Self {
        Members(vec![false; memories as usize + 1])
    }

    pub fn add(&mut self, memory: u32) {
        self.0[memory as usize] = true;
    }

    pub fn has(&self, memory: u32) -> bool {
        self.0[memory as usize]
    }
}
