//! Targets of steps on their way to the store: named, their lines of the table prefetched, in the order of
//! the steps.

use volee_store::{Names, StateRef, Visited};
use volee_system::{FaultId, Flow, Sink, Step};

use crate::questions::OnFault;
use crate::recent;

/// A step's target that waits to be looked up.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Staged {
    pub(crate) name: StateRef,
    /// The place of its parent in the batch.
    pub(crate) parent: u32,
}

/// Stages a target, if there is room; as many may be staged as there is room for.
#[inline(always)]
pub(crate) fn put(staged: &mut Vec<Staged>, most: usize, target: Staged) -> bool {
    if staged.len() == staged.capacity() && !grow(staged, most) {
        return false;
    }
    staged.push(target);
    true
}

#[cold]
fn grow(staged: &mut Vec<Staged>, most: usize) -> bool {
    let more = staged.capacity().max(32).min(most.saturating_sub(staged.capacity()));
    staged.reserve_exact(more);
    more > 0
}

/// Stages targets whose names are known.
pub(crate) struct Targets<'e, V> {
    visited: &'e V,
    staged: &'e mut Vec<Staged>,
    most: usize,
    parent: u32,
    /// There was no room for some.
    pub(crate) is_overfull: bool,
}

impl<'e, V> Targets<'e, V> {
    /// For the steps of one state: where they are staged, and how many may be.
    pub(crate) fn new(visited: &'e V, (staged, most): (&'e mut Vec<Staged>, usize), parent: u32) -> Self {
        Targets { visited, staged, most, parent, is_overfull: false }
    }
}

impl<V: Visited> crate::memo::Stage for Targets<'_, V> {
    #[inline(always)]
    fn one(&mut self, target: StateRef) {
        self.visited.prefetch(target);
        self.is_overfull |= !put(self.staged, self.most, Staged { name: target, parent: self.parent });
    }

    #[inline(always)]
    fn up_to_two(&mut self, targets: [StateRef; 2], count: usize) {
        let length = self.staged.len();
        self.one(targets[0]);
        if count == 2 {
            self.one(targets[1]);
        } else {
            self.staged.truncate(length + count);
        }
    }
}

/// The same, but those that were met lately are not staged, only counted.
pub(crate) struct Unmet<'e, V> {
    pub(crate) targets: Targets<'e, V>,
    pub(crate) recent: &'e mut recent::Names,
    pub(crate) met: usize,
}

impl<V: Visited> crate::memo::Stage for Unmet<'_, V> {
    #[inline(always)]
    fn one(&mut self, target: StateRef) {
        let slot = &mut self.recent[recent::place(target)];
        if std::mem::replace(slot, target.0) == target.0 {
            self.met += 1;
        } else {
            self.targets.one(target);
        }
    }

    #[inline(always)]
    fn up_to_two(&mut self, targets: [StateRef; 2], count: usize) {
        if count > 0 {
            self.one(targets[0]);
        }
        if count > 1 {
            self.one(targets[1]);
        }
    }
}

/// The sink of an expansion.
pub(crate) struct Stage<'e, V> {
    pub(crate) names: &'e mut Names,
    pub(crate) visited: &'e V,
    pub(crate) staged: &'e mut Vec<Staged>,
    pub(crate) most_staged: usize,
    pub(crate) faults: &'e mut Vec<(u32, FaultId)>,
    pub(crate) on_fault: OnFault,
    pub(crate) parent: u32,
    pub(crate) pushed: u32,
    /// Steps that end in their fault and lead nowhere.
    pub(crate) staying: u32,
}

impl<V: Visited> Sink for Stage<'_, V> {
    #[inline]
    fn push(&mut self, step: Step, target: &[u8]) -> Flow {
        let ordinal = self.pushed;
        self.pushed += 1;
        if step.stays {
            self.staying += 1;
        } else {
            let name = self.names.name(target);
            self.visited.prefetch(name);
            if !put(self.staged, self.most_staged, Staged { name, parent: self.parent }) {
                // What was staged is not all there is, and will not be looked at.
                self.names.give_up();
                return Flow::Break(());
            }
        }
        match step.fault {
            None => Flow::Continue(()),
            Some(fault) => self.fault(ordinal, fault),
        }
    }
}

impl<V> Stage<'_, V> {
    #[cold]
    fn fault(&mut self, ordinal: u32, fault: FaultId) -> Flow {
        if self.on_fault == OnFault::Ignore {
            return Flow::Continue(());
        }
        self.faults.push((ordinal, fault));
        if self.on_fault == OnFault::Stop { Flow::Break(()) } else { Flow::Continue(()) }
    }
}
