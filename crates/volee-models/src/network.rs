//! What lies between actors: messages that were sent and not yet received, in one sorted vector, so that
//! equal networks are equal bytes.
//!
//! In a network that keeps no order any message can be the next; in one that does, the oldest of each sender
//! and receiver. A network that duplicates keeps what it delivers. One that loses may drop what could be
//! delivered.

use volee_derive::Pack;

/// The number of an actor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Pack)]
pub struct Id(pub u8);

/// A message under way.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Pack)]
pub struct Envelope<M> {
    /// Who has sent it.
    pub from: Id,
    /// Who is to get it.
    pub to: Id,
    /// The message.
    pub message: M,
}

/// In which order a network delivers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Delivery {
    /// Any message can be the next, and each arrives once.
    #[default]
    Unordered,
    /// Any message can be the next, again and again.
    Duplicating,
    /// Between two actors, messages arrive in the order in which they were sent.
    Ordered,
}

/// Whether messages are lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Loss {
    /// Every message can arrive.
    #[default]
    Reliable,
    /// Any message that could arrive can be lost instead.
    Lossy,
}

impl Delivery {
    /// Puts a message on its way.
    pub(crate) fn send<M: Ord>(self, network: &mut Vec<Envelope<M>>, envelope: Envelope<M>) {
        let place = match self {
            Delivery::Ordered => network.partition_point(|e| (e.from, e.to) <= (envelope.from, envelope.to)),
            Delivery::Unordered => network.partition_point(|e| *e <= envelope),
            Delivery::Duplicating => match network.binary_search(&envelope) {
                Ok(_) => return,
                Err(place) => place,
            },
        };
        network.insert(place, envelope);
    }

    /// Whether the message at this place can be the next to arrive; of equal ones, the first stands for all.
    pub(crate) fn can_deliver<M: Ord>(self, network: &[Envelope<M>], place: usize) -> bool {
        let Some(before) = place.checked_sub(1).map(|before| &network[before]) else { return true };
        let this = &network[place];
        match self {
            Delivery::Ordered => (before.from, before.to) != (this.from, this.to),
            Delivery::Unordered => before != this,
            Delivery::Duplicating => true,
        }
    }

    /// Takes a message out of the network because it arrives.
    pub(crate) fn deliver<M: Ord>(self, network: &mut Vec<Envelope<M>>, envelope: &Envelope<M>) {
        if self != Delivery::Duplicating {
            self.lose(network, envelope);
        }
    }

    /// Takes a message out of the network.
    pub(crate) fn lose<M: Ord>(self, network: &mut Vec<Envelope<M>>, envelope: &Envelope<M>) {
        let place = match self {
            Delivery::Ordered => {
                Some(network.partition_point(|e| (e.from, e.to) < (envelope.from, envelope.to)))
            }
            Delivery::Unordered | Delivery::Duplicating => network.binary_search(envelope).ok(),
        };
        if let Some(place) = place.filter(|&place| network.get(place) == Some(envelope)) {
            network.remove(place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn letter(from: u8, to: u8, message: u8) -> Envelope<u8> {
        Envelope { from: Id(from), to: Id(to), message }
    }

    fn possible(delivery: Delivery, network: &[Envelope<u8>]) -> Vec<u8> {
        let places = (0..network.len()).filter(|&place| delivery.can_deliver(network, place));
        places.map(|place| network[place].message).collect()
    }

    fn sent(delivery: Delivery, letters: &[Envelope<u8>]) -> Vec<Envelope<u8>> {
        let mut network = Vec::new();
        letters.iter().for_each(|l| delivery.send(&mut network, l.clone()));
        network
    }

    #[test]
    fn an_ordered_network_delivers_the_oldest_of_each_pair_and_others_anything() {
        let letters = [letter(0, 1, 9), letter(0, 1, 3), letter(1, 0, 5), letter(0, 1, 9)];
        let ordered = sent(Delivery::Ordered, &letters);
        assert_eq!(possible(Delivery::Ordered, &ordered), [9, 5]);
        let unordered = sent(Delivery::Unordered, &letters);
        assert_eq!((unordered.len(), possible(Delivery::Unordered, &unordered)), (4, vec![3, 9, 5]));
        let duplicating = sent(Delivery::Duplicating, &letters);
        assert_eq!((duplicating.len(), possible(Delivery::Duplicating, &duplicating)), (3, vec![3, 9, 5]));
    }

    #[test]
    fn what_arrives_is_gone_unless_the_network_duplicates() {
        let letters = [letter(0, 1, 9), letter(0, 1, 3), letter(0, 1, 9)];
        for (delivery, left) in [(Delivery::Ordered, 2), (Delivery::Unordered, 2), (Delivery::Duplicating, 2)]
        {
            let mut network = sent(delivery, &letters);
            delivery.deliver(&mut network, &letters[0]);
            assert_eq!(network.len(), left, "{delivery:?}");
            delivery.lose(&mut network, &letters[1]);
            assert_eq!(network.len(), 1, "{delivery:?}");
        }
    }

    #[test]
    fn networks_with_the_same_messages_are_equal_whoever_spoke_first() {
        let (a, b, c) = (letter(0, 1, 1), letter(1, 0, 2), letter(2, 0, 2));
        for delivery in [Delivery::Ordered, Delivery::Unordered, Delivery::Duplicating] {
            let one = sent(delivery, &[a.clone(), b.clone(), c.clone()]);
            assert_eq!(one, sent(delivery, &[c.clone(), b.clone(), a.clone()]));
        }
    }
}
