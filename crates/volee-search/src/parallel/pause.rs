//! The search of one thread that pauses when it is large, and what it does with what a crew has found.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use volee_store::{Names, StateRef, Tuple, Visited};
use volee_system::{Flow, Limit, Meter, System};

use super::{Crew, Ending, Start};
use crate::check::{Order, Statistics};
use crate::explorer::Explorer;
use crate::memo::Memo;
use crate::questions::Finding;

/// What asking a crew came to.
pub(crate) enum Asked<'a> {
    /// Nothing is known that was not.
    InVain,
    /// There is something to be found; where no error is, these goals.
    Expects(&'a Crew<'a>, Option<Vec<bool>>),
}

impl<'a, S: System + ?Sized, V: Visited> Explorer<'a, '_, S, V> {
    /// Several threads take over when there are many states.
    pub(crate) fn with_crew(mut self, crew: Option<&'a Crew<'a>>) -> Self {
        (self.crew, self.crew_begins) = (crew, crew.map_or(u64::MAX, Crew::begins));
        self
    }

    /// Whether it is time to ask the crew.
    #[inline]
    pub(crate) fn is_large(&self) -> bool {
        self.visited.len() >= self.crew_begins
    }

    /// Asks the crew whether there is an error among all states. `Break` when there is nothing left to do. Where the
    /// traversal can tell which states wait to be expanded, and all others were expanded in full, the crew begins with these.
    #[cold]
    pub(crate) fn ask_crew(&mut self, waiting: Option<Vec<(StateRef, u32)>>) -> ControlFlow<(), Asked<'a>> {
        self.crew_begins = u64::MAX;
        let (Some(crew), false) = (self.crew, self.questions.has_errors()) else {
            return ControlFlow::Continue(Asked::InVain);
        };
        let mut known = Vec::new();
        if waiting.is_some() && self.reducing.count == 0 {
            self.visited.each_name(&mut |name| known.push(name));
        }
        let goes_on = known.len() as u64 == self.visited.len();
        let Names::Tuples(tuples) = &mut self.names else { return ControlFlow::Continue(Asked::InVain) };
        self.loaded = None;
        let (waiting, before) = match waiting {
            Some(waiting) if goes_on => (waiting, self.statistics.clone()),
            _ => {
                known.clear();
                let _ = self.system.initial(&mut |state| {
                    known.push(tuples.name(state));
                    Flow::Continue(())
                });
                let arrivals = Statistics { transitions: known.len() as u64, ..Statistics::default() };
                known.sort_unstable();
                known.dedup();
                (known.iter().map(|&name| (name, 0)).collect(), arrivals)
            }
        };
        let start = Start {
            tuples: (**tuples).clone(),
            memo: &self.memo,
            wide_memo: &self.wide_memo,
            known,
            waiting,
            reduces: self.reducing.pays(),
            levels: self.questions.check().order == Order::BreadthFirst,
            goals: self.questions.open_goals(),
        };
        let Some(mut found) = super::search(crew, start, self.meter, self.progress) else {
            return ControlFlow::Continue(Asked::InVain);
        };
        found.statistics.transitions += before.transitions;
        found.statistics.max_depth = found.statistics.max_depth.max(before.max_depth);
        match found.ending {
            Ending::Complete => {
                self.elsewhere = Some(found.statistics);
                self.questions.settle(&found.reached)?;
                ControlFlow::Continue(Asked::Expects(crew, Some(found.reached)))
            }
            Ending::Limit(Some(limit @ (Limit::Time { .. } | Limit::Cancelled))) => {
                self.elsewhere = Some(found.statistics);
                self.stop(limit)?;
                ControlFlow::Continue(Asked::InVain)
            }
            Ending::Decided => {
                self.expects = true;
                ControlFlow::Continue(Asked::Expects(crew, None))
            }
            Ending::Limit(_) => ControlFlow::Continue(Asked::InVain),
        }
    }

    pub(crate) fn meter(&self) -> &'a Meter {
        self.meter
    }

    /// Another search looks for the same: it is enough to go on as long as fewer states were met than that needs.
    pub(crate) fn race(&mut self, fewest: Option<Arc<AtomicU64>>) {
        self.fewest = fewest;
    }

    /// What another search has found is what this one has.
    pub(crate) fn take_over(&mut self, findings: Vec<Finding>, statistics: Statistics) {
        self.limit = None;
        self.questions.take_over(findings);
        self.elsewhere = self.elsewhere.take().or(Some(statistics));
    }

    /// Begins with what another search remembers of steps.
    pub(crate) fn remember(&mut self, (memo, wide_memo): (Memo<u64>, Memo<Tuple>)) {
        (self.memo, self.wide_memo) = (memo, wide_memo);
    }

    /// Whether the budget has this many bytes more.
    pub(crate) fn may_hold(&mut self, bytes: u64) -> Result<(), Limit> {
        let used = self.visited.bytes() + self.own_bytes(self.traversal_bytes);
        self.meter.check_memory(used + bytes, || self.visited.needs())
    }
}
