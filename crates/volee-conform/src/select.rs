//! Selection, the direct way: the states that lead to acceptance by a backward search, then what a tester
//! keeps of them.
//!
//! From a meta-state that leads to acceptance, a step is kept if its target does, too; an output that leads
//! elsewhere is allowed but INCONCLUSIVE; an input that leads elsewhere is not worth sending. Everything else
//! that an implementation might output is FAIL.

use serde::Serialize;

use crate::determinised::{Determinised, MetaId, Moves};
use crate::graph::{Form, Node, TestEdge, TestGraph};
use crate::{ActionId, Actions, ConformError};

/// How large everything was.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Sizes {
    /// States of the specification that were looked at.
    pub specification_states: u64,
    /// Their steps.
    pub specification_transitions: u64,
    /// Meta-states of the determinised product that were met.
    pub meta_states: u64,
    /// Steps between them.
    pub meta_transitions: u64,
    /// States of the graph before determinisation, where the method has one.
    pub raw_states: u64,
    /// Steps of that graph.
    pub raw_transitions: u64,
    /// Nodes of the test graph.
    pub nodes: u64,
    /// Steps of the test graph.
    pub edges: u64,
}

/// A complete test graph and what it was made from.
#[derive(Debug)]
pub struct Selected {
    /// The complete test graph.
    pub graph: TestGraph,
    /// The sizes on the way.
    pub sizes: Sizes,
}

/// The whole determinised product, explicit.
pub(crate) struct Explicit {
    pub offsets: Vec<usize>,
    pub moves: Moves,
}

impl Explicit {
    /// Explores everything; meta-states are numbered breadth-first, so rows come in order.
    pub fn explore(product: &mut Determinised<'_>, initial: MetaId) -> Result<Explicit, ConformError> {
        debug_assert_eq!(initial, MetaId(0));
        let mut all = Explicit { offsets: vec![0], moves: Vec::new() };
        let mut row = Moves::new();
        let mut next = 0;
        while next < product.meta_count() {
            product.moves(MetaId(next as u32), &mut row)?;
            all.moves.extend_from_slice(&row);
            all.offsets.push(all.moves.len());
            let own = (all.moves.capacity() * 8 + all.offsets.capacity() * 8) as u64;
            product.specification_mut().others += own;
            next += 1;
        }
        Ok(all)
    }

    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    pub fn row(&self, meta: MetaId) -> &[(ActionId, MetaId)] {
        &self.moves[self.offsets[meta.index()]..self.offsets[meta.index() + 1]]
    }

    /// The meta-states from which some step that `accepts` says is the goal can be reached.
    pub fn lead_to(&self, accepts: impl Fn(MetaId, ActionId, MetaId) -> bool) -> Vec<bool> {
        let count = self.len();
        let mut starts = vec![0u32; count + 2];
        for (_, target) in self.moves.iter().filter(|(_, t)| !t.is_end()) {
            starts[target.index() + 2] += 1;
        }
        for at in 2..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut sources = vec![0u32; starts[count + 1] as usize];
        let mut leads = vec![false; count];
        let mut queue = Vec::new();
        for meta in (0..count as u32).map(MetaId) {
            for &(action, target) in self.row(meta) {
                if accepts(meta, action, target) && !leads[meta.index()] {
                    leads[meta.index()] = true;
                    queue.push(meta.0);
                }
                if !target.is_end() {
                    let at = &mut starts[target.index() + 1];
                    sources[*at as usize] = meta.0;
                    *at += 1;
                }
            }
        }
        let mut at = 0;
        while at < queue.len() {
            let meta = queue[at] as usize;
            at += 1;
            for &source in &sources[starts[meta] as usize..starts[meta + 1] as usize] {
                if !leads[source as usize] {
                    leads[source as usize] = true;
                    queue.push(source);
                }
            }
        }
        leads
    }
}

impl Explicit {
    /// The test graph of the meta-states that lead to acceptance.
    fn select(
        &self,
        product: &mut Determinised<'_>,
        initial: MetaId,
        leads: &[bool],
    ) -> Result<TestGraph, ConformError> {
        let row = |_: &mut Determinised<'_>, meta: MetaId, out: &mut Moves| {
            out.clear();
            out.extend_from_slice(self.row(meta));
            Ok(())
        };
        Ok(build(product, initial, row, |_, meta| Ok(leads[meta.index()]))?.0)
    }
}

/// The complete test graph, by the direct method.
///
/// # Errors
/// No test exists, a limit was hit, or the specification or the purpose makes no sense.
pub fn direct(product: &mut Determinised<'_>) -> Result<Selected, ConformError> {
    let initial = start(product)?;
    let all = Explicit::explore(product, initial)?;
    let leads = all.lead_to(|_, _, target| target == MetaId::ACCEPTED);
    if !leads[initial.index()] {
        return Err(ConformError::NoTest);
    }
    let graph = all.select(product, initial, &leads)?;
    let mut sizes = sizes(product, &graph);
    sizes.meta_transitions = all.moves.len() as u64;
    Ok(Selected { graph, sizes })
}

pub(crate) fn sizes(product: &Determinised<'_>, graph: &TestGraph) -> Sizes {
    Sizes {
        specification_states: product.specification().state_count() as u64,
        specification_transitions: product.specification().transition_count() as u64,
        meta_states: product.meta_count() as u64,
        nodes: graph.node_count() as u64,
        edges: graph.edge_count() as u64,
        ..Sizes::default()
    }
}

/// The initial meta-state, which must not be the end already.
///
/// # Errors
/// It is: the purpose is reached before anything is seen, or no test exists. Or a limit.
pub fn start(product: &mut Determinised<'_>) -> Result<MetaId, ConformError> {
    match product.initial()? {
        MetaId::ACCEPTED => Err(ConformError::advised(
            "the purpose is reached by internal steps alone, before anything can be seen",
            "a test needs something to send or to see: ask for a visible action after it",
        )),
        MetaId::REFUSED => Err(ConformError::NoTest),
        initial => Ok(initial),
    }
}

/// The nodes of a test graph so far, by meta-state.
struct Numbering {
    of: Vec<u32>,
    origin: Vec<MetaId>,
}

impl Numbering {
    const UNKNOWN: u32 = u32::MAX;

    fn find(&self, meta: MetaId) -> Option<Node> {
        self.of.get(meta.index()).filter(|n| **n != Self::UNKNOWN).map(|n| Node(*n))
    }

    fn add(&mut self, meta: MetaId) -> Node {
        if self.of.len() <= meta.index() {
            self.of.resize(meta.index() + 1, Self::UNKNOWN);
        }
        let node = Node(self.origin.len() as u32);
        self.of[meta.index()] = node.0;
        self.origin.push(meta);
        node
    }
}

/// What a tester keeps, forward from the start: `row` gives the steps of a meta-state, `leads` whether one
/// leads to acceptance.
pub(crate) fn build<'s>(
    product: &mut Determinised<'s>,
    initial: MetaId,
    mut row: impl FnMut(&mut Determinised<'s>, MetaId, &mut Moves) -> Result<(), ConformError>,
    mut leads: impl FnMut(&mut Determinised<'s>, MetaId) -> Result<bool, ConformError>,
) -> Result<(TestGraph, Vec<MetaId>), ConformError> {
    let mut nodes = Numbering { of: Vec::new(), origin: Vec::new() };
    nodes.add(initial);
    let mut graph = TestGraph::new(Form::Complete, Actions::default());
    let mut moves = Moves::new();
    let mut kept = Vec::new();
    let mut at = 0;
    while at < nodes.origin.len() {
        product.specification_mut().tick()?;
        row(product, nodes.origin[at], &mut moves)?;
        at += 1;
        kept.clear();
        for &(action, target) in &moves {
            let node = match target {
                MetaId::ACCEPTED => Some(Node::PASS),
                _ if target.is_end() => None,
                _ => nodes.find(target),
            };
            let node = match node {
                Some(node) => node,
                None if !target.is_end() && leads(product, target)? => nodes.add(target),
                None if product.specification().actions().is_input(action) => continue,
                None => Node::INCONCLUSIVE,
            };
            kept.push(TestEdge { action, target: node });
        }
        graph.push_row(kept.iter().copied());
    }
    graph.set_actions(product.specification().actions().clone());
    Ok((graph, nodes.origin))
}

/// The test case that follows a suspension trace of the specification and then looks at what comes: the
/// allowed outputs pass, all others fail. `product` must have no purpose.
///
/// # Errors
/// The trace is not one of the specification, or a limit was hit.
pub fn test_of_trace(product: &mut Determinised<'_>, trace: &[ActionId]) -> Result<TestGraph, ConformError> {
    let mut meta = product.initial()?;
    let mut rows: Vec<Vec<TestEdge>> = Vec::new();
    let mut moves = Moves::new();
    for at in 0..=trace.len() {
        product.moves(meta, &mut moves)?;
        let wanted = trace.get(at).copied();
        let actions = product.specification().actions();
        let mut row = Vec::new();
        for &(action, target) in &moves {
            let output = !actions.is_input(action);
            if Some(action) == wanted {
                meta = target;
                row.push(TestEdge { action, target: Node(at as u32 + 1) });
            } else if output {
                let target = if wanted.is_none() { Node::PASS } else { Node::INCONCLUSIVE };
                row.push(TestEdge { action, target });
            }
        }
        if let Some(wanted) = wanted
            && !row.iter().any(|e| e.action == wanted)
        {
            let name = actions.name(wanted);
            return Err(ConformError::input(format!(
                "step {} of the trace, `{name}`, is not allowed there",
                at + 1
            )));
        }
        rows.push(row);
    }
    let mut graph = TestGraph::new(Form::Case, product.specification().actions().clone());
    rows.into_iter().for_each(|r| graph.push_row(r));
    Ok(graph)
}
