//! A graph of states as Graphviz DOT: for systems small enough to be looked at.

use std::io::{self, Write};

/// Writes a graph; states are numbers, the initial one has an arrow out of nowhere, internal steps are dashed.
///
/// # Errors
/// Writing fails.
pub fn write_dot<'a>(
    out: &mut dyn Write,
    name: &str,
    initial: usize,
    transitions: impl Iterator<Item = (usize, &'a str, usize)>,
) -> io::Result<()> {
    writeln!(out, "digraph {} {{", quoted(name))?;
    writeln!(out, "  rankdir=LR;\n  node [shape=circle, fontsize=10];\n  edge [fontsize=10];")?;
    writeln!(out, "  start [shape=point];\n  start -> {initial};")?;
    for (source, label, target) in transitions {
        let style = if matches!(label, "i" | "tau") { ", style=dashed" } else { "" };
        writeln!(out, "  {source} -> {target} [label={}{style}];", quoted(label))?;
    }
    writeln!(out, "}}")
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_quoted() {
        let mut out = Vec::new();
        let edges = [(0, "say \"hi\\\"", 1), (1, "i", 0)];
        write_dot(&mut out, "m", 0, edges.into_iter()).expect("a buffer");
        let text = String::from_utf8(out).expect("text");
        assert!(text.contains(r#"0 -> 1 [label="say \"hi\\\""];"#), "{text}");
        assert!(text.contains(r#"1 -> 0 [label="i", style=dashed];"#), "{text}");
    }
}
