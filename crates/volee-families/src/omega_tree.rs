//! The tree that both forward engines grow, and the way back from it to a concrete run.
//!
//! Karp and Miller (1969): unfold the net from the initial markings, and when a new marking is above one of
//! its ancestors, repeat the steps between them in thought for ever: what grew becomes ω. That is exact for
//! ordinary arcs. Over a transfer or a reset repeating does not add the same again, so a loop through one is
//! not accelerated; the tree may then grow for ever, and the meter ends it.
//!
//! ω loses the number of repetitions, which is why such engines are said to have no counterexamples. They do:
//! [`OmegaTree::run_to`] walks from a node to the root with a *demand*, the tokens still needed. Where the
//! demand exceeds what a node had before its ω, the loop that gave the ω is put into the run once more and
//! the demand pulled back through it.

use std::collections::HashMap;

use volee_system::{Limit, Meter};

use crate::answer::{Answer, Counterexample, Statistics};
use crate::certificate::OMEGA;
use volee_nets::{MAX_TOKENS, Net, PlaceId, Transition, TransitionId};

/// A run longer than this is not built.
const MAX_RUN: usize = 1_000_000;

/// When a new marking need not be looked at any further.
pub trait Discard {
    /// Says whether node `id` with this marking can be dropped, and remembers it otherwise.
    fn drop_node(&mut self, id: u32, marking: &[u32]) -> bool;

    /// The markings to certify with: every kept one must be below one of them.
    fn cover(self) -> Vec<Vec<u32>>;
}

/// A node of the tree.
#[derive(Debug, Clone, Copy)]
struct Node {
    parent: u32,
    /// The transition from the parent; the initial family for a root.
    by: u32,
}

/// One use of the rule that makes ω: the ancestor, and the places that became ω.
type Acceleration = (u32, Vec<u32>);

/// A Karp–Miller tree under construction.
pub struct OmegaTree<'n, D> {
    net: &'n Net,
    plain: Vec<bool>,
    nodes: Vec<Node>,
    markings: Vec<u32>,
    accelerations: HashMap<u32, Vec<Acceleration>>,
    work: Vec<u32>,
    discard: Option<D>,
    statistics: Statistics,
    done: Option<Answer>,
}

impl<'n, D: Discard> OmegaTree<'n, D> {
    /// A tree with its roots.
    pub fn new(net: &'n Net, discard: D) -> Self {
        let plain = net.transitions.iter().map(Transition::is_plain).collect();
        let mut tree = OmegaTree {
            net,
            plain,
            nodes: Vec::new(),
            markings: Vec::new(),
            accelerations: HashMap::new(),
            work: Vec::new(),
            discard: Some(discard),
            statistics: Statistics::default(),
            done: None,
        };
        for (number, initial) in net.initial.iter().enumerate() {
            let marking: Vec<u32> =
                initial.base.iter().zip(&initial.open).map(|(&n, &o)| if o { OMEGA } else { n }).collect();
            let id = tree.nodes.len() as u32;
            tree.add(Node { parent: id, by: number as u32 }, marking);
        }
        tree
    }

    /// The figures so far.
    pub fn statistics(&self) -> Statistics {
        self.statistics
    }

    fn marking(&self, id: u32) -> &[u32] {
        let width = self.net.places.len();
        &self.markings[id as usize * width..(id as usize + 1) * width]
    }

    /// Expands up to `count` nodes; the answer once there is one.
    pub fn advance(&mut self, count: usize, meter: &Meter) -> Option<Answer> {
        for i in 0..count {
            if self.done.is_some() {
                break;
            }
            if i % 64 == 0 {
                let bytes = (self.markings.len() * 8 + self.nodes.len() * 48) as u64;
                let limit = meter
                    .check()
                    .and_then(|()| meter.check_memory(bytes, || format!("{} markings", self.nodes.len())));
                if let Err(limit) = limit {
                    self.done = Some(Answer::Unknown(limit));
                    break;
                }
            }
            match self.work.pop() {
                Some(id) => self.expand(id),
                None => {
                    let cover = self.discard.take().map(Discard::cover).unwrap_or_default();
                    self.done = Some(Answer::Holds(crate::Certificate::Forward { cover }));
                }
            }
        }
        self.done.clone()
    }

    fn expand(&mut self, id: u32) {
        for t in (0..self.net.transitions.len()).rev() {
            if self.done.is_some() {
                return;
            }
            let Some(after) = fire(&self.net.transitions[t], self.marking(id)) else { continue };
            self.statistics.transitions += 1;
            if after.iter().any(|&n| n != OMEGA && n > MAX_TOKENS) {
                let message = format!("a place holds more than {MAX_TOKENS} tokens");
                self.done = Some(Answer::Unknown(Limit::Other { message }));
                return;
            }
            self.add(Node { parent: id, by: t as u32 }, after);
        }
    }

    fn add(&mut self, node: Node, mut marking: Vec<u32>) {
        let id = self.nodes.len() as u32;
        let mut accelerations = Vec::new();
        if node.parent != id {
            self.accelerate(node, &mut marking, &mut accelerations);
        }
        if self.discard.as_mut().is_none_or(|d| d.drop_node(id, &marking)) {
            return;
        }
        self.nodes.push(node);
        self.markings.extend_from_slice(&marking);
        self.statistics.states += 1;
        if !accelerations.is_empty() {
            self.accelerations.insert(id, accelerations);
        }
        let bad = self
            .net
            .targets
            .iter()
            .position(|t| t.at_least.iter().all(|b| marking[b.place.index()] >= b.tokens));
        match bad {
            Some(target) => self.done = Some(self.run_to(id, target)),
            None => self.work.push(id),
        }
    }

    /// Applies the ω rule against every ancestor, until nothing changes.
    fn accelerate(&self, node: Node, marking: &mut [u32], accelerations: &mut Vec<Acceleration>) {
        let mut changed = true;
        while changed {
            changed = false;
            let (mut at, mut by) = (node.parent, node.by);
            loop {
                if !self.plain[by as usize] {
                    break;
                }
                let ancestor = self.marking(at);
                if ancestor.iter().zip(marking.iter()).all(|(a, m)| a <= m) {
                    let grown: Vec<u32> = (0..marking.len())
                        .filter(|&p| ancestor[p] < marking[p] && marking[p] != OMEGA)
                        .map(|p| p as u32)
                        .collect();
                    if !grown.is_empty() {
                        grown.iter().for_each(|&p| marking[p as usize] = OMEGA);
                        accelerations.push((at, grown));
                        changed = true;
                    }
                }
                let Node { parent, by: before } = self.nodes[at as usize];
                if parent == at {
                    break;
                }
                (at, by) = (parent, before);
            }
        }
    }

    /// The transitions from an ancestor to a node, last first.
    fn steps_back(&self, from: u32, ancestor: u32) -> Vec<(u32, u32)> {
        let mut steps = Vec::new();
        let mut at = from;
        while at != ancestor {
            let Node { parent, by } = self.nodes[at as usize];
            steps.push((parent, by));
            at = parent;
        }
        steps
    }

    /// A concrete instance and run that covers what node `id` covers of `target`.
    fn run_to(&self, id: u32, target: usize) -> Answer {
        let mut demand = vec![0u32; self.net.places.len()];
        for bound in &self.net.targets[target].at_least {
            demand[bound.place.index()] = bound.tokens;
        }
        match self.pull_back(id, demand) {
            Some((root, demand, mut trace)) => {
                trace.reverse();
                let initial = self.nodes[root as usize].by as usize;
                let tokens = demand.iter().enumerate().map(|(p, &n)| (PlaceId(p as u32), n));
                match self.net.initial[initial].instance_for(tokens) {
                    Some(marking) => Answer::Violated(Counterexample { initial, marking, trace, target }),
                    None => Answer::Unknown(too_long()),
                }
            }
            None => Answer::Unknown(too_long()),
        }
    }

    fn pull_back(&self, id: u32, mut demand: Vec<u32>) -> Option<(u32, Vec<u32>, Vec<TransitionId>)> {
        let mut trace = Vec::new();
        let mut at = id;
        loop {
            if let Some(accelerations) = self.accelerations.get(&at) {
                for (ancestor, places) in accelerations.iter().rev() {
                    self.unroll(at, *ancestor, places, &mut demand, &mut trace)?;
                }
            }
            let Node { parent, by } = self.nodes[at as usize];
            if parent == at {
                return Some((at, demand, trace));
            }
            demand = pull_through(&self.net.transitions[by as usize], self.marking(parent), &demand)?;
            trace.push(TransitionId(by));
            at = parent;
        }
    }

    /// Repeats the loop from `ancestor` to `at` until the demand on `places` fits what the node had without
    /// it.
    fn unroll(
        &self,
        at: u32,
        ancestor: u32,
        places: &[u32],
        demand: &mut Vec<u32>,
        trace: &mut Vec<TransitionId>,
    ) -> Option<()> {
        let steps = self.steps_back(at, ancestor);
        let below = self.marking(ancestor);
        // Without this ω the node had at least one token more than the ancestor in each place that grew.
        while places.iter().any(|&p| demand[p as usize] > below[p as usize] + 1) {
            if trace.len() + steps.len() > MAX_RUN {
                return None;
            }
            for &(parent, by) in &steps {
                *demand = pull_through(&self.net.transitions[by as usize], self.marking(parent), demand)?;
                trace.push(TransitionId(by));
            }
        }
        Some(())
    }
}

fn too_long() -> Limit {
    Limit::Other { message: format!("a violation exists, but its run is longer than {MAX_RUN} steps") }
}

/// The marking after firing, with ω.
pub fn fire(transition: &Transition, marking: &[u32]) -> Option<Vec<u32>> {
    if transition.at_least.iter().any(|b| marking[b.place.index()] < b.tokens) {
        return None;
    }
    let mut after = marking.to_vec();
    for row in &transition.rows {
        let mut sum = row.constant;
        let mut omega = false;
        for source in &row.sources {
            omega |= marking[source.index()] == OMEGA;
            sum += i64::from(marking[source.index()]);
        }
        if !omega && sum < 0 {
            return None;
        }
        after[row.place.index()] = if omega { OMEGA } else { u32::try_from(sum).unwrap_or(OMEGA - 1) };
    }
    Some(after)
}

/// What `before` must hold at least so that firing gives `demand`; splits of transfers follow what `before`
/// has.
fn pull_through(transition: &Transition, before: &[u32], demand: &[u32]) -> Option<Vec<u32>> {
    let mut needed = demand.to_vec();
    for row in &transition.rows {
        needed[row.place.index()] = 0;
    }
    for bound in &transition.at_least {
        let n = &mut needed[bound.place.index()];
        *n = (*n).max(bound.tokens);
    }
    for row in &transition.rows {
        let mut rest = i64::from(demand[row.place.index()]) - row.constant;
        if row.is_plain() {
            // Inside a repeated loop a place may need more than the tree shows: the repetitions before
            // provide it.
            let n = &mut needed[row.place.index()];
            *n = (*n).max(u32::try_from(rest.max(0)).ok().filter(|&r| r <= MAX_TOKENS)?);
            continue;
        }
        let mut sources: Vec<usize> = row.sources.iter().map(|s| s.index()).collect();
        sources.sort_by_key(|&s| std::cmp::Reverse(before[s]));
        for s in sources {
            if rest <= 0 {
                break;
            }
            let share = rest.min(i64::from(before[s]));
            if share > i64::from(MAX_TOKENS) {
                return None;
            }
            needed[s] = needed[s].max(u32::try_from(share).ok()?);
            rest -= share;
        }
        if rest > 0 {
            return None;
        }
    }
    Some(needed)
}
