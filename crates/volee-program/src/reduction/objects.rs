//! What statements touch: sets of shared things, as bits.
//!
//! Shared are the bytes of the globals, the two ends of each channel, and a few things that have no variable:
//! which processes exist, what an event monitor has seen, and what others may see of a process type. Where
//! there are more of a kind than bits, several share one: the sets then say more conflicts than there are,
//! never fewer.

/// Bits for bytes of the globals.
const GLOBAL_BITS: u32 = 256;
/// Bits for channels.
pub(super) const CHANNEL_BITS: usize = 64;

/// Processes are born: their numbers depend on the order.
const BIRTH: u64 = 1;
/// Processes die. Two deaths never compete: only the youngest process can die.
const DEATH: u64 = 2;
/// The event monitor moves.
const MONITOR: u64 = 4;
/// The first of the bits for what others see of a process type.
const TYPES: u32 = 3;

/// A set of shared things.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(crate) struct Objects {
    /// Where messages leave a channel.
    pub heads: u64,
    /// Where messages enter a channel.
    pub tails: u64,
    others: u64,
    globals: [u64; (GLOBAL_BITS / 64) as usize],
}

impl Objects {
    /// Both ends of these channels.
    pub fn channels(mask: u64) -> Self {
        Objects { heads: mask, tails: mask, ..Self::default() }
    }

    pub fn birth() -> Self {
        Objects { others: BIRTH, ..Self::default() }
    }

    pub fn death() -> Self {
        Objects { others: DEATH, ..Self::default() }
    }

    pub fn monitor() -> Self {
        Objects { others: MONITOR, ..Self::default() }
    }

    /// What others see of the processes of a type.
    pub fn of_type(number: usize) -> Self {
        Objects { others: 1 << (TYPES + number as u32 % (64 - TYPES)), ..Self::default() }
    }

    /// Adds bytes of the globals, of which there are `size`.
    pub fn add_globals(&mut self, (start, length): (u32, u32), size: u32) {
        let scale = size.div_ceil(GLOBAL_BITS).max(1);
        for bit in start / scale..=(start + length.max(1) - 1) / scale {
            self.globals[bit as usize / 64] |= 1 << (bit % 64);
        }
    }

    pub fn add(&mut self, other: &Objects) {
        self.heads |= other.heads;
        self.tails |= other.tails;
        self.others |= other.others;
        for (mine, theirs) in self.globals.iter_mut().zip(&other.globals) {
            *mine |= theirs;
        }
    }

    pub fn meets(&self, other: &Objects) -> bool {
        let globals = self.globals.iter().zip(&other.globals).fold(0, |all, (a, b)| all | a & b);
        (self.heads & other.heads) | (self.tails & other.tails) | (self.others & other.others) | globals != 0
    }

    /// Whether two sets of written things share one for which it matters who writes first.
    fn compete(&self, other: &Objects, handovers: u64) -> bool {
        let mut mine = *self;
        mine.heads &= !handovers;
        mine.tails &= !handovers;
        mine.others &= !DEATH;
        mine.meets(other)
    }
}

/// What a statement, a step or a whole future reads and writes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(crate) struct Access {
    pub reads: Objects,
    pub writes: Objects,
    /// Channels on which it matters that a send finds no partner.
    pub misses: u64,
    /// Channels on which a send can be done if somebody comes to receive.
    pub needs: u64,
    /// Channels without a buffer from which the process may receive later: a step brings it nearer to that,
    /// or leads away.
    pub nears: u64,
    /// It may come to a fault.
    pub fails: bool,
}

impl Access {
    pub fn add(&mut self, other: &Access) {
        self.reads.add(&other.reads);
        self.writes.add(&other.writes);
        self.misses |= other.misses;
        self.needs |= other.needs;
        self.nears |= other.nears;
        self.fails |= other.fails;
    }

    /// Whether two steps that are possible in a state can be done in either order with the same result, and
    /// whether neither changes what the other process could do otherwise.
    pub fn commutes(&self, other: &Access, handovers: u64) -> bool {
        !self.conflicts(other, handovers)
            && other.nears & (self.misses | self.needs) == 0
            && self.nears & other.needs == 0
    }

    /// Whether a step, `self`, may matter to what another process does, `other`, or the other way round. On
    /// the channels `handovers`, which have no buffer, a send needs a receive but two sends do not compete.
    pub fn conflicts(&self, other: &Access, handovers: u64) -> bool {
        self.nears & other.misses != 0
            || self.writes.meets(&other.reads)
            || self.reads.meets(&other.writes)
            || self.writes.compete(&other.writes, handovers)
    }
}
