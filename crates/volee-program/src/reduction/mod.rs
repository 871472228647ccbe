//! Which processes may move first without loss: persistent sets over what statements read and write.
//!
//! A set of steps is *persistent* in a state if nothing that the other steps can ever lead to, without taking
//! one of the set, interferes with it; exploring such a set instead of all steps finds every deadlock
//! (Godefroid, "Partial-Order Methods for the Verification of Concurrent Systems", 1996, chapter 4). Ours are
//! all steps of some processes: to a first process we add every process that may, now or later, touch what
//! the next step of a chosen one touches, until none is left to add. Then, whatever the others do among
//! themselves,
//! * a chosen process stands where it stood, and its steps that were possible stay possible and do the same,
//!   for nobody else writes what they read or write, nor reads what they write;
//! * those that were impossible stay impossible, for what they wait for counts as read: of a channel that is
//!   full the end where messages leave, of an empty one the end where they enter. While a send is possible it
//!   commutes with a receive from the same channel, which takes another message; so does a receive. Where
//!   something happens *because* a statement cannot be done (`else`, an escape that is not taken, an
//!   indivisible sequence that stops) it always counts as waiting;
//! * a rendezvous belongs to both: a chosen sender brings in all who may ever receive there, a chosen
//!   receiver all who may send, so both sides of each are chosen or neither is. Where it matters that a send
//!   finds no partner, every step of a process that may receive there later counts as changing what the send
//!   looks at;
//! * `timeout` stays false as long as a chosen step is possible.
//!
//! What is touched later is bounded by what is reachable in the control graph, for processes yet to be
//! started too. Priorities, `_last`, `enabled()`, `pc_value()` and `np_` make every step visible to all: then
//! nothing is reduced.
//!
//! Assertions and predicates ask for more than deadlocks. No chosen step may change what a predicate reads
//! (the visibility condition), and no step of another process may be put off for ever (the cycle condition):
//! that is the business of the search. But what can be lost are only runs of the processes that were not
//! chosen; where these can, as long as no chosen one moves, neither come to a fault nor change what a
//! predicate reads, they may be put off for ever (*enough*).

mod access;
mod anonymous;
mod control;
mod cycles;
mod objects;

use std::cmp::Reverse;
use std::collections::HashMap;

use volee_system::ProcessSet;

use crate::code::Compiled;
use crate::eval::Context;
use crate::footprint::Footprint;
use crate::frame::Frame;
use crate::optimise::{Observed, visit_program};
use crate::program::{Expr, Program};
use access::{Analysis, Point, Reference, Touched, Use, channel_access, channel_bit};
use objects::{Access, CHANNEL_BITS, Objects};

/// Processes that the choice can tell apart.
const MOST_PROCESSES: usize = 64;

/// Combinations of process types for which futures are remembered.
const MOST_POPULATIONS: usize = 256;

/// Whether an expression depends on where processes stand or what they could do, in a way that is not tracked
/// by name.
fn sees_control(expr: &Expr) -> bool {
    matches!(
        expr,
        Expr::Enabled(..)
            | Expr::PcValue(_)
            | Expr::NonProgress
            | Expr::Last
            | Expr::Priority(_)
            | Expr::Timeout
    )
}

/// Whether every state in which nobody can move is met where only chosen steps are taken. Where births commute it
/// may be another one, with other numbers of processes.
pub(crate) fn every_end_is_met(program: &Program, predicates: &[Expr]) -> bool {
    anonymous::numbers_matter(program, predicates) || anonymous::numbers_are_settled(program)
}

/// The futures of one process, as far as they were asked for. They depend on the values it got at birth and
/// on which channels there are.
#[derive(Debug, Clone, Default)]
struct Known {
    constants: Vec<u8>,
    /// By control point.
    futures: Vec<Option<Access>>,
}

/// The choice of persistent sets for a program, with its scratch space.
#[derive(Debug, Clone, Default)]
pub(crate) struct Choice {
    /// By process type and control point. Empty where nothing can be reduced.
    points: Vec<Vec<Point>>,
    /// By process type and control point: no set with a process there can be on a cycle of reduced steps
    /// alone.
    cuts: Vec<Vec<bool>>,
    /// What predicates read.
    visible: Objects,
    monitored: u64,
    /// Somebody looks at more than predicates: a monitor of events, or a never claim.
    watched: bool,
    /// What is known of the futures of processes, by the types of all processes.
    known: HashMap<Vec<u8>, Vec<Known>>,
    /// By process type: the bytes of its locals that keep the value they got at birth, as runs from the
    /// process record on.
    constants: Vec<Vec<(u32, u32)>>,
    steps: Vec<Access>,
    futures: Vec<Access>,
    /// By process: with whom its next step may interfere.
    conflicts: Vec<u64>,
    /// By process: whose next steps commute with its own.
    commuting: Vec<u64>,
    candidates: Vec<ProcessSet>,
    /// What processes mean for the choice, numbered as met.
    stances: HashMap<Stance, u32>,
}

/// All that the choice asks about a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Stance {
    step: Access,
    future: Access,
    /// It has come to its end and waits for younger ones to die.
    waits: bool,
    /// It is where cycles are cut.
    cut: bool,
}

impl Known {
    /// Forgets what is known if the process is not the one it was.
    fn keep(&mut self, frame: &Frame, pid: usize, constants: &[(u32, u32)], points: usize) {
        let base = frame.base(pid);
        let values = |&(start, length): &(u32, u32)| &frame.bytes[base + start as usize..][..length as usize];
        let mut before = &self.constants[..];
        let same = !self.futures.is_empty()
            && constants.iter().all(|run| {
                let (known, rest) = before.split_at(run.1 as usize);
                before = rest;
                known == values(run)
            });
        if !same {
            self.constants.clear();
            constants.iter().for_each(|run| self.constants.extend_from_slice(values(run)));
            self.futures.clear();
            self.futures.resize(points, None);
        }
    }
}

impl Choice {
    /// Prepares for a program whose states are looked at through predicates.
    pub fn new(program: &Program, compiled: &Compiled, predicates: &[Expr]) -> Self {
        let mut looks_at_control = program.uses_priorities || program.uses_last;
        visit_program(program, &mut |e| looks_at_control |= sees_control(e) && !matches!(e, Expr::Timeout));
        for predicate in predicates {
            crate::optimise::visit_expr(predicate, &mut |e| looks_at_control |= sees_control(e));
        }
        if looks_at_control {
            return Choice::default();
        }
        let mut observed = Observed::by_program(program);
        predicates.iter().for_each(|e| observed.add(e));
        let mut analysis =
            Analysis::new(program, &compiled.layout, observed_types(program, &observed), predicates);
        let mut visible = Objects::default();
        for predicate in predicates {
            visible.add(&analysis.read_from_outside(predicate));
        }
        let points = analysis.points();
        let monitored = analysis.monitored();
        let constants = analysis.constants();
        let watched = program.monitor.is_some() || program.never.is_some();
        let cuts = cycles::cuts(program, &points, &visible);
        Choice { points, cuts, visible, monitored, watched, constants, ..Choice::default() }
    }

    /// Sets of processes whose steps are persistent in a state and which are not all processes that may move:
    /// small ones before large ones, and of these first those that are enough. None of their steps may be
    /// possible.
    pub fn candidates(&mut self, compiled: &Compiled, frame: &Frame) -> &[ProcessSet] {
        self.candidates.clear();
        let count = frame.count();
        if self.points.is_empty() || !(2..=MOST_PROCESSES).contains(&count) {
            return &self.candidates;
        }
        self.look(compiled, frame);
        let movers = self.movers(compiled, frame);
        for pid in (0..count).rev().filter(|pid| movers >> pid & 1 == 1) {
            let set = self.close(1 << pid);
            if movers & !set != 0 && self.candidates.iter().all(|c| c.set != set) && !self.is_visible(set) {
                let others_may_be_ignored = self.is_enough(set);
                let cuts_cycles = self.cuts_cycles(compiled, frame, set);
                self.candidates.push(ProcessSet { set, others_may_be_ignored, cuts_cycles });
            }
        }
        self.candidates.sort_by_key(|c| (c.set.count_ones(), !c.others_may_be_ignored, Reverse(c.set)));
        &self.candidates
    }

    /// All processes but those that have come to their end and must wait for younger ones to die.
    fn movers(&self, compiled: &Compiled, frame: &Frame) -> u64 {
        let moves = |&pid: &usize| !self.waits_to_end(compiled, frame, pid);
        (0..frame.count()).filter(moves).fold(0, |set, pid| set | 1 << pid)
    }

    fn waits_to_end(&self, compiled: &Compiled, frame: &Frame, pid: usize) -> bool {
        let point = &self.points[frame.proctype(pid)][frame.control(&compiled.layout, pid)];
        point.ends && pid + 1 < frame.count()
    }

    /// What a process means for the choice, as a number, and in `footprint` what that depends on. `None`
    /// where it depends on more than components tell.
    pub fn stance(&mut self, frame: &Frame, pid: usize, footprint: &mut Footprint<'_>) -> Option<u32> {
        let compiled = footprint.compiled;
        let makes_channels = compiled.layout.born_channels.iter().any(|born| !born.is_empty());
        if self.points.is_empty() || makes_channels || !(2..=MOST_PROCESSES).contains(&frame.count()) {
            return None;
        }
        let point = &self.points[frame.proctype(pid)][frame.control(&compiled.layout, pid)];
        footprint.stands(pid);
        for reference in &point.step.references {
            match reference {
                Reference::Element { target, .. } => footprint.address(frame, pid, target),
                Reference::Channel { channel, .. } => footprint.contents(frame, pid, channel),
                Reference::End { .. } => footprint.header(),
            }
        }
        // What comes later depends on what the process got at birth, and on how many others there are.
        if point.ends || !point.future.references.is_empty() {
            footprint.header();
        }
        let waits = self.waits_to_end(compiled, frame, pid);
        let (step, future) = self.accesses(compiled, frame, pid);
        let next = self.stances.len() as u32;
        let cut = self.cuts_cycles(compiled, frame, 1 << pid);
        Some(*self.stances.entry(Stance { step, future, waits, cut }).or_insert(next))
    }

    /// By process: whose next steps commute with its own, in a state. Empty where nothing is known.
    pub fn commuting(&mut self, compiled: &Compiled, frame: &Frame) -> &[u64] {
        self.commuting.clear();
        if self.points.is_empty() || !(1..=MOST_PROCESSES).contains(&frame.count()) {
            return &self.commuting;
        }
        self.look(compiled, frame);
        let unbuffered = if shares_bits(frame) { 0 } else { handovers(compiled, frame) };
        // Nobody sleeps who waits for a younger process to die: where deaths count for nobody, that step is
        // not in its way.
        let waits = |pid| {
            let point = &self.points[frame.proctype(pid)][frame.control(&compiled.layout, pid)];
            point.asks_for_timeout || point.ends && pid + 1 < frame.count()
        };
        for (pid, step) in self.steps.iter().enumerate() {
            let seen = step.writes.meets(&self.visible);
            let mut row = 0;
            for (other, theirs) in self.steps.iter().enumerate() {
                let both_seen = seen && theirs.writes.meets(&self.visible);
                let commute =
                    other != pid && !both_seen && !waits(other) && step.commutes(theirs, unbuffered);
                row |= u64::from(commute) << other;
            }
            self.commuting.push(row);
        }
        &self.commuting
    }

    /// Finds out what each process may touch and who is in whose way.
    fn look(&mut self, compiled: &Compiled, frame: &Frame) {
        let count = frame.count();
        let unbuffered = if shares_bits(frame) { 0 } else { handovers(compiled, frame) };
        self.steps.clear();
        self.futures.clear();
        for pid in 0..count {
            let (step, future) = self.accesses(compiled, frame, pid);
            self.steps.push(step);
            self.futures.push(future);
        }
        self.conflicts.clear();
        for pid in 0..count {
            let step = &self.steps[pid];
            let mut row = 0;
            for (other, future) in self.futures.iter().enumerate() {
                row |= u64::from(other != pid && step.conflicts(future, unbuffered)) << other;
            }
            self.conflicts.push(row);
        }
    }

    /// What a process may touch, next and later.
    fn accesses(&mut self, compiled: &Compiled, frame: &Frame, pid: usize) -> (Access, Access) {
        let (proctype, node) = (frame.proctype(pid), frame.control(&compiled.layout, pid));
        let point = &self.points[proctype][node];
        let mut place = Place { cx: Context::of(compiled, frame, pid, false), monitored: self.monitored };
        let mut step = place.touched(&point.step, true);
        let future = if point.future.references.is_empty() {
            point.future.fixed
        } else {
            let known = &mut known_of(&mut self.known, frame)[pid];
            known.keep(frame, pid, &self.constants[proctype], self.points[proctype].len());
            *known.futures[node].get_or_insert_with(|| place.touched(&point.future, false))
        };
        step.nears =
            future.writes.heads & if shares_bits(frame) { u64::MAX } else { handovers(compiled, frame) };
        (step, future)
    }

    /// The processes that must be chosen together with these.
    fn close(&self, mut set: u64) -> u64 {
        let mut done = 0;
        while set != done {
            let pid = (set & !done).trailing_zeros();
            done |= 1 << pid;
            set |= self.conflicts[pid as usize];
        }
        set
    }

    /// Whether one of these processes is where cycles are cut.
    fn cuts_cycles(&self, compiled: &Compiled, frame: &Frame, set: u64) -> bool {
        let is_cut = |pid: usize| self.cuts[frame.proctype(pid)][frame.control(&compiled.layout, pid)];
        (0..frame.count()).any(|pid| set >> pid & 1 == 1 && is_cut(pid))
    }

    /// Whether the other processes can, by themselves, neither come to a fault nor change what a predicate
    /// reads.
    fn is_enough(&self, set: u64) -> bool {
        let futures = self.futures.iter().enumerate();
        !self.watched
            && futures
                .filter(|(pid, _)| set >> pid & 1 == 0)
                .all(|(_, future)| !future.fails && !future.writes.meets(&self.visible))
    }

    /// Whether a step of these processes may change what a predicate reads.
    fn is_visible(&self, set: u64) -> bool {
        let steps = self.steps.iter().enumerate();
        steps.into_iter().any(|(pid, step)| set >> pid & 1 == 1 && step.writes.meets(&self.visible))
    }
}

/// By process type: whether others look at its variables or control points.
fn observed_types(program: &Program, observed: &Observed) -> Vec<bool> {
    let seen = |number: usize| {
        observed.nodes.iter().any(|(p, _)| usize::from(p.0) == number)
            || observed.locals.iter().any(|(p, ..)| usize::from(p.0) == number)
    };
    (0..program.proctypes.len()).map(seen).collect()
}

/// Whether there are more channels than bits for them.
fn shares_bits(frame: &Frame) -> bool {
    frame.channels.len() > CHANNEL_BITS
}

/// What is known of the futures of the processes of a state.
fn known_of<'k>(known: &'k mut HashMap<Vec<u8>, Vec<Known>>, frame: &Frame) -> &'k mut [Known] {
    if !known.contains_key(frame.types()) {
        if known.len() >= MOST_POPULATIONS {
            known.clear();
        }
        known.insert(frame.types().to_vec(), vec![Known::default(); frame.count()]);
    }
    known.get_mut(frame.types()).map_or(&mut [], Vec::as_mut_slice)
}

/// The channels without a buffer.
fn handovers(compiled: &Compiled, frame: &Frame) -> u64 {
    let unbuffered = |shape: u16| compiled.layout.channels[usize::from(shape)].capacity == 0;
    let channels = frame.channels.iter().enumerate();
    channels.fold(0, |mask, (index, c)| mask | u64::from(unbuffered(c.shape)) << index)
}

/// A process in a state.
struct Place<'a> {
    cx: Context<'a>,
    monitored: u64,
}

impl Place<'_> {
    /// What is touched by this process in this state, `now` by its next step or else at any time.
    fn touched(&mut self, touched: &Touched, now: bool) -> Access {
        let mut access = touched.fixed;
        for reference in &touched.references {
            match reference {
                Reference::Element { target, write } => {
                    let layout = &self.cx.compiled.layout;
                    let size = (layout.channels_at - layout.globals_at) as u32;
                    let globals_at = layout.globals_at;
                    access.fails |= self.cx.target_at(target).is_none();
                    if let Some((at, scalar)) = self.cx.target_at(target) {
                        let set = if *write { &mut access.writes } else { &mut access.reads };
                        set.add_globals(((at - globals_at) as u32, scalar.bytes()), size);
                    }
                }
                Reference::Channel { channel, used, waits, fields } => {
                    let number = self.cx.eval(channel);
                    access.fails |= !self.has_fields(number, *fields);
                    let waiting = *waits || self.waits(number, *used, now);
                    access.add(&channel_access(*used, channel_bit(number), waiting, self.monitored));
                    if matches!(used, Use::Send | Use::SortedSend) {
                        let set = if *waits { &mut access.misses } else { &mut access.needs };
                        *set |= channel_bit(number);
                    }
                }
                Reference::End { waits } => {
                    if *waits || self.cx.pid + 1 != self.cx.frame.count() {
                        access.reads.add(&Objects::death());
                    }
                }
            }
        }
        access
    }

    /// Whether there is a channel with this number, whose messages have this many fields.
    fn has_fields(&self, number: i32, fields: Option<usize>) -> bool {
        let layout = &self.cx.compiled.layout;
        let channel = self.cx.frame.channel(number);
        channel
            .is_some_and(|c| fields.is_none_or(|n| layout.channels[usize::from(c.shape)].fields.len() == n))
    }

    /// Whether an operation may have to wait for somebody at the other end of the channel.
    fn waits(&self, number: i32, used: Use, now: bool) -> bool {
        let Some(channel) = self.cx.frame.channel(number) else { return true };
        let layout = &self.cx.compiled.layout;
        let capacity = layout.channels[usize::from(channel.shape)].capacity;
        let length = self.cx.frame.length(layout, channel);
        capacity == 0
            || now
                && match used {
                    Use::Send | Use::SortedSend => length >= capacity,
                    Use::Receive | Use::Look => length == 0,
                    Use::RandomReceive | Use::RandomLook | Use::Test => true,
                }
    }
}
