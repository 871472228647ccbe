//! How a search keeps within its limits, whatever its order: a look at clock, budget and progress now and
//! then, the ends that limits make, and the figures at the end.

use std::sync::atomic::Ordering;
use std::time::Duration;

use volee_store::{Full, Visited};
use volee_system::{Flow, Limit, Snapshot, System};

use super::Explorer;
use crate::check::Statistics;

/// Time between two snapshots of progress.
const REPORT: Duration = Duration::from_millis(50);

/// What is remembered of steps takes at most one part in this many of the budget.
const MOST_REMEMBERED: u64 = 16;

impl<S: System + ?Sized, V: Visited> Explorer<'_, '_, S, V> {
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

    /// Looks at clock and budget at the next tick.
    pub(crate) fn look_soon(&mut self) {
        self.until_tick = 1;
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
    fn keep_budget(&mut self, memory: u64) -> Result<(), Limit> {
        let Some(budget) = self.meter.budget().memory else { return Ok(()) };
        let enough = budget - self.visited.margin(budget);
        let remembered = self.memo.bytes() + self.wide_memo.bytes();
        let memory = match remembered > budget / MOST_REMEMBERED {
            true => {
                self.forget_steps();
                memory - remembered
            }
            false => memory,
        };
        if memory <= enough {
            self.visited.take_room(enough - memory);
            return Ok(());
        }
        if self.visited.give_room(memory - enough) {
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
