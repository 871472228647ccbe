//! From several acceptance sets to one, with acceptance on states: the form of never claims and of nested
//! searches.
//!
//! A copy of each state waits for each set in turn; a transition moves past all the sets it satisfies, and a
//! copy that has seen them all is accepting. Sets are only counted inside accepting components, and counting
//! starts afresh in each: elsewhere one copy is enough (as in Spot's degeneralisation). A component is
//! entered as if all sets had just been seen: one visit more to an accepting state changes nothing, and often
//! saves a copy.

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::scc::components;
use super::{Automaton, Edge};

/// The same language with one acceptance set and acceptance on states.
pub fn degeneralise(mut automaton: Automaton) -> Automaton {
    let states = unfold(&automaton);
    automaton.states = states;
    automaton.initial = 0;
    automaton.sets = 1;
    automaton
}

fn unfold(automaton: &Automaton) -> Vec<Vec<Edge>> {
    let scc = components(automaton);
    let all = automaton.all_marks();
    let last = automaton.sets;
    let counting = |state: u32| scc.accepting(scc.of[state as usize], all);
    let entry = |state: u32| if counting(state) { last } else { 0 };
    let mut numbers: HashMap<(u32, u32), u32, FixedState> = HashMap::with_hasher(FixedState::default());
    let start = (automaton.initial, entry(automaton.initial));
    let mut queue = vec![start];
    numbers.insert(start, 0);
    let mut states: Vec<Vec<Edge>> = Vec::new();
    while states.len() < queue.len() {
        let (state, level) = queue[states.len()];
        let accepting = counting(state) && level == last;
        let mut edges = Vec::new();
        for edge in &automaton.states[state as usize] {
            let stays = scc.inner(state as usize, edge.target as usize) && counting(state);
            let mut reached = if level < last { level } else { 0 };
            while reached < last && edge.marks >> reached & 1 == 1 {
                reached += 1;
            }
            if !stays {
                reached = entry(edge.target);
            }
            let fresh = queue.len() as u32;
            let target = *numbers.entry((edge.target, reached)).or_insert_with(|| {
                queue.push((edge.target, reached));
                fresh
            });
            edges.push(Edge { marks: u64::from(accepting), target, ..*edge });
        }
        states.push(edges);
    }
    states
}
