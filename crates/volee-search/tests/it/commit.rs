//! The example system, whose counts are known from other tools.

#[path = "../../examples/two_phase_commit.rs"]
#[allow(dead_code, reason = "the example's main is not called")]
mod two_phase_commit;

use two_phase_commit::Commit;
use volee_search::{Check, Order, check};
use volee_system::{Budget, Meter, Quiet, Verdict};

#[test]
fn two_phase_commit_has_the_published_counts() {
    for order in [Order::DepthFirst, Order::BreadthFirst] {
        let meter = Meter::start(Budget::default());
        let outcome = check(&mut Commit::of(5), &Check::new().order(order), &meter, &mut Quiet);
        assert_eq!((outcome.statistics.states, outcome.statistics.transitions), (8832, 58_146), "{order:?}");
        assert!(outcome.answers.iter().all(|a| a.verdict == Verdict::Holds));
    }
}
