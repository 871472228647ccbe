//! The guard of a process: its limits hold, whatever the process is doing.
//!
//! Loops that ask their [`Meter`](crate::Meter) end by themselves with a partial answer, and that is the
//! usual end. The guard is for everything else: a parser, a foreign library, a call of the system that blocks
//! (opening a pipe), the destruction of a large structure. It is a thread that looks every few milliseconds;
//! when a limit is passed by more than its grace it takes the right to answer, and says that the verdict is
//! unknown, and why. The right to answer is given once: either the program writes its answer or the guard
//! does.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::memory;
use crate::{Limit, Snapshot};

/// How often the guard looks.
const PERIOD: Duration = Duration::from_millis(4);
/// How long a program may take to end by itself after its time, or after a signal.
const GRACE: Duration = Duration::from_millis(500);
/// Physical memory that a process may have beside its budget before it is ended.
const RESIDENT_HEADROOM: u64 = 20 << 20;

static ANSWERED: AtomicBool = AtomicBool::new(false);
/// How many threads keep a search for later.
static SAVING: AtomicU64 = AtomicU64::new(0);
static PROGRESS: [AtomicU64; 4] = [const { AtomicU64::new(0) }; 4];

/// The limits of a process.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Bytes.
    pub memory: Option<u64>,
    /// What bounds memory where nothing is said above. The guard asks, while the process begins its work.
    pub usual: fn() -> Option<u64>,
    /// Wall-clock time since `start`.
    pub time: Option<Duration>,
    /// When the process began its work.
    pub start: Instant,
    /// Set by a signal, and taken back by the guard.
    pub signalled: Arc<AtomicBool>,
    /// Set by the guard after a signal. A second one ends the process at once.
    pub cancelled: Arc<AtomicBool>,
}

/// How far the work was when the guard ended it.
#[derive(Debug, Clone, Copy)]
pub struct Cut {
    /// The last figures that a search reported.
    pub progress: Snapshot,
    /// Time since the start.
    pub elapsed: Duration,
}

/// Watches from now on. `end` writes the answer of a process that ran into a limit and ends the process; it
/// must not wait for anything that another thread may hold. `leave` ends a process that is told to end while
/// its answer is being written, for example into a pipe that nobody reads.
///
/// # Errors
/// There is no thread for it: the limits are then those that the loops keep by themselves.
pub fn watch(
    mut limits: Limits,
    end: impl FnOnce(Limit, Cut) + Send + 'static,
    leave: impl Fn() + Send + 'static,
) -> io::Result<()> {
    if let Some(budget) = limits.memory {
        memory::set_budget(budget);
    }
    let watching = std::thread::Builder::new().name("guard".into()).stack_size(512 << 10);
    let watched = watching.spawn(move || {
        memory::exempt_this_thread();
        if limits.memory.is_none() {
            limits.memory = (limits.usual)();
            limits.memory.into_iter().for_each(memory::set_budget);
        }
        let (limit, elapsed) = wait_for_limit(&limits, &leave);
        if claim_answer() {
            return end(limit, Cut { progress: last_progress(), elapsed });
        }
        wait_for_signal(&limits, &leave);
        leave();
    });
    watched.map(drop)
}

/// Takes note of a signal.
fn hear(limits: &Limits, leave: &impl Fn()) {
    if limits.signalled.swap(false, Ordering::Relaxed) && limits.cancelled.swap(true, Ordering::Relaxed) {
        leave();
    }
}

fn wait_for_limit(limits: &Limits, leave: &impl Fn()) -> (Limit, Duration) {
    let mut signalled: Option<Instant> = None;
    let (mut last, mut saving) = (Instant::now(), Duration::ZERO);
    loop {
        std::thread::sleep(PERIOD);
        hear(limits, leave);
        let now = Instant::now();
        let elapsed = now.duration_since(limits.start);
        if SAVING.load(Ordering::SeqCst) > 0 {
            // Grace begins when what is kept is complete.
            saving += now.duration_since(last);
            signalled = None;
        } else if limits.cancelled.load(Ordering::Relaxed) {
            let since = *signalled.get_or_insert(now);
            if now.duration_since(since) >= GRACE {
                return (Limit::Cancelled, elapsed);
            }
        } else {
            // A conversation has taken note of Ctrl-C and goes on.
            signalled = None;
        }
        last = now;
        if let Some(limit) = overtime(limits, elapsed.saturating_sub(saving)).or_else(|| overweight(limits)) {
            return (limit, elapsed);
        }
        if ANSWERED.load(Ordering::Relaxed) {
            return (Limit::Cancelled, elapsed);
        }
    }
}

fn overtime(limits: &Limits, elapsed: Duration) -> Option<Limit> {
    let time = limits.time?;
    let milliseconds = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    (elapsed >= time.saturating_add(GRACE)).then_some(Limit::Time { milliseconds })
}

fn overweight(limits: &Limits) -> Option<Limit> {
    let budget = limits.memory?;
    let resident = || memory::resident().is_some_and(|r| r > budget.saturating_add(RESIDENT_HEADROOM));
    let needed = || "what was being done needs more".to_string();
    (memory::is_over() || resident()).then(|| Limit::Memory { budget, needed: needed() })
}

fn wait_for_signal(limits: &Limits, leave: &impl Fn()) {
    let mut since: Option<Instant> = None;
    while since.is_none_or(|since| since.elapsed() < GRACE) {
        std::thread::sleep(PERIOD);
        hear(limits, leave);
        if limits.cancelled.load(Ordering::Relaxed) {
            since.get_or_insert_with(Instant::now);
        }
    }
}

/// Does something that the end of the process waits for, however long it takes; a second signal does not
/// wait, nor does memory.
pub fn while_saving<T>(save: impl FnOnce() -> T) -> T {
    SAVING.fetch_add(1, Ordering::SeqCst);
    let saved = save();
    SAVING.fetch_sub(1, Ordering::SeqCst);
    saved
}

/// Takes the right to answer; `false` when it is taken.
pub fn claim_answer() -> bool {
    !ANSWERED.swap(true, Ordering::SeqCst)
}

/// Remembers how far a search is, for the answer of a process that is cut short.
pub fn note(snapshot: &Snapshot) {
    let figures = [snapshot.states, snapshot.transitions, snapshot.max_depth, snapshot.memory];
    for (kept, figure) in PROGRESS.iter().zip(figures) {
        kept.store(figure, Ordering::Relaxed);
    }
}

fn last_progress() -> Snapshot {
    let [states, transitions, max_depth, memory] = PROGRESS.each_ref().map(|p| p.load(Ordering::Relaxed));
    Snapshot { states, transitions, max_depth, memory, ..Snapshot::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(memory: Option<u64>, time: Option<Duration>) -> Limits {
        let (signalled, cancelled) = (Arc::default(), Arc::default());
        Limits { memory, usual: || None, time, start: Instant::now(), signalled, cancelled }
    }

    #[test]
    fn a_limit_is_passed_when_its_grace_is_over() {
        let limits = limits(Some(u64::MAX), Some(Duration::from_secs(2)));
        assert_eq!(overtime(&limits, Duration::from_millis(2499)), None);
        assert_eq!(overtime(&limits, Duration::from_millis(2500)), Some(Limit::Time { milliseconds: 2000 }));
        assert_eq!(overweight(&limits), None);
    }

    #[test]
    fn a_process_that_is_too_large_is_seen() {
        if memory::resident().is_some() {
            let none = limits(Some(0), None);
            let block = vec![1_u8; 64 << 20];
            assert!(matches!(overweight(&none), Some(Limit::Memory { budget: 0, .. })), "{}", block.len());
        }
    }

    #[test]
    fn a_signal_ends_what_does_not_end_by_itself() {
        let limits = limits(None, None);
        limits.signalled.store(true, Ordering::Relaxed);
        assert_eq!(wait_for_limit(&limits, &|| panic!("there was one signal")).0, Limit::Cancelled);
    }

    #[test]
    fn a_second_signal_does_not_wait() {
        let limits = limits(None, None);
        let left = AtomicBool::new(false);
        for _ in 0..2 {
            assert!(!left.load(Ordering::Relaxed));
            limits.signalled.store(true, Ordering::Relaxed);
            hear(&limits, &|| left.store(true, Ordering::Relaxed));
        }
        assert!(left.load(Ordering::Relaxed));
    }
}
