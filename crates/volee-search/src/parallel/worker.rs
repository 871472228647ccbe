//! One worker of a crew: a stack of names, expanded a batch at a time.
//!
//! It is the loop of a depth-first search without a path: nobody asks a worker for runs, but where it hunts
//! ([`trail`](super::trail)). What is popped is expanded, its targets are staged and looked up together, and
//! the new ones are pushed. Between two batches it looks whether somebody waits for work, all are to meet, or
//! the search has ended.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use volee_store::{Concurrent, Names, StateRef, Visited};
use volee_system::{Limit, Meter, Quiet, System};

use super::next::{Next, Waiting};
use super::trail::{Notes, Place, Trail};
use super::yard::{End, Package, Taken};
use super::{Common, Crew, Start, Sums};
use crate::check::Check;
use crate::explorer::Explorer;
use crate::questions::Questions;

/// States of a batch, at most.
const LARGEST_BATCH: u32 = 1 << 7;
/// Batches between two accounts to the others.
const ACCOUNT: u32 = 1 << 8;
/// Batches between two looks at who is less deep.
const LEVELS: u32 = 1 << 4;
/// Batches of a turn, where workers take turns.
const TURN: u64 = 1 << 10;
/// New states before they are counted in the table.
const COUNTED: u64 = 1 << 8;

/// A worker's view of the table.
pub(crate) struct Handle {
    pub(super) table: Arc<Concurrent>,
    /// New states that the table has not counted.
    uncounted: u64,
    /// What other workers hold beside the table.
    others: u64,
}

impl Handle {
    pub(super) fn count(&mut self) {
        self.table.add(std::mem::take(&mut self.uncounted));
    }
}

impl Visited for Handle {
    const RENAMES: bool = true;
    const LASTING: bool = true;

    #[inline(always)]
    fn prefetch(&self, name: StateRef) {
        self.table.prefetch(name);
    }

    #[inline(always)]
    fn insert(&mut self, name: StateRef) -> bool {
        let new = self.table.insert(name);
        self.uncounted += u64::from(new);
        new
    }

    fn growth(&self, _: usize) -> Option<u64> {
        None
    }

    fn grow(&mut self) -> Option<()> {
        None
    }

    fn len(&self) -> u64 {
        self.table.len()
    }

    fn bytes(&self) -> u64 {
        self.table.bytes() + self.others
    }
}

pub(super) struct Worker<'w, 'c> {
    pub(super) number: usize,
    pub(super) common: &'w Common,
    pub(super) explorer: Explorer<'w, 'c, dyn System, Handle>,
    pub(super) stack: Waiting,
    next: Next,
    /// Level by level: what is new waits here.
    pub(super) kept: Option<Waiting>,
    /// The states of the batch, with how deep they are.
    batch: Vec<(StateRef, u32)>,
    place: Place,
    /// Where it hunts: the ways it has come, and how many turns it has had.
    notes: Option<Notes>,
    batches: u64,
    deepest: u32,
    until_account: u32,
    /// How many errors are enough, where they are counted, and those that the others know of.
    enough: Option<u64>,
    told: u64,
}

/// Tells the yard that a worker has left, also when it has panicked.
struct Leaving<'y>(&'y Common);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        self.0.yard.leave();
    }
}

/// What a worker asks: to find one error is enough unless they are counted, and so is one worker to reach a
/// goal.
fn asked(check: Check, counts: bool) -> Check {
    Check { all_errors: counts, max_errors: 1, ..check }
}

/// The life of a worker.
pub(super) fn run(
    crew: &Crew<'_>,
    number: usize,
    common: &Common,
    start: &Start<'_>,
    table: Arc<Concurrent>,
    meter: &Meter,
) {
    let _leaving = Leaving(common);
    let Some((mut system, check)) = (crew.another)() else { return };
    let check = asked(check, start.counts.is_some());
    let mut questions = Questions::new(&check);
    (0..start.goals.len()).filter(|&at| !start.goals[at]).for_each(|at| questions.close_goal(at));
    let (mut quiet, handle) = (Quiet, Handle { table, uncounted: 0, others: 0 });
    let mut explorer = Explorer::new(&mut *system, &mut questions, meter, &mut quiet, handle);
    explorer.names = Names::Tuples(Box::new(start.tuples.clone()));
    explorer.remember((start.memo.for_another_system(), start.wide_memo.for_another_system()));
    explorer.reducing.by_state_alone(start.reduces);
    let mut worker = Worker {
        number,
        common,
        explorer,
        stack: Waiting::default(),
        next: match (start.levels, start.hunts) {
            (true, _) => Next::Last,
            (false, None) => Next::of(number),
            (false, Some(seed)) => Next::hunting(number, crew.workers, 0, seed),
        },
        kept: start.levels.then(|| Waiting::of(if number == 0 { &start.later } else { &[] })),
        batch: Vec::new(),
        place: Place::new(),
        notes: start.hunts.map(|_| Notes::new()),
        batches: 0,
        deepest: 0,
        until_account: ACCOUNT,
        enough: start.counts,
        told: 0,
    };
    worker.work(start.hunts.map(|seed| (crew.workers, seed)));
    worker.explorer.visited.count();
    worker.account();
    let Worker { notes, place, explorer, .. } = worker;
    let names = explorer.names;
    if let Some(notes) = notes.or(start.counts.map(|_| Notes::new())) {
        let trail = Trail::new(notes, place, questions.into_findings(), names);
        common.trails.lock().unwrap_or_else(PoisonError::into_inner).push(trail);
    }
    crew.note_left_out(system.as_ref());
    crew.note_executed(system.as_mut());
}

impl Worker<'_, '_> {
    /// Works to the end; those that hunt take turns, by their number and a seed.
    fn work(&mut self, hunts: Option<(usize, u64)>) {
        while !self.common.yard.has_ended() {
            self.batches += 1;
            if let Some((workers, seed)) = hunts.filter(|_| self.batches.is_multiple_of(TURN)) {
                self.next = Next::hunting(self.number, workers, self.batches / TURN, seed);
            }
            if self.stack.names.is_empty() {
                self.explorer.visited.count();
                self.account();
                match self.common.yard.take(self.kept.as_ref().map_or(0, |kept| kept.names.len())) {
                    Taken::End => return,
                    Taken::Level => self.stack = self.kept.replace(Waiting::default()).unwrap_or_default(),
                    Taken::Package(package) => self.begin(package),
                    Taken::Meeting if self.meet().is_none() => return,
                    Taken::Meeting => {}
                }
                continue;
            }
            if self.expand().is_none() {
                return;
            }
        }
    }

    fn begin(&mut self, package: Package) {
        if let Some(tuples) = self.tuples() {
            tuples.catch_up();
        }
        self.stack = Waiting::from_package(package);
    }

    /// Expands a batch of states, and pushes what is new. `None` when the search has ended.
    fn expand(&mut self) -> Option<()> {
        self.batch.clear();
        for parent in 0..LARGEST_BATCH {
            let Some((name, depth)) = self.stack.pop(&mut self.next) else { break };
            if let Some(soon) = self.stack.soon(self.next, self.explorer.foresight()) {
                self.explorer.soon(soon);
            }
            self.batch.push((name, depth));
            self.place.name.set(name);
            self.deepest = self.deepest.max(depth);
            let (waits, bytes) = (self.stack.names.len() as u64, self.waiting_bytes());
            if self.explorer.visit(name, parent, u64::from(depth), &self.place, 0).is_break() {
                return self.end();
            }
            if self.explorer.tick(u64::from(depth), waits, bytes).is_break() {
                if !self.is_to_be_kept() {
                    return self.end();
                }
                break;
            }
            if self.explorer.batch_is_full() {
                break;
            }
        }
        self.tell_errors()?;
        self.look_around()?;
        let (stack, batch) = (self.kept.as_mut().unwrap_or(&mut self.stack), &self.batch);
        let notes = &mut self.notes;
        let flow = self.explorer.settle(|state| {
            let (parent, depth) = batch[state.parent as usize];
            if let Some(notes) = notes {
                notes.push((state.name, parent));
            }
            stack.push(state.name, depth.saturating_add(1));
        });
        if flow.is_break() {
            return self.end();
        }
        if self.explorer.visited.uncounted >= COUNTED {
            self.explorer.visited.count();
        }
        if self.common.yard.is_hungry() && self.stack.names.len() > 1 {
            self.common.yard.give(self.stack.split(self.next));
        }
        if self.until_account.is_multiple_of(LEVELS) && self.kept.is_none() {
            self.share_levels();
        }
        Some(())
    }

    /// Tells the others of errors, where they are counted. `None` when there are enough.
    #[inline]
    fn tell_errors(&mut self) -> Option<()> {
        let (Some(enough), errors) = (self.enough, self.explorer.questions().errors()) else {
            return Some(());
        };
        let new = errors - std::mem::replace(&mut self.told, errors);
        if new == 0 || self.common.errors.fetch_add(new, Ordering::Relaxed).saturating_add(new) < enough {
            return Some(());
        }
        self.end()
    }

    /// Who goes by the first takes what the others have that is less deep; these give it.
    fn share_levels(&mut self) {
        let yard = &self.common.yard;
        if self.next == Next::First {
            if let Some(package) = yard.take_spare() {
                if let Some(tuples) = self.explorer.names.tuples() {
                    tuples.catch_up();
                }
                self.stack.join(package);
            }
            yard.note_level(self.stack.first_depth());
        } else if yard.level() > self.stack.first_depth().unwrap_or(u32::MAX)
            && let Some(package) = self.stack.above(yard.level())
        {
            yard.give(package);
        }
    }

    fn waiting_bytes(&self) -> u64 {
        let notes =
            self.notes.as_ref().map_or(0, |notes| notes.capacity() * size_of::<(StateRef, StateRef)>());
        self.stack.bytes() + self.kept.as_ref().map_or(0, Waiting::bytes) + notes as u64
    }

    /// Does what is due between two batches.
    #[inline]
    fn look_around(&mut self) -> Option<()> {
        if self.explorer.names.has_waiting() || self.explorer.visited.table.is_crowded() {
            self.common.yard.call_meeting();
        }
        if self.common.yard.is_meeting() {
            self.explorer.visited.count();
            self.meet()?;
        }
        self.until_account -= 1;
        if self.until_account == 0 {
            self.account();
        }
        Some(())
    }

    /// Whether the limit that was met is one of time, and the search is kept before it ends: the thread that
    /// watches ends it.
    fn is_to_be_kept(&mut self) -> bool {
        let kept =
            self.common.keeps && matches!(self.explorer.limit, Some(Limit::Time { .. } | Limit::Cancelled));
        if kept {
            self.explorer.take_limit();
            self.common.yard.call_to_keep();
        }
        kept
    }

    /// Names have changed: those of what it has come by too.
    pub(super) fn rename_trail(&mut self, mut translate: impl FnMut(StateRef) -> StateRef) {
        let Some(notes) = &mut self.notes else { return };
        notes.iter_mut().for_each(|(new, from)| (*new, *from) = (translate(*new), translate(*from)));
        self.batch.iter_mut().for_each(|(name, _)| *name = translate(*name));
        self.place.rename(translate);
    }

    /// What was staged and is not looked up yet, with how deep it is.
    pub(super) fn arrivals(&self) -> Vec<(StateRef, u32)> {
        let depth =
            |parent: u32| self.batch.get(parent as usize).map_or(0, |state| state.1.saturating_add(1));
        self.explorer.staged.iter().map(|staged| (staged.name, depth(staged.parent))).collect()
    }

    /// There are enough errors, everything that was asked for is reached, or there is a limit.
    fn end(&mut self) -> Option<()> {
        let limit = self.explorer.take_limit();
        self.common.yard.end(match limit {
            Some(limit) => End::Limit(Some(limit)),
            None => End::Decided,
        });
        None
    }

    /// Tells the others how far this one is, and learns from them which goals are reached.
    #[cold]
    pub(super) fn account(&mut self) {
        self.until_account = ACCOUNT;
        let bytes = self.explorer.own_bytes(self.waiting_bytes());
        let mut sums = self.common.sums.lock().unwrap_or_else(PoisonError::into_inner);
        sums.transitions[self.number] = self.explorer.statistics.transitions;
        sums.reduced[self.number] = self.explorer.reducing.count;
        sums.pending[self.number] = self.stack.names.len() as u64;
        sums.bytes[self.number] = bytes;
        sums.depth = sums.depth.max(u64::from(self.deepest));
        self.share_goals(&mut sums);
        self.explorer.visited.others = sums.bytes.iter().sum::<u64>() - bytes;
        drop(sums);
        let table = &self.explorer.visited.table;
        self.common.yard.note_size(table.len(), table.bytes());
    }

    fn share_goals(&mut self, sums: &mut Sums) {
        let questions = self.explorer.questions();
        for (at, reached) in sums.reached.iter_mut().enumerate() {
            *reached |= questions.is_reached(at);
            if *reached {
                questions.close_goal(at);
            }
        }
        if questions.is_done() {
            self.common.yard.end(End::Decided);
        }
    }
}
