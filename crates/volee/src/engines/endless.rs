//! What goes on for ever over unbounded integers: formulas of LTL whose violation no finite run shows.
//!
//! A violation is a prefix and a loop that can be taken again each time it was, whether it comes back to its
//! state or its integers grow; where it comes back it is found again in the program as the user wrote it, which
//! confirms it. That there is none is a closed set in which linear forms fall
//! (`volee-counters/src/recurrence.rs`). What is neither is not known.

use serde_json::{Value, json};
use volee_counters::{self as counters, CounterRun, Lasso, Program, Recurrence, Rounds, Statistics};
use volee_integers::Int;
use volee_report::counted;
use volee_system::{Budget, Run, Verdict, Witness};

use super::Job;
use super::counters::{Counted, Search, add, as_run, in_sets, meets_an_error, one_by_one, retraced, role};
use crate::answer::{Answer, Certificate, ShownRun, limit, violated};
use crate::engine::Way;
use crate::model::Options;

/// Decides one such formula.
pub(super) fn decide(
    job: &Job<'_>,
    model: &Counted,
    search: &Search,
    program: &Program,
    (budget, total): (Budget, &mut Statistics),
) -> Answer {
    let found = counters::recurrence(program, &budget);
    add(total, &found.statistics);
    let answer = |verdict| Answer::new(search.question.clone(), Way::Counters.engine(), verdict);
    match found.recurrence {
        Recurrence::Never(_) if meets_an_error(job, model, search) => {
            let message = "not decided, because a statement may be executed that has no meaning";
            answer(Verdict::Unknown(limit(message)))
        }
        Recurrence::Never(descent) => {
            let mut answer = answer(Verdict::Holds);
            answer.certificate = Some(Certificate::ClosedSet);
            let how = match descent.stages.len() {
                0 => "shown by a closed set without a cycle that violates it".to_owned(),
                forms => format!("shown by a closed set in which {}", falls(forms)),
            };
            answer.remark = Some(format!("{how}{}, re-checked", for_all(program)));
            answer
        }
        Recurrence::Forever { lasso, rounds } => {
            let mut answer = answer(violated(search.reason.clone(), Witness::default()));
            answer.errors = 1;
            answer.remark = example(program, &rounds);
            // Where integers grow no state comes again, and the machine has no such run.
            let comes_again = rounds.vector.iter().all(Int::is_zero);
            let parts = (&lasso.prefix, rounds.first.as_slice());
            let single = if comes_again { retraced(job, model, search, program, parts) } else { None };
            let lifted = single.is_some() || matches!(model, Counted::Program(_));
            let mut told = shown(search, program, &lasso, &rounds, lifted);
            if let Some(single) = single {
                one_by_one(&mut told, &single);
            }
            answer.runs.push(told);
            answer
        }
        Recurrence::Unknown(limit) => answer(Verdict::Unknown(limit)),
    }
}

fn falls(forms: usize) -> String {
    if forms == 1 { "a linear form falls".into() } else { format!("{} fall", counted(forms, "linear form")) }
}

/// That an answer is for all values of the parameters, where there are such.
fn for_all(program: &Program) -> String {
    let names: Vec<&str> = program.parameters.iter().map(|&at| program.variables[at].as_str()).collect();
    if names.is_empty() { String::new() } else { format!(", for all values of {}", names.join(", ")) }
}

/// What each round of the loop adds, if anything.
fn growth(program: &Program, rounds: &Rounds) -> Option<String> {
    let named = program.variables.iter().zip(&rounds.vector);
    let moves: Vec<String> =
        named.filter(|(_, by)| !by.is_zero()).map(|(name, by)| format!("{by} to {name}")).collect();
    (!moves.is_empty()).then(|| format!("each round adds {}", moves.join(", ")))
}

/// The values of parameters for which a run was found.
fn example(program: &Program, rounds: &Rounds) -> Option<String> {
    let start = rounds.prefix.first()?;
    let value = |&at: &usize| format!("{} = {}", program.variables[at], start.values[at]);
    let values: Vec<String> = program.parameters.iter().map(value).collect();
    (!values.is_empty()).then(|| format!("for one when {}", values.join(", ")))
}

/// The run: its prefix, and the first round of its loop. It is told where the model as the user wrote it has no
/// part in its replay.
fn shown(search: &Search, program: &Program, lasso: &Lasso, rounds: &Rounds, lifted: bool) -> ShownRun {
    let prefix = CounterRun::new(program, &lasso.prefix, rounds.prefix.clone());
    let steps = prefix.length.as_ref().map_or_else(|| "many".to_owned(), ToString::to_string);
    let start = prefix.words.len();
    let names = lasso.body.iter().map(|id| program.transition(*id).name.clone());
    let run = CounterRun {
        words: prefix.words.into_iter().chain(names).collect(),
        states: prefix.states.into_iter().chain(rounds.first.iter().cloned()).collect(),
        length: None,
    };
    let mut more = in_sets(program, &run);
    if let Value::Object(fields) = &mut more {
        fields.insert("loop_start".into(), json!(start));
        let adds: Vec<String> = rounds.vector.iter().map(ToString::to_string).collect();
        fields.insert("loop_adds".into(), json!(adds));
    }
    let body = counted(lasso.body.len(), "step");
    let replayed = if lifted { "replayed" } else { "replayed over unbounded integers only" };
    let grows = growth(program, rounds);
    ShownRun {
        role: role(search),
        // A loop that grows does not come back to a state.
        run: Run { loop_start: grows.is_none().then_some(start), ..as_run(program, &run) },
        witness: None,
        options: Options::default(),
        single: None,
        length: Some(format!("{steps} steps, then a loop of {body} for ever, {replayed}")),
        more: Some(more),
        claim: None,
        grows: grows.is_some(),
        why: grows
            .map(|adds| format!("from step {} on this repeats for ever: {adds}", start + 1))
            .into_iter()
            .collect(),
    }
}
