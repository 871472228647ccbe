//! Pairs found equal: a set from which a random member can be taken in constant time.

use std::hash::BuildHasher;
use volee_system::Random;

use foldhash::fast::FixedState;
use hashbrown::HashTable;

use super::{Pair, pair_bytes};

/// The set.
pub(super) struct Visited {
    pairs: Vec<Pair>,
    table: HashTable<u32>,
    hasher: FixedState,
    rng: Random,
    bytes: u64,
    replaced: u64,
}

impl Visited {
    pub(super) fn new(seed: u64) -> Self {
        Visited {
            pairs: Vec::new(),
            table: HashTable::new(),
            hasher: FixedState::with_seed(11),
            rng: Random::new(seed),
            bytes: 0,
            replaced: 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.pairs.len()
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn replaced(&self) -> u64 {
        self.replaced
    }

    pub(super) fn clear(&mut self) {
        self.pairs.clear();
        self.table.clear();
        self.bytes = 0;
    }

    pub(super) fn contains(&self, pair: &Pair) -> bool {
        self.table.find(self.hasher.hash_one(pair), |&at| self.pairs[at as usize] == *pair).is_some()
    }

    pub(super) fn insert(&mut self, pair: Pair) {
        if self.contains(&pair) {
            return;
        }
        self.bytes += pair_bytes(&pair);
        let (hash, at) = (self.hasher.hash_one(&pair), self.pairs.len() as u32);
        self.pairs.push(pair);
        let Visited { pairs, table, hasher, .. } = self;
        table.insert_unique(hash, at, |&at| hasher.hash_one(&pairs[at as usize]));
    }

    /// Forgets a random member; says whether there was one.
    pub(super) fn forget_one(&mut self) -> bool {
        if self.pairs.is_empty() {
            return false;
        }
        let victim = self.rng.part_of(self.pairs.len() as u64) as u32;
        let last = self.pairs.len() as u32 - 1;
        self.unlink(victim);
        if victim != last {
            self.unlink(last);
        }
        let gone = self.pairs.swap_remove(victim as usize);
        if victim != last {
            let hash = self.hasher.hash_one(&self.pairs[victim as usize]);
            let Visited { pairs, table, hasher, .. } = self;
            table.insert_unique(hash, victim, |&at| hasher.hash_one(&pairs[at as usize]));
        }
        self.bytes -= pair_bytes(&gone);
        self.replaced += 1;
        true
    }

    fn unlink(&mut self, at: u32) {
        let hash = self.hasher.hash_one(&self.pairs[at as usize]);
        if let Ok(entry) = self.table.find_entry(hash, |&found| found == at) {
            entry.remove();
        }
    }
}
