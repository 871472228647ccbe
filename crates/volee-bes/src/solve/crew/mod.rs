//! Resolution by all cores: several threads that share the variables out among them.
//!
//! One thread begins. When its resolution has shown to be large it pauses, and a [`Crew`] solves the system: a
//! variable belongs to the thread that its key falls to, which alone expands it, counts its successors and
//! knows its value ([`Partition`], where the argument is). What concerns others is left in their letter box, a
//! few thousand dependencies at a time, by giving away the memory that they were written to ([`yard`]). So
//! nobody waits for a line of memory that another one is writing to, and all that threads have in common is
//! behind one lock, which each takes a few times in a millisecond; there are no orders of memory to argue.
//!
//! Then the same threads confirm the answer by the definition alone, each looking at its own variables
//! ([`Confirmation`]), and only what is confirmed is given. Ranks depend on who was faster, and with them the
//! proof, but not the value. So a proof that is small enough to be told is found again by one, that the same call
//! always gives the same run: if threads have decided everything, among variables that have the value of the
//! one that rests on them ([`known`]); if they have stopped early, by the paused thread, which goes on.
//!
//! The paused thread also goes on where threads have no memory left or meet something without meaning: it needs
//! less, because it notes no dependencies of what is decided, and what it says does not depend on chance.
//! Where the resolution is kept in a file, so is that of threads ([`kept`]), and others go on from it.
//!
//! Threads go breadth-first, and close blocks as a whole; where a depth-first search would have met a cycle that
//! decides early, it mostly has before the system has shown to be large.

mod kept;
pub(super) mod known;
mod yard;

use std::fmt;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use volee_system::part::{Figures, Keepable, Outbox, Part, PartError, Work};
use volee_system::{Limit, Meter, Progress, Snapshot};

use self::kept::{HELD, Handed};
pub(super) use self::kept::{Keeping, is_of_several};
use self::yard::{End, Met, Rest, Seen, Taken, Yard};
use super::confirm::Confirmation;
use super::partition::{Partition, Share, part_error};
use super::table::Solution;
use super::{How, Proof, SolveError, Solved, Solver, Statistics};
use crate::graph::BooleanGraph;

/// Variables after which a system is large.
pub const LARGE: u64 = 100_000;
/// Threads at most.
const MOST: usize = 256;
/// With a smaller budget there is one thread.
const LEAST_MEMORY: u64 = 64 << 20;
/// Expansions between two looks at the letter box: few at first, because what is expanded before an early
/// answer is known is wasted.
const FIRST_QUANTUM: usize = 16;
const LARGEST_QUANTUM: usize = 1024;
/// Time between two snapshots of progress.
const REPORT: Duration = Duration::from_millis(50);

/// Makes the graph once more, for a thread, and has it do its work.
pub type Another<'a> = dyn Fn(&mut dyn FnMut(&mut dyn BooleanGraph)) + Sync + 'a;

/// Several threads that solve a system together once it has shown to be large.
#[derive(Clone, Copy)]
pub struct Crew<'a> {
    workers: usize,
    from: u64,
    told: u64,
    another: &'a Another<'a>,
}

impl fmt::Debug for Crew<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Crew").field("workers", &self.workers).field("from", &self.from).finish()
    }
}

/// One thread's part of the answer.
struct Found {
    value: Option<bool>,
    solution: Solution,
    statistics: Statistics,
    claimed: u64,
}

impl<'a> Crew<'a> {
    /// A number of threads, from when there are [`LARGE`] many variables on.
    pub fn new(workers: usize, another: &'a Another<'a>) -> Self {
        Crew { workers: workers.clamp(1, MOST), from: LARGE, told: 0, another }
    }

    /// Begins when there are this many variables.
    #[must_use]
    pub fn from(self, variables: u64) -> Self {
        Crew { from: variables, ..self }
    }

    /// A proof of so many variables is told, so that it may not depend on chance.
    #[must_use]
    pub fn told(self, variables: usize) -> Self {
        Crew { told: variables as u64, ..self }
    }

    /// When it begins.
    pub(crate) fn beginning(&self) -> u64 {
        self.from
    }

    /// Makes the graph once more.
    pub(crate) fn another(&self, work: &mut dyn FnMut(&mut dyn BooleanGraph)) {
        (self.another)(work);
    }

    /// How many threads there may be.
    pub(crate) fn workers(&self) -> usize {
        self.workers
    }

    /// Whether it may be asked.
    pub(crate) fn helps(&self, how: How<'_>, meter: &Meter) -> bool {
        let little = meter.budget().memory.is_some_and(|bytes| bytes < LEAST_MEMORY);
        self.workers > 1 && how.solver == Solver::Auto && !little
    }

    pub(super) fn begins(&self, costs: &Statistics) -> bool {
        costs.variables >= self.from
    }

    /// Solves the system from the beginning, or from a file; nothing where the paused thread is to go on.
    pub(super) fn solve(
        &self,
        before: &Statistics,
        mut keeping: Option<&mut Keeping<'_>>,
        meter: &Meter,
        progress: &mut dyn Progress,
    ) -> Result<Option<Solved>, SolveError> {
        let yards = [Yard::new(self.workers), Yard::new(self.workers)];
        let (desk, pieces) = sync_channel(HELD);
        let desk = keeping.is_some().then_some(desk);
        let common = Common { yards, meter, held: before.memory, desk };
        let file = keeping.as_ref().filter(|own| own.resumes).map(|own| own.keeper.checkpoint.path.clone());
        let shares: Vec<Mutex<Option<Found>>> = (0..self.workers).map(|_| Mutex::default()).collect();
        let supplied = std::thread::scope(|scope| {
            let mut threads = Vec::new();
            for (me, place) in shares.iter().enumerate() {
                let common = &common;
                let from = file.as_ref().map(|_| {
                    let (sender, receiver) = sync_channel(HELD);
                    threads.push(sender);
                    receiver
                });
                scope.spawn(move || {
                    let mut leaving = Leaving { common, is_done: false };
                    let share = Share { me: me as u16, peers: self.workers as u16 };
                    (self.another)(&mut |graph| {
                        let found = common.work(graph, share, from.as_ref());
                        leaving.is_done = found.is_some();
                        *place.lock().unwrap_or_else(PoisonError::into_inner) = found;
                    });
                });
            }
            let supplied = file.as_ref().map_or(Ok(()), |file| self.supply(file, &common, threads));
            if let Some(own) = keeping.as_deref_mut().filter(|own| own.resumes) {
                own.keeper.restored(meter);
            }
            common.watch(keeping.as_deref_mut(), pieces, progress);
            supplied
        });
        supplied?;
        let [solving, confirming] = common.yards.map(Yard::into_end);
        let complete = solving.end.is_none();
        let memory = before.memory + solving.peak.max(confirming.peak);
        for end in [solving.end, confirming.end] {
            match end {
                Some(End::Failed(PartError::Limit(limit @ (Limit::Time { .. } | Limit::Cancelled)))) => {
                    return Err(limit.into());
                }
                Some(End::Failed(defect @ PartError::Defect(_))) => {
                    return Err(Limit::Other { message: defect.to_string() }.into());
                }
                Some(End::Failed(_) | End::Left) => return Ok(None),
                Some(End::Decided) | None => {}
            }
        }
        let shares =
            shares.into_iter().map(|place| place.into_inner().unwrap_or_else(PoisonError::into_inner));
        let Some(shares) = shares.collect::<Option<Vec<Found>>>() else { return Ok(None) };
        let joined = self.join(shares, complete, memory);
        if let Some(own) = keeping {
            own.is_left_to_one = joined.is_none();
        }
        Ok(joined)
    }

    /// What all know together, if it does not depend on chance.
    fn join(&self, shares: Vec<Found>, complete: bool, memory: u64) -> Option<Solved> {
        let value = shares.iter().find_map(|share| share.value)?;
        let is_told = shares.iter().map(|share| share.claimed).sum::<u64>() <= self.told;
        if is_told && !complete {
            return None;
        }
        let mut statistics = Statistics { memory, ..Statistics::default() };
        for share in &shares {
            statistics.places += share.statistics.places;
            statistics.variables += share.statistics.variables;
            statistics.expanded += share.statistics.expanded;
            statistics.edges += share.statistics.edges;
        }
        let solution = Solution::joined(shares.into_iter().map(|share| share.solution));
        let proof = if is_told { Proof::ByChance } else { Proof::Confirmed };
        Some(Solved {
            value,
            solution,
            statistics,
            solver: Solver::BreadthFirst,
            workers: self.workers,
            proof,
        })
    }
}

/// What threads share: where they meet to solve, and where to confirm.
struct Common<'m> {
    yards: [Yard; 2],
    meter: &'m Meter,
    /// What the paused thread holds.
    held: u64,
    /// Where threads hand out what they have, if that is kept.
    desk: Option<SyncSender<Handed>>,
}

/// Tells the others that a thread has left, also when it has panicked.
struct Leaving<'c> {
    common: &'c Common<'c>,
    is_done: bool,
}

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        self.common.yards.iter().for_each(|yard| yard.leave(self.is_done));
    }
}

impl Common<'_> {
    /// Solves and confirms a share. `None` when there is no answer, for a reason that the yards know.
    fn work(
        &self,
        graph: &mut dyn BooleanGraph,
        share: Share,
        from: Option<&Receiver<Vec<u8>>>,
    ) -> Option<Found> {
        let [solving, confirming] = &self.yards;
        let mut part = match from {
            Some(pieces) => self.restored(graph, share, pieces)?,
            None => match Partition::new(graph, share) {
                Ok(part) => part,
                Err(error) => return solving.fail(part_error(error)),
            },
        };
        self.drive(solving, &mut part, share)?;
        solving.close();
        let outcome = part.finish();
        let value = outcome.value;
        let mut part = match Confirmation::new(outcome.graph, outcome.solution, share, value) {
            Ok(part) => part,
            Err(error) => return confirming.fail(error),
        };
        self.drive(confirming, &mut part, share)?;
        let claimed = part.len() as u64;
        Some(Found { value, solution: part.into_solution(), statistics: outcome.statistics, claimed })
    }

    /// Runs a part through all its stages. `None` when some part cannot go on.
    fn drive<P: Part>(&self, yard: &Yard, part: &mut P, share: Share) -> Option<()> {
        let me = usize::from(share.me);
        let (mut out, mut letters) = (Outbox::new(me, usize::from(share.peers)), Vec::new());
        let (mut rest, mut worked) = (Rest::Busy, false);
        let (mut quantum, mut met) = (FIRST_QUANTUM, Met::default());
        loop {
            yard.send(me, &mut out);
            // Whoever is interrupted again and again has done something each time.
            let may_pause = worked && part.can_be_kept() == Keepable::Now;
            match yard.take(me, (rest, may_pause), &mut met, &mut letters) {
                Taken::Failed => return None,
                Taken::Decided => return Some(()),
                Taken::Stage => match part.next_stage() {
                    // The answer may be known by now.
                    Ok(true) => {
                        (rest, worked) = (Rest::Busy, false);
                        continue;
                    }
                    Ok(false) => return Some(()),
                    Err(error) => return yard.fail(error),
                },
                Taken::Settle => rest = Rest::Settled,
                Taken::Pause => {
                    self.hand_out(part, me)?;
                    yard.wait_until_written(&met)?;
                    (rest, worked) = (Rest::Busy, false);
                    continue;
                }
                Taken::Letters => {
                    for (from, packet) in letters.drain(..) {
                        if let Err(error) = part.receive(from, packet.kind, &packet.bytes) {
                            return yard.fail(error);
                        }
                        out.recycle(packet.bytes);
                        if rest == Rest::Idle {
                            rest = Rest::Busy;
                        }
                    }
                }
            }
            if rest == Rest::Settled {
                // Also what has arrived since.
                if let Err(error) = part.settle(&mut out) {
                    return yard.fail(error);
                }
            } else if rest != Rest::Idle {
                let work = match part.work(quantum, &mut out) {
                    Ok(work) => work,
                    Err(error) => return yard.fail(error),
                };
                (quantum, worked) = ((quantum * 2).min(LARGEST_QUANTUM), true);
                rest = if work == Work::Idle { Rest::Idle } else { Rest::Busy };
                if work == Work::Decided {
                    yard.decide();
                }
                let figures = part.figures();
                yard.note(me, Figures { memory: figures.memory + out.memory(), ..figures });
            }
        }
    }

    /// Tells of progress, keeps the resolution now and then and looks at the budget until all threads have
    /// left.
    fn watch(
        &self,
        mut keeping: Option<&mut Keeping<'_>>,
        pieces: Receiver<Handed>,
        progress: &mut dyn Progress,
    ) {
        let [solving, confirming] = &self.yards;
        let mut pieces = Some(pieces);
        loop {
            let mut has_written = false;
            match (solving.watch(REPORT), &mut keeping, &pieces) {
                (Seen::Left, ..) => return,
                (Seen::Handed, Some(keeping), Some(from)) => {
                    has_written = true;
                    if !self.write(keeping, from, progress) {
                        // Who still wants to hand something out must not wait.
                        pieces = None;
                    }
                }
                _ => {}
            }
            let (solved, confirmed) = (solving.sum(), confirming.sum());
            // The values are with whoever confirms them.
            let memory = self.held + solved.memory.max(confirmed.memory);
            progress.report(&Snapshot {
                states: solved.states,
                transitions: solved.transitions,
                pending: solved.pending + confirmed.pending,
                memory,
                ..Snapshot::default()
            });
            let needs = || format!("{} edges of the boolean graph", solved.transitions);
            let mut checked = self.meter.check_memory(memory, needs);
            let in_time = self.in_time(keeping.as_deref());
            match &keeping {
                // What is known is written before a limit ends it, as long as it can be.
                Some(own) if pieces.is_some() && !has_written && !solving.is_over() => {
                    if in_time.is_err() || own.keeper.is_time(self.meter) {
                        solving.want_pause();
                    }
                }
                _ => checked = checked.and(in_time),
            }
            match checked {
                Ok(()) if has_written => solving.go_on(),
                Ok(()) => {}
                Err(limit) => self.yards.iter().for_each(|yard| {
                    yard.fail::<()>(limit.clone().into());
                }),
            }
        }
    }
}
