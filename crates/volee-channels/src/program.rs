//! Promela programs whose buffered channels are taken as unbounded.
//!
//! The program runs in the ordinary machine, with every buffer as large as the machine can hold ([`MOST`]
//! messages); the search stops well before a buffer is full, so no send ever blocks. The queues are cut out
//! of the packed state, and what is left is the control.
//!
//! The condition for growing for ever needs that a step sees of a channel only its front. So `len`, `empty`,
//! `full` and their like, polls, receives that look past the front, sorted sends, and whatever depends on
//! somebody *not* being able to move (`else` beside a channel operation, `timeout`, `unless`, `enabled`,
//! priorities) are refused, each with its place. So is a receive inside `atomic` behind its first statement:
//! whether the sequence is interrupted there depends on the channel being empty, and in a later round it need
//! not be.

use std::collections::HashMap;
use std::sync::Arc;

use volee_program::{
    Action, ChannelInstance, ChannelSlots, Expr, Location, Machine, MachineOptions, Node, Pattern, Proctype,
    Program, visit_expr,
};
use volee_system::{Diagnostic, EventKind, Flow, Limit, Place, Step, System};

use crate::fifo::Configuration;
use crate::queued::{GONE, Next, Queued};

/// Messages that a buffer of the machine holds at most.
pub const MOST: u32 = 250;
/// Different messages at most: they are told apart by two bytes, and [`GONE`] is one of these.
const MOST_MESSAGES: usize = GONE as usize;

/// A program over unbounded channels.
pub struct Buffered {
    /// What is searched.
    machine: Machine,
    /// The program as written, whose steps are the same.
    plain: Machine,
    /// The buffered channels: their number in the program, and where they are.
    slots: Vec<(u32, ChannelSlots)>,
    names: Vec<String>,
    /// Messages by their bytes.
    messages: Vec<Vec<u8>>,
    ids: HashMap<Vec<u8>, u16>,
    /// A step may send and receive several messages.
    sequences: bool,
    /// There were more different messages than can be told apart.
    exceeded: bool,
}

impl Buffered {
    /// Prepares a program.
    ///
    /// # Errors
    /// Everything in it that the condition does not cover, with its place.
    pub fn new(program: &Program) -> Result<Self, Vec<Diagnostic>> {
        let mut class = Class { program, errors: Vec::new(), here: None, sequences: false };
        class.program();
        if !class.errors.is_empty() {
            return Err(class.errors);
        }
        let sequences = class.sequences;
        let mut widened = program.clone();
        for channel in widened.channel_types.iter_mut().filter(|c| c.capacity > 0) {
            channel.capacity = MOST;
        }
        let widened = Arc::new(widened);
        let options = MachineOptions { plain: true, ..MachineOptions::default() };
        let plain = Machine::new(Arc::clone(&widened), options);
        // The same steps, without variables that nobody reads: a counter of messages makes no two rounds
        // different.
        let options = MachineOptions { single_steps: true, ..MachineOptions::default() };
        let machine = Machine::new(widened, options);
        let slots: Vec<(u32, ChannelSlots)> =
            (1..).zip(machine.channel_slots()).filter(|(_, s)| s.capacity > 0).collect();
        let names = slots.iter().map(|(n, _)| program.channels[*n as usize - 1].name.clone()).collect();
        Ok(Buffered {
            machine,
            plain,
            slots,
            names,
            messages: Vec::new(),
            ids: HashMap::new(),
            sequences,
            exceeded: false,
        })
    }

    /// The program as written, for replaying witnesses.
    pub fn machine(&mut self) -> &mut Machine {
        &mut self.plain
    }

    fn id(&mut self, message: &[u8]) -> u16 {
        if let Some(&id) = self.ids.get(message) {
            return id;
        }
        if self.messages.len() >= MOST_MESSAGES {
            self.exceeded = true;
            return 0;
        }
        let id = self.messages.len() as u16;
        self.messages.push(message.to_vec());
        self.ids.insert(message.to_vec(), id);
        id
    }

    fn split(&mut self, state: &[u8]) -> Configuration {
        let queues: usize = self.slots.iter().map(|(_, s)| 1 + s.capacity as usize * s.message_bytes).sum();
        let mut control = Vec::with_capacity(state.len() - queues);
        let mut contents = Vec::with_capacity(self.slots.len());
        let mut at = 0;
        for i in 0..self.slots.len() {
            let ChannelSlots { offset, message_bytes, capacity } = self.slots[i].1;
            let length = usize::from(state[offset]);
            let queue = (0..length)
                .map(|m| {
                    let from = offset + 1 + m * message_bytes;
                    self.id(&state[from..from + message_bytes])
                })
                .collect();
            contents.push(queue);
            control.extend(state[at..offset].iter().map(|&b| u16::from(b)));
            at = offset + 1 + capacity as usize * message_bytes;
        }
        control.extend(state[at..].iter().map(|&b| u16::from(b)));
        Configuration { control, contents }
    }

    fn join(&self, configuration: &Configuration) -> Vec<u8> {
        let mut control = configuration.control.iter().map(|&c| c as u8);
        let mut state: Vec<u8> = Vec::new();
        for ((_, slots), queue) in self.slots.iter().zip(&configuration.contents) {
            state.extend(control.by_ref().take(slots.offset - state.len()));
            state.push(u8::try_from(queue.len()).unwrap_or(u8::MAX));
            for &message in queue {
                state.extend_from_slice(&self.messages[usize::from(message)]);
            }
            state.resize(slots.offset + 1 + slots.capacity as usize * slots.message_bytes, 0);
        }
        state.extend(control);
        state
    }

    /// What a step sends. A step of one statement shows it by the queues; a sequence has to be asked.
    fn sends(
        &mut self,
        state: &[u8],
        ordinal: usize,
        now: &Configuration,
        target: &Configuration,
    ) -> Vec<(u16, u16)> {
        if !self.sequences {
            let longer = (0..now.contents.len()).find(|&c| target.contents[c].len() > now.contents[c].len());
            return longer
                .and_then(|c| target.contents[c].last().map(|&m| vec![(c as u16, m)]))
                .unwrap_or_default();
        }
        let mut counts = vec![(0usize, 0usize); self.slots.len()];
        for action in self.machine.explain(state, ordinal) {
            let Some(event) = action.event else { continue };
            let Some(c) = self.slots.iter().position(|(n, _)| *n == event.channel_id) else { continue };
            match event.kind {
                EventKind::Send => counts[c].0 += 1,
                EventKind::Receive => counts[c].1 += 1,
                EventKind::Rendezvous => {}
            }
        }
        let mut all = Vec::new();
        for (c, &(sent, received)) in counts.iter().enumerate() {
            let queue = &target.contents[c];
            // What was sent and received again within the step cannot be seen in the queues.
            let gone = received.saturating_sub(now.contents[c].len()).min(sent);
            all.extend((0..gone).map(|_| (c as u16, GONE)));
            let last = &queue[queue.len() - (sent - gone).min(queue.len())..];
            all.extend(last.iter().map(|&m| (c as u16, m)));
        }
        all
    }
}

impl Queued for Buffered {
    fn start(&mut self) -> Configuration {
        let mut first = Vec::new();
        let _ = self.machine.initial(&mut |state| {
            first = state.to_vec();
            Flow::Break(())
        });
        self.split(&first)
    }

    fn next(&mut self, now: &Configuration) -> Vec<Next> {
        let state = self.join(now);
        let mut found: Vec<(Step, Vec<u8>)> = Vec::new();
        let _ = self.machine.steps(&state, &mut |step: Step, target: &[u8]| {
            found.push((step, target.to_vec()));
            Flow::Continue(())
        });
        let mut all = Vec::with_capacity(found.len());
        for (ordinal, (step, target)) in found.into_iter().enumerate() {
            let target = self.split(&target);
            let sends = self.sends(&state, ordinal, now, &target);
            all.push(Next { key: u64::from(step.label.0), sends, target });
        }
        all
    }

    fn channel_names(&self) -> Vec<String> {
        self.names.clone()
    }

    /// One less than fits, so that a send is never blocked.
    fn longest_queue(&self) -> usize {
        MOST as usize - 1
    }

    fn bytes(&self) -> u64 {
        self.messages.iter().map(|m| 2 * m.len() as u64).sum::<u64>() + self.messages.len() as u64 * 128
    }

    fn exceeded(&self) -> Option<Limit> {
        let message = format!("there are more than {MOST_MESSAGES} different messages");
        self.exceeded.then_some(Limit::Other { message })
    }
}

/// Looks for what the condition does not cover.
struct Class<'p> {
    program: &'p Program,
    errors: Vec<Diagnostic>,
    here: Option<Place>,
    sequences: bool,
}

impl Class<'_> {
    fn refuse(&mut self, what: &str, place: &Option<Place>) {
        let place = place.clone().or_else(|| self.here.clone());
        let error = Diagnostic::error(
            format!("{what}: a loop that sees more than the front of a channel need not repeat"),
            place,
        );
        if self.errors.len() < 20 && !self.errors.contains(&error) {
            self.errors.push(error);
        }
    }

    fn program(&mut self) {
        let program = self.program;
        let buffered =
            program.channels.iter().any(|c| program.channel_types[c.channel.0 as usize].capacity > 0);
        if !buffered {
            self.errors.push(Diagnostic::error(
                "this model has no buffered channel that exists from the start",
                None,
            ));
        }
        if let Some(monitor) = &program.monitor {
            self.refuse("a trace declaration", &monitor.place);
        }
        if program.uses_priorities {
            let place = program.proctypes.first().and_then(|p| p.place.clone());
            self.refuse("priorities", &place);
        }
        for proctype in &program.proctypes {
            if let Some(channel) = proctype.channels.first() {
                self.refuse(&format!("the local channel `{}`", channel.name), &channel.holder.place);
            }
            if let Some(provided) = &proctype.provided {
                self.here.clone_from(&proctype.place);
                self.expr(provided);
            }
            proctype.nodes.iter().for_each(|node| self.node(node));
            self.interrupted(proctype);
        }
    }

    /// Receives at which an atomic sequence may be interrupted.
    fn interrupted(&mut self, proctype: &Proctype) {
        let inside =
            proctype.nodes.iter().flat_map(|n| &n.transitions).filter(|t| t.atomic).map(|t| t.target);
        for node in inside {
            for t in &proctype.nodes[node.0 as usize].transitions {
                if let Action::Receive { channel, .. } = &t.action
                    && self.may_be_buffered(channel)
                {
                    let what = "a receive inside `atomic`, behind its first statement";
                    self.refuse(what, &t.statement.place);
                }
            }
        }
    }

    /// Whether an expression may name a buffered channel: a channel variable that is never assigned names the
    /// one it was declared with.
    fn may_be_buffered(&self, channel: &Expr) -> bool {
        let Expr::Load(location) = channel else { return true };
        let declared = self.program.channels.iter().find(|c| {
            let holder = &c.holder;
            location.indices.is_empty() && (holder.scope, holder.offset) == (location.scope, location.offset)
        });
        let capacity = |c: &ChannelInstance| self.program.channel_types[c.channel.0 as usize].capacity;
        declared.is_none_or(|c| capacity(c) > 0 || self.is_assigned(location))
    }

    fn is_assigned(&self, channel: &Location) -> bool {
        let same = |l: &Location| (l.scope, l.offset) == (channel.scope, channel.offset);
        let assigns = |a: &Action| match a {
            Action::Assign(location, _) => same(location),
            Action::Receive { patterns, .. } => {
                patterns.iter().any(|p| matches!(p, Pattern::Bind(location) if same(location)))
            }
            Action::Sequence(_) => true,
            _ => false,
        };
        let nodes = self.program.proctypes.iter().flat_map(|p| &p.nodes);
        nodes.flat_map(|n| &n.transitions).any(|t| assigns(&t.action))
    }

    fn node(&mut self, node: &Node) {
        let talks = |a: &Action| matches!(a, Action::Send { .. } | Action::Receive { .. });
        let any = node.transitions.iter().any(|t| talks(&t.action));
        for t in &node.transitions {
            self.here.clone_from(&t.statement.place);
            self.sequences |= t.atomic || matches!(t.action, Action::DStep(_) | Action::Sequence(_));
            if t.escape != 0 {
                self.refuse("an `unless`", &None);
            }
            if matches!(t.action, Action::Else) && any {
                self.refuse("`else` beside a channel operation", &None);
            }
            self.action(&t.action);
        }
    }

    fn action(&mut self, action: &Action) {
        match action {
            Action::Skip | Action::Else | Action::Print(_) | Action::End | Action::DStep(_) => {}
            Action::Guard(e) | Action::Assert(e) => self.expr(e),
            Action::Assign(location, e) => {
                location.parts().for_each(|e| self.expr(e));
                self.expr(e);
            }
            Action::Send { channel, values, sorted } => {
                self.expr(channel);
                values.iter().for_each(|e| self.expr(e));
                if *sorted {
                    self.refuse("a sorted send", &None);
                }
            }
            Action::Receive { channel, patterns, anywhere, keep } => {
                self.expr(channel);
                patterns.iter().flat_map(Pattern::parts).for_each(|e| self.expr(e));
                if *anywhere || *keep {
                    self.refuse("a receive that looks past the front or leaves the message", &None);
                }
            }
            Action::SetPriority(..) => self.refuse("priorities", &None),
            Action::Sequence(actions) => actions.iter().for_each(|a| self.action(a)),
        }
    }

    fn expr(&mut self, expr: &Expr) {
        visit_expr(expr, &mut |part| match part {
            Expr::Channel(_, _, place) | Expr::Poll { place, .. } => {
                self.refuse("a question about what a channel holds", place);
            }
            Expr::Timeout => self.refuse("`timeout`", &None),
            Expr::Enabled(..) => self.refuse("`enabled`", &None),
            _ => {}
        });
    }
}
