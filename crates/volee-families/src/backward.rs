//! BRA: backward reachability over minimal bad markings. The default decider.
//!
//! Abdulla, Čerāns, Jonsson and Tsay (1996): the markings from which a target can be covered are upward
//! closed, so finitely many minimal ones describe them; compute predecessors until nothing new appears. Where
//! we differ: a predecessor that no reachable marking can cover is dropped. Three things say so: places that
//! can never be marked, linear inequalities, and new inequalities found on the way by linear programming when
//! a vector is about to be expanded. Small vectors are expanded first, because they subsume most. Vectors are
//! never removed: one that a later and smaller one covers is skipped when its turn comes.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use volee_system::{Limit, Meter, Progress, Snapshot};

use crate::answer::{Answer, Counterexample, Method, Outcome, Statistics};
use crate::certificate::Certificate;
use crate::linear::{Inequality, Separator};
use crate::predecessors::{Candidates, Predecessors};
use crate::sparse::{Entry, Minima};
use crate::structure::Liveness;
use volee_nets::{Net, PlaceId, TransitionId};

/// What computing and looking up one candidate costs, in cells of the linear program. Counting work instead
/// of time keeps the search deterministic.
const CANDIDATE_WORK: u64 = 500;

/// The search as a resumable computation, so that engines can take turns.
pub struct Backward<'n> {
    net: &'n Net,
    liveness: Liveness,
    predecessors: Predecessors,
    separator: Option<Separator>,
    inequalities: Vec<Inequality>,
    /// For each place, the inequalities that weigh it, and how much; `sums` is scratch space, all zero
    /// between uses.
    weighing: Vec<Vec<(u32, u64)>>,
    sums: Vec<u64>,
    minima: Minima,
    arena: Vec<Entry>,
    nodes: Vec<Node>,
    heap: BinaryHeap<Reverse<(u64, u32)>>,
    statistics: Statistics,
    /// Questions to the linear program in a row that taught nothing.
    wasted: u32,
    done: Option<Answer>,
}

#[derive(Debug, Clone, Copy)]
struct Node {
    start: u32,
    length: u32,
    /// The vector this is a predecessor of; itself for a target.
    parent: u32,
    /// The transition, or the target.
    by: u32,
}

enum Stop {
    Found(u32),
    Limit(Limit),
}

impl From<Limit> for Stop {
    fn from(limit: Limit) -> Self {
        Stop::Limit(limit)
    }
}

impl<'n> Backward<'n> {
    /// Prepares the search of a monotone net.
    pub fn new(net: &'n Net) -> Self {
        let liveness = Liveness::of(net);
        let mut search = Backward {
            net,
            predecessors: Predecessors::new(net, |t| liveness.firable[t]),
            separator: Separator::new(net, &liveness),
            liveness,
            inequalities: Vec::new(),
            weighing: vec![Vec::new(); net.places.len()],
            sums: Vec::new(),
            minima: Minima::default(),
            arena: Vec::new(),
            nodes: Vec::new(),
            heap: BinaryHeap::new(),
            statistics: Statistics::default(),
            wasted: 0,
            done: None,
        };
        search.add_groups();
        search.add_targets();
        search
    }

    /// Runs to the end or to a limit.
    pub fn run(mut self, meter: &Meter, progress: &mut dyn Progress) -> Outcome {
        loop {
            if let Some(answer) = self.advance(4096, meter) {
                return Outcome { answer, method: Method::Backward, statistics: self.statistics, why: None };
            }
            progress.report(&Snapshot {
                states: self.statistics.states,
                transitions: self.statistics.transitions,
                pending: self.heap.len() as u64,
                memory: self.bytes(),
                ..Snapshot::default()
            });
        }
    }

    /// The figures so far.
    pub fn statistics(&self) -> Statistics {
        self.statistics
    }

    fn bytes(&self) -> u64 {
        (self.arena.len() * 8 + self.nodes.len() * 16 + self.heap.len() * 16) as u64 + self.minima.bytes()
    }

    fn add_groups(&mut self) {
        for group in self.net.checked_groups() {
            let mut weights: Vec<(u32, u64)> = group.iter().map(|p| (p.0, 1)).collect();
            weights.sort_unstable();
            weights.dedup();
            self.learn(Inequality { weights, bound: 1 });
        }
    }

    fn learn(&mut self, inequality: Inequality) {
        let number = self.inequalities.len() as u32;
        for &(p, weight) in &inequality.weights {
            self.weighing[p as usize].push((number, weight));
        }
        self.sums.push(0);
        self.inequalities.push(inequality);
        self.statistics.inequalities += 1;
    }

    fn add_targets(&mut self) {
        for (number, target) in self.net.targets.iter().enumerate() {
            let vector: Vec<Entry> =
                target.at_least.iter().map(|b| Entry { place: b.place.0, tokens: b.tokens }).collect();
            let id = self.nodes.len() as u32;
            if self.done.is_none()
                && let Err(stop) = self.consider(&vector, id, number as u32)
            {
                self.finish(stop);
            }
        }
    }

    /// Whether a known invariant keeps all markings above `vector` out.
    fn excluded(&mut self, vector: &[Entry]) -> bool {
        if vector.iter().any(|e| !self.liveness.markable[e.place as usize]) {
            return true;
        }
        let mut broken = false;
        for e in vector {
            for &(i, weight) in &self.weighing[e.place as usize] {
                let sum = &mut self.sums[i as usize];
                *sum = sum.saturating_add(weight.saturating_mul(u64::from(e.tokens)));
                broken |= *sum > self.inequalities[i as usize].bound;
            }
        }
        for e in vector {
            for &(i, _) in &self.weighing[e.place as usize] {
                self.sums[i as usize] = 0;
            }
        }
        broken
    }

    fn consider(&mut self, vector: &[Entry], parent: u32, by: u32) -> Result<(), Stop> {
        self.statistics.transitions += 1;
        if self.excluded(vector) {
            self.statistics.pruned += 1;
            return Ok(());
        }
        if self.minima.find_below(vector, None).is_some() {
            return Ok(());
        }
        let id = u32::try_from(self.nodes.len()).map_err(|_| many())?;
        let start = u32::try_from(self.arena.len()).map_err(|_| many())?;
        self.arena.extend_from_slice(vector);
        self.nodes.push(Node { start, length: vector.len() as u32, parent, by });
        self.minima.insert(vector, id);
        self.statistics.states += 1;
        let demand = || vector.iter().map(|e| (PlaceId(e.place), e.tokens));
        if self.net.initial.iter().any(|i| i.reaches(demand())) {
            return Err(Stop::Found(id));
        }
        let weight: u64 = vector.iter().map(|e| u64::from(e.tokens)).sum();
        self.heap.push(Reverse((weight, id)));
        Ok(())
    }

    /// Expands up to `count` vectors; the answer once there is one.
    pub fn advance(&mut self, count: usize, meter: &Meter) -> Option<Answer> {
        for i in 0..count {
            if self.done.is_some() {
                break;
            }
            if i % 64 == 0 {
                let limit = meter.check().and_then(|()| {
                    meter.check_memory(self.bytes(), || format!("{} minimal bad vectors", self.nodes.len()))
                });
                if let Err(limit) = limit {
                    self.done = Some(Answer::Unknown(limit));
                    break;
                }
            }
            match self.heap.pop() {
                None => self.done = Some(Answer::Holds(self.certificate())),
                Some(Reverse((_, id))) => {
                    if let Err(stop) = self.expand(id) {
                        self.finish(stop);
                    }
                }
            }
        }
        self.done.clone()
    }

    fn expand(&mut self, id: u32) -> Result<(), Stop> {
        let Node { start, length, .. } = self.nodes[id as usize];
        let vector = self.arena[start as usize..(start + length) as usize].to_vec();
        if self.minima.find_below(&vector, Some(id)).is_some() || self.excluded(&vector) {
            return Ok(());
        }
        if self.separated(&vector) {
            return Ok(());
        }
        let mut predecessors = std::mem::replace(&mut self.predecessors, Predecessors::none());
        let result = predecessors.each(&vector, &mut Behind { search: self, id });
        self.predecessors = predecessors;
        result
    }

    /// Asks the linear program, as long as it is worth its time.
    fn separated(&mut self, vector: &[Entry]) -> bool {
        let Some(separator) = &mut self.separator else { return false };
        if self.wasted >= 20 && separator.work() > self.statistics.transitions.saturating_mul(CANDIDATE_WORK)
        {
            return false;
        }
        let found = separator.separate(self.net, vector);
        match found {
            Some(inequality) => {
                self.wasted = 0;
                self.statistics.pruned += 1;
                self.learn(inequality);
                true
            }
            None => {
                self.wasted += 1;
                false
            }
        }
    }

    fn finish(&mut self, stop: Stop) {
        self.done = Some(match stop {
            Stop::Limit(limit) => Answer::Unknown(limit),
            Stop::Found(id) => self.counterexample(id),
        });
    }

    fn counterexample(&self, id: u32) -> Answer {
        let Node { start, length, .. } = self.nodes[id as usize];
        let vector = &self.arena[start as usize..(start + length) as usize];
        let demand = || vector.iter().map(|e| (PlaceId(e.place), e.tokens));
        let found =
            self.net.initial.iter().enumerate().find_map(|(k, i)| Some((k, i.instance_for(demand())?)));
        let (initial, marking) =
            found.expect("a vector is only reported when an initial marking is above it");
        let mut trace = Vec::new();
        let mut at = id;
        while self.nodes[at as usize].parent != at {
            trace.push(TransitionId(self.nodes[at as usize].by));
            at = self.nodes[at as usize].parent;
        }
        let target = self.nodes[at as usize].by as usize;
        Answer::Violated(Counterexample { initial, marking, trace, target })
    }

    fn certificate(&mut self) -> Certificate {
        let mut basis = Vec::new();
        for id in 0..self.nodes.len() as u32 {
            let Node { start, length, .. } = self.nodes[id as usize];
            let vector = self.arena[start as usize..(start + length) as usize].to_vec();
            if self.minima.find_below(&vector, Some(id)).is_none() && !self.excluded(&vector) {
                basis.push(vector);
            }
        }
        let unmarked =
            (0..self.net.places.len() as u32).filter(|&p| !self.liveness.markable[p as usize]).collect();
        Certificate::Backward { unmarked, inequalities: self.inequalities.clone(), basis }
    }
}

/// Receives the predecessors of vector `id`.
struct Behind<'s, 'n> {
    search: &'s mut Backward<'n>,
    id: u32,
}

impl Candidates for Behind<'_, '_> {
    type Stop = Stop;

    fn hopeless(&mut self, vector: &[Entry]) -> bool {
        self.search.excluded(vector)
    }

    fn push(&mut self, transition: u32, vector: &[Entry]) -> Result<(), Stop> {
        self.search.consider(vector, self.id, transition)
    }
}

fn many() -> Stop {
    Stop::Limit(Limit::Other { message: "more than four billion minimal bad markings".into() })
}
