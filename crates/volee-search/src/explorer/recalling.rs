//! The targets of a state from what is remembered of its steps: named in one go, and staged when all are there.

use volee_store::{StateRef, Visited};
use volee_system::{PersistentSet, System};

use super::Explorer;
use crate::memo::Recalled;
use crate::recent::Recent;
use crate::staging::{Staged, make_room};

impl<S: System + ?Sized, V: Visited> Explorer<'_, '_, S, V> {
    /// Stages the targets of a state from what is remembered of its steps, where that is possible.
    #[inline(always)]
    pub(super) fn expand_from_memory(&mut self, name: StateRef, parent: u32) -> Recalled {
        let Some(tuples) = self.names.tuples() else { return Recalled::Ask };
        self.loaded = None;
        self.targets.begin(self.most_staged);
        let (state, targets) = ((name, &mut self.state), &mut self.targets);
        let recalled = if tuples.is_wide() {
            self.wide_memo.expand(self.system, tuples, state, targets)
        } else {
            self.memo.expand(self.system, tuples, state, targets)
        };
        if recalled == Recalled::Ask {
            return recalled;
        }
        self.reducing.satisfy(parent);
        self.statistics.transitions += self.targets.names().len() as u64;
        if self.recent.is_on() {
            self.leave_out_met();
        }
        self.stage_targets(parent);
        recalled
    }

    /// Targets that were met lately are not looked up again.
    #[inline]
    fn leave_out_met(&mut self) {
        let Some(recent) = self.recent.names() else { return };
        let all = self.targets.names().len();
        self.targets.leave_out_met(recent);
        self.recent.found((all - self.targets.names().len()) as u64);
    }

    /// Stages the targets that are there.
    #[inline]
    fn stage_targets(&mut self, parent: u32) {
        let names = self.targets.names();
        if self.targets.is_overfull || !make_room(&mut self.staged, self.most_staged, names.len()) {
            return self.names.give_up();
        }
        let visited = &self.visited;
        let staged = |&name: &StateRef| Staged { name, near: visited.approach(name), parent };
        self.staged.extend(names.iter().map(staged));
    }

    /// Looks whether it pays not to look up what was met lately. Only full expansions leave such targets out: whether
    /// a reduced one is enough is decided by all of its own.
    #[cold]
    pub(super) fn look_at_recent(&mut self) {
        let may = V::LASTING && self.may_hold(Recent::BYTES).is_ok();
        let far = self.visited.bytes() >= self.questions.check().near;
        self.recent.look(self.statistics.transitions, far, may);
    }

    /// Stages the targets of a persistent set of steps from memory. `Err` when the system is to be asked.
    #[inline]
    pub(crate) fn expand_set_from_memory(
        &mut self,
        name: StateRef,
        parent: u32,
        attempt: u32,
    ) -> Result<Option<PersistentSet>, Recalled> {
        let tuples = self.names.tuples().ok_or(Recalled::Ask)?;
        self.loaded = None;
        self.targets.begin(self.most_staged);
        let (state, targets) = (((name, &mut self.state), attempt), &mut self.targets);
        let answer = if tuples.is_wide() {
            self.wide_memo.expand_set(self.system, tuples, state, targets)
        } else {
            self.memo.expand_set(self.system, tuples, state, targets)
        };
        if answer.is_ok() {
            self.stage_targets(parent);
        }
        answer
    }
}
