//! One instance of a net: a concrete initial marking.
//!
//! Violations are replayed here, with the guards and targets exactly as the model has them (upper bounds
//! included), whatever the engine that found them had relaxed. The search of an instance is also the
//! obviously right twin that the tests compare the engines with.

use std::collections::{HashMap, VecDeque};

use volee_nets::{Fired, Net, TransitionId};
use volee_system::Witness;

use crate::answer::Counterexample;

/// Turns a counterexample into a witness of its [`Instance`](volee_nets::Instance), after firing it and
/// looking at its last marking.
///
/// # Errors
/// In words: which step cannot be taken, or that the end is not bad.
pub fn witness(net: &Net, example: &Counterexample) -> Result<Witness, String> {
    let initial = net.initial.get(example.initial).ok_or("there is no such initial marking")?;
    let fits = initial
        .base
        .iter()
        .zip(&initial.open)
        .zip(&example.marking)
        .all(|((&b, &o), &m)| m == b || (o && m > b));
    if !fits || example.marking.len() != net.places.len() {
        return Err("the first marking is not an initial one".into());
    }
    let mut marking = example.marking.clone();
    let mut after = Vec::new();
    let mut steps = Vec::with_capacity(example.trace.len());
    for (at, &t) in example.trace.iter().enumerate() {
        let enabled_before = net.transitions[..t.index()]
            .iter()
            .filter(|t| t.fire_into(&marking, &mut after) != Fired::No)
            .count();
        steps.push(u32::try_from(enabled_before).unwrap_or(u32::MAX));
        marking = net.transitions[t.index()]
            .fire(&marking)
            .ok_or_else(|| format!("step {} ({}) is not enabled", at + 1, net.transitions[t.index()].name))?;
    }
    if !net.targets.get(example.target).is_some_and(|t| t.contains(&marking)) {
        return Err("the run does not end in a bad marking".into());
    }
    Ok(Witness { initial: 0, steps, loop_start: None })
}

/// What the search of one instance found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// A shortest run to this target.
    Bad {
        /// The run.
        trace: Vec<TransitionId>,
        /// The target.
        target: usize,
    },
    /// All markings were seen and none is bad.
    Nothing,
    /// There are more markings than allowed.
    TooMany,
}

/// Searches the instance that starts in `marking` breadth first, storing at most `limit` markings.
pub fn search_instance(net: &Net, marking: &[u32], limit: usize) -> Found {
    let bad = |m: &[u32]| net.targets.iter().position(|t| t.contains(m));
    let mut parents: Vec<(u32, u32)> = vec![(0, 0)];
    let mut seen: HashMap<Vec<u32>, u32> = HashMap::from([(marking.to_vec(), 0)]);
    let mut queue: VecDeque<(Vec<u32>, u32)> = VecDeque::from([(marking.to_vec(), 0)]);
    if let Some(target) = bad(marking) {
        return Found::Bad { trace: Vec::new(), target };
    }
    let mut after = Vec::new();
    while let Some((now, id)) = queue.pop_front() {
        for (t, transition) in net.transitions.iter().enumerate() {
            match transition.fire_into(&now, &mut after) {
                Fired::No => continue,
                Fired::TooMany => return Found::TooMany,
                Fired::Yes if seen.contains_key(&after) => continue,
                Fired::Yes => {}
            }
            let new = parents.len() as u32;
            parents.push((id, t as u32));
            if let Some(target) = bad(&after) {
                return Found::Bad { trace: path(&parents, new), target };
            }
            if parents.len() >= limit {
                return Found::TooMany;
            }
            seen.insert(after.clone(), new);
            queue.push_back((after.clone(), new));
        }
    }
    Found::Nothing
}

fn path(parents: &[(u32, u32)], mut at: u32) -> Vec<TransitionId> {
    let mut trace = Vec::new();
    while at != 0 {
        let (parent, transition) = parents[at as usize];
        trace.push(TransitionId(transition));
        at = parent;
    }
    trace.reverse();
    trace
}
