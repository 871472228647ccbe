//! A program with processes as a counter program: one location per explicit state.

use std::collections::HashMap;

use volee_integers::{Affine, Conjunct, Int, Row};
use volee_program::{self as promela, Expr, Scalar, Variable};
use volee_system::{Diagnostic, FaultKind, Place};

use super::counting::Counting;
use super::evaluate::{Branch, Columns, Evaluator};
use super::events::{EventAtom, Listener};
use super::explore::{Edge, Explorer};
use super::reduce::remove_internal;
use super::state::{Blocks, Explicit, Message};
use crate::program::{Domain, Instruction, LocationId, Program, Region, Transition};

/// How a program is to be read.
#[derive(Debug, Clone, Default)]
pub struct ProcessOptions {
    /// The variables of type `int` that are unbounded; `None`: all of them.
    pub symbolic: Option<Vec<String>>,
    /// Global variables whose initial values are left open.
    pub parameters: Vec<String>,
    /// Conditions on the initial values.
    pub assumptions: Vec<Expr>,
}

/// An error that a run can end with.
#[derive(Debug, Clone)]
pub struct Failure {
    /// Assertion or run-time error.
    pub kind: FaultKind,
    /// A sentence without a full stop.
    pub message: String,
    /// Where in the model.
    pub place: Option<Place>,
    /// The location that stands for it.
    pub location: LocationId,
}

/// A program with processes as a counter program, and what is needed to ask questions of it.
pub struct Translation {
    /// The counter program, without a question.
    pub program: Program,
    /// The errors that runs can end with.
    pub failures: Vec<Failure>,
    /// Where no process can move although some process is not at a proper end; `None` if that is too
    /// complicated.
    pub deadlocks: Option<Vec<Region>>,
    /// Where runs end, well or not; `None` if that is too complicated.
    pub ends: Option<Vec<Region>>,
    /// Which locations are seen from outside.
    pub visible: Vec<bool>,
    /// For each transition the events that it is, of those that were asked for: a bit each.
    pub events: Vec<u64>,
    source: promela::Program,
    states: Vec<Explicit>,
    blocks: Blocks,
    columns: Columns,
}

/// Locations that make narrow variables worth being sets: this many times as many without.
const WORTH: usize = 8;

/// Reads a program with processes.
///
/// # Errors
/// Statements that cannot be handled, each with its place and the reason.
pub fn translate(
    program: &promela::Program,
    options: &ProcessOptions,
) -> std::result::Result<Translation, Vec<Diagnostic>> {
    translate_watching(program, options, &[])
}

/// Reads a program with processes whose events are looked for; no steps are then composed.
///
/// # Errors
/// As above, and patterns that may mean more than what single transitions tell.
pub fn translate_watching(
    program: &promela::Program,
    options: &ProcessOptions,
    events: &[EventAtom],
) -> std::result::Result<Translation, Vec<Diagnostic>> {
    let refuse = |message: &str| vec![Diagnostic::error(message, None)];
    if program.never.is_some() || program.monitor.is_some() {
        return Err(refuse("the counters engine does not handle never claims and trace declarations"));
    }
    if program.uses_priorities {
        return Err(refuse("the counters engine does not handle priorities"));
    }
    if let Some(choice) = program.proctypes.iter().find_map(promela::Proctype::possible_choice) {
        let message = "the counters engine does not look whether a `D_proctype` has a choice here";
        let wrong = Diagnostic::error(message, choice.statement.place.clone());
        return Err(vec![wrong.with_help("write `proctype`, which may choose")]);
    }
    if let Some(names) = &options.symbolic {
        let chosen = |_: Option<usize>, variable: &Variable| {
            let name = variable.name.replace("[]", "");
            names.contains(&name) || options.parameters.contains(&name)
        };
        return translate_with(program, options, events, &chosen);
    }
    let is_int = |_: Option<usize>, variable: &Variable| variable.scalar == Scalar::Int;
    let plain = translate_with(program, options, events, &is_int);
    let counting = Counting::of(program);
    if counting.is_empty() {
        return plain;
    }
    let counts = |block: Option<usize>, v: &Variable| v.scalar == Scalar::Int || counting.contains(block, v);
    match (plain, translate_with(program, options, events, &counts)) {
        (Ok(plain), Ok(sets)) if plain.states.len() > WORTH * sets.states.len() => Ok(sets),
        (Err(_), Ok(sets)) => Ok(sets),
        (plain, _) => plain,
    }
}

fn translate_with(
    program: &promela::Program,
    options: &ProcessOptions,
    events: &[EventAtom],
    is_symbolic: &dyn Fn(Option<usize>, &Variable) -> bool,
) -> std::result::Result<Translation, Vec<Diagnostic>> {
    let Some(blocks) = Blocks::of(program, is_symbolic) else {
        let message = "the model has too many variables for the counters engine";
        return Err(vec![Diagnostic::error(message, None)]);
    };
    let mut explorer = Explorer {
        program,
        evaluator: Evaluator::new(program, &blocks, Columns::default()),
        numbers: HashMap::new(),
        states: Vec::new(),
        edges: Vec::new(),
        failures: Vec::new(),
        errors: Vec::new(),
        deadlocks: Some(Vec::new()),
        mover: None,
        ends: Some(Vec::new()),
        listener: Listener::new(program, events),
    };
    let initial = explorer.run(options)?;
    let Explorer { evaluator, states, edges, failures, errors, deadlocks, ends, .. } = explorer;
    if !errors.is_empty() {
        return Err(errors);
    }
    if events.iter().any(|event| event.joins) && states.iter().any(Explicit::is_internal) {
        let message = "a pattern may mean several statements of an indivisible sequence together, which the counters engine does not tell";
        return Err(vec![Diagnostic::error(message, None).with_help("name one statement or message")]);
    }
    let columns = evaluator.columns;
    let parts = Parts { states, edges, failures, deadlocks, ends, initial, watched: !events.is_empty() };
    finish(program, options, blocks, columns, parts)
}

/// What exploration gives.
struct Parts {
    states: Vec<Explicit>,
    edges: Vec<Edge>,
    failures: Vec<Failure>,
    deadlocks: Option<Vec<(u32, Vec<Row>)>>,
    ends: Option<Vec<(u32, Vec<Row>)>>,
    initial: Vec<(u32, Vec<Row>)>,
    watched: bool,
}

fn finish(
    program: &promela::Program,
    options: &ProcessOptions,
    blocks: Blocks,
    columns: Columns,
    parts: Parts,
) -> std::result::Result<Translation, Vec<Diagnostic>> {
    let n = columns.names.len();
    let widen = |mut row: Row| {
        row.resize(n + 1, Int::ZERO);
        row
    };
    let mut parameters = Vec::new();
    for name in &options.parameters {
        match columns.names.iter().position(|c| c == name) {
            Some(i) => parameters.push(i),
            None => {
                let message = format!("there is no unbounded global variable `{name}` to be a parameter");
                return Err(vec![Diagnostic::error(message, None)]);
            }
        }
    }
    let (mut transitions, mut events) = (Vec::new(), Vec::new());
    for edge in parts.edges {
        events.push(edge.events);
        let mut update = Affine::identity(n);
        for (column, row) in edge.updates {
            update.set(column, widen(row));
        }
        if let Some(&p) = parameters.iter().find(|&&p| update.component(p).is_some()) {
            let message = format!("`{}` is a parameter, but `{}` changes it", columns.names[p], edge.name);
            return Err(vec![Diagnostic::error(message, edge.place)]);
        }
        transitions.push(Transition {
            name: edge.name,
            from: LocationId(edge.from),
            to: LocationId(edge.to),
            instruction: Instruction { guard: edge.guard.into_iter().map(widen).collect(), update },
            place: edge.place,
        });
    }
    let region = |(location, rows): (u32, Vec<Row>)| Region {
        location: LocationId(location),
        conjunct: Conjunct::new(n, Vec::new(), rows.into_iter().map(widen).collect()),
    };
    let visible: Vec<bool> = parts.states.iter().map(|s| !s.is_internal()).collect();
    let mut failures = Vec::new();
    for (i, state) in parts.states.iter().enumerate() {
        if let Some(failure) = state.failed.and_then(|f| parts.failures.get(f as usize)) {
            failures.push(Failure { location: LocationId(i as u32), ..failure.clone() });
        }
    }
    let mut counter = Program {
        variables: columns.names.clone(),
        locations: distinct(parts.states.iter().map(|s| location_name(program, &blocks, s)).collect()),
        transitions,
        initial: parts.initial.into_iter().map(region).collect(),
        bad: Vec::new(),
        parameters,
        domain: Domain::Integers,
    };
    if !parts.watched {
        remove_internal(&mut counter, &visible);
        events = vec![0; counter.transitions.len()];
    }
    let regions = |all: Vec<(u32, Vec<Row>)>| all.into_iter().map(region).collect();
    Ok(Translation {
        program: counter,
        failures,
        deadlocks: parts.deadlocks.map(regions),
        ends: parts.ends.map(regions),
        visible,
        events,
        source: program.clone(),
        states: parts.states,
        blocks,
        columns,
    })
}

impl Translation {
    /// For each location whether it stands for an error and not for a state.
    pub fn failed(&self) -> Vec<bool> {
        self.states.iter().map(|state| state.failed.is_some()).collect()
    }

    /// Where an expression of the model is true (or false).
    ///
    /// # Errors
    /// The expression is not linear in the unbounded variables.
    pub fn regions(&self, expr: &Expr, wanted: bool) -> std::result::Result<Vec<Region>, Diagnostic> {
        let mut evaluator = Evaluator::new(&self.source, &self.blocks, Columns::clone_of(&self.columns));
        let n = self.columns.names.len();
        let mut out = Vec::new();
        for (i, state) in self.states.iter().enumerate() {
            if !self.visible[i] || state.failed.is_some() {
                continue;
            }
            let branch = Branch::at(state.clone());
            let formula = evaluator.truth(&branch, None, expr).and_then(|truth| {
                // What has no value is not true.
                let mut truth = truth;
                for fault in evaluator.take_faults() {
                    truth = truth.and(&fault.when.not()?)?;
                }
                if wanted { Ok(truth) } else { Ok(truth.not()?) }
            });
            let formula = formula.map_err(|refusal| refusal.into_diagnostic("this expression", None))?;
            for mut rows in formula.0 {
                rows.iter_mut().for_each(|r| r.resize(n + 1, Int::ZERO));
                let conjunct = Conjunct::new(n, Vec::new(), rows);
                out.push(Region { location: LocationId(i as u32), conjunct });
            }
        }
        Ok(out)
    }
}

/// Numbers names that occur more than once.
fn distinct(mut names: Vec<String>) -> Vec<String> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    for name in &mut names {
        let times = seen.entry(name.clone()).or_insert(0);
        *times += 1;
        if *times > 1 {
            name.push_str(&format!(" #{times}"));
        }
    }
    names
}

/// Control points by their lines, and the explicit variables that are not 0.
fn location_name(program: &promela::Program, blocks: &Blocks, state: &Explicit) -> String {
    let mut parts = Vec::new();
    for process in &state.processes {
        let proctype = &program.proctypes[process.proctype as usize];
        let first = proctype.nodes[process.node as usize].transitions.first();
        let line = first.and_then(|t| t.statement.place.as_ref()).map(|p| p.line);
        parts.push(match line {
            Some(line) => format!("{}:{line}", proctype.name),
            None => format!("{}:end", proctype.name),
        });
        let block = &blocks.locals[process.proctype as usize];
        let shown = block.cells.iter().zip(&process.cells).filter(|(c, v)| !c.symbolic && **v != 0);
        parts.extend(shown.map(|(c, v)| format!("{}={v}", c.name)));
    }
    let shown = blocks.globals.cells.iter().zip(&state.globals).filter(|(c, v)| !c.symbolic && **v != 0);
    parts.extend(shown.map(|(c, v)| format!("{}={v}", c.name)));
    for (number, channel) in state.channels.iter().enumerate().filter(|(_, c)| !c.messages.is_empty()) {
        let name = program
            .channels
            .get(number)
            .map_or_else(|| format!("channel {}", number + 1), |c| c.name.clone());
        let field = |f: &Option<i32>| f.map_or_else(|| "·".to_owned(), |n| n.to_string());
        let message = |m: &Message| m.iter().map(field).collect::<Vec<_>>().join(",");
        let all: Vec<String> = channel.messages.iter().map(message).collect();
        parts.push(format!("{name}=[{}]", all.join(" ")));
    }
    if state.is_internal() {
        parts.push("(inside an atomic sequence)".to_owned());
    }
    if state.failed.is_some() {
        parts.push("(error)".to_owned());
    }
    parts.join(" ")
}
