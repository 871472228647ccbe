//! Breadth-first search over the exact store: witnesses are shortest, at the price of a parent per state.

use volee_system::{Flow, Limit, Meter, Progress, Snapshot, Step, System, Witness};

use crate::check::Statistics;
use crate::questions::{OnFault, Questions};
use crate::store::Store;

struct Origin {
    parent: Option<u32>,
    ordinal: u32,
    depth: u32,
}

fn witness(origins: &[Origin], number: usize, last: Option<u32>) -> Witness {
    let mut steps: Vec<u32> = last.into_iter().collect();
    let mut at = &origins[number];
    while let Some(parent) = at.parent {
        steps.push(at.ordinal);
        at = &origins[parent as usize];
    }
    steps.reverse();
    Witness { initial: at.ordinal, steps, loop_start: None }
}

pub(crate) fn search<S: System + ?Sized>(
    system: &mut S,
    questions: &mut Questions<'_>,
    meter: &Meter,
    progress: &mut dyn Progress,
) -> (Statistics, Option<Limit>) {
    let mut store = Store::default();
    let mut statistics = Statistics::default();
    let mut limit = None;
    let _ = explore(system, questions, meter, progress, &mut store, &mut statistics, &mut limit);
    statistics.states = store.len();
    statistics.memory_bytes = store.bytes() + store.len() * 12;
    (statistics, limit)
}

fn explore<S: System + ?Sized>(
    system: &mut S,
    questions: &mut Questions<'_>,
    meter: &Meter,
    progress: &mut dyn Progress,
    store: &mut Store,
    statistics: &mut Statistics,
    limit: &mut Option<Limit>,
) -> Flow {
    let on_fault = questions.on_fault();
    let mut origins = Vec::new();
    let mut ordinal = 0;
    let _ = system.initial(&mut |state| {
        if store.insert(state).is_some() {
            origins.push(Origin { parent: None, ordinal, depth: 0 });
        }
        ordinal += 1;
        Flow::Continue(())
    });
    statistics.transitions = u64::from(ordinal);
    let mut number = 0;
    while number < origins.len() {
        let depth = origins[number].depth;
        statistics.max_depth = u64::from(depth);
        let state = store.state(number as u32);
        questions.visit(system, &state, || witness(&origins, number, None))?;
        if meter.budget().depth.is_some_and(|bound| u64::from(depth) >= bound) {
            *limit = Some(Limit::Depth { bound: u64::from(depth) });
        } else {
            let mut pushed = 0;
            let mut faults = Vec::new();
            let _ = system.steps(&state, &mut |step: Step, target: &[u8]| {
                if let (Some(fault), true) = (step.fault, on_fault != OnFault::Ignore) {
                    faults.push((pushed, fault));
                }
                if store.insert(target).is_some() {
                    origins.push(Origin { parent: Some(number as u32), ordinal: pushed, depth: depth + 1 });
                }
                pushed += 1;
                if faults.is_empty() || on_fault == OnFault::Record {
                    Flow::Continue(())
                } else {
                    Flow::Break(())
                }
            });
            statistics.transitions += u64::from(pushed);
            for (ordinal, fault) in faults {
                questions.fault(system, fault, || witness(&origins, number, Some(ordinal)))?;
            }
            if pushed == 0 {
                questions.end(system, &state, || witness(&origins, number, None))?;
            }
        }
        number += 1;
        if number.is_multiple_of(4096) {
            progress.report(&Snapshot {
                states: store.len(),
                transitions: statistics.transitions,
                depth: u64::from(depth),
                max_depth: u64::from(depth),
                pending: (origins.len() - number) as u64,
                memory: store.bytes(),
            });
            let checked = meter.check().and_then(|()| {
                meter.check_memory(store.bytes(), || format!("{} states so far", store.len()))
            });
            if let Err(reached) = checked {
                *limit = Some(reached);
                return Flow::Break(());
            }
        }
    }
    Flow::Continue(())
}
