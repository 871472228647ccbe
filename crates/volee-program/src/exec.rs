//! Executing compiled statements: whether one can be done, and doing it.
//!
//! The two are separate so that the many statements that cannot be done cost no copy of the state: [`ready`]
//! looks at the current frame, [`Executor::apply`] changes a copy of it.

use volee_system::FaultId;

use crate::code::{Code, Compiled, Field, Move, Op, Receive, Run, Send, Target};
use crate::eval::{Context, read_scalar, write_scalar};
use crate::frame::{ChannelAt, Frame};

/// A `d_step` that takes more steps than this is left out.
const LONGEST_D_STEP: u32 = 10_000_000;

/// Steps of a `d_step` up to which nobody asks whether it runs for ever.
const SHORT_D_STEP: u32 = 64;

/// The node of a monitor that watches no more.
pub(crate) const MONITOR_IS_DONE: usize = u16::MAX as usize;

/// Whether a statement can be done now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ready {
    No,
    Yes,
    /// If somebody receives from this channel.
    WithPartner(i32),
}

/// Whether `op` can be done in the context's state. `moved` says whether an earlier option of the process
/// could.
#[inline]
pub(crate) fn ready(cx: &mut Context<'_>, op: &Op, moved: bool) -> Ready {
    let yes = match op {
        Op::Skip | Op::Assign(..) | Op::Assert(..) | Op::SetPriority(..) | Op::Run(..) => true,
        Op::Else => !moved,
        Op::Guard(code) => cx.truth(code),
        Op::Send(send) => return ready_to_send(cx, send),
        Op::Receive(receive) => !receive.rendezvous && find_message(cx, receive).is_some(),
        Op::End => cx.pid + 1 == cx.frame.count(),
        Op::DStep(entry, _, rendezvous) => return ready_for_d_step(cx, *entry, *rendezvous),
        Op::Sequence(ops) => return ready(cx, &ops[0], moved),
    };
    if yes { Ready::Yes } else { Ready::No }
}

fn ready_to_send(cx: &mut Context<'_>, send: &Send) -> Ready {
    let number = cx.eval(&send.channel);
    let Some(channel) = cx.frame.channel(number) else {
        cx.fail(send.no_channel);
        return Ready::No;
    };
    let capacity = cx.compiled.layout.channels[channel.shape as usize].capacity;
    if capacity == 0 {
        return Ready::WithPartner(number);
    }
    if cx.frame.length(&cx.compiled.layout, channel) < capacity { Ready::Yes } else { Ready::No }
}

fn ready_for_d_step(cx: &mut Context<'_>, entry: u32, rendezvous: FaultId) -> Ready {
    let compiled = cx.compiled;
    for m in &compiled.bodies[cx.frame.proctype(cx.pid)].nodes[entry as usize] {
        // An `else` in there is about the choice in there: it is looked at only when nothing before it is
        // ready.
        match ready(cx, &m.op, false) {
            Ready::No => {}
            Ready::Yes => return Ready::Yes,
            Ready::WithPartner(_) => {
                cx.fail(rendezvous);
            }
        }
    }
    Ready::No
}

/// The buffered message that a receive would take: its slot.
fn find_message(cx: &mut Context<'_>, receive: &Receive) -> Option<u32> {
    let channel = cx.channel(&receive.channel, receive.no_channel)?;
    if cx.compiled.layout.channels[channel.shape as usize].capacity == 0 {
        return None;
    }
    let length = cx.frame.length(&cx.compiled.layout, channel);
    let candidates = if receive.anywhere { length } else { length.min(1) };
    (0..candidates).find(|&slot| {
        receive.fields.iter().enumerate().all(|(f, field)| match field {
            Field::Match(code) => cx.eval(code) == cx.message_field(channel, slot, f),
            _ => true,
        })
    })
}

/// Whether `op`, in the state of a possible partner, receives this message from this channel.
pub(crate) fn accepts(cx: &mut Context<'_>, op: &Op, channel: i32, message: &[i32]) -> bool {
    match op {
        Op::Receive(receive) => {
            cx.eval(&receive.channel) == channel
                && receive.fields.iter().enumerate().all(|(f, field)| match field {
                    Field::Match(code) => cx.eval(code) == message.get(f).copied().unwrap_or(0),
                    _ => true,
                })
        }
        Op::DStep(entry, ..) => {
            let compiled = cx.compiled;
            let node = &compiled.bodies[cx.frame.proctype(cx.pid)].nodes[*entry as usize];
            node.iter().any(|m| accepts(cx, &m.op, channel, message))
        }
        Op::Sequence(ops) => accepts(cx, &ops[0], channel, message),
        _ => false,
    }
}

/// The values of a message, wrapped to the channel's fields.
pub(crate) fn prepare(cx: &mut Context<'_>, send: &Send, channel: ChannelAt, message: &mut Vec<i32>) {
    message.clear();
    message.extend(send.values.iter().map(|v| cx.eval(v)));
    let fields = &cx.compiled.layout.channels[channel.shape as usize].fields;
    if message.len() != fields.len() {
        cx.fail(send.wrong_fields);
    }
    message.resize(fields.len(), 0);
    for (value, (_, scalar)) in message.iter_mut().zip(fields) {
        *value = scalar.wrap(*value);
    }
}

/// Changes a frame.
pub(crate) struct Executor<'a> {
    pub compiled: &'a Compiled,
    pub frame: &'a mut Frame,
    pub pid: usize,
    pub timeout: bool,
    /// The first error met that lets the statement be done.
    pub fault: Option<FaultId>,
    /// The error after which nothing can go on: the system does not move.
    pub blocked: Option<FaultId>,
    /// A message that is being handed over.
    pub message: &'a mut Vec<i32>,
    /// How often each transition was executed.
    pub reached: &'a mut [u64],
    /// The messages that enter and leave buffers, where somebody wants to know: which way, the channel's
    /// number, how many values, the values.
    pub passed: Option<&'a mut Vec<i32>>,
    /// The errors after the first, where somebody wants to know.
    pub further: Option<&'a mut Vec<FaultId>>,
}

/// Numbers before the values of a message that passed.
pub(crate) const PASSED_HEADER: usize = 3;

/// Into a buffer or out of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    In,
    Out,
    /// Looked at and left there.
    Copied,
    /// No message: a transition inside a `d_step`, by its number.
    Done,
}

impl Executor<'_> {
    fn with<T>(&mut self, f: impl FnOnce(&mut Context<'_>) -> T) -> T {
        let mut cx = Context::of(self.compiled, self.frame, self.pid, self.timeout);
        let value = f(&mut cx);
        let fault = cx.fault;
        self.fault = self.fault.or(fault);
        value
    }

    fn store(&mut self, at: Option<(usize, crate::types::Scalar)>, value: i32) {
        if let Some((at, scalar)) = at {
            write_scalar(&mut self.frame.bytes, at, scalar, value);
        }
    }

    /// Does a statement that [`ready`] said can be done.
    #[inline]
    pub fn apply(&mut self, op: &Op) {
        match op {
            Op::Skip | Op::Else | Op::Guard(_) => {}
            Op::Assign(Target::Cell(cell, scalar), Code::Const(value)) => {
                let start = if cell.local { self.frame.base(self.pid) } else { 0 };
                write_scalar(&mut self.frame.bytes, start + cell.offset as usize, *scalar, *value);
            }
            Op::Assign(to, code) => {
                let (value, at) = self.with(|cx| (cx.eval(code), cx.target_at(to)));
                self.store(at, value);
            }
            Op::Send(send) => self.send(send),
            Op::Receive(receive) => self.receive(receive),
            Op::Assert(code, fault) => {
                if !self.with(|cx| cx.truth(code)) {
                    self.fault = self.fault.or(Some(*fault));
                }
            }
            Op::SetPriority(parts, no_priority) => self.set_priority(&parts.0, &parts.1, *no_priority),
            Op::Run(to, run) => self.run(to, run),
            Op::End => self.frame.remove_youngest(&self.compiled.layout),
            Op::DStep(entry, blocked, rendezvous) => self.d_step(*entry, *blocked, *rendezvous, None),
            Op::Sequence(ops) => self.sequence(ops),
        }
    }

    fn sequence(&mut self, ops: &[Op]) {
        for op in ops {
            self.apply(op);
            if self.blocked.is_some() {
                return;
            }
        }
    }

    /// Takes over a message by rendezvous.
    pub fn take(&mut self, op: &Op, channel: i32) {
        match op {
            Op::Receive(receive) => {
                self.bind_message(receive);
                self.observe(false, channel, receive.no_event);
            }
            Op::DStep(entry, blocked, rendezvous) => {
                self.d_step(*entry, *blocked, *rendezvous, Some(channel));
            }
            Op::Sequence(ops) => {
                self.take(&ops[0], channel);
                if self.blocked.is_none() {
                    self.sequence(&ops[1..]);
                }
            }
            _ => {}
        }
    }

    fn send(&mut self, send: &Send) {
        let (number, channel) = self.with(|cx| {
            let number = cx.eval(&send.channel);
            (number, cx.frame.channel(number))
        });
        let Some(channel) = channel else { return };
        let mut message = std::mem::take(self.message);
        self.with(|cx| prepare(cx, send, channel, &mut message));
        *self.message = message;
        let shape = &self.compiled.layout.channels[channel.shape as usize];
        let start = channel.offset as usize;
        let length = usize::from(self.frame.bytes[start]);
        let slot = if send.sorted { self.sorted_slot(channel, length) } else { length };
        let at = start + 1 + slot * shape.message;
        let end = start + 1 + length * shape.message;
        self.frame.bytes.copy_within(at..end, at + shape.message);
        for (value, (offset, scalar)) in self.message.iter().zip(&shape.fields) {
            write_scalar(&mut self.frame.bytes, at + offset, *scalar, *value);
        }
        self.frame.bytes[start] += 1;
        self.tell(Way::In, number);
        self.observe(true, number, send.no_event);
    }

    /// Before the first message that is greater, comparing fields from the first on.
    fn sorted_slot(&self, channel: ChannelAt, length: usize) -> usize {
        let shape = &self.compiled.layout.channels[channel.shape as usize];
        (0..length)
            .find(|slot| {
                let at = channel.offset as usize + 1 + slot * shape.message;
                let stored = shape.fields.iter().map(|(o, s)| read_scalar(&self.frame.bytes, at + o, *s));
                self.message.iter().copied().lt(stored)
            })
            .unwrap_or(length)
    }

    fn receive(&mut self, receive: &Receive) {
        let found = self.with(|cx| {
            let number = cx.eval(&receive.channel);
            let channel = cx.frame.channel(number)?;
            Some((number, channel, find_message(cx, receive)?))
        });
        let Some((number, channel, slot)) = found else { return };
        let shape = &self.compiled.layout.channels[channel.shape as usize];
        let start = channel.offset as usize;
        let at = start + 1 + slot as usize * shape.message;
        self.message.clear();
        for (offset, scalar) in &shape.fields {
            self.message.push(read_scalar(&self.frame.bytes, at + offset, *scalar));
        }
        // As in SPIN, a receive that stores nothing must name every field.
        let (named, all) = (receive.fields.len(), shape.fields.len());
        if named > all || (named < all && receive.fields.iter().all(|f| matches!(f, Field::Match(_)))) {
            self.fault = self.fault.or(Some(receive.wrong_fields));
        }
        if !receive.keep {
            let length = usize::from(self.frame.bytes[start]);
            let end = start + 1 + length * shape.message;
            self.frame.bytes.copy_within(at + shape.message..end, at);
            self.frame.bytes[end - shape.message..end].fill(0);
            self.frame.bytes[start] -= 1;
        }
        self.tell(if receive.keep { Way::Copied } else { Way::Out }, number);
        self.bind_message(receive);
        // A message that stays has not been received yet.
        if !receive.keep {
            self.observe(false, number, receive.no_event);
        }
    }

    fn tell(&mut self, way: Way, channel: i32) {
        if let Some(passed) = &mut self.passed {
            passed.extend([way as i32, channel, self.message.len() as i32]);
            passed.extend_from_slice(self.message);
        }
    }

    fn bind_message(&mut self, receive: &Receive) {
        for (f, field) in receive.fields.iter().enumerate() {
            if let Field::Bind(target) = field {
                let value = self.message.get(f).copied().unwrap_or(0);
                let at = self.with(|cx| cx.target_at(target));
                self.store(at, value);
            }
        }
    }

    /// Steps the trace monitor on a channel operation whose message is in `self.message`.
    pub fn observe(&mut self, send: bool, channel: i32, no_event: FaultId) {
        let Some(monitor) = &self.compiled.monitor else { return };
        let observed = if send { &monitor.sends } else { &monitor.receives };
        if !observed.contains(&(channel as u32)) {
            return;
        }
        let at = self.compiled.layout.monitor_at;
        let node = usize::from(u16::from_le_bytes([self.frame.bytes[at], self.frame.bytes[at + 1]]));
        let message = std::mem::take(self.message);
        if node == MONITOR_IS_DONE {
            *self.message = message;
            return;
        }
        let next = self.with(|cx| {
            monitor.nodes[node].iter().find_map(|o| {
                let mut fields = o.fields.iter().zip(&message);
                let matches = o.send == send
                    && o.channel == channel as u32
                    && fields.all(|(f, v)| f.as_ref().is_none_or(|code| cx.eval(code) == *v));
                matches.then_some(o.target)
            })
        });
        *self.message = message;
        let fault = match next {
            Some(next) => {
                let matched = !monitor.trace && monitor.complete[next as usize];
                let next = if matched { MONITOR_IS_DONE as u16 } else { next as u16 };
                self.frame.bytes[at..at + 2].copy_from_slice(&next.to_le_bytes());
                matched.then_some(monitor.matched)
            }
            // A `notrace` only watches from the start: the first operation that does not fit ends it.
            None if !monitor.trace => {
                self.frame.bytes[at..at + 2].copy_from_slice(&(MONITOR_IS_DONE as u16).to_le_bytes());
                None
            }
            None => Some(no_event),
        };
        self.fault = self.fault.or(fault);
    }

    /// A process that is not there has no priority to change.
    fn set_priority(&mut self, pid: &Code, priority: &Code, no_priority: FaultId) {
        let (pid, priority) = self.with(|cx| (cx.eval(pid), cx.eval(priority)));
        let Some(pid) = usize::try_from(pid).ok().filter(|&p| p < self.frame.count()) else { return };
        match u8::try_from(priority) {
            Ok(priority) if priority > 0 => self.frame.set_priority(&self.compiled.layout, pid, priority),
            _ => self.blocked = Some(no_priority),
        }
    }

    fn run(&mut self, to: &Target, run: &Run) {
        let compiled = self.compiled;
        let born = compiled.layout.born_channels[usize::from(run.proctype)].len();
        if self.frame.count() >= 255 || self.frame.channels.len() + born > 255 {
            self.blocked = Some(run.too_many);
            return;
        }
        let mut arguments = std::mem::take(self.message);
        arguments.clear();
        self.with(|cx| arguments.extend(run.arguments.iter().map(|a| cx.eval(a))));
        let pid = self.start(usize::from(run.proctype), run.priority.unwrap_or(1), &arguments);
        *self.message = arguments;
        let at = self.with(|cx| cx.target_at(to));
        self.store(at, pid as i32);
    }

    /// Starts a process: parameters, channels, then initial values, as they are declared.
    pub fn start(&mut self, proctype: usize, priority: u8, arguments: &[i32]) -> usize {
        let body = &self.compiled.bodies[proctype];
        let first_channel = self.frame.channels.len();
        let pid = self.frame.add_process(&self.compiled.layout, proctype, body.entry, priority);
        let parent = std::mem::replace(&mut self.pid, pid);
        for (target, value) in body.parameters.iter().zip(arguments) {
            let at = self.with(|cx| cx.target_at(target));
            self.store(at, *value);
        }
        for (i, holder) in body.holders.iter().enumerate() {
            let at = self.with(|cx| cx.target_at(holder));
            self.store(at, (first_channel + i + 1) as i32);
        }
        for (target, code) in &body.init {
            let (value, at) = self.with(|cx| (cx.eval(code), cx.target_at(target)));
            self.store(at, value);
        }
        self.reset(&body.entry_resets);
        self.pid = parent;
        pid
    }

    /// Sets to zero what the acting process need not remember.
    #[inline]
    pub fn reset(&mut self, runs: &[(u32, u32)]) {
        if runs.is_empty() {
            return;
        }
        let base = self.frame.base(self.pid);
        for &(start, length) in runs {
            let at = base + start as usize;
            self.frame.bytes[at..at + length as usize].fill(0);
        }
    }

    /// Runs a `d_step`: the first statement that can be done is done, until control leaves the sequence.
    fn d_step(&mut self, entry: u32, blocked: FaultId, rendezvous: FaultId, partner: Option<i32>) {
        let compiled = self.compiled;
        let body = &compiled.bodies[self.frame.proctype(self.pid)];
        let mut node = entry;
        let mut handed_over = partner;
        // Returning to a marked point means running for ever; the mark moves at powers of two, as in Brent's
        // cycle finding.
        let mut mark = (u32::MAX, Vec::new());
        for taken in 0..LONGEST_D_STEP {
            if taken >= SHORT_D_STEP {
                if node == mark.0 && self.frame.bytes == mark.1 {
                    self.blocked = Some(blocked);
                    return;
                }
                if taken.is_power_of_two() {
                    mark = (node, self.frame.bytes.clone());
                }
            }
            let first = self.fault.take();
            let chosen = match handed_over {
                Some(channel) => self.first_accepting(&body.nodes[node as usize], channel).ok_or(None),
                None => self.first_ready(&body.nodes[node as usize], rendezvous),
            };
            let m = match chosen {
                Ok(m) => m,
                Err(failed) => {
                    self.keep_first(first);
                    self.blocked = failed.or(Some(blocked));
                    return;
                }
            };
            self.reached[m.id as usize] += 1;
            if let Some(passed) = &mut self.passed {
                passed.extend([Way::Done as i32, m.id as i32, 0]);
            }
            match handed_over.take() {
                Some(channel) => self.take(&m.op, channel),
                None => self.apply(&m.op),
            }
            self.keep_first(first);
            if self.blocked.is_some() {
                return;
            }
            node = m.target;
            if !body.in_d_step[node as usize] {
                return;
            }
        }
        self.blocked = Some(compiled.too_long);
    }

    /// The first error stays the first; what came after it is noted by itself.
    fn keep_first(&mut self, first: Option<FaultId>) {
        let Some(known) = first else { return };
        let later = self.fault.replace(known).filter(|&later| later != known);
        if let (Some(later), Some(further)) = (later, &mut self.further)
            && !further.contains(&later)
        {
            further.push(later);
        }
    }

    /// The first statement that can be done; else the first error met looking for one.
    fn first_ready<'m>(
        &mut self,
        moves: &'m [Move],
        rendezvous: FaultId,
    ) -> Result<&'m Move, Option<FaultId>> {
        let mut failed = None;
        for m in moves {
            let mut cx = Context::of(self.compiled, self.frame, self.pid, self.timeout);
            let answer = ready(&mut cx, &m.op, false);
            if let Ready::WithPartner(_) = answer {
                cx.fail(rendezvous);
            }
            failed = failed.or(cx.fault);
            if answer == Ready::Yes {
                self.fault = self.fault.or(failed);
                return Ok(m);
            }
        }
        Err(failed)
    }

    fn first_accepting<'m>(&mut self, moves: &'m [Move], channel: i32) -> Option<&'m Move> {
        let message = std::mem::take(self.message);
        let found = moves.iter().find(|m| self.with(|cx| accepts(cx, &m.op, channel, &message)));
        *self.message = message;
        found
    }
}
