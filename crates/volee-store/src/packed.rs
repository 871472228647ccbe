//! Packed states, each once, numbered as they come: what every exploration of a system needs first.
//!
//! States stand one after the other in pieces that never move, each behind its length; a table by cache lines
//! ([`Slots`]) leads from a tag of their bytes to their number, and a list from the number to the place. All
//! three grow piece by piece on large pages, so that hardly more is held than is in use, and nothing is there
//! twice while it grows.

use crate::large;
use crate::pieces::Pieces;
use crate::places::tag;
use crate::slots::Slots;

/// Bytes of a piece; one that has a longer state has that alone.
const PIECE: usize = 1 << PIECE_BITS;
const PIECE_BITS: u32 = 23;

/// Packed states, each once, numbered as they come.
#[derive(Debug)]
pub struct PackedStates {
    slots: Slots<(), 8>,
    pieces: Vec<Vec<u8>>,
    /// Where each begins: its piece and its place there, of both together the lower four bytes.
    starts: Pieces<u32>,
    /// The numbers from which on those four bytes began anew.
    overflows: Vec<u32>,
}

impl Default for PackedStates {
    fn default() -> Self {
        PackedStates::new()
    }
}

impl PackedStates {
    /// No states yet.
    pub fn new() -> Self {
        PackedStates {
            slots: Slots::new(),
            pieces: vec![Vec::new()],
            starts: Pieces::new(),
            overflows: Vec::new(),
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes of a state; none for an anonymous one.
    #[inline]
    pub fn get(&self, at: usize) -> &[u8] {
        let above = self.overflows.partition_point(|first| *first as usize <= at);
        let start = (above as u64) << 32 | u64::from(*self.starts.get(at));
        let mut bytes = &self.pieces[(start >> PIECE_BITS) as usize][start as usize % PIECE..];
        let mut length = 0;
        for shift in (0..usize::BITS).step_by(7) {
            let byte = bytes[0];
            bytes = &bytes[1..];
            length |= usize::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                break;
            }
        }
        &bytes[..length]
    }

    /// A number for something that is no packed state: it has no bytes and is never found.
    pub fn reserve_anonymous(&mut self) -> u32 {
        self.slots.skip();
        self.push(&[])
    }

    /// The number of a state; a new one if it is new.
    #[inline]
    pub fn insert(&mut self, state: &[u8]) -> u32 {
        let tag = tag(state);
        match self.slots.search(tag, |number| self.get(number as usize) == state) {
            Ok(at) => self.slots.number(at),
            Err(at) => {
                let number = self.slots.fill(at, tag, ()).expect("fewer than 2^32 - 1 states fit in memory");
                let pushed = self.push(state);
                debug_assert_eq!(pushed, number);
                number
            }
        }
    }

    /// Writes a state behind all others.
    fn push(&mut self, state: &[u8]) -> u32 {
        // The length has at most ten bytes.
        let needed = state.len() + 10;
        let mut at = self.pieces.len() - 1;
        let room = PIECE.saturating_sub(self.pieces[at].len());
        if needed > room && !self.pieces[at].is_empty() {
            self.pieces.push(large::with_capacity(needed.max(PIECE)));
            at += 1;
        }
        let piece = &mut self.pieces[at];
        let start = (at as u64) << PIECE_BITS | piece.len() as u64;
        let mut length = state.len();
        while length >= 0x80 {
            piece.push(length as u8 | 0x80);
            length >>= 7;
        }
        piece.push(length as u8);
        piece.extend_from_slice(state);
        let number = self.starts.len() as u32;
        self.starts.push(start as u32);
        while self.overflows.len() < (start >> 32) as usize {
            self.overflows.push(number);
        }
        number
    }

    /// Bytes in use.
    pub fn memory(&self) -> u64 {
        let pieces: usize = self.pieces.iter().map(Vec::capacity).sum();
        (pieces + self.starts.bytes() + self.slots.bytes()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_of_any_length_keep_their_numbers_and_anonymous_ones_are_never_found() {
        let mut states = PackedStates::new();
        let state = |n: u32| {
            let length = match n % 1000 {
                0 => 0,
                500 => 200_000,
                other => other as usize % 150,
            };
            let mut state = vec![n as u8; length];
            state.extend_from_slice(&n.to_le_bytes());
            state
        };
        let is_anonymous = |n: u32| n % 11 == 3;
        for n in 0..80_000 {
            let number = if is_anonymous(n) { states.reserve_anonymous() } else { states.insert(&state(n)) };
            assert_eq!(number, n);
        }
        assert!(states.pieces.len() > 2);
        for n in (0..80_000).filter(|n| !is_anonymous(*n)) {
            assert_eq!(states.get(n as usize), state(n));
            assert_eq!(states.insert(&state(n)), n);
        }
        assert_eq!(states.len(), 80_000);
        assert!(states.get(3).is_empty());
        let held: usize = states.pieces.iter().map(Vec::len).sum();
        assert!(states.memory() < 2 * held as u64, "{} for {held}", states.memory());
    }

    #[test]
    fn a_state_longer_than_a_piece_has_one_of_its_own() {
        let mut states = PackedStates::new();
        let long = vec![7; PIECE + 100];
        assert_eq!([states.insert(b"before"), states.insert(&long), states.insert(b"after")], [0, 1, 2]);
        assert_eq!(states.insert(&long), 1);
        assert_eq!((states.get(0), states.get(1), states.get(2)), (&b"before"[..], &long[..], &b"after"[..]));
    }
}
