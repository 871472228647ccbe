//! A part of a record whose steps are remembered, and whether remembering them pays.

use volee_system::Part;

use super::{Steps, Word};

/// Of this many look-ups one may be a miss, in a part that pays.
pub(super) const WORTH: u32 = 4;
/// Misses before anybody asks whether a part should be divided, and of how many look-ups one may be a miss
/// then.
const SMALL_TRIAL: (u32, u32) = (1 << 10, 64);

/// Whether a part should be divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Doubt {
    None,
    /// It is to be, when it is next executed.
    Due,
    /// It cannot be.
    Settled,
}

/// A part of a record with a certain value.
#[derive(Debug, Clone, Copy)]
pub(super) struct Remembered<W> {
    pub part: Part,
    /// The number of the record's value.
    pub value: u32,
    /// The number of its memory, plus one; 0 for a part that is left to the system.
    pub memory: u32,
    pub doubt: Doubt,
    pub mask: W,
    /// All bits but those that each of its steps replaces, which are not in the mask.
    pub kept: W,
    /// What it replaces was told by an execution.
    pub is_told: bool,
    /// Its steps, where the value of the record tells them.
    pub fixed: Option<Steps<W>>,
    pub lookups: u32,
    pub misses: u32,
}

impl<W: Word> Remembered<W> {
    pub fn new(part: Part, value: u32, memory: u32, mask: W) -> Self {
        let (doubt, kept) = (Doubt::None, W::ALL);
        Remembered {
            part,
            value,
            memory,
            doubt,
            mask,
            kept,
            is_told: false,
            fixed: None,
            lookups: 0,
            misses: 0,
        }
    }

    pub fn may_be_divided(&self) -> bool {
        self.doubt == Doubt::None && self.part.partner.is_none() && self.part.last > self.part.first + 1
    }

    /// It is no longer remembered, but to be divided if that is possible.
    pub fn give_up(&mut self) {
        self.memory = 0;
        if self.may_be_divided() {
            self.doubt = Doubt::Due;
        }
    }

    /// Whether it is met again too rarely.
    pub fn is_in_doubt(&self) -> bool {
        let (trial, worth) =
            if self.may_be_divided() { SMALL_TRIAL } else { (trial(self.mask.bits()), WORTH) };
        self.misses > trial && self.misses > self.lookups / worth
    }
}

/// Misses of a part before anybody asks whether it pays: where keys have few bits, they all come back in the
/// end.
fn trial(bits: u32) -> u32 {
    match bits {
        ..=18 => u32::MAX,
        19..=28 => 1 << 15,
        29..=36 => 1 << 10,
        _ => 1 << 7,
    }
}
