//! Depth-first traversal with replacement in single file: one path, one step after the other.
//!
//! Jard and Jéron 1991, section 2.1. Of a state on the path only the number of its next step is kept; steps
//! are made anew on the way back. What is kept, and in what, is told by whoever starts it: whole states, so
//! many of them ([`crate::counted`]), or what tells states apart, in so many bytes ([`volee_store::Frugal`]).
//!
//! Every state that is entered is expanded, so by induction along any run every reachable state is visited,
//! whatever is forgotten; and no state is twice on the path, so the search ends.

use std::ops::ControlFlow;

use volee_system::{FaultId, Flow, Limit, Meter, Progress, Snapshot, Step, System, Witness, collect_initial};

use crate::check::{Check, Statistics, Turnover};
use crate::questions::{OnFault, Questions};
pub(crate) use volee_store::Turnover as Turned;
use volee_store::{Frugal, Sketch};

/// Steps between two looks at the clock.
const LOOK: u64 = 4096;
/// States after which it is known what states and steps are like.
const PROBE: u64 = 256;
/// Bytes of a state that is long.
const LONG: u64 = 32;

/// What a traversal keeps: its path, and as much of what it has visited as there is room for.
pub(crate) trait Kept {
    /// Whether a state is on the path or is remembered.
    fn knows(&mut self, state: &[u8]) -> bool;

    /// Puts a state that is not known on the path. `None` when there is no room.
    fn enter(&mut self, state: &[u8]) -> Option<()>;

    /// Leaves the last state of the path, which may be forgotten then.
    fn leave(&mut self);

    /// The last state of the path.
    fn last(&self) -> Option<&[u8]>;

    /// The number of its next step.
    fn next_step(&mut self) -> &mut u32;

    /// How many states are on the path.
    fn depth(&self) -> usize;

    /// The numbers of the next steps along the path, from its last state.
    fn steps(&self) -> Vec<u32>;

    fn turned(&self) -> Turned;

    /// How many states are kept.
    fn len(&self) -> u64;

    /// Bytes in use, or the most that were.
    fn bytes(&self) -> u64;

    /// What it says when there is no room in a budget.
    fn full(&self, budget: u64) -> Limit;
}

impl Kept for Frugal {
    fn knows(&mut self, state: &[u8]) -> bool {
        self.knows(state)
    }

    fn enter(&mut self, state: &[u8]) -> Option<()> {
        self.enter(state)
    }

    fn leave(&mut self) {
        self.leave();
    }

    fn last(&self) -> Option<&[u8]> {
        self.last()
    }

    fn next_step(&mut self) -> &mut u32 {
        self.next_step()
    }

    fn depth(&self) -> usize {
        self.depth()
    }

    fn steps(&self) -> Vec<u32> {
        self.steps()
    }

    fn turned(&self) -> Turned {
        self.turnover
    }

    fn len(&self) -> u64 {
        self.len()
    }

    fn bytes(&self) -> u64 {
        self.peak()
    }

    fn full(&self, budget: u64) -> Limit {
        let needed = match self.depth() {
            ..=1 => "the smallest tables alone are larger".into(),
            path => format!("a path of {} states must be kept", path + 1),
        };
        Limit::Memory { budget, needed }
    }
}

/// A step of a state: how it fails, if it does, and whether it leads anywhere, to the target.
struct Taken {
    fault: Option<FaultId>,
    leads: bool,
}

/// A traversal at work.
pub(crate) struct Search<'a, 'c, S: ?Sized, K> {
    system: &'a mut S,
    questions: &'a mut Questions<'c>,
    meter: &'a Meter,
    progress: &'a mut dyn Progress,
    kept: K,
    target: Vec<u8>,
    /// The number of the initial state that the path begins with.
    initial: u32,
    sketch: Sketch,
    statistics: Statistics,
    limit: Option<Limit>,
    longest: u64,
    steps: u64,
    /// It only looks what states are like: how many bytes they have together.
    probes: bool,
    bytes_seen: u64,
}

/// Visits all states.
pub(crate) fn search<S: System + ?Sized, K: Kept>(
    system: &mut S,
    questions: &mut Questions<'_>,
    meter: &Meter,
    progress: &mut dyn Progress,
    parts: (K, Sketch, Statistics),
) -> (Statistics, Option<Limit>) {
    let mut search = Search::new(system, questions, meter, progress, parts);
    let _ = search.run();
    search.finish()
}

/// Whether the first states are long and have few steps, so that single file is the right way. Nothing is
/// asked of them: who goes on in another way finds what it would have found.
pub(crate) fn is_thin<S: System + ?Sized>(
    system: &mut S,
    meter: &Meter,
    progress: &mut dyn Progress,
    (frugal, sketch): (Frugal, Sketch),
) -> bool {
    let nothing = Check::new().deadlocks(false).faults(false);
    let mut questions = Questions::new(&nothing);
    let parts = (frugal, sketch, Statistics::default());
    let mut search = Search::new(system, &mut questions, meter, progress, parts);
    search.probes = true;
    let flow = search.run();
    flow.is_break()
        && search.kept.turnover.insertions == PROBE
        && search.bytes_seen >= LONG * PROBE
        && 2 * search.statistics.transitions <= 3 * PROBE
}

impl<'a, 'c, S: System + ?Sized, K: Kept> Search<'a, 'c, S, K> {
    fn new(
        system: &'a mut S,
        questions: &'a mut Questions<'c>,
        meter: &'a Meter,
        progress: &'a mut dyn Progress,
        (kept, sketch, statistics): (K, Sketch, Statistics),
    ) -> Self {
        Search {
            system,
            questions,
            meter,
            progress,
            kept,
            target: Vec::new(),
            initial: 0,
            sketch,
            statistics,
            limit: None,
            longest: 0,
            steps: 0,
            probes: false,
            bytes_seen: 0,
        }
    }

    fn run(&mut self) -> Flow {
        for (number, state) in collect_initial(self.system).into_iter().enumerate() {
            self.initial = number as u32;
            self.statistics.transitions += 1;
            self.target = state;
            self.explore()?;
        }
        Flow::Continue(())
    }

    /// Visits what can be reached from the target and is not known.
    fn explore(&mut self) -> Flow {
        if !self.kept.knows(&self.target) {
            self.enter()?;
        }
        while self.kept.depth() > 0 {
            self.advance()?;
        }
        Flow::Continue(())
    }

    /// Takes a step of the last state of the path, or leaves it.
    fn advance(&mut self) -> Flow {
        if let Some(bound) = self.meter.budget().depth.filter(|&most| self.depth() > most) {
            self.limit.get_or_insert(Limit::Depth { bound });
            self.kept.leave();
            return Flow::Continue(());
        }
        let next = self.kept.next_step();
        let ordinal = *next;
        *next += 1;
        self.steps += 1;
        if self.steps.is_multiple_of(LOOK) {
            self.look()?;
        }
        let Some(taken) = self.step(ordinal) else {
            if ordinal == 0 {
                let state = self.kept.last().unwrap_or_default();
                let flow = self.questions.end(self.system, state);
                self.give_witness(self.kept.depth() - 1, None);
                flow?;
            }
            self.kept.leave();
            return Flow::Continue(());
        };
        self.statistics.transitions += 1;
        if let Some(fault) = taken.fault.filter(|_| self.questions.on_fault() != OnFault::Ignore) {
            let state = self.kept.last().unwrap_or_default();
            let flow = self.questions.fault(self.system, state, ordinal, fault);
            self.give_witness(self.kept.depth() - 1, Some(ordinal));
            flow?;
        }
        if taken.leads && !self.kept.knows(&self.target) { self.enter() } else { Flow::Continue(()) }
    }

    /// How many states are on the path.
    fn depth(&self) -> u64 {
        self.kept.depth() as u64
    }

    /// One step of the last state, made anew.
    fn step(&mut self, ordinal: u32) -> Option<Taken> {
        let (mut at, mut taken) = (0, None);
        let (target, state) = (&mut self.target, self.kept.last()?);
        let _ = self.system.steps(state, &mut |step: Step, to: &[u8]| {
            if at < ordinal {
                at += 1;
                return Flow::Continue(());
            }
            taken = Some(Taken { fault: step.fault, leads: !step.stays });
            target.clear();
            target.extend_from_slice(to);
            Flow::Break(())
        });
        taken
    }

    /// Visits the target and puts it on the path.
    fn enter(&mut self) -> Flow {
        self.sketch.add(&self.target);
        if self.kept.turned().replaced > 0 {
            self.questions.note_forgetting();
        }
        let flow = self.questions.visit(self.system, &self.target);
        self.give_witness(self.kept.depth(), None);
        flow?;
        if self.kept.enter(&self.target).is_none() {
            self.limit = Some(self.kept.full(self.meter.budget().memory.unwrap_or(u64::MAX)));
            return Flow::Break(());
        }
        self.longest = self.longest.max(self.depth());
        self.bytes_seen += self.target.len() as u64;
        if self.probes && self.kept.turned().insertions == PROBE {
            return Flow::Break(());
        }
        self.statistics.max_depth = self.statistics.max_depth.max(self.depth() - 1);
        Flow::Continue(())
    }

    /// Tells the way along the first this many states of the path, and one more step.
    fn give_witness(&mut self, states: usize, last: Option<u32>) {
        if self.questions.wants_witness() {
            // The numbers are those of the next steps, from the last state.
            let taken = self.kept.steps().into_iter().rev().take(states);
            let steps = taken.map(|next| next - 1).chain(last).collect();
            self.questions.give_witness(&Witness { initial: self.initial, steps, loop_start: None });
        }
    }

    /// The most that was used.
    fn bytes(&self) -> u64 {
        self.kept.bytes() + self.sketch.bytes() + self.target.capacity() as u64
    }

    fn look(&mut self) -> Flow {
        let memory = self.bytes();
        let checked = self.meter.check().and_then(|()| {
            self.meter.check_memory(memory, || format!("{} states are kept", self.kept.len()))
        });
        self.progress.report(&Snapshot {
            states: self.kept.len(),
            transitions: self.statistics.transitions,
            depth: self.depth(),
            max_depth: self.statistics.max_depth,
            memory,
            ..Snapshot::default()
        });
        match checked {
            Ok(()) => Flow::Continue(()),
            Err(limit) => {
                self.limit = Some(limit);
                ControlFlow::Break(())
            }
        }
    }

    fn finish(self) -> (Statistics, Option<Limit>) {
        let (bytes, turned, mut statistics) = (self.bytes(), self.kept.turned(), self.statistics);
        statistics.memory_bytes = statistics.memory_bytes.max(bytes);
        statistics.table_bytes = bytes;
        statistics.states = turned.insertions;
        if turned.replaced > 0 {
            let distinct = self.sketch.estimate().round() as u64;
            statistics.states = distinct;
            statistics.turnover = Some(Turnover {
                insertions: turned.insertions,
                replaced: turned.replaced,
                hit_rate: turned.hits as f64 / (turned.insertions + turned.hits).max(1) as f64,
                longest_path: self.longest,
                distinct,
                distinct_error: self.sketch.standard_error(),
            });
        }
        (statistics, self.limit)
    }
}
