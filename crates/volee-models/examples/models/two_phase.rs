//! Two-phase commit: resource managers agree to commit a transaction, or to abort it.
//!
//! After Gray and Lamport, "Consensus on transaction commit" (2006), section 4 and its TLA+ specification:
//! what was sent stays sent. Stateright's example of the same name has 288 states for three managers and
//! 8,832 for five, and publishes both in its tests; so have these.

use volee_models::{Model, Pack, Property, Row};

/// The protocol with this many resource managers.
pub struct TwoPhase {
    pub managers: u8,
    /// The coordinator commits when most, not all, are prepared: wrong.
    pub hasty: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Pack)]
pub enum Manager {
    Working,
    Prepared,
    Committed,
    Aborted,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Pack)]
pub enum Coordinator {
    Waiting,
    Committed,
    Aborted,
}

#[derive(Clone, Debug, Pack)]
pub struct State {
    pub managers: Row<Manager>,
    pub coordinator: Coordinator,
    /// Whom the coordinator knows to be prepared.
    pub prepared: Row<bool>,
    /// What was sent: "prepared" of each, "commit", "abort".
    pub sent_prepared: Row<bool>,
    pub sent_commit: bool,
    pub sent_abort: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    Commit,
    Abort,
    LearnPrepared(u8),
    Prepare(u8),
    ChooseToAbort(u8),
    ReceiveCommit(u8),
    ReceiveAbort(u8),
}

impl TwoPhase {
    pub fn new(managers: u8) -> Self {
        TwoPhase { managers, hasty: false }
    }

    fn may_commit(&self, state: &State) -> bool {
        let prepared = state.prepared.iter().filter(|p| **p).count();
        prepared + usize::from(self.hasty) >= usize::from(self.managers)
    }
}

impl Model for TwoPhase {
    type State = State;
    type Action = Action;

    fn initial(&self) -> Vec<State> {
        let number = usize::from(self.managers);
        vec![State {
            managers: Row::of(number, Manager::Working),
            coordinator: Coordinator::Waiting,
            prepared: Row::of(number, false),
            sent_prepared: Row::of(number, false),
            sent_commit: false,
            sent_abort: false,
        }]
    }

    /// The managers, and the coordinator as the last.
    fn parts(&self) -> u8 {
        self.managers + 1
    }

    fn actions_of(&self, part: u8, state: &State, actions: &mut Vec<Action>) {
        let waiting = state.coordinator == Coordinator::Waiting;
        if part == self.managers {
            if waiting && self.may_commit(state) {
                actions.push(Action::Commit);
            }
            if waiting {
                actions.push(Action::Abort);
            }
            return;
        }
        let number = usize::from(part);
        if waiting && state.sent_prepared[number] {
            actions.push(Action::LearnPrepared(part));
        }
        if state.managers[number] == Manager::Working {
            actions.extend([Action::Prepare(part), Action::ChooseToAbort(part)]);
        }
        if state.sent_commit {
            actions.push(Action::ReceiveCommit(part));
        }
        if state.sent_abort {
            actions.push(Action::ReceiveAbort(part));
        }
    }

    fn apply(&self, state: &mut State, action: &Action) {
        match *action {
            Action::Commit => {
                state.coordinator = Coordinator::Committed;
                state.sent_commit = true;
            }
            Action::Abort => {
                state.coordinator = Coordinator::Aborted;
                state.sent_abort = true;
            }
            Action::LearnPrepared(manager) => state.prepared[usize::from(manager)] = true,
            Action::Prepare(manager) => {
                state.managers[usize::from(manager)] = Manager::Prepared;
                state.sent_prepared[usize::from(manager)] = true;
            }
            Action::ChooseToAbort(manager) => state.managers[usize::from(manager)] = Manager::Aborted,
            Action::ReceiveCommit(manager) => state.managers[usize::from(manager)] = Manager::Committed,
            Action::ReceiveAbort(manager) => state.managers[usize::from(manager)] = Manager::Aborted,
        }
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let all = |of: Manager| move |_: &Self, state: &State| state.managers.iter().all(|m| *m == of);
        vec![
            Property::always("consistent", |_, state: &State| {
                let some = |of: Manager| state.managers.contains(&of);
                !(some(Manager::Aborted) && some(Manager::Committed))
            }),
            Property::sometimes("all abort", all(Manager::Aborted)),
            Property::sometimes("all commit", all(Manager::Committed)),
        ]
    }
}
