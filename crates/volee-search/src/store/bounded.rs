//! The bounded store: names within a fixed budget. When it is full, a name that may be forgotten makes room.
//!
//! After Jard and Jéron, Bounded-memory algorithms for verification on-the-fly (1991), section 2. Names on the current
//! path are *pinned* and never forgotten. The table is an array of cache lines with six names each and sixteen bits of
//! mark by name (whether it is pinned, and what the policy of replacement needs to know). A name lives in its home line,
//! or in a line after it when all names of the lines between are pinned; each line counts the names that passed it by, so
//! a look-up knows when to stop.
//!
//! Replacement is set-associative: the victim comes from the home line of the newcomer. The report chooses among all
//! visited states; among the six that hash to the same line is as random, and costs no more than the look-up before.
//!
//! The home line grows with the hash, so that a table can be moved into another of any size from front to back, and given
//! back on the way: neither taking over the exact store's names nor shrinking needs two tables at once.

use super::exact::Exact;
use super::hash::mix;
use super::pages::{Pages, prefetch};
use super::sketch::Sketch;
use super::{Name, Visited};
use crate::Replacement;

const NAMES: usize = 6;
const FIRST_LINES: usize = 64;
/// How many times a price survives being passed over before it is worth an eighth of a doubling less.
const AGEING: u16 = 4;
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
    random: u64,
    /// The depth that names are inserted at, for the policy that asks.
    pub(crate) depth: u64,
    pub(crate) turnover: Turnover,
    pub(crate) sketch: Sketch,
}

impl Bounded {
    /// A store in so many bytes, with the names of an exact one as far as they fit. `None` when there is no memory.
    pub(crate) fn new(exact: Exact, bytes: u64, policy: Replacement, seed: u64) -> Option<Self> {
        let lines = usize::try_from(bytes).ok()? / size_of::<Line>();
        let mut bounded = Bounded {
            lines: Pages::zeroed(lines.max(FIRST_LINES))?,
            len: 0,
            pinned: 0,
            policy,
            random: seed,
            depth: 0,
            turnover: Turnover::default(),
            sketch: Sketch::new(),
        };
        exact.drain(|name| {
            bounded.put(name);
        });
        Some(bounded)
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

    /// A name leaves the path; it may be forgotten from now on. So many names were stored while it was there.
    pub(crate) fn unpin(&mut self, name: Name, work: u64) {
        if let Some((line, slot)) = self.find(name) {
            let mark = match self.policy {
                Replacement::Cheapest => price(work),
                _ => mark(&self.lines[line], slot) & !PINNED,
            };
            set_mark(&mut self.lines[line], slot, mark);
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
            if let Some(slot) = self.victim(at) {
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
        match self.policy {
            Replacement::Clock => return sweep(line, start),
            Replacement::Cheapest => return cheapest(line, start),
            _ => {}
        }
        let mut free = rotated(start).filter(|&slot| mark(line, slot) & PINNED == 0);
        match self.policy {
            Replacement::Oldest => free.max_by_key(|&slot| now.wrapping_sub(mark(line, slot)) & MARK),
            Replacement::LeastDeep | Replacement::LeastFrequent => free.min_by_key(|&slot| mark(line, slot)),
            Replacement::Random | Replacement::Clock | Replacement::Cheapest => free.next(),
        }
    }

    /// The mark of a name that comes in.
    fn first_mark(&self) -> u16 {
        match self.policy {
            Replacement::Random | Replacement::Clock | Replacement::Cheapest => 0,
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

    fn growth(&self, _: usize) -> Option<u64> {
        None
    }

    fn grow(&mut self) -> Option<()> {
        None
    }

    #[inline(always)]
    fn replaces(&self) -> bool {
        true
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

/// What it costs to forget a state that took so much work: on a logarithmic scale, an eighth of a doubling by step.
fn price(work: u64) -> u16 {
    let work = work.max(1);
    let doublings = work.ilog2();
    let eighths = ((u128::from(work) << 3) >> doublings) as u16 & 7;
    (doublings as u16 * 8 + eighths) * AGEING
}

/// The cheapest name of a line. The others lose a little, so that a dear name that is never met again goes in the end.
fn cheapest(line: &mut Line, start: usize) -> Option<usize> {
    let free = rotated(start).filter(|&slot| mark(line, slot) & PINNED == 0);
    let chosen = free.min_by_key(|&slot| mark(line, slot))?;
    for slot in 0..NAMES {
        let price = mark(line, slot);
        if price & PINNED == 0 {
            set_mark(line, slot, price.saturating_sub(1));
        }
    }
    Some(chosen)
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
    use super::*;

    const ALL: [Replacement; 6] = [
        Replacement::Random,
        Replacement::Oldest,
        Replacement::LeastDeep,
        Replacement::LeastFrequent,
        Replacement::Clock,
        Replacement::Cheapest,
    ];

    fn name(i: u64) -> Name {
        mix(i) | 1
    }

    #[test]
    fn nothing_is_forgotten_before_the_table_is_full() {
        for policy in ALL {
            let mut exact = Exact::new().replaceable();
            (0..150).for_each(|i| assert!(exact.insert(name(i))));
            let mut bounded = Bounded::new(exact, 64 * 64, policy, 7).expect("small");
            (0..150).for_each(|i| assert!(bounded.contains(name(i)), "{policy:?} {i}"));
            assert!(!bounded.contains(name(150)));
            assert_eq!((bounded.len(), bounded.turnover.replaced), (150, 0));
        }
    }

    #[test]
    fn pinned_names_are_never_forgotten_and_what_is_held_was_inserted() {
        for policy in ALL {
            let mut bounded = Bounded::new(Exact::new(), 128 * 64, policy, 7).expect("small");
            let mut path: Vec<Name> = Vec::new();
            for i in 0..30_000u64 {
                bounded.depth = path.len() as u64;
                let new = name(i % 7000);
                if i % 5 < 3 && path.len() < 200 && !path.contains(&new) {
                    bounded.insert_pinned(new).expect("a path of 200 names");
                    path.push(new);
                } else if let Some(last) = path.pop() {
                    bounded.unpin(last, i % 100);
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

    #[test]
    fn prices_grow_with_the_work() {
        assert!((1..5000u64).all(|work| price(work) <= price(work + 1)));
        assert!(price(u64::MAX) < PINNED);
    }
}
