//! A set of 64-bit names by open addressing, made for look-ups that were prefetched.
//!
//! The table is an array of cache lines of eight names, indexed by the high bits of the hash; a line is filled from its
//! front and overflows into the next. Zero marks a free place (the name 0 itself is a flag beside the table). Doubling
//! walks the old table from front to back and fills the new one in the same direction, because the high bits order both
//! alike: that is sequential in memory, and the old part is given back on the way.

use super::hash::mix;
use super::pages::{Pages, prefetch};

const LINE: usize = 8;
const FIRST_LINES: usize = 32;

pub(crate) struct Roots {
    lines: Pages<[u64; LINE]>,
    /// The home line of a name is its hash shifted right by this.
    shift: u32,
    len: usize,
    has_zero: bool,
}

impl Roots {
    pub(crate) fn new() -> Self {
        Roots {
            lines: Pages::small(FIRST_LINES),
            shift: 64 - FIRST_LINES.trailing_zeros(),
            len: 0,
            has_zero: false,
        }
    }

    #[inline(always)]
    fn home(&self, name: u64) -> usize {
        (mix(name) >> self.shift) as usize
    }

    #[inline(always)]
    pub(crate) fn prefetch(&self, name: u64) {
        prefetch(&self.lines[self.home(name)]);
    }

    /// Whether the name is new; it is in the set afterwards. There must be room.
    #[inline(always)]
    pub(crate) fn insert(&mut self, name: u64) -> bool {
        if name == 0 {
            let new = !self.has_zero;
            self.has_zero = true;
            self.len += usize::from(new);
            return new;
        }
        let home = self.home(name);
        let new = place(&mut self.lines, home, name);
        self.len += usize::from(new);
        new
    }

    /// How many bytes the table would grow by, if it had to for `extra` more names.
    pub(crate) fn growth(&self, extra: usize) -> Option<u64> {
        let places = self.lines.len() * LINE;
        (self.len + extra > places / 16 * 13).then_some(self.lines.bytes())
    }

    /// Doubles the table. `None` when there is no memory.
    pub(crate) fn grow(&mut self) -> Option<()> {
        let mut larger = Pages::zeroed(self.lines.len() * 2)?;
        let shift = self.shift - 1;
        for at in 0..self.lines.len() {
            for name in self.lines[at] {
                if name != 0 {
                    place(&mut larger, (mix(name) >> shift) as usize, name);
                }
            }
            if at.is_multiple_of(1 << 18) {
                self.lines.give_back(at);
            }
        }
        self.lines = larger;
        self.shift = shift;
        Some(())
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.lines.bytes()
    }
}

/// Puts a name that is not zero at or after its home line, unless it is there; tells whether it was put.
#[inline(always)]
fn place(lines: &mut [[u64; LINE]], home: usize, name: u64) -> bool {
    let mut at = home;
    loop {
        for slot in &mut lines[at] {
            if *slot == name {
                return false;
            }
            if *slot == 0 {
                *slot = name;
                return true;
            }
        }
        at += 1;
        if at == lines.len() {
            at = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_new_once_and_survives_growth() {
        let mut roots = Roots::new();
        // Names that share high bits of nothing in particular, zero included.
        let name = |i: u64| i.wrapping_mul(0x1234_5677).rotate_left((i % 64) as u32);
        let mut twin = std::collections::HashSet::new();
        for i in (0..60_000).chain(0..60_000) {
            if roots.growth(1).is_some() {
                roots.grow().expect("small");
            }
            assert_eq!(roots.insert(name(i)), twin.insert(name(i)));
        }
        assert_eq!(roots.len(), twin.len());
    }
}
