//! Distinct signatures of the states of one block, numbered in the order in which they come.
//!
//! Exact: equal hashes are followed by a comparison. Emptying costs what was put in, not what there is room
//! for, because a big first block is followed by thousands of small ones.

/// A set of sorted sequences of words, each with a count.
#[derive(Debug)]
pub(crate) struct Signatures {
    words: Vec<u64>,
    ends: Vec<u32>,
    hashes: Vec<u64>,
    counts: Vec<u32>,
    /// Open addressing; 0 is free, else the number of the signature plus one.
    slots: Vec<u32>,
}

impl Signatures {
    pub(super) fn new() -> Self {
        Signatures {
            words: Vec::new(),
            ends: Vec::new(),
            hashes: Vec::new(),
            counts: Vec::new(),
            slots: vec![0; 64],
        }
    }

    pub(super) fn clear(&mut self) {
        if self.hashes.len() * 4 > self.slots.len() {
            self.slots.fill(0);
        } else {
            let mask = self.slots.len() - 1;
            for &hash in &self.hashes {
                // Every slot of the run that starts here was filled by one of these signatures.
                let mut at = hash as usize & mask;
                while self.slots[at] != 0 {
                    self.slots[at] = 0;
                    at = (at + 1) & mask;
                }
            }
        }
        self.words.clear();
        self.ends.clear();
        self.hashes.clear();
        self.counts.clear();
    }

    /// How many states were added to each signature.
    pub(super) fn counts(&self) -> &[u32] {
        &self.counts
    }

    /// The words of a signature.
    pub(super) fn words(&self, group: u32) -> &[u64] {
        let at = group as usize;
        let start = if at == 0 { 0 } else { self.ends[at - 1] as usize };
        &self.words[start..self.ends[at] as usize]
    }

    /// The number of this signature, and `states` more states have it.
    #[inline]
    pub(super) fn add(&mut self, signature: &[u64], states: u32) -> u32 {
        let hash = hash(signature);
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        while self.slots[at] != 0 {
            let group = self.slots[at] - 1;
            if self.hashes[group as usize] == hash && self.words(group) == signature {
                self.counts[group as usize] += states;
                return group;
            }
            at = (at + 1) & mask;
        }
        let group = self.hashes.len() as u32;
        self.slots[at] = group + 1;
        self.words.extend_from_slice(signature);
        self.ends.push(self.words.len() as u32);
        self.hashes.push(hash);
        self.counts.push(states);
        if self.hashes.len() * 2 > self.slots.len() {
            self.grow();
        }
        group
    }

    fn grow(&mut self) {
        let mask = self.slots.len() * 2 - 1;
        self.slots = vec![0; mask + 1];
        for (group, &hash) in self.hashes.iter().enumerate() {
            let mut at = hash as usize & mask;
            while self.slots[at] != 0 {
                at = (at + 1) & mask;
            }
            self.slots[at] = group as u32 + 1;
        }
    }
}

#[inline]
fn hash(words: &[u64]) -> u64 {
    let mut state = 0x9e37_79b9_7f4a_7c15u64 ^ words.len() as u64;
    for &word in words {
        let product = u128::from(state ^ word) * 0xa076_1d64_78bd_642f_u128;
        state = (product >> 64) as u64 ^ product as u64 ^ word.rotate_left(23);
    }
    state ^ (state >> 29)
}

/// Sorts and removes duplicates; most signatures have a handful of words.
#[inline]
pub(super) fn normalise(words: &mut Vec<u64>) {
    if words.len() <= 12 {
        for at in 1..words.len() {
            let word = words[at];
            let mut to = at;
            while to > 0 && words[to - 1] > word {
                words[to] = words[to - 1];
                to -= 1;
            }
            words[to] = word;
        }
    } else {
        words.sort_unstable();
    }
    words.dedup();
}

/// A step in a signature.
#[inline]
pub(super) fn word(label: u32, block: u32) -> u64 {
    u64::from(label) << 32 | u64::from(block)
}
