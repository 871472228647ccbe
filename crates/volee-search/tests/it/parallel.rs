//! Several threads say what one says: on random programs and on systems that make tables and fields grow on
//! the way.

use std::borrow::Cow;
use std::sync::Arc;

use volee_program::{Machine, MachineOptions};
use volee_promela::{Lowered, Options, lower, parse};
use volee_search::{Approximation, Check, Crew, Order, Outcome, Reduction, check, check_with};
use volee_system::{
    Budget, Components, Draft as _, Flow, Label, Meter, PredicateId, Quiet, Sink, Step, System, Verdict,
    replay,
};
use volee_testkit::promela::{Audience, program};

pub(crate) fn meter() -> Meter {
    Meter::start(Budget { memory: Some(1 << 30), ..Budget::default() })
}

/// The outcome of a number of workers that begin at a number of states.
pub(crate) fn by_crew<S: System + Clone + Sync + 'static>(
    system: &S,
    check: &Check,
    workers: usize,
    from: u64,
) -> Outcome {
    let another = || Some((Box::new(system.clone()) as Box<dyn System>, check.clone()));
    let crew = Crew::new(workers, &another).from(from);
    check_with(&mut system.clone(), check, Some(&crew), &meter(), &mut Quiet)
}

/// What each question comes to: which of several errors ends the search first is another matter.
fn verdicts(outcome: &Outcome) -> Vec<(&str, &str)> {
    let violated = outcome.answers.iter().any(|a| a.errors > 0);
    let word = |verdict: &Verdict| match verdict {
        Verdict::Holds => "holds",
        Verdict::Violated(_) => "violated",
        Verdict::Unknown(_) => "unknown",
    };
    match violated {
        true => vec![("all", "violated")],
        false => outcome.answers.iter().map(|a| (a.question.as_str(), word(&a.verdict))).collect(),
    }
}

/// Every run leads to where it says.
fn assert_replays(machine: &mut Machine, outcome: &Outcome) {
    for answer in &outcome.answers {
        let violations = match &answer.verdict {
            Verdict::Violated(all) => &all[..],
            _ => &[],
        };
        for witness in violations.iter().map(|v| &v.witness).chain(&answer.witness) {
            assert!(replay(machine, witness).is_ok(), "{}", answer.question);
        }
    }
}

fn lowered(text: &str) -> Option<Lowered> {
    let (model, _) = parse("model.pml", text, &Options::default());
    model.and_then(|model| lower(Arc::new(model)).ok())
}

/// Random programs; `VOLEE_PROGRAMS` asks for more.
fn count() -> u64 {
    std::env::var("VOLEE_PROGRAMS").ok().and_then(|text| text.parse().ok()).unwrap_or(300)
}

/// Compares one program. However many workers there are, what is shown is the same.
fn compare(machine: &mut Machine, seed: u64) {
    let invariant = ["g0 < 2", "len(qb) == 0", "g0 + len(qb) != 2"][seed as usize % 3];
    let Ok(predicate) = machine.predicate(invariant) else { return };
    let goal = machine.predicate("g0 == 1").expect("as the other");
    // What was met lately is not looked up again, from the beginning in every other program.
    let near = if seed.is_multiple_of(2) { 0 } else { Check::default().near };
    let questions = Check::new().invariant(invariant, predicate).goal("g0 == 1", goal).near(near);
    let (depth, breadth) = (Order::DepthFirst, Order::BreadthFirst);
    if seed.is_multiple_of(3) {
        compare_hunts(machine, &questions, seed);
    }
    for (order, reduction, all_errors) in [
        (depth, Reduction::None, true),
        (depth, Reduction::None, false),
        (depth, Reduction::Both, false),
        (breadth, Reduction::None, false),
    ] {
        let how = questions.clone().order(order).reduction(reduction).all_errors(all_errors);
        let alone = check(&mut machine.clone(), &how, &meter(), &mut Quiet);
        if alone.statistics.states > 20_000 {
            return;
        }
        let other = if near == 0 { u64::MAX } else { 0 };
        let otherwise = check(&mut machine.clone(), &how.clone().near(other), &meter(), &mut Quiet);
        assert_eq!(verdicts(&otherwise), verdicts(&alone), "seed {seed}, {reduction:?}");
        assert_replays(machine, &otherwise);
        let figures = |o: &Outcome| (o.statistics.states, o.statistics.transitions);
        if reduction == Reduction::None && (all_errors || verdicts(&alone)[0].0 != "all") {
            assert_eq!(figures(&otherwise), figures(&alone), "seed {seed}");
        }
        let mut crews: Vec<Outcome> = Vec::new();
        for workers in [1, 2, 3, 8] {
            let crew = by_crew(machine, &how, workers, seed % 40);
            let context = format!("seed {seed}, {workers} workers, {reduction:?}, all errors: {all_errors}");
            assert_eq!(verdicts(&crew), verdicts(&alone), "{context}");
            assert_replays(machine, &crew);
            if order == breadth {
                assert_eq!(crew.statistics.max_depth, alone.statistics.max_depth, "{context}");
            }
            if workers == 1 || all_errors || order == breadth {
                assert_eq!(crew.answers, alone.answers, "{context}");
            }
            if reduction == Reduction::None && (all_errors || verdicts(&alone)[0].0 != "all") {
                assert_eq!(figures(&crew), figures(&alone), "{context}");
            }
            if let Some(other) = crews.last().filter(|_| workers > 1) {
                assert_eq!((&crew.answers, figures(&crew)), (&other.answers, figures(other)), "{context}");
            }
            crews.extend((workers > 1).then_some(crew));
        }
    }
}

/// Whether there are other errors than goals that are not reached.
fn has_errors(outcome: &Outcome) -> bool {
    outcome.answers.iter().any(|answer| answer.errors > 0 && !answer.question.starts_with("reachable"))
}

/// Hunts, and bits by all cores: what they decide is so.
fn compare_hunts(machine: &mut Machine, questions: &Check, seed: u64) {
    for reduction in [Reduction::None, Reduction::Both] {
        let questions = questions.clone().reduction(reduction).seed(seed);
        let alone = check(&mut machine.clone(), &questions, &meter(), &mut Quiet);
        if alone.statistics.states > 20_000 {
            return;
        }
        let expected = verdicts(&alone);
        for workers in [1, 2, 3, 8] {
            let context = format!("seed {seed}, {workers} workers, {reduction:?}");
            let hunt = by_crew(machine, &questions.clone().hunt(true), workers, seed % 40);
            assert_eq!(verdicts(&hunt), expected, "{context}");
            assert_replays(machine, &hunt);
            let bits = questions.clone().approximation(Some(Approximation::Bitstate));
            let bits = by_crew(machine, &bits, workers, seed % 40);
            assert_eq!(has_errors(&bits), has_errors(&alone), "{context}");
            assert_replays(machine, &bits);
        }
    }
}

#[test]
fn random_programs_have_the_same_answers_with_any_number_of_workers() {
    for seed in 0..count() {
        let text = program(seed, Audience::Ourselves).to_string();
        let Some(lowered) = lowered(&text) else { continue };
        compare(&mut lowered.machine(MachineOptions::default()), seed);
    }
}

/// Twelve bytes, each a component, that take all values one after the other, a few at a time.
#[derive(Clone)]
pub(crate) struct Walk {
    pub(crate) states: u32,
    pub(crate) error: Option<u32>,
}

impl Walk {
    pub(crate) fn state(number: u32) -> [u8; 12] {
        let mixed = (u64::from(number) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15).to_le_bytes();
        let mut state = [0; 12];
        state[..8].copy_from_slice(&mixed);
        state[8..].copy_from_slice(&number.to_le_bytes());
        state
    }

    pub(crate) fn number(state: &[u8]) -> u32 {
        u32::from_le_bytes([state[8], state[9], state[10], state[11]])
    }
}

impl System for Walk {
    fn initial(&mut self, push: &mut dyn FnMut(&[u8]) -> Flow) -> Flow {
        push(&Walk::state(0))
    }

    fn steps(&mut self, state: &[u8], sink: &mut dyn Sink) -> Flow {
        let number = Walk::number(state);
        for target in [number * 2 + 1, number * 2 + 2, number / 2] {
            if target < self.states {
                sink.push(Step::labelled(0), &Walk::state(target))?;
            }
        }
        Flow::Continue(())
    }

    fn label(&self, _: Label) -> Cow<'_, str> {
        "step".into()
    }

    fn holds(&mut self, _: PredicateId, state: &[u8]) -> Result<bool, volee_system::FaultId> {
        Ok(self.error != Some(Walk::number(state)))
    }

    fn components(&self) -> Option<Components> {
        Some(Components { ends: (1..=12).collect(), records: None })
    }
}

#[test]
fn names_that_outgrow_a_word_on_the_way_are_the_same_for_all() {
    for (states, from) in [(5_000, 1), (60_000, 100), (60_000, 20_000)] {
        for (error, errors) in [(None, 0), (Some(states - 7), 1)] {
            let walk = Walk { states, error };
            let how = Check::new().invariant("no error", PredicateId(0));
            let alone = check(&mut walk.clone(), &how, &meter(), &mut Quiet);
            assert_eq!(alone.answers[2].errors, errors);
            for workers in [2, 3, 5] {
                let crew = by_crew(&walk, &how, workers, from);
                assert_eq!(crew.answers, alone.answers);
                if error.is_none() {
                    let figures = |o: &Outcome| (o.statistics.states, o.statistics.transitions);
                    assert_eq!(figures(&crew), (u64::from(states), figures(&alone).1));
                }
            }
        }
    }
}

/// Processes that count: many states, few values, remembered steps, and sets of steps that stand for all.
const COUNTERS: &str =
    "byte x; active [3] proctype P() { byte i; do :: i < 40 -> i++ :: i == 40 -> x = 1; break od }";

#[test]
fn a_large_program_is_explored_alike_by_one_and_by_several() {
    let lowered = lowered(COUNTERS).expect("it is Promela");
    for plain in [true, false] {
        let machine = lowered.machine(MachineOptions { plain, ..MachineOptions::default() });
        let alone = check(&mut machine.clone(), &Check::new(), &meter(), &mut Quiet);
        assert!(alone.statistics.states > 50_000);
        for workers in [2, 4] {
            let crew = by_crew(&machine, &Check::new(), workers, 3_000);
            assert_eq!(crew.answers, alone.answers);
            assert_eq!(crew.statistics.states, alone.statistics.states);
            assert_eq!(crew.statistics.transitions, alone.statistics.transitions);
        }
    }
}

#[test]
fn all_errors_are_counted_by_all_and_shown_as_by_one() {
    let walk = Walk { states: 60_000, error: Some(30_000) };
    for order in [Order::DepthFirst, Order::BreadthFirst] {
        let how = Check::new().invariant("no error", PredicateId(0)).all_errors(true).order(order);
        let alone = check(&mut walk.clone(), &how, &meter(), &mut Quiet);
        for (workers, from) in [(2, 1_000), (3, 45_000)] {
            let crew = by_crew(&walk, &how, workers, from);
            assert_eq!((&crew.answers, crew.statistics.workers), (&alone.answers, workers as u64));
            assert_eq!(crew.statistics.transitions, alone.statistics.transitions);
        }
    }
}

#[test]
fn without_memory_for_all_the_search_goes_on_alone() {
    let walk = Walk { states: 60_000, error: None };
    let another = || Some((Box::new(walk.clone()) as Box<dyn System>, Check::new()));
    let crew = Crew::new(2, &another).from(1_000);
    let little = Meter::start(Budget { memory: Some(500_000), ..Budget::default() });
    let outcome = check_with(&mut walk.clone(), &Check::new(), Some(&crew), &little, &mut Quiet);
    let alone = check(&mut walk.clone(), &Check::new(), &little, &mut Quiet);
    assert_eq!(outcome.answers, alone.answers);
}

#[test]
fn workers_choose_steps_by_what_they_have_numbered_themselves() {
    // The first process goes round for ever, alone where nobody else is looked at.
    let model = "byte g; active proctype P() { select (g : 0 .. 2) }
        active proctype Q() { byte l, a[2]; for (l in a) { for (l in a) { break } } }";
    let mut machine = lowered(model).expect("a program").machine(MachineOptions::default());
    let predicate = machine.predicate("g < 2").expect("a predicate");
    let how = Check::new().invariant("g < 2", predicate).reduction(Reduction::Both);
    for from in 0..12 {
        for all in [false, true] {
            let outcome = by_crew(&machine, &how.clone().all_errors(all), 2, from);
            assert_eq!(verdicts(&outcome), [("all", "violated")], "from {from} states on");
        }
    }
}

#[test]
fn a_worker_that_cannot_begin_leaves_the_work_to_one() {
    let walk = Walk { states: 5_000, error: None };
    let crew = Crew::new(3, &|| None).from(100);
    let outcome = check_with(&mut walk.clone(), &Check::new(), Some(&crew), &meter(), &mut Quiet);
    assert_eq!(outcome.statistics.states, 5_000);
}

/// Processes that go round beside one that counts: most targets were met lately, and names change on the way.
#[test]
fn what_was_met_lately_is_counted_and_not_looked_up() {
    let text = "byte c;
        active proctype Counts() { do :: atomic { c < 40 -> c = c + 1 } od }
        active [6] proctype Round() { byte x; do :: atomic { x < 3 -> x = x + 1 } :: atomic { x == 3 -> x = 0 } od }";
    let machine = Machine::new(lowered(text).expect("it is a program").program, MachineOptions::default());
    let (turns, counts) = (4u64.pow(6), 41);
    let expected = (turns * counts, 6 * turns * counts + turns * (counts - 1) + 1);
    for order in [Order::DepthFirst, Order::BreadthFirst] {
        for near in [0, u64::MAX] {
            let how = Check::new().order(order).all_errors(true).near(near);
            for workers in [1, 2] {
                let statistics = by_crew(&machine, &how, workers, 1000).statistics;
                assert_eq!(
                    (statistics.states, statistics.transitions),
                    expected,
                    "{order:?} {near} {workers}"
                );
            }
        }
    }
}
