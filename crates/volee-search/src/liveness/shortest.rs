//! Shortest lassos: of all that the claim accepts, one whose way and cycle have together the fewest steps.
//!
//! The whole product is explored breadth first. A lasso starts its cycle at some node of a component with all
//! acceptance marks; for each such node, nearest first, a second search goes through pairs of a node and the
//! marks met so far, back to where it started. A lasso that is no shorter than one that is known is not
//! looked for.

use std::collections::{HashMap, VecDeque};

use volee_system::{Limit, Meter, Progress, System};

use super::graph::{Arrow, Graph, Inside};
use super::product::Product;
use super::{Claim, Found};

/// Pairs looked at between two looks at the clock.
const TICK: usize = 1 << 16;

/// Looks for a shortest lasso that the claim accepts.
pub(crate) fn search<S: System + ?Sized>(
    product: &mut Product<'_, S, 5>,
    claim: &Claim,
    meter: &Meter,
    progress: &mut dyn Progress,
) -> Found {
    let graph = match Graph::explore(product, meter, progress) {
        Ok(graph) => graph,
        Err(found) => return found,
    };
    let all: Vec<u32> = (0..graph.len() as u32).collect();
    let wanted = claim.automaton.all_marks();
    let mut group = vec![0; graph.len()];
    let mut accepting = vec![false];
    for component in graph.components(&all, &group.clone(), 0) {
        let number = accepting.len() as u32;
        component.iter().for_each(|&node| group[node as usize] = number);
        let inside = Inside::of(&graph, &component, |node| group[node as usize] == number);
        accepting.push(inside.arrows > 0 && inside.marks == wanted);
    }
    let mut best: Option<(u32, Vec<Arrow>)> = None;
    // A run into a trap needs no cycle; only a lasso that is shorter is wanted then.
    let mut length = graph.trap.map_or(usize::MAX, |node| graph.depth[node as usize] as usize);
    let mut effort = 0;
    for node in all.into_iter().filter(|&node| accepting[group[node as usize] as usize]) {
        let depth = graph.depth[node as usize] as usize;
        if depth + 1 >= length {
            break;
        }
        let is_member = |other: u32| group[other as usize] == group[node as usize];
        let mut look = || -> Result<(), Limit> {
            effort += 1;
            if effort % TICK == 0 { meter.check() } else { Ok(()) }
        };
        match cycle(&graph, node, is_member, wanted, length - depth, &mut look) {
            Ok(Some(found)) => {
                length = depth + found.len();
                best = Some((node, found));
            }
            Ok(None) => {}
            Err(limit) if best.is_none() && graph.trap.is_none() => return Found::Limit(limit),
            Err(_) => break,
        }
    }
    match best {
        Some((node, cycle)) => graph.lasso(claim, node, &cycle),
        None => graph.trapped().unwrap_or(Found::Nothing),
    }
}

/// A shortest cycle from `root` with all marks, of less than `bound` transitions.
fn cycle(
    graph: &Graph,
    root: u32,
    is_member: impl Fn(u32) -> bool,
    wanted: u64,
    bound: usize,
    look: &mut dyn FnMut() -> Result<(), Limit>,
) -> Result<Option<Vec<Arrow>>, Limit> {
    type Pair = (u32, u64);
    let mut reached: HashMap<Pair, Option<(Pair, Arrow)>> = HashMap::from([((root, 0), None)]);
    let mut queue = VecDeque::from([((root, 0), 1)]);
    while let Some((here, length)) = queue.pop_front() {
        look()?;
        if length >= bound {
            return Ok(None);
        }
        for &arrow in graph.arrows(here.0).iter().filter(|a| is_member(a.target)) {
            let there = (arrow.target, here.1 | arrow.marks & wanted);
            if there == (root, wanted) {
                let mut way = vec![arrow];
                let mut at = here;
                while let Some((before, arrow)) = reached[&at] {
                    way.push(arrow);
                    at = before;
                }
                way.reverse();
                return Ok(Some(way));
            }
            reached.entry(there).or_insert_with(|| {
                queue.push_back((there, length + 1));
                Some((here, arrow))
            });
        }
    }
    Ok(None)
}
