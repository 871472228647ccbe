//! One worker: pairs that wait, and the walk it is on.
//!
//! Pairs on no accepted cycle are popped, expanded and what they lead to looked up together; others are where
//! walks begin ([`walk`](super::walk)). Who has nothing waits at the yard; who sees somebody wait leaves half
//! of what waits for himself, or, on a walk, some of the ways that it would come to last: they are walked
//! from by the other, and are dead when this one gets there.

use std::sync::PoisonError;

use volee_store::Names;
use volee_system::{Limit, System};

use super::kinds::Kind;
use super::meeting::Tables;
use super::walk::Walk;
use super::{Account, Claim, Common, Pair, Start};
use crate::liveness::product::{Product, Stop};
use crate::parallel::Crew;
use crate::parallel::yard::{End, Taken};

/// Pairs that are looked up together.
const BATCH: usize = 1 << 6;
/// Pairs that are handed over at a time, at most.
const LARGEST_PACKAGE: usize = 1 << 14;
/// Steps of work between two looks at the tables, and looks between two accounts.
const LOOK: u32 = 1 << 6;
const ACCOUNT: u32 = 1 << 5;

pub(super) struct Worker<'w, const W: usize> {
    pub number: usize,
    pub common: &'w Common<'w, W>,
    pub product: Product<'w, dyn System, W>,
    pub tables: Tables,
    pub walk: Walk<W>,
    pub stack: Vec<Pair>,
    /// Pairs that were met and are not looked up.
    pub arrived: Vec<Pair>,
    /// The pair that is being expanded, or none.
    pub current: Pair,
    /// Where this one is the one that walks alone: from where it is still to walk.
    pub alone: Option<Vec<Pair>>,
    /// What the tables have not counted: of what was seen, and of what is dead.
    pub uncounted: (u64, u64),
    passing: u64,
    until_look: u32,
    until_account: u32,
}

/// Tells the yard that a worker has left, also when it has panicked.
struct Leaving<'y, const W: usize>(&'y Common<'y, W>);

impl<const W: usize> Drop for Leaving<'_, W> {
    fn drop(&mut self) {
        self.0.yard.leave();
    }
}

/// The life of a worker.
pub(super) fn run<const W: usize>(
    crew: &Crew<'_, Claim>,
    number: usize,
    common: &Common<'_, W>,
    start: &Start<'_, W>,
) {
    let _leaving = Leaving(common);
    let Some((mut system, claim)) = crew.another() else { return };
    // Pairs mean the same to all only if the automata are the same.
    if claim.automaton.states != start.automaton {
        return;
    }
    let mut product = Product::new(&mut *system, &claim, start.faults, start.reduces);
    product.exchange_names(Names::Tuples(Box::new(start.tuples.clone())));
    product.expansions = start.expansions.clone();
    let mut worker = Worker::<W> {
        number,
        common,
        product,
        tables: start.tables.clone(),
        walk: Walk::new(claim.automaton.all_marks()),
        stack: Vec::new(),
        arrived: Vec::new(),
        current: Pair::default(),
        alone: None,
        uncounted: (0, 0),
        passing: 0,
        until_look: LOOK,
        until_account: ACCOUNT,
    };
    if number == 0
        && let Some((nodes, walk)) = start.walk.lock().unwrap_or_else(PoisonError::into_inner).take()
    {
        (worker.product.nodes, worker.walk, worker.alone) = (nodes, walk, Some(Vec::new()));
    }
    while worker.work().is_some() {}
    worker.count();
    worker.account();
    let mut letters = common.letters.lock().unwrap_or_else(PoisonError::into_inner);
    let own = worker.product.letters().iter();
    let new: Vec<u64> = own.filter(|letter| !letters.contains(letter)).copied().collect();
    letters.extend(new);
    drop(letters);
    drop(worker);
    crew.note_left_out(system.as_ref());
    crew.note_executed(system.as_mut());
}

impl<const W: usize> Worker<'_, W> {
    /// Does the next piece of work. `None` when the search has ended.
    fn work(&mut self) -> Option<()> {
        self.look_around()?;
        if self.arrived.len() >= BATCH || self.stack.is_empty() && !self.walk.is_under_way() {
            self.settle()?;
        }
        if self.walk.is_under_way() {
            return self.walk_on();
        }
        if let Some(alone) = &mut self.alone {
            return match alone.pop() {
                Some(pair) => self.set_out(pair),
                None => {
                    self.take_turn();
                    Some(())
                }
            };
        }
        let Some(pair) = self.stack.pop() else { return self.wait() };
        match self.common.kinds.of(pair.1) {
            Kind::Passing => self.pass(pair),
            Kind::Weak => self.set_out(pair),
            Kind::Mixed => {
                self.walk_alone(pair);
                Some(())
            }
        }
    }

    /// Does what is due between two pieces of work.
    #[inline]
    fn look_around(&mut self) -> Option<()> {
        let yard = &self.common.yard;
        if yard.has_ended() {
            return None;
        }
        if yard.is_hungry() {
            self.give();
        }
        self.until_look -= 1;
        if self.until_look == 0 {
            self.until_look = LOOK;
            self.count();
            if self.tables.is_crowded() {
                self.common.yard.call_meeting();
            }
            self.until_account -= 1;
            if self.until_account == 0 {
                self.account();
                match self.common.check(self.tables.bytes()) {
                    Ok(()) => {}
                    // The thread that watches ends it when it is kept.
                    Err(Limit::Time { .. } | Limit::Cancelled) if self.common.keeps => {
                        self.common.yard.call_to_keep();
                    }
                    Err(limit) => return self.end(End::Limit(Some(limit))),
                }
            }
        }
        if self.common.yard.is_meeting() { self.meet() } else { Some(()) }
    }

    pub fn end(&mut self, end: End) -> Option<()> {
        self.common.yard.end(end);
        None
    }

    /// Waits until there is something to do.
    fn wait(&mut self) -> Option<()> {
        self.count();
        self.account();
        match self.common.yard.take(0) {
            Taken::End => return None,
            Taken::Meeting => return self.meet(),
            Taken::Package(package) => {
                self.catch_up();
                self.stack = package;
            }
            Taken::Level => {}
        }
        Some(())
    }

    /// Learns what others have put into names.
    fn catch_up(&mut self) {
        if let Some(tuples) = self.product.tuples() {
            tuples.catch_up();
        }
    }

    /// Expands a pair that is on no accepted cycle.
    fn pass(&mut self, pair: Pair) -> Option<()> {
        self.expand(pair, false)?;
        let first = self.arrived.len();
        self.product.number_inside(|_| false, |_| false, &mut self.walk.ways, &mut self.arrived);
        self.bring_near(first);
        Some(())
    }

    /// Brings what decides about the last arrivals near.
    pub fn bring_near(&self, first: usize) {
        for &pair in &self.arrived[first..] {
            if let Some(key) = self.tables.key(pair) {
                self.tables.seen.prefetch(key);
            }
        }
    }

    /// Finds the transitions of a pair, on a walk or not. `None` when the search has ended: by an error, too.
    pub fn expand(&mut self, pair: Pair, walks: bool) -> Option<()> {
        self.current = pair;
        let enabled = match self.product.stage(pair.0) {
            Ok(enabled) => enabled,
            Err(stop) => return self.stopped(&stop),
        };
        while self.product.has_waiting() {
            self.common.yard.call_meeting();
            self.meet()?;
        }
        if self.product.is_full() {
            return self.end(End::Limit(None));
        }
        if walks {
            self.bring_dead_near(self.current.1);
        }
        let paired = self.product.pair_up(self.current, enabled);
        self.current = Pair::default();
        match paired {
            Ok(()) => Some(()),
            Err(stop) => self.stopped(&stop),
        }
    }

    /// Brings what tells which of the staged steps lead to what is dead near, as early as their names are known.
    fn bring_dead_near(&self, at: u32) {
        let (tables, kinds) = (&self.tables, &self.common.kinds);
        let inside = self.product.possible_pairs(at).filter(|&(_, to)| kinds.are_together(at, to));
        inside.filter_map(|pair| tables.key(pair)).for_each(|key| tables.dead.prefetch(key));
    }

    fn stopped(&mut self, stop: &Stop) -> Option<()> {
        self.end(match stop {
            Stop::Fault(..) => End::Decided,
            Stop::Full(_) => End::Limit(None),
        })
    }

    /// Looks up what has arrived; what is new waits here.
    fn settle(&mut self) -> Option<()> {
        for at in 0..self.arrived.len() {
            let pair = self.arrived[at];
            let Some(key) = self.tables.key(pair) else { return self.end(End::Limit(None)) };
            if self.product.traps[pair.1 as usize] {
                return self.end(End::Decided);
            }
            if self.tables.seen.insert(key) {
                self.uncounted.0 += 1;
                self.passing += u64::from(self.common.kinds.of(pair.1) == Kind::Passing);
                self.stack.push(pair);
            }
        }
        self.arrived.clear();
        Some(())
    }

    /// Leaves something for whoever waits.
    fn give(&mut self) {
        let keeps = usize::from(!self.walk.is_under_way() && self.alone.is_none());
        let spare = self.stack.len().saturating_sub(keeps);
        let package = match spare.div_ceil(2).min(LARGEST_PACKAGE) {
            0 if self.alone.is_none() => self.walk.ways_to_come(&mut self.product.nodes),
            0 => return,
            half => self.stack.drain(..half).collect(),
        };
        if !package.is_empty() {
            self.common.yard.give(package);
        }
    }

    /// Walks from a pair if nobody else walks alone; otherwise that one will.
    fn walk_alone(&mut self, pair: Pair) {
        let mut all = self.common.alone.lock().unwrap_or_else(PoisonError::into_inner);
        if all.is_taken {
            all.roots.push(pair);
        } else {
            all.is_taken = true;
            self.alone = Some(vec![pair]);
        }
    }

    /// The next pairs to walk from alone; where there are none, anybody may be the next to do so.
    fn take_turn(&mut self) {
        let mut all = self.common.alone.lock().unwrap_or_else(PoisonError::into_inner);
        let roots = std::mem::take(&mut all.roots);
        all.is_taken = !roots.is_empty();
        drop(all);
        self.catch_up();
        self.alone = (!roots.is_empty()).then_some(roots);
    }

    /// Has the tables count what was new.
    pub fn count(&mut self) {
        let (seen, dead) = std::mem::take(&mut self.uncounted);
        self.tables.seen.add(seen);
        self.tables.dead.add(dead);
    }

    /// Tells the others how far this one is.
    #[cold]
    pub fn account(&mut self) {
        self.until_account = ACCOUNT;
        let pairs =
            self.stack.capacity() + self.arrived.capacity() + self.alone.as_ref().map_or(0, Vec::capacity);
        let account = Account {
            transitions: self.product.transitions,
            reduced: self.product.reduced,
            bytes: self.product.bytes() + self.walk.bytes() + (pairs * size_of::<Pair>()) as u64,
            passing: self.passing,
            depth: self.walk.deepest as u64,
            waiting: self.stack.len() as u64,
        };
        *self.common.accounts[self.number].lock().unwrap_or_else(PoisonError::into_inner) = account;
        self.common.yard.note_size(self.tables.dead.len(), self.tables.bytes());
    }
}
