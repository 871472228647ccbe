//! A system written by hand: two-phase commit after Gray and Lamport, with as many resource managers as you
//! like.
//!
//!     cargo run --release -p volee-search --example two_phase_commit -- 8
//!
//! prints 1745408 states and 18507778 transitions, as the same protocol written in Promela has. A second
//! argument is a memory budget, `16M` for instance, which is then not enough to remember them all.

use std::borrow::Cow;

use volee_search::{Check, check};
use volee_system::{Budget, Flow, Label, Meter, Quiet, Sink, Step, System, parse_size};

/// Per resource manager: what it does (0 works, 1 is prepared, 2 has committed, 3 has aborted), whether the
/// transaction manager has heard that it is prepared, whether it has said so. Then the transaction manager (0
/// waits, 1 has committed, 2 has aborted) and whether its two messages are out.
pub struct Commit {
    managers: usize,
    next: Vec<u8>,
}

impl Commit {
    /// The protocol with this many resource managers.
    pub fn of(managers: usize) -> Self {
        Commit { managers, next: Vec::new() }
    }
}

impl System for Commit {
    fn initial(&mut self, push: &mut dyn FnMut(&[u8]) -> Flow) -> Flow {
        push(&vec![0; 3 * self.managers + 3])
    }

    fn steps(&mut self, state: &[u8], sink: &mut dyn Sink) -> Flow {
        let n = self.managers;
        let (decision, commit, abort) = (3 * n, 3 * n + 1, 3 * n + 2);
        self.next.clear();
        self.next.extend_from_slice(state);
        let mut step = |enabled: bool, label: u32, changes: &[(usize, u8)]| {
            if !enabled {
                return Flow::Continue(());
            }
            changes.iter().for_each(|&(at, value)| self.next[at] = value);
            let flow = sink.push(Step::labelled(label), &self.next);
            changes.iter().for_each(|&(at, _)| self.next[at] = state[at]);
            flow
        };
        let waits = state[decision] == 0;
        step(waits && state[n..2 * n].iter().all(|&heard| heard == 1), 0, &[(decision, 1), (commit, 1)])?;
        step(waits, 1, &[(decision, 2), (abort, 1)])?;
        for rm in 0..n {
            let (heard, said) = (n + rm, 2 * n + rm);
            step(waits && state[said] == 1, 2, &[(heard, 1)])?;
            step(state[rm] == 0, 3, &[(rm, 1), (said, 1)])?;
            step(state[rm] == 0, 4, &[(rm, 3)])?;
            step(state[commit] == 1, 5, &[(rm, 2)])?;
            step(state[abort] == 1, 6, &[(rm, 3)])?;
        }
        Flow::Continue(())
    }

    fn label(&self, label: Label) -> Cow<'_, str> {
        ["decide commit", "decide abort", "hear", "prepare", "give up", "commit", "abort"][label.0 as usize]
            .into()
    }
}

fn main() {
    let managers = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(7);
    let memory = std::env::args().nth(2).map(|size| parse_size(&size).expect("a size, for example 16M"));
    let meter = Meter::start(Budget { memory, ..Budget::default() });
    let mut system = Commit::of(managers);
    let outcome = check(&mut system, &Check::new(), &meter, &mut Quiet);
    for answer in &outcome.answers {
        println!("{}: {:?}", answer.question, answer.verdict);
    }
    let found = &outcome.statistics;
    println!("{} states, {} transitions, depth {}", found.states, found.transitions, found.max_depth);
    println!("{:.2} s, {:.1} bytes per state", found.seconds, found.bytes_per_state);
    if let Some(turnover) = &found.turnover {
        println!("{turnover:?}");
    }
}
