//! Depth-first traversal with replacement: exhaustive search in a fixed memory budget.
//!
//! Jard and Jéron, Bounded-memory algorithms for verification on-the-fly (1991), section 2.1. Only the current path must
//! be kept; of the other visited states the store keeps as many as fit, and forgets some to make room. A state that was
//! forgotten is explored again when it is met again, so the search takes longer, but what it finds is right:
//! * every state that is ever stored is expanded, and each of its successors is found in the store (so it was stored
//!   once) or is stored then: by induction along any run, every reachable state is visited;
//! * no state is twice on the path, so the path is at most as long as there are states, and the search ends.
//!
//! Differences from the report. As long as everything fits this is the ordinary search, a few states abreast; what
//! waits on its stack when the store first forgets are then roots of strict depth-first traversals, one after the other
//! (they are stored and will be expanded, which is all the argument above asks for). Successors that are known when
//! they are generated are dropped at once; the others wait on the stack and are looked up again when their turn comes.
//! And the budget is in bytes, for names, nodes and stack together: when nodes or stack grow, the table of names shrinks.

use volee_system::{Flow, Limit, System, Witness};

use crate::check::{Replacement, Statistics, Turnover};
use crate::depth::{self, Stack};
use crate::explorer::{Explorer, Paths, Staged, ordinal_of};
use crate::store::{Bounded, Exact, Name, Sketch, Tree, Visited};

/// What a search leaves behind.
type Ended = (Statistics, Option<Limit>);

/// A name in four-byte halves: path and waiting states are what fills the budget, so they have no padding.
type Packed = [u32; 2];

fn pack(name: Name) -> Packed {
    [(name >> 32) as u32, name as u32]
}

fn unpack(packed: Packed) -> Name {
    u64::from(packed[0]) << 32 | u64::from(packed[1])
}

/// A state on the path.
#[derive(Debug, Clone, Copy)]
struct Entry {
    name: Packed,
    /// By which step of the state before it was reached.
    ordinal: u32,
    /// How many of its successors wait.
    waiting: u32,
    /// How many states had been stored before it, but for the higher bits.
    stored_before: u32,
}

/// A successor of a state on the path.
#[derive(Debug, Clone, Copy)]
struct Waiting {
    name: Packed,
    ordinal: u32,
}

/// The path of one strict traversal, from a root on the stack of the search before it.
#[derive(Default)]
struct Path {
    stack: Stack,
    /// The place of the root on the stack.
    root: usize,
    entries: Vec<Entry>,
    waiting: Vec<Waiting>,
    longest: u64,
}

impl Path {
    fn depth(&self) -> u64 {
        self.stack.depth() + (self.entries.len() as u64).saturating_sub(1)
    }

    fn bytes(&self) -> u64 {
        let entries = self.entries.capacity() * size_of::<Entry>();
        let waiting = self.waiting.capacity() * size_of::<Waiting>();
        self.stack.bytes() + (entries + waiting) as u64
    }
}

impl Paths for Path {
    /// The witness of the last state of the path, whatever `at` is.
    fn witness<S: System + ?Sized>(
        &self,
        system: &mut S,
        tree: &mut Tree,
        _: usize,
        last: Option<u32>,
    ) -> Witness {
        let mut witness = self.stack.witness(system, tree, self.root, None);
        for pair in self.entries.windows(2) {
            let target = Staged { name: unpack(pair[1].name), ordinal: pair[1].ordinal, parent: 0 };
            witness.steps.push(ordinal_of(system, tree, unpack(pair[0].name), target));
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
    let mut explorer = match forget(explorer, policy, seed) {
        Ok(explorer) => explorer,
        Err(ended) => return *ended,
    };
    let _ = run(&mut explorer, &mut path);
    let (mut statistics, limit, store) = explorer.finish(path.bytes());
    let turnover = turnover(&store, path.longest);
    statistics.states = turnover.distinct;
    statistics.turnover = Some(turnover);
    (statistics, limit)
}

/// Moves from a store that remembers everything to one that forgets.
fn forget<'a, 'c, S: System + ?Sized>(
    explorer: Explorer<'a, 'c, S, Exact>,
    policy: Replacement,
    seed: u64,
) -> Result<Explorer<'a, 'c, S, Bounded>, Box<Ended>> {
    let room = explorer.room_for_store();
    let (mut explorer, exact) = explorer.with_store(Sketch::new());
    // The names are about to be lost, so the sketch has to see the states now.
    let mut state = Vec::new();
    for name in exact.names() {
        explorer.tree.load(name, &mut state);
        explorer.visited.add(&state);
    }
    match Bounded::new(exact, room, policy, seed) {
        Some(bounded) => {
            let (mut explorer, sketch) = explorer.with_store(bounded);
            explorer.visited.sketch = sketch;
            Ok(explorer)
        }
        None => {
            let limit = Limit::Memory { budget: room, needed: "there is less than the budget".into() };
            Err(Box::new((explorer.statistics, Some(limit))))
        }
    }
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

fn run<S: System + ?Sized>(explorer: &mut Explorer<'_, '_, S, Bounded>, path: &mut Path) -> Flow {
    path.stack.shrink();
    while let Some((root, name)) = path.stack.take() {
        path.root = root;
        descend(explorer, path, Waiting { name: pack(name), ordinal: 0 })?;
        while let Some(top) = path.entries.last_mut() {
            if top.waiting == 0 {
                let work = (explorer.visited.turnover.insertions as u32).wrapping_sub(top.stored_before);
                explorer.visited.unpin(unpack(top.name), u64::from(work));
                path.entries.pop();
                continue;
            }
            top.waiting -= 1;
            let Some(next) = path.waiting.pop() else { break };
            if !explorer.visited.contains(unpack(next.name)) {
                descend(explorer, path, next)?;
            }
        }
    }
    Flow::Continue(())
}

/// Puts a state on the path, visits it, and lets its unknown successors wait.
fn descend<S: System + ?Sized>(
    explorer: &mut Explorer<'_, '_, S, Bounded>,
    path: &mut Path,
    next: Waiting,
) -> Flow {
    grow(&mut path.entries);
    let stored_before = explorer.visited.turnover.insertions as u32;
    path.entries.push(Entry { name: next.name, ordinal: next.ordinal, waiting: 0, stored_before });
    path.longest = path.longest.max(path.entries.len() as u64);
    let depth = path.depth();
    explorer.visited.depth = depth;
    explorer.statistics.max_depth = explorer.statistics.max_depth.max(depth);
    if explorer.visited.insert_pinned(unpack(next.name)).is_none() {
        return explorer.stop_on_memory(&format!("a path of {} states must be kept", path.entries.len()));
    }
    explorer.visit(unpack(next.name), 0, depth, path, 0)?;
    let before = path.waiting.len();
    wait(explorer, path)?;
    if explorer.has_reduced() {
        if path.waiting.len() > before {
            explorer.refresh();
        }
        explorer.expand_starved(path)?;
        wait(explorer, path)?;
    }
    if let Some(top) = path.entries.last_mut() {
        top.waiting = (path.waiting.len() - before) as u32;
    }
    explorer.tick(depth, path.waiting.len() as u64, path.bytes())
}

/// Lets the staged states that are unknown wait.
fn wait<S: System + ?Sized>(explorer: &mut Explorer<'_, '_, S, Bounded>, path: &mut Path) -> Flow {
    explorer.drain(|store, staged| {
        if !store.contains(staged.name) {
            grow(&mut path.waiting);
            path.waiting.push(Waiting { name: pack(staged.name), ordinal: staged.ordinal });
        }
    })
}

/// Makes room for one more by an eighth, not by doubling: the budget is tight here.
fn grow<T>(items: &mut Vec<T>) {
    if items.len() == items.capacity() {
        items.reserve_exact(items.len() / 8 + 64);
    }
}
