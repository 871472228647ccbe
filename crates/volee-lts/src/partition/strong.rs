//! Strong bisimulation: the signature of a state is the set of its (label, block of target).
//!
//! A round looks only at states that can step into a block with a new name. When most states can, it is
//! cheaper to look at all of them in the order of memory and to mark nothing: such rounds are sweeps.

use crate::{Edge, Lts, StateId};
use volee_store::large::{with_capacity, zeroes};

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
        let mut offsets = zeroes(lts.state_count() + 1);
        for edge in lts.all_edges().iter().filter(|e| wanted(**e)) {
            offsets[edge.target.index()] += 1;
        }
        let mut end = 0;
        for offset in &mut offsets {
            end += *offset;
            *offset = end;
        }
        let mut sources = zeroes(end as usize);
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

/// The coarsest strong bisimulation. States with `observed` set to different values are never equal; an empty
/// slice observes nothing.
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
    let mut moved_states = Vec::new();
    let mut sweeping = true;
    loop {
        round += 1;
        let first_new = refinement.partition.block_count();
        let moved = if sweeping { refinement.sweep(round) } else { refinement.refine_dirty(round) };
        if moved == 0 {
            return refinement.partition;
        }
        let was_sweeping = std::mem::replace(&mut sweeping, moved > lts.state_count() / 6);
        if sweeping {
            continue;
        }
        let partition = &mut refinement.partition;
        if was_sweeping {
            partition.arrange();
        }
        for block in first_new as u32..partition.block_count() as u32 {
            // Marking permutes the states of a block, perhaps of this one: take them before.
            moved_states.clear();
            moved_states.extend_from_slice(partition.states(block));
            for &state in &moved_states {
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
    /// A round over all states in their order; says how many got a new name.
    fn sweep(&mut self, round: u32) -> usize {
        self.signatures.clear();
        let states = self.lts.state_count();
        let mut groups = with_capacity(states);
        for state in 0..states as u32 {
            self.sign(state);
            self.signature.push(u64::from(self.partition.block_of()[state as usize]));
            groups.push(self.signatures.add(&self.signature, 1));
        }
        self.partition.split_all(&groups, &self.signatures, round)
    }

    /// A round over the states that are marked; says how many got a new name.
    fn refine_dirty(&mut self, round: u32) -> usize {
        let first_new = self.partition.block_count();
        for block in self.partition.take_dirty() {
            self.refine(block, round);
        }
        self.partition.publish(first_new);
        (first_new..self.partition.block_count()).map(|b| self.partition.size(b as u32)).sum()
    }

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
