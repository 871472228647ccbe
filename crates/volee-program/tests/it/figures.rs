//! How much is merged, forgotten and reduced, exactly: that less is done than could be is seen by the number of states alone.
//!
//! A line of `figures.txt` is a small program, plain and optimised: its states and steps, the states of a reduced search and how
//! many of them were reduced, then what `sleeping::figures` tells. `VOLEE_UPDATE=1` writes the file again; what changes in it
//! is to be argued.

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
