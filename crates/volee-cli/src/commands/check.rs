//! `volee check MODEL`: explores every state and answers each question, with a run to show for what is wrong.

mod families;
mod temporal;

use std::fmt::Write as _;

use clap::{Args, ValueEnum};
use volee::Model;
use volee::report::{Answer, QuestionAnswer, VerdictWord, bytes, count, counted, seconds};
use volee::search::{self, Check as Questions, Order};
use volee::system::{Diagnostic, PredicateId, Run, Unreached, Verdict, Violation, Witness, replay_end};

use crate::args::{BudgetArgs, ModelArgs};
use crate::context::Context;
use crate::excerpt;
use crate::outcome::{Ended, Failure, Outcome};
use crate::progress::ProgressLine;
use crate::storage::StorageArgs;
use crate::witness::{LONGEST_RUN, TraceArgs, replay_command};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  volee check mutex.pml                           deadlocks, assertions and run-time errors
  volee check mutex.pml --invariant 'inside <= 1' an expression that must always be true
  volee check mutex.pml --reachable 'inside == 1' an expression that must be true at some time
  volee check mutex.pml --ltl '[](want -> <> in)' a temporal formula over all infinite runs; --fair: fair ones only
  volee check mutex.pml --property all            every ltl block and never claim of the model
  volee check mutex.pml --search bfs              the shortest counterexample
  volee check mutex.pml --trace bug.svg           the counterexample as a message-sequence chart
  volee check lock.pml --engine families --for-any Client
                                                  for every number of clients at once
  volee check big.pml --memory 2G --time 5m       within a budget; exit code 3 when it is not enough
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

    /// Who answers: explicit search of all states, or one answer for every number of processes
    #[arg(long, value_name = "ENGINE", value_enum, default_value_t = Engine::Explicit)]
    engine: Engine,

    #[command(flatten)]
    families: families::FamiliesArgs,

    #[command(flatten)]
    budget: BudgetArgs,

    #[command(flatten)]
    storage: StorageArgs,

    #[command(flatten)]
    trace: TraceArgs,
}

/// The engines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Engine {
    Explicit,
    Families,
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
        if self.temporal.asked() {
            return self.run_temporal(context);
        }
        match (self.engine, self.families.given()) {
            (Engine::Families, _) => return families::run(&self, context),
            (Engine::Explicit, Some(flag)) => {
                return Err(Failure::new(format!("{flag} needs --engine families")));
            }
            (Engine::Explicit, None) => {}
        }
        let mut model = self.model.open(context)?;
        let questions = self.questions(&mut model)?;
        let meter = self.budget.meter(context);
        let outcome = {
            let mut progress = ProgressLine::new(meter.budget().memory);
            search::check(model.system.as_mut(), &questions, &meter, &mut progress)
        };
        let stopped_early = !questions.all_errors && outcome.answers.iter().any(|a| a.errors > 0);
        let complete = outcome.limit.is_none() && !stopped_early;
        let unreached = if complete { model.system.unreached() } else { Vec::new() };

        let unasked = temporal::unasked(&model);
        let mut report = Report::new(&self, context, &mut model);
        for answer in &outcome.answers {
            report.question(answer)?;
        }
        report.unasked(&unasked);
        report.unreached(&unreached);
        report.statistics(&outcome.statistics, complete);
        Ok(report.finish())
    }

    fn questions(&self, model: &mut Model) -> Result<Questions, Failure> {
        let order = match self.search {
            SearchOrder::Dfs => Order::DepthFirst,
            SearchOrder::Bfs => Order::BreadthFirst,
        };
        let mut questions = self.storage.apply(Questions::new().order(order).all_errors(self.all_errors));
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
        let message = format!("{flag} `{text}`{column}: {}", wrong.message);
        Diagnostic { message, place: None, ..wrong }.into()
    })
}

/// The answer while it is being put together.
struct Report<'a> {
    check: &'a Check,
    context: &'a Context,
    model: &'a mut Model,
    answer: Answer,
    /// The table of questions, first in the text.
    table: String,
    /// What there is to say about each, after the table.
    details: String,
    traces: usize,
    /// How the model was opened.
    options: volee::Options,
}

impl<'a> Report<'a> {
    fn new(check: &'a Check, context: &'a Context, model: &'a mut Model) -> Self {
        let answer = Answer::new("check").about(&model.name, "explicit");
        let options = check.model.options();
        Report { check, context, model, answer, table: String::new(), details: String::new(), traces: 0, options }
    }

    fn question(&mut self, found: &search::Answer) -> Result<(), Failure> {
        let note = match &found.verdict {
            Verdict::Holds => {
                let mut result = QuestionAnswer::holds(&found.question);
                if let Some(witness) = &found.witness {
                    let run = self.replay(witness)?;
                    result = result.with_run(&run);
                    self.show_run(&found.question, "reached by", witness, &run)?;
                }
                self.answer.push(result);
                String::new()
            }
            Verdict::Unknown(limit) => {
                self.answer.push(QuestionAnswer::unknown(&found.question, limit));
                limit.to_string()
            }
            Verdict::Violated(violations) => {
                for violation in violations {
                    self.violation(&found.question, violation)?;
                }
                let several = found.errors > 1;
                if several { format!("{} times", count(found.errors)) } else { String::new() }
            }
        };
        let word = VerdictWord::from(&found.verdict);
        self.row(&found.question, word, &note);
        Ok(())
    }

    fn violation(&mut self, question: &str, violation: &Violation) -> Result<(), Failure> {
        use volee::system::ReasonKind::Unreachable;
        let run = match violation.reason.kind {
            // What never happens has no run to show.
            Unreachable => None,
            _ => Some(self.replay(&violation.witness)?),
        };
        self.answer.push(QuestionAnswer::violated(question, &violation.reason, run.as_ref()));
        let palette = self.context.palette;
        let reason = &violation.reason;
        let _ = writeln!(self.details, "\n{}: {}", palette.bad(question), reason.message);
        if let Some(place) = &reason.place {
            match excerpt::around(place, palette) {
                Some(lines) => self.details.push_str(&lines),
                None => drop(writeln!(self.details, "  at {place}")),
            }
        }
        match run {
            Some(run) => self.show_run(question, "how it happens", &violation.witness, &run),
            None => Ok(()),
        }
    }

    fn replay(&mut self, witness: &Witness) -> Result<Run, Failure> {
        replay_end(self.model.system.as_mut(), witness, LONGEST_RUN).map_err(|e| {
            Failure::new(format!("a counterexample was found but does not replay: {e}"))
                .with_help("this is a defect of volee; please report it with the model and the command")
        })
    }

    fn show_run(&mut self, question: &str, title: &str, witness: &Witness, run: &Run) -> Result<(), Failure> {
        let palette = self.context.palette;
        let length = match run.skipped + run.steps.len() {
            0 => "in the initial state".to_string(),
            n => counted(n, "step"),
        };
        let _ = writeln!(self.details, "{} ({length}):", palette.strong(title));
        self.details.push_str(&self.check.trace.text(run, &self.model.name, palette));
        let options = self.options.clone();
        let model = &self.check.model.model;
        let trace = volee::report::Trace::new(&self.model.name, &options.defines, options.plain, question, witness, run);
        if self.traces == 0 {
            for path in self.check.trace.write(&trace, run)? {
                let _ = writeln!(self.details, "written to {}", path.display());
            }
        }
        self.traces += 1;
        let command = replay_command(model, &options, &trace)?;
        let _ = writeln!(self.details, "replay it with:\n  {}", palette.name(command));
        Ok(())
    }

    fn row(&mut self, question: &str, word: VerdictWord, note: &str) {
        let palette = self.context.palette;
        let padded = format!("{:<9}", word.as_str());
        let coloured = match word {
            VerdictWord::Holds => palette.good(padded),
            VerdictWord::Unknown => palette.doubtful(padded),
            VerdictWord::Violated | VerdictWord::Error => palette.bad(padded),
        };
        let line = format!("{coloured} {question}");
        let note = if note.is_empty() { String::new() } else { palette.faint(format!("  ({note})")) };
        let _ = writeln!(self.table, "{line}{note}");
    }

    fn unreached(&mut self, unreached: &[Unreached]) {
        self.answer.add("unreached", serde_json::to_value(unreached).unwrap_or_default());
        if unreached.is_empty() {
            return;
        }
        let palette = self.context.palette;
        let _ = writeln!(self.details, "\n{}", palette.strong("never reached:"));
        let mut process = "";
        for statement in unreached {
            if statement.process != process {
                process = &statement.process;
                let _ = writeln!(self.details, "  {}", palette.name(process));
            }
            let place = statement.place.as_ref().map(|p| format!("line {}", p.line)).unwrap_or_default();
            let _ = writeln!(self.details, "    {place:<10} {}", statement.text);
        }
    }

    fn statistics(&mut self, s: &search::Statistics, complete: bool) {
        self.answer.set("states", s.states);
        self.answer.set("transitions", s.transitions);
        self.answer.set("depth", s.max_depth);
        self.answer.set("seconds", s.seconds);
        self.answer.set("bytes_per_state", s.bytes_per_state);
        self.answer.set("peak_memory_bytes", s.memory_bytes);
        self.answer.set("complete", complete);
        let kind = if complete { "all" } else { "some" };
        let line = format!(
            "{kind} states explored: {} states, {} transitions, depth {}, {}, {} ({:.1} bytes per state)",
            count(s.states),
            count(s.transitions),
            count(s.max_depth),
            seconds(s.seconds),
            bytes(s.memory_bytes),
            s.bytes_per_state,
        );
        let _ = writeln!(self.details, "\n{}", self.context.palette.faint(line));
        if let Some(line) = self.check.storage.report(s.turnover.as_ref(), &mut self.answer) {
            let _ = writeln!(self.details, "{}", self.context.palette.faint(line));
        }
    }

    fn finish(self) -> Outcome {
        let text = format!("{}{}", self.table, self.details);
        Outcome::new(self.answer, text)
    }
}
