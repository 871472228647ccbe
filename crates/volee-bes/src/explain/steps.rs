//! The steps behind a proof.

use std::collections::{HashMap, HashSet};

use volee_logic::mu::{Action, Equation, Item as Part, Local, LocalOp, Operator};
use volee_system::{Label, System, collect_steps};

use super::{Explanation, Item, Proof, Transition, chooses};
use crate::model::ModelGraph;

/// A step out of a state, with its label's text.
pub(super) struct Taken {
    pub ordinal: u32,
    pub id: Label,
    /// What patterns may call it.
    pub names: Vec<String>,
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
            id: step.label,
            names: system.names(step.label),
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
        let behind = steps_behind(graph, proof, item);
        for taken in behind.moves.into_iter().chain(behind.evidence) {
            let mut number = |state: &[u8]| {
                *numbers.entry(state.to_vec()).or_insert_with(|| {
                    explanation.states.push(state.to_vec());
                    explanation.states.len() - 1
                })
            };
            let (source, target) = (number(&item.place), number(&taken.target));
            if seen.insert((source, taken.ordinal)) {
                let Taken { ordinal, id, label, .. } = taken;
                explanation.transitions.push(Transition { source, ordinal, id, label, target });
            }
        }
    }
}

/// The steps that one item speaks of.
pub(super) struct Behind {
    /// Those to the items it rests on.
    pub moves: Vec<Taken>,
    /// Those without which a fact about the state's own steps would have another value.
    pub evidence: Vec<Taken>,
}

/// The steps that one item needs: with these alone, and any others that the system has there, it keeps its
/// value.
pub(super) fn steps_behind<S: System + ?Sized>(
    graph: &mut ModelGraph<'_, S>,
    proof: &Proof,
    item: &Item,
) -> Behind {
    let Some(equation) = graph.equations().equations.get(usize::from(item.node)).cloned() else {
        return Behind { moves: Vec::new(), evidence: Vec::new() };
    };
    let actions = graph.equations().formula.actions.clone();
    let steps = steps_of(graph.system(), &item.place);
    let mut needed = vec![false; steps.len()];
    for at in evidence(graph, &equation, item, &actions, &steps) {
        needed[at] = true;
    }
    let reached: HashSet<(&[u8], u16)> =
        item.on.iter().map(|i| (proof.items[*i].place.as_slice(), proof.items[*i].node)).collect();
    let leads = |step: &Taken| {
        equation.items.iter().any(|part| match part {
            Part::Here(_) => false,
            Part::Step(action, node) => {
                reached.contains(&(step.target.as_slice(), *node))
                    && actions[usize::from(action.0)].matches(&step.names)
            }
        })
    };
    let (moves, others): (Vec<_>, Vec<_>) = steps.into_iter().zip(needed).partition(|(step, _)| leads(step));
    Behind {
        moves: moves.into_iter().map(|(step, _)| step).collect(),
        evidence: others.into_iter().filter(|(_, needed)| *needed).map(|(step, _)| step).collect(),
    }
}

/// The steps, by their index, that the facts behind an item rest on. Where one fact decides, the one that
/// needs fewest.
fn evidence<S: System + ?Sized>(
    graph: &mut ModelGraph<'_, S>,
    equation: &Equation,
    item: &Item,
    actions: &[Action],
    steps: &[Taken],
) -> Vec<usize> {
    let one_decides = chooses(graph, item);
    if one_decides && !item.on.is_empty() {
        return Vec::new();
    }
    let facts: Vec<Fact> =
        equation.locals.iter().map(|local| fact(graph, local, item, actions, steps)).collect();
    if one_decides {
        let deciding = facts.into_iter().filter(|fact| fact.value == item.value);
        return deciding.map(|fact| fact.steps).min_by_key(Vec::len).unwrap_or_default();
    }
    facts.into_iter().flat_map(|fact| fact.steps).collect()
}

/// A part of a local expression: its value, and steps that alone give it that value.
struct Fact {
    value: bool,
    steps: Vec<usize>,
}

/// Absence needs no steps: a state with fewer of them cannot do more.
fn fact<S: System + ?Sized>(
    graph: &mut ModelGraph<'_, S>,
    local: &Local,
    item: &Item,
    actions: &[Action],
    steps: &[Taken],
) -> Fact {
    let nothing = |value| Fact { value, steps: Vec::new() };
    let mut stack: Vec<Fact> = Vec::new();
    for op in &local.0 {
        let fact = match *op {
            LocalOp::Constant(value) => nothing(value),
            LocalOp::Predicate(index, negated) => {
                nothing(graph.predicate_holds(index, &item.place) != negated)
            }
            LocalOp::Enabled(action, negated) => {
                let at = steps.iter().position(|step| actions[usize::from(action.0)].matches(&step.names));
                Fact { value: at.is_some() != negated, steps: at.into_iter().collect() }
            }
            LocalOp::Join(operator) => {
                let (b, a) = (stack.pop().unwrap_or(nothing(false)), stack.pop().unwrap_or(nothing(false)));
                joined(operator, a, b)
            }
        };
        stack.push(fact);
    }
    stack.pop().unwrap_or(nothing(false))
}

fn joined(operator: Operator, a: Fact, b: Fact) -> Fact {
    let decides = operator.deciding();
    match (a.value == decides, b.value == decides) {
        (true, true) if b.steps.len() < a.steps.len() => b,
        (true, _) => a,
        (_, true) => b,
        _ => Fact { value: !decides, steps: a.steps.into_iter().chain(b.steps).collect() },
    }
}
