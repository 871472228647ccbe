//! The symbolic search backward: from the bad vectors to everything that can reach them.
//!
//! For nets with transfers, and whenever the bad vectors are closed upwards, this ends where the forward
//! search may not (Abdulla et al. 1996). Sets that the approximation excludes are dropped, which makes it end
//! far more often.

use std::collections::VecDeque;

use volee_integers::{Conjunct, Effort, Int};
use volee_system::Meter;

use crate::approximation::Approximation;
use crate::cycle::Cycles;
use crate::forward::{Progress, bytes, effort_within, meets, within};
use crate::program::{Domain, LocationId, Program, TransitionId, naturals};
use crate::witness::{Count, Part, Witness};

/// Work for one question about sets.
const WORK: u64 = 10_000_000;
/// Members of a union that are tried together; beyond that, inclusion is tested one by one.
const TOGETHER: usize = 6;

/// What happens next on the way to a bad vector.
#[derive(Debug, Clone)]
enum Next {
    Bad,
    Step { child: usize, transition: TransitionId },
    Meta { child: usize, cycle: usize },
}

struct Node {
    location: LocationId,
    set: Conjunct,
    next: Next,
    alive: bool,
}

/// A backward search.
pub(crate) struct Backward<'a> {
    program: &'a Program,
    cycles: Cycles,
    nodes: Vec<Node>,
    at: Vec<Vec<usize>>,
    queue: VecDeque<usize>,
    entering: Vec<Vec<TransitionId>>,
    approximation: Approximation,
    domain: Vec<volee_integers::Row>,
    pub(crate) effort: Effort,
    pub(crate) steps: u64,
    /// Some question about initial vectors was too hard, so closure does not mean safety.
    pub(crate) doubt: bool,
    memory: u64,
}

impl<'a> Backward<'a> {
    pub(crate) fn new(program: &'a Program, meter: &Meter) -> Self {
        let effort = effort_within(meter, WORK);
        Backward {
            program,
            cycles: Cycles::of_control_graph(program, &effort),
            nodes: Vec::new(),
            at: vec![Vec::new(); program.locations.len()],
            queue: VecDeque::new(),
            entering: program.entering(),
            approximation: Approximation::of(program),
            domain: match program.domain {
                Domain::Naturals => naturals(program.dimension()),
                Domain::Integers => Vec::new(),
            },
            effort,
            steps: 0,
            doubt: false,
            memory: 0,
        }
    }

    /// Adds the bad sets.
    pub(crate) fn start(&mut self) -> Progress {
        for region in &self.program.bad {
            if let Some(bad) = self.insert(region.location, region.conjunct.clone(), Next::Bad) {
                return bad;
            }
        }
        Progress::Working
    }

    /// Expands one set.
    pub(crate) fn step(&mut self, meter: &Meter) -> Progress {
        let Some(at) = self.queue.pop_front() else { return Progress::Closed };
        if !self.nodes[at].alive {
            return Progress::Working;
        }
        self.steps += 1;
        let location = self.nodes[at].location;
        let set = self.nodes[at].set.clone();
        for i in 0..self.entering[location.index()].len() {
            let id = self.entering[location.index()][i];
            let transition = self.program.transition(id);
            let before = transition.instruction.preimage(&set);
            if let Some(bad) = self.insert(transition.from, before, Next::Step { child: at, transition: id })
            {
                return bad;
            }
            if let Err(limit) = within(meter, self.memory) {
                return Progress::Stopped(limit);
            }
        }
        if self.program.domain == Domain::Integers {
            for cycle in 0..self.cycles.at(location).len() {
                let Some(before) = self.cycles.at(location)[cycle].closure_back(&set) else { continue };
                if let Some(bad) = self.insert(location, before, Next::Meta { child: at, cycle }) {
                    return bad;
                }
                if let Err(limit) = within(meter, self.memory) {
                    return Progress::Stopped(limit);
                }
            }
        }
        Progress::Working
    }

    /// What can reach a bad vector and is not excluded, by location.
    pub(crate) fn sets(&self) -> Vec<Vec<&Conjunct>> {
        self.at.iter().map(|nodes| nodes.iter().map(|&n| &self.nodes[n].set).collect()).collect()
    }

    pub(crate) fn size(&self) -> usize {
        self.at.iter().map(Vec::len).sum()
    }

    pub(crate) fn approximation(&self) -> &Approximation {
        &self.approximation
    }

    fn insert(&mut self, location: LocationId, set: Conjunct, next: Next) -> Option<Progress> {
        if set.is_plainly_empty() {
            return None;
        }
        let set = if self.domain.is_empty() { set } else { set.with(&[], &self.domain) };
        self.effort.refill(WORK);
        if set.is_plainly_empty() || self.is_known(location, &set) {
            return None;
        }
        let set = set.reduced(&self.effort).unwrap_or(set);
        if set.is_plainly_empty()
            || set.is_empty(&self.effort).unwrap_or(false)
            || self.approximation.excludes(&set, &self.effort)
        {
            return None;
        }
        let node = self.nodes.len();
        self.memory += bytes(&set);
        self.nodes.push(Node { location, set, next, alive: true });
        if let Some(bad) = self.initial_vector(node) {
            return Some(bad);
        }
        let here = location.index();
        let new = &self.nodes[node].set;
        let covered: Vec<usize> = self.at[here]
            .iter()
            .copied()
            .filter(|&n| self.nodes[n].set.is_subset(new, &self.effort).unwrap_or(false))
            .collect();
        for &n in &covered {
            self.nodes[n].alive = false;
        }
        self.at[here].retain(|n| !covered.contains(n));
        self.at[here].push(node);
        self.queue.push_back(node);
        None
    }

    fn is_known(&self, location: LocationId, set: &Conjunct) -> bool {
        let here = &self.at[location.index()];
        if here.len() <= TOGETHER {
            let known: Vec<&Conjunct> = here.iter().map(|&n| &self.nodes[n].set).collect();
            return set.is_covered(&known, &self.effort).unwrap_or(false);
        }
        here.iter().any(|&n| set.is_subset(&self.nodes[n].set, &self.effort).unwrap_or(false))
    }

    fn initial_vector(&mut self, node: usize) -> Option<Progress> {
        let Node { location, set, .. } = &self.nodes[node];
        let met = meets(&self.program.initial, *location, set, &self.effort, &mut self.doubt);
        met.map(|values| Progress::Bad { node, values })
    }

    /// The run from an initial vector of a node to a bad one.
    pub(crate) fn witness(&self, node: usize, values: &[Int]) -> Option<Witness> {
        let location = self.nodes[node].location;
        let mut parts: Vec<Part> = Vec::new();
        let mut at = node;
        let mut now = values.to_vec();
        loop {
            match &self.nodes[at].next {
                Next::Bad => break,
                Next::Step { child, transition } => {
                    now = self.program.transition(*transition).instruction.update.apply(&now);
                    parts.push(Part::Step(*transition));
                    at = *child;
                }
                Next::Meta { child, cycle } => {
                    let cycle = &self.cycles.at(self.nodes[at].location)[*cycle];
                    let rounds = self.rounds(&now, &cycle.vector, &self.nodes[*child].set)?;
                    for (x, v) in now.iter_mut().zip(&cycle.vector) {
                        *x += &(v * &rounds);
                    }
                    parts.push(Part::Repeat { count: Count::Times(rounds), body: cycle.word.clone() });
                    at = *child;
                }
            }
        }
        Some(Witness { location, values: values.to_vec(), parts })
    }

    /// How many translations lead from a vector into a set.
    fn rounds(&self, from: &[Int], vector: &[Int], into: &Conjunct) -> Option<Int> {
        let line = Conjunct::point(from).translated(vector, &[]);
        let point = line.intersect(into).sample(&self.effort).ok()??;
        let i = vector.iter().position(|v| !v.is_zero())?;
        Some((&point[i] - &from[i]).div_floor(&vector[i]))
    }
}
