//! Searches in less memory than the states need: every state is still visited, or the answer is unknown.

use std::borrow::Cow;
use std::collections::HashSet;

use volee_search::{Check, Outcome, Replacement, check};
use volee_system::{
    Budget, FaultId, Flow, Label, Meter, PredicateId, Quiet, Random, Sink, Step, System, Verdict, Witness,
    collect_initial, collect_steps,
};

pub(crate) const POLICIES: [Replacement; 6] = [
    Replacement::Random,
    Replacement::Oldest,
    Replacement::LeastDeep,
    Replacement::LeastFrequent,
    Replacement::Clock,
    Replacement::Cheapest,
];

/// A predicate with this bit is false of one number in so many.
const SELDOM: u32 = 1 << 31;

/// A random graph whose states are numbers; some lead back, most lead on. It notes which states were
/// expanded.
pub(crate) struct Web {
    targets: Vec<Vec<u32>>,
    pad: usize,
    expanded: HashSet<u32>,
}

impl Web {
    pub(crate) fn random(seed: u64, states: usize, pad: usize) -> Self {
        let mut random = Random::new(seed);
        let targets = (0..states)
            .map(|at| {
                // Short forward edges keep paths long, long ones make states met again.
                let degree = random.below(4);
                let near = |random: &mut Random| (at + 1 + random.below(40)) % states;
                (0..=degree)
                    .map(|i| if i < 2 { near(&mut random) } else { random.below(states) } as u32)
                    .collect()
            })
            .collect();
        Web { targets, pad, expanded: HashSet::new() }
    }

    fn bytes(&self, number: u32) -> Vec<u8> {
        let mut bytes = number.to_le_bytes().to_vec();
        bytes.resize(4 + self.pad, 3);
        bytes
    }

    pub(crate) fn reachable(&self) -> HashSet<u32> {
        let mut seen = HashSet::from([0]);
        let mut work = vec![0u32];
        while let Some(at) = work.pop() {
            for &target in &self.targets[at as usize] {
                if seen.insert(target) {
                    work.push(target);
                }
            }
        }
        seen
    }
}

fn number(state: &[u8]) -> u32 {
    u32::from_le_bytes([state[0], state[1], state[2], state[3]])
}

impl System for Web {
    fn initial(&mut self, push: &mut dyn FnMut(&[u8]) -> Flow) -> Flow {
        push(&self.bytes(0))
    }

    fn steps(&mut self, state: &[u8], sink: &mut dyn Sink) -> Flow {
        let at = number(state);
        self.expanded.insert(at);
        self.targets[at as usize]
            .iter()
            .try_for_each(|&target| sink.push(Step::labelled(target), &self.bytes(target)))
    }

    fn label(&self, label: Label) -> Cow<'_, str> {
        label.0.to_string().into()
    }

    fn is_valid_end(&mut self, _: &[u8]) -> bool {
        true
    }

    fn holds(&mut self, predicate: PredicateId, state: &[u8]) -> Result<bool, FaultId> {
        let [number, id] = [number(state), predicate.0];
        Ok(if id & SELDOM == 0 { number == id } else { number % (id ^ SELDOM) != 1 })
    }
}

pub(crate) fn run(web: &mut Web, questions: &Check, memory: u64) -> Outcome {
    let time = Some(std::time::Duration::from_millis(300));
    let budget = Budget { memory: Some(memory), time, ..Budget::default() };
    check(web, questions, &Meter::start(budget), &mut Quiet)
}

fn follow(web: &mut Web, witness: &Witness) -> u32 {
    let mut state = collect_initial(web)[witness.initial as usize].clone();
    for &ordinal in &witness.steps {
        state = collect_steps(web, &state)[ordinal as usize].1.clone();
    }
    number(&state)
}

#[test]
fn every_reachable_state_is_expanded_although_most_are_forgotten() {
    let mut ended = 0;
    for seed in 0..60 {
        let mut web = Web::random(seed, 2500, 0);
        let reachable = web.reachable();
        for (policy, memory) in POLICIES.into_iter().zip([18u64, 20, 22, 24, 26].into_iter().cycle()) {
            web.expanded.clear();
            let questions = Check::new().replacement(Some(policy)).seed(seed);
            let outcome = run(&mut web, &questions, memory << 10);
            match &outcome.answers[0].verdict {
                Verdict::Holds => {
                    assert_eq!(web.expanded, reachable, "seed {seed} {policy:?}");
                    let Some(turnover) = outcome.statistics.turnover.clone() else { continue };
                    assert!(turnover.replaced > 0 && turnover.insertions >= reachable.len() as u64);
                    assert!(turnover.hit_rate > 0.0 && turnover.hit_rate < 1.0);
                    let off = turnover.distinct.abs_diff(reachable.len() as u64) as f64;
                    assert!(off < 5.0 * turnover.distinct_error * reachable.len() as f64, "{turnover:?}");
                    ended += 1;
                }
                Verdict::Unknown(limit) => assert!(["memory", "time"].contains(&limit.kind()), "{limit:?}"),
                Verdict::Violated(_) => panic!("there is no error to find"),
            }
            assert!(
                outcome.statistics.memory_bytes <= memory << 10,
                "{policy:?} {memory} {:?}",
                outcome.statistics
            );
        }
    }
    assert!(ended > 60, "only {ended} searches came to an end");
}

#[test]
fn a_goal_is_found_with_its_way_and_nothing_is_found_that_is_not_there() {
    for seed in 0..12 {
        let mut web = Web::random(1000 + seed, 2500, 17);
        let reachable = web.reachable();
        for goal in [2499u32, 1700 + seed as u32, 900, 77] {
            let questions = Check::new().goal("there", PredicateId(goal)).seed(seed);
            let outcome = run(&mut web, &questions, 64 << 10);
            let answer = &outcome.answers[2];
            match &answer.verdict {
                Verdict::Holds => {
                    let witness = answer.witness.clone().expect("a way");
                    assert_eq!(follow(&mut web, &witness), goal);
                }
                Verdict::Violated(_) => assert!(!reachable.contains(&goal)),
                Verdict::Unknown(limit) => assert!(["memory", "time"].contains(&limit.kind())),
            }
        }
    }
}

#[test]
fn a_budget_that_suffices_forgets_nothing() {
    let mut web = Web::random(5, 2500, 9);
    let reachable = web.reachable();
    let outcome = run(&mut web, &Check::new(), 64 << 20);
    assert_eq!(outcome.statistics.states, reachable.len() as u64);
    assert_eq!(outcome.statistics.turnover, None);
}

#[test]
fn memory_counted_in_states_expands_every_state_and_counts_each_error_once() {
    let (mut ended, mut forgot) = (0, 0);
    for seed in 0..150 {
        let mut web = Web::random(seed, 60, 0);
        let reachable = web.reachable();
        for states in [1000, 55, 45, 30, 10] {
            web.expanded.clear();
            let questions = Check::new().all_errors(true).invariant("it is zero", PredicateId(0)).seed(seed);
            let outcome = run(&mut web, &questions.states(Some(states)), 64 << 20);
            if outcome.limit.is_some() {
                continue;
            }
            ended += 1;
            forgot += usize::from(outcome.statistics.turnover.is_some());
            assert_eq!(web.expanded, reachable, "seed {seed}, {states} states");
            assert_eq!(outcome.answers[2].errors, reachable.len() as u64 - 1, "seed {seed}, {states} states");
            let Verdict::Violated(found) = &outcome.answers[2].verdict else {
                assert_eq!(reachable.len(), 1);
                continue;
            };
            assert_ne!(follow(&mut web, &found[0].witness), 0);
        }
    }
    assert!(ended > 300 && forgot > 50, "{ended} searches ended, {forgot} have forgotten something");
}

#[test]
fn an_error_counts_once_however_often_its_state_is_met_again() {
    let mut forgot = 0;
    for seed in 0..60 {
        let mut web = Web::random(seed, 2500, 0);
        let states = web.reachable();
        let errors = states.iter().filter(|&&number| number % 50 == 1).count() as u64;
        for (policy, memory) in POLICIES.into_iter().zip([18u64, 20, 22, 24, 26].into_iter().cycle()) {
            let questions = Check::new().all_errors(true).invariant("seldom", PredicateId(SELDOM | 50));
            let outcome = run(&mut web, &questions.replacement(Some(policy)).seed(seed), memory << 10);
            if outcome.limit.is_none() {
                assert_eq!(outcome.answers[2].errors, errors, "seed {seed} {policy:?}");
                forgot += usize::from(
                    outcome.statistics.turnover.is_some_and(|t| t.insertions > states.len() as u64),
                );
            }
        }
    }
    assert!(forgot > 10, "{forgot} searches met states again");
}

/// A line of states, each as long as it is told; one step on the way has a fault.
struct Line {
    pad: usize,
    faulty: u8,
}

impl System for Line {
    fn initial(&mut self, push: &mut dyn FnMut(&[u8]) -> Flow) -> Flow {
        push(&vec![0; 1 + self.pad])
    }

    fn steps(&mut self, state: &[u8], sink: &mut dyn Sink) -> Flow {
        if state[0] == 200 {
            return Flow::Continue(());
        }
        let mut next = state.to_vec();
        next[0] += 1;
        let fault = (state[0] == self.faulty).then_some(FaultId(0));
        sink.push(Step { fault, ..Step::labelled(0) }, &next)
    }

    fn label(&self, _: Label) -> Cow<'_, str> {
        "i".into()
    }
}

#[test]
fn what_lies_behind_a_fault_is_looked_at_whatever_memory_is_counted_in() {
    for (states, memory) in [(Some(300), 1 << 20), (None, 1 << 20)] {
        let mut line = Line { pad: 100, faulty: 50 };
        let budget = Budget { memory: Some(memory), ..Budget::default() };
        let ask = |line: &mut Line, questions: Check| {
            check(line, &questions.states(states), &Meter::start(budget.clone()), &mut Quiet)
        };
        let both = ask(&mut line, Check::new().all_errors(true));
        let errors: Vec<u64> = both.answers.iter().map(|answer| answer.errors).collect();
        assert_eq!((errors, both.limit), (vec![1, 1], None), "{states:?} {memory}");
        let Verdict::Violated(found) = &both.answers[0].verdict else { panic!("{:?}", both.answers) };
        assert_eq!(found[0].witness.steps.len(), 200);
        let alone = ask(&mut line, Check::new().faults(false));
        assert!(matches!(alone.answers[0].verdict, Verdict::Violated(_)), "{:?}", alone.answers);
    }
}
