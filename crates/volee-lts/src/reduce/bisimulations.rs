//! Reductions whose classes are classes of states: strong and branching bisimulation.

use crate::partition::{Silent, branching, strong};
use crate::quotient::{quotient, representatives};
use crate::silent::contract;
use crate::{Edge, LabelId, Lts, StateId};

use super::{Certificate, Reduction};

/// Modulo strong bisimulation.
pub(crate) fn reduce_strong(lts: &Lts) -> Reduction {
    let (mut class_of, _) = strong(lts, &[]).into_parts();
    let blocks = class_of.iter().max().map_or(0, |&b| b as usize + 1);
    let representative = representatives(&class_of, blocks);
    let made = quotient(lts, blocks, class_of[lts.initial().index()], |block, row| {
        let edges = lts.edges(StateId(representative[block as usize]));
        row.extend(edges.iter().map(|e| Edge { target: StateId(class_of[e.target.index()]), ..*e }));
    });
    for class in &mut class_of {
        *class = made.number[*class as usize];
    }
    Reduction { lts: made.lts, certificate: Certificate::Strong { class_of } }
}

/// Whether internal cycles are told apart from states that cannot loop internally.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Divergence {
    /// They are not.
    Ignored,
    /// They are.
    Preserved,
}

/// Modulo branching bisimulation.
pub(crate) fn reduce_branching(lts: &Lts, divergence: Divergence) -> Reduction {
    let mut contracted = contract(lts);
    let silent = match divergence {
        Divergence::Ignored => Silent::Fair,
        Divergence::Preserved => Silent::Divergent(&contracted.divergent),
    };
    let (block_of, _) = branching(&contracted.lts, silent).into_parts();
    let blocks = block_of.iter().max().map_or(0, |&b| b as usize + 1);
    // Internal steps lead to smaller numbers, so the smallest member has no inert steps and shows everything.
    let representative = representatives(&block_of, blocks);
    let initial = block_of[contracted.lts.initial().index()];
    let made = quotient(&contracted.lts, blocks, initial, |block, row| {
        let state = representative[block as usize];
        let edges = contracted.lts.edges(StateId(state));
        row.extend(edges.iter().map(|e| Edge { target: StateId(block_of[e.target.index()]), ..*e }));
        if silent.diverges(state) {
            row.push(Edge { label: LabelId::TAU, target: StateId(block) });
        }
    });
    for component in &mut contracted.component {
        *component = made.number[block_of[*component as usize] as usize];
    }
    let class_of = contracted.component;
    Reduction { lts: made.lts, certificate: Certificate::Branching { class_of, divergence } }
}
