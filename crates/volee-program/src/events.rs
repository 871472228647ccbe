//! Events: what happened in a step, as a label.
//!
//! An event is a message with its values (`q[1]!REQ,3`, `q[1]?REQ,3`, and `q[1]?<REQ,3>` where it stays
//! there), by the name of the declaration that made the channel, however the process came to know it. A
//! rendezvous is one event, the sender's. Any other statement is its label, where its author gave it one, or
//! its text. In front stands who did it: `Client[1]:`.
//!
//! A step that is several moves (`atomic`, `d_step`) is told by the messages that pass in it, or, where there
//! are none, by its statements. Labels are interned per (transitions, processes, values), so that a label
//! determines its text; the texts are made once. None of this costs anything where labels are statements, as
//! in searches that ask for no events.

use std::collections::HashMap;

use volee_system::Label;

use crate::code::{Compiled, Op};
use crate::compile::passed_through;
use crate::display::value_text;
use crate::eval::Context;
use crate::exec::{Executor, PASSED_HEADER, Way, prepare};
use crate::frame::Frame;
use crate::moves::{Level, TakenMove, sending};
use crate::program::{Program, Statement};
use crate::types::Kind;

/// A step that is more statements than this is told by its first ones.
const MOST_PARTS: usize = 32;

/// Numbers before the messages of a move: the transition, who does it, with whom and how, and how long the
/// messages are.
const LEVEL_HEADER: usize = 5;

/// The labels of steps by what happens in them.
#[derive(Debug, Clone, Default)]
pub(crate) struct EventLabels {
    numbers: HashMap<Box<[i32]>, u32>,
    /// For each label, its text and the other names of the step.
    names: Vec<Vec<String>>,
    /// What is looked up.
    key: Vec<i32>,
    /// Where each level begins in it.
    starts: Vec<usize>,
    frame: Frame,
    message: Vec<i32>,
    reached: Vec<u64>,
}

impl EventLabels {
    /// The text of a label, and the other names of its step.
    pub fn names(&self, label: Label) -> &[String] {
        self.names.get(label.0 as usize).map_or(&[], Vec::as_slice)
    }

    /// The label of a step.
    pub fn label(&mut self, program: &Program, compiled: &Compiled, levels: &[Level]) -> Label {
        self.key.clear();
        self.starts.clear();
        for level in levels {
            self.starts.push(self.key.len());
            self.look(program, compiled, level);
        }
        if let Some(&number) = self.numbers.get(self.key.as_slice()) {
            return Label(number);
        }
        let number = self.names.len() as u32;
        self.names.push(self.tell(program, compiled, levels));
        self.numbers.insert(self.key.as_slice().into(), number);
        Label(number)
    }

    /// Adds what tells one move from others: who does what, and the messages that pass.
    fn look(&mut self, program: &Program, compiled: &Compiled, level: &Level) {
        let made = &level.made;
        let (partner, received) = made.partner.map_or((-1, -1), |(p, t)| (i32::from(p), t as i32));
        self.key.extend([made.transition as i32, i32::from(made.pid), partner, received, 0]);
        let begin = self.key.len();
        if made.partner.is_some() {
            self.hand_over(compiled, level);
        } else if passes_messages(op_of(compiled, made.transition)) {
            self.repeat(compiled, level, usize::from(made.pid), made.transition, None);
        }
        let end = self.key.len();
        self.key[begin - 1] = (end - begin) as i32;
        // The name of a channel that a process made depends on who has that number now.
        let known = program.channels.len() as i32;
        for at in begin..end {
            if self.key[at] > known
                && let Some((proctype, pid, index)) = owner(program, &level.frame, self.key[at])
            {
                self.key.extend([proctype as i32, pid as i32, index as i32]);
            }
        }
    }

    /// A rendezvous, and what a receiver's indivisible sequence does behind it.
    fn hand_over(&mut self, compiled: &Compiled, level: &Level) {
        let made = &level.made;
        let Some(send) = sending(op_of(compiled, made.transition)) else { return };
        let mut cx = Context::of(compiled, &level.frame, usize::from(made.pid), level.timeout());
        let number = cx.eval(&send.channel);
        let Some(channel) = level.frame.channel(number) else { return };
        prepare(&mut cx, send, channel, &mut self.message);
        self.key.extend([Way::In as i32, number, self.message.len() as i32]);
        self.key.extend_from_slice(&self.message);
        if let Some((receiver, transition)) = made.partner
            && matches!(op_of(compiled, transition), Op::DStep(..) | Op::Sequence(_))
        {
            self.repeat(compiled, level, usize::from(receiver), transition, Some(number));
        }
    }

    /// Does a move again, to see the messages that pass.
    fn repeat(
        &mut self,
        compiled: &Compiled,
        level: &Level,
        pid: usize,
        transition: u32,
        taken: Option<i32>,
    ) {
        self.frame.copy_from(&level.frame);
        self.reached.resize(compiled.transitions.len(), 0);
        let mut executor = Executor {
            compiled,
            frame: &mut self.frame,
            pid,
            timeout: level.timeout(),
            fault: None,
            blocked: None,
            message: &mut self.message,
            reached: &mut self.reached,
            passed: Some(&mut self.key),
            further: None,
        };
        let op = op_of(compiled, transition);
        match taken {
            Some(channel) => executor.take(op, channel),
            None => executor.apply(op),
        }
    }

    /// The names of the step that the key describes.
    fn tell(&self, program: &Program, compiled: &Compiled, levels: &[Level]) -> Vec<String> {
        let (mut messages, mut statements, mut others) = (Vec::new(), Vec::new(), Vec::new());
        for (level, &start) in levels.iter().zip(&self.starts) {
            let made = &level.made;
            let before = messages.len();
            self.messages(program, level, start, &mut messages);
            let (who, statement) =
                (who(program, &level.frame, made.pid), statement(program, compiled, made.transition));
            let inside = self.inside(program, compiled, (made.transition, start));
            if messages.len() == before && (inside.is_empty() || statement.label.is_some()) {
                statements.push(format!("{who}:{}", event_text(statement)));
            } else if messages.len() == before {
                statements.extend(inside.iter().map(|inner| format!("{who}:{}", event_text(inner))));
            }
            others.extend(inside.iter().map(|inner| format!("{who}:{}", inner.text)));
            others.push(format!("{who}:{}", statement.text));
            others.push(format!("{} {}", plain_who(program, &level.frame, made.pid), statement.text));
            if let Some((receiver, received)) = made.partner {
                let text = &self::statement(program, compiled, received).text;
                others.push(format!("{} {text}", plain_who(program, &level.frame, receiver)));
                if let Some((_, event)) = messages.get(before).and_then(|m: &String| m.split_once(':')) {
                    let taken = event.replacen('!', "?", 1);
                    others.push(format!("{}:{taken}", self::who(program, &level.frame, receiver)));
                }
            }
        }
        let parts = if messages.is_empty() { statements.clone() } else { messages.clone() };
        let mut names = vec![joined(&parts)];
        for name in messages.into_iter().chain(statements).chain(others) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// What was done in the `d_step` that a move is.
    fn inside<'p>(
        &self,
        program: &'p Program,
        compiled: &Compiled,
        (transition, start): (u32, usize),
    ) -> Vec<&'p Statement> {
        let mut all = straight_through(program, compiled, transition);
        let mut at = start + LEVEL_HEADER;
        let end = at + self.key[at - 1] as usize;
        while at < end && all.len() <= MOST_PARTS {
            if self.key[at] == Way::Done as i32 {
                all.push(statement(program, compiled, self.key[at + 1] as u32));
            }
            at += PASSED_HEADER + self.key[at + 2] as usize;
        }
        all
    }

    /// The messages of one move.
    fn messages(&self, program: &Program, level: &Level, start: usize, all: &mut Vec<String>) {
        let made: &TakenMove = &level.made;
        let mut at = start + LEVEL_HEADER;
        let end = at + self.key[at - 1] as usize;
        let mut first = true;
        while at < end {
            let (way, channel, count) = (self.key[at], self.key[at + 1], self.key[at + 2] as usize);
            if way == Way::Done as i32 {
                at += PASSED_HEADER;
                continue;
            }
            let values = &self.key[at + PASSED_HEADER..at + PASSED_HEADER + count];
            // Behind a rendezvous it is the receiver who goes on.
            let pid = made.partner.filter(|_| !first).map_or(made.pid, |(receiver, _)| receiver);
            let text = message_text(program, &level.frame, channel, values);
            let name = channel_name(program, &level.frame, channel);
            let event = match way {
                w if w == Way::In as i32 => format!("{name}!{text}"),
                w if w == Way::Out as i32 => format!("{name}?{text}"),
                _ => format!("{name}?<{text}>"),
            };
            all.push(format!("{}:{event}", who(program, &level.frame, pid)));
            at += PASSED_HEADER + count;
            first = false;
        }
    }
}

fn joined(parts: &[String]) -> String {
    let shown = &parts[..parts.len().min(MOST_PARTS)];
    let more = if shown.len() < parts.len() { "; …" } else { "" };
    format!("{}{more}", shown.join("; "))
}

/// The label that its author gave a statement, or its text.
fn event_text(statement: &Statement) -> &str {
    statement.label.as_ref().unwrap_or(&statement.text)
}

fn op_of(compiled: &Compiled, transition: u32) -> &Op {
    let (proctype, node, index) = compiled.transitions[transition as usize];
    &compiled.bodies[usize::from(proctype)].nodes[node as usize][index as usize].op
}

fn statement<'p>(program: &'p Program, compiled: &Compiled, transition: u32) -> &'p Statement {
    let (proctype, node, index) = compiled.transitions[transition as usize];
    &program.proctypes[usize::from(proctype)].nodes[node as usize].transitions[index as usize].statement
}

/// The statements of a `d_step` that has no branches, and is therefore executed without control of its own.
fn straight_through<'p>(program: &'p Program, compiled: &Compiled, transition: u32) -> Vec<&'p Statement> {
    let (proctype, node, index) = compiled.transitions[transition as usize];
    let nodes = &program.proctypes[usize::from(proctype)].nodes;
    let action = &nodes[node as usize].transitions[index as usize].action;
    let passed = passed_through(program, proctype, action).into_iter().take(MOST_PARTS + 1);
    passed.map(|(node, index)| &nodes[node as usize].transitions[index as usize].statement).collect()
}

fn passes_messages(op: &Op) -> bool {
    matches!(op, Op::Send(_) | Op::Receive(_) | Op::DStep(..) | Op::Sequence(_))
}

/// `Client[1]`; the initial process is `init[0]`, as it is written.
fn who(program: &Program, frame: &Frame, pid: u8) -> String {
    plain_who(program, frame, pid).replacen(":init:", "init", 1)
}

fn plain_who(program: &Program, frame: &Frame, pid: u8) -> String {
    format!("{}[{pid}]", program.proctypes[frame.proctype(usize::from(pid))].name)
}

/// The proctype and number of the process that made a channel, and which of its channels it is.
fn owner(program: &Program, frame: &Frame, channel: i32) -> Option<(usize, usize, usize)> {
    let mut number = usize::try_from(channel).ok()?.checked_sub(program.channels.len() + 1)?;
    for pid in 0..frame.count() {
        let proctype = frame.proctype(pid);
        let own = program.proctypes[proctype].channels.len();
        if number < own {
            return Some((proctype, pid, number));
        }
        number -= own;
    }
    None
}

/// The name of the declaration that made a channel; `P[1].c` where a process made it.
fn channel_name(program: &Program, frame: &Frame, channel: i32) -> String {
    let global = usize::try_from(channel - 1).ok().and_then(|at| program.channels.get(at));
    if let Some(channel) = global {
        return channel.name.clone();
    }
    match owner(program, frame, channel) {
        Some((proctype, pid, index)) => {
            let name = &program.proctypes[proctype].channels[index].name;
            format!("{}.{name}", who(program, frame, pid as u8))
        }
        None => format!("channel_{channel}"),
    }
}

fn message_text(program: &Program, frame: &Frame, channel: i32, values: &[i32]) -> String {
    let shape = frame.channel(channel).map(|at| &program.channel_types[at.shape as usize]);
    let kind = |at: usize| shape.and_then(|s| s.fields.get(at)).map_or(Kind::Number, |f| f.1);
    let texts = values.iter().enumerate().map(|(at, &value)| match kind(at) {
        Kind::Channel if value > 0 => channel_name(program, frame, value),
        other => value_text(program, other, value),
    });
    texts.collect::<Vec<_>>().join(",")
}
