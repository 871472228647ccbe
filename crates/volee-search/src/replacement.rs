//! Depth-first traversal with replacement: exhaustive search in a fixed memory budget.
//!
//! Jard and Jéron, Bounded-memory algorithms for verification on-the-fly (1991), section 2.1. Only the current path must
//! be kept; of the other visited states the store keeps as many as fit, and forgets some to make room. A state that was
//! forgotten is explored again when it is met again, so the search takes longer, but what it finds is right:
//! * every state that is ever stored is expanded, and each of its successors is found in the store (so it was stored
//!   once) or is stored then: by induction along any run, every reachable state is visited;
//! * no state is twice on the path, so the path is at most as long as there are states, and the search ends.
//!
//! Differences from the report. As long as everything fits this is the ordinary search, a few states abreast: first
//! over the exact store, then, when that may not grow any more, over the bounded store, whose names are shorter. What
//! waits on the stack when the store first forgets are then roots of strict depth-first traversals, one after the other
//! (they will be expanded, which is all the argument above asks for). Successors that are known when they are generated
//! are dropped at once; the others wait on the stack and are looked up again when their turn comes. And the budget is
//! in bytes, for names, nodes and stack together: when nodes or stack grow, the table of names shrinks; nodes that no
//! remembered state uses are given back. Where the ordinary search's stack is already large when the exact store is
//! left, because most states it met still wait, the strict traversal begins from the initial states.

use volee_system::{Flow, Limit, System, Witness};

use crate::anchors::Anchors;
use crate::check::{Replacement, Statistics, Turnover};
use crate::depth::{self, Stack, grow};
use crate::explorer::{Explorer, Paths, ordinal_between};
use crate::store::{Advance, Bounded, Exact, Name, Sketch, Tree, Visited};

/// What a search leaves behind.
type Ended = (Statistics, Option<Limit>);

/// Of the memory budget the stack may have one part in so many when the exact store is left; else the search begins
/// anew, with one path: see [`search`].
const STACK_SHARE: u64 = 8;

mod sleep;

/// One strict traversal, from a root on the stack of the search before it. The store keeps its path.
#[derive(Default)]
struct Path {
    stack: Stack,
    /// The place of the root on the stack.
    root: usize,
    /// For each state of the path, how many states had been stored before it, but for the higher bits.
    stored_before: Vec<u32>,
    longest: u64,
    /// The sketch has seen what was stored before the store first forgot.
    sketched: bool,
    /// The last states of the path, those that are not anchored: see [`Anchors`]. Whatever leads to an anchored state is
    /// anchored, so these are the ones since then.
    loose: Vec<Name>,
}

impl Path {
    /// A state at the end of the path, not anchored so far.
    fn hold(&mut self, anchors: &mut Anchors, name: Name) {
        if !anchors.is_on() {
            return;
        }
        if self.loose.len() == self.loose.capacity() {
            grow(&mut self.loose);
        }
        self.loose.push(name);
        anchors.hold(name);
        if anchors.is_crowded() {
            anchors.rebuild(self.stack.loose_names().chain(self.loose.iter().copied()));
        }
    }

    /// The last state of the path, or one to which it led, is anchored.
    fn anchor(&mut self, anchors: &mut Anchors) {
        self.loose.drain(..).for_each(|name| anchors.release(name));
    }

    fn bytes(&self) -> u64 {
        let loose = self.loose.capacity() * size_of::<Name>();
        self.stack.bytes() + (self.stored_before.capacity() * size_of::<u32>() + loose) as u64
    }
}

impl Paths<Bounded> for Path {
    /// The witness of the last state of the path, whatever `at` is.
    fn witness<S: System + ?Sized>(
        &self,
        system: &mut S,
        tree: &mut Tree,
        store: &Bounded,
        _: usize,
        last: Option<u32>,
    ) -> Witness {
        let mut witness = self.stack.witness(system, tree, store, self.root, None);
        let names: Vec<Name> = store.path().collect();
        for pair in names.windows(2) {
            witness.steps.push(ordinal_between(system, tree, pair[0], pair[1]));
        }
        witness.steps.extend(last);
        witness
    }
}

pub(crate) fn search<S: System + ?Sized>(
    mut explorer: Explorer<'_, '_, S, Exact>,
    policy: Replacement,
    seed: u64,
) -> Ended {
    let mut path = Path::default();
    let flow = depth::run(&mut explorer, &mut path.stack);
    if flow.is_break() || !explorer.visited.replaces() {
        let (statistics, limit, _) = explorer.finish(path.stack.bytes());
        return (statistics, limit);
    }
    path.stack.shrink();
    explorer.traversal_bytes = path.stack.bytes();
    let wide = explorer.is_more_than_share(path.stack.bytes(), STACK_SHARE);
    if wide {
        // What waits takes what the states need. A single path needs less, so it begins anew: what is lost is the
        // work on the states that were expanded, fewer than those that wait.
        path.stack = Stack::default();
        explorer.traversal_bytes = 0;
        explorer.stage_initial();
        if explorer.reducing.anchors.is_on() {
            explorer.reducing.anchors.start();
        }
        let _ = explorer.drain(|_, _, state| path.stack.push_unknown(state));
        path.stack.begin();
    }
    // A long path is to come where the search begins anew: it has its part from the start.
    let room = if wide { explorer.room_for_store() / 4 * 3 } else { explorer.room_for_store() };
    let nodes = explorer.node_numbers();
    let (explorer, exact) = explorer.with_store(());
    let Some(mut bounded) = Bounded::new(&exact, room, nodes, policy, seed) else {
        let limit = Limit::Memory { budget: room, needed: "there is less than the budget".into() };
        return (explorer.statistics, Some(limit));
    };
    if !wide {
        bounded.fill(exact);
    }
    let (mut explorer, ()) = explorer.with_store(bounded);
    explorer.look_soon();
    let mut flow = Flow::Continue(());
    if !wide && !explorer.visited.replaces() {
        flow = depth::go_on(&mut explorer, &mut path.stack);
    }
    if flow.is_continue() {
        path.stack.shrink();
        let _ = if explorer.reducing.kind.sleeps() && policy == Replacement::Random {
            sleep::one_by_one(&mut explorer, &mut path)
        } else {
            one_by_one(&mut explorer, &mut path, policy)
        };
    }
    let (mut statistics, limit, store) = explorer.finish(path.bytes());
    if store.replaces() {
        let turnover = turnover(&store, path.longest);
        statistics.states = turnover.distinct;
        statistics.turnover = Some(turnover);
    }
    (statistics, limit)
}

fn turnover(store: &Bounded, longest_path: u64) -> Turnover {
    let counts = store.turnover;
    let looked_up = counts.insertions + counts.hits;
    Turnover {
        insertions: counts.insertions,
        replaced: counts.replaced,
        hit_rate: counts.hits as f64 / looked_up.max(1) as f64,
        longest_path,
        distinct: store.sketch.estimate().round() as u64,
        distinct_error: store.sketch.standard_error(),
    }
}

/// Goes on from what waits, one state after the other; the store may forget what is not on the path.
fn one_by_one<S: System + ?Sized>(
    explorer: &mut Explorer<'_, '_, S, Bounded>,
    path: &mut Path,
    policy: Replacement,
) -> Flow {
    explorer.tree.watch();
    let weighs_work = policy == Replacement::Cheapest;
    while let Some((root, name)) = path.stack.take(&mut explorer.reducing.anchors) {
        path.root = root;
        if explorer.visited.pin(name).is_none() {
            return explorer.stop_on_memory();
        }
        enter(explorer, path, name, weighs_work)?;
        while explorer.visited.path_len() > 0 {
            match explorer.visited.advance() {
                Advance::To(next) => enter(explorer, path, next, weighs_work)?,
                Advance::Full => return explorer.stop_on_memory(),
                Advance::Nowhere => {
                    let before = path.stored_before.pop().unwrap_or_default();
                    let work = (explorer.visited.turnover.insertions as u32).wrapping_sub(before);
                    explorer.visited.unpin(u64::from(work));
                    path.anchor(&mut explorer.reducing.anchors);
                }
            }
        }
    }
    Flow::Continue(())
}

/// Visits the last state of the path, and lets its unknown successors wait.
fn enter<S: System + ?Sized>(
    explorer: &mut Explorer<'_, '_, S, Bounded>,
    path: &mut Path,
    name: Name,
    weighs_work: bool,
) -> Flow {
    if weighs_work {
        if path.stored_before.len() == path.stored_before.capacity() {
            grow(&mut path.stored_before);
        }
        path.stored_before.push(explorer.visited.turnover.insertions as u32);
    }
    let depth = path.stack.depth() + explorer.visited.path_len() - 1;
    explorer.visited.depth = depth;
    explorer.statistics.max_depth = explorer.statistics.max_depth.max(depth);
    path.longest = path.longest.max(explorer.visited.path_len());
    if explorer.visited.replaces() && !path.sketched {
        sketch(explorer);
        path.sketched = true;
    }
    path.hold(&mut explorer.reducing.anchors, name);
    explorer.visit(name, 0, depth, path, 0)?;
    wait(explorer)?;
    while explorer.reducing.has_reduced() {
        explorer.expand_starved(path)?;
        wait(explorer)?;
    }
    while explorer.reducing.take_anchored().is_some() {
        path.anchor(&mut explorer.reducing.anchors);
    }
    if explorer.tree.is_crowded() {
        let store = &explorer.visited;
        explorer.tree.collect(store.names().chain(store.waiting()).chain(path.stack.names()));
    }
    explorer.tick(depth, explorer.visited.waiting_len(), path.bytes())
}

/// Lets the staged states that are unknown wait.
fn wait<S: System + ?Sized>(explorer: &mut Explorer<'_, '_, S, Bounded>) -> Flow {
    let mut no_memory = false;
    explorer.reducing.rewind();
    explorer.drain(|store, reducing, staged| {
        let before = store.waiting_len();
        no_memory |= store.wait_unless_known(staged.name).is_none();
        if reducing.has_reduced() {
            reducing.weigh(staged, store.waiting_len() > before);
        }
    })?;
    if no_memory { explorer.stop_on_memory() } else { Flow::Continue(()) }
}

/// Shows all stored states to the sketch: from now on names will be lost.
fn sketch<S: System + ?Sized>(explorer: &mut Explorer<'_, '_, S, Bounded>) {
    let mut state = Vec::new();
    let mut sketch = std::mem::replace(&mut explorer.visited.sketch, Sketch::none());
    for name in explorer.visited.names() {
        explorer.tree.load(name, &mut state);
        sketch.add(&state);
    }
    explorer.visited.sketch = sketch;
}
