//! Why a cut-off is what it is: the table of inductions of Yang and Li (b1, b2, c, s) and the graph that has
//! settled the question.

use std::fmt::Write;

use serde_json::{Value, json};
use volee_families::{Erg, OMEGA, Why};

use crate::answer::ExplanationForm;

/// Rows that are shown at the beginning and at the end of a long table.
const ROWS: usize = 8;

/// The table as lines of text.
pub(super) fn table(why: &Why) -> Vec<String> {
    let all = &why.inductions;
    let mut lines = vec!["          induction  b1  b2         c         s  counters".to_string()];
    for (number, i) in all.iter().enumerate() {
        if number == ROWS && all.len() > 2 * ROWS {
            lines.push(format!("          … {} more …", all.len() - 2 * ROWS));
        }
        if number >= ROWS && number + ROWS < all.len() {
            continue;
        }
        let letter = |yes: bool| if yes { "t" } else { "f" };
        let c = match (i.complete, i.cut_off) {
            (false, _) => "too large".to_string(),
            (true, None) => "none".to_string(),
            (true, Some(c)) => c.to_string(),
        };
        let counters = if i.counters.is_empty() { "control alone".into() } else { i.counters.join(", ") };
        let (b1, b2) = (letter(i.trap), letter(i.cut));
        lines.push(format!("          {number:>9}  {b1:>2}  {b2:>2} {c:>9} {:>9}  {counters}", i.states));
    }
    lines
}

/// The table and the graph for machines.
pub(super) fn values(why: &Why) -> (Value, Option<Value>) {
    let row = |i: &volee_families::Induction| {
        json!({
            "counters": i.counters, "b1": i.trap, "b2": i.cut, "c": i.cut_off, "s": i.states, "complete": i.complete,
        })
    };
    let graph = |erg: &Erg| {
        let configurations: Vec<Value> = erg
            .configurations
            .iter()
            .map(|marked| {
                let tokens = |n: u32| if n == OMEGA { json!("ω") } else { json!(n) };
                marked.iter().map(|(p, n)| (p.clone(), tokens(*n))).collect::<serde_json::Map<_, _>>()
            })
            .map(Value::from)
            .collect();
        let step =
            |(from, to, what): &(usize, usize, String)| json!({ "from": from, "to": to, "step": what });
        let steps: Vec<Value> = erg.edges.iter().map(step).collect();
        json!({ "configurations": configurations, "steps": steps, "traps": erg.traps })
    };
    (why.inductions.iter().map(row).collect(), why.erg.as_ref().map(graph))
}

/// The graph as a picture, or as a transition system.
pub(crate) fn drawn(erg: &Erg, form: ExplanationForm) -> String {
    let mut text = String::new();
    let quoted = |s: &str| s.replace('\\', "\\\\").replace('"', "\\\"");
    match form {
        ExplanationForm::Aut => {
            let _ = writeln!(text, "des (0, {}, {})", erg.edges.len(), erg.configurations.len());
            for (from, to, what) in &erg.edges {
                let _ = writeln!(text, "({from}, \"{}\", {to})", quoted(what));
            }
        }
        ExplanationForm::Dot => {
            text.push_str("digraph erg {\n  node [shape=box];\n");
            for (number, marked) in erg.configurations.iter().enumerate() {
                let tokens = |n: u32| if n == OMEGA { "ω".into() } else { n.to_string() };
                let places = marked.iter().map(|(p, n)| format!("{} {}", tokens(*n), quoted(p)));
                let places: Vec<String> = places.collect();
                let shape = if erg.traps.contains(&number) { ", shape=diamond" } else { "" };
                let _ = writeln!(text, "  {number} [label=\"{}\"{shape}];", places.join("\\n"));
            }
            for (from, to, what) in &erg.edges {
                let _ = writeln!(text, "  {from} -> {to} [label=\"{}\"];", quoted(what));
            }
            text.push_str("}\n");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn why() -> Why {
        let induction = |counters: &[&str], cut_off: Option<u64>| volee_families::Induction {
            counters: counters.iter().map(|c| c.to_string()).collect(),
            trap: cut_off.is_some(),
            cut: false,
            cut_off,
            states: 3,
            complete: true,
        };
        let erg = Erg {
            configurations: vec![vec![("a".into(), 1)], vec![("say \"b\"".into(), 2)]],
            edges: vec![(0, 1, "go".into())],
            traps: vec![1],
        };
        let mut inductions = vec![induction(&[], Some(4))];
        inductions.extend((0..20).map(|_| induction(&["p1"], None)));
        Why { inductions, erg: Some(erg) }
    }

    #[test]
    fn a_long_table_shows_its_beginning_and_its_end() {
        let lines = table(&why());
        assert_eq!(lines.len(), 1 + 2 * ROWS + 1);
        assert!(lines[1].contains("control alone") && lines[1].contains('4'), "{}", lines[1]);
        assert!(
            lines.iter().any(|line| line.contains("5 more"))
                && lines.last().is_some_and(|l| l.contains("20"))
        );
    }

    #[test]
    fn the_graph_is_a_picture_and_a_transition_system() {
        let erg = why().erg.expect("it has one");
        let dot = drawn(&erg, ExplanationForm::Dot);
        assert!(
            dot.contains("1 [label=\"2 say \\\"b\\\"\", shape=diamond];") && dot.contains("0 -> 1"),
            "{dot}"
        );
        assert_eq!(drawn(&erg, ExplanationForm::Aut), "des (0, 1, 2)\n(0, \"go\", 1)\n");
        assert_eq!(values(&why()).1.expect("it has one")["traps"], json!([1]));
    }
}
