//! Questions about runs, by explicit search: LTL, finite-trace formulas, the model's own claims, progress.
//!
//! Each question is one search of its own.

use volee_logic::formula;
use volee_logic::hoa::read_hoa;
use volee_program::MachineOptions;
use volee_search::{
    Answer as Found, Approximation, BoundAtom, Check, Claim, ClaimOptions, ClaimOutcome, Crew,
    DeterministicProperty, Emptiness as Method, Fairness, LtlQuestion, Names, NestedStore, Order, Outcome,
    Reduction, Statistics, TlQuestion, bind, check_claim, watch_only,
};
use volee_store::checkpoint::Checkpoint;
use volee_system::{Diagnostic, Reason, ReasonKind, Verdict};

use super::explicit::{is_plain_search, stored, workers};
use super::{Job, Part, told};
use crate::answer::{AskError, limit};
use crate::claims::never_claim;
use crate::engine::{Engine, Way};
use crate::kept;
use crate::model::{Model, Options};
use crate::question::Question;
use crate::settings::Emptiness;

/// The table of a bitstate search when there is no memory budget, and the largest it is made: what is free
/// may be much.
const BITSTATE_BYTES: u64 = 128 << 20;
const MAXIMUM_BITSTATE_BYTES: u64 = 1 << 30;

/// What a search has found, and in which model.
struct Searched {
    found: Vec<(Question, Found)>,
    statistics: Statistics,
    model: Model,
    options: Options,
    /// Events that never happened, although all was explored.
    unseen: Vec<String>,
}

/// Answers one question about runs.
pub(crate) fn answer(job: &mut Job<'_>, question: &Question) -> Result<Part, AskError> {
    let options = job.subject.options();
    // As for questions about states: names need components, and what has none is divided among workers.
    if matches!(job.engine, Engine::Workers(2..)) && is_plain_search(job) {
        let mut model = job.open()?;
        let divides = model.draft.system().components().is_some();
        job.read = Some(model);
        if !divides {
            return super::workers::runs(job, question);
        }
    }
    let Searched { found, statistics, mut model, options, unseen } = search(job, question, &options)?;
    let decided = found.iter().all(|(_, found)| found.verdict == Verdict::Holds);
    let mut part = Part { explored: Some((statistics, decided)), ..Part::default() };
    part.silent = unseen;
    part.coverage =
        if job.settings.coverage { volee_system::coverage(model.draft.system()) } else { Vec::new() };
    for (question, found) in found {
        part.answers.push(told(job, &mut model, question, Way::Cycles, &found, &options)?);
    }
    Ok(part)
}

/// Whether every single step matters for a question: merged steps hide events.
fn is_about_steps(question: &Question) -> bool {
    matches!(question, Question::Tl(_) | Question::Automaton { .. })
}

/// A question about runs, bound to the model, which is read as the question needs it.
pub(super) struct Bound {
    pub model: Model,
    pub options: Options,
    pub what: Asked,
}

/// What is asked of runs.
pub(super) enum Asked {
    Ltl(Box<LtlQuestion>),
    Tl(TlQuestion),
    Deterministic(DeterministicProperty),
    Claim(Claim),
}

impl Asked {
    /// What is looked at of steps, where steps that are nothing of it make no difference.
    fn loose_events(&self) -> Option<&[BoundAtom]> {
        match self {
            Asked::Ltl(ltl) => ltl.ignores_silent_steps().then_some(&ltl.claim().atoms),
            Asked::Tl(tl) => tl.ignores_silent_steps().then_some(tl.atoms()),
            Asked::Deterministic(property) => property.ignores_silent_steps().then_some(property.atoms()),
            Asked::Claim(_) => None,
        }
    }
}

/// Reads the model and binds a question to it; `by_steps` where every single step matters for how it is
/// asked.
pub(super) fn bound(
    open: &mut dyn FnMut(&Options) -> Result<Model, AskError>,
    question: &Question,
    options: &Options,
    by_steps: bool,
) -> Result<Bound, AskError> {
    let mut model = open(options)?;
    let merged = model.promela.is_some() && !options.single_steps;
    if merged && (by_steps || is_about_steps(question)) {
        return bound(open, question, &options.step_by_step(), by_steps);
    }
    let file = question.origin();
    let what = match question {
        Question::Ltl { text, .. } => {
            let parsed = formula::parse(text, &file)?;
            let ltl = LtlQuestion::new(model.draft.as_mut(), parsed, text, &file)?;
            if ltl.needs_every_step() && merged {
                return bound(open, question, &options.step_by_step(), by_steps);
            }
            Asked::Ltl(Box::new(ltl))
        }
        Question::Tl(text) => {
            let parsed = formula::parse(text, &file)?;
            Asked::Tl(TlQuestion::new(model.draft.as_mut(), &parsed, text, &file)?)
        }
        Question::Automaton { name, text } => Asked::Deterministic(deterministic(&mut model, name, text)?),
        Question::Never(name) => Asked::Claim(claimed(&mut model, options, name)?),
        Question::Progress => {
            Asked::Claim(marked("!([]<>progress)", BoundAtom::Progress, ReasonKind::NonProgressCycle)?)
        }
        Question::Acceptance => {
            Asked::Claim(marked("[]<>accept", BoundAtom::Accept, ReasonKind::AcceptanceCycle)?)
        }
        other => unreachable!("`{other}` is not about runs"),
    };
    if let Some(events) = what.loose_events().filter(|_| options.single_steps && !by_steps) {
        watch_only(model.draft.as_mut(), events);
    }
    Ok(Bound { model, options: options.clone(), what })
}

fn search(job: &mut Job<'_>, question: &Question, options: &Options) -> Result<Searched, AskError> {
    // Who is able to move and how long a run is are told in single steps.
    let by_steps = job.settings.order == Order::BreadthFirst || job.settings.fairness == Fairness::Strong;
    let usual = job.subject.options();
    let mut open = |options: &Options| if usual == *options { job.open() } else { job.open_as(options) };
    let Bound { mut model, options, what } = bound(&mut open, question, options, by_steps)?;
    let kept = kept::prepare(job, &model, std::slice::from_ref(question))?;
    let resumed = kept.as_ref().is_some_and(|kept| kept.resume);
    let safety = stored(Check::new(), job.settings, options.plain).max_errors(job.settings.max_errors);
    let safety = safety.checkpoint(kept.clone());
    let (subject, lowered) = (job.subject, model.promela.clone());
    let another = || {
        // What was read is not read again: the file may be another one by now.
        let mut open = |options: &Options| match &lowered {
            Some(lowered) => Ok(Model::of_program(lowered, options)),
            None => Ok(subject.open(options)?),
        };
        let Bound { model, what, .. } = bound(&mut open, question, &options, by_steps).ok()?;
        Some((model.draft.build(), what))
    };
    let claims = || {
        let (system, what) = another()?;
        let claim = match what {
            Asked::Ltl(ltl) => ltl.claim().clone(),
            Asked::Claim(claim) => claim,
            Asked::Tl(_) | Asked::Deterministic(_) => return None,
        };
        Some((system, claim))
    };
    let invariants = || {
        let (system, what) = another()?;
        let Asked::Ltl(ltl) = what else { return None };
        Some((system, ltl.as_invariant(&safety)?))
    };
    // Each thread knows its own statements only.
    let threads = if job.settings.coverage { 1 } else { workers(job.engine)? };
    let (crew, by_states) = (Crew::new(threads, &claims), Crew::new(threads, &invariants));
    let how =
        ClaimOptions { checkpoint: kept.as_ref(), crew: Some(&crew), ..claim_options(job, options.plain) };
    let mut unseen = Vec::new();
    let system = model.draft.system();
    let outcome = match what {
        Asked::Ltl(ltl) => {
            let invariant = match how.emptiness {
                Method::Components => {
                    ltl.check_as_invariant(system, &safety, Some(&by_states), job.meter, job.progress)
                }
                Method::Nested(_) => None,
            };
            match invariant {
                Some((outcome, told)) => {
                    unseen = if resumed { Vec::new() } else { told };
                    one_of(outcome)
                }
                None => {
                    let outcome = ltl.check(system, how, job.meter, job.progress);
                    unseen = ltl.silent(&outcome);
                    outcome
                }
            }
        }
        Asked::Tl(tl) => {
            let mut searched = monitored(job, question, &tl, (model, options), kept.clone())?;
            // What was met before the search was kept is not known here.
            if resumed {
                searched.unseen.clear();
            }
            kept::forget(kept.as_ref(), searched.found.iter().map(|(_, found)| &found.verdict));
            return Ok(searched);
        }
        Asked::Deterministic(property) => {
            property.check(system, job.settings.seed, kept.as_ref(), job.meter, job.progress)
        }
        Asked::Claim(claim) => check_claim(system, &claim, how, job.meter, job.progress),
    };
    kept::forget(kept.as_ref(), std::iter::once(&outcome.verdict));
    let statistics = outcome.statistics;
    let found = separated(question, outcome.verdict);
    Ok(Searched { found, statistics, model, options, unseen })
}

/// The never claim of a model, which is then the system as the claim sees it.
fn claimed(model: &mut Model, options: &Options, name: &str) -> Result<Claim, AskError> {
    let missing = || Diagnostic::error(format!("the model has no never claim `{name}`"), None);
    let lowered = model.promela.as_ref().ok_or_else(missing)?;
    let mut machine = lowered.machine(MachineOptions { plain: options.plain, ..MachineOptions::default() });
    let claim = never_claim(&lowered.program, &mut machine).ok_or_else(missing)?;
    model.draft = Box::new(machine);
    Ok(claim)
}

fn monitored(
    job: &mut Job<'_>,
    asked: &Question,
    question: &TlQuestion,
    (mut model, options): (Model, Options),
    kept: Option<Checkpoint>,
) -> Result<Searched, AskError> {
    let how = stored(Check::new(), job.settings, options.plain).reduction(Reduction::None);
    let how = how.max_errors(job.settings.max_errors).checkpoint(kept);
    let (outcome, mut unseen) =
        question.check_and_watch(model.draft.system(), job.settings.runs, &how, job.meter, job.progress);
    if outcome.answers.iter().any(|found| found.verdict != Verdict::Holds) {
        unseen.clear();
    }
    let found = outcome.answers.into_iter().map(|found| (asked.clone(), found)).collect();
    Ok(Searched { found, statistics: outcome.statistics, model, options, unseen })
}

/// How infinite runs are looked for; what does not go together was refused before.
fn claim_options(job: &Job<'_>, plain: bool) -> ClaimOptions<'static> {
    let settings = job.settings;
    let memory = job.meter.budget().memory;
    let emptiness = match (settings.approximation, settings.emptiness) {
        (Some(Approximation::Bitstate), _) => {
            let bytes = memory.map_or(BITSTATE_BYTES, |budget| (budget / 4 * 3).min(MAXIMUM_BITSTATE_BYTES));
            Method::Nested(NestedStore::Bitstate { bytes: usize::try_from(bytes).unwrap_or(usize::MAX) })
        }
        (_, Some(Emptiness::Nested)) => Method::Nested(match memory {
            Some(bytes) if settings.replacement.is_some() => {
                NestedStore::Bounded { bytes, seed: settings.seed }
            }
            _ => NestedStore::Exact,
        }),
        _ => Method::Components,
    };
    let reduction = match settings.reduction {
        _ if plain => Reduction::None,
        None | Some(Reduction::Persistent | Reduction::Both) => Reduction::Persistent,
        Some(Reduction::None | Reduction::Sleep) => Reduction::None,
    };
    ClaimOptions {
        settles_first: false,
        emptiness,
        fairness: settings.fairness,
        faults: true,
        reduction,
        shortest: settings.order == Order::BreadthFirst,
        max_errors: settings.max_errors,
        forgets: settings.replacement.map(|_| settings.seed),
        checkpoint: None,
        crew: None,
    }
}

/// The answer to the one question of a search.
fn one_of(outcome: Outcome) -> ClaimOutcome {
    let Outcome { mut answers, statistics, .. } = outcome;
    let verdict = answers.pop().map_or(Verdict::Holds, |answer| answer.verdict);
    ClaimOutcome { verdict, statistics, letters: Vec::new() }
}

/// A Büchi automaton, its propositions bound to the model.
fn deterministic(model: &mut Model, name: &str, text: &str) -> Result<DeterministicProperty, AskError> {
    let automaton = read_hoa(text, name)?;
    let mut watches = Vec::new();
    for atom in &automaton.atoms {
        let parsed = formula::parse(atom, name)?;
        let mut bound = bind(model.draft.as_mut(), &parsed, Names::States, atom, name)?;
        match (bound.pop(), bound.is_empty()) {
            (Some(watch), true) => watches.push(watch),
            _ => {
                let message =
                    format!("{name}: the proposition `{atom}` is not an event or an expression of the model");
                return Err(Diagnostic::error(message, None).into());
            }
        }
    }
    Ok(DeterministicProperty::new(automaton, watches)?)
}

/// A claim about one kind of label.
fn marked(bad: &str, watch: BoundAtom, kind: ReasonKind) -> Result<Claim, AskError> {
    let parsed = formula::parse(bad, "formula")?;
    let automaton =
        volee_logic::ltl::translate(&parsed).map_err(|error| Diagnostic::error(error.to_string(), None))?;
    let mut claim = Claim::new(automaton, vec![watch]);
    claim.kind = kind;
    Ok(claim)
}

/// An assertion that fails on the way is not the answer to the temporal question, which then stays open.
pub(super) fn separated(question: &Question, verdict: Verdict) -> Vec<(Question, Found)> {
    let of_model = |reason: &Reason| reason.kind == ReasonKind::Assertion;
    let found = |question: Question, verdict: Verdict| {
        let errors = match &verdict {
            Verdict::Violated(all) => all.len() as u64,
            _ => 0,
        };
        let found = Found { question: question.to_string(), verdict, errors, at_least: true, witness: None };
        (question, found)
    };
    match &verdict {
        Verdict::Violated(all) if all.iter().any(|v| of_model(&v.reason)) => {
            let open = Verdict::Unknown(limit("not decided, because an assertion fails first"));
            vec![found(question.clone(), open), found(Question::Assertions, verdict)]
        }
        _ => vec![found(question.clone(), verdict)],
    }
}
