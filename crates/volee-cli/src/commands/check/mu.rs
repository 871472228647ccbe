//! `volee check MODEL --mu FORMULA`: the mu-calculus, solved on the fly as boolean equations or as a parity game.

use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::PossibleValuesParser;
use serde_json::{Value, json};
use volee::bes::answer::{self, AnswerError, Method};
use volee::bes::explain::{to_aut, to_dot};
use volee::bes::{SolveError, Solver};
use volee::logic::mu::{Equations, Library, parse};
use volee::report::{bytes, counted, seconds};
use volee::system::{Meter, System};

use super::{Check, workers};
use crate::args::ModelArgs;
use crate::cluster;
use crate::context::Context;
use crate::files;
use crate::outcome::{Ended, Failure};
use crate::progress::ProgressLine;
use crate::report::Report;

/// Explanations keep at most this many variables; larger ones say so.
const LARGEST_EXPLANATION: usize = 20_000;
/// When a diagnostic is written to a file it may be larger.
const LARGEST_DIAGNOSTIC: usize = 2_000_000;

/// What only formulas of the mu-calculus ask for.
#[derive(Debug, Clone, Args)]
pub struct MuArgs {
    /// A formula of the mu-calculus that the initial state must satisfy, e.g. '[true* . "error"] false'; @FILE reads it
    /// from a file
    #[arg(long, value_name = "FORMULA", help_heading = "Questions")]
    mu: Vec<String>,

    /// A file of macros that formulas may use, beside the standard ones
    #[arg(long, value_name = "FILE", help_heading = "Formulas")]
    macros: Vec<PathBuf>,

    /// How equations are solved: auto, dfs, bfs, acyclic or economical
    #[arg(long, value_name = "SOLVER", default_value = "auto", help_heading = "Formulas",
          value_parser = PossibleValuesParser::new(Solver::ALL.map(|s| s.0)))]
    solver: String,

    /// Write the part of the system that shows why the first formula is true or false: .aut or .dot
    #[arg(long, value_name = "FILE", help_heading = "Formulas")]
    diagnostic: Option<PathBuf>,
}

impl MuArgs {
    /// Whether a formula was given.
    pub fn asked(&self) -> bool {
        !self.mu.is_empty()
    }

    /// The first flag that means nothing without a formula.
    pub fn stray(&self) -> Option<&'static str> {
        let flags = [
            (!self.macros.is_empty(), "--macros"),
            (self.solver != "auto", "--solver"),
            (self.diagnostic.is_some(), "--diagnostic"),
        ];
        flags.into_iter().find(|f| f.0 && !self.asked()).map(|f| f.1)
    }

    fn library(&self) -> Result<Library, Failure> {
        let mut library = Library::standard();
        for path in &self.macros {
            library.add(&path.display().to_string(), &files::read_text(path)?)?;
        }
        Ok(library)
    }
}

/// The strategy behind a name that clap has accepted.
fn solver_of(name: &str) -> Solver {
    Solver::ALL.iter().find(|(n, _)| *n == name).map_or(Solver::Auto, |(_, solver)| *solver)
}

/// Answers the formulas of a call.
pub fn run(check: &Check, context: &Context) -> Ended {
    let args = &check.mu;
    let extension = args.diagnostic.as_deref().map(form_of).transpose()?;
    let library = args.library()?;
    let macros = cluster::macro_files(&args.macros)?;
    let mut formulas = Vec::new();
    for given in &args.mu {
        let (name, text) = match given.strip_prefix('@') {
            Some(path) => (path.to_string(), files::read_text(Path::new(path))?),
            None => ("--mu".to_string(), given.clone()),
        };
        let tree = parse(&name, &text, &library)?;
        let question = cluster::Question::Formula { name, text: text.clone(), macros: macros.clone() };
        formulas.push((format!("mu {}", text.trim()), Equations::new(tree.normalise()?), question));
    }
    // A formula speaks of steps by their labels and counts them, so that none may be merged.
    let read = ModelArgs { plain: true, ..check.model.clone() };
    let mut model = read.open(context)?;
    let meter = workers::meter(check, context);
    let mut report = Report::new(context, "equations", &read, &check.trace);
    for (at, (question, equations, shipped)) in formulas.into_iter().enumerate() {
        let write = args.diagnostic.as_deref().zip(extension).filter(|_| at == 0);
        let most = if write.is_some() { LARGEST_DIAGNOSTIC } else { LARGEST_EXPLANATION };
        if check.cluster.asked() {
            let task = cluster::Task::new(&read.model, &read.options(), shipped).including(&model);
            let system = model.system.as_mut();
            match workers::formula(check, system, equations, &task, most, &meter, &mut report)? {
                Ok(found) => tell(&mut report, model.system.as_mut(), &question, &found, &meter, write)?,
                Err(limit) => report.unknown(&question, &limit),
            }
            continue;
        }
        let found = {
            let mut progress = ProgressLine::new(meter.budget().memory);
            let solver = solver_of(&args.solver);
            answer::ask(model.system.as_mut(), equations, solver, most, &meter, &mut progress)
        };
        match found {
            Ok(found) => tell(&mut report, model.system.as_mut(), &question, &found, &meter, write)?,
            Err(AnswerError::Solve(SolveError::Limit(limit))) => report.unknown(&question, &limit),
            Err(AnswerError::Solve(other)) => return Err(Failure::new(other.to_string())),
            Err(AnswerError::Formula(wrong)) => return Err(wrong.into()),
        }
    }
    Ok(report.finish())
}

/// The forms of a diagnostic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Aut,
    Dot,
}

fn form_of(path: &Path) -> Result<Form, Failure> {
    match path.extension().and_then(|e| e.to_str()) {
        Some("aut") => Ok(Form::Aut),
        Some("dot" | "gv") => Ok(Form::Dot),
        _ => Err(Failure::new(format!("`{}`: a diagnostic is written as .aut or .dot", path.display()))),
    }
}

/// Puts a found answer into the report.
fn tell(
    report: &mut Report<'_>,
    system: &mut dyn System,
    question: &str,
    found: &answer::Answer,
    meter: &Meter,
    write: Option<(&Path, Form)>,
) -> Result<(), Failure> {
    report.silent(&found.silent);
    let explanation = &found.explanation;
    let title = match (explanation.linear, found.value) {
        (true, true) => Some("shown by"),
        (true, false) => Some("how it happens"),
        (false, false) => Some("how it begins"),
        (false, true) => None,
    };
    let run = title.filter(|_| !explanation.run.steps.is_empty()).map(|title| (title, &explanation.run));
    report.formula(system, question, found.value, &explanation.why, run)?;
    if let Some((path, form)) = write {
        if !explanation.complete {
            return Err(Failure::new("the diagnostic is not complete, so it is not written").with_help(
                "it may be too large: a universal property that holds is shown only by the whole system",
            ));
        }
        let text = match form {
            Form::Aut => to_aut(explanation),
            Form::Dot => to_dot(explanation),
        };
        files::write(path, text)?;
        report.figure(&format!("diagnostic written to {}", path.display()));
    }
    costs(report, found, meter);
    Ok(())
}

fn costs(report: &mut Report<'_>, found: &answer::Answer, meter: &Meter) {
    let s = &found.statistics;
    let (solver, engine) = match found.method {
        Method::Equations(solver) => (solver.name(), "boolean equations"),
        Method::ParityGame => ("zielonka", "a parity game"),
    };
    let elapsed = meter.elapsed().as_secs_f64();
    let explanation = &found.explanation;
    let diagnostic: Value = json!({
        "states": explanation.states.len(),
        "transitions": explanation.transitions.len(),
        "linear": explanation.linear,
        "complete": explanation.complete,
        "why": explanation.why,
    });
    let answer = &mut report.answer;
    answer.set("states", s.places);
    answer.set("transitions", s.edges);
    // Only a depth-first search has one.
    if s.depth > 0 {
        answer.set("depth", s.depth);
    }
    answer.set("seconds", elapsed);
    answer.set("peak_memory_bytes", s.memory);
    answer.set("variables", s.variables);
    answer.set("solver", solver);
    answer.add("diagnostic", diagnostic);
    report.figure(&format!(
        "solved as {engine} ({solver}): {} over {}, {}, {}, {}; the certificate was checked",
        counted(s.variables as usize, "variable"),
        counted(s.places as usize, "state"),
        counted(s.edges as usize, "edge"),
        seconds(elapsed),
        bytes(s.memory),
    ));
}
