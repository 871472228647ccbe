//! What all workers do together: a larger table, or names laid out anew.
//!
//! Between two batches a worker holds names in its stack, in what it keeps for the next level, and in what it
//! has staged. At a meeting all stand between two batches. One of them leads: it makes the new table, and
//! where fields are too narrow lays them out for all. Then all move names from the old table to the new one,
//! a part of the lines at a time, translate their own names, and go on. The barriers of the yard order all
//! this: before the second nobody looks at the plan, before the third nobody inserts a state of his own, and
//! before the fourth nobody takes a package, whose names the leader translates.
//!
//! Where names have not all fields themselves, translating them gives numbers to words; the leader does that
//! alone, before the others become clones of its dictionaries, so that all agree.

use std::sync::{Arc, PoisonError};

use volee_store::{Concurrent, Layouts, Names, StateRef, Tuples, WAITING, Waiting};
use volee_system::Limit;

use super::ease;
use super::worker::Worker;
use super::yard::End;

/// What a meeting has decided.
pub(super) struct Plan {
    table: Arc<Concurrent>,
    /// How names change, and the dictionaries that all go on with.
    renaming: Option<(Layouts, Tuples)>,
    /// The leader has moved all names already, or there is no other table.
    is_moved: bool,
    /// All hand in what they have.
    is_kept: bool,
}

impl Worker<'_, '_> {
    /// Meets with all others. `None` when the search has ended.
    #[cold]
    pub(super) fn meet(&mut self) -> Option<()> {
        let common = self.common;
        if self.tuples()?.has_waiting() {
            *common.wants_layout.lock().unwrap_or_else(PoisonError::into_inner) = true;
        }
        let leads = common.yard.meet()?;
        if leads {
            let is_kept = common.yard.open_meeting();
            match self.plan(is_kept) {
                Ok(plan) => {
                    *common.plan.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(plan));
                }
                Err(limit) => common.yard.end(End::Limit(limit)),
            }
        }
        common.yard.meet()?;
        let plan = common.plan.lock().unwrap_or_else(PoisonError::into_inner).clone()?;
        let old = Arc::clone(&self.explorer.visited.table);
        let renaming = plan.renaming.as_ref();
        let waiting = match renaming {
            Some((layouts, tuples)) => self.adopt(layouts, tuples)?,
            None => Waiting::default(),
        };
        if !plan.is_moved {
            let tuples = self.tuples()?;
            match renaming {
                None => while old.move_chunk(&plan.table) {},
                Some((layouts, _)) => {
                    while old.move_renamed(&plan.table, |name| tuples.renamed(layouts, name)) {}
                }
            }
        }
        self.rename(renaming, &waiting);
        if self.tuples()?.has_waiting() {
            // Only a state that has no name of this kind at all waits once more.
            common.yard.end(End::Limit(None));
            return None;
        }
        self.explorer.visited.table = Arc::clone(&plan.table);
        common.yard.meet()?;
        if leads {
            *common.plan.lock().unwrap_or_else(PoisonError::into_inner) = None;
            let tuples = self.tuples()?;
            common.yard.rename(&mut |name| translated(tuples, renaming, &waiting, name));
        }
        common.yard.meet()?;
        if plan.is_kept { self.hand_in(leads) } else { Some(()) }
    }

    /// Makes the next table, and lays names out where some worker has states that wait for that.
    fn plan(&mut self, is_kept: bool) -> Result<Plan, Option<Limit>> {
        let wants =
            std::mem::take(&mut *self.common.wants_layout.lock().unwrap_or_else(PoisonError::into_inner));
        let old = Arc::clone(&self.explorer.visited.table);
        if is_kept && !wants && !old.is_crowded() {
            return Ok(Plan { table: old, renaming: None, is_moved: true, is_kept });
        }
        let ease = ease(self.explorer.meter);
        self.explorer.may_hold(old.larger_bytes(ease)).map_err(Some)?;
        if !wants {
            let table = Arc::new(old.larger(ease).ok_or(None)?);
            return Ok(Plan { table, renaming: None, is_moved: false, is_kept });
        }
        let bits = old.name_bits();
        let tuples = self.tuples().ok_or(None)?;
        tuples.catch_up();
        tuples.unshare();
        let was_wide = tuples.is_wide();
        let own_waiting = tuples.take_waiting();
        let layouts = tuples.lay_out(bits).ok_or(None)?;
        let table = old.relaid(tuples.width(), ease).ok_or(None)?;
        let is_moved = was_wide || tuples.is_wide();
        if is_moved {
            while old.move_renamed(&table, |name| tuples.renamed(&layouts, name)) {}
        }
        tuples.share();
        let all = tuples.clone();
        tuples.put_waiting(own_waiting);
        Ok(Plan { table: Arc::new(table), renaming: Some((layouts, all)), is_moved, is_kept })
    }

    /// Goes on with these dictionaries; the states that have waited for that.
    fn adopt(&mut self, layouts: &Layouts, tuples: &Tuples) -> Option<Waiting> {
        let waiting = self.tuples()?.take_waiting();
        self.explorer.memo.rename(layouts, tuples);
        self.explorer.wide_memo.rename(layouts, tuples);
        self.explorer.names = Names::Tuples(Box::new(tuples.clone()));
        self.explorer.loaded = None;
        self.explorer.recent.clear();
        Some(waiting)
    }

    fn rename(&mut self, renaming: Option<&(Layouts, Tuples)>, waiting: &Waiting) {
        if renaming.is_none() {
            return;
        }
        let Names::Tuples(mut tuples) = std::mem::replace(&mut self.explorer.names, Names::lasting()) else {
            return;
        };
        let mut translate = |name| translated(&mut tuples, renaming, waiting, name);
        self.explorer.staged.iter_mut().for_each(|staged| staged.name = translate(staged.name));
        let kept = self.kept.iter_mut().flat_map(|kept| &mut kept.names);
        self.stack.names.iter_mut().chain(kept).for_each(|name| *name = translate(*name));
        self.rename_trail(translate);
        self.explorer.names = Names::Tuples(tuples);
    }

    pub(super) fn tuples(&mut self) -> Option<&mut Tuples> {
        self.explorer.names.tuples()
    }
}

/// The new name of a state.
fn translated(
    tuples: &mut Tuples,
    renaming: Option<&(Layouts, Tuples)>,
    waiting: &Waiting,
    name: StateRef,
) -> StateRef {
    match renaming {
        None => name,
        Some(_) if name.0 & WAITING != 0 => tuples.name(waiting.state(name)),
        Some((layouts, _)) => tuples.renamed(layouts, name),
    }
}
