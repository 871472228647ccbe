//! Explanations as files: `.aut` for tools, DOT for eyes.

use std::fmt::Write;

use super::Explanation;

/// The diagnostic as a transition system in `.aut` text.
pub fn to_aut(explanation: &Explanation) -> String {
    let states = explanation.states.len().max(1);
    let mut text = format!("des (0, {}, {states})\n", explanation.transitions.len());
    for t in &explanation.transitions {
        let _ = writeln!(text, "({}, \"{}\", {})", t.source, t.label.replace('"', "\\\""), t.target);
    }
    text
}

/// The diagnostic as a graph in DOT.
pub fn to_dot(explanation: &Explanation) -> String {
    let mut text =
        String::from("digraph diagnostic {\n  node [shape=circle];\n  start [shape=point];\n  start -> 0;\n");
    for t in &explanation.transitions {
        let label = t.label.replace('\\', "\\\\").replace('"', "\\\"");
        let _ = writeln!(text, "  {} -> {} [label=\"{label}\"];", t.source, t.target);
    }
    text.push_str("}\n");
    text
}
