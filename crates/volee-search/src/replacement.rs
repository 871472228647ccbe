//! Depth-first traversal with replacement: exhaustive search in a fixed memory budget.
//!
//! Jard and Jéron, Bounded-memory algorithms for verification on-the-fly (1991), section 2.1. Only the
//! current path must be kept; of the other visited states the store keeps as many as fit, and forgets some to
//! make room. A state that was forgotten is explored again when it is met again, so the search takes longer,
//! but what it finds is right:
//! * every state that is ever stored is expanded, and each of its successors is found in the store (so it was
//!   stored once) or is stored then: by induction along any run, every reachable state is visited;
//! * no state is twice on the path, so the path is at most as long as there are states, and the search ends.
//!
//! Differences from the report. As long as everything fits the exact store this is the ordinary search. When
//! that may not grow any more, its names, path and waiting states move to the bounded store, where all of
//! them take less, and the search goes on from where it was; as long as everything fits it still knows a
//! state from when it is generated. When something must be forgotten, the path is pinned, and what waits
//! becomes known when its turn comes.
//!
//! It goes a batch of states at a time, as the ordinary one does, because a single path waits for memory at
//! each step: a level of the path is a group of states whose successors are looked up together. All states of
//! all levels are pinned then, so that both arguments above hold as they stand. Successors that are known
//! when they are generated are dropped at once; the others wait, and are looked up again when their turn
//! comes. And the budget is in bytes, for names, nodes and path together: when nodes or path grow, the table
//! of names shrinks; nodes that no remembered state uses are given back. A path that goes in batches is
//! longer; where it takes all memory the search begins anew, one at a time.
//!
//! A reduced expansion (see [`crate::proviso`]) is enough if one of its successors is unknown: that one
//! waits, and is finished before the level of the reduced state is left. Known are then only states of the
//! path and finished ones, so of the known ones those are satisfied that are not on the path, and those of
//! the path that were found to be.

use volee_system::{Flow, Limit, Meter, Progress, System, Witness};

use crate::check::{Statistics, Turnover};
use crate::depth::{self, Stack, grow};
use crate::explorer::Explorer;
use crate::keeping::Moment;
use crate::parallel::Crew;
use crate::paths::{Paths, ordinal_between, place_of};
use crate::proviso::Proviso;
use crate::questions::{Questions, once};
use crate::reducing::Reducing;
use volee_store::{
    Advance, Bounded, Coding, Exact, Forgotten, Names, Replacement, StateRef, Visited, coding_of,
};

mod single_file;
mod sleep;

/// States of a level, at most.
const BATCH_WIDTH: usize = 16;

/// What a search leaves behind.
type Ended = (Statistics, Option<Limit>);

/// What the traversal knows beside the path, which the store keeps.
#[derive(Default)]
struct Path {
    /// For each level, how many states had been stored before it, but for the higher bits: for the policy
    /// that asks.
    stored_before: Vec<u32>,
    longest: u64,
    /// What waits is held too, because the store knows it: see [`Bounded::fits`].
    fits: bool,
    /// One at a time from the start.
    single: bool,
    /// The sketch has seen what was stored before the store first forgot.
    sketched: bool,
    /// For each level that goes in batches, which states of its group are held as not satisfied; all of them
    /// where all bits are set. Nothing where nobody asks.
    held: Vec<u16>,
    /// The last states of the path behind those levels that are not satisfied. Whatever leads to a satisfied
    /// state is satisfied, so these are the ones since then.
    open: Vec<StateRef>,
}

impl Path {
    fn bytes(&self) -> u64 {
        let names = self.open.capacity() * size_of::<StateRef>();
        (self.stored_before.capacity() * size_of::<u32>() + self.held.capacity() * size_of::<u16>() + names)
            as u64
    }

    /// What it grows by with the next level.
    fn growth(&self) -> u64 {
        let more = |len: usize, capacity: usize, size: usize| {
            if len == capacity { ((len / 8 + 64) * size) as u64 } else { 0 }
        };
        more(self.open.len(), self.open.capacity(), size_of::<StateRef>())
            + more(self.held.len(), self.held.capacity(), size_of::<u16>())
            + more(self.stored_before.len(), self.stored_before.capacity(), size_of::<u32>())
    }

    /// Holds all states of the path, whatever was known of them.
    fn hold_all(&mut self, proviso: &mut Proviso, store: &Bounded) {
        if proviso.is_on() {
            self.held = vec![u16::MAX; store.depth() as usize];
            self.fits = store.fits();
            proviso.start();
            self.rebuild(proviso, store);
        }
    }

    /// What waits is not known any more, and not held, when something had to be forgotten.
    fn note_fit(&mut self, proviso: &mut Proviso, store: &Bounded) {
        if self.fits && !store.fits() {
            self.fits = false;
            self.rebuild(proviso, store);
        }
    }

    /// Holds what must be held, and while everything fits also what is satisfied already.
    fn rebuild(&self, proviso: &mut Proviso, store: &Bounded) {
        if self.fits {
            proviso.rebuild(store.along_path());
        } else {
            proviso.rebuild(self.held_names(store));
        }
    }

    /// Names have changed: holds what must be held.
    fn hold_again(&self, proviso: &mut Proviso, store: &Bounded, group: &[StateRef]) {
        let group = group.iter().copied();
        if self.fits {
            proviso.refill(store.along_path());
        } else {
            proviso.refill(self.held_names(store).chain(group));
        }
    }

    /// A level was made of these states, which were held, and some of which were found to be satisfied
    /// meanwhile.
    fn keep_group(&mut self, reducing: &mut Reducing, store: &Bounded, group: &[StateRef]) {
        if !reducing.proviso.is_on() {
            return;
        }
        let mut held = u16::MAX >> (u16::BITS - group.len() as u32);
        while let Some(at) = reducing.take_satisfied() {
            if held >> at & 1 == 1 {
                held &= !(1 << at);
                reducing.proviso.release(group[at as usize]);
            }
        }
        if self.held.len() == self.held.capacity() {
            grow(&mut self.held);
        }
        self.held.push(held);
        self.make_room(&mut reducing.proviso, store);
    }

    /// The last level is about to be left: all its states are satisfied then.
    fn release_group(&mut self, proviso: &mut Proviso, store: &Bounded) {
        let held = self.held.pop().unwrap_or_default();
        if held != 0 {
            let names = store.leaving().enumerate();
            names
                .filter(|(at, _)| held == u16::MAX || held >> at & 1 == 1)
                .for_each(|(_, name)| proviso.release(name));
        }
    }

    /// A state behind the levels that go in batches, not satisfied so far.
    fn hold(&mut self, proviso: &mut Proviso, store: &Bounded, name: StateRef) {
        if !proviso.is_on() {
            return;
        }
        if self.open.len() == self.open.capacity() {
            grow(&mut self.open);
        }
        self.open.push(name);
        proviso.hold(name);
        self.make_room(proviso, store);
    }

    /// The last state of the path, or one to which it led, is satisfied.
    fn satisfy(&mut self, proviso: &mut Proviso) {
        self.open.drain(..).for_each(|name| proviso.release(name));
    }

    fn make_room(&self, proviso: &mut Proviso, store: &Bounded) {
        if proviso.is_crowded() {
            self.rebuild(proviso, store);
        }
    }

    /// The names of all states of the path that are held.
    fn held_names<'p>(&'p self, store: &'p Bounded) -> impl Iterator<Item = StateRef> + 'p {
        let single = store.depth() as usize - self.held.len();
        let groups = store.groups().skip(single).zip(self.held.iter().rev());
        let batches = groups.flat_map(|(group, &held)| {
            group.enumerate().filter(move |(at, _)| held == u16::MAX || held >> at & 1 == 1)
        });
        batches.map(|(_, name)| name).chain(self.open.iter().copied())
    }
}

impl Paths<Bounded> for Path {
    /// `at` is a place in the last group. Nobody noted from which state of the group before it each was
    /// reached: they are asked one after the other.
    fn witness<S: System + ?Sized>(
        &self,
        system: &mut S,
        names: &mut Names,
        store: &Bounded,
        at: usize,
        last: Option<u32>,
    ) -> Witness {
        let mut steps: Vec<u32> = last.into_iter().collect();
        let mut groups = store.groups();
        let mut target = groups.next().and_then(|mut group| group.nth(at)).unwrap_or(StateRef(1));
        for mut group in groups {
            let step =
                group.find_map(|source| Some((source, ordinal_between(system, names, source, target)?)));
            if let Some((source, ordinal)) = step {
                steps.push(ordinal);
                target = source;
            }
        }
        steps.reverse();
        let mut first = Vec::new();
        names.load(target, &mut first);
        let initial = place_of(&first, |push| system.initial(push)).unwrap_or_default();
        Witness { initial, steps, loop_start: None }
    }
}

pub(crate) fn search<S: System + ?Sized>(
    system: &mut S,
    questions: &mut Questions<'_>,
    crew: Option<&Crew<'_>>,
    meter: &Meter,
    progress: &mut dyn Progress,
    policy: Replacement,
) -> Ended {
    let budget = meter.budget().memory.unwrap_or(u64::MAX);
    // What is kept of errors has a share of its own, so that each keeps to what it has.
    let share = if questions.check().goes_on(1) { once::share(budget) } else { 0 };
    questions.count_once(share);
    let rest = meter.with_memory(budget - share);
    let (mut statistics, limit) = within(system, questions, crew, &rest, progress, policy);
    statistics.memory_bytes += questions.counted_bytes();
    let whole = |limit| match limit {
        Limit::Memory { needed, .. } => Limit::Memory { budget, needed },
        other => other,
    };
    (statistics, limit.map(whole))
}

/// Searches with the memory that there is for states.
fn within<S: System + ?Sized>(
    system: &mut S,
    questions: &mut Questions<'_>,
    crew: Option<&Crew<'_>>,
    meter: &Meter,
    progress: &mut dyn Progress,
    policy: Replacement,
) -> Ended {
    let check = questions.check();
    let may_go_single = policy == Replacement::Random && single_file::may_go_single(meter);
    if may_go_single && let Some(ended) = single_file::at_once(system, questions, meter, progress) {
        return ended;
    }
    let store = Exact::new().replaceable();
    let mut explorer = Explorer::new(system, questions, meter, progress, store).with_crew(crew);
    let ended = match explorer.fits_at_first() {
        Ok(()) => forget(explorer, policy, check.seed),
        Err(limit) => (Statistics::default(), Some(limit)),
    };
    match ended {
        (before, Some(Limit::Memory { .. })) if may_go_single => {
            single_file::anew(system, questions, meter, progress, before)
        }
        ended => ended,
    }
}

fn forget<S: System + ?Sized>(
    mut explorer: Explorer<'_, '_, S, Exact>,
    policy: Replacement,
    seed: u64,
) -> Ended {
    let mut stack = Stack::default();
    let flow = depth::run(&mut explorer, &mut stack);
    let lacks_memory = flow.is_break() && explorer.goes_on_without_memory();
    // Where names have changed, or a part of a batch is known, all is forgotten.
    let is_short = lacks_memory && !explorer.is_clean;
    if !lacks_memory && (flow.is_break() || !explorer.visited.replaces()) {
        let (statistics, limit, _) = explorer.finish(stack.bytes());
        return (statistics, limit);
    }
    if !is_short {
        // What follows forgets: a kept search goes on from here, where nothing is forgotten yet.
        depth::keep(&mut explorer, &stack, Moment::Now);
    }
    // A store that forgets looks at every state anyway.
    explorer.forget_steps();
    let numbers = explorer.node_numbers();
    let coding = match explorer.names.tuples() {
        Some(tuples) => Coding::of_width(tuples.width()),
        None => coding_of(&explorer.visited, numbers),
    };
    let before = Forgotten::all_of(coding.clone(), explorer.visited.len());
    let taken_over = if is_short {
        drop(stack);
        Err(Box::new(explorer.with_store(()).0))
    } else {
        take_over(explorer, stack, coding, policy, seed)
    };
    let begun = taken_over.or_else(|explorer| begin_anew(*explorer, before, policy, seed));
    let (mut explorer, mut path) = match begun {
        Ok(explorer) => (explorer, Path::default()),
        Err(ended) => return *ended,
    };
    path.hold_all(&mut explorer.reducing.proviso, &explorer.visited);
    while go_on(&mut explorer, &mut path, policy).is_break()
        && !path.single
        && explorer.goes_on_without_memory()
    {
        // A path that goes in batches keeps more states than one that takes its states one at a time. Where
        // it has taken all memory, everything is forgotten and the search begins anew, one at a time: what
        // is lost is the time so far.
        let (small, store) = explorer.with_store(());
        explorer = match begin_anew(small, store.forget_all(), policy, seed) {
            Ok(explorer) => explorer,
            Err(ended) => return *ended,
        };
        path = Path { single: true, longest: path.longest, ..Path::default() };
        path.hold_all(&mut explorer.reducing.proviso, &explorer.visited);
    }
    let (mut statistics, limit, store) = explorer.finish(path.bytes());
    if store.replaces() {
        let turnover = turnover(&store, path.longest);
        statistics.states = turnover.distinct;
        statistics.turnover = Some(turnover);
    }
    (statistics, limit)
}

/// Moves what the exact store and the stack have to the store that forgets. A path that has no room beside
/// its tables is forgotten with all the rest.
fn take_over<'a, 'c, S: System + ?Sized>(
    mut explorer: Explorer<'a, 'c, S, Exact>,
    stack: Stack,
    coding: Coding,
    policy: Replacement,
    seed: u64,
) -> Result<Explorer<'a, 'c, S, Bounded>, Box<Explorer<'a, 'c, S, ()>>> {
    let packed = stack.pack(coding.width(), |name| coding.encode(name).unwrap_or_default());
    explorer.traversal_bytes = packed.bytes();
    let room = explorer.room_for_store();
    let (explorer, exact) = explorer.with_store(());
    let Some(bounded) = Bounded::take_over(exact, coding, packed, room, policy, seed) else {
        return Err(Box::new(explorer));
    };
    let (mut explorer, ()) = explorer.with_store(bounded);
    explorer.traversal_bytes = 0;
    Ok(explorer)
}

/// Begins with the initial states, and with all memory that names leave for a store that forgets.
fn begin_anew<'a, 'c, S: System + ?Sized>(
    mut explorer: Explorer<'a, 'c, S, ()>,
    mut before: Forgotten,
    policy: Replacement,
    seed: u64,
) -> Result<Explorer<'a, 'c, S, Bounded>, Box<Ended>> {
    if let Some(tuples) = explorer.names.tuples() {
        // They may have been laid out anew just when memory was short.
        before.coding = Coding::of_width(tuples.width());
    }
    let (statistics, budget) = (explorer.statistics.clone(), explorer.budget());
    let no_room = || {
        let needed = format!("there is no room beside the tables (there are {budget} bytes)");
        Box::new((statistics.clone(), Some(Limit::Memory { budget, needed })))
    };
    let first = Bounded::anew(before, 0, policy, seed).ok_or_else(no_room)?;
    let (mut explorer, ()) = explorer.with_store(first);
    explorer.questions().note_forgetting();
    explorer.traversal_bytes = 0;
    if explorer.reducing.proviso.is_on() {
        explorer.reducing.proviso.start();
    }
    let mut initial = Vec::new();
    let fits = explorer.fits_at_first();
    explorer.stage_initial();
    // Names that were laid out last before memory was short may have no room for the first states.
    if fits.is_err()
        || explorer.refresh(|_, _| {}).is_break()
        || explorer.drain(|_, _, staged| initial.push(staged.name)).is_break()
    {
        let (statistics, limit, _) = explorer.finish(0);
        return Err(Box::new((statistics, fits.err().or(limit))));
    }
    if let Some(tree) = explorer.names.tree() {
        tree.collect(initial.iter().copied());
    }
    let room = explorer.room_for_store();
    let (explorer, store) = explorer.with_store(());
    let store = Bounded::anew(store.forget_all(), room, policy, seed)
        .and_then(|mut store| initial.iter().rev().try_for_each(|&name| store.wait(name)).map(|()| store))
        .ok_or_else(no_room)?;
    Ok(explorer.with_store(store).0)
}

fn turnover(store: &Bounded, longest_path: u64) -> Turnover {
    let counts = store.turnover();
    let looked_up = counts.insertions + counts.hits;
    let (distinct, distinct_error) = store.distinct();
    Turnover {
        insertions: counts.insertions,
        replaced: counts.replaced,
        hit_rate: counts.hits as f64 / looked_up.max(1) as f64,
        longest_path,
        distinct,
        distinct_error,
    }
}

/// Goes on from what waits, with processes that sleep from where the store first forgets.
fn go_on<S: System + ?Sized>(
    explorer: &mut Explorer<'_, '_, S, Bounded>,
    path: &mut Path,
    policy: Replacement,
) -> Flow {
    explorer.look_now(path.bytes())?;
    if let Some(tree) = explorer.names.tree() {
        tree.watch();
    }
    let sleeps = explorer.reducing.kind.sleeps() && policy == Replacement::Random;
    let weighs_work = policy == Replacement::Cheapest;
    loop {
        if explorer.visited.replaces() && sleeps {
            path.note_fit(&mut explorer.reducing.proviso, &explorer.visited);
            explorer.visited.fall_asleep();
            return sleep::one_by_one(explorer, path);
        }
        if descend(explorer, path, weighs_work)? {
            continue;
        }
        if explorer.visited.depth() == 0 {
            return Flow::Continue(());
        }
        let before = path.stored_before.pop().unwrap_or_default();
        let work = (explorer.visited.turnover().insertions as u32).wrapping_sub(before);
        path.release_group(&mut explorer.reducing.proviso, &explorer.visited);
        explorer.visited.leave(u64::from(work));
    }
}

/// Makes a level of states that wait at the last one; whether there are any that must be explored.
fn descend<S: System + ?Sized>(
    explorer: &mut Explorer<'_, '_, S, Bounded>,
    path: &mut Path,
    weighs_work: bool,
) -> std::ops::ControlFlow<(), bool> {
    explorer.foresee(path.bytes())?;
    path.note_fit(&mut explorer.reducing.proviso, &explorer.visited);
    let depth = explorer.visited.depth();
    explorer.visited.set_depth(depth);
    let stored_before = explorer.visited.turnover().insertions as u32;
    let mut group = [StateRef::NONE; BATCH_WIDTH];
    let width = if path.single || explorer.visited.is_tight() { 1 } else { BATCH_WIDTH };
    let group = match take_group(&mut explorer.visited, &mut group[..width]) {
        Some([]) => return std::ops::ControlFlow::Continue(false),
        Some(group) => group,
        None => return explorer.stop_on_memory().map_continue(|()| false),
    };
    note_forgetting(explorer, path);
    if explorer.reducing.proviso.is_on() && !path.fits {
        group.iter().for_each(|&name| explorer.reducing.proviso.hold(name));
    }
    if explorer.has_numbers {
        group.iter().for_each(|&name| explorer.soon(name));
    }
    for (at, &name) in group.iter().enumerate() {
        explorer.visit(name, at as u32, depth, path, at)?;
        explorer.tick(depth, explorer.visited.waiting_len(), path.bytes())?;
    }
    explorer.statistics.max_depth = explorer.statistics.max_depth.max(depth);
    path.longest = path.longest.max(explorer.visited.path_len());
    explorer.visited.enter();
    if weighs_work {
        if path.stored_before.len() == path.stored_before.capacity() {
            grow(&mut path.stored_before);
        }
        path.stored_before.push(stored_before);
    }
    let mut group = group.to_vec();
    wait(explorer, path, &mut group)?;
    while explorer.reducing.has_reduced() {
        explorer.expand_ignoring(path)?;
        wait(explorer, path, &mut group)?;
    }
    let group = &group[..];
    path.keep_group(&mut explorer.reducing, &explorer.visited, group);
    collect(explorer);
    std::ops::ControlFlow::Continue(true)
}

/// Puts a few states that wait and are still unknown on the path; one at a time where memory is short,
/// because a path that goes in batches has more states on it. `None` when all room is pinned.
fn take_group<'g>(store: &mut Bounded, group: &'g mut [StateRef]) -> Option<&'g [StateRef]> {
    store.prefetch_waiting(group.len() as u32);
    let mut count = 0;
    while count < group.len() {
        match store.advance() {
            Advance::To(name) => group[count] = name,
            Advance::Nowhere => break,
            Advance::Full => return None,
        }
        count += 1;
    }
    Some(&group[..count])
}

/// Lets the staged states that are unknown wait.
fn wait<S: System + ?Sized>(
    explorer: &mut Explorer<'_, '_, S, Bounded>,
    path: &mut Path,
    group: &mut [StateRef],
) -> Flow {
    refresh(explorer, path, group)?;
    let growth = explorer.visited.waiting_growth(explorer.staged.len()) + path.growth();
    explorer.claim(growth, path.bytes())?;
    let mut no_memory = false;
    explorer.reducing.rewind();
    explorer.drain(|store, reducing, staged| {
        let waits = store.wait_unless_known(staged.name);
        no_memory |= waits.is_none();
        if waits == Some(true) && store.fits() && reducing.proviso.is_on() {
            reducing.proviso.hold(staged.name);
        }
        if reducing.has_reduced() {
            reducing.weigh(staged, waits == Some(true));
        }
    })?;
    if no_memory { explorer.stop_on_memory() } else { Flow::Continue(()) }
}

/// Gives states that wait for a name theirs; the path and this group keep names.
fn refresh<S: System + ?Sized>(
    explorer: &mut Explorer<'_, '_, S, Bounded>,
    path: &mut Path,
    group: &mut [StateRef],
) -> Flow {
    let own = path.open.iter_mut().chain(group.iter_mut());
    match explorer.refresh(|_, translate| own.for_each(translate)) {
        std::ops::ControlFlow::Continue(true) if explorer.reducing.proviso.is_on() => {
            path.fits = explorer.visited.fits();
            path.hold_again(&mut explorer.reducing.proviso, &explorer.visited, group);
            Flow::Continue(())
        }
        std::ops::ControlFlow::Continue(_) => Flow::Continue(()),
        std::ops::ControlFlow::Break(()) => Flow::Break(()),
    }
}

/// Gives back the nodes of states that were forgotten, now and then. Nothing may be staged.
fn collect<S: System + ?Sized>(explorer: &mut Explorer<'_, '_, S, Bounded>) {
    let Some(tree) = explorer.names.tree() else { return };
    if tree.is_crowded() {
        let store = &explorer.visited;
        tree.collect(store.names().chain(store.along_path()));
    }
}

/// When the store has first forgotten a state, the sketch is to see all stored ones: from now on names will
/// be lost.
fn note_forgetting<S: System + ?Sized>(explorer: &mut Explorer<'_, '_, S, Bounded>, path: &mut Path) {
    if path.sketched || !explorer.visited.replaces() {
        return;
    }
    path.sketched = true;
    explorer.questions.note_forgetting();
    explorer.visited.foresee_loss(u64::MAX, &mut explorer.names);
}
