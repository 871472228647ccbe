//! Minimisation of deterministic automata by refinement of partitions (Moore 1956).
//!
//! A round relabels the leaves of every transition diagram by the class of the state; two states stay
//! together if they were together and their relabelled diagrams are one node. Hopcroft's algorithm has the
//! better worst case on explicit letters; with diagrams the letters are never split, and the number of rounds
//! is the length of the shortest words that tell states apart, which is small for properties people write.

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::dfa::{Dfa, DfaState, Relabel, StateData};
use crate::bdd::{Bdd, Manager};

/// The minimal automaton of the same language; `None` if the diagrams grow past `nodes`.
pub(super) fn minimise(dfa: &Dfa, nodes: usize) -> Option<Dfa> {
    let mut classes: Vec<u32> = dfa.states.iter().map(|s| u32::from(s.accepting)).collect();
    let mut count = distinct(&classes);
    loop {
        let (finer, manager, diagrams) = refine(dfa, &classes, nodes)?;
        let finer_count = distinct(&finer);
        if finer_count == count {
            return Some(quotient(dfa, &classes, manager, &diagrams));
        }
        (classes, count) = (finer, finer_count);
    }
}

fn distinct(classes: &[u32]) -> usize {
    let mut sorted = classes.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    sorted.len()
}

/// One round: the new classes, and the diagrams over the old ones.
fn refine(dfa: &Dfa, classes: &[u32], nodes: usize) -> Option<(Vec<u32>, Manager, Vec<Bdd>)> {
    let mut manager = Manager::new(nodes);
    let mut relabel = Relabel::new(&dfa.manager, dfa.atoms);
    let mut keys: HashMap<(u32, Bdd), u32, FixedState> = HashMap::with_hasher(FixedState::default());
    let mut finer = Vec::with_capacity(classes.len());
    let mut diagrams = Vec::with_capacity(classes.len());
    for (state, &class) in dfa.states.iter().zip(classes) {
        let diagram = relabel.copy(state.diagram, &mut manager, &mut |leaf| {
            classes[(dfa.manager.variable(leaf) - dfa.atoms) as usize]
        });
        let fresh = keys.len() as u32;
        finer.push(*keys.entry((class, diagram)).or_insert(fresh));
        diagrams.push(diagram);
    }
    (!manager.exhausted()).then_some((finer, manager, diagrams))
}

/// One state per class, numbered in order of first appearance, which is breadth-first from the initial state.
fn quotient(dfa: &Dfa, classes: &[u32], from: Manager, diagrams: &[Bdd]) -> Dfa {
    let mut number: HashMap<u32, u32, FixedState> = HashMap::with_hasher(FixedState::default());
    let mut representatives = Vec::new();
    for (state, &class) in classes.iter().enumerate() {
        let fresh = number.len() as u32;
        number.entry(class).or_insert_with(|| {
            representatives.push(state);
            fresh
        });
    }
    let mut manager = Manager::new(usize::MAX);
    let mut relabel = Relabel::new(&from, dfa.atoms);
    let states = representatives
        .iter()
        .map(|&state| StateData {
            diagram: relabel
                .copy(diagrams[state], &mut manager, &mut |leaf| number[&(from.variable(leaf) - dfa.atoms)]),
            ..dfa.states[state].clone()
        })
        .collect();
    let initial = DfaState(number[&classes[dfa.initial.0 as usize]]);
    Dfa { manager, atoms: dfa.atoms, initial, states }
}
