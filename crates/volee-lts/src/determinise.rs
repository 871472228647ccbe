//! The subset construction: a deterministic system with the same traces.

use std::hash::BuildHasher;

use foldhash::fast::FixedState;
use hashbrown::HashTable;
use volee_system::Meter;

use crate::saturate::TauClosure;
use crate::{Edge, LabelId, Lts, LtsBuilder, LtsError, StateId};

/// Which traces count.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Traces<'a> {
    /// All labels, internal steps included.
    All,
    /// Visible labels only; with the closure of internal steps.
    Visible(&'a TauClosure),
}

/// Sets of states of one system, moved from label to label.
pub(crate) struct Subsets<'a> {
    lts: &'a Lts,
    traces: Traces<'a>,
    steps: Vec<Edge>,
}

impl<'a> Subsets<'a> {
    pub(crate) fn new(lts: &'a Lts, traces: Traces<'a>) -> Self {
        Subsets { lts, traces, steps: Vec::new() }
    }

    /// Where the system can be at the start.
    pub(crate) fn initial(&self) -> Vec<u32> {
        match self.traces {
            Traces::All => vec![self.lts.initial().0],
            Traces::Visible(closure) => closure.of(self.lts.initial()).to_vec(),
        }
    }

    /// The steps of a set: for each label the set it leads to, ascending by label.
    pub(crate) fn moves(&mut self, set: &[u32]) -> Vec<(LabelId, Vec<u32>)> {
        self.steps.clear();
        for &state in set {
            for &edge in self.lts.edges(StateId(state)) {
                match self.traces {
                    Traces::All => self.steps.push(edge),
                    Traces::Visible(_) if edge.is_tau() => {}
                    Traces::Visible(closure) => {
                        let targets = closure.of(edge.target).iter();
                        self.steps.extend(targets.map(|&t| Edge { label: edge.label, target: StateId(t) }));
                    }
                }
            }
        }
        self.steps.sort_unstable();
        self.steps.dedup();
        self.steps
            .chunk_by(|a, b| a.label == b.label)
            .map(|same| (same[0].label, same.iter().map(|e| e.target.0).collect()))
            .collect()
    }
}

/// Sets of states, each once.
pub(crate) struct SetTable {
    sets: Vec<Box<[u32]>>,
    table: HashTable<u32>,
    hasher: FixedState,
    bytes: u64,
}

impl SetTable {
    pub(crate) fn new() -> Self {
        SetTable { sets: Vec::new(), table: HashTable::new(), hasher: FixedState::with_seed(7), bytes: 0 }
    }

    pub(crate) fn get(&self, at: u32) -> &[u32] {
        &self.sets[at as usize]
    }

    pub(crate) fn len(&self) -> usize {
        self.sets.len()
    }

    /// Bytes in use.
    pub(crate) fn memory(&self) -> u64 {
        self.bytes + self.table.capacity() as u64 * 5
    }

    /// The number of a set, and whether it is new.
    pub(crate) fn insert(&mut self, set: Vec<u32>) -> (u32, bool) {
        let SetTable { sets, table, hasher, bytes } = self;
        let hash = hasher.hash_one(&set[..]);
        if let Some(&found) = table.find(hash, |&s| *sets[s as usize] == set[..]) {
            return (found, false);
        }
        let at = sets.len() as u32;
        *bytes += set.len() as u64 * 4 + 32;
        sets.push(set.into_boxed_slice());
        table.insert_unique(hash, at, |&s| hasher.hash_one(&*sets[s as usize]));
        (at, true)
    }
}

/// A deterministic system with the same traces.
///
/// # Errors
/// The budget runs out: there can be exponentially many sets.
pub(crate) fn determinise(lts: &Lts, traces: Traces<'_>, meter: &Meter) -> Result<Lts, LtsError> {
    let mut subsets = Subsets::new(lts, traces);
    let mut table = SetTable::new();
    let mut builder = LtsBuilder::new(lts.labels().clone());
    table.insert(subsets.initial());
    let mut next = 0;
    while next < table.len() {
        meter.check()?;
        meter
            .check_memory(table.memory() + builder.memory(), || format!("{} sets of states", table.len()))?;
        for (label, set) in subsets.moves(table.get(next as u32)) {
            let (target, _) = table.insert(set);
            builder.add(StateId(next as u32), label, StateId(target));
        }
        next += 1;
    }
    builder.finish(StateId(0), table.len() as u32)
}
