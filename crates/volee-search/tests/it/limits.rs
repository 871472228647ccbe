//! Budgets that are hit: a partial report, an honest verdict, no panic.

use std::borrow::Cow;
use std::sync::atomic::Ordering;
use std::time::Duration;

use volee_search::{Check, Order, Outcome, check};
use volee_system::{
    Budget, Flow, Label, Limit, Meter, Progress, Quiet, Sink, Snapshot, Step, System, Verdict,
};

/// Counts for ever: two bytes of a counter make a step to each of two successors.
struct Endless {
    pad: usize,
}

impl System for Endless {
    fn initial(&mut self, push: &mut dyn FnMut(&[u8]) -> Flow) -> Flow {
        push(&vec![0; 8 + self.pad])
    }

    fn steps(&mut self, state: &[u8], sink: &mut dyn Sink) -> Flow {
        let mut next = state.to_vec();
        let count = state[..8].iter().rev().fold(0u64, |n, &b| n << 8 | u64::from(b));
        for (label, more) in [1u64, 0x1_0001].into_iter().enumerate() {
            next[..8].copy_from_slice(&(count.wrapping_mul(5).wrapping_add(more)).to_le_bytes());
            sink.push(Step::labelled(label as u32), &next)?;
        }
        Flow::Continue(())
    }

    fn label(&self, _: Label) -> Cow<'_, str> {
        "i".into()
    }
}

fn run(budget: Budget, order: Order) -> Outcome {
    check(&mut Endless { pad: 30 }, &Check::new().order(order), &Meter::start(budget), &mut Quiet)
}

fn assert_unknown(outcome: &Outcome, kind: &str) {
    for answer in &outcome.answers {
        match &answer.verdict {
            Verdict::Unknown(limit) => assert_eq!(limit.kind(), kind),
            other => panic!("{other:?}"),
        }
    }
    assert!(outcome.statistics.states > 1000, "{:?}", outcome.statistics);
}

#[test]
fn a_memory_budget_is_kept_and_named() {
    for order in [Order::DepthFirst, Order::BreadthFirst] {
        let outcome = run(Budget { memory: Some(4 << 20), ..Budget::default() }, order);
        assert_unknown(&outcome, "memory");
        // Whoever does not replace does not foresee what it will take: it ends when that is too much.
        let most = if order == Order::DepthFirst { 4 << 20 } else { 7 << 20 };
        assert!(outcome.statistics.memory_bytes <= most, "{:?}", outcome.statistics);
    }
}

#[test]
fn a_time_budget_ends_the_search() {
    for order in [Order::DepthFirst, Order::BreadthFirst] {
        let outcome = run(Budget { time: Some(Duration::from_millis(60)), ..Budget::default() }, order);
        assert_unknown(&outcome, "time");
    }
}

#[test]
fn a_search_can_be_cancelled_while_it_reports_progress() {
    struct Cancel(Budget, u64);
    impl Progress for Cancel {
        fn report(&mut self, snapshot: &Snapshot) {
            assert!(snapshot.states > 0 && snapshot.transitions > 0 && snapshot.memory > 0);
            self.1 += 1;
            self.0.cancelled.store(true, Ordering::Relaxed);
        }
    }
    let budget = Budget::default();
    let mut cancel = Cancel(budget.clone(), 0);
    let outcome = check(&mut Endless { pad: 0 }, &Check::new(), &Meter::start(budget), &mut cancel);
    assert_eq!(outcome.limit, Some(Limit::Cancelled));
    assert_eq!(cancel.1, 1);
}

#[test]
fn a_depth_bound_is_unknown_and_not_an_error() {
    let outcome = run(Budget { depth: Some(12), ..Budget::default() }, Order::BreadthFirst);
    assert_unknown(&outcome, "depth");
    assert_eq!(outcome.statistics.max_depth, 12);
}

/// Each step makes the state longer.
struct Growing;

impl System for Growing {
    fn initial(&mut self, push: &mut dyn FnMut(&[u8]) -> Flow) -> Flow {
        push(&[])
    }

    fn steps(&mut self, state: &[u8], sink: &mut dyn Sink) -> Flow {
        sink.push(Step::labelled(0), &vec![0; state.len() + 1])
    }

    fn label(&self, _: Label) -> Cow<'_, str> {
        "i".into()
    }
}

#[test]
fn states_of_ever_new_lengths_end_the_search_with_a_message() {
    let outcome = check(&mut Growing, &Check::new(), &Meter::start(Budget::default()), &mut Quiet);
    assert_unknown(&outcome, "limit");
}
