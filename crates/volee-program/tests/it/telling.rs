//! What a step is told to have changed is what has changed, whatever comes and goes in it.

use std::collections::HashMap;

use volee_system::{System, Variable, collect_initial, collect_steps};

use crate::graph::machine;

fn by_name(variables: Vec<Variable>) -> HashMap<String, String> {
    variables.into_iter().map(|v| (v.name, v.value)).collect()
}

/// Walks through all states; every step's changes are told, and nothing else. Gives how many were.
fn changes(source: &str) -> usize {
    let mut machine = machine(source, &[], true);
    let (mut known, mut waiting, mut told) = (Vec::new(), collect_initial(&mut machine), 0);
    while let Some(state) = waiting.pop() {
        if known.contains(&state) {
            continue;
        }
        let before = by_name(machine.variables(&state));
        for (ordinal, (_, target)) in collect_steps(&mut machine, &state).into_iter().enumerate() {
            let after = by_name(machine.variables(&target));
            let actions = machine.explain(&state, ordinal);
            let mut said = HashMap::new();
            for change in actions.into_iter().flat_map(|action| action.changed) {
                told += 1;
                said.insert(change.name, change.value);
            }
            // A process that comes or goes takes what is its own along; where one stands is told otherwise.
            let stays = |name: &str| before.contains_key(name) && !name.ends_with('@');
            for (name, value) in after.iter().filter(|(name, _)| stays(name)) {
                let changed = before[name] != *value;
                assert_eq!(said.get(name), changed.then_some(value), "{source}: {name}");
            }
            waiting.push(target);
        }
        known.push(state);
    }
    told
}

#[test]
fn every_change_is_told_and_no_other() {
    for source in [
        "byte g, a[3]; active proctype P() { byte l; g = 1; a[g] = 2; l = a[1]; l = l; a[2] = l }",
        "mtype = { x, y }; mtype m; bool b; chan c = [2] of { byte, mtype };
         active proctype P() { c!3,x; b = true; c!4,y; c?_,m; c?_,m }",
        "chan r = [0] of { byte }; byte g; active proctype P() { r!2 } active proctype Q() { r?g }",
        "byte g; proctype R() { byte own; own = 1 } active proctype P() { d_step { run R(); g = 1 }; g = 2 }",
        "byte g; proctype R(byte n) { byte own[2]; own[n] = n } active proctype P() { atomic { g = 1; run R(1); g = 2 } }",
        "typedef T { byte x; byte y[2] } T t[2]; active proctype P() { t[1].y[1] = 5; d_step { t[0].x = 1; t[1].x = 2 } }",
    ] {
        assert!(changes(source) > 0, "{source}");
    }
}
