//! What a certificate rests on, told to people: a proof graph, the transitions behind it, a run where it is
//! one, words.
//!
//! A proof graph has one item per variable that the checker walked, with the items it rests on. Items of one
//! state together are that state; an item that rests on one in a next state stands for the step between them.
//! The transitions so found form the diagnostic of the report (section 3.2): a part of the system that alone
//! shows why the formula is true, or why it is false.

mod excerpt;
mod export;
mod steps;
mod words;

use std::collections::HashMap;

use volee_system::{Flow, Label, System, Witness};

pub(crate) use self::excerpt::stands_alone;
pub use self::export::{to_aut, to_dot};
use crate::certificate::Collector;
use crate::game::{Built, Player, Winning};
use crate::graph::{BooleanGraph, Node, Operator};
use crate::model::ModelGraph;
use crate::solve::Solution;

/// A variable of a proof.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// Its place.
    pub place: Vec<u8>,
    /// Its node.
    pub node: Node,
    /// Its value.
    pub value: bool,
    /// The items it rests on.
    pub on: Vec<usize>,
}

/// Why the main variable, item 0, has its value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Proof {
    /// The items.
    pub items: Vec<Item>,
    /// Whether all items that others rest on are there; if not, the proof was too large to be kept.
    pub complete: bool,
}

/// Keeps what the checker walks, up to a number of variables.
pub(crate) struct Keeper {
    kept: Vec<(u32, bool, Vec<u32>)>,
    most: usize,
    complete: bool,
}

impl Keeper {
    pub fn new(most: usize) -> Self {
        Keeper { kept: Vec::new(), most, complete: true }
    }

    /// The proof that was walked.
    pub fn proof(self, solution: &Solution) -> Proof {
        let index: HashMap<u32, usize> = self.kept.iter().enumerate().map(|(i, (v, ..))| (*v, i)).collect();
        let mut items = Vec::with_capacity(self.kept.len());
        for (variable, value, on) in &self.kept {
            let mut place = Vec::new();
            let node = solution.variable(*variable, &mut place);
            let on = on.iter().filter_map(|v| index.get(v).copied()).collect();
            items.push(Item { place, node, value: *value, on });
        }
        Proof { items, complete: self.complete }
    }
}

impl Collector for Keeper {
    fn support(&mut self, variable: u32, value: bool, on: &[u32]) -> Flow {
        if self.kept.len() >= self.most {
            self.complete = false;
            return Flow::Break(());
        }
        self.kept.push((variable, value, on.to_vec()));
        Flow::Continue(())
    }
}

/// The proof that a winning strategy of a parity game is, from vertex 0, up to `most` vertices.
pub(crate) fn proof_of_game(built: &Built, winning: &Winning, most: usize) -> Proof {
    let player = winning.winner[0];
    let mut index: HashMap<u32, usize> = HashMap::from([(0, 0)]);
    let mut order = vec![0];
    let mut proof = Proof { items: Vec::new(), complete: true };
    while let Some(&vertex) = order.get(proof.items.len()) {
        let owned = built.game.owner(vertex) == player;
        let moves = match owned {
            true => std::slice::from_ref(&winning.strategy[vertex as usize]),
            false => built.game.successors(vertex),
        };
        let mut on = Vec::new();
        for &w in moves {
            if let Some(&known) = index.get(&w) {
                on.push(known);
            } else if order.len() < most {
                index.insert(w, order.len());
                on.push(order.len());
                order.push(w);
            } else {
                proof.complete = false;
            }
        }
        let mut place = Vec::new();
        let node = built.variable(vertex, &mut place);
        proof.items.push(Item { place, node, value: player == Player::Even, on });
    }
    proof
}

/// A step that a proof speaks of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transition {
    /// The state before, by its number in [`Explanation::states`].
    pub source: usize,
    /// Which of its steps.
    pub ordinal: u32,
    /// The label as the system knows it.
    pub id: Label,
    /// The label's text.
    pub label: String,
    /// The state after.
    pub target: usize,
}

/// A proof as a part of the system, and in words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Explanation {
    /// The states that the proof speaks of; 0 is the initial one it starts in.
    pub states: Vec<Vec<u8>>,
    /// Which initial state of the system state 0 is.
    pub initial: u32,
    /// The steps.
    pub transitions: Vec<Transition>,
    /// Whether the whole proof is here: these states and steps alone give the formula the same value.
    pub complete: bool,
    /// The run from the initial state along which there is no choice: all of the proof when `linear`.
    pub run: Witness,
    /// Whether the proof is one run.
    pub linear: bool,
    /// The reasons for the outermost operators, a sentence each.
    pub why: Vec<String>,
}

/// Explains a proof.
pub fn explain<S: System + ?Sized>(graph: &mut ModelGraph<'_, S>, proof: &Proof) -> Explanation {
    let mut explanation = Explanation { complete: proof.complete, ..Explanation::default() };
    let Some(start) = proof.items.first() else { return explanation };
    // With several initial states, a false answer names the one that fails; a true one starts anywhere.
    let start = match graph.conjunction_of_initial() == Some(start.node) {
        true => start.on.first().map_or(start, |first| &proof.items[*first]),
        false => start,
    };
    let initial = graph.initial().iter().position(|state| *state == start.place);
    explanation.initial = initial.and_then(|i| u32::try_from(i).ok()).unwrap_or(0);
    steps::collect(graph, proof, &start.place, &mut explanation);
    let (run, linear) = run_of(&explanation);
    explanation.linear = linear && proof.complete;
    explanation.run = run;
    explanation.why = words::why(graph, proof);
    explanation
}

/// Follows the transitions from state 0 while there is only one way to go.
fn run_of(explanation: &Explanation) -> (Witness, bool) {
    let mut outgoing: Vec<Vec<usize>> = vec![Vec::new(); explanation.states.len()];
    for (at, transition) in explanation.transitions.iter().enumerate() {
        outgoing[transition.source].push(at);
    }
    let mut run = Witness { initial: explanation.initial, ..Witness::default() };
    let mut position: HashMap<usize, usize> = HashMap::new();
    let mut state = 0;
    loop {
        position.insert(state, run.steps.len());
        let [only] = outgoing[state][..] else {
            return (run, outgoing[state].is_empty());
        };
        let transition = &explanation.transitions[only];
        run.steps.push(transition.ordinal);
        state = transition.target;
        if let Some(&start) = position.get(&state) {
            run.loop_start = Some(start);
            return (run, true);
        }
    }
}

/// Whether one item decides this one, as for a disjunction that is true.
fn chooses<S: System + ?Sized>(graph: &ModelGraph<'_, S>, item: &Item) -> bool {
    let (operator, _) = graph.equation(&item.place, item.node);
    item.value == (operator == Operator::Or)
}
