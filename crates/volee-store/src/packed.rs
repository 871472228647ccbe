//! Packed states, each once, numbered as they come: what every exploration of a system needs first.

use std::hash::BuildHasher;

use foldhash::fast::FixedState;
use hashbrown::HashTable;

/// Packed states, each once, numbered as they come.
#[derive(Debug)]
pub struct PackedStates {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    table: HashTable<(u32, u32)>,
    hasher: FixedState,
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
            bytes: Vec::new(),
            ends: Vec::new(),
            table: HashTable::new(),
            hasher: FixedState::with_seed(0x9e37_79b9),
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The bytes of a state; none for an anonymous one.
    pub fn get(&self, at: usize) -> &[u8] {
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.bytes[start..self.ends[at]]
    }

    /// A number for something that is no packed state: it has no bytes and is never found.
    pub fn reserve_anonymous(&mut self) -> u32 {
        self.ends.push(self.bytes.len());
        self.ends.len() as u32 - 1
    }

    /// The number of a state; a new one if it is new.
    pub fn insert(&mut self, state: &[u8]) -> u32 {
        let hash = self.hasher.hash_one(state);
        let short = (hash >> 32) as u32;
        let found = self.table.find(hash, |&(h, at)| h == short && self.get(at as usize) == state);
        if let Some(&(_, at)) = found {
            return at;
        }
        let at = self.ends.len() as u32;
        self.bytes.extend_from_slice(state);
        self.ends.push(self.bytes.len());
        let PackedStates { bytes, ends, table, hasher } = self;
        table.insert_unique(hash, (short, at), |&(_, at)| {
            let start = if at == 0 { 0 } else { ends[at as usize - 1] };
            hasher.hash_one(&bytes[start..ends[at as usize]])
        });
        at
    }

    /// Bytes in use.
    pub fn memory(&self) -> u64 {
        (self.bytes.capacity() + self.ends.capacity() * 8 + self.table.capacity() * 9) as u64
    }
}
