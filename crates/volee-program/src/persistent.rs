//! The steps of some processes only: persistent sets, and processes that are awake.

use std::ops::ControlFlow;

use volee_system::{Awake, FaultId, Flow, PersistentSet, ProcessSet};

use crate::code::Compiled;
use crate::frame::Frame;
use crate::moves::{Enumerator, Level, Visitor};
use crate::reduction::Choice;

/// Receives a step, its error, its target unless it stays, and who may sleep there.
pub(crate) type Visit<'v> = dyn FnMut(&[Level], Option<FaultId>, Option<&Frame>, u64) -> Flow + 'v;

/// A visitor that knows who may sleep.
struct WithSleepSets<'v, 'w> {
    /// By process: whose next steps commute with its own.
    commuting: Vec<u64>,
    asleep: u64,
    visit: &'v mut Visit<'w>,
}

impl WithSleepSets<'_, '_> {
    /// Who sleeps on after a step: nobody who takes part in it, nobody whom it concerns.
    fn after(&self, levels: &[Level]) -> u64 {
        let movers = levels.iter().flat_map(|l| [Some(l.made.pid), l.made.partner.map(|(pid, _)| pid)]);
        movers.flatten().fold(self.asleep, |asleep, pid| {
            asleep & self.commuting.get(usize::from(pid)).copied().unwrap_or(0)
        })
    }
}

impl Visitor for WithSleepSets<'_, '_> {
    fn step(&mut self, levels: &[Level], fault: Option<FaultId>, target: &Frame) -> Flow {
        let asleep = self.after(levels);
        (self.visit)(levels, fault, Some(target), asleep)
    }

    fn stuck(&mut self, levels: &[Level], fault: FaultId) -> Flow {
        let asleep = self.after(levels);
        (self.visit)(levels, Some(fault), None, asleep)
    }
}

impl Enumerator {
    /// Visits a persistent set of steps that are not all steps, if there is one, from the candidate `attempt`
    /// on.
    pub fn run_reduced<V: Visitor>(
        &mut self,
        compiled: &Compiled,
        choice: &mut Choice,
        (state, attempt): (&[u8], u32),
        visitor: &mut V,
    ) -> ControlFlow<(), Option<PersistentSet>> {
        self.load(compiled, state);
        let candidates = choice.candidates(compiled, &self.levels[0].frame);
        for (&ProcessSet { set, others_may_be_ignored, cuts_cycles }, next) in
            candidates.iter().zip(1..).skip(attempt as usize)
        {
            let mut moved = false;
            for pid in (0..64).rev().filter(|pid| set >> pid & 1 == 1) {
                moved |= self.run_process(compiled, pid, visitor)?;
            }
            if moved {
                return ControlFlow::Continue(Some(PersistentSet {
                    others_may_be_ignored,
                    cuts_cycles,
                    next,
                }));
            }
        }
        ControlFlow::Continue(None)
    }

    /// Visits the steps of the processes that are not asleep, or, at an attempt, of a persistent set of them.
    /// Each step comes with the processes that may sleep after it: those that slept, and those whose steps
    /// were visited before, if they commute with it.
    pub fn run_awake(
        &mut self,
        compiled: &Compiled,
        choice: &mut Choice,
        (state, asleep, attempt): (&[u8], u64, Option<u32>),
        visit: &mut Visit<'_>,
    ) -> ControlFlow<(), Awake> {
        self.load(compiled, state);
        let count = self.levels[0].frame.count();
        if !(1..=64).contains(&count) {
            return ControlFlow::Continue(Awake::Unknown);
        }
        let mut visitor = WithSleepSets {
            commuting: choice.commuting(compiled, &self.levels[0].frame).to_vec(),
            asleep,
            visit,
        };
        let set = u64::MAX >> (64 - count);
        let everybody = [ProcessSet { set, others_may_be_ignored: true, cuts_cycles: false }];
        let (sets, first) = match attempt {
            Some(attempt) => (choice.candidates(compiled, &self.levels[0].frame), attempt),
            None => (&everybody[..], 0),
        };
        for (&ProcessSet { set, others_may_be_ignored, cuts_cycles }, next) in
            sets.iter().zip(1..).skip(first as usize)
        {
            let mut moved = false;
            visitor.asleep = asleep;
            for pid in (0..count).rev().filter(|pid| set & !asleep & 1 << pid != 0) {
                moved |= self.run_process(compiled, pid, &mut visitor)?;
                visitor.asleep |= 1 << pid;
            }
            if moved {
                return ControlFlow::Continue(Awake::Moved(attempt.map(|_| PersistentSet {
                    others_may_be_ignored,
                    cuts_cycles,
                    next,
                })));
            }
        }
        if attempt.is_some() {
            return ControlFlow::Continue(Awake::Nobody);
        }
        let mut nothing = |_: &[Level], _: Option<FaultId>, _: Option<&Frame>, _: u64| Flow::Break(());
        let mut sleeper = WithSleepSets { commuting: Vec::new(), asleep: 0, visit: &mut nothing };
        for pid in (0..count).filter(|pid| asleep >> pid & 1 == 1) {
            if self.run_process(compiled, pid, &mut sleeper) != ControlFlow::Continue(false) {
                return ControlFlow::Continue(Awake::Nobody);
            }
        }
        ControlFlow::Continue(Awake::Unknown)
    }
}
