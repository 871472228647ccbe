//! The steps behind a proof.

use std::collections::{HashMap, HashSet};

use volee_logic::mu::{Item as Part, LocalOp};
use volee_system::{System, collect_steps};

use super::{Explanation, Item, Proof, Transition};
use crate::model::ModelGraph;

/// A step out of a state, with its label's text.
pub(super) struct Taken {
    pub ordinal: u32,
    pub label: String,
    pub target: Vec<u8>,
}

/// All steps of a state.
pub(super) fn steps_of<S: System + ?Sized>(system: &mut S, state: &[u8]) -> Vec<Taken> {
    let steps = collect_steps(system, state);
    (0u32..)
        .zip(steps)
        .map(|(ordinal, (step, target))| Taken {
            ordinal,
            label: system.label(step.label).into_owned(),
            target,
        })
        .collect()
}

/// Fills in the states and transitions of an explanation; state 0 is `start`.
pub(super) fn collect<S: System + ?Sized>(
    graph: &mut ModelGraph<'_, S>,
    proof: &Proof,
    start: &[u8],
    explanation: &mut Explanation,
) {
    let mut numbers: HashMap<Vec<u8>, usize> = HashMap::from([(start.to_vec(), 0)]);
    explanation.states.push(start.to_vec());
    let mut seen: HashSet<(usize, u32)> = HashSet::new();
    for item in &proof.items {
        for taken in steps_behind(graph, proof, item) {
            let mut number = |state: &[u8]| {
                *numbers.entry(state.to_vec()).or_insert_with(|| {
                    explanation.states.push(state.to_vec());
                    explanation.states.len() - 1
                })
            };
            let (source, target) = (number(&item.place), number(&taken.target));
            if seen.insert((source, taken.ordinal)) {
                let Taken { ordinal, label, .. } = taken;
                explanation.transitions.push(Transition { source, ordinal, label, target });
            }
        }
    }
}

/// The steps that one item speaks of: those to the items it rests on, or the one that decides it alone.
pub(super) fn steps_behind<S: System + ?Sized>(
    graph: &mut ModelGraph<'_, S>,
    proof: &Proof,
    item: &Item,
) -> Vec<Taken> {
    let Some(equation) = graph.equations().equations.get(usize::from(item.node)).cloned() else {
        return Vec::new();
    };
    let actions = graph.equations().formula.actions.clone();
    let steps = steps_of(graph.system(), &item.place);
    if item.on.is_empty() {
        // A fact about an enabled action that agrees with the item's value: the step is the evidence.
        let facts = equation.locals.iter().flat_map(|local| &local.0);
        let evidence = facts
            .filter_map(|fact| match fact {
                LocalOp::Enabled(action, negated) if item.value != *negated => Some(usize::from(action.0)),
                _ => None,
            })
            .find_map(|action| steps.iter().position(|step| actions[action].matches(&step.label)));
        return evidence.and_then(|at| steps.into_iter().nth(at)).into_iter().collect();
    }
    let reached: HashSet<(&[u8], u16)> =
        item.on.iter().map(|i| (proof.items[*i].place.as_slice(), proof.items[*i].node)).collect();
    let mut behind = Vec::new();
    for step in steps {
        let leads = equation.items.iter().any(|part| match part {
            Part::Here(_) => false,
            Part::Step(action, node) => {
                reached.contains(&(step.target.as_slice(), *node))
                    && actions[usize::from(action.0)].matches(&step.label)
            }
        });
        if leads {
            behind.push(step);
        }
    }
    behind
}
