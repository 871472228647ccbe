//! Branching bisimulation on a system without internal cycles, with or without divergence.
//!
//! The signature of a state is the set of its (label, block of target) after any number of inert steps, which
//! are internal steps within the block (Blom and Orzan 2003). Because internal steps are acyclic and lead to
//! smaller numbers, an ascending pass over the states to look at computes it from the signatures of their
//! inert successors.
//!
//! A state is looked at again when a target has a new name, when an inert step of its own has stopped being
//! inert, or when that is so for a state it reaches by inert steps. All other states of a block still share
//! one signature, and any of them that has no inert step shows it directly.

use crate::{LabelId, Lts, StateId};
use volee_store::large::zeroes;

use super::Partition;
use super::blocks::Rest;
use super::signatures::{Signatures, normalise, word};
use super::strong::Predecessors;

/// How internal steps count.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Silent<'a> {
    /// Divergence is not observed.
    Fair,
    /// States from which internal steps can go on for ever without leaving the class are told apart from
    /// others; the slice names the states that stand for an internal cycle.
    Divergent(&'a [bool]),
}

impl Silent<'_> {
    pub(crate) fn diverges(self, state: u32) -> bool {
        match self {
            Silent::Fair => false,
            Silent::Divergent(cycles) => cycles[state as usize],
        }
    }
}

/// The word of a signature that says: an internal cycle is reached by inert steps.
pub(super) const DIVERGENCE: u64 = u64::MAX;

/// The coarsest branching bisimulation of a contracted system: internal steps lead to smaller numbers, rows
/// are sorted.
pub(crate) fn branching(lts: &Lts, silent: Silent<'_>) -> Partition {
    let mut refinement = Branching {
        lts,
        silent,
        tau_predecessors: Predecessors::new(lts, |e| e.is_tau()),
        partition: Partition::new(lts.state_count()),
        signatures: Signatures::new(),
        group_of: zeroes(lts.state_count()),
        groups: Vec::new(),
        order: Vec::new(),
        signature: Vec::new(),
    };
    let predecessors = Predecessors::new(lts, |_| true);
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
            let parent = partition.parent(block);
            moved.clear();
            moved.extend_from_slice(partition.states(block));
            for &state in &moved {
                for &source in predecessors.of(state) {
                    partition.mark(source);
                }
                if tau_targets(lts, state).any(|t| partition.block_of()[t as usize] == parent) {
                    partition.mark(state);
                }
            }
        }
    }
}

fn tau_targets(lts: &Lts, state: u32) -> impl Iterator<Item = u32> + '_ {
    lts.edges(StateId(state)).iter().take_while(|e| e.is_tau()).map(|e| e.target.0)
}

struct Branching<'a> {
    lts: &'a Lts,
    silent: Silent<'a>,
    tau_predecessors: Predecessors,
    partition: Partition,
    signatures: Signatures,
    /// The group of each state of the block at hand that was looked at again.
    group_of: Vec<u32>,
    groups: Vec<u32>,
    order: Vec<u32>,
    signature: Vec<u64>,
}

impl Branching<'_> {
    fn refine(&mut self, block: u32, round: u32) {
        if self.partition.size(block) == 1 {
            return self.partition.unmark(block);
        }
        self.close(block);
        self.signatures.clear();
        let mut rest = Rest::None;
        if let Some(&state) = self.partition.unmarked(block).first() {
            rest = Rest::InGroupZero;
            let bottom = self.bottom(state, block);
            self.sign(bottom, block);
            self.signatures.add(&self.signature, self.partition.unmarked(block).len() as u32);
        }
        self.order.clear();
        self.order.extend_from_slice(self.partition.marked(block));
        self.order.sort_unstable();
        for at in 0..self.order.len() {
            let state = self.order[at];
            self.sign(state, block);
            self.group_of[state as usize] = self.signatures.add(&self.signature, 1);
        }
        self.groups.clear();
        self.groups.extend(self.partition.marked(block).iter().map(|&s| self.group_of[s as usize]));
        self.partition.split(block, &self.groups, &self.signatures, rest, round);
    }

    /// Marks whatever reaches a marked state by inert steps.
    fn close(&mut self, block: u32) {
        let mut at = 0;
        while at < self.partition.marked(block).len() {
            let state = self.partition.marked(block)[at];
            for &source in self.tau_predecessors.of(state) {
                if self.partition.block_of()[source as usize] == block {
                    self.partition.mark(source);
                }
            }
            at += 1;
        }
    }

    /// A state without inert steps, reached by inert steps.
    fn bottom(&self, mut state: u32, block: u32) -> u32 {
        let block_of = self.partition.block_of();
        while let Some(next) = tau_targets(self.lts, state).find(|&t| block_of[t as usize] == block) {
            state = next;
        }
        state
    }

    /// The signature of a state whose marked inert successors have their groups.
    fn sign(&mut self, state: u32, block: u32) {
        let block_of = self.partition.block_of();
        self.signature.clear();
        if self.silent.diverges(state) {
            self.signature.push(DIVERGENCE);
        }
        let mut last_group = None;
        for edge in self.lts.edges(StateId(state)) {
            let target = edge.target.0;
            if edge.label != LabelId::TAU || block_of[target as usize] != block {
                self.signature.push(word(edge.label.0, block_of[target as usize]));
                continue;
            }
            let group = if self.partition.is_marked(target) { self.group_of[target as usize] } else { 0 };
            if last_group != Some(group) {
                last_group = Some(group);
                self.signature.extend_from_slice(self.signatures.words(group));
            }
        }
        normalise(&mut self.signature);
    }
}
