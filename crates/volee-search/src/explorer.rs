//! What all traversals have in common: expanding states in batches.
//!
//! A look-up in a large table costs a few hundred nanoseconds when the processor waits for it, and a tenth of
//! that when several are under way. So the targets of a batch of states are first only named and their table
//! lines prefetched (*staged*), and all are looked up together when the batch is large enough (*settled*). A
//! traversal decides which states make a batch and what happens to the new ones.

mod limits;
mod recalling;

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use volee_system::{FaultId, Flow, Limit, Meter, Progress, SleepSet, System};

use crate::check::Statistics;
use crate::keeping::Counted;
use crate::memo::{Memo, Recalled, rename_steps};
use crate::parallel::Crew;
use crate::paths::Paths;
use crate::questions::Questions;
use crate::recent::Recent;
use crate::reducing::Reducing;
use crate::staging::{Stage, Staged, Targets, approach, put};
use volee_store::checkpoint::Keeper;
use volee_store::{Names, StateRef, Tuple, Visited};

/// Look-ups that are worth settling together.
const BATCH: usize = 32;
/// States that a system which has all its steps in memory is told of before their turn comes.
const AHEAD: usize = 12;
/// Expansions between two looks at clock and budget, at most; fewer where the budget is small.
const MAX_TICK: u64 = 256;
const MIN_TICK: u64 = 1;

/// A search at work, without its order.
pub(crate) struct Explorer<'a, 'c, S: System + ?Sized, V> {
    pub(crate) system: &'a mut S,
    pub(crate) questions: &'a mut Questions<'c>,
    pub(crate) meter: &'a Meter,
    pub(crate) progress: &'a mut dyn Progress,
    pub(crate) names: Names,
    pub(crate) memo: Memo<u64>,
    /// The same for names that stand for more bits than they have.
    pub(crate) wide_memo: Memo<Tuple>,
    pub(crate) visited: V,
    /// The state that was loaded last, and its name if that is known.
    pub(crate) state: Vec<u8>,
    pub(crate) loaded: Option<StateRef>,
    /// The states of the system are numbers: see [`System::prefetch`].
    pub(crate) has_numbers: bool,
    pub(crate) staged: Vec<Staged>,
    targets: Targets,
    pub(crate) recent: Recent,
    /// Who may sleep in the staged states, where processes sleep.
    pub(crate) sleeps: Vec<SleepSet>,
    pub(crate) reducing: Reducing,
    /// The faulty steps of the last expansion, by ordinal.
    pub(crate) faults: Vec<(u32, FaultId)>,
    pub(crate) statistics: Statistics,
    pub(crate) limit: Option<Limit>,
    /// What the traversal itself used at the last look.
    pub(crate) traversal_bytes: u64,
    /// What the traversal itself may soon grow by.
    pub(crate) traversal_growth: u64,
    /// How many states may be staged.
    pub(crate) most_staged: usize,
    /// What names may take is little more than they take.
    names_are_tight: bool,
    /// Nothing of the batch is known to the store yet, and names are as they were when it began.
    pub(crate) is_clean: bool,
    until_tick: u64,
    tick: u64,
    last_report: Duration,
    /// Where the search is kept, if it is.
    pub(crate) keeper: Option<Keeper>,
    pub(crate) batch_start: Counted,
    /// How many states there are, where the store does not know.
    pub(crate) counted: Option<u64>,
    /// What the system had left out when the search was kept.
    pub(crate) left_out: Option<String>,
    /// Several threads that take over when there are many states, and what they have found.
    pub(crate) crew: Option<&'a Crew<'a>>,
    pub(crate) crew_begins: u64,
    pub(crate) elsewhere: Option<Statistics>,
    /// The file of the search is one of a crew.
    pub(crate) kept_by_crew: bool,
    /// The crew says that there is something to be found.
    pub(crate) expects: bool,
    /// States after which another search is known to be better.
    pub(crate) fewest: Option<Arc<AtomicU64>>,
}

impl<'a, 'c, S: System + ?Sized, V> Explorer<'a, 'c, S, V> {
    /// The same search with another store, and the store it had.
    pub(crate) fn with_store<W>(self, visited: W) -> (Explorer<'a, 'c, S, W>, V) {
        let other = Explorer {
            visited,
            system: self.system,
            questions: self.questions,
            meter: self.meter,
            progress: self.progress,
            names: self.names,
            memo: self.memo,
            wide_memo: self.wide_memo,
            state: self.state,
            loaded: None,
            has_numbers: self.has_numbers,
            staged: self.staged,
            targets: self.targets,
            recent: Recent::default(),
            sleeps: self.sleeps,
            reducing: self.reducing,
            faults: self.faults,
            statistics: self.statistics,
            limit: self.limit,
            traversal_bytes: self.traversal_bytes,
            traversal_growth: 0,
            most_staged: self.most_staged,
            names_are_tight: self.names_are_tight,
            is_clean: false,
            until_tick: self.until_tick,
            tick: self.tick,
            last_report: self.last_report,
            // Only the ordinary search is kept: see `replacement.rs`.
            keeper: None,
            batch_start: Counted::default(),
            counted: None,
            left_out: self.left_out,
            crew: None,
            crew_begins: u64::MAX,
            elsewhere: self.elsewhere,
            kept_by_crew: false,
            expects: self.expects,
            fewest: None,
        };
        (other, self.visited)
    }

    /// Steps are made by the system from now on, and what was remembered of them takes no memory.
    pub(crate) fn forget_steps(&mut self) {
        self.memo.close();
        self.wide_memo.close();
    }

    /// The steps of each process are remembered for themselves from now on, which takes less memory.
    pub(crate) fn forget_groups(&mut self) {
        self.memo.close_groups();
        self.wide_memo.close_groups();
    }

    /// The memory budget in bytes.
    pub(crate) fn budget(&self) -> u64 {
        self.meter.budget().memory.unwrap_or(u64::MAX)
    }

    /// How far the numbers of nodes may grow before names need more bits; 0 where names have no nodes.
    pub(crate) fn node_numbers(&mut self) -> u64 {
        let most = self.meter.budget().memory.unwrap_or(u64::MAX) / 12;
        match self.names.tree().map_or(0, |tree| tree.node_count()) {
            ..=1 => 0,
            nodes => nodes.saturating_mul(16).min(most).max(nodes),
        }
    }

    /// What this search holds beside the store.
    pub(crate) fn own_bytes(&self, traversal: u64) -> u64 {
        self.names.bytes()
            + self.memo.bytes()
            + self.wide_memo.bytes()
            + traversal
            + self.recent.bytes()
            + self.reducing.proviso.bytes()
            + (self.staged.capacity() * size_of::<Staged>()) as u64
            + self.targets.bytes()
            + (self.sleeps.capacity() * size_of::<SleepSet>()) as u64
            + self.reducing.batch_bytes()
    }

    /// How many bytes of the memory budget a store may have, with something left for nodes and stack to grow.
    pub(crate) fn room_for_store(&self) -> u64 {
        (self.budget() / 16 * 15).saturating_sub(self.own_bytes(self.traversal_bytes) + self.headroom())
    }
}

impl<'a, 'c, S: System + ?Sized, V: Visited> Explorer<'a, 'c, S, V> {
    pub(crate) fn new(
        system: &'a mut S,
        questions: &'a mut Questions<'c>,
        meter: &'a Meter,
        progress: &'a mut dyn Progress,
        visited: V,
    ) -> Self {
        let tick = meter.budget().memory.map_or(MAX_TICK, |bytes| (bytes >> 14).clamp(MIN_TICK, MAX_TICK));
        let names = if V::RENAMES { Names::new(system.components()) } else { Names::lasting() };
        let counting = questions.check().counting;
        let has_numbers = system.numbered().is_some();
        let keeper = questions.check().checkpoint.clone().map(|kept| Keeper::new(kept, meter));
        // Where memory is short, steps are not remembered: see `limits.rs`.
        let forgetful = counting || !limits::remembers(meter);
        let memo = if forgetful { Memo::none() } else { Memo::new(system) };
        let wide_memo = if forgetful { Memo::none() } else { Memo::new(system) };
        let mut reducing = Reducing::new(questions.check().reduction);
        if let Some(bytes) = meter.budget().memory {
            reducing.proviso.hold_to(bytes / 32);
        }
        Explorer {
            memo,
            wide_memo,
            reducing,
            system,
            questions,
            meter,
            progress,
            names,
            visited,
            state: Vec::new(),
            loaded: None,
            has_numbers,
            staged: Vec::new(),
            targets: Targets::default(),
            recent: Recent::default(),
            sleeps: Vec::new(),
            faults: Vec::new(),
            statistics: Statistics::default(),
            limit: None,
            traversal_bytes: 0,
            traversal_growth: 0,
            most_staged: limits::first_staged(meter),
            names_are_tight: false,
            is_clean: false,
            until_tick: 1,
            tick,
            last_report: Duration::ZERO,
            keeper,
            batch_start: Counted::default(),
            counted: None,
            left_out: None,
            crew: None,
            crew_begins: u64::MAX,
            elsewhere: None,
            kept_by_crew: false,
            expects: false,
            fewest: None,
        }
    }

    pub(crate) fn questions(&mut self) -> &mut Questions<'c> {
        self.questions
    }

    /// The limit that has ended the search, if one has.
    pub(crate) fn take_limit(&mut self) -> Option<Limit> {
        self.limit.take()
    }

    /// Stages the initial states.
    pub(crate) fn stage_initial(&mut self) {
        let (names, staged, most_staged) = (&mut self.names, &mut self.staged, self.most_staged);
        let mut pushed: u32 = 0;
        let _ = self.system.initial(&mut |state| {
            if !put(staged, most_staged, Staged { name: names.name(state), near: 0, parent: 0 }) {
                names.give_up();
                return Flow::Break(());
            }
            pushed += 1;
            Flow::Continue(())
        });
        self.statistics.transitions += u64::from(pushed);
        self.approach(0);
    }

    /// The store is told of what is staged from here on.
    #[inline(always)]
    pub(crate) fn approach(&mut self, from: usize) {
        approach(&self.visited, &mut self.staged[from..]);
    }

    /// Asks the questions about a state and stages its targets. The traversal calls it `at`; its targets will
    /// say that their parent is `parent`. Where nobody asks about states and steps are remembered, the state
    /// is never rebuilt.
    #[inline]
    pub(crate) fn visit(
        &mut self,
        name: StateRef,
        parent: u32,
        depth: u64,
        paths: &impl Paths<V>,
        at: usize,
    ) -> Flow {
        self.loaded = None;
        let asks = self.reducing.asks(self.memo.is_on() && !self.memo.has_sets());
        let blind = self.questions.ignores_states() && self.visited.ignores_states() && self.memo.is_on();
        let expands = if blind { self.may_expand(depth) } else { self.meet(name, depth, paths, at)? };
        if !expands || asks && self.expand_reduced((name, parent, at), 0) {
            return Flow::Continue(());
        }
        self.expand_all(name, parent, paths, at)
    }

    /// Rebuilds a state and asks the questions about it; whether it may be expanded.
    #[inline]
    pub(crate) fn meet(
        &mut self,
        name: StateRef,
        depth: u64,
        paths: &impl Paths<V>,
        at: usize,
    ) -> ControlFlow<(), bool> {
        self.loaded = None;
        self.load(name);
        self.visited.note(&self.state);
        let flow = self.questions.visit(self.system, &self.state);
        self.give_witness(paths, at, None);
        flow?;
        ControlFlow::Continue(self.may_expand(depth))
    }

    /// How many states before its turn comes a state is to be told of by [`Explorer::soon`].
    #[inline]
    pub(crate) fn foresight(&self) -> usize {
        let is_worth = self.memo.is_far() || self.wide_memo.is_far();
        if self.has_numbers { AHEAD } else { usize::from(is_worth) }
    }

    /// A state will be visited soon: what is remembered of its steps, or what its system has of them, is
    /// brought near.
    #[inline]
    pub(crate) fn soon(&mut self, name: StateRef) {
        if self.has_numbers {
            self.load(name);
            self.system.prefetch(&self.state);
            self.loaded = None;
        } else if let Some(tuples) = self.names.tuples() {
            match tuples.is_wide() {
                true => self.wide_memo.prefetch(tuples, name),
                false => self.memo.prefetch(tuples, name),
            }
        }
    }

    /// Rebuilds a state, unless that was done since the visit began.
    #[inline]
    pub(crate) fn load(&mut self, name: StateRef) {
        if self.loaded != Some(name) {
            self.names.load(name, &mut self.state);
            self.loaded = Some(name);
        }
    }

    /// Stages all targets of a state, from what is remembered of its steps where that is possible.
    #[inline]
    pub(crate) fn expand_all(
        &mut self,
        name: StateRef,
        parent: u32,
        paths: &impl Paths<V>,
        at: usize,
    ) -> Flow {
        match self.expand_from_memory(name, parent) {
            Recalled::All => Flow::Continue(()),
            Recalled::End => {
                self.load(name);
                self.end(paths, at)
            }
            Recalled::Ask => {
                self.load(name);
                self.expand_fully(parent, paths, at)
            }
        }
    }

    /// The loaded state has no steps.
    fn end(&mut self, paths: &impl Paths<V>, at: usize) -> Flow {
        let flow = self.questions.end(self.system, &self.state);
        self.give_witness(paths, at, None);
        flow
    }

    /// Stages all targets of the loaded state and tells the questions what its steps show.
    #[inline]
    pub(crate) fn expand_fully(&mut self, parent: u32, paths: &impl Paths<V>, at: usize) -> Flow {
        self.reducing.satisfy(parent);
        let pushed = self.expand(parent);
        if pushed == 0 {
            return self.end(paths, at);
        }
        for fault in 0..self.faults.len() {
            let (ordinal, fault) = self.faults[fault];
            let flow = self.questions.fault(self.system, &self.state, ordinal, fault);
            self.give_witness(paths, at, Some(ordinal));
            flow?;
        }
        Flow::Continue(())
    }

    /// Answers a wish of the questions for the way to what they have just seen.
    #[inline]
    fn give_witness(&mut self, paths: &impl Paths<V>, at: usize, last: Option<u32>) {
        if self.questions.wants_witness() {
            let witness = paths.witness(self.system, &mut self.names, &self.visited, at, last);
            self.questions.give_witness(&witness);
        }
    }

    /// Whether states at this depth may be expanded; if not, the search is cut short and says so.
    #[inline]
    fn may_expand(&mut self, depth: u64) -> bool {
        match self.meter.budget().depth {
            Some(bound) if depth >= bound => {
                self.limit = Some(Limit::Depth { bound });
                false
            }
            _ => true,
        }
    }

    /// Stages the targets of the loaded state and counts them. Faulty steps are in `self.faults` afterwards.
    #[inline]
    fn expand(&mut self, parent: u32) -> u32 {
        self.faults.clear();
        let before = self.staged.len();
        let mut stage = Stage {
            names: &mut self.names,
            staged: &mut self.staged,
            most_staged: self.most_staged,
            faults: &mut self.faults,
            on_fault: self.questions.on_fault(),
            parent,
            pushed: 0,
            staying: 0,
        };
        let _ = self.system.steps(&self.state, &mut stage);
        let (pushed, staying) = (stage.pushed, stage.staying);
        self.statistics.transitions += u64::from(pushed - staying);
        self.approach(before);
        pushed
    }

    /// Gives the states that wait for a name theirs, where there are such, and translates all names that are
    /// kept; whether names have changed. The traversal translates its own with what it is given, to names of
    /// this many bits.
    #[inline]
    pub(crate) fn refresh(
        &mut self,
        keeps: impl FnOnce(u32, &mut dyn FnMut(&mut StateRef)),
    ) -> ControlFlow<(), bool> {
        if !self.names.has_waiting() {
            return ControlFlow::Continue(false);
        }
        self.rename(keeps)
    }

    #[cold]
    fn rename(&mut self, keeps: impl FnOnce(u32, &mut dyn FnMut(&mut StateRef))) -> ControlFlow<(), bool> {
        // Where names are on disk, it is better to change them seldom than to keep them short.
        let bits = if self.counted.is_some() { StateRef::BITS } else { self.visited.name_bits() };
        if let Some(full) = self.names.full() {
            return self.stop_full(full).map_continue(|()| true);
        }
        let before = self.names.width();
        let Some(mut renaming) = self.names.rename(bits) else {
            return ControlFlow::Continue(false);
        };
        (self.loaded, self.is_clean) = (None, false);
        self.recent.clear();
        rename_steps(&renaming, &mut self.names, (&mut self.memo, &mut self.wide_memo));
        let width = self.names.width();
        let wider = u64::from(width.div_ceil(8).saturating_sub(before.div_ceil(8)));
        let growth = self.traversal_bytes * wider / u64::from(before.div_ceil(8).max(1));
        if self.claim(self.visited.rename_growth(width) + growth, self.traversal_bytes).is_break() {
            return ControlFlow::Break(());
        }
        let names = &mut self.names;
        let mut translate = |name: StateRef| renaming.translate(names, name);
        self.staged.iter_mut().for_each(|staged| staged.name = translate(staged.name));
        self.reducing.rename(&mut translate);
        keeps(width, &mut |name| *name = translate(*name));
        let renamed = self.visited.rename(width, &mut translate);
        self.approach(0);
        match renamed {
            Some(()) => ControlFlow::Continue(true),
            None => self.stop_on_memory().map_continue(|()| true),
        }
    }

    /// Whether enough is staged to be settled.
    #[inline]
    pub(crate) fn batch_is_full(&self) -> bool {
        self.staged.len() >= BATCH
    }

    /// Looks up all that is staged, and gives the new states to `keep`.
    #[inline]
    pub(crate) fn settle(&mut self, mut keep: impl FnMut(Staged)) -> Flow {
        self.check_names()?;
        if self.visited.growth(self.staged.len()).is_some() {
            self.make_room()?;
            self.approach(0);
        }
        self.is_clean = false;
        if self.recent.is_due(self.statistics.transitions) {
            self.look_at_recent();
        }
        self.reducing.rewind();
        for &staged in &self.staged {
            let new = self.visited.insert_near(staged.name, staged.near);
            if new {
                keep(staged);
            }
            self.reducing.settled(staged, new);
        }
        self.staged.clear();
        Flow::Continue(())
    }

    #[cold]
    fn make_room(&mut self) -> Flow {
        while let Some(growth) = self.visited.growth(self.staged.len()) {
            let used = self.visited.bytes() + self.own_bytes(self.traversal_bytes);
            // Where there is a disk, a table does not grow that would be there twice for a moment.
            let used = if self.counted.is_some() { used + self.visited.bytes() } else { used };
            let leaving = self.visited.replaces();
            let checked = self.meter.check_memory(used + growth, || self.visited.needs());
            if let Err(limit) = checked {
                // A store that is about to be left takes this batch all the same, if it has places.
                if leaving || !self.visited.give_room(growth) {
                    return self.stop(limit);
                }
            } else if self.visited.grow().is_none() {
                return self.stop_on_memory();
            }
        }
        Flow::Continue(())
    }

    /// Gives all that is staged to `keep`, without looking it up.
    pub(crate) fn drain(&mut self, mut keep: impl FnMut(&mut V, &mut Reducing, Staged)) -> Flow {
        self.check_names()?;
        for &staged in &self.staged {
            keep(&mut self.visited, &mut self.reducing, staged);
        }
        self.staged.clear();
        Flow::Continue(())
    }
}
