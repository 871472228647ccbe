//! The exact store: every name is remembered, by open addressing, made for look-ups that were prefetched.
//!
//! The table is an array of cache lines of eight names, indexed by the high bits of the hash; a line is filled from its
//! front and overflows into the next. Zero marks a free place: no state is named 0. Doubling walks the old table from front to back and fills the new one in the same direction, because the high bits order both
//! alike: that is sequential in memory, and the old part is given back on the way.

use crate::hash::mix;
use crate::pages::{Pages, prefetch};
use crate::{Name, Visited};

const LINE: usize = 8;
const FIRST_LINES: usize = 32;
/// Lines moved before the old table's front is given back.
const MOVED: usize = 1 << 15;

pub struct Exact {
    lines: Pages<[u64; LINE]>,
    /// The home line of a name is its hash shifted right by this.
    shift: u32,
    len: usize,
    overflow: Overflow,
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

impl Exact {
    pub fn new() -> Self {
        Exact {
            lines: Pages::small(FIRST_LINES),
            shift: 64 - FIRST_LINES.trailing_zeros(),
            len: 0,
            overflow: Overflow::Ends,
        }
    }

    /// A store that does not end the search when memory does, but asks to be replaced by one that forgets.
    pub fn replaceable(self) -> Self {
        Exact { overflow: Overflow::Moves, ..self }
    }

    /// All names.
    pub fn names(&self) -> impl Iterator<Item = Name> + '_ {
        self.lines.iter().flatten().copied().filter(|&name| name != 0)
    }

    /// Gives all names away in the order of a key of a byte, and memory back on the way: whoever takes them into a table
    /// that the key orders fills it from its front, so the two are never there as a whole at the same time.
    pub fn drain(mut self, key: impl Fn(Name) -> u8, mut take: impl FnMut(Name)) {
        sort(self.lines.as_flattened_mut(), |name| if name == 0 { FREE } else { usize::from(key(name)) });
        for at in 0..self.lines.len() {
            self.lines[at].into_iter().filter(|&name| name != 0).for_each(&mut take);
            if at.is_multiple_of(MOVED) {
                self.lines.give_back(at);
            }
        }
    }

    #[inline(always)]
    fn home(&self, name: Name) -> usize {
        (mix(name) >> self.shift) as usize
    }
}

impl Visited for Exact {
    const RENAMES: bool = true;

    fn rename(&mut self, translate: &mut dyn FnMut(Name) -> Name) -> Option<()> {
        let mut other = Pages::zeroed(self.lines.len())?;
        for at in 0..self.lines.len() {
            for name in self.lines[at].into_iter().filter(|&name| name != 0) {
                let name = translate(name);
                place(&mut other, (mix(name) >> self.shift) as usize, name);
            }
            if at.is_multiple_of(MOVED) {
                self.lines.give_back(at);
            }
        }
        self.lines = other;
        Some(())
    }

    #[inline(always)]
    fn prefetch(&self, name: Name) {
        prefetch(&self.lines[self.home(name)]);
    }

    #[inline(always)]
    fn insert(&mut self, name: Name) -> bool {
        let home = self.home(name);
        let new = place(&mut self.lines, home, name);
        self.len += usize::from(new);
        new
    }

    #[inline]
    fn growth(&self, extra: usize) -> Option<u64> {
        let places = self.lines.len() * LINE;
        let enough = if self.overflow == Overflow::Due { places - 1 } else { places / 16 * 13 };
        (self.len + extra > enough).then_some(self.lines.bytes())
    }

    fn grow(&mut self) -> Option<()> {
        let mut larger = Pages::zeroed(self.lines.len() * 2)?;
        let shift = self.shift - 1;
        for at in 0..self.lines.len() {
            for name in self.lines[at] {
                if name != 0 {
                    place(&mut larger, (mix(name) >> shift) as usize, name);
                }
            }
            if at.is_multiple_of(MOVED) {
                self.lines.give_back(at);
            }
        }
        self.lines = larger;
        self.shift = shift;
        Some(())
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

    fn len(&self) -> u64 {
        self.len as u64
    }

    fn bytes(&self) -> u64 {
        self.lines.bytes()
    }
}

/// Puts a name at or after its home line, unless it is there; tells whether it was put.
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

/// The key of a free place, after those of names.
const FREE: usize = 256;

/// Sorts by a small key, in place: each item is carried to where the items of its key are gathered, and the one it
/// finds there is carried on ("American flag sort": McIlroy, Bostic, McIlroy 1993).
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
        let name = |i: u64| (i + 1).wrapping_mul(0x1234_5677).rotate_left((i % 64) as u32);
        let mut twin = std::collections::HashSet::new();
        for i in (0..60_000).chain(0..60_000) {
            if exact.growth(1).is_some() {
                exact.grow().expect("small");
            }
            assert_eq!(exact.insert(name(i)), twin.insert(name(i)));
        }
        assert_eq!(exact.len(), twin.len() as u64);
    }

    #[test]
    fn names_are_given_away_in_order() {
        for count in [0u64, 1, 100, 5000] {
            let mut exact = Exact::new();
            for i in 0..count {
                if exact.growth(1).is_some() {
                    exact.grow().expect("small");
                }
                exact.insert(mix(i) | 1);
            }
            let mut expected: Vec<Name> = exact.names().collect();
            let mut given = Vec::new();
            exact.drain(|name| (name >> 56) as u8, |name| given.push(name));
            assert!(given.is_sorted_by_key(|name| name >> 56));
            expected.sort_unstable();
            given.sort_unstable();
            assert_eq!(given, expected);
        }
    }
}
