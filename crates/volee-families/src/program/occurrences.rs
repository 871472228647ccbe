//! Where the name of a process can be held while the process is in which local state.
//!
//! A valuation says where each name is held and a local state says which name its process has, but not
//! whether the two go together: a client that waits for its answer has its name in one message, and one that
//! does not wait in none. So it is kept, for local states without their names, in how many cells of each
//! channel and of each holder the name can be. Steps that the process does not take part in move its name
//! about in the same way whatever its local state is; what it does itself and what others do to its name are
//! closed under each other. More than can be reached does no harm.

use std::collections::{HashMap, HashSet};

use super::identity::NAMES;
use super::step::Local;
use super::world::World;

/// Where a name is held: (a channel, the globals or a holder; how often).
type Pattern = Vec<(u16, i32)>;

/// What is known.
pub(super) struct Occurrences {
    /// What each cell belongs to.
    regions: Vec<u16>,
    patterns: HashMap<Pattern, u32>,
    /// The pattern of each name in each valuation.
    within: Vec<[u32; NAMES]>,
    anonymous: HashMap<(usize, u32, Vec<i32>), u32>,
    /// Each local state without its name.
    of: Vec<u32>,
    known: HashSet<(u32, u32)>,
    /// Patterns that steps of others change into which.
    shifts: HashSet<(u32, u32)>,
    /// Local states that steps lead to which change no valuation.
    moves: HashSet<(u32, u32)>,
}

impl Occurrences {
    pub(super) fn new(world: &World<'_>) -> Self {
        Occurrences {
            regions: world.regions(),
            patterns: HashMap::new(),
            within: Vec::new(),
            anonymous: HashMap::new(),
            of: Vec::new(),
            known: HashSet::new(),
            shifts: HashSet::new(),
            moves: HashSet::new(),
        }
    }

    /// Notes a new valuation; `index` gives the name that a cell holds.
    pub(super) fn add_valuation(&mut self, globals: &[i32], index: impl Fn(i32) -> Option<usize>) {
        let mut found: [Pattern; NAMES] = Default::default();
        let mut add = |k: usize, region: u16, count: i32| match found[k].last_mut() {
            Some(last) if last.0 == region => last.1 += count,
            _ => found[k].push((region, count)),
        };
        let (cells, counts) = globals.split_at(self.regions.len());
        for (&region, &value) in self.regions.iter().zip(cells) {
            if let Some(k) = index(value) {
                add(k, region, 1);
            }
        }
        let holders = self.regions.iter().max().map_or(0, |last| last + 1);
        for (at, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            add(at % NAMES, holders + (at / NAMES) as u16, count);
        }
        let mut ids = [0; NAMES];
        for (id, pattern) in ids.iter_mut().zip(found) {
            let next = self.patterns.len() as u32;
            *id = *self.patterns.entry(pattern).or_insert(next);
        }
        self.within.push(ids);
    }

    /// Notes a new local state.
    pub(super) fn add_local(&mut self, class: usize, local: &Local) {
        let next = self.anonymous.len() as u32;
        let key = (class, local.node, local.values.clone());
        self.of.push(*self.anonymous.entry(key).or_insert(next));
    }

    /// Whether the process with a name can be in a local state when the globals have these values.
    pub(super) fn may_be(&self, l: usize, name: u8, g: usize) -> bool {
        self.known.contains(&(self.of[l], self.within[g][usize::from(name)]))
    }

    /// A process has this name in this local state.
    pub(super) fn own(&mut self, l: usize, name: u8, g: usize) {
        self.known.insert((self.of[l], self.within[g][usize::from(name)]));
    }

    /// A step of others changes where a name is held, and which it is.
    pub(super) fn shift(&mut self, before: (usize, usize), after: (usize, usize)) {
        let (from, to) = (self.within[before.0][before.1], self.within[after.0][after.1]);
        if from != to {
            self.shifts.insert((from, to));
        }
    }

    /// A process goes from one local state to another, and nothing else changes.
    pub(super) fn walk(&mut self, from: usize, to: usize) {
        if self.of[from] != self.of[to] {
            self.moves.insert((self.of[from], self.of[to]));
        }
    }

    /// Closes what is known; whether there is more than before.
    pub(super) fn close(&mut self) -> bool {
        let mut pending: Vec<(u32, u32)> = self.known.iter().copied().collect();
        let mut any = false;
        while let Some((local, pattern)) = pending.pop() {
            let shifted = self.shifts.iter().filter(|s| s.0 == pattern).map(|s| (local, s.1));
            let moved = self.moves.iter().filter(|m| m.0 == local).map(|m| (m.1, pattern));
            for pair in shifted.chain(moved).collect::<Vec<_>>() {
                if self.known.insert(pair) {
                    pending.push(pair);
                    any = true;
                }
            }
        }
        any
    }

    /// How much is known.
    pub(super) fn size(&self) -> usize {
        self.known.len()
    }
}
