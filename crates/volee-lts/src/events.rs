//! What happens in a system: its labels, each with the number of steps that have it.
//!
//! The list is what a user copies from, so a limit cuts it short instead of taking it away.

use std::collections::BTreeMap;

use volee_store::PackedStates;
use volee_system::{Flow, Label, Limit, Meter, Progress, Snapshot, Step, System, collect_initial};

use crate::LtsError;

/// The labels of the steps that can be reached, with the limit that was hit where not all were.
///
/// # Errors
/// The system has no initial state.
pub fn events(
    system: &mut dyn System,
    meter: &Meter,
    progress: &mut dyn Progress,
) -> Result<(BTreeMap<String, u64>, Option<Limit>), LtsError> {
    let initial = collect_initial(system);
    if initial.is_empty() {
        return Err(LtsError::input("the system has no initial state"));
    }
    let mut states = PackedStates::new();
    for state in &initial {
        states.insert(state);
    }
    let (mut uses, mut transitions): (Vec<u64>, u64) = (Vec::new(), 0);
    let (mut next, mut limit, mut state) = (0, None, Vec::new());
    while next < states.len() && limit.is_none() {
        if next.is_multiple_of(4096) {
            let memory = states.memory();
            limit = meter
                .check()
                .and_then(|()| meter.check_memory(memory, || format!("after {} states", states.len())))
                .err();
            let (states, pending) = (states.len() as u64, (states.len() - next) as u64);
            progress.report(&Snapshot { states, transitions, pending, memory, ..Snapshot::default() });
        }
        state.clear();
        state.extend_from_slice(states.get(next));
        next += 1;
        let _ = system.steps(&state, &mut |step: Step, target: &[u8]| {
            let at = step.label.0 as usize;
            if uses.len() <= at {
                uses.resize(at + 1, 0);
            }
            uses[at] += 1;
            transitions += 1;
            states.insert(target);
            Flow::Continue(())
        });
    }
    let limit = limit.or_else(|| system.left_out());
    let mut found = BTreeMap::new();
    for (at, uses) in uses.into_iter().enumerate().filter(|(_, uses)| *uses > 0) {
        *found.entry(system.label(Label(at as u32)).into_owned()).or_insert(0) += uses;
    }
    Ok((found, limit))
}
