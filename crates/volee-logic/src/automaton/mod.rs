//! Büchi automata with acceptance on transitions, generalised: what LTL formulas become.
//!
//! A run is accepted if it takes transitions of every acceptance set again and again. An ordinary Büchi
//! automaton is the special case of one set in which all transitions out of a state agree;
//! [`Automaton::is_state_based`] knows. Guards are decision diagrams over the formula's atoms.

mod degeneralise;
mod determinism;
mod product;
mod prune;
mod scc;
mod simulation;
mod stutter;

use crate::bdd::{Bdd, Literal, Manager};

pub use degeneralise::degeneralise;
pub use product::intersection_is_empty;
pub use scc::{Components, components};
pub use stutter::{ignores_silent_steps, is_stutter_invariant};

/// The most acceptance sets: one bit each.
pub const MAX_SETS: u32 = 64;

/// Where marks may stand while an automaton is reduced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Acceptance {
    /// Every transition has its own.
    OnTransitions,
    /// The transitions of a state have the same, before and after.
    OnStates,
}

/// A transition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edge {
    /// The letters it takes.
    pub guard: Bdd,
    /// The acceptance sets it belongs to, one bit each.
    pub marks: u64,
    /// Where it leads.
    pub target: u32,
}

/// A transition-based generalised Büchi automaton.
#[derive(Clone)]
pub struct Automaton {
    /// Owner of the guards.
    pub manager: Manager,
    /// The names of the atoms; guards are over their positions.
    pub atoms: Vec<String>,
    /// The number of acceptance sets.
    pub sets: u32,
    /// Where runs start.
    pub initial: u32,
    /// The transitions of each state.
    pub states: Vec<Vec<Edge>>,
}

impl Automaton {
    /// The automaton that accepts nothing.
    pub fn empty(atoms: Vec<String>) -> Self {
        Automaton { manager: Manager::new(1 << 22), atoms, sets: 0, initial: 0, states: vec![Vec::new()] }
    }

    /// The number of states.
    pub fn len(&self) -> usize {
        self.states.len()
    }

    /// Whether there is no state at all, which never happens.
    pub fn is_empty(&self) -> bool {
        self.states.is_empty()
    }

    /// The number of pairs of states joined by transitions.
    pub fn pairs(&self) -> usize {
        self.states
            .iter()
            .map(|edges| {
                let mut targets: Vec<u32> = edges.iter().map(|e| e.target).collect();
                targets.sort_unstable();
                targets.dedup();
                targets.len()
            })
            .sum()
    }

    /// All acceptance sets.
    pub fn all_marks(&self) -> u64 {
        if self.sets == 64 { u64::MAX } else { (1 << self.sets) - 1 }
    }

    /// Whether acceptance is a property of states: the transitions out of each state have the same marks.
    pub fn is_state_based(&self) -> bool {
        self.states.iter().all(|edges| edges.windows(2).all(|w| w[0].marks == w[1].marks))
    }

    /// The marks of a state of a state-based automaton.
    pub fn state_marks(&self, state: usize) -> u64 {
        self.states[state].first().map_or(0, |e| e.marks)
    }

    /// The successors of a state under a letter.
    pub fn successors(&self, state: u32, letter: impl Fn(u32) -> bool + Copy) -> impl Iterator<Item = &Edge> {
        self.states[state as usize].iter().filter(move |e| self.manager.eval(e.guard, letter))
    }

    /// A guard as a sum of cubes; `None` if no list of 4096 describes it.
    pub fn guard_cubes(&mut self, guard: Bdd) -> Option<Vec<Vec<Literal>>> {
        self.manager.prime_cubes(guard, 4096)
    }

    /// Joins transitions that differ in their guards only, and fixes an order.
    pub fn merge_edges(&mut self) {
        for edges in &mut self.states {
            edges.sort_by_key(|e| (e.target, e.marks));
            let mut merged: Vec<Edge> = Vec::with_capacity(edges.len());
            for edge in edges.drain(..) {
                match merged.last_mut() {
                    Some(last) if (last.target, last.marks) == (edge.target, edge.marks) => {
                        last.guard = self.manager.or(last.guard, edge.guard);
                    }
                    _ => merged.push(edge),
                }
            }
            merged.retain(|e| e.guard != Bdd::FALSE);
            *edges = merged;
        }
    }

    /// Everything that makes an automaton smaller and keeps its language.
    pub fn reduce(&mut self, acceptance: Acceptance) {
        loop {
            let before = (self.len(), self.states.iter().map(Vec::len).sum::<usize>(), self.sets);
            self.prune(acceptance);
            self.quotient_by_simulation();
            self.merge_edges();
            let after = (self.len(), self.states.iter().map(Vec::len).sum::<usize>(), self.sets);
            if before == after {
                return;
            }
        }
    }

    /// Keeps the states `keep` says, renumbered, and the transitions between them; the initial state stays.
    pub(crate) fn retain(&mut self, keep: &[bool]) {
        let mut number = vec![u32::MAX; self.states.len()];
        let mut next = 0;
        for (state, &kept) in keep.iter().enumerate() {
            if kept || state == self.initial as usize {
                number[state] = next;
                next += 1;
            }
        }
        let old = std::mem::take(&mut self.states);
        for (state, mut edges) in old.into_iter().enumerate() {
            if number[state] == u32::MAX {
                continue;
            }
            edges.retain(|e| number[e.target as usize] != u32::MAX && keep[e.target as usize]);
            for edge in &mut edges {
                edge.target = number[edge.target as usize];
            }
            self.states.push(edges);
        }
        self.initial = number[self.initial as usize];
    }
}
