//! HOA and DOT out.

use std::fmt::Write;

use super::guard::{Notation, text};
use crate::automaton::Automaton;
use crate::bdd::Literal;
use crate::tl::{Dfa, Verdict3};

fn quote(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

fn header(out: &mut String, name: &str, states: usize, start: u32, atoms: &[String]) {
    let _ = writeln!(out, "HOA: v1\nname: {}\nStates: {states}\nStart: {start}", quote(name));
    let _ = write!(out, "AP: {}", atoms.len());
    for atom in atoms {
        let _ = write!(out, " {}", quote(atom));
    }
    out.push('\n');
}

fn hoa_guard(cubes: Option<&[Vec<Literal>]>) -> String {
    text(cubes, &Notation { always: "t", and: "&", or: " | ", atom: &|a| a.to_string() })
}

fn named_guard(cubes: Option<&[Vec<Literal>]>, atoms: &[String]) -> String {
    text(cubes, &Notation { always: "true", and: " && ", or: " || ", atom: &|a| atoms[a as usize].clone() })
}

/// A Büchi automaton in the Hanoi format.
pub fn hoa(automaton: &mut Automaton, name: &str) -> String {
    let mut out = String::new();
    header(&mut out, name, automaton.len(), automaton.initial, &automaton.atoms.clone());
    let state_based = automaton.sets == 1 && automaton.is_state_based();
    let sets = automaton.sets;
    let condition: Vec<String> = (0..sets).map(|s| format!("Inf({s})")).collect();
    let _ = match sets {
        0 => writeln!(out, "acc-name: all\nAcceptance: 0 t"),
        1 => writeln!(out, "acc-name: Buchi\nAcceptance: 1 Inf(0)"),
        _ => writeln!(out, "acc-name: generalized-Buchi {sets}\nAcceptance: {sets} {}", condition.join("&")),
    };
    let deterministic = automaton.nondeterministic_state().is_none();
    let complete = automaton.is_complete();
    let place = if state_based { "state-acc" } else { "trans-acc" };
    let _ = write!(out, "properties: trans-labels explicit-labels {place}");
    out.push_str(if deterministic { " deterministic" } else { "" });
    out.push_str(if complete { " complete" } else { "" });
    out.push_str("\n--BODY--\n");
    for state in 0..automaton.len() {
        let marks = if state_based { automaton.state_marks(state) } else { 0 };
        let _ = writeln!(out, "State: {state}{}", marks_text(marks));
        for edge in automaton.states[state].clone() {
            let guard = hoa_guard(automaton.guard_cubes(edge.guard).as_deref());
            let marks = if state_based { 0 } else { edge.marks };
            let _ = writeln!(out, "[{guard}] {}{}", edge.target, marks_text(marks));
        }
    }
    out.push_str("--END--\n");
    out
}

fn marks_text(marks: u64) -> String {
    if marks == 0 {
        return String::new();
    }
    let sets: Vec<String> = (0..64).filter(|s| marks >> s & 1 == 1).map(|s| s.to_string()).collect();
    format!(" {{{}}}", sets.join(" "))
}

/// A Büchi automaton as a graph.
pub fn dot(automaton: &mut Automaton) -> String {
    let mut out =
        String::from("digraph automaton {\n  rankdir=LR;\n  node [shape=circle];\n  start [shape=point];\n");
    let _ = writeln!(out, "  start -> {};", automaton.initial);
    let state_based = automaton.sets == 1 && automaton.is_state_based();
    for state in 0..automaton.len() {
        if state_based && automaton.state_marks(state) != 0 {
            let _ = writeln!(out, "  {state} [shape=doublecircle];");
        }
        for edge in automaton.states[state].clone() {
            let cubes = automaton.guard_cubes(edge.guard);
            let guard = named_guard(cubes.as_deref(), &automaton.atoms);
            let marks = if state_based { String::new() } else { marks_text(edge.marks) };
            let _ =
                writeln!(out, "  {state} -> {} [label={}];", edge.target, quote(&format!("{guard}{marks}")));
        }
    }
    out.push_str("}\n");
    out
}

/// A finite-trace automaton as a graph; the rejecting sink is left out.
pub fn dfa_dot(dfa: &Dfa, atoms: &[String]) -> String {
    let mut out =
        String::from("digraph automaton {\n  rankdir=LR;\n  node [shape=circle];\n  start [shape=point];\n");
    let _ = writeln!(out, "  start -> {};", dfa.initial().0);
    for state in dfa.all_states().filter(|&s| dfa.verdict(s) != Verdict3::Violated) {
        let shape = if dfa.is_accepting(state) { "doublecircle" } else { "circle" };
        let _ = writeln!(out, "  {} [shape={shape}, tooltip={}];", state.0, quote(dfa.derivative(state)));
        for (target, cubes) in dfa.edges(state) {
            if dfa.verdict(target) != Verdict3::Violated {
                let guard = named_guard(cubes.as_deref(), atoms);
                let _ = writeln!(out, "  {} -> {} [label={}];", state.0, target.0, quote(&guard));
            }
        }
    }
    out.push_str("}\n");
    out
}

/// A finite-trace automaton in the Hanoi format: state acceptance, read as "the word may end here".
pub fn dfa_hoa(dfa: &Dfa, atoms: &[String], name: &str) -> String {
    let mut out = String::new();
    header(&mut out, name, dfa.len(), dfa.initial().0, atoms);
    out.push_str("acc-name: Buchi\nAcceptance: 1 Inf(0)\n");
    out.push_str("properties: trans-labels explicit-labels state-acc deterministic complete\n--BODY--\n");
    for state in dfa.all_states() {
        let _ = writeln!(out, "State: {}{}", state.0, if dfa.is_accepting(state) { " {0}" } else { "" });
        for (target, cubes) in dfa.edges(state) {
            let _ = writeln!(out, "[{}] {}", hoa_guard(cubes.as_deref()), target.0);
        }
    }
    out.push_str("--END--\n");
    out
}
