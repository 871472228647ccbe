//! Removal of what cannot matter: states without an accepting future, marks outside accepting components, and
//! acceptance sets that others imply.

use super::scc::components;
use super::{Acceptance, Automaton, Edge};

impl Automaton {
    /// Removes states from which no accepting cycle is reachable, and useless marks and sets.
    pub fn prune(&mut self, acceptance: Acceptance) {
        self.remove_useless_states();
        self.normalise_marks(acceptance);
        self.drop_implied_sets();
    }

    fn remove_useless_states(&mut self) {
        let scc = components(self);
        let all = self.all_marks();
        // Edges lead to smaller component numbers, so one pass upwards suffices.
        let mut useful: Vec<bool> = (0..scc.marks.len() as u32).map(|c| scc.accepting(c, all)).collect();
        let mut order: Vec<usize> = (0..self.states.len()).filter(|&s| scc.of[s] != u32::MAX).collect();
        order.sort_unstable_by_key(|&s| scc.of[s]);
        for s in order {
            if self.states[s].iter().any(|e| useful[scc.of[e.target as usize] as usize]) {
                useful[scc.of[s] as usize] = true;
            }
        }
        let keep: Vec<bool> = scc.of.iter().map(|&c| c != u32::MAX && useful[c as usize]).collect();
        if keep.iter().any(|k| !k) {
            self.retain(&keep);
        }
    }

    /// Marks count only on cycles. In components that accept nothing they are taken away; on transitions
    /// between components all are given, because a transition with more marks simulates more.
    fn normalise_marks(&mut self, acceptance: Acceptance) {
        let scc = components(self);
        let all = self.all_marks();
        for s in 0..self.states.len() {
            let component = scc.of[s];
            if component == u32::MAX {
                continue;
            }
            let (accepting, cyclic) = (scc.accepting(component, all), scc.cyclic[component as usize]);
            for edge in &mut self.states[s] {
                let inner = scc.of[edge.target as usize] == component;
                let free = match acceptance {
                    Acceptance::OnTransitions => !inner,
                    Acceptance::OnStates => !cyclic,
                };
                if free {
                    edge.marks = all;
                } else if !accepting {
                    edge.marks = 0;
                }
            }
        }
    }

    /// A set that contains another one, among the edges that matter, says nothing more.
    fn drop_implied_sets(&mut self) {
        let scc = components(self);
        let inner: Vec<Edge> = self
            .states
            .iter()
            .enumerate()
            .flat_map(|(s, edges)| {
                let scc = &scc;
                edges.iter().filter(move |e| scc.inner(s, e.target as usize)).copied()
            })
            .collect();
        let accepting_only: Vec<u64> = inner
            .iter()
            .filter(|e| scc.accepting(scc.of[e.target as usize], self.all_marks()))
            .map(|e| e.marks)
            .collect();
        let implied_by =
            |set: u32, other: u32| accepting_only.iter().all(|m| m >> other & 1 == 0 || m >> set & 1 == 1);
        let mut kept: Vec<u32> = (0..self.sets).collect();
        for set in 0..self.sets {
            let others = |o: &&u32| **o != set && implied_by(set, **o);
            if kept.contains(&set) && kept.iter().any(|o| others(&o)) {
                kept.retain(|&k| k != set);
            }
        }
        if kept.len() < self.sets as usize {
            for edge in self.states.iter_mut().flatten() {
                let old = edge.marks;
                edge.marks = kept.iter().enumerate().fold(0, |m, (new, &set)| m | (old >> set & 1) << new);
            }
            self.sets = kept.len() as u32;
        }
    }
}
