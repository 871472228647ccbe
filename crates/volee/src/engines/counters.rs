//! Unbounded integers, by sets of them.
//!
//! A model is a counter program as it stands (`.fst`, `.spec`) or becomes one (Promela). Each question is a
//! search of its own for a bad vector, or for one that was hoped for.

use std::collections::HashSet;
use std::fmt::Write as _;

use serde_json::{Map, Value, json};
use volee_counters::{
    self as counters, CounterRun, Failure, Instance, Outcome, Parametric, ProcessOptions, Program, Reachable,
    Region, State, Statistics, Translation, parse_condition, parse_fst, parse_spec, translate,
};
use volee_integers::{Conjunct, Effort, Set};
use volee_program::Expr;
use volee_promela::{Lowered, parse_predicate};
use volee_report::{count, seconds};
use volee_system::{
    Action, Budget, Diagnostic, FaultKind, Limit, Reason, ReasonKind, Run, RunState, RunStep, Variable,
    Verdict, Witness, collect_initial,
};

use super::retrace::{Trail, Values, retrace};
use super::{Found, Job, Part, claim_of, endless, judged, watching};
use crate::answer::{Answer, AskError, Certificate, Role, ShownRun, limit, violated};
use crate::engine::Way;
use crate::files::read_bytes;
use crate::model::{Model, Options};
use crate::question::{Kind, Question};
use crate::settings::Settings;
use crate::source::{Source, Subject};

/// A model as a counter program.
pub(super) enum Counted {
    /// Given as one, with its own question.
    Program(Box<Program>),
    /// A Promela model.
    Processes(Box<(Translation, Lowered)>),
}

/// What must not be reached, or what must be.
pub(super) struct Search {
    pub question: Question,
    pub bad: Vec<Region>,
    pub reason: Reason,
    /// A bad vector is what was hoped for.
    pub goal: bool,
    /// The program beside the automaton of a formula, where the question is about runs.
    pub product: Option<Program>,
    /// Only a run is bad that passes bad locations of the product again and again.
    pub recurs: bool,
    /// The events that it speaks of and no transition is.
    pub silent: Vec<String>,
}

/// Answers questions about a counter program.
pub(crate) fn answer(job: &mut Job<'_>, questions: &[Question]) -> Result<Part, AskError> {
    let model = job.read.take();
    let counted = open(job.subject, model, job.settings)?;
    let mut searches = Vec::new();
    for question in questions {
        searches.extend(match question.kind() {
            Kind::Ltl | Kind::Tl | Kind::Mu => Some(watching::search(&counted, job.settings, question)?),
            _ => counted.search(question)?,
        });
    }
    if searches.is_empty() {
        return Err(AskError::new(
            "there is nothing to check: the model names no target",
            "ask for an invariant or whether something is reachable",
        ));
    }
    let mut part = Part::default();
    let mut total = Statistics::default();
    // No question takes the time of those after it; who needs more than its share gets what the others have
    // left.
    let mut patient = Vec::new();
    part.silent = searches.iter().flat_map(|search| search.silent.clone()).collect();
    for (at, search) in searches.iter().enumerate() {
        let budget = job.meter.share((searches.len() - at) as u32);
        let remarks = part.remarks.len();
        let answer = decide(job, &counted, search, (budget, &mut total), &mut part)?;
        if searches.len() > 1 && is_out_of_time(&answer) {
            patient.push(at);
            part.remarks.truncate(remarks);
        }
        part.answers.push(answer);
    }
    for (done, &at) in patient.iter().enumerate() {
        let budget = job.meter.share((patient.len() - done) as u32);
        part.answers[at] = decide(job, &counted, &searches[at], (budget, &mut total), &mut part)?;
        whole_time(job, &mut part.answers[at]);
    }
    figures(job, &total, &mut part);
    Ok(part)
}

fn is_out_of_time(answer: &Answer) -> bool {
    matches!(answer.verdict, Verdict::Unknown(Limit::Time { .. }))
}

/// A share that was not enough is told as the whole.
fn whole_time(job: &Job<'_>, answer: &mut Answer) {
    if let (Verdict::Unknown(Limit::Time { milliseconds }), Some(time)) =
        (&mut answer.verdict, job.meter.budget().time)
    {
        *milliseconds = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    }
}

/// Everything that the integers of a model can be, location by location.
pub struct ReachableSets {
    /// The sets, by the name of the location: those that users know of, and that are not empty.
    pub sets: Vec<(String, String)>,
    /// What was found, and the limit that ended the search, if one did.
    pub found: Reachable,
    /// What the author of the model should know.
    pub warnings: Vec<Diagnostic>,
}

/// Computes everything that the integers of a model can be.
///
/// # Errors
/// The model is wrong or not of that kind.
pub fn reachable(source: &Source, settings: &Settings, budget: &Budget) -> Result<ReachableSets, AskError> {
    let subject = Subject::Source(source);
    let read = super::read(&subject, &crate::Engine::Counters)?;
    let warnings = read.as_ref().map(|model| model.warnings.clone()).unwrap_or_default();
    let counted = open(&subject, read, settings)?;
    let found = counters::reachable(counted.program(), budget);
    Ok(ReachableSets { sets: counted.sets(counted.program(), &found.sets), found, warnings })
}

impl Counted {
    fn program(&self) -> &Program {
        match self {
            Counted::Program(program) => program,
            Counted::Processes(both) => &both.0.program,
        }
    }

    /// Whether a location is a state that users know of.
    fn is_visible(&self, location: usize) -> bool {
        match self {
            Counted::Program(_) => true,
            Counted::Processes(both) => both.0.visible[location],
        }
    }

    /// Where an expression is true (or false).
    fn regions(&self, what: &str, text: &str, wanted: bool) -> Result<Vec<Region>, AskError> {
        let complain = |wrong: Diagnostic| AskError::expression(what, text, wrong);
        match self {
            Counted::Program(program) => {
                let condition = parse_condition(program, text).map_err(complain)?;
                Ok(if wanted { condition.holds } else { condition.fails })
            }
            Counted::Processes(both) => {
                let expr = expression(&both.1, what, text)?;
                both.0.regions(&expr, wanted).map_err(complain)
            }
        }
    }

    /// The search that decides a question; `None` where there is nothing to search for, or no way to say
    /// what.
    fn search(&self, question: &Question) -> Result<Option<Search>, AskError> {
        let reason = |kind, message: String| Reason { kind, message, place: None };
        let made = |bad, reason, goal| {
            let (product, silent) = (None, Vec::new());
            Some(Search { question: question.clone(), bad, reason, goal, product, recurs: false, silent })
        };
        Ok(match (question, self) {
            (Question::Invariant(text), _) => {
                let bad = self.regions("invariant", text, false)?;
                made(bad, reason(ReasonKind::Invariant, format!("{text} is false")), false)
            }
            (Question::Reachable(text), _) => {
                let bad = self.regions("reachable", text, true)?;
                made(bad, reason(ReasonKind::Unreachable, format!("{text} is never true")), true)
            }
            (Question::Target, Counted::Program(program)) if !program.bad.is_empty() => {
                let message = "the target of the model can be reached".to_string();
                made(program.bad.clone(), reason(ReasonKind::Invariant, message), false)
            }
            (Question::Deadlock, Counted::Processes(both)) => {
                let message = "no process can move, and not all are at a proper end".to_string();
                let bad = both.0.deadlocks.clone();
                bad.and_then(|bad| made(bad, reason(ReasonKind::InvalidEndState, message), false))
            }
            (Question::Assertions, Counted::Processes(both)) => made(
                failing(&both.0, FaultKind::Assertion),
                reason(ReasonKind::Assertion, String::new()),
                false,
            ),
            (Question::RuntimeErrors, Counted::Processes(both)) => {
                let bad = failing(&both.0, FaultKind::Runtime);
                if bad.is_empty() {
                    None
                } else {
                    made(bad, reason(ReasonKind::RuntimeError, String::new()), false)
                }
            }
            _ => None,
        })
    }

    /// The sets of the locations that users know of.
    fn sets(&self, program: &Program, sets: &[Set]) -> Vec<(String, String)> {
        let effort = Effort::ample();
        let shown = sets.iter().enumerate().filter(|(i, s)| self.is_visible(*i) && !s.conjuncts().is_empty());
        let text = |(i, set): (usize, &Set)| {
            let set = set.coalesced(&effort).unwrap_or_else(|_| set.clone());
            (program.locations[i].clone(), set.display(&program.variables).to_string())
        };
        shown.map(text).collect()
    }

    /// The error that a run ends with, where it ends with one.
    fn failure(&self, last: Option<&State>) -> Option<&Failure> {
        match (self, last) {
            (Counted::Processes(both), Some(last)) => {
                both.0.failures.iter().find(|f| f.location == last.location)
            }
            _ => None,
        }
    }
}

fn failing(translation: &Translation, kind: FaultKind) -> Vec<Region> {
    let dimension = translation.program.dimension();
    let failures = translation.failures.iter().filter(|f| f.kind == kind);
    failures.map(|f| Region { location: f.location, conjunct: Conjunct::universe(dimension) }).collect()
}

fn open(subject: &Subject<'_>, read: Option<Model>, settings: &Settings) -> Result<Counted, AskError> {
    match subject.extension().as_str() {
        "fst" | "spec" => open_program(subject, settings),
        _ => open_processes(read, settings),
    }
}

fn open_program(subject: &Subject<'_>, settings: &Settings) -> Result<Counted, AskError> {
    let wrong = |message: String| AskError::from(Diagnostic::error(message, None));
    let options = subject.options();
    if !options.defines.is_empty() || !options.copies.is_empty() || options.capacity.is_some() {
        return Err(wrong("a counter program has nothing to define, to copy or to widen".into()));
    }
    let Some(path) = subject.file() else { return Err(not_counted()) };
    let (name, text) = (path.display().to_string(), read_bytes(path)?);
    let text = String::from_utf8_lossy(&text);
    let read = if subject.extension() == "fst" { parse_fst } else { parse_spec };
    let mut program = read(&name, &text)?;
    if !settings.symbolic.is_empty() {
        return Err(wrong("here every variable is unbounded: there is nothing to choose".into()));
    }
    for parameter in &settings.parameters {
        let Some(at) = program.variables.iter().position(|v| v == parameter) else {
            return Err(wrong(format!("the parameter `{parameter}` is no variable of the model")));
        };
        let changed = program.transitions.iter().find(|t| t.instruction.update.component(at).is_some());
        if let Some(t) = changed {
            return Err(wrong(format!("`{parameter}` is no parameter: transition {} changes it", t.name)));
        }
        program.parameters.push(at);
    }
    for text in &settings.assumptions {
        let condition = parse_condition(&program, text)
            .map_err(|wrong| AskError::expression("the assumption", text, wrong))?;
        let both = program.initial.iter().flat_map(|r| {
            let here = condition.holds.iter().filter(|h| h.location == r.location);
            here.map(|h| Region { location: r.location, conjunct: r.conjunct.intersect(&h.conjunct) })
        });
        program.initial = both.filter(|r| !r.conjunct.is_plainly_empty()).collect();
    }
    Ok(Counted::Program(Box::new(program)))
}

fn not_counted() -> AskError {
    Diagnostic::error("unbounded integers are read from Promela models, .fst and .spec files", None).into()
}

fn open_processes(read: Option<Model>, settings: &Settings) -> Result<Counted, AskError> {
    let lowered = read.and_then(|model| model.promela).ok_or_else(not_counted)?;
    let translation = translate(&lowered.program, &process_options(&lowered, settings)?)?;
    Ok(Counted::Processes(Box::new((translation, lowered))))
}

/// How a program is to be read.
pub(super) fn process_options(lowered: &Lowered, settings: &Settings) -> Result<ProcessOptions, AskError> {
    let assumptions = settings.assumptions.iter().map(|text| expression(lowered, "the assumption", text));
    Ok(ProcessOptions {
        symbolic: (!settings.symbolic.is_empty()).then(|| settings.symbolic.clone()),
        parameters: settings.parameters.clone(),
        assumptions: assumptions.collect::<Result<_, _>>()?,
    })
}

/// An expression over the variables of a program.
pub(super) fn expression(lowered: &Lowered, what: &str, text: &str) -> Result<Expr, AskError> {
    let complain = |wrong: Diagnostic| AskError::expression(what, text, wrong);
    let parsed = parse_predicate(lowered.model(), text)
        .map_err(|all| all.into_iter().next().map_or_else(|| AskError::Input(Vec::new()), complain))?;
    lowered.expression(&parsed).map_err(complain)
}

fn decide(
    job: &Job<'_>,
    counted: &Counted,
    search: &Search,
    (budget, total): (Budget, &mut Statistics),
    part: &mut Part,
) -> Result<Answer, AskError> {
    let own = || Program { bad: search.bad.clone(), ..counted.program().clone() };
    let program = &search.product.clone().unwrap_or_else(own);
    if search.recurs {
        return Ok(endless::decide(job, counted, search, program, (budget, total)));
    }
    if !program.parameters.is_empty() {
        let found =
            counters::parametric(program, &budget).map_err(|e| Diagnostic::error(e.to_string(), None))?;
        add(total, &found.statistics);
        return Ok(parametric(search, program, &found, part));
    }
    let found = counters::check(program, &counters::Options { direction: job.settings.direction, budget });
    add(total, &found.statistics);
    Ok(match found.outcome {
        Outcome::Holds { .. } if meets_an_error(job, counted, search) => {
            let message = "not decided, because a statement may be executed that has no meaning";
            Answer::new(search.question.clone(), Way::Counters.engine(), Verdict::Unknown(limit(message)))
        }
        Outcome::Holds { .. } => closed(search),
        Outcome::Violated { witness, states, .. } => {
            let run = CounterRun::new(program, &witness, states);
            let mut answer = reached(counted, search, program, &run);
            if let Some(single) = retraced(job, counted, search, program, (&witness, &[])) {
                answer.runs.iter_mut().for_each(|told| one_by_one(told, &single));
            }
            answer
        }
        Outcome::Unknown(limit) => {
            let mut answer =
                Answer::new(search.question.clone(), Way::Counters.engine(), Verdict::Unknown(limit));
            let sets = match &search.product {
                Some(_) => Vec::new(),
                None => counted.sets(program, &found.sets),
            };
            if !sets.is_empty() {
                part.remarks.push(format!("found so far{}", lines(&sets, 40)));
            }
            answer.errors = 0;
            answer
        }
    })
}

/// Whether a run may stop in an error of the model, so that no formula about runs says anything of it.
pub(super) fn meets_an_error(job: &Job<'_>, counted: &Counted, search: &Search) -> bool {
    let (Counted::Processes(both), Some(_)) = (counted, &search.product) else { return false };
    let bad = failing(&both.0, FaultKind::Runtime);
    let program = Program { bad, ..both.0.program.clone() };
    let (direction, budget) = (job.settings.direction, job.meter.left());
    let safe = || counters::check(&program, &counters::Options { direction, budget }).outcome;
    !program.bad.is_empty() && !matches!(safe(), Outcome::Holds { .. })
}

/// Sets by location, a line each.
fn lines(sets: &[(String, String)], longest: usize) -> String {
    let mut out = String::new();
    for (location, set) in sets.iter().take(longest) {
        let _ = write!(out, "\n  {location}: {set}");
    }
    if sets.len() > longest {
        out.push_str("\n  …");
    }
    out
}

/// Nothing bad is reachable.
fn closed(search: &Search) -> Answer {
    let verdict = match search.goal {
        true => violated(search.reason.clone(), Witness::default()),
        false => Verdict::Holds,
    };
    let mut answer = Answer::new(search.question.clone(), Way::Counters.engine(), verdict);
    answer.errors = u64::from(search.goal);
    answer.certificate = Some(Certificate::ClosedSet);
    answer.remark = Some("shown by a closed set, re-checked".into());
    answer
}

/// What a run of a search shows.
pub(super) fn role(search: &Search) -> Role {
    match (search.goal, &search.question) {
        (true, Question::Mu { .. }) => Role::Evidence,
        (true, _) => Role::Goal,
        (false, _) => Role::Violation,
    }
}

/// A bad vector (or a goal) is reachable; the run was replayed with exact integers.
fn reached(counted: &Counted, search: &Search, program: &Program, run: &CounterRun) -> Answer {
    let mut reason = search.reason.clone();
    if let Some(failure) = counted.failure(run.states.last()).filter(|_| search.product.is_none()) {
        reason.message.clone_from(&failure.message);
        reason.place.clone_from(&failure.place);
    }
    let verdict = if search.goal { Verdict::Holds } else { violated(reason, Witness::default()) };
    let mut answer = Answer::new(search.question.clone(), Way::Counters.engine(), verdict);
    answer.errors = u64::from(!search.goal);
    let steps = run.length.as_ref().map_or_else(|| "many".to_owned(), ToString::to_string);
    answer.runs.push(ShownRun {
        role: role(search),
        run: as_run(program, run),
        witness: None,
        options: Options::default(),
        single: None,
        length: Some(format!("{steps} steps, replayed")),
        more: Some(in_sets(program, run)),
        claim: None,
        why: Vec::new(),
        grows: false,
    });
    answer
}

/// Steps of a run that is looked for in the program itself.
const LONGEST_RETRACED: usize = 50_000;
/// Steps of a run of a counter program that is written out.
const LONGEST_WRITTEN: usize = 1 << 20;

/// Adds the same run one step at a time, which can be replayed.
pub(super) fn one_by_one(told: &mut ShownRun, single: &ShownRun) {
    told.witness.clone_from(&single.witness);
    told.options.clone_from(&single.options);
    told.claim.clone_from(&single.claim);
    told.single = Some(single.run.clone());
}

/// The run one step at a time in the model as the user wrote it, where its integers fit and it is not too
/// long; with the states of one round of the loop that follows it for ever, if one does.
pub(super) fn retraced(
    job: &Job<'_>,
    counted: &Counted,
    search: &Search,
    program: &Program,
    (witness, round): (&counters::Witness, &[State]),
) -> Option<ShownRun> {
    let question = &search.question;
    let start = || program.variables.iter().zip(&witness.values);
    let all: Vec<String> = start().map(|(name, value)| format!("{name}={value}")).collect();
    let (options, defines) = (job.subject.options(), |defines| Options { defines, ..job.subject.options() });
    let (options, witness, mut model) = match (counted, job.subject.extension().as_str()) {
        (Counted::Program(_), "fst") if search.product.is_none() => {
            let chosen: Vec<_> = start().map(|(name, value)| (name.clone(), value.clone())).collect();
            let path = job.subject.file()?;
            let text = read_bytes(path).ok()?;
            // The program of the file: assumptions may have taken initial regions from this one.
            let own = parse_fst(&path.display().to_string(), &String::from_utf8_lossy(&text)).ok()?;
            let (instance, _) = Instance::new(own, &chosen).ok()?;
            let (witness, options) = (instance.ordinals(witness, LONGEST_WRITTEN)?, defines(all));
            let model = job.open_as(&options).ok()?;
            (options, witness, model)
        }
        (_, extension) => {
            let options = match counted {
                Counted::Program(_) if extension == "fst" => defines(all),
                Counted::Program(_) => defines(unlike(&mut job.open_as(&options).ok()?, all)),
                // A formula may mean steps by what happens in them.
                Counted::Processes(_) if search.product.is_some() => options.step_by_step(),
                Counted::Processes(_) => Options { plain: true, ..options },
            };
            let mut model = job.open_as(&options).ok()?;
            let values = witness.unfolded(program, LONGEST_RETRACED)?;
            let named = |states: &[State]| states.iter().map(|state| by_name(program, state)).collect();
            let trail = Trail { values: named(&values), round: named(round) };
            let witness = retrace(model.draft.as_mut(), question, job.settings.runs, &trail, job.meter)?;
            (options, witness, model)
        }
    };
    let claim = claim_of(question, None, job.settings);
    let lowered = model.promela.as_ref().filter(|_| search.product.is_some());
    let (draft, witness) = (model.draft.as_mut(), &witness);
    let found = Found { lowered, draft, model: &model.name, witness, question, reason: None };
    judged(found, Role::Violation, &options, claim).ok().map(|(shown, _)| shown)
}

fn by_name(program: &Program, state: &State) -> Values {
    program.variables.iter().cloned().zip(state.values.iter().map(ToString::to_string)).collect()
}

/// Those of the initial values that the model does not start with by itself.
fn unlike(model: &mut Model, mut values: Vec<String>) -> Vec<String> {
    let Some(initial) = collect_initial(model.draft.system()).into_iter().next() else { return values };
    let own: HashSet<String> =
        model.draft.system().variables(&initial).iter().map(|v| format!("{}={}", v.name, v.value)).collect();
    values.retain(|value| !own.contains(value));
    values
}

/// A run of a counter program as one of any system; a loop that is taken many times is one step.
pub(super) fn as_run(program: &Program, run: &CounterRun) -> Run {
    let state = |s: &State| {
        let location =
            Variable { name: "location".into(), value: program.locations[s.location.index()].clone() };
        let values = program.variables.iter().zip(&s.values);
        let values = values.map(|(name, value)| Variable { name: name.clone(), value: value.to_string() });
        RunState { variables: std::iter::once(location).chain(values).collect() }
    };
    let step = |(word, after): (&String, &State)| RunStep {
        ordinal: 0,
        label: word.clone(),
        actions: vec![Action::plain(word.clone())],
        fault: None,
        state: state(after),
    };
    let initial = run.states.first().map_or_else(|| RunState { variables: Vec::new() }, state);
    let steps = run.words.iter().zip(run.states.iter().skip(1)).map(step).collect();
    Run { skipped: 0, initial, steps, loop_start: None }
}

/// The states of a run as the machine-readable answer has always had them.
pub(super) fn in_sets(program: &Program, run: &CounterRun) -> Value {
    let state = |s: &State| {
        let values = program.variables.iter().zip(&s.values).map(|(n, v)| (n.clone(), json!(v.to_string())));
        json!({ "location": program.locations[s.location.index()], "values": values.collect::<Map<_, _>>() })
    };
    let states: Vec<Value> = run.states.iter().skip(1).map(state).collect();
    json!({ "initial": run.states.first().map(state), "states": states })
}

fn parametric(search: &Search, program: &Program, found: &Parametric, part: &mut Part) -> Answer {
    let names: Vec<&String> = program.parameters.iter().map(|&p| &program.variables[p]).collect();
    let shown = found.values.display(&names).to_string();
    let nothing = found.values.conjuncts().is_empty();
    let word = if search.goal { "reachable" } else { "violated" };
    // A set without its braces where it is one condition.
    let bare = shown.replace("{ ", "").replace(" }", "");
    let list = names.iter().map(|n| n.as_str()).collect::<Vec<_>>().join(", ");
    let when = match (&found.limit, nothing) {
        (None, true) => format!("never {word}, for all values of {list}"),
        (None, false) => format!("{word} iff {bare}"),
        (Some(_), true) => format!("not {word} as far as the search came"),
        (Some(_), false) => format!("{word} at least when {bare}"),
    };
    part.fields.insert("parameters".into(), json!({ "values": shown, "exact": found.limit.is_none() }));
    let reason = Reason { message: when.clone(), ..search.reason.clone() };
    let verdict = match (found.is_reached(), &found.limit) {
        (Some(reached), _) if reached == search.goal => Verdict::Holds,
        (None, Some(limit)) => Verdict::Unknown(limit.clone()),
        _ => violated(reason, Witness::default()),
    };
    let mut answer = Answer::new(search.question.clone(), Way::Counters.engine(), verdict);
    answer.errors = u64::from(answer.is_violated());
    answer.remark = Some(match (&answer.verdict, &found.limit) {
        (Verdict::Unknown(_), Some(limit)) => format!("{when}: {limit}"),
        _ => when,
    });
    answer
}

pub(super) fn add(total: &mut Statistics, s: &Statistics) {
    total.forward_steps += s.forward_steps;
    total.backward_steps += s.backward_steps;
    total.forward_sets += s.forward_sets;
    total.backward_sets += s.backward_sets;
    total.meta_transitions = total.meta_transitions.max(s.meta_transitions);
}

fn figures(job: &Job<'_>, total: &Statistics, part: &mut Part) {
    let (steps, sets) =
        (total.forward_steps + total.backward_steps, total.forward_sets + total.backward_sets);
    let elapsed = job.meter.elapsed().as_secs_f64();
    part.figures.set("states", sets);
    part.figures.set("transitions", steps);
    part.figures.set("seconds", elapsed);
    part.figures.set("meta_transitions", total.meta_transitions);
    part.remarks.push(format!(
        "{} sets, {} steps, {} meta-transitions, {}",
        count(sets as u64),
        count(steps),
        total.meta_transitions,
        seconds(elapsed)
    ));
}
