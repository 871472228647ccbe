//! Two-phase commit, whose counts are known from other tools.

use std::borrow::Cow;

use volee_search::{Check, Order, check};
use volee_system::{Budget, Flow, Label, Meter, Quiet, Sink, Step, System, Verdict};

/// Gray and Lamport's two-phase commit with `N` resource managers, one guarded command per action.
///
/// Bytes: the managers (0 working, 1 prepared, 2 committed, 3 aborted), then which of them are prepared for the
/// transaction manager, which have said so, and the transaction manager with the two messages it sends.
pub struct Commit<const N: usize>;

impl<const N: usize> System for Commit<N> {
    fn initial(&mut self, push: &mut dyn FnMut(&[u8]) -> Flow) -> Flow {
        push(&vec![0; 3 * N + 3])
    }

    fn steps(&mut self, state: &[u8], sink: &mut dyn Sink) -> Flow {
        let (tm, sent_commit, sent_abort) = (3 * N, 3 * N + 1, 3 * N + 2);
        let mut next = state.to_vec();
        let mut step = |label: usize, changes: &[(usize, u8)]| {
            for &(at, value) in changes {
                next[at] = value;
            }
            let flow = sink.push(Step::labelled(label as u32), &next);
            for &(at, _) in changes {
                next[at] = state[at];
            }
            flow
        };
        if state[tm] == 0 {
            if state[N..2 * N].iter().all(|&heard| heard == 1) {
                step(0, &[(tm, 1), (sent_commit, 1)])?;
            }
            step(1, &[(tm, 2), (sent_abort, 1)])?;
        }
        for rm in 0..N {
            if state[tm] == 0 && state[2 * N + rm] == 1 {
                step(2 + rm, &[(N + rm, 1)])?;
            }
            if state[rm] == 0 {
                step(2 + N + rm, &[(rm, 1), (2 * N + rm, 1)])?;
                step(2 + 2 * N + rm, &[(rm, 3)])?;
            }
            if state[sent_commit] == 1 {
                step(2 + 3 * N + rm, &[(rm, 2)])?;
            }
            if state[sent_abort] == 1 {
                step(2 + 4 * N + rm, &[(rm, 3)])?;
            }
        }
        Flow::Continue(())
    }

    fn label(&self, label: Label) -> Cow<'_, str> {
        let names = ["hears", "prepares", "aborts alone", "commits", "aborts"];
        match label.0 as usize {
            0 => "commit".into(),
            1 => "abort".into(),
            n => format!("{} {}", names[(n - 2) / N], (n - 2) % N).into(),
        }
    }

    fn is_valid_end(&mut self, _: &[u8]) -> bool {
        true
    }
}

#[test]
fn two_phase_commit_has_the_published_counts() {
    for order in [Order::DepthFirst, Order::BreadthFirst] {
        let meter = Meter::start(Budget::default());
        let outcome = check(&mut Commit::<5>, &Check::new().order(order), &meter, &mut Quiet);
        assert_eq!((outcome.statistics.states, outcome.statistics.transitions), (8832, 58_146), "{order:?}");
        assert!(outcome.answers.iter().all(|a| a.verdict == Verdict::Holds));
    }
}
