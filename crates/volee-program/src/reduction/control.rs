//! The control graph as the analysis of accesses walks it: what follows what, what is inside what.

use std::collections::BTreeMap;

use super::access::{Reference, Use};
use super::objects::Access;
use crate::code::Code;
use crate::optimise::visit_action;
use crate::program::{Action, Expr, NodeId, Proctype};

/// Whether it matters that a statement of the node can not be done: `else`, escapes, processes that promised
/// not to choose, and the inside of indivisible sequences, which stop there.
pub(super) fn ability_matters(proctype: &Proctype, node: usize) -> bool {
    let here = &proctype.nodes[node];
    here.in_d_step
        || proctype.deterministic
        || here
            .transitions
            .iter()
            .any(|t| t.escape != 0 || matches!(first(&t.action), Action::Else | Action::DStep(_)))
        || proctype.nodes.iter().flat_map(|n| &n.transitions).any(|t| t.atomic && t.target.0 as usize == node)
}

pub(super) fn first(action: &Action) -> &Action {
    match action {
        Action::Sequence(actions) => first(&actions[0]),
        action => action,
    }
}

/// Whether an indivisible sequence can come back to a node: it may never end, which is a fault.
pub(super) fn runs_on(proctype: &Proctype, node: usize) -> bool {
    let mut seen = vec![false; proctype.nodes.len()];
    let mut pending = vec![node];
    while let Some(at) = pending.pop() {
        for transition in proctype.nodes[at].transitions.iter().filter(|t| t.atomic) {
            let target = transition.target.0 as usize;
            if target == node {
                return true;
            }
            if !std::mem::replace(&mut seen[target], true) {
                pending.push(target);
            }
        }
    }
    false
}

/// The process types that the statements of some nodes start.
pub(super) fn started(proctype: &Proctype, nodes: std::ops::Range<usize>) -> Vec<usize> {
    let mut found = Vec::new();
    let mut pending: Vec<usize> = nodes.collect();
    let mut seen = vec![false; proctype.nodes.len()];
    while let Some(node) = pending.pop() {
        if std::mem::replace(&mut seen[node], true) {
            continue;
        }
        for transition in &proctype.nodes[node].transitions {
            visit_action(&transition.action, &mut |e| {
                if let Expr::Run { proctype, .. } = e {
                    found.push(usize::from(proctype.0));
                }
            });
            if let Action::DStep(entry) = first(&transition.action) {
                pending.extend(inside(proctype, *entry));
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// The nodes inside a `d_step`.
pub(super) fn inside(proctype: &Proctype, entry: NodeId) -> Vec<usize> {
    let mut found = vec![entry.0 as usize];
    let mut at = 0;
    while at < found.len() {
        for transition in &proctype.nodes[found[at]].transitions {
            let target = transition.target.0 as usize;
            if proctype.nodes[target].in_d_step && !found.contains(&target) {
                found.push(target);
            }
        }
        at += 1;
    }
    found
}

/// Adds to each node's set the sets of the nodes that can follow.
pub(super) fn spread(proctype: &Proctype, futures: &mut [(Access, Vec<u64>)]) {
    let mut changed = true;
    while changed {
        changed = false;
        for node in (0..futures.len()).rev() {
            let (mut access, mut members) = futures[node].clone();
            for transition in &proctype.nodes[node].transitions {
                let (theirs, others) = &futures[transition.target.0 as usize];
                access.add(theirs);
                if members.len() < others.len() {
                    members.resize(others.len(), 0);
                }
                members.iter_mut().zip(others).for_each(|(mine, theirs)| *mine |= theirs);
            }
            if (access, &members) != (futures[node].0, &futures[node].1) {
                futures[node] = (access, members);
                changed = true;
            }
        }
    }
}

pub(super) fn with_bit(mut set: Vec<u64>, &bit: &usize) -> Vec<u64> {
    if set.len() <= bit / 64 {
        set.resize(bit / 64 + 1, 0);
    }
    set[bit / 64] |= 1 << (bit % 64);
    set
}

/// The different references of a process type.
#[derive(Default)]
pub(super) struct Pool {
    all: Vec<Reference>,
    known: BTreeMap<(i64, Use, bool, Option<usize>), usize>,
}

impl Pool {
    /// The number of a reference. Plain uses of a channel are recognised; of others there may be several.
    pub fn add(&mut self, reference: Reference) -> usize {
        let key = match &reference {
            Reference::Channel { channel: Code::Const(k), used, waits, fields } => {
                Some((i64::from(*k), *used, *waits, *fields))
            }
            Reference::Channel { channel: Code::Local8(at), used, waits, fields } => {
                Some((-1 - i64::from(*at), *used, *waits, *fields))
            }
            _ => None,
        };
        let next = self.all.len();
        let number = key.map_or(next, |key| *self.known.entry(key).or_insert(next));
        if number == next {
            self.all.push(reference);
        }
        number
    }

    pub fn references(&self, members: &[u64]) -> Vec<Reference> {
        let numbers =
            (0..self.all.len()).filter(|n| members.get(n / 64).is_some_and(|w| w >> (n % 64) & 1 == 1));
        numbers.map(|n| self.all[n].clone()).collect()
    }
}
