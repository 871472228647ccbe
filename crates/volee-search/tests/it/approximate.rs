//! Approximate searches: what they find is real, what they do not find is unknown.

use volee_search::{Approximation, Check, Order, check};
use volee_system::{Budget, Meter, PredicateId, Quiet, Verdict};

use crate::graph::Graph;
use crate::twin::assert_answer;

#[test]
fn an_approximation_never_says_that_a_property_holds() {
    for seed in 0..600 {
        let mut graph = Graph::random(seed);
        for kind in [Approximation::Bitstate, Approximation::Compact] {
            for order in [Order::DepthFirst, Order::BreadthFirst] {
                let questions = Check::new()
                    .order(order)
                    .all_errors(true)
                    .invariant("p0", PredicateId(0))
                    .goal("p1", PredicateId(1))
                    .approximation(Some(kind));
                let budget = Budget { memory: Some(200 << 10), ..Budget::default() };
                let outcome = check(&mut graph, &questions, &Meter::start(budget), &mut Quiet);
                for answer in &outcome.answers {
                    match &answer.verdict {
                        Verdict::Holds => assert!(answer.witness.is_some(), "{answer:?}"),
                        Verdict::Violated(_) => assert!(!answer.question.starts_with("reachable")),
                        Verdict::Unknown(limit) => assert_eq!(limit.kind(), "approximation"),
                    }
                    // These graphs are so small that nothing is missed: the errors found are the errors there
                    // are.
                    assert_answer(&mut graph, answer, &questions, false);
                }
            }
        }
    }
}
