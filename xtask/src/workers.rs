//! `cargo xtask corpus cluster [--below STATES] [MODEL]`: the corpus by several workers, beside one who is
//! alone.
//!
//! Promela models are searched to the end: states, transitions, verdicts, numbers of errors and their reasons
//! must be those of the sequential search, and every run that the workers found must replay. Transition
//! systems are asked the five alternation-free formulas whose values independent tools have given, and for
//! their deadlocks; once by their numbers and once with states of more bytes, which are spread by what was
//! learnt from a sample. Certificates are checked again.

use std::borrow::Cow;
use std::path::Path;
use std::time::Duration;

use volee::bes::model::ModelGraph;
use volee::cluster::equations::{self, JointAnswer};
use volee::cluster::search::{self, joined};
use volee::cluster::threads::on_threads;
use volee::logic::mu::{Equations, read};
use volee::lts::generate::family;
use volee::lts::read_file;
use volee::search::{Check, Order, Outcome, check};
use volee::system::{Budget, Flow, Label, Meter, Quiet, ReasonKind, Sink, Step, System, Verdict, replay};
use volee::{Model, Options};

use crate::corpus::folder;
use crate::promela::{is_below, oracle};

const DEFAULT_BELOW: u64 = 1_000_000;

/// Compares a Promela model; gives the number of its states, or nothing when a search does not end in this
/// many seconds.
///
/// # Errors
/// The model cannot be read, or the workers answer something else.
pub fn model(path: &Path, workers: usize, seconds: f64) -> Result<Option<u64>, String> {
    let open = || Model::open(path, &Options::default()).map_err(|all| all[0].to_string());
    let time = Some(Duration::from_secs_f64(seconds));
    let meter = || Meter::start(Budget { time, memory: Some(4 << 30), ..Budget::default() });
    let questions = Check::new().all_errors(true).order(Order::BreadthFirst);
    let mut own = open()?;
    let alone = check(own.draft.system(), &questions, &meter(), &mut Quiet);
    if alone.limit.is_some() {
        return Ok(None);
    }
    let clock = meter();
    let parts = on_threads(workers, &clock, &mut |_| {}, |driver| {
        let mut model = open().map_err(volee::system::part::PartError::Trouble)?;
        search::work(driver, model.draft.system(), &questions)
    });
    let parts = match parts {
        Ok(parts) => parts,
        Err(failure) if failure.limit().kind() == "time" => return Ok(None),
        Err(failure) => return Err(failure.to_string()),
    };
    let (together, _) = joined(own.draft.system(), &questions, parts, &clock).map_err(|e| e.to_string())?;
    same(own.draft.system(), &alone, &together)?;
    Ok(Some(alone.statistics.states))
}

/// The same states, transitions, verdicts and reasons; and runs that replay.
fn same(system: &mut dyn System, alone: &Outcome, together: &Outcome) -> Result<(), String> {
    let figures = |o: &Outcome| (o.statistics.states, o.statistics.transitions);
    if figures(alone) != figures(together) {
        return Err(format!("states and transitions: {:?}, not {:?}", figures(together), figures(alone)));
    }
    for (a, b) in alone.answers.iter().zip(&together.answers) {
        let told = |verdict: &Verdict| match verdict {
            Verdict::Violated(all) => {
                let mut reasons: Vec<String> = all.iter().map(|v| v.reason.message.clone()).collect();
                reasons.sort();
                reasons.join("; ")
            }
            other => format!("{other:?}"),
        };
        let (ours, theirs) = ((told(&b.verdict), b.errors), (told(&a.verdict), a.errors));
        if ours != theirs {
            return Err(format!("{}: {ours:?}, not {theirs:?}", a.question));
        }
        let Verdict::Violated(all) = &b.verdict else { continue };
        for violation in all.iter().filter(|v| v.reason.kind != ReasonKind::Unreachable) {
            replay(system, &violation.witness)
                .map_err(|e| format!("{}: a run does not replay: {e}", a.question))?;
        }
    }
    Ok(())
}

/// The same system with one byte more per state, so that states are no numbers.
struct Wide(Box<dyn System>, Vec<u8>);

impl System for Wide {
    fn initial(&mut self, push: &mut dyn FnMut(&[u8]) -> Flow) -> Flow {
        let wide = &mut self.1;
        self.0.initial(&mut |state| push(widened(wide, state)))
    }

    fn steps(&mut self, state: &[u8], sink: &mut dyn Sink) -> Flow {
        let wide = &mut self.1;
        self.0.steps(&state[1..], &mut |step: Step, target: &[u8]| sink.push(step, widened(wide, target)))
    }

    fn label(&self, label: Label) -> Cow<'_, str> {
        self.0.label(label)
    }
}

fn widened<'w>(wide: &'w mut Vec<u8>, state: &[u8]) -> &'w [u8] {
    wide.clear();
    wide.push(7);
    wide.extend_from_slice(state);
    wide
}

/// A row of the answers that independent tools have given of a transition system.
#[derive(Debug, Clone)]
pub struct Row {
    /// The file, or the member of a family.
    pub name: String,
    /// How many states it has.
    pub states: u64,
    deadlocks: u64,
    /// Five formulas and their values.
    formulas: Vec<(String, bool)>,
}

/// All rows.
///
/// # Errors
/// They are not there or not what they should be.
pub fn rows(corpus: &Path) -> Result<Vec<Row>, String> {
    let mut reader = csv::Reader::from_path(corpus.join("oracle.csv")).map_err(|e| e.to_string())?;
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|e| e.to_string())?;
        let number = |at: usize| record[at].parse().map_err(|_| format!("`{}` is no number", &record[at]));
        let action = |at: usize| match record[0].starts_with("abq") {
            true => format!("/{}.*/", &record[at]),
            false => format!("\"{}\"", &record[at]),
        };
        let (a, b) = (action(8), action(9));
        let formulas = [
            (6, "nu X . (<true> true and [true] X)".into()),
            (7, "mu X . ((nu Y . <tau> Y) or <true> X)".into()),
            (
                10,
                format!(
                    "nu X . ([{a}] mu Y . ((nu Z . <tau> Z) or (<true> true and [not {b}] false) \
                     or (<true> true and [true] Y)) and [true] X)"
                ),
            ),
            (11, format!("nu X . ([{a}] mu Y . (<true> true and [not {b}] Y) and [true] X)")),
            (12, format!("nu X . ((mu Y . (<{b}> true or <true> Y)) and [true] X)")),
        ];
        let formulas = formulas.map(|(at, formula)| (formula, &record[at] == "true")).to_vec();
        rows.push(Row { name: record[0].to_owned(), states: number(4)?, deadlocks: number(5)?, formulas });
    }
    Ok(rows)
}

fn system_of(corpus: &Path, name: &str) -> Result<Box<dyn System>, String> {
    let Some(member) = name.strip_prefix("abq_") else {
        return Ok(Box::new(read_file(&corpus.join(name)).map_err(|e| e.to_string())?));
    };
    let numbers: Option<Vec<u64>> =
        member.trim_end_matches(".aut").split('_').map(|n| n.parse().ok()).collect();
    let numbers = numbers.ok_or_else(|| format!("{name} is no member of the family"))?;
    let made = family("abp").ok_or("no family abp")?.make(&numbers).map_err(|e| e.to_string())?;
    Ok(made)
}

/// Compares a transition system: formulas and deadlocks, by this many workers.
///
/// # Errors
/// It cannot be read, or the workers answer something else.
pub fn transition_system(corpus: &Path, row: &Row, workers: usize) -> Result<(), String> {
    for wide in [false, true] {
        let open = || -> Result<Box<dyn System>, String> {
            let system = system_of(corpus, &row.name)?;
            Ok(if wide { Box::new(Wide(system, Vec::new())) } else { system })
        };
        let wrong = |what: &str, why: String| format!("{what}, {workers} workers, wide {wide}: {why}");
        for (formula, value) in &row.formulas {
            let found = solve(&open, formula, workers).map_err(|why| wrong(formula, why))?;
            if found != *value {
                return Err(wrong(formula, format!("{found}, not {value}")));
            }
        }
        let meter = Meter::start(Budget::default());
        let questions = Check::new().all_errors(true);
        let parts = on_threads(workers, &meter, &mut |_| {}, |driver| {
            let mut system = open().map_err(volee::system::part::PartError::Trouble)?;
            search::work(driver, &mut *system, &questions)
        });
        let parts = parts.map_err(|failure| wrong("deadlocks", failure.to_string()))?;
        let (outcome, _) = joined(&mut *open()?, &questions, parts, &meter)
            .map_err(|e| wrong("deadlocks", e.to_string()))?;
        let found = (outcome.statistics.states, outcome.answers[0].errors);
        if found != (row.states, row.deadlocks) {
            let expected = (row.states, row.deadlocks);
            return Err(wrong("states and deadlocks", format!("{found:?}, not {expected:?}")));
        }
    }
    Ok(())
}

fn solve(
    open: &(impl Fn() -> Result<Box<dyn System>, String> + Sync),
    formula: &str,
    workers: usize,
) -> Result<bool, String> {
    let normal = read("f", formula).map_err(|e| format!("{e:?}"))?;
    let meter = Meter::start(Budget::default());
    let parts = on_threads(workers, &meter, &mut |_| {}, |driver| {
        let trouble = volee::system::part::PartError::Trouble;
        let mut system = open().map_err(trouble)?;
        let graph = ModelGraph::of(&mut system, Equations::new(normal.clone()));
        equations::work(driver, graph.map_err(|d| trouble(d.to_string()))?.as_graph())
    });
    let joint = JointAnswer::new(parts.map_err(|f| f.to_string())?).map_err(|e| e.to_string())?;
    let mut system = open()?;
    let mut graph = ModelGraph::of(&mut system, Equations::new(normal)).map_err(|d| d.to_string())?;
    joint.check(&mut graph, &meter).map_err(|e| e.to_string())?;
    Ok(joint.value)
}

/// Runs the comparison.
///
/// # Errors
/// The corpus is not there, or an answer differs.
pub fn corpus(arguments: &[String]) -> Result<(), String> {
    let (promela, systems) = match (folder("promela"), folder("lts")) {
        (Some(promela), Some(systems)) => (promela, systems),
        _ => return Err("the corpus is not beside this checkout".into()),
    };
    let below = crate::promela::option(arguments, "--below")
        .map_or(Ok(DEFAULT_BELOW), |n| n.parse().map_err(|_| "--below needs a number"))?;
    let only = arguments.iter().find(|a| a.ends_with(".pml") || a.ends_with(".aut"));
    let wanted = |name: &str| only.is_none_or(|only| name.contains(only.as_str()));
    let (mut compared, mut unfinished, mut different) = (0, 0, 0);
    for row in rows(&systems)?.iter().filter(|row| row.states < below && wanted(&row.name)) {
        for workers in 1..=4 {
            compared += 1;
            if let Err(why) = transition_system(&systems, row, workers) {
                different += 1;
                println!("DIFFERS: {}: {why}", row.name);
            }
        }
        println!("{:<36} {:>9} states", row.name, row.states);
    }
    for (name, _) in oracle(&promela)?.iter().filter(|(name, rows)| is_below(rows, below) && wanted(name)) {
        let mut states = None;
        for workers in 1..=4 {
            match model(&promela.join(name), workers, 60.0) {
                Ok(Some(found)) => (states, compared) = (Some(found), compared + 1),
                Ok(None) => unfinished += 1,
                Err(why) => {
                    different += 1;
                    println!("DIFFERS: {name}, {workers} workers: {why}");
                }
            }
        }
        println!("{name:<36} {:>9} states", states.map_or("?".into(), |n| n.to_string()));
    }
    println!("{compared} comparisons with 1 to 4 workers, {unfinished} out of time, {different} different");
    if different == 0 { Ok(()) } else { Err("answers differ".into()) }
}
