//! Breadth-first resolution by one worker. Where every variable has a key of its own there is a layout for
//! one ([`super::single`]); where the variables of a place share a key, or places are numbers, it is the
//! distributed algorithm with nobody to talk to ([`super::partition`]).

use std::io;

use volee_store::checkpoint::{Checkpoint, Reader, Refused, Writer};
use volee_system::part::{Outbox, Work};
use volee_system::{Meter, Progress};

use super::keep::{Strategy, run};
use super::partition::{Partition, Share};
use super::{SolveError, Solved, Solver, Statistics, single};
use crate::graph::{BooleanGraph, Trouble};
use crate::variables::one_to_a_key;

/// Expansions between two looks at the clock, and before the first one.
const QUANTUM: usize = 4096;
const FIRST_QUANTUM: usize = 1;

/// A part that is the whole.
struct Alone<'g> {
    part: Partition<&'g mut dyn BooleanGraph>,
    nobody: Outbox,
    /// The main variable's block is not closed.
    open: bool,
    quantum: usize,
}

/// Solves breadth-first.
pub(super) fn solve(
    graph: &mut dyn BooleanGraph,
    kept: Option<&Checkpoint>,
    meter: &Meter,
    progress: &mut dyn Progress,
) -> Result<Solved, SolveError> {
    if one_to_a_key(graph) {
        return single::solve(graph, kept, meter, progress);
    }
    let part = Partition::new(graph, Share::ALONE)?;
    let mut alone = Alone { part, nobody: Outbox::new(0, 1), open: true, quantum: FIRST_QUANTUM };
    run(&mut alone, kept, meter, progress)?;
    let outcome = alone.part.finish();
    let value = outcome.value.expect("the main variable is stable once its block is closed");
    let (solution, statistics) = (outcome.solution, outcome.statistics);
    Ok(Solved::alone(value, solution, statistics, Solver::BreadthFirst))
}

impl Strategy for Alone<'_> {
    const KIND: u64 = 14;
    const PATIENCE: u32 = 0;

    fn begin(&mut self) -> Result<(), SolveError> {
        Ok(())
    }

    fn is_done(&self) -> bool {
        !self.open
    }

    fn step(&mut self) -> Result<(), SolveError> {
        match self.part.advance(self.quantum, &mut self.nobody)? {
            Work::More => {}
            // Closing the main variable's block decides it, with nothing left to be told.
            Work::Idle => self.open = self.part.begin_stage().map_err(|e| Trouble(e.to_string()))?,
            Work::Decided => self.open = false,
        }
        self.quantum = (self.quantum * 2).min(QUANTUM);
        Ok(())
    }

    fn costs(&self) -> (Statistics, u64) {
        self.part.costs()
    }

    fn write(&mut self, out: &mut Writer) -> io::Result<()> {
        out.value(&self.open)?;
        self.part.write(out)
    }

    fn read(&mut self, input: &mut Reader, meter: &Meter) -> Result<(), Refused> {
        self.open = input.value()?;
        self.part.read(input, meter)
    }

    fn is_sound(&self) -> bool {
        self.part.is_sound() && (self.open || self.part.is_decided())
    }
}
