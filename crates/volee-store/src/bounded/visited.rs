//! The bounded store as a search sees it: one among others, which gives room and takes it.

use super::Bounded;
use crate::coding::Coding;
use crate::line::Line;
use crate::{Names, StateRef, Visited};

impl Visited for Bounded {
    const RENAMES: bool = true;

    fn rename(&mut self, width: u32, translate: &mut dyn FnMut(StateRef) -> StateRef) -> Option<()> {
        self.recode(Coding::of_width(width), translate)
    }

    #[inline(always)]
    fn prefetch(&self, name: StateRef) {
        if let Some(hash) = self.table.coding.encode(name) {
            self.table.prefetch(hash);
        }
    }

    #[inline(always)]
    fn insert(&mut self, name: StateRef) -> bool {
        if self.contains(name) {
            return false;
        }
        // Where there is no place at all the name is just not remembered.
        if let Some(hash) = self.encode(name) {
            self.table.put(hash);
        }
        true
    }

    fn growth(&self, _: usize) -> Option<u64> {
        None
    }

    fn grow(&mut self) -> Option<()> {
        None
    }

    #[inline(always)]
    fn replaces(&self) -> bool {
        self.table.turnover.replaced > 0
    }

    fn margin(&self, budget: u64) -> u64 {
        budget / 64
    }

    #[inline]
    fn ignores_states(&self) -> bool {
        !self.sketched
    }

    #[inline]
    fn note(&mut self, state: &[u8]) {
        // As long as nothing is forgotten the table itself knows how many there are.
        if self.sketched {
            self.sketch.add(state);
        }
    }

    fn reserved(&self) -> u64 {
        self.bytes() + self.table.growth()
    }

    fn foresee_loss(&mut self, bytes: u64, names: &mut Names) {
        if self.sketched || bytes <= self.table.growth() {
            return;
        }
        self.sketched = true;
        let mut state = Vec::new();
        for name in self.table.names() {
            names.load(name, &mut state);
            self.sketch.add(&state);
        }
    }

    fn give_room(&mut self, bytes: u64) -> bool {
        let unused = self.table.growth();
        if unused > 0 {
            self.table.most_lines = self.table.lines();
            return unused >= bytes || self.give_room(bytes - unused);
        }
        let freed = self.trim() + self.purge();
        freed >= bytes || self.shrink(bytes - freed).is_some()
    }

    fn take_room(&mut self, bytes: u64) {
        let is_full = self.table.len() >= self.table.capacity() / 16 * 13;
        let purged = if is_full { self.purge() } else { 0 };
        self.table.most_lines = self.table.lines() + ((bytes + purged) / size_of::<Line>() as u64) as usize;
    }

    fn needs(&self) -> String {
        match self.path.len() {
            ..=1 => "the smallest tables alone are larger".into(),
            path => format!("a path of {} states, and what waits along it, must be kept", path + 1),
        }
    }

    fn len(&self) -> u64 {
        self.table.len() as u64
    }

    fn bytes(&self) -> u64 {
        self.table.bytes() + self.path.bytes() + self.sketch.bytes()
    }
}
