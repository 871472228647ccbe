//! Searches that remember too little to be sure: more states in the same memory, and no proof.
//!
//! An error that is found is an error. Where none is found the answer is `Unknown`, with what is known of the
//! coverage.
//!
//! Bits are searched by all cores once a search has shown to be large ([`bits`]). What these find is looked
//! for once more by one thread, which needs about as many states where it finds it at all: then the same call
//! gives the same run.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use volee_system::{Limit, Meter, Progress, System};

use crate::check::{Approximation, Order, Statistics};
use crate::depth::Stack;
use crate::explorer::Explorer;
use crate::parallel::{Crew, bits};
use crate::questions::Questions;
use crate::{breadth, depth};
use volee_store::{Bitstate, Compact, Visited};

/// The table's size when there is no memory budget.
const DEFAULT_BYTES: u64 = 128 << 20;

pub(crate) fn search<S: System + ?Sized>(
    kind: Approximation,
    system: &mut S,
    questions: &mut Questions<'_>,
    crew: Option<&Crew<'_>>,
    meter: &Meter,
    progress: &mut dyn Progress,
) -> (Statistics, Option<Limit>) {
    // The tree's nodes and the stack live on what the table leaves.
    let bytes = meter.budget().memory.map_or(DEFAULT_BYTES, |budget| budget / 4 * 3);
    let order = questions.check().order;
    let shared = order == Order::DepthFirst && !questions.check().goes_on(1);
    match kind {
        Approximation::Bitstate => match crew.filter(|crew| shared && crew.size() > 1) {
            Some(crew) => by_all(crew, system, questions, bytes, meter, progress),
            None => alone(system, questions, bytes, meter, progress),
        },
        Approximation::Compact => match Compact::new(bytes) {
            None => no_memory(bytes),
            Some(store) => {
                let explorer = Explorer::new(system, questions, meter, progress, store);
                let (statistics, limit, store) = run(order, explorer);
                let words = || coverage(store.len(), store.missed());
                (statistics, Some(limit.unwrap_or_else(|| Limit::Approximation { coverage: words() })))
            }
        },
    }
}

/// A bitstate search by one thread.
fn alone<S: System + ?Sized>(
    system: &mut S,
    questions: &mut Questions<'_>,
    bytes: u64,
    meter: &Meter,
    progress: &mut dyn Progress,
) -> (Statistics, Option<Limit>) {
    let Some(store) = Bitstate::new(bytes) else { return no_memory(bytes) };
    let order = questions.check().order;
    let (statistics, limit, store) = run(order, Explorer::new(system, questions, meter, progress, store));
    (statistics, Some(limit.unwrap_or_else(|| bits_limit(store.len(), store.missed(), store.hash_factor()))))
}

/// A bitstate search that several threads begin anew when it has shown to be large.
fn by_all<S: System + ?Sized>(
    crew: &Crew<'_>,
    system: &mut S,
    questions: &mut Questions<'_>,
    bytes: u64,
    meter: &Meter,
    progress: &mut dyn Progress,
) -> (Statistics, Option<Limit>) {
    let Some(store) = Bitstate::new(bytes) else { return no_memory(bytes) };
    let mut explorer = Explorer::new(system, questions, meter, progress, store);
    explorer.crew_begins = crew.begins(false);
    let mut stack = Stack::default();
    let ended = depth::begin(&mut explorer, &mut stack).is_break()
        || depth::go_on(&mut explorer, &mut stack).is_break()
        || !explorer.is_large();
    let (statistics, limit, store) = explorer.finish(stack.bytes());
    if ended {
        let limit = limit.unwrap_or_else(|| bits_limit(store.len(), store.missed(), store.hash_factor()));
        return (statistics, Some(limit));
    }
    drop((store, stack));
    let Some(found) = bits::search(crew, system, bytes, meter, progress) else { return no_memory(bytes) };
    let states = found.statistics.states;
    let limit =
        found.limit.unwrap_or_else(|| bits_limit(states, found.missed, found.bits / states.max(1) as f64));
    if !found.decided {
        questions.take_over(found.findings);
        return (found.statistics, Some(limit));
    }
    let Some(store) = Bitstate::new(bytes) else { return no_memory(bytes) };
    let mut explorer = Explorer::new(system, questions, meter, progress, store);
    explorer.race(Some(Arc::new(AtomicU64::new(states.next_power_of_two()))));
    let (statistics, _, store) = depth::search(explorer);
    if questions.has_found() {
        return (statistics, Some(bits_limit(store.len(), store.missed(), store.hash_factor())));
    }
    questions.take_over(found.findings);
    (found.statistics, Some(limit))
}

fn bits_limit(states: u64, missed: f64, factor: f64) -> Limit {
    let sure = coverage(states, missed);
    Limit::Approximation { coverage: format!("{sure}, with {factor:.0} bits per state") }
}

fn run<S: System + ?Sized, V: Visited>(
    order: Order,
    explorer: Explorer<'_, '_, S, V>,
) -> (Statistics, Option<Limit>, V) {
    match order {
        Order::DepthFirst => depth::search(explorer),
        Order::BreadthFirst => breadth::search(explorer),
    }
}

fn no_memory(bytes: u64) -> (Statistics, Option<Limit>) {
    let needed = "the table alone needs that much".into();
    (Statistics::default(), Some(Limit::Memory { budget: bytes, needed }))
}

/// What share of the states was probably seen. States behind those that were missed are not counted: nobody
/// knows them.
fn coverage(states: u64, missed: f64) -> String {
    let share = 100.0 * states as f64 / (states as f64 + missed);
    let share = if share > 99.9999 { "more than 99.9999".into() } else { format!("about {share:.4}") };
    format!("{share} % of the states it met were told apart")
}
