//! The lasso of an accepted component: a way to it, and from there through transitions with all marks, and
//! back.
//!
//! A depth-first search comes to a component by any way, often a very long one. So the way is looked for
//! again, breadth-first among the nodes that were visited, and so is each piece of the cycle inside the
//! component: runs stay readable.

use std::collections::VecDeque;

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use volee_system::System;

use super::marks::Marks;
use super::nodes::{DEAD, UNVISITED};
use super::product::{Arc, Product, STUTTER, Stop};

/// Nodes that are expanded to find a shorter way; beyond them the one that was found is good enough.
const MOST_NODES: usize = 1 << 18;

/// A shortest way through visited nodes.
pub(crate) struct Way {
    /// Which initial state it starts from.
    pub initial: u32,
    pub steps: Vec<u32>,
    /// Where it ends.
    pub node: u32,
}

/// A shortest way from an initial node to one that is wanted; nothing if there are too many nodes before it.
pub(crate) fn way<S: System + ?Sized, const W: usize>(
    product: &mut Product<'_, S, W>,
    wanted: impl Fn(&Product<'_, S, W>, u32) -> bool,
) -> Option<Way> {
    let mut reached: HashMap<u32, (u32, u32), FixedState> = HashMap::with_hasher(FixedState::default());
    let mut queue = VecDeque::new();
    let (mut arcs, mut expanded) = (Vec::new(), 0);
    let initial = product.initial();
    for (ordinal, &node) in (0..).zip(&initial) {
        if product.nodes.order[node as usize] != UNVISITED && !reached.contains_key(&node) {
            reached.insert(node, (node, ordinal));
            queue.push_back(node);
        }
    }
    while let Some(node) = queue.pop_front() {
        if wanted(product, node) {
            return Some(traced(&reached, &initial, node));
        }
        expanded += 1;
        if expanded > MOST_NODES {
            return None;
        }
        arcs.clear();
        product.expand_fully(node, &mut arcs).ok()?;
        for arc in &arcs {
            if product.nodes.order[arc.node as usize] != UNVISITED && !reached.contains_key(&arc.node) {
                reached.insert(arc.node, (node, arc.ordinal));
                queue.push_back(arc.node);
            }
        }
    }
    None
}

/// The way to a node, from what led to each.
fn traced(reached: &HashMap<u32, (u32, u32), FixedState>, initial: &[u32], node: u32) -> Way {
    let (mut steps, mut at) = (Vec::new(), node);
    loop {
        let (before, ordinal) = reached[&at];
        if before == at && initial.contains(&at) {
            steps.reverse();
            return Way { initial: ordinal, steps, node };
        }
        if ordinal != STUTTER {
            steps.push(ordinal);
        }
        at = before;
    }
}

/// The steps of the system around the cycle; none if it is a finished run that stutters.
pub(crate) struct Lasso {
    pub steps: Vec<u32>,
}

/// A cycle from `root` through all marks, in the component whose nodes stand at `lowest` or above.
pub(crate) fn cycle<S: System + ?Sized, const W: usize>(
    product: &mut Product<'_, S, W>,
    root: u32,
    lowest: u32,
    all: Marks<W>,
) -> Result<Lasso, Stop> {
    let mut steps = Vec::new();
    let mut missing = all;
    let mut at = root;
    while !missing.is_empty() {
        let piece = shortest(product, at, lowest, |arc| !missing_after(missing, arc.marks))?;
        for arc in &piece {
            missing = missing.without(arc.marks);
            steps.push(arc.ordinal);
            at = arc.node;
        }
    }
    if at != root || steps.is_empty() {
        let back = shortest(product, at, lowest, |arc| arc.node == root)?;
        steps.extend(back.iter().map(|arc| arc.ordinal));
    }
    steps.retain(|&ordinal| ordinal != STUTTER);
    Ok(Lasso { steps })
}

/// Whether an arc takes nothing away from what is missing.
fn missing_after<const W: usize>(missing: Marks<W>, marks: Marks<W>) -> bool {
    missing.without(marks) == missing
}

/// The shortest way from `from` to and over a transition that is wanted.
fn shortest<S: System + ?Sized, const W: usize>(
    product: &mut Product<'_, S, W>,
    from: u32,
    lowest: u32,
    wanted: impl Fn(&Arc<W>) -> bool,
) -> Result<Vec<Arc<W>>, Stop> {
    let mut reached: HashMap<u32, Option<(u32, Arc<W>)>, FixedState> =
        HashMap::with_hasher(FixedState::default());
    reached.insert(from, None);
    let mut queue = VecDeque::from([from]);
    let mut arcs = Vec::new();
    while let Some(node) = queue.pop_front() {
        arcs.clear();
        product.expand_fully(node, &mut arcs)?;
        for &arc in &arcs {
            let order = product.nodes.order[arc.node as usize];
            if order < lowest || order == DEAD {
                continue;
            }
            if wanted(&arc) {
                let mut way = vec![arc];
                let mut at = node;
                while let Some((before, arc)) = reached[&at] {
                    way.push(arc);
                    at = before;
                }
                way.reverse();
                return Ok(way);
            }
            reached.entry(arc.node).or_insert_with(|| {
                queue.push_back(arc.node);
                Some((node, arc))
            });
        }
    }
    unreachable!("an accepted component has a cycle through all its marks")
}
