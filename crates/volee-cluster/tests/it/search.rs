//! Reachability on several workers has the counts and verdicts of the sequential search, and witnesses that
//! replay.

use std::borrow::Cow;

use volee_cluster::search::{joined, work};
use volee_cluster::threads::on_threads;
use volee_lts::generate::{AlternatingBit, Philosophers};
use volee_search::{Check, Order, Outcome, check};
use volee_system::{
    Budget, Diagnostic, Draft, Fault, FaultId, FaultKind, Flow, Label, Meter, PredicateId, Quiet, Random,
    Sink, Step, System, Verdict, replay,
};

/// A random system of states with a few bytes, some steps of which have faults.
#[derive(Debug, Clone)]
pub struct Small {
    steps: Vec<Vec<(u32, u16, Option<u32>)>>,
    initial: Vec<u16>,
}

impl Small {
    pub fn random(random: &mut Random, most: u64) -> Self {
        let states = 1 + random.below(most);
        let step = |random: &mut Random| {
            let fault = random.percent(3).then(|| random.below(3) as u32);
            (random.below(4) as u32, random.below(states) as u16, fault)
        };
        let row = |random: &mut Random| {
            let count = if random.percent(5) { 0 } else { 1 + random.below(4) };
            (0..count).map(|_| step(random)).collect()
        };
        let steps = (0..states).map(|_| row(random)).collect();
        let initial = if random.percent(80) { vec![0] } else { vec![0, random.below(states) as u16] };
        Small { steps, initial }
    }
}

fn packed(state: u16) -> Vec<u8> {
    let mut bytes = state.to_le_bytes().to_vec();
    bytes.resize(2 + usize::from(state % 3) * 9, state as u8);
    bytes
}

impl System for Small {
    fn initial(&mut self, push: &mut dyn FnMut(&[u8]) -> Flow) -> Flow {
        self.initial.iter().try_for_each(|s| push(&packed(*s)))
    }
    fn steps(&mut self, state: &[u8], sink: &mut dyn Sink) -> Flow {
        let at = usize::from(u16::from_le_bytes([state[0], state[1]]));
        self.steps[at].iter().try_for_each(|(label, target, fault)| {
            let step = Step { fault: fault.map(FaultId), ..Step::labelled(*label) };
            sink.push(step, &packed(*target))
        })
    }
    fn label(&self, label: Label) -> Cow<'_, str> {
        format!("l{}", label.0).into()
    }
    fn fault(&self, fault: FaultId) -> Fault {
        Fault { kind: FaultKind::Assertion, message: format!("fault {}", fault.0), place: None }
    }
    fn holds(&mut self, predicate: PredicateId, state: &[u8]) -> Result<bool, FaultId> {
        Ok(u32::from(u16::from_le_bytes([state[0], state[1]])) % 64 != predicate.0)
    }
}

impl Draft for Small {
    fn predicate(&mut self, text: &str) -> Result<PredicateId, Diagnostic> {
        Ok(PredicateId(text.parse().expect("a number")))
    }

    fn system(&mut self) -> &mut dyn System {
        self
    }

    fn build(self: Box<Self>) -> Box<dyn System> {
        self
    }
}

fn on<S: System + Clone + Sync>(workers: usize, system: &S, questions: &Check) -> Outcome {
    let meter = Meter::start(Budget::default());
    let parts =
        on_threads(workers, &meter, &mut |_| {}, |driver| work(driver, &mut system.clone(), questions));
    joined(&mut system.clone(), questions, parts.expect("small"), &meter).expect("all was looked at").0
}

pub fn sequential<S: System + Clone>(system: &S, questions: &Check) -> Outcome {
    let meter = Meter::start(Budget::default());
    check(&mut system.clone(), questions, &meter, &mut Quiet)
}

/// The same verdicts; reasons in any order; every witness is a run.
pub fn compare<S: System + Clone>(
    system: &S,
    all_errors: bool,
    ours: &Outcome,
    theirs: &Outcome,
    context: &str,
) {
    assert_eq!(ours.answers.len(), theirs.answers.len());
    let violated =
        |outcome: &Outcome| outcome.answers.iter().any(|a| matches!(a.verdict, Verdict::Violated(_)));
    assert_eq!(violated(ours), violated(theirs), "{context}");
    for (a, b) in ours.answers.iter().zip(&theirs.answers) {
        assert_eq!(a.question, b.question, "{context}");
        if let Verdict::Violated(all) = &a.verdict {
            for violation in all.iter().filter(|v| v.reason.kind != volee_system::ReasonKind::Unreachable) {
                let run = replay(&mut system.clone(), &violation.witness);
                assert!(run.is_ok(), "{context}: {run:?}");
            }
        }
        if let Some(witness) = &a.witness {
            assert!(replay(&mut system.clone(), witness).is_ok(), "{context}");
        }
        if !all_errors {
            continue;
        }
        assert_eq!(a.errors, b.errors, "{context}, {}", a.question);
        let reasons = |verdict: &Verdict| match verdict {
            Verdict::Violated(all) => {
                let mut all: Vec<String> = all.iter().map(|v| v.reason.message.clone()).collect();
                all.sort();
                all
            }
            other => vec![format!("{other:?}")],
        };
        assert_eq!(reasons(&a.verdict), reasons(&b.verdict), "{context}");
    }
    if all_errors || !violated(theirs) {
        assert_eq!(ours.statistics.states, theirs.statistics.states, "{context}");
        assert_eq!(ours.statistics.transitions, theirs.statistics.transitions, "{context}");
    }
}

#[test]
fn random_systems_are_explored_alike_on_1_to_4_workers() {
    for seed in 0..600 {
        let mut random = Random::new(seed);
        let mut system = Small::random(&mut random, 60);
        let all_errors = random.percent(60);
        let mut questions = Check::new().all_errors(all_errors).order(Order::BreadthFirst);
        if random.percent(50) {
            let predicate = system.predicate(&random.below(64).to_string()).expect("a number");
            questions = questions.invariant("i", predicate);
        }
        if random.percent(50) {
            let predicate = system.predicate("64").expect("a number");
            questions = questions.goal("g", predicate);
        }
        let workers = 1 + (seed % 4) as usize;
        let context = format!("seed {seed}, {workers} workers");
        let (ours, theirs) = (on(workers, &system, &questions), sequential(&system, &questions));
        compare(&system, all_errors, &ours, &theirs, &context);
    }
}

#[test]
fn families_have_as_many_states_on_several_workers() {
    let questions = Check::new().all_errors(true).order(Order::BreadthFirst);
    let abp = AlternatingBit::new(8, 2);
    let theirs = sequential(&abp, &questions);
    assert_eq!(theirs.statistics.states, 34 * 64 + 136 * 8 + 12);
    for workers in [1, 2, 3, 4] {
        compare(&abp, true, &on(workers, &abp, &questions), &theirs, "abp");
    }
}

#[test]
fn most_steps_of_a_protocol_stay_with_one_worker_and_both_have_their_share() {
    let abp = AlternatingBit::new(100, 1);
    let (questions, meter) = (Check::new(), Meter::start(Budget::default()));
    let parts = on_threads(2, &meter, &mut |_| {}, |driver| work(driver, &mut abp.clone(), &questions));
    let (outcome, accounts) =
        joined(&mut abp.clone(), &questions, parts.expect("small"), &meter).expect("all was looked at");
    assert_eq!(outcome.statistics.states, 6 * 100 * 100 + 50 * 100 + 8);
    let messages: u64 = accounts.iter().map(|a| a.messages).sum();
    assert!(messages * 4 < outcome.statistics.transitions, "{accounts:?}");
    let largest = accounts.iter().map(|a| a.figures.states).max().expect("two");
    assert!(largest * 10 < outcome.statistics.states * 7, "{accounts:?}");
}

#[test]
fn a_deadlock_is_found_with_the_way_to_it() {
    let dinner = Philosophers::new(6);
    for workers in [1, 2, 4] {
        let questions = Check::new();
        let outcome = on(workers, &dinner, &questions);
        let Verdict::Violated(found) = &outcome.answers[0].verdict else { panic!("{:?}", outcome.answers) };
        let run = replay(&mut dinner.clone(), &found[0].witness).expect("it replays");
        assert!(run.steps.len() >= 6);
    }
}
