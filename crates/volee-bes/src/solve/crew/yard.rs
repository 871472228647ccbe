//! Where threads that solve together meet: letter boxes, and the moments at which all are idle.
//!
//! All of it is behind one lock. A thread sends what it has written before it says that it is idle, and who has
//! a letter is not idle; so when all are idle and there is no letter, nothing is under way, and the next stage
//! begins for all. Who has not entered a stage that has begun does so even if the answer is known by then: it
//! may rest on what parts do when they enter it.

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

/// What a thread finds that looks into its letter box.
pub(super) enum Taken {
    /// Letters, or none.
    Letters,
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

    /// Empties the letter box of a thread, which waits for something to do if it is idle. `stage` is how many
    /// it has entered.
    pub fn take(&self, me: usize, idle: bool, stage: &mut u64, letters: &mut Vec<(usize, Packet)>) -> Taken {
        let mut state = self.lock();
        let mut counted = false;
        loop {
            if let Some(End::Failed(_) | End::Left) = state.end {
                return Taken::Failed;
            }
            if state.stages > *stage {
                *stage += 1;
                return Taken::Stage;
            }
            if state.end.is_some() {
                return Taken::Decided;
            }
            if !state.letters[me].is_empty() || !idle {
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
                state.stages += 1;
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

    /// Waits until all threads have left, and not longer than this.
    pub fn wait_until_left(&self, most: Duration) -> bool {
        let state = self.lock();
        let waited = self.changed.wait_timeout_while(state, most, |state| state.left < self.workers);
        waited.unwrap_or_else(PoisonError::into_inner).0.left == self.workers
    }

    pub fn into_end(self) -> Ended {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ended { end: state.end, peak: state.peak }
    }
}
