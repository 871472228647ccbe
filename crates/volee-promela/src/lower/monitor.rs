//! Lowering of `trace` and `notrace`: an automaton over channel operations.
//!
//! The control graph of the declaration has sends, receives and jumps only; jumps are followed here, so that
//! a node has exactly the operations that may come next.

use volee_program::{Action, EventMonitor, Expr, MonitorKind, MonitorStep, Node, NodeId, Pattern, Scope};
use volee_system::Place;

use super::control::{Control, Skips};
use super::expr::Lowering;
use crate::model::Trace;

pub(super) fn lower(lowering: &mut Lowering<'_>, trace: &Trace) -> EventMonitor {
    let control = Control::of(&trace.behaviour, Skips::DroppedInOptions);
    let nodes = control.nodes(lowering);
    let mut monitor = EventMonitor {
        kind: if trace.forbids { MonitorKind::NoTrace } else { MonitorKind::Trace },
        nodes: Vec::new(),
        complete: Vec::new(),
        entry: control.entry(),
        sends: Vec::new(),
        receives: Vec::new(),
        place: Some(trace.place.clone()),
    };
    for index in 0..nodes.len() {
        let mut steps = Vec::new();
        let mut complete = false;
        collect(
            lowering,
            &control,
            &nodes,
            index,
            &mut vec![false; nodes.len()],
            &mut steps,
            &mut complete,
            monitor.kind,
            &trace.place,
        );
        monitor.complete.push(complete);
        for step in &steps {
            let observed = if step.send { &mut monitor.sends } else { &mut monitor.receives };
            if !observed.contains(&step.channel) {
                observed.push(step.channel);
            }
        }
        monitor.nodes.push(steps);
    }
    monitor
}

#[allow(clippy::too_many_arguments)]
fn collect(
    lowering: &mut Lowering<'_>,
    control: &Control,
    nodes: &[Node],
    index: usize,
    seen: &mut Vec<bool>,
    steps: &mut Vec<MonitorStep>,
    complete: &mut bool,
    kind: MonitorKind,
    place: &Place,
) {
    if std::mem::replace(&mut seen[index], true) {
        return;
    }
    // A `trace` may rest where an end label is; what is forbidden has happened only when all of it has.
    *complete |= nodes[index].valid_end && kind == MonitorKind::Trace;
    for transition in &nodes[index].transitions {
        let at = transition.statement.place.as_ref().unwrap_or(place);
        let anything = control.fields_left_open(transition.statement.number);
        let (send, channel, fields) = match &transition.action {
            Action::Skip | Action::Print(_) | Action::Else => {
                let target = transition.target.0 as usize;
                collect(lowering, control, nodes, target, seen, steps, complete, kind, place);
                continue;
            }
            Action::End => {
                *complete = true;
                continue;
            }
            Action::Send { channel, values, .. } => {
                // A variable or `_` in a send matches any value; only constants are compared.
                let field = |(index, value): (usize, &Expr)| {
                    let compared = matches!(value, Expr::Const(_)) && !anything.contains(&index);
                    compared.then(|| value.clone())
                };
                (true, channel, values.iter().enumerate().map(field).collect())
            }
            Action::Receive { channel, patterns, .. } => {
                let field = |p: &Pattern| match p {
                    Pattern::Match(e) => Some(e.clone()),
                    Pattern::Bind(_) | Pattern::Any => None,
                };
                (false, channel, patterns.iter().map(field).collect())
            }
            _ => {
                lowering.error("a trace declaration may only send, receive and jump", at);
                continue;
            }
        };
        match constant_channel(lowering, channel) {
            Some(channel) => {
                steps.push(MonitorStep { send, channel, fields, target: NodeId(transition.target.0) })
            }
            None => lowering
                .error("a trace declaration needs a global channel that is declared with its size", at),
        }
    }
}

/// The number of a channel that is named by a global variable, an element with a constant index included.
fn constant_channel(lowering: &Lowering<'_>, channel: &Expr) -> Option<u32> {
    let Expr::Load(location) = channel else { return None };
    let mut offset = location.offset;
    for index in &location.indices {
        let Expr::Const(k) = index.value else { return None };
        offset += u32::try_from(k).ok()? * index.stride;
    }
    let holds =
        |c: &volee_program::ChannelInstance| c.holder.scope == Scope::Global && c.holder.offset == offset;
    let position = lowering.storage.globals.channels.iter().position(holds)?;
    (location.scope == Scope::Global).then_some(position as u32 + 1)
}
