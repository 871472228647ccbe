//! The coffee machines of the ioco literature, with the verdicts they are known for.

use volee_conform::{
    Determinised, Interface, Livelock, Purpose, Specification, TestGraph, Verdict, direct, ioco,
    test_of_trace,
};
use volee_lts::{Lts, read_aut};
use volee_system::{Budget, Meter, Quiet};

use crate::naive::{Naive, QUIET, Set, is_output};

/// After a coin: coffee or tea, as the machine likes.
const SPECIFICATION: &str = "des (0, 3, 2)\n(0, \"?coin\", 1)\n(1, \"!coffee\", 0)\n(1, \"!tea\", 0)\n";
const COFFEE: &str = "des (0, 2, 3)\n(0, \"!coffee\", 1)\n(1, ACCEPT, 1)\n";

fn read(text: &str) -> Lts {
    read_aut(&mut text.as_bytes(), "coffee", None).expect("an automaton")
}

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

fn conforms(specification: &str, implementation: &str, livelock: Livelock) -> bool {
    let (ours, theirs) = (read(specification), read(implementation));
    let bad = with(&ours, Purpose::nothing(), livelock, |ours| {
        with(&theirs, Purpose::nothing(), livelock, |theirs| ioco(ours, theirs)).expect("small")
    });
    if let Some(bad) = &bad {
        // The test of the bad trace really fails it.
        let case =
            with(&ours, Purpose::nothing(), livelock, |p| test_of_trace(p, &bad.trace)).expect("small");
        assert!(verdicts(&case, &theirs, livelock).contains(&Verdict::Fail));
    }
    bad.is_none()
}

/// All verdicts that a test can end with against an implementation.
fn verdicts(case: &TestGraph, implementation: &Lts, livelock: Livelock) -> Vec<Verdict> {
    let naive = Naive::new(implementation, None, livelock);
    let mut seen: Vec<(volee_conform::Node, Set)> = Vec::new();
    let mut stack = vec![(volee_conform::Node(0), naive.initial())];
    let mut all = Vec::new();
    let text = |action| if action == volee_conform::DELTA { QUIET } else { case.actions().name(action) };
    while let Some((node, set)) = stack.pop() {
        if let Some(verdict) = node.verdict() {
            all.push(verdict);
            continue;
        }
        if seen.contains(&(node, set.clone())) {
            continue;
        }
        seen.push((node, set.clone()));
        if let Some(edge) = case.sends(node).next() {
            stack.push((edge.target, naive.after(&set, text(edge.action))));
            continue;
        }
        for label in naive.possible(&set).iter().filter(|l| is_output(l)) {
            match case.observations(node).find(|e| text(e.action) == label) {
                Some(edge) => stack.push((edge.target, naive.after(&set, label))),
                None => all.push(Verdict::Fail),
            }
        }
    }
    all.sort_by_key(|v| format!("{v:?}"));
    all.dedup();
    all
}

fn tested(implementation: &str, livelock: Livelock) -> Vec<Verdict> {
    let goal = Purpose::automaton(&read(COFFEE)).expect("a purpose");
    let graph = with(&read(SPECIFICATION), goal, livelock, direct).expect("a test exists").graph;
    verdicts(&graph.case(), &read(implementation), livelock)
}

const CORRECT: &str =
    "des (0, 4, 2)\n(0, \"?coin\", 1)\n(1, \"!coffee\", 0)\n(1, \"!tea\", 0)\n(1, \"?coin\", 1)\n";
const COFFEE_ONLY: &str = "des (0, 3, 2)\n(0, \"?coin\", 1)\n(1, \"!coffee\", 0)\n(1, \"?coin\", 1)\n";
const SILENT: &str = "des (0, 1, 1)\n(0, \"?coin\", 0)\n";
const LIVELOCKED: &str = "des (0, 4, 2)\n(0, \"?coin\", 1)\n(1, i, 1)\n(1, \"?coin\", 1)\n(0, \"?tea\", 0)\n";
const WRONG_DRINK: &str = "des (0, 3, 2)\n(0, \"?coin\", 1)\n(1, \"!chocolate\", 0)\n(1, \"?coin\", 1)\n";

#[test]
fn the_correct_machine_conforms_and_passes_or_serves_tea() {
    assert!(conforms(SPECIFICATION, CORRECT, Livelock::Quiescent));
    let verdicts = tested(CORRECT, Livelock::Quiescent);
    assert_eq!(verdicts, [Verdict::Pass], "tea is allowed and the test tries again");
}

#[test]
fn a_machine_that_serves_only_coffee_conforms() {
    assert!(conforms(SPECIFICATION, COFFEE_ONLY, Livelock::Quiescent));
    assert_eq!(tested(COFFEE_ONLY, Livelock::Quiescent), [Verdict::Pass]);
}

#[test]
fn a_silent_machine_fails() {
    assert!(!conforms(SPECIFICATION, SILENT, Livelock::Quiescent));
    assert_eq!(tested(SILENT, Livelock::Quiescent), [Verdict::Fail]);
}

#[test]
fn a_livelocked_machine_fails_where_livelock_is_quiescence() {
    assert!(!conforms(SPECIFICATION, LIVELOCKED, Livelock::Quiescent));
    assert_eq!(tested(LIVELOCKED, Livelock::Quiescent), [Verdict::Fail]);
    // For Tretmans it is not quiescent, and outputs nothing that is wrong.
    assert!(conforms(SPECIFICATION, LIVELOCKED, Livelock::Ignored));
}

#[test]
fn a_machine_that_serves_something_else_fails() {
    assert!(!conforms(SPECIFICATION, WRONG_DRINK, Livelock::Quiescent));
    assert_eq!(tested(WRONG_DRINK, Livelock::Quiescent), [Verdict::Fail]);
}

#[test]
fn a_machine_that_may_stay_silent_is_told_apart_by_traces_with_quiescence() {
    // After Tretmans' vending machines: pressing twice gives liquorice or chocolate, but silence after the
    // first press promises chocolate. The careless machine breaks the promise, which only a trace with
    // quiescence shows.
    let specification = "des (0, 7, 7)\n(0, \"?press\", 1)\n(1, \"!liquorice\", 2)\n(1, \"?press\", 6)\n(6, \"!liquorice\", 5)\n(0, \"?press\", 3)\n(3, \"?press\", 4)\n(4, \"!chocolate\", 5)\n";
    let always = "(2, \"?press\", 2)\n(4, \"?press\", 4)\n(5, \"?press\", 5)\n(6, \"?press\", 6)\n";
    let careful = format!("{}{always}", specification.replace("(0, 7, 7)", "(0, 11, 7)"));
    assert!(conforms(specification, &careful, Livelock::Quiescent));
    let careless =
        format!("{}{always}(4, \"!liquorice\", 5)\n", specification.replace("(0, 7, 7)", "(0, 12, 7)"));
    assert!(!conforms(specification, &careless, Livelock::Quiescent));
}
