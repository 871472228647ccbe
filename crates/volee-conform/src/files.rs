//! Test files: JSON with everything, `.aut` as TGV writes it, DOT with a colour per verdict.

use std::io::{self, Write};

use serde::{Deserialize, Serialize};
use volee_lts::Lts;

use crate::graph::{Form, Node, TestEdge, TestGraph, from_rows};
use crate::{ActionId, Actions, ConformError, DELTA, Kind, Livelock};

const FORMAT: &str = "volee-test-1";

/// A test graph as JSON has it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TestFile {
    format: String,
    /// Complete or a test case.
    pub form: Form,
    /// The specification as the user named it.
    pub specification: String,
    /// The purpose in words.
    pub purpose: String,
    /// Whether a livelock of the specification counts as quiescence.
    pub livelock_is_quiescence: bool,
    nodes: u32,
    transitions: Vec<Transition>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Transition {
    from: u32,
    #[serde(flatten)]
    step: StepText,
    to: Target,
    /// An output that may come while the node sends.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    crossing: bool,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum StepText {
    Send(String),
    See(String),
    Quiet(bool),
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(untagged)]
enum Target {
    Node(u32),
    Verdict(End),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum End {
    Pass,
    Inconclusive,
}

impl TestFile {
    /// What is to be stored of a test.
    pub fn new(graph: &TestGraph, specification: &str, purpose: &str, livelock: Livelock) -> Self {
        let mut transitions = Vec::with_capacity(graph.edge_count());
        for node in graph.nodes() {
            for edge in graph.edges(node) {
                let action = graph.actions().get(edge.action);
                let step = match (edge.action, action.kind) {
                    (DELTA, _) => StepText::Quiet(true),
                    (_, Kind::Input) => StepText::Send(action.name.clone()),
                    _ => StepText::See(action.name.clone()),
                };
                let to = match edge.target {
                    Node::PASS => Target::Verdict(End::Pass),
                    Node::INCONCLUSIVE => Target::Verdict(End::Inconclusive),
                    inner => Target::Node(inner.0),
                };
                transitions.push(Transition {
                    from: node.0,
                    step,
                    to,
                    crossing: graph.is_crossing(node, edge),
                });
            }
        }
        TestFile {
            format: FORMAT.into(),
            form: graph.form,
            specification: specification.into(),
            purpose: purpose.into(),
            livelock_is_quiescence: livelock == Livelock::Quiescent,
            nodes: graph.node_count() as u32,
            transitions,
        }
    }

    /// Writes it as JSON, a transition per line.
    ///
    /// # Errors
    /// What the writer says.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let head = TestFile { transitions: Vec::new(), ..self.clone_head() };
        let head = serde_json::to_string_pretty(&head)?;
        let head = head.trim_end().trim_end_matches('}').trim_end().trim_end_matches("[]");
        write!(out, "{head}[")?;
        for (at, transition) in self.transitions.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            write!(out, "{comma}\n    {}", serde_json::to_string(transition)?)?;
        }
        writeln!(out, "\n  ]\n}}")
    }

    fn clone_head(&self) -> TestFile {
        TestFile {
            format: self.format.clone(),
            specification: self.specification.clone(),
            purpose: self.purpose.clone(),
            transitions: Vec::new(),
            ..*self
        }
    }

    /// What the specification's quiescence was taken to be.
    pub fn livelock(&self) -> Livelock {
        if self.livelock_is_quiescence { Livelock::Quiescent } else { Livelock::Ignored }
    }

    /// The test graph.
    ///
    /// # Errors
    /// The file was changed and no longer makes sense.
    pub fn graph(&self) -> Result<TestGraph, ConformError> {
        let mut actions = Actions::default();
        let mut rows: Vec<Vec<TestEdge>> = Vec::new();
        // Nothing is allocated on the word of the header.
        let nodes = (self.nodes as usize).min(self.transitions.len() + 1);
        rows.resize_with(nodes, Vec::new);
        for (at, t) in self.transitions.iter().enumerate() {
            let wrong = |what: &str| ConformError::input(format!("transition {} of the test {what}", at + 1));
            let action = match &t.step {
                StepText::Send(name) => actions.intern(name, Kind::Input),
                StepText::See(name) => actions.intern(name, Kind::Output),
                StepText::Quiet(_) => DELTA,
            };
            let goes_both_ways = match t.step {
                StepText::Send(_) => !actions.is_input(action),
                _ => actions.is_input(action),
            };
            if goes_both_ways {
                return Err(wrong("sends what another one sees"));
            }
            let target = match t.to {
                Target::Verdict(End::Pass) => Node::PASS,
                Target::Verdict(End::Inconclusive) => Node::INCONCLUSIVE,
                Target::Node(n) if (n as usize) < nodes => Node(n),
                Target::Node(_) => return Err(wrong("leads to a node that does not exist")),
            };
            let Some(row) = rows.get_mut(t.from as usize) else {
                return Err(wrong("starts at a node that does not exist"));
            };
            if row.iter().any(|e| e.action == action) {
                return Err(wrong("is the second of its node with the same action"));
            }
            row.push(TestEdge { action, target });
        }
        if rows.is_empty() {
            return Err(ConformError::input("the test has no nodes"));
        }
        let mut graph = TestGraph::new(self.form, actions);
        rows.into_iter().for_each(|r| graph.push_row(r));
        Ok(graph)
    }
}

/// Reads a test from JSON text.
///
/// # Errors
/// It is not one.
pub fn read_test(text: &str) -> Result<(TestFile, TestGraph), ConformError> {
    let file: TestFile = serde_json::from_str(text).map_err(|e| {
        ConformError::advised(
            format!("this is not a test of volee: {e}"),
            "volee tests writes them with -o NAME.json",
        )
    })?;
    if file.format != FORMAT {
        return Err(ConformError::input(format!(
            "the format of the test is `{}`, not `{FORMAT}`",
            file.format
        )));
    }
    let graph = file.graph()?;
    Ok((file, graph))
}

impl TestGraph {
    /// Reads a test from a transition system with labels as [`TestGraph::to_lts`] writes them.
    ///
    /// # Errors
    /// A label is none of a test.
    pub fn from_lts(lts: &Lts) -> Result<TestGraph, ConformError> {
        let mut actions = Actions::default();
        let mut actions_of: Vec<Option<ActionId>> = Vec::new();
        for (id, name) in lts.labels().iter() {
            let action = match name.rsplit_once("; ") {
                Some(("DELTA", "INPUT")) => Some(DELTA),
                Some((label, "OUTPUT")) => Some(actions.intern(label, Kind::Input)),
                Some((label, "INPUT")) => Some(actions.intern(label, Kind::Output)),
                _ if matches!(name, crate::graph::PASS | crate::graph::INCONCLUSIVE) || id.0 == 0 => None,
                _ => {
                    let message = format!("`{name}` is not a label of a test");
                    let help = "labels of a test end in `; OUTPUT` (sent) or `; INPUT` (seen)";
                    return Err(ConformError::advised(message, help));
                }
            };
            actions_of.push(action);
        }
        let mut graph = from_rows(lts, Form::Complete, actions, &actions_of);
        if graph.is_controllable() {
            graph.form = Form::Case;
        }
        Ok(graph)
    }
}

/// Writes a picture: sends are boxes, verdicts have colours, and what is not shown is FAIL.
///
/// # Errors
/// What the writer says.
pub fn write_dot(graph: &TestGraph, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "digraph test {{\n  rankdir=LR;\n  node [shape=circle, fontsize=10];\n  edge [fontsize=10];"
    )?;
    writeln!(out, "  start [shape=point];\n  start -> n0;")?;
    writeln!(out, "  pass [label=\"PASS\", shape=doublecircle, style=filled, fillcolor=\"#8fd694\"];")?;
    writeln!(
        out,
        "  inconclusive [label=\"INCONCLUSIVE\", shape=doublecircle, style=filled, fillcolor=\"#f2d479\"];"
    )?;
    writeln!(out, "  fail [label=\"FAIL\", shape=doublecircle, style=filled, fillcolor=\"#e88b8b\"];")?;
    for node in graph.nodes() {
        let sends = graph.sends(node).next().is_some();
        let shape = if sends { ", shape=box" } else { "" };
        writeln!(out, "  n{0} [label=\"{0}\"{shape}];", node.0)?;
        for edge in graph.edges(node) {
            let target = match edge.target {
                Node::PASS => "pass".to_owned(),
                Node::INCONCLUSIVE => "inconclusive".to_owned(),
                inner => format!("n{}", inner.0),
            };
            let direction = if graph.actions().is_input(edge.action) { "!" } else { "?" };
            let style = if graph.is_crossing(node, edge) { ", style=dotted" } else { "" };
            let name = escape(graph.actions().name(edge.action));
            writeln!(out, "  n{} -> {target} [label=\"{direction} {name}\"{style}];", node.0)?;
        }
        if !sends {
            writeln!(out, "  n{} -> fail [label=\"otherwise\", style=dashed, color=\"#e88b8b\"];", node.0)?;
        }
    }
    writeln!(out, "}}")
}

fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
