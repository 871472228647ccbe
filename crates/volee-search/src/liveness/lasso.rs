//! The cycle of an accepted component: from its root through transitions with all marks, and back.
//!
//! Each piece is a shortest one (breadth-first inside the component), so cycles stay readable.

use std::collections::VecDeque;

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use volee_system::System;

use super::marks::Marks;
use super::nodes::DEAD;
use super::product::{Arc, Product, STUTTER, Stop};

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
        product.expand(node, &mut arcs)?;
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
