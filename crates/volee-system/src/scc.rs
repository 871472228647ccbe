//! Strongly connected components (Tarjan 1972) of graphs that are there as a whole, without recursion.
//!
//! Searches that find components while they generate their graph have their own, each with what it must know
//! on the way.

/// The component of a state that no root leads to.
pub const UNREACHED: u32 = u32::MAX;

/// The strongly connected components of a graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scc {
    /// The component of each state, or [`UNREACHED`]. Edges between components lead to smaller numbers.
    pub of: Vec<u32>,
    /// How many there are.
    pub count: u32,
}

struct Frame {
    state: u32,
    order: u32,
    next: usize,
}

/// The components of what the roots lead to, in a graph of `len` states. `next` gives the next successor of a
/// state and moves the cursor, which starts at 0.
pub fn strong_components(
    len: usize,
    roots: impl IntoIterator<Item = u32>,
    mut next: impl FnMut(u32, &mut usize) -> Option<u32>,
) -> Scc {
    // While a state is open, `low` is its low link; afterwards `of` is its component.
    let (mut of, mut low) = (vec![UNREACHED; len], vec![UNREACHED; len]);
    let (mut count, mut visited) = (0, 0);
    let mut open: Vec<u32> = Vec::new();
    let mut path: Vec<Frame> = Vec::new();
    for root in roots {
        if low[root as usize] != UNREACHED {
            continue;
        }
        let mut entered = Some(root);
        loop {
            if let Some(state) = entered.take() {
                low[state as usize] = visited;
                path.push(Frame { state, order: visited, next: 0 });
                open.push(state);
                visited += 1;
            }
            let Some(frame) = path.last_mut() else { break };
            let state = frame.state as usize;
            if let Some(target) = next(frame.state, &mut frame.next) {
                match (of[target as usize], low[target as usize]) {
                    (UNREACHED, UNREACHED) => entered = Some(target),
                    (UNREACHED, link) => low[state] = low[state].min(link),
                    _ => {}
                }
                continue;
            }
            let Frame { state: done, order, .. } = *frame;
            path.pop();
            if low[state] == order {
                while let Some(member) = open.pop() {
                    of[member as usize] = count;
                    if member == done {
                        break;
                    }
                }
                count += 1;
            } else if let Some(parent) = path.last() {
                let parent = parent.state as usize;
                low[parent] = low[parent].min(low[state]);
            }
        }
    }
    Scc { of, count }
}

impl Scc {
    /// The states of each component, in ascending order.
    pub fn members(&self) -> Vec<Vec<usize>> {
        let mut members = vec![Vec::new(); self.count as usize];
        for (state, &component) in self.of.iter().enumerate().filter(|(_, c)| **c != UNREACHED) {
            members[component as usize].push(state);
        }
        members
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;

    /// Which states each state leads to, by repetition until nothing changes.
    fn reachable(edges: &[Vec<u32>]) -> Vec<Vec<bool>> {
        let n = edges.len();
        let mut leads: Vec<Vec<bool>> =
            (0..n).map(|s| (0..n).map(|t| s == t || edges[s].contains(&(t as u32))).collect()).collect();
        for middle in 0..n {
            for from in 0..n {
                for to in 0..n {
                    leads[from][to] |= leads[from][middle] && leads[middle][to];
                }
            }
        }
        leads
    }

    #[test]
    fn states_share_a_component_where_each_leads_to_the_other_and_edges_lead_to_smaller_numbers() {
        let mut random = Random::new(1972);
        for _ in 0..2000 {
            let n = 1 + random.below(9_usize);
            let degree = 1 + random.below(3_usize);
            let edges: Vec<Vec<u32>> = (0..n)
                .map(|_| (0..random.below(degree + 1)).map(|_| random.below(n as u32)).collect())
                .collect();
            let leads = reachable(&edges);
            let roots: Vec<u32> = (0..1 + random.below(2)).map(|_| random.below(n as u32)).collect();
            let scc = strong_components(n, roots.clone(), |state, at| {
                *at += 1;
                edges[state as usize].get(*at - 1).copied()
            });
            #[expect(clippy::needless_range_loop, reason = "two indices into two tables")]
            for s in 0..n {
                let reached = roots.iter().any(|&root| leads[root as usize][s]);
                assert_eq!(scc.of[s] != UNREACHED, reached, "{edges:?} from {roots:?}");
                for t in (0..n).filter(|&t| reached && scc.of[t] != UNREACHED) {
                    assert_eq!(scc.of[s] == scc.of[t], leads[s][t] && leads[t][s], "{edges:?}");
                    assert!(!leads[s][t] || scc.of[t] <= scc.of[s], "{edges:?}");
                }
            }
            assert_eq!(
                scc.members().iter().map(Vec::len).sum::<usize>(),
                scc.of.iter().filter(|c| **c != UNREACHED).count()
            );
        }
    }
}
