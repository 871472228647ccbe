//! The search of one thread that pauses when it is large, and what it does with what a crew has found.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use volee_store::{Names, Tuple, Visited};
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

    /// Asks the crew whether there is an error among all states. `Break` when there is nothing left to do.
    #[cold]
    pub(crate) fn ask_crew(&mut self) -> ControlFlow<(), Asked<'a>> {
        self.crew_begins = u64::MAX;
        let (Some(crew), false) = (self.crew, self.questions.has_errors()) else {
            return ControlFlow::Continue(Asked::InVain);
        };
        let mut initial = Vec::new();
        let Names::Tuples(tuples) = &mut self.names else { return ControlFlow::Continue(Asked::InVain) };
        self.loaded = None;
        let _ = self.system.initial(&mut |state| {
            initial.push(tuples.name(state));
            Flow::Continue(())
        });
        let arrivals = initial.len() as u64;
        let start = Start {
            tuples: (**tuples).clone(),
            memo: &self.memo,
            wide_memo: &self.wide_memo,
            initial,
            reduces: self.reducing.pays(),
            levels: self.questions.check().order == Order::BreadthFirst,
            goals: self.questions.open_goals(),
        };
        let Some(mut found) = super::search(crew, start, self.meter, self.progress) else {
            return ControlFlow::Continue(Asked::InVain);
        };
        found.statistics.transitions += arrivals;
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

    /// Whether the budget has so many bytes more.
    pub(crate) fn may_hold(&mut self, bytes: u64) -> Result<(), Limit> {
        let used = self.visited.bytes() + self.own_bytes(self.traversal_bytes);
        self.meter.check_memory(used + bytes, || self.visited.needs())
    }
}
