//! Where processes stand and what they wait for: the reason of a deadlock, statement by statement.
//!
//! A deadlock is explained by saying for every process which statements it is at and why none of them can be
//! done: a condition that is false (and what it looks at, as it is), a message that nobody takes, a buffer
//! that is full or empty or begins with something else. The same view, of any state, is what an explorer
//! shows beside the source. It is worked out with the functions that decide about steps ([`ready`],
//! [`accepts`]), so that the two cannot disagree.

use volee_system::{Choice, Inspection, Queue, Standing};

use crate::code::{Compiled, Field, Move, Op, Receive, Send};
use crate::compile::Compiler;
use crate::display::{channel_names, message_text, value_text};
use crate::eval::{Context, read_scalar};
use crate::exec::{Ready, accepts, prepare, ready};
use crate::frame::{ChannelAt, Frame};
use crate::permission::{can_move, has_partner, may_move};
use crate::program::{Action, Expr, Location, Program, Scope, Transition};

/// Values that a false condition is explained with, at most.
const MOST_VALUES: usize = 6;

/// The processes and channels of a state.
pub(crate) fn inspect(program: &Program, compiled: &Compiled, frame: &Frame) -> Inspection {
    let names = channel_names(program, compiled, frame);
    let moves = |pid: usize, timeout: bool| {
        can_move(|| Context::of(compiled, frame, pid, timeout)).unwrap_or(true)
            && may_move(compiled, frame, pid, timeout)
    };
    let timeout = !(0..frame.count()).any(|pid| moves(pid, false));
    let look = Look { program, compiled, frame, timeout, names };
    Inspection {
        processes: (0..frame.count()).map(|pid| look.standing(pid)).collect(),
        channels: look.channels(),
    }
}

struct Look<'a> {
    program: &'a Program,
    compiled: &'a Compiled,
    frame: &'a Frame,
    /// Whether nobody can move, so that `timeout` is true.
    timeout: bool,
    /// Of channels, by number from 1.
    names: Vec<String>,
}

impl<'a> Look<'a> {
    fn context(&self, pid: usize) -> Context<'a> {
        Context::of(self.compiled, self.frame, pid, self.timeout)
    }

    fn channels(&self) -> Vec<Queue> {
        let buffered = self.names.iter().zip(&self.frame.channels).filter(|(_, at)| self.capacity(**at) > 0);
        let queue = |(name, &at): (&String, &ChannelAt)| Queue {
            name: name.clone(),
            capacity: Some(self.capacity(at)),
            messages: (0..self.length(at)).map(|slot| self.message(at, slot)).collect(),
        };
        buffered.map(queue).collect()
    }

    fn capacity(&self, at: ChannelAt) -> u32 {
        self.compiled.layout.channels[usize::from(at.shape)].capacity
    }

    fn length(&self, at: ChannelAt) -> u32 {
        self.frame.length(&self.compiled.layout, at)
    }

    fn message(&self, at: ChannelAt, slot: u32) -> Vec<String> {
        let cx = Context::outside(self.compiled, self.frame);
        let shape = &self.program.channel_types[usize::from(at.shape)];
        let values: Vec<i32> = (0..shape.fields.len()).map(|f| cx.message_field(at, slot, f)).collect();
        message_text(self.program, shape, &values)
    }

    fn standing(&self, pid: usize) -> Standing {
        let proctype = &self.program.proctypes[self.frame.proctype(pid)];
        let control = self.frame.control(&self.compiled.layout, pid);
        let node = &proctype.nodes[control];
        let moves = &self.compiled.bodies[self.frame.proctype(pid)].nodes[control];
        let held_back = self.held_back(pid);
        let mut options: Vec<Choice> = Vec::with_capacity(moves.len());
        let mut moved = false;
        for (transition, m) in node.transitions.iter().zip(moves) {
            let waits = self.waits(pid, m, transition, moved);
            moved |= waits.is_none();
            let waits = held_back.clone().or(waits);
            let because = match (&waits, &transition.action) {
                (Some(_), Action::Guard(condition)) => self.values(pid, condition),
                _ => Vec::new(),
            };
            let text = transition.statement.text.to_string();
            options.push(Choice { text, place: transition.statement.place.clone(), waits, because });
        }
        Standing {
            process: proctype.name.clone(),
            pid: pid as u32,
            may_end: node.valid_end,
            ended: !moves.is_empty() && moves.iter().all(|m| matches!(m.op, Op::End)),
            options,
        }
    }

    /// What keeps a process from moving at all.
    fn held_back(&self, pid: usize) -> Option<String> {
        if !self.compiled.restricted || may_move(self.compiled, self.frame, pid, self.timeout) {
            return None;
        }
        let provided = &self.compiled.bodies[self.frame.proctype(pid)].provided;
        match provided {
            Some(code) if !self.context(pid).truth(code) => Some("its provided clause is false".into()),
            _ => Some("a process of higher priority goes first".into()),
        }
    }

    /// What a statement waits for; nothing if it can be done, or would end in an error.
    fn waits(&self, pid: usize, m: &Move, transition: &Transition, moved: bool) -> Option<String> {
        let text = &*transition.statement.text;
        let mut cx = self.context(pid);
        match ready(&mut cx, &m.op, moved) {
            _ if cx.fault.is_some() => None,
            Ready::Yes => None,
            Ready::WithPartner(channel)
                if has_partner(self.compiled, self.frame, pid, m, channel, self.timeout) =>
            {
                None
            }
            Ready::WithPartner(_) => Some(self.blocked(pid, first(&m.op), text)),
            Ready::No if self.is_taken_over(pid, m) => None,
            Ready::No => Some(self.blocked(pid, first(&m.op), text)),
        }
    }

    /// Whether somebody hands a message over that this statement takes.
    fn is_taken_over(&self, pid: usize, m: &Move) -> bool {
        (0..self.frame.count()).filter(|&sender| sender != pid).any(|sender| {
            let control = self.frame.control(&self.compiled.layout, sender);
            let moves = &self.compiled.bodies[self.frame.proctype(sender)].nodes[control];
            moves.iter().any(|other| self.hands_over(sender, other, pid, m))
        })
    }

    fn hands_over(&self, sender: usize, other: &Move, pid: usize, m: &Move) -> bool {
        let Op::Send(send) = first(&other.op) else { return false };
        let mut cx = self.context(sender);
        let Ready::WithPartner(channel) = ready(&mut cx, &other.op, false) else { return false };
        let Some(at) = self.frame.channel(channel) else { return false };
        let mut message = Vec::new();
        prepare(&mut cx, send, at, &mut message);
        accepts(&mut self.context(pid), &m.op, channel, &message)
    }

    fn blocked(&self, pid: usize, op: &Op, text: &str) -> String {
        match op {
            Op::Send(send) => self.blocked_send(pid, send, text),
            Op::Receive(receive) => self.blocked_receive(pid, receive, text),
            Op::End => "the end of the processes it has started".into(),
            Op::Else => "else: another option is possible".into(),
            Op::DStep(entry, ..) => self.blocked_d_step(pid, *entry as usize),
            _ => text.to_string(),
        }
    }

    fn blocked_d_step(&self, pid: usize, entry: usize) -> String {
        let proctype = self.frame.proctype(pid);
        let moves = &self.compiled.bodies[proctype].nodes[entry];
        let transitions = &self.program.proctypes[proctype].nodes[entry].transitions;
        let each = moves.iter().zip(transitions).map(|(m, t)| match first(&m.op) {
            Op::DStep(..) => t.statement.text.to_string(),
            op => self.blocked(pid, op, &t.statement.text),
        });
        each.collect::<Vec<_>>().join(" or ")
    }

    /// The name of the channel behind an expression, as it is now.
    fn named(&self, number: i32, text: &str) -> String {
        let known = usize::try_from(number).ok().and_then(|n| self.names.get(n.checked_sub(1)?));
        known.cloned().unwrap_or_else(|| text.split(['!', '?']).next().unwrap_or(text).to_string())
    }

    fn blocked_send(&self, pid: usize, send: &Send, text: &str) -> String {
        let mut cx = self.context(pid);
        let number = cx.eval(&send.channel);
        let name = self.named(number, text);
        let Some(at) = self.frame.channel(number) else { return text.to_string() };
        let mut message = Vec::new();
        prepare(&mut cx, send, at, &mut message);
        let shape = &self.program.channel_types[usize::from(at.shape)];
        let values = message_text(self.program, shape, &message).join(",");
        let arrow = if send.sorted { "!!" } else { "!" };
        match self.capacity(at) {
            0 => format!("{name}{arrow}{values}: nobody receives"),
            capacity => format!("{name}{arrow}{values}: full, {capacity} of {capacity} messages"),
        }
    }

    fn blocked_receive(&self, pid: usize, receive: &Receive, text: &str) -> String {
        let number = self.context(pid).eval(&receive.channel);
        let name = self.named(number, text);
        let pattern = text.find('?').map_or("", |at| &text[at..]);
        let Some(at) = self.frame.channel(number) else { return text.to_string() };
        let why = match (self.capacity(at), self.length(at)) {
            (0, _) if self.somebody_sends(pid, number) => "nobody sends what fits".to_string(),
            (0, _) => "nobody sends".to_string(),
            (_, 0) => "empty".to_string(),
            _ if receive.anywhere => "no message fits".to_string(),
            _ => format!("the first message is {}", self.message(at, 0).join(",")),
        };
        let wanted = self.wanted(pid, receive, at);
        match wanted.is_empty() || why == "empty" || why == "nobody sends" {
            true => format!("{name}{pattern}: {why}"),
            false => format!("{name}{pattern}: {why}, not {wanted}"),
        }
    }

    /// What a receive asks for, with its conditions as they are now: `ack,_`; nothing where the pattern says
    /// so itself.
    fn wanted(&self, pid: usize, receive: &Receive, at: ChannelAt) -> String {
        let shape = &self.program.channel_types[usize::from(at.shape)];
        let mut cx = self.context(pid);
        let fields = receive.fields.iter().zip(&shape.fields).map(|(field, (_, kind))| match field {
            Field::Match(code) => value_text(self.program, *kind, cx.eval(code)),
            _ => "_".into(),
        });
        let all: Vec<String> = fields.collect();
        if all.iter().all(|f| f == "_") { String::new() } else { all.join(",") }
    }

    /// Whether somebody is at a send on this rendezvous channel.
    fn somebody_sends(&self, pid: usize, channel: i32) -> bool {
        (0..self.frame.count()).filter(|&sender| sender != pid).any(|sender| {
            let control = self.frame.control(&self.compiled.layout, sender);
            let moves = &self.compiled.bodies[self.frame.proctype(sender)].nodes[control];
            moves.iter().any(|m| match first(&m.op) {
                Op::Send(send) => self.context(sender).eval(&send.channel) == channel,
                _ => false,
            })
        })
    }

    /// The variables that a condition looks at, with their values.
    fn values(&self, pid: usize, condition: &Expr) -> Vec<String> {
        let mut all: Vec<String> = Vec::new();
        let mut work = vec![condition];
        while let Some(expr) = work.pop() {
            if all.len() == MOST_VALUES {
                break;
            }
            match expr {
                Expr::Load(location) => {
                    let text = self.variable(pid, location);
                    all.extend(text.filter(|t| !all.contains(t)));
                }
                Expr::Not(e) | Expr::Neg(e) | Expr::Complement(e) => work.push(e),
                Expr::Binary(_, a, b, _) => work.extend([&**b, &**a]),
                Expr::Cond(a, b, c) => work.extend([&**c, &**b, &**a]),
                _ => {}
            }
        }
        all
    }

    fn variable(&self, pid: usize, location: &Location) -> Option<String> {
        let proctype = &self.program.proctypes[self.frame.proctype(pid)];
        let (known, start) = match location.scope {
            Scope::Global => (&self.program.globals, self.compiled.layout.globals_at),
            Scope::Local => (&proctype.locals, self.frame.base(pid) + self.compiled.layout.process_header),
            Scope::Nowhere => return None,
        };
        let variable = known.iter().find(|v| v.offset == location.offset && v.shown)?;
        let mut compiler = Compiler::new(&self.compiled.layout);
        let mut at = start + location.offset as usize;
        let mut parts = variable.name.split("[]");
        let mut name = parts.next()?.to_string();
        for (index, part) in location.indices.iter().zip(parts) {
            let value = self.context(pid).eval(&compiler.code(&index.value));
            let inside = u32::try_from(value).ok().filter(|v| *v < index.count)?;
            at += inside as usize * index.stride as usize;
            name.push_str(&format!("[{inside}]{part}"));
        }
        let value = read_scalar(&self.frame.bytes, at, location.scalar);
        Some(format!("{name} = {}", value_text(self.program, location.kind, value)))
    }
}

/// The part of a merged sequence that may have to wait.
fn first(op: &Op) -> &Op {
    let mut op = op;
    while let Op::Sequence(ops) = op {
        op = &ops[0];
    }
    op
}
