//! Every run of an optimised program is a run of the plain one, told move by move.

use std::collections::HashMap;

use volee_program::Machine;
use volee_system::{LiftError, System, Witness, collect_initial, collect_steps, lift, replay};

use crate::graph::machine;
use crate::merging::{STATEMENTS, WATCHED, program};

/// A shortest run to every state.
fn runs(machine: &mut Machine) -> Vec<(Vec<u8>, Vec<u32>)> {
    let mut all: Vec<(Vec<u8>, Vec<u32>)> =
        collect_initial(machine).into_iter().map(|s| (s, Vec::new())).collect();
    let mut known: HashMap<Vec<u8>, ()> = all.iter().map(|(s, _)| (s.clone(), ())).collect();
    let mut next = 0;
    while next < all.len() {
        let (state, way) = all[next].clone();
        next += 1;
        for (ordinal, (step, target)) in collect_steps(machine, &state).into_iter().enumerate() {
            if !step.stays && known.insert(target.clone(), ()).is_none() {
                all.push((target, [&way[..], &[ordinal as u32]].concat()));
            }
        }
    }
    all
}

/// Where the plain program stands after the lifted run is where the optimised one stands, as far as that
/// shows it.
fn every_run_is_lifted(source: &str, watched: &[&str]) {
    let (mut fast, mut plain) = (machine(source, watched, false), machine(source, watched, true));
    for (state, steps) in runs(&mut fast) {
        let witness = Witness { initial: 0, steps, loop_start: None };
        let lifted =
            lift(&mut fast, &mut plain, &witness).unwrap_or_else(|e| panic!("{source}\n{witness:?}: {e}"));
        let run = replay(&mut plain, &lifted.witness).expect("a run of the plain program");
        let end = &run.steps.last().map_or(&run.initial, |s| &s.state).variables;
        for variable in fast.variables(&state) {
            assert!(end.contains(&variable), "{source}\n{witness:?}: {variable:?} is not in {end:?}");
        }
    }
}

#[test]
fn runs_of_all_pairs_of_statements_are_lifted() {
    for first in STATEMENTS {
        for second in STATEMENTS {
            every_run_is_lifted(&program(first, second, "l = l + 2*a"), WATCHED);
        }
    }
}

#[test]
fn a_large_indivisible_sequence_is_found_by_where_it_leads() {
    // More ways through the sequence than are enumerated one by one.
    let source = "byte a, b; active proctype P() { byte i; atomic { i = 0;
        do :: i < 16 -> i++; if :: a++ :: b++ fi :: else -> break od }; assert(a + b == 16) }";
    every_run_is_lifted(source, &["a > b", "a == 3"]);
}

#[test]
fn the_way_that_stands_for_a_large_sequence_has_its_error() {
    // Two ways lead to one state, both are cut where they meet others, and they fail in different places.
    let source = "unsigned g : 3; active [2] D_proctype P() { byte l; atomic { for (l : 0 .. 2) { select (l : 0 .. 2) };
        if :: g-- :: skip fi } }";
    let (mut fast, mut plain) = (machine(source, &[], false), machine(source, &[], true));
    let mut met = 0;
    for (state, steps) in runs(&mut fast) {
        for (ordinal, (step, _)) in collect_steps(&mut fast, &state).into_iter().enumerate() {
            let Some(fault) = step.fault.map(|fault| fast.fault(fault)) else { continue };
            let steps = [&steps[..], &[ordinal as u32]].concat();
            let witness = Witness { initial: 0, steps, loop_start: None };
            let mut lifted = lift(&mut fast, &mut plain, &witness).expect("it is a run");
            lifted.witness.steps.truncate(lifted.until_fault.expect("the error is met"));
            let run = replay(&mut plain, &lifted.witness).expect("a run of the plain program");
            assert_eq!(run.steps.last().and_then(|step| step.fault.clone()), Some(fault), "{witness:?}");
            met += 1;
        }
    }
    assert!(met > 20, "{met}");
}

#[test]
fn an_error_is_met_at_its_own_statement() {
    let source = "active proctype P() { byte l; l = 1; l = 2; assert(l == 1); l = 3 }";
    let (mut fast, mut plain) = (machine(source, &[], false), machine(source, &[], true));
    let witness = Witness { initial: 0, steps: vec![0], loop_start: None };
    let lifted = lift(&mut fast, &mut plain, &witness).expect("it is a run");
    assert_eq!((lifted.until_fault, lifted.witness.steps.len()), (Some(3), 4));
}

#[test]
fn a_cycle_is_gone_round_until_the_plain_program_repeats() {
    let source = "byte g; active proctype P() { byte l; do :: g = 1 - g; l = 1 od }";
    let (mut fast, mut plain) = (machine(source, &["g"], false), machine(source, &["g"], true));
    let witness = Witness { initial: 0, steps: vec![0, 0], loop_start: Some(0) };
    replay(&mut fast, &witness).expect("a cycle of the merged program");
    let lifted = lift(&mut fast, &mut plain, &witness).expect("it is a run").witness;
    let run = replay(&mut plain, &lifted).expect("a lasso");
    assert_eq!((run.loop_start, run.steps.len()), (Some(4), 8), "in the first round l is 0 before it is 1");
}

#[test]
fn a_cycle_that_counts_for_nobody_closes_but_for_the_counter() {
    let source = "byte g; int count; active proctype P() { do :: g = 1 - g; count++ od }";
    let (mut fast, mut plain) = (machine(source, &["g"], false), machine(source, &["g"], true));
    let steps = runs(&mut fast).len() as u32;
    assert!(steps <= 4, "the counter is forgotten");
    let cycle: Vec<u32> = vec![0; steps as usize];
    let witness = Witness { initial: 0, steps: cycle, loop_start: Some(0) };
    let lifted = lift(&mut fast, &mut plain, &witness).expect("it is a run").witness;
    let run = replay(&mut plain, &lifted).expect("a lasso but for the counter");
    assert_eq!(run.steps.len() - run.loop_start.expect("a lasso"), 4, "one round, not millions");
    // Whoever reads the counter sees that it never comes back.
    let mut plain = machine(source, &["g", "count > 5"], true);
    assert!(matches!(lift(&mut fast, &mut plain, &witness), Err(LiftError::Endless { .. })));
}

#[test]
fn what_the_plain_program_does_not_do_is_not_lifted() {
    let fast = "byte g; active proctype P() { g = 1; g = 2; g = 3 }";
    let plain = "byte g; active proctype P() { g = 1; if :: g == 2 -> g = 2 fi; g = 3 }";
    let (mut fast, mut plain) = (machine(fast, &["g"], false), machine(plain, &["g"], true));
    let witness = Witness { initial: 0, steps: vec![0, 0], loop_start: None };
    let error = LiftError::Lost { step: 2, moves: 1, made: 0 };
    assert_eq!(lift(&mut fast, &mut plain, &witness), Err(error));
    let ends = Witness { initial: 0, steps: vec![0], loop_start: Some(1) };
    assert_eq!(lift(&mut plain.clone(), &mut plain, &ends).map(|l| l.witness), Ok(ends.clone()));
    assert_eq!(lift(&mut fast.clone(), &mut fast, &ends), Err(LiftError::GoesOn));
}
