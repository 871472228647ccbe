//! Hunts: what they find is real, what they say holds was seen in full, and a shallow error does not wait
//! behind a deep search.

use std::borrow::Cow;

use volee_search::{Approximation, Check, Crew, Outcome, check, check_with};
use volee_system::{
    Budget, Components, FaultId, Flow, Label, Limit, Meter, PredicateId, Quiet, Sink, Step, System, Verdict,
    Witness, collect_initial, collect_steps, replay,
};

use crate::graph::Graph;
use crate::parallel::Walk;
use crate::twin::assert_answer;

fn with_memory(bytes: u64) -> Meter {
    Meter::start(Budget { memory: Some(bytes), ..Budget::default() })
}

fn by_crew<S: System + Clone + Sync + 'static>(
    system: &S,
    check: &Check,
    (workers, from): (usize, u64),
    memory: u64,
) -> Outcome {
    let another = || Some((Box::new(system.clone()) as Box<dyn System>, check.clone()));
    let crew = Crew::new(workers, &another).from(from);
    check_with(&mut system.clone(), check, Some(&crew), &with_memory(memory), &mut Quiet)
}

fn questions() -> Check {
    Check::new()
        .invariant("p0", PredicateId(0))
        .invariant("p2", PredicateId(2))
        .goal("p1", PredicateId(1))
        .hunt(true)
}

fn errors(outcome: &Outcome) -> u64 {
    let goals = |question: &str| question.starts_with("reachable");
    outcome.answers.iter().filter(|answer| !goals(&answer.question)).map(|answer| answer.errors).sum()
}

/// Random graphs as they are, and with memory for nothing, so that only a swarm can look.
#[test]
fn what_a_hunt_finds_is_there_and_what_it_says_holds_does() {
    let mut swarms = 0;
    for seed in 0..300 {
        let mut graph = Graph::random(seed);
        let plain = questions().hunt(false);
        let alone = check(&mut graph.clone(), &plain, &with_memory(1 << 30), &mut Quiet);
        for (workers, memory) in [(1, 1 << 30), (2, 1 << 30), (1, 1), (3, 1)] {
            let how = questions().seed(seed);
            let outcome = by_crew(&graph, &how, (workers, 3), memory);
            let is_short = memory == 1;
            let swarm = outcome.statistics.swarm.is_some();
            assert!(is_short || !swarm, "seed {seed}");
            swarms += u32::from(swarm);
            for answer in &outcome.answers {
                assert_answer(&mut graph, answer, &how, !is_short && errors(&alone) == 0);
                let proves = matches!(answer.verdict, Verdict::Holds) && answer.witness.is_none();
                assert!(!(proves && is_short), "a swarm proves nothing: {answer:?}");
                if let Verdict::Unknown(limit) = &answer.verdict
                    && errors(&outcome) == 0
                {
                    assert_eq!(limit.kind(), "memory");
                }
            }
            // So small a graph is told apart by the bits of any swarm.
            assert_eq!(errors(&outcome) > 0, errors(&alone) > 0, "seed {seed}, {workers} workers");
        }
    }
    assert!(swarms > 0, "most of them are seen before memory is looked at, but not all");
}

#[test]
fn the_same_call_gives_the_same_run_from_a_swarm() {
    let mut violated = 0;
    for seed in 0..100 {
        let graph = Graph::random(seed);
        let first = by_crew(&graph, &questions(), (3, 3), 1);
        for _ in 0..3 {
            assert_eq!(by_crew(&graph, &questions(), (3, 3), 1).answers, first.answers, "seed {seed}");
        }
        violated += u32::from(errors(&first) > 0 && first.statistics.swarm.is_some());
    }
    assert!(violated > 0, "some error is left to a swarm");
}

/// A wide plane of states, with an error somewhere.
#[derive(Clone)]
struct Plane {
    side: u16,
    error: (u16, u16),
    has_components: bool,
}

fn place(state: &[u8]) -> (u16, u16) {
    (u16::from_le_bytes([state[0], state[1]]), u16::from_le_bytes([state[2], state[3]]))
}

impl System for Plane {
    fn initial(&mut self, push: &mut dyn FnMut(&[u8]) -> Flow) -> Flow {
        push(&[0; 4])
    }

    fn steps(&mut self, state: &[u8], sink: &mut dyn Sink) -> Flow {
        let (x, y) = place(state);
        for (x, y) in [((x + 1) % self.side, y), (x, (y + 1) % self.side), (self.side - x - 1, y)] {
            let target = [x.to_le_bytes(), y.to_le_bytes()].concat();
            sink.push(Step::labelled(0), &target)?;
        }
        Flow::Continue(())
    }

    fn label(&self, _: Label) -> Cow<'_, str> {
        "step".into()
    }

    fn holds(&mut self, _: PredicateId, state: &[u8]) -> Result<bool, FaultId> {
        Ok(place(state) != self.error)
    }

    fn components(&self) -> Option<Components> {
        self.has_components.then(|| Components { ends: vec![2, 4], records: None })
    }
}

fn violation(outcome: &Outcome) -> Option<&Witness> {
    outcome.answers.iter().find_map(|answer| match &answer.verdict {
        Verdict::Violated(all) => all.first().map(|violation| &violation.witness),
        _ => None,
    })
}

/// Where a run leads.
fn end_of(plane: &mut Plane, run: &Witness) -> (u16, u16) {
    let mut state = collect_initial(plane)[run.initial as usize].clone();
    for &step in &run.steps {
        state = collect_steps(plane, &state)[step as usize].1.clone();
    }
    place(&state)
}

#[test]
fn a_shallow_error_is_found_in_the_states_of_a_breadth_first_search() {
    let plane = Plane { side: 700, error: (19, 0), has_components: true };
    let deep = Check::new().invariant("p", PredicateId(0));
    let alone = check(&mut plane.clone(), &deep, &with_memory(1 << 30), &mut Quiet);
    let hunt = by_crew(&plane, &deep.hunt(true), (2, 100_000), 1 << 30);
    let (deep, wide) = (alone.statistics.states, hunt.statistics.states);
    assert!(wide < 2_000 && deep > 10 * wide, "{deep} and {wide}");
    assert_eq!(violation(&hunt).map(|run| run.steps.len()), Some(19));
}

/// The crew begins early, so that it finds what the first two searches have not.
#[test]
fn what_workers_over_one_table_find_has_a_run() {
    for workers in [1, 2, 4, 8] {
        for error in [(19, 0), (300, 250), (0, 699), (700, 0)] {
            let mut plane = Plane { side: 700, error, has_components: true };
            let how = Check::new().deadlocks(false).invariant("p", PredicateId(0)).hunt(true);
            let outcome = by_crew(&plane, &how, (workers, 10), 1 << 30);
            if error.0 == 700 {
                assert!(outcome.limit.is_none() && violation(&outcome).is_none());
                assert_eq!(outcome.statistics.states, 490_000);
                continue;
            }
            let run = violation(&outcome).expect("there is an error");
            assert_eq!(end_of(&mut plane, run), error);
        }
    }
}

#[test]
fn goals_are_hunted_like_errors() {
    for (goal, memory) in [((650, 3), 1 << 30), ((2, 2), 1 << 12)] {
        let plane = Plane { side: 700, error: goal, has_components: true };
        // The predicate is false where the error is, so that every state but one is a goal; and with names
        // that outgrow their fields on the way.
        let how = Check::new().deadlocks(false).faults(false).goal("p", PredicateId(0)).hunt(true);
        let outcome = by_crew(&plane, &how, (2, 10), memory);
        assert!(matches!(outcome.answers[0].verdict, Verdict::Holds) && outcome.answers[0].witness.is_some());
    }
    let walk = Walk { states: 60_000, error: Some(59_993) };
    let how = Check::new().invariant("no error", PredicateId(0)).hunt(true);
    for workers in [1, 2, 3] {
        let outcome = by_crew(&walk, &how, (workers, 100), 1 << 30);
        let run = violation(&outcome).expect("there is an error");
        assert!(replay(&mut walk.clone(), run).is_ok());
        let sound = Walk { error: None, ..walk.clone() };
        assert_eq!(by_crew(&sound, &how, (workers, 100), 1 << 30).statistics.states, 60_000);
    }
}

#[test]
fn a_hunt_without_memory_says_what_it_has_covered() {
    for has_components in [true, false] {
        let plane = Plane { side: 250, error: (250, 0), has_components };
        let how = Check::new().invariant("p", PredicateId(0)).hunt(true);
        let outcome = by_crew(&plane, &how, (2, 1_000), 100_000);
        assert!(matches!(outcome.limit, Some(Limit::Memory { .. })), "{:?}", outcome.limit);
        let swarm = outcome.statistics.swarm.expect("memory is short");
        assert!(swarm.searches >= 16 && swarm.walks > 0 && swarm.largest > 10_000, "{swarm:?}");
        let distinct = swarm.distinct as f64 / 62_500.0;
        assert!((0.5..1.0 + 4.0 * swarm.distinct_error).contains(&distinct), "{swarm:?}");
        let wrong = Plane { error: (120, 125), ..plane };
        let outcome = by_crew(&wrong, &how, (2, 1_000), 100_000);
        let run = violation(&outcome).expect("a swarm finds it");
        assert!(replay(&mut wrong.clone(), run).is_ok());
    }
}

#[test]
fn a_hunt_that_is_told_to_stop_tells_so() {
    let plane = Plane { side: 700, error: (700, 0), has_components: true };
    let how = Check::new().invariant("p", PredicateId(0)).hunt(true);
    let budget = Budget::default();
    budget.cancelled.store(true, std::sync::atomic::Ordering::Relaxed);
    let another = || Some((Box::new(plane.clone()) as Box<dyn System>, how.clone()));
    let crew = Crew::new(2, &another).from(100);
    let outcome = check_with(&mut plane.clone(), &how, Some(&crew), &Meter::start(budget), &mut Quiet);
    assert_eq!(outcome.limit, Some(Limit::Cancelled));
}

/// Bits by all cores: as many states as exactly where the table is large, errors with runs, and no proof.
#[test]
fn bits_are_shared_by_all_cores() {
    for workers in [2, 3, 8] {
        let mut plane = Plane { side: 200, error: (200, 0), has_components: false };
        let how = Check::new().invariant("p", PredicateId(0)).approximation(Some(Approximation::Bitstate));
        let outcome = by_crew(&plane, &how, (workers, 100), 1 << 27);
        assert_eq!((outcome.statistics.states, outcome.statistics.workers), (40_000, workers as u64));
        assert_eq!(outcome.statistics.transitions, 120_001);
        for answer in &outcome.answers {
            assert!(matches!(answer.verdict, Verdict::Unknown(Limit::Approximation { .. })), "{answer:?}");
        }
        plane.error = (150, 20);
        let outcome = by_crew(&plane, &how, (workers, 100), 1 << 27);
        let run = violation(&outcome).expect("there is an error");
        assert_eq!(end_of(&mut plane, run), (150, 20));
    }
}
