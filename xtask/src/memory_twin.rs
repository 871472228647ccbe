//! The depth-first traversal with replacement exactly as the 1991 report has it (section 2.1), on an explicit
//! graph.
//!
//! Memory is counted in states, and what waits along the path costs nothing. It tells what the algorithm can
//! reach on a graph, whatever an implementation spends on a state.

use volee::lts::{Lts, StateId};

/// What a traversal cost.
#[derive(Debug, Clone, Copy)]
pub struct Traversal {
    /// States put into memory.
    pub insertions: u64,
    /// Successors generated.
    pub generated: u64,
}

/// Where a state is.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Unknown,
    Path,
    /// At this index of the visited states.
    Visited(u32),
}

/// Traverses a graph with room for this many states; `None` when the path needs more, or after this many
/// insertions.
pub fn traverse(lts: &Lts, capacity: usize, most: u64) -> Option<Traversal> {
    let mut random = 1991u64;
    let mut place = vec![Place::Unknown; lts.state_count()];
    let mut visited: Vec<StateId> = Vec::new();
    let mut path = vec![(lts.initial(), 0)];
    place[lts.initial().index()] = Place::Path;
    let mut cost = Traversal { insertions: 1, generated: 0 };
    while let Some(top) = path.last_mut() {
        let (state, next) = *top;
        let Some(edge) = lts.edges(state).get(next) else {
            path.pop();
            place[state.index()] = Place::Visited(visited.len() as u32);
            visited.push(state);
            continue;
        };
        top.1 += 1;
        cost.generated += 1;
        let target = edge.target;
        if place[target.index()] != Place::Unknown {
            continue;
        }
        if path.len() + visited.len() >= capacity {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            if visited.is_empty() {
                return None;
            }
            let chosen = (random >> 33) as usize % visited.len();
            place[visited.swap_remove(chosen).index()] = Place::Unknown;
            if let Some(moved) = visited.get(chosen) {
                place[moved.index()] = Place::Visited(chosen as u32);
            }
        }
        place[target.index()] = Place::Path;
        path.push((target, 0));
        cost.insertions += 1;
        if cost.insertions > most {
            return None;
        }
    }
    Some(cost)
}
