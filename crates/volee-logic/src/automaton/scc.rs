//! Strongly connected components (Tarjan 1972), without recursion.

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
    let n = automaton.states.len();
    let mut of = vec![u32::MAX; n];
    let mut index = vec![u32::MAX; n];
    let mut low = vec![0u32; n];
    let mut open: Vec<u32> = Vec::new();
    let mut path: Vec<(u32, usize)> = vec![(automaton.initial, 0)];
    let (mut counter, mut count) = (0, 0);
    while let Some(&mut (state, ref mut next)) = path.last_mut() {
        let s = state as usize;
        if *next == 0 {
            index[s] = counter;
            low[s] = counter;
            counter += 1;
            open.push(state);
        }
        if let Some(edge) = automaton.states[s].get(*next) {
            *next += 1;
            let t = edge.target as usize;
            if index[t] == u32::MAX {
                path.push((edge.target, 0));
            } else if of[t] == u32::MAX {
                low[s] = low[s].min(index[t]);
            }
            continue;
        }
        path.pop();
        if let Some(&(parent, _)) = path.last() {
            low[parent as usize] = low[parent as usize].min(low[s]);
        }
        if low[s] == index[s] {
            while let Some(member) = open.pop() {
                of[member as usize] = count;
                if member == state {
                    break;
                }
            }
            count += 1;
        }
    }
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
