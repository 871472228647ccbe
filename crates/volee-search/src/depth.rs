//! Depth-first search over the exact store. The stack is a real path, so a witness is the ordinals along it.

use volee_system::{Flow, Limit, Meter, Progress, Snapshot, Step, System, Witness};

use crate::check::Statistics;
use crate::questions::{OnFault, Questions};
use crate::store::Store;

struct Frame {
    /// By which step this state was reached.
    ordinal: u32,
    /// Children that are new, in reverse order: (number, ordinal).
    pending: Vec<(u32, u32)>,
}

fn witness(initial: u32, stack: &[Frame], last: Option<u32>) -> Witness {
    let steps = stack.iter().skip(1).map(|f| f.ordinal).chain(last).collect();
    Witness { initial, steps, loop_start: None }
}

pub(crate) fn search<S: System + ?Sized>(
    system: &mut S,
    questions: &mut Questions<'_>,
    meter: &Meter,
    progress: &mut dyn Progress,
) -> (Statistics, Option<Limit>) {
    let mut store = Store::default();
    let mut statistics = Statistics::default();
    let mut initials = Vec::new();
    let mut ordinal = 0;
    let _ = system.initial(&mut |state| {
        if let Some(number) = store.insert(state) {
            initials.push((number, ordinal));
        }
        ordinal += 1;
        Flow::Continue(())
    });
    statistics.transitions = u64::from(ordinal);
    let mut limit = None;
    for (number, initial) in initials {
        let flow = explore(
            system,
            questions,
            meter,
            progress,
            &mut store,
            &mut statistics,
            &mut limit,
            number,
            initial,
        );
        if flow.is_break() {
            break;
        }
    }
    statistics.states = store.len();
    statistics.memory_bytes = store.bytes();
    (statistics, limit)
}

#[allow(clippy::too_many_arguments)]
fn explore<S: System + ?Sized>(
    system: &mut S,
    questions: &mut Questions<'_>,
    meter: &Meter,
    progress: &mut dyn Progress,
    store: &mut Store,
    statistics: &mut Statistics,
    limit: &mut Option<Limit>,
    number: u32,
    initial: u32,
) -> Flow {
    let on_fault = questions.on_fault();
    let mut stack = vec![Frame { ordinal: 0, pending: Vec::new() }];
    let mut next = Some(number);
    let mut rounds = 0u64;
    while let Some(number) = next {
        let depth = stack.len() as u64 - 1;
        statistics.max_depth = statistics.max_depth.max(depth);
        let state = store.state(number);
        questions.visit(system, &state, || witness(initial, &stack, None))?;
        if meter.budget().depth.is_some_and(|bound| depth >= bound) {
            *limit = Some(Limit::Depth { bound: depth });
        } else {
            let mut pushed = 0;
            let mut faults = Vec::new();
            let mut pending = Vec::new();
            let _ = system.steps(&state, &mut |step: Step, target: &[u8]| {
                if let (Some(fault), true) = (step.fault, on_fault != OnFault::Ignore) {
                    faults.push((pushed, fault));
                }
                if let Some(child) = store.insert(target) {
                    pending.push((child, pushed));
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
                questions.fault(system, fault, || witness(initial, &stack, Some(ordinal)))?;
            }
            if pushed == 0 {
                questions.end(system, &state, || witness(initial, &stack, None))?;
            }
            pending.reverse();
            stack.last_mut().expect("the stack has the state being expanded").pending = pending;
        }
        rounds += 1;
        if rounds.is_multiple_of(4096) {
            let snapshot = Snapshot {
                states: store.len(),
                transitions: statistics.transitions,
                depth,
                max_depth: statistics.max_depth,
                pending: 0,
                memory: store.bytes(),
            };
            progress.report(&snapshot);
            let checked = meter.check().and_then(|()| {
                meter.check_memory(store.bytes(), || format!("{} states so far", store.len()))
            });
            if let Err(reached) = checked {
                *limit = Some(reached);
                return Flow::Break(());
            }
        }
        next = None;
        while let Some(top) = stack.last_mut() {
            if let Some((child, ordinal)) = top.pending.pop() {
                stack.push(Frame { ordinal, pending: Vec::new() });
                next = Some(child);
                break;
            }
            stack.pop();
        }
    }
    Flow::Continue(())
}
