//! What tuples take, and that they take no more than they may.

use super::{Component, Tuples};

impl Tuples {
    pub fn bytes(&self) -> u64 {
        let values: u64 = self.components.iter().map(|c| c.values.memory()).sum();
        let components = self.components.capacity() * size_of::<Component>();
        let waiting = self.waiting.capacity() + self.waiting_ends.capacity() * size_of::<usize>();
        let base = self.base.bytes.capacity() + self.base.owners.capacity();
        let starts = (self.base.starts.capacity() + self.starts.capacity()) * 4;
        values + self.others.bytes() + (components + waiting + base + starts) as u64
    }

    /// What a new value, or a new word, may take where most is needed.
    pub fn growth(&self) -> u64 {
        let values = self.components.iter().map(|c| c.values.growth(8)).max().unwrap_or(0);
        values + if self.wide { self.others.growth() } else { 0 }
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
