//! Closures that were made before, known by what they were made from.
//!
//! Many steps lead to the same product states: two thirds of all in the alternating bit protocol, where
//! whatever was delivered before is forgotten. To close them again and again costs more than anything else.
//! What a closure was made from is part of it, so that of each a bit for every member is kept, and what is
//! said to be known is compared with it: nothing is taken for something else.

use std::hash::BuildHasher;

use foldhash::fast::FixedState;
use hashbrown::HashTable;
use volee_lts::PackedStates;

use crate::sets::{Member, Members};

/// A smaller closure is made again as fast as it is found.
const SMALLEST: usize = 8;

/// Closures by their seeds.
#[derive(Default)]
pub(crate) struct Closures {
    /// Bits of a hash of the seeds, and their place in `known`.
    table: HashTable<(u32, u32)>,
    /// Which set the closure is, and where the bits of its members begin.
    known: Vec<(u32, u32)>,
    /// For each member of a closure whether it was among the seeds.
    bits: Vec<u8>,
}

impl Closures {
    /// The set that is the closure of these, if it was made before. They are in order.
    pub fn find(&self, seeds: &[Member], sets: &PackedStates) -> Option<u32> {
        let tag = tag(seeds);
        let same = |&(own, at): &(u32, u32)| own == tag && self.is_made_from(at, seeds, sets);
        let &(_, at) = self.table.find(hash(tag), same)?;
        Some(self.known[at as usize].0)
    }

    fn is_made_from(&self, at: u32, seeds: &[Member], sets: &PackedStates) -> bool {
        let (set, begin) = self.known[at as usize];
        let bits = &self.bits[begin as usize..];
        let members = Members::of(sets.get(set as usize)).enumerate();
        members
            .filter(|(at, _)| bits[at / 8] >> (at % 8) & 1 == 1)
            .map(|(_, member)| member)
            .eq(seeds.iter().copied())
    }

    /// Keeps that these, which are in order and not known, have this closure.
    pub fn insert(&mut self, seeds: &[Member], set: u32, members: &[Member]) {
        let Ok(begin) = u32::try_from(self.bits.len()) else { return };
        if members.len() < SMALLEST {
            return;
        }
        self.bits.resize(self.bits.len() + members.len().div_ceil(8), 0);
        let mut left = seeds.iter().peekable();
        for (at, member) in members.iter().enumerate() {
            if left.next_if_eq(&member).is_some() {
                self.bits[begin as usize + at / 8] |= 1 << (at % 8);
            }
        }
        debug_assert!(left.next().is_none(), "a closure has its seeds");
        let tag = tag(seeds);
        self.table.insert_unique(hash(tag), (tag, self.known.len() as u32), |&(tag, _)| hash(tag));
        self.known.push((set, begin));
    }

    /// Bytes in use.
    pub fn memory(&self) -> u64 {
        (self.table.capacity() * 9 + self.known.capacity() * 8 + self.bits.capacity()) as u64
    }
}

fn tag(seeds: &[Member]) -> u32 {
    (FixedState::default().hash_one(seeds) >> 32) as u32
}

/// What the table is told: it looks at the lowest and at the highest bits.
fn hash(tag: u32) -> u64 {
    u64::from(tag) << 32 | u64::from(tag)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use volee_system::Random;

    use super::*;
    use crate::sets::encode;

    #[test]
    fn what_is_known_is_the_closure_of_just_these_seeds() {
        let mut random = Random::new(11);
        let (mut sets, mut closures, mut bytes) = (PackedStates::new(), Closures::default(), Vec::new());
        let mut twin: HashMap<Vec<Member>, u32> = HashMap::new();
        let mut hits = 0;
        for _ in 0..20_000 {
            // Few states, so that the same seeds and their neighbours come again.
            let size = 1 + random.part_of(14) as u32;
            let first = random.part_of(4) as u32 * 300;
            let purpose = |at: u32| (at / 9) as u16;
            let members: Vec<Member> =
                (0..size).map(|at| Member::new(first + at * size, purpose(at))).collect();
            let mut seeds: Vec<Member> = members.clone();
            seeds.retain(|_| random.part_of(3) == 0);
            encode(&members, &mut bytes);
            let set = sets.insert(&bytes);
            let known = closures.find(&seeds, &sets);
            assert_eq!(known, twin.get(&seeds).copied());
            hits += u32::from(known.is_some());
            if known.is_none() {
                closures.insert(&seeds, set, &members);
                if members.len() >= SMALLEST {
                    twin.insert(seeds, set);
                }
            }
        }
        assert!(hits > 2000 && twin.len() > 2000, "{hits} of {}", twin.len());
    }
}
