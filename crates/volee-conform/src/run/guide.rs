//! What to do next and what is allowed: a stored test, or the specification itself walked at random.

use std::collections::HashMap;
use volee_system::Random;

use crate::determinised::{Determinised, MetaId, Moves};
use crate::graph::{Form, Move, Node, TestGraph, Verdict};
use crate::{ActionId, ConformError, DELTA};

/// Where an action leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum After {
    /// The test goes on there.
    Node(u32),
    /// The test ends.
    End(Verdict),
    /// The specification does not allow it.
    Forbidden,
}

/// What a tester does next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Plan {
    /// Sends this label.
    Send(String),
    /// Waits.
    Observe,
}

/// Tells a tester what to do and what is allowed.
pub trait Guide {
    /// Where the test starts.
    ///
    /// # Errors
    /// A limit.
    fn initial(&mut self) -> Result<u32, ConformError>;

    /// Where an output leads; `None` is quiescence.
    ///
    /// # Errors
    /// A limit.
    fn output(&mut self, node: u32, label: Option<&str>) -> Result<After, ConformError>;

    /// Where an input leads.
    ///
    /// # Errors
    /// A limit.
    fn input(&mut self, node: u32, label: &str) -> Result<After, ConformError>;

    /// What to do in a node.
    ///
    /// # Errors
    /// A limit.
    fn plan(&mut self, node: u32) -> Result<Plan, ConformError>;

    /// The outputs that a node allows, for messages.
    ///
    /// # Errors
    /// A limit.
    fn allowed(&mut self, node: u32) -> Result<Vec<String>, ConformError>;
}

/// A stored test as a guide.
pub struct StoredTest<'t> {
    graph: &'t TestGraph,
    plan: Vec<Move>,
}

impl<'t> StoredTest<'t> {
    /// A test case, or a complete graph, which is then played along its shortest ways.
    pub fn new(graph: &'t TestGraph) -> Self {
        StoredTest { plan: graph.plan(), graph }
    }

    fn after(&self, node: u32, action: Option<ActionId>) -> Option<After> {
        let target = self.graph.target(Node(node), action?)?;
        Some(target.verdict().map_or(After::Node(target.0), After::End))
    }
}

impl Guide for StoredTest<'_> {
    fn initial(&mut self) -> Result<u32, ConformError> {
        Ok(0)
    }

    fn output(&mut self, node: u32, label: Option<&str>) -> Result<After, ConformError> {
        let actions = self.graph.actions();
        let action = match label {
            None => Some(DELTA),
            Some(label) => actions.find(label).filter(|a| !actions.is_input(*a)),
        };
        let sends = self.graph.form == Form::Case && self.graph.sends(Node(node)).next().is_some();
        // A test case from another tool does not say what may cross its stimulus: no verdict can rest on
        // that.
        let silent = sends && self.graph.observations(Node(node)).next().is_none();
        let otherwise = if silent { After::End(Verdict::Inconclusive) } else { After::Forbidden };
        Ok(self.after(node, action).unwrap_or(otherwise))
    }

    fn input(&mut self, node: u32, label: &str) -> Result<After, ConformError> {
        let actions = self.graph.actions();
        let action = actions.find(label).filter(|a| actions.is_input(*a));
        Ok(self.after(node, action).unwrap_or(After::End(Verdict::Inconclusive)))
    }

    fn plan(&mut self, node: u32) -> Result<Plan, ConformError> {
        Ok(match self.plan[node as usize] {
            Move::Send(edge) => Plan::Send(self.graph.actions().name(edge.action).into()),
            Move::Observe => Plan::Observe,
        })
    }

    fn allowed(&mut self, node: u32) -> Result<Vec<String>, ConformError> {
        let names =
            self.graph.observations(Node(node)).map(|e| self.graph.actions().name(e.action).to_owned());
        Ok(names.collect())
    }
}

/// The specification itself: sends at random, allows what it allows. The product must have no purpose.
pub struct RandomWalk<'p, 's> {
    product: &'p mut Determinised<'s>,
    known: HashMap<u32, Moves>,
    rng: Random,
}

impl<'p, 's> RandomWalk<'p, 's> {
    /// A walk that its seed determines, as far as the implementation lets it.
    pub fn new(product: &'p mut Determinised<'s>, seed: u64) -> Self {
        RandomWalk { product, known: HashMap::new(), rng: Random::new(seed) }
    }

    fn moves(&mut self, node: u32) -> Result<&Moves, ConformError> {
        if !self.known.contains_key(&node) {
            let mut moves = Moves::new();
            self.product.moves(MetaId(node), &mut moves)?;
            self.known.insert(node, moves);
        }
        Ok(&self.known[&node])
    }

    fn after(
        &mut self,
        node: u32,
        action: Option<ActionId>,
        otherwise: After,
    ) -> Result<After, ConformError> {
        let Some(action) = action else { return Ok(otherwise) };
        let found = self.moves(node)?.iter().find(|(a, _)| *a == action).map(|(_, t)| After::Node(t.0));
        Ok(found.unwrap_or(otherwise))
    }

    /// The specification.
    pub fn product(&self) -> &Determinised<'s> {
        self.product
    }
}

impl Guide for RandomWalk<'_, '_> {
    fn initial(&mut self) -> Result<u32, ConformError> {
        Ok(self.product.initial()?.0)
    }

    fn output(&mut self, node: u32, label: Option<&str>) -> Result<After, ConformError> {
        // The steps of a node make its labels known.
        self.moves(node)?;
        let actions = self.product.specification().actions();
        let action = match label {
            None => Some(DELTA),
            Some(label) => actions.find(label).filter(|a| !actions.is_input(*a)),
        };
        self.after(node, action, After::Forbidden)
    }

    fn input(&mut self, node: u32, label: &str) -> Result<After, ConformError> {
        self.moves(node)?;
        let actions = self.product.specification().actions();
        let action = actions.find(label).filter(|a| actions.is_input(*a));
        // What the specification does not say about an input is not tested.
        self.after(node, action, After::End(Verdict::Inconclusive))
    }

    fn plan(&mut self, node: u32) -> Result<Plan, ConformError> {
        let moves = self.moves(node)?.clone();
        let actions = self.product.specification().actions();
        let (inputs, outputs): (Vec<_>, Vec<_>) =
            moves.iter().map(|(a, _)| *a).partition(|a| actions.is_input(*a));
        // Silence alone is seen rarely: it costs a time-out.
        let only_silence = outputs == [DELTA];
        let wait = if only_silence { self.rng.chance(1, 20) } else { self.rng.chance(3, 4) };
        if inputs.is_empty() || (wait && !outputs.is_empty()) {
            return Ok(Plan::Observe);
        }
        let chosen = inputs[self.rng.part_of(inputs.len() as u64) as usize];
        Ok(Plan::Send(self.product.specification().actions().name(chosen).into()))
    }

    fn allowed(&mut self, node: u32) -> Result<Vec<String>, ConformError> {
        let moves = self.moves(node)?.clone();
        let actions = self.product.specification().actions();
        Ok(moves
            .iter()
            .filter(|(a, _)| !actions.is_input(*a))
            .map(|(a, _)| actions.name(*a).to_owned())
            .collect())
    }
}
