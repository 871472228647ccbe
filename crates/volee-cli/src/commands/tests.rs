//! `volee tests SPEC --purpose P`: tests from a specification, to be run with `volee conform`.

use std::path::{Path, PathBuf};

use clap::Args;
use volee::conformance::{Derived, Selected, Selection, TestForm, TestGraph};
use volee::names::SELECTIONS;
use volee::render::conformance::{Telling, some};
use volee::system::{Diagnostic, Meter};
use volee::{AskError, Contract, Goal};

use crate::args::{BudgetArgs, ModelArgs, WorkersArgs, named, said};
use crate::conformance::InterfaceArgs;
use crate::context::Context;
use crate::explicit::Stop;
use crate::outcome::{Ended, Failure, Outcome};
use crate::progress::ProgressLine;

#[derive(Debug, Args)]
#[command(after_help = "\
A purpose in .aut watches the labels of the specification before hiding: texts or regular expressions, * for any
other; states with a step ACCEPT or REFUSE end the test. Where it says nothing it stays where it is.

Examples:
  volee tests coffee.aut --purpose coffee-comes.aut -o test.json     a test case, for volee conform
  volee tests coffee.aut --tl '<> coffee' --complete -o graph.dot    all tests, as a picture
  volee tests server.pml --inputs request --outputs reply --suite -o tests
  volee tests large.pml --after 10 --inputs in --outputs out --workers 2
  volee tests spec.aut --against implementation.aut                  a test that shows a difference")]
pub struct Tests {
    #[command(flatten)]
    model: ModelArgs,

    #[command(flatten)]
    goal: GoalArgs,

    /// All tests for the purpose in one graph
    #[arg(long, conflicts_with = "case")]
    complete: bool,

    /// A controllable test case, the shortest (this is the default)
    #[arg(long)]
    case: bool,

    /// Where it goes: .json (for volee conform), .aut or .dot; of a suite the folder
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,

    /// How the test graph is selected
    #[arg(long, value_parser = named(&SELECTIONS), default_value = "direct")]
    method: Selection,

    /// Leave the test graph as it is instead of reducing it modulo strong bisimulation
    #[arg(long)]
    unreduced: bool,

    #[command(flatten)]
    interface: InterfaceArgs,

    #[command(flatten)]
    budget: BudgetArgs,

    #[command(flatten)]
    workers: WorkersArgs,
}

/// What the tests are for.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct GoalArgs {
    /// A purpose: an automaton in .aut
    #[arg(long, value_name = "FILE.aut", help_heading = "Purpose")]
    purpose: Option<PathBuf>,

    /// A purpose: reach a trace that satisfies this finite-trace formula over labels
    #[arg(long, value_name = "FORMULA", value_parser = said, allow_hyphen_values = true, help_heading = "Purpose")]
    tl: Option<String>,

    /// A purpose: this label or statement happens (NAME, PREFIX*, /REGEX/, or line:N of a Promela model)
    #[arg(long, value_name = "WHAT", value_parser = said, allow_hyphen_values = true, help_heading = "Purpose")]
    cover: Option<String>,

    /// A purpose: this many visible actions
    #[arg(long, value_name = "N", help_heading = "Purpose")]
    after: Option<usize>,

    /// No purpose: test cases that together cover every visible transition
    #[arg(long, help_heading = "Purpose")]
    suite: bool,

    /// No purpose: the test that this model of an implementation fails, if it does not conform
    #[arg(long, value_name = "MODEL", help_heading = "Purpose")]
    against: Option<PathBuf>,
}

impl Tests {
    pub fn run(self, context: &Context) -> Ended {
        let meter = self.budget.meter(context);
        self.tests(&meter, context).or_else(|stop| stop.end("tests", &self.question(), context))
    }

    fn question(&self) -> String {
        match (self.goal(), &self.goal.against) {
            (Some(goal), _) => goal.to_string(),
            (None, Some(path)) => format!("ioco {}", path.display()),
            (None, None) => "suite".into(),
        }
    }

    fn goal(&self) -> Option<Goal> {
        Some(match &self.goal {
            GoalArgs { purpose: Some(path), .. } => Goal::Automaton(path.clone()),
            GoalArgs { tl: Some(text), .. } => Goal::Formula(text.clone()),
            GoalArgs { cover: Some(what), .. } => Goal::Cover(what.clone()),
            GoalArgs { after: Some(n), .. } => Goal::After(*n),
            _ => return None,
        })
    }

    fn contract(&self) -> Contract {
        Contract { selection: self.method, ..self.interface.contract(self.model.source()) }
    }

    fn tests(&self, meter: &Meter, context: &Context) -> Result<Outcome, Stop> {
        if let Some(path) = self.output.as_deref().filter(|_| !self.goal.suite) {
            TestForm::of(path)?;
        }
        let contract = self.contract();
        let mut progress = ProgressLine::new(meter.budget().memory);
        let telling = Telling {
            model: self.model.model.display().to_string(),
            question: self.question(),
            livelock: contract.livelock,
            written: self.output.as_deref(),
            meter,
            palette: context.palette,
        };
        let engine = self.workers.engine()?;
        if engine.is_some() && self.goal().is_none() {
            return Err(Failure::new("several workers make the tests for one purpose")
                .with_help("give a purpose, or leave out --workers and --cluster")
                .into());
        }
        if let Some(goal) = self.goal() {
            let made = match engine {
                Some(engine) => contract.test_on(&engine, &goal, meter, &mut progress)?,
                None => contract.test(&goal, meter, &mut progress)?,
            };
            drop(progress);
            return self.one(&made, &telling, context);
        }
        if let Some(other) = &self.goal.against {
            let made = contract.against(other, meter, &mut progress)?;
            context.warn(&made.warnings);
            if let (Some(path), Some(bad)) = (&self.output, &made.tests) {
                let purpose = format!("{}: {}", telling.question, bad.trace.join(" · "));
                self.write(&bad.test, path, &purpose)?;
            }
            return Ok(telling.compliance(made.tests.as_ref()));
        }
        let made = contract.suite(meter, &mut progress)?;
        context.warn(&made.warnings);
        if let Some(folder) = &self.output {
            contract.write_suite(&made.tests, folder)?;
        }
        Ok(telling.suite(&made))
    }

    /// One test: complete or a case, reduced or not.
    fn one(
        &self,
        made: &Derived<Option<Selected>>,
        telling: &Telling<'_>,
        context: &Context,
    ) -> Result<Outcome, Stop> {
        context.warn(&made.warnings);
        let Some(selected) = &made.tests else { return Ok(telling.no_test(&made.unmatched)) };
        if !made.unmatched.is_empty() {
            let message = format!("no label that was met matches {}", some(&made.unmatched));
            context.warn(&[Diagnostic::warning(message, None)]);
        }
        let reduced = match self.unreduced {
            true => None,
            false => Some(selected.graph.reduced(telling.meter).map_err(AskError::from)?),
        };
        let graph = reduced.as_ref().unwrap_or(&selected.graph);
        let case = (!self.complete).then(|| graph.case());
        let test = case.as_ref().unwrap_or(graph);
        if let Some(path) = &self.output {
            self.write(test, path, &telling.question)?;
        }
        let form = if self.complete { "complete test graph" } else { "test case" };
        let mut outcome = telling.test(selected, reduced.as_ref(), test, form, &made.hidden);
        if let Some((line, each)) = &made.workers {
            outcome.answer.add("workers", each.clone());
            outcome.text.push_str(line);
            outcome.text.push('\n');
        }
        Ok(outcome)
    }

    fn write(&self, test: &TestGraph, path: &Path, purpose: &str) -> Result<(), Stop> {
        Ok(self.contract().write_test(test, path, purpose)?)
    }
}
