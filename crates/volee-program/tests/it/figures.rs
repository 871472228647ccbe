//! How much is merged, forgotten and reduced, exactly: that less is done than could be is seen by the number
//! of states alone.
//!
//! A line of `figures.txt` is a small program, plain and optimised: its states and steps, the states of a
//! reduced search and how many of them were reduced, then what `sleeping::figures` tells. `VOLEE_UPDATE=1`
//! writes the file again; what changes in it is to be argued.

use std::fmt::Write as _;

use volee_system::collect_steps;

use crate::graph::machine;
use crate::merging::{STATEMENTS, WATCHED, program};
use crate::models::MODELS;
use crate::persistent::{INTERFERENCES, nothing_is_lost};
use crate::sleeping;

/// A line for a program.
fn line(source: &str, watched: &[&str]) -> String {
    let mut line = String::new();
    for plain in [true, false] {
        let states = sleeping::all_states(&mut machine(source, watched, plain));
        let mut whole = machine(source, watched, plain);
        let steps: usize = states.iter().map(|state| collect_steps(&mut whole, state).len()).sum();
        let (reduced, fewer, _) = nothing_is_lost(source, watched, plain);
        let rest = sleeping::figures(source, watched, plain);
        let _ = write!(line, "{} {steps} {fewer} {reduced} {rest:?}; ", states.len());
    }
    let text: String = source.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("{line}{text}\n")
}

#[test]
fn as_much_is_merged_and_forgotten_and_reduced_as_is_known() {
    let mut text = String::new();
    let known = INTERFERENCES.iter().chain(crate::forgetting::PROGRAMS).chain(MODELS);
    for (source, watched) in known {
        text += &line(source, watched);
    }
    for (index, first) in STATEMENTS.iter().enumerate() {
        let second = STATEMENTS[(index + 8) % STATEMENTS.len()];
        text += &line(&program(first, second, "l++"), WATCHED);
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/figures.txt");
    if std::env::var_os("VOLEE_UPDATE").is_some() {
        std::fs::write(path, &text).expect("the file can be written");
    }
    let before = std::fs::read_to_string(path).expect("the file is there");
    for (now, then) in text.lines().zip(before.lines()) {
        assert_eq!(now, then);
    }
    assert_eq!(text.lines().count(), before.lines().count());
}

#[test]
fn numbers_of_processes_matter_where_there_may_be_no_room_for_more() {
    let states = |copies: usize, runs: usize| {
        let source = format!(
            "byte g; proctype R() {{ byte l; l = 1 }}
             active [{copies}] proctype P() {{ if :: g == 1 -> {} skip :: g == 0 -> skip fi; run R() }}",
            "run R(); ".repeat(runs - 1)
        );
        nothing_is_lost(&source, &[], true).1
    };
    assert_eq!(states(3, 83), states(3, 84), "three and 252 are 255");
    assert!(states(3, 84) < states(3, 85));
    assert_eq!(states(2, 100), states(2, 126));
    assert!(states(2, 126) < states(2, 127));
}

#[test]
fn more_channels_and_types_than_there_are_bits_for_are_told_apart_as_far_as_they_can() {
    let sends: String = (0..70).map(|number| format!("c[{number}]!1; ")).collect();
    let source = format!(
        "chan c[70] = [1] of {{ byte }}; byte g;
         proctype P(chan d) {{ byte l; l = 1; if :: g == 9 -> {sends} d!1 :: g < 9 -> skip fi; d!1; c[69]!1 }}
         active proctype Q() {{ byte x; x = 1; if :: c[68]?x -> g = 1 :: c[69]?x -> g = 2 :: g = 3 fi }}
         init {{ run P(c[68]) }}"
    );
    let (reduced, fewer, whole) = nothing_is_lost(&source, &["g == 1", "g == 2", "g == 3"], true);
    assert!(reduced > 0 && fewer < whole, "{reduced} {fewer} {whole}");
    let types: String = (0..62)
        .map(|n| match n {
            0 | 21 | 61 => format!("active proctype T{n}() {{ byte l; l = 1; L: l = 2 }} "),
            _ => format!("proctype T{n}() {{ skip }} "),
        })
        .collect();
    for watched in [&["T61@L"][..], &["T21@L"], &["T0@L"], &["T0@L && T61@L"], &["T0@L && T21@L"]] {
        nothing_is_lost(&types, watched, true);
    }
    let reduced = |watched: &[&str]| sleeping::figures(&types, watched, true)[4];
    assert!(reduced(&["T21@L"]) > reduced(&["T0@L"]), "the bit of the last type is that of the first");
}
