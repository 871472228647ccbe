//! Strong fairness: only runs count in which every process that can move again and again does move again and
//! again.
//!
//! A component of the product has such a run that the claim accepts if it has all acceptance marks and each
//! process that can move somewhere in it moves in it. A process that only could is the reason to go on
//! without the states where it can, among which there may be smaller components (Emerson and Lei, "Modalities
//! for model checking", 1987: Streett acceptance). A component is then no longer one of the whole product, so
//! it is explored first.

use volee_system::{Meter, Progress, System};

use super::graph::{Arrow, Graph, Inside};
use super::marks::Marks;
use super::product::Product;
use super::{Claim, Found};

/// Looks for a strongly fair lasso that the claim accepts.
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
    if let Some(found) = graph.trapped() {
        return found;
    }
    let wanted = claim.automaton.all_marks();
    let mut group = vec![0; graph.len()];
    let mut groups = 0;
    let mut pending: Vec<(u32, Vec<u32>)> = vec![(0, (0..graph.len() as u32).collect())];
    while let Some((number, nodes)) = pending.pop() {
        if let Err(limit) = meter.check() {
            return Found::Limit(limit);
        }
        for component in graph.components(&nodes, &group, number) {
            groups += 1;
            component.iter().for_each(|&node| group[node as usize] = groups);
            let is_member = |node: u32| group[node as usize] == groups;
            let inside = Inside::of(&graph, &component, is_member);
            if inside.arrows == 0 || inside.marks != wanted {
                continue;
            }
            let starved = inside.enabled.without(inside.moved);
            if starved.is_empty() {
                let root = *component.iter().min_by_key(|&&n| graph.depth[n as usize]).expect("not empty");
                let cycle = cycle(&graph, root, is_member, wanted, inside.enabled);
                return graph.lasso(claim, root, &cycle);
            }
            let starves = |node: u32| {
                let enabled: Marks<5> = graph.enabled[node as usize].as_marks();
                enabled.without(starved) != enabled
            };
            let left: Vec<u32> = component.into_iter().filter(|&node| !starves(node)).collect();
            groups += 1;
            left.iter().for_each(|&node| group[node as usize] = groups);
            if !left.is_empty() {
                pending.push((groups, left));
            }
        }
    }
    Found::Nothing
}

/// A cycle from `root` with all marks, on which each of `movers` moves.
fn cycle(
    graph: &Graph,
    root: u32,
    is_member: impl Fn(u32) -> bool,
    mut marks: u64,
    mut movers: Marks<5>,
) -> Vec<Arrow> {
    let mut taken: Vec<Arrow> = Vec::new();
    let mut at = root;
    while marks != 0 || !movers.is_empty() {
        let helps = |arrow: &Arrow| {
            arrow.marks & marks != 0
                || arrow.mover.is_some_and(|mover| movers.without(Marks::of_process(mover)) != movers)
        };
        for arrow in shortest(graph, at, &is_member, helps) {
            marks &= !arrow.marks;
            if let Some(mover) = arrow.mover {
                movers = movers.without(Marks::of_process(mover));
            }
            at = arrow.target;
            taken.push(arrow);
        }
    }
    if at != root || taken.is_empty() {
        taken.extend(shortest(graph, at, &is_member, |arrow| arrow.target == root));
    }
    taken
}

/// The shortest way from a node to and over a transition that is wanted.
fn shortest(
    graph: &Graph,
    from: u32,
    is_member: impl Fn(u32) -> bool,
    wanted: impl Fn(&Arrow) -> bool,
) -> Vec<Arrow> {
    let mut reached: Vec<(u32, Option<(usize, Arrow)>)> = vec![(from, None)];
    let mut seen = std::collections::HashSet::from([from]);
    let mut next = 0;
    while next < reached.len() {
        let here = next;
        next += 1;
        for &arrow in graph.arrows(reached[here].0).iter().filter(|a| is_member(a.target)) {
            if wanted(&arrow) {
                let mut way = vec![arrow];
                let mut at = here;
                while let Some((before, arrow)) = reached[at].1 {
                    way.push(arrow);
                    at = before;
                }
                way.reverse();
                return way;
            }
            if seen.insert(arrow.target) {
                reached.push((arrow.target, Some((here, arrow))));
            }
        }
    }
    unreachable!("what is wanted is somewhere in the component")
}
