//! Bitstate hashing for several threads: one array of bits that all of them set at once, without locks.
//!
//! A state sets three bits of one word, by a single atomic `or` that tells which of them were set before. So
//! of several threads that come with the same state exactly one finds it new, as if they had come one after
//! the other. (In a word of 64 bits three bits coincide a little more often than in a line of 512, as
//! [`Bitstate`](crate::Bitstate) has them; there two threads could both find a state new.) No other memory is
//! handed over by a bit: states travel between threads under locks, and `Relaxed` is enough.
//!
//! # Safety
//! The memory is that of [`Pages`], seen as atomic words and in no other way as long as this table lives: it
//! is given to nobody. `AtomicU64` has the size and alignment of `u64`, and zeroes are a value of both.
#![allow(unsafe_code)]

use std::sync::atomic::{AtomicU64, Ordering};

use crate::hash::mix;
use crate::pages::{Pages, prefetch};

const WORDS: usize = 8;
const BITS_BY_STATE: u32 = 3;

type Line = [AtomicU64; WORDS];

/// Bits of states, for several threads.
pub struct SharedBits {
    pages: Pages<[u64; WORDS]>,
}

// SAFETY: the pages are an allocation of this table's own; threads reach it through atomic words only.
unsafe impl Send for SharedBits {}
// SAFETY: as above.
unsafe impl Sync for SharedBits {}

impl SharedBits {
    /// In this many bytes, rounded down to a power of two. `None` when there is no memory.
    pub fn new(bytes: u64) -> Option<Self> {
        let lines = usize::try_from((bytes / 64).max(64)).ok()?;
        Some(SharedBits { pages: Pages::zeroed(1 << lines.ilog2())? })
    }

    #[inline(always)]
    fn lines(&self) -> &[Line] {
        // SAFETY: see the head of the file.
        unsafe { std::slice::from_raw_parts(self.pages.start().cast(), self.pages.count()) }
    }

    #[inline(always)]
    fn home(&self, hash: u64) -> usize {
        (hash >> 20) as usize & (self.pages.count() - 1)
    }

    /// Brings what is needed to decide about a state near.
    #[inline(always)]
    pub fn prefetch(&self, hash: u64) {
        prefetch(&self.lines()[self.home(hash)]);
    }

    /// Remembers a state by its hash. Where it is new, the odds that one like it would have been taken for
    /// another: by what they come to, summed over all new states, is known how many probably were.
    #[inline]
    pub fn insert(&self, hash: u64) -> Option<f64> {
        // A second mixing makes the bits independent of the line.
        let mut places = mix(hash);
        let word = &self.lines()[self.home(hash)][(places % WORDS as u64) as usize];
        let mut bits = 0_u64;
        for _ in 0..BITS_BY_STATE {
            places >>= 6;
            bits |= 1 << (places % 64);
        }
        let before = word.fetch_or(bits, Ordering::Relaxed);
        if before & bits == bits {
            return None;
        }
        let chance = (f64::from(before.count_ones()) / 64.0).powi(BITS_BY_STATE as i32);
        Some(chance / (1.0 - chance).max(1e-9))
    }

    pub fn bytes(&self) -> u64 {
        self.pages.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_that_was_inserted_is_known_and_the_missed_are_about_as_many_as_estimated() {
        let bits = SharedBits::new(16 << 10).expect("small");
        let (mut missed, mut estimate) = (0.0, 0.0);
        for hash in (1..20_000).map(mix) {
            match bits.insert(hash) {
                Some(odds) => estimate += odds,
                None => missed += 1.0,
            }
        }
        assert!((1..20_000).map(mix).all(|hash| bits.insert(hash).is_none()));
        assert!(missed > 100.0, "a table this full misses some");
        assert!((0.5..2.0).contains(&(estimate / missed)), "{estimate} for {missed}");
    }

    #[test]
    fn a_state_is_new_for_one_thread_only() {
        let (bits, count) = (SharedBits::new(1 << 20).expect("small"), 20_000_u64);
        let alone = SharedBits::new(1 << 20).expect("small");
        let expected = (0..count).filter(|&i| alone.insert(mix(i)).is_some()).count();
        let new: usize = std::thread::scope(|scope| {
            let work = |thread: u64| {
                let bits = &bits;
                move || {
                    let order = (0..count).map(move |i| (i * (2 * thread + 1) + thread) % count);
                    order.filter(|&i| bits.insert(mix(i)).is_some()).count()
                }
            };
            let all: Vec<_> = (0..4).map(|thread| scope.spawn(work(thread))).collect();
            all.into_iter().map(|thread| thread.join().expect("no panic")).sum()
        });
        assert!(new.abs_diff(expected) < 20, "{new} and {expected}: who comes first decides who is missed");
        assert!((0..count).all(|i| bits.insert(mix(i)).is_none()));
    }
}
