//! The same questions by several workers: threads of this process, or processes elsewhere.
//!
//! A [`Task`] is all that a worker must know: the source, whole, and the questions. A thread opens the model
//! itself; a process gets the model's files with the task ([`Bundle`]) and opens them in a folder of its own.
//! Both then do the same, and give bytes back that are joined here.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use volee_bes::answer::{self, Method};
use volee_bes::explicit::Explicit;
use volee_bes::format::read_bes;
use volee_bes::model::ModelGraph;
use volee_bes::{BooleanGraph as _, SolveError, Solver};
use volee_cluster::drive::{Account, Driver, Stop, conserved};
use volee_cluster::equations::{self, JointAnswer, PartialAnswer};
use volee_cluster::kept::{Keeping, News, Sort};
use volee_cluster::remote::coordinator::{self, JobError};
use volee_cluster::runs::{PartialRuns, joined_claim, joined_formula, work_on_claim, work_on_formula};
use volee_cluster::runs::{sorting_claim, sorting_formula};
use volee_cluster::search::{PartialSearch, joined, sorting};
use volee_cluster::threads::{Failure as Fault, MOST_WORKERS, on_kept_threads};
use volee_conform::{ConformError, PartialTests, Partition};
use volee_report::counted;
use volee_search::{Answer as Found, Claim, ClaimOptions, Fairness, Outcome, Reduction, Runs};
use volee_store::checkpoint::{self, Checkpoint, Refused};
use volee_system::part::PartError;
use volee_system::{Budget, Diagnostic, Flow, Limit, Meter, Progress, Quiet, Snapshot, System, Verdict};

use super::accounts::{cut, sum, together};
use super::equations::{
    Watch, explanation, formula, most, options as for_formulas, told as told_formula, unknown,
};
use super::explicit::{compiled, never_true, ordered, with_left_sides};
use super::temporal::{Asked, Bound, bound, separated};
use super::{Job, Part, told};
use crate::answer::{Answer, AskError};
use crate::bundle::Bundle;
use crate::conformance::{Contract, Goal};
use crate::engine::{Cluster, Engine, Way};
use crate::kept;
use crate::model::{Model, Options};
use crate::question::Question;
use crate::settings::Settings;
use crate::source::{Source, Subject};

/// All that a worker elsewhere must know.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Task {
    source: Source,
    /// The model and the files that it includes, with their bytes.
    bundle: Bundle,
    what: What,
}

/// What is asked of all workers together.
#[derive(Debug, Clone, Serialize, Deserialize)]
enum What {
    /// Deadlocks, assertions, invariants and goals of a model.
    Search { questions: Vec<Question>, all_errors: bool },
    /// A question about runs.
    Runs { question: Question, how: How },
    /// A formula of the mu-calculus, with files of macros.
    Formula { question: Question, macros: Vec<(String, String)> },
    /// The main variable of a system of equations in a file.
    Equations,
    /// The complete test graph for a goal, which names no file.
    Tests { contract: Box<Contract>, goal: Goal },
}

/// How a question about runs is asked.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct How {
    fairness: Fairness,
    runs: Runs,
    /// Whether persistent sets may stand for all steps.
    reduces: bool,
}

impl How {
    fn of(settings: &Settings, plain: bool) -> Self {
        let reduces = !plain && !matches!(settings.reduction, Some(Reduction::None | Reduction::Sleep));
        How { fairness: settings.fairness, runs: settings.runs, reduces }
    }

    fn claim_options(self, faults: bool) -> ClaimOptions<'static> {
        let reduction = if self.reduces { Reduction::Persistent } else { Reduction::None };
        ClaimOptions { fairness: self.fairness, faults, reduction, ..ClaimOptions::default() }
    }
}

/// The automaton of bad behaviour that several workers look for, and whether errors of the model end the
/// search: beside a deterministic automaton they are steps like others.
fn claim_for(what: &Asked) -> Option<(Claim, bool)> {
    match what {
        Asked::Ltl(ltl) => Some((ltl.claim().state_based(), true)),
        Asked::Claim(claim) => Some((claim.state_based(), true)),
        Asked::Deterministic(property) => Some((property.complement().state_based(), false)),
        Asked::Tl(_) => None,
    }
}

/// What workers have given back.
pub(crate) struct Results {
    /// The bytes of each.
    parts: Vec<Vec<u8>>,
    /// The workers, by name.
    names: Vec<String>,
    /// The model as the workers name it, where that is not how it was named in the call.
    alias: Option<String>,
    /// They went on from what was kept.
    resumed: bool,
}

/// Why there are no results.
pub(crate) enum TaskError {
    /// The call or the workers are wrong.
    Wrong(AskError),
    /// A limit, or a worker that was lost, and what was heard of the workers last.
    Limit(Limit, Snapshot),
}

impl From<AskError> for TaskError {
    fn from(error: AskError) -> Self {
        TaskError::Wrong(error)
    }
}

/// Answers deadlocks, assertions, invariants and goals.
pub(crate) fn search(job: &mut Job<'_>, questions: &[Question]) -> Result<Part, AskError> {
    let options = job.subject.options();
    let mut model = job.open()?;
    let asked = compiled(model.draft.as_mut(), questions)?.all_errors(job.settings.all_errors);
    let goals = asked.goals.len();
    let check = with_left_sides(asked, model.draft.as_mut());
    let what = What::Search { questions: questions.to_vec(), all_errors: check.all_errors };
    let (kept, files, meter) = (kept::prepare(job, &model, questions)?, included(&model), job.meter);
    let length = length(model.draft.system());
    let mut sort = |path: &Path, peers| sorting(model.draft.system(), path, peers, meter);
    let safe = kept.clone().map(|checkpoint| Safe { checkpoint, length, sort: &mut sort });
    let results = match run(job, &files, &what, safe) {
        Ok(results) => results,
        Err(TaskError::Wrong(error)) => return Err(error),
        Err(TaskError::Limit(limit, all)) => {
            let open = |q| Answer::new(q, Way::SharedSearch.engine(), Verdict::Unknown(limit.clone()));
            return Ok(cut(ordered(questions).map(open).collect(), &all, meter));
        }
    };
    let parts: Vec<PartialSearch> = decode(&results)?;
    let (mut outcome, accounts) = joined(model.draft.system(), &check, parts, job.meter)
        .map_err(|error| Diagnostic::error(error.to_string(), None))?;
    rename(&mut outcome, &results, &model.name);
    // What is not reached is no error that ends a search.
    let errors = outcome.answers[..outcome.answers.len() - check.goals.len()].iter().any(|a| a.errors > 0);
    let stopped = !check.all_errors && errors;
    let mut part = together(&accounts, &results.names);
    part.explored = Some((outcome.statistics, !stopped));
    part.silent = never_true(&outcome.answers[questions.len()..], &check.goals[goals..], !stopped);
    for (question, found) in ordered(questions).zip(&outcome.answers) {
        part.answers.push(told(job, &mut model, question, Way::SharedSearch, found, &options)?);
    }
    // The workers have ended, with the first error or with all states.
    if let Some(kept) = kept {
        checkpoint::remove(&kept.path);
    }
    Ok(part)
}

/// Answers a question about runs.
pub(crate) fn runs(job: &mut Job<'_>, question: &Question) -> Result<Part, AskError> {
    let usual = job.subject.options();
    let how = How::of(job.settings, usual.plain);
    let mut open = |options: &Options| if usual == *options { job.open() } else { job.open_as(options) };
    let Bound { mut model, options, what } = bound(&mut open, question, &usual, false)?;
    let task = What::Runs { question: question.clone(), how };
    let (kept, files, meter) =
        (kept::prepare(job, &model, std::slice::from_ref(question))?, included(&model), job.meter);
    let length = length(model.draft.system());
    let mut sort = |path: &Path, peers| {
        let (system, file) = (model.draft.system(), (path, peers));
        match (&what, claim_for(&what)) {
            (_, Some((claim, faults))) => {
                sorting_claim(system, &claim, how.claim_options(faults), file, meter)
            }
            (Asked::Tl(tl), None) => sorting_formula(system, tl, how.runs, file, meter),
            (_, None) => unreachable!("what is not a monitor is a claim"),
        }
    };
    let safe = kept.clone().map(|checkpoint| Safe { checkpoint, length, sort: &mut sort });
    let results = match run(job, &files, &task, safe) {
        Ok(results) => results,
        Err(TaskError::Wrong(error)) => return Err(error),
        Err(TaskError::Limit(limit, all)) => {
            let answer = Answer::new(question.clone(), Way::SharedCycles.engine(), Verdict::Unknown(limit));
            return Ok(cut(vec![answer], &all, meter));
        }
    };
    let parts: Vec<PartialRuns> = decode(&results)?;
    let wrong = |error: PartError| Diagnostic::error(error.to_string(), None);
    let system = model.draft.system();
    let (found, statistics, silent, accounts) = match &what {
        Asked::Tl(tl) => {
            let (outcome, silent, accounts) =
                joined_formula(system, tl, how.runs, parts, job.meter).map_err(wrong)?;
            kept::forget(kept.as_ref(), outcome.answers.iter().map(|found| &found.verdict));
            let found = outcome.answers.into_iter().map(|found| (question.clone(), found)).collect();
            (found, outcome.statistics, silent, accounts)
        }
        other => {
            let (claim, faults) = claim_for(other).expect("what is not a monitor is a claim");
            let options = how.claim_options(faults);
            let (outcome, accounts) =
                joined_claim(system, &claim, options, parts, job.meter, job.progress).map_err(wrong)?;
            kept::forget(kept.as_ref(), std::iter::once(&outcome.verdict));
            let silent = if let Asked::Ltl(ltl) = other { ltl.silent(&outcome) } else { Vec::new() };
            (separated(question, outcome.verdict), outcome.statistics, silent, accounts)
        }
    };
    let holds = found.iter().all(|(_, found): &(Question, Found)| found.verdict == Verdict::Holds);
    let mut part = together(&accounts, &results.names);
    part.explored = Some((statistics, holds));
    part.silent = if holds { silent } else { Vec::new() };
    for (question, mut found) in found {
        rename_answer(&mut found, &results, &model.name);
        part.answers.push(told(job, &mut model, question, Way::SharedCycles, &found, &options)?);
    }
    Ok(part)
}

/// Answers a formula of the mu-calculus.
pub(crate) fn equations(job: &mut Job<'_>, question: &Question) -> Result<Part, AskError> {
    let equations = formula(question, &job.settings.macros)?;
    if !equations.alternation_free() {
        return Err(AskError::new(
            "least and greatest fixed points alternate in this formula",
            "such formulas are parity games, which one worker solves alone",
        ));
    }
    let options = for_formulas(job);
    let mut model = job.open_as(&options)?;
    let what = What::Formula { question: question.clone(), macros: job.settings.macros.clone() };
    let (kept, files, meter) =
        (kept::prepare(job, &model, std::slice::from_ref(question))?, included(&model), job.meter);
    let length = length(model.draft.system());
    let mut sort = |path: &Path, peers| {
        let mut graph = ModelGraph::of(model.draft.as_mut(), equations.clone())
            .map_err(|wrong| Refused::Limit(Limit::Other { message: wrong.to_string() }))?;
        equations::sorting(graph.as_graph(), path, peers, meter)
    };
    let safe = kept.clone().map(|checkpoint| Safe { checkpoint, length, sort: &mut sort });
    let results = match run(job, &files, &what, safe) {
        Ok(results) => results,
        Err(TaskError::Limit(limit, all)) => return Ok(cut(unknown(question, limit).answers, &all, meter)),
        Err(TaskError::Wrong(error)) => return Err(error),
    };
    let (parts, silent): (Vec<PartialAnswer>, Vec<Vec<String>>) =
        decode::<(PartialAnswer, Vec<String>)>(&results)?.into_iter().unzip();
    let joint = JointAnswer::new(parts).map_err(|error| Diagnostic::error(error.to_string(), None))?;
    let mut graph = ModelGraph::of(model.draft.as_mut(), equations)?;
    let explanation = match explanation(&mut graph, &joint, most(job), job.meter) {
        Ok(explanation) => explanation,
        Err(SolveError::Limit(limit)) => return Ok(unknown(question, limit)),
        Err(other) => return Err(Diagnostic::error(other.to_string(), None).into()),
    };
    let workers = together(&joint.accounts, &results.names);
    let method = Method::Equations(Solver::BreadthFirst);
    // A pattern is silent if none of the workers has met a step that it means.
    let silent = match graph.numbered() {
        Some(_) => graph.silent(),
        // What happened before the resolution was kept is not known here.
        None if results.resumed => Vec::new(),
        None => {
            let (first, others) = silent.split_first().map_or((&[][..], &[][..]), |(f, o)| (&f[..], o));
            first.iter().filter(|told| others.iter().all(|all| all.contains(told))).cloned().collect()
        }
    };
    let found = answer::Answer {
        value: joint.value,
        method,
        statistics: joint.statistics,
        explanation,
        workers: 1,
        silent,
    };
    let mut part = told_formula(job, question, found)?;
    kept::forget(kept.as_ref(), part.answers.iter().map(|answer| &answer.verdict));
    part.fields.extend(workers.fields);
    part.remarks.splice(0..0, workers.remarks);
    Ok(part)
}

/// The main variable of a file of equations that are alternation-free, and who found it.
///
/// # Errors
/// The workers or the file are wrong, or a limit was reached.
pub(crate) fn solve(
    path: &Path,
    system: &Explicit,
    engine: &Engine,
    kept: Option<&Checkpoint>,
    meter: &Meter,
    progress: &mut dyn Progress,
) -> Result<Result<JointAnswer, Limit>, AskError> {
    let source = Source::new(path, crate::Options::default());
    let subject = Subject::Source(&source);
    let settings = crate::Settings::default();
    let mut job = Job { subject: &subject, engine, settings: &settings, meter, progress, read: None };
    let mut sort =
        |path: &Path, peers| equations::sorting(Explicit::as_graph(&mut &*system), path, peers, meter);
    // Variables are numbers.
    let length = size_of::<u32>();
    let safe = kept.map(|checkpoint| Safe { checkpoint: checkpoint.clone(), length, sort: &mut sort });
    match run(&mut job, &[], &What::Equations, safe) {
        Ok(results) => {
            let joint = JointAnswer::new(decode(&results)?);
            Ok(Ok(joint.map_err(|error| Diagnostic::error(error.to_string(), None))?))
        }
        Err(TaskError::Limit(limit, _)) => Ok(Err(limit)),
        Err(TaskError::Wrong(error)) => Err(error),
    }
}

/// The parts of a test graph that workers have made.
pub(crate) struct SharedTests {
    pub parts: Vec<PartialTests>,
    /// What the workers did, in a line and one by one.
    pub told: (String, Value),
}

/// Has workers make the parts of a complete test graph.
///
/// # Errors
/// The specification, the goal or the workers are wrong, or a limit was reached.
pub(crate) fn tests(
    contract: &Contract,
    goal: &Goal,
    engine: &Engine,
    meter: &Meter,
    progress: &mut dyn Progress,
) -> Result<SharedTests, AskError> {
    let subject = Subject::Source(&contract.source);
    let settings = crate::Settings::default();
    let mut job = Job { subject: &subject, engine, settings: &settings, meter, progress, read: None };
    let included = included(&job.open_as(&Contract::options(&contract.source.options))?);
    let what = What::Tests { contract: Box::new(contract.clone()), goal: goal.clone() };
    let results = match run(&mut job, &included, &what, None) {
        Ok(results) => results,
        Err(TaskError::Wrong(error)) => return Err(error),
        Err(TaskError::Limit(limit, _)) => return Err(ConformError::from(limit).into()),
    };
    let made: Vec<(PartialTests, Account)> = decode(&results)?;
    let (parts, accounts): (Vec<_>, Vec<_>) = made.into_iter().unzip();
    conserved(&accounts).map_err(|error| Diagnostic::error(error.to_string(), None))?;
    let mut together = together(&accounts, &results.names);
    let each = together.fields.remove("workers").unwrap_or_default();
    Ok(SharedTests { parts, told: (together.remarks.swap_remove(0), each) })
}

/// One worker's part of a task that was shipped to it.
///
/// # Errors
/// The task makes no sense here, a limit was reached, or somebody else has a reason to stop.
pub fn work_shipped(driver: &mut Driver<'_>, payload: &[u8]) -> Result<Vec<u8>, Stop> {
    let task: Task =
        postcard::from_bytes(payload).map_err(|_| trouble("the question makes no sense here"))?;
    let (folder, path) = task.bundle.unpack().map_err(|why| trouble(&why))?;
    let mut source = Source { path, ..task.source };
    source.options.within = Some(folder.path().to_path_buf());
    // The folder is not needed once the model is open.
    work(driver, &Subject::Source(&source), &task.what, || drop(folder))
}

pub(crate) fn included(model: &Model) -> Vec<PathBuf> {
    let included = model.promela.iter().flat_map(|promela| promela.included());
    included.map(PathBuf::from).collect()
}

fn not_in_a_file() -> AskError {
    AskError::new(
        "a system that is not in a file cannot be sent to other machines",
        "ask threads of this process",
    )
}

/// How what workers know is kept.
struct Safe<'s> {
    checkpoint: Checkpoint,
    /// Bytes of a state.
    length: usize,
    /// Opens the file for this many workers.
    sort: &'s mut Sort<'s>,
}

/// Bytes of a state, as far as the first one tells.
fn length(system: &mut dyn System) -> usize {
    let mut length = 0;
    let _ = system.initial(&mut |state| {
        length = state.len();
        Flow::Break(())
    });
    length
}

/// Has all workers do their parts, and what they know kept.
fn run(
    job: &mut Job<'_>,
    included: &[PathBuf],
    what: &What,
    safe: Option<Safe<'_>>,
) -> Result<Results, TaskError> {
    let progress = RefCell::new(Watch { progress: job.progress, last: Snapshot::default() });
    let told = |news: News<'_>| {
        if let News::Failed(why) = news {
            progress.borrow_mut().say(why);
        }
    };
    let keeping = safe.map(|safe| Keeping::new(safe.checkpoint, safe.length, safe.sort, &told, job.meter));
    match job.engine {
        Engine::Cluster(cluster) => {
            let Subject::Source(source) = job.subject else { return Err(not_in_a_file().into()) };
            if source.options.made.is_some() {
                return Err(not_in_a_file().into());
            }
            let bundle = Bundle::pack(&source.path, included).map_err(AskError::from)?;
            let alias = bundle.alias(&source.path);
            let task = Task { source: (*source).clone(), bundle, what: what.clone() };
            let payload = postcard::to_stdvec(&task)
                .map_err(|error| AskError::from(Diagnostic::error(error.to_string(), None)))?;
            Ok(Results { alias, ..on_processes(cluster, &payload, job.meter, &progress, keeping)? })
        }
        Engine::Workers(workers) if (1..=MOST_WORKERS).contains(workers) => {
            let (subject, mut keeping) = (job.subject, keeping);
            let part = |driver: &mut Driver<'_>| work(driver, subject, what, || ());
            let view = &mut |accounts: &[Account]| progress.borrow_mut().report(&sum(accounts));
            let resumed = keeping.as_ref().is_some_and(Keeping::has_file);
            let parts = on_kept_threads(*workers, job.meter, view, keeping.as_mut(), part);
            let parts = parts.map_err(|fault| failed(&fault, &progress))?;
            let names = (1..=*workers).map(|n| format!("worker {n}")).collect();
            Ok(Results { parts, names, alias: None, resumed })
        }
        _ => {
            let message = format!("there can be from 1 to {MOST_WORKERS} workers");
            Err(AskError::new(message, "choose a number").into())
        }
    }
}

/// One worker's part.
fn work(
    driver: &mut Driver<'_>,
    subject: &Subject<'_>,
    what: &What,
    opened: impl FnOnce(),
) -> Result<Vec<u8>, Stop> {
    let open = |options: &Options| subject.open(options).map_err(|all| first(all.into()));
    let options = subject.options();
    match what {
        What::Search { questions, all_errors } => {
            let mut model = open(&options)?;
            opened();
            let draft = model.draft.as_mut();
            let check = compiled(draft, questions).map_err(first)?.all_errors(*all_errors);
            let check = with_left_sides(check, draft);
            encode(&volee_cluster::search::work(driver, draft.system(), &check)?)
        }
        What::Runs { question, how } => {
            let mut open = |options: &Options| subject.open(options).map_err(AskError::from);
            let Bound { mut model, what, .. } = bound(&mut open, question, &options, false).map_err(first)?;
            opened();
            let system = model.draft.system();
            match (&what, claim_for(&what)) {
                (Asked::Tl(tl), _) => encode(&work_on_formula(driver, system, tl, how.runs)?),
                (_, Some((claim, faults))) => {
                    encode(&work_on_claim(driver, system, &claim, how.claim_options(faults))?)
                }
                (_, None) => Err(trouble("the question makes no sense here")),
            }
        }
        What::Formula { question, macros } => {
            let equations = formula(question, macros).map_err(first)?;
            let mut model = open(&options.step_by_step())?;
            opened();
            let mut graph = ModelGraph::of(model.draft.as_mut(), equations).map_err(|d| first(d.into()))?;
            let part = equations::work(driver, graph.as_graph())?;
            encode(&(part, graph.silent()))
        }
        What::Equations => {
            let path = subject.file().ok_or_else(|| trouble("equations are in files"))?;
            let text = std::fs::read_to_string(path).map_err(|error| trouble(&error.to_string()))?;
            opened();
            let file = read_bes(&path.display().to_string(), &text).map_err(|d| first(d.into()))?;
            encode(&equations::work(driver, Explicit::as_graph(&mut &file.system))?)
        }
        What::Tests { contract, goal } => {
            let mut model = open(&Contract::options(&options))?;
            opened();
            // Whoever drives this part watches the clock and the memory.
            let (meter, mut quiet) = (Meter::start(Budget::default()), Quiet);
            let product = contract.product(goal, &mut model, &meter, &mut quiet).map_err(first)?;
            let mut part = Partition::new(product, driver.me(), driver.peers())?;
            driver.run(&mut part)?;
            encode(&(part.finish(), driver.account()))
        }
    }
}

fn trouble(message: &str) -> Stop {
    Stop::Part(PartError::Trouble(message.into()))
}

fn first(error: AskError) -> Stop {
    match error {
        AskError::Input(all) if !all.is_empty() => trouble(&all[0].to_string()),
        other => trouble(&other.to_string()),
    }
}

fn encode<T: Serialize>(part: &T) -> Result<Vec<u8>, Stop> {
    postcard::to_stdvec(part).map_err(|error| Stop::Part(PartError::Defect(error.to_string())))
}

fn decode<T: for<'de> Deserialize<'de>>(results: &Results) -> Result<Vec<T>, AskError> {
    let parts: Result<Vec<T>, _> = results.parts.iter().map(|bytes| postcard::from_bytes(bytes)).collect();
    parts
        .map_err(|error| Diagnostic::error(format!("a worker's answer cannot be read: {error}"), None).into())
}

/// Runs a task on processes, again without those that were lost as often as allowed.
fn on_processes(
    cluster: &Cluster,
    payload: &[u8],
    meter: &Meter,
    progress: &RefCell<Watch<'_>>,
    mut keeping: Option<Keeping<'_>>,
) -> Result<Results, TaskError> {
    let mut workers = cluster.workers.clone();
    let mut restarts = cluster.restarts;
    loop {
        let view = &mut |accounts: &[Account]| progress.borrow_mut().report(&sum(accounts));
        let resumed = keeping.as_ref().is_some_and(Keeping::has_file);
        match coordinator::run(&workers, &cluster.secret, payload, meter, view, keeping.as_mut()) {
            Ok(parts) => {
                let names = workers.iter().enumerate().map(|(n, address)| coordinator::name_of(n, address));
                return Ok(Results { parts, names: names.collect(), alias: None, resumed });
            }
            Err(JobError::Cluster(error)) => {
                return Err(AskError::from(Diagnostic::error(error.to_string(), None)).into());
            }
            Err(JobError::Failed { failure, lost })
                if restarts > 0 && !lost.is_empty() && lost.len() < workers.len() =>
            {
                restarts -= 1;
                let left = workers.len() - lost.len();
                let how = match keeping.as_ref().is_some_and(Keeping::has_file) {
                    true => "going on from what was kept",
                    false => "starting again",
                };
                let left = counted(left, "worker");
                progress.borrow_mut().say(&format!("{failure}; {how} with {left}"));
                let mut number = 0;
                workers.retain(|_| {
                    number += 1;
                    !lost.contains(&(number - 1))
                });
            }
            Err(JobError::Failed { failure, .. }) => return Err(failed(&failure, progress)),
        }
    }
}

fn failed(fault: &Fault, progress: &RefCell<Watch<'_>>) -> TaskError {
    match fault {
        Fault::Part { error: PartError::Trouble(_), .. } => {
            TaskError::Wrong(Diagnostic::error(fault.to_string(), None).into())
        }
        _ => TaskError::Limit(fault.limit(), progress.borrow().last),
    }
}

/// Names the model in places as it was named in the call.
fn rename(outcome: &mut Outcome, results: &Results, model: &str) {
    outcome.answers.iter_mut().for_each(|answer| rename_answer(answer, results, model));
}

fn rename_answer(answer: &mut Found, results: &Results, model: &str) {
    let Some(alias) = &results.alias else { return };
    let name: Arc<str> = model.into();
    let Verdict::Violated(violations) = &mut answer.verdict else { return };
    let places = violations.iter_mut().filter_map(|v| v.reason.place.as_mut());
    places.filter(|place| *place.file == **alias).for_each(|place| place.file = name.clone());
}
