//! The bounded store: names within a fixed budget. When it is full, a name that may be forgotten makes room.
//!
//! After Jard and Jéron, Bounded-memory algorithms for verification on-the-fly (1991), section 2. Names on the current
//! path are *pinned* and never forgotten. The table is one allocation, an array of cache lines ([`Line`]); it keeps of
//! each name only what its line does not tell ([`Coding`]), two to four bytes for most systems where the exact store
//! has eight and free places besides. So the states of a search that does not fit the exact store often still fit here,
//! and of those that do not a larger share does.
//!
//! A code lives in its home line or in one of the six after it; each line counts the codes that passed it by, so that a
//! look-up knows when to stop. As long as there are free places in reach nothing is forgotten. After that, replacement
//! is set-associative: the victim comes from the home line of the newcomer, and from a later one only where all of the
//! home line is pinned. The report chooses among all visited states; one of the dozen that share a line is as random.
//!
//! The home line grows with the hash, so a table can be moved into a smaller one from front to back, and given back on
//! the way. The store also keeps the path ([`Trail`]): where its names are in the table, and which successors wait.

use super::coding::{Coding, low_bits, whole_bytes};
use super::exact::Exact;
use super::hash::mix;
use super::line::{Layout, Line, MAX_RANK, REACH, pass, passed};
use super::pages::{Pages, prefetch};
use super::sketch::Sketch;
use super::trail::{Slot, Trail};
use super::{Name, Visited};
use crate::Replacement;
use volee_system::Sleep;

const FIRST_LINES: usize = REACH + 1;
/// A place is a number of 31 bits, and a line has at most 31 places.
const MAX_LINES: usize = (1 << 31) / 32;
/// Lines moved before the old table's front is given back.
const MOVED: usize = 1 << 15;
/// Of this many victims one lets the others of its line lose value, in the policy that weighs work.
const AGEING: u64 = 32;

/// Groups of processes that sleep together, as far as the store remembers.
const GROUPS: u32 = 4;
/// The processes of the first group; those of another are so many bits further.
const GROUP: u64 = 0x1111_1111_1111_1111;

/// What happened to the names so far.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Turnover {
    pub(crate) insertions: u64,
    pub(crate) replaced: u64,
    pub(crate) hits: u64,
}

/// Where a path goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Advance {
    /// To this name, which is now its last.
    To(Name),
    /// No successor that waits is unknown.
    Nowhere,
    /// There is an unknown successor, and all room is pinned.
    Full,
}

pub(crate) struct Bounded {
    coding: Coding,
    layout: Layout,
    /// What is stored of a code: its low bits.
    kept: u64,
    lines: Pages<Line>,
    len: usize,
    trail: Trail,
    /// Places of the path, in order, whose name is on it before.
    repeated: Vec<u32>,
    policy: Replacement,
    random: u64,
    /// The depth that names are inserted at, for the policy that asks.
    pub(crate) depth: u64,
    pub(crate) turnover: Turnover,
    pub(crate) sketch: Sketch,
}

impl Bounded {
    /// An empty store in so many bytes, for names like those of an exact one. Node numbers in names may grow to `nodes`
    /// before the codes must be widened. `None` when there is no memory.
    pub(crate) fn new(exact: &Exact, bytes: u64, nodes: u64, policy: Replacement, seed: u64) -> Option<Self> {
        let coding = coding_of(exact, nodes);
        let lines = (usize::try_from(bytes).ok()? / size_of::<Line>()).min(MAX_LINES);
        let mut bounded = Bounded {
            layout: Layout::new(0),
            kept: 0,
            lines: Pages::zeroed(lines.max(FIRST_LINES))?,
            coding,
            len: 0,
            trail: Trail::default(),
            repeated: Vec::new(),
            policy,
            random: seed,
            depth: 0,
            turnover: Turnover::default(),
            sketch: Sketch::new(bytes),
        };
        bounded.lay_out();
        Some(bounded)
    }

    /// Takes the names of an exact store, as far as they fit.
    pub(crate) fn fill(&mut self, exact: Exact) {
        let coding = self.coding.clone();
        let take = |name| {
            if let Some(hash) = coding.encode(name) {
                self.put(hash);
            }
        };
        exact.drain(|name| coding.encode(name).unwrap_or(u64::MAX), take);
    }

    /// How many names there is room for.
    pub(crate) fn capacity(&self) -> usize {
        self.lines.len() * self.layout.places
    }

    /// Whether a name is remembered.
    #[inline]
    pub(crate) fn contains(&mut self, name: Name) -> bool {
        let found = self.coding.encode(name).and_then(|hash| self.find(hash));
        if let Some((line, place)) = found {
            self.touch(line, place);
        }
        found.is_some()
    }

    /// Who may sleep when the state with this name is to be explored; `None` when it was explored with as few asleep.
    ///
    /// A place has four bits for its policy, which the random one does not need: they say in which of four groups a process
    /// slept. A group counts as asleep as a whole: more sleep is remembered than there was, so a state may be explored
    /// again in vain but is never passed over. Each time it is, one group less sleeps, and so it ends.
    pub(crate) fn explores(&mut self, name: Name, sleep: Sleep) -> Option<u64> {
        let Some((line, place)) = self.coding.encode(name).and_then(|hash| self.find(hash)) else {
            return Some(sleep.asleep);
        };
        let slept = self.layout.rank(&self.lines[line], place);
        let groups = (0..GROUPS).filter(|group| slept >> group & 1 == 1);
        let still = groups.filter(|group| sleep.awake & GROUP << group == 0);
        let kept = still.fold(0, |mask, group| mask | 1 << group);
        if kept == slept {
            self.turnover.hits += 1;
            return None;
        }
        Some(
            (0..GROUPS)
                .filter(|group| kept >> group & 1 == 1)
                .fold(0, |all, g| all | sleep.asleep & GROUP << g),
        )
    }

    /// Remembers a name as the last of the path as [`Bounded::pin`] does, and who sleeps there. It may be on the path
    /// before.
    pub(crate) fn pin_asleep(&mut self, name: Name, asleep: u64) -> Option<()> {
        let hash = self.encode(name)?;
        let pinned = self.find(hash).filter(|&(line, place)| self.layout.is_pinned(&self.lines[line], place));
        match pinned {
            None => self.pin(name)?,
            Some((line, place)) => {
                self.repeated.push(self.trail.len() as u32);
                self.trail.push((line * self.layout.places + place) as Slot);
            }
        }
        let (line, place) = self.find(hash)?;
        let groups = (0..GROUPS).fold(0, |all, g| all | u8::from(asleep & GROUP << g != 0) << g);
        self.layout.set_rank(&mut self.lines[line], place, groups);
        Some(())
    }

    /// Remembers a name as the last of the path, until [`Bounded::unpin`]. `None` when all room is pinned.
    pub(crate) fn pin(&mut self, name: Name) -> Option<()> {
        let hash = self.encode(name)?;
        let found = self.find(hash);
        self.pin_at(hash, found)
    }

    fn pin_at(&mut self, hash: u64, found: Option<(usize, usize)>) -> Option<()> {
        // A few places stay free for others: a table of pinned names only would make each look-up a walk.
        if self.trail.len() >= self.capacity() / 8 * 7 {
            return None;
        }
        let (line, place) = match found {
            Some(found) => found,
            None => self.put(hash)?,
        };
        debug_assert!(!self.layout.is_pinned(&self.lines[line], place), "a name is on the path once");
        self.layout.pin(&mut self.lines[line], place);
        self.trail.push((line * self.layout.places + place) as Slot);
        Some(())
    }

    /// The last name of the path leaves it; it may be forgotten from now on. So many names were stored meanwhile.
    pub(crate) fn unpin(&mut self, work: u64) {
        if let Some(slot) = self.trail.pop() {
            if self.repeated.last().is_some_and(|&index| index as usize == self.trail.len()) {
                self.repeated.pop();
                return;
            }
            let (line, place) = self.place(slot);
            let line = &mut self.lines[line];
            self.layout.unpin(line, place);
            if self.policy == Replacement::Cheapest {
                self.layout.set_rank(line, place, price(work));
            }
        }
    }

    /// Lets a successor of the last name of the path wait. `None` when there is no memory.
    pub(crate) fn wait(&mut self, name: Name) -> Option<()> {
        let hash = self.encode(name)?;
        self.trail.wait(hash, self.coding.width());
        Some(())
    }

    /// Takes a successor that waits for the last name of the path.
    pub(crate) fn take_waiting(&mut self) -> Option<Name> {
        let hash = self.trail.take_waiting(self.coding.width())?;
        Some(self.coding.decode(hash))
    }

    /// Lets a successor of the last name of the path wait, unless it is remembered. `None` when there is no memory.
    #[inline]
    pub(crate) fn wait_unless_known(&mut self, name: Name) -> Option<()> {
        let hash = self.encode(name)?;
        match self.find(hash) {
            Some((line, place)) => self.touch(line, place),
            None => self.trail.wait(hash, self.coding.width()),
        }
        Some(())
    }

    /// Goes on to a successor that waits for the last name of the path and is still unknown: it is the last name then.
    pub(crate) fn advance(&mut self) -> Advance {
        while let Some(hash) = self.trail.take_waiting(self.coding.width()) {
            if let Some((line, place)) = self.find(hash) {
                self.touch(line, place);
                continue;
            }
            return match self.pin_at(hash, None) {
                Some(()) => Advance::To(self.coding.decode(hash)),
                None => Advance::Full,
            };
        }
        Advance::Nowhere
    }

    /// How many successors wait along the path.
    pub(crate) fn waiting_len(&self) -> u64 {
        self.trail.waiting_len(self.coding.width())
    }

    /// How long the path is.
    pub(crate) fn path_len(&self) -> u64 {
        self.trail.len() as u64
    }

    /// The names of the path, from its start.
    pub(crate) fn path(&self) -> impl Iterator<Item = Name> + '_ {
        self.trail.slots().map(|slot| {
            let (line, place) = self.place(slot);
            self.name(line, place)
        })
    }

    /// The names of the successors that wait along the path.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = Name> + '_ {
        self.trail.waiting(self.coding.width()).map(|(hash, _)| self.coding.decode(hash))
    }

    /// All names.
    pub(crate) fn names(&self) -> impl Iterator<Item = Name> + '_ {
        let places = self.layout.places;
        (0..self.lines.len()).flat_map(move |line| {
            (0..places)
                .filter(move |&place| self.layout.displaced(&self.lines[line], place).is_some())
                .map(move |place| self.name(line, place))
        })
    }

    /// Frees at least so many bytes by shrinking the table. `None` when the path needs what is left.
    pub(crate) fn shrink(&mut self, bytes: u64) -> Option<()> {
        // A part of the table more, so that it is not moved too often; a larger one where places are free.
        let part = if self.len < self.capacity() / 4 * 3 { 8 } else { 32 };
        let fewer = bytes as usize / size_of::<Line>() + self.lines.len() / part + 1;
        let lines = self.lines.len().checked_sub(fewer)?;
        if lines < FIRST_LINES || self.trail.len() >= lines * self.layout.places / 8 * 7 {
            return None;
        }
        self.move_to(lines, self.coding.clone())
    }

    /// The hash of a name. A name that has none yet makes all codes wider, and the table forgets what is not pinned: its
    /// places change their order, and there is no room for two tables. It happens a few times in a search at most.
    fn encode(&mut self, name: Name) -> Option<u64> {
        if self.coding.encode(name).is_none() {
            self.move_to(self.lines.len(), self.coding.wider(name))?;
        }
        self.coding.encode(name)
    }

    /// Decides how lines are divided.
    fn lay_out(&mut self) {
        let lines = self.lines.len() as u128;
        let codes_by_line = (1u128 << self.coding.width()).div_ceil(lines);
        let bits = 128 - (codes_by_line - 1).leading_zeros();
        self.layout = Layout::new(bits);
        self.kept = low_bits(bits);
    }

    #[inline(always)]
    fn home(&self, hash: u64) -> usize {
        ((u128::from(hash) * self.lines.len() as u128) >> self.coding.width()) as usize
    }

    /// The name in a place that is taken. The hashes of one home are adjacent numbers, fewer than stored codes, so the
    /// code tells which of them it is.
    fn name(&self, line: usize, place: usize) -> Name {
        let count = self.lines.len();
        let displaced = self.layout.displaced(&self.lines[line], place).unwrap_or(0);
        let home = if line >= displaced { line - displaced } else { line + count - displaced };
        let first = ((home as u128) << self.coding.width()).div_ceil(count as u128) as u64;
        let code = self.layout.code(&self.lines[line], place);
        self.coding.decode(first + (code.wrapping_sub(first) & self.kept))
    }

    fn place(&self, slot: Slot) -> (usize, usize) {
        (slot as usize / self.layout.places, slot as usize % self.layout.places)
    }

    #[inline(always)]
    fn find(&self, hash: u64) -> Option<(usize, usize)> {
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
            at = next(at, self.lines.len());
        }
        None
    }

    /// Puts a name that is not there. `None` when all places in its reach are pinned.
    #[inline]
    fn put(&mut self, hash: u64) -> Option<(usize, usize)> {
        let home = self.home(hash);
        let (at, displaced, place) = match self.find_room(home) {
            Some(room) => room,
            None => self.make_room(home)?,
        };
        self.turnover.insertions += 1;
        let count = self.lines.len();
        for before in 0..displaced {
            pass(&mut self.lines[(home + before) % count], 1);
        }
        let rank = self.first_rank();
        self.layout.put(&mut self.lines[at], place, hash & self.kept, displaced, rank);
        Some((at, place))
    }

    /// A free place in reach: line, by how much it is displaced, place. In a full table only the home line is worth a
    /// look.
    #[inline(always)]
    fn find_room(&mut self, home: usize) -> Option<(usize, usize, usize)> {
        let reach = if self.len < self.capacity() / 32 * 31 { REACH } else { 1 };
        let mut at = home;
        for displaced in 0..reach {
            if let Some(place) = self.layout.free(&self.lines[at]) {
                self.len += 1;
                return Some((at, displaced, place));
            }
            at = next(at, self.lines.len());
        }
        None
    }

    /// Forgets a name in reach.
    fn make_room(&mut self, home: usize) -> Option<(usize, usize, usize)> {
        let mut at = home;
        for displaced in 0..REACH {
            if let Some(place) = self.layout.free(&self.lines[at]) {
                self.len += 1;
                return Some((at, displaced, place));
            }
            if let Some(place) = self.victim(at) {
                self.forget(at, place);
                return Some((at, displaced, place));
            }
            at = next(at, self.lines.len());
        }
        None
    }

    /// Empties a place whose name another one takes.
    fn forget(&mut self, line: usize, place: usize) {
        self.turnover.replaced += 1;
        let count = self.lines.len();
        let displaced = self.layout.displaced(&self.lines[line], place).unwrap_or(0);
        for back in 1..=displaced {
            pass(&mut self.lines[(line + count - back) % count], -1);
        }
        self.layout.clear(&mut self.lines[line], place);
    }

    /// The place of a line whose name is to be forgotten; `None` when all are pinned.
    fn victim(&mut self, line: usize) -> Option<usize> {
        self.random = self.random.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let random = mix(self.random);
        let now = self.epoch();
        let layout = self.layout;
        let line = &mut self.lines[line];
        let start = (random >> 32) as usize % layout.places;
        let free = rotated(start, layout.places).filter(|&place| !layout.is_pinned(line, place));
        match self.policy {
            Replacement::Random => { free }.next(),
            Replacement::Oldest => {
                free.max_by_key(|&place| now.wrapping_sub(layout.rank(line, place)) & MAX_RANK)
            }
            Replacement::LeastDeep | Replacement::LeastFrequent => {
                free.min_by_key(|&place| layout.rank(line, place))
            }
            Replacement::Clock => sweep(layout, line, start),
            Replacement::Cheapest => {
                let chosen = free.min_by_key(|&place| layout.rank(line, place));
                if random.is_multiple_of(AGEING) {
                    age(layout, line);
                }
                chosen
            }
        }
    }

    /// The rank of a name that comes in.
    fn first_rank(&self) -> u8 {
        match self.policy {
            Replacement::Random | Replacement::Clock | Replacement::Cheapest => 0,
            Replacement::LeastFrequent => 1,
            Replacement::Oldest => self.epoch(),
            Replacement::LeastDeep => price(self.depth),
        }
    }

    /// A name is met again.
    #[inline]
    fn touch(&mut self, line: usize, place: usize) {
        self.turnover.hits += 1;
        let line = &mut self.lines[line];
        match self.policy {
            Replacement::Clock => self.layout.set_rank(line, place, 1),
            Replacement::LeastFrequent => {
                let rank = self.layout.rank(line, place);
                self.layout.set_rank(line, place, (rank + 1).min(MAX_RANK));
            }
            _ => {}
        }
    }

    /// The time of an insertion, as coarse as four bits need: the table turns over in eight ticks.
    fn epoch(&self) -> u8 {
        (self.turnover.insertions / (self.capacity() as u64 / 8 + 1)) as u8 & MAX_RANK
    }

    /// Moves all names into a table of so many lines; what does not fit is forgotten, and with another coding all that
    /// is not pinned. `None` when there is no memory, or not even the path fits.
    fn move_to(&mut self, lines: usize, coding: Coding) -> Option<()> {
        let ranks =
            self.trail.slots().map(|slot| self.place(slot)).map(|(l, p)| self.layout.rank(&self.lines[l], p));
        let path: Vec<(Name, u8)> = self.path().zip(ranks).collect();
        let before = self.turnover;
        let old_len = self.len;
        let fresh = Bounded {
            layout: self.layout,
            kept: 0,
            lines: Pages::zeroed(lines)?,
            coding,
            len: 0,
            trail: std::mem::take(&mut self.trail),
            repeated: std::mem::take(&mut self.repeated),
            policy: self.policy,
            random: self.random,
            depth: self.depth,
            turnover: before,
            sketch: std::mem::replace(&mut self.sketch, Sketch::none()),
        };
        let mut old = std::mem::replace(self, fresh);
        self.lay_out();
        for (index, &(name, rank)) in path.iter().enumerate() {
            let hash = self.coding.encode(name)?;
            let (line, place) = self.find(hash).or_else(|| self.put(hash))?;
            self.layout.pin(&mut self.lines[line], place);
            self.layout.set_rank(&mut self.lines[line], place, rank);
            self.trail.move_slot(index, (line * self.layout.places + place) as Slot);
        }
        if old.coding.width() == self.coding.width() {
            self.take_over(&mut old);
        } else {
            let (from, to) = (&old.coding, &self.coding);
            self.trail.recode(from.width(), to.width(), |hash| to.encode(from.decode(hash)));
        }
        let forgotten = (old_len - self.len.min(old_len)) as u64;
        self.turnover = Turnover { replaced: before.replaced + forgotten, ..before };
        Some(())
    }

    /// Takes the names that are not pinned, front to back, and gives memory back on the way.
    fn take_over(&mut self, old: &mut Bounded) {
        for line in 0..old.lines.len() {
            for place in 0..old.layout.places {
                let held = &old.lines[line];
                if old.layout.displaced(held, place).is_none() || old.layout.is_pinned(held, place) {
                    continue;
                }
                let rank = old.layout.rank(held, place);
                let hash = self.coding.encode(old.name(line, place));
                if let Some((line, place)) = hash.and_then(|hash| self.put(hash)) {
                    self.layout.set_rank(&mut self.lines[line], place, rank);
                }
            }
            if line.is_multiple_of(MOVED) {
                old.lines.give_back(line);
            }
        }
    }
}

impl Visited for Bounded {
    #[inline(always)]
    fn prefetch(&self, name: Name) {
        if let Some(hash) = self.coding.encode(name) {
            prefetch(&self.lines[self.home(hash)]);
        }
    }

    #[inline(always)]
    fn insert(&mut self, name: Name) -> bool {
        if self.contains(name) {
            return false;
        }
        // Where there is no place at all the name is just not remembered.
        if let Some(hash) = self.encode(name) {
            self.put(hash);
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
        self.turnover.replaced > 0
    }

    #[inline]
    fn note(&mut self, state: &[u8]) {
        // As long as nothing is forgotten the table itself knows how many there are.
        if self.replaces() {
            self.sketch.add(state);
        }
    }

    fn give_room(&mut self, bytes: u64) -> bool {
        self.shrink(bytes).is_some()
    }

    fn needs(&self) -> String {
        match self.trail.len() {
            ..=1 => "the smallest tables alone are larger".into(),
            path => format!("a path of {} states, and what waits along it, must be kept", path + 1),
        }
    }

    fn len(&self) -> u64 {
        self.len as u64
    }

    fn bytes(&self) -> u64 {
        self.lines.bytes() + self.trail.bytes() + self.sketch.bytes()
    }
}

/// Which bits the names of a store vary in, with those that node numbers may still grow into.
fn coding_of(exact: &Exact, nodes: u64) -> Coding {
    let base = exact.names().next().unwrap_or(1);
    let varies = exact.names().fold(0, |varies, name| varies | name ^ base);
    if nodes == 0 {
        return Coding::new(base, whole_bytes(varies));
    }
    let number = low_bits(64 - nodes.leading_zeros());
    Coding::new(base, varies | number | number << 32 | 1 << 63)
}

/// What it costs to forget a state that took so much work, on a logarithmic scale.
fn price(work: u64) -> u8 {
    (work.max(1).ilog2() as u8).min(MAX_RANK)
}

/// All names of a line lose a little, so that a dear one that is never met again goes in the end.
fn age(layout: Layout, line: &mut Line) {
    for place in 0..layout.places {
        let rank = layout.rank(line, place);
        layout.set_rank(line, place, rank.saturating_sub(1));
    }
}

/// All places of a line, from one on.
fn rotated(start: usize, places: usize) -> impl Iterator<Item = usize> {
    (start..places).chain(0..start)
}

/// The clock's hand goes over a line: the first name not met since the last time, else the first at all.
fn sweep(layout: Layout, line: &mut Line, start: usize) -> Option<usize> {
    let mut first = None;
    for place in rotated(start, layout.places) {
        if layout.is_pinned(line, place) {
            continue;
        }
        if layout.rank(line, place) == 0 {
            return Some(place);
        }
        layout.set_rank(line, place, 0);
        first = first.or(Some(place));
    }
    first
}

#[inline(always)]
fn next(at: usize, lines: usize) -> usize {
    if at + 1 == lines { 0 } else { at + 1 }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

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

    /// Names as two node numbers, of few bits.
    fn short(i: u64) -> Name {
        let both = i.wrapping_mul(0x9_E375) & 0xF_FFFF;
        ((both >> 10) << 32) | ((both & 0x3FF) + 1)
    }

    fn filled(names: impl Iterator<Item = Name>, lines: u64, nodes: u64, policy: Replacement) -> Bounded {
        let mut exact = Exact::new().replaceable();
        for name in names {
            if exact.growth(1).is_some() {
                exact.grow().expect("small");
            }
            exact.insert(name);
        }
        let mut bounded = Bounded::new(&exact, 64 * lines, nodes, policy, 7).expect("small");
        bounded.fill(exact);
        bounded
    }

    #[test]
    fn nothing_is_forgotten_before_the_table_is_full() {
        for policy in ALL {
            for (namer, nodes) in [(name as fn(u64) -> Name, 0), (short, 2000)] {
                let mut bounded = filled((0..150).map(namer), 64, nodes, policy);
                let mut inserted: HashSet<Name> = (0..150).map(namer).collect();
                assert_eq!(bounded.names().collect::<HashSet<_>>(), inserted);
                let full = (150u64..).take_while(|&i| {
                    let name = namer(i);
                    assert_eq!(bounded.insert(name), inserted.insert(name));
                    !bounded.replaces()
                });
                let _ = full.count();
                assert!(
                    inserted.len() > bounded.capacity() / 4 * 3,
                    "{} of {}",
                    inserted.len(),
                    bounded.capacity()
                );
                assert_eq!(bounded.names().count() + 1, inserted.len(), "one was forgotten");
            }
        }
    }

    #[test]
    fn pinned_names_are_never_forgotten_and_what_is_held_was_inserted() {
        for policy in ALL {
            let mut bounded = filled((0..0).map(name), 128, 0, policy);
            let mut path: Vec<Name> = Vec::new();
            for i in 0..30_000u64 {
                bounded.depth = path.len() as u64;
                let new = name(i % 7000);
                if i % 5 < 3 && path.len() < 200 && !path.contains(&new) {
                    bounded.pin(new).expect("a path of 200 names");
                    path.push(new);
                } else if path.pop().is_some() {
                    bounded.unpin(i % 100);
                }
                assert!(i % 100 != 0 || path.iter().all(|&name| bounded.contains(name)), "{policy:?}");
                assert!(!bounded.contains(name(i % 1000 + 8000)));
                if i == 20_000 {
                    bounded.shrink(20 * 64).expect("most is free");
                    assert!(bounded.path().eq(path.iter().copied()));
                }
            }
            assert!(bounded.turnover.replaced > 1000);
            assert!(bounded.len() <= bounded.capacity() as u64);
            assert_eq!(bounded.len() as usize, bounded.names().count());
        }
    }

    #[test]
    fn successors_wait_for_their_state_also_when_codes_become_wider() {
        let mut bounded = filled((0..100).map(short), 64, 500, Replacement::Random);
        let mut twin: Vec<Vec<Name>> = Vec::new();
        for i in 0..2000u64 {
            if twin.len() < 3 || i % 3 > 0 && twin.len() < 60 {
                bounded.pin(short(200 + i)).expect("a short path");
                let wide = |j| (i * 4 + j + 1) << (33 + i / 500 * 6) | (i / 500) << 20 | 0x400;
                let names: Vec<Name> = (0..mix(i) % 4).map(wide).collect();
                names.iter().for_each(|&name| bounded.wait_unless_known(name).expect("small"));
                twin.push(names);
                continue;
            }
            let waiting: usize = twin.iter().map(Vec::len).sum();
            assert_eq!(bounded.waiting().count(), waiting);
            while let Advance::To(name) = bounded.advance() {
                assert_eq!(twin.last_mut().and_then(Vec::pop), Some(name));
                bounded.unpin(1);
            }
            assert_eq!(twin.pop(), Some(Vec::new()));
            bounded.unpin(1);
            assert_eq!(bounded.path_len(), twin.len() as u64);
        }
    }

    #[test]
    fn shrinking_forgets_only_what_does_not_fit() {
        let mut bounded = filled((0..1000).map(short), 200, 2000, Replacement::Random);
        let before: HashSet<Name> = bounded.names().collect();
        bounded.shrink(20 * 64).expect("there is room");
        assert!(!bounded.replaces() && bounded.names().collect::<HashSet<_>>() == before);
        bounded.shrink(100 * 64).expect("nothing is pinned");
        assert!(bounded.names().all(|name| before.contains(&name)));
        assert_eq!(bounded.names().count() as u64 + bounded.turnover.replaced, before.len() as u64);
    }

    #[test]
    fn prices_grow_with_the_work() {
        assert!((1..5000u64).all(|work| price(work) <= price(work + 1)));
        assert_eq!(price(u64::MAX), MAX_RANK);
    }
}
