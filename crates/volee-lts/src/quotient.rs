//! The system of the classes of a partition, reachable part only, numbered breadth-first.
//!
//! The numbering depends only on the classes and the initial state, not on the order of refinement.

use crate::{Edge, Lts, StateId};

/// The class of a state that the initial state does not reach.
pub const UNREACHED: u32 = u32::MAX;

/// A quotient, and the number of each block in it ([`UNREACHED`] if it has none).
pub(crate) struct Quotient {
    pub lts: Lts,
    pub number: Vec<u32>,
}

/// Builds the quotient; `row` pushes the steps of a block, with blocks as targets, in any order.
pub(crate) fn quotient(
    lts: &Lts,
    block_count: usize,
    initial: u32,
    mut row: impl FnMut(u32, &mut Vec<Edge>),
) -> Quotient {
    let mut number = vec![UNREACHED; block_count];
    let mut order = vec![initial];
    number[initial as usize] = 0;
    let mut offsets = vec![0u32];
    let mut edges: Vec<Edge> = Vec::new();
    let mut steps = Vec::new();
    let mut next = 0;
    while next < order.len() {
        steps.clear();
        row(order[next], &mut steps);
        steps.sort_unstable();
        steps.dedup();
        for edge in &mut steps {
            let class = &mut number[edge.target.index()];
            if *class == UNREACHED {
                *class = order.len() as u32;
                order.push(edge.target.0);
            }
            edge.target = StateId(*class);
        }
        steps.sort_unstable();
        edges.extend_from_slice(&steps);
        offsets.push(edges.len() as u32);
        next += 1;
    }
    let lts = Lts::from_rows(lts.labels().clone(), StateId(0), offsets, edges);
    Quotient { lts, number }
}

/// The smallest member of each block.
pub(crate) fn representatives(block_of: &[u32], block_count: usize) -> Vec<u32> {
    let mut representative = vec![u32::MAX; block_count];
    for (state, &block) in block_of.iter().enumerate() {
        if representative[block as usize] == u32::MAX {
            representative[block as usize] = state as u32;
        }
    }
    representative
}
