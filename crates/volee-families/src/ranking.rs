//! The proof that no member of a family passes an accepting place for ever, and its check.
//!
//! A finite graph over markings with ω that follows every run, and stages. A stage numbers the nodes so that
//! no edge leads to a larger number, and gives each number weights of places, each node an offset: a rank,
//! which no edge between nodes of one number raises. An edge that leads to a smaller number, or lowers the
//! rank, which is bounded from below, is taken finitely often by any run that takes only edges that are left.
//! The edges left by the last stage touch no accepting place.

use std::collections::HashMap;

use volee_nets::{Net, PlaceId, Transition, TransitionId};

use crate::certificate::OMEGA;

/// A step between nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edge {
    /// Where it begins.
    pub from: u32,
    /// The transition.
    pub by: TransitionId,
    /// A node that is at least what the transition makes of the first.
    pub to: u32,
}

/// One level of a lexicographic rank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stage {
    /// A number for each node, which no edge raises.
    pub component: Vec<u32>,
    /// For some of these numbers, ascending, the weights of places; none for the others, whose rank stays as
    /// it is.
    pub weights: Vec<(u32, Vec<(u32, i64)>)>,
    /// For each node what is added.
    pub offsets: Vec<i64>,
}

/// The proof.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ranking {
    /// Markings with ω.
    pub nodes: Vec<Vec<u32>>,
    /// A step for each transition that a node allows.
    pub edges: Vec<Edge>,
    /// The levels, the first one first.
    pub stages: Vec<Stage>,
}

impl Stage {
    /// What an edge inside a number adds to its rank.
    pub(crate) fn change(&self, net: &Net, edge: &Edge) -> i64 {
        let number = self.component[edge.from as usize];
        let own =
            self.weights.binary_search_by_key(&number, |w| w.0).map_or(&[][..], |at| &self.weights[at].1);
        let mut sum = self.offsets[edge.to as usize] - self.offsets[edge.from as usize];
        for row in &net.transitions[edge.by.index()].rows {
            if let Some((_, weight)) = own.iter().find(|w| w.0 == row.place.0) {
                sum += weight * row.constant;
            }
        }
        sum
    }
}

impl Ranking {
    /// Checks the proof against a net of ordinary transitions.
    ///
    /// # Errors
    /// In words, what is missing.
    pub fn check(&self, net: &Net, accepting: &[PlaceId]) -> Result<(), String> {
        let wrong = |what: &str| Err(format!("the ranking is no proof: {what}"));
        if !net.transitions.iter().all(Transition::is_plain) {
            return wrong("the net has transfers");
        }
        let starts = net.initial.iter().all(|initial| {
            let below = |node: &Vec<u32>| {
                let each = initial.base.iter().zip(&initial.open).zip(node);
                each.into_iter().all(|((&base, &open), &n)| n == OMEGA || (!open && base <= n))
            };
            self.nodes.iter().any(below)
        });
        if !starts {
            return wrong("it does not begin where the family does");
        }
        if !self.follows(net) {
            return wrong("a step leads out of it");
        }
        let mut left: Vec<&Edge> = self.edges.iter().collect();
        for stage in &self.stages {
            if stage.weights.iter().flat_map(|(_, w)| w).any(|(_, weight)| *weight < 0) {
                return wrong("a weight is negative");
            }
            let number = |node: u32| stage.component.get(node as usize).copied().unwrap_or(u32::MAX);
            let mut next = Vec::new();
            for edge in left {
                if number(edge.to) > number(edge.from) {
                    return wrong("a step leads upwards");
                }
                if number(edge.to) < number(edge.from) {
                    continue;
                }
                match stage.change(net, edge) {
                    ..0 => {}
                    0 => next.push(edge),
                    _ => return wrong("a step raises the rank"),
                }
            }
            left = next;
        }
        let touches = |node: u32| accepting.iter().any(|p| self.nodes[node as usize][p.index()] > 0);
        match left.iter().any(|e| touches(e.from) || touches(e.to)) {
            true => wrong("an accepting place may recur"),
            false => Ok(()),
        }
    }

    fn follows(&self, net: &Net) -> bool {
        let to: HashMap<(u32, u32), u32> = self.edges.iter().map(|e| ((e.from, e.by.0), e.to)).collect();
        let mut all = true;
        for (n, node) in self.nodes.iter().enumerate() {
            for (t, transition) in net.transitions.iter().enumerate() {
                if transition.at_least.iter().any(|b| node[b.place.index()] < b.tokens) {
                    continue;
                }
                let Some(after) = to.get(&(n as u32, t as u32)).and_then(|&m| self.nodes.get(m as usize))
                else {
                    return false;
                };
                let mut least: Vec<i64> =
                    node.iter().map(|&k| if k == OMEGA { i64::MAX } else { i64::from(k) }).collect();
                for row in &transition.rows {
                    let k = &mut least[row.place.index()];
                    *k = if *k == i64::MAX { *k } else { *k + row.constant };
                }
                all &= least.iter().zip(after).all(|(&k, &n)| n == OMEGA || k <= i64::from(n));
            }
        }
        all
    }
}
