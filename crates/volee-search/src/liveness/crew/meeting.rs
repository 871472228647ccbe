//! What all workers do together: larger tables, or names laid out anew; as in [`crate::parallel`], with two
//! tables, whose keys are pairs.
//!
//! A key is the name of a state with the number of the automaton's state above it. Where names are so long
//! that there is no room above them, those are taken that have it; who meets another ends the crew.

use std::sync::{Arc, PoisonError};

use volee_store::{Concurrent, Layouts, Names, StateRef, Tuples, WAITING, Waiting};
use volee_system::Limit;

use super::Pair;
use super::worker::Worker;
use crate::parallel::ease;
use crate::parallel::yard::End;

/// Both tables, and how many bits of their keys names have.
#[derive(Clone)]
pub(super) struct Tables {
    pub seen: Arc<Concurrent>,
    pub dead: Arc<Concurrent>,
    pub width: u32,
}

impl Tables {
    /// The key of a pair, if there is room for it.
    #[inline]
    pub fn key(&self, (name, at): Pair) -> Option<StateRef> {
        (name.0 >> self.width == 0).then(|| StateRef(u64::from(at) << self.width | name.0))
    }

    pub fn pair(&self, key: StateRef) -> Pair {
        (StateRef(key.0 & ((1 << self.width) - 1)), (key.0 >> self.width) as u32)
    }

    pub fn bytes(&self) -> u64 {
        self.seen.bytes() + self.dead.bytes()
    }

    pub fn is_crowded(&self) -> bool {
        self.seen.is_crowded() || self.dead.is_crowded()
    }

    fn each<E>(
        &self,
        mut make: impl FnMut(&Arc<Concurrent>) -> Result<Arc<Concurrent>, E>,
    ) -> Result<Self, E> {
        Ok(Tables { seen: make(&self.seen)?, dead: make(&self.dead)?, width: self.width })
    }

    /// Moves what both have to others, together with whoever else does.
    fn move_to(&self, to: &Tables) {
        for (from, to) in [(&self.seen, &to.seen), (&self.dead, &to.dead)] {
            if !Arc::ptr_eq(from, to) {
                while from.move_chunk(to) {}
            }
        }
    }

    /// Moves what both have to others, whose names are laid out differently. `None` when some have no room.
    fn move_renamed(&self, to: &Tables, tuples: &mut Tuples, layouts: &Layouts) -> Option<()> {
        let mut lost = false;
        for (from, table) in [(&self.seen, &to.seen), (&self.dead, &to.dead)] {
            let mut translate = |key: StateRef| {
                let (name, at) = self.pair(key);
                let key = to.key((tuples.renamed(layouts, name), at));
                lost |= key.is_none();
                key.unwrap_or(StateRef(1))
            };
            while from.move_renamed(table, &mut translate) {}
        }
        (!lost && !tuples.is_full()).then_some(())
    }
}

/// What a meeting has decided.
pub(super) struct Plan {
    tables: Tables,
    /// How names change, and the dictionaries that all go on with.
    renaming: Option<(Layouts, Tuples)>,
    /// The leader has moved all names already.
    is_moved: bool,
    /// All hand in what they have.
    is_kept: bool,
}

impl<const W: usize> Worker<'_, W> {
    /// Meets with all others. `None` when the search has ended.
    #[cold]
    pub(super) fn meet(&mut self) -> Option<()> {
        let common = self.common;
        self.count();
        if self.product.has_waiting() {
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
        let Some((layouts, all)) = &plan.renaming else {
            self.tables.move_to(&plan.tables);
            self.tables = plan.tables.clone();
            common.yard.meet()?;
            if leads {
                *common.plan.lock().unwrap_or_else(PoisonError::into_inner) = None;
            }
            common.yard.meet()?;
            return if plan.is_kept { self.hand_in(leads) } else { Some(()) };
        };
        let waiting = self.product.tuples()?.take_waiting();
        let mut tuples = all.clone();
        // Before the next barrier nobody looks anything up, so what was moved wrongly does no harm.
        if !plan.is_moved && self.tables.move_renamed(&plan.tables, &mut tuples, layouts).is_none() {
            common.yard.end(End::Limit(None));
            return None;
        }
        self.tables = plan.tables.clone();
        self.rename(|name| translated(&mut tuples, layouts, &waiting, name));
        if tuples.has_waiting() {
            // Only a state that has no name of this kind at all waits once more.
            common.yard.end(End::Limit(None));
            return None;
        }
        common.yard.meet()?;
        if leads {
            *common.plan.lock().unwrap_or_else(PoisonError::into_inner) = None;
            let mut rename = |pairs: &mut Vec<Pair>| {
                pairs.iter_mut().for_each(|pair| pair.0 = tuples.renamed(layouts, pair.0));
            };
            common.yard.each_package(&mut rename);
            rename(&mut common.alone.lock().unwrap_or_else(PoisonError::into_inner).roots);
        }
        self.product.exchange_names(Names::Tuples(Box::new(tuples)));
        common.yard.meet()?;
        if plan.is_kept { self.hand_in(leads) } else { Some(()) }
    }

    /// Makes the next tables, and lays names out where some worker has states that wait for that.
    fn plan(&mut self, is_kept: bool) -> Result<Plan, Option<Limit>> {
        let common = self.common;
        let wants = std::mem::take(&mut *common.wants_layout.lock().unwrap_or_else(PoisonError::into_inner));
        let old = self.tables.clone();
        if is_kept && !wants && !old.is_crowded() {
            return Ok(Plan { tables: old, renaming: None, is_moved: true, is_kept });
        }
        // There are two tables.
        let ease = ease(common.meter) / 2;
        let larger = old.seen.larger_bytes(ease) + old.dead.larger_bytes(ease);
        common.check_memory(old.bytes() + larger).map_err(Some)?;
        if !wants {
            let tables = old.each(|table| match table.is_crowded() {
                true => table.larger(ease).map(Arc::new).ok_or(None),
                false => Ok(Arc::clone(table)),
            })?;
            return Ok(Plan { tables, renaming: None, is_moved: false, is_kept });
        }
        let most = common.kinds.most_name_bits();
        let bits = old.seen.name_bits().saturating_sub(common.kinds.bits()).min(most);
        let tuples = self.product.tuples().ok_or(None)?;
        tuples.catch_up();
        tuples.unshare();
        let was_wide = tuples.is_wide();
        let own = tuples.take_waiting();
        let layouts = tuples.lay_out_within(bits, most).ok_or(None)?;
        let width = tuples.width().min(most);
        let make = |table: &Arc<Concurrent>| {
            table.relaid(width + common.kinds.bits(), ease).map(Arc::new).ok_or(None)
        };
        let tables = Tables { width, ..old.each(make)? };
        let is_moved = was_wide || tuples.is_wide();
        if is_moved {
            old.move_renamed(&tables, tuples, &layouts).ok_or(None)?;
        }
        tuples.share();
        let all = tuples.clone();
        tuples.put_waiting(own);
        Ok(Plan { tables, renaming: Some((layouts, all)), is_moved, is_kept })
    }

    /// Translates all names that this worker holds.
    fn rename(&mut self, mut translate: impl FnMut(StateRef) -> StateRef) {
        let alone = self.alone.iter_mut().flatten();
        let pairs = self.stack.iter_mut().chain(&mut self.arrived).chain(alone);
        pairs.for_each(|pair| pair.0 = translate(pair.0));
        if self.current.0 != StateRef::NONE {
            self.current.0 = translate(self.current.0);
        }
        self.product.translate(translate);
    }
}

/// The new name of a state.
fn translated(tuples: &mut Tuples, layouts: &Layouts, waiting: &Waiting, name: StateRef) -> StateRef {
    if name.0 & WAITING != 0 { tuples.name(waiting.state(name)) } else { tuples.renamed(layouts, name) }
}
