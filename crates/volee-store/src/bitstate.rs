//! Bitstate hashing: a few bits per state instead of the state (Holzmann 1988), an approximation that must
//! say so.
//!
//! A name sets three bits of one cache line; it counts as known when all three were set already. So a state
//! may be taken for another and never be explored, but what is explored is real: errors are errors, their
//! absence is not a proof. Keeping the three bits in one line costs a little precision and makes a look-up
//! one prefetched access.

use crate::hash::mix;
use crate::pages::{Pages, prefetch};
use crate::{StateRef, Visited};

const LINE_BITS: u32 = 512;
const BITS_BY_NAME: u32 = 3;

pub struct Bitstate {
    lines: Pages<[u64; 8]>,
    set: u64,
    len: u64,
    /// Names that were new by chance alone would have been missed so often: see [`Bitstate::missed`].
    missed: f64,
}

impl Bitstate {
    /// In this many bytes, rounded down to a power of two. `None` when there is no memory.
    pub fn new(bytes: u64) -> Option<Self> {
        let lines = usize::try_from((bytes / 64).max(64)).ok()?;
        let lines = 1 << lines.ilog2();
        Some(Bitstate { lines: Pages::zeroed(lines)?, set: 0, len: 0, missed: 0.0 })
    }

    /// An estimate of the states that were taken for others when first met: for each state that was found
    /// new, the chance at that time that one like it would not have been.
    pub fn missed(&self) -> f64 {
        self.missed
    }

    /// Bits by stored state.
    pub fn hash_factor(&self) -> f64 {
        self.bits() / self.len.max(1) as f64
    }

    fn bits(&self) -> f64 {
        self.lines.len() as f64 * f64::from(LINE_BITS)
    }

    #[inline(always)]
    fn home(&self, hash: u64) -> usize {
        (hash >> 20) as usize & (self.lines.len() - 1)
    }
}

impl Visited for Bitstate {
    #[inline(always)]
    fn prefetch(&self, name: StateRef) {
        prefetch(&self.lines[self.home(mix(name.0))]);
    }

    #[inline]
    fn insert(&mut self, name: StateRef) -> bool {
        let hash = mix(name.0);
        let at = self.home(hash);
        let line = &mut self.lines[at];
        // Nine bits choose one of the line's 512; a second mixing makes them independent of the line.
        let mut places = mix(hash);
        let mut newly_set = 0;
        for _ in 0..BITS_BY_NAME {
            let place = (places % u64::from(LINE_BITS)) as usize;
            let bit = 1 << (place % 64);
            newly_set += u64::from(line[place / 64] & bit == 0);
            line[place / 64] |= bit;
            places >>= 9;
        }
        self.set += newly_set;
        if newly_set == 0 {
            return false;
        }
        self.len += 1;
        let chance = (self.set as f64 / self.bits()).powi(BITS_BY_NAME as i32);
        self.missed += chance / (1.0 - chance).max(1e-9);
        true
    }

    fn growth(&self, _: usize) -> Option<u64> {
        None
    }

    fn grow(&mut self) -> Option<()> {
        None
    }

    fn len(&self) -> u64 {
        self.len
    }

    fn bytes(&self) -> u64 {
        self.lines.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_was_inserted_is_known_and_the_missed_are_about_as_many_as_estimated() {
        let mut bits = Bitstate::new(16 << 10).expect("small");
        let names: Vec<StateRef> = (1..20_000u64).map(|i| StateRef(mix(i))).collect();
        let missed = names.iter().filter(|&&name| !bits.insert(name)).count() as f64;
        assert!(names.iter().all(|&name| !bits.insert(name)));
        assert!(missed > 100.0, "a table this full misses some");
        let estimate = bits.missed();
        assert!((0.5..2.0).contains(&(estimate / missed)), "{estimate} for {missed}");
    }
}
