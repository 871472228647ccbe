//! Whether an automaton is deterministic or complete, and how to make it complete.

use super::{Automaton, Edge};
use crate::bdd::Bdd;

impl Automaton {
    /// Whether no letter has two transitions in a state. Gives the first state where one has.
    pub fn nondeterministic_state(&mut self) -> Option<u32> {
        for state in 0..self.states.len() {
            let mut taken = Bdd::FALSE;
            for i in 0..self.states[state].len() {
                let guard = self.states[state][i].guard;
                if self.manager.and(taken, guard) != Bdd::FALSE {
                    return Some(state as u32);
                }
                taken = self.manager.or(taken, guard);
            }
        }
        None
    }

    /// Whether every letter has a transition in every state.
    pub fn is_complete(&mut self) -> bool {
        (0..self.states.len()).all(|state| self.missing(state) == Bdd::FALSE)
    }

    /// Adds a rejecting sink for the letters that have no transition.
    pub fn complete(&mut self) {
        if self.is_complete() {
            return;
        }
        let sink = self.states.len() as u32;
        if self.sets == 0 {
            // Without a set every run is accepted: the sink needs one to be missing from.
            self.sets = 1;
            for edge in self.states.iter_mut().flatten() {
                edge.marks = 1;
            }
        }
        for state in 0..self.states.len() {
            let missing = self.missing(state);
            if missing != Bdd::FALSE {
                let marks = if self.is_state_based() { self.state_marks(state) } else { 0 };
                self.states[state].push(Edge { guard: missing, marks, target: sink });
            }
        }
        self.states.push(vec![Edge { guard: Bdd::TRUE, marks: 0, target: sink }]);
    }

    fn missing(&mut self, state: usize) -> Bdd {
        let mut covered = Bdd::FALSE;
        for i in 0..self.states[state].len() {
            let guard = self.states[state][i].guard;
            covered = self.manager.or(covered, guard);
        }
        self.manager.not(covered)
    }
}
