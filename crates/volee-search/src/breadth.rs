//! Breadth-first search: the first witness of each question is a shortest one, at the price of a parent per
//! state.
//!
//! Where there are many states, several threads first look whether there is anything to be found
//! ([`crate::parallel`]).
//!
//! The queue is never shortened: its states and parents (12 bytes per state) are what a witness is made from.
//! Ordinals are not kept; the few steps of a witness find theirs again by expanding the states on the way.

use volee_system::{Flow, Limit, Step, System, Witness};

use crate::check::Statistics;
use crate::explorer::Explorer;
use crate::keeping::Moment;
use crate::paths::{Paths, place_of};
use crate::staging::Staged;
use volee_store::checkpoint::{CheckpointError, Damaged, Reader};
use volee_store::{Names, StateRef, Visited};

/// The parent of an initial state.
const NONE: u32 = u32::MAX;

/// All states, in the order of discovery.
#[derive(Default)]
struct Queue {
    names: Vec<StateRef>,
    parents: Vec<u32>,
}

impl Queue {
    fn len(&self) -> usize {
        self.names.len()
    }

    fn push(&mut self, state: Staged, parent: u32) {
        self.names.push(state.name);
        self.parents.push(parent);
    }

    fn bytes(&self) -> u64 {
        (self.names.capacity() * 8 + self.parents.capacity() * 4) as u64
    }
}

impl<V> Paths<V> for Queue {
    fn witness<S: System + ?Sized>(
        &self,
        system: &mut S,
        names: &mut Names,
        _: &V,
        mut at: usize,
        last: Option<u32>,
    ) -> Witness {
        let mut steps: Vec<u32> = last.into_iter().collect();
        let (mut source, mut target) = (Vec::new(), Vec::new());
        names.load(self.names[at], &mut target);
        while self.parents[at] != NONE {
            at = self.parents[at] as usize;
            names.load(self.names[at], &mut source);
            let step =
                place_of(&target, |push| system.steps(&source, &mut |_: Step, state: &[u8]| push(state)));
            steps.push(step.unwrap_or_default());
            std::mem::swap(&mut source, &mut target);
        }
        steps.reverse();
        let initial = place_of(&target, |push| system.initial(push)).unwrap_or_default();
        Witness { initial, steps, loop_start: None }
    }
}

pub(crate) fn search<S: System + ?Sized, V: Visited>(
    mut explorer: Explorer<'_, '_, S, V>,
) -> (Statistics, Option<Limit>, V) {
    let mut queue = Queue::default();
    let _ = run(&mut explorer, &mut queue);
    explorer.finish(queue.bytes())
}

/// What a kept search of this kind begins with.
const KIND: u8 = 2;

/// Where the search is: the next state, the end of its level, and how deep that is.
#[derive(Clone, Copy)]
struct Front {
    at: usize,
    level_end: usize,
    depth: u64,
}

/// Keeps the search: the queue is all there is, for every state is in it.
fn keep<S: System + ?Sized, V: Visited>(
    explorer: &mut Explorer<'_, '_, S, V>,
    queue: &Queue,
    (front, length): (Front, usize),
    moment: Moment,
) {
    explorer.keep(KIND, moment, |explorer, out| {
        for number in [front.at as u64, front.level_end as u64, front.depth, length as u64] {
            out.number(number)?;
        }
        for (&name, &parent) in queue.names.iter().zip(&queue.parents).take(length) {
            out.number(u64::from(parent.wrapping_add(1)))?;
            explorer.write_state(name, out)?;
        }
        Ok(())
    });
}

/// Goes on from a kept search.
fn restore<S: System + ?Sized, V: Visited>(
    explorer: &mut Explorer<'_, '_, S, V>,
    queue: &mut Queue,
    input: &mut Reader,
    front: &mut Front,
) -> Result<Flow, CheckpointError> {
    (front.at, front.level_end, front.depth) = (input.index()?, input.index()?, input.number()?);
    let (length, mut state) = (input.index()?, Vec::new());
    if front.at > front.level_end || front.level_end > length || length >= NONE as usize {
        return Err(Damaged.into());
    }
    for at in 0..length {
        let parent = (input.number()? as u32).wrapping_sub(1);
        if parent != NONE && parent as usize >= at {
            return Err(Damaged.into());
        }
        input.bytes(&mut state)?;
        explorer.stage_kept(&state, parent);
        if (explorer.batch_is_full() || at + 1 == length)
            && settle(explorer, queue, |state| state.parent).is_break()
        {
            return Ok(Flow::Break(()));
        }
        explorer.traversal_bytes = queue.bytes();
    }
    if queue.len() == length { Ok(Flow::Continue(())) } else { Err(Damaged.into()) }
}

fn run<S: System + ?Sized, V: Visited>(explorer: &mut Explorer<'_, '_, S, V>, queue: &mut Queue) -> Flow {
    let mut front = Front { at: 0, level_end: 0, depth: 0 };
    match explorer.restore(KIND, |explorer, input| restore(explorer, queue, input, &mut front)) {
        Some(restored) => restored?,
        None => {
            explorer.stage_initial();
            settle(explorer, queue, |_| NONE)?;
            front.level_end = queue.len();
        }
    }
    while front.at < queue.len() {
        explorer.statistics.max_depth = front.depth;
        while front.at < front.level_end {
            let length = queue.len();
            if explorer.begin_batch() {
                keep(explorer, queue, (front, length), Moment::Now);
            }
            let next = expand_batch(explorer, queue, front.at, front.level_end, front.depth);
            if next.is_break() && explorer.is_cut() {
                keep(explorer, queue, (front, length), Moment::BatchStart);
            }
            front.at = next?;
            if explorer.is_large() && explorer.ask_crew(None).is_break() {
                return Flow::Break(());
            }
        }
        front.level_end = queue.len();
        front.depth += 1;
    }
    Flow::Continue(())
}

/// Expands states from `first` on until there is a batch to settle or the level ends; tells where to go on.
fn expand_batch<S: System + ?Sized, V: Visited>(
    explorer: &mut Explorer<'_, '_, S, V>,
    queue: &mut Queue,
    first: usize,
    level_end: usize,
    depth: u64,
) -> std::ops::ControlFlow<(), usize> {
    if queue.len() >= NONE as usize {
        let message = "a breadth-first search numbers at most four billion states".into();
        return explorer.stop(Limit::Other { message }).map_continue(|()| first);
    }
    let mut at = first;
    for parent in 0.. {
        if let Some(&next) = queue.names.get(at + explorer.foresight()) {
            explorer.soon(next);
        }
        explorer.visit(queue.names[at], parent, depth, queue, at)?;
        at += 1;
        explorer.tick(depth, (queue.len() - at) as u64, queue.bytes())?;
        if at == level_end || explorer.batch_is_full() {
            break;
        }
    }
    settle(explorer, queue, |state| first as u32 + state.parent)?;
    while explorer.reducing.has_reduced() {
        explorer.expand_ignoring(queue)?;
        settle(explorer, queue, |state| first as u32 + state.parent)?;
    }
    std::ops::ControlFlow::Continue(at)
}

/// Appends the new ones of the staged states to the queue.
fn settle<S: System + ?Sized, V: Visited>(
    explorer: &mut Explorer<'_, '_, S, V>,
    queue: &mut Queue,
    parent: impl Fn(Staged) -> u32,
) -> Flow {
    if explorer.refresh(|_, translate| queue.names.iter_mut().for_each(translate)).is_break() {
        return Flow::Break(());
    }
    explorer.settle(|state| queue.push(state, parent(state)))
}
