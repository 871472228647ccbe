//! Programs and states in words: variables, actions, statements never reached.
//!
//! Nothing here is on a hot path.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use volee_system::{Action, Covered, Event, EventKind, Variable};

use crate::code::{Compiled, Op};
use crate::compile::{Compiler, passed_through};
use crate::eval::{Context, read_scalar};
use crate::exec::{Executor, prepare};
use crate::frame::{ChannelAt, Frame};
use crate::moves::TakenMove;
use crate::optimise::visit_action;
use crate::program::{self, ChannelType, Expr, Piece, Program, Statement, Transition};
use crate::types::Kind;

/// A value as a user writes it.
pub fn value_text(program: &Program, kind: Kind, value: i32) -> String {
    match kind {
        Kind::Mtype(set) => mtype_name(program, set, value).map_or_else(|| value.to_string(), str::to_owned),
        Kind::Bool => if value != 0 { "true" } else { "false" }.into(),
        Kind::Number | Kind::Channel | Kind::Pid => value.to_string(),
    }
}

fn mtype_name(program: &Program, set: u16, value: i32) -> Option<&str> {
    let names = program.mtypes.get(usize::from(set))?;
    names.iter().find(|(v, _)| *v == value).map(|(_, name)| name.as_str())
}

/// The names of all channels in a state: by number, from 1.
pub(crate) fn channel_names(program: &Program, compiled: &Compiled, frame: &Frame) -> Vec<String> {
    let mut names: Vec<String> = program.channels.iter().map(|c| c.name.clone()).collect();
    for pid in 0..frame.count() {
        let proctype = &program.proctypes[frame.proctype(pid)];
        names.extend(
            proctype.channels.iter().map(|c| format!("{}:{}", process_name(program, frame, pid), c.name)),
        );
    }
    debug_assert_eq!(names.len(), frame.channels.len());
    let _ = compiled;
    names
}

fn process_name(program: &Program, frame: &Frame, pid: usize) -> String {
    format!("{}[{pid}]", program.proctypes[frame.proctype(pid)].name)
}

/// The contents of a channel: `[put(3), ack]`.
fn contents(program: &Program, compiled: &Compiled, frame: &Frame, channel: ChannelAt) -> String {
    let cx = Context::outside(compiled, frame);
    let channel_type = &program.channel_types[channel.shape as usize];
    let messages: Vec<String> = (0..frame.length(&compiled.layout, channel))
        .map(|slot| {
            let values: Vec<i32> =
                (0..channel_type.fields.len()).map(|f| cx.message_field(channel, slot, f)).collect();
            message_text(program, channel_type, &values).join(",")
        })
        .collect();
    format!("[{}]", messages.join(" | "))
}

pub(crate) fn message_text(program: &Program, channel: &ChannelType, values: &[i32]) -> Vec<String> {
    channel.fields.iter().zip(values).map(|((_, kind), v)| value_text(program, *kind, *v)).collect()
}

/// All variables of a state: globals, channels, then each process with its locals.
pub(crate) fn variables(program: &Program, compiled: &Compiled, frame: &Frame) -> Vec<Variable> {
    Telling { program, compiled, frame, before: None }.variables()
}

/// What is told of the variables of a state.
struct Telling<'a> {
    program: &'a Program,
    compiled: &'a Compiled,
    frame: &'a Frame,
    /// Only what is not as in this state, which has the same processes; what a step forgets is told then.
    before: Option<&'a Frame>,
}

impl Telling<'_> {
    fn variables(&self) -> Vec<Variable> {
        let (program, compiled, frame) = (self.program, self.compiled, self.frame);
        let mut all = Vec::new();
        self.block(&program.globals, &[], compiled.layout.globals_at, String::new, &mut all);
        let names = channel_names(program, compiled, frame);
        for (name, &channel) in names.into_iter().zip(&frame.channels) {
            if program.channel_types[channel.shape as usize].capacity > 0 {
                self.add(&mut all, || name, |frame| contents(program, compiled, frame, channel));
            }
        }
        for pid in 0..frame.count() {
            let proctype = &program.proctypes[frame.proctype(pid)];
            let name = || process_name(program, frame, pid);
            let line = |frame: &Frame| {
                let node = &proctype.nodes[frame.control(&compiled.layout, pid)];
                let at = node.transitions.iter().find_map(|t| t.statement.place.as_ref());
                at.map_or_else(|| "end".to_owned(), |p| format!("line {}", p.line))
            };
            self.add(&mut all, || format!("{}@", name()), line);
            let start = frame.base(pid) + compiled.layout.process_header;
            let dead = &proctype.nodes[frame.control(&compiled.layout, pid)].dead;
            let hidden = if self.before.is_some() { &[][..] } else { dead };
            self.block(&proctype.locals, hidden, start, || format!("{}:", name()), &mut all);
        }
        all
    }

    /// Adds a variable, if it is to be told.
    fn add(&self, all: &mut Vec<Variable>, name: impl FnOnce() -> String, value: impl Fn(&Frame) -> String) {
        let now = value(self.frame);
        if self.before.is_none_or(|before| value(before) != now) {
            all.push(Variable { name: name(), value: now });
        }
    }

    /// Tells variables, except those whose value was forgotten: a zero there would be taken for their value.
    fn block(
        &self,
        variables: &[program::Variable],
        dead: &[(u32, u32)],
        start: usize,
        prefix: impl Fn() -> String,
        all: &mut Vec<Variable>,
    ) {
        for variable in variables.iter().filter(|v| v.shown) {
            each_element(variable, |at, offset| {
                let value =
                    |frame: &Frame| read_scalar(&frame.bytes, start + offset as usize, variable.scalar);
                let now = value(self.frame);
                let is_dead = dead.iter().any(|(first, length)| (*first..first + length).contains(&offset));
                if is_dead || self.before.is_some_and(|before| value(before) == now) {
                    return;
                }
                let name = || format!("{}{}", prefix(), element_name(variable, at));
                self.add(all, name, |frame| value_text(self.program, variable.kind, value(frame)));
            });
        }
    }
}

/// The name of an element of a variable.
fn element_name(variable: &program::Variable, at: &[u32]) -> String {
    let mut parts = variable.name.split("[]");
    let mut name = parts.next().unwrap_or_default().to_owned();
    for (index, part) in at.iter().zip(parts) {
        name.push_str(&format!("[{index}]{part}"));
    }
    name
}

/// Calls `f` with the indices and the offset of each element of a variable.
fn each_element(variable: &program::Variable, mut f: impl FnMut(&[u32], u32)) {
    let mut counters = vec![0u32; variable.dimensions.len()];
    loop {
        let strides = variable.dimensions.iter().map(|(_, stride)| stride);
        let offset = counters.iter().zip(strides).fold(variable.offset, |sum, (at, by)| sum + at * by);
        f(&counters, offset);
        let Some(k) = (0..counters.len()).rev().find(|&k| counters[k] + 1 < variable.dimensions[k].0) else {
            return;
        };
        counters[k] += 1;
        counters[k + 1..].fill(0);
    }
}

fn transition<'p>(program: &'p Program, compiled: &Compiled, id: u32) -> &'p Transition {
    let (proctype, node, index) = compiled.transitions[id as usize];
    &program.proctypes[usize::from(proctype)].nodes[node as usize].transitions[index as usize]
}

/// What one move did, in words: one action per statement, and the receiver's as well for a rendezvous.
pub(crate) fn actions(
    program: &Program,
    compiled: &Compiled,
    frame: &Frame,
    made: &TakenMove,
    all: &mut Vec<Action>,
) {
    let first = all.len();
    let reached = vec![0; compiled.transitions.len()];
    let mut teller = Teller { program, compiled, frame: frame.clone(), message: Vec::new(), reached, all };
    let Some((partner, received)) = made.partner else {
        teller.side(usize::from(made.pid), made.transition, Side::Alone);
        return;
    };
    teller.side(usize::from(made.pid), made.transition, Side::Sender);
    let name = program.proctypes[frame.proctype(usize::from(partner))].name.clone();
    let channel = teller.all[first].event.as_mut().map(|event| {
        event.kind = EventKind::Rendezvous;
        event.partner = Some((name, u32::from(partner)));
        event.channel_id
    });
    teller.side(usize::from(partner), received, Side::Receiver(channel.unwrap_or(0) as i32));
}

/// The part of a process in a move.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Alone,
    /// Hands a message over; it never enters a buffer.
    Sender,
    /// Takes a message over from this channel, and has no event of its own.
    Receiver(i32),
}

/// Re-executes a move statement by statement, to tell what each did.
struct Teller<'a> {
    program: &'a Program,
    compiled: &'a Compiled,
    /// The state between two statements.
    frame: Frame,
    /// The message that is handed over by rendezvous.
    message: Vec<i32>,
    /// Coverage, which telling a story does not count.
    reached: Vec<u64>,
    all: &'a mut Vec<Action>,
}

impl Teller<'_> {
    fn side(&mut self, pid: usize, id: u32, side: Side) {
        let (program, compiled) = (self.program, self.compiled);
        let transition = transition(program, compiled, id);
        let (proctype, node, index) = compiled.transitions[id as usize];
        let op = &compiled.bodies[usize::from(proctype)].nodes[node as usize][index as usize].op;
        let alone = (std::slice::from_ref(op), std::slice::from_ref(&transition.action));
        let (ops, parts): (&[Op], &[program::Action]) = match (op, &transition.action) {
            (Op::Sequence(ops), program::Action::Sequence(parts)) if !transition.merged.is_empty() => {
                (ops, parts)
            }
            _ => alone,
        };
        let statements = std::iter::once(&transition.statement).chain(&transition.merged);
        for (i, ((op, part), statement)) in ops.iter().zip(parts).zip(statements).enumerate() {
            let side = if i == 0 { side } else { Side::Alone };
            let taken_over = matches!(side, Side::Receiver(_));
            let mut action = Action::plain(statement.text.to_string());
            action.process.clone_from(&program.proctypes[usize::from(proctype)].name);
            action.pid = pid as u32;
            action.place.clone_from(&statement.place);
            action.event = if taken_over { None } else { event(program, compiled, &self.frame, pid, op) };
            action.output = output(program, compiled, &self.frame, pid, part);
            action.changed = self.execute(pid, op, side);
            self.all.push(action);
        }
    }

    /// Executes a statement and gives the variables it changed, also those that the end of the step forgets.
    fn execute(&mut self, pid: usize, op: &Op, side: Side) -> Vec<Variable> {
        let before = self.frame.clone();
        match (side, op) {
            (Side::Sender, Op::Send(send)) => {
                let mut cx = Context::of(self.compiled, &self.frame, pid, false);
                let number = cx.eval(&send.channel);
                if let Some(channel) = self.frame.channel(number) {
                    prepare(&mut cx, send, channel, &mut self.message);
                }
            }
            (Side::Sender, _) => {}
            (Side::Receiver(channel), _) => self.executor(pid).take(op, channel),
            (Side::Alone, _) => self.executor(pid).apply(op),
        }
        // A process that comes or goes takes its variables along; the step as a whole tells those.
        if matches!(op, Op::Run(..) | Op::End) {
            return Vec::new();
        }
        let (program, compiled, frame) = (self.program, self.compiled, &self.frame);
        let kinds = |frame: &Frame| (0..frame.count()).map(|pid| frame.proctype(pid)).collect::<Vec<_>>();
        if kinds(&before) == kinds(frame) {
            return Telling { program, compiled, frame, before: Some(&before) }.variables();
        }
        let all = |frame| Telling { program, compiled, frame, before: None }.variables();
        let old: HashMap<String, String> = all(&before).into_iter().map(|v| (v.name, v.value)).collect();
        let is_other = |new: &Variable| old.get(&new.name).is_some_and(|old| *old != new.value);
        all(frame).into_iter().filter(is_other).collect()
    }

    fn executor(&mut self, pid: usize) -> Executor<'_> {
        Executor {
            compiled: self.compiled,
            frame: &mut self.frame,
            pid,
            timeout: false,
            fault: None,
            blocked: None,
            message: &mut self.message,
            reached: &mut self.reached,
            passed: None,
            further: None,
        }
    }
}

/// The channel operation of a transition, with the values it has in this state.
fn event(program: &Program, compiled: &Compiled, frame: &Frame, pid: usize, op: &Op) -> Option<Event> {
    let mut cx = Context::of(compiled, frame, pid, false);
    let (kind, number, values) = match op {
        Op::Send(send) => {
            let number = cx.eval(&send.channel);
            let mut message = Vec::new();
            prepare(&mut cx, send, frame.channel(number)?, &mut message);
            (EventKind::Send, number, message)
        }
        Op::Receive(receive) => {
            let number = cx.eval(&receive.channel);
            let channel = frame.channel(number)?;
            let fields = compiled.layout.channels[channel.shape as usize].fields.len();
            let length = frame.length(&compiled.layout, channel);
            let slot = (0..length).find(|&slot| {
                receive.fields.iter().enumerate().all(|(f, field)| match field {
                    crate::code::Field::Match(code) => cx.eval(code) == cx.message_field(channel, slot, f),
                    _ => true,
                })
            });
            let values = slot.map(|s| (0..fields).map(|f| cx.message_field(channel, s, f)).collect());
            (EventKind::Receive, number, values.unwrap_or_default())
        }
        _ => return None,
    };
    let channel = frame.channel(number)?;
    let name = channel_names(program, compiled, frame).swap_remove(number as usize - 1);
    let values = message_text(program, &program.channel_types[channel.shape as usize], &values);
    Some(Event { kind, channel: name, channel_id: number as u32, values, partner: None })
}

/// What a transition prints.
fn output(
    program: &Program,
    compiled: &Compiled,
    frame: &Frame,
    pid: usize,
    action: &program::Action,
) -> Option<String> {
    match action {
        program::Action::Print(pieces) => {
            let mut text = String::new();
            for piece in pieces {
                match piece {
                    Piece::Text(t) => text.push_str(t),
                    Piece::Value(how, e) => text.push_str(&printed(*how, value_of(compiled, frame, pid, e))),
                    Piece::Name(e, set) => {
                        let value = value_of(compiled, frame, pid, e);
                        text.push_str(&value_text(program, Kind::Mtype(*set), value));
                    }
                }
            }
            Some(text)
        }
        program::Action::Sequence(actions) => {
            let parts: Vec<String> =
                actions.iter().filter_map(|a| output(program, compiled, frame, pid, a)).collect();
            (!parts.is_empty()).then(|| parts.concat())
        }
        _ => None,
    }
}

fn value_of(compiled: &Compiled, frame: &Frame, pid: usize, expr: &Expr) -> i32 {
    let mut compiler = Compiler::new(&compiled.layout);
    let code = compiler.code(expr);
    Context::of(compiled, frame, pid, false).eval(&code)
}

fn printed(how: char, value: i32) -> String {
    match how {
        'x' => format!("{value:x}"),
        'o' => format!("{value:o}"),
        'u' => (value as u32).to_string(),
        'c' => char::from(value as u8).to_string(),
        _ => value.to_string(),
    }
}

/// How often each statement was executed, in order of their places. A process that has come to its end and
/// waits there for younger ones to die has reached it.
pub(crate) fn coverage(program: &Program, compiled: &Compiled, reached: &[u64]) -> Vec<Covered> {
    let arrived = arrived(program, compiled, reached);
    let mut statements: BTreeMap<(u8, u32), (u64, &Statement)> = BTreeMap::new();
    for (id, &(proctype, node, index)) in compiled.transitions.iter().enumerate() {
        let nodes = &program.proctypes[usize::from(proctype)].nodes;
        let transition = &nodes[node as usize].transitions[index as usize];
        let ends = matches!(transition.action, program::Action::End);
        let times = reached[id].max(u64::from(ends && arrived.contains(&(proctype, node))));
        let passed = passed_through(program, proctype, &transition.action);
        let through = passed.into_iter().map(|(n, i)| &nodes[n as usize].transitions[i as usize].statement);
        for statement in through.chain(std::iter::once(&transition.statement)).chain(&transition.merged) {
            statements.entry((proctype, statement.number)).or_insert((0, statement)).0 += times;
        }
    }
    let told = statements.into_iter().filter(|(_, (_, statement))| statement.place.is_some());
    let covered = |((proctype, _), (times, statement)): ((u8, u32), (u64, &Statement))| Covered {
        process: program.proctypes[usize::from(proctype)].name.clone(),
        text: statement.text.to_string(),
        place: statement.place.clone(),
        times,
    };
    told.map(covered).collect()
}

/// The points of control that processes have come to.
fn arrived(program: &Program, compiled: &Compiled, reached: &[u64]) -> BTreeSet<(u8, u32)> {
    let entry = |proctype: u8| (proctype, program.proctypes[usize::from(proctype)].entry.0);
    let mut arrived: BTreeSet<(u8, u32)> = program.active.iter().map(|p| entry(p.0)).collect();
    let executed = compiled.transitions.iter().zip(reached).filter(|(_, reached)| **reached != 0);
    for (&(proctype, node, index), _) in executed {
        let node = &program.proctypes[usize::from(proctype)].nodes[node as usize];
        let transition = &node.transitions[index as usize];
        arrived.insert((proctype, transition.target.0));
        visit_action(&transition.action, &mut |e| {
            if let Expr::Run { proctype, .. } = e {
                arrived.insert(entry(proctype.0));
            }
        });
    }
    arrived
}
