//! The election of a leader in Raft (Ongaro and Ousterhout, "In search of an understandable consensus
//! algorithm", 2014, section 5.2): actors over a network that may lose messages or keep no order.
//!
//! Logs are left out, so every candidate is up to date. Terms are bounded, because a model that counts for
//! ever has no end. No state counts are published for the election alone; a naive search of the typed states
//! (`tests/it/twins.rs`) finds as many.

use volee_models::{Actor, Actors, ActorsState, Id, Outbox, Pack, Property};

/// The servers of a cluster.
pub struct Servers {
    pub number: u8,
    pub terms: u8,
    /// A server forgets whom it has voted for: wrong.
    pub forgets: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Pack)]
pub enum Role {
    Follower,
    Candidate,
    Leader,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Pack)]
pub struct Server {
    pub term: u8,
    pub role: Role,
    pub voted_for: Option<Id>,
    /// Who has voted for it, a bit for each.
    pub votes: u8,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Pack)]
pub enum Message {
    RequestVote { term: u8 },
    Vote { term: u8, granted: bool },
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Timeout;

impl Servers {
    fn majority(&self, votes: u8) -> bool {
        votes.count_ones() > u32::from(self.number) / 2
    }
}

impl Actor for Servers {
    type State = Server;
    type Message = Message;
    type Act = Timeout;

    fn start(&self, _: Id, _: &mut Outbox<'_, Message>) -> Server {
        Server { term: 0, role: Role::Follower, voted_for: None, votes: 0 }
    }

    fn receive(
        &self,
        id: Id,
        server: &mut Server,
        from: Id,
        message: &Message,
        out: &mut Outbox<'_, Message>,
    ) {
        let (Message::RequestVote { term } | Message::Vote { term, .. }) = *message;
        if term > server.term {
            *server = Server { term, role: Role::Follower, voted_for: None, votes: 0 };
        }
        match *message {
            Message::RequestVote { term } => {
                let free = server.voted_for.is_none_or(|other| other == from || self.forgets);
                let granted = term == server.term && free;
                if granted {
                    server.voted_for = Some(from);
                }
                out.send(from, Message::Vote { term: server.term, granted });
            }
            Message::Vote { term, granted } => {
                if granted && term == server.term && server.role == Role::Candidate {
                    server.votes |= 1 << from.0;
                }
                if server.role == Role::Candidate && self.majority(server.votes | 1 << id.0) {
                    server.role = Role::Leader;
                }
            }
        }
    }

    fn acts(&self, _: Id, server: &Server, can: &mut dyn FnMut(Timeout)) {
        if server.role != Role::Leader && server.term < self.terms {
            can(Timeout);
        }
    }

    fn act(&self, id: Id, server: &mut Server, _: &Timeout, out: &mut Outbox<'_, Message>) {
        *server =
            Server { term: server.term + 1, role: Role::Candidate, voted_for: Some(id), votes: 1 << id.0 };
        let others = (0..self.number).map(Id).filter(|other| *other != id);
        out.broadcast(others, &Message::RequestVote { term: server.term });
    }

    fn name(&self, _: Id) -> String {
        "server".into()
    }
}

/// A cluster of servers that count to a last term.
pub fn election(number: u8, terms: u8) -> Actors<Servers> {
    cluster(Servers { number, terms, forgets: false })
}

/// A cluster with its properties.
pub fn cluster(servers: Servers) -> Actors<Servers> {
    Actors::new("election", servers.number, servers)
        .property(Property::always("one leader in a term", |_, state: &ActorsState<Server, Message>| {
            let leaders = state.actors.iter().filter(|s| s.role == Role::Leader);
            let terms: Vec<u8> = leaders.map(|s| s.term).collect();
            terms.iter().enumerate().all(|(number, term)| !terms[..number].contains(term))
        }))
        .property(Property::sometimes("a leader", |_, state: &ActorsState<Server, Message>| {
            state.actors.iter().any(|s| s.role == Role::Leader)
        }))
        // When all terms are used up, nothing more happens.
        .may_end(|_| true)
}
