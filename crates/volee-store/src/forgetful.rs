//! The states seen so far, as many as fit: when the memory is full, a new one takes the place of a random old
//! one.
//!
//! Forgetting is harmless to a depth-first search that keeps its path apart: a forgotten state is at worst
//! explored again (Jard and Jéron 1991, section 2).

use std::collections::HashMap;
use std::rc::Rc;

/// Bytes beside the state itself: two references, hash table slot, counters.
const OVERHEAD: u64 = 96;

/// A set of states in bounded memory.
#[derive(Debug, Default)]
pub struct Forgetful {
    places: HashMap<Rc<[u8]>, usize>,
    order: Vec<Rc<[u8]>>,
    bytes: u64,
    budget: u64,
    seed: u64,
    /// States that were forgotten.
    pub replaced: u64,
}

impl Forgetful {
    /// An empty set that may use `budget` bytes.
    pub fn new(budget: u64) -> Self {
        Forgetful { budget, seed: 0x2545_F491_4F6C_DD1D, ..Forgetful::default() }
    }

    /// Whether a state is known.
    pub fn contains(&self, state: &[u8]) -> bool {
        self.places.contains_key(state)
    }

    /// Remembers a state that is not known.
    pub fn insert(&mut self, state: &[u8]) {
        let size = state.len() as u64 + OVERHEAD;
        while self.bytes + size > self.budget && !self.order.is_empty() {
            self.forget();
        }
        if self.bytes + size > self.budget {
            return;
        }
        let state: Rc<[u8]> = state.into();
        self.places.insert(Rc::clone(&state), self.order.len());
        self.order.push(state);
        self.bytes += size;
    }

    fn forget(&mut self) {
        self.seed ^= self.seed << 13;
        self.seed ^= self.seed >> 7;
        self.seed ^= self.seed << 17;
        let victim = (self.seed % self.order.len() as u64) as usize;
        let old = self.order.swap_remove(victim);
        self.places.remove(&old);
        if let Some(moved) = self.order.get(victim) {
            self.places.insert(Rc::clone(moved), victim);
        }
        self.bytes -= old.len() as u64 + OVERHEAD;
        self.replaced += 1;
    }

    /// States remembered.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Bytes in use.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}
