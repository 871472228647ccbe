//! A number of errors that does not say `at least` is exact, whatever has searched; and one that does is not
//! too large.

use std::sync::Arc;
use std::time::Duration;

use volee_program::{Machine, MachineOptions};
use volee_promela::{Options, lower, parse};
use volee_search::{Check, Order, Outcome, Reduction, check};
use volee_system::{Budget, Draft as _, Meter, PredicateId, Quiet};
use volee_testkit::promela::{Audience, program};

use super::parallel::{by_crew, meter};
use super::replacement::{POLICIES, Web, run};

/// Random programs; `VOLEE_PROGRAMS` asks for more.
fn count() -> u64 {
    std::env::var("VOLEE_PROGRAMS").ok().and_then(|text| text.parse().ok()).unwrap_or(120)
}

/// How many numbers were exact, and how many lower bounds.
#[derive(Debug, Default)]
struct Told {
    exact: u64,
    bounds: u64,
    below: u64,
}

impl Told {
    fn compare(&mut self, outcome: &Outcome, exact: &[u64], context: &str) {
        for (answer, &exact) in outcome.answers.iter().zip(exact) {
            let context = format!("{context}: {}", answer.question);
            match answer.at_least {
                false => assert_eq!(answer.errors, exact, "{context}"),
                true => assert!(answer.errors <= exact, "{context}: {} of {exact}", answer.errors),
            }
            self.exact += u64::from(!answer.at_least && exact > 0);
            self.bounds += u64::from(answer.at_least && exact > 0);
            self.below += u64::from(answer.at_least && answer.errors < exact);
        }
    }
}

/// Searches a program in many ways, and compares the numbers with those of all states and steps.
fn compare(machine: &mut Machine, seed: u64, told: &mut Told) {
    let invariant = ["g0 < 2", "len(qb) == 0", "g0 + len(qb) != 2"][seed as usize % 3];
    let Ok(predicate) = machine.predicate(invariant) else { return };
    let questions = Check::new().invariant(invariant, predicate).seed(seed);
    let all = questions.clone().all_errors(true);
    let found = check(&mut machine.clone(), &all, &meter(), &mut Quiet);
    if found.statistics.states > 500 {
        return;
    }
    assert!(found.answers.iter().all(|answer| !answer.at_least), "seed {seed}: nothing was left out");
    let exact: Vec<u64> = found.answers.iter().map(|answer| answer.errors).collect();
    for how in [&all, &questions.clone().max_errors(2), &questions.clone().max_errors(5)] {
        for order in [Order::DepthFirst, Order::BreadthFirst] {
            for reduction in [Reduction::None, Reduction::Both] {
                let how = how.clone().order(order).reduction(reduction);
                let context = format!("seed {seed}, {order:?}, {reduction:?}, {}", how.max_errors);
                let mut searched = |budget: Budget, how: &Check, context: &str| {
                    let outcome = check(&mut machine.clone(), how, &Meter::start(budget), &mut Quiet);
                    told.compare(&outcome, &exact, context);
                };
                // In too little memory a search can take for ever.
                let usual = Budget { time: Some(Duration::from_millis(30)), ..Budget::default() };
                searched(usual.clone(), &how, &context);
                let shallow = Budget { depth: Some(seed % 12), ..usual.clone() };
                searched(shallow, &how, &format!("{context}, not deep"));
                let little = Budget { memory: Some((8 + seed % 8) << 10), ..usual.clone() };
                searched(little, &how, &format!("{context}, little memory"));
                let few = how.clone().states(Some(seed as usize % 100 + 10));
                searched(usual, &few, &format!("{context}, few states"));
                let crew = by_crew(machine, &how, 3, seed % 40);
                told.compare(&crew, &exact, &format!("{context}, by three"));
            }
        }
    }
}

#[test]
fn a_number_that_does_not_say_at_least_is_exact() {
    let mut told = Told::default();
    for seed in 0..count() {
        let text = program(seed, Audience::Ourselves).to_string();
        let (model, _) = parse("model.pml", &text, &Options::default());
        let Some(lowered) = model.and_then(|model| lower(Arc::new(model)).ok()) else { continue };
        let plain = seed.is_multiple_of(2);
        let mut machine = lowered.machine(MachineOptions { plain, ..MachineOptions::default() });
        compare(&mut machine, seed, &mut told);
    }
    assert!(told.exact > count() && told.below > count(), "{told:?}");
}

/// Deadlocks of a program, by all steps and by persistent sets, and whether the latter are a lower bound.
fn deadlocks(text: &str) -> (u64, u64, bool) {
    let (model, _) = parse("model.pml", text, &Options::default());
    let lowered = lower(Arc::new(model.expect("it is read"))).expect("it is lowered");
    let mut machine = lowered.machine(MachineOptions { plain: true, ..MachineOptions::default() });
    let all = Check::new().all_errors(true);
    let mut counted = |reduction| {
        let outcome = check(&mut machine, &all.clone().reduction(reduction), &meter(), &mut Quiet);
        assert_eq!(outcome.statistics.reduced > 0, reduction == Reduction::Persistent, "{text}");
        let answer = outcome.answers.iter().find(|answer| answer.question == "deadlock");
        answer.map(|answer| (answer.errors, answer.at_least)).expect("it was asked")
    };
    let ((full, bound), (reduced, at_least)) = (counted(Reduction::None), counted(Reduction::Persistent));
    assert!(!bound && reduced <= full && (at_least || reduced == full), "{reduced} of {full}: {text}");
    (full, reduced, at_least)
}

#[test]
fn deadlocks_that_differ_in_numbers_of_processes_are_counted_for_one_another_and_that_is_said() {
    let waits = "chan q = [1] of { byte }; byte x, y; proctype W(byte n) { byte m; m = n; q?m }\n";
    let of = |rest: &str| deadlocks(&format!("{waits}{rest}"));
    // Who starts first?
    let two = "active proctype P() { x = 1; run W(1) } active proctype Q() { y = 1; run W(2) }";
    let (full, reduced, at_least) = of(two);
    assert!(reduced < full && at_least, "{reduced} of {full}");
    // Is one gone before the other comes?
    let apart = "proctype E() { x = 1 } init { run E(); y = 1; run W(2) }";
    assert!(of(apart).2);
    // In one go, by the youngest, numbers are what they are.
    for beginning in [
        "init { atomic { run E(); run W(1); run W(2) } }",
        "init { d_step { x = 1; y = 1 }; x == 1; atomic { run W(1); run E(); run W(2) }; y = 2 }",
        "init { x = 2; d_step { run W(1); run W(2) }; y = 1 }",
        "init { byte i; atomic { do :: i < 3 -> run W(i); i++ :: else -> break od; run E() } }",
        "active proctype P() { x = 1 } init { atomic { run W(1); run W(2) }; y = 1 }",
        "active proctype P() { x = 1; y = 1; q?x } active proctype Q() { byte z; z = 1; z = 2 }",
    ] {
        let (_, _, at_least) = of(&format!("proctype E() {{ byte z; z = 1; z = 2; z = 3 }} {beginning}"));
        assert!(!at_least, "{beginning}");
    }
    // Not where it waits in between, gives control away, or is older than one that may end.
    for beginning in [
        "init { atomic { run E(); x == 0; run W(1) } }",
        "init { atomic { run E(); q!1; run W(1); run W(2) } }",
        "init { atomic { run W(1); run W(2) } } active proctype P() { x = 1 }",
        "init { if :: run E() :: x = 2 fi; y = 1; atomic { run W(1); run W(2) } }",
    ] {
        let (_, _, at_least) = of(&format!("proctype E() {{ byte z; z = 1; z = 2; z = 3 }} {beginning}"));
        assert!(at_least, "{beginning}");
    }
}

#[test]
fn what_was_perhaps_counted_before_makes_a_number_a_lower_bound() {
    let (mut told, mut forgot) = (Told::default(), 0);
    for seed in 0..20 {
        let mut web = Web::random(seed, 7_000, 0);
        let exact = [0, 0, web.reachable().len() as u64 - 1];
        for (policy, memory) in POLICIES.into_iter().zip([33u64, 35, 37, 39, 60].into_iter().cycle()) {
            let questions = Check::new().all_errors(true).invariant("it is zero", PredicateId(0));
            let outcome = run(&mut web, &questions.replacement(Some(policy)).seed(seed), memory << 10);
            told.compare(&outcome, &exact, &format!("seed {seed}, {policy:?}, {memory} kB"));
            forgot += u64::from(outcome.limit.is_none() && outcome.statistics.turnover.is_some());
            let is_whole = outcome.limit.is_none() && outcome.statistics.turnover.is_none();
            assert!(!is_whole || !outcome.answers[2].at_least, "seed {seed}, {policy:?}, {memory} kB");
        }
    }
    assert!(told.exact > 10 && told.below > 10 && forgot > 10, "{told:?}, {forgot} have forgotten states");
}
