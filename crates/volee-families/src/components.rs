//! Strongly connected components (Tarjan 1972), numbered so that no edge leads to a larger number.

/// The number of the component of each of `nodes` nodes.
pub fn components(nodes: usize, edges: &[(u32, u32)]) -> Vec<u32> {
    let mut starts = vec![0usize; nodes + 1];
    edges.iter().for_each(|e| starts[e.0 as usize + 1] += 1);
    (0..nodes).for_each(|n| starts[n + 1] += starts[n]);
    let mut next = starts.clone();
    let mut targets = vec![0u32; edges.len()];
    for &(from, to) in edges {
        targets[next[from as usize]] = to;
        next[from as usize] += 1;
    }
    const NEW: u32 = u32::MAX;
    let (mut index, mut low) = (vec![NEW; nodes], vec![NEW; nodes]);
    let mut component = vec![NEW; nodes];
    let (mut stack, mut path): (Vec<u32>, Vec<(u32, usize)>) = (Vec::new(), Vec::new());
    let (mut count, mut closed) = (0, 0);
    for root in 0..nodes as u32 {
        if index[root as usize] != NEW {
            continue;
        }
        path.push((root, starts[root as usize]));
        while let Some((node, at)) = path.pop() {
            let n = node as usize;
            if index[n] == NEW {
                (index[n], low[n]) = (count, count);
                count += 1;
                stack.push(node);
            }
            if at < starts[n + 1] {
                let to = targets[at] as usize;
                if index[to] == NEW {
                    path.push((node, at));
                    path.push((to as u32, starts[to]));
                } else {
                    if component[to] == NEW {
                        low[n] = low[n].min(low[to]);
                    }
                    path.push((node, at + 1));
                }
                continue;
            }
            if low[n] == index[n] {
                while let Some(top) = stack.pop() {
                    component[top as usize] = closed;
                    if top == node {
                        break;
                    }
                }
                closed += 1;
            }
        }
    }
    component
}

#[cfg(test)]
mod tests {
    use super::components;

    #[test]
    fn what_reaches_each_other_has_one_number_and_no_edge_leads_upwards() {
        let edges = [(0, 1), (1, 2), (2, 1), (2, 3), (3, 3), (4, 0), (1, 4), (5, 3)];
        let of = components(6, &edges);
        assert!(edges.iter().all(|e| of[e.1 as usize] <= of[e.0 as usize]));
        assert_eq!((of[0], of[1], of[2]), (of[4], of[4], of[4]));
        assert!(of[3] < of[0] && of[5] != of[0]);
    }
}
