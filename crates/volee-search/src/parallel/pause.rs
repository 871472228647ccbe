//! The search of one thread that pauses when it is large, and what it does with what a crew has found.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use volee_store::{Concurrent, Names, StateRef, Tuple, Tuples, Visited};
use volee_system::{Flow, Limit, Meter, System};

use super::kept::{self, Keeping, Restored};
use super::{Crew, Ending, Expected, Found, Start, ease, table_for};
use crate::check::{Order, Statistics};
use crate::explorer::Explorer;
use crate::memo::Memo;
use crate::questions::Finding;

/// What asking a crew came to.
pub(crate) enum Asked<'a> {
    /// Nothing is known that was not.
    InVain,
    /// There is something to be found.
    Expects(&'a Crew<'a>, Expected),
    /// Memory or names were short; what was seen by then.
    Short(Box<Statistics>, Limit),
    /// What a crew that hunts has found.
    Caught(Box<Caught>),
}

/// What a crew that hunts has found.
pub(crate) struct Caught {
    /// With runs.
    pub findings: Vec<Finding>,
    /// Where all states were seen and no error is among them, the goals that can be reached.
    pub reached: Option<Vec<bool>>,
    pub statistics: Statistics,
}

/// What a crew begins with.
struct Begun {
    tuples: Tuples,
    table: Concurrent,
    waiting: Vec<(StateRef, u32)>,
    later: Vec<(StateRef, u32)>,
    /// What was counted before.
    before: Statistics,
    /// Goals that are still open.
    open: Vec<bool>,
    /// It begins at the start, not where the first thread has paused.
    anew: bool,
}

impl<'a, S: System + ?Sized, V: Visited> Explorer<'a, '_, S, V> {
    /// Several threads take over when there are many states.
    pub(crate) fn with_crew(mut self, crew: Option<&'a Crew<'a>>) -> Self {
        let hunts = self.questions.check().hunt;
        (self.crew, self.crew_begins) = (crew, crew.map_or(u64::MAX, |crew| crew.begins(hunts)));
        self
    }

    /// Whether it is time to ask the crew.
    #[inline]
    pub(crate) fn is_large(&self) -> bool {
        self.visited.len() >= self.crew_begins
    }

    /// Asks the crew whether there is an error among all states. `Break` when there is nothing left to do.
    /// Where the traversal can tell which states wait to be expanded, and all others were expanded in full,
    /// the crew begins with these.
    #[cold]
    pub(crate) fn ask_crew(&mut self, waiting: Option<Vec<(StateRef, u32)>>) -> ControlFlow<(), Asked<'a>> {
        self.crew_begins = u64::MAX;
        let counts = self.counts();
        let Some(crew) = self.crew.filter(|_| counts || !self.questions.has_errors()) else {
            return ControlFlow::Continue(Asked::InVain);
        };
        let begun = match self.kept_by_crew {
            true => self.restore_crew()?,
            false => self.begin_crew(crew, waiting),
        };
        let Some(Begun { tuples, table, waiting, later, before, open, anew }) = begun else {
            return ControlFlow::Continue(Asked::InVain);
        };
        let start = Start {
            tuples,
            memo: &self.memo,
            wide_memo: &self.wide_memo,
            waiting,
            later,
            depth: before.max_depth,
            reduces: self.reducing.pays(),
            levels: self.questions.check().order == Order::BreadthFirst,
            goals: open,
            counts: counts.then(|| self.enough(anew)),
            hunts: self.questions.check().hunt.then(|| self.questions.check().seed),
        };
        let left_out = self.system.left_out().map(|limit| limit.to_string());
        let left_out = left_out.or_else(|| self.left_out.clone());
        let (before_crew, length) = ((before.transitions, before.reduced), self.state.len());
        let keeping =
            self.keeper.as_mut().map(|keeper| Keeping { keeper, before: before_crew, length, left_out });
        let mut found = super::search(crew, table, start, keeping, self.meter, self.progress);
        found.statistics.reduced += before.reduced;
        found.statistics.transitions += before.transitions;
        found.statistics.max_depth = found.statistics.max_depth.max(before.max_depth);
        match found.ending {
            Ending::Complete if counts => self.counted(crew, found, anew),
            Ending::Complete | Ending::Decided if !counts && !found.trails.is_empty() => self.hunted(found),
            Ending::Complete => self.has_no_error(crew, found),
            Ending::Limit(Some(limit @ (Limit::Time { .. } | Limit::Cancelled))) => {
                self.elsewhere = Some(found.statistics);
                self.stop(limit)?;
                ControlFlow::Continue(Asked::InVain)
            }
            Ending::Decided => {
                self.expects = true;
                ControlFlow::Continue(Asked::Expects(crew, Expected::Anything))
            }
            Ending::Limit(limit) => {
                let limit = limit.unwrap_or_else(|| Limit::Memory {
                    budget: self.budget(),
                    needed: "names of states need more bits than there are".into(),
                });
                ControlFlow::Continue(Asked::Short(Box::new(found.statistics), limit))
            }
        }
    }

    /// Whether a crew counts errors. A file has no place for them, and where all are asked for and steps are
    /// left out, their number depends on the order.
    fn counts(&self) -> bool {
        let check = self.questions.check();
        let asks = check.deadlocks || check.faults || !check.invariants.is_empty();
        let some = check.max_errors > 1 && asks;
        let all = check.all_errors && !check.reduction.is_persistent();
        (all || some && !check.all_errors) && !check.hunt && self.keeper.is_none()
    }

    /// How many errors are enough for a crew; one that does not begin at the start does not meet those again
    /// that are known.
    fn enough(&self, anew: bool) -> u64 {
        let check = self.questions.check();
        match check.all_errors {
            true => u64::MAX,
            false => (check.max_errors as u64).saturating_sub(if anew { 0 } else { self.questions.errors() }),
        }
    }

    /// A crew that counts errors has seen all states.
    fn counted(&mut self, crew: &'a Crew<'a>, mut found: Found, anew: bool) -> ControlFlow<(), Asked<'a>> {
        let Some(findings) = super::counted(std::mem::take(&mut found.trails)) else {
            return ControlFlow::Continue(Asked::InVain);
        };
        let check = self.questions.check();
        if check.all_errors {
            return self.await_runs(&findings, found, anew);
        }
        let before = if anew { 0 } else { self.questions.errors() };
        let errors = before + findings.iter().map(|finding| finding.errors).sum::<u64>();
        self.expects = errors > 0;
        match errors {
            0 => self.has_no_error(crew, found),
            _ if !check.goes_on(errors) => ControlFlow::Continue(Asked::Expects(crew, Expected::Anything)),
            // This thread has left out other steps, and may meet other errors: it goes to its end, or as far
            // as another one needs that leaves out the same.
            _ if check.reduction.is_persistent() => {
                self.elsewhere = Some(found.statistics);
                let (reached, reduces) = (found.reached, self.reducing.pays());
                ControlFlow::Continue(Asked::Expects(crew, Expected::Errors { errors, reached, reduces }))
            }
            _ => {
                self.elsewhere = Some(found.statistics);
                self.questions.await_errors(errors, &found.reached)?;
                ControlFlow::Continue(Asked::InVain)
            }
        }
    }

    /// All states were seen, and no error.
    fn has_no_error(&mut self, crew: &'a Crew<'a>, found: Found) -> ControlFlow<(), Asked<'a>> {
        self.elsewhere = Some(found.statistics);
        self.questions.settle(&found.reached)?;
        ControlFlow::Continue(Asked::Expects(crew, Expected::Goals(found.reached)))
    }

    /// All errors are counted; runs to their reasons are found by this thread, as it would have found them.
    fn await_runs(&mut self, findings: &[Finding], found: Found, anew: bool) -> ControlFlow<(), Asked<'a>> {
        let Some(flow) = self.questions.await_runs(findings, anew, &found.reached) else {
            return ControlFlow::Continue(Asked::InVain);
        };
        self.elsewhere = Some(found.statistics);
        flow?;
        ControlFlow::Continue(Asked::InVain)
    }

    /// What a crew that hunts has come by, with the runs.
    fn hunted(&mut self, found: Found) -> ControlFlow<(), Asked<'a>> {
        let Found { statistics, reached, ending, trails } = found;
        let findings = super::caught(trails, self.system).unwrap_or_default();
        let complete = matches!(ending, Ending::Complete);
        if complete {
            self.elsewhere = Some(statistics.clone());
            self.questions.settle(&reached)?;
        } else {
            self.expects = true;
        }
        let reached = complete.then_some(reached);
        ControlFlow::Continue(Asked::Caught(Box::new(Caught { findings, reached, statistics })))
    }

    /// What a crew begins with: what waits, where everything else was expanded in full, or the initial
    /// states.
    fn begin_crew(&mut self, crew: &Crew<'_>, waiting: Option<Vec<(StateRef, u32)>>) -> Option<Begun> {
        let mut known = Vec::new();
        if waiting.is_some() && self.reducing.count == 0 {
            self.visited.each_name(&mut |name| known.push(name));
        }
        let goes_on = known.len() as u64 == self.visited.len();
        let tuples = self.names.tuples()?;
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
        // Where a state was met that has no name of this kind, others may have none any more.
        if tuples.has_waiting() {
            return None;
        }
        let table = table_for(crew, tuples, &known, ease(self.meter))?;
        let mut open = self.questions.open_goals();
        // Those that hunt begin at the start, and tell the way to every goal.
        open.iter_mut().for_each(|open| *open |= self.questions.check().hunt);
        let tuples = tuples.clone();
        Some(Begun { tuples, table, waiting, later: Vec::new(), before, open, anew: !goes_on })
    }

    /// What a crew had when it was kept. The search of this thread is not what it was kept with, and has no
    /// part in it.
    fn restore_crew(&mut self) -> ControlFlow<(), Option<Begun>> {
        self.kept_by_crew = false;
        self.loaded = None;
        let mut open = self.questions.open_goals();
        let Some(path) = self.keeper.as_ref().map(|keeper| keeper.checkpoint.path.clone()) else {
            return ControlFlow::Continue(None);
        };
        // The stack of this thread keeps its names, so that others are given here.
        let Names::Tuples(tuples) = &self.names else { return ControlFlow::Continue(None) };
        let mut names = Names::Tuples(Box::new((**tuples).clone()));
        let Restored { head, table, mut waiting, mut later } =
            match kept::read(&path, &mut names, open.len(), self.meter) {
                Ok(restored) => restored,
                Err(refused) => {
                    // What was met is in the file, and not what this thread has met to get there.
                    if let Ok((states, transitions, max_depth)) = kept::told(&path, open.len()) {
                        self.elsewhere =
                            Some(Statistics { states, transitions, max_depth, ..Statistics::default() });
                    }
                    return self.stop(refused.into_limit(&path)).map_continue(|()| None);
                }
            };
        open.iter_mut().zip(&head.reached).for_each(|(open, reached)| *open &= !reached);
        self.left_out = self.left_out.take().or(head.left_out);
        if self.questions.check().order == Order::DepthFirst {
            waiting.append(&mut later);
        }
        let (transitions, max_depth, reduced) = (head.transitions, head.depth, head.reduced);
        let before = Statistics { transitions, max_depth, reduced, ..Statistics::default() };
        if let Some(keeper) = &mut self.keeper {
            keeper.restored(self.meter);
        }
        let Names::Tuples(tuples) = names else { return ControlFlow::Continue(None) };
        ControlFlow::Continue(Some(Begun {
            tuples: *tuples,
            table,
            waiting,
            later,
            before,
            open,
            anew: true,
        }))
    }

    pub(crate) fn meter(&self) -> &'a Meter {
        self.meter
    }

    /// Another search looks for the same: it is enough to go on as long as fewer states were met than that
    /// needs.
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
