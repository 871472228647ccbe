//! Search by all cores: several threads over one table of names.
//!
//! A search begins in one thread. When it has shown to be large it pauses, and a [`Crew`] goes on from there,
//! or from the start if some state was expanded in part (for reasons that lie in the order of the first
//! search): each worker has a system of its own, its own replica of the dictionaries and its own remembered
//! steps (both begin as copies of what the first thread knows), and a stack of names; only the table is
//! common ([`Concurrent`]). A state belongs to the worker for whom it was new, which asks the questions about
//! it and expands it. Work goes from those that have some to those that have none (see [`yard`]); where a
//! table or a field is full, all meet and make a larger one together (see [`meeting`]).
//!
//! Which error a crew meets first depends on chance, and it knows no runs. So it only tells whether there is
//! one, or where several or all are asked for, how many, and for which reasons. If there is none, that is the
//! answer. If there are as many as are asked for, the search that was paused goes on, alone and in its own
//! order, until it has met as many, beside one that goes breadth-first ([`lanes`]): the same call always gives
//! the same runs. If there are fewer, all states were seen: the paused search goes on until it has met them
//! all, and tells what one thread would have told. Where the crew meets a limit of memory or of names the
//! paused search goes on, too.
//!
//! Reductions: a persistent set is taken only if that is right by the state alone (see [`crate::reducing`]),
//! because what a stack tells one worker another does not know. So the states that are explored do not depend
//! on the order or the number of workers.

pub(crate) mod bits;
pub(crate) mod kept;
mod lanes;
mod meeting;
mod next;
mod pause;
mod trail;
mod worker;
pub(crate) mod yard;

use std::fmt;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use volee_store::{Concurrent, StateRef, Tuple, Tuples};
use volee_system::{Limit, Meter, Progress, Snapshot, System, coverage};

use crate::check::{Check, Statistics};
use crate::memo::Memo;
use kept::{Desk, Keeping};
pub(crate) use lanes::{Expected, race};
use meeting::Plan;
pub(crate) use pause::Asked;
pub(crate) use trail::{Trail, caught, counted};
use yard::{End, Seen, Yard};

/// Time between two snapshots of progress.
pub(crate) const REPORT: Duration = Duration::from_millis(50);

/// States after which a search is large.
pub const LARGE: u64 = 1 << 15;

/// Workers at most.
pub const MOST_CREW: usize = 256;

/// Makes the system and the questions once more, for a worker: numbers of predicates may be others there.
pub type Another<'a, Q = Check> = dyn Fn() -> Option<(Box<dyn System>, Q)> + Sync + 'a;

/// Several threads that search together once a search has shown to be large.
pub struct Crew<'a, Q = Check> {
    workers: usize,
    from: u64,
    another: &'a Another<'a, Q>,
    executed: Mutex<Vec<u64>>,
    /// Why some worker's system has not made all its steps, if one has not.
    left_out: Mutex<Option<Limit>>,
}

impl<Q> fmt::Debug for Crew<'_, Q> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Crew").field("workers", &self.workers).field("from", &self.from).finish()
    }
}

impl<'a, Q> Crew<'a, Q> {
    /// A number of threads, from when there are [`LARGE`] many states on.
    pub fn new(workers: usize, another: &'a Another<'a, Q>) -> Self {
        let workers = workers.clamp(1, MOST_CREW);
        Crew { workers, from: LARGE, another, executed: Mutex::default(), left_out: Mutex::default() }
    }

    /// Begins when there are this many states.
    #[must_use]
    pub fn from(self, states: u64) -> Self {
        Crew { from: states, ..self }
    }

    /// From how many states on it takes part. One alone is asked only if it looks differently.
    pub(crate) fn begins(&self, hunts: bool) -> u64 {
        if self.workers > 1 || hunts { self.from } else { u64::MAX }
    }

    /// How many threads there are.
    pub(crate) fn size(&self) -> usize {
        self.workers
    }

    /// The system and the questions once more.
    pub(crate) fn another(&self) -> Option<(Box<dyn System>, Q)> {
        (self.another)()
    }

    /// How often the workers have executed each statement, in the order in which a system tells of them;
    /// nothing where they had no part in the search.
    pub fn executed(&self) -> Vec<u64> {
        self.executed.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Why not all steps were made, if so.
    pub(crate) fn left_out(&self) -> Option<Limit> {
        self.left_out.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn note_left_out(&self, system: &dyn System) {
        if let Some(limit) = system.left_out() {
            self.left_out.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(limit);
        }
    }

    pub(crate) fn note_executed(&self, system: &mut dyn System) {
        let times = coverage(system).into_iter().map(|statement| statement.times);
        let mut all = self.executed.lock().unwrap_or_else(PoisonError::into_inner);
        for (at, times) in times.enumerate() {
            match all.get_mut(at) {
                Some(sum) => *sum += times,
                None => all.push(times),
            }
        }
    }
}

/// What the first thread knows, and workers begin with.
pub(crate) struct Start<'s> {
    pub tuples: Tuples,
    pub memo: &'s Memo<u64>,
    pub wide_memo: &'s Memo<Tuple>,
    /// The states that wait, with how deep they are, and level by level, those of the next level.
    pub waiting: Vec<(StateRef, u32)>,
    pub later: Vec<(StateRef, u32)>,
    /// How deep the deepest of them is known to be.
    pub depth: u64,
    pub reduces: bool,
    /// Level by level, so that the deepest state is as deep as it must be.
    pub levels: bool,
    /// Goals that are still open.
    pub goals: Vec<bool>,
    /// Errors are counted, until there are this many.
    pub counts: Option<u64>,
    /// Workers look in all ways and keep the runs to what they find; the seed of what is left to chance.
    pub hunts: Option<u64>,
}

/// What a crew has found.
pub(crate) struct Found {
    pub statistics: Statistics,
    /// For each goal, whether some worker has reached it.
    pub reached: Vec<bool>,
    pub ending: Ending,
    /// What workers that hunt have come by.
    pub trails: Vec<Trail>,
}

/// How a crew has ended.
pub(crate) enum Ending {
    /// All states were seen, and no error.
    Complete,
    /// There is an error, or all goals are reached.
    Decided,
    /// A limit, or names that the workers could not give.
    Limit(Option<Limit>),
}

/// What workers share.
struct Common {
    yard: Yard,
    plan: Mutex<Option<Arc<Plan>>>,
    /// What was found so far, summed over workers.
    sums: Mutex<Sums>,
    /// How many errors all have met, where they are counted.
    errors: AtomicU64,
    /// Some worker has states that wait for wider fields.
    wants_layout: Mutex<bool>,
    /// Whether the search is kept, and where all hand in what they have for that.
    keeps: bool,
    desk: Mutex<Desk>,
    trails: Mutex<Vec<Trail>>,
}

/// Figures of all workers.
#[derive(Debug, Clone)]
struct Sums {
    pub transitions: Vec<u64>,
    /// What each worker holds beside the table.
    pub bytes: Vec<u64>,
    pub reduced: Vec<u64>,
    pub pending: Vec<u64>,
    pub depth: u64,
    pub reached: Vec<bool>,
}

/// So many names for each that is known has the first table of a crew room, unless that is a large part of
/// the memory there may be: to make a larger one, all must stop.
const ROOM: usize = 8;
/// The part of the memory that a crew takes at its ease.
const PART_OF_BUDGET: u64 = 16;

/// Bytes that a crew takes without thinking of others.
pub(crate) fn ease(meter: &Meter) -> u64 {
    meter.budget().memory.unwrap_or(u64::MAX) / PART_OF_BUDGET
}

/// Names that the first table of a crew has room for.
pub(crate) fn first_room(known: usize, ease: u64) -> usize {
    // A whole name in a table that is half full takes most.
    let affordable = usize::try_from(ease / (2 * size_of::<StateRef>() as u64)).unwrap_or(usize::MAX);
    known.saturating_mul(ROOM).min(affordable).max(known * 2)
}

/// A table for a crew with these names.
pub(crate) fn table_for(
    crew: &Crew<'_>,
    tuples: &Tuples,
    known: &[StateRef],
    ease: u64,
) -> Option<Concurrent> {
    let table = Concurrent::new(tuples.width(), first_room(known.len().max(crew.from as usize), ease))?;
    table.add(known.iter().map(|&name| u64::from(table.insert(name))).sum());
    Some(table)
}

/// Looks at all states.
pub(crate) fn search(
    crew: &Crew<'_>,
    table: Concurrent,
    mut start: Start<'_>,
    keeping: Option<Keeping<'_>>,
    meter: &Meter,
    progress: &mut dyn Progress,
) -> Found {
    start.tuples.share();
    let table = Arc::new(table);
    let zeroes = vec![0; crew.workers];
    let sums = Sums {
        transitions: zeroes.clone(),
        bytes: zeroes.clone(),
        reduced: zeroes.clone(),
        pending: zeroes,
        reached: start.goals.iter().map(|open| !open).collect(),
        depth: start.depth,
    };
    let yard = Yard::of_names(crew.workers, &std::mem::take(&mut start.waiting));
    let common = Common {
        yard,
        plan: Mutex::new(None),
        sums: Mutex::new(sums),
        errors: AtomicU64::new(0),
        wants_layout: Mutex::new(false),
        keeps: keeping.is_some(),
        desk: Desk::new(crew.workers),
        trails: Mutex::default(),
    };
    let last = std::thread::scope(|scope| {
        for number in 0..crew.workers {
            let (common, start, table) = (&common, &start, Arc::clone(&table));
            scope.spawn(move || worker::run(crew, number, common, start, table, meter));
        }
        drop(table);
        watch(&common, keeping, meter, progress)
    });
    let sums = common.sums.into_inner().unwrap_or_else(PoisonError::into_inner);
    let memory = last.bytes + sums.bytes.iter().sum::<u64>();
    let statistics = Statistics {
        states: last.states,
        transitions: sums.transitions.iter().sum(),
        reduced: sums.reduced.iter().sum(),
        max_depth: sums.depth,
        memory_bytes: memory.max(last.peak),
        table_bytes: last.bytes,
        workers: crew.workers as u64,
        ..Statistics::default()
    };
    let ending = match last.end {
        End::Complete => Ending::Complete,
        End::Decided => Ending::Decided,
        End::Limit(limit) => Ending::Limit(limit),
    };
    let trails = common.trails.into_inner().unwrap_or_else(PoisonError::into_inner);
    Found { statistics, reached: sums.reached, ending, trails }
}

/// What the watching thread saw last.
struct Last {
    states: u64,
    bytes: u64,
    peak: u64,
    end: End,
}

/// Tells of progress until the workers have ended, and keeps the search now and then.
fn watch(
    common: &Common,
    mut keeping: Option<Keeping<'_>>,
    meter: &Meter,
    progress: &mut dyn Progress,
) -> Last {
    let mut peak = 0;
    loop {
        let seen = common.yard.watch(REPORT);
        let (states, bytes) = common.yard.size();
        let sums = common.sums.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let memory = bytes + sums.bytes.iter().sum::<u64>();
        peak = peak.max(memory);
        match (seen, &mut keeping) {
            (Seen::End(end), _) => return Last { states, bytes, peak, end },
            (Seen::Handed, Some(keeping)) => {
                let limit = keeping.limit(states, meter);
                keeping.write(common, meter, progress);
                match limit {
                    Some(limit) => common.yard.end(End::Limit(Some(limit))),
                    None => common.yard.give_back(),
                }
                continue;
            }
            _ => {}
        }
        progress.report(&Snapshot {
            states,
            transitions: sums.transitions.iter().sum(),
            depth: sums.depth,
            max_depth: sums.depth,
            pending: sums.pending.iter().sum(),
            memory,
        });
        match &mut keeping {
            Some(keeping) => {
                if keeping.limit(states, meter).is_some() || keeping.keeper.is_time(meter) {
                    common.yard.call_to_keep();
                }
            }
            None => {
                if let Err(limit) = meter.check() {
                    common.yard.end(End::Limit(Some(limit)));
                }
            }
        }
    }
}
