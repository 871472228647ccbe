//! Are two systems bisimilar? As a boolean graph, on the fly, over pairs of states.
//!
//! A pair is a greatest fixed point: every step of one side must be answered by the other, into a pair again
//! (the encoding of Andersen and Vergauwen that the report cites in its introduction). Answers are single
//! steps for strong bisimulation, and steps between internal ones for weak bisimulation; an internal step may
//! then be answered by none. A difference near the initial states is found without exploring either system as
//! a whole.

use std::collections::HashMap;

use volee_system::{Label, System, collect_initial, collect_steps};

use crate::graph::{BooleanGraph, Node, Operator, Sign, Successors, Trouble};

/// The relations that are checked this way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// Every step counts.
    Strong,
    /// Internal steps (`i`, `tau`) may come in any number between visible ones, or instead of none.
    Weak,
}

/// Nodes: the pair, and the two ways in which one side has moved and waits for the other's answer.
const PAIR: Node = 0;
const LEFT_MOVED: Node = 1;
const RIGHT_MOVED: Node = 2;

const INTERNAL: u32 = 0;

/// Two systems as a boolean graph: the main variable is true if their initial states are related.
pub struct PairGraph<'s> {
    left: &'s mut dyn System,
    right: &'s mut dyn System,
    relation: Relation,
    labels: HashMap<String, u32>,
    /// The common number of each label, per side.
    known: [HashMap<Label, u32>; 2],
}

/// Steps with common label numbers.
type Moves = Vec<(u32, Vec<u8>)>;

impl<'s> PairGraph<'s> {
    /// Two systems to be compared.
    pub fn new(left: &'s mut dyn System, right: &'s mut dyn System, relation: Relation) -> Self {
        let labels = HashMap::from([("i".to_string(), INTERNAL), ("tau".to_string(), INTERNAL)]);
        PairGraph { left, right, relation, labels, known: [HashMap::new(), HashMap::new()] }
    }

    fn moves(&mut self, side: usize, state: &[u8]) -> Moves {
        let system: &mut dyn System = if side == 0 { self.left } else { self.right };
        let steps = collect_steps(system, state);
        let mut moves = Vec::with_capacity(steps.len());
        for (step, target) in steps {
            let label = *self.known[side].entry(step.label).or_insert_with(|| {
                let fresh = self.labels.len() as u32;
                *self.labels.entry(system.label(step.label).into_owned()).or_insert(fresh)
            });
            moves.push((label, target));
        }
        moves.sort_unstable();
        moves.dedup();
        moves
    }

    /// The states that internal steps lead to, with the state itself first.
    fn closure(&mut self, side: usize, states: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
        let mut all = states;
        let mut at = 0;
        while at < all.len() {
            for (label, target) in self.moves(side, &all[at].clone()) {
                if label == INTERNAL && !all.contains(&target) {
                    all.push(target);
                }
            }
            at += 1;
        }
        all
    }

    /// How a side can answer a step with this label.
    fn answers(&mut self, side: usize, state: &[u8], label: u32) -> Vec<Vec<u8>> {
        if self.relation == Relation::Strong {
            let moves = self.moves(side, state).into_iter();
            return moves.filter(|(l, _)| *l == label).map(|(_, target)| target).collect();
        }
        let before = self.closure(side, vec![state.to_vec()]);
        if label == INTERNAL {
            return before;
        }
        let mut after: Vec<Vec<u8>> = Vec::new();
        for state in before {
            for (l, target) in self.moves(side, &state) {
                if l == label && !after.contains(&target) {
                    after.push(target);
                }
            }
        }
        self.closure(side, after)
    }
}

/// A label and two states, the length of the first in front.
fn pack(label: u32, left: &[u8], right: &[u8]) -> Vec<u8> {
    let mut place = Vec::with_capacity(6 + left.len() + right.len());
    place.extend_from_slice(&label.to_le_bytes());
    place.extend_from_slice(&(left.len() as u16).to_le_bytes());
    place.extend_from_slice(left);
    place.extend_from_slice(right);
    place
}

fn unpack(place: &[u8]) -> (u32, &[u8], &[u8]) {
    let label = u32::from_le_bytes([place[0], place[1], place[2], place[3]]);
    let length = usize::from(u16::from_le_bytes([place[4], place[5]]));
    let (left, right) = place[6..].split_at(length);
    (label, left, right)
}

fn only_initial(system: &mut dyn System) -> Result<Vec<u8>, Trouble> {
    let mut initial = collect_initial(system);
    match (initial.pop(), initial.is_empty()) {
        (Some(state), true) => Ok(state),
        (None, _) => Err(Trouble("the system has no initial state".into())),
        (Some(_), false) => Err(Trouble("only systems with one initial state can be compared".into())),
    }
}

impl BooleanGraph for PairGraph<'_> {
    fn root(&mut self) -> Result<(Vec<u8>, Node), Trouble> {
        let (left, right) = (only_initial(self.left)?, only_initial(self.right)?);
        if left.len() > usize::from(u16::MAX) / 2 || right.len() > usize::from(u16::MAX) / 2 {
            return Err(Trouble("states of more than 32 kB cannot be compared".into()));
        }
        Ok((pack(INTERNAL, &left, &right), PAIR))
    }

    fn blocks(&self) -> &[Sign] {
        &[Sign::Nu]
    }

    fn nodes(&self) -> Node {
        3
    }

    fn equation(&self, _: &[u8], node: Node) -> (Operator, u16) {
        (if node == PAIR { Operator::And } else { Operator::Or }, 0)
    }

    fn successors(&mut self, place: &[u8], node: Node, sink: &mut dyn Successors) -> Result<(), Trouble> {
        let (label, left, right) = unpack(place);
        let mut pushed: Vec<(Vec<u8>, Node)> = Vec::new();
        match node {
            PAIR => {
                for (label, target) in self.moves(0, left) {
                    pushed.push((pack(label, &target, right), LEFT_MOVED));
                }
                for (label, target) in self.moves(1, right) {
                    pushed.push((pack(label, left, &target), RIGHT_MOVED));
                }
            }
            LEFT_MOVED => {
                for answer in self.answers(1, right, label) {
                    pushed.push((pack(INTERNAL, left, &answer), PAIR));
                }
            }
            _ => {
                for answer in self.answers(0, left, label) {
                    pushed.push((pack(INTERNAL, &answer, right), PAIR));
                }
            }
        }
        for (place, node) in pushed {
            if sink.variable(&place, node).is_break() {
                break;
            }
        }
        Ok(())
    }
}
