//! What is forgotten is never missed: locals that are written before they are read again, globals that nobody
//! reads.

use volee_system::{Draft as _, collect_initial};

use crate::graph::{compare, explore, lowered, machine};

/// Programs in which a wrong idea of what is read would change what can be seen, with what somebody watches.
pub const PROGRAMS: &[(&str, &[&str])] = &[
    // A value that is read only on one branch, only as an index, only by a guard, only by a message.
    (
        "byte out; active proctype P() { byte a, b; a = 3; if :: b = a :: b = 1 fi; a = 0; out = b }",
        &["out == 3"],
    ),
    ("byte out, t[4]; active proctype P() { byte i; t[2] = 7; i = 2; out = t[i] }", &["out == 7"]),
    ("byte out, t[4]; active proctype P() { byte i; i = 2; t[i] = 7; i = 3; out = t[2] }", &["out == 7"]),
    ("byte out; active proctype P() { byte i, u[3]; i = 1; u[i] = 4; i = 0; out = u[1] }", &["out == 4"]),
    (
        "byte out; active proctype P() { byte l; l = 2; do :: l > 0 -> l--; out++ :: else -> break od }",
        &["out == 2"],
    ),
    (
        "byte out; chan c = [2] of { byte }; active proctype P() { byte l; l = 5; c!l; l = 0; c?l; out = l }",
        &["out == 5"],
    ),
    (
        "byte out; chan c = [2] of { byte }; active proctype P() { byte l; c!4; c!5; l = 5; c??eval(l); c?out }",
        &["out == 4"],
    ),
    (
        "byte out; chan c = [0] of { byte };
      active proctype P() { byte l; l = 5; c!l } active proctype Q() { byte m; c?m; out = m }",
        &["out == 5"],
    ),
    // Read in a d_step, behind it, across a loop, by an escape, by a process that is started.
    ("byte out; active proctype P() { byte l, m; l = 3; d_step { m = l; l = 0 }; out = m }", &["out == 3"]),
    (
        "byte out; active proctype P() { byte l; d_step { l = 1; if :: l == 1 -> l = 6 :: else fi }; out = l }",
        &["out == 6"],
    ),
    (
        "byte out; active proctype P() { byte l = 4; do :: out == 0 -> out = l; l = 9 :: out == 4 -> out = l; break od }",
        &["out == 9"],
    ),
    (
        "byte g, out; active proctype P() { byte l; { l = 8; g = 1; false } unless { g == 1; out = l } }",
        &["out == 8"],
    ),
    ("byte out; proctype R(byte n) { out = n } init { byte l; l = 7; run R(l); l = 0 }", &["out == 7"]),
    ("byte out; proctype R(byte n) { byte k; k = n; n = 0; out = k } init { run R(7) }", &["out == 7"]),
    ("byte out; active proctype P() { byte l = 6; out = l; l = 0; out = l }", &["out == 6", "out == 0"]),
    // Somebody else reads: a property, another process, a claim of the process about itself.
    ("active proctype P() { byte l; l = 3; l = 4; l = 0 }", &["P:l == 3", "P:l == 4"]),
    (
        "byte out; active proctype P() { byte l; l = 3; l = 0; out == 1 } active proctype Q() { P:l == 3; out = 1 }",
        &["out == 1"],
    ),
    (
        "byte out; active proctype P() { byte l; l = 1; L: l = 2 } active proctype Q() { P@L; out = 1 }",
        &["out == 1"],
    ),
    (
        "byte out, open; active proctype P() provided (open == 0) { byte l; l = 1; out = l; l = 2; out = l }
      active proctype Q() { open = 1; open = 0 }",
        &["out == 1 && open", "out == 2"],
    ),
    // Globals: a counter that only counts, one that is read through another, one that an index or a division
    // reads.
    ("byte n, out; active proctype P() { n++; n++; out = 1 }", &["out == 1"]),
    ("byte n, m, out; active proctype P() { n = 2; m = n; out = m }", &["out == 2"]),
    ("byte n, m; active proctype P() { n = 2; m = n + m; n = m }", &[]),
    ("byte n, t[2]; active proctype P() { n = 2; t[n] = 1 }", &[]),
    ("byte n, m; active proctype P() { m = 1 / n }", &[]),
    ("byte i, n, t[2]; active proctype P() { i = 2; n = t[i] }", &[]),
    (
        "byte n, out; active proctype P() { if :: n = 1 :: n = 2 fi; out = (n == 1 -> 5 : 6) }",
        &["out == 5", "out == 6"],
    ),
    ("chan c = [1] of { byte }, d; byte out; active proctype P() { d = c; d!3; c?out }", &["out == 3"]),
    ("chan c = [1] of { byte, byte }; byte n, out; active proctype P() { c!1,2; c?n,out }", &["out == 2"]),
    // Values that are there from the start, hidden or not, and hidden ones that are read all the same.
    (
        "byte n = 4, m = n + 1, out; active proctype P() { out = m; m = 0; out = n }",
        &["out == 5", "out == 4"],
    ),
    ("byte n = 4, m = 7, out; active proctype P() { n++; out = m }", &["out == 7"]),
    ("hidden byte h; byte out; active proctype P() { h = 1; out = h; h = 2 }", &["out == 1"]),
    ("hidden byte h = 3; byte out; active proctype P() { out = h }", &["out == 3"]),
    (
        "byte z; hidden short h = 3, k = 4; byte out; active proctype P() { k = 5; out = h; h = 6; out = h }",
        &["out == 3", "out == 6"],
    ),
    (
        "typedef T { byte a, b } T t; byte out; active proctype P() { t.a = 1; t.b = 2; out = t.b }",
        &["out == 2"],
    ),
];

#[test]
fn nothing_that_is_forgotten_is_missed() {
    for (source, watched) in PROGRAMS {
        let (plain, _) = compare(source, watched);
        for (index, text) in watched.iter().enumerate() {
            let comes_true = plain.valuations.iter().any(|values| values[index]);
            assert!(comes_true, "`{text}` never comes true, so nothing is tested: {source}");
        }
    }
}

#[test]
fn states_that_differ_in_forgotten_values_are_one() {
    // By the time of the wait nobody remembers which way was taken.
    let local = "byte g, h; active proctype P() { byte l; if :: l = 1 :: l = 2 :: l = 3 fi; g = l; l = 1; g = 0; h = 1; h = 2; h = 3; h == 1 }";
    let global = "byte n; active proctype P() { byte i; do :: i < 5 -> i++; n = n + i :: i < 5 -> i++ :: else -> break od }";
    for source in [local, global] {
        let (plain, optimised) = compare(source, &[]);
        assert!(
            3 * optimised.states < 2 * plain.states,
            "{} of {}: {source}",
            optimised.states,
            plain.states
        );
    }
}

#[test]
fn what_a_property_reads_is_not_forgotten() {
    let source = "byte n; active proctype P() { n = 1; n = 2; n = 3 }";
    let unwatched = explore(&mut machine(source, &[], false), 0).states;
    let (plain, watched) = compare(source, &["n == 2"]);
    assert!(unwatched < watched.states);
    assert_eq!(plain.states, watched.states);
}

#[test]
fn what_is_asked_is_told_before_the_first_state_unless_nothing_is_forgotten() {
    for plain in [false, true] {
        let mut machine = machine("byte x; active proctype P() { x = 1; x = 2 }", &[], plain);
        assert_eq!(collect_initial(&mut machine).len(), 1);
        assert_eq!(machine.predicate("x == 1").is_ok(), plain);
    }
}

#[test]
fn a_program_without_what_nobody_reads_takes_the_same_steps() {
    let source = "byte n, m, g; active proctype P() { n++; m = n; g = 1; do :: n++ :: g < 3 -> g++ :: g == 3 -> break od }";
    let whole = lowered(source);
    let mut observed = volee_program::optimise::Observed::default();
    observed.add(&whole.predicate("g == 2").expect("an expression"));
    let program = std::sync::Arc::new(volee_program::optimise::forget_unread(&whole.program, &observed));
    let options =
        || volee_program::MachineOptions { plain: true, ..volee_program::MachineOptions::default() };
    let forgotten = explore(&mut volee_program::Machine::new(program, options()), 0);
    let all = explore(&mut volee_program::Machine::new(whole.program.clone(), options()), 0);
    assert_eq!(forgotten.ends.len(), 1, "that `n` differs makes no difference");
    assert_eq!(all.ends.len(), 256, "all values of `n`");
    assert!(forgotten.states > 5, "{} states", forgotten.states);
    assert!(20 * forgotten.states < all.states, "{} of {}", forgotten.states, all.states);
}
