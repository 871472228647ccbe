//! Accepted runs by all cores: several threads decide together whether the product has an accepted cycle.
//!
//! A search by components begins in one thread. When it has shown to be large it pauses, and a
//! [`Crew`](crate::Crew) goes on from what it knows. Each worker has a system, a claim and remembered steps of its own; names mean the
//! same to all (see [`crate::parallel`]). Two tables are common:
//! * *seen* has the pairs that some worker has come to from outside an accepting component of the automaton.
//!   Whoever puts a pair there takes care of it, by expanding it if it is on no accepted cycle ([`Kind`]), by
//!   a walk from it otherwise.
//! * *dead* has pairs from which no accepted cycle can be reached within their component of the automaton. A
//!   worker walks depth-first and by components, as one alone does ([`super::components`]), but neither
//!   enters what is dead nor leaves the component of the automaton. A component of the product that is whole
//!   is dead. So workers share components as soon as one has done with them (after Renault, Duret-Lutz,
//!   Kordon, Poitrenaud, "Parallel explicit model checking for generalized Büchi automata", 2013).
//!
//! # Why this is right
//! What a worker finds accepted are transitions of the product that it has made itself, so there is an
//! accepted run. It remains that none is missed. *What is dead is so rightly:* take the first pair that is
//! not, in a component C which a walk has closed. The walk has followed every transition of C that stays in
//! the automaton's component, but for those to pairs that were dead already, rightly. So the accepted cycle
//! is reached without these, and is in C; but then the walk had merged all its marks. *All is looked at:* at
//! the end nobody has anything left, so whoever was put into *seen* was expanded or walked from, and with it
//! all that it leads to. What the first thread knows fits in: a pair in a finished component of its search
//! leads to no accepted cycle; a pair that it has expanded leads only to pairs that it has numbered.
//!
//! Reduction: each expansion has at least the steps of the system that is fixed by the states alone (see
//! [`super::product`], [`super::reduced`]), whoever makes it, and the argument goes for that system.
//!
//! # Orders of memory
//! All accesses to both tables are relaxed. That a pair is dead is all there is to know of it: nothing else
//! is read because of it, and who does not see it yet walks once more. A pair is put into *dead* after the
//! walk has read what it relies on, by branches on it, so what is relied on was there before: "the first"
//! above means something.
//!
//! # What is not shared
//! A walk through a component of the automaton that has cycles of both kinds ([`Kind::Mixed`]) can meet
//! components that are nearly all of the product, and each worker would go through them whole. There one
//! worker walks at a time ([`Alone`]) while the others reach what can be reached; and where the automaton
//! begins like that, the crew is not asked at all. Neither is it with little memory or a bound on the depth.
//!
//! Which cycle a crew meets first depends on chance. So it tells only whether there is an error; if there is,
//! the paused search goes on to the one that it finds.

mod kept;
mod kinds;
mod meeting;
mod walk;
mod worker;

use std::sync::{Arc, Mutex, PoisonError};

use volee_logic::automaton::Edge;
use volee_store::checkpoint::Keeper;
use volee_store::{Concurrent, Layouts, StateRef, Tuples};
use volee_system::{Limit, Meter, Progress, Snapshot, System};

use self::kept::Desk;
pub(super) use self::kept::KIND;
use self::kinds::{Kind, Kinds};
use self::meeting::{Plan, Tables};
use self::walk::Walk;
use super::components::Search;
use super::nodes::{DEAD, Nodes, UNVISITED};
use super::reduced::Expansions;
use super::{Claim, ClaimOptions};
use crate::check::{SHARED, Statistics};
use crate::parallel::yard::{End, Seen, Yard};
use crate::parallel::{REPORT, ease, first_room};

/// A state of the system and one of the automaton.
pub(super) type Pair = (StateRef, u32);

/// What a crew tells that has met no error: all was seen, or there is no time for it.
pub(super) struct Told {
    pub limit: Option<Limit>,
    pub statistics: Statistics,
    /// The letters met.
    pub letters: Vec<u64>,
}

/// Pairs that one worker walks from at a time.
#[derive(Default)]
struct Alone {
    is_taken: bool,
    roots: Vec<Pair>,
}

/// How far a worker is.
#[derive(Debug, Clone, Copy, Default)]
struct Account {
    transitions: u64,
    reduced: u64,
    bytes: u64,
    /// Pairs on no accepted cycle that were new to it.
    passing: u64,
    depth: u64,
    waiting: u64,
}

/// What workers share.
struct Common<'c, const W: usize> {
    yard: Yard<Vec<Pair>>,
    kinds: Kinds,
    alone: Mutex<Alone>,
    plan: Mutex<Option<Arc<Plan>>>,
    /// Some worker has states that wait for wider fields.
    wants_layout: Mutex<bool>,
    accounts: Vec<Mutex<Account>>,
    letters: Mutex<Vec<u64>>,
    meter: &'c Meter,
    /// What the first thread holds.
    held: u64,
    /// Whether the search is kept, and where all hand in what they have for that.
    keeps: bool,
    desk: Mutex<Desk<W>>,
    /// What the first thread's system has left out.
    left_out: Option<String>,
}

/// What the first thread knows, and workers begin with.
struct Start<'s, const W: usize> {
    /// The walk that one was on alone, and its pairs.
    walk: Mutex<Option<(Nodes, Walk<W>)>>,
    tuples: Tuples,
    tables: Tables,
    expansions: Option<Expansions>,
    automaton: &'s [Vec<Edge>],
    faults: bool,
    reduces: bool,
}

impl<const W: usize> Common<'_, W> {
    /// All accounts as one.
    fn sum(&self) -> Account {
        let mut sum = Account::default();
        for account in &self.accounts {
            let account = *account.lock().unwrap_or_else(PoisonError::into_inner);
            sum.transitions += account.transitions;
            sum.reduced += account.reduced;
            sum.bytes += account.bytes;
            sum.passing += account.passing;
            sum.depth = sum.depth.max(account.depth);
            sum.waiting += account.waiting;
        }
        sum
    }

    /// Whether time and memory are left, beside the table, for this much.
    fn check(&self, bytes: u64) -> Result<(), Limit> {
        self.meter.check().and_then(|()| self.check_memory(bytes))
    }

    /// Whether memory is left, beside the table, for this much.
    fn check_memory(&self, bytes: u64) -> Result<(), Limit> {
        let sum = self.sum();
        let needed =
            || format!("there are more than {} pairs of a state and a state of the claim", sum.passing);
        self.meter.check_memory(self.held + sum.bytes + bytes, needed)
    }
}

/// From how many pairs on a crew is asked; never where it would not help.
pub(super) fn begins(claim: &Claim, options: ClaimOptions<'_>, fair: bool, meter: &Meter) -> usize {
    let budget = meter.budget();
    let little = budget.memory.is_some_and(|bytes| bytes < SHARED);
    let Some(crew) = options.crew.filter(|_| !little && budget.depth.is_none()) else {
        return usize::MAX;
    };
    match Kinds::new(&claim.automaton, fair).of(claim.automaton.initial) {
        Kind::Mixed => usize::MAX,
        _ => usize::try_from(crew.begins(false)).unwrap_or(usize::MAX),
    }
}

/// Has a crew decide whether there is an error beyond what a search has met. Nothing where there is one, or
/// nobody knows: the first thread goes on.
pub(super) fn ask<S: System + ?Sized, const W: usize>(
    search: &mut Search<'_, S, W>,
    claim: &Claim,
    options: ClaimOptions<'_>,
    meter: &Meter,
    progress: &mut dyn Progress,
) -> Option<Told> {
    let kinds = Kinds::new(&claim.automaton, W > 1);
    let crew = options.crew?;
    let Begun { start, first, before } = match std::mem::take(&mut search.kept_by_crew) {
        false => begin(search, claim, options, &kinds, meter)?,
        true => match kept::read(search, claim, options, &kinds, meter) {
            Ok(begun) => begun?,
            Err(refused) => return Some(search.refused(refused)),
        },
    };
    let mut keeper = search.keeper.take();
    if let Some(keeper) = keeper.as_mut().filter(|keeper| keeper.checkpoint.resume) {
        keeper.restored(meter);
    }
    let (held, letters) = (search.bytes(), search.product.letters().to_vec());
    let mut accounts: Vec<_> = (0..crew.size()).map(|_| Mutex::default()).collect();
    accounts.push(Mutex::new(before));
    let share = |worker: usize| first.iter().skip(worker).step_by(crew.size()).copied().collect();
    let packages = (0..crew.size().min(first.len())).map(share).collect();
    let is_taken = start.walk.lock().unwrap_or_else(PoisonError::into_inner).is_some();
    let common = Common {
        yard: Yard::new(crew.size(), packages),
        kinds,
        alone: Mutex::new(Alone { is_taken, roots: Vec::new() }),
        plan: Mutex::default(),
        wants_layout: Mutex::default(),
        accounts,
        letters: Mutex::new(letters),
        meter,
        held,
        keeps: keeper.is_some(),
        desk: Mutex::default(),
        left_out: search.left_out(),
    };
    let length = search.product.state_length();
    let (end, peak) = std::thread::scope(|scope| {
        for number in 0..crew.size() {
            let (common, start) = (&common, &start);
            scope.spawn(move || worker::run::<W>(crew, number, common, start));
        }
        watch(&common, keeper.as_mut().map(|keeper| (keeper, length)), progress)
    });
    search.keeper = keeper;
    let sum = common.sum();
    let (dead, bytes) = common.yard.size();
    let statistics = Statistics {
        states: sum.passing + dead,
        transitions: sum.transitions,
        reduced: sum.reduced,
        max_depth: sum.depth,
        memory_bytes: peak.max(held + bytes + sum.bytes),
        table_bytes: bytes,
        workers: crew.size() as u64,
        ..Statistics::default()
    };
    let letters = common.letters.into_inner().unwrap_or_else(PoisonError::into_inner);
    let limit = match end {
        End::Complete => None,
        End::Limit(Some(limit @ (Limit::Time { .. } | Limit::Cancelled))) => Some(limit),
        End::Decided => {
            search.is_left_to_one = true;
            return None;
        }
        End::Limit(_) => return None,
    };
    Some(Told { limit, statistics, letters })
}

/// What a crew begins with, what it is to do first, and what was counted before.
struct Begun<'s, const W: usize> {
    start: Start<'s, W>,
    first: Vec<Pair>,
    before: Account,
}

/// Tables that are filled before a crew begins.
struct Ground {
    tuples: Tuples,
    /// How names change that were given before.
    layouts: Option<Layouts>,
    tables: Tables,
    first: Vec<Pair>,
    /// Pairs on no accepted cycle.
    passing: u64,
    seen: u64,
    dead: u64,
}

impl Ground {
    /// With room for more than this many pairs. Nothing where names have none.
    fn new(mut tuples: Tuples, pairs: usize, kinds: &Kinds, meter: &Meter) -> Option<Self> {
        let (bits, most) = (kinds.bits(), kinds.most_name_bits());
        // There are two tables.
        let room = first_room(pairs, ease(meter) / 2);
        // The first thread's names have no room for the automaton's state, and those that are short need half
        // the memory.
        let wish = Concurrent::bits_for(room).saturating_sub(bits).min(most);
        let layouts = if tuples.is_wide() { None } else { Some(tuples.lay_out_within(wish, most)?) };
        tuples.share();
        let width = tuples.width().min(most);
        let table = || Concurrent::new(width + bits, room).map(Arc::new);
        let tables = Tables { seen: table()?, dead: table()?, width };
        Some(Ground { tuples, layouts, tables, first: Vec::new(), passing: 0, seen: 0, dead: 0 })
    }

    /// The name of a state that had one before.
    fn renamed(&mut self, name: StateRef) -> StateRef {
        self.layouts.as_ref().map_or(name, |layouts| self.tuples.renamed(layouts, name))
    }

    /// Puts a pair where it belongs; nothing where it has no room, or is an error by itself.
    fn put(&mut self, pair: Pair, order: u32, kinds: &Kinds, traps: &[bool]) -> Option<()> {
        let key = self.tables.key(pair).filter(|_| !traps[pair.1 as usize])?;
        self.seen += u64::from(self.tables.seen.insert(key));
        match kinds.of(pair.1) {
            Kind::Passing => {
                self.passing += 1;
                if order == UNVISITED {
                    self.first.push(pair);
                }
            }
            _ if order == DEAD => self.dead += u64::from(self.tables.dead.insert(key)),
            _ => self.first.push(pair),
        }
        Some(())
    }

    /// All pairs are there.
    fn begun<'s, S: System + ?Sized, const W: usize>(
        mut self,
        search: &mut Search<'_, S, W>,
        claim: &'s Claim,
        options: ClaimOptions<'_>,
        before: Account,
        walk: Option<Walk<W>>,
    ) -> Option<Begun<'s, W>> {
        let mut expansions = search.product.expansions.clone();
        if let Some(expansions) = &mut expansions {
            expansions.rename(|name| self.renamed(name));
        }
        let walk = walk.map(|walk| {
            let mut nodes = std::mem::replace(&mut search.product.nodes, Nodes::new());
            nodes.rename(|name| self.renamed(name));
            (nodes, walk)
        });
        self.tables.seen.add(self.seen);
        self.tables.dead.add(self.dead);
        let Ground { tuples, tables, first, passing, .. } = self;
        if tuples.is_full() {
            return None;
        }
        let automaton = &claim.automaton.states[..];
        let (faults, reduces) = (options.faults, search.product.reduces());
        let walk = Mutex::new(walk);
        let start = Start { walk, tuples, tables, expansions, automaton, faults, reduces };
        Some(Begun { start, first, before: Account { passing, ..before } })
    }
}

/// What a crew begins with when one thread has shown a search to be large; nothing where that one knows
/// already that there is an error, or names have no room.
fn begin<'s, S: System + ?Sized, const W: usize>(
    search: &mut Search<'_, S, W>,
    claim: &'s Claim,
    options: ClaimOptions<'_>,
    kinds: &Kinds,
    meter: &Meter,
) -> Option<Begun<'s, W>> {
    let product = &mut search.product;
    let mut ground = Ground::new(product.tuples()?.clone(), product.nodes.len(), kinds, meter)?;
    for node in 0..product.nodes.len() as u32 {
        let ((name, at), order) = (product.nodes.key(node), product.nodes.order[node as usize]);
        let name = ground.renamed(name);
        ground.put((name, at), order, kinds, &product.traps)?;
    }
    let before = Account {
        transitions: product.transitions,
        reduced: product.reduced,
        depth: search.max_depth as u64,
        ..Account::default()
    };
    ground.begun(search, claim, options, before, None)
}

/// Tells of progress and looks at the clock until the workers have ended; how they have, and the most memory.
fn watch<const W: usize>(
    common: &Common<'_, W>,
    mut keeping: Option<(&mut Keeper, usize)>,
    progress: &mut dyn Progress,
) -> (End, u64) {
    let mut peak = 0;
    loop {
        let seen = common.yard.watch(REPORT);
        let (sum, (dead, bytes)) = (common.sum(), common.yard.size());
        let memory = common.held + bytes + sum.bytes;
        peak = peak.max(memory);
        let at_limit = |keeper: &Keeper, length: usize| {
            let moment = || keeper.last_moment(common.meter, sum.passing + dead, length);
            common.meter.check().and_then(|()| moment()).err()
        };
        match (seen, &mut keeping) {
            (Seen::End(end), _) => return (end, peak),
            (Seen::Handed, Some((keeper, length))) => {
                let limit = at_limit(keeper, *length);
                kept::write(common, keeper, progress);
                match limit {
                    Some(limit) => common.yard.end(End::Limit(Some(limit))),
                    None => common.yard.give_back(),
                }
                continue;
            }
            _ => {}
        }
        progress.report(&Snapshot {
            states: sum.passing + dead,
            transitions: sum.transitions,
            depth: sum.depth,
            max_depth: sum.depth,
            pending: sum.waiting,
            memory,
        });
        match &keeping {
            Some((keeper, length)) => {
                if at_limit(keeper, *length).is_some() || keeper.is_time(common.meter) {
                    common.yard.call_to_keep();
                }
                if let Err(limit) = common.check_memory(bytes) {
                    common.yard.end(End::Limit(Some(limit)));
                }
            }
            None => {
                if let Err(limit) = common.check(bytes) {
                    common.yard.end(End::Limit(Some(limit)));
                }
            }
        }
    }
}
