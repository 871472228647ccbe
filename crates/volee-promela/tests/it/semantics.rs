//! What Promela models do: counts and verdicts of models that are known for trapping implementers.
//!
//! The explorer here is the naive twin of the real one: a set of states and a list of what is left to do.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

use volee_program::{Machine, MachineOptions};
use volee_system::{Draft as _, FaultKind, System, collect_initial, collect_steps};

/// States, transitions (the arrival in the initial state included), and the kinds of errors.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub states: usize,
    pub transitions: usize,
    pub deadlock: bool,
    pub assertion: bool,
    pub runtime: bool,
}

pub(crate) fn explore(machine: &mut Machine) -> Found {
    let mut seen: HashSet<Vec<u8>> = HashSet::new();
    let mut pending = collect_initial(machine);
    let mut found =
        Found { states: 0, transitions: pending.len(), deadlock: false, assertion: false, runtime: false };
    while let Some(state) = pending.pop() {
        if !seen.insert(state.clone()) {
            continue;
        }
        let steps = collect_steps(machine, &state);
        found.deadlock |= steps.is_empty() && !machine.is_valid_end(&state);
        for (step, target) in steps {
            if let Some(fault) = step.fault {
                found.assertion |= machine.fault(fault).kind == FaultKind::Assertion;
                found.runtime |= machine.fault(fault).kind == FaultKind::Runtime;
            }
            if !step.stays {
                found.transitions += 1;
                pending.push(target);
            }
        }
    }
    found.states = seen.len();
    found
}

pub(crate) fn machine(text: &str, plain: bool) -> Machine {
    let (model, diagnostics) = volee_promela::parse("test.pml", text, &volee_promela::Options::default());
    let model = model.unwrap_or_else(|| panic!("{diagnostics:?}"));
    let lowered = volee_promela::lower(Arc::new(model)).unwrap_or_else(|all| panic!("{all:?}"));
    lowered.machine(MachineOptions { plain, ..MachineOptions::default() })
}

fn counts(text: &str) -> (usize, usize) {
    let found = explore(&mut machine(text, true));
    (found.states, found.transitions)
}

fn models() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../models")
}

#[test]
fn skips_after_skips_are_left_out_of_written_options_only() {
    assert_eq!(counts("byte g; active proctype P() { for (g : 1 .. 2) { skip; 1 } }"), (12, 12));
    let written = "g = 1; do :: g <= 2 -> skip; 1; g++ :: else -> break od";
    assert_eq!(counts(&format!("byte g; active proctype P() {{ {written} }}")), (10, 10));
}

#[test]
fn every_skip_of_a_claim_is_a_step() {
    let text = "byte x; active proctype P() { x = 1 } never { if :: true -> skip; skip; x == 1 fi }";
    let machine = machine(text, true);
    let claim = machine.program().never.as_ref().expect("it has a claim");
    let mut at = claim.entry;
    let mut steps = 0;
    while let [only] = &claim.nodes[at.0 as usize].transitions[..]
        && only.target != at
    {
        at = only.target;
        steps += 1;
    }
    assert_eq!(steps, 4);
}

#[test]
fn every_trap_has_the_counts_and_the_verdict_of_the_reference() {
    let expected = std::fs::read_to_string(models().join("expected.csv")).expect("part of the project");
    let mut compared = 0;
    for line in expected.lines().filter(|l| l.contains(".pml,")) {
        let [model, states, transitions, verdict] = line.split(',').collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        let text = std::fs::read_to_string(models().join(model)).expect("part of the project");
        let plain = explore(&mut machine(&text, true));
        assert_eq!(plain.states.to_string(), states, "states of {model}");
        assert_eq!(plain.transitions.to_string(), transitions, "transitions of {model}");
        for found in [plain, explore(&mut machine(&text, false))] {
            let agrees = match verdict {
                "ok" => !found.deadlock && !found.assertion && !found.runtime,
                "deadlock" => found.deadlock,
                "assertion" => found.assertion,
                _ => found.runtime,
            };
            assert!(agrees, "{model}: {found:?}, expected {verdict}");
        }
        compared += 1;
    }
    assert!(compared > 38, "only {compared} models");
}

#[test]
fn a_value_that_is_never_read_again_does_not_tell_states_apart() {
    let text = "byte g; active proctype P() { byte l; if :: l = 1 :: l = 2 fi; g = l; (g < 9); g = 0 }";
    let plain = explore(&mut machine(text, true));
    let merged = explore(&mut machine(text, false));
    assert!(merged.states < plain.states, "{merged:?} {plain:?}");
}

#[test]
fn a_predicate_keeps_what_it_looks_at() {
    let text = "byte g; active proctype P() { byte l; l = 1; l = 2; g = 3; there: g = 4 }";
    let mut machine = machine(text, false);
    let seen = machine.predicate("P:l == 1").expect("a local variable of a process");
    let written = machine.predicate("g == 4").expect("a global that no statement reads");
    let labelled = machine.predicate("P@there").expect("a label");
    let mut pending = collect_initial(&mut machine);
    let mut reached = [false; 3];
    while let Some(state) = pending.pop() {
        for (i, predicate) in [seen, written, labelled].into_iter().enumerate() {
            reached[i] |= machine.holds(predicate, &state).expect("it has a value");
        }
        pending.extend(collect_steps(&mut machine, &state).into_iter().map(|(_, target)| target));
    }
    assert_eq!(reached, [true; 3]);
}

#[test]
fn a_rendezvous_out_of_an_atomic_sequence_hands_over_control() {
    // The sender may not go on before the receiver's atomic sequence ends.
    let text = "chan c = [0] of { byte }; byte x;
        active proctype S() { atomic { c!1; assert(x == 2) } }
        active proctype R() { byte v; atomic { c?v; x = 1; x = 2 } }";
    let found = explore(&mut machine(text, true));
    assert!(!found.assertion, "{found:?}");
}

#[test]
fn an_atomic_sequence_that_never_ends_is_an_error_and_no_hang() {
    let found = explore(&mut machine("byte x; init { atomic { do :: x = 1 - x od } }", true));
    assert!(found.runtime && !found.deadlock, "{found:?}");
}

#[test]
fn the_inner_block_of_a_loop_goes_on_where_the_loop_does() {
    // Blocks inside blocks at the end of an option: each level must be tied to what follows the outermost.
    assert_eq!(counts("byte x; init { do :: x < 2 -> { { { x++ } } } :: else -> break od }"), (7, 7));
}

#[test]
fn a_counter_that_only_counts_is_not_part_of_the_state() {
    let states = |text| explore(&mut machine(text, false)).states;
    assert_eq!(states("int n; active proctype P() { do :: n++ od }"), 1);
    assert_eq!(states("int n, m; active proctype P() { do :: n = m + 1; m = n + 1 od }"), 2);
    // Something looks at it after all.
    assert!(states("byte n; active proctype P() { do :: n++ od } active proctype Q() { n == 7 }") > 200);
}

#[test]
fn errors_of_a_counter_that_only_counts_are_found() {
    let loops = |statement: &str| {
        let text = format!("byte i, d = 3; byte a[4]; active proctype P() {{ do :: {statement} od }}");
        explore(&mut machine(&text, false))
    };
    assert!(loops("a[i]++; i++").assertion, "an index out of range");
    assert!(loops("a[0] = 7 / d; d--").runtime, "a division by zero");
}

#[test]
fn sequences_that_branch_for_ever_inside_atomic_are_cut() {
    let text = "byte x, y; active proctype P() { atomic { do :: x = (x + 1) % 50 :: y = (y + 1) % 50 :: x + y == 98 -> break od } }";
    assert!(!explore(&mut machine(text, true)).deadlock);
}
