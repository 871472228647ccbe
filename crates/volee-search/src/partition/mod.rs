//! The part of a state space that belongs to one of several workers: distributed reachability.
//!
//! States are owned by some of their bytes, so that most steps stay with one worker ([`Spread`]). Expanding a
//! state keeps those targets that are ours and posts the others to their owners, with the number of the state
//! they were reached from; so every state has a parent somewhere, and a witness is found by walking from
//! owner to owner ([`WitnessWalk`]). What is asked of states and steps is asked by the very code of the
//! sequential search. Nothing here knows threads or networks: see [`volee_system::part`].
//!
//! States are expanded level by level, as far as levels are known here, which is nearly breadth-first:
//! witnesses are short, not shortest.

mod closing;
mod cycles;
mod edges;
mod kept;
mod sorting;
mod witness;

use volee_system::part::{
    Figures, Keepable, Level, Levels, Outbox, Packing, Part, PartError, Sample, Spread, Work,
};
use volee_system::{FaultId, Flow, Limit, Sink, Step, System, Witness};

pub use self::closing::conclude;
use self::cycles::Cycles;
pub use self::edges::Recurrence;
use self::edges::{Edges, TAG};
use self::kept::Coming;
pub use self::kept::{Circling, Remembered};
pub use self::sorting::Sorting;
use self::witness::Walk;
pub use self::witness::{PartialOutcome, WitnessWalk, join};
use crate::check::Check;
use crate::questions::{Finding, OnFault, Questions};
use volee_store::{Exact, Full, StateRef, Tree, Visited};

/// Targets that are worth looking up together.
const BATCH: usize = 32;
/// Initial states that are looked at to find out how to spread all.
const SAMPLED: usize = 64;
/// The parent of an initial state.
const NONE: u32 = u32::MAX;

/// A packet of states: number of the parent, length, state. What has no parent is no state but the level of
/// those that follow.
const REACHED: u8 = 1;

/// One worker's part of a search.
pub struct Partition<'s, 'c, S: ?Sized> {
    system: &'s mut S,
    questions: Questions<'c>,
    me: usize,
    peers: usize,
    packing: Packing,
    spread: Spread,
    tree: Tree,
    visited: Exact,
    /// All our states, in the order of discovery.
    names: Vec<StateRef>,
    parents: Vec<u32>,
    /// The numbers of those that are not expanded.
    levels: Levels,
    /// The level of the last state that was posted to each worker.
    posted: Vec<Level>,
    state: Vec<u8>,
    staged: Vec<Staged>,
    faults: Vec<(u32, FaultId)>,
    transitions: u64,
    decided: bool,
    /// The transitions that may be on a cycle, where cycles are looked for.
    edges: Option<Edges>,
    is_fair: bool,
    remembers: fn(&S) -> Remembered,
    /// What was remembered before this went on.
    before: Remembered,
    coming: Coming,
}

/// How a part begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// With those initial states that are its own.
    Anew,
    /// With nothing: it is given what was kept ([`Partition::take_piece`]).
    Kept,
}

/// A state of ours that waits to be looked up.
#[derive(Debug, Clone, Copy)]
struct Staged {
    name: StateRef,
    parent: u32,
    level: Level,
    /// Who moves, if the transition may be on a cycle that is looked for.
    mover: Option<u8>,
}

/// The sink of an expansion.
struct Targets<'e> {
    tree: &'e mut Tree,
    visited: &'e Exact,
    staged: &'e mut Vec<Staged>,
    faults: &'e mut Vec<(u32, FaultId)>,
    out: &'e mut Outbox,
    posted: &'e mut [Level],
    spread: Spread,
    /// The level of the targets.
    level: Level,
    on_fault: OnFault,
    /// The number of the state that is expanded, alone and packed.
    source: u32,
    packed: u32,
    pushed: u32,
    staying: u32,
    too_long: bool,
    /// What the state is for cycles, where they are looked for, and how many of its transitions may be on
    /// one.
    recurrence: Option<(&'e Recurrence, u32)>,
    inner: u32,
    enabled: [u64; 4],
}

impl Targets<'_> {
    #[inline]
    fn keep(&mut self, step: Step, target: &[u8]) {
        let inside = self.recurrence.is_some_and(|(all, from)| all.is_inside(from, target));
        let mover = inside.then_some(step.process);
        self.inner += u32::from(inside);
        let owner = owner(&self.spread, target, self.out.peers());
        if owner == self.out.me() {
            let name = self.tree.name(target);
            self.visited.prefetch(name);
            self.staged.push(Staged { name, parent: self.packed, level: self.level, mover });
            return;
        }
        let tag: &[u8] = match (mover, self.recurrence.is_some()) {
            (_, false) => &[],
            (None, true) => &[0, 0],
            (Some(mover), true) => &[1, mover],
        };
        let Ok(length) = u16::try_from(target.len() + tag.len()) else {
            self.too_long = true;
            return;
        };
        let record = self.out.post(owner, REACHED);
        if record.is_empty() || self.posted[owner] != self.level {
            self.posted[owner] = self.level;
            record.extend_from_slice(&NONE.to_le_bytes());
            record.extend_from_slice(&4u16.to_le_bytes());
            record.extend_from_slice(&self.level.to_le_bytes());
        }
        record.extend_from_slice(&self.source.to_le_bytes());
        record.extend_from_slice(&length.to_le_bytes());
        record.extend_from_slice(target);
        record.extend_from_slice(tag);
    }
}

impl Sink for Targets<'_> {
    #[inline]
    fn push(&mut self, step: Step, target: &[u8]) -> Flow {
        let ordinal = self.pushed;
        self.pushed += 1;
        if !step.stays || step.fault.is_none() {
            self.enabled[usize::from(step.process / 64)] |= 1 << (step.process % 64);
        }
        if step.stays {
            self.staying += 1;
        } else {
            self.keep(step, target);
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
    /// The part of worker `me` of `peers`.
    ///
    /// # Errors
    /// A limit.
    pub fn new(
        system: &'s mut S,
        check: &'c Check,
        (me, peers): (usize, usize),
        start: Start,
    ) -> Result<Self, PartError> {
        Partition::with_edges(system, check, None, (me, peers), start)
    }

    /// The same for a search that is also to find cycles: see [`Partition::cycles`].
    ///
    /// # Errors
    /// A limit.
    pub fn with_cycles(
        system: &'s mut S,
        check: &'c Check,
        recurrence: Recurrence,
        (me, peers): (usize, usize),
        start: Start,
    ) -> Result<Self, PartError> {
        Partition::with_edges(system, check, Some(Edges::new(recurrence)), (me, peers), start)
    }

    fn with_edges(
        system: &'s mut S,
        check: &'c Check,
        edges: Option<Edges>,
        (me, peers): (usize, usize),
        start: Start,
    ) -> Result<Self, PartError> {
        let spread = spread(system, peers);
        let mut part = Partition {
            system,
            questions: Questions::new(check),
            me,
            peers,
            packing: Packing::new(peers),
            spread,
            tree: Tree::new(),
            visited: Exact::new(),
            names: Vec::new(),
            parents: Vec::new(),
            levels: Levels::default(),
            posted: vec![0; peers],
            state: Vec::new(),
            staged: Vec::new(),
            faults: Vec::new(),
            transitions: 0,
            decided: false,
            is_fair: edges.as_ref().is_some_and(Edges::is_fair),
            edges,
            remembers: |_| Remembered::default(),
            before: Remembered::default(),
            coming: Coming::default(),
        };
        if start == Start::Kept {
            return Ok(part);
        }
        let (tree, staged, transitions) = (&mut part.tree, &mut part.staged, &mut part.transitions);
        let _ = part.system.initial(&mut |state| {
            if owner(&spread, state, peers) == me {
                staged.push(Staged { name: tree.name(state), parent: NONE, level: 0, mover: None });
                *transitions += 1;
            }
            Flow::Continue(())
        });
        part.settle()?;
        Ok(part)
    }

    /// Makes sure that there is room for so many states.
    fn make_room(&mut self, states: usize) -> Result<(), PartError> {
        if let Some(full) = self.tree.full() {
            return Err(PartError::Limit(self.full(full)));
        }
        while self.visited.growth(states).is_some() {
            if self.visited.grow().is_none() {
                return Err(PartError::Limit(self.full(Full::Nodes)));
            }
        }
        Ok(())
    }

    /// Looks up all that is staged and keeps what is new.
    fn settle(&mut self) -> Result<(), PartError> {
        self.make_room(self.staged.len())?;
        for Staged { name, parent, level, mover } in self.staged.drain(..) {
            let new = self.visited.insert(name);
            if let Some(edges) = &mut self.edges {
                edges.add(name, mover.map(|mover| (parent, mover)));
            }
            if new {
                self.levels.put(self.names.len() as u32, level);
                self.names.push(name);
                self.parents.push(parent);
            }
        }
        if self.names.len() >= self.packing.bound() as usize {
            return Err(PartError::Limit(too_many(self.packing)));
        }
        Ok(())
    }

    fn full(&self, full: Full) -> Limit {
        full.limit(self.visited.bytes() + self.tree.bytes(), self.visited.needs())
    }

    /// Expands a state and asks the questions about it.
    fn expand(&mut self, at: usize, level: Level, out: &mut Outbox) -> Result<Flow, PartError> {
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
            posted: &mut self.posted,
            spread: self.spread,
            level: level.saturating_add(1),
            on_fault: self.questions.on_fault(),
            source: at as u32,
            packed: self.packing.pack(self.me, at as u32),
            pushed: 0,
            staying: 0,
            too_long: false,
            recurrence: self.edges.as_ref().map(|edges| edges.recurrence(&self.state)),
            inner: 0,
            enabled: [0; 4],
        };
        let _ = self.system.steps(&self.state, &mut targets);
        let (pushed, staying, too_long) = (targets.pushed, targets.staying, targets.too_long);
        let (inner, enabled) = (targets.inner, targets.enabled);
        if let Some(edges) = &mut self.edges {
            edges.leave(at, &self.state, inner, enabled);
        }
        if too_long {
            let message = "states of more than 65535 bytes do not travel between workers".into();
            return Err(PartError::Limit(Limit::Other { message }));
        }
        if let Some(limit) = self.system.left_out() {
            return Err(PartError::Limit(limit));
        }
        self.transitions += u64::from(pushed - staying);
        Ok(self.ask(at, pushed))
    }

    fn expanded(&self) -> usize {
        self.names.len() - self.levels.pending()
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
            let flow = self.questions.fault(self.system, &self.state, ordinal, fault);
            self.give_witness(at, Some(ordinal));
            flow?;
        }
        Flow::Continue(())
    }

    /// A witness is at first only a state of ours, named where a witness has the initial state, and the last
    /// step.
    fn give_witness(&mut self, at: usize, last: Option<u32>) {
        if self.questions.wants_witness() {
            let steps = last.into_iter().collect();
            self.questions.give_witness(&Witness { initial: at as u32, steps, loop_start: None });
        }
    }

    fn take_cycles(&mut self) -> Cycles {
        let edges = self.edges.take().unwrap_or_else(|| Edges::new(Recurrence::default()));
        Cycles::new(edges, self.names.len(), self.packing, self.me, self.figures())
    }

    /// The end of the search: what was found here, and the part that finds the ways to it. `cycle` is a state
    /// of ours from which an accepted cycle is reached ([`Circling::found`]).
    pub fn finish(self, cycle: Option<u32>) -> WitnessWalk {
        let figures = self.figures();
        let mut findings = self.questions.into_findings();
        if let (Some(initial), Some(last)) = (cycle, findings.last_mut()) {
            last.add(closing::open_cycle(), Witness { initial, ..Witness::default() });
        }
        let mut queue = Vec::new();
        for witness in findings.iter().flat_map(Finding::witnesses) {
            let id = self.packing.pack(self.me, queue.len() as u32);
            queue.push(Walk { id, steps: 0, at: witness.initial });
        }
        WitnessWalk {
            me: self.me,
            packing: self.packing,
            tree: self.tree,
            names: self.names,
            parents: self.parents,
            queue,
            figures,
            outcome: PartialOutcome::new(findings, figures),
        }
    }

    fn take_states(&mut self, from: usize, mut records: &[u8]) -> Result<(), PartError> {
        let mut level = 0;
        while let Some((head, rest)) = records.split_first_chunk::<6>() {
            let parent = u32::from_le_bytes([head[0], head[1], head[2], head[3]]);
            let length = usize::from(u16::from_le_bytes([head[4], head[5]]));
            let (state, rest) = rest.split_at_checked(length).ok_or_else(garbled)?;
            records = rest;
            if parent == NONE {
                level = u32::from_le_bytes(state.try_into().map_err(|_| garbled())?);
                continue;
            }
            let (state, mover) = match self.edges.is_some() {
                false => (state, None),
                true => {
                    let (state, tag) = state.split_last_chunk::<TAG>().ok_or_else(garbled)?;
                    (state, (tag[0] != 0).then_some(tag[1]))
                }
            };
            if owner(&self.spread, state, self.peers) != self.me || parent > self.packing.bound() {
                return Err(garbled());
            }
            let name = self.tree.name(state);
            self.visited.prefetch(name);
            self.staged.push(Staged { name, parent: self.packing.pack(from, parent), level, mover });
            if self.staged.len() >= BATCH {
                self.settle()?;
            }
        }
        if !records.is_empty() {
            return Err(garbled());
        }
        self.settle()
    }
}

/// Whose a state is.
#[inline]
fn owner(spread: &Spread, state: &[u8], peers: usize) -> usize {
    if peers == 1 { 0 } else { spread.owner(state, peers) }
}

fn too_many(packing: Packing) -> Limit {
    Limit::Other { message: format!("one worker has more than {} states", packing.bound()) }
}

/// How states are spread over the workers. All look at the same sample and come to the same conclusion.
pub fn spread<S: System + ?Sized>(system: &mut S, peers: usize) -> Spread {
    if peers == 1 {
        return Spread::EVEN;
    }
    let mut initial = Vec::new();
    let _ = system.initial(&mut |state| {
        initial.push(state.to_vec());
        if initial.len() < SAMPLED { Flow::Continue(()) } else { Flow::Break(()) }
    });
    let sample = Sample::walk(&initial, 0, |state, targets| {
        let _ = system.steps(state, &mut |step: Step, target: &[u8]| {
            if !step.stays {
                targets.push(target.to_vec());
            }
            Flow::Continue(())
        });
        // Where steps take so long that some are left out, a sample would take for ever.
        system.left_out().is_none().then_some(())
    });
    sample.map_or(Spread::EVEN, |sample| sample.spread(peers))
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
        let until = self.expanded().saturating_add(quantum);
        while self.levels.pending() > 0 && !self.decided {
            if self.expanded() >= until {
                return Ok(Work::More);
            }
            while self.staged.len() < BATCH
                && !self.decided
                && let Some((at, level)) = self.levels.take()
            {
                self.decided = self.expand(at as usize, level, out)?.is_break();
            }
            self.settle()?;
        }
        Ok(if self.decided { Work::Decided } else { Work::Idle })
    }

    fn next_stage(&mut self) -> Result<bool, PartError> {
        Ok(false)
    }

    fn can_be_kept(&self) -> Keepable {
        Keepable::Now
    }

    fn hand_out(&mut self, piece: &mut dyn FnMut(Vec<u8>) -> Flow) -> Flow {
        self.pieces(None, piece)
    }

    fn figures(&self) -> Figures {
        let edges = self.edges.as_ref().map_or(0, Edges::bytes);
        let own = self.names.capacity() * 8 + self.parents.capacity() * 4 + self.levels.bytes() + edges;
        Figures {
            states: self.visited.len(),
            transitions: self.transitions,
            expanded: self.expanded() as u64,
            pending: self.levels.pending() as u64,
            memory: self.visited.bytes() + self.tree.bytes() + own as u64,
        }
    }
}
