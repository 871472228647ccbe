//! Pairs of 32-bit values, each stored once and named by a 32-bit number: the inner nodes of all compressed
//! states.
//!
//! A node is found by a small direct-mapped cache in front of an index in front of the array of pairs. The
//! same few thousand pairs are asked for over and over (a step changes little), so most look-ups end in the
//! cache, which fits the first two levels of the processor's. It grows with the index up to that size.
//!
//! A search that forgets states gives nodes back, all that are no longer used at once ([`Nodes::sweep`]);
//! their numbers are used again for new ones. They wait in a list that goes through the array of pairs
//! itself.

use crate::hash::mix;
use crate::pages::Pages;

const MAX_CACHE_BITS: u32 = 12;
const FIRST_PLACES: usize = 64;
/// The cache has at most one entry for this many places of the index: small searches may have small budgets.
const INDEX_BY_CACHE: usize = 16;
/// Numbers stay below this, so that their highest bit is free for whoever builds names from them.
const MAX_NODES: u32 = 1 << 31;

#[derive(Clone, Copy)]
struct Cached {
    pair: u64,
    node: u32,
}

/// The table of nodes. Number 0 is no node.
pub struct Nodes {
    pairs: Vec<u64>,
    /// Node numbers by hash of their pair; 0 is a free place.
    index: Pages<u32>,
    shift: u32,
    cache: Vec<Cached>,
    cache_shift: u32,
    /// The first of the nodes that wait to be used again, and how many there are.
    free: u32,
    free_count: usize,
    /// From this many nodes on it is time to look for unused ones.
    crowd: usize,
    full: bool,
    /// Bytes that it may take; what needs more is as if memory had run out.
    most: u64,
}

impl Nodes {
    pub fn new() -> Self {
        Nodes {
            pairs: vec![0],
            index: Pages::small(FIRST_PLACES),
            shift: 64 - FIRST_PLACES.trailing_zeros(),
            cache: vec![Cached { pair: 0, node: 0 }; FIRST_PLACES],
            cache_shift: 64 - FIRST_PLACES.trailing_zeros(),
            free: 0,
            free_count: 0,
            crowd: usize::MAX,
            full: false,
            most: u64::MAX,
        }
    }

    /// The pair of a node.
    #[inline(always)]
    pub fn pair(&self, node: u32) -> u64 {
        self.pairs[node as usize]
    }

    /// Whether memory or numbers have run out: some nodes interned so far are then 0 and mean nothing.
    #[inline(always)]
    pub fn is_full(&self) -> bool {
        self.full
    }

    /// The node of a pair, made if need be.
    #[inline(always)]
    pub fn intern(&mut self, pair: u64) -> u32 {
        let hash = mix(pair);
        let cached = self.cache[(hash >> self.cache_shift) as usize];
        if cached.pair == pair && cached.node != 0 {
            return cached.node;
        }
        let node = self.find(pair, hash);
        self.cache[(hash >> self.cache_shift) as usize] = Cached { pair, node };
        node
    }

    fn find(&mut self, pair: u64, hash: u64) -> u32 {
        let mask = self.index.len() - 1;
        let mut at = home(hash, self.shift);
        loop {
            match self.index[at] {
                0 => break,
                node if self.pairs[node as usize] == pair => return node,
                _ => at = (at + 1) & mask,
            }
        }
        self.add(pair, at).unwrap_or_else(|| {
            self.full = true;
            0
        })
    }

    fn add(&mut self, pair: u64, at: usize) -> Option<u32> {
        if self.free != 0 {
            let node = self.free;
            self.free = self.pairs[node as usize] as u32;
            self.free_count -= 1;
            self.pairs[node as usize] = pair;
            self.index[at] = node;
            return Some(node);
        }
        let node = u32::try_from(self.pairs.len()).ok().filter(|&node| node < MAX_NODES)?;
        let (mut is_crowded, len) = (self.pairs.len() >= self.index.len() / 4 * 3, self.pairs.len());
        if is_crowded || len == self.pairs.capacity() {
            let used = self.bytes();
            // Where memory is short the index is fuller, and look-ups take longer.
            is_crowded &= len >= most_used(self.index.len()) || used + self.doubling() <= self.most;
            (used + self.growth(1) <= self.most).then_some(())?;
        }
        if len == self.pairs.capacity() {
            self.pairs.try_reserve_exact(step(len)).ok()?;
        }
        if is_crowded {
            self.grow()?;
            self.pairs.push(pair);
            place(&mut self.index, self.shift, node, pair);
        } else {
            self.pairs.push(pair);
            self.index[at] = node;
        }
        Some(node)
    }

    /// Doubles the index. All nodes are in use then.
    fn grow(&mut self) -> Option<()> {
        let mut larger = Pages::<u32>::zeroed(self.index.len() * 2)?;
        let shift = self.shift - 1;
        for (node, &pair) in self.pairs.iter().enumerate().skip(1) {
            place(&mut larger, shift, node as u32, pair);
        }
        self.index = larger;
        self.shift = shift;
        if self.cache_shift > 64 - MAX_CACHE_BITS && self.index.len() >= INDEX_BY_CACHE * self.cache.len() {
            self.cache_shift -= 1;
            self.cache = vec![Cached { pair: 0, node: 0 }; 2 * self.cache.len()];
        }
        Some(())
    }

    /// What this many more nodes may take.
    pub fn growth(&self, nodes: usize) -> u64 {
        let len = self.pairs.len() + nodes.saturating_sub(self.free_count);
        let (mut pairs, mut index, mut cache) = (self.pairs.capacity(), self.index.len(), self.cache.len());
        while pairs < len {
            pairs += step(pairs);
        }
        while len > most_used(index) {
            index *= 2;
            if cache < 1 << MAX_CACHE_BITS && index >= INDEX_BY_CACHE * cache {
                cache *= 2;
            }
        }
        let more = (pairs - self.pairs.capacity()) * 8 + (index - self.index.len()) * 4;
        (more + (cache - self.cache.len()) * size_of::<Cached>()) as u64
    }

    /// What it takes to double the index, with a step of the pairs.
    fn doubling(&self) -> u64 {
        let cache = if self.cache.len() < 1 << MAX_CACHE_BITS { self.cache.len() } else { 0 };
        (self.index.len() * 4 + cache * size_of::<Cached>() + step(self.pairs.len()) * 8) as u64
    }

    /// It may take this many bytes from now on, or what it takes already.
    pub fn hold_to(&mut self, bytes: u64) {
        self.most = bytes;
    }

    /// There may be room again.
    pub fn revive(&mut self) {
        self.full = false;
    }

    /// As if memory had run out.
    pub fn give_up(&mut self) {
        self.full = true;
    }

    /// How many numbers have been given, used or not.
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// From now on new nodes make a crowd.
    pub fn watch(&mut self) {
        self.crowd = self.pairs.len();
    }

    /// Whether it is time for a [`Nodes::sweep`].
    #[inline(always)]
    pub fn is_crowded(&self) -> bool {
        self.free == 0 && self.pairs.len() > self.crowd
    }

    /// Gives back the nodes that are not used. Where these are few, more nodes are let come before the next
    /// time.
    pub fn sweep(&mut self, is_used: impl Fn(u32) -> bool) {
        self.index.fill(0);
        self.cache.fill(Cached { pair: 0, node: 0 });
        (self.free, self.free_count) = (0, 0);
        for node in (1..self.pairs.len()).rev() {
            if is_used(node as u32) {
                place(&mut self.index, self.shift, node as u32, self.pairs[node]);
            } else {
                self.pairs[node] = u64::from(self.free);
                self.free = node as u32;
                self.free_count += 1;
            }
        }
        let enough = self.pairs.len() / 8;
        self.crowd = self.pairs.len() + enough.saturating_sub(self.free_count);
    }

    pub fn bytes(&self) -> u64 {
        self.index.bytes() + (self.pairs.capacity() * 8 + self.cache.len() * size_of::<Cached>()) as u64
    }
}

/// By how much so many pairs grow.
fn step(pairs: usize) -> usize {
    pairs / 8 + 64
}

/// How many nodes an index of this many places has, at most.
fn most_used(places: usize) -> usize {
    places / 16 * 15
}

/// Where a pair belongs in an index. It uses lower bits than the cache, lest one line of the cache be one run
/// of the index.
#[inline(always)]
fn home(hash: u64, shift: u32) -> usize {
    (hash.rotate_left(MAX_CACHE_BITS) >> shift) as usize
}

fn place(index: &mut [u32], shift: u32, node: u32, pair: u64) {
    let mut at = home(mix(pair), shift);
    while index[at] != 0 {
        at = (at + 1) & (index.len() - 1);
    }
    index[at] = node;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_pairs_have_one_node_and_a_node_gives_its_pair_back() {
        let mut nodes = Nodes::new();
        let pair = |i: u64| i * i * 0x0001_0001_0007;
        let first: Vec<_> = (0..30_000).map(|i| nodes.intern(pair(i))).collect();
        for (i, &node) in (0..).zip(&first) {
            assert_eq!(nodes.intern(pair(i)), node);
            assert_eq!(nodes.pair(node), pair(i));
        }
        let distinct: std::collections::HashSet<_> = first.iter().collect();
        assert_eq!(distinct.len(), first.len());
    }

    #[test]
    fn nodes_that_are_not_used_are_used_again_and_the_others_stay() {
        let mut nodes = Nodes::new();
        let first: Vec<_> = (0..5000u64).map(|i| nodes.intern(i * 7)).collect();
        nodes.watch();
        nodes.sweep(|node| node % 3 == 0);
        let again: Vec<_> = (0..3000u64).map(|i| nodes.intern(i * 7 + 1)).collect();
        assert_eq!(nodes.len(), first.len() + 1, "there was room");
        assert!(!nodes.is_crowded());
        for (i, &node) in (0..).zip(&first).filter(|(_, node)| *node % 3 == 0) {
            assert_eq!((nodes.intern(i * 7), nodes.pair(node)), (node, i * 7));
        }
        for (i, &node) in (0..).zip(&again) {
            assert_eq!((nodes.intern(i * 7 + 1), nodes.pair(node)), (node, i * 7 + 1));
        }
        (0..1000u64).for_each(|i| {
            nodes.intern(i * 7 + 2);
        });
        assert!(nodes.is_crowded());
    }
}
