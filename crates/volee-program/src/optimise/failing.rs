//! Which statements can come to an error while they are done.
//!
//! A move tells one error, so that of the statements that are merged into it at most one may have any to
//! tell. An error in asking whether a statement can be done is another matter: then nothing is done at all.

use super::effects::visit_expr;
use super::unread::is_plain;
use crate::compile::fixed_channels;
use crate::program::{Action, BinaryOp, Expr, Location, NodeId, Pattern, Proctype, Program, Scope};

/// What is known of a program's channels, so that few statements are suspected.
pub(super) struct Failing {
    /// By the offset of a variable that nobody assigns: how many fields the messages of its channel have.
    fields: Vec<(u32, usize)>,
    /// The same of all channels, where it is the same.
    all_fields: Option<usize>,
    /// Every message is compared with a trace.
    watched: bool,
    /// Whoever takes over a message may do so in a move that has met an error already: that of the sender.
    senders: bool,
}

impl Failing {
    pub fn of(program: &Program) -> Self {
        let number = |shape: usize| program.channel_types[shape].fields.len();
        let holders = fixed_channels(program).into_iter();
        let fields = holders.map(|(offset, channel)| {
            (offset, number(program.channels[channel as usize - 1].channel.0 as usize))
        });
        let mut all = (0..program.channel_types.len()).map(number);
        let first = all.next();
        let all_fields = first.filter(|first| all.all(|other| other == *first));
        let watched = program.monitor.is_some();
        let mut failing = Failing { fields: fields.collect(), all_fields, watched, senders: false };
        failing.senders = program.channel_types.iter().any(|c| c.capacity == 0)
            && program.proctypes.iter().any(|p| p.deterministic || failing.some_send_may_fail(p));
        failing
    }

    fn some_send_may_fail(&self, proctype: &Proctype) -> bool {
        let mut actions = proctype.nodes.iter().flat_map(|n| &n.transitions).map(|t| &t.action);
        actions.any(|a| matches!(a, Action::Send { .. }) && self.may_fail(proctype, a))
    }

    /// Whether the move that a transition begins may come to an error in it.
    pub fn begins_failing(&self, proctype: &Proctype, node: usize, action: &Action) -> bool {
        let chooses = proctype.deterministic && proctype.nodes[node].transitions.len() > 1;
        let takes_over = match action {
            Action::Receive { .. } | Action::DStep(_) => self.senders,
            _ => false,
        };
        chooses || takes_over || self.may_fail(proctype, action)
    }

    /// Whether doing an action may come to an error that does not keep it from being done.
    pub fn may_fail(&self, proctype: &Proctype, action: &Action) -> bool {
        match action {
            Action::Skip | Action::Else | Action::End | Action::Print(_) => false,
            Action::Guard(Expr::Run { arguments, .. }) => arguments.iter().any(expression),
            Action::Guard(_) => false,
            Action::Assert(_) | Action::SetPriority(..) => true,
            Action::Assign(to, Expr::Run { arguments, .. }) => {
                !is_plain(to) || arguments.iter().any(expression)
            }
            Action::Assign(to, value) => !is_plain(to) || expression(value),
            Action::Send { channel, values, .. } => {
                self.has_other_fields(channel, values.len()) || values.iter().any(expression)
            }
            Action::Receive { channel, patterns, .. } => {
                let odd = |p: &Pattern| matches!(p, Pattern::Bind(location) if !is_plain(location));
                self.has_other_fields(channel, patterns.len()) || patterns.iter().any(odd)
            }
            Action::DStep(entry) => self.fails_inside(proctype, *entry),
            Action::Sequence(actions) => actions.iter().any(|a| self.may_fail(proctype, a)),
        }
    }

    /// Whether the messages of a channel may have another number of fields, or be none that a trace allows.
    fn has_other_fields(&self, channel: &Expr, fields: usize) -> bool {
        let known = match channel {
            Expr::Load(location) => self.of_holder(location),
            _ => None,
        };
        self.watched || known.or(self.all_fields) != Some(fields)
    }

    fn of_holder(&self, location: &Location) -> Option<usize> {
        let plain = location.scope == Scope::Global && location.indices.is_empty();
        let known = self.fields.iter().find(|(offset, _)| plain && *offset == location.offset);
        known.map(|(_, fields)| *fields)
    }

    /// The statements of a `d_step` are one move; there a condition that fails is passed over where another
    /// holds.
    fn fails_inside(&self, proctype: &Proctype, entry: NodeId) -> bool {
        let mut seen = vec![false; proctype.nodes.len()];
        let mut pending = vec![entry.0 as usize];
        while let Some(node) = pending.pop() {
            if std::mem::replace(&mut seen[node], true) || !proctype.nodes[node].in_d_step {
                continue;
            }
            for transition in &proctype.nodes[node].transitions {
                let mut failing = self.may_fail(proctype, &transition.action);
                super::effects::visit_action(&transition.action, &mut |e| failing |= expression(e));
                if failing {
                    return true;
                }
                pending.push(transition.target.0 as usize);
            }
        }
        false
    }
}

/// Whether evaluating an expression may come to an error.
fn expression(expr: &Expr) -> bool {
    let mut failing = false;
    visit_expr(expr, &mut |e| {
        failing |= match e {
            Expr::Load(location) => !is_plain(location),
            Expr::Binary(BinaryOp::Div | BinaryOp::Rem, _, divisor, _) => {
                !matches!(**divisor, Expr::Const(k) if k != 0)
            }
            Expr::Channel(..) | Expr::Poll { .. } | Expr::Enabled(..) => true,
            Expr::At { .. } | Expr::Remote { .. } | Expr::Run { .. } => true,
            _ => false,
        };
    });
    failing
}
