//! Short names in four bytes each: a hash table that keeps of a name only what its place does not tell.
//!
//! Names below 2^w are scrambled by a permutation ([`Coding`]); the high bits of the result are the home line, and a slot
//! keeps the rest, the *remainder*, and how far from home it is (quotienting: Cleary, "Compact hash tables using
//! bidirectional linear probing", 1984). A line is 64 bytes, sixteen slots, filled from its front. A name whose home is full
//! goes to the home with its five lowest bits changed by 1, then by 2, and so on: always within the same 32 lines. So a
//! table twice as large is filled from front to back, a group of lines from each, and the old one is given back on the way.
//! A name whose 32 lines are full is put aside, and the table wants to grow.

use crate::Name;
use crate::coding::{Coding, low_bits};
use crate::pages::{Pages, prefetch};

/// Slots of a line.
const LINE: usize = 16;
/// Bits of a slot that say how far from home it is.
const FAR: u32 = 5;
/// Lines among which a name can be.
const GROUP: usize = 1 << FAR;
const USED: u32 = 1 << 31;
/// Groups moved before the old table's front is given back.
const MOVED: usize = 1 << 11;

/// The fewest lines.
pub(crate) const FEWEST: usize = GROUP;

/// Names of at most some bits, each once.
pub(crate) struct Quotients {
    lines: Pages<[u32; LINE]>,
    coding: Coding,
    /// The home line of a scrambled name is it, shifted right by this: the bits of the remainder.
    shift: u32,
    len: usize,
    aside: Vec<u64>,
}

impl Quotients {
    /// Bits of a slot for the remainder; the highest says that it is in use.
    pub const REMAINDER: u32 = 31 - FAR;

    /// Whether a table of so many lines can keep names of so many bits.
    pub fn fits(width: u32, lines: usize) -> bool {
        lines >= FEWEST && width.saturating_sub(lines.trailing_zeros()) <= Self::REMAINDER
    }

    /// A table for names below 2 to the `width`, with a power of two of lines, for which it fits.
    pub fn new(width: u32, lines: usize) -> Option<Self> {
        // A name has more bits than there are lines.
        let width = width.max(lines.trailing_zeros() + 1);
        let shift = width - lines.trailing_zeros();
        let lines = Pages::zeroed(lines)?;
        Some(Quotients { lines, coding: Coding::of_width(width), shift, len: 0, aside: Vec::new() })
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn lines(&self) -> usize {
        self.lines.len()
    }

    pub fn width(&self) -> u32 {
        self.coding.width()
    }

    /// Whether there is room for so many more, and nothing was put aside.
    #[inline]
    pub fn has_room(&self, extra: usize) -> bool {
        self.aside.is_empty() && self.len + extra <= self.lines.len() * LINE / 16 * 13
    }

    pub fn bytes(&self) -> u64 {
        self.lines.bytes() + (self.aside.capacity() * 8) as u64
    }

    #[inline(always)]
    pub fn prefetch(&self, name: Name) {
        let home = (self.coding.scramble(name) >> self.shift) as usize;
        // Names that wait for a place have more bits than others.
        if let Some(line) = self.lines.get(home) {
            prefetch(line);
        }
    }

    /// Whether the name is new; it is remembered from now on.
    #[inline(always)]
    pub fn insert(&mut self, name: Name) -> bool {
        self.insert_code(self.coding.scramble(name))
    }

    #[inline(always)]
    fn insert_code(&mut self, code: u64) -> bool {
        let home = (code >> self.shift) as usize;
        let remainder = ((code & low_bits(self.shift)) as u32) << FAR | USED;
        for far in 0..GROUP {
            let line = &mut self.lines[home ^ far];
            let wanted = remainder | far as u32;
            if line.iter().fold(false, |found, &slot| found | (slot == wanted)) {
                return false;
            }
            if line[LINE - 1] == 0 {
                let free = line.iter().map(|&slot| usize::from(slot != 0)).sum::<usize>();
                line[free % LINE] = wanted;
                self.len += 1;
                return true;
            }
        }
        self.put_aside(code)
    }

    #[cold]
    fn put_aside(&mut self, code: u64) -> bool {
        if self.aside.contains(&code) {
            return false;
        }
        self.aside.push(code);
        self.len += 1;
        true
    }

    /// A table with so many lines, at least as many as before, and the same names. `None` when there is no memory.
    pub fn resize(&mut self, lines: usize) -> Option<()> {
        let mut larger = Quotients::new(self.width(), lines)?;
        // In a table of more lines than there are names, names have another width, and are scrambled otherwise.
        if larger.width() != self.width() {
            self.drain(|name| {
                larger.insert(name);
            });
            *self = larger;
            return Some(());
        }
        let aside = std::mem::take(&mut self.aside);
        self.drain_codes(|code| {
            larger.insert_code(code);
        });
        aside.into_iter().for_each(|code| {
            larger.insert_code(code);
        });
        *self = larger;
        Some(())
    }

    /// Gives all names away, in the order of their scrambled forms but for those within a group of lines, and memory back
    /// on the way.
    pub fn drain(&mut self, mut take: impl FnMut(Name)) {
        let coding = self.coding.clone();
        self.drain_codes(|code| take(coding.decode(code)));
        self.aside.iter().for_each(|&code| take(coding.decode(code)));
    }

    fn drain_codes(&mut self, mut take: impl FnMut(u64)) {
        for at in 0..self.lines.len() {
            codes_of(&self.lines[at], at, self.shift).for_each(&mut take);
            if at.is_multiple_of(MOVED * GROUP) {
                self.lines.give_back(at);
            }
        }
    }

    /// All names.
    pub fn names(&self) -> impl Iterator<Item = Name> + '_ {
        let lines = self.lines.iter().enumerate();
        let codes = lines.flat_map(|(at, line)| codes_of(line, at, self.shift));
        codes.chain(self.aside.iter().copied()).map(|code| self.coding.decode(code))
    }
}

/// The scrambled names that a line keeps.
fn codes_of(line: &[u32; LINE], at: usize, shift: u32) -> impl Iterator<Item = u64> {
    line.iter().copied().take_while(|&slot| slot != 0).map(move |slot| {
        let far = slot as usize & (GROUP - 1);
        let remainder = (slot & !USED) >> FAR;
        ((at ^ far) as u64) << shift | u64::from(remainder)
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::hash::mix;

    #[test]
    fn a_name_is_new_once_and_survives_growth() {
        for width in [7, 20, 31] {
            let mut table = Quotients::new(width, FEWEST).expect("small");
            let mut twin = HashSet::new();
            for i in 0..60_000u64 {
                // Neighbours and strangers.
                let name = if i % 3 == 0 { mix(i / 2) } else { i } & low_bits(width);
                if !table.has_room(1) {
                    table.resize(table.lines() * 2).expect("small");
                }
                assert_eq!(table.insert(name), twin.insert(name), "{name} of {width} bits");
            }
            assert_eq!(table.len(), twin.len());
            assert_eq!(table.names().collect::<HashSet<_>>(), twin);
            let mut given = HashSet::new();
            table.drain(|name| assert!(given.insert(name)));
            assert_eq!(given, twin);
        }
    }

    #[test]
    fn names_survive_in_a_table_of_more_lines_than_there_are_names() {
        for width in [5, 6, 7] {
            let mut table = Quotients::new(width, FEWEST).expect("small");
            let (some, others): (Vec<u64>, Vec<u64>) = (1..1 << width).partition(|name| name % 3 != 0);
            some.iter().for_each(|&name| assert!(table.insert(name)));
            for lines in [2, 4, 8, 16].map(|times| times * FEWEST) {
                table.resize(lines).expect("small");
                assert!(some.iter().all(|&name| !table.insert(name)), "{width} bits, {lines} lines");
                assert_eq!(table.names().collect::<HashSet<_>>(), some.iter().copied().collect());
            }
            assert!(others.iter().all(|&name| table.insert(name)), "{width} bits");
        }
    }

    #[test]
    fn what_finds_no_place_is_kept_aside_until_the_table_grows() {
        let mut table = Quotients::new(30, FEWEST).expect("small");
        let all = 0..(FEWEST * LINE + 100) as u64;
        assert!(all.clone().all(|name| table.insert(name)));
        assert!(all.clone().all(|name| !table.insert(name)));
        assert!(!table.has_room(0));
        table.resize(4 * FEWEST).expect("small");
        assert!(table.has_room(1) && all.clone().all(|name| !table.insert(name)));
    }
}
