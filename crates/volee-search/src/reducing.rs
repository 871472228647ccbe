//! Expansions with fewer steps than there are, for all traversals.
//!
//! A system may know sets of steps that stand for all
//! ([`Reducible::persistent_steps`](volee_system::Reducible)). A traversal stages their targets in place of
//! all, settles them with its batch, and then looks whether each reduced state is *satisfied* or will be (see
//! [`crate::proviso`]; a breadth-first search goes by new successors alone). Those that are not try the next
//! set, and after a few are expanded in full.

use std::ops::ControlFlow;

use volee_system::{Awake, Flow, PersistentSet, SleepSet, System};

use crate::check::Reduction;
use crate::effort::Effort;
use crate::explorer::Explorer;
use crate::paths::Paths;
use crate::proviso::Proviso;
use crate::questions::OnFault;
use crate::staging::{Stage, Staged, put};
use volee_store::{StateRef, Visited};

/// Sets that are tried for one state.
pub(crate) const MOST_ATTEMPTS: u32 = 4;

/// A state whose expansion was reduced.
#[derive(Debug, Clone, Copy)]
struct Reduced {
    name: StateRef,
    parent: u32,
    at: usize,
    set: PersistentSet,
    /// Some of its successors are new.
    fresh: bool,
    /// Some of its successors are satisfied.
    satisfied: bool,
}

/// What a search with reductions knows.
#[derive(Debug)]
pub(crate) struct Reducing {
    pub(crate) kind: Reduction,
    effort: Effort,
    /// The reduced expansions of the batch, in the order of their parents.
    reduced: Vec<Reduced>,
    /// The one whose successors are settled.
    at: usize,
    /// The new states of the batch.
    fresh: Vec<StateRef>,
    pub(crate) proviso: Proviso,
    /// The places in the batch of states that are satisfied since the traversal last looked.
    satisfied: Vec<u32>,
    /// Expansions for which fewer steps were enough.
    pub(crate) count: u64,
    /// What is taken depends on the state alone: see [`Reducing::by_state_alone`].
    alone: bool,
}

impl Reducing {
    pub(crate) fn new(kind: Reduction) -> Self {
        Reducing {
            kind,
            effort: Effort::default(),
            reduced: Vec::new(),
            at: 0,
            fresh: Vec::new(),
            proviso: Proviso::default(),
            satisfied: Vec::new(),
            count: 0,
            alone: false,
        }
    }

    /// Whether to ask for a reduced expansion, which costs more than others where it `is_costly`.
    #[inline]
    pub(crate) fn asks(&mut self, is_costly: bool) -> bool {
        self.kind.is_persistent() && (self.alone || self.effort.asks(is_costly))
    }

    /// Whether reduced expansions have paid lately.
    pub(crate) fn pays(&self) -> bool {
        self.kind.is_persistent() && self.effort.pays()
    }

    /// From now on a set is taken only if that is right by the state alone, whatever else was explored, and
    /// if `pays` is false none is. A set that does not cut cycles is: if no other is taken, then every cycle
    /// of explored states has one that is expanded in full, so that from each state every long enough run
    /// leads to such a state, and the state is satisfied (see [`crate::proviso`]). So is one whose other
    /// steps may be ignored for ever.
    pub(crate) fn by_state_alone(&mut self, pays: bool) {
        self.alone = true;
        if !pays {
            self.kind = Reduction::None;
        }
    }

    /// A reduced expansion was enough.
    pub(crate) fn note(&mut self) {
        self.effort.helped();
        self.count += 1;
    }

    /// The state at this place of the batch is satisfied.
    #[inline]
    pub(crate) fn satisfy(&mut self, parent: u32) {
        if self.proviso.is_on() {
            self.satisfied.push(parent);
        }
    }

    /// A place in the batch of a state that is satisfied since the last call.
    pub(crate) fn take_satisfied(&mut self) -> Option<u32> {
        self.satisfied.pop()
    }

    /// Whether there are reduced expansions that were not looked at: see [`Explorer::expand_ignoring`].
    #[inline]
    pub(crate) fn has_reduced(&self) -> bool {
        !self.reduced.is_empty()
    }

    /// Names have changed; who is held is told anew by the traversal.
    pub(crate) fn rename(&mut self, translate: &mut dyn FnMut(StateRef) -> StateRef) {
        self.reduced.iter_mut().for_each(|reduced| reduced.name = translate(reduced.name));
        self.fresh.iter_mut().for_each(|name| *name = translate(*name));
    }

    /// Bytes for the batch.
    pub(crate) fn batch_bytes(&self) -> u64 {
        let names = self.fresh.capacity() * size_of::<StateRef>() + self.satisfied.capacity() * 4;
        (self.reduced.capacity() * size_of::<Reduced>() + names) as u64
    }

    /// Forgets the batch.
    pub(crate) fn drop_batch(&mut self) {
        self.reduced.clear();
        self.fresh.clear();
        self.satisfied.clear();
    }

    /// The staged states will be settled, from the first to the last.
    #[inline]
    pub(crate) fn rewind(&mut self) {
        self.at = 0;
    }

    /// A staged state was looked up.
    #[inline]
    pub(crate) fn settled(&mut self, staged: Staged, new: bool) {
        if new && self.proviso.is_on() {
            self.proviso.hold(staged.name);
        }
        if !self.reduced.is_empty() {
            self.weigh(staged, new);
        }
    }

    /// A staged state was looked up: what that means for the reduced state that it is a successor of.
    pub(crate) fn weigh(&mut self, staged: Staged, new: bool) {
        if new {
            self.fresh.push(staged.name);
        }
        while self.reduced.get(self.at).is_some_and(|r| r.parent < staged.parent) {
            self.at += 1;
        }
        let Some(state) = self.reduced.get_mut(self.at).filter(|r| r.parent == staged.parent) else { return };
        if new {
            state.fresh = true;
        } else if self.proviso.is_on() && !self.proviso.holds(staged.name) {
            state.satisfied = true;
        } else if !state.fresh {
            state.fresh = self.fresh.contains(&staged.name);
        }
    }
}

impl<S: System + ?Sized, V: Visited> Explorer<'_, '_, S, V> {
    /// Stages the targets of a reduced set of steps of a state, if there is one and it has no faults. (A
    /// fault is told by its ordinal, which only the full expansion knows.)
    #[inline]
    pub(crate) fn expand_reduced(
        &mut self,
        (name, parent, at): (StateRef, u32, usize),
        attempt: u32,
    ) -> bool {
        let staged = self.staged.len();
        let answer = match self.expand_set_from_memory(name, parent, attempt) {
            Ok(answer) => answer,
            Err(_) => self.ask_for_set(name, parent, attempt),
        };
        let Some(set) = answer else {
            self.staged.truncate(staged);
            return false;
        };
        if self.reducing.alone {
            return self.expand_alone((name, parent, at), set, staged);
        }
        self.statistics.transitions += (self.staged.len() - staged) as u64;
        self.reducing.reduced.push(Reduced { name, parent, at, set, fresh: false, satisfied: false });
        true
    }

    /// Keeps what was staged for a set if that is right by the state alone; otherwise the next set is tried.
    #[inline]
    fn expand_alone(&mut self, state: (StateRef, u32, usize), set: PersistentSet, staged: usize) -> bool {
        if set.others_may_be_ignored || !set.cuts_cycles {
            self.statistics.transitions += (self.staged.len() - staged) as u64;
            self.reducing.count += 1;
            return true;
        }
        self.staged.truncate(staged);
        self.loaded = None;
        set.next < MOST_ATTEMPTS && self.expand_reduced(state, set.next)
    }

    /// Stages the targets of a reduced set of steps as the system makes them.
    fn ask_for_set(&mut self, name: StateRef, parent: u32, attempt: u32) -> Option<PersistentSet> {
        self.load(name);
        self.faults.clear();
        let before = self.staged.len();
        let mut stage = Stage {
            names: &mut self.names,
            staged: &mut self.staged,
            most_staged: self.most_staged,
            faults: &mut self.faults,
            on_fault: OnFault::Stop,
            parent,
            pushed: 0,
            staying: 0,
        };
        let answer = self.system.reducible()?.persistent_steps(&self.state, attempt, &mut stage);
        self.approach(before);
        answer.continue_value().flatten()
    }

    /// Looks at the reduced states of the batch, all whose successors are settled. Those that are not
    /// satisfied, and have no new successor by which they will be, are expanded with another set or in full;
    /// their targets are to be settled then.
    pub(crate) fn expand_ignoring(&mut self, paths: &impl Paths<V>) -> Flow {
        let batch = std::mem::take(&mut self.reducing.reduced);
        for &Reduced { name, parent, at, set, fresh, satisfied } in &batch {
            if set.others_may_be_ignored || satisfied {
                self.reducing.satisfy(parent);
                self.reducing.note();
            } else if fresh {
                self.reducing.note();
            } else {
                self.loaded = None;
                if set.next >= MOST_ATTEMPTS || !self.expand_reduced((name, parent, at), set.next) {
                    self.expand_all(name, parent, paths, at)?;
                }
            }
        }
        if self.reducing.reduced.is_empty() {
            self.reducing.fresh.clear();
            self.reducing.reduced = batch;
            self.reducing.reduced.clear();
        }
        Flow::Continue(())
    }

    /// Stages the targets of the loaded state that processes lead to which are not asleep, or at an attempt
    /// some of them. Where a step has a fault nothing is staged, as where the system cannot tell.
    pub(crate) fn expand_awake(&mut self, asleep: u64, attempt: Option<u32>) -> Awake {
        let (names, staged, sleeps) = (&mut self.names, &mut self.staged, &mut self.sleeps);
        let most_staged = self.most_staged;
        let before = staged.len();
        let Some(system) = self.system.reducible() else { return Awake::Unknown };
        let answer = system.awake_steps(&self.state, asleep, attempt, &mut |step, target, sleep| {
            if step.stays || step.fault.is_some() {
                return Flow::Break(());
            }
            let name = names.name(target);
            if !put(staged, most_staged, Staged { name, near: 0, parent: 0 }) {
                names.give_up();
                return Flow::Continue(());
            }
            sleeps.push(sleep);
            Flow::Continue(())
        });
        let pushed = self.staged.len() - before;
        match answer {
            ControlFlow::Continue(awake) => {
                self.statistics.transitions += pushed as u64;
                self.approach(before);
                awake
            }
            ControlFlow::Break(()) => {
                self.staged.truncate(before);
                self.sleeps.truncate(before);
                Awake::Unknown
            }
        }
    }

    /// Stages all targets of the loaded state; nobody may sleep there.
    pub(crate) fn expand_without_sleep(&mut self, paths: &impl Paths<V>) -> Flow {
        let flow = self.expand_fully(0, paths, 0);
        self.sleeps.resize(self.staged.len(), SleepSet { asleep: 0, awake: u64::MAX });
        flow
    }

    /// Gives all that is staged to `keep`, with who may sleep there.
    pub(crate) fn drain_sleepy(
        &mut self,
        mut keep: impl FnMut(&mut V, &Proviso, StateRef, SleepSet),
    ) -> Flow {
        self.check_names()?;
        for (staged, &sleep) in self.staged.iter().zip(&self.sleeps) {
            keep(&mut self.visited, &self.reducing.proviso, staged.name, sleep);
        }
        self.staged.clear();
        self.sleeps.clear();
        Flow::Continue(())
    }
}
