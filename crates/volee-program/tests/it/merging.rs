//! Merged steps do what the single ones do, each once, whatever stands before and after what is merged.

use crate::graph::{compare, explore, machine};

#[test]
fn a_statement_behind_a_d_step_is_done_once() {
    let (_, optimised) =
        compare("active proctype P() { byte r, a; d_step { a = 1; a = 2 }; r++; assert(r == 1) }", &[]);
    assert!(optimised.faults.is_empty());
    assert_eq!(optimised.states, 3, "the start, where the process stands at its end, and where it is gone");
}

#[test]
fn statements_of_a_d_step_that_branches_are_not_merged_with_what_follows() {
    let source = "byte out; active proctype P() { byte l;
        d_step { l = 1; if :: l == 1 -> l = 2 :: else -> l = 5 fi };
        l = l + l; out = l; assert(out == 4) }";
    assert!(compare(source, &["out == 4", "out == 0"]).1.faults.is_empty());
}

#[test]
fn a_d_step_inside_an_atomic_sequence_keeps_what_follows_inside() {
    let source = "byte g, out;
        active proctype P() { byte l; atomic { g = 1; d_step { l = 1; l++ }; l++; g = 0 }; out = l }
        active proctype Q() { if :: g == 1 -> assert(false) :: out == 3 fi }";
    let (plain, _) = compare(source, &["g == 1", "out == 3"]);
    assert!(plain.faults.is_empty());
}

#[test]
fn a_process_that_comes_back_to_a_label_is_seen_to_have_left_it() {
    compare("bit g; active proctype P() { L: g = 1 - g; skip; goto L }", &["P@L", "!P@L"]);
    compare("bit g; active proctype P() { g = 1; skip; L: g = 0 }", &["g == 1 && !P@L", "g == 1 && P@L"]);
}

/// What a process may do, one after the other: every kind of statement that merging treats in its own way.
pub const STATEMENTS: &[&str] = &[
    "l++",
    "l = 2*l; a++",
    "g++",
    "assert(l != 3)",
    "d_step { a = 1; a = 2 }",
    "d_step { l++; g++ }",
    "d_step { l++; if :: l > 1 -> a++ :: else fi }",
    "d_step { c?l; l++ }",
    "d_step { r?l; l++ }",
    "atomic { l++; g++; a++ }",
    "atomic { g++; c!l; l++ }",
    "atomic { r!l; l++; g++ }",
    "atomic { r?l; l++; g++ }",
    "c?l",
    "r!l",
    "r?a",
    "{ l++; a++; l++ } unless { g == 2; l = 3; a = l }",
    "if :: l > 1 -> l = l - 1 :: else -> a++ fi",
    "if :: l++ :: a++ fi",
    "do :: l < 2 -> l++ :: else -> break od",
    "run R(l)",
];

pub const WATCHED: &[&str] =
    &["g == 1", "g == 2", "out & 1", "out & 2", "out & 4", "out & 8", "out & 16", "out & 32", "out & 64"];

pub fn program(first: &str, second: &str, third: &str) -> String {
    format!(
        "byte g, out; chan c = [1] of {{ byte }}; chan r = [0] of {{ byte }};
         active proctype P() {{ byte l, a; {first}; {second}; {third}; out = l * 8 + a + 1 }}
         active proctype Q() {{ byte m; if :: g > 0 -> g++ :: c!2 :: r?m -> m = m + 1; c!m :: r!1 :: break_ = 1 fi }}
         proctype R(byte n) {{ byte k; k = n; k++; g = k & 1 }}
         byte break_;"
    )
}

#[test]
fn any_two_statements_in_any_order_do_what_they_do_one_by_one() {
    for first in STATEMENTS {
        for second in STATEMENTS {
            compare(&program(first, second, "l = l + 2*a"), WATCHED);
        }
    }
}

#[test]
fn a_statement_between_two_sequences_does_what_it_does_alone() {
    let sequences = ["d_step { a = 1; a = 2 }", "d_step { l++; g++ }", "atomic { l++; g++; a++ }", "l++"];
    for first in sequences {
        for second in STATEMENTS {
            for third in sequences {
                compare(&program(first, second, third), WATCHED);
            }
        }
    }
}

#[test]
fn nothing_is_merged_where_somebody_asks_where_a_process_stands() {
    let source = "byte g; active proctype P() { byte l; l = 1; l = 2; l = 3; g = l }";
    let mut watched = machine(source, &["pc_value(0) == 1"], false);
    let (seen, unseen) = (explore(&mut watched, 1), compare(source, &[]).1);
    assert!(seen.valuations.contains(&vec![true]), "the point between the first and the second statement");
    assert!(unseen.states < seen.states, "merging is not switched off for good");
    compare(source, &["pc_value(0) == 1", "pc_value(0) == 2"]);
    compare(source, &["enabled(0)"]);
    // Where nobody moves any more, nothing lacks progress.
    compare("chan c = [1] of { byte }; active proctype P() { progress: skip; skip; c?0 }", &["np_"]);
}

#[test]
fn a_step_to_a_point_that_somebody_sees_is_a_step_of_its_own() {
    let around = "byte g; active proctype P() { byte l; L: l = 0; l = 0; goto L }";
    let (_, optimised) = compare(around, &["P@L"]);
    assert_eq!(optimised.changes.len(), 2, "control leaves the point and comes back");
    compare(
        "byte g; active proctype P() { byte l; l = 0; l = 1; L: l = 2; l = 3; M: l = 0 }",
        &["P@L", "P@M"],
    );
    compare("byte g; active proctype P() { byte l; progress: l = 0; l = 0; goto progress }", &["np_"]);
    let by_statements = "active proctype P() { byte l; L: l = 0; l = 0; goto L }
        active proctype Q() { (!P@L); assert(false) }";
    assert_eq!(compare(by_statements, &[]).1.faults.len(), 1);
}

#[test]
fn statements_that_can_fail_are_not_merged_with_each_other() {
    for source in [
        "active proctype P() { byte l; l = 1; assert(l == 2); assert(l == 3) }",
        "byte x; active proctype P() { byte l, a[2]; a[x + 2] = 1; assert(l == 2) }",
        "chan r = [0] of { byte }; byte x;
         active proctype P() { r!1 / x } active proctype Q() { byte l; r?l; assert(l == 7) }",
        "byte x; active proctype P() { byte l; d_step { x = 0; assert(x == 1) }; assert(l == 2) }",
    ] {
        let (plain, optimised) = compare(source, &[]);
        assert_eq!((plain.faults.len(), optimised.faults.len()), (2, 2), "{source}");
    }
}

#[test]
fn at_most_256_statements_are_one_step() {
    let states = |count: usize| {
        let source = format!("byte g; active proctype P() {{ byte l; {} g = l }}", "l++; ".repeat(count));
        compare(&source, &["g == 0"]).1.states
    };
    assert_eq!(states(255), states(256));
    assert_eq!(states(256) + 1, states(257));
    assert_eq!(states(257), states(300));
}
