//! Random walks: runs that choose each step by chance and remember nothing.
//!
//! They cost no memory and are soon deep: what many long runs lead to, they meet early. Most of them are
//! short, a few are long.

use std::ops::ControlFlow;

use volee_system::{FaultId, Flow, Random, Step, System, Witness};

use crate::questions::{OnFault, Questions};

/// The shortest and the longest walk, as powers of two.
const LENGTHS: (u64, u64) = (5, 18);

/// Walks at work.
pub(super) struct Walks<'w, 'c, S: ?Sized> {
    pub system: &'w mut S,
    pub questions: &'w mut Questions<'c>,
    pub random: Random,
    pub walks: u64,
    pub steps: u64,
    state: Vec<u8>,
    next: Vec<u8>,
    run: Witness,
}

impl<'w, 'c, S: System + ?Sized> Walks<'w, 'c, S> {
    pub fn new(system: &'w mut S, questions: &'w mut Questions<'c>, random: Random) -> Self {
        let (state, next, run) = (Vec::new(), Vec::new(), Witness::default());
        Walks { system, questions, random, walks: 0, steps: 0, state, next, run }
    }

    /// Walks at least this many steps, as long as `goes_on` is true of their number. `Break` when something
    /// was found that ends a search.
    pub fn walk(&mut self, most: u64, mut goes_on: impl FnMut(u64, &[u8]) -> bool) -> Flow {
        while self.steps < most {
            self.walks += 1;
            if !self.begin() {
                return Flow::Continue(());
            }
            let (shortest, longest) = LENGTHS;
            for _ in 0..1_u64 << (shortest + self.random.part_of(longest - shortest)) {
                self.steps += 1;
                if !goes_on(self.steps, &self.state) {
                    return Flow::Continue(());
                }
                let flow = self.questions.visit(self.system, &self.state);
                self.give_witness(None);
                flow?;
                if !self.step()? {
                    break;
                }
            }
        }
        Flow::Continue(())
    }

    /// Goes to any initial state, if there is one.
    fn begin(&mut self) -> bool {
        let mut count = 0;
        let (system, state) = (&mut *self.system, &mut self.state);
        let (random, run) = (&mut self.random, &mut self.run);
        run.steps.clear();
        let _ = system.initial(&mut |initial| {
            if random.part_of(count + 1) == 0 {
                run.initial = count;
                state.clear();
                state.extend_from_slice(initial);
            }
            count += 1;
            Flow::Continue(())
        });
        count > 0
    }

    /// Takes any step; whether there was one.
    fn step(&mut self) -> ControlFlow<(), bool> {
        let (mut pushed, mut moves, mut taken): (u32, u32, u32) = (0, 0, 0);
        let mut faults: Vec<(u32, FaultId)> = Vec::new();
        let (random, next, on_fault) = (&mut self.random, &mut self.next, self.questions.on_fault());
        let mut sink = |step: Step, target: &[u8]| {
            pushed += 1;
            if !step.stays {
                moves += 1;
                if random.part_of(moves) == 0 {
                    taken = pushed - 1;
                    next.clear();
                    next.extend_from_slice(target);
                }
            }
            if let Some(fault) = step.fault.filter(|_| on_fault != OnFault::Ignore) {
                faults.push((pushed - 1, fault));
            }
            Flow::Continue(())
        };
        let _ = self.system.steps(&self.state, &mut sink);
        if pushed == 0 {
            let flow = self.questions.end(self.system, &self.state);
            self.give_witness(None);
            flow?;
        }
        for (ordinal, fault) in faults {
            let flow = self.questions.fault(self.system, &self.state, ordinal, fault);
            self.give_witness(Some(ordinal));
            flow?;
        }
        if moves > 0 {
            self.run.steps.push(taken);
            std::mem::swap(&mut self.state, &mut self.next);
        }
        ControlFlow::Continue(moves > 0)
    }

    fn give_witness(&mut self, last: Option<u32>) {
        if self.questions.wants_witness() {
            let mut run = self.run.clone();
            run.steps.extend(last);
            self.questions.give_witness(&run);
        }
    }
}
