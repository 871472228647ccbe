//! Searches that remember too little to be sure: more states in the same memory, and no proof.
//!
//! An error that is found is an error. Where none is found the answer is `Unknown`, with what is known of the
//! coverage.

use volee_system::{Limit, Meter, Progress, System};

use crate::check::{Approximation, Order, Statistics};
use crate::explorer::Explorer;
use crate::questions::Questions;
use crate::{breadth, depth};
use volee_store::{Bitstate, Compact, Visited};

/// The table's size when there is no memory budget.
const DEFAULT_BYTES: u64 = 128 << 20;

pub(crate) fn search<S: System + ?Sized>(
    kind: Approximation,
    system: &mut S,
    questions: &mut Questions<'_>,
    meter: &Meter,
    progress: &mut dyn Progress,
) -> (Statistics, Option<Limit>) {
    // The tree's nodes and the stack live on what the table leaves.
    let bytes = meter.budget().memory.map_or(DEFAULT_BYTES, |budget| budget / 4 * 3);
    let order = questions.check().order;
    match kind {
        Approximation::Bitstate => match Bitstate::new(bytes) {
            None => no_memory(bytes),
            Some(store) => {
                let explorer = Explorer::new(system, questions, meter, progress, store);
                run(order, explorer, |store| {
                    let sure = coverage(store.len(), store.missed());
                    format!("{sure}, with {:.0} bits per state", store.hash_factor())
                })
            }
        },
        Approximation::Compact => match Compact::new(bytes) {
            None => no_memory(bytes),
            Some(store) => {
                let explorer = Explorer::new(system, questions, meter, progress, store);
                run(order, explorer, |store| coverage(store.len(), store.missed()))
            }
        },
    }
}

fn run<S: System + ?Sized, V: Visited>(
    order: Order,
    explorer: Explorer<'_, '_, S, V>,
    words: impl FnOnce(&V) -> String,
) -> (Statistics, Option<Limit>) {
    let (statistics, limit, store) = match order {
        Order::DepthFirst => depth::search(explorer),
        Order::BreadthFirst => breadth::search(explorer),
    };
    let limit = limit.unwrap_or_else(|| Limit::Approximation { coverage: words(&store) });
    (statistics, Some(limit))
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
