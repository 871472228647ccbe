//! Implementations behind queues: what is sent waits to be taken, what is said waits to be heard, and
//! messages cross.
//!
//! However they cross, an implementation that conforms must never get a FAIL; and those that do not are still
//! caught.

use std::collections::VecDeque;
use std::time::Duration;

use volee_conform::random::{Shape, implementation, purpose, specification};
use volee_conform::run::{Adapter, Cause, Deaf, Heard, Mapping, RandomWalk, Rules, StoredTest, execute};
use volee_conform::{Determinised, Interface, Livelock, Purpose, Specification, Verdict, direct};
use volee_lts::Lts;
use volee_system::{Budget, Meter, Quiet, Random};

use crate::naive::{self, Naive, is_input, is_output};

const SHAPE: Shape = Shape { states: 5, inputs: 2, outputs: 2, internal: 20 };

/// An implementation that moves when it likes.
struct Queued<'n> {
    naive: &'n Naive,
    state: u32,
    sent: VecDeque<String>,
    said: VecDeque<String>,
    rng: Random,
}

impl Queued<'_> {
    /// One step; `false` if nothing can happen any more, or it stays silent for good.
    fn step(&mut self) -> bool {
        let next = self.sent.front();
        let possible: Vec<(String, u32)> = self
            .naive
            .steps(self.state)
            .iter()
            .filter(|(l, _)| !is_input(l) || next == Some(l))
            .cloned()
            .collect();
        // A quiescent implementation that has taken everything may stay as it is; one on a cycle of internal
        // steps does so now and then.
        let rests = self.naive.is_quiet(self.state) && self.sent.is_empty();
        if possible.is_empty() || (rests && self.rng.chance(1, 3)) {
            return false;
        }
        let (label, target) = possible[self.rng.part_of(possible.len() as u64) as usize].clone();
        if is_input(&label) {
            self.sent.pop_front();
        } else if is_output(&label) {
            self.said.push_back(label);
        }
        self.state = target;
        true
    }
}

impl Adapter for Queued<'_> {
    fn say(&mut self, line: &str) -> Result<(), Deaf> {
        self.sent.push_back(line.into());
        Ok(())
    }

    fn hear(&mut self, wait: Duration) -> Option<Heard> {
        if wait.is_zero() {
            for _ in 0..self.rng.part_of(4) {
                self.step();
            }
            if self.rng.chance(1, 2) {
                return None;
            }
            return self.said.pop_front().map(Heard::Line);
        }
        while self.said.is_empty() && self.step() {}
        self.said.pop_front().map(Heard::Line)
    }
}

fn with<R>(lts: &Lts, goal: Purpose, use_it: impl FnOnce(&mut Determinised<'_>) -> R) -> R {
    let meter = Meter::start(Budget::default());
    let (mut system, mut quiet) = (lts, Quiet);
    let seen = Specification::new(&mut system, Interface::default(), Livelock::Quiescent, &meter, &mut quiet);
    use_it(&mut Determinised::new(seen, goal))
}

#[derive(Debug, Default)]
struct Count {
    conforming: u32,
    passed: u32,
    caught: u32,
}

fn case(seed: u64, count: &mut Count) {
    let rng = &mut Random::new(seed);
    let lts = specification(SHAPE, rng).expect("small");
    let goal = purpose(SHAPE, rng).expect("small");
    let other = implementation(&lts, SHAPE, rng).expect("small");
    let (ours, theirs) =
        (Naive::new(&lts, None, Livelock::Quiescent), Naive::new(&other, None, Livelock::Quiescent));
    let conforms = naive::ioco(&ours, &theirs).is_none();
    count.conforming += u32::from(conforms);
    let meter = Meter::start(Budget::default());
    // The clock does not matter: what comes is decided by the implementation, and silence is its rest.
    let rules =
        |at_bound| Rules { silence: Duration::from_nanos(1), steps: 30, at_bound, synchronous: false };
    let mut judge = |verdict: Verdict, cause: Cause| {
        assert!(
            !(conforms && verdict == Verdict::Fail),
            "seed {seed}: FAIL for an implementation that conforms ({cause:?})"
        );
        count.passed += u32::from(conforms && verdict == Verdict::Pass);
        count.caught += u32::from(verdict == Verdict::Fail);
    };
    let queued = |seed: u64| Queued {
        naive: &theirs,
        state: other.initial().0,
        sent: VecDeque::new(),
        said: VecDeque::new(),
        rng: Random::new(seed),
    };
    if let Ok(selected) = with(&lts, Purpose::automaton(&goal).expect("deterministic"), direct) {
        for graph in [selected.graph.case(), selected.graph] {
            let mut wire = queued(seed ^ 7);
            let report = execute(
                &mut StoredTest::new(&graph),
                &mut wire,
                &Mapping::default(),
                &rules(Verdict::Inconclusive),
                &meter,
            );
            let report = report.expect("the mapping is the identity");
            judge(report.verdict, report.cause);
        }
    }
    with(&lts, Purpose::nothing(), |product| {
        let mut walk = RandomWalk::new(product, seed);
        let report =
            execute(&mut walk, &mut queued(seed ^ 9), &Mapping::default(), &rules(Verdict::Pass), &meter);
        let report = report.expect("the mapping is the identity");
        judge(report.verdict, report.cause);
    });
}

#[test]
fn messages_that_cross_never_fail_an_implementation_that_conforms() {
    let mut count = Count::default();
    for seed in 0..5_000 {
        case(seed, &mut count);
    }
    println!("{count:?}");
    assert!(count.conforming > 1_000 && count.passed > 500 && count.caught > 500, "{count:?}");
}
