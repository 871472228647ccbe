//! The alternating bit protocol with N messages over lossy FIFO channels of capacity C: the published
//! benchmark of Joubert and Mateescu 2006, in a variant whose size has a closed form.
//!
//! Sender: idle, `PUT !d`, then holding d: it may send (d, bit) whenever the data channel K has room, and
//! ends when the head of the acknowledgement channel L is its bit. Receiver: takes the head of K; delivers it
//! (`GET !d`) if its bit is the expected one; then acknowledges. Either channel may lose its head.

use std::borrow::Cow;

use volee_system::{Flow, Label, Sink, Step, System, Variable};

const INTERNAL: u32 = 0;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Receiver {
    Waiting,
    Delivering(u16),
    Acknowledging,
}

/// A state, seen in its packed form, with what a step appends to the queues. Messages in K are two bytes each,
/// `2 d + bit`; L is a queue of bits; the heads come first. It is copied for each step, and has nothing on the
/// heap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct State<'a> {
    holding: Option<u16>,
    sender_bit: u16,
    receiver: Receiver,
    receiver_bit: u16,
    data: &'a [u8],
    sent: Option<u16>,
    acks: &'a [u8],
    acknowledged: Option<u16>,
}

/// The protocol as a system.
#[derive(Debug, Clone)]
pub struct AlternatingBit {
    messages: u16,
    capacity: usize,
    packed: Vec<u8>,
}

impl AlternatingBit {
    /// With this many different messages (up to 30,000) and this capacity of each channel (up to 200).
    pub fn new(messages: u16, capacity: u8) -> Self {
        AlternatingBit { messages, capacity: usize::from(capacity), packed: Vec::new() }
    }

    fn push(&mut self, label: u32, state: State<'_>, sink: &mut dyn Sink) -> Flow {
        state.pack(&mut self.packed);
        sink.push(Step::labelled(label), &self.packed)
    }

    fn sender(&mut self, state: State<'_>, sink: &mut dyn Sink) -> Flow {
        let Some(message) = state.holding else {
            for message in 0..self.messages {
                self.push(1 + u32::from(message), State { holding: Some(message), ..state }, sink)?;
            }
            return Flow::Continue(());
        };
        if state.data.len() / 2 < self.capacity {
            let sent = Some(2 * message + state.sender_bit);
            self.push(INTERNAL, State { sent, ..state }, sink)?;
        }
        if let [head, acks @ ..] = state.acks
            && u16::from(*head) == state.sender_bit
        {
            let sender_bit = state.sender_bit ^ 1;
            self.push(INTERNAL, State { holding: None, sender_bit, acks, ..state }, sink)?;
        }
        Flow::Continue(())
    }

    fn receiver(&mut self, state: State<'_>, sink: &mut dyn Sink) -> Flow {
        match state.receiver {
            Receiver::Waiting => {
                let [low, high, data @ ..] = state.data else { return Flow::Continue(()) };
                let head = u16::from_le_bytes([*low, *high]);
                let receiver = if head & 1 == state.receiver_bit {
                    Receiver::Delivering(head >> 1)
                } else {
                    Receiver::Acknowledging
                };
                self.push(INTERNAL, State { receiver, data, ..state }, sink)
            }
            Receiver::Delivering(message) => {
                let (receiver, receiver_bit) = (Receiver::Acknowledging, state.receiver_bit ^ 1);
                let label = 1 + u32::from(self.messages) + u32::from(message);
                self.push(label, State { receiver, receiver_bit, ..state }, sink)
            }
            Receiver::Acknowledging if state.acks.len() < self.capacity => {
                let acknowledged = Some(1 - state.receiver_bit);
                self.push(INTERNAL, State { receiver: Receiver::Waiting, acknowledged, ..state }, sink)
            }
            Receiver::Acknowledging => Flow::Continue(()),
        }
    }

    fn losses(&mut self, state: State<'_>, sink: &mut dyn Sink) -> Flow {
        if let [_, _, data @ ..] = state.data {
            self.push(INTERNAL, State { data, ..state }, sink)?;
        }
        if let [_, acks @ ..] = state.acks {
            self.push(INTERNAL, State { acks, ..state }, sink)?;
        }
        Flow::Continue(())
    }
}

impl System for AlternatingBit {
    fn initial(&mut self, push: &mut dyn FnMut(&[u8]) -> Flow) -> Flow {
        let start = State {
            holding: None,
            sender_bit: 0,
            receiver: Receiver::Waiting,
            receiver_bit: 0,
            data: &[],
            sent: None,
            acks: &[],
            acknowledged: None,
        };
        start.pack(&mut self.packed);
        push(&self.packed)
    }

    fn steps(&mut self, state: &[u8], sink: &mut dyn Sink) -> Flow {
        let state = State::unpack(state);
        self.sender(state, sink)?;
        self.receiver(state, sink)?;
        self.losses(state, sink)
    }

    fn label(&self, label: Label) -> Cow<'_, str> {
        let messages = u32::from(self.messages);
        match label.0 {
            INTERNAL => "i".into(),
            l if l <= messages => format!("PUT !{}", l - 1).into(),
            l => format!("GET !{}", l - 1 - messages).into(),
        }
    }

    fn variables(&self, state: &[u8]) -> Vec<Variable> {
        let state = State::unpack(state);
        let messages = state.data.chunks_exact(2).map(|m| u16::from_le_bytes([m[0], m[1]]));
        let messages: Vec<String> = messages.map(|m| format!("({},{})", m >> 1, m & 1)).collect();
        let acks: Vec<String> = state.acks.iter().map(u8::to_string).collect();
        let sender = state.holding.map_or("idle".into(), |m| format!("holding {m}"));
        let receiver = match state.receiver {
            Receiver::Waiting => "waiting".into(),
            Receiver::Delivering(m) => format!("delivering {m}"),
            Receiver::Acknowledging => "acknowledging".into(),
        };
        [
            ("sender", sender),
            ("sender.bit", state.sender_bit.to_string()),
            ("receiver", receiver),
            ("receiver.bit", state.receiver_bit.to_string()),
            ("K", messages.join(" ")),
            ("L", acks.join(" ")),
        ]
        .map(|(name, value)| Variable { name: name.into(), value })
        .into()
    }
}

impl State<'_> {
    /// One byte of modes and bits, the two messages, then the queues with the length of the first.
    fn pack(&self, out: &mut Vec<u8>) {
        out.clear();
        let (mode, delivering) = match self.receiver {
            Receiver::Waiting => (0, 0),
            Receiver::Delivering(message) => (1, message),
            Receiver::Acknowledging => (2, 0),
        };
        let held = self.holding.map_or(0, |m| m + 1);
        out.push(mode | (self.sender_bit as u8) << 2 | (self.receiver_bit as u8) << 3);
        out.extend_from_slice(&held.to_le_bytes());
        out.extend_from_slice(&delivering.to_le_bytes());
        out.push((self.data.len() / 2) as u8 + u8::from(self.sent.is_some()));
        out.extend_from_slice(self.data);
        if let Some(message) = self.sent {
            out.extend_from_slice(&message.to_le_bytes());
        }
        out.extend_from_slice(self.acks);
        out.extend(self.acknowledged.map(|bit| bit as u8));
    }

    fn unpack(bytes: &[u8]) -> State<'_> {
        let word = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        let length = usize::from(bytes[5]);
        State {
            holding: word(1).checked_sub(1),
            sender_bit: u16::from(bytes[0] >> 2 & 1),
            receiver: match bytes[0] & 3 {
                0 => Receiver::Waiting,
                1 => Receiver::Delivering(word(3)),
                _ => Receiver::Acknowledging,
            },
            receiver_bit: u16::from(bytes[0] >> 3 & 1),
            data: &bytes[6..6 + 2 * length],
            sent: None,
            acks: &bytes[6 + 2 * length..],
            acknowledged: None,
        }
    }
}
