//! The strongly connected components of an automaton, and which of them accept.

use volee_system::{Scc, strong_components};

use super::Automaton;

/// The components of an automaton, numbered so that edges lead to equal or smaller numbers.
#[derive(Debug)]
pub struct Components {
    /// The component of each state; `u32::MAX` if it is not reachable.
    pub of: Vec<u32>,
    /// For each component, the union of the marks on its inner edges.
    pub marks: Vec<u64>,
    /// For each component, whether it has an inner edge.
    pub cyclic: Vec<bool>,
}

impl Components {
    /// Whether an edge stays inside a component.
    pub fn inner(&self, from: usize, to: usize) -> bool {
        self.of[from] == self.of[to]
    }

    /// Whether a component has accepting cycles, `all` being all acceptance sets.
    pub fn accepting(&self, component: u32, all: u64) -> bool {
        self.cyclic[component as usize] && self.marks[component as usize] == all
    }
}

/// The components reachable from the initial state.
pub fn components(automaton: &Automaton) -> Components {
    let Scc { of, count } = strong_components(automaton.states.len(), [automaton.initial], |state, next| {
        *next += 1;
        automaton.states[state as usize].get(*next - 1).map(|edge| edge.target)
    });
    let mut marks = vec![0; count as usize];
    let mut cyclic = vec![false; count as usize];
    for (s, edges) in automaton.states.iter().enumerate().filter(|(s, _)| of[*s] != u32::MAX) {
        for edge in edges.iter().filter(|e| of[e.target as usize] == of[s]) {
            marks[of[s] as usize] |= edge.marks;
            cyclic[of[s] as usize] = true;
        }
    }
    Components { of, marks, cyclic }
}
