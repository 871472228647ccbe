//! What all parts have open, so that all decide the same in a quiet moment.
//!
//! Timely says that all is quiet; what to do then depends on all parts. So a quiet moment in which nothing is
//! known is followed by a stage in which each part tells each other its last open and its last unexpanded
//! block, and nothing else happens: when that stage is quiet as well, everybody has heard everybody and the
//! maxima are the same everywhere.

use volee_system::part::{Outbox, PartError};

use super::{Share, garbled};

/// A packet with one record: the last open block and the last unexpanded one, each above what stands for
/// none.
pub(super) const VOTE: u8 = 3;

/// What to do in a quiet moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decision {
    /// Nobody knows what the others have open.
    Ask,
    /// The block is explored, and those after it are closed.
    Close(u16),
    /// Blocks after this one are closed, and it has variables that are not expanded.
    Grant(u16),
}

/// A block, or nothing, as a number that grows with the block.
fn above(block: Option<u16>) -> u32 {
    block.map_or(0, |block| u32::from(block) + 1)
}

#[derive(Debug)]
pub(super) struct Ballot {
    me: usize,
    peers: usize,
    /// Everybody tells in this stage.
    asked: bool,
    told: bool,
    heard: usize,
    open: u32,
    unexpanded: u32,
}

impl Ballot {
    pub fn new(share: Share) -> Self {
        let (me, peers) = (usize::from(share.me), usize::from(share.peers));
        Ballot { me, peers, asked: false, told: false, heard: 0, open: 0, unexpanded: 0 }
    }

    /// Whether everybody tells in this stage.
    pub fn is_on(&self) -> bool {
        self.asked
    }

    /// Tells the others what is open here, if that is asked in this stage.
    pub fn cast(&mut self, open: Option<u16>, unexpanded: Option<u16>, out: &mut Outbox) {
        if !self.asked || std::mem::replace(&mut self.told, true) {
            return;
        }
        for to in (0..self.peers).filter(|to| *to != self.me) {
            let record = out.post(to, VOTE);
            record.extend_from_slice(&above(open).to_le_bytes());
            record.extend_from_slice(&above(unexpanded).to_le_bytes());
        }
    }

    /// Hears what somebody has open.
    pub fn take(&mut self, records: &[u8]) -> Result<(), PartError> {
        let &[a, b, c, d, e, f, g, h] = records else { return Err(garbled()) };
        self.heard += 1;
        self.open = self.open.max(u32::from_le_bytes([a, b, c, d]));
        self.unexpanded = self.unexpanded.max(u32::from_le_bytes([e, f, g, h]));
        Ok(())
    }

    /// What to do now that all is quiet.
    pub fn decide(&mut self, open: Option<u16>, unexpanded: Option<u16>) -> Result<Decision, PartError> {
        if self.peers > 1 && !self.asked {
            self.asked = true;
            return Ok(Decision::Ask);
        }
        if self.heard + 1 != self.peers {
            return Err(garbled());
        }
        let open = self.open.max(above(open));
        let unexpanded = self.unexpanded.max(above(unexpanded));
        *self = Ballot { asked: false, told: false, heard: 0, open: 0, unexpanded: 0, ..*self };
        // Whatever is unexpanded is open as well, so the last open block is not before the last unexpanded
        // one.
        let block = open.checked_sub(1).and_then(|block| u16::try_from(block).ok()).ok_or_else(garbled)?;
        if open > unexpanded { Ok(Decision::Close(block)) } else { Ok(Decision::Grant(block)) }
    }
}
