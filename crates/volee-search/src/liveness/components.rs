//! Emptiness by components (Couvreur 1999; Tarjan 1972 underneath), with an explicit stack.
//!
//! Open nodes are on a stack; `roots` cuts it into the components known so far, each with the marks met
//! inside it. A transition to an open node merges components; when the merged one has all marks, it contains
//! an accepted lasso.

use std::ops::ControlFlow;

use volee_system::{Limit, Meter, Progress, Reason, ReasonKind, Snapshot, System, Witness};

use super::crew::{self, Told};
use super::lasso::{Lasso, cycle, way};
use super::marks::Marks;
use super::nodes::{DEAD, Nodes, UNVISITED};
use super::product::{Arc, Product, STUTTER, Stop, UNNUMBERED};
use super::{Claim, ClaimOptions, Found, reason};
use crate::check::{Reduction, Statistics};
use volee_store::Full;
use volee_store::checkpoint::{Keeper, Refused};

/// How many nodes are expanded between two looks at the clock.
const TICK: u32 = 1 << 12;

/// Nodes after which it is asked whether the reduced system is better settled by itself; four times as many
/// the next time.
const SETTLE_AFTER: usize = 1 << 13;

/// A node on the path, and its transitions that wait in `Search::waiting`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame {
    pub node: u32,
    pub first: usize,
    pub next: usize,
}

/// A component on the stack of open nodes.
pub(super) struct Root<const W: usize> {
    /// Where it starts on the stack of open nodes.
    pub start: usize,
    /// The marks on the transition that led into it.
    pub entry: Marks<W>,
    /// The marks inside it.
    pub inside: Marks<W>,
    /// A lasso in it was told.
    pub told: bool,
}

pub(super) struct Search<'a, S: System + ?Sized, const W: usize> {
    pub product: Product<'a, S, W>,
    all: Marks<W>,
    pub frames: Vec<Frame>,
    pub waiting: Vec<Arc<W>>,
    pub open: Vec<u32>,
    pub roots: Vec<Root<W>>,
    pub initial: u32,
    pub max_depth: usize,
    /// The errors found, and how many are wanted.
    pub errors: Vec<(Reason, Witness)>,
    wanted: usize,
    /// Nodes after which the reduced system may be settled by itself.
    pub settle_after: usize,
    /// Nodes after which several threads are asked, and what they have found.
    pub ask_after: usize,
    elsewhere: Option<(Statistics, Vec<u64>)>,
    /// The file that it goes on from was written by several threads.
    pub kept_by_crew: bool,
    /// Several threads know that there is an error, and one is to find it.
    pub is_left_to_one: bool,
    /// Where the search is kept, if it is, and what the system had left out when it was.
    pub keeper: Option<Keeper>,
    pub left_out: Option<String>,
}

/// The components from the one with the open node at `place` on are one, with these marks too.
pub(super) fn merged<const W: usize>(
    roots: &mut Vec<Root<W>>,
    place: usize,
    mut marks: Marks<W>,
) -> &mut Root<W> {
    let mut told = false;
    while let Some(root) = roots.pop_if(|root| root.start > place) {
        marks = marks.with(root.inside).with(root.entry);
        told |= root.told;
    }
    let root = roots.last_mut().expect("the first component starts at the bottom");
    root.inside = root.inside.with(marks);
    root.told |= told;
    root
}

/// Looks for a lasso that the claim accepts.
pub(crate) fn search<S: System + ?Sized, const W: usize>(
    system: &mut S,
    claim: &Claim,
    options: ClaimOptions<'_>,
    meter: &Meter,
    progress: &mut dyn Progress,
) -> (Found, Statistics, Vec<u64>) {
    let mut search = Search::<S, W> {
        product: Product::new(system, claim, options.faults, options.reduction == Reduction::Persistent),
        all: Marks::all(claim.automaton.all_marks()),
        frames: Vec::new(),
        waiting: Vec::new(),
        open: Vec::new(),
        roots: Vec::new(),
        initial: 0,
        max_depth: 0,
        errors: Vec::new(),
        wanted: options.max_errors.max(1),
        settle_after: SETTLE_AFTER,
        ask_after: crew::begins(claim, options, W > 1, meter),
        elsewhere: None,
        kept_by_crew: false,
        is_left_to_one: false,
        keeper: options.checkpoint.map(|kept| Keeper::new(kept.clone(), meter)),
        left_out: None,
    };
    let ended = match search.restore(claim, meter) {
        Err(limit) => Some(limit),
        Ok(()) if search.kept_by_crew => match search.ask_crew(claim, options, meter, progress) {
            ControlFlow::Break(limit) => limit,
            ControlFlow::Continue(()) => {
                search.begin_again();
                search.run(claim, options, meter, progress)
            }
        },
        Ok(()) => {
            // What goes on from a file keeps to what it has settled, or has not.
            if options.settles_first && search.product.reduces() && search.product.nodes.len() == 0 {
                search.product.settle_expansions(usize::MAX, meter);
            }
            search.run(claim, options, meter, progress)
        }
    };
    let ended = ended.or_else(|| search.left_out.take().map(|message| Limit::Other { message }));
    let found = match ended {
        Some(limit) if search.errors.is_empty() => Found::Limit(limit),
        _ => Found::of(std::mem::take(&mut search.errors)),
    };
    if let Some((statistics, letters)) = search.elsewhere {
        return (found, statistics, letters);
    }
    let statistics = Statistics {
        states: search.product.nodes.len() as u64,
        transitions: search.product.transitions,
        max_depth: search.max_depth as u64,
        memory_bytes: search.bytes(),
        reduced: search.product.reduced,
        ..Statistics::default()
    };
    let letters = search.product.letters().to_vec();
    (found, statistics, letters)
}

impl<S: System + ?Sized, const W: usize> Search<'_, S, W> {
    pub(super) fn bytes(&self) -> u64 {
        self.product.bytes()
            + (self.waiting.capacity() * size_of::<Arc<W>>()
                + self.frames.capacity() * size_of::<Frame>()
                + self.open.capacity() * 4
                + self.roots.capacity() * size_of::<Root<W>>()) as u64
    }

    /// Searches until the end, or until enough errors are found; the limit that ended it otherwise.
    fn run(
        &mut self,
        claim: &Claim,
        options: ClaimOptions<'_>,
        meter: &Meter,
        progress: &mut dyn Progress,
    ) -> Option<Limit> {
        loop {
            match self.pass(claim, options, meter, progress) {
                ControlFlow::Break(limit) => return limit,
                ControlFlow::Continue(()) => self.begin_again(),
            }
        }
    }

    /// Whether the reduced system was settled by itself, within half of what the product has so far.
    fn settles(&mut self, meter: &Meter) -> bool {
        let nodes = self.product.nodes.len();
        self.settle_after = nodes.saturating_mul(4);
        let may = meter.budget().depth.is_none() && self.errors.is_empty() && self.product.is_cut_short();
        may && self.product.settle_expansions(nodes / 2, meter)
    }

    /// Has a crew decide; goes on where there is a run to be found, or nobody knows.
    #[cold]
    fn ask_crew(
        &mut self,
        claim: &Claim,
        options: ClaimOptions<'_>,
        meter: &Meter,
        progress: &mut dyn Progress,
    ) -> ControlFlow<Option<Limit>> {
        self.ask_after = usize::MAX;
        if !self.errors.is_empty() {
            return ControlFlow::Continue(());
        }
        let Some(Told { limit, statistics, letters }) = crew::ask(self, claim, options, meter, progress)
        else {
            return ControlFlow::Continue(());
        };
        self.elsewhere = Some((statistics, letters));
        ControlFlow::Break(limit)
    }

    /// Several threads cannot go on from their file.
    pub(super) fn refused(&self, refused: Refused) -> Told {
        let path = self.keeper.as_ref().map(|keeper| keeper.checkpoint.path.clone()).unwrap_or_default();
        let limit = Some(refused.into_limit(&path));
        Told { limit, statistics: Statistics::default(), letters: Vec::new() }
    }

    /// What the system has left out, now or before it was kept.
    pub(super) fn left_out(&self) -> Option<String> {
        let now = self.product.system.left_out().map(|limit| limit.to_string());
        now.or_else(|| self.left_out.clone())
    }

    fn begin_again(&mut self) {
        self.frames.clear();
        self.waiting.clear();
        self.open.clear();
        self.roots.clear();
        self.product.nodes = Nodes::new();
        (self.product.transitions, self.product.reduced) = (0, 0);
    }

    /// Searches until the end; goes on where it is to begin again with settled expansions.
    fn pass(
        &mut self,
        claim: &Claim,
        options: ClaimOptions<'_>,
        meter: &Meter,
        progress: &mut dyn Progress,
    ) -> ControlFlow<Option<Limit>> {
        let mut until_tick = TICK;
        for (ordinal, node) in self.product.initial().into_iter().enumerate() {
            let mut found = None;
            if self.frames.is_empty() {
                self.initial = ordinal as u32;
                if self.product.nodes.order[node as usize] != UNVISITED {
                    continue;
                }
                found = self.enter(node, Marks::EMPTY);
            } else if ordinal as u32 != self.initial {
                // The search goes on from a file, on the way from another initial state.
                continue;
            }
            loop {
                match found {
                    Some(Found::Limit(limit)) => return ControlFlow::Break(Some(limit)),
                    Some(Found::Errors(errors)) => {
                        self.errors.extend(errors);
                        if self.errors.len() >= self.wanted {
                            return ControlFlow::Break(None);
                        }
                        self.product.watch_faults = options.faults;
                    }
                    Some(Found::Nothing) | None => {}
                }
                let Some(&frame) = self.frames.last() else { break };
                found = self.step(frame, claim);
                until_tick -= 1;
                if until_tick == 0 {
                    until_tick = TICK;
                    if let Err(limit) = self.look_around(meter, progress) {
                        return ControlFlow::Break(Some(limit));
                    }
                }
                if self.product.nodes.len() >= self.settle_after && self.settles(meter) {
                    return ControlFlow::Continue(());
                }
                // Where something was found, what led there may not be expanded.
                if found.is_none() && self.product.nodes.len() >= self.ask_after {
                    self.ask_crew(claim, options, meter, progress)?;
                }
                if let Some(bound) = meter.budget().depth.filter(|&b| self.frames.len() as u64 > b + 1) {
                    return ControlFlow::Break(Some(Limit::Depth { bound }));
                }
            }
        }
        ControlFlow::Break(None)
    }

    fn look_around(&mut self, meter: &Meter, progress: &mut dyn Progress) -> Result<(), Limit> {
        let mut memory = self.bytes();
        if meter.budget().memory.is_some_and(|budget| memory > budget) && self.product.forget_steps() {
            memory = self.bytes();
        }
        progress.report(&Snapshot {
            states: self.product.nodes.len() as u64,
            transitions: self.product.transitions,
            depth: self.frames.len() as u64,
            max_depth: self.max_depth as u64,
            pending: self.waiting.len() as u64,
            memory,
        });
        let nodes = self.product.nodes.len();
        let mut checked = meter.check().and_then(|()| {
            meter.check_memory(memory, || {
                format!("there are more than {nodes} pairs of a state and a state of the claim")
            })
        });
        if let Some(keeper) = &self.keeper {
            let length = self.product.state_length();
            checked = checked.and_then(|()| keeper.last_moment(meter, nodes as u64, length));
            if checked.is_err() || keeper.is_time(meter) {
                self.keep(meter, progress);
            }
        }
        checked
    }

    /// Puts a new node on the path.
    fn enter(&mut self, node: u32, entry: Marks<W>) -> Option<Found> {
        let first = self.waiting.len();
        self.frames.push(Frame { node, first, next: first });
        self.max_depth = self.max_depth.max(self.frames.len() - 1);
        self.roots.push(Root { start: self.open.len(), entry, inside: Marks::EMPTY, told: false });
        self.open.push(node);
        self.product.nodes.order[node as usize] = self.open.len() as u32;
        if self.product.is_trap(node) {
            self.product.watch_faults = false;
            let reason = reason(ReasonKind::Trap, false);
            let any = self.wanted == 1;
            let wanted = |product: &Product<'_, S, W>, other| other == node || any && product.is_trap(other);
            let witness = match way(&mut self.product, wanted) {
                Some(way) => Witness { initial: way.initial, steps: way.steps, loop_start: None },
                None => self.path(self.frames.len() - 1, None),
            };
            return Some(Found::error(reason, witness));
        }
        match self.product.expand(node, &mut self.waiting) {
            Ok(()) => None,
            Err(Stop::Fault(ordinal, reason)) => {
                self.waiting.truncate(first);
                Some(Found::error(reason, self.path(self.frames.len() - 1, ordinal)))
            }
            Err(Stop::Full(full)) => Some(Found::Limit(full_limit(full, self.bytes()))),
        }
    }

    /// Takes the next transition of the top of the path, or leaves it.
    fn step(&mut self, frame: Frame, claim: &Claim) -> Option<Found> {
        if frame.next == self.waiting.len() {
            self.leave(frame);
            return None;
        }
        let arc = self.waiting[frame.next];
        self.frames.last_mut().expect("the path is not empty").next += 1;
        match self.product.nodes.order[arc.node as usize] {
            DEAD => None,
            UNVISITED => self.enter(arc.node, arc.marks),
            place => self.merge(place as usize - 1, arc.marks).then(|| self.accepted(claim)),
        }
    }

    fn leave(&mut self, frame: Frame) {
        self.frames.pop();
        self.waiting.truncate(frame.first);
        let start = self.roots.last().expect("each open node is in a component").start;
        if self.open[start] == frame.node {
            self.roots.pop();
            for node in self.open.drain(start..) {
                self.product.nodes.order[node as usize] = DEAD;
            }
        }
    }

    /// A transition back to the open node at `place` closes a cycle; whether the component now has all marks,
    /// and had not.
    fn merge(&mut self, place: usize, marks: Marks<W>) -> bool {
        let all = self.all;
        let root = merged(&mut self.roots, place, marks);
        let new = root.inside == all && !root.told;
        root.told |= new;
        new
    }

    /// The lasso through the component on top.
    fn accepted(&mut self, claim: &Claim) -> Found {
        self.product.watch_faults = false;
        let start = self.roots.last().expect("a component was accepted").start;
        let lowest = start as u32 + 1;
        let inside = |product: &Product<'_, S, W>, node: u32| {
            let order = product.nodes.order[node as usize];
            order >= lowest && order != DEAD
        };
        let (mut witness, node) = match way(&mut self.product, inside) {
            Some(way) => (Witness { initial: way.initial, steps: way.steps, loop_start: None }, way.node),
            None => {
                let node = self.open[start];
                let at = self.frames.iter().position(|f| f.node == node);
                (self.path(at.expect("the root of a component is on the path"), None), node)
            }
        };
        let Lasso { steps } = match cycle(&mut self.product, node, lowest, self.all) {
            Ok(lasso) => lasso,
            Err(Stop::Full(full)) => return Found::Limit(full_limit(full, self.bytes())),
            Err(Stop::Fault(..)) => unreachable!("the nodes of the cycle were expanded before"),
        };
        witness.loop_start = Some(witness.steps.len());
        witness.steps.extend(steps);
        let loops = witness.loop_start != Some(witness.steps.len());
        Found::error(reason(claim.kind, loops), witness)
    }

    /// The steps along the path to its `at`-th node, and one more.
    fn path(&mut self, at: usize, last: Option<u32>) -> Witness {
        let mut steps = Vec::with_capacity(at + 1);
        for frame in &self.frames[..at] {
            let arc = self.waiting[frame.next - 1];
            match arc.ordinal {
                STUTTER => {}
                UNNUMBERED => steps.extend(self.product.ordinal(frame.node, arc.node)),
                ordinal => steps.push(ordinal),
            }
        }
        steps.extend(last);
        Witness { initial: self.initial, steps, loop_start: None }
    }
}

pub(crate) fn full_limit(full: Full, bytes: u64) -> Limit {
    match full {
        Full::Shapes => {
            Limit::Other { message: "the states of this system have too many different lengths".into() }
        }
        Full::Nodes => Limit::Memory { budget: bytes, needed: "there are too many states".into() },
    }
}
