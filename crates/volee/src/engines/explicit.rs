//! The explicit search: deadlocks, assertions, invariants and goals, all decided by one traversal.

use volee_report::{bytes, count, counted, seconds};
use volee_search::{
    Answer as Found, Check, Crew, Fairness, MOST_CREW, Order, Reduction, Statistics, Swarm, Turnover, check,
    check_with, left_sides,
};
use volee_store::checkpoint;
use volee_system::{Budget, Draft, Limit, Meter, PredicateId, Quiet, System, Unreached, Verdict, coverage};

use super::{Job, Part, told};
use crate::answer::{Answers, AskError, Certificate, Figures};
use crate::ask::cores;
use crate::engine::{Engine, Way};
use crate::kept;
use crate::model::{Model, Naming, Options, draft_of};
use crate::near::how_near;
use crate::question::Question;
use crate::settings::Settings;

/// Answers questions about reachable states.
pub(crate) fn answer(job: &mut Job<'_>, questions: &[Question]) -> Result<Part, AskError> {
    let mut options = job.subject.options();
    let mut model = job.open()?;
    // Whoever asks for shortest runs means steps of the program as written: the shortest run in merged steps
    // may be longer. What nobody reads is forgotten all the same.
    if job.settings.order == Order::BreadthFirst && model.promela.is_some() && !options.plain {
        options = Options { naming: Naming::Text, ..options.step_by_step() };
        model = job.open_as(&options)?;
    }
    // Threads share names, and names need components; what has none is divided among workers that send each
    // other states.
    let workers = workers(job.engine)?;
    let asked_for = matches!(job.engine, Engine::Workers(2..));
    if asked_for && model.draft.system().components().is_none() && is_plain_search(job) {
        job.read = Some(model);
        return super::workers::search(job, questions);
    }
    let kept = kept::prepare(job, &model, questions)?;
    let resumed = kept.as_ref().is_some_and(|kept| kept.resume);
    if asked_for && job.settings.spill.is_some() {
        job.progress.say("what is kept on disk is searched by one thread");
    }
    let asked = |draft: &mut dyn Draft| {
        let all = stored(compiled(draft, questions)?, job.settings, options.plain);
        let (all_errors, most) = (job.settings.all_errors, job.settings.max_errors);
        let all = all.order(job.settings.order).all_errors(all_errors).max_errors(most);
        Ok::<_, AskError>(with_left_sides(all, draft))
    };
    let all = asked(model.draft.as_mut())?;
    let all = all.checkpoint(kept).spill(job.settings.spill.clone());
    let goals = all.goals.len() - all.sides;
    let (subject, lowered) = (job.subject, model.promela.clone());
    let another = || {
        // What was read is not read again: the file may be another one by now.
        let mut draft = match &lowered {
            Some(lowered) => draft_of(lowered, &options),
            None => subject.open(&options).ok()?.draft,
        };
        let all = asked(draft.as_mut()).ok()?;
        Some((draft.build(), all))
    };
    let crew = Crew::new(workers, &another);
    let mut outcome = check_with(model.draft.system(), &all, Some(&crew), job.meter, job.progress);
    let sides = outcome.answers.split_off(questions.len());
    let stopped_early = !all.goes_on(outcome.answers.iter().map(|a| a.errors).sum());
    let complete = outcome.limit.is_none() && !stopped_early;
    let reduced = outcome.statistics.reduced > 0;
    let used = outcome.statistics.memory_bytes;
    let mut part = Part { explored: Some((outcome.statistics, complete)), ..Part::default() };
    // What ran before the search was kept is not known here.
    let passed_over = (reduced || resumed).then_some(used);
    part.unreached =
        if complete { unreached(&mut model, &crew, passed_over, job.meter) } else { Some(Vec::new()) };
    part.coverage = if job.settings.coverage { coverage(model.draft.system()) } else { Vec::new() };
    part.silent = never_true(&sides, &all.goals[goals..], complete);
    for (question, found) in ordered(questions).zip(&outcome.answers) {
        let mut answer = told(job, &mut model, question, Way::Search, found, &options)?;
        answer.certificate = (answer.holds() && answer.runs.is_empty()).then_some(Certificate::Explored);
        part.answers.push(answer);
    }
    let ended = outcome.limit.as_ref().is_none_or(|limit| matches!(limit, Limit::Depth { .. }));
    if let Some(kept) = all.checkpoint.filter(|_| ended) {
        checkpoint::remove(&kept.path);
    }
    for answer in part.answers.iter_mut().filter(|a| a.is_violated()) {
        if let Question::Reachable(text) = &answer.question {
            // What is looked at now was not asked before, so the system is built anew.
            let mut model = job.open_as(&options)?;
            answer.notes.extend(how_near(model.draft.as_mut(), text, job.meter));
        }
    }
    Ok(part)
}

/// The goals that were not reached, in a search that has seen everything.
pub(super) fn never_true(found: &[Found], goals: &[(String, PredicateId)], complete: bool) -> Vec<String> {
    let never = found.iter().zip(goals);
    let never = never.filter(|(found, _)| complete && matches!(found.verdict, Verdict::Violated(_)));
    never.map(|(_, (text, _))| text.clone()).collect()
}

/// Whether nothing is set that only one search of all states obeys.
pub(super) fn is_plain_search(job: &Job<'_>) -> bool {
    let (s, usual) = (job.settings, Settings::default());
    let reduction = s.reduction.filter(|&kind| kind == Reduction::None);
    let fairness = if s.fairness == Fairness::Strong { Fairness::None } else { s.fairness };
    let same = Settings { all_errors: s.all_errors, audit: s.audit, reduction, fairness, ..usual };
    *s == same && job.meter.budget().depth.is_none()
}

/// How many threads may search.
pub(super) fn workers(engine: &Engine) -> Result<usize, AskError> {
    match engine {
        Engine::Workers(workers) if (1..=MOST_CREW).contains(workers) => Ok(*workers),
        Engine::Workers(_) => {
            let message = format!("there can be from 1 to {MOST_CREW} workers");
            Err(AskError::new(message, "choose a number"))
        }
        _ => Ok(cores()),
    }
}

/// Asks also whether the left sides of implications in invariants are ever true.
pub(super) fn with_left_sides(mut all: Check, draft: &mut dyn Draft) -> Check {
    let texts: Vec<(String, String)> = all.invariants.iter().flat_map(|(text, _)| left_sides(text)).collect();
    for (told, expression) in texts {
        if let Ok(predicate) = draft.predicate(&expression) {
            all = all.goal(told, predicate);
            all.sides += 1;
        }
    }
    all
}

/// The least and the most memory for finding out what a reduced search has passed over. Between them, as much
/// as that search used itself: who waits for an answer does not wait much longer for a remark.
const COVERAGE_MEMORY: (u64, u64) = (1 << 20, 16 << 20);

/// The statements that no run executes; `None` if that is not known. A search that takes fewer steps (and
/// used `reduced` bytes for it) may pass over statements that can be reached: then those that it did not meet
/// are looked for once more among all steps, if these are few.
fn unreached(
    model: &mut Model,
    crew: &Crew<'_>,
    reduced: Option<u64>,
    meter: &Meter,
) -> Option<Vec<Unreached>> {
    let executed = crew.executed();
    let unreached_by = |system: &mut dyn System| {
        let all = coverage(system).into_iter().enumerate();
        let never = all.filter(|(at, s)| s.times == 0 && executed.get(*at).is_none_or(|&times| times == 0));
        never.map(|(_, s)| Unreached { process: s.process, text: s.text, place: s.place }).collect::<Vec<_>>()
    };
    let unmet = unreached_by(model.draft.system());
    let Some(used) = reduced.filter(|_| !unmet.is_empty()) else {
        return Some(unmet);
    };
    let (least, most) = COVERAGE_MEMORY;
    let memory = meter.budget().memory.unwrap_or(u64::MAX).min(used.clamp(least, most));
    let budget = Budget { memory: Some(memory), ..meter.left() };
    let everything = Check::new().deadlocks(false).faults(false).all_errors(true).replacement(None);
    let outcome = check(model.draft.system(), &everything, &Meter::start(budget), &mut Quiet);
    outcome.limit.is_none().then(|| unreached_by(model.draft.system()))
}

/// The questions in the order in which a search answers them.
pub(super) fn ordered(questions: &[Question]) -> impl Iterator<Item = Question> {
    let mut all = questions.to_vec();
    all.sort_by_key(Question::kind);
    all.into_iter()
}

/// The questions of one search, compiled for a system.
pub(super) fn compiled(draft: &mut dyn Draft, questions: &[Question]) -> Result<Check, AskError> {
    let mut all = Check::new().deadlocks(false).faults(false);
    for question in ordered(questions) {
        all = match &question {
            Question::Deadlock => all.deadlocks(true),
            Question::Assertions => all.faults(true),
            Question::Invariant(text) => all.invariant(text, predicate(draft, &question, text)?),
            Question::Reachable(text) => all.goal(text, predicate(draft, &question, text)?),
            other => unreachable!("`{other}` is not about reachable states"),
        };
    }
    Ok(all)
}

fn predicate(draft: &mut dyn Draft, question: &Question, text: &str) -> Result<PredicateId, AskError> {
    draft.predicate(text).map_err(|wrong| AskError::expression(question.kind().word(), text, wrong))
}

/// Tells a search how to store states, and which steps to take.
pub(super) fn stored(check: Check, settings: &Settings, plain: bool) -> Check {
    let all_steps = plain || settings.order == Order::BreadthFirst;
    let usual = if all_steps { Reduction::None } else { Reduction::Both };
    check
        .order(settings.order)
        .replacement(settings.replacement)
        .states(settings.states)
        .approximation(settings.approximation)
        .reduction(settings.reduction.unwrap_or(usual))
        .seed(settings.seed)
        .counting(settings.coverage)
        .hunt(settings.hunt)
}

/// The figures of the searches of a call; `complete` when every reachable state was seen.
pub(crate) fn figures(s: &Statistics, complete: bool, job: &Job<'_>, answers: &mut Answers) {
    let figures = &mut answers.figures;
    figures.set("states", s.states);
    figures.set("transitions", s.transitions);
    // Several workers do not know how deep they are together; with one state nobody is deep.
    if s.max_depth > 0 || s.states <= 1 {
        figures.set("depth", s.max_depth);
    }
    figures.set("seconds", s.seconds);
    figures.set("bytes_per_state", s.bytes_per_state);
    figures.set("peak_memory_bytes", s.memory_bytes);
    figures.set("complete", complete);
    figures.set("reduced_expansions", s.reduced);
    if s.workers > 1 {
        figures.set("workers", s.workers);
    }
    let kind = match (complete, s.reduced) {
        (true, 0) => "all",
        (true, _) => "enough",
        (false, _) => "some",
    };
    let depth = if s.max_depth > 0 { format!("depth {}, ", count(s.max_depth)) } else { String::new() };
    let by = if s.workers > 1 { format!("{} workers, ", s.workers) } else { String::new() };
    answers.remarks.push(format!(
        "{kind} states explored: {}, {}, {depth}{by}{}, {} ({:.1} bytes per state)",
        counted(s.states as usize, "state"),
        counted(s.transitions as usize, "transition"),
        seconds(s.seconds),
        bytes(s.memory_bytes),
        s.bytes_per_state,
    ));
    if s.disk_bytes > 0 {
        figures.set("disk_bytes", s.disk_bytes);
        answers.remarks.push(format!("the memory did not hold them all: {} on disk", bytes(s.disk_bytes)));
    }
    answers.remarks.extend(s.swarm.as_ref().map(|swarm| swarmed(swarm, figures)));
    let shared = answers.fields.contains_key("workers");
    if !shared {
        let seed = job.settings.seed;
        figures.set("seed", seed);
        answers
            .remarks
            .extend(s.turnover.as_ref().map(|turnover| forgotten(turnover, seed, &mut answers.figures)));
    }
}

/// What a swarm has looked at, as figures and as a sentence.
fn swarmed(swarm: &Swarm, figures: &mut Figures) -> String {
    figures.set("swarm_searches", swarm.searches);
    figures.set("swarm_largest", swarm.largest);
    figures.set("swarm_missed", swarm.missed);
    figures.set("swarm_cut", swarm.cut);
    figures.set("swarm_walks", swarm.walks);
    figures.set("swarm_distinct", swarm.distinct);
    figures.set("estimate_error", swarm.distinct_error);
    let cut = match swarm.cut {
        0 => String::new(),
        cut => format!("; {} of them did not go deeper than memory allows", count(cut)),
    };
    format!(
        "then a swarm of {} searches with {} of bits each, and {} random walks, met about {} different states in \
         all (± {:.1} %); the largest told {} apart and took about {:.0} for others{cut}",
        count(swarm.searches),
        bytes(swarm.bytes),
        count(swarm.walks),
        count(swarm.distinct),
        swarm.distinct_error * 100.0,
        count(swarm.largest),
        swarm.missed,
    )
}

/// What was forgotten, as figures and as a sentence.
fn forgotten(turnover: &Turnover, seed: u64, figures: &mut Figures) -> String {
    figures.set("insertions", turnover.insertions);
    figures.set("replaced", turnover.replaced);
    figures.set("hit_rate", turnover.hit_rate);
    figures.set("longest_path", turnover.longest_path);
    figures.set("states_are_estimated", true);
    figures.set("estimate_error", turnover.distinct_error);
    format!(
        "the memory did not hold them all: stored {} times, forgotten {} times, found {:.1} % of what was looked up, \
         so the number of states is an estimate (± {:.1} %); the longest path kept was {} states; seed {seed}",
        count(turnover.insertions),
        count(turnover.replaced),
        turnover.hit_rate * 100.0,
        turnover.distinct_error * 100.0,
        count(turnover.longest_path),
    )
}
