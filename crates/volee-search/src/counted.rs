//! Depth-first traversal with replacement, its memory counted in states: the algorithm of the reports as they
//! print it.
//!
//! Jard and Jéron 1991, section 2.1, and 1989, section 4: one path is kept, and beside it as many visited
//! states as fit; a visited state chosen at random makes room. Of a state on the path only the number of the
//! next step is kept, so that what is counted is all there is; steps are made anew on the way back.
//! [`crate::replacement`] needs fewer bytes and less time; this one draws the curves of the reports, is the
//! plainest statement of the algorithm, and a twin for the other.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::rc::Rc;

use volee_system::{FaultId, Flow, Limit, Meter, Progress, Snapshot, Step, System, Witness, collect_initial};

use crate::check::{Statistics, Turnover};
use crate::questions::{OnFault, Questions};
use volee_store::Sketch;

/// Steps between two looks at the clock.
const LOOK: u64 = 4096;
/// Bytes for the estimate of how many states there are.
const SKETCH: u64 = 1 << 20;

/// States on the path are pinned; of the others one may be forgotten in no time.
struct Heap {
    slots: HashMap<Rc<[u8]>, u32>,
    states: Vec<Rc<[u8]>>,
    /// Slots of states that are not on the path, and where each slot is among them.
    loose: Vec<u32>,
    place: Vec<u32>,
    most: usize,
    seed: u64,
    insertions: u64,
    replaced: u64,
    hits: u64,
}

impl Heap {
    fn new(most: usize, seed: u64) -> Self {
        Heap {
            slots: HashMap::new(),
            states: Vec::new(),
            loose: Vec::new(),
            place: Vec::new(),
            most,
            seed,
            insertions: 0,
            replaced: 0,
            hits: 0,
        }
    }

    fn random(&mut self, below: usize) -> usize {
        self.seed = self.seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.seed;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((u128::from(bits ^ (bits >> 31)) * below as u128) >> 64) as usize
    }

    fn knows(&mut self, state: &[u8]) -> bool {
        let known = self.slots.contains_key(state);
        self.hits += u64::from(known);
        known
    }

    /// Stores a state, pinned. `None` when all that is kept is on the path.
    fn pin(&mut self, state: &[u8]) -> Option<u32> {
        let state: Rc<[u8]> = state.into();
        let slot = if self.states.len() < self.most {
            self.states.push(Rc::clone(&state));
            self.place.push(u32::MAX);
            self.states.len() as u32 - 1
        } else {
            let chosen = match self.loose.len() {
                0 => return None,
                count => self.random(count),
            };
            let slot = self.loose.swap_remove(chosen);
            if let Some(&moved) = self.loose.get(chosen) {
                self.place[moved as usize] = chosen as u32;
            }
            let old = std::mem::replace(&mut self.states[slot as usize], Rc::clone(&state));
            self.slots.remove(&old);
            self.replaced += 1;
            slot
        };
        self.slots.insert(state, slot);
        self.insertions += 1;
        Some(slot)
    }

    fn unpin(&mut self, slot: u32) {
        self.place[slot as usize] = self.loose.len() as u32;
        self.loose.push(slot);
    }

    fn bytes(&self) -> u64 {
        let bytes = self.states.first().map_or(0, |state| state.len());
        (self.states.len() * (bytes + 64)) as u64
    }
}

/// A state of the path, and the number of the step to take next.
struct Frame {
    slot: u32,
    next: u32,
}

/// A step of a state: how it fails, if it does, and where it leads, if anywhere.
struct Taken {
    fault: Option<FaultId>,
    target: Option<Rc<[u8]>>,
}

struct Search<'a, 'c, S: ?Sized> {
    system: &'a mut S,
    questions: &'a mut Questions<'c>,
    meter: &'a Meter,
    progress: &'a mut dyn Progress,
    heap: Heap,
    path: Vec<Frame>,
    initial: usize,
    sketch: Sketch,
    statistics: Statistics,
    limit: Option<Limit>,
    longest: u64,
}

/// Visits all states with at most `most` of them in memory.
pub(crate) fn search<S: System + ?Sized>(
    system: &mut S,
    questions: &mut Questions<'_>,
    meter: &Meter,
    progress: &mut dyn Progress,
    most: usize,
    seed: u64,
) -> (Statistics, Option<Limit>) {
    questions.count_once();
    let mut search = Search {
        system,
        questions,
        meter,
        progress,
        heap: Heap::new(most.max(1), seed),
        path: Vec::new(),
        initial: 0,
        sketch: Sketch::new(SKETCH),
        statistics: Statistics::default(),
        limit: None,
        longest: 0,
    };
    let _ = search.run();
    search.finish()
}

impl<S: System + ?Sized> Search<'_, '_, S> {
    fn run(&mut self) -> Flow {
        for (number, state) in collect_initial(self.system).into_iter().enumerate() {
            self.initial = number;
            self.statistics.transitions += 1;
            if !self.heap.knows(&state) {
                self.enter(&state)?;
            }
            while let Some(frame) = self.path.last_mut() {
                let (slot, ordinal) = (frame.slot, frame.next);
                frame.next += 1;
                self.advance(slot, ordinal)?;
            }
        }
        Flow::Continue(())
    }

    /// Takes a step of the last state of the path, or leaves it.
    fn advance(&mut self, slot: u32, ordinal: u32) -> Flow {
        let state = Rc::clone(&self.heap.states[slot as usize]);
        let deepest = self.meter.budget().depth.is_some_and(|most| self.path.len() as u64 > most);
        if deepest {
            let bound = self.meter.budget().depth.unwrap_or_default();
            self.limit.get_or_insert(Limit::Depth { bound });
            return self.leave(slot);
        }
        let Some(taken) = self.step(&state, ordinal) else {
            if ordinal == 0 {
                let flow = self.questions.end(self.system, &state);
                self.give_witness(self.path.len() - 1, None);
                flow?;
            }
            return self.leave(slot);
        };
        self.statistics.transitions += 1;
        if self.statistics.transitions.is_multiple_of(LOOK) {
            self.look()?;
        }
        if let Some(fault) = taken.fault.filter(|_| self.questions.on_fault() != OnFault::Ignore) {
            let flow = self.questions.fault(self.system, &state, ordinal, fault);
            self.give_witness(self.path.len() - 1, Some(ordinal));
            flow?;
        }
        match taken.target {
            Some(target) if !self.heap.knows(&target) => self.enter(&target),
            _ => Flow::Continue(()),
        }
    }

    /// One step of a state, made anew.
    fn step(&mut self, state: &[u8], ordinal: u32) -> Option<Taken> {
        let (mut at, mut taken) = (0, None);
        let _ = self.system.steps(state, &mut |step: Step, target: &[u8]| {
            if at < ordinal {
                at += 1;
                return Flow::Continue(());
            }
            taken = Some(Taken { fault: step.fault, target: (!step.stays).then(|| target.into()) });
            Flow::Break(())
        });
        taken
    }

    /// Visits a state and puts it on the path.
    fn enter(&mut self, state: &[u8]) -> Flow {
        self.sketch.add(state);
        let flow = self.questions.visit(self.system, state);
        self.give_witness(self.path.len(), None);
        flow?;
        let Some(slot) = self.heap.pin(state) else {
            let message = format!(
                "{} states are too few: a path of {} states must be kept",
                self.heap.most,
                self.path.len() + 1
            );
            self.limit = Some(Limit::Other { message });
            return Flow::Break(());
        };
        self.path.push(Frame { slot, next: 0 });
        self.longest = self.longest.max(self.path.len() as u64);
        self.statistics.max_depth = self.statistics.max_depth.max(self.path.len() as u64 - 1);
        Flow::Continue(())
    }

    fn leave(&mut self, slot: u32) -> Flow {
        self.heap.unpin(slot);
        self.path.pop();
        Flow::Continue(())
    }

    /// Tells the way along the first this many states of the path, and one more step.
    fn give_witness(&mut self, states: usize, last: Option<u32>) {
        if self.questions.wants_witness() {
            let steps = self.path[..states].iter().map(|frame| frame.next - 1).chain(last).collect();
            self.questions.give_witness(&Witness { initial: self.initial as u32, steps, loop_start: None });
        }
    }

    fn look(&mut self) -> Flow {
        let memory = self.heap.bytes();
        let checked = self.meter.check().and_then(|()| {
            self.meter.check_memory(memory, || format!("{} states are kept", self.heap.states.len()))
        });
        self.progress.report(&Snapshot {
            states: self.heap.states.len() as u64,
            transitions: self.statistics.transitions,
            depth: self.path.len() as u64,
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
        let (heap, mut statistics) = (self.heap, self.statistics);
        statistics.memory_bytes = heap.bytes();
        statistics.table_bytes = heap.bytes();
        statistics.states = heap.insertions;
        if heap.replaced > 0 {
            let distinct = self.sketch.estimate().round() as u64;
            statistics.states = distinct;
            statistics.turnover = Some(Turnover {
                insertions: heap.insertions,
                replaced: heap.replaced,
                hit_rate: heap.hits as f64 / (heap.insertions + heap.hits).max(1) as f64,
                longest_path: self.longest,
                distinct,
                distinct_error: self.sketch.standard_error(),
            });
        }
        (statistics, self.limit)
    }
}
