//! What processes wait for, and how often statements run: against the steps that there are.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;

use volee_program::Machine;
use volee_system::{Inspectable as _, System, collect_initial, collect_steps};

use super::semantics::machine;

const MOST_STATES: usize = 3000;

/// Visits reachable states in a fixed order, each once, at most this many.
fn each_state(machine: &mut Machine, mut visit: impl FnMut(&mut Machine, &[u8])) {
    let mut pending = collect_initial(machine);
    let mut seen: HashSet<Vec<u8>> = pending.iter().cloned().collect();
    let mut next = 0;
    while next < pending.len() && next < MOST_STATES {
        let state = pending[next].clone();
        visit(machine, &state);
        for (step, target) in collect_steps(machine, &state) {
            if !step.stays && seen.insert(target.clone()) {
                pending.push(target);
            }
        }
        next += 1;
    }
}

/// What everybody waits for in the first deadlock.
fn waits(text: &str) -> Vec<String> {
    let mut found: Option<Vec<String>> = None;
    each_state(&mut machine(text, true), |machine, state| {
        if found.is_none() && collect_steps(machine, state).is_empty() && !machine.is_valid_end(state) {
            let all = machine.inspect(state).processes;
            found = Some(
                all.iter().filter_map(|p| p.waits_for().map(|w| format!("{}: {w}", p.name()))).collect(),
            );
        }
    });
    found.expect("the model has a deadlock")
}

#[test]
fn a_deadlock_says_what_each_process_waits_for() {
    let conditions = "byte x; active proctype P() { if :: x == 1 -> skip :: x == 2 -> skip fi }";
    assert_eq!(waits(conditions), ["P(0): (x==1) or (x==2)"]);
    let rendezvous =
        "chan c = [0] of { byte }; active proctype P() { c!1 } active proctype Q() { byte y; c?2; c?y }";
    assert_eq!(waits(rendezvous), ["P(0): c!1: nobody receives", "Q(1): c?2: nobody sends what fits, not 2"]);
    let buffers = "chan fork[2] = [1] of { bit }; active proctype P() { byte i = 1; fork[0]!1; fork[i]?_ }";
    assert_eq!(waits(buffers), ["P(0): fork[1]?_: empty"]);
    let full = "chan q = [2] of { byte, byte }; active proctype P() { byte k; do :: q!k,7; k++ od }";
    assert_eq!(waits(full), ["P(0): q!2,7: full, 2 of 2 messages"]);
    let other = "mtype = { ack, nak }; chan q = [1] of { mtype }; active proctype P() { q!nak; q?ack }";
    assert_eq!(waits(other), ["P(0): q?ack: the first message is nak, not ack"]);
    let nowhere = "chan q = [2] of { byte }; active proctype P() { q!3; q??4 }";
    assert_eq!(waits(nowhere), ["P(0): q??4: no message fits, not 4"]);
    let provided = "bool on; active proctype P() provided (on) { skip }";
    assert_eq!(waits(provided), ["P(0): its provided clause is false"]);
}

#[test]
fn a_false_condition_tells_what_it_looks_at() {
    let text =
        "byte x; bool on; byte a[3]; active proctype P() { byte i = 2; a[1] = 4; x == 1 && a[i] > 0 || on }";
    let mut machine = machine(text, true);
    let mut last = Vec::new();
    each_state(&mut machine, |_, state| last = state.to_vec());
    let all = machine.inspect(&last).processes;
    assert_eq!(all[0].because(), ["x = 0", "a[2] = 0", "on = 0"]);
}

#[test]
fn channels_are_told_message_by_message() {
    let text = "mtype = { put }; chan q = [3] of { mtype, byte }; active proctype P() { q!put,1; q!put,2 }";
    let mut machine = machine(text, true);
    let mut last = Vec::new();
    each_state(&mut machine, |m, state| {
        last = if m.inspect(state).processes.is_empty() { last.clone() } else { state.to_vec() }
    });
    let queues = machine.inspect(&last).channels;
    assert_eq!((queues[0].name.as_str(), queues[0].capacity), ("q", Some(3)));
    assert_eq!(queues[0].messages, [["put", "1"], ["put", "2"]]);
}

/// Whoever is said to be able to move has a step, alone or as the partner of somebody; nobody else has.
fn agrees(name: &str, text: &str) {
    let (model, _) = volee_promela::parse(name, text, &volee_promela::Options::default());
    let Some(Ok(lowered)) = model.map(|m| volee_promela::lower(std::sync::Arc::new(m))) else { return };
    for plain in [true, false] {
        let mut machine = lowered.machine(volee_program::MachineOptions { plain, ..Default::default() });
        each_state(&mut machine, |machine, state| {
            let steps = collect_steps(machine, state);
            let mut movers: HashSet<u32> = steps.iter().map(|(step, _)| u32::from(step.process)).collect();
            for ordinal in 0..steps.len() {
                let first = machine.explain(state, ordinal).into_iter().next();
                movers.extend(first.and_then(|a| a.event).and_then(|e| e.partner).map(|(_, pid)| pid));
            }
            for p in machine.inspect(state).processes {
                assert_eq!(p.can_move(), movers.contains(&p.pid), "{name}, plain {plain}: {p:?}");
            }
        });
    }
}

#[test]
fn who_can_move_agrees_with_the_steps_there_are() {
    let models = [
        "chan c = [0] of { byte }; active [2] proctype P() { do :: c!1 :: c?1 :: timeout -> break od }",
        "byte x; active [3] proctype P() { atomic { x == 0 -> x = 1 }; if :: x == 1 -> x = 0 :: else -> skip fi }",
        "byte n; proctype Q() { n++ } init { run Q(); run Q(); n == 2 }",
        "bool go; active proctype P() provided (go) { skip } active proctype Q() { go = true; go = false }",
        "chan c = [1] of { byte }; active proctype P() { { do :: c!1 :: c?_ od } unless { len(c) == 1 -> c?1 } }",
        "byte x; active proctype P() { d_step { x == 1 -> x = 2 } } active proctype Q() { x = 1 }",
    ];
    for (number, text) in models.iter().enumerate() {
        agrees(&format!("model {number}"), text);
    }
    let traps = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../models/traps");
    let files = std::fs::read_dir(&traps).expect("the models are there");
    for file in files.flatten().filter(|f| f.path().extension().is_some_and(|e| e == "pml")) {
        let text = std::fs::read_to_string(file.path()).unwrap_or_default();
        agrees(&file.path().display().to_string(), &text);
    }
}

#[test]
fn coverage_counts_the_statements_of_every_step() {
    let text = "byte x; active [2] proctype P() { do :: x < 3 -> atomic { x++; x = x + 0 } :: else -> break od; skip }
                active proctype Q() { if :: x == 9 -> x = 0 :: x == 3 -> skip fi }";
    let mut machine = machine(text, true);
    let mut told: BTreeMap<(String, String), u64> = BTreeMap::new();
    let mut states = Vec::new();
    each_state(&mut machine.clone(), |machine, state| {
        states.push(state.to_vec());
        for ordinal in 0..collect_steps(machine, state).len() {
            for action in machine.explain(state, ordinal) {
                *told.entry((action.process, action.text)).or_default() += 1;
            }
        }
    });
    states.iter().for_each(|state| drop(collect_steps(&mut machine, state)));
    let mut counted: BTreeMap<(String, String), u64> = BTreeMap::new();
    for c in machine.coverage() {
        *counted.entry((c.process, c.text)).or_default() += c.times;
    }
    assert!(counted.values().any(|&times| times == 0), "x == 9 never is");
    counted.retain(|_, times| *times > 0);
    told.retain(|key, _| counted.contains_key(key) || key.1 != "-end-");
    assert_eq!(counted, told);
}
