//! Emptiness of the intersection of two automata: the cross-check that a formula and its negation exclude
//! each other.

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::scc::components;
use super::{Automaton, Edge};
use crate::bdd::Bdd;

/// Whether no word is accepted by both. The atoms must be the same, and the sets together at most 64.
pub fn intersection_is_empty(mut a: Automaton, b: &mut Automaton) -> bool {
    debug_assert_eq!(a.atoms, b.atoms);
    let mut numbers: HashMap<(u32, u32), u32, FixedState> = HashMap::with_hasher(FixedState::default());
    let mut queue = vec![(a.initial, b.initial)];
    numbers.insert((a.initial, b.initial), 0);
    let mut states = Vec::new();
    while states.len() < queue.len() {
        let (p, q) = queue[states.len()];
        let mut edges = Vec::new();
        for i in 0..a.states[p as usize].len() {
            for j in 0..b.states[q as usize].len() {
                let (e, f) = (a.states[p as usize][i], b.states[q as usize][j]);
                if !overlap(&a, e.guard, b, f.guard) {
                    continue;
                }
                let fresh = queue.len() as u32;
                let target = *numbers.entry((e.target, f.target)).or_insert_with(|| {
                    queue.push((e.target, f.target));
                    fresh
                });
                edges.push(Edge { guard: Bdd::TRUE, marks: e.marks | f.marks << a.sets, target });
            }
        }
        states.push(edges);
    }
    a.sets += b.sets;
    a.initial = 0;
    a.states = states;
    let scc = components(&a);
    !(0..scc.marks.len() as u32).any(|c| scc.accepting(c, a.all_marks()))
}

/// Whether two functions of different managers have a letter in common.
fn overlap(a: &Automaton, f: Bdd, b: &Automaton, g: Bdd) -> bool {
    let mut stack = vec![(f, g)];
    while let Some((f, g)) = stack.pop() {
        if f == Bdd::FALSE || g == Bdd::FALSE {
            continue;
        }
        if f == Bdd::TRUE || g == Bdd::TRUE {
            return true;
        }
        let top = a.manager.variable(f).min(b.manager.variable(g));
        let (f0, f1) = a.manager.split(f, top);
        let (g0, g1) = b.manager.split(g, top);
        stack.extend([(f0, g0), (f1, g1)]);
    }
    false
}
