//! Locations inside indivisible sequences, composed away: fewer locations, fewer sets, and cycles that are
//! short.

use crate::program::{Program, Transition};

/// A location goes if its transitions become at most this many more.
const GROWTH: usize = 4;

/// The transitions by their ends; removed ones are `None`.
struct Graph {
    transitions: Vec<Option<Transition>>,
    entering: Vec<Vec<usize>>,
    leaving: Vec<Vec<usize>>,
}

/// Removes locations that nobody sees where the composition of what enters and what leaves them is small.
/// Their numbers stay, without transitions.
pub(crate) fn remove_internal(program: &mut Program, visible: &[bool]) {
    let locations = program.locations.len();
    let mut graph = Graph {
        transitions: Vec::new(),
        entering: vec![Vec::new(); locations],
        leaving: vec![Vec::new(); locations],
    };
    for transition in std::mem::take(&mut program.transitions) {
        graph.add(transition);
    }
    let is_start = |at: usize| program.initial.iter().any(|r| r.location.index() == at);
    let internal: Vec<usize> = (0..locations).filter(|&i| !visible[i] && !is_start(i)).collect();
    let mut changed = true;
    while changed {
        changed = false;
        for &at in &internal {
            changed |= graph.remove(at);
        }
    }
    program.transitions = graph.transitions.into_iter().flatten().collect();
}

impl Graph {
    fn add(&mut self, transition: Transition) {
        let number = self.transitions.len();
        self.entering[transition.to.index()].push(number);
        self.leaving[transition.from.index()].push(number);
        self.transitions.push(Some(transition));
    }

    /// Replaces what goes through a location by compositions, if they are few.
    fn remove(&mut self, at: usize) -> bool {
        let Graph { transitions, entering, leaving } = self;
        entering[at].retain(|&t| transitions[t].is_some());
        leaving[at].retain(|&t| transitions[t].is_some());
        let (n, m) = (entering[at].len(), leaving[at].len());
        let has_loop = leaving[at].iter().any(|t| entering[at].contains(t));
        if has_loop || n + m == 0 || n * m > n + m + GROWTH {
            return false;
        }
        let take = |numbers: Vec<usize>, all: &mut Vec<Option<Transition>>| -> Vec<Transition> {
            numbers.into_iter().filter_map(|t| all[t].take()).collect()
        };
        let first = take(std::mem::take(&mut entering[at]), transitions);
        let second = take(std::mem::take(&mut leaving[at]), transitions);
        for a in &first {
            for b in &second {
                let Some(instruction) = a.instruction.then(&b.instruction) else { continue };
                let name = format!("{}; {}", a.name, b.name);
                self.add(Transition { name, from: a.from, to: b.to, instruction, place: a.place.clone() });
            }
        }
        true
    }
}
