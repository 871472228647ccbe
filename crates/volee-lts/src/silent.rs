//! Internal steps: their cycles, and the system with every such cycle contracted into one state.
//!
//! States on a cycle of internal steps are branching bisimilar, so contraction loses nothing but divergence,
//! which is kept beside. Afterwards internal steps are acyclic, and components are numbered so that they lead
//! from larger to smaller numbers: one ascending pass sees every state after its internal successors.

use volee_system::{Scc, strong_components};

use crate::{Edge, LabelId, Lts, StateId};
use volee_store::large::zeroes;

/// The strongly connected components of some steps.
pub(crate) fn components(lts: &Lts, wanted: impl Fn(StateId, Edge) -> bool) -> Scc {
    strong_components(lts.state_count(), 0..lts.state_count() as u32, |state, next| {
        let row = lts.edges(StateId(state)).get(*next..)?;
        let found = row.iter().position(|edge| edge.target.0 != state && wanted(StateId(state), *edge))?;
        *next += found + 1;
        Some(row[found].target.0)
    })
}

/// The components of the internal steps.
pub(crate) fn tau_components(lts: &Lts) -> Scc {
    components(lts, |_, edge| edge.is_tau())
}

/// A system without internal cycles.
pub(crate) struct Contracted {
    /// A state per component; rows sorted, without duplicates, internal steps first.
    pub lts: Lts,
    /// The state of `lts` that each original state became.
    pub component: Vec<u32>,
    /// Which states of `lts` were cycles, self-loops included.
    pub divergent: Vec<bool>,
}

/// Contracts the cycles of internal steps.
pub(crate) fn contract(lts: &Lts) -> Contracted {
    let Scc { of, count } = tau_components(lts);
    let mut divergent = vec![false; count as usize];
    let mut offsets = zeroes(count as usize + 1);
    let inside = |source: StateId, edge: Edge| edge.is_tau() && of[source.index()] == of[edge.target.index()];
    for (source, edge) in lts.transitions() {
        let component = of[source.index()] as usize;
        if inside(source, edge) {
            divergent[component] = true;
        } else {
            offsets[component] += 1;
        }
    }
    let mut end = 0;
    for offset in &mut offsets {
        end += *offset;
        *offset = end;
    }
    let mut edges = vec![Edge { label: LabelId::TAU, target: StateId(0) }; end as usize];
    for (source, edge) in lts.transitions() {
        if !inside(source, edge) {
            let at = &mut offsets[of[source.index()] as usize];
            *at -= 1;
            edges[*at as usize] = Edge { target: StateId(of[edge.target.index()]), ..edge };
        }
    }
    sort_rows(&mut offsets, &mut edges);
    let initial = StateId(of[lts.initial().index()]);
    let lts = Lts::from_rows(lts.labels().clone(), initial, offsets, edges);
    Contracted { lts, component: of, divergent }
}

/// Sorts every row and removes duplicates.
pub(crate) fn sort_rows(offsets: &mut [u32], edges: &mut Vec<Edge>) {
    let mut kept = 0;
    let mut start = 0;
    for row in 0..offsets.len() - 1 {
        let end = offsets[row + 1] as usize;
        edges[start..end].sort_unstable();
        offsets[row] = kept as u32;
        let first = kept;
        for at in start..end {
            if kept == first || edges[kept - 1] != edges[at] {
                edges[kept] = edges[at];
                kept += 1;
            }
        }
        start = end;
    }
    if let Some(last) = offsets.last_mut() {
        *last = kept as u32;
    }
    edges.truncate(kept);
    edges.shrink_to_fit();
}

/// For each state, whether it can take internal steps for ever.
pub(crate) fn diverging(lts: &Lts) -> Vec<bool> {
    let contracted = contract(lts);
    let mut diverges = contracted.divergent;
    // Ascending numbers: internal successors come first.
    for state in contracted.lts.states() {
        let edges = contracted.lts.edges(state);
        if edges.iter().take_while(|e| e.is_tau()).any(|e| diverges[e.target.index()]) {
            diverges[state.index()] = true;
        }
    }
    contracted.component.iter().map(|&c| diverges[c as usize]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read_aut;

    #[test]
    fn internal_cycles_become_single_states_in_order() {
        let text = "des (0, 8, 6)\n(0, i, 1)\n(1, i, 2)\n(2, i, 1)\n(2, a, 3)\n(1, a, 3)\n(3, i, 4)\n(4, i, 4)\n(4, b, 0)\n";
        let lts = read_aut(&mut text.as_bytes(), "x", None).expect("sound");
        let contracted = contract(&lts);
        let c = &contracted.component;
        assert_eq!(c[1], c[2]);
        assert_eq!(contracted.lts.state_count(), 5);
        assert_eq!(contracted.lts.transition_count(), 4);
        assert!(c[0] > c[1] && c[3] > c[4]);
        assert!(contracted.divergent[c[1] as usize] && contracted.divergent[c[4] as usize]);
        assert!(!contracted.divergent[c[0] as usize]);
        assert_eq!(diverging(&lts), [true, true, true, true, true, false]);
    }
}
