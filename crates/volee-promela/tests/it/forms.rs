//! What each form of statement means, measured: the states and steps of small models, as SPIN counts them.
//!
//! `models/forms/counts.csv` has SPIN's figures without any optimisation (`spin -a -o1 -o2 -o3`, compiled
//! with `-DSAFETY -DNOREDUCE -DNOCLAIM`). The exploration here is the obvious one, so that a difference lies
//! in reading, lowering or stepping.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use volee_program::MachineOptions;
use volee_promela::{Options, load, lower};
use volee_system::{collect_initial, collect_steps};

/// The numbers of reachable states and of steps.
fn count(path: &Path) -> (usize, usize) {
    let (model, diagnostics) = load(path, &Options::default());
    let model = model.unwrap_or_else(|| panic!("{diagnostics:?}"));
    let lowered = lower(Arc::new(model)).expect("a program");
    let mut machine = lowered.machine(MachineOptions { plain: true, ..MachineOptions::default() });
    let mut pending = collect_initial(&mut machine);
    let mut seen: HashSet<Vec<u8>> = pending.iter().cloned().collect();
    // SPIN counts the entry into the initial state as a transition.
    let mut steps = 1;
    while let Some(state) = pending.pop() {
        for (_, target) in collect_steps(&mut machine, &state) {
            steps += 1;
            if seen.insert(target.clone()) {
                pending.push(target);
            }
        }
    }
    (seen.len(), steps)
}

#[test]
fn every_form_has_the_states_and_steps_that_spin_counts() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/forms");
    let table = std::fs::read_to_string(root.join("counts.csv")).expect("the table of counts");
    let mut wrong = Vec::new();
    for line in table.lines().skip(1) {
        let [name, states, steps] = line.split(',').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let expected = (states.parse().expect("a number"), steps.parse().expect("a number"));
        let found = count(&root.join(name));
        if found != expected {
            wrong.push(format!("{name}: SPIN {expected:?}, here {found:?}"));
        }
    }
    assert!(table.lines().count() > 60);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
