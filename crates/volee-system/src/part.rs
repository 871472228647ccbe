//! A computation spread by hash over several workers: what one worker's part of it looks like to whoever
//! drives it.
//!
//! A [`Part`] owns the data whose hash is its own, works on it, and tells other parts what concerns them by
//! records in an [`Outbox`]. Whoever drives the parts moves packets between them and finds out when all are
//! idle and nothing is in flight; the part knows neither threads nor networks, so the same code runs alone,
//! on threads and across machines.
//!
//! Receiving never posts: a part can always take a packet, so a driver may hold back work (and with it
//! posting) while too much is in flight, and nothing can wait in a circle.

mod levels;
mod packing;
mod spread;

pub use self::levels::{Level, Levels};
pub use self::packing::Packing;
pub use self::spread::{Sample, Spread};
use crate::{Flow, Limit};

/// Bytes at which a packet is closed.
pub const PACKET: usize = 32 << 10;

/// Records of one kind for one worker.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Packet {
    /// Whom it is for.
    pub to: u16,
    /// What its records are; the part that posted it knows.
    pub kind: u8,
    /// How many records it has.
    pub records: u32,
    /// The records.
    pub bytes: Vec<u8>,
}

/// What a part has to tell the others.
#[derive(Debug)]
pub struct Outbox {
    me: usize,
    open: Vec<Packet>,
    ready: Vec<Packet>,
    spare: Vec<Vec<u8>>,
    /// Records posted so far.
    pub records: u64,
}

impl Outbox {
    /// For worker `me` of `peers`.
    pub fn new(me: usize, peers: usize) -> Self {
        let open = (0..peers).map(|to| Packet { to: to as u16, ..Packet::default() }).collect();
        Outbox { me, open, ready: Vec::new(), spare: Vec::new(), records: 0 }
    }

    /// Which worker this is.
    pub fn me(&self) -> usize {
        self.me
    }

    /// How many workers there are.
    pub fn peers(&self) -> usize {
        self.open.len()
    }

    /// Begins a record for a worker; the caller appends its bytes to what it gets.
    #[inline]
    pub fn post(&mut self, to: usize, kind: u8) -> &mut Vec<u8> {
        let packet = &self.open[to];
        if packet.records > 0 && (packet.kind != kind || packet.bytes.len() >= PACKET) {
            self.close(to);
        }
        self.records += 1;
        let packet = &mut self.open[to];
        packet.kind = kind;
        packet.records += 1;
        &mut packet.bytes
    }

    #[cold]
    fn close(&mut self, to: usize) {
        let bytes = self.spare.pop().unwrap_or_else(|| Vec::with_capacity(PACKET + 256));
        let next = Packet { to: to as u16, kind: 0, records: 0, bytes };
        self.ready.push(std::mem::replace(&mut self.open[to], next));
    }

    /// All packets, also those that are not full, in the order in which they were closed.
    pub fn take(&mut self) -> std::vec::Drain<'_, Packet> {
        for to in 0..self.open.len() {
            if self.open[to].records > 0 {
                self.close(to);
            }
        }
        self.ready.drain(..)
    }

    /// Gives the bytes of a packet back for the next one.
    pub fn recycle(&mut self, mut bytes: Vec<u8>) {
        if self.spare.len() < 2 * self.open.len() && bytes.capacity() >= PACKET {
            bytes.clear();
            self.spare.push(bytes);
        }
    }

    /// Bytes in use.
    pub fn memory(&self) -> u64 {
        let packets = self.open.iter().chain(&self.ready).map(|p| p.bytes.capacity());
        (packets.sum::<usize>() + self.spare.len() * PACKET) as u64
    }
}

/// How a part stands after some work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// There is more to do.
    More,
    /// Nothing is left to do until somebody tells something.
    Idle,
    /// The answer is known: everybody may stop.
    Decided,
}

/// Whether what a part knows can be kept in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keepable {
    /// It can.
    Now,
    /// Not in this stage, but in a later one.
    Later,
    /// It is not kept: what was kept before it began stays.
    Never,
}

/// Why a part cannot go on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PartError {
    /// A budget is used up.
    #[error("{0}")]
    Limit(Limit),
    /// The question has no meaning in some place, in words.
    #[error("{0}")]
    Trouble(String),
    /// What was received or confirmed makes no sense: a defect.
    #[error("{0}; this is a defect of volee, please report it")]
    Defect(String),
}

impl From<Limit> for PartError {
    fn from(limit: Limit) -> Self {
        PartError::Limit(limit)
    }
}

/// What a part has done so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Figures {
    /// States (or places) it keeps.
    pub states: u64,
    /// Steps (or edges) it has followed.
    pub transitions: u64,
    /// What it has expanded.
    pub expanded: u64,
    /// What waits to be expanded.
    pub pending: u64,
    /// Bytes in use.
    pub memory: u64,
}

/// One worker's part of a computation.
pub trait Part {
    /// Takes a packet that the part of worker `from` has posted. Posts nothing.
    ///
    /// # Errors
    /// A limit, or a packet that makes no sense.
    fn receive(&mut self, from: usize, kind: u8, records: &[u8]) -> Result<(), PartError>;

    /// Works for about `quantum` expansions.
    ///
    /// # Errors
    /// A limit, or an equation or a state without meaning.
    fn work(&mut self, quantum: usize, out: &mut Outbox) -> Result<Work, PartError>;

    /// All parts are idle and nothing is in flight. Begins the next stage; `false` if this was the last. All
    /// parts must give the same answer.
    ///
    /// # Errors
    /// What was found at the end of the stage makes no sense.
    fn next_stage(&mut self) -> Result<bool, PartError>;

    /// What it has done so far.
    fn figures(&self) -> Figures;

    /// Whether it can be kept in the stage it is in. All parts must give the same answer.
    fn can_be_kept(&self) -> Keepable {
        Keepable::Never
    }

    /// All parts are to pause: brings what is under way to where it can be handed out.
    ///
    /// # Errors
    /// As for [`Part::work`].
    fn settle(&mut self, _out: &mut Outbox) -> Result<(), PartError> {
        Ok(())
    }

    /// Hands out all that it knows, piece by piece, at a moment when nothing is in flight.
    fn hand_out(&mut self, _piece: &mut dyn FnMut(Vec<u8>) -> Flow) -> Flow {
        Flow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_hold_one_kind_and_close_when_full() {
        let mut out = Outbox::new(0, 3);
        out.post(1, 7).extend_from_slice(&[1, 2]);
        out.post(1, 7).extend_from_slice(&[3]);
        out.post(1, 8).extend_from_slice(&[4]);
        out.post(2, 8).extend_from_slice(&vec![0; PACKET]);
        out.post(2, 8).extend_from_slice(&[5]);
        let packets: Vec<(u16, u8, u32, usize)> =
            out.take().map(|p| (p.to, p.kind, p.records, p.bytes.len())).collect();
        assert_eq!(packets, [(1, 7, 2, 3), (2, 8, 1, PACKET), (1, 8, 1, 1), (2, 8, 1, 1)]);
        assert_eq!(out.take().count(), 0);
        assert_eq!(out.records, 5);
    }
}
