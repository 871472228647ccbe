//! Monitors: the conjuncts of a formula, each as its own small automaton, stepped together.
//!
//! `n` responses have 2^n states together and `2 n` apart. Only the tuples that a system really reaches ever
//! exist, one small number per conjunct.

use super::compile::{Alphabet, CompileError, Limits, compile};
use super::dfa::{Dfa, DfaState, Verdict3};
use crate::formula::{AtomId, Formula, Node};

/// One conjunct: its automaton, and which of the formula's atoms its letters are made of.
struct Part {
    dfa: Dfa,
    atoms: Vec<u32>,
}

impl Part {
    fn ignores_silence(&self, letters: usize, events: usize) -> bool {
        let step = |from: DfaState, letter: usize| self.dfa.step(from, |atom| letter >> atom & 1 == 1);
        let stays = |at: DfaState, letter: usize| step(at, letter & !events) == at;
        let initial = self.dfa.initial();
        (0..letters).all(|letter| {
            stays(initial, letter) && self.dfa.all_states().all(|from| stays(step(from, letter), letter))
        })
    }
}

/// States and letters of an automaton that are looked at one by one.
const MOST_LETTERS: usize = 1 << 18;

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

    /// Whether silent steps change nothing: those with no event, as `is_event` says of [`Monitor::atoms`],
    /// and with the conditions of the step before. Where the automata are too large to tell, it is said to be
    /// otherwise.
    pub fn ignores_silent_steps(&self, is_event: impl Fn(usize) -> bool) -> bool {
        self.parts.iter().all(|part| {
            let letters = 1usize.checked_shl(part.atoms.len() as u32).unwrap_or(usize::MAX);
            if letters.saturating_mul(part.dfa.len()) > MOST_LETTERS {
                return false;
            }
            let events = (0..).zip(&part.atoms).filter(|&(_, &atom)| is_event(atom as usize));
            let events = events.fold(0usize, |mask, (own, _)| mask | 1 << own);
            part.ignores_silence(letters, events)
        })
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
