//! The mu-calculus, solved on the fly as boolean equations or as a parity game.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::json;
use volee_bes::answer::{self, AnswerError, Method};
use volee_bes::explain::{Explanation, Item, Proof, explain};
use volee_bes::model::ModelGraph;
use volee_bes::{BooleanGraph, Crew, How, SolveError};
use volee_cluster::equations::JointAnswer;
use volee_logic::mu::{Equations, Labels, Library, parse};
use volee_report::{bytes, counted, seconds};
use volee_system::{
    Diagnostic, Draft, Limit, Meter, Progress, Reason, ReasonKind, Snapshot, System, Verdict, Witness,
};

use super::explicit::workers;
use super::{Found, Job, Part, judged};
use crate::answer::{Answer, AskError, Certificate, Role, violated};
use crate::engine::Way;
use crate::kept;
use crate::model::{Again, Model, Naming, Options, draft_of};
use crate::question::Question;

/// Explanations keep at most this many variables; larger ones say so.
const LARGEST_EXPLANATION: usize = 20_000;
/// When the whole explanation is asked for it may be larger.
const LARGEST_DIAGNOSTIC: usize = 2_000_000;

/// Answers one formula.
pub(crate) fn answer(job: &mut Job<'_>, question: &Question) -> Result<Part, AskError> {
    let equations = formula(question, &job.settings.macros)?;
    let mut model = job.open_as(&options(job))?;
    let kept = kept::prepare(job, &model, std::slice::from_ref(question))?;
    let quick = unnamed(&equations, &model, &options(job));
    let again = quick.as_ref().or(model.again.as_ref());
    let mut quick = quick.as_ref().map(|make| make());
    let (draft, teller): (&mut dyn Draft, Option<&mut dyn Draft>) = match &mut quick {
        Some(quick) => (quick.as_mut(), Some(model.draft.as_mut())),
        None => (model.draft.as_mut(), None),
    };
    let most = most(job);
    let unheard: Mutex<Vec<Vec<String>>> = Mutex::default();
    let another = |work: &mut dyn FnMut(&mut dyn BooleanGraph)| {
        let Some(mut draft) = again.map(|make| make()) else { return };
        let Ok(mut graph) = ModelGraph::of(draft.as_mut(), equations.clone()) else { return };
        graph.remember_steps();
        work(graph.as_graph());
        unheard.lock().unwrap_or_else(PoisonError::into_inner).push(graph.unheard());
    };
    let threads = workers(job.engine)?;
    let crew = Crew::new(if again.is_some() { threads } else { 1 }, &another).told(most);
    let how = How { solver: job.settings.solver, kept: kept.as_ref(), crew: Some(&crew) };
    let mut watch = Watch { progress: job.progress, last: Snapshot::default() };
    let meter = job.meter;
    let mut found = answer::ask_told_by(draft, teller, equations.clone(), how, most, meter, &mut watch);
    let last = watch.last;
    if let Ok(found) = found.as_mut().map(|found| &mut *found)
        && found.workers > 1
    {
        // What one of the threads has met has happened.
        let unheard = unheard.lock().unwrap_or_else(PoisonError::into_inner);
        found.silent.retain(|text| unheard.iter().all(|all| all.contains(text)));
    }
    if let (Ok(found), true) = (&mut found, kept.as_ref().is_some_and(|kept| kept.resume)) {
        // What happened before the resolution was kept is not known here.
        found.silent.clear();
    }
    // Neither an answer nor its explanation stands where steps were left out.
    if let Some(limit) = draft.system().left_out() {
        return Ok(unknown(question, limit));
    }
    let part = match found {
        Ok(found) => told(job, question, found)?,
        Err(AnswerError::Solve(SolveError::Limit(limit))) => {
            let mut part = unknown(question, limit);
            part.figures.set("states", last.states);
            part.figures.set("transitions", last.transitions);
            part.figures.set("seconds", job.meter.elapsed().as_secs_f64());
            part.figures.set("peak_memory_bytes", last.memory);
            part.figures.set("bytes_per_state", last.memory as f64 / last.states.max(1) as f64);
            part
        }
        Err(AnswerError::Solve(other)) => return Err(Diagnostic::error(other.to_string(), None).into()),
        Err(AnswerError::Formula(wrong)) => return Err(wrong.into()),
    };
    kept::forget(kept.as_ref(), part.answers.iter().map(|answer| &answer.verdict));
    Ok(part)
}

/// The same program with steps that have no names, where the formula does not look at them: naming what
/// happens in a step takes longer than the step.
fn unnamed(equations: &Equations, model: &Model, options: &Options) -> Option<Again> {
    let lowered = model.promela.clone().filter(|_| options.naming == Naming::Events)?;
    Labels::new(&equations.formula.actions).blind()?;
    let options = Options { naming: Naming::Text, ..options.clone() };
    Some(Arc::new(move || draft_of(&lowered, &options)))
}

/// Remembers how far a resolution is, for the answer of one that a limit ends.
pub(super) struct Watch<'p> {
    pub progress: &'p mut dyn Progress,
    pub last: Snapshot,
}

impl Progress for Watch<'_> {
    fn report(&mut self, snapshot: &Snapshot) {
        self.last = *snapshot;
        self.progress.report(snapshot);
    }

    fn say(&mut self, sentence: &str) {
        self.progress.say(sentence);
    }
}

/// How the model is read: a formula speaks of steps by their labels and counts them, so that none may be
/// merged.
pub(super) fn options(job: &Job<'_>) -> Options {
    job.subject.options().step_by_step()
}

/// How much of an explanation is kept.
pub(super) fn most(job: &Job<'_>) -> usize {
    if job.settings.diagnostic { LARGEST_DIAGNOSTIC } else { LARGEST_EXPLANATION }
}

/// The answer that a limit left open.
pub(super) fn unknown(question: &Question, limit: Limit) -> Part {
    let answer = Answer::new(question.clone(), Way::Equations.engine(), Verdict::Unknown(limit));
    Part { answers: vec![answer], ..Part::default() }
}

/// The equations of a formula.
pub(super) fn formula(question: &Question, macros: &[(String, String)]) -> Result<Equations, AskError> {
    let Question::Mu { text, .. } = question else { unreachable!("`{question}` is not of the mu-calculus") };
    let mut library = Library::standard();
    for (name, text) in macros {
        library.add(name, text)?;
    }
    let tree = parse(&question.origin(), text, &library)?;
    Ok(Equations::new(tree.normalise()?))
}

/// What a formula says of states; nothing where it is wrong, which is told when it is asked.
pub(crate) fn state_texts(question: &Question, macros: &[(String, String)]) -> Vec<String> {
    let predicates = formula(question, macros).map(|equations| equations.formula.predicates);
    predicates.unwrap_or_default().into_iter().map(|predicate| predicate.text).collect()
}

/// A value with the run and the part of the system that show it.
pub(super) fn told(job: &mut Job<'_>, question: &Question, found: answer::Answer) -> Result<Part, AskError> {
    let explanation = &found.explanation;
    let verdict = if found.value {
        Verdict::Holds
    } else {
        let message = "the formula is false in the initial state".to_string();
        violated(Reason { kind: ReasonKind::Formula, message, place: None }, Witness::default())
    };
    let mut answer = Answer::new(question.clone(), Way::Equations.engine(), verdict);
    let role = match (explanation.linear, found.value) {
        (true, true) => Some(Role::Evidence),
        (true, false) => Some(Role::Violation),
        (false, false) => Some(Role::Beginning),
        (false, true) => None,
    };
    if let Some(role) = role.filter(|_| !explanation.run.steps.is_empty()) {
        // A formula has no single run that it is false of: the run shows where the explanation begins, and is
        // only replayed. What is forgotten may keep a cycle of the search from being one of the program at
        // once, so it is lifted.
        let options = options(job);
        let mut model = job.open_as(&options)?;
        let (lowered, draft, witness) = (model.promela.as_ref(), model.draft.as_mut(), &explanation.run);
        let found = Found { lowered, draft, model: &model.name, witness, question, reason: None };
        answer.runs.push(judged(found, role, &options, None)?.0);
    }
    let mut part = costs(job, &found);
    part.silent = found.silent;
    answer.certificate = Some(Certificate::Explanation(Box::new(found.explanation)));
    part.answers.push(answer);
    Ok(part)
}

/// The sequential checker's opinion of the certificate that several workers have made, and what it says in
/// words; of one that is too large for one place only the beginning is told.
pub(super) fn explanation(
    graph: &mut ModelGraph<'_, dyn System + '_>,
    joint: &JointAnswer,
    most: usize,
    meter: &Meter,
) -> Result<Explanation, SolveError> {
    if let Some(solution) = joint.certificate(graph.as_graph())? {
        return answer::confirm(graph, &solution, joint.value, most, meter);
    }
    let (place, node) = graph.root()?;
    let item = Item { place, node, value: joint.value, on: Vec::new() };
    Ok(explain(graph, &Proof { items: vec![item], complete: false }))
}

fn costs(job: &Job<'_>, found: &answer::Answer) -> Part {
    let mut part = Part::default();
    let s = &found.statistics;
    let (solver, engine) = match found.method {
        Method::Equations(solver) => (solver.name(), "boolean equations"),
        Method::ParityGame => ("zielonka", "a parity game"),
    };
    let elapsed = job.meter.elapsed().as_secs_f64();
    let explanation = &found.explanation;
    let figures = &mut part.figures;
    figures.set("states", s.places);
    figures.set("transitions", s.edges);
    // Only a depth-first search has one.
    if s.depth > 0 {
        figures.set("depth", s.depth);
    }
    figures.set("seconds", elapsed);
    figures.set("peak_memory_bytes", s.memory);
    figures.set("variables", s.variables);
    figures.set("solver", solver);
    if found.workers > 1 {
        figures.set("workers", found.workers as u64);
    }
    let diagnostic = json!({
        "states": explanation.states.len(),
        "transitions": explanation.transitions.len(),
        "linear": explanation.linear,
        "complete": explanation.complete,
        "why": explanation.why,
    });
    part.fields.insert("diagnostic".into(), diagnostic);
    let by = if found.workers > 1 { format!(", {} workers", found.workers) } else { String::new() };
    part.remarks.push(format!(
        "solved as {engine} ({solver}{by}): {} over {}, {}, {}, {}; the certificate was checked",
        counted(s.variables as usize, "variable"),
        counted(s.places as usize, "state"),
        counted(s.edges as usize, "edge"),
        seconds(elapsed),
        bytes(s.memory),
    ));
    part
}
