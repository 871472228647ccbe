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

/// A state, unpacked. Messages in K are `2 d + bit`; L is a queue of bits, the head lowest.
#[derive(Debug, Clone, PartialEq, Eq)]
struct State {
    holding: Option<u16>,
    sender_bit: u16,
    receiver: Receiver,
    receiver_bit: u16,
    data: Vec<u16>,
    acks: Vec<u16>,
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

    fn push(&mut self, label: u32, state: &State, sink: &mut dyn Sink) -> Flow {
        state.pack(&mut self.packed);
        sink.push(Step::labelled(label), &self.packed)
    }

    fn sender(&mut self, state: &State, sink: &mut dyn Sink) -> Flow {
        let Some(message) = state.holding else {
            let mut next = state.clone();
            for message in 0..self.messages {
                next.holding = Some(message);
                self.push(1 + u32::from(message), &next, sink)?;
            }
            return Flow::Continue(());
        };
        if state.data.len() < self.capacity {
            let mut next = state.clone();
            next.data.push(2 * message + state.sender_bit);
            self.push(INTERNAL, &next, sink)?;
        }
        if state.acks.first() == Some(&state.sender_bit) {
            let mut next = state.clone();
            next.acks.remove(0);
            next.holding = None;
            next.sender_bit ^= 1;
            self.push(INTERNAL, &next, sink)?;
        }
        Flow::Continue(())
    }

    fn receiver(&mut self, state: &State, sink: &mut dyn Sink) -> Flow {
        let mut next = state.clone();
        match state.receiver {
            Receiver::Waiting => {
                let Some(&head) = state.data.first() else { return Flow::Continue(()) };
                next.data.remove(0);
                next.receiver = if head & 1 == state.receiver_bit {
                    Receiver::Delivering(head >> 1)
                } else {
                    Receiver::Acknowledging
                };
                self.push(INTERNAL, &next, sink)
            }
            Receiver::Delivering(message) => {
                next.receiver_bit ^= 1;
                next.receiver = Receiver::Acknowledging;
                self.push(1 + u32::from(self.messages) + u32::from(message), &next, sink)
            }
            Receiver::Acknowledging if state.acks.len() < self.capacity => {
                next.acks.push(1 - state.receiver_bit);
                next.receiver = Receiver::Waiting;
                self.push(INTERNAL, &next, sink)
            }
            Receiver::Acknowledging => Flow::Continue(()),
        }
    }

    fn losses(&mut self, state: &State, sink: &mut dyn Sink) -> Flow {
        if !state.data.is_empty() {
            let mut next = state.clone();
            next.data.remove(0);
            self.push(INTERNAL, &next, sink)?;
        }
        if !state.acks.is_empty() {
            let mut next = state.clone();
            next.acks.remove(0);
            self.push(INTERNAL, &next, sink)?;
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
            data: Vec::new(),
            acks: Vec::new(),
        };
        start.pack(&mut self.packed);
        push(&self.packed)
    }

    fn steps(&mut self, state: &[u8], sink: &mut dyn Sink) -> Flow {
        let state = State::unpack(state);
        self.sender(&state, sink)?;
        self.receiver(&state, sink)?;
        self.losses(&state, sink)
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
        let text = |queue: &[u16], show: &dyn Fn(u16) -> String| {
            queue.iter().map(|&m| show(m)).collect::<Vec<_>>().join(" ")
        };
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
            ("K", text(&state.data, &|m| format!("({},{})", m >> 1, m & 1))),
            ("L", text(&state.acks, &|b| b.to_string())),
        ]
        .map(|(name, value)| Variable { name: name.into(), value })
        .into()
    }
}

impl State {
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
        out.push(self.data.len() as u8);
        for message in &self.data {
            out.extend_from_slice(&message.to_le_bytes());
        }
        out.extend(self.acks.iter().map(|&bit| bit as u8));
    }

    fn unpack(bytes: &[u8]) -> State {
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
            data: (0..length).map(|at| word(6 + 2 * at)).collect(),
            acks: bytes[6 + 2 * length..].iter().map(|&bit| u16::from(bit)).collect(),
        }
    }
}
