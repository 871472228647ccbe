//! From a [`Program`], which is made for reading, to [`Compiled`], which is made for running.
//!
//! Offsets become absolute (globals) or relative to the process record (locals), constants are folded, the
//! commonest shapes of guards get a node of their own, channels that nobody reassigns are known by number,
//! `d_step`s without branches become plain sequences, and every run-time error has its text prepared, so that
//! raising one is storing a number.

use std::collections::BTreeMap;

use volee_system::{Fault, FaultId, FaultKind, Place};

use crate::code::{
    Body, Cell, Code, Compiled, Element, Field, Monitor, Move, Observation, Op, Poll, Receive, Run, Send,
    Target, Width,
};
use crate::frame::Layout;
use crate::optimise::{extent, visit_stores};
use crate::program::{Action, BinaryOp, Expr, Location, Pattern, Proctype, Program, Scope, Transition};
use crate::types::{Kind, Scalar};

pub(crate) struct Compiler<'a> {
    pub layout: &'a Layout,
    pub faults: Vec<Fault>,
    /// The number of the first of them.
    pub first_fault: u32,
    /// Channel variables that nobody ever assigns: the offset among the globals, and the channel's number.
    pub fixed_channels: BTreeMap<u32, i32>,
    /// Some expression was a `timeout`.
    pub asks_for_timeout: bool,
}

impl<'a> Compiler<'a> {
    pub fn new(layout: &'a Layout) -> Self {
        Compiler {
            layout,
            faults: Vec::new(),
            first_fault: 0,
            fixed_channels: BTreeMap::new(),
            asks_for_timeout: false,
        }
    }

    /// Whether a channel expression always means a rendezvous channel.
    fn is_rendezvous(&self, channel: &Code) -> bool {
        let Code::Const(number) = channel else { return false };
        let shape = usize::try_from(number - 1).ok().and_then(|i| self.layout.global_channels.get(i));
        shape.is_some_and(|&s| self.layout.channels[s as usize].capacity == 0)
    }

    fn fault(&mut self, kind: FaultKind, message: impl Into<String>, place: &Option<Place>) -> FaultId {
        self.faults.push(Fault { kind, message: message.into(), place: place.clone() });
        FaultId(self.first_fault + self.faults.len() as u32 - 1)
    }

    fn runtime(&mut self, message: &str, place: &Option<Place>) -> FaultId {
        self.fault(FaultKind::Runtime, message, place)
    }

    fn cell(&self, location: &Location) -> Cell {
        let (local, start) = match location.scope {
            Scope::Local => (true, self.layout.process_header),
            Scope::Global | Scope::Nowhere => (false, self.layout.globals_at),
        };
        Cell { local, width: width(location.scalar), offset: start as u32 + location.offset }
    }

    fn element(&mut self, location: &Location) -> Element {
        let mut cell = self.cell(location);
        let mut indices = Vec::new();
        for index in &location.indices {
            match self.code(&index.value) {
                Code::Const(k) if (0..i64::from(index.count)).contains(&i64::from(k)) => {
                    cell.offset += k as u32 * index.stride;
                }
                code => {
                    let message = format!("array index out of range (there are {} elements)", index.count);
                    let fault = self.fault(FaultKind::Assertion, message, &location.place);
                    indices.push((code, index.count, index.stride, fault));
                }
            }
        }
        Element { cell, indices }
    }

    pub fn target(&mut self, location: &Location) -> Target {
        if location.scope == Scope::Nowhere {
            return Target::Nowhere;
        }
        let element = self.element(location);
        if element.indices.is_empty() {
            Target::Cell(element.cell, location.scalar)
        } else {
            Target::Element(Box::new(element), location.scalar)
        }
    }

    fn load(&mut self, location: &Location) -> Code {
        if location.scope == Scope::Nowhere {
            return Code::Const(0);
        }
        let element = self.element(location);
        if !element.indices.is_empty() {
            return Code::Element(Box::new(element));
        }
        if location.scope == Scope::Global && location.kind == Kind::Channel {
            let offset = element.cell.offset - self.layout.globals_at as u32;
            if let Some(&number) = self.fixed_channels.get(&offset) {
                return Code::Const(number);
            }
        }
        match element.cell {
            Cell { local: false, width: Width::U8, offset } => Code::Global8(offset),
            Cell { local: true, width: Width::U8, offset } => Code::Local8(offset),
            cell => Code::Load(cell),
        }
    }

    pub fn code(&mut self, expr: &Expr) -> Code {
        match expr {
            Expr::Const(k) => Code::Const(*k),
            Expr::Load(location) => self.load(location),
            Expr::Not(e) => match self.code(e) {
                Code::Const(k) => Code::Const(i32::from(k == 0)),
                code => Code::Not(Box::new(code)),
            },
            Expr::Neg(e) => match self.code(e) {
                Code::Const(k) => Code::Const(k.wrapping_neg()),
                code => Code::Neg(Box::new(code)),
            },
            Expr::Complement(e) => Code::Complement(Box::new(self.code(e))),
            Expr::Binary(op, a, b, place) => self.binary(*op, a, b, place),
            Expr::Cond(c, a, b) => Code::Cond(Box::new((self.code(c), self.code(a), self.code(b)))),
            Expr::Channel(test, channel, place) => {
                let fault = self.runtime(NO_CHANNEL, place);
                Code::Channel(*test, Box::new(self.code(channel)), fault)
            }
            Expr::Poll { channel, patterns, anywhere, place } => {
                let fields = patterns
                    .iter()
                    .map(|p| match p {
                        Pattern::Match(e) => Some(self.code(e)),
                        Pattern::Bind(_) | Pattern::Any => None,
                    })
                    .collect();
                let channel = self.code(channel);
                let no_channel = self.runtime(NO_CHANNEL, place);
                let rendezvous =
                    self.runtime("a rendezvous channel cannot be polled: it is always empty", place);
                Code::Poll(Box::new(Poll { channel, fields, anywhere: *anywhere, no_channel, rendezvous }))
            }
            Expr::Pid => Code::Pid,
            Expr::ProcessCount => Code::ProcessCount,
            Expr::Last => Code::Last,
            Expr::Timeout => {
                self.asks_for_timeout = true;
                Code::Timeout
            }
            Expr::NonProgress => Code::NonProgress,
            Expr::Enabled(e, place) => {
                let circular = self.runtime(CIRCULAR, place);
                Code::Enabled(Box::new(self.code(e)), circular)
            }
            Expr::PcValue(e) => Code::PcValue(Box::new(self.code(e))),
            Expr::Priority(e) => Code::Priority(Box::new(self.code(e))),
            Expr::At { proctype, pid, node, place } => {
                let pid = pid.as_ref().map(|p| Box::new(self.code(p)));
                let fault = self.runtime(NO_PROCESS, place);
                Code::At { proctype: proctype.0, pid, node: node.0, fault }
            }
            Expr::Remote { proctype, pid, location, place } => {
                let pid = pid.as_ref().map(|p| Box::new(self.code(p)));
                let element = Box::new(self.element(location));
                let fault = self.runtime(NO_PROCESS, place);
                Code::Remote { proctype: proctype.0, pid, element, fault }
            }
            // Lowering gives `run` a statement of its own; inside a larger expression it is refused there.
            Expr::Run { .. } => Code::Const(0),
        }
    }

    fn binary(&mut self, op: BinaryOp, a: &Expr, b: &Expr, place: &Option<Place>) -> Code {
        let (a, b) = (self.code(a), self.code(b));
        if let (Code::Const(x), Code::Const(y)) = (&a, &b)
            && let Some(value) = fold(op, *x, *y)
        {
            return Code::Const(value);
        }
        match op {
            BinaryOp::And => Code::And(Box::new((a, b))),
            BinaryOp::Or => Code::Or(Box::new((a, b))),
            BinaryOp::Div | BinaryOp::Rem => {
                let fault = self.runtime("division by zero", place);
                Code::Divide(op, Box::new((a, b)), fault)
            }
            _ => match (cell_of(&a), &b) {
                (Some(cell), Code::Const(k)) => Code::Compare(op, cell, *k),
                _ => Code::Binary(op, Box::new((a, b))),
            },
        }
    }

    /// The statements of a merged sequence keep their own texts and places, so that a fault names the right
    /// one.
    fn transition(&mut self, t: &Transition) -> Op {
        match &t.action {
            Action::Sequence(actions) if actions.len() == t.merged.len() + 1 => {
                let statements = std::iter::once(&t.statement).chain(&t.merged);
                Op::Sequence(
                    actions.iter().zip(statements).map(|(a, s)| self.op(a, &s.text, &s.place)).collect(),
                )
            }
            action => self.op(action, &t.statement.text, &t.statement.place),
        }
    }

    fn op(&mut self, action: &Action, text: &str, place: &Option<Place>) -> Op {
        match action {
            Action::Skip | Action::Print(_) => Op::Skip,
            Action::Else => Op::Else,
            Action::Guard(Expr::Run { proctype, arguments, priority, place }) => {
                Op::Run(Target::Nowhere, self.run(proctype.0, arguments, *priority, place))
            }
            Action::Guard(e) => match self.code(e) {
                Code::Const(k) if k != 0 => Op::Skip,
                code => Op::Guard(code),
            },
            Action::Assign(target, Expr::Run { proctype, arguments, priority, place }) => {
                Op::Run(self.target(target), self.run(proctype.0, arguments, *priority, place))
            }
            Action::Assign(target, e) => Op::Assign(self.target(target), self.code(e)),
            Action::Send { channel, values, sorted } => {
                let values = values.iter().map(|v| self.code(v)).collect();
                let channel = self.code(channel);
                Op::Send(Box::new(Send {
                    channel,
                    values,
                    sorted: *sorted,
                    no_channel: self.runtime(NO_CHANNEL, place),
                    wrong_fields: self.runtime("this message has not as many fields as the channel", place),
                    no_event: self.runtime("this operation does not match the trace declaration", place),
                }))
            }
            Action::Receive { channel, patterns, anywhere, keep } => {
                let fields = patterns.iter().map(|p| self.field(p)).collect();
                let channel = self.code(channel);
                Op::Receive(Box::new(Receive {
                    rendezvous: self.is_rendezvous(&channel),
                    channel,
                    fields,
                    anywhere: *anywhere,
                    keep: *keep,
                    no_channel: self.runtime(NO_CHANNEL, place),
                    wrong_fields: self.runtime("this receive has not as many fields as the channel", place),
                    no_event: self.runtime("this operation does not match the trace declaration", place),
                }))
            }
            Action::Assert(e) => {
                let code = self.code(e);
                let fault = self.fault(FaultKind::Assertion, format!("assertion violated: {text}"), place);
                Op::Assert(code, fault)
            }
            Action::SetPriority(pid, priority) => {
                let no_priority = self.runtime("this is not a priority: use 1 to 255", place);
                Op::SetPriority(Box::new((self.code(pid), self.code(priority))), no_priority)
            }
            Action::End => Op::End,
            Action::DStep(entry) => {
                let blocked =
                    self.runtime("a d_step sequence blocks, or never ends, after its first statement", place);
                let rendezvous = self.runtime("a d_step sequence attempts a rendezvous", place);
                Op::DStep(entry.0, blocked, rendezvous)
            }
            Action::Sequence(actions) => {
                Op::Sequence(actions.iter().map(|a| self.op(a, text, place)).collect())
            }
        }
    }

    fn run(
        &mut self,
        proctype: u8,
        arguments: &[Expr],
        priority: Option<u8>,
        place: &Option<Place>,
    ) -> Box<Run> {
        let arguments = arguments.iter().map(|a| self.code(a)).collect();
        let too_many =
            self.runtime("too many processes or channels: at most 255 of each can exist at once", place);
        Box::new(Run { proctype, arguments, priority, too_many })
    }

    fn field(&mut self, pattern: &Pattern) -> Field {
        match pattern {
            Pattern::Match(e) => Field::Match(self.code(e)),
            Pattern::Bind(location) => Field::Bind(self.target(location)),
            Pattern::Any => Field::Any,
        }
    }
}

const NO_CHANNEL: &str = "this channel variable does not hold a channel (it is uninitialised)";
const CIRCULAR: &str =
    "`enabled` is asked of the process itself, or goes round or far through others that ask it too";
const NO_PROCESS: &str = "there is no such process (remote reference)";

fn width(scalar: Scalar) -> Width {
    match (scalar, scalar.bytes()) {
        (Scalar::Short, _) => Width::I16,
        (_, 1) => Width::U8,
        (_, 2) => Width::U16,
        _ => Width::I32,
    }
}

fn cell_of(code: &Code) -> Option<Cell> {
    match *code {
        Code::Global8(offset) => Some(Cell { local: false, width: Width::U8, offset }),
        Code::Local8(offset) => Some(Cell { local: true, width: Width::U8, offset }),
        Code::Load(cell) => Some(cell),
        _ => None,
    }
}

fn fold(op: BinaryOp, a: i32, b: i32) -> Option<i32> {
    match op {
        // What a division by zero means is told where it is done.
        BinaryOp::Div | BinaryOp::Rem => None,
        _ => op.apply(a, b),
    }
}

/// The global channel variables that no statement assigns or receives into.
pub(crate) fn fixed_channels(program: &Program) -> BTreeMap<u32, i32> {
    let holders = program.channels.iter().enumerate();
    let mut fixed: BTreeMap<u32, i32> = holders.map(|(i, c)| (c.holder.offset, i as i32 + 1)).collect();
    for transition in program.proctypes.iter().flat_map(|p| &p.nodes).flat_map(|n| &n.transitions) {
        visit_stores(&transition.action, &mut |location| {
            if location.scope == Scope::Global {
                let (start, length) = extent(location);
                fixed.retain(|offset, _| !(start..start + length).contains(offset));
            }
        });
    }
    for (location, _) in &program.globals_init {
        fixed.remove(&location.offset);
    }
    fixed
}

/// The transitions of a `d_step` that has no branches and can only wait at its start: it needs no control of
/// its own.
fn straight<'p>(proctype: &'p Proctype, action: &Action) -> Option<Vec<&'p Transition>> {
    let Action::DStep(entry) = action else { return None };
    let mut node = *entry;
    let mut inner = Vec::new();
    while proctype.nodes[node.0 as usize].in_d_step {
        let [only] = &proctype.nodes[node.0 as usize].transitions[..] else { return None };
        let ok = match &only.action {
            Action::Else | Action::Send { .. } => false,
            first if inner.is_empty() => !matches!(first, Action::DStep(_) | Action::End),
            Action::Skip | Action::Print(_) => true,
            Action::Assign(_, value) => !matches!(value, Expr::Run { .. }),
            _ => false,
        };
        if !ok || only.escape != 0 || inner.len() > proctype.nodes.len() {
            return None;
        }
        inner.push(only);
        node = only.target;
    }
    Some(inner)
}

/// The transitions inside the `d_step`s that an action runs straight through: executed whenever it is.
pub(crate) fn passed_through(program: &Program, proctype: u8, action: &Action) -> Vec<(u32, u32)> {
    let proctype = &program.proctypes[usize::from(proctype)];
    let mut passed = Vec::new();
    if straight(proctype, action).is_some()
        && let Action::DStep(entry) = action
    {
        let mut node = *entry;
        while proctype.nodes[node.0 as usize].in_d_step {
            passed.push((node.0, 0));
            node = proctype.nodes[node.0 as usize].transitions[0].target;
        }
    }
    passed
}

/// Runs of bytes counted from the process record instead of from its locals.
fn from_record(layout: &Layout, runs: &[(u32, u32)]) -> Vec<(u32, u32)> {
    runs.iter().map(|(start, length)| (layout.process_header as u32 + start, *length)).collect()
}

/// Compiles a whole program.
pub(crate) fn compile(program: &Program) -> Compiled {
    let layout = Layout::of(program);
    let mut compiler = Compiler { fixed_channels: fixed_channels(program), ..Compiler::new(&layout) };
    let mut transitions = Vec::new();
    let mut bodies = Vec::new();
    for (p, proctype) in program.proctypes.iter().enumerate() {
        let mut nodes = Vec::with_capacity(proctype.nodes.len());
        for (n, node) in proctype.nodes.iter().enumerate() {
            let mut moves = Vec::with_capacity(node.transitions.len());
            for (i, t) in node.transitions.iter().enumerate() {
                let op = match straight(proctype, &t.action) {
                    // Each with its own text and place, so that an error names the right one.
                    Some(inner) => Op::Sequence(inner.into_iter().map(|t| compiler.transition(t)).collect()),
                    None => compiler.transition(t),
                };
                let resets = from_record(&layout, &t.resets);
                let id = transitions.len() as u32;
                transitions.push((p as u8, n as u32, i as u32));
                let second = proctype.deterministic.then(|| {
                    let message =
                        "a `D_proctype` has a choice here: an earlier statement can be done as well";
                    compiler.runtime(message, &t.statement.place)
                });
                let (target, atomic, escape) = (t.target.0, t.atomic, t.escape);
                moves.push(Move { op, target, atomic, escape, id, resets, second });
            }
            nodes.push(moves);
        }
        bodies.push(Body {
            nodes,
            valid_end: proctype.nodes.iter().map(|n| n.valid_end).collect(),
            progress: proctype.nodes.iter().map(|n| n.progress).collect(),
            accepting: proctype.nodes.iter().map(|n| n.accepting).collect(),
            in_d_step: proctype.nodes.iter().map(|n| n.in_d_step).collect(),
            provided: proctype.provided.as_ref().map(|e| compiler.code(e)),
            entry: proctype.entry.0,
            entry_resets: from_record(&layout, &proctype.entry_resets),
            priority: proctype.priority,
            parameters: proctype.parameters.iter().map(|l| compiler.target(l)).collect(),
            init: proctype.locals_init.iter().map(|(l, e)| (compiler.target(l), compiler.code(e))).collect(),
            holders: proctype.channels.iter().map(|c| compiler.target(&c.holder)).collect(),
        });
    }
    let monitor = program.monitor.as_ref().map(|m| Monitor {
        trace: m.kind == crate::program::MonitorKind::Trace,
        nodes: m
            .nodes
            .iter()
            .map(|steps| {
                steps
                    .iter()
                    .map(|s| {
                        let fields = s.fields.iter().map(|f| f.as_ref().map(|e| compiler.code(e))).collect();
                        Observation { send: s.send, channel: s.channel, fields, target: s.target.0 }
                    })
                    .collect()
            })
            .collect(),
        complete: m.complete.clone(),
        sends: m.sends.clone(),
        receives: m.receives.clone(),
        entry: m.entry.0,
        matched: compiler.runtime("the forbidden trace (notrace) was matched to its end", &m.place),
    });
    let faults = std::mem::take(&mut compiler.faults);
    let asks_for_timeout = compiler.asks_for_timeout;
    let restricted = layout.has_priority || program.proctypes.iter().any(|p| p.provided.is_some());
    Compiled {
        layout,
        bodies,
        monitor,
        faults,
        too_long: FaultId(u32::MAX),
        restricted,
        asks_for_timeout,
        transitions,
    }
}
