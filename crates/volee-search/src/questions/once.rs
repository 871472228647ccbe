//! Errors of states that are met again, counted once.
//!
//! A store that forgets meets states again, and an error is one of its state. Hashes of those that were
//! counted are kept, as many as a share of the memory holds: the search does with the rest.

use volee_store::{hash_state, mix};

/// Errors that are remembered so as to be counted once.
pub(super) struct Counted {
    /// Hashes by open addressing; 0 is a free place. A quarter of the places are free.
    places: Vec<u64>,
    len: usize,
    /// Bytes that it may take, with what it takes while it grows.
    most: u64,
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

/// Places of the first table.
const FIRST_PLACES: usize = 16;
/// The share of a budget that is for the errors: a sixteenth, an eighth of a small one, and no more than this.
const SMALL: u64 = 4 << 10;
const MOST: u64 = 2 << 20;

/// What a search with this many bytes leaves for the errors that it counts.
pub(crate) fn share(budget: u64) -> u64 {
    (budget / 16).max((budget / 8).min(SMALL)).min(MOST)
}

impl Counted {
    /// At most this many bytes.
    pub fn new(most: u64) -> Self {
        Counted { places: Vec::new(), len: 0, most, forgets: false }
    }

    pub fn note_forgetting(&mut self) {
        self.forgets = true;
    }

    /// Bytes in use.
    pub fn bytes(&self) -> u64 {
        bytes(self.places.capacity())
    }

    /// Whether an error was counted before; the next time it was, if there is room.
    pub fn meet(&mut self, kind: (u32, u32), state: &[u8]) -> Met {
        let kind = u64::from(kind.0) << 32 | u64::from(kind.1);
        let hash = mix(hash_state(state) ^ mix(kind)).max(1);
        if self.place(hash).is_some_and(|at| self.places[at] == hash) {
            return Met::Again;
        }
        let has_room = 4 * self.len < 3 * self.places.len() || self.grow();
        if let Some(at) = self.place(hash).filter(|_| has_room) {
            self.places[at] = hash;
            self.len += 1;
        }
        if has_room || !self.forgets { Met::First } else { Met::Perhaps }
    }

    /// Where a hash is, or would be.
    fn place(&self, hash: u64) -> Option<usize> {
        let mask = self.places.len().checked_sub(1)?;
        let mut at = hash as usize & mask;
        while self.places[at] != 0 && self.places[at] != hash {
            at = (at + 1) & mask;
        }
        Some(at)
    }

    /// Twice as many places, if there may be; the old ones are there beside them for a moment.
    fn grow(&mut self) -> bool {
        let places = (2 * self.places.len()).max(FIRST_PLACES);
        if bytes(places) + self.bytes() > self.most {
            return false;
        }
        let old = std::mem::replace(&mut self.places, vec![0; places]);
        for hash in old.into_iter().filter(|&hash| hash != 0) {
            if let Some(at) = self.place(hash) {
                self.places[at] = hash;
            }
        }
        true
    }
}

fn bytes(places: usize) -> u64 {
    (places * size_of::<u64>()) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_met_again_counts_once_and_what_is_perhaps_met_again_does_not() {
        for most in [0u64, 100, 128, 1000, 5000, 100_000] {
            let mut counted = Counted::new(most);
            let meet = |counted: &mut Counted, at: u64| counted.meet((0, 0), &at.to_le_bytes());
            assert!((0..2000).all(|at| meet(&mut counted, at) == Met::First));
            assert!(counted.bytes() <= most, "{} of {most}", counted.bytes());
            let kept = counted.len as u64;
            assert!(kept >= most.min(64_000) / 32 || most < 128, "{kept} errors in {most} bytes");
            counted.note_forgetting();
            assert!((0..kept).all(|at| meet(&mut counted, at) == Met::Again));
            let later = (kept..2000).map(|at| meet(&mut counted, at));
            assert!(later.into_iter().all(|met| met == Met::Perhaps) || kept == 2000);
        }
    }

    #[test]
    fn errors_of_different_kinds_are_different() {
        let mut counted = Counted::new(1 << 20);
        let kinds = (0..3).flat_map(|kind| (0..3).map(move |number| (kind, number)));
        assert!(kinds.clone().all(|kind| counted.meet(kind, &[7]) == Met::First));
        assert!(kinds.clone().all(|kind| counted.meet(kind, &[7]) == Met::Again));
    }
}
