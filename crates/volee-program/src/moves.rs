//! The steps of a state: who can move, what they do, and how far an indivisible sequence goes.
//!
//! A step of the system is a sequence of moves: one statement, or the two sides of a rendezvous, and then,
//! while the process is inside `atomic`, whatever it does until it leaves or blocks. States in between are
//! never seen by anybody. The sequences are explored depth-first with an explicit stack of levels, one per
//! move made so far. Order: processes from the youngest to the oldest, statements as written; so it is in
//! SPIN, and so counts and counterexamples can be compared.
//!
//! A sequence is cut where it comes to a point whose future is known (see [`crate::sequences`]). If a process
//! can do nothing but run for ever inside an `atomic`, that is reported as an error rather than passed over
//! in silence.

use std::ops::ControlFlow;

use volee_system::{FaultId, Flow};

use crate::code::{Body, Code, Compiled, Move, Op};
use crate::eval::Context;
use crate::exec::{Executor, Ready, accepts, prepare, ready};
use crate::frame::Frame;
use crate::permission::{is_provided, may_move};
use crate::sequences::{Sequences, Way};

/// Moves inside sequences that begin alike before points are remembered, where transitions are counted as
/// SPIN counts them.
const PLAIN_PATIENCE: u32 = 10_000;

/// The same where they are not.
const PATIENCE: u32 = 500;

/// One move: who did which transition, with whom.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct TakenMove {
    pub pid: u8,
    pub transition: u32,
    /// The receiver of a rendezvous and its transition.
    pub partner: Option<(u8, u32)>,
    /// The first error of this move that lets it be made.
    pub fault: Option<FaultId>,
}

/// A point inside a step: the state before the next move, and how far its moves are enumerated.
#[derive(Debug, Clone, Default)]
pub(crate) struct Level {
    pub frame: Frame,
    /// The move that was made last from here.
    pub made: TakenMove,
    /// Only this process may move.
    only: Option<usize>,
    /// Only its transitions before this one.
    end_move: usize,
    /// Only this process may receive what is handed over.
    only_partner: Option<usize>,
    /// The process being enumerated, plus one; 0 when all are done.
    next_pid: usize,
    /// The next transition of it.
    next_move: usize,
    /// Whether this process is being enumerated (its right to move was checked).
    entered: bool,
    /// Some option of this process could be taken.
    process_moved: bool,
    /// The escape that was taken.
    escape: u32,
    /// Any process could move.
    moved: bool,
    timeout: bool,
    /// The receiver to look at next in a rendezvous, plus one, and its transition.
    partner: Option<Partner>,
    /// The first error since the step began.
    fault: Option<FaultId>,
    /// Errors of the move that was made last from here, after the first: a `d_step` may have several.
    further: Vec<FaultId>,
    message: Vec<i32>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Partner {
    channel: i32,
    next_pid: usize,
    next_move: usize,
    escape: u32,
    /// This receiver could take the message by an earlier statement.
    chosen: bool,
    /// The message is in the level's scratch space, and what went wrong making it.
    prepared: bool,
    fault: Option<FaultId>,
}

impl Level {
    /// Whether nobody else can move.
    pub fn timeout(&self) -> bool {
        self.timeout
    }

    /// The process that goes on alone.
    pub fn only(&self) -> Option<usize> {
        self.only
    }

    /// The first error since the step began.
    pub fn fault(&self) -> Option<FaultId> {
        self.fault
    }

    fn restart(&mut self, only: Option<usize>, timeout: bool) {
        self.only = only;
        self.next_pid = only.map_or(self.frame.count(), |p| p + 1);
        self.next_move = 0;
        self.end_move = usize::MAX;
        self.only_partner = None;
        self.entered = false;
        self.process_moved = false;
        self.escape = 0;
        self.moved = false;
        self.timeout = timeout;
        self.partner = None;
    }

    fn leave_process(&mut self) {
        self.next_pid = if self.only.is_some() { 0 } else { self.next_pid - 1 };
        self.next_move = 0;
        self.entered = false;
        self.process_moved = false;
        self.escape = 0;
    }
}

/// What became of an attempt to move.
enum Attempt {
    /// Nobody has anything more to do at this level.
    Exhausted,
    /// A move was made into the next level; `keeps` goes on alone.
    Taken { keeps: Option<usize> },
    /// A move failed for good, by this error.
    Stuck(FaultId),
}

/// Receives the steps of a state with the levels they are made of.
pub(crate) trait Visitor {
    /// A step whose moves are `levels[..].made`; the target is the frame behind them.
    fn step(&mut self, levels: &[Level], fault: Option<FaultId>, target: &Frame) -> Flow;
    /// An error that leaves the system where it is.
    fn stuck(&mut self, levels: &[Level], fault: FaultId) -> Flow;
}

/// The scratch space of the enumeration.
#[derive(Debug, Clone, Default)]
pub(crate) struct Enumerator {
    pub levels: Vec<Level>,
    /// How often each transition was executed.
    pub reached: Vec<u64>,
    endless: Option<FaultId>,
    pub sequences: Sequences,
}

/// What is known of the sequences that one process begins.
#[derive(Debug, Clone, Copy, Default)]
struct Turn {
    pid: u8,
    /// One of them came to an end.
    emitted: bool,
    /// The first move of one that was cut where it came back.
    endless: Option<TakenMove>,
    /// One of them was left out, so that nobody knows whether it ends.
    left_out: bool,
}

/// Tells the errors of the moves of a sequence, each where it happened, but for the first this many: that one
/// is told with the whole step.
fn tell_errors<V: Visitor>(levels: &[Level], known: usize, visitor: &mut V) -> Flow {
    let failed = levels.iter().enumerate().flat_map(|(at, level)| {
        level.made.fault.into_iter().chain(level.further.iter().copied()).map(move |fault| (at, fault))
    });
    for (at, fault) in failed.skip(known) {
        visitor.stuck(&levels[..=at], fault)?;
    }
    Flow::Continue(())
}

impl Enumerator {
    pub fn new(transitions: usize, endless: FaultId, plain: bool) -> Self {
        Enumerator {
            levels: Vec::new(),
            reached: vec![0; transitions],
            endless: Some(endless),
            sequences: Sequences::new(if plain { PLAIN_PATIENCE } else { PATIENCE }),
        }
    }

    /// Visits the steps of `state`.
    pub fn run<V: Visitor>(&mut self, compiled: &Compiled, state: &[u8], visitor: &mut V) -> Flow {
        self.load(compiled, state);
        self.levels[0].restart(None, false);
        let moved = self.explore(compiled, visitor)?;
        if !moved && compiled.asks_for_timeout {
            self.levels[0].restart(None, true);
            self.explore(compiled, visitor)?;
        }
        Flow::Continue(())
    }

    /// Makes the first level that of a state.
    pub fn load(&mut self, compiled: &Compiled, state: &[u8]) {
        self.reserve(2);
        self.levels[0].frame.load(&compiled.layout, state);
        self.levels[0].fault = None;
    }

    /// Visits the steps that one process can do by itself, in the loaded state; whether there are any.
    pub fn run_process<V: Visitor>(
        &mut self,
        compiled: &Compiled,
        pid: usize,
        visitor: &mut V,
    ) -> ControlFlow<(), bool> {
        self.levels[0].restart(Some(pid), false);
        self.explore(compiled, visitor)
    }

    /// Visits the steps that some transitions of a process can do by themselves, in the loaded state, with
    /// one partner only where something is handed over and a partner is given.
    pub fn run_part<V: Visitor>(
        &mut self,
        compiled: &Compiled,
        (pid, moves, partner): (usize, std::ops::Range<usize>, Option<usize>),
        visitor: &mut V,
    ) -> ControlFlow<(), bool> {
        let level = &mut self.levels[0];
        level.restart(Some(pid), false);
        (level.next_move, level.end_move, level.only_partner) = (moves.start, moves.end, partner);
        self.explore(compiled, visitor)
    }

    fn reserve(&mut self, levels: usize) {
        if self.levels.len() < levels {
            self.levels.resize_with(levels, Level::default);
        }
    }

    /// Enumerates from the restarted first level; whether anything moved.
    fn explore<V: Visitor>(&mut self, compiled: &Compiled, visitor: &mut V) -> ControlFlow<(), bool> {
        let mut top = 0;
        let mut turn = Turn::default();
        self.sequences.begin();
        loop {
            self.reserve(top + 2);
            let (lower, upper) = self.levels.split_at_mut(top + 1);
            let attempted = attempt(compiled, &mut lower[top], &mut upper[0], &mut self.reached);
            if lower[0].made.pid != turn.pid {
                let pid = lower[0].made.pid;
                self.end_turn(turn, visitor)?;
                turn = Turn { pid, ..Turn::default() };
            }
            let (lower, upper) = self.levels.split_at_mut(top + 1);
            match attempted {
                Attempt::Stuck(blocked) if blocked == compiled.too_long => {
                    turn.left_out = true;
                    self.sequences.leave_out();
                    tell_errors(lower, 0, visitor)?;
                }
                Attempt::Stuck(blocked) => {
                    turn.emitted = true;
                    tell_errors(lower, 0, visitor)?;
                    visitor.stuck(lower, blocked)?;
                }
                Attempt::Taken { keeps: None } => {
                    turn.emitted = true;
                    visitor.step(lower, upper[0].fault, &upper[0].frame)?;
                    tell_errors(lower, 1, visitor)?;
                }
                Attempt::Taken { keeps: Some(pid) } => {
                    upper[0].restart(Some(pid), false);
                    if top == 0 {
                        self.sequences.begin_move();
                    }
                    top += 1;
                    let way = self.sequences.arrive(&self.levels[..=top]);
                    if way != Way::On {
                        match way {
                            Way::TooLong => turn.left_out = true,
                            _ => turn.endless = Some(self.levels[0].made),
                        }
                        top -= 1;
                        tell_errors(&self.levels[..=top], 0, visitor)?;
                    }
                }
                Attempt::Exhausted if top == 0 => {
                    self.end_turn(turn, visitor)?;
                    return ControlFlow::Continue(self.levels[0].moved);
                }
                Attempt::Exhausted => {
                    // The sequence blocks: the process loses its privilege and the state in between becomes
                    // visible.
                    if !lower[top].moved {
                        turn.emitted = true;
                        let (before, rest) = lower.split_at(top);
                        visitor.step(before, rest[0].fault, &rest[0].frame)?;
                        tell_errors(before, 1, visitor)?;
                    }
                    top -= 1;
                }
            }
        }
    }

    /// All sequences of a process are enumerated. If they only ran for ever, that is an error.
    fn end_turn<V: Visitor>(&mut self, turn: Turn, visitor: &mut V) -> Flow {
        let (Some(first), false) = (turn.endless, turn.emitted || turn.left_out) else {
            return Flow::Continue(());
        };
        let made = std::mem::replace(&mut self.levels[0].made, first);
        let flow = visitor.stuck(&self.levels[..1], self.endless.expect("set when made"));
        self.levels[0].made = made;
        flow
    }

    /// Goes along one sequence: `wanted` tells, given how much was made before, how much of what it looks for
    /// a move makes. Where the step leads.
    pub fn follow(
        &mut self,
        compiled: &Compiled,
        state: &[u8],
        wanted: &mut dyn FnMut(usize, &TakenMove) -> Option<usize>,
    ) -> Option<crate::follow::Way> {
        let way = |level: &Level, made| crate::follow::Way {
            target: level.frame.bytes.clone(),
            made,
            fault: level.fault,
        };
        for timeout in [false, true] {
            self.load(compiled, state);
            self.levels[0].restart(None, timeout);
            let (mut top, mut done) = (0, 0);
            loop {
                self.reserve(top + 2);
                let (lower, upper) = self.levels.split_at_mut(top + 1);
                let keeps = match attempt(compiled, &mut lower[top], &mut upper[0], &mut self.reached) {
                    Attempt::Stuck(_) => continue,
                    Attempt::Taken { keeps } => keeps,
                    Attempt::Exhausted if top > 0 && !lower[top].moved => {
                        return Some(way(&lower[top], done));
                    }
                    Attempt::Exhausted => break,
                };
                let Some(made) = wanted(done, &lower[top].made) else { continue };
                done += made;
                match keeps {
                    None => return Some(way(&upper[0], done)),
                    Some(pid) => upper[0].restart(Some(pid), false),
                }
                top += 1;
            }
        }
        None
    }
}

/// Makes the next move possible at `level`, into `next`.
fn attempt(compiled: &Compiled, level: &mut Level, next: &mut Level, reached: &mut [u64]) -> Attempt {
    while level.next_pid > 0 {
        let pid = level.next_pid - 1;
        if !level.entered {
            if compiled.restricted && !may_move(compiled, &level.frame, pid, level.timeout) {
                level.leave_process();
                continue;
            }
            level.entered = true;
        }
        let body = &compiled.bodies[level.frame.proctype(pid)];
        let moves = &body.nodes[level.frame.control(&compiled.layout, pid)];
        while let Some(m) = moves.get(level.next_move).filter(|_| level.next_move < level.end_move) {
            if level.escape != 0 && level.escape != m.escape {
                break;
            }
            if let Some(partner) = level.partner {
                match rendezvous(compiled, level, next, pid, m, partner, reached) {
                    Some(attempt) => return attempt,
                    None => {
                        level.partner = None;
                        level.next_move += 1;
                        continue;
                    }
                }
            }
            let mut cx = Context::of(compiled, &level.frame, pid, level.timeout);
            let answer = ready(&mut cx, &m.op, level.process_moved);
            if let Some(fault) = cx.fault {
                level.next_move += 1;
                level.further.clear();
                level.made = TakenMove { pid: pid as u8, transition: m.id, partner: None, fault: None };
                level.moved = true;
                return Attempt::Stuck(fault);
            }
            match answer {
                Ready::No => level.next_move += 1,
                Ready::WithPartner(channel) => {
                    let next_pid = level.only_partner.map_or(usize::MAX, |p| p + 1).min(level.frame.count());
                    level.partner = Some(Partner { channel, next_pid, ..Partner::default() });
                }
                Ready::Yes => {
                    level.next_move += 1;
                    return make(compiled, level, next, pid, m, reached);
                }
            }
        }
        level.leave_process();
    }
    Attempt::Exhausted
}

/// Makes one move of one process.
#[inline]
fn make(
    compiled: &Compiled,
    level: &mut Level,
    next: &mut Level,
    pid: usize,
    m: &Move,
    reached: &mut [u64],
) -> Attempt {
    next.frame.copy_from(&level.frame);
    level.further.clear();
    let mut executor = Executor {
        compiled,
        frame: &mut next.frame,
        pid,
        timeout: level.timeout,
        fault: None,
        blocked: None,
        message: &mut level.message,
        reached,
        passed: None,
        further: Some(&mut level.further),
    };
    executor.reached[m.id as usize] += 1;
    if !matches!(m.op, Op::End) {
        executor.frame.set_control(&compiled.layout, pid, m.target);
    }
    executor.apply(&m.op);
    executor.reset(&m.resets);
    let (fault, blocked) = (executor.fault, executor.blocked);
    let fault = fault.or(m.second.filter(|_| level.process_moved));
    finish(compiled, level, next, TakenMove { pid: pid as u8, transition: m.id, partner: None, fault });
    level.process_moved = true;
    level.escape = m.escape;
    blocked.map_or(Attempt::Taken { keeps: m.atomic.then_some(pid) }, Attempt::Stuck)
}

fn finish(compiled: &Compiled, level: &mut Level, next: &mut Level, made: TakenMove) {
    if compiled.layout.monitor_at > compiled.layout.last_at {
        let last = made.partner.map_or(made.pid, |(p, _)| p);
        next.frame.bytes[compiled.layout.last_at] = last;
    }
    next.fault = level.fault.or(made.fault);
    level.made = made;
    level.moved = true;
}

/// Looks for the next receiver of `m`, a send on a rendezvous channel; `None` when there is no other.
fn rendezvous(
    compiled: &Compiled,
    level: &mut Level,
    next: &mut Level,
    sender: usize,
    m: &Move,
    mut partner: Partner,
    reached: &mut [u64],
) -> Option<Attempt> {
    let send = sending(&m.op)?;
    let channel = level.frame.channel(partner.channel)?;
    if !partner.prepared {
        let mut cx = Context::of(compiled, &level.frame, sender, level.timeout);
        prepare(&mut cx, send, channel, &mut level.message);
        partner.fault = cx.fault;
        partner.prepared = true;
    }
    while partner.next_pid > 0 {
        let receiver = partner.next_pid - 1;
        let allowed = receiver != sender
            && level.only_partner.is_none_or(|only| only == receiver)
            && (!compiled.restricted
                || partner.next_move > 0
                || is_provided(compiled, &level.frame, receiver, level.timeout));
        let body = &compiled.bodies[level.frame.proctype(receiver)];
        let moves = &body.nodes[level.frame.control(&compiled.layout, receiver)];
        while let Some(other) = moves.get(partner.next_move).filter(|_| allowed) {
            if partner.escape != 0 && partner.escape != other.escape {
                break;
            }
            partner.next_move += 1;
            let mut cx = Context::of(compiled, &level.frame, receiver, level.timeout);
            if !accepts(&mut cx, &other.op, partner.channel, &level.message) {
                continue;
            }
            partner.escape = other.escape;
            level.partner = Some(Partner { chosen: true, ..partner });
            return Some(hand_over(compiled, level, next, (sender, m), (receiver, other), partner, reached));
        }
        partner.next_pid -= 1;
        partner.next_move = 0;
        partner.escape = 0;
        partner.chosen = false;
    }
    None
}

/// Both sides of a rendezvous move at once.
fn hand_over(
    compiled: &Compiled,
    level: &mut Level,
    next: &mut Level,
    (sender, m): (usize, &Move),
    (receiver, other): (usize, &Move),
    partner: Partner,
    reached: &mut [u64],
) -> Attempt {
    let channel = partner.channel;
    next.frame.copy_from(&level.frame);
    next.message.clone_from(&level.message);
    level.further.clear();
    let mut executor = Executor {
        compiled,
        frame: &mut next.frame,
        pid: sender,
        timeout: level.timeout,
        fault: partner.fault,
        blocked: None,
        message: &mut next.message,
        reached,
        passed: None,
        further: Some(&mut level.further),
    };
    executor.reached[m.id as usize] += 1;
    executor.reached[other.id as usize] += 1;
    executor.frame.set_control(&compiled.layout, sender, m.target);
    if let Some(send) = sending(&m.op) {
        executor.observe(true, channel, send.no_event);
    }
    executor.reset(&m.resets);
    executor.pid = receiver;
    executor.frame.set_control(&compiled.layout, receiver, other.target);
    executor.take(&other.op, channel);
    executor.reset(&other.resets);
    let (fault, blocked) = (executor.fault, executor.blocked);
    // Another receiver for the same send is not another choice of the sender.
    let chosen = level.process_moved && level.made.transition != m.id;
    let fault = fault.or(m.second.filter(|_| chosen)).or(other.second.filter(|_| partner.chosen));
    let made =
        TakenMove { pid: sender as u8, transition: m.id, partner: Some((receiver as u8, other.id)), fault };
    finish(compiled, level, next, made);
    level.process_moved = true;
    level.escape = m.escape;
    blocked.map_or(Attempt::Taken { keeps: other.atomic.then_some(receiver) }, Attempt::Stuck)
}

pub(crate) fn sending(op: &Op) -> Option<&crate::code::Send> {
    match op {
        Op::Send(send) => Some(send),
        Op::Sequence(ops) => sending(&ops[0]),
        _ => None,
    }
}

/// Whether the control point of some process has a mark.
pub(crate) fn any_mark(compiled: &Compiled, frame: &Frame, mark: fn(&Body) -> &Vec<bool>) -> bool {
    (0..frame.count())
        .any(|pid| mark(&compiled.bodies[frame.proctype(pid)])[frame.control(&compiled.layout, pid)])
}

/// Evaluates an expression of nobody in particular.
pub(crate) fn evaluate(compiled: &Compiled, frame: &Frame, code: &Code) -> Result<i32, FaultId> {
    let mut cx = Context::outside(compiled, frame);
    let value = cx.eval(code);
    cx.fault.map_or(Ok(value), Err)
}
