//! Weak bisimulation: first branching (which is finer and cheap), then strong bisimulation of the weak steps.
//!
//! The result has the classes as states and no redundant step: one that internal steps around another step
//! already give is dropped. Internal steps between classes are acyclic, so all redundant ones can go at once.

use volee_system::Meter;

use crate::partition::strong;
use crate::quotient::{Quotient, quotient};
use crate::saturate::{TauClosure, saturate};
use crate::silent::diverging;
use crate::{Edge, LabelId, Lts, LtsError, StateId};

use super::bisimulations::{Divergence, reduce_branching};
use super::{Certificate, Reduction};

/// Modulo weak bisimulation.
///
/// # Errors
/// The budget runs out.
pub(crate) fn reduce_weak(lts: &Lts, divergence: Divergence, meter: &Meter) -> Result<Reduction, LtsError> {
    let finer = reduce_branching(lts, divergence);
    let small = finer.lts;
    let closure = TauClosure::new(&small, meter)?;
    let block_of = weak_classes(&small, &closure, divergence, meter)?;
    let blocks = block_of.iter().max().map_or(0, |&b| b as usize + 1);
    let merged = merge(&small, &block_of, blocks, divergence);
    let classes = merged.lts;
    let closure = TauClosure::new(&classes, meter)?;
    let made = quotient(&classes, classes.state_count(), classes.initial().0, |state, row| {
        necessary(&classes, &closure, StateId(state), row);
    });
    let class_of = finer.certificate.class_of().unwrap_or_default().iter().map(|&class| {
        let class = small_class(&merged.number, &block_of, class);
        made.number.get(class as usize).copied().unwrap_or(u32::MAX)
    });
    let class_of = class_of.collect();
    Ok(Reduction { lts: made.lts, certificate: Certificate::Weak { class_of, divergence } })
}

fn small_class(number: &[u32], block_of: &[u32], class: u32) -> u32 {
    block_of.get(class as usize).map_or(u32::MAX, |&block| number[block as usize])
}

/// The classes of weak bisimulation of a system without internal cycles other than self-loops.
///
/// # Errors
/// The budget runs out.
pub(crate) fn weak_classes(
    lts: &Lts,
    closure: &TauClosure,
    divergence: Divergence,
    meter: &Meter,
) -> Result<Vec<u32>, LtsError> {
    let observed = match divergence {
        Divergence::Ignored => Vec::new(),
        Divergence::Preserved => diverging(lts),
    };
    Ok(strong(&saturate(lts, closure, meter)?, &observed).into_parts().0)
}

/// The direct steps of all members of a class, without internal steps inside it.
fn merge(lts: &Lts, block_of: &[u32], blocks: usize, divergence: Divergence) -> Quotient {
    let mut members: Vec<Vec<u32>> = vec![Vec::new(); blocks];
    for (state, &block) in block_of.iter().enumerate() {
        members[block as usize].push(state as u32);
    }
    quotient(lts, blocks, block_of[lts.initial().index()], |block, row| {
        for &state in &members[block as usize] {
            for edge in lts.edges(StateId(state)) {
                let target = StateId(block_of[edge.target.index()]);
                let own_loop = edge.target.0 == state && divergence == Divergence::Preserved;
                if !edge.is_tau() || target.0 != block || own_loop {
                    row.push(Edge { target, ..*edge });
                }
            }
        }
    })
}

/// The steps of a state that no other step gives by internal steps before and after it.
fn necessary(lts: &Lts, closure: &TauClosure, state: StateId, row: &mut Vec<Edge>) {
    let mut given: Vec<Edge> = Vec::new();
    let own_loop = Edge { label: LabelId::TAU, target: state };
    for &middle in closure.of(state) {
        // A self-loop leads nowhere that was not reached without it.
        for &edge in lts.edges(StateId(middle)).iter().filter(|e| !e.is_tau() || e.target.0 != middle) {
            let around = closure.of(edge.target).iter().filter(|&&t| {
                // From another state, or beyond the step's own target, the step is given by something else.
                middle != state.0 || t != edge.target.0
            });
            given.extend(around.map(|&t| Edge { label: edge.label, target: StateId(t) }));
        }
        if given.len() > 1 << 16 {
            given.sort_unstable();
            given.dedup();
        }
    }
    given.sort_unstable();
    given.dedup();
    row.extend(lts.edges(state).iter().filter(|&&e| e == own_loop || given.binary_search(&e).is_err()));
}
