//! Monitors: the conjuncts of a formula, each as its own small automaton, stepped together.
//!
//! `n` responses have 2^n states together and `2 n` apart. Only the tuples that a system really reaches ever exist,
//! one small number per conjunct.

use super::compile::{Alphabet, CompileError, Limits, compile};
use super::dfa::{Dfa, DfaState, Verdict3};
use crate::formula::{AtomId, Formula, Node};

/// One conjunct: its automaton, and which of the formula's atoms its letters are made of.
struct Part {
    dfa: Dfa,
    atoms: Vec<u32>,
}

/// The automata of a formula's conjuncts.
pub struct Monitor {
    parts: Vec<Part>,
    atoms: Vec<AtomId>,
}

/// The states of all parts.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct MonitorState(pub Vec<DfaState>);

impl Monitor {
    /// Compiles every conjunct on its own.
    ///
    /// # Errors
    /// The first conjunct whose automaton is larger than the limits.
    pub fn new(formula: &Formula, alphabet: Alphabet, limits: Limits) -> Result<Self, CompileError> {
        let (pool, conjuncts) = formula.conjuncts();
        let atoms = formula.atoms();
        let mut parts = Vec::new();
        for conjunct in conjuncts {
            let mut own: Vec<AtomId> = pool
                .reachable(conjunct)
                .into_iter()
                .filter_map(|id| match pool.node(id) {
                    Node::Atom(atom) => Some(atom),
                    _ => None,
                })
                .collect();
            own.sort_unstable();
            let dfa = compile(&pool, conjunct, &own, alphabet, limits)?;
            let positions = own
                .iter()
                .map(|a| atoms.binary_search(a).expect("the conjuncts have the formula's atoms") as u32)
                .collect();
            parts.push(Part { dfa, atoms: positions });
        }
        Ok(Monitor { parts, atoms })
    }

    /// The atoms that letters assign, in order.
    pub fn atoms(&self) -> &[AtomId] {
        &self.atoms
    }

    /// The number of parts.
    pub fn len(&self) -> usize {
        self.parts.len()
    }

    /// Whether the formula has no conjuncts: it is true.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// The automaton of a part.
    pub fn part(&self, index: usize) -> &Dfa {
        &self.parts[index].dfa
    }

    /// Where every word starts.
    pub fn initial(&self) -> MonitorState {
        MonitorState(self.parts.iter().map(|p| p.dfa.initial()).collect())
    }

    /// The state after a letter, given by the truth of each of [`Monitor::atoms`].
    pub fn step(&self, state: &mut MonitorState, letter: impl Fn(usize) -> bool) {
        for (part, at) in self.parts.iter().zip(&mut state.0) {
            *at = part.dfa.step(*at, |own| letter(part.atoms[own as usize] as usize));
        }
    }

    /// The first part that does not accept the word read so far.
    pub fn rejecting(&self, state: &MonitorState) -> Option<usize> {
        self.parts.iter().zip(&state.0).position(|(part, &at)| !part.dfa.is_accepting(at))
    }

    /// What is known about all continuations.
    pub fn verdict(&self, state: &MonitorState) -> Verdict3 {
        let mut all = Verdict3::Satisfied;
        for (part, &at) in self.parts.iter().zip(&state.0) {
            match part.dfa.verdict(at) {
                Verdict3::Violated => return Verdict3::Violated,
                Verdict3::Open => all = Verdict3::Open,
                Verdict3::Satisfied => {}
            }
        }
        all
    }
}
