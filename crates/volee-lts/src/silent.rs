//! Internal steps: their cycles, and the system with every such cycle contracted into one state.
//!
//! States on a cycle of internal steps are branching bisimilar, so contraction loses nothing but divergence, which
//! is kept beside. Afterwards internal steps are acyclic, and components are numbered so that they lead from larger
//! to smaller numbers: one ascending pass sees every state after its internal successors.

use crate::{Edge, LabelId, Lts, StateId};
use volee_store::large::{with_capacity, zeroes};

/// The strongly connected components of some steps.
pub(crate) struct Components {
    /// The component of each state. Steps between components lead to smaller numbers.
    pub of: Vec<u32>,
    /// How many there are.
    pub count: u32,
}

const UNSEEN: u32 = u32::MAX;

/// Tarjan's algorithm over the wanted edges, without recursion.
pub(crate) fn components(lts: &Lts, wanted: impl Fn(StateId, Edge) -> bool) -> Components {
    let states = lts.state_count();
    // While a state is on Tarjan's stack, `low` is its low link; afterwards `of` is its component.
    let (mut of, mut low) = (with_capacity(states), with_capacity(states));
    of.resize(states, UNSEEN);
    low.resize(states, UNSEEN);
    let mut count = 0;
    let mut visited = 0;
    let mut open: Vec<u32> = Vec::new();
    let mut path: Vec<Frame> = Vec::new();
    for root in lts.states() {
        if low[root.index()] != UNSEEN {
            continue;
        }
        path.push(Frame::enter(lts, root, &mut visited, &mut low, &mut open));
        while let Some(frame) = path.last_mut() {
            let state = StateId(frame.state);
            if frame.next < frame.end {
                let edge = lts.all_edges()[frame.next as usize];
                frame.next += 1;
                let target = edge.target.index();
                if edge.target == state || !wanted(state, edge) || of[target] != UNSEEN {
                    continue;
                }
                if low[target] == UNSEEN {
                    let entered = Frame::enter(lts, edge.target, &mut visited, &mut low, &mut open);
                    path.push(entered);
                } else {
                    low[state.index()] = low[state.index()].min(low[target]);
                }
                continue;
            }
            let Frame { state, order, .. } = *frame;
            path.pop();
            let reached = low[state as usize];
            if reached == order {
                while let Some(member) = open.pop() {
                    of[member as usize] = count;
                    if member == state {
                        break;
                    }
                }
                count += 1;
            } else if let Some(parent) = path.last() {
                let parent_low = &mut low[parent.state as usize];
                *parent_low = (*parent_low).min(reached);
            }
        }
    }
    Components { of, count }
}

struct Frame {
    state: u32,
    order: u32,
    next: u32,
    end: u32,
}

impl Frame {
    fn enter(lts: &Lts, state: StateId, visited: &mut u32, low: &mut [u32], open: &mut Vec<u32>) -> Frame {
        let order = *visited;
        *visited += 1;
        low[state.index()] = order;
        open.push(state.0);
        let row = &lts.offsets()[state.index()..];
        Frame { state: state.0, order, next: row[0], end: row[1] }
    }
}

/// The components of the internal steps.
pub(crate) fn tau_components(lts: &Lts) -> Components {
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
    let Components { of, count } = tau_components(lts);
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
