//! The bounded store: names within a fixed budget. When it is full, a name that may be forgotten makes room.
//!
//! After Jard and Jéron, Bounded-memory algorithms for verification on-the-fly (1991), section 2. Names on the current
//! path are *pinned* and never forgotten. The table is an array of cache lines with six names each and sixteen bits of
//! mark by name (whether it is pinned, and what the policy of replacement needs to know). A name lives in its home line,
//! or in a line after it when all names of the lines between are pinned or, while the table still grows, taken; each
//! line counts the names that passed it by, so a look-up knows when to stop.
//!
//! Replacement is set-associative: the victim comes from the home line of the newcomer. The report chooses among all
//! visited states; among the six that hash to the same line is as random, and costs no more than the look-up before.
//!
//! The home line grows with the hash, so that a table of any number of lines can be moved into another from front to
//! back, and given back on the way: neither growing nor shrinking needs two tables at once.

use super::hash::mix;
use super::pages::{Pages, prefetch};
use super::sketch::Sketch;
use super::{Name, Visited};
use crate::Replacement;

const NAMES: usize = 6;
const FIRST_LINES: usize = 64;
const PINNED: u16 = 1 << 15;
const MARK: u16 = PINNED - 1;
/// Lines moved before the old table's front is given back.
const MOVED: usize = 1 << 15;

/// Six names; then their marks, four and two; then how many names passed by.
type Line = [u64; 8];

/// What happened to the names so far.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Turnover {
    pub(crate) insertions: u64,
    pub(crate) replaced: u64,
    pub(crate) hits: u64,
}

pub(crate) struct Bounded {
    lines: Pages<Line>,
    len: usize,
    pinned: usize,
    policy: Replacement,
    replaces: bool,
    random: u64,
    /// The depth that names are inserted at, for the policy that asks.
    pub(crate) depth: u64,
    pub(crate) turnover: Turnover,
    pub(crate) sketch: Sketch,
}

impl Bounded {
    pub(crate) fn new(policy: Replacement, seed: u64) -> Self {
        Bounded {
            lines: Pages::small(FIRST_LINES),
            len: 0,
            pinned: 0,
            policy,
            replaces: false,
            random: seed,
            depth: 0,
            turnover: Turnover::default(),
            sketch: Sketch::new(),
        }
    }

    /// Whether a name is remembered.
    #[inline]
    pub(crate) fn contains(&mut self, name: Name) -> bool {
        let found = self.find(name);
        if let Some((line, slot)) = found {
            self.touch(line, slot);
        }
        found.is_some()
    }

    /// Remembers a name that stays until [`Bounded::unpin`]. `None` when all room is pinned.
    pub(crate) fn insert_pinned(&mut self, name: Name) -> Option<()> {
        // Half the table is kept from the path: a table of pinned names only would make each look-up a walk.
        if self.pinned * 2 >= self.lines.len() * NAMES {
            return None;
        }
        let (line, slot) = match self.find(name) {
            Some(place) => place,
            None => self.put(name),
        };
        let mark = mark(&self.lines[line], slot);
        debug_assert_eq!(mark & PINNED, 0, "a name is on the path once");
        set_mark(&mut self.lines[line], slot, mark | PINNED);
        self.pinned += 1;
        Some(())
    }

    /// A name leaves the path; it may be forgotten from now on.
    pub(crate) fn unpin(&mut self, name: Name) {
        if let Some((line, slot)) = self.find(name) {
            let mark = mark(&self.lines[line], slot);
            set_mark(&mut self.lines[line], slot, mark & !PINNED);
            self.pinned -= 1;
        }
    }

    #[inline(always)]
    fn home(&self, name: Name) -> usize {
        home(name, self.lines.len())
    }

    #[inline(always)]
    fn find(&self, name: Name) -> Option<(usize, usize)> {
        let mut at = self.home(name);
        loop {
            let line = &self.lines[at];
            for (slot, &held) in line[..NAMES].iter().enumerate() {
                if held == name {
                    return Some((at, slot));
                }
            }
            if passed(line) == 0 {
                return None;
            }
            at = next(at, self.lines.len());
        }
    }

    /// Puts a name that is not there. There is a line that is neither full nor pinned.
    #[inline]
    fn put(&mut self, name: Name) -> (usize, usize) {
        self.turnover.insertions += 1;
        let mut at = self.home(name);
        let slot = loop {
            if let Some(slot) = self.lines[at][..NAMES].iter().position(|&held| held == 0) {
                self.len += 1;
                break slot;
            }
            if self.replaces
                && let Some(slot) = self.victim(at)
            {
                self.forget(at, slot);
                break slot;
            }
            pass(&mut self.lines[at], 1);
            at = next(at, self.lines.len());
        };
        let mark = self.first_mark();
        let line = &mut self.lines[at];
        line[slot] = name;
        set_mark(line, slot, mark);
        (at, slot)
    }

    /// Empties a slot whose name another one takes.
    fn forget(&mut self, line: usize, slot: usize) {
        self.turnover.replaced += 1;
        let name = self.lines[line][slot];
        let mut at = self.home(name);
        while at != line {
            pass(&mut self.lines[at], -1);
            at = next(at, self.lines.len());
        }
        self.lines[line][slot] = 0;
    }

    /// The slot of a line whose name is to be forgotten; `None` when all are pinned.
    fn victim(&mut self, line: usize) -> Option<usize> {
        self.random = self.random.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let start = (mix(self.random) >> 32) as usize % NAMES;
        let now = self.epoch();
        let line = &mut self.lines[line];
        if self.policy == Replacement::Clock {
            return sweep(line, start);
        }
        let mut free = rotated(start).filter(|&slot| mark(line, slot) & PINNED == 0);
        match self.policy {
            Replacement::Oldest => free.max_by_key(|&slot| now.wrapping_sub(mark(line, slot)) & MARK),
            Replacement::LeastDeep | Replacement::LeastFrequent => free.min_by_key(|&slot| mark(line, slot)),
            Replacement::Random | Replacement::Clock => free.next(),
        }
    }

    /// The mark of a name that comes in.
    fn first_mark(&self) -> u16 {
        match self.policy {
            Replacement::Random | Replacement::Clock => 0,
            Replacement::LeastFrequent => 1,
            Replacement::Oldest => self.epoch(),
            Replacement::LeastDeep => self.depth.min(u64::from(MARK)) as u16,
        }
    }

    /// A name is met again.
    #[inline]
    fn touch(&mut self, line: usize, slot: usize) {
        self.turnover.hits += 1;
        let line = &mut self.lines[line];
        let old = mark(line, slot);
        match self.policy {
            Replacement::Clock => set_mark(line, slot, old | 1),
            Replacement::LeastFrequent if old & MARK < MARK => set_mark(line, slot, old + 1),
            _ => {}
        }
    }

    /// The time of an insertion, as coarse as fifteen bits need: the table turns over in some thousands of ticks.
    fn epoch(&self) -> u16 {
        (self.turnover.insertions / (self.lines.len() as u64 / 512 + 1)) as u16 & MARK
    }

    /// Moves all names into a table of so many lines; what does not fit is forgotten. `None` when there is no memory.
    fn move_to(&mut self, lines: usize) -> Option<()> {
        let mut old = std::mem::replace(&mut self.lines, Pages::zeroed(lines)?);
        let before = self.turnover;
        self.len = 0;
        for at in 0..old.len() {
            for slot in 0..NAMES {
                if old[at][slot] != 0 {
                    let (line, place) = self.put(old[at][slot]);
                    set_mark(&mut self.lines[line], place, mark(&old[at], slot));
                }
            }
            if at.is_multiple_of(MOVED) {
                old.give_back(at);
            }
        }
        self.turnover = Turnover { replaced: self.turnover.replaced, ..before };
        Some(())
    }

    /// Frees at least so many bytes by shrinking the table. `None` when the path needs what is left.
    pub(crate) fn shrink(&mut self, bytes: u64) -> Option<()> {
        self.replaces = true;
        let fewer = bytes as usize / size_of::<Line>() + self.lines.len() / 16 + 1;
        let lines = self.lines.len().checked_sub(fewer)?;
        if lines < FIRST_LINES || self.pinned * 2 >= lines * NAMES {
            return None;
        }
        self.move_to(lines)
    }
}

impl Visited for Bounded {
    #[inline(always)]
    fn prefetch(&self, name: Name) {
        prefetch(&self.lines[self.home(name)]);
    }

    #[inline(always)]
    fn insert(&mut self, name: Name) -> bool {
        if self.contains(name) {
            return false;
        }
        self.put(name);
        true
    }

    #[inline]
    fn growth(&self, extra: usize) -> Option<u64> {
        let places = self.lines.len() * NAMES;
        (!self.replaces && self.len + extra > places / 16 * 13).then_some(self.lines.bytes())
    }

    fn grow(&mut self) -> Option<()> {
        self.move_to(self.lines.len() * 2)
    }

    fn fill(&mut self, room: u64) -> bool {
        let more = room as usize / size_of::<Line>();
        if more < self.lines.len() / 8 || self.move_to(self.lines.len() + more).is_none() {
            self.replaces = true;
        }
        true
    }

    #[inline(always)]
    fn replaces(&self) -> bool {
        self.replaces
    }

    fn note(&mut self, state: &[u8]) {
        self.sketch.add(state);
    }

    fn give_room(&mut self, bytes: u64) -> bool {
        self.shrink(bytes).is_some()
    }

    fn len(&self) -> u64 {
        self.len as u64
    }

    fn bytes(&self) -> u64 {
        self.lines.bytes()
    }
}

/// All slots of a line, from one on.
fn rotated(start: usize) -> impl Iterator<Item = usize> {
    (0..NAMES).map(move |i| (start + i) % NAMES)
}

/// The clock's hand goes over a line: the first name not met since the last time, else the first at all.
fn sweep(line: &mut Line, start: usize) -> Option<usize> {
    let mut first = None;
    for slot in rotated(start) {
        match mark(line, slot) {
            0 => return Some(slot),
            met if met & PINNED == 0 => {
                set_mark(line, slot, 0);
                first = first.or(Some(slot));
            }
            _ => {}
        }
    }
    first
}

#[inline(always)]
fn home(name: Name, lines: usize) -> usize {
    ((u128::from(mix(name)) * lines as u128) >> 64) as usize
}

#[inline(always)]
fn next(at: usize, lines: usize) -> usize {
    if at + 1 == lines { 0 } else { at + 1 }
}

#[inline(always)]
fn mark(line: &Line, slot: usize) -> u16 {
    (line[NAMES + slot / 4] >> (16 * (slot % 4))) as u16
}

#[inline(always)]
fn set_mark(line: &mut Line, slot: usize, mark: u16) {
    let shift = 16 * (slot % 4);
    let word = &mut line[NAMES + slot / 4];
    *word = *word & !(0xFFFF << shift) | u64::from(mark) << shift;
}

/// How many names of the lines before, and of this one, had to go further.
#[inline(always)]
fn passed(line: &Line) -> u32 {
    (line[7] >> 32) as u32
}

fn pass(line: &mut Line, more: i32) {
    let passed = passed(line).wrapping_add_signed(more);
    line[7] = line[7] & 0xFFFF_FFFF | u64::from(passed) << 32;
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    const ALL: [Replacement; 5] = [
        Replacement::Random,
        Replacement::Oldest,
        Replacement::LeastDeep,
        Replacement::LeastFrequent,
        Replacement::Clock,
    ];

    fn name(i: u64) -> Name {
        mix(i) | 1
    }

    #[test]
    fn nothing_is_forgotten_before_the_table_is_full() {
        for policy in ALL {
            let mut bounded = Bounded::new(policy, 7);
            let mut twin = HashSet::new();
            for i in (0..20_000).chain(5000..25_000) {
                if bounded.growth(1).is_some() {
                    bounded.grow().expect("small");
                }
                assert_eq!(bounded.insert(name(i)), twin.insert(name(i)), "{policy:?} {i}");
            }
            assert_eq!(bounded.len(), twin.len() as u64);
            assert_eq!(bounded.turnover.replaced, 0);
        }
    }

    #[test]
    fn pinned_names_are_never_forgotten_and_what_is_held_was_inserted() {
        for policy in ALL {
            let mut bounded = Bounded::new(policy, 7);
            bounded.fill(64 * 64);
            bounded.fill(0);
            assert!(bounded.replaces());
            let mut path: Vec<Name> = Vec::new();
            for i in 0..30_000u64 {
                bounded.depth = path.len() as u64;
                let new = name(i % 7000);
                if i % 5 < 3 && path.len() < 200 && !path.contains(&new) {
                    bounded.insert_pinned(new).expect("a path of 200 names");
                    path.push(new);
                } else if let Some(last) = path.pop() {
                    bounded.unpin(last);
                }
                assert!(i % 100 != 0 || path.iter().all(|&name| bounded.contains(name)), "{policy:?}");
                assert!(!bounded.contains(name(i % 1000 + 8000)));
                if i == 20_000 {
                    bounded.shrink(20 * 64).expect("most is free");
                }
            }
            assert!(bounded.turnover.replaced > 1000);
            assert!(bounded.len() <= (bounded.lines.len() * NAMES) as u64);
        }
    }
}
