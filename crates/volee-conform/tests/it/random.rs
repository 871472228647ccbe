//! Random specifications, purposes and implementations, everything compared with the definitions.

use std::collections::{BTreeSet, HashMap, HashSet};

use volee_bes::Solver;
use volee_conform::random::{Shape, implementation, purpose, specification};
use volee_conform::{
    ConformError, DELTA, Determinised, Interface, Livelock, Node, Purpose, Specification, TestGraph,
    by_equations, direct, ioco, test_of_trace,
};
use volee_lts::{Lts, Relation, compare};
use volee_system::{Budget, Meter, Quiet, Random};

use crate::naive::{self, Naive, QUIET, Set};

const SHAPE: Shape = Shape { states: 6, inputs: 2, outputs: 3, internal: 25 };

fn with<R>(
    lts: &Lts,
    goal: Purpose,
    livelock: Livelock,
    use_it: impl FnOnce(&mut Determinised<'_>) -> R,
) -> R {
    let meter = Meter::start(Budget::default());
    let (mut system, mut quiet) = (lts, Quiet);
    let seen = Specification::new(&mut system, Interface::default(), livelock, &meter, &mut quiet);
    use_it(&mut Determinised::new(seen, goal))
}

fn name(graph: &TestGraph, action: volee_conform::ActionId) -> &str {
    if action == DELTA { QUIET } else { graph.actions().name(action) }
}

/// Every node of a complete test graph has exactly the steps that the definitions give it.
fn agrees_with_the_definitions(graph: &TestGraph, naive: &Naive) {
    let mut seen: HashSet<(Node, Set)> = HashSet::new();
    let mut leads: HashMap<Set, bool> = HashMap::new();
    let mut stack = vec![(Node(0), naive.initial())];
    while let Some((node, set)) = stack.pop() {
        if !seen.insert((node, set.clone())) {
            continue;
        }
        let mut expected = BTreeSet::new();
        for label in naive.possible(&set) {
            let next = naive.after(&set, &label);
            let kind = match (
                naive.accepts(&next),
                *leads.entry(next.clone()).or_insert_with(|| naive.leads(&next)),
            ) {
                (true, _) => "pass",
                (false, true) => "inner",
                (false, false) if naive::is_input(&label) => continue,
                (false, false) => "inconclusive",
            };
            expected.insert((label.clone(), kind));
            let edge = graph.edges(node).iter().find(|e| name(graph, e.action) == label);
            let target = edge.unwrap_or_else(|| panic!("{label} is missing")).target;
            if target.verdict().is_none() {
                stack.push((target, next));
            }
        }
        let kind = |target: Node| match target {
            Node::PASS => "pass",
            Node::INCONCLUSIVE => "inconclusive",
            _ => "inner",
        };
        let found: BTreeSet<(String, &str)> =
            graph.edges(node).iter().map(|e| (name(graph, e.action).to_owned(), kind(e.target))).collect();
        assert_eq!(found, expected);
    }
}

/// Whether some run of a test against an implementation ends in FAIL.
fn can_fail(graph: &TestGraph, naive: &Naive) -> bool {
    let mut seen: HashSet<(Node, Set)> = HashSet::new();
    let mut stack = vec![(Node(0), naive.initial())];
    while let Some((node, set)) = stack.pop() {
        if node.verdict().is_some() || !seen.insert((node, set.clone())) {
            continue;
        }
        for edge in graph.sends(node) {
            stack.push((edge.target, naive.after(&set, name(graph, edge.action))));
        }
        for label in naive.possible(&set).iter().filter(|l| naive::is_output(l)) {
            match graph.observations(node).find(|e| name(graph, e.action) == label) {
                Some(edge) => stack.push((edge.target, naive.after(&set, label))),
                None => return true,
            }
        }
    }
    false
}

#[derive(Default, Debug)]
struct Count {
    tests: u32,
    without_test: u32,
    conforming: u32,
    failing: u32,
}

fn triple(seed: u64, count: &mut Count) {
    let rng = &mut Random::new(seed);
    let livelock = if rng.chance(1, 2) { Livelock::Quiescent } else { Livelock::Ignored };
    let lts = specification(SHAPE, rng).expect("small");
    let goal = purpose(SHAPE, rng).expect("small");
    let other = implementation(&lts, SHAPE, rng).expect("small");
    let definition = Naive::new(&lts, Some(&goal), livelock);
    let plain = Naive::new(&lts, None, livelock);
    let implemented = Naive::new(&other, None, livelock);
    let bad = naive::ioco(&plain, &implemented);
    count.conforming += u32::from(bad.is_none());

    let automaton = || Purpose::automaton(&goal).expect("it is deterministic");
    let selected = with(&lts, automaton(), livelock, direct);
    let meter = Meter::start(Budget::default());
    let solver = if rng.chance(1, 2) { Solver::DepthFirst } else { Solver::Auto };
    let other_way = with(&lts, automaton(), livelock, |p| by_equations(p, solver, &meter, &mut Quiet));
    match (selected, other_way) {
        (Ok(selected), Ok((by_equations, raw))) => {
            count.tests += 1;
            assert!(raw.states > 0);
            let graph = selected.graph;
            agrees_with_the_definitions(&graph, &definition);
            let difference = compare(&graph.to_lts(), &by_equations.graph.to_lts(), Relation::Strong, &meter);
            assert!(difference.expect("small").is_none(), "the two methods differ");
            let small = graph.reduced(&meter).expect("small");
            let difference = compare(&graph.to_lts(), &small.to_lts(), Relation::Strong, &meter);
            assert!(difference.expect("small").is_none(), "the reduction differs");
            for case in [graph.case(), small.case()] {
                assert!(case.is_controllable());
                let fails = can_fail(&case, &implemented);
                assert!(!fails || bad.is_some(), "FAIL against an implementation that conforms");
            }
            assert!(bad.is_some() || !can_fail(&graph, &implemented));
        }
        (Err(ConformError::NoTest), Err(ConformError::NoTest)) => {
            count.without_test += 1;
            assert!(!definition.leads(&definition.initial()));
        }
        (Err(ConformError::Input(a)), Err(ConformError::Input(b))) => {
            assert_eq!(a.message, b.message);
            assert!(definition.accepts(&definition.initial()), "{a}");
        }
        (a, b) => panic!("direct {a:?}, equations {:?}", b.map(|b| b.1)),
    }
    bad_trace_is_found(&lts, &other, livelock, bad, &implemented, count);
}

/// The model-level check agrees with the definition, and the test of the bad trace fails the implementation.
fn bad_trace_is_found(
    lts: &Lts,
    other: &Lts,
    livelock: Livelock,
    bad: Option<(Vec<String>, String)>,
    implemented: &Naive,
    count: &mut Count,
) {
    with(lts, Purpose::nothing(), livelock, |ours| {
        let found = with(other, Purpose::nothing(), livelock, |theirs| ioco(ours, theirs)).expect("small");
        assert_eq!(found.is_some(), bad.is_some());
        let Some(found) = found else { return };
        assert_eq!(found.trace.len(), bad.expect("both found one").0.len(), "both are shortest");
        count.failing += 1;
        let case = test_of_trace(ours, &found.trace).expect("a trace of the specification");
        assert!(case.is_controllable());
        assert!(can_fail(&case, implemented), "the test of a bad trace fails");
    });
}

#[test]
fn random_triples_agree_with_the_definitions() {
    triples(0);
}

#[test]
fn other_random_triples_agree_with_the_definitions() {
    triples(10_000);
}

/// Ten thousand triples; two tests share the twenty thousand, because a machine has several processors.
fn triples(first: u64) {
    let mut count = Count::default();
    for seed in first..first + 10_000 {
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| triple(seed, &mut count)));
        assert!(done.is_ok(), "seed {seed}");
    }
    println!("{count:?}");
    assert!(count.tests > 2_500 && count.without_test > 250, "{count:?}");
    assert!(count.conforming > 1_000 && count.failing > 1_000, "{count:?}");
}
