//! Hash compaction: 32 bits per state instead of the state (Wolper and Leroy 1993; Stern and Dill 1995), an
//! approximation.
//!
//! The table is a fixed array of lines of sixteen fingerprints; a name lives in its home line or the next
//! with room. Two states with the same home and the same fingerprint are taken for one. That happens once in
//! hundreds of millions of look-ups, but it can, so the absence of errors is not a proof.

use crate::hash::mix;
use crate::pages::{Pages, prefetch};
use crate::{StateRef, Visited};

const LINE: usize = 16;

pub struct Compact {
    prints: Pages<u32>,
    len: u64,
    compared: u64,
}

impl Compact {
    /// In this many bytes, rounded down to a power of two. `None` when there is no memory.
    pub fn new(bytes: u64) -> Option<Self> {
        let prints = usize::try_from((bytes / 4).max(1024)).ok()?;
        Some(Compact { prints: Pages::zeroed(1 << prints.ilog2())?, len: 0, compared: 0 })
    }

    /// An upper bound on the expected number of states taken for others: each comparison of fingerprints of
    /// different states fails once in 2^32.
    pub fn missed(&self) -> f64 {
        self.compared as f64 / f64::from(u32::MAX)
    }

    /// The first place of the home line, and the fingerprint, which is not 0.
    #[inline(always)]
    fn home(&self, name: StateRef) -> (usize, u32) {
        let hash = mix(name.0);
        let home = ((hash >> 30) as usize * LINE) & (self.prints.len() - 1);
        (home, (mix(hash) as u32).max(1))
    }
}

impl Visited for Compact {
    #[inline(always)]
    fn prefetch(&self, name: StateRef) {
        prefetch(&self.prints[self.home(name).0]);
    }

    #[inline]
    fn insert(&mut self, name: StateRef) -> bool {
        let (home, print) = self.home(name);
        let mut at = home;
        loop {
            match self.prints[at] {
                0 => break,
                held if held == print => return false,
                _ => at = (at + 1) & (self.prints.len() - 1),
            }
            self.compared += 1;
        }
        self.prints[at] = print;
        self.len += 1;
        true
    }

    /// The table does not grow: what it would have to grow by is more than there is.
    fn growth(&self, extra: usize) -> Option<u64> {
        (self.len as usize + extra > self.prints.len() / 16 * 15).then_some(self.prints.bytes())
    }

    fn grow(&mut self) -> Option<()> {
        None
    }

    fn len(&self) -> u64 {
        self.len
    }

    fn bytes(&self) -> u64 {
        self.prints.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_new_once_until_the_table_is_full() {
        let mut compact = Compact::new(64 << 10).expect("small");
        let names: Vec<StateRef> = (1..15_000u64).map(|i| StateRef(mix(i))).collect();
        assert!(names.iter().all(|&name| compact.insert(name)));
        assert!(names.iter().all(|&name| !compact.insert(name)));
        assert!(compact.growth(1000).is_some() && compact.grow().is_none());
        assert!(compact.missed() < 0.01);
    }
}
