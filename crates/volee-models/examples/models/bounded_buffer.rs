//! A bounded buffer shared by producers and consumers that wait and are woken, as in Java: who cannot go on
//! waits, and who has changed the buffer wakes one that waits.
//!
//! After Charpentier's "An example of debugging Java with a model checker" and Kuppe's TLA+ specification of
//! it (lemmy/BlockingQueue). Waking anybody may wake the wrong one, and then all sleep: Kuppe finds with TLC
//! that this cannot happen exactly where twice the capacity is at least the number of threads. Waking one of
//! the others is right; for four producers, three consumers and three places TLC reports 1,600 distinct
//! states there.

use volee_models::{Model, Pack, Property};

/// The buffer and those who use it.
pub struct BoundedBuffer {
    pub producers: u8,
    pub consumers: u8,
    pub capacity: usize,
    pub wakes: Wakes,
}

/// Whom a thread wakes that has changed the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wakes {
    /// Whoever waits.
    Anybody,
    /// One of the other kind.
    TheOthers,
}

#[derive(Clone, Debug, Pack)]
pub struct State {
    /// Who has put what is there, the oldest first.
    pub buffer: Vec<u8>,
    /// Who waits, a bit for each thread: producers first.
    pub waiting: u16,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    Put { producer: u8, wakes: Option<u8> },
    Get { consumer: u8, wakes: Option<u8> },
    Wait(u8),
}

impl BoundedBuffer {
    fn threads(&self) -> u8 {
        self.producers + self.consumers
    }

    /// All threads that one that has changed the buffer may wake: one of them, or nobody where there is none.
    fn woken(&self, state: &State, by: u8) -> impl Iterator<Item = Option<u8>> {
        let producers = (1u16 << self.producers) - 1;
        let candidates = match self.wakes {
            Wakes::Anybody => state.waiting,
            Wakes::TheOthers if by < self.producers => state.waiting & !producers,
            Wakes::TheOthers => state.waiting & producers,
        };
        let nobody = (candidates == 0).then_some(None);
        (0..self.threads()).filter(move |t| candidates >> t & 1 == 1).map(Some).chain(nobody)
    }
}

impl Model for BoundedBuffer {
    type State = State;
    type Action = Action;

    fn initial(&self) -> Vec<State> {
        vec![State { buffer: Vec::new(), waiting: 0 }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        for thread in (0..self.threads()).filter(|t| state.waiting >> t & 1 == 0) {
            let produces = thread < self.producers;
            let must_wait =
                if produces { state.buffer.len() >= self.capacity } else { state.buffer.is_empty() };
            if must_wait {
                actions.push(Action::Wait(thread));
                continue;
            }
            actions.extend(self.woken(state, thread).map(|wakes| match produces {
                true => Action::Put { producer: thread, wakes },
                false => Action::Get { consumer: thread, wakes },
            }));
        }
    }

    fn apply(&self, state: &mut State, action: &Action) {
        let woken = match *action {
            Action::Put { producer, wakes } => {
                state.buffer.push(producer);
                wakes
            }
            Action::Get { wakes, .. } => {
                state.buffer.remove(0);
                wakes
            }
            Action::Wait(thread) => {
                state.waiting |= 1 << thread;
                None
            }
        };
        if let Some(thread) = woken {
            state.waiting &= !(1 << thread);
        }
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("no more than fits", |model: &Self, state| state.buffer.len() <= model.capacity),
            Property::sometimes("full", |model: &Self, state| state.buffer.len() == model.capacity),
        ]
    }

    fn process(&self, action: &Action) -> Option<u8> {
        Some(match *action {
            Action::Put { producer: thread, .. }
            | Action::Get { consumer: thread, .. }
            | Action::Wait(thread) => thread,
        })
    }

    fn process_name(&self, process: u8) -> String {
        if process < self.producers { "producer".into() } else { "consumer".into() }
    }
}
