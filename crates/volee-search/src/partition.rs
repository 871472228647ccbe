//! The part of a state space that belongs to one of several workers: distributed reachability.
//!
//! States are owned by hash. Expanding a state keeps those targets that are ours and posts the others to their owners,
//! with the number of the state they were reached from; so every state has a parent somewhere, and a witness is found by
//! walking from owner to owner ([`Trail`]). What is asked of states and steps is asked by the very code of the sequential
//! search. Nothing here knows threads or networks: see [`volee_system::part`].
//!
//! States are expanded in the order in which they are known here, which is nearly breadth-first: witnesses are short, not
//! shortest.

use serde::{Deserialize, Serialize};
use volee_system::part::{Figures, Outbox, Part, PartError, Work};
use volee_system::{FaultId, Flow, Limit, Meter, Sink, Step, System, Witness};

use crate::check::{Check, Outcome, Statistics};
use crate::explorer::place_of;
use crate::questions::{Finding, OnFault, Questions, answers_from};
use crate::store::hash::mix;
use crate::store::{Exact, Full, MAX_SHAPES, Name, Tree, Visited};

/// Targets that are worth looking up together.
const BATCH: usize = 32;
/// The parent of an initial state.
const NONE: u32 = u32::MAX;

/// A packet of states: number of the parent, length, state.
const REACHED: u8 = 1;
/// A packet of walks: which trail, steps so far, number of the state.
const WALK: u8 = 2;

/// Whose a state is.
fn owner(state: &[u8], peers: usize) -> usize {
    if peers == 1 {
        return 0;
    }
    let (words, rest) = state.as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let fold = |hash: u64, word: [u8; 8]| mix(hash ^ u64::from_le_bytes(word));
    let hash = fold(words.iter().fold(state.len() as u64, |hash, word| fold(hash, *word)), last);
    (((hash >> 32) * peers as u64) >> 32) as usize
}

/// A worker and a state of it, in four bytes.
#[derive(Debug, Clone, Copy)]
struct Packing {
    shift: u32,
    mask: u32,
}

impl Packing {
    fn new(peers: usize) -> Self {
        let bits = usize::BITS - (peers.max(1) - 1).leading_zeros();
        Packing { shift: 32 - bits, mask: ((1u64 << (32 - bits)) - 1) as u32 }
    }

    fn pack(self, owner: usize, state: u32) -> u32 {
        ((owner as u64) << self.shift) as u32 | state
    }

    fn unpack(self, packed: u32) -> (usize, u32) {
        ((u64::from(packed) >> self.shift) as usize, packed & self.mask)
    }
}

/// One worker's part of a search.
pub struct Partition<'s, 'c, S: ?Sized> {
    system: &'s mut S,
    questions: Questions<'c>,
    me: usize,
    peers: usize,
    packing: Packing,
    tree: Tree,
    visited: Exact,
    /// All our states, in the order of discovery; those from `next` on are not expanded.
    names: Vec<Name>,
    parents: Vec<u32>,
    next: usize,
    state: Vec<u8>,
    staged: Vec<(Name, u32)>,
    faults: Vec<(u32, FaultId)>,
    transitions: u64,
    decided: bool,
}

/// The sink of an expansion.
struct Targets<'e> {
    tree: &'e mut Tree,
    visited: &'e Exact,
    staged: &'e mut Vec<(Name, u32)>,
    faults: &'e mut Vec<(u32, FaultId)>,
    out: &'e mut Outbox,
    on_fault: OnFault,
    /// The number of the state that is expanded, alone and packed.
    source: u32,
    packed: u32,
    pushed: u32,
    staying: u32,
    too_long: bool,
}

impl Targets<'_> {
    #[inline]
    fn keep(&mut self, target: &[u8]) {
        let owner = owner(target, self.out.peers());
        if owner == self.out.me() {
            let name = self.tree.name(target);
            self.visited.prefetch(name);
            self.staged.push((name, self.packed));
            return;
        }
        let Ok(length) = u16::try_from(target.len()) else {
            self.too_long = true;
            return;
        };
        let record = self.out.post(owner, REACHED);
        record.extend_from_slice(&self.source.to_le_bytes());
        record.extend_from_slice(&length.to_le_bytes());
        record.extend_from_slice(target);
    }
}

impl Sink for Targets<'_> {
    #[inline]
    fn push(&mut self, step: Step, target: &[u8]) -> Flow {
        let ordinal = self.pushed;
        self.pushed += 1;
        if step.stays {
            self.staying += 1;
        } else {
            self.keep(target);
        }
        match (step.fault, self.on_fault) {
            (None, _) | (_, OnFault::Ignore) => Flow::Continue(()),
            (Some(fault), on_fault) => {
                self.faults.push((ordinal, fault));
                if on_fault == OnFault::Stop { Flow::Break(()) } else { Flow::Continue(()) }
            }
        }
    }
}

impl<'s, 'c, S: System + ?Sized> Partition<'s, 'c, S> {
    /// The part of worker `me` of `peers`; it begins with those initial states that are its own.
    ///
    /// # Errors
    /// A limit.
    pub fn new(system: &'s mut S, check: &'c Check, me: usize, peers: usize) -> Result<Self, PartError> {
        let mut part = Partition {
            system,
            questions: Questions::new(check),
            me,
            peers,
            packing: Packing::new(peers),
            tree: Tree::new(),
            visited: Exact::new(),
            names: Vec::new(),
            parents: Vec::new(),
            next: 0,
            state: Vec::new(),
            staged: Vec::new(),
            faults: Vec::new(),
            transitions: 0,
            decided: false,
        };
        let (tree, staged, transitions) = (&mut part.tree, &mut part.staged, &mut part.transitions);
        let _ = part.system.initial(&mut |state| {
            if owner(state, peers) == me {
                staged.push((tree.name(state), NONE));
                *transitions += 1;
            }
            Flow::Continue(())
        });
        part.settle()?;
        Ok(part)
    }

    /// Looks up all that is staged and keeps what is new.
    fn settle(&mut self) -> Result<(), PartError> {
        if let Some(full) = self.tree.full() {
            return Err(PartError::Limit(full_limit(full)));
        }
        while self.visited.growth(self.staged.len()).is_some() {
            self.visited.grow().ok_or_else(|| PartError::Limit(full_limit(Full::Nodes)))?;
        }
        for (name, parent) in self.staged.drain(..) {
            if self.visited.insert(name) {
                self.names.push(name);
                self.parents.push(parent);
            }
        }
        if self.names.len() >= self.packing.mask as usize {
            let message = format!("one worker has more than {} states", self.packing.mask);
            return Err(PartError::Limit(Limit::Other { message }));
        }
        Ok(())
    }

    /// Expands the next state and asks the questions about it.
    fn expand(&mut self, out: &mut Outbox) -> Result<Flow, PartError> {
        let at = self.next;
        self.next += 1;
        self.tree.load(self.names[at], &mut self.state);
        let flow = self.questions.visit(self.system, &self.state);
        self.give_witness(at, None);
        if flow.is_break() {
            return Ok(flow);
        }
        self.faults.clear();
        let mut targets = Targets {
            tree: &mut self.tree,
            visited: &self.visited,
            staged: &mut self.staged,
            faults: &mut self.faults,
            out,
            on_fault: self.questions.on_fault(),
            source: at as u32,
            packed: self.packing.pack(self.me, at as u32),
            pushed: 0,
            staying: 0,
            too_long: false,
        };
        let _ = self.system.steps(&self.state, &mut targets);
        let (pushed, staying, too_long) = (targets.pushed, targets.staying, targets.too_long);
        if too_long {
            let message = "states of more than 65535 bytes do not travel between workers".into();
            return Err(PartError::Limit(Limit::Other { message }));
        }
        self.transitions += u64::from(pushed - staying);
        Ok(self.ask(at, pushed))
    }

    /// Tells the questions what the steps of a state show.
    fn ask(&mut self, at: usize, pushed: u32) -> Flow {
        if pushed == 0 {
            let flow = self.questions.end(self.system, &self.state);
            self.give_witness(at, None);
            return flow;
        }
        for fault in 0..self.faults.len() {
            let (ordinal, fault) = self.faults[fault];
            let flow = self.questions.fault(self.system, fault);
            self.give_witness(at, Some(ordinal));
            flow?;
        }
        Flow::Continue(())
    }

    /// A witness is at first only a state of ours, named where a witness has the initial state, and the last step.
    fn give_witness(&mut self, at: usize, last: Option<u32>) {
        if self.questions.wants_witness() {
            let steps = last.into_iter().collect();
            self.questions.give_witness(&Witness { initial: at as u32, steps, loop_start: None });
        }
    }

    /// The end of the search: what was found here, and the part that finds the ways to it.
    pub fn finish(self) -> Trail {
        let figures = self.figures();
        let findings = self.questions.into_findings();
        let mut queue = Vec::new();
        for witness in findings.iter().flat_map(Finding::witnesses) {
            let trail = self.packing.pack(self.me, queue.len() as u32);
            queue.push(Walk { trail, steps: 0, at: witness.initial });
        }
        Trail {
            me: self.me,
            packing: self.packing,
            tree: self.tree,
            names: self.names,
            parents: self.parents,
            queue,
            figures,
            outcome: PartialOutcome {
                findings,
                pieces: Vec::new(),
                states: figures.states,
                transitions: figures.transitions,
            },
        }
    }

    fn take_states(&mut self, from: usize, mut records: &[u8]) -> Result<(), PartError> {
        while let Some((head, rest)) = records.split_first_chunk::<6>() {
            let parent = u32::from_le_bytes([head[0], head[1], head[2], head[3]]);
            let length = usize::from(u16::from_le_bytes([head[4], head[5]]));
            let (state, rest) = rest.split_at_checked(length).ok_or_else(garbled)?;
            if owner(state, self.peers) != self.me || parent > self.packing.mask {
                return Err(garbled());
            }
            let name = self.tree.name(state);
            self.visited.prefetch(name);
            self.staged.push((name, self.packing.pack(from, parent)));
            if self.staged.len() >= BATCH {
                self.settle()?;
            }
            records = rest;
        }
        if !records.is_empty() {
            return Err(garbled());
        }
        self.settle()
    }
}

fn full_limit(full: Full) -> Limit {
    let message = match full {
        Full::Shapes => format!("the states of this system have more than {MAX_SHAPES} different lengths"),
        Full::Nodes => "there is no memory for more states".into(),
    };
    Limit::Other { message }
}

fn garbled() -> PartError {
    PartError::Defect("a worker sent what no worker sends".into())
}

impl<S: System + ?Sized> Part for Partition<'_, '_, S> {
    fn receive(&mut self, from: usize, kind: u8, records: &[u8]) -> Result<(), PartError> {
        match kind {
            REACHED => self.take_states(from, records),
            _ => Err(garbled()),
        }
    }

    fn work(&mut self, quantum: usize, out: &mut Outbox) -> Result<Work, PartError> {
        let until = self.next.saturating_add(quantum);
        while self.next < self.names.len() && !self.decided {
            if self.next >= until {
                return Ok(Work::More);
            }
            while self.next < self.names.len() && self.staged.len() < BATCH && !self.decided {
                self.decided = self.expand(out)?.is_break();
            }
            self.settle()?;
        }
        Ok(if self.decided { Work::Decided } else { Work::Idle })
    }

    fn next_stage(&mut self) -> Result<bool, PartError> {
        Ok(false)
    }

    fn figures(&self) -> Figures {
        let own = self.names.capacity() * 8 + self.parents.capacity() * 4;
        Figures {
            states: self.visited.len(),
            transitions: self.transitions,
            expanded: self.next as u64,
            pending: (self.names.len() - self.next) as u64,
            memory: self.visited.bytes() + self.tree.bytes() + own as u64,
        }
    }
}

/// A way that is being walked back.
#[derive(Debug, Clone, Copy)]
struct Walk {
    trail: u32,
    steps: u32,
    at: u32,
}

/// Walks from what was found back to the initial states, from owner to owner; each keeps the states of its own.
pub struct Trail {
    me: usize,
    packing: Packing,
    tree: Tree,
    names: Vec<Name>,
    parents: Vec<u32>,
    queue: Vec<Walk>,
    figures: Figures,
    outcome: PartialOutcome,
}

/// A state on the way to what was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Piece {
    trail: u32,
    /// Steps from here to what was found.
    steps: u32,
    state: Vec<u8>,
}

/// What one worker knows in the end.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct PartialOutcome {
    findings: Vec<Finding>,
    pieces: Vec<Piece>,
    /// The states of this worker.
    pub states: u64,
    /// The steps it has followed.
    pub transitions: u64,
}

impl Trail {
    /// What was found, and what this worker knows of the ways to it.
    pub fn finish(self) -> PartialOutcome {
        self.outcome
    }
}

impl Part for Trail {
    fn receive(&mut self, _: usize, kind: u8, records: &[u8]) -> Result<(), PartError> {
        let (walks, rest) = records.as_chunks::<12>();
        if kind != WALK || !rest.is_empty() {
            return Err(garbled());
        }
        for r in walks {
            let number = |at: usize| u32::from_le_bytes([r[at], r[at + 1], r[at + 2], r[at + 3]]);
            self.queue.push(Walk { trail: number(0), steps: number(4), at: number(8) });
        }
        Ok(())
    }

    fn work(&mut self, _: usize, out: &mut Outbox) -> Result<Work, PartError> {
        while let Some(Walk { trail, steps, at }) = self.queue.pop() {
            let (name, parent) =
                self.names.get(at as usize).zip(self.parents.get(at as usize)).ok_or_else(garbled)?;
            let mut state = Vec::new();
            self.tree.load(*name, &mut state);
            self.outcome.pieces.push(Piece { trail, steps, state });
            if *parent == NONE {
                continue;
            }
            let (owner, at) = self.packing.unpack(*parent);
            if owner == self.me {
                self.queue.push(Walk { trail, steps: steps + 1, at });
                continue;
            }
            let record = out.post(owner, WALK);
            for number in [trail, steps + 1, at] {
                record.extend_from_slice(&number.to_le_bytes());
            }
        }
        Ok(Work::Idle)
    }

    fn next_stage(&mut self) -> Result<bool, PartError> {
        Ok(false)
    }

    fn figures(&self) -> Figures {
        self.figures
    }
}

/// Joins what the workers of a search found: one answer per question, with witnesses of the whole way. `memory` is what
/// they used together.
pub fn join<S: System + ?Sized>(
    system: &mut S,
    check: &Check,
    parts: Vec<PartialOutcome>,
    memory: u64,
    meter: &Meter,
) -> Outcome {
    let states = parts.iter().map(|part| part.states).sum();
    let statistics = Statistics {
        states,
        transitions: parts.iter().map(|part| part.transitions).sum(),
        seconds: meter.elapsed().as_secs_f64(),
        bytes_per_state: memory as f64 / (states as f64).max(1.0),
        memory_bytes: memory,
        ..Statistics::default()
    };
    let packing = Packing::new(parts.len());
    let mut pieces: Vec<Piece> = Vec::new();
    let mut joined: Vec<Finding> = Vec::new();
    let mut all = Vec::new();
    for part in parts {
        pieces.extend(part.pieces);
        all.push(part.findings);
    }
    pieces.sort_unstable_by_key(|piece| (piece.trail, std::cmp::Reverse(piece.steps)));
    for (worker, mut findings) in all.into_iter().enumerate() {
        for (number, witness) in (0u32..).zip(findings.iter_mut().flat_map(Finding::witnesses_mut)) {
            let trail = packing.pack(worker, number);
            let begin = pieces.partition_point(|piece| piece.trail < trail);
            let end = pieces.partition_point(|piece| piece.trail <= trail);
            *witness = way(system, &pieces[begin..end], witness.steps.first().copied());
        }
        if joined.is_empty() {
            joined = findings;
        } else {
            joined.iter_mut().zip(findings).for_each(|(a, b)| a.join(b));
        }
    }
    Outcome { answers: answers_from(check, joined, None), statistics, limit: None }
}

/// The witness along these states, and by one more step at the end.
fn way<S: System + ?Sized>(system: &mut S, states: &[Piece], last: Option<u32>) -> Witness {
    let initial = states.first().map_or(0, |first| place_of(&first.state, |push| system.initial(push)));
    let mut steps = Vec::with_capacity(states.len());
    for pair in states.windows(2) {
        steps.push(place_of(&pair[1].state, |push| {
            system.steps(&pair[0].state, &mut |_: Step, state: &[u8]| push(state))
        }));
    }
    steps.extend(last);
    Witness { initial, steps, loop_start: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_spread_evenly_over_the_owners() {
        for peers in [2, 3, 7] {
            let mut counts = vec![0; peers];
            for n in 0..10_000u32 {
                let state = format!("{n:08} of a state");
                counts[owner(state.as_bytes(), peers)] += 1;
            }
            let even = 10_000 / peers;
            assert!(counts.iter().all(|c| *c > even * 9 / 10 && *c < even * 11 / 10), "{counts:?}");
        }
    }
}
