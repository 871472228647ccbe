//! "Why" in words, for the outermost operators of a proof.

use std::collections::HashSet;

use volee_system::System;

use super::steps::{Taken, steps_behind, steps_of};
use super::{Proof, chooses};
use crate::model::ModelGraph;

/// More sentences than this nobody reads.
const MOST_SENTENCES: usize = 8;

/// Why a formula has its value when it rests on nothing that a step leads to.
fn reason_on_the_spot(formula: &str, possible: &[Taken]) -> String {
    if formula.contains('{') {
        return "the values of the variables there decide it".into();
    }
    let mut labels: Vec<&str> = Vec::new();
    for step in possible {
        if !labels.contains(&step.label.as_str()) {
            labels.push(&step.label);
        }
    }
    match labels[..] {
        [] => "no step is possible there".into(),
        [only] => format!("the only step that is possible there is `{only}`"),
        [a, b] => format!("the only steps that are possible there are `{a}` and `{b}`"),
        [a, b, ..] => format!("the steps that are possible there are others: `{a}`, `{b}` and so on"),
    }
}

/// Follows a proof from its start while one item rests on one other.
pub(super) fn why<S: System + ?Sized>(graph: &mut ModelGraph<'_, S>, proof: &Proof) -> Vec<String> {
    let mut sentences = Vec::new();
    let mut seen = HashSet::new();
    let mut at = 0;
    let mut place_name = "in the initial state".to_string();
    while sentences.len() < MOST_SENTENCES {
        let item = &proof.items[at];
        let Some(equation) = graph.equations().equations.get(usize::from(item.node)) else {
            let (count, which) = (graph.initial().len(), &item.on);
            if item.value {
                return vec![format!("the formula is true in all {count} initial states")];
            }
            sentences.push(format!(
                "there are {count} initial states, and the formula must be true in all of them"
            ));
            let Some(&next) = which.first() else { return sentences };
            place_name = "in one of them".into();
            at = next;
            continue;
        };
        let formula = graph.equations().formula.describe(equation.node);
        if !seen.insert(at) {
            let word = if item.value { "for ever" } else { "for ever, so it never becomes true" };
            sentences.push(format!("this repeats {word}"));
            return sentences;
        }
        let behind = steps_behind(graph, proof, item);
        let steps = if item.on.is_empty() { behind.evidence } else { behind.moves };
        let claim = format!("{place_name} `{formula}` is {}", item.value);
        match (&item.on[..], &steps[..]) {
            ([], []) => {
                let possible = steps_of(graph.system(), &item.place);
                sentences.push(format!("{claim}: {}", reason_on_the_spot(&formula, &possible)));
                return sentences;
            }
            ([], [step]) => {
                sentences.push(format!("{claim}: the step `{}` is possible there", step.label));
                return sentences;
            }
            ([], steps) => {
                let labels: Vec<String> = steps.iter().map(|step| format!("`{}`", step.label)).collect();
                let (last, first) = labels.split_last().expect("an empty list was looked at before");
                let first = first.join(", ");
                sentences.push(format!("{claim}: the steps {first} and {last} are possible there"));
                return sentences;
            }
            ([next], []) => {
                let (next_item, part) = (&proof.items[*next], *next);
                let inner = graph
                    .equations()
                    .equations
                    .get(usize::from(next_item.node))
                    .map(|e| graph.equations().formula.describe(e.node))
                    .unwrap_or_default();
                sentences.push(format!("{claim}, because `{inner}` is"));
                at = part;
            }
            ([next], [step, ..]) if chooses(graph, item) => {
                sentences.push(format!("{claim}, because of the step `{}`", step.label));
                place_name = format!("after `{}`", step.label);
                at = *next;
            }
            (on, steps) => {
                let what = match steps.len() {
                    0 => format!("all of its {} parts are", on.len()),
                    1 if on.len() == 1 => format!(
                        "the only step that matters, `{}`, leads to a state that agrees",
                        steps[0].label
                    ),
                    n if n == on.len() => format!("all {n} steps that matter lead to states that agree"),
                    n => format!("all of its {} parts are, {n} of them after a step", on.len()),
                };
                sentences.push(format!("{claim}: {what}"));
                if let ([next], [step]) = (on, steps) {
                    place_name = format!("after `{}`", step.label);
                    at = *next;
                    continue;
                }
                return sentences;
            }
        }
    }
    sentences
}
