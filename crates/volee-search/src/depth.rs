//! Depth-first search, a batch of states at a time.
//!
//! A strict depth-first search looks at one state's successors at a time, often two or three: too few
//! look-ups to hide the latency of memory. Here a frame of the stack holds the new successors of a *group* of
//! states, and the next frame grows out of a group taken from its end, just large enough for a batch of
//! look-ups. Each waiting state knows its parent's place in the group below, so the stack still is a real
//! path (several of them side by side): a witness is the ordinals along it. States are marked when generated,
//! not when expanded: enough for questions about states and steps.
//!
//! Memory beside the table: for each waiting state its name, in as few bytes as it has, and one byte. Which
//! step leads to a state is found again when somebody asks.

use std::ops::ControlFlow;

use volee_system::{Flow, Limit, System, Witness};

use crate::check::Statistics;
use crate::explorer::Explorer;
use crate::keeping::Moment;
use crate::parallel::{Asked, race};
use crate::paths::{Paths, ordinal_between, place_of};
use crate::proviso::Proviso;
use crate::reducing::Reducing;
use crate::staging::Staged;
use volee_store::checkpoint::{CheckpointError, Damaged, Reader};
use volee_store::{Names, PackedPath, Stacked, StateRef, Visited};

/// States packed before their memory is given back.
const PACKED: usize = 1 << 16;

/// The new successors of one group.
#[derive(Debug, Clone, Copy)]
struct Frame {
    /// Where its states start in the array of waiting states.
    start: usize,
    /// Its states up to here wait. Those from here to the start of the next frame are the group that it grew
    /// out of.
    rest: usize,
}

/// The bit of a stacked state's parent that says that the state is satisfied: see [`Proviso`].
const SATISFIED: u8 = 1 << 7;
/// The largest group: what a parent's number has room for.
const LARGEST_GROUP: u32 = 1 << 7;

/// All frames, with their states in one array, each with its parent.
pub(crate) struct Stack {
    frames: Vec<Frame>,
    waiting: Stacked,
}

impl Default for Stack {
    fn default() -> Self {
        Stack { frames: Vec::new(), waiting: Stacked::new(StateRef::BITS) }
    }
}

impl Stack {
    /// How deep the states of the top frame are.
    pub(crate) fn depth(&self) -> u64 {
        (self.frames.len() as u64).saturating_sub(1)
    }

    /// What was pushed are the initial states.
    pub(crate) fn begin(&mut self) {
        self.frames.push(Frame { start: 0, rest: self.waiting.len() });
    }

    /// Forgets the states from here on: they wait no longer, or all that can be reached from them is
    /// explored.
    fn truncate(&mut self, proviso: &mut Proviso, length: usize) {
        if proviso.is_on() {
            for at in length..self.waiting.len() {
                self.satisfy(proviso, at);
            }
        }
        self.waiting.truncate(length);
    }

    /// Tells the states of the last group, which stands before `start`, that are satisfied. Nobody asks
    /// before the first reduced expansion; then all that are on the stack are held.
    fn satisfy_group(&mut self, reducing: &mut Reducing, start: usize) {
        if !reducing.proviso.is_on() && reducing.count > 0 {
            reducing.proviso.start();
            reducing.proviso.rebuild(self.open_names());
        }
        while let Some(parent) = reducing.take_satisfied() {
            self.satisfy(&mut reducing.proviso, start - 1 - parent as usize);
        }
        if reducing.proviso.is_on() && reducing.proviso.is_crowded() {
            reducing.proviso.rebuild(self.open_names());
        }
    }

    /// A state of the group at the end of the top frame is satisfied, and with it all that lead to it.
    fn satisfy(&mut self, proviso: &mut Proviso, mut at: usize) {
        for frame in (0..self.frames.len()).rev() {
            let parent = self.waiting.own(at);
            if parent & SATISFIED != 0 {
                return;
            }
            *self.waiting.own_mut(at) |= SATISFIED;
            proviso.release(self.waiting.name(at));
            if frame > 0 {
                at = self.frames[frame].start - 1 - parent as usize;
            }
        }
    }

    /// The names of the states that are not satisfied.
    pub(crate) fn open_names(&self) -> impl Iterator<Item = StateRef> + '_ {
        let open = (0..self.waiting.len()).filter(|&at| self.waiting.own(at) & SATISFIED == 0);
        open.map(|at| self.waiting.name(at))
    }

    /// The states that were not expanded, with how deep they are.
    fn waiting_states(&self) -> Vec<(StateRef, u32)> {
        let frames = self.frames.iter().zip(0..);
        let of_frame = |(frame, depth): (&Frame, u32)| {
            (frame.start..frame.rest).map(move |at| (self.waiting.name(at), depth))
        };
        frames.flat_map(of_frame).collect()
    }

    /// Translates the names of its states, to names of this many bits.
    fn rename(&mut self, width: u32, translate: &mut dyn FnMut(&mut StateRef)) {
        self.waiting.rename(width, |mut name| {
            translate(&mut name);
            name
        });
    }

    /// Whether frames that were read belong to this many states.
    fn is_sound(&self, length: usize) -> bool {
        let ends = self.frames.iter().skip(1).map(|frame| frame.start).chain([length]);
        let first = self.frames.first().is_none_or(|frame| frame.start == 0);
        let last = self.frames.last().map_or(0, |frame| frame.rest) == length;
        first && last && self.frames.iter().zip(ends).all(|(f, end)| f.start <= f.rest && f.rest <= end)
    }

    /// The stack in less memory: its states as codes of this many bits. Memory is given back on the way.
    pub(crate) fn pack(mut self, width: u32, encode: impl Fn(StateRef) -> u64) -> PackedPath {
        let mut path = PackedPath::new(width);
        // The group that was expanded last has led to nothing new.
        self.waiting.truncate(self.frames.last().map_or(0, |top| top.rest));
        let end = self.waiting.len();
        let ends = self.frames.iter().skip(1).map(|frame| frame.start).chain([end]);
        for (frame, end) in self.frames.iter().zip(ends) {
            path.set_level((frame.rest - frame.start) as u32, (end - frame.rest) as u32);
        }
        self.frames = Vec::new();
        path.prepare(end);
        for at in (0..end).rev() {
            path.set(at, encode(self.waiting.name(at)));
            if at.is_multiple_of(PACKED) {
                self.waiting.truncate(at);
                self.waiting.shrink();
            }
        }
        path
    }

    /// What it grows by with so many more states, and a frame.
    fn growth(&self, states: usize) -> u64 {
        let frames = if self.frames.len() == self.frames.capacity() { self.frames.len() / 8 + 64 } else { 0 };
        self.waiting.growth(states) + (frames * size_of::<Frame>()) as u64
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.waiting.bytes() + (self.frames.capacity() * size_of::<Frame>()) as u64
    }
}

impl<V> Paths<V> for Stack {
    /// `at` is a place in the top frame. A parent is named by how far before the start of its children's
    /// frame it stands.
    fn witness<S: System + ?Sized>(
        &self,
        system: &mut S,
        names: &mut Names,
        _: &V,
        mut at: usize,
        last: Option<u32>,
    ) -> Witness {
        let mut steps: Vec<u32> = last.into_iter().collect();
        for frame in self.frames.iter().skip(1).rev() {
            let target = self.waiting.name(at);
            at = frame.start - 1 - usize::from(self.waiting.own(at) & !SATISFIED);
            steps.push(ordinal_between(system, names, self.waiting.name(at), target).unwrap_or_default());
        }
        steps.reverse();
        let mut first = Vec::new();
        names.load(self.waiting.name(at), &mut first);
        let initial = place_of(&first, |push| system.initial(push)).unwrap_or_default();
        Witness { initial, steps, loop_start: None }
    }
}

/// Makes room for more by an eighth, not by doubling: what a stack reserves, the table of states does not
/// have.
#[cold]
pub(crate) fn grow<T>(items: &mut Vec<T>) {
    items.reserve_exact(items.len() / 8 + 64);
}

pub(crate) fn search<S: System + ?Sized, V: Visited>(
    mut explorer: Explorer<'_, '_, S, V>,
) -> (Statistics, Option<Limit>, V) {
    let mut stack = Stack::default();
    let _ = run(&mut explorer, &mut stack);
    explorer.finish(stack.bytes())
}

/// Searches until the end, an error, a limit, or until the store begins to forget.
pub(crate) fn run<S: System + ?Sized, V: Visited>(
    explorer: &mut Explorer<'_, '_, S, V>,
    stack: &mut Stack,
) -> Flow {
    match explorer.restore(KIND, |explorer, input| restore(explorer, stack, input)) {
        Some(restored) => restored?,
        None => begin(explorer, stack)?,
    }
    go_on(explorer, stack)?;
    if !explorer.is_large() {
        return Flow::Continue(());
    }
    match explorer.ask_crew(Some(stack.waiting_states())) {
        ControlFlow::Break(()) => Flow::Break(()),
        ControlFlow::Continue(Asked::Expects(crew, expected)) if !explorer.questions().check().all_errors => {
            race(explorer, stack, crew, &expected, u64::MAX)
        }
        ControlFlow::Continue(_) => go_on(explorer, stack),
    }
}

/// Puts the initial states on the stack.
pub(crate) fn begin<S: System + ?Sized, V: Visited>(
    explorer: &mut Explorer<'_, '_, S, V>,
    stack: &mut Stack,
) -> Flow {
    explorer.stage_initial();
    settle(explorer, stack)?;
    stack.begin();
    Flow::Continue(())
}

/// Searches on from a stack, perhaps with another store than before.
pub(crate) fn go_on<S: System + ?Sized, V: Visited>(
    explorer: &mut Explorer<'_, '_, S, V>,
    stack: &mut Stack,
) -> Flow {
    while let Some(&top) = stack.frames.last() {
        stack.truncate(&mut explorer.reducing.proviso, top.rest);
        if explorer.visited.replaces() || explorer.is_large() {
            return Flow::Continue(());
        }
        if top.rest == top.start {
            stack.frames.pop();
            continue;
        }
        if explorer.begin_batch() {
            keep(explorer, stack, Moment::Now);
        }
        let start = stack.waiting.len();
        explorer.is_clean = true;
        if step(explorer, stack, top).is_break() {
            // The batch is as if it had not begun.
            if explorer.is_cut() || explorer.is_clean {
                stack.frames.last_mut().expect("there is a top").rest = top.rest;
            }
            if explorer.is_cut() {
                keep(explorer, stack, Moment::BatchStart);
            }
            return Flow::Break(());
        }
        explorer.is_clean = false;
        stack.satisfy_group(&mut explorer.reducing, start);
        if stack.waiting.len() > start {
            if stack.frames.len() == stack.frames.capacity() {
                grow(&mut stack.frames);
            }
            stack.frames.push(Frame { start, rest: stack.waiting.len() });
        }
    }
    Flow::Continue(())
}

/// Expands a group of the top frame, and puts what is new on the stack.
#[inline]
fn step<S: System + ?Sized, V: Visited>(
    explorer: &mut Explorer<'_, '_, S, V>,
    stack: &mut Stack,
    top: Frame,
) -> Flow {
    explorer.foresee(stack.bytes())?;
    expand_group(explorer, stack, top)?;
    explorer.traversal_bytes = stack.bytes();
    explorer.traversal_growth = stack.growth(explorer.staged.len() + 2 * LARGEST_GROUP as usize);
    settle(explorer, stack)?;
    while explorer.reducing.has_reduced() {
        explorer.expand_ignoring(stack)?;
        settle(explorer, stack)?;
    }
    Flow::Continue(())
}

/// What a kept search of this kind begins with.
const KIND: u8 = 1;

/// Keeps the search: frames, the states on the stack, and all that are known. What is behind the rest of the
/// top frame was put there by a batch that did not end: it is not known then.
pub(crate) fn keep<S: System + ?Sized, V: Visited>(
    explorer: &mut Explorer<'_, '_, S, V>,
    stack: &Stack,
    moment: Moment,
) {
    let length = stack.frames.last().map_or(0, |top| top.rest);
    explorer.keep(KIND, moment, |explorer, out| {
        out.number(stack.frames.len() as u64)?;
        for frame in &stack.frames {
            out.number(frame.start as u64)?;
            out.number(frame.rest as u64)?;
        }
        out.number(length as u64)?;
        for at in 0..length {
            out.number(u64::from(stack.waiting.own(at)))?;
            explorer.write_state(stack.waiting.name(at), out)?;
        }
        let undone: Vec<StateRef> = (length..stack.waiting.len()).map(|at| stack.waiting.name(at)).collect();
        explorer.write_visited(&undone, out)
    });
}

/// Goes on from a kept search: states get their names anew, and whoever waits is told to the proviso again.
fn restore<S: System + ?Sized, V: Visited>(
    explorer: &mut Explorer<'_, '_, S, V>,
    stack: &mut Stack,
    input: &mut Reader,
) -> Result<Flow, CheckpointError> {
    for _ in 0..input.number()? {
        stack.frames.push(Frame { start: input.index()?, rest: input.index()? });
    }
    let (length, mut state) = (input.index()?, Vec::new());
    let mut frame = 0;
    for at in 0..length {
        let own = u8::try_from(input.number()?).map_err(|_| Damaged)?;
        while stack.frames.get(frame + 1).is_some_and(|next| next.start <= at) {
            frame += 1;
        }
        let below = frame.checked_sub(1).map_or(LARGEST_GROUP as usize, |below| {
            stack.frames[frame].start.saturating_sub(stack.frames[below].start)
        });
        if usize::from(own & !SATISFIED) >= below {
            return Err(Damaged.into());
        }
        input.bytes(&mut state)?;
        explorer.stage_kept(&state, u32::from(own));
        if explorer.batch_is_full() || at + 1 == length {
            let put = |s: Staged, stack: &mut Stack| stack.waiting.push(s.name, s.parent as u8);
            if refresh(explorer, stack).is_break() || explorer.drain(|_, _, s| put(s, stack)).is_break() {
                return Ok(Flow::Break(()));
            }
        }
    }
    if !stack.is_sound(length) {
        return Err(Damaged.into());
    }
    explorer.traversal_bytes = stack.bytes();
    let known = input.number()?;
    for at in 0..known {
        input.bytes(&mut state)?;
        explorer.stage_kept(&state, 0);
        if (explorer.batch_is_full() || at + 1 == known)
            && (refresh(explorer, stack).is_break() || explorer.settle(|_| {}).is_break())
        {
            return Ok(Flow::Break(()));
        }
    }
    if explorer.reducing.count > 0 {
        explorer.reducing.proviso.start();
        explorer.reducing.proviso.refill(stack.open_names());
        while explorer.reducing.proviso.is_crowded() {
            explorer.reducing.proviso.rebuild(stack.open_names());
        }
    }
    Ok(Flow::Continue(()))
}

/// Puts the new ones of the staged states on the stack.
#[inline]
fn settle<S: System + ?Sized, V: Visited>(explorer: &mut Explorer<'_, '_, S, V>, stack: &mut Stack) -> Flow {
    refresh(explorer, stack)?;
    explorer.claim(stack.growth(explorer.staged.len()), stack.bytes())?;
    explorer.settle(|state| stack.waiting.push(state.name, state.parent as u8))
}

/// Gives states that wait for a name theirs; those on the stack may be renamed with them.
#[inline]
fn refresh<S: System + ?Sized, V: Visited>(explorer: &mut Explorer<'_, '_, S, V>, stack: &mut Stack) -> Flow {
    let renamed = match explorer.refresh(|width, translate| stack.rename(width, translate)) {
        ControlFlow::Continue(renamed) => renamed,
        ControlFlow::Break(()) => return Flow::Break(()),
    };
    if renamed && explorer.reducing.proviso.is_on() {
        explorer.reducing.proviso.refill(stack.open_names());
    }
    Flow::Continue(())
}

/// Expands states from the end of the top frame until there is a batch to settle.
fn expand_group<S: System + ?Sized, V: Visited>(
    explorer: &mut Explorer<'_, '_, S, V>,
    stack: &mut Stack,
    top: Frame,
) -> Flow {
    let depth = stack.depth();
    explorer.statistics.max_depth = explorer.statistics.max_depth.max(depth);
    let (mut at, foresight) = (top.rest, explorer.foresight());
    let mut told = top.rest - 1;
    for parent in 0..LARGEST_GROUP {
        at -= 1;
        while foresight > 0 && told > top.start && told + foresight > at {
            told -= 1;
            explorer.soon(stack.waiting.name(told));
        }
        explorer.visit(stack.waiting.name(at), parent, depth, stack, at)?;
        explorer.tick(depth, stack.waiting.len() as u64, stack.bytes())?;
        if at == top.start || explorer.batch_is_full() {
            break;
        }
    }
    if let Some(top) = stack.frames.last_mut() {
        top.rest = at;
    }
    Flow::Continue(())
}
