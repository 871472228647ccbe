//! Where threads that solve together meet: letter boxes, and the moments at which all are idle.
//!
//! All of it is behind one lock. A thread sends what it has written before it says that it is idle, and who has
//! a letter is not idle; so when all are idle and there is no letter, nothing is under way, and the next stage
//! begins for all. Who has not entered a stage that has begun does so even if the answer is known by then: it
//! may rest on what parts do when they enter it.
//!
//! A pause is such a moment in the midst of a stage. Who has done some work in it, has more, and can be kept,
//! lets it begin; from then on nobody works, and what is under way arrives. When all have settled and there is
//! no letter, each hands out what it has, and all go on when that is written.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use volee_system::part::{Figures, Outbox, Packet, PartError};

/// Why it is over before all stages are.
#[derive(Debug, Clone)]
pub(super) enum End {
    /// The answer is known.
    Decided,
    /// A part cannot go on.
    Failed(PartError),
    /// A thread has left without having said why.
    Left,
}

/// How a thread is that looks into its letter box.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rest {
    /// It has something to do.
    Busy,
    /// It has nothing to do.
    Idle,
    /// It has brought what was under way to an end, for a pause.
    Settled,
}

/// The stages and pauses that a thread has met.
#[derive(Debug, Default)]
pub(super) struct Met {
    stages: u64,
    pauses: u64,
}

/// What a thread finds that looks into its letter box.
pub(super) enum Taken {
    /// Letters, or none.
    Letters,
    /// There is to be a pause: what is under way is to be brought to an end.
    Settle,
    /// All have settled, and nothing is under way: what is known is handed out.
    Pause,
    /// All are idle, and nothing is under way.
    Stage,
    Decided,
    Failed,
}

#[derive(Default)]
struct State {
    letters: Vec<Vec<(usize, Packet)>>,
    idle: usize,
    stages: u64,
    /// Somebody wants a pause; all are about to pause; how often they have.
    is_wanted: bool,
    is_pausing: bool,
    pauses: u64,
    /// What is handed out is to be written; how often it was.
    is_handed: bool,
    written: u64,
    /// Some thread has come through all stages, or knows that the answer is known.
    is_over: bool,
    end: Option<End>,
    /// Threads that have left for good.
    left: usize,
    figures: Vec<Figures>,
    peak: u64,
}

pub(super) struct Yard {
    workers: usize,
    state: Mutex<State>,
    changed: Condvar,
}

/// What the thread that watches sees.
pub(super) enum Seen {
    Nothing,
    /// All hand out what they have.
    Handed,
    /// All threads have left.
    Left,
}

/// How it has ended, and the most bytes in use.
pub(super) struct Ended {
    pub end: Option<End>,
    pub peak: u64,
}

impl Yard {
    pub fn new(workers: usize) -> Self {
        let letters = (0..workers).map(|_| Vec::new()).collect();
        let state = State { letters, figures: vec![Figures::default(); workers], ..State::default() };
        Yard { workers, state: Mutex::new(state), changed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts what was posted into the letter boxes.
    pub fn send(&self, me: usize, out: &mut Outbox) {
        let mut packets = out.take().peekable();
        if packets.peek().is_none() {
            return;
        }
        let mut state = self.lock();
        for packet in packets {
            state.letters[usize::from(packet.to)].push((me, packet));
        }
        if state.idle > 0 {
            self.changed.notify_all();
        }
    }

    /// Empties the letter box of a thread, which waits for something to do if it rests. Where it `may`, it
    /// pauses instead of going on, if somebody wants that.
    pub fn take(
        &self,
        me: usize,
        (rest, may): (Rest, bool),
        met: &mut Met,
        letters: &mut Vec<(usize, Packet)>,
    ) -> Taken {
        let mut state = self.lock();
        let mut counted = false;
        loop {
            if let Some(End::Failed(_) | End::Left) = state.end {
                return Taken::Failed;
            }
            if state.stages > met.stages {
                met.stages += 1;
                return Taken::Stage;
            }
            if state.pauses > met.pauses {
                met.pauses += 1;
                return Taken::Pause;
            }
            if state.end.is_some() {
                return Taken::Decided;
            }
            let goes_on = rest == Rest::Busy || !state.letters[me].is_empty();
            if goes_on && may && state.is_wanted {
                (state.is_wanted, state.is_pausing) = (false, true);
                self.changed.notify_all();
            }
            if state.is_pausing && rest != Rest::Settled {
                state.idle -= usize::from(counted);
                return Taken::Settle;
            }
            if goes_on {
                state.idle -= usize::from(counted);
                std::mem::swap(&mut state.letters[me], letters);
                return Taken::Letters;
            }
            if !counted {
                counted = true;
                state.idle += 1;
            }
            if state.idle == self.workers && state.letters.iter().all(Vec::is_empty) {
                // From now on nobody is idle, also those who do not know yet.
                state.idle = 0;
                if std::mem::take(&mut state.is_pausing) {
                    (state.pauses, state.is_handed) = (state.pauses + 1, true);
                } else {
                    state.stages += 1;
                }
                self.changed.notify_all();
                continue;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The answer is known.
    pub fn decide(&self) {
        self.lock().end.get_or_insert(End::Decided);
        self.changed.notify_all();
    }

    /// A part cannot go on. Gives nothing, for whoever then gives nothing.
    pub fn fail<T>(&self, error: PartError) -> Option<T> {
        let mut state = self.lock();
        // What fails first counts, and more than an answer that is not complete.
        if !matches!(state.end, Some(End::Failed(_))) {
            state.end = Some(End::Failed(error));
        }
        self.changed.notify_all();
        None
    }

    /// A thread leaves for good. If it has not done its part, nobody can.
    pub fn leave(&self, is_done: bool) {
        let mut state = self.lock();
        state.left += 1;
        if !is_done && !matches!(state.end, Some(End::Failed(_))) {
            state.end = Some(End::Left);
        }
        self.changed.notify_all();
    }

    pub fn note(&self, me: usize, figures: Figures) {
        let mut state = self.lock();
        state.figures[me] = figures;
        state.peak = state.peak.max(state.figures.iter().map(|figures| figures.memory).sum());
    }

    /// What all have done.
    pub fn sum(&self) -> Figures {
        self.lock().figures.iter().fold(Figures::default(), |a, b| Figures {
            states: a.states + b.states,
            transitions: a.transitions + b.transitions,
            expanded: a.expanded + b.expanded,
            pending: a.pending + b.pending,
            memory: a.memory + b.memory,
        })
    }

    /// Waits until what was handed out is written. `None` when there is no answer any more.
    pub fn wait_until_written(&self, met: &Met) -> Option<()> {
        let unwritten = |state: &mut State| {
            state.written < met.pauses && !matches!(state.end, Some(End::Failed(_) | End::Left))
        };
        let waited = self.changed.wait_while(self.lock(), unwritten);
        (waited.unwrap_or_else(PoisonError::into_inner).written >= met.pauses).then_some(())
    }

    /// What was handed out is written: all go on.
    pub fn go_on(&self) {
        self.lock().written += 1;
        self.changed.notify_all();
    }

    /// Somebody wants a pause.
    pub fn want_pause(&self) {
        let mut state = self.lock();
        state.is_wanted = !state.is_pausing && !state.is_handed;
    }

    /// A thread has done its part here: there is no pause any more.
    pub fn close(&self) {
        self.lock().is_over = true;
    }

    pub fn is_over(&self) -> bool {
        self.lock().is_over
    }

    /// How many threads there are.
    pub fn workers(&self) -> usize {
        self.workers
    }

    /// Whether there is no answer any more.
    pub fn has_failed(&self) -> bool {
        matches!(self.lock().end, Some(End::Failed(_) | End::Left))
    }

    /// For the thread that watches: waits for something to see, and not longer than this.
    pub fn watch(&self, most: Duration) -> Seen {
        let goes_on = |state: &mut State| state.left < self.workers && !state.is_handed;
        let waited = self.changed.wait_timeout_while(self.lock(), most, goes_on);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        match std::mem::take(&mut state.is_handed) {
            true => Seen::Handed,
            false if state.left == self.workers => Seen::Left,
            false => Seen::Nothing,
        }
    }

    pub fn into_end(self) -> Ended {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ended { end: state.end, peak: state.peak }
    }
}
