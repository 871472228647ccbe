//! The states that wait along a depth-first search, in as few bytes as their names have, each with a small
//! number.
//!
//! A deep search keeps a large part of all states here, so a byte more for each is a byte more for nearly
//! every state. The array grows by an eighth, not by doubling: what a stack reserves, the table of states
//! does not have.

use crate::StateRef;
use crate::coding::low_bits;

/// Names of at most some bits, each with a byte of its own.
#[derive(Debug, Clone)]
pub struct Stacked {
    /// Bytes of a name; its own byte follows.
    width: usize,
    mask: u64,
    bytes: Vec<u8>,
}

impl Stacked {
    /// For names of this many bits.
    pub fn new(bits: u32) -> Self {
        let width = bits.div_ceil(8).max(1) as usize;
        Stacked { width, mask: low_bits(8 * width as u32), bytes: Vec::new() }
    }

    /// How many there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.bytes.len() / (self.width + 1)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Adds a name at the end.
    #[inline]
    pub fn push(&mut self, name: StateRef, own: u8) {
        let len = self.bytes.len();
        if len + size_of::<StateRef>() + 1 > self.bytes.capacity() {
            self.grow();
        }
        // A copy of fixed length is one instruction; what follows the name is written over.
        self.bytes.extend_from_slice(&name.0.to_le_bytes());
        self.bytes.truncate(len + self.width);
        self.bytes.push(own);
    }

    #[cold]
    fn grow(&mut self) {
        self.bytes.reserve_exact(self.bytes.len() / 8 + 1024);
    }

    /// What it grows by with so many more names.
    #[inline]
    pub fn growth(&self, names: usize) -> u64 {
        let needed = self.bytes.len() + names * (self.width + 1) + size_of::<StateRef>() + 1;
        match needed.saturating_sub(self.bytes.capacity()) {
            0 => 0,
            more => (more + needed / 8 + 1024) as u64,
        }
    }

    /// The name at a place.
    #[inline]
    pub fn name(&self, at: usize) -> StateRef {
        let start = at * (self.width + 1);
        match self.bytes[start..].first_chunk() {
            Some(bytes) => StateRef(u64::from_le_bytes(*bytes) & self.mask),
            None => {
                let mut word = [0; size_of::<StateRef>()];
                word[..self.width].copy_from_slice(&self.bytes[start..start + self.width]);
                StateRef(u64::from_le_bytes(word))
            }
        }
    }

    /// The number beside the name at a place.
    #[inline]
    pub fn own(&self, at: usize) -> u8 {
        self.bytes[at * (self.width + 1) + self.width]
    }

    /// The number beside the name at a place, to be changed.
    #[inline]
    pub fn own_mut(&mut self, at: usize) -> &mut u8 {
        &mut self.bytes[at * (self.width + 1) + self.width]
    }

    /// Forgets what is from this place on.
    #[inline]
    pub fn truncate(&mut self, len: usize) {
        self.bytes.truncate(len * (self.width + 1));
    }

    /// Gives back what is reserved.
    pub fn shrink(&mut self) {
        self.bytes.shrink_to_fit();
    }

    /// Names change, to names of this many bits.
    pub fn rename(&mut self, bits: u32, mut translate: impl FnMut(StateRef) -> StateRef) {
        let mut other = Stacked::new(bits);
        other.bytes.reserve_exact(self.len() * (other.width + 1) + size_of::<StateRef>());
        (0..self.len()).for_each(|at| other.push(translate(self.name(at)), self.own(at)));
        *self = other;
    }

    pub fn bytes(&self) -> u64 {
        self.bytes.capacity() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::mix;

    #[test]
    fn names_of_any_width_come_back_with_their_numbers() {
        for bits in 1..=64 {
            let mut stacked = Stacked::new(bits);
            let mut twin: Vec<(StateRef, u8)> = Vec::new();
            for i in 0..3000u64 {
                let (before, growth) = (stacked.bytes(), stacked.growth(1));
                let random = mix(i ^ u64::from(bits) << 32);
                stacked.push(StateRef(random & low_bits(bits)), i as u8);
                assert!(stacked.bytes() <= before + growth, "{bits} bits grow by more than is foreseen");
                twin.push((StateRef(random & low_bits(bits)), i as u8));
                if random.is_multiple_of(7) {
                    let len = twin.len() - random as usize % 5 % twin.len();
                    stacked.truncate(len);
                    twin.truncate(len);
                }
                if let Some(last) = twin.last_mut() {
                    last.1 ^= 128;
                    *stacked.own_mut(stacked.len() - 1) ^= 128;
                }
            }
            let all = |stacked: &Stacked| -> Vec<(StateRef, u8)> {
                (0..stacked.len()).map(|at| (stacked.name(at), stacked.own(at))).collect()
            };
            assert_eq!(all(&stacked), twin);
            let wider = (bits + 3).min(64);
            stacked.rename(wider, |name| StateRef(name.0 ^ 1));
            twin.iter_mut().for_each(|(name, _)| name.0 ^= 1);
            assert_eq!(all(&stacked), twin);
        }
    }
}
