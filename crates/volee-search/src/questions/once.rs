//! Errors of states that are met again, counted once.
//!
//! A store that forgets meets states again, and an error is one of its state. Hashes of those that were
//! counted are kept as part of the answer, as many as there is room for.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// Errors that are remembered so as to be counted once.
pub(super) struct Counted {
    hashes: HashSet<u64>,
    most: usize,
    /// States are met again. What is not among the errors that are remembered may have been counted before
    /// then: the number is too small rather than too large.
    forgets: bool,
}

/// Whether an error was counted before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Met {
    First,
    Again,
    /// Nobody knows: it counts if its reason is a new one.
    Perhaps,
}

/// Errors that are remembered, at least and at most; in between they take a sixteenth of the memory.
const FEWEST_COUNTED: u64 = 1 << 12;
const MOST_COUNTED: u64 = 1 << 16;
/// Bytes of such an error in a set that has just grown.
const COUNTED_BYTES: u64 = 20;

impl Counted {
    /// For a search with this many bytes.
    pub fn new(budget: u64) -> Self {
        let most = (budget / 16 / COUNTED_BYTES).clamp(FEWEST_COUNTED, MOST_COUNTED) as usize;
        Counted { hashes: HashSet::new(), most, forgets: false }
    }

    pub fn note_forgetting(&mut self) {
        self.forgets = true;
    }

    /// Whether an error was counted before; the next time it was.
    pub fn meet(&mut self, kind: (u32, u32), state: &[u8]) -> Met {
        let mut hasher = DefaultHasher::new();
        (kind, state).hash(&mut hasher);
        let hash = hasher.finish();
        let has_room = self.hashes.len() < self.most;
        let known = if has_room { !self.hashes.insert(hash) } else { self.hashes.contains(&hash) };
        match known {
            true => Met::Again,
            false if has_room || !self.forgets => Met::First,
            false => Met::Perhaps,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_met_again_counts_once_and_what_is_perhaps_met_again_does_not() {
        let mut counted = Counted::new(0);
        let meet = |counted: &mut Counted, at: u64| counted.meet((0, 0), &at.to_le_bytes());
        let most = FEWEST_COUNTED;
        assert!((0..most + 10).all(|at| meet(&mut counted, at) == Met::First));
        counted.note_forgetting();
        assert!((0..most).all(|at| meet(&mut counted, at) == Met::Again));
        assert!((most..most + 20).all(|at| meet(&mut counted, at) == Met::Perhaps));
    }
}
