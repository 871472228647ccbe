//! Short names in four bytes each: a hash table that keeps of a name only what its place does not tell.
//!
//! Names below 2^w are scrambled by a permutation ([`Coding`]). Of the results, n lines have about 2^w / n
//! adjacent ones each: the home line of x is x n / 2^w, rounded down. A slot keeps the lowest bits of x, the
//! *remainder*, as many as tell apart those of one home, and how far from home it is (quotienting: Cleary,
//! "Compact hash tables using bidirectional linear probing", 1984). A line is 64 bytes, sixteen slots, filled
//! from its front. A name whose home is full goes to the home with its five lowest bits changed by 1, then by
//! 2, and so on: always within the same 32 lines. So a larger table, of any multiple of 32 lines, is filled
//! from front to back, and the old one is given back on the way: the two are never there as a whole. A name
//! whose 32 lines are full is put aside, and the table wants to grow.

use crate::StateRef;
use crate::coding::{Coding, low_bits};
use crate::pages::{Pages, prefetch_at};

/// Slots of a line.
const LINE: usize = 16;
/// Bits of a slot that say how far from home it is.
const FAR: u32 = 5;
/// Lines among which a name can be.
const GROUP: usize = 1 << FAR;
pub(crate) const USED: u32 = 1 << 31;
/// Groups moved before the old table's front is given back.
const MOVED: usize = 1 << 11;

/// The fewest lines.
pub(crate) const FEWEST: usize = GROUP;

/// Names of at most some bits, each once.
pub(crate) struct Quotients {
    lines: Pages<[u32; LINE]>,
    coding: Coding,
    homes: Homes,
    len: usize,
    aside: Vec<u64>,
}

/// How scrambled names are spread over lines.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Homes {
    lines: u64,
    width: u32,
    /// The bits of a remainder.
    pub kept: u64,
}

impl Homes {
    pub fn new(width: u32, lines: usize) -> Self {
        Homes { lines: lines as u64, width, kept: low_bits(remainder_bits(width, lines)) }
    }

    #[inline(always)]
    pub fn of(self, code: u64) -> usize {
        ((u128::from(code << (64 - self.width)) * u128::from(self.lines)) >> 64) as usize
    }

    /// The first scrambled name whose home is this line.
    fn first(self, home: usize) -> u64 {
        let scaled = (home as u128) << self.width;
        match u64::try_from(scaled) {
            Ok(scaled) => scaled.div_ceil(self.lines),
            Err(_) => scaled.div_ceil(u128::from(self.lines)) as u64,
        }
    }
}

/// How many slots of a line that is not full are in use: they are its first, so the number is found bit by bit.
#[inline(always)]
fn used(line: &[u32; LINE]) -> usize {
    [8, 4, 2, 1].into_iter().fold(0, |used, bit| used + (line[used + bit - 1] / USED) as usize * bit)
}

/// Bits that tell apart the scrambled names of one home.
fn remainder_bits(width: u32, lines: usize) -> u32 {
    let most = (1_u128 << width).div_ceil(lines as u128);
    u128::BITS - (most - 1).leading_zeros()
}

impl Quotients {
    /// Bits of a slot for the remainder; the highest says that it is in use.
    pub const REMAINDER: u32 = 31 - FAR;

    /// Whether a table of this many lines can keep names of this many bits.
    pub fn fits(width: u32, lines: usize) -> bool {
        width < StateRef::BITS && remainder_bits(width, lines) <= Self::REMAINDER
    }

    /// The fewest lines with which a table can keep names of this many bits.
    pub fn fewest(width: u32) -> usize {
        (1 << width.min(StateRef::BITS).saturating_sub(Self::REMAINDER)).max(FEWEST)
    }

    /// A table for names below 2 to the `width`, of this many lines, a multiple of [`FEWEST`] for which it
    /// fits.
    pub fn new(width: u32, lines: usize) -> Option<Self> {
        debug_assert!(lines.is_multiple_of(GROUP), "{lines} lines");
        let width = width.max(1);
        let homes = Homes::new(width, lines);
        let lines = Pages::zeroed(lines)?;
        Some(Quotients { lines, coding: Coding::of_width(width), homes, len: 0, aside: Vec::new() })
    }

    pub fn len(&self) -> usize {
        self.len
    }

    /// How far in the table a name is looked for first, in parts of which there are 256.
    pub fn key(&self, name: StateRef) -> u8 {
        let code = self.coding.scramble(name.0);
        ((u128::from(code) << 8) >> self.coding.width()) as u8
    }

    pub fn lines(&self) -> usize {
        self.lines.len()
    }

    pub fn width(&self) -> u32 {
        self.coding.width()
    }

    /// Whether there is room for this many more, and nothing was put aside.
    #[inline]
    pub fn has_room(&self, extra: usize) -> bool {
        self.aside.is_empty() && self.len + extra <= self.lines.len() * LINE / 16 * 14
    }

    pub fn bytes(&self) -> u64 {
        self.lines.bytes() + (self.aside.capacity() * 8) as u64
    }

    /// Brings the home line of a name near, and tells the scrambled form of the name.
    #[inline(always)]
    pub fn approach(&self, name: StateRef) -> u64 {
        // States that wait for a name have numbers of more bits; what is told of them is nothing.
        let code = self.coding.scramble(name.0 & self.coding.all());
        prefetch_at(&self.lines, self.homes.of(code));
        code
    }

    /// Whether the name is new; it is remembered from now on.
    #[inline(always)]
    pub fn insert(&mut self, name: StateRef) -> bool {
        self.insert_code(self.coding.scramble(name.0))
    }

    /// The same for the scrambled form of a name.
    #[inline(always)]
    pub fn insert_code(&mut self, code: u64) -> bool {
        let home = self.homes.of(code);
        let remainder = ((code & self.homes.kept) as u32) << FAR | USED;
        for far in 0..GROUP {
            let line = &mut self.lines[home ^ far];
            let wanted = remainder | far as u32;
            if line.iter().fold(false, |found, &slot| found | (slot == wanted)) {
                return false;
            }
            if line[LINE - 1] == 0 {
                line[used(line) % LINE] = wanted;
                self.len += 1;
                return true;
            }
        }
        self.put_aside(code)
    }

    /// Puts a name that is not there.
    #[inline(always)]
    pub fn add(&mut self, name: StateRef) {
        self.add_code(self.coding.scramble(name.0));
    }

    #[inline(always)]
    fn add_code(&mut self, code: u64) {
        let home = self.homes.of(code);
        let remainder = ((code & self.homes.kept) as u32) << FAR | USED;
        for far in 0..GROUP {
            let line = &mut self.lines[home ^ far];
            if line[LINE - 1] == 0 {
                line[used(line) % LINE] = remainder | far as u32;
                self.len += 1;
                return;
            }
        }
        self.put_aside(code);
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

    /// A table with this many lines, at least as many as before, and the same names. `None` when there is no
    /// memory.
    pub fn resize(&mut self, lines: usize) -> Option<()> {
        let mut larger = Quotients::new(self.width(), lines)?;
        let mut filled = Vec::new();
        filled.try_reserve_exact(lines).ok()?;
        filled.resize(lines, 0);
        let aside = std::mem::take(&mut self.aside);
        self.drain_codes(|code| larger.append(code, &mut filled));
        aside.into_iter().for_each(|code| larger.append(code, &mut filled));
        *self = larger;
        Some(())
    }

    /// Puts a name that is not there, where it is known how many slots of each line are in use.
    #[inline(always)]
    fn append(&mut self, code: u64, filled: &mut [u8]) {
        let home = self.homes.of(code);
        let remainder = ((code & self.homes.kept) as u32) << FAR | USED;
        for far in 0..GROUP {
            let used = &mut filled[home ^ far];
            if usize::from(*used) < LINE {
                self.lines[home ^ far][usize::from(*used)] = remainder | far as u32;
                *used += 1;
                self.len += 1;
                return;
            }
        }
        self.put_aside(code);
    }

    /// Gives all names away, in the order of their scrambled forms but for those within a group of lines, and
    /// memory back on the way.
    pub fn drain(&mut self, mut take: impl FnMut(StateRef)) {
        let coding = self.coding.clone();
        self.drain_codes(|code| take(coding.decode(code)));
        self.aside.iter().for_each(|&code| take(coding.decode(code)));
    }

    fn drain_codes(&mut self, mut take: impl FnMut(u64)) {
        for group in (0..self.lines.len()).step_by(GROUP) {
            let firsts = firsts(self.homes, group);
            for at in group..group + GROUP {
                codes_of(&self.lines[at], at, self.homes.kept, &firsts).for_each(&mut take);
            }
            if group.is_multiple_of(MOVED * GROUP) {
                self.lines.give_back(group);
            }
        }
    }

    /// All names.
    pub fn names(&self) -> impl Iterator<Item = StateRef> + '_ {
        let codes = (0..self.lines.len()).step_by(GROUP).flat_map(move |group| {
            let firsts = firsts(self.homes, group);
            let of_line = |at: usize| codes_of(&self.lines[at], at, self.homes.kept, &firsts);
            (group..group + GROUP).flat_map(of_line).collect::<Vec<u64>>()
        });
        codes.chain(self.aside.iter().copied()).map(|code| self.coding.decode(code))
    }
}

/// For each line of the group that begins here, the first scrambled name whose home it is.
pub(crate) fn firsts(homes: Homes, group: usize) -> [u64; GROUP] {
    std::array::from_fn(|line| homes.first(group + line))
}

/// The scrambled names that a line keeps. Those of one home are adjacent numbers, fewer than remainders, so
/// the remainder tells which of them it is.
fn codes_of<'a>(
    line: &'a [u32; LINE],
    at: usize,
    kept: u64,
    firsts: &'a [u64; GROUP],
) -> impl Iterator<Item = u64> + 'a {
    line.iter().copied().take_while(|&slot| slot != 0).map(move |slot| code_of(slot, at, kept, firsts))
}

/// The scrambled name that a slot of a line stands for.
pub(crate) fn code_of(slot: u32, at: usize, kept: u64, firsts: &[u64; GROUP]) -> u64 {
    let far = slot as usize & (GROUP - 1);
    let remainder = u64::from((slot & !USED) >> FAR);
    let first = firsts[(at ^ far) & (GROUP - 1)];
    first + (remainder.wrapping_sub(first) & kept)
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
                let name = StateRef(if i % 3 == 0 { mix(i / 2) } else { i } & low_bits(width));
                if !table.has_room(1) {
                    // Twice as large, or a little larger.
                    let more = if i % 2 == 0 { table.lines() } else { table.lines() / 3 };
                    table.resize((table.lines() + more).next_multiple_of(FEWEST)).expect("small");
                }
                assert_eq!(table.insert(name), twin.insert(name), "{name:?} of {width} bits");
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
            let (some, others): (Vec<StateRef>, Vec<StateRef>) =
                (1..1 << width).map(StateRef).partition(|name| name.0 % 3 != 0);
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
        let all = (0..(FEWEST * LINE + 100) as u64).map(StateRef);
        assert!(all.clone().all(|name| table.insert(name)));
        assert!(all.clone().all(|name| !table.insert(name)));
        assert!(!table.has_room(0));
        table.resize(4 * FEWEST).expect("small");
        assert!(table.has_room(1) && all.clone().all(|name| !table.insert(name)));
    }
}
