//! Persistent sets lose no deadlock, no error and no value of what is watched.
//!
//! The reduced graph is explored by the simplest search that satisfies the cycle condition: a state is
//! expanded in full if none of its persistent sets leads to a state that still waits to be expanded, or is
//! enough by itself.

use std::collections::{HashMap, HashSet};

use volee_program::Machine;
use volee_system::{Flow, Step, System, collect_initial, collect_steps};

use crate::graph::{Seen, explore, machine};
use crate::merging::{STATEMENTS, WATCHED, program};

fn persistent(
    machine: &mut Machine,
    state: &[u8],
    waiting: &HashSet<Vec<u8>>,
    known: &HashSet<Vec<u8>>,
) -> Option<Vec<(Step, Vec<u8>)>> {
    let mut attempt = 0;
    loop {
        let mut steps = Vec::new();
        let mut sink = |step: Step, target: &[u8]| {
            steps.push((step, target.to_vec()));
            Flow::Continue(())
        };
        let reducible = machine.reducible().expect("a program can be reduced");
        let set = reducible.persistent_steps(state, attempt, &mut sink).continue_value()??;
        let opens = steps.iter().any(|(_, target)| waiting.contains(target) || !known.contains(target));
        if set.others_may_be_ignored || opens {
            return Some(steps);
        }
        attempt = set.next;
    }
}

/// Explores fewer steps where the system knows such; how many states were expanded so.
fn explore_reduced(machine: &mut Machine, watched: usize) -> (Seen, usize) {
    let mut seen = Seen::default();
    let mut known: HashSet<Vec<u8>> = HashSet::new();
    let mut waiting: HashSet<Vec<u8>> = HashSet::new();
    let mut order = collect_initial(machine);
    for state in &order {
        known.insert(state.clone());
        waiting.insert(state.clone());
    }
    let mut reduced = 0;
    let mut next = 0;
    while next < order.len() {
        let state = order[next].clone();
        next += 1;
        waiting.remove(&state);
        let holds = |p| machine.holds(volee_system::PredicateId(p as u32), &state) == Ok(true);
        seen.valuations.insert((0..watched).map(holds).collect());
        let steps = match persistent(machine, &state, &waiting, &known) {
            Some(steps) => {
                reduced += 1;
                steps
            }
            None => collect_steps(machine, &state),
        };
        if steps.is_empty() {
            let variables = machine.variables(&state).into_iter().map(|v| (v.name, v.value)).collect();
            seen.ends.push((machine.is_valid_end(&state), variables));
        }
        for (step, target) in steps {
            seen.faults.extend(step.fault.map(|f| machine.fault(f).message));
            if known.insert(target.clone()) {
                waiting.insert(target.clone());
                order.push(target);
            }
        }
    }
    seen.states = known.len();
    (seen, reduced)
}

/// The reduced graph has the ends, the errors and the values of the whole one; how many states were reduced,
/// of how many.
pub fn nothing_is_lost(source: &str, watched: &[&str], plain: bool) -> (usize, usize, usize) {
    let whole = explore(&mut machine(source, watched, plain), watched.len());
    let (fewer, reduced) = explore_reduced(&mut machine(source, watched, plain), watched.len());
    let sorted = |seen: &Seen| {
        let mut ends = seen.ends.clone();
        ends.sort();
        ends
    };
    assert_eq!(sorted(&whole), sorted(&fewer), "ends of {source}");
    assert_eq!(whole.faults, fewer.faults, "errors of {source}");
    assert_eq!(whole.valuations, fewer.valuations, "values in {source}");
    (reduced, fewer.states, whole.states)
}

#[test]
fn all_pairs_of_statements_beside_another_process_lose_nothing() {
    let mut totals = HashMap::from([("reduced", 0), ("fewer", 0), ("whole", 0)]);
    for first in STATEMENTS {
        for second in STATEMENTS {
            for plain in [true, false] {
                let (reduced, fewer, whole) =
                    nothing_is_lost(&program(first, second, "l = l + 2*a"), WATCHED, plain);
                *totals.entry("reduced").or_default() += reduced;
                *totals.entry("fewer").or_default() += fewer;
                *totals.entry("whole").or_default() += whole;
            }
        }
    }
    assert!(totals["reduced"] > 1000 && totals["fewer"] < totals["whole"], "{totals:?}");
}

/// Two processes whose steps interfere in each of the ways there are, with what somebody watches.
pub const INTERFERENCES: &[(&str, &[&str])] = &[
    (
        "byte g; active proctype P() { g = 1 } active proctype Q() { g = 2 } active proctype R() { byte l; l = g }",
        &["g == 1", "g == 2"],
    ),
    (
        "byte g, h; active proctype P() { g = 1; h = 1 } active proctype Q() { byte m; m = g; if :: h == 0 && m == 0 -> assert(false) :: else fi }",
        &[],
    ),
    (
        "byte g; active proctype P() { byte l; l = g; g = l + 1 } active proctype Q() { byte l; l = g; g = l + 1 }",
        &["g == 1", "g == 2"],
    ),
    (
        "byte t[2]; active proctype P() { byte i; i = 1; t[i] = 1 } active proctype Q() { t[0] = 1; t[1] = 2 }",
        &["t[1] == 1", "t[1] == 2"],
    ),
    (
        "chan c = [1] of { byte }; active proctype P() { c!1 } active proctype Q() { c!2 } active proctype R() { byte x; c?x; assert(x == 1) }",
        &[],
    ),
    (
        "chan c = [1] of { byte }; active proctype P() { if :: c!1 :: full(c) -> assert(false) fi } active proctype Q() { c!2 }",
        &[],
    ),
    (
        "chan c = [0] of { byte }; active proctype P() { c!1 } active proctype Q() { c!2 } active proctype R() { byte x; c?x; assert(x == 2) }",
        &[],
    ),
    (
        "chan c = [0] of { byte }; byte g; active proctype P() { if :: c!1 :: else -> g = 1 fi } active proctype Q() { byte x; x = 1; c?x }",
        &["g == 1"],
    ),
    (
        "chan c = [1] of { byte }; byte g; active proctype P() { atomic { g++; c!1; g-- } } active proctype Q() { byte x; c!7; c?x; assert(g == 0 || x == 7) }",
        &["g == 1"],
    ),
    (
        "byte g; active proctype P() { do :: g = 1 - g od } active proctype Q() { byte l; l = 1; assert(false) }",
        &[],
    ),
    (
        "byte g, h; active proctype P() { do :: g = 1 - g od } active proctype Q() { h = 1; h = 2 }",
        &["h == 2"],
    ),
    (
        "byte g; active proctype P() { g = 1 } active proctype Q() { timeout; assert(false) } active proctype R() { g == 2 }",
        &[],
    ),
    (
        "byte g; active proctype P() { { g == 2; g = 3 } unless { g == 1 } } active proctype Q() { g = 2; g = 1 }",
        &["g == 3"],
    ),
    ("byte g; proctype R() { g++ } init { run R(); run R(); g == 2; g = 9 }", &["g == 1", "g == 9"]),
    (
        "byte g; active proctype P() { byte l; l = 1; L: l = 2 } active proctype Q() { P@L; g = 1 }",
        &["g == 1"],
    ),
    (
        "byte g; active proctype P() { byte l; l = 1; l = 2 } active proctype Q() { g = P:l }",
        &["g == 1", "g == 2"],
    ),
    (
        "byte g; active proctype P() provided (g == 0) { byte l; l = 1; assert(l == 0) } active proctype Q() { g = 1 }",
        &[],
    ),
    (
        "byte g; chan c = [2] of { byte }; active proctype P() { c!1 } active proctype Q() { byte x; do :: nempty(c) -> c?x; g = x; break :: empty(c) -> g = 5; break od }",
        &["g == 1", "g == 5"],
    ),
    (
        "chan c = [1] of { byte }, d = [1] of { byte }; byte g; active proctype P() { byte x; d?x; c!1 } active proctype Q() { byte x; c?x; d!1 } active proctype R() { byte l; l = 1; l = 2; g = l }",
        &["g == 2"],
    ),
    // Whether a send can be done matters where something else is done when it cannot, so a receive is in its
    // way.
    (
        "chan c = [1] of { byte }; byte g; proctype P() { if :: c!1 :: else -> g = 1 fi } proctype Q() { byte x; c?x }
         init { c!7; run P(); run Q() }",
        &["g == 1"],
    ),
    (
        "chan c = [1] of { byte }; byte g; proctype P() { if :: c!!1 :: full(c) -> g = 1 fi } proctype Q() { byte x; c?x; c!3 }
         init { c!7; run P(); run Q() }",
        &["g == 1"],
    ),
    (
        "chan c = [1] of { byte }; byte g; active proctype P() { byte x; if :: c?x :: else -> g = 1 fi } active proctype Q() { c!1 }",
        &["g == 1"],
    ),
    (
        "chan c = [1] of { byte }; byte g; active proctype P() { byte x; do :: c?x -> break :: timeout -> g = 1; break od }
         active proctype Q() { byte l; l = 1; c!1 }",
        &["g == 1"],
    ),
    // A message that is looked for anywhere in a channel may come though the channel is not empty.
    (
        "chan c = [2] of { byte }; active proctype P() { c!2; c!1 }
         active proctype Q() { byte x; c?<x>; if :: c??<1> -> assert(false) :: x = 3 fi }",
        &[],
    ),
    (
        "chan c = [2] of { byte }; active proctype P() { c!2; c!1 }
         active proctype Q() { byte x; c?<x>; if :: c??1 -> assert(false) :: x = 3 fi }",
        &[],
    ),
    // Who has come to its end waits for younger ones to die, and is then no longer in anybody's way.
    (
        "chan c = [1] of { byte }; active proctype A() { false } active proctype B() { c!1 }
         active proctype C() { byte l; l = 1 } active proctype D() { byte x; c?x }",
        &[],
    ),
    // A process that is older than others waits for them to die, and others may wait for that.
    (
        "byte g; proctype Y() { byte l; l = 1 } active proctype P() { run Y(); if :: _nr_pr == 1 -> g = 1 :: else -> g = 2 fi }",
        &["g == 1", "g == 2"],
    ),
    (
        "byte g; proctype Z() { g++ } proctype Y() { run Z() } active proctype P() { run Y(); _nr_pr == 1; assert(g == 0) }",
        &["g == 1"],
    ),
    (
        "byte g; proctype Y() { g == 1 } active proctype P() { byte l; run Y(); run Y(); l = 1 } active proctype Q() { if :: _nr_pr == 2 -> assert(false) :: g = 1 fi }",
        &["g == 1"],
    ),
    (
        "byte g; active proctype P() { byte l; l = 1; g = 1 } active proctype Q() { byte l; l = 1; if :: _nr_pr == 1 -> g = 2 :: else fi }
         active proctype R() { byte l; l = 1; _nr_pr == 2; g = 3 }",
        &["g == 2", "g == 3"],
    ),
];

#[test]
fn every_way_to_interfere_is_seen() {
    for (source, watched) in INTERFERENCES {
        for plain in [true, false] {
            nothing_is_lost(source, watched, plain);
        }
    }
}

#[test]
fn steps_that_concern_nobody_else_are_not_interleaved() {
    let source = "active [4] proctype P() { byte l; do :: l < 3 -> l++ :: else -> break od }";
    let (reduced, fewer, whole) = nothing_is_lost(source, &[], true);
    assert!(reduced > 0 && 10 * fewer < whole, "{fewer} of {whole}");
}
