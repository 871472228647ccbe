//! Breadth-first resolution by one worker. Where every variable has a key of its own there is a layout for
//! one ([`super::single`]); where the variables of a place share a key, or places are numbers, it is the
//! distributed algorithm with nobody to talk to ([`super::partition`]).

use volee_system::part::{Outbox, Work};
use volee_system::{Meter, Progress};

use super::partition::{Partition, Share};
use super::{SolveError, Solved, Solver, Ticker, single};
use crate::graph::{BooleanGraph, Trouble};
use crate::variables::one_to_a_key;

/// Expansions between two looks at the clock.
const QUANTUM: usize = 4096;

/// Solves breadth-first.
pub(super) fn solve<G: BooleanGraph + ?Sized>(
    graph: &mut G,
    meter: &Meter,
    progress: &mut dyn Progress,
) -> Result<Solved, SolveError> {
    if one_to_a_key(graph) {
        return single::solve(graph, meter, progress);
    }
    let mut part = Partition::new(graph, Share::ALONE)?;
    let mut nobody = Outbox::new(0, 1);
    let mut ticker = Ticker::new(meter, progress);
    // Closing the main variable's block decides it, with nothing left to be told.
    let mut closing = true;
    while closing {
        let (statistics, pending) = part.costs();
        ticker.look(&statistics, pending)?;
        match part.advance(QUANTUM, &mut nobody)? {
            Work::More => {}
            Work::Idle => closing = part.begin_stage().map_err(|e| Trouble(e.to_string()))?,
            Work::Decided => closing = false,
        }
    }
    let outcome = part.finish();
    let value = outcome.value.expect("the main variable is stable once its block is closed");
    let (solution, statistics) = (outcome.solution, outcome.statistics);
    Ok(Solved { value, solution, statistics, solver: Solver::BreadthFirst })
}
