//! A small state graph as a picture: every state with the variables that one picks, every step with what it
//! does. `.dot` for Graphviz, `.svg` laid out by `layout-rs`. More states than a person can look at are
//! refused.

use std::collections::HashMap;
use std::fmt::Write as _;

use layout::backends::svg::SVGWriter;
use layout::core::base::Orientation;
use layout::core::geometry::Point;
use layout::core::style::StyleAttr;
use layout::std_shapes::shapes::{Arrow, Element, ShapeKind};
use layout::topo::layout::VisualGraph;
use volee_report::{Filter, is_location};
use volee_system::{Diagnostic, Flow, Meter, Step, System, collect_initial};

use crate::answer::AskError;

/// States of a picture.
const MOST_STATES: usize = 500;
/// Steps of a picture: with more it is black.
const MOST_STEPS: usize = 4_000;
/// Characters of a line in a picture.
const LONGEST_LINE: usize = 60;

/// A state graph that can be drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    states: Vec<Drawn>,
    /// From, to, and what happens: one entry for each pair.
    steps: Vec<(usize, usize, Vec<String>)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Drawn {
    lines: Vec<String>,
    is_initial: bool,
    ends: bool,
}

impl Picture {
    /// All states of a system, in breadth-first order.
    ///
    /// # Errors
    /// There are too many, or the budget is used up.
    pub fn of(system: &mut dyn System, filter: &Filter, meter: &Meter) -> Result<Picture, AskError> {
        let mut numbers: HashMap<Vec<u8>, usize> = HashMap::new();
        let mut order: Vec<Vec<u8>> = Vec::new();
        for state in collect_initial(system) {
            if numbers.insert(state.clone(), order.len()).is_none() {
                order.push(state);
            }
        }
        let initial = order.len();
        let mut picture = Picture { states: Vec::new(), steps: Vec::new() };
        let mut at = 0;
        while at < order.len() {
            if order.len() > MOST_STATES || picture.steps.len() > MOST_STEPS {
                return Err(too_many().into());
            }
            meter.check().map_err(AskError::Limit)?;
            let state = order[at].clone();
            let mut out: Vec<(usize, Step)> = Vec::new();
            let _ = system.steps(&state, &mut |step: Step, target: &[u8]| {
                let next = order.len();
                let number = *numbers.entry(target.to_vec()).or_insert(next);
                if number == next {
                    order.push(target.to_vec());
                }
                out.push((number, step));
                if order.len() > MOST_STATES { Flow::Break(()) } else { Flow::Continue(()) }
            });
            picture.add(system, &state, at < initial, &out, filter);
            at += 1;
        }
        Ok(picture)
    }

    fn add(
        &mut self,
        system: &dyn System,
        state: &[u8],
        is_initial: bool,
        out: &[(usize, Step)],
        filter: &Filter,
    ) {
        let from = self.states.len();
        let variables = system.variables(state);
        let wanted = variables.iter().filter(|v| match is_location(v) {
            true => filter.show.is_empty(),
            false => filter.shows(v),
        });
        let line = |v: &volee_system::Variable| match is_location(v) {
            true => cut(&format!("{} {}", v.name.trim_end_matches('@'), v.value)),
            false => cut(&format!("{} = {}", v.name, v.value)),
        };
        let lines = wanted.map(line).collect();
        self.states.push(Drawn { lines, is_initial, ends: out.is_empty() });
        let first = self.steps.len();
        for (to, step) in out {
            let text = cut(&system.label(step.label));
            match self.steps[first..].iter_mut().find(|(_, t, _)| t == to) {
                Some((_, _, texts)) if !texts.contains(&text) => texts.push(text),
                Some(_) => {}
                None => self.steps.push((from, *to, vec![text])),
            }
        }
    }

    /// How many states there are.
    pub fn len(&self) -> usize {
        self.states.len()
    }

    /// Whether there is nothing to draw.
    pub fn is_empty(&self) -> bool {
        self.states.is_empty()
    }

    /// For Graphviz.
    pub fn dot(&self) -> String {
        let mut out = String::from(
            "digraph states {\n  node [shape=box, style=rounded, fontname=\"monospace\", fontsize=10];\n  edge [fontname=\"monospace\", fontsize=9];\n",
        );
        for (number, state) in self.states.iter().enumerate() {
            let label: Vec<String> = state.lines.iter().map(|l| escaped(l)).collect();
            let label = if label.is_empty() { number.to_string() } else { label.join("\\n") };
            let ends = if state.ends { ", peripheries=2" } else { "" };
            let _ = writeln!(out, "  s{number} [label=\"{label}\"{ends}];");
            if state.is_initial {
                let _ = writeln!(out, "  start{number} [shape=point];\n  start{number} -> s{number};");
            }
        }
        for (from, to, texts) in &self.steps {
            let label: Vec<String> = texts.iter().map(|l| escaped(l)).collect();
            let _ = writeln!(out, "  s{from} -> s{to} [label=\"{}\"];", label.join("\\n"));
        }
        out.push_str("}\n");
        out
    }

    /// As a document that stands alone.
    pub fn svg(&self) -> String {
        let direction = Orientation::TopToBottom;
        let mut graph = VisualGraph::new(direction);
        let mut handles = Vec::with_capacity(self.states.len());
        for (number, state) in self.states.iter().enumerate() {
            let label = if state.lines.is_empty() { number.to_string() } else { state.lines.join("\n") };
            let widest = label.lines().map(|l| l.chars().count()).max().unwrap_or(1).max(3);
            let size = Point::new(9.0 * widest as f64 + 18.0, 18.0 * label.lines().count() as f64 + 14.0);
            let mut style = StyleAttr::simple();
            style.line_width = if state.is_initial || state.ends { 3 } else { 1 };
            handles.push(graph.add_node(Element::create(ShapeKind::new_box(&label), style, direction, size)));
        }
        for (from, to, texts) in &self.steps {
            graph.add_edge(Arrow::simple(&texts.join("\n")), handles[*from], handles[*to]);
        }
        let mut svg = SVGWriter::new();
        graph.do_it(false, false, false, &mut svg);
        svg.finalize()
    }
}

fn too_many() -> Diagnostic {
    Diagnostic::error(
        format!("a picture of more than {MOST_STATES} states or {MOST_STEPS} steps helps nobody"),
        None,
    )
    .with_help("make the model smaller (fewer processes, smaller constants), or write it as .aut")
}

fn cut(text: &str) -> String {
    if text.chars().count() <= LONGEST_LINE {
        return text.to_string();
    }
    text.chars().take(LONGEST_LINE - 1).chain(['…']).collect()
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
