//! The symbolic search forward: pairs of a location and a set, by transitions and meta-transitions, until
//! nothing new appears (Boigelot & Wolper 1994, section 4).
//!
//! We differ from the paper in three ways: "nothing new" is inclusion in the *union* of all sets of the
//! location, decided exactly; sets that are together one are merged at once; and cycles come both from the
//! control graph and, as in the paper, from repeated locations on the path that led to a set. What a search
//! adds is always reachable, so an operation that is too hard costs termination, never soundness.

use std::collections::VecDeque;

use volee_integers::{Conjunct, Effort, Exhausted, Int, Set};
use volee_system::{Limit, Meter};

use crate::cycle::Cycles;
use crate::program::{LocationId, Program, Region, TransitionId};
use crate::witness::{Count, Part, Witness};

/// Work for one question about sets.
const WORK: u64 = 30_000_000;
/// Other sets of a location that a new one is tried to merge with.
const MERGES: usize = 24;
/// Sets that one with hidden columns may be split into.
const PARTS: usize = 24;
/// How far back on a path a repeated location makes a cycle, and how many sets are looked at for that.
const LOOKBACK: usize = 6;
const PASTS: usize = 60;

/// How a set was found.
#[derive(Debug, Clone)]
enum Origin {
    Initial,
    Step { parent: usize, transition: TransitionId },
    Meta { parent: usize, cycle: usize },
    Merge(usize, usize),
}

struct Node {
    location: LocationId,
    set: Conjunct,
    origin: Origin,
    /// Not merged into or covered by another.
    alive: bool,
}

/// Where a search stands.
pub(crate) enum Progress {
    /// There is more to do.
    Working,
    /// The sets are closed under all transitions.
    Closed,
    /// A bad vector is reachable, or an initial one reaches it.
    Bad { node: usize, values: Vec<Int> },
    /// The budget is used up.
    Stopped(Limit),
}

/// A forward search.
pub(crate) struct Forward<'a> {
    program: &'a Program,
    pub(crate) cycles: Cycles,
    nodes: Vec<Node>,
    at: Vec<Vec<usize>>,
    queue: VecDeque<usize>,
    leaving: Vec<Vec<TransitionId>>,
    pub(crate) effort: Effort,
    pub(crate) steps: u64,
    /// Whether to go on when a bad vector is found.
    keep_going: bool,
    /// Some question about bad vectors was too hard, so closure does not mean safety.
    pub(crate) doubt: bool,
    memory: u64,
}

/// Checks time, cancellation and memory.
pub(crate) fn within(meter: &Meter, memory: u64) -> Result<(), Limit> {
    meter.check()?;
    meter.check_memory(memory, || "the sets found so far do not fit".to_owned())
}

/// Work that ends with the budget's time.
pub(crate) fn effort_within(meter: &Meter, units: u64) -> Effort {
    let meter = meter.clone();
    Effort::new(units).stopped_by(move || meter.check().is_err())
}

/// A vector that a set shares with one of these regions; where that is too hard to tell, there is doubt.
pub(crate) fn meets(
    regions: &[Region],
    location: LocationId,
    set: &Conjunct,
    effort: &Effort,
    doubt: &mut bool,
) -> Option<Vec<Int>> {
    for region in regions.iter().filter(|region| region.location == location) {
        match set.intersect(&region.conjunct).sample(effort) {
            Ok(Some(values)) => return Some(values),
            Ok(None) => {}
            Err(Exhausted) => *doubt = true,
        }
    }
    None
}

/// About the bytes that a set takes.
pub(crate) fn bytes(set: &Conjunct) -> u64 {
    let columns = set.dimension() + set.hidden() + 1;
    (set.size() * (columns * size_of::<Int>() + size_of::<Vec<Int>>()) + 256) as u64
}

impl<'a> Forward<'a> {
    pub(crate) fn new(program: &'a Program, keep_going: bool, meter: &Meter) -> Self {
        let effort = effort_within(meter, WORK);
        Forward {
            program,
            cycles: Cycles::of_control_graph(program, &effort),
            nodes: Vec::new(),
            at: vec![Vec::new(); program.locations.len()],
            queue: VecDeque::new(),
            leaving: program.leaving(),
            effort,
            steps: 0,
            keep_going,
            doubt: false,
            memory: 0,
        }
    }

    /// Adds the initial sets.
    pub(crate) fn start(&mut self) -> Progress {
        for region in &self.program.initial {
            if let Some(bad) = self.insert(region.location, region.conjunct.clone(), Origin::Initial) {
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
        for cycle in 0..self.cycles.at(location).len() {
            let closure = self.cycles.at(location)[cycle].closure(&set);
            if let Some(bad) = self.insert(location, closure, Origin::Meta { parent: at, cycle }) {
                return bad;
            }
            if !self.nodes[at].alive {
                return Progress::Working;
            }
            if let Err(limit) = within(meter, self.memory) {
                return Progress::Stopped(limit);
            }
        }
        for i in 0..self.leaving[location.index()].len() {
            let id = self.leaving[location.index()][i];
            let transition = self.program.transition(id);
            let image = transition.instruction.image(&set);
            if let Some(bad) = self.insert(transition.to, image, Origin::Step { parent: at, transition: id })
            {
                return bad;
            }
            if !self.nodes[at].alive {
                return Progress::Working;
            }
            if let Err(limit) = within(meter, self.memory) {
                return Progress::Stopped(limit);
            }
        }
        Progress::Working
    }

    /// The sets found, merged where possible.
    pub(crate) fn sets(&self) -> Vec<Set> {
        let of = |nodes: &Vec<usize>| {
            let alive = nodes.iter().filter(|&&n| self.nodes[n].alive);
            Set::of(self.program.dimension(), alive.map(|&n| self.nodes[n].set.clone()))
        };
        self.at.iter().map(of).collect()
    }

    /// The sets of a location, by node.
    pub(crate) fn alive_at(&self, location: LocationId) -> impl Iterator<Item = (usize, &Conjunct)> {
        let alive = self.at[location.index()].iter().filter(|&&n| self.nodes[n].alive);
        alive.map(|&n| (n, &self.nodes[n].set))
    }

    pub(crate) fn size(&self) -> usize {
        self.nodes.iter().filter(|n| n.alive).count()
    }

    fn insert(&mut self, location: LocationId, set: Conjunct, origin: Origin) -> Option<Progress> {
        if set.is_plainly_empty() {
            return None;
        }
        self.effort.refill(WORK);
        let set = set.reduced(&self.effort).unwrap_or(set);
        if set.hidden() == 0 {
            return self.insert_one(location, set, origin);
        }
        // Several sets without free hidden columns are better than one with many.
        let parts = set.strides_only(PARTS, &self.effort).ok().flatten();
        for part in parts.unwrap_or_else(|| vec![set]) {
            if let Some(bad) = self.insert_one(location, part, origin.clone()) {
                return Some(bad);
            }
        }
        None
    }

    fn insert_one(&mut self, location: LocationId, set: Conjunct, origin: Origin) -> Option<Progress> {
        self.effort.refill(WORK);
        let known: Vec<&Conjunct> = self.at[location.index()].iter().map(|&n| &self.nodes[n].set).collect();
        if set.is_plainly_empty()
            || set.is_empty(&self.effort).unwrap_or(false)
            || set.is_covered(&known, &self.effort).unwrap_or(false)
        {
            return None;
        }
        let is_meta = matches!(origin, Origin::Meta { .. });
        let node = self.push(location, set, origin);
        if !self.keep_going
            && let Some(bad) = self.bad_vector(node)
        {
            return Some(bad);
        }
        self.find_cycle(node);
        let node = self.merge(node);
        // Meta-transitions first: their sets make the next ones large.
        if is_meta {
            self.queue.push_front(node);
        } else {
            self.queue.push_back(node);
        }
        None
    }

    fn push(&mut self, location: LocationId, set: Conjunct, origin: Origin) -> usize {
        self.memory += bytes(&set);
        self.nodes.push(Node { location, set, origin, alive: true });
        self.nodes.len() - 1
    }

    fn bad_vector(&mut self, node: usize) -> Option<Progress> {
        let Node { location, set, .. } = &self.nodes[node];
        let met = meets(&self.program.bad, *location, set, &self.effort, &mut self.doubt);
        met.map(|values| Progress::Bad { node, values })
    }

    /// Merges the node with others of its location while that is exact; the node that remains.
    fn merge(&mut self, mut node: usize) -> usize {
        let here = self.nodes[node].location.index();
        let mut tried = 0;
        let mut i = self.at[here].len();
        while i > 0 && tried < MERGES {
            i -= 1;
            tried += 1;
            let other = self.at[here][i];
            self.effort.refill(WORK);
            let (old, new) = (&self.nodes[other].set, &self.nodes[node].set);
            let Ok(Some(merged)) = old.coalesce(new, &self.effort) else { continue };
            self.at[here].remove(i);
            self.nodes[other].alive = false;
            if merged != self.nodes[node].set {
                let merged = merged.reduced(&self.effort).unwrap_or(merged);
                self.nodes[node].alive = false;
                let location = self.nodes[node].location;
                node = self.push(location, merged, Origin::Merge(other, node));
            }
            i = self.at[here].len();
        }
        self.at[here].push(node);
        node
    }

    /// If the location was met a few transitions ago, the word in between is a cycle worth knowing. A merged
    /// set has two pasts, and both are looked at; a meta-transition counts as one round of its cycle, so that
    /// cycles which enable each other become one.
    fn find_cycle(&mut self, node: usize) {
        let head = self.nodes[node].location;
        let mut work = vec![(node, Vec::new())];
        let mut looked_at = 0;
        'pasts: while let Some((at, mut word)) = work.pop() {
            looked_at += 1;
            if looked_at > PASTS {
                return;
            }
            match self.nodes[at].origin {
                Origin::Initial => {}
                Origin::Merge(older, newer) => work.extend([(older, word.clone()), (newer, word)]),
                Origin::Meta { parent, cycle } => {
                    let cycle = &self.cycles.at(self.nodes[at].location)[cycle];
                    for part in cycle.word.iter().rev() {
                        match part {
                            Part::Step(transition) => word.push(*transition),
                            Part::Repeat { .. } => continue 'pasts,
                        }
                    }
                    if self.nodes[parent].location == head && word.len() > cycle.word.len() {
                        let forward: Vec<TransitionId> = word.iter().rev().copied().collect();
                        self.cycles.add_word(self.program, head, &forward);
                    }
                    if word.len() < LOOKBACK {
                        work.push((parent, word));
                    }
                }
                Origin::Step { parent, transition } => {
                    word.push(transition);
                    if self.nodes[parent].location == head && word.len() > 1 {
                        let forward: Vec<TransitionId> = word.iter().rev().copied().collect();
                        self.cycles.add_word(self.program, head, &forward);
                    }
                    if word.len() < LOOKBACK {
                        work.push((parent, word));
                    }
                }
            }
        }
    }

    /// The run that leads to a vector of a node.
    pub(crate) fn witness(&self, node: usize, values: &[Int]) -> Result<Option<Witness>, Exhausted> {
        let mut at = node;
        let mut values = values.to_vec();
        let mut parts = Vec::new();
        loop {
            self.effort.refill(WORK);
            match &self.nodes[at].origin {
                Origin::Initial => break,
                Origin::Merge(a, b) => {
                    at = if self.nodes[*a].set.contains(&values, &self.effort)? { *a } else { *b };
                }
                Origin::Step { parent, transition } => {
                    let instruction = &self.program.transition(*transition).instruction;
                    let before = instruction.preimage(&Conjunct::point(&values));
                    let both = self.nodes[*parent].set.intersect(&before);
                    let Some(point) = both.sample(&self.effort)? else { return Ok(None) };
                    parts.push(Part::Step(*transition));
                    values = point;
                    at = *parent;
                }
                Origin::Meta { parent, cycle } => {
                    let cycle = &self.cycles.at(self.nodes[at].location)[*cycle];
                    let from = &self.nodes[*parent].set;
                    let Some((point, rounds)) = cycle.explain(from, &values, &self.effort)? else {
                        return Ok(None);
                    };
                    parts.push(Part::Repeat { count: Count::Times(rounds), body: cycle.word.clone() });
                    values = point;
                    at = *parent;
                }
            }
        }
        parts.reverse();
        Ok(Some(Witness { location: self.nodes[at].location, values, parts }))
    }
}
