//! `volee check MODEL`: explores every state and answers each question, with a run to show for what is wrong.

mod channels;
mod counters;
mod families;
mod mu;
mod temporal;
mod workers;

pub use counters::sets_text;

use clap::{Args, ValueEnum};
use volee::Model;
use volee::report::brief;
use volee::search::{self, Check as Questions, Order};
use volee::system::{Diagnostic, PredicateId};

use crate::args::{BudgetArgs, ModelArgs};
use crate::context::Context;
use crate::outcome::{Ended, Failure};
use crate::progress::ProgressLine;
use crate::report::Report;
use crate::storage::StorageArgs;
use crate::witness::TraceArgs;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  volee check mutex.pml                           deadlocks, assertions and run-time errors
  volee check mutex.pml --invariant 'inside <= 1' an expression that must always be true
  volee check mutex.pml --reachable 'inside == 1' an expression that must be true at some time
  volee check mutex.pml --ltl '[](want -> <> in)' a temporal formula over all infinite runs; --fair: fair ones only
  volee check mutex.pml --property all            every ltl block and never claim of the model
  volee check mutex.pml --search bfs              the shortest counterexample
  volee check door.aut --mu '[true* . \"open\"] <true* . \"close\"> true'
                                                  a formula of the mu-calculus
  volee check mutex.pml --trace bug.svg           the counterexample as a message-sequence chart
  volee check lock.pml --engine families --for-any Client
                                                  for every number of clients at once
  volee check wire.pml --engine channels          is any finite buffer ever big enough?
  volee check lift.pml --engine counters --invariant 'c <= N' --parameter N --assume 'N >= 1'
                                                  with unbounded integers, for every N
  volee check big.pml --memory 2G --time 5m       within a budget; exit code 3 when it is not enough
  volee check big.pml --workers 4                 by four workers; --cluster hosts.toml for several machines
  volee check big.pml --approximate bitstate      look for errors among more states than fit; proves nothing")]
pub struct Check {
    #[command(flatten)]
    model: ModelArgs,

    /// An expression over the model's variables that must be true in every reachable state
    #[arg(long, value_name = "EXPR", help_heading = "Questions")]
    invariant: Vec<String>,

    /// An expression that must be true in some reachable state; the answer shows how to get there
    #[arg(long, value_name = "EXPR", help_heading = "Questions")]
    reachable: Vec<String>,

    #[command(flatten)]
    temporal: temporal::TemporalArgs,

    /// Go on after an error and report every kind of error there is
    #[arg(long, help_heading = "Questions")]
    all_errors: bool,

    /// The order of the search: depth-first, or breadth-first for the shortest counterexample
    #[arg(long, value_name = "ORDER", value_enum, default_value_t = SearchOrder::Dfs)]
    search: SearchOrder,

    /// Who answers: explicit search of all states; one answer for every number of processes; whether channels, taken as
    /// unbounded, can grow for ever; or sets of integers, taken as unbounded
    #[arg(long, value_name = "ENGINE", value_enum, default_value_t = Engine::Explicit)]
    engine: Engine,

    #[command(flatten)]
    families: families::FamiliesArgs,

    #[command(flatten)]
    mu: mu::MuArgs,

    #[command(flatten)]
    counters: crate::counters::CountersArgs,

    /// With --engine counters: search from the initial states, from the bad ones, or from both in turn
    #[arg(long, value_name = "DIRECTION", value_enum, default_value_t, help_heading = "Counters")]
    direction: crate::counters::SearchDirection,

    #[command(flatten)]
    budget: BudgetArgs,

    #[command(flatten)]
    storage: StorageArgs,

    #[command(flatten)]
    trace: TraceArgs,

    #[command(flatten)]
    cluster: crate::cluster::ClusterArgs,
}

/// The engines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Engine {
    Explicit,
    Families,
    Channels,
    Counters,
}

/// The orders of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum SearchOrder {
    Dfs,
    Bfs,
}

impl Check {
    pub fn run(self, context: &Context) -> Ended {
        self.trace.validate()?;
        if self.cluster.asked() {
            workers::refuse_others(&self)?;
        }
        if self.temporal.asked() && self.engine == Engine::Explicit {
            return self.run_temporal(context);
        }
        let families = self.families.given().filter(|_| self.engine != Engine::Families);
        let counters = self.counters.given().filter(|_| self.engine != Engine::Counters);
        if let Some((flag, engine)) = families.zip(Some("families")).or(counters.zip(Some("counters"))) {
            return Err(Failure::new(format!("{flag} needs --engine {engine}")));
        }
        let mu = self.mu.asked().then_some("--mu").filter(|_| self.engine != Engine::Explicit);
        if let Some(flag) = self.temporal.given().filter(|_| self.engine != Engine::Families).or(mu) {
            return Err(Failure::new(format!(
                "{flag} is a question for the explicit search; leave --engine out"
            )));
        }
        match self.engine {
            Engine::Families => return families::run(&self, context),
            Engine::Channels => return channels::run(&self, context),
            Engine::Counters => return counters::run(&self, context),
            Engine::Explicit => {}
        }
        if self.mu.asked() {
            return mu::run(&self, context);
        }
        if let Some(flag) = self.mu.stray() {
            return Err(Failure::new(format!("{flag} needs --mu")));
        }
        if self.cluster.asked() {
            return workers::run(&self, context);
        }
        let mut model = self.model.open(context)?;
        let questions = self.questions(&mut model)?;
        let meter = self.storage.budget(&self.budget).meter(context);
        let outcome = {
            let mut progress = ProgressLine::new(meter.budget().memory);
            search::check(model.system.as_mut(), &questions, &meter, &mut progress)
        };
        let stopped_early = !questions.all_errors && outcome.answers.iter().any(|a| a.errors > 0);
        let complete = outcome.limit.is_none() && !stopped_early;
        let unreached = if complete { model.system.unreached() } else { Vec::new() };

        let mut report = Report::new(context, "explicit", &self.model, &self.trace);
        if self.search == SearchOrder::Dfs {
            report.hint("(--search bfs finds a shortest run)");
        }
        for answer in &outcome.answers {
            report.question(model.system.as_mut(), answer)?;
        }
        report.unasked(&temporal::unasked(&model));
        report.unreached(&unreached);
        report.statistics(&outcome.statistics, complete);
        if let Some(line) = self.storage.report(outcome.statistics.turnover.as_ref(), &mut report.answer) {
            report.figure(&line);
        }
        Ok(report.finish())
    }

    fn questions(&self, model: &mut Model) -> Result<Questions, Failure> {
        let order = match self.search {
            SearchOrder::Dfs => Order::DepthFirst,
            SearchOrder::Bfs => Order::BreadthFirst,
        };
        let mut questions = Questions::new().order(order).all_errors(self.all_errors);
        questions = self.storage.apply(questions, self.model.plain);
        for text in &self.invariant {
            questions = questions.invariant(text, compile(model, "--invariant", text)?);
        }
        for text in &self.reachable {
            questions = questions.goal(text, compile(model, "--reachable", text)?);
        }
        Ok(questions)
    }
}

/// Compiles an expression; what is wrong with it is told by its column, for it stands in no file.
fn compile(model: &mut Model, flag: &str, text: &str) -> Result<PredicateId, Failure> {
    model.system.predicate(text).map_err(|wrong| {
        let column = wrong.place.as_ref().map(|p| format!(", column {}", p.column)).unwrap_or_default();
        let message = format!("{flag} `{}`{column}: {}", brief(text), wrong.message);
        Diagnostic { message, place: None, ..wrong }.into()
    })
}
