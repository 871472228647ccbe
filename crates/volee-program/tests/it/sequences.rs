//! Indivisible sequences cost what they have points, not what they have paths, and what is not followed is
//! known to be left out.

use std::collections::BTreeSet;

use volee_program::Machine;
use volee_system::{Inspectable, Limit, System, collect_initial, collect_steps};

use crate::graph::{compare, machine};

/// How many statements are executed to find the steps of the first state.
fn work(source: &str, plain: bool) -> u64 {
    let mut machine = machine(source, &[], plain);
    let initial = collect_initial(&mut machine).remove(0);
    collect_steps(&mut machine, &initial);
    machine.coverage().iter().map(|statement| statement.times).sum()
}

/// The errors of the first state's steps, in order.
fn errors(machine: &mut Machine) -> Vec<String> {
    let initial = collect_initial(machine).remove(0);
    let steps = collect_steps(machine, &initial);
    steps.into_iter().filter_map(|(step, _)| Some(machine.fault(step.fault?).message)).collect()
}

const FLIPS: &str = "bit a, b, c, d; active proctype P() {
    atomic { do :: a = 1 - a :: b = 1 - b :: c = 1 - c :: d = 1 - d :: a && b && c && d -> break od }; assert(a) }";

#[test]
fn a_loop_inside_a_sequence_is_gone_through_once() {
    for plain in [true, false] {
        let work = work(FLIPS, plain);
        assert!(work < 500, "{work} statements for 16 values, plain: {plain}");
    }
    compare(FLIPS, &["a == 1", "b == 1"]);
}

#[test]
fn a_loop_that_never_ends_costs_little_and_is_told() {
    let source = "bit a, b, c, d; active proctype P() {
        atomic { do :: a = 1 - a :: b = 1 - b :: c = 1 - c :: d = 1 - d od } }";
    for plain in [true, false] {
        assert!(work(source, plain) < 500, "plain: {plain}");
        let told = errors(&mut machine(source, &[], plain));
        assert_eq!(told.len(), 1, "plain: {plain}");
        assert!(told[0].contains("runs for ever"), "{told:?}");
    }
}

#[test]
fn a_loop_through_a_rendezvous_is_gone_through_once() {
    let source = "chan r = [0] of { bit }; bit a, b;
        active proctype P() { bit x; atomic { do :: r!a; r?x :: a = 1 - a :: break od }; a = 0 }
        active proctype Q() { bit x; do :: atomic { r?x; if :: b = 1 - b :: skip fi; r!x } od }";
    for plain in [true, false] {
        assert!(work(source, plain) < 500, "plain: {plain}");
    }
    compare(source, &["a == 1", "b == 1"]);
}

#[test]
fn many_ways_through_a_sequence_are_not_gone_one_by_one() {
    let choices = "if :: a++ :: b++ fi; ".repeat(40);
    let source = format!("byte a, b; active proctype P() {{ atomic {{ {choices} }}; assert(a + b == 40) }}");
    let work = work(&source, false);
    assert!(work < 10_000, "{work} statements");
}

#[test]
fn a_sequence_that_comes_back_with_an_error_tells_it() {
    let source = "bit a; active proctype P() { atomic { do :: assert(a == 0); a = 1 :: a = 0 :: break od } }";
    let (plain, _) = compare(source, &["a == 1"]);
    assert_eq!(plain.faults.into_iter().collect::<Vec<_>>(), ["assertion violated: assert(a==0)"]);
}

#[test]
fn a_sequence_that_is_longer_than_what_is_followed_is_no_error_but_a_limit() {
    let source = "int i; active proctype P() {
        atomic { do :: i < 300000 -> i++ :: else -> break od }; assert(i == 300000) }";
    for plain in [true, false] {
        let mut machine = machine(source, &["i == 7"], plain);
        assert_eq!(machine.left_out(), None);
        assert_eq!(errors(&mut machine), Vec::<String>::new(), "plain: {plain}");
        assert!(matches!(machine.left_out(), Some(Limit::Other { .. })), "plain: {plain}");
    }
}

#[test]
fn every_error_of_a_d_step_is_told() {
    let source = "byte x; active proctype P() {
        d_step { x = 1; assert(x == 2); x = 3; assert(x == 4); assert(x == 3); assert(x == 5) }; x = 9 }";
    for plain in [true, false] {
        let told = errors(&mut machine(source, &["x == 9"], plain));
        let expected = ["2", "4", "5"].map(|n| format!("assertion violated: assert(x=={n})"));
        assert_eq!(told, expected, "plain: {plain}");
    }
}

#[test]
fn an_error_of_a_d_step_is_told_once_however_often_it_is_met() {
    let source = "byte x, i; active proctype P() {
        d_step { i = 0; do :: i < 50 -> i++; assert(x == 1); assert(x == 2) :: else -> break od } }";
    for plain in [true, false] {
        let told = errors(&mut machine(source, &["x == 9"], plain));
        assert_eq!(told.len(), 2, "plain: {plain}: {told:?}");
    }
}

#[test]
fn a_d_step_that_blocks_after_two_errors_tells_all_three() {
    let source = "byte x; active proctype P() { d_step { x = 1; assert(x == 2); assert(x == 3); x == 4 } }";
    for plain in [true, false] {
        let told: BTreeSet<String> = errors(&mut machine(source, &["x == 9"], plain)).into_iter().collect();
        assert_eq!(told.len(), 3, "plain: {plain}: {told:?}");
    }
}
