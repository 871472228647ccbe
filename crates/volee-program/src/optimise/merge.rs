//! Merging of steps.
//!
//! If control comes to a node where a process has exactly one thing to do, which never waits and concerns
//! nobody but itself, then that thing may as well be done at once. It commutes with whatever the other
//! processes do, so it is a persistent set of its own in every state of the node (Godefroid, "Partial-Order
//! Methods", 1996, chapter 4), and chains of such statements are cut where they close a cycle, so nothing is
//! put off for ever. Deadlocks, assertions and every property that does not count steps are kept. Inside an
//! atomic sequence nobody else moves, and any statement that never waits can be merged.
//!
//! The transitions inside a `d_step` stay as they are, first and last ones too: the interpreter runs them as
//! one step and goes on behind the `d_step`, where what was merged into its last transition would be done
//! once more.
//!
//! A move tells one error, so that at most one of the statements that are merged can have any
//! ([`failing`](super::failing)).
//!
//! Where somebody looks for events, no statement is merged that may be one ([`seen`](super::seen)). Such a
//! step is told by its first statement; so what can fail is not merged either, for a step that ends in an
//! error may have no event at all, nor anything inside an atomic sequence, which is told by all its
//! statements.
//!
//! SPIN merges less: only after statements that are themselves local. Not merged: what a property observes,
//! labelled nodes, escapes, rendezvous sends (the sender may lose its turn), and everything where priorities,
//! `provided`, `_last`, `enabled()`, `pc_value()` or `np_` make the number of steps matter. (`np_` is false
//! where nobody moves, so that a step from a progress label to such a state may pass one where it is true.)

use super::effects::{extent, is_local, visit_stores};
use super::failing::Failing;
use super::{Observed, SeenEvents};
use crate::program::{Action, NodeId, Proctype, ProctypeId, Program, Scope, Transition};

/// How many statements are merged at most: what many transitions lead to is copied into each of them.
const LONGEST: usize = 256;

pub(super) fn merge_steps(program: &mut Program, observed: &Observed, events: Option<&SeenEvents>) {
    let counts_steps = program.uses_last
        || program.uses_priorities
        || observed.control
        || program.proctypes.iter().any(|p| p.provided.is_some());
    if counts_steps {
        return;
    }
    let rendezvous = program.channel_types.iter().any(|c| c.capacity == 0);
    let failing = Failing::of(program);
    for (index, proctype) in program.proctypes.iter_mut().enumerate() {
        let id = ProctypeId(index as u8);
        let mut followers = followers(proctype, id, observed);
        for (node, follower) in (0..).map(NodeId).zip(&mut followers) {
            follower.take_if(|_| events.is_some_and(|seen| seen.at(id, node)));
        }
        let seen = seen_nodes(proctype, id, observed);
        let told = events.is_some();
        merge_where_control_comes(proctype, &followers, &seen, Told { rendezvous, told }, &failing);
    }
}

/// Only where control still comes to: each statement of a chain would otherwise carry a copy of all that
/// follow it, though nobody enters the chain but at its first.
fn merge_where_control_comes(
    proctype: &mut Proctype,
    followers: &[Option<Transition>],
    seen: &[bool],
    how: Told,
    failing: &Failing,
) {
    let mut reached = vec![false; proctype.nodes.len()];
    let mut waiting = vec![proctype.entry];
    while let Some(node) = waiting.pop() {
        let node = node.0 as usize;
        if std::mem::replace(&mut reached[node], true) {
            continue;
        }
        for index in 0..proctype.nodes[node].transitions.len() {
            if !proctype.nodes[node].in_d_step {
                let merging = Merging { proctype, followers, seen, how, failing };
                if let Some(merged) = merging.from(node, index) {
                    proctype.nodes[node].transitions[index] = merged;
                }
            }
            let transition = &proctype.nodes[node].transitions[index];
            waiting.push(transition.target);
            waiting.extend(d_step_of(&transition.action));
        }
    }
}

/// Where the `d_step` of an action starts.
fn d_step_of(action: &Action) -> Option<NodeId> {
    match action {
        Action::DStep(node) => Some(*node),
        Action::Sequence(actions) => actions.first().and_then(d_step_of),
        _ => None,
    }
}

/// Per node, whether somebody sees that control is there. A step to such a node from one that is not is seen
/// as well: what is done with the step before it would hide that control was elsewhere.
fn seen_nodes(proctype: &Proctype, id: ProctypeId, observed: &Observed) -> Vec<bool> {
    (0..proctype.nodes.len() as u32).map(|n| observed.nodes.contains(&(id, NodeId(n)))).collect()
}

/// Per node, the one transition that could be done together with what leads to the node.
fn followers(proctype: &Proctype, id: ProctypeId, observed: &Observed) -> Vec<Option<Transition>> {
    let labelled = |n: usize| observed.nodes.contains(&(id, NodeId(n as u32)));
    proctype
        .nodes
        .iter()
        .enumerate()
        .map(|(n, node)| match &node.transitions[..] {
            [only]
                if only.escape == 0
                    && !node.progress
                    && !node.accepting
                    && !node.in_d_step
                    && !labelled(n) =>
            {
                let shows = stores_observed(&only.action, id, observed);
                (never_waits(&only.action) && !shows).then(|| only.clone())
            }
            _ => None,
        })
        .collect()
}

/// Whether an action changes a local variable that somebody else looks at.
fn stores_observed(action: &Action, id: ProctypeId, observed: &Observed) -> bool {
    let mut shows = false;
    visit_stores(action, &mut |location| {
        let (start, length) = extent(location);
        let meets = |&(p, s, l): &(ProctypeId, u32, u32)| p == id && s < start + length && start < s + l;
        shows |= location.scope == Scope::Local && observed.locals.iter().any(meets);
    });
    shows
}

fn never_waits(action: &Action) -> bool {
    match action {
        Action::Skip | Action::Assert(_) | Action::Print(_) => true,
        Action::Assign(_, value) => !matches!(value, crate::program::Expr::Run { .. }),
        Action::Sequence(actions) => actions.iter().all(never_waits),
        _ => false,
    }
}

/// Whether an action reads and writes only the process's own variables.
fn concerns_nobody_else(action: &Action) -> bool {
    let mut own = true;
    super::effects::visit_action(action, &mut |e| own &= is_local(e));
    visit_stores(action, &mut |location| own &= location.scope != Scope::Global);
    own
}

fn sends_first(action: &Action) -> bool {
    match action {
        Action::Send { .. } => true,
        Action::Sequence(actions) => actions.first().is_some_and(sends_first),
        _ => false,
    }
}

/// What forbids more than usual.
#[derive(Clone, Copy)]
struct Told {
    /// There are channels without a buffer.
    rendezvous: bool,
    /// Steps are told by what happens in them.
    told: bool,
}

/// What is asked where a transition might take more with it.
struct Merging<'p> {
    proctype: &'p Proctype,
    followers: &'p [Option<Transition>],
    seen: &'p [bool],
    how: Told,
    failing: &'p Failing,
}

impl Merging<'_> {
    fn from(&self, node: usize, index: usize) -> Option<Transition> {
        let first = &self.proctype.nodes[node].transitions[index];
        if matches!(first.action, Action::End) || (self.how.rendezvous && sends_first(&first.action)) {
            return None;
        }
        let mut merged = first.clone();
        let mut actions = vec![first.action.clone()];
        let mut seen = vec![first.target];
        let mut may_fail = self.failing.begins_failing(self.proctype, node, &first.action);
        while actions.len() < LONGEST
            && let Some(next) = &self.followers[merged.target.0 as usize]
        {
            let hidden = !self.seen[next.target.0 as usize] && concerns_nobody_else(&next.action);
            let free = merged.atomic || (!next.atomic && hidden);
            let fails = self.failing.may_fail(self.proctype, &next.action);
            if !free || fails && (may_fail || self.how.told) || self.how.told && merged.atomic {
                break;
            }
            may_fail |= fails;
            actions.push(next.action.clone());
            merged.through.push(merged.target);
            merged.target = next.target;
            merged.atomic = next.atomic;
            merged.merged.push(next.statement.clone());
            if seen.contains(&merged.target) {
                break;
            }
            seen.push(merged.target);
        }
        if actions.len() == 1 {
            return None;
        }
        merged.action = Action::Sequence(actions);
        Some(merged)
    }
}
