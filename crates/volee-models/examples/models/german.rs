//! German's cache coherence protocol: a directory gives caches shared or exclusive rights to one line of
//! memory.
//!
//! Steven German's challenge problem of 2000 in its usual form, control alone, as Pnueli, Ruah and Zuck give
//! it in "Automatic deductive verification with invisible invariants" (2001): three channels of one place
//! between the directory and each client. State counts depend on what each author leaves out, so that none
//! are compared; a naive search (`tests/it/twins.rs`) finds as many.

use volee_models::{Model, Pack, Property, Row};

/// The protocol with this many clients.
pub struct German {
    pub clients: u8,
    /// The directory does not wait for whom it has given exclusive rights: wrong.
    pub hasty: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Pack)]
pub enum Right {
    Invalid,
    Shared,
    Exclusive,
}

/// From a client to the directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pack)]
pub enum Request {
    Empty,
    Shared,
    Exclusive,
}

/// From the directory to a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pack)]
pub enum Reply {
    Empty,
    Invalidate,
    Grant(Right),
}

#[derive(Clone, Debug, PartialEq, Eq, Pack)]
pub struct Client {
    pub cache: Right,
    pub request: Request,
    pub reply: Reply,
    /// Its acknowledgement of an invalidation is under way.
    pub acknowledges: bool,
    /// The directory takes it for a sharer; it is still to be invalidated.
    pub shares: bool,
    pub to_invalidate: bool,
}

#[derive(Clone, Debug, Pack)]
pub struct State {
    pub clients: Row<Client>,
    pub exclusive_granted: bool,
    pub current: Request,
    pub requester: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    AskShared(u8),
    AskExclusive(u8),
    PickRequest(u8),
    SendInvalidate(u8),
    ReceiveInvalidate(u8),
    ReceiveAcknowledgement(u8),
    Grant(Right),
    ReceiveGrant(u8),
}

impl Model for German {
    type State = State;
    type Action = Action;

    fn initial(&self) -> Vec<State> {
        let client = Client {
            cache: Right::Invalid,
            request: Request::Empty,
            reply: Reply::Empty,
            acknowledges: false,
            shares: false,
            to_invalidate: false,
        };
        let clients = Row::of(usize::from(self.clients), client);
        vec![State { clients, exclusive_granted: false, current: Request::Empty, requester: 0 }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        for (number, client) in (0u8..).zip(state.clients.iter()) {
            if client.request == Request::Empty {
                if client.cache == Right::Invalid {
                    actions.push(Action::AskShared(number));
                }
                if client.cache != Right::Exclusive {
                    actions.push(Action::AskExclusive(number));
                }
            } else if state.current == Request::Empty {
                actions.push(Action::PickRequest(number));
            }
            let invalidates = match state.current {
                Request::Exclusive => true,
                Request::Shared => state.exclusive_granted,
                Request::Empty => false,
            };
            if client.reply == Reply::Empty && client.to_invalidate && invalidates {
                actions.push(Action::SendInvalidate(number));
            }
            match client.reply {
                Reply::Invalidate if !client.acknowledges => actions.push(Action::ReceiveInvalidate(number)),
                Reply::Grant(_) => actions.push(Action::ReceiveGrant(number)),
                _ => {}
            }
            if client.acknowledges && state.current != Request::Empty {
                actions.push(Action::ReceiveAcknowledgement(number));
            }
        }
        let free = state.clients[usize::from(state.requester)].reply == Reply::Empty;
        let exclusive = state.exclusive_granted && !self.hasty;
        if state.current == Request::Shared && free && !exclusive {
            actions.push(Action::Grant(Right::Shared));
        }
        if state.current == Request::Exclusive
            && free
            && !exclusive
            && state.clients.iter().all(|c| !c.shares)
        {
            actions.push(Action::Grant(Right::Exclusive));
        }
    }

    fn apply(&self, state: &mut State, action: &Action) {
        let clients = &mut state.clients;
        match *action {
            Action::AskShared(number) => clients[usize::from(number)].request = Request::Shared,
            Action::AskExclusive(number) => clients[usize::from(number)].request = Request::Exclusive,
            Action::PickRequest(number) => {
                let client = &mut clients[usize::from(number)];
                state.current = std::mem::replace(&mut client.request, Request::Empty);
                state.requester = number;
                clients.iter_mut().for_each(|c| c.to_invalidate = c.shares);
            }
            Action::SendInvalidate(number) => {
                let client = &mut clients[usize::from(number)];
                client.reply = Reply::Invalidate;
                client.to_invalidate = false;
            }
            Action::ReceiveInvalidate(number) => {
                let client = &mut clients[usize::from(number)];
                (client.reply, client.acknowledges, client.cache) = (Reply::Empty, true, Right::Invalid);
            }
            Action::ReceiveAcknowledgement(number) => {
                let client = &mut clients[usize::from(number)];
                (client.acknowledges, client.shares) = (false, false);
                state.exclusive_granted = false;
            }
            Action::Grant(right) => {
                let client = &mut clients[usize::from(state.requester)];
                (client.reply, client.shares) = (Reply::Grant(right), true);
                state.exclusive_granted = right == Right::Exclusive;
                state.current = Request::Empty;
                state.requester = 0;
            }
            Action::ReceiveGrant(number) => {
                let client = &mut clients[usize::from(number)];
                if let Reply::Grant(right) = std::mem::replace(&mut client.reply, Reply::Empty) {
                    client.cache = right;
                }
            }
        }
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("coherent", |_, state: &State| {
                let valid = state.clients.iter().filter(|c| c.cache != Right::Invalid).count();
                valid <= 1 || state.clients.iter().all(|c| c.cache != Right::Exclusive)
            }),
            Property::sometimes("all share", |_, state: &State| {
                state.clients.iter().all(|c| c.cache == Right::Shared)
            }),
        ]
    }
}
