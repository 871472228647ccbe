//! Never claims out, in the syntax that Promela tools read.

use std::fmt::Write;

use super::guard::{Notation, text};
use crate::automaton::Automaton;

/// A never claim. The automaton must have one acceptance set, on states (see
/// [`crate::ltl::translate_to_buchi`]); `comment` is usually the formula.
pub fn never_claim(automaton: &mut Automaton, comment: &str) -> String {
    let label = |automaton: &Automaton, state: usize| {
        let kind = if automaton.state_marks(state) != 0 { "accept" } else { "T0" };
        if state == automaton.initial as usize { format!("{kind}_init") } else { format!("{kind}_S{state}") }
    };
    let comment = comment.replace("*/", "* /").replace('\n', " ");
    let mut out = format!("never {{ /* {comment} */\n");
    let initial = automaton.initial as usize;
    let order = std::iter::once(initial).chain((0..automaton.len()).filter(|&s| s != initial));
    for state in order {
        let _ = writeln!(out, "{}:", label(automaton, state));
        if automaton.states[state].is_empty() {
            out.push_str("  false;\n");
            continue;
        }
        out.push_str("  do\n");
        for edge in automaton.states[state].clone() {
            let cubes = automaton.guard_cubes(edge.guard);
            let atoms = &automaton.atoms;
            let atom = |a: u32| format!("({})", atoms[a as usize].trim_matches(['{', '}']));
            let guard =
                text(cubes.as_deref(), &Notation { always: "1", and: " && ", or: " || ", atom: &atom });
            let _ = writeln!(out, "  :: ({guard}) -> goto {}", label(automaton, edge.target as usize));
        }
        out.push_str("  od;\n");
    }
    out.push_str("}\n");
    out
}
