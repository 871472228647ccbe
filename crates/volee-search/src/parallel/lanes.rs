//! Two ways to find again what a crew has met: the search that was paused, depth-first, and one that goes
//! breadth-first.
//!
//! A crew tells that there is an error but not how to get there. The paused search would find one in the end,
//! but a depth-first search can walk past a shallow error for minutes; a breadth-first one comes late to a
//! deep one. So both look for it at the same time, each alone and in its own fixed order, and the one that
//! needs fewer states has found it: not the one that is sooner, so that the same call gives the same run
//! whatever else the machine does. Neither goes on when it has met more states than the other needed.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use volee_store::{Exact, Visited};
use volee_system::{Budget, Flow, Meter, Quiet, System};

use super::Crew;
use crate::breadth;
use crate::check::{Check, Order, Statistics};
use crate::depth::{self, Stack};
use crate::explorer::Explorer;
use crate::questions::{Finding, Questions};

/// What the breadth-first lane has found.
struct Lane {
    states: u64,
    findings: Vec<Finding>,
    statistics: Statistics,
}

/// What a crew knows of what is to be found.
pub(crate) enum Expected {
    /// Nothing, or that there is enough for a search to end.
    Anything,
    /// There is no error among all states, and which goals can be reached.
    Goals(Vec<bool>),
    /// Among all states there are this many errors, and these goals can be reached; the crew has left steps
    /// out if `reduces`.
    Errors { errors: u64, reached: Vec<bool>, reduces: bool },
}

/// Goes on to what the crew has met. Neither search goes on after `most` states. One that has seen everything
/// has found what there is, if that is less than the other finds.
pub(crate) fn race<S: System + ?Sized, V: Visited>(
    explorer: &mut Explorer<'_, '_, S, V>,
    stack: &mut Stack,
    crew: &Crew<'_>,
    expected: &Expected,
    most: u64,
) -> Flow {
    let fewest = Arc::new(AtomicU64::new(most));
    explorer.race(Some(Arc::clone(&fewest)));
    let meter = explorer.meter();
    let (flow, lane) = std::thread::scope(|scope| {
        let lane = scope.spawn(|| breadth_first(crew, expected, meter, &fewest));
        let flow = depth::go_on(explorer, stack);
        let complete = flow.is_continue() && !explorer.is_large();
        let questions = explorer.questions();
        let found = questions.has_enough() || complete && questions.has_found();
        let own = if found { explorer.visited.len() } else { u64::MAX };
        // A store that is about to forget needs the memory of both, and who has seen that there is nothing
        // needs nobody.
        let most = if explorer.visited.replaces() || complete && !found { 0 } else { own };
        fewest.fetch_min(most, Ordering::Relaxed);
        (flow, lane.join().ok().flatten().filter(|lane| lane.states < most))
    });
    explorer.race(None);
    match lane {
        None => flow,
        Some(lane) => {
            explorer.take_over(lane.findings, lane.statistics);
            Flow::Break(())
        }
    }
}

/// The breadth-first lane, in half of the memory; `None` when it has not found enough.
fn breadth_first(
    crew: &Crew<'_>,
    expected: &Expected,
    meter: &Meter,
    fewest: &Arc<AtomicU64>,
) -> Option<Lane> {
    let (mut system, check) = (crew.another)()?;
    let check = Check { order: Order::BreadthFirst, ..check };
    let mut questions = Questions::new(&check);
    let flow = match expected {
        Expected::Anything => Flow::Continue(()),
        Expected::Goals(reached) => questions.settle(reached),
        Expected::Errors { errors, reached, .. } => questions.await_errors(*errors, reached),
    };
    if flow.is_break() {
        return None;
    }
    let memory = meter.budget().memory.map(|bytes| bytes / 2);
    let own = Meter::start(Budget { memory, ..meter.left() });
    let mut quiet = Quiet;
    let mut explorer = Explorer::new(system.as_mut(), &mut questions, &own, &mut quiet, Exact::new());
    if let Expected::Errors { reduces, .. } = expected {
        // It leaves out what the crew has left out, and so meets the same errors.
        explorer.reducing.by_state_alone(*reduces);
    }
    explorer.race(Some(Arc::clone(fewest)));
    let (statistics, limit, _) = breadth::search(explorer);
    let complete = limit.is_none() && questions.has_found();
    if !complete && !questions.has_enough() {
        return None;
    }
    fewest.fetch_min(statistics.states, Ordering::Relaxed);
    Some(Lane { states: statistics.states, findings: questions.into_findings(), statistics })
}
