//! Targets of steps on their way to the store, in the order of the steps: named, and when all of a state are
//! there, their lines of the table prefetched.

use volee_store::{Names, StateRef, Visited};
use volee_system::{FaultId, Flow, Sink, Step};

use crate::questions::OnFault;
use crate::recent;

/// A step's target that waits to be looked up.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Staged {
    pub(crate) name: StateRef,
    /// What the store has told of it: see [`Visited::approach`].
    pub(crate) near: u64,
    /// The place of its parent in the batch.
    pub(crate) parent: u32,
}

/// Brings what the store knows of staged states near.
#[inline(always)]
pub(crate) fn approach<V: Visited>(visited: &V, staged: &mut [Staged]) {
    for staged in staged {
        staged.near = visited.approach(staged.name);
    }
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

/// Makes room for so many more; whether there may be.
#[inline(always)]
pub(crate) fn make_room(staged: &mut Vec<Staged>, most: usize, more: usize) -> bool {
    while staged.capacity() - staged.len() < more {
        if !grow(staged, most) {
            return false;
        }
    }
    true
}

#[cold]
fn grow(staged: &mut Vec<Staged>, most: usize) -> bool {
    let more = staged.capacity().max(32).min(most.saturating_sub(staged.capacity()));
    staged.reserve_exact(staged.capacity() - staged.len() + more);
    more > 0
}

/// The targets of one state's remembered steps, in order. They are staged when all are there, so that the many
/// small steps on the way to that write nothing but names.
#[derive(Debug, Default)]
pub(crate) struct Targets {
    /// Those that are there, and room for more.
    names: Vec<StateRef>,
    count: usize,
    most: usize,
    /// There was no room for some.
    pub(crate) is_overfull: bool,
}

impl Targets {
    /// There are none; no more than `most` may come.
    pub(crate) fn begin(&mut self, most: usize) {
        (self.count, self.most, self.is_overfull) = (0, most, false);
    }

    /// Those that came.
    #[inline(always)]
    pub(crate) fn names(&self) -> &[StateRef] {
        &self.names[..self.count]
    }

    /// Leaves out those that were met lately.
    #[inline]
    pub(crate) fn leave_out_met(&mut self, recent: &mut recent::Names) {
        let mut left = 0;
        for at in 0..self.count {
            let name = self.names[at];
            let slot = &mut recent[recent::place(name)];
            // Nobody can foresee which were met.
            self.names[left] = name;
            left += usize::from(*slot != name.0);
            *slot = name.0;
        }
        self.count = left;
    }

    /// Makes room for two more, if there may be.
    #[cold]
    fn grow(&mut self) -> bool {
        let room = (2 * self.names.len()).max(32).min(self.most);
        let is_more = room >= self.count + 2;
        if is_more {
            self.names.reserve_exact(room - self.names.len());
            self.names.resize(room, StateRef(0));
        }
        is_more
    }

    pub(crate) fn bytes(&self) -> u64 {
        (self.names.capacity() * size_of::<StateRef>()) as u64
    }
}

impl crate::memo::Stage for Targets {
    #[inline(always)]
    fn one(&mut self, target: StateRef) {
        self.up_to_two([target, target], 1);
    }

    #[inline(always)]
    fn up_to_two(&mut self, targets: [StateRef; 2], count: usize) {
        if self.count + 2 > self.names.len() && !self.grow() {
            self.is_overfull = true;
            return;
        }
        self.names[self.count..self.count + 2].copy_from_slice(&targets);
        self.count += count;
    }

    #[inline(always)]
    fn count(&self) -> usize {
        self.count
    }
}

/// The sink of an expansion.
pub(crate) struct Stage<'e> {
    pub(crate) names: &'e mut Names,
    pub(crate) staged: &'e mut Vec<Staged>,
    pub(crate) most_staged: usize,
    pub(crate) faults: &'e mut Vec<(u32, FaultId)>,
    pub(crate) on_fault: OnFault,
    pub(crate) parent: u32,
    pub(crate) pushed: u32,
    /// Steps that end in their fault and lead nowhere.
    pub(crate) staying: u32,
}

impl Sink for Stage<'_> {
    #[inline]
    fn push(&mut self, step: Step, target: &[u8]) -> Flow {
        let ordinal = self.pushed;
        self.pushed += 1;
        if step.stays {
            self.staying += 1;
        } else {
            let name = self.names.name(target);
            let target = Staged { name, near: 0, parent: self.parent };
            if !put(self.staged, self.most_staged, target) {
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

impl Stage<'_> {
    #[cold]
    fn fault(&mut self, ordinal: u32, fault: FaultId) -> Flow {
        if self.on_fault == OnFault::Ignore {
            return Flow::Continue(());
        }
        self.faults.push((ordinal, fault));
        if self.on_fault == OnFault::Stop { Flow::Break(()) } else { Flow::Continue(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memo::Stage as _;

    #[test]
    fn room_is_made_also_where_some_is_left() {
        let mut staged = Vec::with_capacity(32);
        staged.resize(30, Staged { name: StateRef(1), near: 0, parent: 0 });
        assert!(!make_room(&mut staged, 32, 5));
        assert!(make_room(&mut staged, 1000, 5) && staged.capacity() >= 35);
        assert!(make_room(&mut staged, 1000, 900) && staged.capacity() >= 930);
        assert!(!make_room(&mut staged, 1000, 1900));
    }

    #[test]
    fn targets_come_in_order_and_no_more_than_may() {
        let mut targets = Targets::default();
        targets.begin(100);
        for at in (0..90).step_by(3) {
            targets.one(StateRef(at));
            targets.up_to_two([StateRef(at + 1), StateRef(at + 2)], 2);
            targets.up_to_two([StateRef(1000), StateRef(1000)], 0);
        }
        let all: Vec<StateRef> = (0..90).map(StateRef).collect();
        assert!(targets.names() == all && !targets.is_overfull && targets.bytes() <= 800);
        (0..20).for_each(|_| targets.one(StateRef(7)));
        assert!(targets.is_overfull);
        targets.begin(100);
        assert!(targets.names().is_empty() && !targets.is_overfull);
    }

    /// Who was met is left out, once: what comes between may have taken its place.
    #[test]
    fn targets_that_were_met_lately_are_left_out() {
        let mut recent: Box<recent::Names> =
            vec![u64::MAX; 1 << 14].into_boxed_slice().try_into().expect("as many");
        let mut targets = Targets::default();
        for (given, left) in [(0..50, 0..50), (10..60, 50..60), (0..60, 0..0)] {
            targets.begin(1000);
            given.for_each(|at| targets.one(StateRef(at)));
            targets.leave_out_met(&mut recent);
            let taken: Vec<usize> = (0..60).map(|at| recent::place(StateRef(at))).collect();
            let is_alone = |at: u64| taken.iter().filter(|&&t| t == taken[at as usize]).count() == 1;
            let names = targets.names().iter().map(|name| name.0).filter(|&at| is_alone(at));
            assert!(names.eq(left.filter(|&at| is_alone(at))));
        }
    }
}
