//! What tuples take, and that they take no more than they may.

use super::{Component, Tuples};

/// So many values of a component may be new in the states that are named until somebody looks again, about.
const SOON: usize = 32;

impl Tuples {
    pub fn bytes(&self) -> u64 {
        let values: u64 = self.components.iter().map(|c| c.values.memory()).sum();
        let components = self.components.capacity() * size_of::<Component>();
        let waiting = self.waiting.capacity() + self.waiting_ends.capacity() * size_of::<usize>();
        let base = self.base.bytes.capacity() + self.base.owners.capacity();
        let starts = (self.base.starts.capacity() + self.starts.capacity()) * 4;
        values + self.others.bytes() + (components + waiting + base + starts) as u64
    }

    /// What new values, or new words, may soon take where most is needed.
    pub fn growth(&self) -> u64 {
        let values = self.components.iter().map(|c| c.values.growth(SOON, SOON * c.values.mean())).max();
        values.unwrap_or(0) + if self.wide { self.others.growth() } else { 0 }
    }

    /// What they need more than they may have, to grow as they soon will.
    pub fn lacks(&self) -> u64 {
        let growth = self.growth();
        if self.may_grow(growth) { 0 } else { growth }
    }

    /// They may give names again.
    pub fn revive(&mut self) {
        self.lost = false;
        (self.waiting, self.waiting_ends) = (Vec::new(), Vec::new());
    }

    /// It may take this many bytes from now on, or what it takes already.
    pub fn hold_to(&mut self, bytes: u64) {
        self.most = bytes;
    }

    /// As if memory had run out.
    pub fn give_up(&mut self) {
        self.lost = true;
    }

    pub(super) fn may_grow(&self, growth: u64) -> bool {
        growth == 0 || self.most == u64::MAX || self.bytes() + growth <= self.most
    }
}
