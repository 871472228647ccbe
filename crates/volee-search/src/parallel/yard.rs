//! Where workers meet: packages of work that wait for whoever has none, the end of the search, and meetings
//! of all.
//!
//! A worker whose stack is empty waits here; one that sees somebody waiting leaves half of its stack, the
//! part that it would have come to last. When all wait and there is no package, every state was expanded:
//! states that wait are in the stack of a worker that does not wait, or in a package, and both are looked at
//! under one lock.
//!
//! Level by level, a worker keeps what is new for later; when all wait, the next level begins, and the search
//! ends when nobody has kept anything.
//!
//! A meeting is a barrier that everybody comes to: those that work look at a flag between two batches, those
//! that wait are woken. When the search ends, nobody is kept waiting.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use volee_store::StateRef;
use volee_system::Limit;

/// How a search by several workers ends.
#[derive(Debug, Clone)]
pub(crate) enum End {
    /// Everything was seen.
    Complete,
    /// There is an error, or everything that was asked for is reached.
    Decided,
    /// A limit; none where the names do not fit, or a worker could not begin.
    Limit(Option<Limit>),
}

/// Work for somebody: names, and how deep they are.
#[derive(Debug, Default)]
pub(crate) struct Package {
    pub names: Vec<StateRef>,
    pub depths: Vec<u32>,
}

/// What a worker without work gets.
pub(crate) enum Taken<P> {
    Package(P),
    /// All are asked to meet.
    Meeting,
    /// The next level begins, with what everybody has kept.
    Level,
    End,
}

struct State<P> {
    packages: Vec<P>,
    waiting: usize,
    arrived: usize,
    meetings: u64,
    /// Levels that have ended, and how many states those that wait have kept for the next.
    levels: u64,
    kept: usize,
    end: Option<End>,
    /// Workers that have not ended.
    alive: usize,
    /// Workers that have handed in what they have, and how often that was written.
    handed: usize,
    written: u64,
    /// The next meeting is to keep the search.
    is_kept: bool,
}

/// What the thread that watches sees.
pub(crate) enum Seen {
    Nothing,
    /// All have handed in what they have, and wait.
    Handed,
    /// How the search has ended, and all workers have left.
    End(End),
}

pub(crate) struct Yard<P = Package> {
    workers: usize,
    state: Mutex<State<P>>,
    changed: Condvar,
    /// Workers that wait for work that is not there. All five are hints: what they tell is looked at again
    /// under the lock, or does not matter.
    hungry: AtomicUsize,
    spare: AtomicBool,
    /// How deep those are that go by the first.
    level: AtomicU32,
    is_meeting: AtomicBool,
    has_ended: AtomicBool,
    /// The size of the table, for those who only watch.
    states: AtomicU64,
    bytes: AtomicU64,
}

impl Yard {
    /// For a number of workers, each with its share of what is to be done first.
    pub fn of_names(workers: usize, first: &[(StateRef, u32)]) -> Self {
        let share = |worker: usize| {
            let (names, depths) = first.iter().skip(worker).step_by(workers).copied().unzip();
            Package { names, depths }
        };
        Yard::new(workers, (0..workers.min(first.len())).map(share).collect())
    }

    /// What waits for nobody in particular.
    pub fn packages(&self) -> Vec<(StateRef, u32)> {
        let state = self.lock();
        let states = |p: &Package| p.names.iter().copied().zip(p.depths.iter().copied()).collect::<Vec<_>>();
        state.packages.iter().flat_map(states).collect()
    }

    /// Changes the names of all packages.
    pub fn rename(&self, translate: &mut dyn FnMut(StateRef) -> StateRef) {
        self.each_package(|package| package.names.iter_mut().for_each(|name| *name = translate(*name)));
    }
}

impl<P> Yard<P> {
    /// For a number of workers, with what is to be done first.
    pub fn new(workers: usize, packages: Vec<P>) -> Self {
        let state = State {
            packages,
            alive: workers,
            waiting: 0,
            arrived: 0,
            meetings: 0,
            levels: 0,
            kept: 0,
            end: None,
            handed: 0,
            written: 0,
            is_kept: false,
        };
        Yard {
            workers,
            state: Mutex::new(state),
            changed: Condvar::new(),
            hungry: AtomicUsize::new(0),
            spare: AtomicBool::new(false),
            level: AtomicU32::new(0),
            is_meeting: AtomicBool::new(false),
            has_ended: AtomicBool::new(false),
            states: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
        }
    }

    /// Changes what waits for nobody in particular.
    pub fn each_package(&self, change: impl FnMut(&mut P)) {
        self.lock().packages.iter_mut().for_each(change);
    }

    fn lock(&self) -> MutexGuard<'_, State<P>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'s>(&self, state: MutexGuard<'s, State<P>>) -> MutexGuard<'s, State<P>> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether somebody waits for work.
    #[inline]
    pub fn is_hungry(&self) -> bool {
        self.hungry.load(Ordering::Relaxed) > 0
    }

    #[inline]
    pub fn has_ended(&self) -> bool {
        self.has_ended.load(Ordering::Relaxed)
    }

    /// Whether all are asked to meet.
    #[inline]
    pub fn is_meeting(&self) -> bool {
        self.is_meeting.load(Ordering::Relaxed)
    }

    pub fn give(&self, package: P) {
        let mut state = self.lock();
        state.packages.push(package);
        self.note_hunger(&state);
        self.changed.notify_all();
    }

    /// Who waits while there is a package for him has not woken up yet, and needs no other.
    fn note_hunger(&self, state: &State<P>) {
        self.hungry.store(state.waiting.saturating_sub(state.packages.len()), Ordering::Relaxed);
        self.spare.store(state.packages.len() > state.waiting, Ordering::Relaxed);
    }

    /// A package that nobody waits for.
    pub fn take_spare(&self) -> Option<P> {
        if !self.spare.load(Ordering::Relaxed) {
            return None;
        }
        let mut state = self.lock();
        let package = if state.packages.len() > state.waiting { state.packages.pop() } else { None };
        self.note_hunger(&state);
        package
    }

    /// How deep those are that go by the first; 0 where nobody does.
    #[inline]
    pub fn level(&self) -> u32 {
        self.level.load(Ordering::Relaxed)
    }

    pub fn note_level(&self, depth: Option<u32>) {
        self.level.store(depth.unwrap_or(0), Ordering::Relaxed);
    }

    /// Work for a worker that has none and has kept this many states for the next level; the last to ask when
    /// there is none ends the level, and the search if nobody has kept any.
    pub fn take(&self, kept: usize) -> Taken<P> {
        let mut state = self.lock();
        let level = state.levels;
        loop {
            if state.end.is_some() {
                return Taken::End;
            }
            if self.is_meeting() {
                return Taken::Meeting;
            }
            if let Some(package) = state.packages.pop() {
                self.note_hunger(&state);
                return Taken::Package(package);
            }
            if state.waiting + 1 == self.workers {
                if state.kept + kept == 0 {
                    self.end_with(&mut state, End::Complete);
                    return Taken::End;
                }
                // From now on nobody waits, also those who do not know yet.
                (state.waiting, state.kept) = (0, 0);
                self.note_hunger(&state);
                state.levels += 1;
                self.changed.notify_all();
                return Taken::Level;
            }
            state.waiting += 1;
            state.kept += kept;
            self.note_hunger(&state);
            state = self.wait(state);
            if state.levels != level {
                return Taken::Level;
            }
            state.waiting -= 1;
            state.kept -= kept;
            self.note_hunger(&state);
        }
    }

    /// Ends the search; what was said first counts.
    pub fn end(&self, end: End) {
        self.end_with(&mut self.lock(), end);
    }

    fn end_with(&self, state: &mut State<P>, end: End) {
        state.end.get_or_insert(end);
        self.has_ended.store(true, Ordering::Relaxed);
        self.changed.notify_all();
    }

    /// A worker has left, whether it knows or not.
    pub fn leave(&self) {
        let mut state = self.lock();
        state.alive -= 1;
        self.end_with(&mut state, End::Limit(None));
    }

    /// Asks all to meet.
    pub fn call_meeting(&self) {
        let _state = self.lock();
        self.is_meeting.store(true, Ordering::Relaxed);
        self.changed.notify_all();
    }

    /// Asks all to meet and to hand in what they have.
    pub fn call_to_keep(&self) {
        self.lock().is_kept = true;
        self.call_meeting();
    }

    /// The meeting has begun, and nobody needs to be asked any more. Whether the search is kept in it.
    pub fn open_meeting(&self) -> bool {
        let mut state = self.lock();
        self.is_meeting.store(false, Ordering::Relaxed);
        std::mem::take(&mut state.is_kept)
    }

    /// A worker has handed in what it has, and waits until that is written. `None` when the search has ended.
    pub fn hand_in(&self) -> Option<()> {
        let mut state = self.lock();
        state.handed += 1;
        self.changed.notify_all();
        let written = state.written;
        while state.written == written {
            if state.end.is_some() {
                return None;
            }
            state = self.wait(state);
        }
        Some(())
    }

    /// What was handed in is written: all go on.
    pub fn give_back(&self) {
        let mut state = self.lock();
        state.handed = 0;
        state.written += 1;
        self.changed.notify_all();
    }

    /// Waits for all others; one of them is told to lead. `None` when the search has ended.
    pub fn meet(&self) -> Option<bool> {
        let mut state = self.lock();
        if state.end.is_some() {
            return None;
        }
        state.arrived += 1;
        if state.arrived == self.workers {
            state.arrived = 0;
            state.meetings += 1;
            self.changed.notify_all();
            return Some(true);
        }
        let meeting = state.meetings;
        while state.meetings == meeting {
            if state.end.is_some() {
                return None;
            }
            state = self.wait(state);
        }
        Some(false)
    }

    pub fn note_size(&self, states: u64, bytes: u64) {
        self.states.fetch_max(states, Ordering::Relaxed);
        self.bytes.store(bytes, Ordering::Relaxed);
    }

    /// The states and bytes of the table, as last noted.
    pub fn size(&self) -> (u64, u64) {
        (self.states.load(Ordering::Relaxed), self.bytes.load(Ordering::Relaxed))
    }

    /// For the thread that watches: waits for something to see, and not longer than this.
    pub fn watch(&self, most: Duration) -> Seen {
        let state = self.lock();
        let goes_on = |state: &mut State<P>| state.alive > 0 && state.handed < self.workers;
        let waited = self.changed.wait_timeout_while(state, most, goes_on);
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        match &state.end {
            Some(end) if state.alive == 0 => Seen::End(end.clone()),
            None if state.handed == self.workers => Seen::Handed,
            _ => Seen::Nothing,
        }
    }
}
