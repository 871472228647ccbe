//! A hunt: everything is given to finding errors.
//!
//! | while | who looks |
//! |---|---|
//! | there are few states | two searches, one depth-first and one breadth-first: the run of the one that needs fewer states is shown |
//! | memory lasts | a crew over one table whose workers look in all ways: level by level, deep, from any state, by walks ([`crate::parallel`]) |
//! | memory is short | a swarm of searches that remember bits ([`swarm`]), each with a hash function and an order of its own, and random walks ([`walk`]) |
//!
//! What the crew meets first is chance. So the first two searches go on for about as many states as the crew
//! has met; only what they do not find by then is shown as the crew has come there.
//!
//! That a property holds is said only where all states were seen, each as itself.

pub(crate) mod dive;
mod swarm;
mod walk;

use volee_store::Exact;
use volee_system::{Budget, Flow, Limit, Meter, Progress, System};

use crate::check::Statistics;
use crate::depth::{self, Stack};
use crate::explorer::Explorer;
use crate::parallel::{Asked, Crew, Expected, race};
use crate::questions::Questions;

pub(crate) fn search<S: System + ?Sized>(
    system: &mut S,
    questions: &mut Questions<'_>,
    crew: Option<&Crew<'_>>,
    shares: bool,
    meter: &Meter,
    progress: &mut dyn Progress,
) -> (Statistics, Option<Limit>) {
    let check = questions.check();
    // In little memory two searches have a table each to the end.
    let memory = meter.budget().memory.map(|bytes| if shares { bytes } else { bytes / 2 });
    let own = Meter::start(Budget { memory, ..meter.left() });
    let mut explorer =
        Explorer::new(system, questions, &own, progress, Exact::new()).with_crew(crew.filter(|_| shares));
    let mut stack = Stack::default();
    let _ = exactly(&mut explorer, &mut stack, crew);
    let (mut statistics, limit, table) = explorer.finish(stack.bytes());
    drop((table, stack));
    let is_short = matches!(limit, Some(Limit::Memory { .. }));
    if questions.has_found() || !is_short {
        return (statistics, limit);
    }
    progress
        .say("the memory does not hold all states: from here on searches that remember bits look for errors");
    let swarmed = swarm::search(system, check, crew, meter, progress);
    statistics.transitions += swarmed.transitions;
    statistics.max_depth = statistics.max_depth.max(swarmed.depth);
    statistics.memory_bytes = statistics.memory_bytes.max(swarmed.bytes);
    statistics.swarm = Some(swarmed.swarm);
    match swarmed.findings {
        Some(findings) => {
            questions.take_over(findings);
            (statistics, None)
        }
        None => (statistics, swarmed.limit.filter(|limit| !is_memory(limit)).or(limit)),
    }
}

fn is_memory(limit: &Limit) -> bool {
    matches!(limit, Limit::Memory { .. })
}

/// Looks as long as memory holds every state.
fn exactly<S: System + ?Sized>(
    explorer: &mut Explorer<'_, '_, S, Exact>,
    stack: &mut Stack,
    crew: Option<&Crew<'_>>,
) -> Flow {
    depth::begin(explorer, stack)?;
    let Some(crew) = crew else { return depth::go_on(explorer, stack) };
    // The depth-first search stops here by itself.
    let few = explorer.crew_begins.saturating_mul(2);
    race(explorer, stack, crew, &Expected::Anything, few)?;
    if !explorer.is_large() {
        return Flow::Continue(());
    }
    match explorer.ask_crew(None)? {
        // Names need components; what has none is left to the first two.
        Asked::InVain | Asked::Expects(..) => race(explorer, stack, crew, &Expected::Anything, u64::MAX),
        Asked::Short(statistics, limit) => {
            explorer.elsewhere = Some(*statistics);
            explorer.stop(limit)
        }
        Asked::Caught(caught) => {
            let most = caught.statistics.states.next_power_of_two().max(few);
            let expected = caught.reached.map_or(Expected::Anything, Expected::Goals);
            let flow = race(explorer, stack, crew, &expected, most);
            let has_run = caught.findings.iter().any(|finding| finding.witnesses().next().is_some());
            if !explorer.questions().has_found() && has_run {
                explorer.take_over(caught.findings, caught.statistics);
            }
            flow
        }
    }
}
