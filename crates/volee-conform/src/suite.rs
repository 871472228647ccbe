//! A suite of test cases that covers every visible transition of a small specification.
//!
//! A transition is one of the determinised specification: what a tester can tell apart. For each that is not
//! yet covered, farthest from the start first, the shortest controllable test case that ends with it is made;
//! the others on its way to PASS are covered, too.

use hashbrown::HashSet;

use crate::determinised::{Determinised, MetaId, Moves};
use crate::graph::TestGraph;
use crate::select::{Explicit, build, start};
use crate::{ActionId, ConformError, DELTA};

/// One test case of a suite.
#[derive(Debug)]
pub struct SuiteTest {
    /// The test case.
    pub case: TestGraph,
    /// What is seen on its way to PASS.
    pub path: Vec<String>,
}

/// A suite and what it covers.
#[derive(Debug)]
pub struct Suite {
    /// The test cases.
    pub tests: Vec<SuiteTest>,
    /// Visible transitions that some test covers on its way to PASS.
    pub covered: usize,
    /// Visible transitions there are.
    pub transitions: usize,
    /// States of the determinised specification.
    pub states: usize,
}

/// Covers every visible transition with at most `most` tests. `product` must have no purpose.
///
/// # Errors
/// A limit, or the specification makes no sense.
pub fn covering_suite(product: &mut Determinised<'_>, most: usize) -> Result<Suite, ConformError> {
    let initial = start(product)?;
    let all = Explicit::explore(product, initial)?;
    let mut goals: Vec<(MetaId, ActionId)> = Vec::new();
    for meta in (0..all.len() as u32).map(MetaId) {
        goals.extend(all.row(meta).iter().filter(|(a, _)| *a != DELTA).map(|(a, _)| (meta, *a)));
    }
    let mut suite = Suite { tests: Vec::new(), covered: 0, transitions: goals.len(), states: all.len() };
    let mut covered: HashSet<(MetaId, ActionId)> = HashSet::new();
    // Meta-states are numbered breadth-first, so the last are the farthest.
    for &goal in goals.iter().rev() {
        if suite.tests.len() >= most {
            break;
        }
        if covered.contains(&goal) {
            continue;
        }
        let (test, path) = test_of(product, &all, initial, goal)?;
        covered.extend(path.iter().filter(|(_, action)| *action != DELTA));
        let name =
            |(_, action): &(MetaId, ActionId)| product.specification().actions().name(*action).to_owned();
        suite.tests.push(SuiteTest { case: test, path: path.iter().map(name).collect() });
    }
    suite.covered = covered.len();
    Ok(suite)
}

/// The test case that ends with one transition, and its way there.
fn test_of(
    product: &mut Determinised<'_>,
    all: &Explicit,
    initial: MetaId,
    goal: (MetaId, ActionId),
) -> Result<(TestGraph, Vec<(MetaId, ActionId)>), ConformError> {
    let leads = all.lead_to(|meta, action, _| (meta, action) == goal);
    let row = |_: &mut Determinised<'_>, meta: MetaId, out: &mut Moves| {
        out.clear();
        let accept = |&(action, target): &(ActionId, MetaId)| match (meta, action) == goal {
            true => (action, MetaId::ACCEPTED),
            false => (action, target),
        };
        out.extend(all.row(meta).iter().map(accept));
        Ok(())
    };
    let (graph, origin) = build(product, initial, row, |_, meta| Ok(leads[meta.index()]))?;
    let ranks = graph.ranks();
    let mut path = Vec::new();
    let mut node = crate::Node(0);
    while node.verdict().is_none() {
        let edge = graph.choice(node, &ranks).ok_or(ConformError::NoTest)?;
        path.push((origin[node.index()], edge.action));
        node = edge.target;
    }
    Ok((graph.case(), path))
}
