//! `volee check MODEL --workers N` or `--cluster HOSTS`: the explicit search and the mu-calculus by several workers.

use std::path::Path;
use std::sync::Arc;

use volee::bes::answer::{self, Method};
use volee::bes::explain::{Explanation, Item, Proof, explain};
use volee::bes::model::ModelGraph;
use volee::bes::{BooleanGraph, SolveError, Solver};
use volee::cluster::equations::{JointAnswer, PartialAnswer};
use volee::cluster::search::{PartialSearch, joined};
use volee::logic::mu::Equations;
use volee::search::Outcome;
use volee::system::{Meter, System, Verdict};

use super::{Check, Engine, compile};
use crate::cluster::{Made, Question, Task, Together, Unmade, decode, refuse};
use crate::context::Context;
use crate::outcome::{Ended, Failure};
use crate::report::Report;
use crate::storage::Reduce;

/// Refuses what several workers cannot answer.
pub fn refuse_others(check: &Check) -> Result<(), Failure> {
    let storage = &check.storage;
    let flags = [
        (check.engine != Engine::Explicit, "--engine"),
        (storage.approximate.is_some(), "--approximate"),
        (storage.reduction.is_some_and(|r| r != Reduce::None), "--reduction"),
        (check.budget.max_depth.is_some(), "--max-depth"),
    ];
    let given = check.temporal.given().or_else(|| flags.into_iter().find(|f| f.0).map(|f| f.1));
    given.map_or(Ok(()), |flag| Err(refuse(flag)))
}

/// The clock and the budget of a call; for workers elsewhere, memory is theirs to know unless it was given.
pub fn meter(check: &Check, context: &Context) -> Meter {
    let mut budget = check.budget.budget(context);
    if check.cluster.cluster.is_some() {
        budget.memory = check.budget.memory;
    }
    Meter::start(budget)
}

/// Answers deadlocks, assertions, invariants and goals.
pub fn run(check: &Check, context: &Context) -> Ended {
    let mut model = check.model.open(context)?;
    for text in &check.invariant {
        compile(&mut model, "--invariant", text)?;
    }
    for text in &check.reachable {
        compile(&mut model, "--reachable", text)?;
    }
    let questions = crate::cluster::questions(
        model.system.as_mut(),
        &check.invariant,
        &check.reachable,
        check.all_errors,
    )?;
    let (invariants, goals) = (check.invariant.clone(), check.reachable.clone());
    let question = Question::Search { invariants, goals, all_errors: check.all_errors };
    let meter = meter(check, context);
    let task = Task::new(&check.model.model, &check.model.options(), question).including(&model);
    let mut report = Report::new(context, "explicit", &check.model, &check.trace);
    match task.run(&check.cluster, &meter) {
        Ok(made) => {
            let parts: Vec<PartialSearch> = decode(&made)?;
            let (mut outcome, accounts) = joined(model.system.as_mut(), &questions, parts, &meter)
                .map_err(|error| Failure::new(error.to_string()))?;
            rename(&mut outcome, &made, &check.model.model);
            for answer in &outcome.answers {
                report.question(model.system.as_mut(), answer)?;
            }
            let stopped = !check.all_errors && outcome.answers.iter().any(|a| a.errors > 0);
            report.unasked(&super::temporal::unasked(&model));
            report.statistics(&outcome.statistics, !stopped);
            together(&mut report, &accounts, &made);
        }
        Err(Unmade::Limit(limit)) => {
            let asked = ["deadlock".to_string(), "assertions".to_string()].into_iter();
            let asked = asked.chain(check.invariant.iter().map(|text| format!("invariant {text}")));
            for question in asked.chain(check.reachable.iter().map(|text| format!("reachable {text}"))) {
                report.unknown(&question, &limit);
            }
        }
        Err(Unmade::Wrong(failure)) => return Err(failure),
    }
    Ok(report.finish())
}

/// Names the model in places as it was named in the call.
fn rename(outcome: &mut Outcome, made: &Made, model: &Path) {
    let Some(alias) = &made.alias else { return };
    let name: Arc<str> = model.display().to_string().into();
    for answer in &mut outcome.answers {
        let Verdict::Violated(violations) = &mut answer.verdict else { continue };
        let places = violations.iter_mut().filter_map(|v| v.reason.place.as_mut());
        places.filter(|place| *place.file == **alias).for_each(|place| place.file = name.clone());
    }
}

fn together(report: &mut Report<'_>, accounts: &[volee::cluster::drive::Account], made: &Made) {
    let together = Together::new(accounts);
    report.figure(&together.line());
    together.put(&made.names, &mut report.answer);
}

/// Answers a formula; the text is that of the formula without its macros.
pub fn formula(
    check: &Check,
    system: &mut dyn System,
    equations: Equations,
    task: &Task,
    most: usize,
    meter: &Meter,
    report: &mut Report<'_>,
) -> Result<Result<answer::Answer, volee::system::Limit>, Failure> {
    if !equations.alternation_free() {
        return Err(Failure::new("least and greatest fixed points alternate in this formula").with_help(
            "such formulas are parity games, which one worker solves: leave out --workers and --cluster",
        ));
    }
    let made = match task.run(&check.cluster, meter) {
        Ok(made) => made,
        Err(Unmade::Limit(limit)) => return Ok(Err(limit)),
        Err(Unmade::Wrong(failure)) => return Err(failure),
    };
    let parts: Vec<PartialAnswer> = decode(&made)?;
    let joint = JointAnswer::new(parts).map_err(|error| Failure::new(error.to_string()))?;
    let mut graph = ModelGraph::new(system, equations)?;
    let explanation = match explanation(&mut graph, &joint, most, meter) {
        Ok(explanation) => explanation,
        Err(SolveError::Limit(limit)) => return Ok(Err(limit)),
        Err(other) => return Err(Failure::new(other.to_string())),
    };
    together(report, &joint.accounts, &made);
    let method = Method::Equations(Solver::BreadthFirst);
    // One place sees only what the certificate rests on, so only systems that can be looked through tell what is silent.
    let silent = if graph.numbered().is_some() { graph.silent() } else { Vec::new() };
    Ok(Ok(answer::Answer { value: joint.value, method, statistics: joint.statistics, explanation, silent }))
}

/// The sequential checker's opinion of the certificate, and what it says in words; of one that is too large for one
/// place only the beginning is told.
fn explanation(
    graph: &mut ModelGraph<'_, dyn System + '_>,
    joint: &JointAnswer,
    most: usize,
    meter: &Meter,
) -> Result<Explanation, SolveError> {
    if let Some(solution) = joint.certificate(graph)? {
        return answer::confirm(graph, &solution, joint.value, most, meter);
    }
    let (place, node) = graph.root()?;
    let item = Item { place, node, value: joint.value, on: Vec::new() };
    Ok(explain(graph, &Proof { items: vec![item], complete: false }))
}
