//! A search whose states are on disk finds what one in memory finds, to the last count, in a fraction of the
//! memory.

use std::borrow::Cow;

use volee_search::{Check, Order, Outcome, check};
use volee_system::{
    Budget, Components, FaultId, Flow, Label, Limit, Meter, PredicateId, Quiet, Sink, Step, System, Verdict,
    collect_initial, collect_steps,
};

/// Counters that go up one by one, and sometimes to what the others say: values come late, so that names grow
/// on the way.
struct Grid {
    counters: usize,
    top: u8,
    /// Whether names are tuples of the counters, or trees.
    tuples: bool,
}

impl System for Grid {
    fn initial(&mut self, push: &mut dyn FnMut(&[u8]) -> Flow) -> Flow {
        push(&vec![0; self.counters])
    }

    fn steps(&mut self, state: &[u8], sink: &mut dyn Sink) -> Flow {
        let mut next = state.to_vec();
        for at in 0..state.len() {
            let other = state[(at + 1) % state.len()];
            if state[at] < self.top {
                next[at] = state[at] + 1;
                sink.push(Step::labelled(at as u32), &next)?;
            }
            if other > state[at] + 3 {
                next[at] = other;
                sink.push(Step::labelled(100 + at as u32), &next)?;
            }
            next[at] = state[at];
        }
        Flow::Continue(())
    }

    fn label(&self, label: Label) -> Cow<'_, str> {
        label.0.to_string().into()
    }

    fn is_valid_end(&mut self, _: &[u8]) -> bool {
        true
    }

    fn holds(&mut self, _: PredicateId, state: &[u8]) -> Result<bool, FaultId> {
        Ok(state.iter().any(|&counter| counter < self.top))
    }

    fn components(&self) -> Option<Components> {
        self.tuples.then(|| Components { ends: (1..=self.counters as u32).collect(), records: None })
    }
}

fn run(grid: &mut Grid, questions: &Check, memory: Option<u64>) -> Outcome {
    check(grid, questions, &Meter::start(Budget { memory, ..Budget::default() }), &mut Quiet)
}

fn figures(outcome: &Outcome) -> (u64, u64, u64) {
    (outcome.statistics.states, outcome.statistics.transitions, outcome.statistics.max_depth)
}

#[test]
fn states_on_disk_are_counted_as_exactly_as_those_in_memory() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut spilled = 0;
    for (counters, top, tuples) in [(4, 17, true), (3, 45, true), (5, 9, true), (4, 17, false)] {
        let mut grid = Grid { counters, top, tuples };
        let questions = Check::new().order(Order::BreadthFirst).all_errors(true).deadlocks(false);
        let questions = questions.invariant("some are below the top", PredicateId(0));
        let whole = run(&mut grid, &questions, None);
        assert_eq!(whole.statistics.states, (u64::from(top) + 1).pow(counters as u32));
        for memory in [200 << 10, 400 << 10, 900 << 10, 16 << 20] {
            let questions = questions.clone().spill(Some(folder.path().to_path_buf()));
            let small = run(&mut grid, &questions, Some(memory));
            if matches!(small.limit, Some(Limit::Memory { .. })) {
                continue;
            }
            assert_eq!(small.limit, None);
            assert_eq!(figures(&small), figures(&whole), "{counters} to {top}, {memory} bytes");
            spilled += u32::from(small.statistics.disk_bytes > 0);
            let Verdict::Violated(violations) =
                &small.answers.iter().find(|a| a.question.starts_with("invariant")).expect("asked").verdict
            else {
                panic!("it is violated")
            };
            let mut state = collect_initial(&mut grid)[0].clone();
            for &ordinal in &violations[0].witness.steps {
                state = collect_steps(&mut grid, &state)[ordinal as usize].1.clone();
            }
            assert!(state.iter().all(|&counter| counter == top), "the run leads to {state:?}");
        }
    }
    assert!(spilled >= 6, "only {spilled} searches had states on disk");
    assert_eq!(std::fs::read_dir(folder.path()).expect("it is there").count(), 0, "nothing is left");
}

#[test]
fn a_folder_that_is_not_there_is_a_limit_not_a_panic() {
    let questions = Check::new().spill(Some("/nowhere/at/all".into()));
    let outcome = run(&mut Grid { counters: 2, top: 3, tuples: true }, &questions, None);
    assert!(matches!(outcome.limit, Some(Limit::Other { .. })), "{:?}", outcome.limit);
}
