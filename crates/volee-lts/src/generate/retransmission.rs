//! The bounded retransmission protocol: a file of N chunks over lossy channels, each chunk sent at most 1 + R
//! times.
//!
//! Reconstructed after Groote and van de Pol 1996: the sender's timer runs out only when a frame or its
//! acknowledgement was lost, and the receiver's only after the sender has given up. Labels: `REQ`,
//! `IND !FST`, `IND !INC`, `IND !OK`, `IND !NOK`, `CONF !OK`, `CONF !NOK`, `CONF !DK`; channels hold one
//! frame each.

use std::borrow::Cow;

use volee_system::{Flow, Label, Sink, Step, System};

const LABELS: [&str; 9] =
    ["i", "REQ", "IND !FST", "IND !INC", "IND !OK", "IND !NOK", "CONF !OK", "CONF !NOK", "CONF !DK"];
const REQ: u32 = 1;
const IND_FIRST: u32 = 2;
const IND_MIDDLE: u32 = 3;
const IND_LAST: u32 = 4;
const IND_LOST: u32 = 5;
const CONF_OK: u32 = 6;
const CONF_NOT_OK: u32 = 7;
const CONF_UNKNOWN: u32 = 8;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sender {
    Idle,
    Sending,
    Waiting,
    Confirming,
    /// Gave up; waits for the receiver to notice.
    Aborted,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Receiver {
    Waiting,
    Indicating,
    Acknowledging,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Channel {
    Empty,
    Full,
    Lost,
}

/// A state, unpacked. A frame in K is the chunk the sender is at, with the sender's bit.
#[derive(Debug, Clone, Copy)]
struct State {
    sender: Sender,
    chunk: u8,
    tries: u8,
    sender_bit: u8,
    receiver: Receiver,
    receiver_bit: u8,
    /// Whether the receiver is in the middle of a file.
    inside: bool,
    frame: Channel,
    ack: Channel,
}

/// The protocol as a system.
#[derive(Debug, Clone)]
pub struct BoundedRetransmission {
    chunks: u8,
    retries: u8,
}

impl BoundedRetransmission {
    /// With files of this many chunks, each sent again at most `retries` times.
    pub fn new(chunks: u8, retries: u8) -> Self {
        BoundedRetransmission { chunks, retries }
    }

    fn sender(&self, s: State, sink: &mut dyn Sink) -> Flow {
        match s.sender {
            Sender::Idle => push(REQ, State { sender: Sender::Sending, chunk: 0, tries: 0, ..s }, sink),
            Sender::Sending => push(0, State { sender: Sender::Waiting, frame: Channel::Full, ..s }, sink),
            Sender::Waiting => self.waiting(s, sink),
            Sender::Confirming => push(CONF_OK, State { sender: Sender::Idle, ..s }, sink),
            Sender::Aborted => Flow::Continue(()),
        }
    }

    fn waiting(&self, s: State, sink: &mut dyn Sink) -> Flow {
        if s.ack == Channel::Full {
            let next = State { ack: Channel::Empty, sender_bit: s.sender_bit ^ 1, tries: 0, ..s };
            let last = s.chunk + 1 == self.chunks;
            let sender = if last { Sender::Confirming } else { Sender::Sending };
            let chunk = if last { s.chunk } else { s.chunk + 1 };
            return push(0, State { sender, chunk, ..next }, sink);
        }
        if s.frame != Channel::Lost && s.ack != Channel::Lost {
            return Flow::Continue(());
        }
        let next = State { frame: Channel::Empty, ack: Channel::Empty, ..s };
        if s.tries < self.retries {
            return push(0, State { sender: Sender::Sending, tries: s.tries + 1, ..next }, sink);
        }
        let label = if s.chunk + 1 == self.chunks { CONF_UNKNOWN } else { CONF_NOT_OK };
        push(label, State { sender: Sender::Aborted, ..next }, sink)
    }

    fn receiver(&self, s: State, sink: &mut dyn Sink) -> Flow {
        match s.receiver {
            Receiver::Waiting if s.frame == Channel::Full => {
                let new = s.sender_bit == s.receiver_bit;
                let receiver = if new { Receiver::Indicating } else { Receiver::Acknowledging };
                push(0, State { receiver, frame: Channel::Empty, ..s }, sink)
            }
            Receiver::Waiting if s.sender == Sender::Aborted => {
                // Both start afresh, bits included: the timers guarantee that nothing is on the way.
                let label = if s.inside { IND_LOST } else { 0 };
                let next = State { sender: Sender::Idle, sender_bit: 0, receiver_bit: 0, ..s };
                push(label, State { inside: false, chunk: 0, tries: 0, ..next }, sink)
            }
            Receiver::Waiting => Flow::Continue(()),
            Receiver::Indicating => {
                let last = s.chunk + 1 == self.chunks;
                let label = match (last, s.chunk) {
                    (true, _) => IND_LAST,
                    (false, 0) => IND_FIRST,
                    _ => IND_MIDDLE,
                };
                let next = State { receiver: Receiver::Acknowledging, inside: !last, ..s };
                push(label, State { receiver_bit: s.receiver_bit ^ 1, ..next }, sink)
            }
            Receiver::Acknowledging => {
                push(0, State { receiver: Receiver::Waiting, ack: Channel::Full, ..s }, sink)
            }
        }
    }
}

fn push(label: u32, state: State, sink: &mut dyn Sink) -> Flow {
    sink.push(Step::labelled(label), &state.pack())
}

impl System for BoundedRetransmission {
    fn initial(&mut self, push: &mut dyn FnMut(&[u8]) -> Flow) -> Flow {
        let start = State {
            sender: Sender::Idle,
            chunk: 0,
            tries: 0,
            sender_bit: 0,
            receiver: Receiver::Waiting,
            receiver_bit: 0,
            inside: false,
            frame: Channel::Empty,
            ack: Channel::Empty,
        };
        push(&start.pack())
    }

    fn steps(&mut self, state: &[u8], sink: &mut dyn Sink) -> Flow {
        let state = State::unpack(state);
        self.sender(state, sink)?;
        self.receiver(state, sink)?;
        if state.frame == Channel::Full {
            push(0, State { frame: Channel::Lost, ..state }, sink)?;
        }
        if state.ack == Channel::Full {
            push(0, State { ack: Channel::Lost, ..state }, sink)?;
        }
        Flow::Continue(())
    }

    fn label(&self, label: Label) -> Cow<'_, str> {
        LABELS[label.0 as usize].into()
    }
}

impl State {
    fn pack(self) -> [u8; 5] {
        let bits = self.sender_bit | self.receiver_bit << 1 | u8::from(self.inside) << 2;
        let channels = self.frame as u8 | (self.ack as u8) << 2;
        [self.sender as u8 | (self.receiver as u8) << 4, self.chunk, self.tries, bits, channels]
    }

    fn unpack(bytes: &[u8]) -> State {
        let channel = |code: u8| [Channel::Empty, Channel::Full, Channel::Lost][usize::from(code & 3)];
        let senders = [Sender::Idle, Sender::Sending, Sender::Waiting, Sender::Confirming, Sender::Aborted];
        let receivers = [Receiver::Waiting, Receiver::Indicating, Receiver::Acknowledging];
        State {
            sender: senders[usize::from(bytes[0] & 15)],
            chunk: bytes[1],
            tries: bytes[2],
            sender_bit: bytes[3] & 1,
            receiver: receivers[usize::from(bytes[0] >> 4)],
            receiver_bit: bytes[3] >> 1 & 1,
            inside: bytes[3] >> 2 & 1 == 1,
            frame: channel(bytes[4]),
            ack: channel(bytes[4] >> 2),
        }
    }
}
