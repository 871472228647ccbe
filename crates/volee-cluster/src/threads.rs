//! Several workers as threads of this process, on timely's channels within a process.
//!
//! A thread that panics would leave the others waiting for ever, because timely keeps what it owes them. So
//! each worker runs guarded: whatever ends it early is noted, and the others see the note at their next look
//! and drop their dataflows.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use timely::WorkerConfig;
use timely::communication::Hooks;
use timely::communication::allocator::{Allocator, ProcessBuilder};
use timely::worker::Worker;
use volee_store::checkpoint::Refused;
use volee_store::handed::Supply;
use volee_system::part::PartError;
use volee_system::{Limit, Meter};

use crate::drive::{Account, Driver, Handed, Overseer, Stop};
use crate::kept::{Event, Keeping};

/// The most workers of one computation.
pub const MOST_WORKERS: usize = 256;
/// Time between two views of all workers.
const VIEW: Duration = Duration::from_millis(50);
/// The same while workers get what they go on from.
const SOON: Duration = Duration::from_millis(1);
/// Pieces of what is kept that wait on their way.
const WAITING: usize = 8;

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
    /// What the workers know is kept: whoever watches them looks at the clock.
    keeps: bool,
    resumes: bool,
    /// The number of the last pause that is wanted.
    pause: AtomicU32,
}

impl Common<'_> {
    fn fail(&self, failure: Failure) {
        let mut first = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert(failure);
        self.stop.store(true, Ordering::Release);
    }

    fn accounts(&self) -> Vec<Account> {
        self.accounts.iter().map(|a| *a.lock().unwrap_or_else(PoisonError::into_inner)).collect()
    }
}

/// What a worker tells whoever watches all of them.
enum Message {
    Handed(Handed),
    /// It has reached a limit of its own.
    Full(Limit),
}

/// Watches one thread.
struct Watchman<'c> {
    common: &'c Common<'c>,
    me: usize,
    watcher: SyncSender<(usize, Message)>,
    /// What this worker goes on from.
    pieces: Receiver<Vec<u8>>,
    is_full: bool,
}

impl Overseer for Watchman<'_> {
    fn look(&mut self, account: &Account) -> Result<(), Stop> {
        if let Ok(mut place) = self.common.accounts[self.me].lock() {
            *place = *account;
        }
        if self.common.stop.load(Ordering::Acquire) {
            return Err(Stop::Elsewhere);
        }
        if !self.common.keeps {
            return check(self.common.meter, self.common.memory, account);
        }
        if let Some(limit) = overweight(self.common.memory, account).filter(|_| !self.is_full) {
            self.is_full = true;
            self.watcher.send((self.me, Message::Full(limit))).map_err(|_| Stop::Elsewhere)?;
        }
        Ok(())
    }

    fn wanted_pause(&self) -> u32 {
        self.common.pause.load(Ordering::Acquire)
    }

    fn hand_out(&mut self, handed: Handed) -> Result<(), Stop> {
        if self.common.stop.load(Ordering::Acquire) {
            return Err(Stop::Elsewhere);
        }
        self.watcher.send((self.me, Message::Handed(handed))).map_err(|_| Stop::Elsewhere)
    }

    fn resumes(&self) -> bool {
        self.common.resumes
    }

    fn next_piece(&mut self, account: &Account) -> Result<Option<Vec<u8>>, Stop> {
        loop {
            match self.pieces.recv_timeout(VIEW) {
                Ok(piece) => return Ok(Some(piece)),
                Err(RecvTimeoutError::Disconnected) => return Ok(None),
                Err(RecvTimeoutError::Timeout) => self.look(account)?,
            }
        }
    }
}

/// Whether a worker is within the time and its share of the memory.
pub(crate) fn check(meter: &Meter, memory: Option<u64>, account: &Account) -> Result<(), Stop> {
    meter.check().map_err(PartError::from)?;
    overweight(memory, account).map_or(Ok(()), |limit| Err(PartError::from(limit).into()))
}

/// The limit of a worker that has more than its share of the memory.
pub(crate) fn overweight(memory: Option<u64>, account: &Account) -> Option<Limit> {
    let budget = memory.filter(|&budget| account.figures.memory > budget)?;
    Some(Limit::Memory { budget, needed: format!("it has {} states", account.figures.states) })
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
    on_kept_threads(workers, meter, view, None, job)
}

/// The same for a job that is kept.
///
/// # Errors
/// The first reason for which some worker could not go on, or for which none could begin.
///
/// # Panics
/// There are no workers.
pub fn on_kept_threads<T: Send>(
    workers: usize,
    meter: &Meter,
    view: &mut dyn FnMut(&[Account]),
    mut keeping: Option<&mut Keeping<'_>>,
    job: impl Fn(&mut Driver<'_>) -> Result<T, Stop> + Sync,
) -> Result<Vec<T>, Failure> {
    assert!((1..=MOST_WORKERS).contains(&workers), "a computation has from 1 to {MOST_WORKERS} workers");
    let supply = match &mut keeping {
        Some(keeping) => keeping.supply(workers)?,
        None => None,
    };
    let common = Common {
        meter,
        memory: meter.budget().memory.map(|bytes| bytes / workers as u64),
        stop: AtomicBool::new(false),
        failure: Mutex::new(None),
        accounts: (0..workers).map(|_| Mutex::default()).collect(),
        keeps: keeping.is_some(),
        resumes: supply.is_some(),
        pause: AtomicU32::new(0),
    };
    let builders = ProcessBuilder::new_typed_vector(workers, Hooks::default().refill, None);
    let results: Vec<Option<T>> = std::thread::scope(|scope| {
        let (common, job) = (&common, &job);
        let (sender, inbox) = sync_channel(WAITING);
        let (lines, pieces): (Vec<_>, Vec<_>) = (0..workers).map(|_| sync_channel(WAITING)).unzip();
        let shipping = supply.map(|supply| Shipping { supply, lines, next: None });
        let mut watch =
            Watch { common, view, inbox, keeping, shipping, full: None, early: None, last: Instant::now() };
        watch.begin();
        let threads: Vec<_> = builders
            .into_iter()
            .zip(pieces)
            .enumerate()
            .map(|(me, (builder, pieces))| {
                let watchman = Watchman { common, me, watcher: sender.clone(), pieces, is_full: false };
                scope.spawn(move || guarded(watchman, builder, job))
            })
            .collect();
        drop(sender);
        watch.until_the_end();
        threads.into_iter().map(|thread| thread.join().ok().flatten()).collect()
    });
    let failure = common.failure.into_inner().unwrap_or_else(PoisonError::into_inner);
    match (failure, results.into_iter().collect()) {
        (Some(failure), _) => Err(failure),
        (None, Some(results)) => Ok(results),
        (None, None) => {
            Err(Failure::Lost { who: "a worker".into(), message: "ended without a result".into() })
        }
    }
}

/// A file on its way to the workers.
struct Shipping {
    supply: Box<dyn Supply>,
    lines: Vec<SyncSender<Vec<u8>>>,
    /// What waits for room on its line.
    next: Option<(usize, Vec<u8>)>,
}

impl Shipping {
    /// Sends as much as there is room for; whether that was all.
    fn ship(&mut self) -> Result<bool, Refused> {
        loop {
            let next = match self.next.take() {
                Some(next) => Some(next),
                None => self.supply.next_piece()?,
            };
            let Some((to, piece)) = next else { return Ok(true) };
            match self.lines[to].try_send(piece) {
                // Who does not listen any more has ended, and says why.
                Ok(()) | Err(TrySendError::Disconnected(_)) => {}
                Err(TrySendError::Full(piece)) => {
                    self.next = Some((to, piece));
                    return Ok(false);
                }
            }
        }
    }
}

/// Watches all threads.
struct Watch<'w, 'm, 'k> {
    common: &'w Common<'m>,
    view: &'w mut dyn FnMut(&[Account]),
    inbox: Receiver<(usize, Message)>,
    keeping: Option<&'w mut Keeping<'k>>,
    shipping: Option<Shipping>,
    /// The first worker that has reached a limit of its own.
    full: Option<(String, Limit)>,
    /// The first that was handed out in a pause that was asked for at the start.
    early: Option<(usize, Handed)>,
    last: Instant,
}

impl Watch<'_, '_, '_> {
    /// Looks at the clock before anybody has begun.
    fn begin(&mut self) {
        let meter = self.common.meter;
        let wanted = self.keeping.as_ref().and_then(|keeping| {
            let limit = keeping.limit(&[], meter);
            keeping.wanted(limit.is_some(), meter)
        });
        self.common.pause.store(wanted.unwrap_or(0), Ordering::Release);
    }

    fn until_the_end(&mut self) {
        loop {
            match self.look(if self.shipping.is_some() { SOON } else { VIEW }) {
                Event::Ended => return,
                Event::Handed(worker, handed) => self.early = Some((worker, handed)),
                Event::Nothing => {}
            }
            self.ship();
            if let Some(keeping) = self.keeping.take() {
                self.keep(keeping);
                self.keeping = Some(keeping);
            }
        }
    }

    fn look(&mut self, patience: Duration) -> Event {
        let event = match self.inbox.recv_timeout(patience) {
            Ok((worker, Message::Handed(handed))) => Event::Handed(worker, handed),
            Ok((worker, Message::Full(limit))) => {
                self.full.get_or_insert((name_of(worker), limit));
                Event::Nothing
            }
            Err(RecvTimeoutError::Timeout) => Event::Nothing,
            Err(RecvTimeoutError::Disconnected) => Event::Ended,
        };
        if self.last.elapsed() >= VIEW {
            self.last = Instant::now();
            (self.view)(&self.common.accounts());
        }
        event
    }

    fn ship(&mut self) {
        let (Some(shipping), Some(keeping)) = (&mut self.shipping, &mut self.keeping) else { return };
        match shipping.ship() {
            Ok(false) => return,
            Ok(true) => {
                keeping.restored(self.common.meter);
                self.begin();
            }
            Err(refused) => self.common.fail(keeping.refused(refused)),
        }
        // The lines end here, and with them what the workers go on from.
        self.shipping = None;
    }

    /// Has what the workers know written, if it is time, and ends them at a limit.
    fn keep(&mut self, keeping: &mut Keeping<'_>) {
        let (common, meter) = (self.common, self.common.meter);
        let accounts = common.accounts();
        let of_all = || keeping.limit(&accounts, meter).map(|limit| ("all workers".to_string(), limit));
        let mut limit = self.full.take().or_else(of_all);
        if let Some(number) = keeping.wanted(limit.is_some(), meter) {
            common.pause.store(number, Ordering::Release);
            let next = || match self.early.take() {
                Some((worker, handed)) => Event::Handed(worker, handed),
                None => match self.look(VIEW) {
                    Event::Nothing if common.stop.load(Ordering::Acquire) => Event::Ended,
                    event => event,
                },
            };
            if !keeping.write(number, &accounts, meter, next) {
                return;
            }
            // What has come meanwhile needs no other file.
            limit = limit.or_else(|| meter.check().err().map(|limit| ("all workers".to_string(), limit)));
        }
        if let Some((who, limit)) = limit {
            common.fail(Failure::Part { who, error: limit.into() });
        }
    }
}

fn name_of(worker: usize) -> String {
    format!("worker {}", worker + 1)
}

/// Runs a job on one thread; whatever goes wrong is noted for all.
fn guarded<T>(
    mut watchman: Watchman<'_>,
    builder: ProcessBuilder,
    job: &(impl Fn(&mut Driver<'_>) -> Result<T, Stop> + Sync),
) -> Option<T> {
    let (common, who) = (watchman.common, name_of(watchman.me));
    let ran = std::panic::catch_unwind(AssertUnwindSafe(|| {
        let mut worker =
            Worker::new(WorkerConfig::default(), Allocator::Process(builder.build()), Some(Instant::now()));
        let mut driver = Driver::new(&mut worker, &mut watchman);
        let result = job(&mut driver)?;
        driver.finish()?;
        Ok(result)
    }));
    match ran {
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
    }
}

/// What a panic said.
pub(crate) fn words_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|s| (*s).to_string());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "without a message".into())
}
