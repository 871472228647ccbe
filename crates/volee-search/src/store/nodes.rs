//! Pairs of 32-bit values, each stored once and named by a 32-bit number: the inner nodes of all compressed states.
//!
//! A node is found by a small direct-mapped cache in front of an index in front of the array of pairs. The same few
//! thousand pairs are asked for over and over (a step changes little), so most look-ups end in the cache, which fits
//! the first two levels of the processor's.

use super::hash::mix;
use super::pages::Pages;

const CACHE_BITS: u32 = 12;
const FIRST_PLACES: usize = 64;
/// Numbers stay below this, so that their highest bit is free for whoever builds names from them.
const MAX_NODES: u32 = 1 << 31;

#[derive(Clone, Copy)]
struct Cached {
    pair: u64,
    node: u32,
}

/// The table of nodes. Number 0 is no node.
pub(crate) struct Nodes {
    pairs: Vec<u64>,
    /// Node numbers by hash of their pair; 0 is a free place.
    index: Pages<u32>,
    shift: u32,
    cache: Box<[Cached; 1 << CACHE_BITS]>,
    full: bool,
}

impl Nodes {
    pub(crate) fn new() -> Self {
        Nodes {
            pairs: vec![0],
            index: Pages::small(FIRST_PLACES),
            shift: 64 - FIRST_PLACES.trailing_zeros(),
            cache: Box::new([Cached { pair: 0, node: 0 }; 1 << CACHE_BITS]),
            full: false,
        }
    }

    /// The pair of a node.
    #[inline(always)]
    pub(crate) fn pair(&self, node: u32) -> u64 {
        self.pairs[node as usize]
    }

    /// Whether memory or numbers have run out: some nodes interned so far are then 0 and mean nothing.
    #[inline(always)]
    pub(crate) fn is_full(&self) -> bool {
        self.full
    }

    /// The node of a pair, made if need be.
    #[inline(always)]
    pub(crate) fn intern(&mut self, pair: u64) -> u32 {
        let hash = mix(pair);
        let slot = (hash >> (64 - CACHE_BITS)) as usize;
        let cached = self.cache[slot];
        if cached.pair == pair && cached.node != 0 {
            return cached.node;
        }
        let node = self.find(pair, hash);
        self.cache[slot] = Cached { pair, node };
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
        let node = u32::try_from(self.pairs.len()).ok().filter(|&node| node < MAX_NODES)?;
        if self.pairs.len() == self.pairs.capacity() {
            self.pairs.try_reserve_exact(self.pairs.len() / 2 + 64).ok()?;
        }
        if self.pairs.len() >= self.index.len() / 4 * 3 {
            self.grow()?;
            self.pairs.push(pair);
            place(&mut self.index, self.shift, node, pair);
        } else {
            self.pairs.push(pair);
            self.index[at] = node;
        }
        Some(node)
    }

    fn grow(&mut self) -> Option<()> {
        let mut larger = Pages::<u32>::zeroed(self.index.len() * 2)?;
        let shift = self.shift - 1;
        for (node, &pair) in self.pairs.iter().enumerate().skip(1) {
            place(&mut larger, shift, node as u32, pair);
        }
        self.index = larger;
        self.shift = shift;
        Some(())
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.index.bytes() + (self.pairs.capacity() * 8 + self.cache.len() * size_of::<Cached>()) as u64
    }
}

/// Where a pair belongs in an index. It uses lower bits than the cache, lest one line of the cache be one run of the index.
#[inline(always)]
fn home(hash: u64, shift: u32) -> usize {
    (hash.rotate_left(CACHE_BITS) >> shift) as usize
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
}
