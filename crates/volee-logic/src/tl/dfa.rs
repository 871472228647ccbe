//! Deterministic finite automata whose transitions are decision diagrams over the atoms.
//!
//! A diagram's inner nodes ask for an atom, its leaves are states. With `k` atoms an explicit table would
//! have 2^k columns; the diagram of a usual property has a handful of nodes. Leaves are encoded as the
//! variable `k + state` in the diagrams' own manager, which makes equal diagrams equal nodes and minimisation
//! a matter of relabelling.

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use crate::bdd::{Bdd, Literal, Manager};

/// The number of a state of a [`Dfa`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DfaState(pub u32);

/// What a monitor knows in a state about all continuations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict3 {
    /// Every continuation is accepted, now and for ever.
    Satisfied,
    /// No continuation is accepted.
    Violated,
    /// It depends.
    Open,
}

/// A complete deterministic automaton.
pub struct Dfa {
    pub(super) manager: Manager,
    pub(super) atoms: u32,
    pub(super) initial: DfaState,
    pub(super) states: Vec<StateData>,
}

#[derive(Clone)]
pub(super) struct StateData {
    pub accepting: bool,
    pub diagram: Bdd,
    /// What must still hold, in words of the formula.
    pub derivative: String,
}

impl Dfa {
    /// The number of states, a rejecting sink included.
    pub fn len(&self) -> usize {
        self.states.len()
    }

    /// Never: there is always an initial state.
    pub fn is_empty(&self) -> bool {
        self.states.is_empty()
    }

    /// The number of states without the rejecting sink.
    pub fn trimmed_len(&self) -> usize {
        self.all_states().filter(|&s| self.verdict(s) != Verdict3::Violated).count()
    }

    /// All states.
    pub fn all_states(&self) -> impl Iterator<Item = DfaState> + use<> {
        (0..self.states.len() as u32).map(DfaState)
    }

    /// The number of atoms that letters assign.
    pub fn atoms(&self) -> u32 {
        self.atoms
    }

    /// Where a word starts.
    pub fn initial(&self) -> DfaState {
        self.initial
    }

    /// Whether the word read so far satisfies the formula.
    pub fn is_accepting(&self, state: DfaState) -> bool {
        self.states[state.0 as usize].accepting
    }

    /// What is known about all continuations.
    pub fn verdict(&self, state: DfaState) -> Verdict3 {
        match self.leaf(self.states[state.0 as usize].diagram) {
            Some(to) if to == state && self.is_accepting(state) => Verdict3::Satisfied,
            Some(to) if to == state => Verdict3::Violated,
            _ => Verdict3::Open,
        }
    }

    /// What must still hold in a state, as a formula over the next position.
    pub fn derivative(&self, state: DfaState) -> &str {
        &self.states[state.0 as usize].derivative
    }

    /// The state after a letter, given by the truth of each atom.
    pub fn step(&self, state: DfaState, letter: impl Fn(u32) -> bool) -> DfaState {
        let end = self.manager.follow(self.states[state.0 as usize].diagram, self.atoms, letter);
        self.leaf(end).expect("following all atoms ends in a leaf")
    }

    fn leaf(&self, diagram: Bdd) -> Option<DfaState> {
        let variable = self.manager.variable(diagram);
        (variable >= self.atoms && variable != u32::MAX).then(|| DfaState(variable - self.atoms))
    }

    /// The edges of a state: for each target, the letters that lead there as a sum of cubes over the atoms;
    /// `None` for letters that no list of 4096 cubes describes.
    pub fn edges(&self, state: DfaState) -> Vec<(DfaState, Option<Vec<Vec<Literal>>>)> {
        let mut letters = Manager::new(1 << 20);
        let mut guards: HashMap<Bdd, Vec<(DfaState, Bdd)>, FixedState> =
            HashMap::with_hasher(FixedState::default());
        let root = self.states[state.0 as usize].diagram;
        for diagram in self.topological(root) {
            let entry = match self.leaf(diagram) {
                Some(target) => vec![(target, Bdd::TRUE)],
                None => {
                    let variable = self.manager.variable(diagram);
                    let mut merged: Vec<(DfaState, Bdd)> = Vec::new();
                    for (child, positive) in
                        [(self.manager.low(diagram), false), (self.manager.high(diagram), true)]
                    {
                        let literal = letters.literal(variable, positive);
                        for &(target, guard) in &guards[&child] {
                            let guard = letters.and(literal, guard);
                            match merged.iter_mut().find(|(t, _)| *t == target) {
                                Some((_, g)) => *g = letters.or(*g, guard),
                                None => merged.push((target, guard)),
                            }
                        }
                    }
                    merged
                }
            };
            guards.insert(diagram, entry);
        }
        let mut edges = guards.remove(&root).unwrap_or_default();
        edges.sort_unstable_by_key(|(target, _)| *target);
        edges.into_iter().map(|(target, guard)| (target, letters.prime_cubes(guard, 4096))).collect()
    }

    /// The nodes of a diagram, children first.
    fn topological(&self, root: Bdd) -> Vec<Bdd> {
        let mut seen: HashMap<Bdd, (), FixedState> = HashMap::with_hasher(FixedState::default());
        let mut stack = vec![root];
        while let Some(diagram) = stack.pop() {
            if seen.insert(diagram, ()).is_none() && self.leaf(diagram).is_none() {
                stack.extend([self.manager.low(diagram), self.manager.high(diagram)]);
            }
        }
        let mut nodes: Vec<Bdd> = seen.into_keys().collect();
        // Children are made before their parents, so the order of creation is topological.
        nodes.sort_unstable();
        nodes
    }
}

/// The leaf for a state.
pub(super) fn leaf(manager: &mut Manager, atoms: u32, state: u32) -> Bdd {
    manager.literal(atoms + state, true)
}

/// Copies diagrams from one manager into another, changing leaves on the way.
pub(super) struct Relabel<'a> {
    pub from: &'a Manager,
    pub atoms: u32,
    pub done: HashMap<Bdd, Bdd, FixedState>,
}

impl<'a> Relabel<'a> {
    pub fn new(from: &'a Manager, atoms: u32) -> Self {
        Relabel { from, atoms, done: HashMap::with_hasher(FixedState::default()) }
    }

    /// The copy of `diagram`; `leaves` gives the new state for what is below the atoms.
    pub fn copy(&mut self, diagram: Bdd, to: &mut Manager, leaves: &mut dyn FnMut(Bdd) -> u32) -> Bdd {
        if let Some(&copy) = self.done.get(&diagram) {
            return copy;
        }
        let variable = self.from.variable(diagram);
        let copy = if variable >= self.atoms {
            let state = leaves(diagram);
            leaf(to, self.atoms, state)
        } else {
            let low = self.copy(self.from.low(diagram), to, leaves);
            let high = self.copy(self.from.high(diagram), to, leaves);
            to.node(variable, low, high)
        };
        self.done.insert(diagram, copy);
        copy
    }
}
