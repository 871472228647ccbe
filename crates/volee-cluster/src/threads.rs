//! Several workers as threads of this process, on timely's channels within a process.
//!
//! A thread that panics would leave the others waiting for ever, because timely keeps what it owes them. So
//! each worker runs guarded: whatever ends it early is noted, and the others see the note at their next look
//! and drop their dataflows.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::Thread;
use std::time::{Duration, Instant};

use timely::WorkerConfig;
use timely::communication::Hooks;
use timely::communication::allocator::{Allocator, ProcessBuilder};
use timely::worker::Worker;
use volee_system::part::PartError;
use volee_system::{Limit, Meter};

use crate::drive::{Account, Driver, Overseer, Stop};

/// The most workers of one computation.
pub const MOST_WORKERS: usize = 256;
/// Time between two views of all workers.
const VIEW: Duration = Duration::from_millis(50);

/// Why a computation on several workers has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// A part cannot go on.
    #[error("{who}: {error}")]
    Part {
        /// Which worker.
        who: String,
        /// Why.
        error: PartError,
    },
    /// A worker is gone.
    #[error("{who}: {message}")]
    Lost {
        /// Which worker.
        who: String,
        /// What happened to it.
        message: String,
    },
}

impl Failure {
    /// The limit behind it, in words that name the worker.
    pub fn limit(&self) -> Limit {
        match self {
            Failure::Part { who, error: PartError::Limit(Limit::Memory { budget, needed }) } => {
                Limit::Memory { budget: *budget, needed: format!("{who} is full: {needed}") }
            }
            // Time and interruption come from outside and concern all workers alike.
            Failure::Part {
                error: PartError::Limit(limit @ (Limit::Time { .. } | Limit::Cancelled)),
                ..
            } => limit.clone(),
            other => Limit::Other { message: other.to_string() },
        }
    }
}

/// What all threads see.
struct Common<'m> {
    meter: &'m Meter,
    /// Bytes that one worker may use.
    memory: Option<u64>,
    stop: AtomicBool,
    failure: Mutex<Option<Failure>>,
    accounts: Vec<Mutex<Account>>,
    running: AtomicUsize,
    /// The thread that waits for the workers.
    caller: Thread,
}

impl Common<'_> {
    fn fail(&self, failure: Failure) {
        let mut first = self.failure.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        first.get_or_insert(failure);
        self.stop.store(true, Ordering::Release);
    }
}

/// Watches one thread.
struct Watchman<'c> {
    common: &'c Common<'c>,
    me: usize,
}

impl Overseer for Watchman<'_> {
    fn look(&mut self, account: &Account) -> Result<(), Stop> {
        if let Ok(mut place) = self.common.accounts[self.me].lock() {
            *place = *account;
        }
        if self.common.stop.load(Ordering::Acquire) {
            return Err(Stop::Elsewhere);
        }
        check(self.common.meter, self.common.memory, account)
    }
}

/// Whether a worker is within the time and its share of the memory.
pub(crate) fn check(meter: &Meter, memory: Option<u64>, account: &Account) -> Result<(), Stop> {
    meter.check().map_err(PartError::from)?;
    match memory {
        Some(budget) if account.figures.memory > budget => {
            let needed = format!("it has {} states", account.figures.states);
            Err(PartError::from(Limit::Memory { budget, needed }).into())
        }
        _ => Ok(()),
    }
}

/// Runs a job on this many threads; `view` sees the accounts of all of them now and then. The memory budget
/// is shared equally.
///
/// # Errors
/// The first reason for which some worker could not go on.
///
/// # Panics
/// There are no workers.
pub fn on_threads<T: Send>(
    workers: usize,
    meter: &Meter,
    view: &mut dyn FnMut(&[Account]),
    job: impl Fn(&mut Driver<'_>) -> Result<T, Stop> + Sync,
) -> Result<Vec<T>, Failure> {
    assert!((1..=MOST_WORKERS).contains(&workers), "a computation has from 1 to {MOST_WORKERS} workers");
    let common = Common {
        meter,
        memory: meter.budget().memory.map(|bytes| bytes / workers as u64),
        stop: AtomicBool::new(false),
        failure: Mutex::new(None),
        accounts: (0..workers).map(|_| Mutex::default()).collect(),
        running: AtomicUsize::new(workers),
        caller: std::thread::current(),
    };
    let builders = ProcessBuilder::new_typed_vector(workers, Hooks::default().refill, None);
    let results: Vec<Option<T>> = std::thread::scope(|scope| {
        let (common, job) = (&common, &job);
        let threads: Vec<_> = builders
            .into_iter()
            .enumerate()
            .map(|(me, builder)| scope.spawn(move || guarded(common, me, builder, job)))
            .collect();
        watch(common, view);
        threads.into_iter().map(|thread| thread.join().ok().flatten()).collect()
    });
    let failure = common.failure.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    match (failure, results.into_iter().collect()) {
        (Some(failure), _) => Err(failure),
        (None, Some(results)) => Ok(results),
        (None, None) => {
            Err(Failure::Lost { who: "a worker".into(), message: "ended without a result".into() })
        }
    }
}

fn watch(common: &Common<'_>, view: &mut dyn FnMut(&[Account])) {
    let mut last = Instant::now();
    while common.running.load(Ordering::Acquire) > 0 {
        std::thread::park_timeout(VIEW);
        if last.elapsed() >= VIEW {
            last = Instant::now();
            let accounts: Vec<Account> =
                common.accounts.iter().map(|a| a.lock().map_or_else(|p| *p.into_inner(), |a| *a)).collect();
            view(&accounts);
        }
    }
}

/// Runs a job on one thread; whatever goes wrong is noted for all.
fn guarded<T>(
    common: &Common<'_>,
    me: usize,
    builder: ProcessBuilder,
    job: &(impl Fn(&mut Driver<'_>) -> Result<T, Stop> + Sync),
) -> Option<T> {
    let who = format!("worker {}", me + 1);
    let ran = std::panic::catch_unwind(AssertUnwindSafe(|| {
        let mut worker =
            Worker::new(WorkerConfig::default(), Allocator::Process(builder.build()), Some(Instant::now()));
        let mut watchman = Watchman { common, me };
        let mut driver = Driver::new(&mut worker, &mut watchman);
        let result = job(&mut driver)?;
        driver.finish()?;
        Ok(result)
    }));
    let result = match ran {
        Ok(Ok(result)) => Some(result),
        Ok(Err(Stop::Elsewhere)) => None,
        Ok(Err(Stop::Part(error))) => {
            common.fail(Failure::Part { who, error });
            None
        }
        Err(panic) => {
            common.fail(Failure::Lost { who, message: format!("failed: {}", words_of(panic.as_ref())) });
            None
        }
    };
    if common.running.fetch_sub(1, Ordering::AcqRel) == 1 {
        common.caller.unpark();
    }
    result
}

/// What a panic said.
pub(crate) fn words_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|s| (*s).to_string());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "without a message".into())
}
