//! Thousands of random graphs, each searched by the engine and by a twin that is too simple to be wrong.

use std::collections::VecDeque;

use volee_search::{Answer, Check, Order, Outcome, check};
use volee_system::{Budget, Meter, PredicateId, Quiet, ReasonKind, Verdict, Witness};

use crate::graph::Graph;

/// What a search must find.
struct Truth {
    states: u64,
    transitions: u64,
    /// The distance of each reachable state.
    distance: Vec<Option<usize>>,
}

fn truth(graph: &Graph) -> Truth {
    let mut distance = vec![None; graph.states.len()];
    let mut queue: VecDeque<usize> = VecDeque::new();
    for &at in &graph.initial {
        if distance[at].is_none() {
            distance[at] = Some(0);
            queue.push_back(at);
        }
    }
    let mut transitions = graph.initial.len() as u64;
    while let Some(at) = queue.pop_front() {
        for &(target, _) in &graph.edges[at] {
            transitions += 1;
            if distance[target].is_none() {
                distance[target] = distance[at].map(|d| d + 1);
                queue.push_back(target);
            }
        }
    }
    let states = distance.iter().flatten().count() as u64;
    Truth { states, transitions, distance }
}

/// The errors of a question: at what distance each is met.
fn errors(graph: &Graph, truth: &Truth, question: &str) -> Vec<usize> {
    let reachable =
        || truth.distance.iter().enumerate().filter_map(|(at, distance)| distance.map(|d| (at, d)));
    match question {
        "deadlock" => reachable()
            .filter(|&(at, _)| graph.edges[at].is_empty() && !graph.valid_end[at])
            .map(|(_, d)| d)
            .collect(),
        "assertions" => reachable()
            .flat_map(|(at, d)| {
                graph.edges[at].iter().filter(|(_, fault)| fault.is_some()).map(move |_| d + 1)
            })
            .collect(),
        "invariant p0" => reachable().filter(|&(at, _)| !graph.predicates[0][at]).map(|(_, d)| d).collect(),
        "invariant p2" => {
            reachable().filter(|&(at, _)| at % 17 == 16 || !graph.predicates[2][at]).map(|(_, d)| d).collect()
        }
        "reachable p1" => reachable().filter(|&(at, _)| graph.predicates[1][at]).map(|(_, d)| d).collect(),
        other => panic!("{other}"),
    }
}

/// Checks that a witness shows what it claims.
fn assert_shows(graph: &mut Graph, kind: ReasonKind, message: &str, witness: &Witness) {
    let (end, fault) = graph.follow(witness);
    match kind {
        ReasonKind::InvalidEndState => assert!(graph.edges[end].is_empty() && !graph.valid_end[end]),
        ReasonKind::Assertion if end % 17 == 16 && message == "fault 2" => {}
        ReasonKind::Assertion => {
            assert_eq!(fault.map(|f| format!("fault {}", f.0)).as_deref(), Some(message))
        }
        ReasonKind::Invariant => {
            let predicate = if message.contains("p0") { 0 } else { 2 };
            assert!(!graph.predicates[predicate][end]);
        }
        other => panic!("{other:?}"),
    }
}

pub fn assert_answer(graph: &mut Graph, answer: &Answer, check: &Check, exact: bool) {
    let truth = truth(graph);
    let expected = errors(graph, &truth, &answer.question);
    let shortest = expected.iter().min().copied();
    let is_goal = answer.question.starts_with("reachable");
    match &answer.verdict {
        Verdict::Holds if is_goal => {
            let witness = answer.witness.as_ref().expect("a goal that is reached has a witness");
            let (end, _) = graph.follow(witness);
            assert!(graph.predicates[1][end]);
            if check.order == Order::BreadthFirst {
                assert_eq!(Some(witness.steps.len()), shortest);
            }
        }
        Verdict::Holds => assert!(expected.is_empty(), "{} holds but should not", answer.question),
        Verdict::Violated(_) if is_goal => assert!(expected.is_empty(), "the goal is reachable"),
        Verdict::Violated(violations) => {
            assert!(!violations.is_empty());
            for violation in violations {
                let reason = &violation.reason;
                assert_shows(graph, reason.kind, &reason.message, &violation.witness);
            }
            if check.order == Order::BreadthFirst {
                assert_eq!(Some(violations[0].witness.steps.len()), shortest, "{}", answer.question);
            }
        }
        Verdict::Unknown(_) => assert!(!exact, "{} is left open", answer.question),
    }
    if check.all_errors && exact && !is_goal {
        assert_eq!(answer.errors, expected.len() as u64, "{}", answer.question);
    }
}

fn everything(order: Order) -> Check {
    Check::new()
        .order(order)
        .invariant("p0", PredicateId(0))
        .invariant("p2", PredicateId(2))
        .goal("p1", PredicateId(1))
}

fn run(graph: &mut Graph, questions: &Check, budget: Budget) -> Outcome {
    check(graph, questions, &Meter::start(budget), &mut Quiet)
}

#[test]
fn all_errors_finds_every_state_every_step_and_every_error() {
    for seed in 0..4000 {
        let mut graph = Graph::random(seed);
        let truth = truth(&graph);
        for order in [Order::DepthFirst, Order::BreadthFirst] {
            let questions = everything(order).all_errors(true);
            let outcome = run(&mut graph, &questions, Budget::default());
            assert_eq!(outcome.statistics.states, truth.states, "seed {seed} {order:?}");
            assert_eq!(outcome.statistics.transitions, truth.transitions, "seed {seed} {order:?}");
            assert_eq!(outcome.answers.len(), 5);
            for answer in &outcome.answers {
                assert_answer(&mut graph, answer, &questions, true);
            }
        }
    }
}

#[test]
fn the_first_error_decides_one_question_and_leaves_none_wrong() {
    for seed in 0..3000 {
        let mut graph = Graph::random(seed);
        for order in [Order::DepthFirst, Order::BreadthFirst] {
            let together = everything(order);
            let outcome = run(&mut graph, &together, Budget::default());
            let violated = |a: &&Answer| matches!(a.verdict, Verdict::Violated(_)) && a.witness.is_none();
            let stopped = outcome.answers[..4].iter().filter(violated).count() > 0;
            for answer in &outcome.answers {
                assert_answer(&mut graph, answer, &together, !stopped);
            }
            let nothing = Check::new().order(order).deadlocks(false).faults(false);
            for alone in [
                nothing.clone().deadlocks(true),
                nothing.clone().faults(true),
                nothing.clone().invariant("p2", PredicateId(2)),
                nothing.clone().goal("p1", PredicateId(1)),
            ] {
                let outcome = run(&mut graph, &alone, Budget::default());
                assert_eq!(outcome.answers.len(), 1);
                assert_answer(&mut graph, &outcome.answers[0], &alone, true);
            }
        }
    }
}

#[test]
fn a_bound_on_depth_never_makes_an_answer_wrong() {
    for seed in 0..2000 {
        let mut graph = Graph::random(seed);
        for order in [Order::DepthFirst, Order::BreadthFirst] {
            let questions = everything(order).all_errors(true);
            let budget = Budget { depth: Some(seed % 6), ..Budget::default() };
            let outcome = run(&mut graph, &questions, budget);
            assert!(outcome.statistics.max_depth <= seed % 6);
            for answer in &outcome.answers {
                assert_answer(&mut graph, answer, &questions, outcome.limit.is_none());
            }
        }
    }
}
