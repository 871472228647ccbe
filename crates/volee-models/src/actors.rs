//! Message-passing systems: actors with states of their own that answer messages, and a network between them.
//!
//! An actor does something when a message arrives, or of its own accord (a timer that runs out, a client that
//! asks): for a model all that matters is that it can. What it sends then is under way in the same step. A
//! step is told as what was received and what was sent, so that runs are drawn as message-sequence charts.

use std::fmt::Debug;
use std::hash::{BuildHasher, Hash};

use foldhash::fast::FixedState;
use volee::system::{Action, Event, EventKind};
use volee_derive::Pack;

use crate::model::Model;
use crate::network::{Delivery, Envelope, Id, Loss};
use crate::pack::Pack;
use crate::property::Property;
use crate::row::Row;

/// What all actors of a system do. Actors of several kinds are an enumeration.
pub trait Actor {
    /// What one actor knows.
    type State: Pack;
    /// What actors say to each other.
    type Message: Pack + Ord + Hash;
    /// What an actor does of its own accord; `()` where it does nothing.
    type Act: Clone + Eq + Hash + Debug;

    /// The state an actor starts in, and what it sends first.
    fn start(&self, id: Id, out: &mut Outbox<'_, Self::Message>) -> Self::State;

    /// A message arrives.
    fn receive(
        &self,
        id: Id,
        state: &mut Self::State,
        from: Id,
        message: &Self::Message,
        out: &mut Outbox<'_, Self::Message>,
    );

    /// Tells what the actor can do of its own accord.
    fn acts(&self, _id: Id, _state: &Self::State, _can: &mut dyn FnMut(Self::Act)) {}

    /// Does it.
    fn act(&self, _id: Id, _state: &mut Self::State, _act: &Self::Act, _out: &mut Outbox<'_, Self::Message>) {
    }

    /// The name of an actor in reports.
    fn name(&self, _id: Id) -> String {
        "actor".into()
    }
}

/// Where an actor puts what it sends: it is under way at once.
pub struct Outbox<'a, M> {
    from: Id,
    delivery: Delivery,
    network: &'a mut Vec<Envelope<M>>,
    /// What was sent, where somebody wants to know.
    told: Option<&'a mut Vec<Envelope<M>>>,
}

impl<M: Ord + Clone> Outbox<'_, M> {
    /// Sends a message.
    pub fn send(&mut self, to: Id, message: M) {
        let envelope = Envelope { from: self.from, to, message };
        if let Some(told) = &mut self.told {
            told.push(envelope.clone());
        }
        self.delivery.send(self.network, envelope);
    }

    /// Sends a message to several.
    pub fn broadcast(&mut self, to: impl IntoIterator<Item = Id>, message: &M) {
        to.into_iter().for_each(|id| self.send(id, message.clone()));
    }
}

/// What all actors know, and what is under way.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Pack)]
pub struct ActorsState<S, M> {
    /// The states of the actors, by number.
    pub actors: Row<S>,
    /// What was sent and has not arrived.
    pub network: Vec<Envelope<M>>,
}

/// What happens in a system of actors.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ActorAction<M, A> {
    /// A message arrives.
    Deliver(Envelope<M>),
    /// A message is lost.
    Lose(Envelope<M>),
    /// An actor does something of its own accord.
    Act(Id, A),
}

/// The state of a system of such actors.
type StateOf<A> = ActorsState<<A as Actor>::State, <A as Actor>::Message>;
type ActionOf<A> = ActorAction<<A as Actor>::Message, <A as Actor>::Act>;
/// Tells of a state whether something is true in it.
type Condition<A> = Box<dyn Fn(&StateOf<A>) -> bool + Send + Sync>;

/// A system of actors: a [`Model`].
pub struct Actors<A: Actor> {
    name: String,
    number: u8,
    actor: A,
    delivery: Delivery,
    loss: Loss,
    properties: Vec<Property<Actors<A>>>,
    boundary: Option<Condition<A>>,
    end: Option<Condition<A>>,
}

impl<A: Actor> Actors<A> {
    /// So many actors with numbers from 0 on, over a reliable network without order.
    pub fn new(name: &str, number: u8, actor: A) -> Self {
        Actors {
            name: name.into(),
            number,
            actor,
            delivery: Delivery::default(),
            loss: Loss::default(),
            properties: Vec::new(),
            boundary: None,
            end: None,
        }
    }

    /// In which order messages arrive.
    #[must_use]
    pub fn delivery(self, delivery: Delivery) -> Self {
        Actors { delivery, ..self }
    }

    /// Whether messages are lost.
    #[must_use]
    pub fn loss(self, loss: Loss) -> Self {
        Actors { loss, ..self }
    }

    /// Something that should be true.
    #[must_use]
    pub fn property(mut self, property: Property<Self>) -> Self {
        self.properties.push(property);
        self
    }

    /// True in every reachable state: see [`Property::always`].
    #[must_use]
    pub fn always(self, name: &str, condition: impl Fn(&StateOf<A>) -> bool + Send + Sync + 'static) -> Self {
        self.property(Property::always(name, move |_: &Self, state: &StateOf<A>| condition(state)))
    }

    /// True in some reachable state: see [`Property::sometimes`].
    #[must_use]
    pub fn sometimes(
        self,
        name: &str,
        condition: impl Fn(&StateOf<A>) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.property(Property::sometimes(name, move |_: &Self, state: &StateOf<A>| condition(state)))
    }

    /// True at some time in every run: see [`Property::eventually`].
    #[must_use]
    pub fn eventually(
        self,
        name: &str,
        condition: impl Fn(&StateOf<A>) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.property(Property::eventually(name, move |_: &Self, state: &StateOf<A>| condition(state)))
    }

    /// Only states of which this is true are of interest: see [`Model::within`].
    #[must_use]
    pub fn within(self, boundary: impl Fn(&StateOf<A>) -> bool + Send + Sync + 'static) -> Self {
        Actors { boundary: Some(Box::new(boundary)), ..self }
    }

    /// Where nothing more need happen: see [`Model::may_end`].
    #[must_use]
    pub fn may_end(self, end: impl Fn(&StateOf<A>) -> bool + Send + Sync + 'static) -> Self {
        Actors { end: Some(Box::new(end)), ..self }
    }

    /// The actor behind a number.
    pub fn actor(&self) -> &A {
        &self.actor
    }

    fn take(
        &self,
        state: &mut StateOf<A>,
        action: &ActionOf<A>,
        told: Option<&mut Vec<Envelope<A::Message>>>,
    ) {
        let (delivery, actor) = (self.delivery, &self.actor);
        let ActorsState { actors, network } = state;
        match action {
            ActorAction::Deliver(envelope) => {
                delivery.deliver(network, envelope);
                let Envelope { from, to, message } = envelope;
                let mut out = Outbox { from: *to, delivery, network, told };
                if let Some(own) = actors.get_mut(usize::from(to.0)) {
                    actor.receive(*to, own, *from, message, &mut out);
                }
            }
            ActorAction::Lose(envelope) => delivery.lose(network, envelope),
            ActorAction::Act(id, act) => {
                let mut out = Outbox { from: *id, delivery, network, told };
                actor.act(*id, &mut actors[usize::from(id.0)], act, &mut out);
            }
        }
    }

    /// What is drawn of a message: its channel is the way it takes, and where order is not kept, that of its
    /// like.
    fn event(&self, kind: EventKind, envelope: &Envelope<A::Message>) -> Event {
        let Envelope { from, to, message } = envelope;
        let channel_id = match self.delivery {
            Delivery::Ordered => u32::from(from.0) << 8 | u32::from(to.0),
            _ => FixedState::default().hash_one(envelope) as u32,
        };
        let channel = format!("{}->{}", from.0, to.0);
        Event { kind, channel, channel_id, values: vec![format!("{message:?}")], partner: None }
    }

    fn told(&self, id: Id, text: String, event: Option<Event>) -> Action {
        Action { process: self.process_name(id.0), pid: u32::from(id.0), event, ..Action::plain(text) }
    }
}

impl<A: Actor> Model for Actors<A> {
    type State = StateOf<A>;
    type Action = ActionOf<A>;

    fn initial(&self) -> Vec<Self::State> {
        let (mut network, delivery) = (Vec::new(), self.delivery);
        let start = |number| {
            let from = Id(number);
            self.actor.start(from, &mut Outbox { from, delivery, network: &mut network, told: None })
        };
        let actors = (0..self.number).map(start).collect();
        vec![ActorsState { actors, network }]
    }

    fn actions(&self, state: &Self::State, actions: &mut Vec<Self::Action>) {
        for (place, envelope) in state.network.iter().enumerate() {
            if !self.delivery.can_deliver(&state.network, place) {
                continue;
            }
            actions.push(ActorAction::Deliver(envelope.clone()));
            if self.loss == Loss::Lossy {
                actions.push(ActorAction::Lose(envelope.clone()));
            }
        }
        for (number, own) in state.actors.iter().enumerate() {
            let id = Id(number as u8);
            self.actor.acts(id, own, &mut |act| actions.push(ActorAction::Act(id, act)));
        }
    }

    fn apply(&self, state: &mut Self::State, action: &Self::Action) {
        self.take(state, action, None);
    }

    fn properties(&self) -> Vec<Property<Self>> {
        self.properties.clone()
    }

    fn may_end(&self, state: &Self::State) -> bool {
        self.end.as_ref().is_some_and(|end| end(state))
    }

    fn within(&self, state: &Self::State) -> bool {
        self.boundary.as_ref().is_none_or(|boundary| boundary(state))
    }

    /// Who acts; what is lost is lost by the network, which has the number after the last actor's.
    fn process(&self, action: &Self::Action) -> Option<u8> {
        Some(match action {
            ActorAction::Deliver(envelope) => envelope.to.0,
            ActorAction::Act(id, _) => id.0,
            ActorAction::Lose(_) => self.number,
        })
    }

    fn process_name(&self, process: u8) -> String {
        if process < self.number { self.actor.name(Id(process)) } else { "network".into() }
    }

    fn describe(&self, action: &Self::Action) -> String {
        match action {
            ActorAction::Deliver(Envelope { from, to, message }) => {
                format!("deliver {}->{} {message:?}", from.0, to.0)
            }
            ActorAction::Lose(Envelope { from, to, message }) => {
                format!("lose {}->{} {message:?}", from.0, to.0)
            }
            ActorAction::Act(id, act) => format!("{} {act:?}", id.0),
        }
    }

    fn explain(&self, before: &Self::State, action: &Self::Action) -> Vec<Action> {
        let mut sent = Vec::new();
        self.take(&mut before.clone(), action, Some(&mut sent));
        let (who, event) = match action {
            ActorAction::Deliver(envelope) => (envelope.to, Some(self.event(EventKind::Receive, envelope))),
            ActorAction::Lose(envelope) => (Id(self.number), Some(self.event(EventKind::Receive, envelope))),
            ActorAction::Act(id, _) => (*id, None),
        };
        let mut all = vec![self.told(who, self.describe(action), event)];
        all.extend(sent.iter().map(|envelope| {
            let text = format!("send {}->{} {:?}", envelope.from.0, envelope.to.0, envelope.message);
            self.told(who, text, Some(self.event(EventKind::Send, envelope)))
        }));
        all
    }

    fn name(&self) -> String {
        self.name.clone()
    }
}
