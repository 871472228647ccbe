//! Sequences that never end: a `d_step`, or an atomic sequence of which no way leads out again.
//!
//! As in a search of single states they are errors, of the `d_step` wherever one is begun, and of an atomic
//! sequence where the process that begins it can do nothing else. Only sequences that leave the unbounded
//! variables alone are told: with fixed values of these they go round among finitely many states for ever.
//! One that changes them as well is different in each round, and no run shows that.

use std::collections::{BTreeMap, BTreeSet};

use volee_system::FaultKind;

use super::explore::{Edge, Explorer};
use super::formula::Formula;
use super::state::Explicit;

/// What is said of a `d_step` that blocks as well.
pub(super) const D_STEP: &str = "a d_step sequence blocks, or never ends, after its first statement";
const ATOMIC: &str = "an atomic sequence runs for ever without ever letting another process move";

impl Explorer<'_> {
    /// Adds the errors of sequences that never end, once all states and steps are known.
    pub(super) fn add_endless(&mut self) {
        let endless = self.endless();
        let enters = |e: &&Edge| !endless[e.from as usize] && endless[e.to as usize];
        let entered: BTreeSet<u32> = self.edges.iter().filter(enters).map(|e| e.to).collect();
        for state in entered.into_iter().filter(|&s| self.state(s).d_step.is_some()).collect::<Vec<_>>() {
            self.fail(state, &Formula::truth(true), D_STEP, FaultKind::Runtime, D_STEP, None);
        }
        // An error in a sequence is an end of it.
        let endless = self.endless();
        let free = |e: &Edge| e.mover.filter(|_| self.state(e.from).owner.is_none());
        let mut only: BTreeMap<(u32, usize), bool> = BTreeMap::new();
        for edge in &self.edges {
            if let Some(pid) = free(edge) {
                *only.entry((edge.from, pid)).or_insert(true) &= endless[edge.to as usize];
            }
        }
        let begun = self.edges.iter().filter(|e| free(e).is_some_and(|pid| only[&(e.from, pid)]));
        let begun = begun.map(|e| (e.from, Formula(vec![e.guard.clone()]), e.name.clone(), e.place.clone()));
        for (from, when, name, place) in begun.collect::<Vec<_>>() {
            self.fail(from, &when, &name, FaultKind::Runtime, ATOMIC, place);
        }
    }

    fn state(&self, number: u32) -> &Explicit {
        &self.states[number as usize]
    }

    /// The states of sequences that neither end nor change anything unbounded from there on.
    fn endless(&self) -> Vec<bool> {
        let (ends, changes) = (self.reaching(false), self.reaching(true));
        ends.iter().zip(changes).map(|(ends, changes)| !ends && !changes).collect()
    }

    /// For each state that somebody owns, whether some way of his leads out of the sequence or, if that is
    /// asked, to a change of an unbounded variable.
    fn reaching(&self, change: bool) -> Vec<bool> {
        let is_out = |s: usize| self.states[s].owner.is_none() || self.states[s].failed.is_some();
        let mut reaching: Vec<bool> = (0..self.states.len()).map(|s| !change && is_out(s)).collect();
        let mut before: Vec<Vec<u32>> = vec![Vec::new(); self.states.len()];
        let mut work: Vec<u32> = (0..self.states.len() as u32).filter(|&s| reaching[s as usize]).collect();
        for edge in self.edges.iter().filter(|e| !is_out(e.from as usize)) {
            before[edge.to as usize].push(edge.from);
            if change && !edge.updates.is_empty() && !reaching[edge.from as usize] {
                reaching[edge.from as usize] = true;
                work.push(edge.from);
            }
        }
        while let Some(state) = work.pop() {
            for &earlier in &before[state as usize] {
                if !reaching[earlier as usize] {
                    reaching[earlier as usize] = true;
                    work.push(earlier);
                }
            }
        }
        reaching
    }
}
