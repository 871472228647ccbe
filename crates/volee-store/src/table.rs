//! The table of the bounded store: one array of cache lines, full of short codes, in which a newcomer
//! replaces another.
//!
//! It keeps of each name only what its line does not tell ([`Coding`]), two to four bytes for most systems
//! where the exact store has eight and free places besides. A code lives in its home line or in one of the
//! six after it; each line counts the codes that passed it by, so that a look-up knows when to stop. As long
//! as there are free places in reach nothing is forgotten. After that, replacement is set-associative: the
//! victim comes from the home line of the newcomer, and from a later one only where all of the home line is
//! pinned. The report chooses among all visited states; one of the dozen that share a line is as random.

use crate::StateRef;
use crate::coding::{Coding, low_bits};
use crate::line::{Layout, Line, MAX_RANK, REACH, pass, passed};
use crate::pages::{Pages, prefetch};
use crate::policy::Policy;

pub(crate) const FIRST_LINES: usize = REACH + 1;
/// What happened to the names so far.
#[derive(Debug, Clone, Copy, Default)]
pub struct Turnover {
    pub insertions: u64,
    pub replaced: u64,
    pub hits: u64,
}

/// Where a name is: its line, and the place in it.
pub(crate) type At = (usize, usize);

pub(crate) struct Table {
    pub(crate) coding: Coding,
    layout: Layout,
    /// What is stored of a code: its low bits.
    kept: u64,
    /// Room for as many lines as there may ever be; those from `count` on are zeroes.
    lines: Pages<Line>,
    count: usize,
    len: usize,
    /// How many lines it may have now.
    pub(crate) most_lines: usize,
    pub(crate) policy: Policy,
    pub(crate) turnover: Turnover,
}

impl Table {
    /// A table of this many lines, which may have up to `most` at some time. `None` when there is no memory.
    pub(crate) fn new(coding: Coding, lines: usize, most: usize, policy: Policy) -> Option<Self> {
        let mut table = Table {
            coding,
            layout: Layout::new(0),
            kept: 0,
            lines: Pages::zeroed(most.max(lines))?,
            count: 0,
            len: 0,
            most_lines: lines,
            policy,
            turnover: Turnover::default(),
        };
        table.lay_out(lines);
        Some(table)
    }

    /// Decides how this many lines are divided.
    fn lay_out(&mut self, lines: usize) {
        let codes_by_line = (1u128 << self.coding.width()).div_ceil(lines as u128);
        let bits = 128 - (codes_by_line - 1).leading_zeros();
        (self.layout, self.kept, self.count) = (Layout::new(bits), low_bits(bits), lines);
    }

    /// How many lines a table needs for this many names: with longer codes fewer go into a line, with shorter
    /// ones there must be more lines.
    pub(crate) fn lines_for(coding: &Coding, names: u64) -> usize {
        let lines = (1..=8u32).map(|bytes| {
            let places = Layout::new(8 * bytes).places as u64;
            let least = 1u128 << coding.width().saturating_sub(8 * bytes);
            names.div_ceil(places).max(u64::try_from(least).unwrap_or(u64::MAX))
        });
        usize::try_from(lines.min().unwrap_or(0)).unwrap_or(usize::MAX)
    }

    /// How many names there are.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn lines(&self) -> usize {
        self.count
    }

    /// The most lines there may ever be.
    pub(crate) fn reserved(&self) -> usize {
        self.lines.len()
    }

    pub(crate) fn bytes(&self) -> u64 {
        (self.count * size_of::<Line>()) as u64
    }

    /// What it may still grow by on its own.
    pub(crate) fn growth(&self) -> u64 {
        let most = if self.turnover.replaced == 0 { self.most_lines.min(self.lines.len()) } else { 0 };
        (most.saturating_sub(self.count) * size_of::<Line>()) as u64
    }

    /// How many names there is room for.
    pub(crate) fn capacity(&self) -> usize {
        self.capacity_of(self.count)
    }

    /// How many names this many lines have room for.
    pub(crate) fn capacity_of(&self, lines: usize) -> usize {
        lines * self.layout.places
    }

    #[inline(always)]
    pub(crate) fn prefetch(&self, hash: u64) {
        prefetch(&self.lines[self.home(hash)]);
    }

    #[inline(always)]
    fn home(&self, hash: u64) -> usize {
        ((u128::from(hash) * self.count as u128) >> self.coding.width()) as usize
    }

    /// The name in a place that is taken.
    pub(crate) fn name(&self, (line, place): At) -> StateRef {
        self.coding.decode(self.hash(line, place))
    }

    fn hash(&self, line: usize, place: usize) -> u64 {
        self.shape().hash(&self.lines[line], line, place)
    }

    #[inline(always)]
    fn shape(&self) -> Shape {
        Shape { layout: self.layout, kept: self.kept, count: self.count, width: self.coding.width() }
    }

    /// All names.
    pub(crate) fn names(&self) -> impl Iterator<Item = StateRef> + '_ {
        let places = self.layout.places;
        (0..self.count).flat_map(move |line| {
            (0..places)
                .filter(move |&place| self.layout.displaced(&self.lines[line], place).is_some())
                .map(move |place| self.name((line, place)))
        })
    }

    #[inline(always)]
    pub(crate) fn find(&self, hash: u64) -> Option<At> {
        let code = hash & self.kept;
        let mut at = self.home(hash);
        for displaced in 0..REACH {
            let line = &self.lines[at];
            if let Some(place) = self.layout.find(line, code, displaced) {
                return Some((at, place));
            }
            if passed(line) == 0 {
                return None;
            }
            at = next(at, self.count);
        }
        None
    }

    /// Whether a name is there; it counts as met again then.
    #[inline(always)]
    pub(crate) fn meet(&mut self, hash: u64) -> bool {
        let Some((line, place)) = self.find(hash) else { return false };
        self.turnover.hits += 1;
        self.policy.touch(self.layout, &mut self.lines[line], place);
        true
    }

    /// Puts a name that is not there. `None` when all places in its reach are pinned.
    #[inline]
    pub(crate) fn put(&mut self, hash: u64) -> Option<At> {
        if let Some(at) = self.put_in_room(hash) {
            return Some(at);
        }
        let room = self.make_room(self.home(hash))?;
        Some(self.fill(hash, room))
    }

    /// Puts a name that is not there, without forgetting another. `None` when there is no room.
    #[inline]
    pub(crate) fn put_in_room(&mut self, hash: u64) -> Option<At> {
        match self.find_room(self.home(hash)) {
            Some(room) => Some(self.fill(hash, room)),
            None if self.grow() => self.put_in_room(hash),
            None => None,
        }
    }

    #[inline(always)]
    fn fill(&mut self, hash: u64, (at, displaced, place): (usize, usize, usize)) -> At {
        let home = self.home(hash);
        self.turnover.insertions += 1;
        let count = self.count;
        for before in 0..displaced {
            pass(&mut self.lines[(home + before) % count], 1);
        }
        let rank = self.policy.first_rank(self.now());
        self.layout.put(&mut self.lines[at], place, hash & self.kept, displaced, rank);
        (at, place)
    }

    /// A free place in reach: line, by how much it is displaced, place. In a full table only the home line is
    /// worth a look.
    #[inline(always)]
    fn find_room(&mut self, home: usize) -> Option<(usize, usize, usize)> {
        let reach = if self.len < self.capacity() / 32 * 31 { REACH } else { 1 };
        let mut at = home;
        for displaced in 0..reach {
            if let Some(place) = self.layout.free(&self.lines[at]) {
                self.len += 1;
                return Some((at, displaced, place));
            }
            at = next(at, self.count);
        }
        None
    }

    /// Forgets a name in reach.
    fn make_room(&mut self, home: usize) -> Option<(usize, usize, usize)> {
        let now = self.now();
        let mut at = home;
        for displaced in 0..REACH {
            if let Some(place) = self.layout.free(&self.lines[at]) {
                self.len += 1;
                return Some((at, displaced, place));
            }
            if let Some(place) = self.policy.victim(self.layout, &mut self.lines[at], now) {
                self.turnover.replaced += 1;
                self.clear(at, place);
                return Some((at, displaced, place));
            }
            at = next(at, self.count);
        }
        None
    }

    /// Empties a place.
    fn clear(&mut self, line: usize, place: usize) {
        let count = self.count;
        let displaced = self.layout.displaced(&self.lines[line], place).unwrap_or(0);
        for back in 1..=displaced {
            pass(&mut self.lines[(line + count - back) % count], -1);
        }
        self.layout.clear(&mut self.lines[line], place);
    }

    /// Takes a name out as if it had never been put. Nothing may be pinned: names change their places.
    pub(crate) fn remove(&mut self, hash: u64) {
        let Some((line, place)) = self.find(hash) else { return };
        self.clear(line, place);
        self.layout.close(&mut self.lines[line], place);
        self.len -= 1;
        self.turnover.insertions -= 1;
    }

    /// The time of an insertion, as coarse as four bits need: the table turns over in eight ticks.
    fn now(&self) -> u8 {
        (self.turnover.insertions / (self.capacity() as u64 / 8 + 1)) as u8 & MAX_RANK
    }

    pub(crate) fn is_pinned(&self, (line, place): At) -> bool {
        self.layout.is_pinned(&self.lines[line], place)
    }

    pub(crate) fn pin(&mut self, (line, place): At) {
        self.layout.pin(&mut self.lines[line], place);
    }

    /// A name may be forgotten from now on. So many names were stored meanwhile.
    #[inline]
    pub(crate) fn unpin(&mut self, (line, place): At, work: u64) {
        let line = &mut self.lines[line];
        self.layout.unpin(line, place);
        self.policy.leave(self.layout, line, place, work);
    }

    pub(crate) fn rank(&self, (line, place): At) -> u8 {
        self.layout.rank(&self.lines[line], place)
    }

    pub(crate) fn set_rank(&mut self, (line, place): At, rank: u8) {
        self.layout.set_rank(&mut self.lines[line], place, rank);
    }

    /// Whether there is memory for a table that is worth moving to. Once names were forgotten for want of
    /// room it does not grow again: path and table would take turns.
    #[inline]
    pub(crate) fn may_grow(&self) -> bool {
        self.turnover.replaced == 0 && self.most_lines.min(self.lines.len()) > self.count + self.count / 8
    }

    /// Makes the table larger, as far as it may; whether that is worth something.
    #[cold]
    pub(crate) fn grow(&mut self) -> bool {
        if !self.may_grow() {
            return false;
        }
        let most = self.most_lines.min(self.lines.len());
        let lines = Table::lines_for(&self.coding, 2 * self.len as u64).min(most);
        lines > self.count + self.count / 8 && self.resize(lines).is_some()
    }

    /// Makes the table as large as it may be, be it by little, because there is no place in the reach of a name;
    /// whether that is worth something. Moving everything for less than one part in 64 is not.
    #[cold]
    pub(crate) fn stretch(&mut self) -> bool {
        let most = self.most_lines.min(self.lines.len());
        if self.turnover.replaced > 0 || most <= self.count + self.count / 64 {
            return false;
        }
        // Names that had a place may have none in the larger table, if that is rare.
        self.resize(most).is_some() && self.turnover.replaced == 0
    }

    /// Makes it a table of this many lines, in place; what does not fit is forgotten. `None` when not even
    /// what is pinned fits.
    ///
    /// The home of a name moves back in a smaller table and forth in a larger one. So the lines are emptied
    /// from the front or from the back, and their names put where lines have been emptied before. Near that
    /// end, and where names of the last lines live in the first ones, there may be none yet: a few names must
    /// wait until all lines are empty.
    pub(crate) fn resize(&mut self, lines: usize) -> Option<()> {
        let (old, before, most_lines) = (self.shape(), self.turnover, self.most_lines);
        let old_len = std::mem::take(&mut self.len);
        self.lay_out(lines);
        self.most_lines = 0;
        let mut late = Vec::new();
        for step in 0..old.count {
            let at = if lines < old.count { step } else { old.count - 1 - step };
            let line = std::mem::replace(&mut self.lines[at], [0; 64]);
            let is_ready = |other: usize| if lines < old.count { other <= at } else { other >= at };
            for place in 0..old.layout.places {
                if old.layout.displaced(&line, place).is_none() {
                    break;
                }
                let held = Held {
                    hash: old.hash(&line, at, place),
                    rank: old.layout.rank(&line, place),
                    pinned: old.layout.is_pinned(&line, place),
                };
                let home = self.home(held.hash);
                if home + REACH <= lines && is_ready(home) && is_ready(home + REACH - 1) {
                    self.take(held)?;
                } else {
                    late.push(held);
                }
            }
        }
        late.into_iter().try_for_each(|held| self.take(held))?;
        self.lines.give_back_from(lines);
        let forgotten = (old_len - self.len) as u64;
        self.turnover = Turnover { replaced: before.replaced + forgotten, ..before };
        self.most_lines = most_lines;
        Some(())
    }

    fn take(&mut self, held: Held) -> Option<()> {
        match self.put(held.hash) {
            Some(at) => {
                self.set_rank(at, held.rank);
                if held.pinned {
                    self.pin(at);
                }
            }
            None if held.pinned => return None,
            None => {}
        }
        Some(())
    }
}

/// A name on its way from one shape of the table to another.
struct Held {
    hash: u64,
    rank: u8,
    pinned: bool,
}

/// What is needed to read a line.
#[derive(Clone, Copy)]
struct Shape {
    layout: Layout,
    kept: u64,
    count: usize,
    width: u32,
}

impl Shape {
    /// The hash of a place that is taken. The hashes of one home are adjacent numbers, fewer than stored
    /// codes, so the code tells which of them it is.
    fn hash(self, line: &Line, at: usize, place: usize) -> u64 {
        let displaced = self.layout.displaced(line, place).unwrap_or(0);
        let home = if at >= displaced { at - displaced } else { at + self.count - displaced };
        let first = (home as u128) << self.width;
        // Most tables are small enough for the shorter division.
        let first = match u64::try_from(first) {
            Ok(first) => first.div_ceil(self.count as u64),
            Err(_) => first.div_ceil(self.count as u128) as u64,
        };
        first + (self.layout.code(line, place).wrapping_sub(first) & self.kept)
    }
}

#[inline(always)]
fn next(at: usize, lines: usize) -> usize {
    if at + 1 == lines { 0 } else { at + 1 }
}
