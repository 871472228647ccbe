//! Go-back-N sliding window: a sender with up to W unacknowledged messages, sequence numbers modulo W + 1,
//! lossy FIFO channels of capacity C in both directions.
//!
//! `PUT !d` enters the window while it has room; internally any message of the window may be sent again,
//! in-order messages are delivered (`GET !d`), and cumulative acknowledgements slide the window.

use std::borrow::Cow;

use volee_system::{Flow, Label, Sink, Step, System};

/// A state, unpacked; a message is (sequence number, data).
#[derive(Debug, Clone)]
struct State {
    /// The sequence number of the oldest message of the window.
    base: u8,
    window: Vec<u8>,
    expected: u8,
    /// What the receiver is about to deliver.
    delivering: Option<u8>,
    /// Whether an acknowledgement is owed.
    owed: bool,
    data: Vec<(u8, u8)>,
    acks: Vec<u8>,
}

/// The protocol as a system.
#[derive(Debug, Clone)]
pub struct SlidingWindow {
    messages: u8,
    window: u8,
    capacity: u8,
    packed: Vec<u8>,
}

impl SlidingWindow {
    /// With this many different messages (up to 250), window size (up to 100) and channel capacity.
    pub fn new(messages: u8, window: u8, capacity: u8) -> Self {
        SlidingWindow { messages, window, capacity, packed: Vec::new() }
    }

    fn modulus(&self) -> u8 {
        self.window + 1
    }

    fn push(&mut self, label: u32, state: &State, sink: &mut dyn Sink) -> Flow {
        state.pack(&mut self.packed);
        sink.push(Step::labelled(label), &self.packed)
    }

    fn sender(&mut self, state: &State, sink: &mut dyn Sink) -> Flow {
        if state.window.len() < usize::from(self.window) {
            for message in 0..self.messages {
                let mut next = state.clone();
                next.window.push(message);
                self.push(1 + u32::from(message), &next, sink)?;
            }
        }
        if state.data.len() < usize::from(self.capacity) {
            for (at, &message) in state.window.iter().enumerate() {
                let mut next = state.clone();
                next.data.push(((state.base + at as u8) % self.modulus(), message));
                self.push(0, &next, sink)?;
            }
        }
        if let Some(&ack) = state.acks.first() {
            // An acknowledgement names the next expected number; those outside the window are old.
            let slid = (ack + self.modulus() - state.base) % self.modulus();
            let mut next = state.clone();
            next.acks.remove(0);
            if usize::from(slid) <= state.window.len() {
                next.window.drain(..usize::from(slid));
                next.base = ack;
            }
            self.push(0, &next, sink)?;
        }
        Flow::Continue(())
    }

    fn receiver(&mut self, state: &State, sink: &mut dyn Sink) -> Flow {
        let mut next = state.clone();
        if let Some(message) = state.delivering {
            next.delivering = None;
            next.owed = true;
            next.expected = (state.expected + 1) % self.modulus();
            return self.push(1 + u32::from(self.messages) + u32::from(message), &next, sink);
        }
        if state.owed {
            if state.acks.len() == usize::from(self.capacity) {
                return Flow::Continue(());
            }
            next.owed = false;
            next.acks.push(state.expected);
            return self.push(0, &next, sink);
        }
        let Some(&(number, message)) = state.data.first() else { return Flow::Continue(()) };
        next.data.remove(0);
        if number == state.expected {
            next.delivering = Some(message);
        } else {
            next.owed = true;
        }
        self.push(0, &next, sink)
    }
}

impl System for SlidingWindow {
    fn initial(&mut self, push: &mut dyn FnMut(&[u8]) -> Flow) -> Flow {
        let start = State {
            base: 0,
            window: Vec::new(),
            expected: 0,
            delivering: None,
            owed: false,
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
        if !state.data.is_empty() {
            let mut next = state.clone();
            next.data.remove(0);
            self.push(0, &next, sink)?;
        }
        if !state.acks.is_empty() {
            let mut next = state.clone();
            next.acks.remove(0);
            self.push(0, &next, sink)?;
        }
        Flow::Continue(())
    }

    fn label(&self, label: Label) -> Cow<'_, str> {
        let messages = u32::from(self.messages);
        match label.0 {
            0 => "i".into(),
            l if l <= messages => format!("PUT !{}", l - 1).into(),
            l => format!("GET !{}", l - 1 - messages).into(),
        }
    }
}

impl State {
    fn pack(&self, out: &mut Vec<u8>) {
        out.clear();
        let delivering = self.delivering.map_or(0, |m| m + 1);
        out.extend([self.base, self.expected, delivering, u8::from(self.owed), self.window.len() as u8]);
        out.extend_from_slice(&self.window);
        out.push(self.data.len() as u8);
        out.extend(self.data.iter().flat_map(|&(number, message)| [number, message]));
        out.extend_from_slice(&self.acks);
    }

    fn unpack(bytes: &[u8]) -> State {
        let (window, rest) = bytes[5..].split_at(usize::from(bytes[4]));
        let (data, acks) = rest[1..].split_at(2 * usize::from(rest[0]));
        State {
            base: bytes[0],
            window: window.into(),
            expected: bytes[1],
            delivering: bytes[2].checked_sub(1),
            owed: bytes[3] == 1,
            data: data.chunks_exact(2).map(|m| (m[0], m[1])).collect(),
            acks: acks.into(),
        }
    }
}
