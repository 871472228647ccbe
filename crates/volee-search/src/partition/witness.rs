//! The ways to what several workers found: walked back from owner to owner, and joined in one place.

use serde::{Deserialize, Serialize};
use volee_system::part::{Figures, Outbox, Packing, Part, PartError, Work};
use volee_system::{Meter, Step, System, Witness};

use super::{NONE, garbled};
use crate::check::{Check, Outcome, Statistics};
use crate::paths::place_of;
use crate::questions::{Finding, answers_from};
use volee_store::{StateRef, Tree};

/// A packet of walks: which witness, steps so far, number of the state.
const WALK: u8 = 2;

/// A way that is being walked back.
#[derive(Debug, Clone, Copy)]
pub(super) struct Walk {
    pub id: u32,
    pub steps: u32,
    pub at: u32,
}

/// Walks from what was found back to the initial states, from owner to owner; each keeps the states of its
/// own.
pub struct WitnessWalk {
    pub(super) me: usize,
    pub(super) packing: Packing,
    pub(super) tree: Tree,
    pub(super) names: Vec<StateRef>,
    pub(super) parents: Vec<u32>,
    pub(super) queue: Vec<Walk>,
    pub(super) figures: Figures,
    pub(super) outcome: PartialOutcome,
}

/// A state on the way to what was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Piece {
    id: u32,
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

impl PartialOutcome {
    pub(super) fn new(findings: Vec<Finding>, figures: Figures) -> Self {
        let Figures { states, transitions, .. } = figures;
        PartialOutcome { findings, pieces: Vec::new(), states, transitions }
    }
}

impl WitnessWalk {
    /// What was found, and what this worker knows of the ways to it.
    pub fn finish(self) -> PartialOutcome {
        self.outcome
    }
}

impl Part for WitnessWalk {
    fn receive(&mut self, _: usize, kind: u8, records: &[u8]) -> Result<(), PartError> {
        let (walks, rest) = records.as_chunks::<12>();
        if kind != WALK || !rest.is_empty() {
            return Err(garbled());
        }
        for r in walks {
            let number = |at: usize| u32::from_le_bytes([r[at], r[at + 1], r[at + 2], r[at + 3]]);
            self.queue.push(Walk { id: number(0), steps: number(4), at: number(8) });
        }
        Ok(())
    }

    fn work(&mut self, _: usize, out: &mut Outbox) -> Result<Work, PartError> {
        while let Some(Walk { id, steps, at }) = self.queue.pop() {
            let (name, parent) =
                self.names.get(at as usize).zip(self.parents.get(at as usize)).ok_or_else(garbled)?;
            let mut state = Vec::new();
            self.tree.load(*name, &mut state);
            self.outcome.pieces.push(Piece { id, steps, state });
            if *parent == NONE {
                continue;
            }
            let (owner, at) = self.packing.unpack(*parent);
            if owner == self.me {
                self.queue.push(Walk { id, steps: steps + 1, at });
                continue;
            }
            let record = out.post(owner, WALK);
            for number in [id, steps + 1, at] {
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

/// Joins what the workers of a search found: one answer per question, with witnesses of the whole way.
/// `memory` is what they used together.
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
    pieces.sort_unstable_by_key(|piece| (piece.id, std::cmp::Reverse(piece.steps)));
    for (worker, mut findings) in all.into_iter().enumerate() {
        for (number, witness) in (0u32..).zip(findings.iter_mut().flat_map(Finding::witnesses_mut)) {
            let id = packing.pack(worker, number);
            let begin = pieces.partition_point(|piece| piece.id < id);
            let end = pieces.partition_point(|piece| piece.id <= id);
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
    let initial = states.first().and_then(|first| place_of(&first.state, |push| system.initial(push)));
    let initial = initial.unwrap_or_default();
    let mut steps = Vec::with_capacity(states.len());
    for pair in states.windows(2) {
        let step = place_of(&pair[1].state, |push| {
            system.steps(&pair[0].state, &mut |_: Step, state: &[u8]| push(state))
        });
        steps.push(step.unwrap_or_default());
    }
    steps.extend(last);
    Witness { initial, steps, loop_start: None }
}
