//! Graphviz: a picture of a small system, parallel steps on one arrow, internal steps dashed.

use std::io::{self, Write};

use crate::{Lts, StateId};

/// Writes a system for `dot`.
///
/// # Errors
/// What the writer says.
pub fn write_dot(lts: &Lts, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "digraph lts {{\n  rankdir=LR;\n  node [shape=circle, fontsize=10];\n  edge [fontsize=10];"
    )?;
    writeln!(out, "  start [shape=point];\n  start -> s{};", lts.initial().0)?;
    for state in lts.states() {
        let shape = if lts.edges(state).is_empty() { ", shape=doublecircle" } else { "" };
        writeln!(out, "  s{0} [label=\"{0}\"{shape}];", state.0)?;
    }
    let mut row: Vec<(StateId, String)> = Vec::new();
    for state in lts.states() {
        row.clear();
        row.extend(lts.edges(state).iter().map(|e| (e.target, escape(lts.name(e.label)))));
        row.sort();
        for same in row.chunk_by(|a, b| a.0 == b.0) {
            let labels: Vec<&str> = same.iter().map(|e| e.1.as_str()).collect();
            let dashed = if labels.iter().all(|l| *l == "i") { ", style=dashed" } else { "" };
            let (target, labels) = (same[0].0.0, labels.join("\\n"));
            writeln!(out, "  s{} -> s{target} [label=\"{labels}\"{dashed}];", state.0)?;
        }
    }
    writeln!(out, "}}")?;
    out.flush()
}

fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
