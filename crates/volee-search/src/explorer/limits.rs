//! How a search keeps within its limits, whatever its order: a look at clock, budget and progress now and
//! then, the ends that limits make, and the figures at the end.

use std::sync::atomic::Ordering;
use std::time::Duration;

use volee_store::{Full, StateRef, Visited};
use volee_system::{Flow, Limit, Meter, Snapshot, System};

use super::Explorer;
use crate::check::Statistics;
use crate::staging::Staged;

/// Time between two snapshots of progress.
const REPORT: Duration = Duration::from_millis(50);

/// What is remembered of steps takes at most one part in this many of the budget.
const MOST_REMEMBERED: u64 = 16;

/// What a staged state takes, here and before that among the targets of its source.
const STAGED: usize = size_of::<Staged>() + size_of::<StateRef>();

/// With less memory than this steps are not remembered: the first tables alone would be much of it.
const REMEMBERS: u64 = 1 << 20;

/// Whether steps are remembered.
pub(super) fn remembers(meter: &Meter) -> bool {
    meter.budget().memory.is_none_or(|bytes| bytes >= REMEMBERS)
}

/// How many states may be staged before the first look at what there is.
pub(super) fn first_staged(meter: &Meter) -> usize {
    let room = meter.budget().memory.map_or(u64::MAX, |bytes| bytes / 8);
    usize::try_from(room).unwrap_or(usize::MAX) / STAGED
}

impl<S: System + ?Sized, V> Explorer<'_, '_, S, V> {
    /// How many states may be named until the next look, about.
    fn named_soon(&self) -> usize {
        4 * usize::try_from(self.tick).unwrap_or(usize::MAX) + super::BATCH
    }

    /// What is remembered of steps takes so many bytes.
    fn remembered(&self) -> u64 {
        self.memo.bytes() + self.wide_memo.bytes()
    }

    /// What names, batch and traversal may take until the next look, about: it is left free. That they do not
    /// take more is looked at where they do ([`Explorer::claim`], `Names::hold_to`).
    pub(crate) fn headroom(&self) -> u64 {
        if self.meter.budget().memory.is_none() {
            return 0;
        }
        let batch = (self.staged.capacity() * size_of::<Staged>()) as u64 * 2 + self.reducing.batch_bytes();
        let remembered = self.remembered();
        let traversal = self.traversal_growth.max(LEAST_GROWTH);
        self.names.growth(self.named_soon()) + batch + traversal + remembered + self.reducing.proviso.growth()
    }
}

/// Names that may take so many bytes more than twice what they take need not be looked at soon.
const PLENTY: u64 = 1 << 16;

/// What a traversal grows by, at least.
const LEAST_GROWTH: u64 = 1 << 10;

impl<S: System + ?Sized, V: Visited> Explorer<'_, '_, S, V> {
    /// Whether the first tables are within the budget.
    pub(crate) fn fits_at_first(&mut self) -> Result<(), Limit> {
        let least = self.visited.bytes() + self.own_bytes(0) + LEAST_GROWTH;
        let kilobytes = least as f64 / 1024.0;
        let needed = || format!("the smallest tables alone are larger (at least {kilobytes:.1} kB)");
        self.meter.check_memory(least, needed)?;
        self.share_out(self.budget() - least);
        Ok(())
    }

    /// Looks at clock and budget now.
    pub(crate) fn look_now(&mut self, traversal: u64) -> Flow {
        self.until_tick = self.tick;
        self.look_around(0, 0, traversal)
    }

    /// Somebody is about to take this many bytes, beside what the traversal has: the store makes room, or the
    /// search ends.
    #[inline]
    pub(crate) fn claim(&mut self, bytes: u64, traversal: u64) -> Flow {
        if bytes == 0 || self.meter.budget().memory.is_none() {
            Flow::Continue(())
        } else {
            self.make_free(bytes, traversal)
        }
    }

    /// Names that will soon take more than they may are given it first.
    #[inline]
    pub(crate) fn foresee(&mut self, traversal: u64) -> Flow {
        if !self.names_are_tight {
            return Flow::Continue(());
        }
        match self.names.lacks(super::BATCH) {
            0 => Flow::Continue(()),
            more => {
                self.make_free(more, traversal)?;
                self.share_out(
                    self.budget().saturating_sub(self.visited.reserved() + self.own_bytes(traversal)),
                );
                Flow::Continue(())
            }
        }
    }

    #[cold]
    fn make_free(&mut self, bytes: u64, traversal: u64) -> Flow {
        let budget = self.budget();
        let used = |search: &Self| search.visited.reserved() + search.own_bytes(traversal) + bytes;
        let lacks = used(self).saturating_sub(budget);
        if lacks > 0 {
            self.visited.foresee_loss(lacks, &mut self.names);
        }
        if lacks > 0 && (!self.visited.give_room(lacks) || used(self) > budget) {
            return self.stop_on_memory();
        }
        let free = budget - used(self);
        self.share_out(free);
        Flow::Continue(())
    }

    /// What is free until the next look is for names and for the batch.
    fn share_out(&mut self, free: u64) {
        let growth = self.names.growth(self.named_soon());
        let others = self.headroom().saturating_sub(growth);
        // What nobody needs soon is for whoever needs it after all: a dictionary that is full doubles, and a
        // state may have any number of steps.
        let batch = others.max(free / 4).min(free / 2);
        let names = (free - batch).max(growth.min(free));
        let held = self.names.bytes();
        self.names.hold_to(held + names);
        self.names_are_tight = names < held + PLENTY;
        let more = usize::try_from((free - names) / 2).unwrap_or(usize::MAX) / STAGED;
        self.most_staged = self.staged.capacity().saturating_add(more);
    }

    /// Whether all that is staged has a name: what has none must not be looked up or kept, for it would be
    /// taken for another state.
    #[inline]
    pub(crate) fn check_names(&mut self) -> Flow {
        match self.names.full() {
            None if !self.names.has_waiting() => Flow::Continue(()),
            Some(full) => self.stop_full(full),
            None => {
                let message = "a state without a name was to be kept: a defect of volee".into();
                self.stop(Limit::Other { message })
            }
        }
    }

    #[cold]
    pub(crate) fn stop_full(&mut self, full: Full) -> Flow {
        self.stop(full.limit(self.visited.bytes() + self.names.bytes(), self.visited.needs()))
    }

    /// Ends the search because the memory budget does not hold what is needed.
    pub(crate) fn stop_on_memory(&mut self) -> Flow {
        let used = self.visited.bytes() + self.names.bytes() + self.traversal_bytes;
        let budget = self.meter.budget().memory.unwrap_or(used);
        self.stop(Limit::Memory { budget, needed: self.visited.needs() })
    }

    /// Whether the search has ended for want of memory; if so it has not, and what was staged is forgotten.
    pub(crate) fn goes_on_without_memory(&mut self) -> bool {
        let is_memory = matches!(self.limit, Some(Limit::Memory { .. }));
        if is_memory {
            self.limit = None;
            self.staged.clear();
            self.sleeps.clear();
            self.reducing.drop_batch();
            self.names.revive();
        }
        is_memory
    }

    /// Tells the user something at once.
    pub(crate) fn say(&mut self, message: &str) {
        self.progress.say(message);
    }

    /// Ends the search with a limit.
    pub(crate) fn stop(&mut self, limit: Limit) -> Flow {
        self.limit = Some(limit);
        Flow::Break(())
    }

    /// Looks at clock, budget and progress now and then; `depth` and `pending` and `extra_bytes` are the
    /// traversal's.
    #[inline]
    pub(crate) fn tick(&mut self, depth: u64, pending: u64, extra_bytes: u64) -> Flow {
        self.until_tick -= 1;
        if self.until_tick > 0 {
            return Flow::Continue(());
        }
        self.until_tick = self.tick;
        self.look_around(depth, pending, extra_bytes)
    }

    #[cold]
    fn look_around(&mut self, depth: u64, pending: u64, extra_bytes: u64) -> Flow {
        self.traversal_bytes = extra_bytes;
        let memory = self.measure(extra_bytes);
        let checked = self.check_time().and_then(|()| self.keep_budget(memory));
        if self.fewest.as_ref().is_some_and(|fewest| self.visited.len() > fewest.load(Ordering::Relaxed)) {
            return self.stop(Limit::Other { message: "another search needs fewer states".into() });
        }
        let elapsed = self.meter.elapsed();
        if elapsed - self.last_report >= REPORT {
            self.last_report = elapsed;
            self.progress.report(&Snapshot {
                states: self.counted.unwrap_or_else(|| self.visited.len()),
                transitions: self.statistics.transitions,
                depth,
                max_depth: self.statistics.max_depth,
                pending,
                memory,
            });
        }
        match checked {
            Ok(()) => Flow::Continue(()),
            Err(limit) => self.stop(limit),
        }
    }

    /// Keeps below the budget, and a little below where the store can: what is used grows until the next
    /// look.
    fn keep_budget(&mut self, mut memory: u64) -> Result<(), Limit> {
        let Some(budget) = self.meter.budget().memory else { return Ok(()) };
        for forget in [Self::forget_groups, Self::forget_steps] {
            let remembered = self.remembered();
            if remembered > budget / MOST_REMEMBERED {
                forget(self);
                memory -= remembered - self.remembered();
            }
        }
        let enough = budget.saturating_sub(self.visited.margin(budget).max(self.headroom()));
        let has_room = match memory <= enough {
            true => {
                self.visited.take_room(enough - memory);
                true
            }
            false => {
                self.visited.foresee_loss(memory - enough, &mut self.names);
                self.visited.give_room(memory - enough)
            }
        };
        let reserved = self.visited.reserved() + self.own_bytes(self.traversal_bytes);
        self.share_out(budget.saturating_sub(reserved));
        if has_room {
            return Ok(());
        }
        let kilobytes = memory as f64 / 1024.0;
        self.meter.check_memory(memory, || format!("{} (at least {kilobytes:.1} kB)", self.visited.needs()))
    }

    fn measure(&mut self, extra_bytes: u64) -> u64 {
        let memory = self.visited.bytes() + self.own_bytes(extra_bytes);
        self.statistics.memory_bytes = self.statistics.memory_bytes.max(memory);
        memory
    }

    /// The end of the search: its figures, the limit that ended it, and the store.
    pub(crate) fn finish(mut self, extra_bytes: u64) -> (Statistics, Option<Limit>, V) {
        self.measure(extra_bytes);
        self.statistics.states = self.visited.len();
        self.statistics.reduced = self.reducing.count;
        self.statistics.table_bytes = self.visited.bytes();
        if self.expects && self.limit.is_none() && !self.questions.has_found() {
            let message =
                "several threads met an error that one alone does not find: a defect of volee".into();
            self.limit = Some(Limit::Other { message });
        }
        let left_out = self.left_out.map(|message| Limit::Other { message });
        let statistics = self.elsewhere.unwrap_or(self.statistics);
        (statistics, self.limit.or(left_out), self.visited)
    }
}
