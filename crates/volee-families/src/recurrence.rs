//! Liveness of families: can some member, of whatever size, pass an accepting place for ever? (Repeated
//! coverability.)
//!
//! German and Sistla (1992) reduce temporal formulas over families of identical processes to this question of
//! vector addition systems. The Karp–Miller graph, equal markings being one node, follows every run. A run
//! for ever ends in one of its components, where the places with ω are the same everywhere, and by Dickson's
//! lemma passes some node twice, an accepting one between, without having lost a token. So the answer is no
//! iff no component has a closed walk through an accepting node whose effect is nowhere negative. By Farkas
//! that is so iff weights of places and offsets of nodes exist whose sum no edge of the component raises, and
//! some edges lower: these are taken finitely often, and what is left falls into smaller components. The
//! weights are guessed in floating point, rounded, and believed by [`Ranking::check`] alone, which shares
//! nothing with the search. Where no weights are found some member has such a run, which an explicit search
//! must show.

use std::collections::HashMap;

use volee_nets::{MAX_TOKENS, Net, PlaceId, TransitionId};
use volee_system::{Limit, Meter};

use crate::certificate::OMEGA;
use crate::components::components;
use crate::omega_tree::fire;
use crate::ranking::{Edge, Ranking, Stage};
use crate::simplex::Simplex;

/// A linear program with more cells than this is not set up.
const MAX_CELLS: usize = 8_000_000;

/// The answer for all members at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recurrence {
    /// No member passes an accepting place for ever; the ranking proves it and was checked.
    Never(Box<Ranking>),
    /// Some member does, or so it seems.
    Somewhere,
    /// A limit was reached first.
    Unknown(Limit),
}

/// Decides whether some member passes one of the accepting places again and again.
pub fn recurrence(net: &Net, accepting: &[PlaceId], meter: &Meter) -> Recurrence {
    if !net.transitions.iter().all(volee_nets::Transition::is_plain) {
        let message = "what happens for ever is for nets without transfers and resets".into();
        return Recurrence::Unknown(Limit::Other { message });
    }
    let mut graph = Graph { net, nodes: Vec::new(), parents: Vec::new(), edges: Vec::new() };
    if let Err(limit) = graph.grow(meter) {
        return Recurrence::Unknown(limit);
    }
    let is_accepting = |node: &Vec<u32>| accepting.iter().any(|p| node[p.index()] > 0);
    let marked: Vec<bool> = graph.nodes.iter().map(is_accepting).collect();
    match graph.stages(&marked, meter) {
        Ok(Some(stages)) => {
            let ranking = Ranking { nodes: graph.nodes, edges: graph.edges, stages };
            match ranking.check(net, accepting) {
                Ok(()) => Recurrence::Never(Box::new(ranking)),
                Err(message) => Recurrence::Unknown(Limit::Other { message }),
            }
        }
        Ok(None) => Recurrence::Somewhere,
        Err(limit) => Recurrence::Unknown(limit),
    }
}

/// The Karp–Miller graph.
struct Graph<'n> {
    net: &'n Net,
    nodes: Vec<Vec<u32>>,
    /// By whom each node was found; itself where nobody has.
    parents: Vec<u32>,
    edges: Vec<Edge>,
}

impl Graph<'_> {
    fn grow(&mut self, meter: &Meter) -> Result<(), Limit> {
        let net = self.net;
        let mut known: HashMap<Vec<u32>, u32> = HashMap::new();
        for initial in &net.initial {
            let open = initial.base.iter().zip(&initial.open);
            let marking: Vec<u32> = open.map(|(&n, &open)| if open { OMEGA } else { n }).collect();
            self.node(marking, None, &mut known);
        }
        let mut at = 0;
        while at < self.nodes.len() {
            let bytes = (self.nodes.len() * (net.places.len() * 8 + 96) + self.edges.len() * 12) as u64;
            meter.check()?;
            meter.check_memory(bytes, || format!("{} markings", self.nodes.len()))?;
            for (number, transition) in net.transitions.iter().enumerate() {
                let Some(mut after) = fire(transition, &self.nodes[at]) else { continue };
                self.accelerate(at as u32, &mut after);
                if after.iter().any(|&n| n != OMEGA && n > MAX_TOKENS) {
                    let message = format!("a place holds more than {MAX_TOKENS} tokens");
                    return Err(Limit::Other { message });
                }
                let to = self.node(after, Some(at as u32), &mut known);
                self.edges.push(Edge { from: at as u32, by: TransitionId(number as u32), to });
            }
            at += 1;
        }
        Ok(())
    }

    fn node(&mut self, marking: Vec<u32>, parent: Option<u32>, known: &mut HashMap<Vec<u32>, u32>) -> u32 {
        let next = self.nodes.len() as u32;
        let id = *known.entry(marking.clone()).or_insert(next);
        if id == next {
            self.nodes.push(marking);
            self.parents.push(parent.unwrap_or(next));
        }
        id
    }

    /// Makes ω of what has grown since an ancestor.
    fn accelerate(&self, from: u32, marking: &mut [u32]) {
        let mut at = from;
        loop {
            let ancestor = &self.nodes[at as usize];
            if ancestor.iter().zip(marking.iter()).all(|(a, m)| a <= m) {
                for (a, m) in ancestor.iter().zip(marking.iter_mut()) {
                    if *a < *m {
                        *m = OMEGA;
                    }
                }
            }
            let parent = self.parents[at as usize];
            if parent == at {
                return;
            }
            at = parent;
        }
    }

    /// Rankings until no component has an accepting node; `None` where there are none.
    fn stages(&self, accepting: &[bool], meter: &Meter) -> Result<Option<Vec<Stage>>, Limit> {
        let mut left: Vec<Edge> = self.edges.clone();
        let mut stages = Vec::new();
        loop {
            let pairs: Vec<(u32, u32)> = left.iter().map(|e| (e.from, e.to)).collect();
            let component = components(self.nodes.len(), &pairs);
            left.retain(|e| component[e.from as usize] == component[e.to as usize]);
            let mut inside: HashMap<u32, Vec<Edge>> = HashMap::new();
            for edge in &left {
                inside.entry(component[edge.from as usize]).or_default().push(*edge);
            }
            let accepts = |edges: &Vec<Edge>| edges.iter().any(|e| accepting[e.from as usize]);
            let mut open: Vec<(u32, Vec<Edge>)> = inside.into_iter().filter(|(_, e)| accepts(e)).collect();
            open.sort_unstable_by_key(|(number, _)| *number);
            let mut stage = Stage { component, weights: Vec::new(), offsets: vec![0; self.nodes.len()] };
            let done = open.is_empty();
            for (number, edges) in open {
                meter.check()?;
                let Some((weights, offsets)) = self.rank(&edges)? else { return Ok(None) };
                offsets.iter().for_each(|&(node, offset)| stage.offsets[node as usize] = offset);
                stage.weights.push((number, weights));
            }
            left.retain(|e| stage.change(self.net, e) >= 0);
            stages.push(stage);
            if done {
                return Ok(Some(stages));
            }
        }
    }

    /// Weights of places with ω and offsets of nodes that no edge raises and some edge lowers.
    fn rank(&self, edges: &[Edge]) -> Result<Option<Ranked>, Limit> {
        let mut nodes: Vec<u32> = edges.iter().map(|e| e.from).collect();
        nodes.sort_unstable();
        nodes.dedup();
        let first = &self.nodes[nodes[0] as usize];
        let places: Vec<u32> = (0..first.len() as u32).filter(|&p| first[p as usize] == OMEGA).collect();
        let columns = places.len() + nodes.len();
        if columns.saturating_mul(edges.len() + 1) > MAX_CELLS {
            let message =
                format!("a component of {} nodes and {} steps is too large", nodes.len(), edges.len());
            return Err(Limit::Other { message });
        }
        let mut rows = Vec::with_capacity(edges.len());
        let mut objective = vec![0.0; columns];
        for edge in edges {
            let row = self.row(edge, &places, &nodes);
            row.iter().for_each(|&(c, value)| objective[c] -= value);
            rows.push(row);
        }
        let Some(found) = Simplex::new(columns, &rows).maximise(&objective) else { return Ok(None) };
        let largest = found.iter().copied().fold(0.0, f64::max);
        let smallest = found.iter().copied().filter(|&w| w > largest * 1e-4).fold(largest, f64::min);
        let units = (1..=12).map(|k| smallest / f64::from(k)).chain((1..=30).map(|k| largest / f64::from(k)));
        for unit in units {
            let integers: Vec<i64> = found.iter().map(|w| (w / unit).round() as i64).collect();
            let value =
                |row: &Vec<(usize, f64)>| row.iter().map(|&(c, k)| k as i64 * integers[c]).sum::<i64>();
            if rows.iter().all(|r| value(r) <= 0) && rows.iter().any(|r| value(r) < 0) {
                let weights = places.iter().copied().zip(integers.iter().copied()).filter(|w| w.1 != 0);
                let offsets = nodes.iter().copied().zip(integers[places.len()..].iter().copied());
                return Ok(Some((weights.collect(), offsets.collect())));
            }
        }
        Err(Limit::Other { message: "no exact ranking was found near a rounded one".into() })
    }

    /// What an edge adds to the sum: the effect on places with ω, and the offset after less the one before.
    fn row(&self, edge: &Edge, places: &[u32], nodes: &[u32]) -> Vec<(usize, f64)> {
        let mut row: Vec<(usize, f64)> = Vec::new();
        for change in &self.net.transitions[edge.by.index()].rows {
            if let Ok(c) = places.binary_search(&change.place.0) {
                row.push((c, change.constant as f64));
            }
        }
        if edge.from != edge.to {
            for (node, value) in [(edge.from, -1.0), (edge.to, 1.0)] {
                if let Ok(c) = nodes.binary_search(&node) {
                    row.push((places.len() + c, value));
                }
            }
        }
        row.retain(|(_, value)| *value != 0.0);
        row
    }
}

/// Weights of places and offsets of nodes.
type Ranked = (Vec<(u32, i64)>, Vec<(u32, i64)>);
