//! Several errors, but not all, by any number of threads: the verdicts do not depend on it, and where all
//! states are seen neither do the errors, their runs and their order.

use std::collections::BTreeSet;
use std::sync::Arc;

use volee_program::{Machine, MachineOptions};
use volee_promela::{Lowered, Options, lower, parse};
use volee_search::{Check, Order, Outcome, Reduction, check};
use volee_system::{
    Draft as _, PredicateId, Quiet, ReasonKind, System, Verdict, Violation, Witness, collect_initial,
    collect_steps, lift,
};
use volee_testkit::promela::{Audience, program};

use super::parallel::{Walk, by_crew, meter};

/// Random programs; `VOLEE_PROGRAMS` asks for more.
fn count() -> u64 {
    std::env::var("VOLEE_PROGRAMS").ok().and_then(|text| text.parse().ok()).unwrap_or(150)
}

/// An error: the question, the state that is one or has it, and the step that is one.
type Error = (usize, Vec<u8>, Option<u32>);

/// What a run leads to, walked step by step; it must be the error that it is told for.
fn error_of<S: System>(system: &mut S, invariants: &[PredicateId], at: usize, told: &Violation) -> Error {
    let Witness { initial, steps, .. } = &told.witness;
    let mut state = collect_initial(system).swap_remove(*initial as usize);
    let is_fault = told.reason.kind != ReasonKind::InvalidEndState && at == 1;
    let (last, steps) = match steps.split_last() {
        Some((last, steps)) if is_fault => (Some(*last), steps),
        _ => (None, &steps[..]),
    };
    for &step in steps {
        state = collect_steps(system, &state).swap_remove(step as usize).1;
    }
    match (last, at) {
        (Some(last), _) => assert!(collect_steps(system, &state)[last as usize].0.fault.is_some()),
        (None, 0) => {
            assert!(collect_steps(system, &state).is_empty() && !system.is_valid_end(&state));
        }
        (None, _) => assert_ne!(system.holds(invariants[at - 2], &state), Ok(true)),
    }
    (at, state, last)
}

/// All errors that are told, each once.
fn errors<S: System>(system: &mut S, questions: &Check, outcome: &Outcome) -> Vec<Error> {
    let invariants: Vec<PredicateId> = questions.invariants.iter().map(|i| i.1).collect();
    let mut all = Vec::new();
    for (at, answer) in outcome.answers.iter().enumerate().take(2 + invariants.len()) {
        if let Verdict::Violated(told) = &answer.verdict {
            assert_eq!(answer.errors, told.len() as u64, "each has its run");
            all.extend(told.iter().map(|violation| error_of(system, &invariants, at, violation)));
        }
    }
    assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len(), "no error is told twice");
    all
}

/// What each question comes to.
fn words(outcome: &Outcome) -> Vec<&'static str> {
    let word = |verdict: &Verdict| match verdict {
        Verdict::Holds => "holds",
        Verdict::Violated(_) => "violated",
        Verdict::Unknown(_) => "unknown",
    };
    outcome.answers.iter().map(|answer| word(&answer.verdict)).collect()
}

/// Every run to an error is one of the program as it is written.
fn assert_lifts(machine: &mut Machine, plain: &mut Machine, outcome: &Outcome) {
    for answer in &outcome.answers {
        if let Verdict::Violated(told) = &answer.verdict {
            for violation in told.iter().filter(|v| v.reason.kind != ReasonKind::Unreachable) {
                assert!(lift(machine, plain, &violation.witness).is_ok(), "{}", answer.question);
            }
        }
    }
}

fn machine(lowered: &Lowered, invariant: &str, plain: bool) -> Option<(Machine, Check)> {
    let mut machine = lowered.machine(MachineOptions { plain, ..MachineOptions::default() });
    let predicate = machine.predicate(invariant).ok()?;
    let goal = machine.predicate("g0 == 1").expect("as the other");
    Some((machine, Check::new().invariant(invariant, predicate).goal("g0 == 1", goal)))
}

/// Compares one program; how many searches were cut short, and how many told some errors and saw everything.
fn compare(lowered: &Lowered, seed: u64) -> Option<(u64, u64)> {
    let invariant = ["g0 < 2", "len(qb) == 0", "g0 + len(qb) != 2"][seed as usize % 3];
    let is_plain = seed.is_multiple_of(2);
    let (mut machine, questions) = machine(lowered, invariant, is_plain)?;
    let (mut plain, _) = self::machine(lowered, invariant, true)?;
    let all = check(&mut machine.clone(), &questions.clone().all_errors(true), &meter(), &mut Quiet);
    if all.statistics.states > 3_000 {
        return None;
    }
    let number: u64 = all.answers.iter().take(3).map(|answer| answer.errors).sum();
    let (mut cut, mut told_all) = (0, 0);
    for (order, reduction) in [
        (Order::DepthFirst, Reduction::None),
        (Order::BreadthFirst, Reduction::None),
        (Order::DepthFirst, Reduction::Both),
    ] {
        for wanted in [2, 3, number.clamp(2, 60) as usize, (number as usize + 1).clamp(2, 60)] {
            let how = questions.clone().order(order).reduction(reduction).max_errors(wanted);
            let alone = check(&mut machine.clone(), &how, &meter(), &mut Quiet);
            let is_complete = |errors: &[Error]| errors.len() < wanted;
            let by_one = errors(&mut machine, &how, &alone);
            let mut several: Option<(Outcome, Vec<Error>)> = None;
            for workers in [1, 2, 3, 8] {
                let context = format!("seed {seed}, {workers} workers, {order:?}, {reduction:?}, {wanted}");
                let crew = by_crew(&machine, &how, workers, seed % 40);
                let told = errors(&mut machine, &how, &crew);
                assert_lifts(&mut machine, &mut plain, &crew);
                assert_eq!(told.is_empty(), by_one.is_empty(), "{context}");
                if reduction == Reduction::None {
                    assert_eq!(is_complete(&told), is_complete(&by_one), "{context}");
                }
                if is_complete(&told) && is_complete(&by_one) {
                    assert_eq!(words(&crew), words(&alone), "{context}");
                }
                if workers == 1 || is_complete(&told) && reduction == Reduction::None {
                    assert_eq!(crew.answers, alone.answers, "{context}");
                }
                if let Some((other, errors)) = several.as_ref().filter(|_| workers > 1) {
                    assert_eq!((&crew.answers, &told), (&other.answers, errors), "{context}");
                }
                cut += u64::from(!is_complete(&told));
                told_all += u64::from(is_complete(&told) && !told.is_empty() && workers > 1);
                several = (workers > 1).then_some((crew, told));
            }
        }
    }
    Some((cut, told_all))
}

#[test]
fn random_programs_tell_the_same_errors_with_any_number_of_workers() {
    let (mut cut, mut told_all) = (0, 0);
    for seed in 0..count() {
        let text = program(seed, Audience::Ourselves).to_string();
        let (model, _) = parse("model.pml", &text, &Options::default());
        let Some(lowered) = model.and_then(|model| lower(Arc::new(model)).ok()) else { continue };
        if let Some((short, all)) = compare(&lowered, seed) {
            (cut, told_all) = (cut + short, told_all + all);
        }
    }
    assert!(cut > count() && told_all > count(), "{cut} were cut short, {told_all} told all errors");
}

/// One state of many is wrong, and three are asked for.
#[test]
fn all_cores_tell_the_few_errors_of_a_large_system() {
    let walk = Walk { states: 60_000, error: Some(59_000) };
    for order in [Order::DepthFirst, Order::BreadthFirst] {
        let how = Check::new().invariant("no error", PredicateId(0)).max_errors(3).order(order);
        let alone = check(&mut walk.clone(), &how, &meter(), &mut Quiet);
        for (workers, from) in [(2, 1_000), (3, 45_000)] {
            let crew = by_crew(&walk, &how, workers, from);
            assert_eq!((&crew.answers, crew.statistics.workers), (&alone.answers, workers as u64));
            assert_eq!(crew.statistics.transitions, alone.statistics.transitions);
            assert_eq!(errors(&mut walk.clone(), &how, &crew).len(), 1);
        }
    }
}
