//! What an execution depends on and changes: components of the state, found by walking along with it.
//!
//! The walk visits what the interpreter evaluates, in the state in which it does, and a little more (both
//! sides of an `&&`, say). Where the address of a cell depends on values, these are walked too; so in every
//! state that agrees on the components found here the walk is the same, the interpreter evaluates the same,
//! and what it stores is the same. That is all that a remembered step needs. What is not worth the argument
//! depends on everything ([`EVERYTHING`]): remote references, `enabled`, `pc_value`, `np_`, priorities, event
//! monitors, channels that are made while the program runs.
//!
//! After the first store of a statement values are not those of the state before it. A sequence of statements
//! is therefore executed on the way, in a frame of its own, and each is walked in the frame that it finds.

use volee_system::Kinds;

use crate::code::{Cell, Code, Compiled, Element, Field, Move, Op, Receive, Send, Target, Width};
use crate::divide::{Sources, receivers};
use crate::eval::Context;
use crate::exec::{Executor, Ready, ready};
use crate::frame::Frame;
use crate::moves::{Level, TakenMove};

/// Depends on all components.
pub(crate) const EVERYTHING: u64 = u64::MAX;

/// Statements of a `d_step` that are walked before it counts as depending on everything.
const LONGEST_WALK: u32 = 1000;

/// Where the components of a program's states are.
#[derive(Debug, Clone, Default)]
pub(crate) struct Owners {
    /// By byte, of the part that every state has.
    pub bytes: Vec<u8>,
    /// How many components that part has; then there is one for each process.
    pub fixed: usize,
}

/// A walk along an execution.
pub(crate) struct Footprint<'a> {
    pub compiled: &'a Compiled,
    pub owners: &'a Owners,
    /// By process type, from where it may receive; and the types that each record may be of, if they are
    /// known: a message that is handed over goes to nobody else.
    pub receives: &'a [Sources],
    pub kinds: &'a Kinds,
    /// What was found.
    pub touched: u64,
    /// Components that the step at hand stores as wholes, whatever they held.
    pub written: u64,
    pub scratch: &'a mut Frame,
    pub reached: &'a mut [u64],
}

/// A process in a frame.
#[derive(Clone, Copy)]
struct At<'f> {
    frame: &'f Frame,
    pid: usize,
    /// The values in the frame are those that the statement finds.
    current: bool,
}

impl Footprint<'_> {
    fn component(&mut self, number: usize) {
        self.touched |= 1_u64.checked_shl(number as u32).unwrap_or(EVERYTHING);
    }

    fn process(&mut self, pid: usize) {
        self.component(self.owners.fixed + pid);
    }

    /// Header: how many processes there are, who moved last.
    pub fn header(&mut self) {
        self.touched |= 1;
    }

    fn bytes(&mut self, start: usize, length: usize) {
        for at in start..start + length {
            match self.owners.bytes.get(at) {
                Some(&owner) => self.component(usize::from(owner)),
                None => self.touched = EVERYTHING,
            }
        }
    }

    fn cell(&mut self, at: At<'_>, cell: Cell) {
        if cell.local { self.process(at.pid) } else { self.bytes(cell.offset as usize, width(cell.width)) }
    }

    fn element(&mut self, at: At<'_>, element: &Element) {
        element.indices.iter().for_each(|(index, ..)| self.code(at, index));
        if element.cell.local {
            return self.process(at.pid);
        }
        let width = width(element.cell.width);
        let start = element.cell.offset as usize;
        if !at.current && element.indices.iter().any(|(index, ..)| !matches!(index, Code::Const(_))) {
            let reach: u32 = element.indices.iter().map(|(_, bound, stride, _)| (bound - 1) * stride).sum();
            return self.bytes(start, reach as usize + width);
        }
        let mut offset = 0;
        for (index, bound, stride, _) in &element.indices {
            match u32::try_from(self.value(at, index)) {
                Ok(index) if index < *bound => offset += index * stride,
                // There is no such cell, and none is looked at.
                _ => return,
            }
        }
        self.bytes(start + offset as usize, width);
    }

    fn value(&self, at: At<'_>, code: &Code) -> i32 {
        Context::of(self.compiled, at.frame, at.pid, false).eval(code)
    }

    /// What an assignment stores to. A component that is all of the cell is not looked at.
    fn stored(&mut self, at: At<'_>, target: &Target) {
        match target {
            Target::Cell(cell, scalar) if !cell.local => {
                self.cell_is_stored(cell.offset as usize, scalar.bytes() as usize);
            }
            Target::Element(element, _) if at.current && !element.cell.local => {
                let Some((start, length)) = self.cell_of(at, element) else {
                    return self.element(at, element);
                };
                element.indices.iter().for_each(|(index, ..)| self.code(at, index));
                self.cell_is_stored(start, length);
            }
            target => self.target(at, target),
        }
    }

    /// The bytes of an element, where there is such a cell.
    fn cell_of(&self, at: At<'_>, element: &Element) -> Option<(usize, usize)> {
        let mut start = element.cell.offset as usize;
        for (index, bound, stride, _) in &element.indices {
            let index = u32::try_from(self.value(at, index)).ok().filter(|index| index < bound)?;
            start += (index * stride) as usize;
        }
        Some((start, width(element.cell.width)))
    }

    fn cell_is_stored(&mut self, start: usize, length: usize) {
        let owner = |at: usize| self.owners.bytes.get(at);
        let own = owner(start);
        let whole = (start..start + length).all(|at| owner(at) == own)
            && owner(start + length) != own
            && start.checked_sub(1).is_none_or(|before| owner(before) != own);
        match own.and_then(|&own| 1_u64.checked_shl(u32::from(own))) {
            Some(component) if whole => self.written |= component,
            _ => self.bytes(start, length),
        }
    }

    fn target(&mut self, at: At<'_>, target: &Target) {
        match target {
            Target::Cell(cell, scalar) if !cell.local => {
                self.bytes(cell.offset as usize, scalar.bytes() as usize);
            }
            Target::Cell(..) => self.process(at.pid),
            Target::Element(element, _) => self.element(at, element),
            Target::Nowhere => {}
        }
    }

    /// The contents of a channel.
    fn channel(&mut self, at: At<'_>, code: &Code) {
        self.code(at, code);
        if !at.current && !matches!(code, Code::Const(_)) {
            self.touched = EVERYTHING;
            return;
        }
        let number = self.value(at, code);
        let made_before = self.compiled.layout.global_channels.len();
        match usize::try_from(number).ok().and_then(|n| n.checked_sub(1)) {
            Some(index) if index < made_before => {
                let channel = at.frame.channels[index];
                let bytes = self.compiled.layout.channels[usize::from(channel.shape)].bytes;
                self.bytes(channel.offset as usize, bytes);
            }
            _ => self.touched = EVERYTHING,
        }
    }

    fn code(&mut self, at: At<'_>, code: &Code) {
        match code {
            Code::Const(_) | Code::Pid | Code::Timeout => {}
            Code::Global8(offset) => self.bytes(*offset as usize, 1),
            Code::Local8(_) => self.process(at.pid),
            Code::Load(cell) | Code::Compare(_, cell, _) => self.cell(at, *cell),
            Code::Element(element) => self.element(at, element),
            Code::Not(e) | Code::Neg(e) | Code::Complement(e) => self.code(at, e),
            Code::Binary(_, sides) | Code::Divide(_, sides, _) | Code::And(sides) | Code::Or(sides) => {
                self.code(at, &sides.0);
                self.code(at, &sides.1);
            }
            Code::Cond(parts) => {
                self.code(at, &parts.0);
                self.code(at, &parts.1);
                self.code(at, &parts.2);
            }
            Code::Channel(_, channel, _) => self.channel(at, channel),
            Code::Poll(poll) => {
                self.channel(at, &poll.channel);
                poll.fields.iter().flatten().for_each(|field| self.code(at, field));
            }
            Code::ProcessCount | Code::Last => self.header(),
            Code::NonProgress
            | Code::Enabled(..)
            | Code::PcValue(_)
            | Code::Priority(_)
            | Code::At { .. }
            | Code::Remote { .. } => self.touched = EVERYTHING,
        }
    }

    /// What the value of an expression depends on.
    pub fn looks_up(&mut self, frame: &Frame, pid: usize, code: &Code) {
        self.code(At { frame, pid, current: true }, code);
    }

    /// Where a process stands, and its own variables.
    pub fn stands(&mut self, pid: usize) {
        self.process(pid);
    }

    /// Which cell something is, whatever it holds.
    pub fn address(&mut self, frame: &Frame, pid: usize, target: &Target) {
        if let Target::Element(element, _) = target {
            let at = At { frame, pid, current: true };
            element.indices.iter().for_each(|(index, ..)| self.code(at, index));
        }
    }

    /// Which channel an expression gives, and what is in it.
    pub fn contents(&mut self, frame: &Frame, pid: usize, channel: &Code) {
        self.channel(At { frame, pid, current: true }, channel);
    }

    /// What decides whether a statement can be done.
    fn guard(&mut self, at: At<'_>, op: &Op) {
        match op {
            Op::Skip | Op::Else | Op::Assign(..) | Op::Assert(..) | Op::SetPriority(..) | Op::Run(..) => {}
            Op::Guard(code) => self.code(at, code),
            Op::Send(send) => self.channel(at, &send.channel),
            Op::Receive(receive) => {
                if !receive.rendezvous {
                    self.channel(at, &receive.channel);
                    self.patterns(at, receive);
                }
            }
            Op::End => self.header(),
            Op::DStep(entry, ..) => {
                let body = &self.compiled.bodies[at.frame.proctype(at.pid)];
                body.nodes[*entry as usize].iter().for_each(|m| self.guard(at, &m.op));
            }
            Op::Sequence(ops) => self.guard(at, &ops[0]),
        }
    }

    fn patterns(&mut self, at: At<'_>, receive: &Receive) {
        for field in &receive.fields {
            if let Field::Match(code) = field {
                self.code(at, code);
            }
        }
    }

    /// Where a message goes: after the first value is stored, the others may go elsewhere.
    fn bindings(&mut self, at: At<'_>, receive: &Receive) {
        let mut at = at;
        for field in &receive.fields {
            if let Field::Bind(target) = field {
                self.target(at, target);
                at.current = false;
            }
        }
    }

    fn message(&mut self, at: At<'_>, send: &Send) {
        send.values.iter().for_each(|value| self.code(at, value));
    }

    /// What a statement reads and writes when it is done.
    fn effect(&mut self, at: At<'_>, op: &Op) {
        match op {
            Op::Skip | Op::Else | Op::Guard(_) => {}
            Op::Assign(target, code) => {
                self.code(at, code);
                self.stored(at, target);
            }
            Op::Send(send) => {
                self.channel(at, &send.channel);
                self.message(at, send);
            }
            Op::Receive(receive) => {
                self.channel(at, &receive.channel);
                self.patterns(at, receive);
                self.bindings(at, receive);
            }
            Op::Assert(code, _) => self.code(at, code),
            Op::SetPriority(..) => self.touched = EVERYTHING,
            Op::Run(target, run) => {
                run.arguments.iter().for_each(|argument| self.code(at, argument));
                self.birth(at, usize::from(run.proctype));
                self.target(At { current: false, ..at }, target);
            }
            Op::End => {
                self.header();
                self.process(at.pid);
            }
            // These are walked statement by statement.
            Op::DStep(..) | Op::Sequence(_) => self.touched = EVERYTHING,
        }
    }

    /// A process is started.
    fn birth(&mut self, at: At<'_>, proctype: usize) {
        self.header();
        if !at.current || !self.compiled.layout.born_channels[proctype].is_empty() {
            self.touched = EVERYTHING;
            return;
        }
        let born = At { pid: at.frame.count(), current: false, ..at };
        self.process(born.pid);
        for (target, code) in &self.compiled.bodies[proctype].init {
            self.initial(born, code);
            match target {
                Target::Cell(cell, _) if cell.local => {}
                Target::Element(element, _) if element.cell.local => {}
                _ => self.touched = EVERYTHING,
            }
        }
    }

    /// The first value of a local variable; its process is not in the frame yet.
    fn initial(&mut self, born: At<'_>, code: &Code) {
        match code {
            Code::Const(_) | Code::Pid | Code::Global8(_) | Code::Local8(_) => self.code(born, code),
            _ => self.touched = EVERYTHING,
        }
    }

    /// Walks a statement in a frame where it is done, and does it there where another is walked after it.
    fn statement(&mut self, frame: &mut Frame, pid: usize, op: &Op, goes_on: bool) {
        match op {
            Op::Sequence(ops) => {
                for (at, op) in ops.iter().enumerate() {
                    self.statement(frame, pid, op, goes_on || at + 1 < ops.len());
                }
            }
            Op::DStep(entry, ..) => self.d_step(frame, pid, *entry, goes_on),
            op => {
                self.effect(At { frame, pid, current: true }, op);
                if goes_on {
                    self.executor(frame, pid, &mut Vec::new()).apply(op);
                }
            }
        }
    }

    fn executor<'e>(
        &'e mut self,
        frame: &'e mut Frame,
        pid: usize,
        message: &'e mut Vec<i32>,
    ) -> Executor<'e> {
        Executor {
            compiled: self.compiled,
            frame,
            pid,
            timeout: false,
            fault: None,
            blocked: None,
            message,
            reached: self.reached,
            passed: None,
            further: None,
        }
    }

    /// Walks an indivisible sequence: the first statement that can be done is done, until control leaves it.
    fn d_step(&mut self, frame: &mut Frame, pid: usize, entry: u32, goes_on: bool) {
        let compiled = self.compiled;
        let body = &compiled.bodies[frame.proctype(pid)];
        let mut node = entry;
        for _ in 0..LONGEST_WALK {
            let mut chosen = None;
            for m in &body.nodes[node as usize] {
                self.guard(At { frame, pid, current: true }, &m.op);
                let mut cx = Context::of(compiled, frame, pid, false);
                let answer = ready(&mut cx, &m.op, false);
                if answer != Ready::No || cx.fault.is_some() {
                    chosen = Some((m, answer, cx.fault));
                    break;
                }
            }
            let Some((m, Ready::Yes, None)) = chosen else { break };
            node = m.target;
            let is_last = !body.in_d_step[node as usize];
            self.statement(frame, pid, &m.op, goes_on || !is_last);
            if is_last {
                return;
            }
        }
        // It blocks, or something else is odd about it.
        self.touched = EVERYTHING;
    }

    /// What a process of a frame looks at to find out what it can do: these transitions, with this partner.
    pub fn looks(
        &mut self,
        frame: &Frame,
        pid: usize,
        moves: std::ops::Range<usize>,
        partner: Option<usize>,
    ) {
        self.process(pid);
        let at = At { frame, pid, current: true };
        let node = node_of(self.compiled, frame, pid);
        for m in &node[moves.start.min(node.len())..moves.end.min(node.len())] {
            self.guard(at, &m.op);
            if let Some(send) = crate::moves::sending(&m.op)
                && is_handed_over(self.compiled, frame, pid, send)
            {
                self.message(at, send);
                match partner {
                    Some(partner) => self.receiver(frame, pid, partner),
                    None => self.receivers(at, send),
                }
            }
        }
    }

    /// What decides who receives a message that is handed over to anybody: who is there of those that ever
    /// receive from this channel, where they stand, and what they look at. Which channel it is was found by
    /// what is already noted.
    fn receivers(&mut self, at: At<'_>, send: &Send) {
        let types = at.frame.types();
        let are_known = types.len() <= self.kinds.len()
            && types.iter().zip(self.kinds).all(|(proctype, kinds)| kinds.contains(proctype));
        if !are_known {
            self.touched = EVERYTHING;
            return;
        }
        let channel = self.value(at, &send.channel);
        receivers(self.receives, self.kinds, channel).for_each(|q| self.receiver(at.frame, at.pid, q));
    }

    fn receiver(&mut self, frame: &Frame, sender: usize, partner: usize) {
        self.process(partner);
        if partner >= frame.count() || partner == sender {
            return;
        }
        let at = At { frame, pid: partner, current: true };
        for m in node_of(self.compiled, frame, partner) {
            self.accepts(at, &m.op);
        }
    }

    fn accepts(&mut self, at: At<'_>, op: &Op) {
        match op {
            Op::Receive(receive) => {
                self.code(at, &receive.channel);
                self.patterns(at, receive);
            }
            Op::DStep(entry, ..) => {
                let body = &self.compiled.bodies[at.frame.proctype(at.pid)];
                body.nodes[*entry as usize].iter().for_each(|m| self.accepts(at, &m.op));
            }
            Op::Sequence(ops) => self.accepts(at, &ops[0]),
            _ => {}
        }
    }

    /// What a step depends on and changes, from its moves and where it leads. What its first level looks at
    /// is not part of it.
    pub fn step(&mut self, levels: &[Level], target: &Frame) {
        for (depth, level) in levels.iter().enumerate() {
            if depth > 0 {
                self.looks_alone(&level.frame, keeper(self.compiled, &levels[depth - 1].made));
            }
            self.made(&level.frame, &level.made);
        }
        // A sequence that cannot go on has looked whether it can.
        if let Some(last) = levels.last()
            && let Some(pid) = keeper(self.compiled, &last.made)
        {
            self.looks_alone(target, Some(pid));
        }
    }

    fn looks_alone(&mut self, frame: &Frame, pid: Option<usize>) {
        match pid.filter(|&pid| pid < frame.count()) {
            Some(pid) => self.looks(frame, pid, 0..usize::MAX, None),
            None => self.touched = EVERYTHING,
        }
    }

    fn made(&mut self, frame: &Frame, made: &TakenMove) {
        let layout = &self.compiled.layout;
        if layout.monitor_at > layout.last_at {
            self.header();
        }
        if self.compiled.monitor.is_some() {
            self.touched = EVERYTHING;
            return;
        }
        let pid = usize::from(made.pid);
        let m = move_of(self.compiled, made.transition);
        self.process(pid);
        match (made.partner, &m.op) {
            (None, Op::Sequence(_) | Op::DStep(..)) => {
                let mut after = std::mem::take(self.scratch);
                after.copy_from(frame);
                self.statement(&mut after, pid, &m.op, false);
                *self.scratch = after;
            }
            (None, op) => self.effect(At { frame, pid, current: true }, op),
            (Some((receiver, transition)), _) => {
                let other = move_of(self.compiled, transition);
                self.handed_over(frame, (pid, m), (usize::from(receiver), other));
            }
        }
    }

    fn handed_over(&mut self, frame: &Frame, (sender, m): (usize, &Move), (receiver, other): (usize, &Move)) {
        self.process(receiver);
        let Some(send) = crate::moves::sending(&m.op) else {
            self.touched = EVERYTHING;
            return;
        };
        self.message(At { frame, pid: sender, current: true }, send);
        // The rest of the sender's statement is not done; the receiver's is, in the state that the message
        // leaves.
        match &other.op {
            Op::Receive(receive) => self.bindings(At { frame, pid: receiver, current: true }, receive),
            Op::Sequence(ops) => {
                let at = At { frame, pid: receiver, current: false };
                let Op::Receive(receive) = &ops[0] else {
                    self.touched = EVERYTHING;
                    return;
                };
                self.bindings(At { current: true, ..at }, receive);
                for op in &ops[1..] {
                    match op {
                        Op::DStep(..) | Op::Sequence(_) => self.touched = EVERYTHING,
                        op => self.effect(at, op),
                    }
                }
            }
            _ => self.touched = EVERYTHING,
        }
    }
}

/// Who goes on alone after a move.
fn keeper(compiled: &Compiled, made: &TakenMove) -> Option<usize> {
    let (pid, transition) = made.partner.unwrap_or((made.pid, made.transition));
    move_of(compiled, transition).atomic.then_some(usize::from(pid))
}

fn move_of(compiled: &Compiled, transition: u32) -> &Move {
    let (proctype, node, index) = compiled.transitions[transition as usize];
    &compiled.bodies[usize::from(proctype)].nodes[node as usize][index as usize]
}

fn node_of<'c>(compiled: &'c Compiled, frame: &Frame, pid: usize) -> &'c [Move] {
    &compiled.bodies[frame.proctype(pid)].nodes[frame.control(&compiled.layout, pid)]
}

/// Whether a send would hand its message over to a receiver.
pub(crate) fn is_handed_over(compiled: &Compiled, frame: &Frame, pid: usize, send: &Send) -> bool {
    let number = Context::of(compiled, frame, pid, false).eval(&send.channel);
    let channel = frame.channel(number);
    channel.is_none_or(|c| compiled.layout.channels[usize::from(c.shape)].capacity == 0)
}

fn width(width: Width) -> usize {
    match width {
        Width::U8 => 1,
        Width::I16 | Width::U16 => 2,
        Width::I32 => 4,
    }
}
