//! The bounded store: names within a fixed budget. When it is full, a name that may be forgotten makes room.
//!
//! After Jard and Jéron, Bounded-memory algorithms for verification on-the-fly (1991), section 2. Names on the current
//! path are *pinned* and never forgotten. Names live in a [`Table`], which keeps so little of each that the states of a
//! search that does not fit the exact store often still fit here, and of those that do not a larger share does. The store
//! also keeps the path ([`PackedPath`]) and which successors wait along it.
//!
//! Table and path share the budget. The table starts with room for what there is and grows as long as the budget allows,
//! like any hash table; only then are names forgotten. When the path needs more, what waits along it in vain is dropped
//! first; then the table becomes smaller. It does both in place.

mod room;
mod visited;

pub use room::coding_of;

use crate::Replacement;
use crate::coding::Coding;
use crate::exact::Exact;
use crate::line::Line;
use crate::path::PackedPath;
use crate::policy::Policy;
use crate::sketch::Sketch;
use crate::table::{At, FIRST_LINES, Table, Turnover};
use crate::{StateRef, Visited};

/// Where a path goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Advance {
    /// To this name, which is now on it.
    To(StateRef),
    /// No successor that waits at the last level is unknown.
    Nowhere,
    /// There is an unknown successor, and all room is pinned.
    Full,
}

/// What is left of a store when everything in it is forgotten.
pub struct Forgotten {
    /// How names will be coded.
    pub coding: Coding,
    turnover: Turnover,
}

impl Forgotten {
    /// So many names were known, all of them new once; names will be coded like this.
    pub fn all_of(coding: Coding, known: u64) -> Self {
        Forgotten { coding, turnover: Turnover { insertions: known, replaced: known, ..Turnover::default() } }
    }
}

pub struct Bounded {
    pub(crate) table: Table,
    pub(crate) path: PackedPath,
    /// Places of the path, in order, whose name is on it before.
    pub(crate) repeated: Vec<u32>,
    /// Nothing was forgotten: what waits is in the table, and nothing need be pinned.
    fits: bool,
    /// The bytes of the path when what waits in vain was last dropped; `None` when nothing may be dropped.
    purged: Option<u64>,
    sketch: Sketch,
    /// The sketch has seen all that was stored, and sees what is visited from now on.
    sketched: bool,
}

impl Bounded {
    /// A store with the names of an exact one and the path of its search, in at most this many bytes. `None` when there is no
    /// memory, or less than the path needs.
    pub fn take_over(
        exact: Exact,
        coding: Coding,
        path: PackedPath,
        bytes: u64,
        kind: Replacement,
        seed: u64,
    ) -> Option<Self> {
        let most = (usize::try_from(bytes).ok()? / size_of::<Line>()).max(FIRST_LINES);
        let sketch = Sketch::new(bytes);
        let lines = Table::lines_for(&coding, 4 * exact.len()).min(most / 2);
        let lines = lines.max(Table::lines_for(&coding, 2 * exact.len())).clamp(FIRST_LINES, most);
        let mut table = Table::new(coding.clone(), lines, most, Policy::new(kind, seed))?;
        table.most_lines = most;
        let high = coding.width().saturating_sub(8);
        exact.drain(
            |name| (coding.encode(name).unwrap_or(0) >> high) as u8,
            |name| {
                coding.encode(name).and_then(|hash| table.put(hash));
            },
        );
        let mut bounded =
            Bounded { table, path, repeated: Vec::new(), fits: true, purged: None, sketch, sketched: false };
        bounded.keep_fitting()?;
        Some(bounded)
    }

    /// A store that has forgotten all that another knew, in at most this many bytes; nothing is on the path.
    pub fn anew(before: Forgotten, bytes: u64, kind: Replacement, seed: u64) -> Option<Self> {
        let most = (usize::try_from(bytes).ok()? / size_of::<Line>()).max(FIRST_LINES);
        let path = PackedPath::new(before.coding.width());
        let mut table = Table::new(before.coding, most, most, Policy::new(kind, seed))?;
        table.turnover = before.turnover;
        let sketch = Sketch::new(bytes);
        Some(Bounded {
            table,
            path,
            repeated: Vec::new(),
            fits: false,
            purged: Some(0),
            sketch,
            sketched: true,
        })
    }

    /// What is left of a store when everything in it is forgotten.
    pub fn forget_all(self) -> Forgotten {
        let mut turnover = self.table.turnover;
        turnover.replaced += self.table.len() as u64;
        Forgotten { coding: self.table.coding, turnover }
    }

    /// Whether nothing was forgotten so far. Then this is the ordinary search: a state is known from when it is generated.
    #[inline(always)]
    pub fn fits(&self) -> bool {
        self.fits
    }

    /// Looks whether something was forgotten.
    fn keep_fitting(&mut self) -> Option<()> {
        if self.fits && self.table.turnover.replaced > 0 { self.stop_fitting() } else { Some(()) }
    }

    /// Something must be forgotten from now on. What waits along the path is not known any more: it becomes known when it is
    /// explored.
    #[cold]
    fn stop_fitting(&mut self) -> Option<()> {
        (self.fits, self.purged) = (false, Some(0));
        self.settle_path()
    }

    /// Pins the path, and takes out what waits along it.
    fn settle_path(&mut self) -> Option<()> {
        let table = std::cell::RefCell::new(&mut self.table);
        self.path.keep_waiting(
            |hash| table.borrow().prefetch(hash),
            |hash| {
                table.borrow_mut().remove(hash);
                true
            },
        );
        let table = &mut self.table;
        for hash in self.path.groups().flatten() {
            let at = table.find(hash).or_else(|| table.put(hash))?;
            table.pin(at);
        }
        (self.path.len() < self.most_pinned(self.table.lines())).then_some(())
    }

    /// How many names of a table of this many lines may be pinned. A few places stay free for others: a table of pinned names
    /// only would make each look-up a walk.
    fn most_pinned(&self, lines: usize) -> usize {
        self.table.capacity_of(lines) / 8 * 7
    }

    /// How many different states were visited, about, and the error of that.
    pub fn distinct(&self) -> (u64, f64) {
        (self.sketch.estimate().round() as u64, self.sketch.standard_error())
    }

    /// What happened to the names so far.
    pub fn turnover(&self) -> Turnover {
        self.table.turnover
    }

    /// Names are inserted at this depth from now on, for the policy that asks.
    pub fn set_depth(&mut self, depth: u64) {
        self.table.policy.depth = depth;
    }

    /// Whether a name is remembered.
    #[inline]
    pub fn contains(&mut self, name: StateRef) -> bool {
        match self.table.coding.encode(name) {
            Some(hash) => self.table.meet(hash),
            None => false,
        }
    }

    /// Remembers a name that is to be on the path. `None` when all room is pinned.
    #[inline]
    pub(crate) fn pin(&mut self, hash: u64, found: Option<At>) -> Option<()> {
        if self.path.len() >= self.most_pinned(self.table.lines()) && !self.table.grow() {
            self.table.most_lines += self.purge() as usize / size_of::<Line>();
            self.table.grow().then_some(())?;
        }
        let at = match found {
            Some(found) => found,
            None => self.table.put(hash)?,
        };
        debug_assert!(!self.table.is_pinned(at), "a name is on the path once");
        self.table.pin(at);
        Some(())
    }

    /// Begins a level for the successors of the states that were taken from the last one.
    #[inline]
    pub fn enter(&mut self) {
        self.path.enter();
    }

    /// Leaves the last level of the path; the names that led to it may be forgotten. So many names were stored meanwhile.
    #[inline]
    pub fn leave(&mut self, work: u64) {
        if self.fits {
            self.path.leave(|_| ());
            self.path.give_back();
            return;
        }
        let Bounded { table, path, repeated, .. } = self;
        let index = path.len().wrapping_sub(1) as u32;
        if repeated.last() == Some(&index) {
            repeated.pop();
            path.leave(|_| ());
            return;
        }
        path.last_group().for_each(|hash| table.prefetch(hash));
        path.leave(|hash| {
            if let Some(at) = table.find(hash) {
                table.unpin(at, work);
            }
        });
        path.give_back();
    }

    /// The names that leave the path with the last level, in the order of their group.
    pub fn leaving(&self) -> impl Iterator<Item = StateRef> + '_ {
        self.path.last_group().rev().map(|hash| self.table.coding.decode(hash))
    }

    /// What the path grows by when this many successors wait at its last level.
    #[inline]
    pub fn waiting_growth(&self, successors: usize) -> u64 {
        self.path.growth(successors)
    }

    /// Lets a successor of the last level wait. `None` when there is no memory.
    pub fn wait(&mut self, name: StateRef) -> Option<()> {
        let hash = self.encode(name)?;
        self.path.wait(hash);
        Some(())
    }

    /// Takes a successor that waits at the last level.
    pub fn take_waiting(&mut self) -> Option<StateRef> {
        let hash = self.path.next()?;
        self.path.drop_next();
        Some(self.table.coding.decode(hash))
    }

    /// Processes sleep from now on. What is known was explored with nobody asleep, and need not wait; whoever will wait knows who
    /// sleeps, which the store does not, so nothing may be dropped any more.
    pub fn fall_asleep(&mut self) {
        self.purged = None;
        let table = &self.table;
        self.path.keep_waiting(|hash| table.prefetch(hash), |hash| table.find(hash).is_none());
    }

    /// Lets a successor of the last level wait, unless it is remembered: whether it waits. `None` when there is no memory.
    #[inline]
    pub fn wait_unless_known(&mut self, name: StateRef) -> Option<bool> {
        let hash = self.encode(name)?;
        let known = self.table.meet(hash);
        if !known {
            if self.fits && self.table.put_in_room(hash).is_none() && !self.put_after_all(hash) {
                self.stop_fitting()?;
            }
            self.path.wait(hash);
        }
        Some(!known)
    }

    /// Brings what is needed near to advance a few times.
    #[inline]
    pub fn prefetch_waiting(&self, most: u32) {
        if self.fits {
            return;
        }
        for hash in self.path.next_waiting(most) {
            self.table.prefetch(hash);
        }
    }

    /// Puts a successor that waits at the last level and is still unknown on the path, beside those that were put there since
    /// the level was entered.
    #[inline]
    pub fn advance(&mut self) -> Advance {
        if self.fits {
            let Some(hash) = self.path.next() else { return Advance::Nowhere };
            self.path.join();
            return Advance::To(self.table.coding.decode(hash));
        }
        while let Some(hash) = self.path.next() {
            if self.table.meet(hash) {
                self.path.drop_next();
                continue;
            }
            if self.pin(hash, None).is_none() {
                return Advance::Full;
            }
            self.path.join();
            return Advance::To(self.table.coding.decode(hash));
        }
        Advance::Nowhere
    }

    /// Whether the table is nearly full and cannot grow: each state on the path is one less that is remembered.
    #[inline]
    pub fn is_tight(&self) -> bool {
        self.table.len() >= self.table.capacity() / 4 * 3 && !self.table.may_grow()
    }

    /// How many successors wait along the path.
    #[inline]
    pub fn waiting_len(&self) -> u64 {
        self.path.waiting_len()
    }

    /// How many states are on the path.
    #[inline]
    pub fn path_len(&self) -> u64 {
        self.path.len() as u64
    }

    /// How many levels the path has.
    #[inline]
    pub fn depth(&self) -> u64 {
        self.path.depth() as u64
    }

    /// The names of the path, level by level from the last one.
    pub fn groups(&self) -> impl Iterator<Item = impl Iterator<Item = StateRef> + '_> + '_ {
        self.path.groups().map(|group| group.map(|hash| self.table.coding.decode(hash)))
    }

    /// The names of the path and of the successors that wait along it.
    pub fn along_path(&self) -> impl Iterator<Item = StateRef> + '_ {
        self.path.codes().map(|hash| self.table.coding.decode(hash))
    }

    /// All names that are remembered.
    pub fn names(&self) -> impl Iterator<Item = StateRef> + '_ {
        self.table.names()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::Names;
    use crate::hash::mix;

    const ALL: [Replacement; 6] = [
        Replacement::Random,
        Replacement::Oldest,
        Replacement::LeastDeep,
        Replacement::LeastFrequent,
        Replacement::Clock,
        Replacement::Cheapest,
    ];

    fn name(i: u64) -> StateRef {
        StateRef(mix(i) | 1)
    }

    /// Names as two node numbers, of few bits.
    fn short(i: u64) -> StateRef {
        let both = i.wrapping_mul(0x9_E375) & 0xF_FFFF;
        StateRef(((both >> 10) << 32) | ((both & 0x3FF) + 1))
    }

    fn filled(names: impl Iterator<Item = StateRef>, lines: u64, nodes: u64, policy: Replacement) -> Bounded {
        let mut exact = Exact::new().replaceable();
        for name in names {
            if exact.growth(1).is_some() {
                exact.grow().expect("small");
            }
            exact.insert(name);
        }
        let coding = coding_of(&exact, nodes);
        let path = PackedPath::new(coding.width());
        let mut bounded = Bounded::take_over(exact, coding, path, 64 * lines, policy, 7).expect("small");
        bounded.table.resize(lines as usize).expect("small");
        bounded
    }

    /// A level of one name.
    fn push(bounded: &mut Bounded, name: StateRef) {
        let hash = bounded.encode(name).expect("small");
        let found = bounded.table.find(hash);
        bounded.pin(hash, found).expect("a short path");
        bounded.path.push_on_path(hash);
        bounded.enter();
    }

    #[test]
    fn nothing_is_forgotten_before_the_table_is_full() {
        for policy in ALL {
            for (namer, nodes) in [(name as fn(u64) -> StateRef, 0), (short, 2000)] {
                let mut bounded = filled((0..150).map(namer), 64, nodes, policy);
                let mut inserted: HashSet<StateRef> = (0..150).map(namer).collect();
                assert_eq!(bounded.names().collect::<HashSet<_>>(), inserted);
                let full = (150u64..).take_while(|&i| {
                    let name = namer(i);
                    assert_eq!(bounded.insert(name), inserted.insert(name));
                    !bounded.replaces()
                });
                let _ = full.count();
                assert!(
                    inserted.len() > bounded.table.capacity() / 4 * 3,
                    "{} of {}",
                    inserted.len(),
                    bounded.table.capacity()
                );
                assert_eq!(bounded.names().count() + 1, inserted.len(), "one was forgotten");
            }
        }
    }

    #[test]
    fn pinned_names_are_never_forgotten_and_what_is_held_was_inserted() {
        for policy in ALL {
            let mut bounded = filled((0..0).map(name), 128, 0, policy);
            let mut path: Vec<StateRef> = Vec::new();
            for i in 0..30_000u64 {
                bounded.set_depth(path.len() as u64);
                let new = name(i % 7000);
                if i % 5 < 3 && path.len() < 200 && !path.contains(&new) {
                    push(&mut bounded, new);
                    path.push(new);
                } else if path.pop().is_some() {
                    bounded.leave(i % 100);
                }
                assert!(i % 100 != 0 || path.iter().all(|&name| bounded.contains(name)), "{policy:?}");
                assert!(!bounded.contains(name(i % 1000 + 8000)));
                if i == 20_000 {
                    bounded.shrink(20 * 64).expect("most is free");
                    assert!(bounded.groups().flatten().eq(path.iter().rev().copied()));
                }
            }
            assert!(bounded.turnover().replaced > 1000);
            assert!(bounded.len() <= bounded.table.capacity() as u64);
            assert_eq!(bounded.len() as usize, bounded.names().count());
        }
    }

    #[test]
    fn successors_wait_for_their_state_also_when_codes_become_wider() {
        let mut bounded = filled((0..100).map(short), 64, 500, Replacement::Random);
        let mut twin: Vec<Vec<StateRef>> = Vec::new();
        for i in 0..2000u64 {
            if twin.len() < 3 || i % 3 > 0 && twin.len() < 60 {
                push(&mut bounded, short(200 + i));
                let wide = |j| StateRef((i * 4 + j + 1) << (33 + i / 500 * 6) | (i / 500) << 20 | 0x400);
                let names: Vec<StateRef> = (0..mix(i) % 4).map(wide).collect();
                assert!(names.iter().all(|&name| bounded.wait_unless_known(name) == Some(true)));
                twin.push(names);
                continue;
            }
            let waiting: usize = twin.iter().map(Vec::len).sum();
            assert_eq!(bounded.waiting_len() as usize, waiting);
            while let Advance::To(name) = bounded.advance() {
                assert_eq!(twin.last_mut().and_then(Vec::pop), Some(name));
                bounded.enter();
                bounded.leave(1);
            }
            assert_eq!(twin.pop(), Some(Vec::new()));
            bounded.leave(1);
            assert_eq!(bounded.path_len(), twin.len() as u64);
        }
    }

    #[test]
    fn shrinking_forgets_only_what_does_not_fit() {
        let mut bounded = filled((0..1000).map(short), 200, 2000, Replacement::Random);
        let before: HashSet<StateRef> = bounded.names().collect();
        bounded.shrink(20 * 64).expect("there is room");
        assert!(!bounded.replaces() && bounded.names().collect::<HashSet<_>>() == before);
        bounded.shrink(100 * 64).expect("nothing is pinned");
        assert!(bounded.names().all(|name| before.contains(&name)));
        assert_eq!(bounded.names().count() as u64 + bounded.turnover().replaced, before.len() as u64);
    }

    #[test]
    fn when_something_must_be_forgotten_the_path_is_pinned_and_what_waits_along_it_is_unknown() {
        let mut exact = Exact::new();
        (0..150).for_each(|i| assert!(exact.insert(short(i))));
        let coding = coding_of(&exact, 2000);
        let mut path = PackedPath::new(coding.width());
        path.prepare(10);
        (0..10).for_each(|i| path.set(i, coding.encode(short(i as u64)).expect("it is stored")));
        [(3, 2), (0, 1), (4, 0)].into_iter().for_each(|(waiting, group)| path.set_level(waiting, group));
        let mut bounded =
            Bounded::take_over(exact, coding, path, 1 << 12, Replacement::Random, 7).expect("there is room");
        let groups: Vec<Vec<StateRef>> = bounded.groups().map(Iterator::collect).collect();
        assert_eq!(groups, [vec![short(5)], vec![short(4), short(3)]]);
        assert_eq!((bounded.waiting_len(), bounded.path_len(), bounded.depth()), (7, 3, 2));
        let known = |bounded: &mut Bounded| (0..150).filter(|&i| bounded.contains(short(i))).count();
        assert!(bounded.fits());
        assert_eq!((known(&mut bounded), bounded.len(), bounded.turnover().insertions), (150, 150, 150));
        assert_eq!(bounded.advance(), Advance::To(short(9)));
        bounded.stop_fitting().expect("there is room");
        assert_eq!((known(&mut bounded), bounded.len(), bounded.turnover().insertions), (144, 144, 144));
        let hashes: Vec<u64> = bounded.path.groups().flatten().collect();
        assert!(
            hashes.iter().all(|&hash| bounded.table.find(hash).is_some_and(|at| bounded.table.is_pinned(at)))
        );
        assert_eq!(bounded.advance(), Advance::To(short(8)));
    }

    #[test]
    fn a_table_grows_before_it_forgets_and_what_waits_in_vain_goes_first() {
        let mut bounded = filled((0..50).map(short), 1 << 10, 2000, Replacement::Random);
        bounded.table.resize(8).expect("small");
        bounded.take_room(1 << 20);
        (0..2000).for_each(|i| assert_eq!(bounded.insert(short(i)), i >= 50));
        assert_eq!((bounded.turnover().replaced, bounded.len()), (0, 2000));
        bounded.stop_fitting().expect("nothing is on the path");
        push(&mut bounded, short(7000));
        (2000..6000).for_each(|i| bounded.wait(short(i)).expect("small"));
        (2000..5900).for_each(|i| assert!(bounded.insert(short(i))));
        let lines = bounded.table.lines();
        assert!(bounded.reserved() > bounded.bytes(), "it may grow");
        assert!(bounded.give_room(bounded.reserved() - bounded.bytes()));
        assert_eq!((bounded.reserved(), bounded.waiting_len()), (bounded.bytes(), 4000));
        assert!(bounded.give_room(5000));
        assert_eq!((bounded.waiting_len(), bounded.table.lines()), (100, lines));
        assert!(bounded.give_room(5000));
        assert!(bounded.table.lines() < lines);
    }

    #[test]
    fn a_table_takes_what_the_path_has_in_vain_before_anything_is_forgotten() {
        let fitting = |reserved: u64| {
            let mut bounded = filled((0..0).map(short), 1 << 10, 2000, Replacement::Random);
            bounded.table.resize(64).expect("small");
            bounded.table.most_lines = 64;
            (0..reserved).for_each(|i| bounded.wait(short(i)).expect("small"));
            while bounded.take_waiting().is_some() {}
            let before = bounded.bytes();
            let fits = |i| {
                assert_eq!(bounded.wait_unless_known(short(i)), Some(true));
                assert_eq!(bounded.take_waiting(), Some(short(i)));
                bounded.fits()
            };
            let fitting = (0..5000).map(fits).take_while(|&fits| fits).count();
            (fitting, before, bounded.bytes())
        };
        let (alone, ..) = fitting(0);
        let (with_room, before, after) = fitting(40_000);
        assert!(with_room > alone + alone / 8, "{with_room} after {alone}");
        assert!(after <= before, "{after} bytes after {before}");
    }

    #[test]
    fn room_that_is_not_used_is_given_without_a_look_at_all_states() {
        let mut names = Names::lasting();
        let mut bounded = filled((0..0).map(short), 64, 2000, Replacement::Random);
        bounded.table.resize(20).expect("small");
        bounded.take_room(2000);
        bounded.foresee_loss(1000, &mut names);
        assert!(bounded.ignores_states(), "nothing will be lost");
        bounded.foresee_loss(bounded.table.growth() + 1, &mut names);
        assert!(!bounded.ignores_states());
    }
}
