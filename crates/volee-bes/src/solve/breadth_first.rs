//! Breadth-first resolution by one worker: the distributed algorithm with nobody to talk to ([`super::partition`]).

use volee_system::part::{Outbox, Work};
use volee_system::{Meter, Progress};

use super::partition::{Partition, Share};
use super::{SolveError, Solved, Solver, Watch};
use crate::graph::BooleanGraph;

/// Expansions between two looks at the clock.
const QUANTUM: usize = 4096;

/// Solves breadth-first.
pub(super) fn solve<G: BooleanGraph + ?Sized>(
    graph: &mut G,
    meter: &Meter,
    progress: &mut dyn Progress,
) -> Result<Solved, SolveError> {
    let mut part = Partition::new(graph, Share::ALONE)?;
    let mut nobody = Outbox::new(0, 1);
    let mut watch = Watch::new(meter, progress);
    // Closing the main variable's block decides it, with nothing left to be told.
    let mut closing = true;
    while closing {
        let (statistics, pending) = part.costs();
        watch.look(&statistics, pending)?;
        match part.advance(QUANTUM, &mut nobody)? {
            Work::More => {}
            Work::Idle => closing = part.close_block(),
            Work::Decided => closing = false,
        }
    }
    let outcome = part.finish();
    let value = outcome.value.expect("the main variable is stable once its block is closed");
    let (solution, statistics) = (outcome.solution, outcome.statistics);
    Ok(Solved { value, solution, statistics, solver: Solver::BreadthFirst })
}
