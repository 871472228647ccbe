//! `volee check MODEL`: asks the library, and shows its answers with a run for what is wrong.

mod args;

pub use args::CountersArgs;

use std::path::PathBuf;

use clap::Args;
use clap::builder::PossibleValuesParser;
use volee::advise::{Use, advise};
use volee::names::DIRECTIONS;
use volee::render::advise::{others, value as advice_value};
use volee::render::check::{View, answers as rendered, never_changes, sizes};
use volee::settings::Direction;
use volee::system::Diagnostic;
use volee::{
    Answers, Ask, AskError, Engine, ExplanationForm, Options, Setting, Settings, Source, ask, files,
};

use self::args::{FamiliesArgs, QuestionArgs, StorageArgs, TemporalArgs};
use super::advise::commands;
use crate::advice::advice;
use crate::args::{BudgetArgs, ReadingArgs, WorkersArgs, named};
use crate::context::Context;
use crate::outcome::{Ended, Failure};
use crate::progress::ProgressLine;
use crate::suite::SuiteArgs;
use crate::witness::{MESSAGES, TraceArgs, replay_command};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  volee check mutex.pml                           deadlocks, errors, and every claim of the model
  volee check mutex.pml --invariant 'inside <= 1' an expression that must always be true
  volee check mutex.pml --reachable 'inside == 1' an expression that must be true at some time
  volee check mutex.pml --ltl '[](want -> <> in)' a temporal formula; --fair: fair runs only
  volee check mutex.pml --property fair           one claim of the model; --skip claims: none
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
  volee check big.pml --workers 4                 four threads; --cluster hosts.toml: machines
  volee check                                     all that volee.toml names, against what it expects
  volee check models --junit results.xml          every model of a folder, with a summary
  volee check mutex.pml --watch                   again whenever the file changes
  volee check big.pml --checkpoint big.ck         to go on after a power cut: volee resume big.ck
  volee check big.pml --spill /tmp                exact, with more states than memory holds
  volee check big.pml --approximate bitstate      look among more states than fit; proves nothing")]
pub struct Check {
    /// The models: files whose extensions tell their languages, folders of them, or a project [default:
    /// volee.toml]
    #[arg(value_name = "MODEL")]
    pub models: Vec<PathBuf>,

    #[command(flatten)]
    reading: ReadingArgs,

    #[command(flatten)]
    pub suite: SuiteArgs,

    #[command(flatten)]
    questions: QuestionArgs,

    #[command(flatten)]
    temporal: TemporalArgs,

    #[command(flatten)]
    pub storage: StorageArgs,

    /// Who answers: explicit search of all states; one answer for every number of processes; whether
    /// channels, taken as unbounded, can grow for ever; sets of integers, taken as unbounded; or boolean
    /// equations
    ///
    /// The default is whoever answers questions of that kind: mostly the explicit search. With `auto` the
    /// answer also tells which other engines could answer more about this model, and what stands in their way
    /// (see `volee advise`)
    #[arg(long, value_name = "ENGINE", value_parser = PossibleValuesParser::new(engines()))]
    engine: Option<String>,

    #[command(flatten)]
    families: FamiliesArgs,

    #[command(flatten)]
    counters: CountersArgs,

    /// With --engine counters: search from the initial states, from the bad ones, or from both in turn
    #[arg(long, value_name = "DIRECTION", value_parser = named(&DIRECTIONS), default_value = "both", help_heading = "Counters")]
    direction: Direction,

    #[command(flatten)]
    budget: BudgetArgs,

    #[command(flatten)]
    trace: TraceArgs,

    /// Write the whole answer as one page that stands alone: verdicts, reasons, runs, source, coverage
    #[arg(long, value_name = "FILE.html", help_heading = "Run")]
    report: Option<PathBuf>,

    /// Tell how often each statement ran, and how much of each process type
    #[arg(long, help_heading = "Run")]
    coverage: bool,

    #[command(flatten)]
    workers: WorkersArgs,

    /// What was said, though it has a default
    #[arg(skip)]
    pub said: Vec<Setting>,
}

/// Whoever fits, and what the others would need.
const AUTO: &str = "auto";

fn engines() -> impl IntoIterator<Item = &'static str> {
    std::iter::once(AUTO).chain(Engine::NAMES)
}

impl Check {
    /// What a call about several models cannot do, for they would all write the same file.
    pub fn single_file(&self) -> Option<&'static str> {
        let flags = [
            (!self.trace.trace.is_empty(), "--trace"),
            (self.report.is_some(), "--report"),
            (self.temporal.diagnostic.is_some(), "--diagnostic"),
            (self.storage.keeping.checkpoint.is_some(), "--checkpoint"),
        ];
        flags.iter().find(|(given, _)| *given).map(|(_, flag)| *flag)
    }

    pub fn run(self, context: &Context) -> Ended {
        let (only, of_run): (Vec<String>, _) =
            self.questions.only.iter().cloned().partition(|w| w != MESSAGES);
        let run = self.trace.view(!Vec::is_empty(&of_run))?;
        if let Some(path) =
            self.report.as_ref().filter(|p| p.extension().is_none_or(|e| e != "html" && e != "htm"))
        {
            return Err(Failure::new(format!("`{}`: a report is written as .html", path.display())));
        }
        let form = self.temporal.diagnostic.as_deref().map(ExplanationForm::of).transpose()?;
        let naming = self.temporal.labels;
        let [model] = &self.models[..] else { return Err(Failure::new("one model at a time")) };
        let source = Source::new(model, Options { naming, ..self.reading.options() });
        let mut asked = ask(&source)
            .questions(self.questions.named()?)
            .only(only)
            .skip(self.questions.skip.clone())
            .engine(self.engine()?)
            .settings(Settings { states: context.states, ..self.settings()? })
            .budget(self.budget.given(context));
        for name in &self.questions.property {
            asked = asked.claim(name);
        }
        if !self.questions.chooses() {
            asked = asked.usual();
        }
        let answers = self.answers(asked, context)?;
        context.warn(&answers.warnings);
        let silent: Vec<Diagnostic> = answers.silent.iter().map(|event| never_happens(event)).collect();
        context.warn(&silent);
        let constant: Vec<Diagnostic> = answers.constant.iter().map(|name| never_changes(name)).collect();
        context.warn(&constant);
        let view = View {
            palette: context.palette,
            run,
            shorter: (!self.storage.is_shortest()).then_some("(--search bfs finds a shortest run)"),
            all_claims: "add --property all",
            coverage: self.coverage,
            advise: &advice,
            replay: &|options, trace| replay_command(&source.path, options, trace),
        };
        let mut outcome = rendered(&source, &answers, &view)?;
        if let Some(path) = &self.report {
            files::write(path, volee::report_page(&source, &answers, &view.run.filter))?;
            let line = format!("report written to {}", path.display());
            outcome.text.push_str(&format!("{}\n", context.palette.faint(line)));
        }
        if let (Some(path), Some(form)) = (&self.temporal.diagnostic, form)
            && answers.write_explanation(path, form)?
        {
            let line = format!("diagnostic written to {}", path.display());
            outcome.text.push_str(&format!("{}\n", context.palette.faint(line)));
        }
        if self.engine.as_deref() == Some(AUTO) {
            let advice = advise(&source)?;
            let commands = |one: &Use| commands(&source.path, one);
            outcome.text.push_str(&others(&advice, &commands, context.palette));
            outcome.answer.add("advice", advice_value(&advice, &commands));
        }
        outcome.text.push_str(&self.storage.keeping.told(context.palette));
        match self.families.sizes {
            true => Ok(sizes(&answers, outcome)),
            false => Ok(outcome),
        }
    }

    /// The answers; a report has coverage where the engine can count at all.
    fn answers(&self, asked: Ask<'_>, context: &Context) -> Result<Answers, Failure> {
        let mut progress = ProgressLine::new(context.memory());
        if self.report.is_some() {
            let counting = Settings { coverage: true, ..self.settings()? };
            match asked.clone().settings(counting).run(&mut progress) {
                Err(AskError::Refused(_)) => {}
                other => return Ok(other?),
            }
        }
        Ok(asked.run(&mut progress)?)
    }

    fn engine(&self) -> Result<Engine, Failure> {
        let named = self.engine.as_deref().and_then(Engine::named);
        match (self.workers.engine()?, named) {
            // Every engine is one worker.
            (Some(Engine::Workers(1)), Some(other)) => Ok(other),
            (Some(_), Some(other)) if !matches!(other, Engine::Explicit) => {
                Err(Failure::new("--engine and several workers do not go together"))
            }
            (Some(workers), _) => Ok(workers),
            (None, named) => Ok(named.unwrap_or(Engine::Explicit)),
        }
    }

    fn settings(&self) -> Result<Settings, Failure> {
        let mut settings = Settings::default();
        self.temporal.apply(&mut settings)?;
        self.storage.apply(&mut settings);
        self.families.apply(&mut settings);
        self.counters.apply(&mut settings);
        settings.direction = self.direction;
        settings.coverage = self.coverage;
        settings.said.clone_from(&self.said);
        settings.checkpoint = self.storage.keeping.keep();
        Ok(settings)
    }
}

/// An event of a formula that never happens is probably misspelt.
fn never_happens(event: &str) -> Diagnostic {
    Diagnostic::warning(format!("nothing that was explored is `{event}`"), None).with_help(
        "`volee info MODEL --events` lists what happens in a model; a text in quotes must be the whole event, and \
         /pattern/ matches by regular expression",
    )
}
