//! Test graphs and test cases: what to send, what to expect, and the verdicts.
//!
//! A node is observed or sends. Whatever is not listed among the outputs of a node is a failure, so FAIL is
//! implicit. A complete test graph has all tests for a purpose in it; a test case is controllable: in each
//! node it either sends one thing or waits for anything. Beside what it sends, a sending node of a test case
//! lists the outputs that may cross its stimulus: they are allowed, and the test goes on elsewhere or ends
//! inconclusive.

use serde::{Deserialize, Serialize};
use volee_lts::{LabelId, Lts, LtsBuilder, Method, StateId, reduce};
use volee_system::Meter;

use crate::{Action, ActionId, Actions, ConformError, DELTA, Kind};

/// How a test can end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// What the purpose asks for was seen, and nothing wrong.
    Pass,
    /// The implementation did what the specification does not allow.
    Fail,
    /// Nothing wrong was seen, but the purpose can no longer be reached.
    Inconclusive,
}

/// A node of a test graph, or one of the two verdicts it can lead to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Node(pub u32);

impl Node {
    /// The purpose is reached.
    pub const PASS: Node = Node(u32::MAX);
    /// The purpose can no longer be reached.
    pub const INCONCLUSIVE: Node = Node(u32::MAX - 1);

    /// The verdict, where it is one.
    pub fn verdict(self) -> Option<Verdict> {
        match self {
            Node::PASS => Some(Verdict::Pass),
            Node::INCONCLUSIVE => Some(Verdict::Inconclusive),
            _ => None,
        }
    }

    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A step of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TestEdge {
    /// What is sent or seen.
    pub action: ActionId,
    /// Where it leads.
    pub target: Node,
}

/// What a node of a test does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Move {
    /// Sends this and goes there.
    Send(TestEdge),
    /// Waits for an output or for quiescence.
    Observe,
}

/// Everything at once, or one way through it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// All tests for a purpose.
    Complete,
    /// A controllable test case.
    Case,
}

/// A test graph. Node 0 is the start.
#[derive(Debug, Clone)]
pub struct TestGraph {
    /// Complete or a test case.
    pub form: Form,
    actions: Actions,
    offsets: Vec<u32>,
    edges: Vec<TestEdge>,
}

const FAR: u32 = u32::MAX;

impl TestGraph {
    pub(crate) fn new(form: Form, actions: Actions) -> Self {
        TestGraph { form, actions, offsets: vec![0], edges: Vec::new() }
    }

    /// Adds the next node.
    pub(crate) fn push_row(&mut self, row: impl IntoIterator<Item = TestEdge>) {
        self.edges.extend(row);
        self.offsets.push(self.edges.len() as u32);
    }

    pub(crate) fn set_actions(&mut self, actions: Actions) {
        self.actions = actions;
    }

    /// The same graph with actions and nodes numbered by what the graph says alone: actions by their texts,
    /// nodes breadth-first. Whoever has explored what first does not show.
    #[must_use]
    pub fn in_order(&self) -> TestGraph {
        let mut old: Vec<ActionId> = (1..self.actions.len() as u32).map(ActionId).collect();
        // Whoever looks further knows more actions: those of the graph come first.
        let mut is_used = vec![false; self.actions.len()];
        self.edges.iter().for_each(|edge| is_used[edge.action.index()] = true);
        old.sort_unstable_by_key(|id| (!is_used[id.index()], self.actions.name(*id)));
        let mut actions = Actions::default();
        let mut renamed = vec![DELTA; self.actions.len()];
        for id in old {
            let Action { name, kind } = self.actions.get(id);
            renamed[id.index()] = actions.intern(name, *kind);
        }
        let mut number = vec![FAR; self.node_count()];
        number[0] = 0;
        let mut kept = vec![Node(0)];
        let mut graph = TestGraph::new(self.form, actions);
        let mut at = 0;
        while at < kept.len() {
            let edges = self.edges(kept[at]);
            at += 1;
            let mut row: Vec<TestEdge> =
                edges.iter().map(|e| TestEdge { action: renamed[e.action.index()], ..*e }).collect();
            row.sort_unstable_by_key(|e| e.action);
            for edge in &mut row {
                if edge.target.verdict().is_none() {
                    let slot = &mut number[edge.target.index()];
                    if *slot == FAR {
                        *slot = kept.len() as u32;
                        kept.push(edge.target);
                    }
                    edge.target = Node(*slot);
                }
            }
            graph.push_row(row);
        }
        graph
    }

    /// The actions.
    pub fn actions(&self) -> &Actions {
        &self.actions
    }

    /// How many nodes there are, verdicts not counted.
    pub fn node_count(&self) -> usize {
        self.offsets.len() - 1
    }

    /// How many steps there are.
    pub fn edge_count(&self) -> usize {
        self.edges.len()
    }

    /// All nodes.
    pub fn nodes(&self) -> impl Iterator<Item = Node> + use<> {
        (0..self.offsets.len() as u32 - 1).map(Node)
    }

    /// The steps of a node; verdicts have none.
    pub fn edges(&self, node: Node) -> &[TestEdge] {
        if node.verdict().is_some() {
            return &[];
        }
        &self.edges[self.offsets[node.index()] as usize..self.offsets[node.index() + 1] as usize]
    }

    /// Where an action leads from a node.
    pub fn target(&self, node: Node, action: ActionId) -> Option<Node> {
        self.edges(node).iter().find(|e| e.action == action).map(|e| e.target)
    }

    /// For each node the number of steps to PASS on the shortest way.
    pub(crate) fn ranks(&self) -> Vec<u32> {
        let count = self.node_count();
        let mut rank = vec![FAR; count];
        let mut starts = vec![0u32; count + 2];
        for edge in self.edges.iter().filter(|e| e.target.verdict().is_none()) {
            starts[edge.target.index() + 2] += 1;
        }
        for at in 2..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut sources = vec![0u32; starts[count + 1] as usize];
        let mut queue = Vec::new();
        for node in self.nodes() {
            for edge in self.edges(node) {
                match edge.target {
                    Node::PASS if rank[node.index()] == FAR => {
                        rank[node.index()] = 1;
                        queue.push(node.0);
                    }
                    Node::PASS | Node::INCONCLUSIVE => {}
                    target => {
                        let at = &mut starts[target.index() + 1];
                        sources[*at as usize] = node.0;
                        *at += 1;
                    }
                }
            }
        }
        let mut at = 0;
        while at < queue.len() {
            let node = queue[at] as usize;
            at += 1;
            for &source in &sources[starts[node] as usize..starts[node + 1] as usize] {
                if rank[source as usize] == FAR {
                    rank[source as usize] = rank[node] + 1;
                    queue.push(source);
                }
            }
        }
        rank
    }

    /// The step that leads to PASS on a shortest way; what the tester decides comes first, then the order of
    /// texts.
    pub(crate) fn choice(&self, node: Node, ranks: &[u32]) -> Option<TestEdge> {
        let rank = |target: Node| match target {
            Node::PASS => 0,
            Node::INCONCLUSIVE => FAR,
            inner => ranks[inner.index()],
        };
        let key =
            |e: &&TestEdge| (rank(e.target), !self.actions.is_input(e.action), self.actions.name(e.action));
        self.edges(node).iter().filter(|e| rank(e.target) != FAR).min_by(|a, b| key(a).cmp(&key(b))).copied()
    }

    /// What each node does: the send that leads to PASS on a shortest way, else observe.
    pub fn plan(&self) -> Vec<Move> {
        let ranks = self.ranks();
        let of = |node| match self.choice(node, &ranks) {
            Some(edge) if self.actions.is_input(edge.action) => Move::Send(edge),
            _ => Move::Observe,
        };
        self.nodes().map(of).collect()
    }

    /// A controllable test case: the shortest, and the same every time.
    pub fn case(&self) -> TestGraph {
        let plan = self.plan();
        let mut number = vec![FAR; self.node_count()];
        let mut kept = vec![Node(0)];
        number[0] = 0;
        let mut at = 0;
        while at < kept.len() {
            let node = kept[at];
            at += 1;
            let mut keep = |edge: &TestEdge| {
                if edge.target.verdict().is_none() && number[edge.target.index()] == FAR {
                    number[edge.target.index()] = kept.len() as u32;
                    kept.push(edge.target);
                }
            };
            match plan[node.index()] {
                Move::Send(edge) => keep(&edge),
                Move::Observe => self.observations(node).for_each(keep),
            }
        }
        let renumbered = |edge: &TestEdge| {
            let target = match edge.target.verdict() {
                Some(_) => edge.target,
                // Only a crossing leads out of the test case.
                None if number[edge.target.index()] == FAR => Node::INCONCLUSIVE,
                None => Node(number[edge.target.index()]),
            };
            TestEdge { target, ..*edge }
        };
        let mut case = TestGraph::new(Form::Case, self.actions.clone());
        for &node in &kept {
            let observed = self.observations(node).map(renumbered);
            match plan[node.index()] {
                Move::Send(edge) => case.push_row(std::iter::once(renumbered(&edge)).chain(observed)),
                Move::Observe => case.push_row(observed),
            }
        }
        case
    }

    /// The outputs that a node allows, quiescence among them.
    pub fn observations(&self, node: Node) -> impl Iterator<Item = &TestEdge> {
        self.edges(node).iter().filter(|e| !self.actions.is_input(e.action))
    }

    /// The inputs that a node may send.
    pub fn sends(&self, node: Node) -> impl Iterator<Item = &TestEdge> {
        self.edges(node).iter().filter(|e| self.actions.is_input(e.action))
    }

    /// Whether an edge of a test case is only a crossing: an output in a node that sends.
    pub(crate) fn is_crossing(&self, node: Node, edge: &TestEdge) -> bool {
        self.form == Form::Case && !self.actions.is_input(edge.action) && self.sends(node).next().is_some()
    }

    /// Whether no node has a choice between two things to send, or between sending and waiting.
    pub fn is_controllable(&self) -> bool {
        self.nodes().all(|node| match self.sends(node).count() {
            0 => true,
            1 => self.observations(node).all(|e| self.is_crossing(node, e)),
            _ => false,
        })
    }

    /// The text of a step as TGV writes it, from the tester's side: what the specification takes as input is
    /// an output.
    pub(crate) fn label(&self, action: ActionId) -> String {
        let known = self.actions.get(action);
        match (action, known.kind) {
            (DELTA, _) => "DELTA; INPUT".into(),
            (_, Kind::Input) => format!("{}; OUTPUT", known.name),
            _ => format!("{}; INPUT", known.name),
        }
    }

    /// As a transition system: verdicts are states that loop on their names. Crossings are left out.
    pub fn to_lts(&self) -> Lts {
        self.explicit(|node, edge| !self.is_crossing(node, edge)).0
    }

    fn explicit(&self, keep: impl Fn(Node, &TestEdge) -> bool) -> (Lts, Vec<Option<ActionId>>) {
        let mut builder: LtsBuilder = Lts::builder();
        let mut back = Vec::new();
        let mut labels = Vec::new();
        for action in (0..self.actions.len() as u32).map(ActionId) {
            let label = builder.label(&self.label(action));
            back.resize(back.len().max(label.index() + 1), None);
            back[label.index()] = Some(action);
            labels.push(label);
        }
        let (mut pass, mut open) = (None, None);
        let mut states = self.node_count() as u32;
        let mut verdict = |slot: &mut Option<StateId>| {
            *slot.get_or_insert_with(|| {
                states += 1;
                StateId(states - 1)
            })
        };
        for node in self.nodes() {
            for edge in self.edges(node).iter().filter(|e| keep(node, e)) {
                let target = match edge.target {
                    Node::PASS => verdict(&mut pass),
                    Node::INCONCLUSIVE => verdict(&mut open),
                    inner => StateId(inner.0),
                };
                builder.add(StateId(node.0), labels[edge.action.index()], target);
            }
        }
        for (state, name) in [(pass, PASS), (open, INCONCLUSIVE)] {
            let label = builder.label(name);
            if let Some(state) = state {
                builder.add(state, label, state);
            }
        }
        let lts =
            builder.finish(StateId(0), states).expect("a test graph has fewer than 2^32 nodes and steps");
        (lts, back)
    }

    /// The smallest graph that is strongly bisimilar.
    ///
    /// # Errors
    /// The budget runs out.
    pub fn reduced(&self, meter: &Meter) -> Result<TestGraph, ConformError> {
        let (lts, back) = self.explicit(|_, _| true);
        let small = reduce(&lts, Method::Strong, meter)?.lts;
        let action = |label: LabelId| {
            let ours = lts.labels().find(small.name(label))?;
            back.get(ours.index()).copied().flatten()
        };
        let actions: Vec<Option<ActionId>> = small.labels().iter().map(|(id, _)| action(id)).collect();
        Ok(from_rows(&small, self.form, self.actions.clone(), &actions))
    }
}

pub(crate) const PASS: &str = "PASS";
pub(crate) const INCONCLUSIVE: &str = "INCONCLUSIVE";

/// A test graph from a transition system whose verdict states loop on their names; `actions_of` has the
/// action of each label.
pub(crate) fn from_rows(
    lts: &Lts,
    form: Form,
    actions: Actions,
    actions_of: &[Option<ActionId>],
) -> TestGraph {
    let verdict = |state: StateId| match lts.edges(state) {
        [only] if lts.name(only.label) == PASS => Some(Node::PASS),
        [only] if lts.name(only.label) == INCONCLUSIVE => Some(Node::INCONCLUSIVE),
        _ => None,
    };
    let mut number: Vec<Option<Node>> = vec![None; lts.state_count()];
    let mut kept = vec![lts.initial()];
    number[lts.initial().index()] = Some(Node(0));
    let mut graph = TestGraph::new(form, actions);
    let mut at = 0;
    while at < kept.len() {
        let state = kept[at];
        at += 1;
        let mut row = Vec::new();
        for edge in lts.edges(state) {
            let Some(action) = actions_of[edge.label.index()] else { continue };
            let target = *number[edge.target.index()].get_or_insert_with(|| {
                verdict(edge.target).unwrap_or_else(|| {
                    kept.push(edge.target);
                    Node(kept.len() as u32 - 1)
                })
            });
            row.push(TestEdge { action, target });
        }
        row.sort_unstable();
        graph.push_row(row);
    }
    graph
}
