//! Strong bisimulation: the signature of a state is the set of its (label, block of target).

use crate::{Edge, Lts, StateId};

use super::Partition;
use super::blocks::Rest;
use super::signatures::{Signatures, normalise, word};

/// For each state, from which states a step leads to it.
pub(super) struct Predecessors {
    offsets: Vec<u32>,
    sources: Vec<u32>,
}

impl Predecessors {
    /// By the edges that are wanted.
    pub(super) fn new(lts: &Lts, wanted: impl Fn(Edge) -> bool) -> Self {
        let mut offsets = vec![0u32; lts.state_count() + 1];
        for edge in lts.all_edges().iter().filter(|e| wanted(**e)) {
            offsets[edge.target.index()] += 1;
        }
        let mut end = 0;
        for offset in &mut offsets {
            end += *offset;
            *offset = end;
        }
        let mut sources = vec![0u32; end as usize];
        for state in lts.states().rev() {
            for edge in lts.edges(state).iter().filter(|e| wanted(**e)) {
                let at = &mut offsets[edge.target.index()];
                *at -= 1;
                sources[*at as usize] = state.0;
            }
        }
        Predecessors { offsets, sources }
    }

    #[inline]
    pub(super) fn of(&self, state: u32) -> &[u32] {
        &self.sources[self.offsets[state as usize] as usize..self.offsets[state as usize + 1] as usize]
    }
}

/// The coarsest strong bisimulation. States with `observed` set to different values are never equal; an empty slice
/// observes nothing.
pub(crate) fn strong(lts: &Lts, observed: &[bool]) -> Partition {
    let predecessors = Predecessors::new(lts, |_| true);
    let mut refinement = Strong {
        lts,
        observed,
        partition: Partition::new(lts.state_count()),
        signatures: Signatures::new(),
        groups: Vec::new(),
        signature: Vec::new(),
    };
    let mut round = 0;
    let mut moved = Vec::new();
    loop {
        round += 1;
        let first_new = refinement.partition.block_count();
        for block in refinement.partition.take_dirty() {
            refinement.refine(block, round);
        }
        let end = refinement.partition.block_count();
        if end == first_new {
            return refinement.partition;
        }
        let partition = &mut refinement.partition;
        partition.publish(first_new);
        for block in first_new as u32..end as u32 {
            // Marking permutes the states of a block, perhaps of this one: take them before.
            moved.clear();
            moved.extend_from_slice(partition.states(block));
            for &state in &moved {
                for &source in predecessors.of(state) {
                    partition.mark(source);
                }
            }
        }
    }
}

struct Strong<'a> {
    lts: &'a Lts,
    observed: &'a [bool],
    partition: Partition,
    signatures: Signatures,
    groups: Vec<u32>,
    signature: Vec<u64>,
}

impl Strong<'_> {
    fn refine(&mut self, block: u32, round: u32) {
        if self.partition.size(block) == 1 {
            return self.partition.unmark(block);
        }
        self.signatures.clear();
        self.groups.clear();
        let mut rest = Rest::None;
        if let Some(&state) = self.partition.unmarked(block).first() {
            rest = Rest::InGroupZero;
            self.sign(state);
            self.signatures.add(&self.signature, self.partition.unmarked(block).len() as u32);
        }
        for at in 0..self.partition.marked(block).len() {
            let state = self.partition.marked(block)[at];
            self.sign(state);
            self.groups.push(self.signatures.add(&self.signature, 1));
        }
        self.partition.split(block, &self.groups, &self.signatures, rest, round);
        if self.groups.capacity() > 1 << 20 {
            self.groups = Vec::new();
        }
    }

    #[inline]
    fn sign(&mut self, state: u32) {
        let block_of = self.partition.block_of();
        self.signature.clear();
        for edge in self.lts.edges(StateId(state)) {
            self.signature.push(word(edge.label.0, block_of[edge.target.index()]));
        }
        if self.observed.get(state as usize) == Some(&true) {
            self.signature.push(u64::MAX);
        }
        normalise(&mut self.signature);
    }
}
