//! The steps of a program part by part: a process, some of its transitions, or one transition with one
//! partner.
//!
//! A process is divided at most into its transitions, and a transition that hands something over into its
//! possible partners. That is right where transitions do not look at each other: an `else` asks whether
//! another could be taken, an escape whether it was, a deterministic process whether it is the only one.
//! There the process is one part.
//!
//! Which parts there are depends on where the process stands and on its locals. Whether a send hands over
//! depends on the channel; where that is not told by the process alone, the transition is not divided among
//! partners.

use std::ops::Range;

use volee_system::{Divisible, FaultId, Fineness, Flow, Kinds, Part, Sink, Step, Touched};

use crate::code::{Code, Compiled, Move, Op};
use crate::eval::Context;
use crate::events::EventLabels;
use crate::footprint::{EVERYTHING, Footprint, Owners, is_handed_over};
use crate::frame::Frame;
use crate::machine::{Machine, first_step};
use crate::moves::{Level, Visitor, sending};
use crate::program::Program;

/// What is needed to tell what steps depend on.
#[derive(Debug, Clone, Default)]
pub(crate) struct Division {
    owners: Owners,
    scratch: Frame,
    reached: Vec<u64>,
    /// By process type: from which channels it may ever take over a message.
    receives: Vec<Sources>,
}

/// Channels that somebody may receive from.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sources {
    /// These, by number.
    known: Vec<i32>,
    /// Any.
    any: bool,
}

impl Sources {
    fn contains(&self, channel: i32) -> bool {
        self.any || self.known.contains(&channel)
    }

    /// Adds the channels of a statement. (What is inside a `d_step` is among the nodes of its type.)
    fn add(&mut self, op: &Op) {
        match op {
            Op::Receive(receive) => match receive.channel {
                Code::Const(channel) if !self.known.contains(&channel) => self.known.push(channel),
                Code::Const(_) => {}
                _ => self.any = true,
            },
            Op::Sequence(ops) => self.add(&ops[0]),
            _ => {}
        }
    }
}

impl Division {
    pub fn new(cut: &volee_system::Components, compiled: &Compiled) -> Self {
        let mut bytes = Vec::new();
        for (owner, &end) in cut.ends.iter().enumerate() {
            bytes.resize(end as usize, owner as u8);
        }
        let owners = Owners { bytes, fixed: cut.ends.len() };
        let sources = |body: &crate::code::Body| {
            let mut sources = Sources::default();
            body.nodes.iter().flatten().for_each(|m| sources.add(&m.op));
            sources
        };
        Division {
            owners,
            scratch: Frame::default(),
            reached: vec![0; compiled.transitions.len()],
            receives: compiled.bodies.iter().map(sources).collect(),
        }
    }

    pub fn footprint<'a>(&'a mut self, compiled: &'a Compiled, kinds: &'a Kinds) -> Footprint<'a> {
        Footprint {
            compiled,
            owners: &self.owners,
            receives: &self.receives,
            kinds,
            touched: 0,
            written: 0,
            scratch: &mut self.scratch,
            reached: &mut self.reached,
        }
    }
}

/// The records that may ever hold a process that receives from a channel.
pub(crate) fn receivers(
    receives: &[Sources],
    kinds: &Kinds,
    channel: i32,
) -> impl DoubleEndedIterator<Item = usize> {
    let may = move |kind: &u8| receives[usize::from(*kind)].contains(channel);
    kinds.iter().enumerate().filter(move |(_, kinds)| kinds.iter().any(may)).map(|(record, _)| record)
}

/// Whether transitions of a node look at each other.
fn is_divisible(compiled: &Compiled, proctype: usize, moves: &[Move]) -> bool {
    moves.iter().all(|m| m.escape == 0 && m.second.is_none() && !asks_others(compiled, proctype, &m.op))
}

fn asks_others(compiled: &Compiled, proctype: usize, op: &Op) -> bool {
    match op {
        Op::Else => true,
        Op::Sequence(ops) => asks_others(compiled, proctype, &ops[0]),
        Op::DStep(entry, ..) => {
            let first = &compiled.bodies[proctype].nodes[*entry as usize];
            first.iter().any(|m| asks_others(compiled, proctype, &m.op))
        }
        _ => false,
    }
}

/// Passes steps on and notes what they depend on.
struct Recorder<'a, 'f> {
    sink: &'a mut dyn Sink,
    source: &'a [u8],
    footprint: Option<Footprint<'f>>,
    /// What all steps so far store; `None` before the first.
    writes: Option<u64>,
    names: Names<'f>,
}

/// How steps are called.
enum Names<'a> {
    Statements,
    Events(&'a mut EventLabels, &'a Program, &'a Compiled),
}

impl Names<'_> {
    fn step(&mut self, levels: &[Level], fault: Option<FaultId>, stays: bool) -> Step {
        let step = first_step(levels, fault, stays);
        match self {
            Names::Statements => step,
            Names::Events(events, program, compiled) => {
                Step { label: events.label(program, compiled, levels), ..step }
            }
        }
    }
}

impl Recorder<'_, '_> {
    fn note(&mut self, levels: &[Level], target: &Frame) {
        let Some(footprint) = &mut self.footprint else { return };
        footprint.written = 0;
        footprint.step(levels, target);
        let before = self.writes.unwrap_or(footprint.written);
        footprint.touched |= before ^ footprint.written;
        self.writes = Some(before & footprint.written);
    }
}

impl Visitor for Recorder<'_, '_> {
    fn step(&mut self, levels: &[Level], fault: Option<FaultId>, target: &Frame) -> Flow {
        self.note(levels, target);
        let step = self.names.step(levels, fault, false);
        self.sink.push(step, &target.bytes)
    }

    fn stuck(&mut self, levels: &[Level], fault: FaultId) -> Flow {
        if let Some(footprint) = &mut self.footprint {
            footprint.touched = EVERYTHING;
        }
        let step = self.names.step(levels, Some(fault), true);
        self.sink.push(step, self.source)
    }
}

impl Divisible for Machine {
    fn is_complete(&self) -> bool {
        !self.compiled.asks_for_timeout
    }

    fn parts(&mut self, state: &[u8], record: u8, fineness: Fineness, kinds: &Kinds, parts: &mut Vec<Part>) {
        self.divide(state);
        let compiled = std::sync::Arc::clone(&self.compiled);
        let Some(division) = &mut self.division else { return };
        let (pid, frame) = (usize::from(record), &self.enumerator.levels[0].frame);
        let proctype = frame.proctype(pid);
        let moves = &compiled.bodies[proctype].nodes[frame.control(&compiled.layout, pid)];
        let part = |range: Range<usize>, partner| Part {
            record,
            first: range.start as u16,
            last: range.end as u16,
            partner,
        };
        if moves.len() > usize::from(u16::MAX) || !is_divisible(&compiled, proctype, moves) {
            parts.push(part(0..moves.len().min(usize::from(u16::MAX)), None));
            return;
        }
        let mut start = 0;
        for (number, m) in moves.iter().enumerate() {
            let channel = division.hands_over(&compiled, frame, pid, m);
            if (channel.is_some() || fineness == Fineness::Fine) && start < number {
                parts.push(part(start..number, None));
                start = number;
            }
            if let Some(channel) = channel {
                let partners = receivers(&division.receives, kinds, channel).rev().filter(|q| *q != pid);
                parts.extend(partners.map(|q| part(number..number + 1, Some(q as u8))));
                start = number + 1;
            }
        }
        if start < moves.len() {
            parts.push(part(start..moves.len(), None));
        }
    }

    fn divide(&mut self, state: &[u8]) {
        self.enumerator.load(&self.compiled, state);
    }

    fn part_steps(&mut self, part: Part, told: Option<(&mut Touched, &Kinds)>, sink: &mut dyn Sink) -> Flow {
        let by_events = self.is_named_by_events();
        let compiled = &self.compiled;
        let Some(division) = &mut self.division else { return Flow::Continue(()) };
        let names = match by_events {
            true => Names::Events(&mut self.events, &self.program, compiled),
            false => Names::Statements,
        };
        let (pid, moves) = (usize::from(part.record), usize::from(part.first)..usize::from(part.last));
        let partner = part.partner.map(usize::from);
        let mut footprint = told.as_ref().map(|(_, kinds)| division.footprint(compiled, kinds));
        if let Some(footprint) = &mut footprint {
            footprint.looks(&self.enumerator.levels[0].frame, pid, moves.clone(), partner);
        }
        self.source.clone_from(&self.enumerator.levels[0].frame.bytes);
        let mut recorder = Recorder { sink, source: &self.source, footprint, writes: None, names };
        let flow = self.enumerator.run_part(compiled, (pid, moves, partner), &mut recorder);
        if let (Some((touched, _)), Some(footprint)) = (told, recorder.footprint) {
            touched.reads |= footprint.touched;
            touched.writes = recorder.writes.unwrap_or(0) & !touched.reads;
        }
        // What a sequence that was cut looked at is not in the footprint, and whether a process runs for ever
        // is for all its parts to say together.
        if self.enumerator.sequences.was_cut() { Flow::Break(()) } else { flow.map_continue(|_| ()) }
    }
}

impl Division {
    /// The channel on which a transition hands a message over, if it does and the process alone tells.
    fn hands_over(&mut self, compiled: &Compiled, frame: &Frame, pid: usize, m: &Move) -> Option<i32> {
        let send = sending(&m.op)?;
        let own = 1_u64.checked_shl((self.owners.fixed + pid) as u32).unwrap_or(0);
        let mut footprint = self.footprint(compiled, &[]);
        footprint.looks_up(frame, pid, &send.channel);
        let number = Context::of(compiled, frame, pid, false).eval(&send.channel);
        let told = footprint.touched & !own == 0 && frame.channel(number).is_some();
        (told && is_handed_over(compiled, frame, pid, send)).then_some(number)
    }
}
