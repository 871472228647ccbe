//! The exact store: every name is remembered, by open addressing, made for look-ups that were prefetched.
//!
//! Names of few bits are kept in four bytes each ([`Quotients`]). Others are kept whole: an array of cache
//! lines of eight names, in the order of their hashes; a line is filled from its front and overflows into the
//! next. Zero marks a free place: no state is named 0. Growing walks the old table from front to back and
//! fills the new one in the same direction, because hashes order both alike: that is sequential in memory,
//! and the old part is given back on the way. A table of whole names that is full first looks whether its
//! names would fit in four bytes, in as many lines.

use crate::hash::mix;
use crate::near::Near;
use crate::pages::{Pages, prefetch};
use crate::quotients::{FEWEST, Quotients};
use crate::{StateRef, Visited};

const LINE: usize = 8;
/// A table of more lines than this grows by half, a smaller one is doubled: there a few bytes more do not
/// matter.
const DOUBLED: usize = 1 << 16;
/// Lines moved before the old table's front is given back.
const MOVED: usize = 1 << 15;
/// A table of more lines than this, of 4 megabytes, should not be there twice while names change.
const HEAVY: usize = 1 << 16;

/// All names that a search has met.
pub struct Exact {
    table: Form,
    /// Bits that names have, at most.
    width: u32,
    overflow: Overflow,
}

enum Form {
    Whole(Whole),
    Quotients(Quotients),
}

/// What happens when the table may not grow as it should.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Overflow {
    /// The search ends.
    Ends,
    /// The names are to move to a store that forgets some.
    Moves,
    /// That is due now.
    Due,
}

/// A table of whole names.
struct Whole {
    lines: Pages<[u64; LINE]>,
    len: usize,
}

impl Whole {
    fn new(lines: usize) -> Option<Self> {
        Some(Whole { lines: Pages::zeroed(lines)?, len: 0 })
    }

    /// The home line of a name: as far in the table as its hash is among all hashes.
    #[inline(always)]
    fn home(&self, name: StateRef) -> usize {
        ((u128::from(mix(name.0)) * self.lines.len() as u128) >> 64) as usize
    }

    #[inline(always)]
    fn insert(&mut self, name: StateRef) -> bool {
        self.insert_at(self.home(name), name)
    }

    #[inline(always)]
    fn insert_at(&mut self, home: usize, name: StateRef) -> bool {
        let new = place(&mut self.lines, home, name.0);
        self.len += usize::from(new);
        new
    }

    /// A table with this many lines, at least as many as before, and the same names. Hashes order both alike, so each
    /// is gone through from front to back. `None` when there is no memory.
    fn resize(&mut self, lines: usize) -> Option<()> {
        let mut larger = Whole::new(lines)?;
        let mut filled: Vec<u8> = Vec::new();
        filled.try_reserve_exact(lines).ok()?;
        filled.resize(lines, 0);
        larger.len = self.len;
        self.drain(|name| {
            let mut at = larger.home(name);
            while usize::from(filled[at]) == LINE {
                at = if at + 1 == lines { 0 } else { at + 1 };
            }
            larger.lines[at][usize::from(filled[at]) % LINE] = name.0;
            filled[at] += 1;
        });
        *self = larger;
        Some(())
    }

    /// Puts its names to its front, in the order of a key of a byte, and gives the memory behind them back:
    /// nothing is where it would be looked for.
    fn sort(&mut self, key: impl Fn(StateRef) -> u8) {
        sort(self.lines.as_flattened_mut(), |name| match name {
            0 => FREE,
            name => usize::from(key(StateRef(name))),
        });
        self.lines.give_back_from(self.len.div_ceil(LINE));
    }

    /// Gives all names away, and memory back on the way.
    fn drain(&mut self, mut take: impl FnMut(StateRef)) {
        let mut left = self.len;
        for at in 0..self.lines.len() {
            for name in self.lines[at].into_iter().filter(|&name| name != 0) {
                take(StateRef(name));
                left -= 1;
            }
            if left == 0 {
                break;
            }
            if at.is_multiple_of(MOVED) {
                self.lines.give_back(at);
            }
        }
    }
}

impl Form {
    fn new(width: u32, lines: usize) -> Option<Self> {
        Some(if Quotients::fits(width, lines) {
            Form::Quotients(Quotients::new(width, lines)?)
        } else {
            Form::Whole(Whole::new(lines)?)
        })
    }

    fn lines(&self) -> usize {
        match self {
            Form::Whole(table) => table.lines.len(),
            Form::Quotients(table) => table.lines(),
        }
    }

    #[inline(always)]
    fn insert(&mut self, name: StateRef) -> bool {
        match self {
            Form::Whole(table) => table.insert(name),
            Form::Quotients(table) => table.insert(name),
        }
    }

    /// The same for one that was approached: where its home is, or its scrambled form.
    #[inline(always)]
    fn insert_near(&mut self, name: StateRef, near: u64) -> bool {
        debug_assert_eq!(near, self.approach(name), "what is near a name is told anew when that changes");
        match self {
            Form::Whole(table) => table.insert_at(near as usize, name),
            Form::Quotients(table) => table.insert_code(near),
        }
    }

    /// Puts a name that is not there.
    #[inline(always)]
    fn add(&mut self, name: StateRef) {
        match self {
            Form::Whole(table) => {
                table.insert(name);
            }
            Form::Quotients(table) => table.add(name),
        }
    }

    #[inline(always)]
    fn approach(&self, name: StateRef) -> u64 {
        match self {
            Form::Whole(table) => {
                let home = table.home(name);
                prefetch(&table.lines[home]);
                home as u64
            }
            Form::Quotients(table) => table.approach(name),
        }
    }

    /// How far in the table a name is looked for first, in parts of which there are 256.
    fn key(&self, name: StateRef) -> u8 {
        match self {
            Form::Whole(_) => (mix(name.0) >> 56) as u8,
            Form::Quotients(table) => table.key(name),
        }
    }

    fn drain(&mut self, take: impl FnMut(StateRef)) {
        match self {
            Form::Whole(table) => table.drain(take),
            Form::Quotients(table) => table.drain(take),
        }
    }

    fn len(&self) -> usize {
        match self {
            Form::Whole(table) => table.len,
            Form::Quotients(table) => table.len(),
        }
    }

    fn bytes(&self) -> u64 {
        match self {
            Form::Whole(table) => table.lines.bytes(),
            Form::Quotients(table) => table.bytes(),
        }
    }
}

impl Exact {
    /// For names of any width.
    pub fn new() -> Self {
        let whole = Whole { lines: Pages::small(FEWEST), len: 0 };
        Exact { table: Form::Whole(whole), width: 64, overflow: Overflow::Ends }
    }

    /// A store that does not end the search when memory does, but asks to be replaced by one that forgets.
    pub fn replaceable(self) -> Self {
        Exact { overflow: Overflow::Moves, ..self }
    }

    /// All names.
    pub fn names(&self) -> Box<dyn Iterator<Item = StateRef> + '_> {
        match &self.table {
            Form::Whole(table) => {
                Box::new(table.lines.iter().flatten().filter(|&&name| name != 0).map(|&name| StateRef(name)))
            }
            Form::Quotients(table) => Box::new(table.names()),
        }
    }

    /// Gives all names away in the order of a key of a byte, or of their scrambled forms, and memory back on
    /// the way: whoever takes them into a table that is ordered alike fills it from its front, so the two are
    /// never there as a whole at the same time.
    pub fn drain(mut self, key: impl Fn(StateRef) -> u8, take: impl FnMut(StateRef)) {
        if let Form::Whole(table) = &mut self.table {
            table.sort(key);
        }
        self.table.drain(take);
    }

    /// Moves all names to another table, translated.
    fn move_to(&mut self, mut other: Form, translate: &mut dyn FnMut(StateRef) -> StateRef) {
        let mut near = Near::new();
        self.table.drain(|name| {
            let name = translate(name);
            other.approach(name);
            if let Some(name) = near.exchange(name) {
                other.add(name);
            }
        });
        near.rest().for_each(|name| other.add(name));
        self.table = other;
    }
}

impl Visited for Exact {
    const RENAMES: bool = true;
    const LASTING: bool = true;

    fn rename(&mut self, width: u32, translate: &mut dyn FnMut(StateRef) -> StateRef) -> Option<()> {
        self.width = width;
        let to = Form::new(width, lines_for_names(width, self.table.len()))?;
        match &mut self.table {
            Form::Whole(table) if table.lines.len() > HEAVY => {
                let places = table.lines.as_flattened_mut().iter_mut().filter(|place| **place != 0);
                places.for_each(|place| *place = translate(StateRef(*place)).0);
                table.sort(|name| to.key(name));
                self.move_to(to, &mut |name| name);
            }
            _ => self.move_to(to, translate),
        }
        Some(())
    }

    fn rename_growth(&self, width: u32) -> u64 {
        let new = lines_for_names(width, self.table.len()) as u64 * 64;
        match &self.table {
            // Remainders cannot be translated where they are.
            Form::Quotients(table) if table.lines() > HEAVY => new,
            _ => new.saturating_sub(self.table.bytes()),
        }
    }

    fn name_bits(&self) -> u32 {
        // As many as fit four bytes in the next larger table.
        (self.table.lines() * 2).ilog2() + Quotients::REMAINDER
    }

    #[inline(always)]
    fn prefetch(&self, name: StateRef) {
        self.table.approach(name);
    }

    #[inline(always)]
    fn insert(&mut self, name: StateRef) -> bool {
        self.table.insert(name)
    }

    #[inline(always)]
    fn approach(&self, name: StateRef) -> u64 {
        self.table.approach(name)
    }

    #[inline(always)]
    fn insert_near(&mut self, name: StateRef, near: u64) -> bool {
        self.table.insert_near(name, near)
    }

    #[inline]
    fn growth(&self, extra: usize) -> Option<u64> {
        let has_room = match &self.table {
            Form::Whole(table) => {
                let places = table.lines.len() * LINE;
                let enough = if self.overflow == Overflow::Due { places - 1 } else { places / 16 * 14 };
                table.len + extra <= enough
            }
            Form::Quotients(table) => self.overflow == Overflow::Due || table.has_room(extra),
        };
        (!has_room).then(|| (larger(self.table.lines()) - self.table.lines()) as u64 * 64)
    }

    fn grow(&mut self) -> Option<()> {
        let lines = self.table.lines();
        if let Form::Quotients(table) = &mut self.table {
            return table.resize(larger(lines));
        }
        let more = larger(lines);
        let short = short_lines(self.width, self.table.len()).filter(|&short| short <= more);
        match (&mut self.table, short) {
            (Form::Whole(table), None) => table.resize(more),
            _ => {
                self.move_to(Form::new(self.width, short.unwrap_or(more))?, &mut |name| name);
                Some(())
            }
        }
    }

    fn give_room(&mut self, _: u64) -> bool {
        if self.overflow == Overflow::Ends {
            return false;
        }
        self.overflow = Overflow::Due;
        true
    }

    #[inline(always)]
    fn replaces(&self) -> bool {
        self.overflow == Overflow::Due
    }

    fn each_name(&self, give: &mut dyn FnMut(StateRef)) {
        self.names().for_each(give);
    }

    fn len(&self) -> u64 {
        self.table.len() as u64
    }

    fn bytes(&self) -> u64 {
        self.table.bytes()
    }
}

/// Lines for a number of names of so many bits: in four bytes each, unless that needs more lines than whole
/// names do.
pub(crate) fn lines_for_names(width: u32, len: usize) -> usize {
    let whole = lines_for(len, 6);
    short_lines(width, len).filter(|&short| short <= whole).unwrap_or(whole)
}

/// Lines that a number of names of so many bits need in four bytes each.
fn short_lines(width: u32, len: usize) -> Option<usize> {
    let lines = lines_for(len, 13).max(Quotients::fewest(width));
    Quotients::fits(width, lines).then_some(lines)
}

/// Lines for a number of names, a number of them to a line, with room for more.
pub(crate) fn lines_for(len: usize, by_line: usize) -> usize {
    let least = len / by_line + 1;
    if least > DOUBLED {
        (least + least / 4).next_multiple_of(FEWEST)
    } else {
        least.next_power_of_two().max(FEWEST)
    }
}

/// The lines of the next larger table.
pub(crate) fn larger(lines: usize) -> usize {
    if lines > DOUBLED { (lines + lines / 2).next_multiple_of(FEWEST) } else { lines * 2 }
}

/// Puts a name at or after its home line, unless it is there; tells whether it was put. A line is looked at as a
/// whole: nobody can foresee in which of its places a look would end.
#[inline(always)]
fn place(lines: &mut [[u64; LINE]], home: usize, name: u64) -> bool {
    let mut at = home;
    loop {
        let line = &mut lines[at];
        if line.iter().fold(false, |found, &slot| found | (slot == name)) {
            return false;
        }
        if line[LINE - 1] == 0 {
            line[used(line) % LINE] = name;
            return true;
        }
        at += 1;
        if at == lines.len() {
            at = 0;
        }
    }
}

/// How many places of a line that is not full are in use: they are its first, so the number is found bit by bit.
#[inline(always)]
fn used(line: &[u64; LINE]) -> usize {
    [4, 2, 1].into_iter().fold(0, |used, bit| used + usize::from(line[used + bit - 1] != 0) * bit)
}

/// The key of a free place, after those of names.
const FREE: usize = 256;

/// Sorts by a small key, in place: each item is carried to where the items of its key are gathered, and the
/// one it finds there is carried on ("American flag sort": McIlroy, Bostic, McIlroy 1993).
fn sort(items: &mut [u64], key: impl Fn(u64) -> usize) {
    let mut ends = [0; FREE + 1];
    items.iter().for_each(|&item| ends[key(item)] += 1);
    let mut heads = ends;
    let mut before = 0;
    for (head, end) in heads.iter_mut().zip(&mut ends) {
        *head = before;
        before += *end;
        *end = before;
    }
    for current in 0..=FREE {
        while heads[current] < ends[current] {
            let mut item = items[heads[current]];
            loop {
                let home = key(item);
                if home == current {
                    break;
                }
                std::mem::swap(&mut item, &mut items[heads[home]]);
                heads[home] += 1;
            }
            items[heads[current]] = item;
            heads[current] += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_new_once_and_survives_growth() {
        let mut exact = Exact::new();
        let name = |i: u64| StateRef((i + 1).wrapping_mul(0x1234_5677).rotate_left((i % 64) as u32));
        let mut twin = std::collections::HashSet::new();
        for i in (0..60_000).chain(0..60_000) {
            if exact.growth(1).is_some() {
                exact.grow().expect("small");
            }
            assert_eq!(exact.insert(name(i)), twin.insert(name(i)));
        }
        assert_eq!(exact.len(), twin.len() as u64);
    }

    /// Names change in tables that are too large to be there twice, too, and in each form.
    #[test]
    fn names_change_and_none_is_lost() {
        for (count, width, to) in [(400_000u64, 62, 63), (400_000, 62, 40), (900_000, 34, 62), (1000, 62, 63)]
        {
            let mut exact = Exact::new();
            exact.rename(width, &mut |name| name).expect("small");
            let before = |i: u64| StateRef(mix(i) & ((1 << 34) - 1) | 1 << 33);
            let after = |name: StateRef| StateRef((name.0 ^ 5) | (1 << (to - 1)));
            for i in 0..count {
                if exact.growth(1).is_some() {
                    exact.grow().expect("small");
                }
                exact.insert(before(i));
            }
            let mut expected: Vec<StateRef> = exact.names().map(after).collect();
            exact.rename(to, &mut |name| after(name)).expect("small");
            let mut renamed: Vec<StateRef> = exact.names().collect();
            expected.sort_unstable();
            renamed.sort_unstable();
            assert!(renamed == expected, "{} names of {to} bits", renamed.len());
            assert!((0..count).all(|i| !exact.insert(after(before(i)))), "{count} names of {to} bits");
        }
    }

    #[test]
    fn names_are_given_away_in_order() {
        for count in [0u64, 1, 100, 5000] {
            let mut exact = Exact::new();
            for i in 0..count {
                if exact.growth(1).is_some() {
                    exact.grow().expect("small");
                }
                exact.insert(StateRef(mix(i) | 1));
            }
            let mut expected: Vec<StateRef> = exact.names().collect();
            let mut given = Vec::new();
            exact.drain(|name| (name.0 >> 56) as u8, |name| given.push(name));
            assert!(given.is_sorted_by_key(|name| name.0 >> 56));
            expected.sort_unstable();
            given.sort_unstable();
            assert_eq!(given, expected);
        }
    }
}
