//! Purposes of every kind, and what is said about wrong ones.

use volee_conform::{
    ConformError, Determinised, Interface, Livelock, Matcher, Purpose, Specification, TestGraph,
    covering_suite, direct, read_test, write_dot,
};
use volee_logic::formula::parse;
use volee_lts::{Lts, read_aut};
use volee_system::{Budget, Meter, Quiet};

const MACHINE: &str = "des (0, 6, 5)\n(0, \"?coin\", 1)\n(1, i, 2)\n(1, i, 3)\n(2, \"!coffee\", 4)\n(3, \"!tea\", 0)\n(4, \"?coin\", 1)\n";

fn read(text: &str) -> Lts {
    read_aut(&mut text.as_bytes(), "purpose", None).expect("an automaton")
}

fn with<R>(lts: &Lts, goal: Purpose, use_it: impl FnOnce(&mut Determinised<'_>) -> R) -> R {
    let meter = Meter::start(Budget::default());
    let (mut system, mut quiet) = (lts, Quiet);
    let seen = Specification::new(&mut system, Interface::default(), Livelock::Quiescent, &meter, &mut quiet);
    use_it(&mut Determinised::new(seen, goal))
}

fn message(purpose: &str) -> String {
    let goal = match Purpose::automaton(&read(purpose)) {
        Ok(goal) => goal,
        Err(error) => return error.to_string(),
    };
    with(&read(MACHINE), goal, |product| match direct(product) {
        Ok(_) => format!("a test; unmatched {:?}", product.purpose().unmatched()),
        Err(error) => format!("{error}; unmatched {:?}", product.purpose().unmatched()),
    })
}

#[test]
fn wrong_purposes_each_get_their_own_message() {
    for (purpose, expected) in [
        ("des (0, 1, 2)\n(0, \"!tea\", 1)\n", "no accepting state"),
        ("des (0, 3, 3)\n(0, \"!tea\", 1)\n(0, \"!tea\", 2)\n(1, ACCEPT, 1)\n", "not deterministic"),
        ("des (0, 3, 3)\n(0, \"!t.*\", 1)\n(0, \"!tea\", 2)\n(1, ACCEPT, 1)\n", "not deterministic"),
        ("des (0, 2, 2)\n(0, DELTA, 1)\n(1, ACCEPT, 1)\n", "quiescence is no label"),
        (
            "des (0, 2, 2)\n(0, \"!cocoa\", 1)\n(1, ACCEPT, 1)\n",
            "no test exists: the specification cannot do what the purpose asks for; unmatched [\"!cocoa\"]",
        ),
        ("des (0, 1, 1)\n(0, ACCEPT, 0)\n", "before anything has happened"),
        ("des (0, 2, 1)\n(0, ACCEPT, 0)\n(0, REFUSE, 0)\n", "both accepts and refuses"),
        ("des (0, 2, 2)\n(0, i, 1)\n(1, ACCEPT, 1)\n", "a test"),
        ("des (0, 2, 2)\n(0, \"!tea\", 1)\n(1, ACCEPT, 1)\n", "a test; unmatched []"),
    ] {
        let said = message(purpose);
        assert!(said.contains(expected), "{purpose}: {said}");
    }
}

fn passes(goal: Purpose) -> (TestGraph, Vec<String>) {
    let graph = with(&read(MACHINE), goal, direct).expect("a test").graph.case();
    let mut path = Vec::new();
    let mut node = volee_conform::Node(0);
    // The shortest way to PASS, breadth-first by hand.
    let mut queue = std::collections::VecDeque::from([(node, Vec::new())]);
    while let Some((at, trace)) = queue.pop_front() {
        node = at;
        if node == volee_conform::Node::PASS {
            path = trace;
            break;
        }
        for edge in graph.edges(node) {
            let mut trace: Vec<String> = trace.clone();
            trace.push(graph.actions().name(edge.action).into());
            queue.push_back((edge.target, trace));
        }
    }
    (graph, path)
}

#[test]
fn a_formula_is_a_purpose() {
    let formula = parse("<>(\"!tea\" && X <> \"!coffee\")", "purpose").expect("a formula");
    let (case, path) = passes(Purpose::formula(&formula).expect("events only"));
    assert!(case.is_controllable());
    assert_eq!(path, ["?coin", "!tea", "?coin", "!coffee"]);
    let silent = parse("[] !\"!tea\"", "purpose").expect("a formula");
    assert!(Purpose::formula(&silent).is_err_and(|e| e.to_string().contains("before anything has happened")));
    let state = parse("<>(x == 1)", "purpose").map(|f| Purpose::formula(&f));
    assert!(state.is_ok_and(|p| p.is_err_and(|e| e.to_string().contains("sees actions, not states"))));
}

#[test]
fn a_label_or_a_number_of_actions_is_a_purpose() {
    let (_, path) = passes(Purpose::cover(vec![Matcher::parse("!coffee").expect("a pattern")]));
    assert_eq!(path, ["?coin", "!coffee"]);
    let (_, path) = passes(Purpose::after(3).expect("not 0"));
    assert_eq!(path.len(), 3);
    assert!(Purpose::after(0).is_err());
}

#[test]
fn a_suite_covers_every_visible_transition() {
    with(&read(MACHINE), Purpose::nothing(), |product| {
        let suite = covering_suite(product, 100).expect("small");
        assert_eq!((suite.covered, suite.transitions), (4, 4), "two coins, coffee and tea");
        assert!(suite.tests.len() <= 2, "{}", suite.tests.len());
        assert!(suite.tests.iter().all(|t| t.case.is_controllable()));
        let one = covering_suite(product, 1).expect("small");
        assert!(one.covered < one.transitions);
    });
}

#[test]
fn a_budget_that_runs_out_is_a_limit() {
    let meter = Meter::start(Budget { memory: Some(1), ..Budget::default() });
    let (lts, mut quiet) = (read(MACHINE), Quiet);
    let mut system = &lts;
    let seen = Specification::new(&mut system, Interface::default(), Livelock::Quiescent, &meter, &mut quiet);
    let goal = Purpose::after(3).expect("not 0");
    let outcome = direct(&mut Determinised::new(seen, goal));
    assert!(matches!(outcome, Err(ConformError::Limit(_))));
}

#[test]
fn tests_are_written_and_read_back() {
    let (case, _) = passes(Purpose::after(3).expect("not 0"));
    let mut json = Vec::new();
    volee_conform::TestFile::new(&case, "machine.aut", "3 actions", Livelock::Quiescent)
        .write(&mut json)
        .expect("memory");
    let text = String::from_utf8(json).expect("text");
    let (file, back) = read_test(&text).unwrap_or_else(|e| panic!("{e}: {text}"));
    assert_eq!(
        (file.specification.as_str(), back.node_count(), back.edge_count()),
        ("machine.aut", case.node_count(), case.edge_count())
    );
    let from_aut = TestGraph::from_lts(&case.to_lts()).expect("its own labels");
    assert_eq!(from_aut.node_count(), case.node_count());
    assert!(from_aut.is_controllable());
    for broken in [
        "",
        "{}",
        &text.replace("volee-test-1", "x"),
        &text.replace("\"to\":1", "\"to\":99"),
        &text.replace("\"from\":1", "\"from\":99"),
    ] {
        assert!(read_test(broken).is_err(), "{broken}");
    }
    let mut dot = Vec::new();
    write_dot(&case, &mut dot).expect("memory");
    assert!(String::from_utf8(dot).expect("text").contains("PASS"));
}
