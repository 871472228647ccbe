//! The temporal questions of `volee check`: LTL, finite-trace formulas, the model's own claims, progress.
//!
//! Each question is one search of its own. A counterexample that was found in a model with merged steps is looked for
//! again in the plain one, so that what is shown is single steps and replays with the printed command.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use volee::claims::never_claim;
use volee::families::Property;
use volee::logic::formula::{self, Formula};
use volee::program::MachineOptions;
use volee::promela::Lowered;
use volee::properties::{of_buchi, of_ltl, of_never, of_tl};
use volee::search::{
    Answer as Found, Check as Questions, Claim, ClaimOptions, DeterministicProperty, Emptiness, Fairness,
    LtlQuestion, Names, NestedStore, Order, Reduction, Runs, Statistics, TlQuestion, Watch, check_claim,
};
use volee::system::{Diagnostic, Limit, Meter, Reason, ReasonKind, Verdict};
use volee::{Model, Options};

use super::{Check, SearchOrder};
use crate::context::Context;
use crate::outcome::{Ended, Failure};
use crate::progress::ProgressLine;
use crate::report::Report;
use crate::storage::{Kind, Policy, StorageArgs};

/// Questions about runs.
#[derive(Debug, Args)]
pub struct TemporalArgs {
    /// A formula of linear temporal logic that every infinite run must satisfy (a run that ends stutters)
    #[arg(long, value_name = "FORMULA", help_heading = "Temporal questions")]
    ltl: Vec<String>,

    /// A finite-trace formula over events; see --runs for which runs must satisfy it
    #[arg(long, value_name = "FORMULA", help_heading = "Temporal questions")]
    tl: Vec<String>,

    /// Which runs a --tl formula is about: every finite prefix, or whole runs that end
    #[arg(long, value_enum, default_value_t = RunsArg::Prefixes, help_heading = "Temporal questions")]
    runs: RunsArg,

    /// A deterministic Büchi automaton in the Hanoi format that must accept every infinite run
    #[arg(long, value_name = "FILE.hoa", help_heading = "Temporal questions")]
    buchi: Vec<PathBuf>,

    /// A claim of the model by name: an ltl block or a never claim; `all` for all of them
    #[arg(long, value_name = "NAME", help_heading = "Temporal questions")]
    property: Vec<String>,

    /// No run may go on for ever without passing a progress label
    #[arg(long, help_heading = "Temporal questions")]
    progress: bool,

    /// No run may pass accept labels of the model for ever
    #[arg(long, help_heading = "Temporal questions")]
    acceptance: bool,

    /// Only runs count in which no process is for ever able to move without ever moving (weak fairness)
    #[arg(long, help_heading = "Temporal questions")]
    fair: bool,

    /// How infinite runs are looked for: by components; or by nested depth-first search, which can forget states to stay
    /// within --memory (still exact) and can do with bits (--approximate bitstate; proves nothing)
    #[arg(long, value_name = "SEARCH", value_enum, help_heading = "Temporal questions")]
    emptiness: Option<EmptinessArg>,
}

/// The searches for infinite runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum EmptinessArg {
    Components,
    Nested,
}

/// The table of a bitstate search when there is no memory budget, and the largest it is made: what is free may be much.
const BITSTATE_BYTES: u64 = 128 << 20;
const MAXIMUM_BITSTATE_BYTES: u64 = 1 << 30;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum RunsArg {
    Prefixes,
    Maximal,
}

/// One temporal question.
enum Ask {
    Ltl { name: String, text: String, file: String },
    Tl { text: String },
    Buchi { path: PathBuf },
    Never { name: String },
    Progress,
    Acceptance,
}

impl TemporalArgs {
    /// Whether there is any temporal question.
    pub fn asked(&self) -> bool {
        let listed = [self.ltl.len(), self.tl.len(), self.property.len(), self.buchi.len()];
        listed.iter().any(|&n| n > 0) || self.progress || self.acceptance
    }

    /// The first flag that was given, to refuse it where another engine runs.
    pub fn given(&self) -> Option<&'static str> {
        let flags = [
            (!self.ltl.is_empty(), "--ltl"),
            (!self.tl.is_empty(), "--tl"),
            (!self.buchi.is_empty(), "--buchi"),
            (!self.property.is_empty(), "--property"),
            (self.progress, "--progress"),
            (self.acceptance, "--acceptance"),
        ];
        flags.into_iter().find(|f| f.0).map(|f| f.1)
    }

    /// The questions as property automata, for families of any size.
    pub fn properties(&self, lowered: &Lowered) -> Result<Vec<Property>, Failure> {
        let infinite =
            [(self.progress, "--progress"), (self.acceptance, "--acceptance"), (self.fair, "--fair")];
        let infinite = infinite.into_iter().chain([(self.runs == RunsArg::Maximal, "--runs maximal")]);
        if let Some((_, flag)) = infinite.into_iter().find(|f| f.0) {
            return Err(Failure::new(format!(
                "{flag} is about whole runs, which families of any size are not decided for"
            ))
            .with_help("ask one instance: leave --engine and --for-any out and add --copies PROCTYPE=N"));
        }
        let mut all = Vec::new();
        for ask in self.asks(Some(lowered))? {
            match &ask {
                Ask::Tl { text } => all.extend(of_tl(lowered, text)?),
                Ask::Ltl { text, .. } => all.extend(of_ltl(lowered, &ask.question(), text)?),
                Ask::Never { .. } => all.push(of_never(lowered)?),
                Ask::Buchi { path } => {
                    let bytes = volee::model::read_bytes(path)?;
                    let name = path.display().to_string();
                    let automaton = volee::logic::hoa::read_hoa(&String::from_utf8_lossy(&bytes), &name)?;
                    all.push(of_buchi(lowered, automaton, &name)?);
                }
                Ask::Progress | Ask::Acceptance => {
                    return Err(Failure::new(format!(
                        "{} is about infinite runs, which families of any size are not decided for",
                        ask.question()
                    )));
                }
            }
        }
        Ok(all)
    }

    fn asks(&self, lowered: Option<&Lowered>) -> Result<Vec<Ask>, Failure> {
        let mut asks: Vec<Ask> = Vec::new();
        for wanted in &self.property {
            let found = claims(lowered).into_iter().filter(|a| wanted == "all" || a.name() == Some(wanted));
            let before = asks.len();
            asks.extend(found);
            if asks.len() == before && wanted != "all" {
                let names: Vec<String> = claims(lowered).iter().filter_map(|a| a.name().cloned()).collect();
                let help = match names.len() {
                    0 => "it has no ltl blocks and no never claim".to_string(),
                    _ => format!("it has {}", names.join(", ")),
                };
                return Err(Failure::new(format!("the model has no property `{wanted}`")).with_help(help));
            }
        }
        let ltl = |text: &String| Ask::Ltl { name: text.clone(), text: text.clone(), file: "--ltl".into() };
        asks.extend(self.ltl.iter().map(ltl));
        asks.extend(self.tl.iter().map(|text| Ask::Tl { text: text.clone() }));
        asks.extend(self.buchi.iter().map(|path| Ask::Buchi { path: path.clone() }));
        asks.extend(self.progress.then_some(Ask::Progress));
        asks.extend(self.acceptance.then_some(Ask::Acceptance));
        Ok(asks)
    }

    fn claim_options(&self, storage: &StorageArgs, memory: Option<u64>) -> Result<ClaimOptions, Failure> {
        let fairness = if self.fair { Fairness::Weak } else { Fairness::None };
        let emptiness = match (storage.approximate, self.emptiness) {
            (None, None | Some(EmptinessArg::Components)) => Emptiness::Components,
            (Some(_), Some(EmptinessArg::Components)) => {
                let message = "the search by components needs every state exactly";
                return Err(Failure::new(message).with_help("use --emptiness nested with --approximate"));
            }
            (Some(Kind::Compact), _) => {
                let message = "infinite runs are looked for with bits or exactly, not with fingerprints";
                return Err(Failure::new(message).with_help("use --approximate bitstate"));
            }
            (Some(Kind::Bitstate), _) => {
                let bytes =
                    memory.map_or(BITSTATE_BYTES, |budget| (budget / 4 * 3).min(MAXIMUM_BITSTATE_BYTES));
                Emptiness::Nested(NestedStore::Bitstate {
                    bytes: usize::try_from(bytes).unwrap_or(usize::MAX),
                })
            }
            (None, Some(EmptinessArg::Nested)) => Emptiness::Nested(match memory {
                Some(bytes) if storage.replacement != Policy::None => {
                    NestedStore::Bounded { bytes, seed: storage.seed }
                }
                _ => NestedStore::Exact,
            }),
        };
        if self.fair && emptiness != Emptiness::Components {
            let message = "--fair needs the search by components, which needs every state exactly";
            return Err(Failure::new(message).with_help("leave --approximate and --emptiness nested out"));
        }
        Ok(ClaimOptions { emptiness, fairness, faults: true })
    }
}

/// The claims that a model has.
fn claims(lowered: Option<&Lowered>) -> Vec<Ask> {
    let Some(lowered) = lowered else { return Vec::new() };
    let blocks = lowered.model().ltl.iter().map(|p| Ask::Ltl {
        name: p.name.to_string(),
        text: p.text.to_string(),
        file: format!("ltl {}", p.name),
    });
    let program = &lowered.program;
    let accepts = program.proctypes.iter().flat_map(|p| &p.nodes).any(|n| n.accepting);
    // With a never claim the accept labels of processes count in it.
    let acceptance = (accepts && program.never.is_none()).then_some(Ask::Acceptance);
    let never = program.never.iter().map(|c| Ask::Never { name: c.name.clone() });
    blocks.chain(never).chain(acceptance).collect()
}

/// The questions that a model asks by itself and that a check without temporal questions leaves open.
pub fn unasked(model: &Model) -> Vec<String> {
    claims(model.promela.as_ref()).iter().map(Ask::question).collect()
}

impl Ask {
    fn name(&self) -> Option<&String> {
        match self {
            Ask::Ltl { name, .. } | Ask::Never { name } => Some(name),
            _ => None,
        }
    }

    fn question(&self) -> String {
        match self {
            Ask::Ltl { name, .. } => format!("ltl {name}"),
            Ask::Tl { text } => format!("tl {text}"),
            Ask::Buchi { path } => format!("automaton {}", path.display()),
            Ask::Never { name } => format!("never {name}"),
            Ask::Progress => "progress".into(),
            Ask::Acceptance => "acceptance".into(),
        }
    }
}

/// What a question was answered, and by which model.
struct Answered {
    answers: Vec<Found>,
    statistics: Statistics,
    model: Model,
    options: Options,
    /// Events that never happened, although all was explored.
    unseen: Vec<String>,
}

impl Check {
    /// Answers the temporal questions, each with a search of its own.
    pub(super) fn run_temporal(self, context: &Context) -> Ended {
        let others = [
            (!self.invariant.is_empty(), "--invariant"),
            (!self.reachable.is_empty(), "--reachable"),
            (self.mu.asked(), "--mu"),
        ];
        if let Some((_, flag)) = others.iter().find(|other| other.0) {
            let message = format!("{flag} is not answered together with questions about infinite runs");
            return Err(Failure::new(message).with_help("ask in two calls"));
        }
        let meter = self.storage.budget(&self.budget).meter(context);
        let model = self.model.open(context)?;
        let asks = self.temporal.asks(model.promela.as_ref())?;
        let (name, is_promela) = (model.name.clone(), model.promela.is_some());
        drop(model);
        let mut all: Vec<Answered> = Vec::new();
        for ask in &asks {
            let answered = self.answer(ask, is_promela, &meter)?;
            all.push(answered);
        }
        let mut report = Report::new(context, "explicit", &self.model, &self.trace);
        if asks.is_empty() {
            report.note(&format!("`{name}` has no ltl blocks and no never claim: nothing was checked"));
        }
        let mut total = Statistics::default();
        for answered in &mut all {
            report.read_with(answered.options.clone());
            report.silent(&answered.unseen);
            for answer in &answered.answers {
                report.question(answered.model.system.as_mut(), answer)?;
            }
            add(&mut total, &answered.statistics);
        }
        total.seconds = meter.elapsed().as_secs_f64();
        total.bytes_per_state = total.memory_bytes as f64 / total.states.max(1) as f64;
        let decided = |a: &Answered| a.answers.iter().all(|f| f.verdict == Verdict::Holds);
        report.statistics(&total, all.iter().all(decided));
        if let Some(line) = self.storage.report(total.turnover.as_ref(), &mut report.answer) {
            report.figure(&line);
        }
        Ok(report.finish())
    }

    fn answer(&self, ask: &Ask, is_promela: bool, meter: &Meter) -> Result<Answered, Failure> {
        let options = self.model.options();
        let first = self.search_for(ask, options.clone(), meter)?;
        let violated = |a: &Answered| a.answers.iter().any(|f| matches!(f.verdict, Verdict::Violated(_)));
        if !violated(&first) || first.options.plain || !is_promela {
            return Ok(first);
        }
        let plain = self.search_for(ask, Options { plain: true, ..options }, meter)?;
        Ok(if violated(&plain) { plain } else { first })
    }

    fn search_for(&self, ask: &Ask, options: Options, meter: &Meter) -> Result<Answered, Failure> {
        let mut model = Model::open(&self.model.model, &options)?;
        let mut progress = ProgressLine::new(meter.budget().memory);
        let how = self.temporal.claim_options(&self.storage, meter.budget().memory)?;
        let outcome = match ask {
            Ask::Ltl { text, file, .. } => {
                let formula = formula::parse(text, file)?;
                let question = bind(&mut model, formula, text, file)?;
                if question.needs_every_step() && model.promela.is_some() && !options.plain {
                    return self.search_for(ask, Options { plain: true, ..options }, meter);
                }
                question.check(model.system.as_mut(), how, meter, &mut progress)
            }
            Ask::Tl { text } => return self.search_for_tl(text, model, options, meter),
            Ask::Buchi { path } => {
                if model.promela.is_some() && !options.plain {
                    return self.search_for(ask, Options { plain: true, ..options }, meter);
                }
                let property = deterministic(&mut model, path)?;
                property.check(model.system.as_mut(), self.storage.seed, meter, &mut progress)
            }
            Ask::Never { .. } => {
                let Some(lowered) = &model.promela else {
                    return Err(Failure::new("the model has no claim"));
                };
                let mut machine =
                    lowered.machine(MachineOptions { plain: options.plain, ..MachineOptions::default() });
                let Some(claim) = never_claim(&lowered.program, &mut machine) else {
                    return Err(Failure::new("the model has no never claim"));
                };
                model.system = Box::new(machine);
                check_claim(model.system.as_mut(), &claim, how, meter, &mut progress)
            }
            Ask::Progress => {
                let claim = marked("!([]<>progress)", Watch::Progress, ReasonKind::NonProgressCycle)?;
                check_claim(model.system.as_mut(), &claim, how, meter, &mut progress)
            }
            Ask::Acceptance => {
                let claim = marked("[]<>accept", Watch::Accept, ReasonKind::AcceptanceCycle)?;
                check_claim(model.system.as_mut(), &claim, how, meter, &mut progress)
            }
        };
        let answers = answers(ask.question(), outcome.verdict);
        Ok(Answered { answers, statistics: outcome.statistics, model, options, unseen: Vec::new() })
    }

    fn search_for_tl(
        &self,
        text: &str,
        mut model: Model,
        options: Options,
        meter: &Meter,
    ) -> Result<Answered, Failure> {
        // Merged steps hide events.
        if model.promela.is_some() && !options.plain {
            let options = Options { plain: true, ..options };
            model = Model::open(&self.model.model, &options)?;
            return self.search_for_tl(text, model, options, meter);
        }
        let formula = formula::parse(text, "--tl")?;
        let question = TlQuestion::new(model.system.as_mut(), &formula, text, "--tl")?;
        let order = match self.search {
            SearchOrder::Bfs => Order::BreadthFirst,
            _ => Order::DepthFirst,
        };
        let runs = match self.temporal.runs {
            RunsArg::Prefixes => Runs::Prefixes,
            RunsArg::Maximal => Runs::Maximal,
        };
        let mut progress = ProgressLine::new(meter.budget().memory);
        let how = self.storage.apply(Questions::new().order(order), options.plain).reduction(Reduction::None);
        let (outcome, mut unseen) =
            question.check_and_watch(model.system.as_mut(), runs, &how, meter, &mut progress);
        if outcome.answers.iter().any(|found| found.verdict != Verdict::Holds) {
            unseen.clear();
        }
        Ok(Answered { answers: outcome.answers, statistics: outcome.statistics, model, options, unseen })
    }
}

fn bind(model: &mut Model, formula: Formula, text: &str, file: &str) -> Result<LtlQuestion, Diagnostic> {
    LtlQuestion::new(model.system.as_mut(), formula, text, file)
}

/// A Büchi automaton from a file, its propositions bound to the model.
fn deterministic(model: &mut Model, path: &Path) -> Result<DeterministicProperty, Failure> {
    let bytes = volee::model::read_bytes(path)?;
    let name = path.display().to_string();
    let automaton = volee::logic::hoa::read_hoa(&String::from_utf8_lossy(&bytes), &name)?;
    let mut watches = Vec::new();
    for atom in &automaton.atoms {
        let formula = formula::parse(atom, &name)?;
        let mut bound = volee::search::bind(model.system.as_mut(), &formula, Names::States, atom, &name)?;
        match (bound.pop(), bound.is_empty()) {
            (Some(watch), true) => watches.push(watch),
            _ => {
                let message =
                    format!("{name}: the proposition `{atom}` is not an event or an expression of the model");
                return Err(Failure::new(message));
            }
        }
    }
    Ok(DeterministicProperty::new(automaton, watches)?)
}

/// A claim about one kind of label.
fn marked(bad: &str, watch: Watch, kind: ReasonKind) -> Result<Claim, Failure> {
    let formula = formula::parse(bad, "formula")?;
    let automaton = volee::logic::ltl::translate(&formula).map_err(|e| Failure::new(e.to_string()))?;
    let mut claim = Claim::new(automaton, vec![watch]);
    claim.kind = kind;
    Ok(claim)
}

/// An assertion that fails on the way is not the answer to the temporal question, which then stays open.
fn answers(question: String, verdict: Verdict) -> Vec<Found> {
    let of_model = |reason: &Reason| reason.kind == ReasonKind::Assertion;
    let found = |question, verdict: Verdict| {
        let errors = u64::from(matches!(verdict, Verdict::Violated(_)));
        Found { question, verdict, errors, witness: None }
    };
    match &verdict {
        Verdict::Violated(all) if all.iter().any(|v| of_model(&v.reason)) => {
            let message = "not decided, because an assertion fails first".into();
            let open = Verdict::Unknown(Limit::Other { message });
            vec![found(question, open), found("assertions".into(), verdict)]
        }
        _ => vec![found(question, verdict)],
    }
}

fn add(total: &mut Statistics, more: &Statistics) {
    total.states += more.states;
    total.transitions += more.transitions;
    total.max_depth = total.max_depth.max(more.max_depth);
    total.memory_bytes = total.memory_bytes.max(more.memory_bytes);
    if more.turnover.is_some() {
        total.turnover.clone_from(&more.turnover);
    }
}
