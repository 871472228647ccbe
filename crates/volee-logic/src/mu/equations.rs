//! Modal equations: a formula as HML with recursion (Joubert & Mateescu 2006, section 3.1), ready to be
//! projected on the states of a system.
//!
//! Each equation is a pure disjunction or conjunction whose items are other equations in the same state,
//! equations in the states after a step, or *local* facts that a state and its steps decide at once
//! (`<true> true`, `{x > 0}`). Nested operators of one kind are flattened into one equation, which keeps the
//! boolean graph small.
//!
//! Equations are sorted into blocks, block 0 outermost. In an alternation-free formula a block depends only
//! on itself and on later ones. Otherwise the blocks are the priorities of a parity game: on a cycle the
//! first block decides.

use std::collections::{HashMap, HashSet};
use volee_system::strong_components;

use super::action::ActionId;
use super::normal::{Formula, Node, NodeId};

/// Least or greatest fixed point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Sign {
    /// Least: false unless something makes it true.
    Mu,
    /// Greatest: true unless something makes it false.
    Nu,
}

impl Sign {
    /// The other one.
    #[must_use]
    pub fn dual(self) -> Self {
        match self {
            Sign::Mu => Sign::Nu,
            Sign::Nu => Sign::Mu,
        }
    }

    /// The value of what is left undecided.
    pub fn default_value(self) -> bool {
        self == Sign::Nu
    }
}

/// How the items of an equation are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operator {
    /// Disjunction.
    Or,
    /// Conjunction.
    And,
}

impl Operator {
    /// The value that decides the whole at once: true for `or`.
    #[inline]
    pub fn deciding(self) -> bool {
        self == Operator::Or
    }
}

/// An item of an equation that is another equation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Item {
    /// In the same state.
    Here(u16),
    /// After each step whose label satisfies the predicate.
    Step(ActionId, u16),
}

/// An instruction of a [`Local`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LocalOp {
    /// Push a constant.
    Constant(bool),
    /// Push the value of a state predicate, negated when the flag is set.
    Predicate(u32, bool),
    /// Push whether a step with such a label exists, negated when the flag is set.
    Enabled(ActionId, bool),
    /// Join the top two.
    Join(Operator),
}

/// A boolean expression over a state and its own steps, in postfix order.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Local(pub Vec<LocalOp>);

/// One modal equation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Equation {
    /// How the items are joined.
    pub operator: Operator,
    /// Its block.
    pub block: u16,
    /// Other equations.
    pub items: Vec<Item>,
    /// Local facts.
    pub locals: Vec<Local>,
    /// The subformula it stands for.
    pub node: NodeId,
}

/// The modal equations of a formula; the first is the formula itself.
#[derive(Debug, Clone)]
pub struct Equations {
    /// The equations.
    pub equations: Vec<Equation>,
    /// The sign of each block, outermost first.
    pub blocks: Vec<Sign>,
    /// The largest number of alternations between least and greatest fixed points; 1 and below is
    /// alternation-free.
    pub alternation_depth: u32,
    /// The formula.
    pub formula: Formula,
}

impl Equations {
    /// Translates a formula.
    pub fn new(formula: Formula) -> Self {
        let local = local_nodes(&formula);
        let mut builder = Builder { formula: &formula, local, index: HashMap::new(), equations: Vec::new() };
        builder.run();
        let mut equations = builder.equations;
        let (blocks, alternation_depth) = assign_blocks(&formula, &mut equations);
        Equations { equations, blocks, alternation_depth, formula }
    }

    /// Whether the blocks can be solved one after the other.
    pub fn alternation_free(&self) -> bool {
        self.alternation_depth <= 1
    }
}

/// Which nodes are decided by a state and its steps alone.
fn local_nodes(formula: &Formula) -> Vec<bool> {
    let mut local = Vec::with_capacity(formula.nodes.len());
    for node in &formula.nodes {
        local.push(match node {
            Node::Constant(_) | Node::Predicate(..) => true,
            Node::And(f, g) | Node::Or(f, g) => local[f.0 as usize] && local[g.0 as usize],
            Node::Diamond(_, f) => formula.node(*f) == Node::Constant(true),
            Node::Box(_, f) => formula.node(*f) == Node::Constant(false),
            Node::Variable(_) | Node::Fix(..) => false,
        });
    }
    local
}

struct Builder<'f> {
    formula: &'f Formula,
    local: Vec<bool>,
    /// The equation of each node that has one.
    index: HashMap<NodeId, u16>,
    equations: Vec<Equation>,
}

impl Builder<'_> {
    fn run(&mut self) {
        self.entry(self.formula.root);
        let mut next = 0;
        while next < self.equations.len() {
            self.fill(next);
            next += 1;
        }
    }

    /// The equation of a node, made when first asked for; a variable's is that of its binder.
    fn entry(&mut self, node: NodeId) -> u16 {
        let node = match self.formula.node(node) {
            Node::Variable(v) => {
                self.formula.binders[v.0 as usize].expect("variables of a formula are bound")
            }
            _ => node,
        };
        if let Some(&index) = self.index.get(&node) {
            return index;
        }
        let index = u16::try_from(self.equations.len()).expect("a formula has fewer nodes than that");
        let body = self.body(node);
        let operator = match self.formula.node(body) {
            Node::And(..) | Node::Box(..) => Operator::And,
            _ => Operator::Or,
        };
        self.equations.push(Equation { operator, block: 0, items: Vec::new(), locals: Vec::new(), node });
        self.index.insert(node, index);
        index
    }

    /// A fixed point's equation is that of its body, unless the body is itself a fixed point or variable.
    fn body(&self, node: NodeId) -> NodeId {
        match self.formula.node(node) {
            Node::Fix(_, _, body) => body,
            _ => node,
        }
    }

    fn fill(&mut self, at: usize) {
        let operator = self.equations[at].operator;
        let mut stack = vec![self.body(self.equations[at].node)];
        let mut seen = HashSet::new();
        let (mut items, mut locals) = (Vec::new(), Vec::new());
        while let Some(id) = stack.pop() {
            if !seen.insert(id) {
                continue;
            }
            if self.local[id.0 as usize] {
                locals.push(self.compile(id));
                continue;
            }
            match (self.formula.node(id), operator) {
                (Node::Or(f, g), Operator::Or) | (Node::And(f, g), Operator::And) => stack.extend([g, f]),
                (Node::Diamond(action, f), Operator::Or) | (Node::Box(action, f), Operator::And) => {
                    items.push(Item::Step(action, self.entry(f)));
                }
                _ => items.push(Item::Here(self.entry(id))),
            }
        }
        self.equations[at].items = items;
        self.equations[at].locals = locals;
    }

    /// Postfix code of a local node, by a walk with an explicit stack.
    fn compile(&self, id: NodeId) -> Local {
        enum Work {
            Visit(NodeId),
            Join(Operator),
        }
        let mut code = Vec::new();
        let mut stack = vec![Work::Visit(id)];
        while let Some(work) = stack.pop() {
            let id = match work {
                Work::Visit(id) => id,
                Work::Join(operator) => {
                    code.push(LocalOp::Join(operator));
                    continue;
                }
            };
            match self.formula.node(id) {
                Node::Constant(value) => code.push(LocalOp::Constant(value)),
                Node::Predicate(index, negated) => code.push(LocalOp::Predicate(index, negated)),
                Node::Diamond(action, _) => code.push(LocalOp::Enabled(action, false)),
                Node::Box(action, _) => code.push(LocalOp::Enabled(action, true)),
                Node::And(f, g) => stack.extend([Work::Join(Operator::And), Work::Visit(g), Work::Visit(f)]),
                Node::Or(f, g) => stack.extend([Work::Join(Operator::Or), Work::Visit(g), Work::Visit(f)]),
                Node::Variable(_) | Node::Fix(..) => unreachable!("these are never local"),
            }
        }
        Local(code)
    }
}

fn targets(equation: &Equation) -> impl Iterator<Item = usize> + '_ {
    equation.items.iter().map(|item| match item {
        Item::Here(target) | Item::Step(_, target) => usize::from(*target),
    })
}

fn sign_of(formula: &Formula, equation: &Equation) -> Option<Sign> {
    match formula.node(equation.node) {
        Node::Fix(sign, ..) => Some(sign),
        _ => None,
    }
}

/// Gives each equation a level: odd ones are least fixed points, even ones greatest, and levels never rise
/// along a dependency between components. Within a component of one sign all share a level; within one of
/// both signs an enclosing fixed point has at least the level of those inside it. Block 0 is the highest
/// level.
fn assign_blocks(formula: &Formula, equations: &mut [Equation]) -> (Vec<Sign>, u32) {
    let components = components(equations);
    let mut level = vec![0u32; equations.len()];
    let mut depth = 0;
    for component in &components {
        let inside: HashSet<usize> = component.iter().copied().collect();
        let base = component
            .iter()
            .flat_map(|&e| targets(&equations[e]))
            .filter(|t| !inside.contains(t))
            .map(|t| level[t])
            .max()
            .unwrap_or(0);
        let signs: HashSet<Sign> =
            component.iter().filter_map(|&e| sign_of(formula, &equations[e])).collect();
        let cyclic = component.len() > 1 || targets(&equations[component[0]]).any(|t| t == component[0]);
        match (cyclic, signs.len()) {
            (true, 2) => depth = depth.max(nested_levels(formula, equations, component, base, &mut level)),
            (true, _) => {
                let sign = signs.into_iter().next().expect("every cycle passes through a fixed point");
                let own = raise(base, sign);
                component.iter().for_each(|&e| level[e] = own);
                depth = depth.max(1);
            }
            (false, _) => level[component[0]] = base,
        }
    }
    compact(&level, equations);
    let used = equations.iter().map(|e| e.block).max().unwrap_or(0);
    let mut signs = vec![Sign::Nu; usize::from(used) + 1];
    for (equation, level) in equations.iter().zip(&level) {
        signs[usize::from(equation.block)] = if level % 2 == 1 { Sign::Mu } else { Sign::Nu };
    }
    (signs, depth)
}

/// The first level from `base` on that has the sign.
fn raise(base: u32, sign: Sign) -> u32 {
    base + u32::from((base % 2 == 1) != (sign == Sign::Mu))
}

/// Levels within a component of both signs, and the length of its longest chain of alternating fixed points.
/// Children come before parents in a formula, so one pass knows what is nested in each node.
fn nested_levels(
    formula: &Formula,
    equations: &[Equation],
    component: &[usize],
    base: u32,
    level: &mut [u32],
) -> u32 {
    let members: HashMap<NodeId, usize> = component.iter().map(|&e| (equations[e].node, e)).collect();
    // Per node: the highest level inside, and the longest alternating chains inside that start with mu and
    // with nu.
    let mut inside = vec![(base, [0u32; 2]); formula.nodes.len()];
    component.iter().for_each(|&e| level[e] = base);
    let mut depth = 0;
    for (at, node) in formula.nodes.iter().enumerate() {
        let join = |f: &NodeId, g: &NodeId| {
            let ((l, c), (m, d)) = (inside[f.0 as usize], inside[g.0 as usize]);
            (l.max(m), [c[0].max(d[0]), c[1].max(d[1])])
        };
        inside[at] = match node {
            Node::Constant(_) | Node::Predicate(..) | Node::Variable(_) => continue,
            Node::And(f, g) | Node::Or(f, g) => join(f, g),
            Node::Diamond(_, f) | Node::Box(_, f) => join(f, f),
            Node::Fix(sign, _, f) => {
                let (mut highest, mut chains) = join(f, f);
                if let Some(&e) = members.get(&NodeId(u32::try_from(at).expect("nodes are bounded"))) {
                    highest = raise(highest, *sign);
                    level[e] = highest;
                    let own = usize::from(*sign == Sign::Nu);
                    chains[own] = chains[own].max(chains[1 - own] + 1);
                    depth = depth.max(chains[own]);
                }
                (highest, chains)
            }
        };
    }
    depth
}

/// Numbers the levels in use from the highest down.
fn compact(level: &[u32], equations: &mut [Equation]) {
    let mut used: Vec<u32> = level.to_vec();
    used.sort_unstable_by(|a, b| b.cmp(a));
    used.dedup();
    for (equation, level) in equations.iter_mut().zip(level) {
        let block = used.iter().position(|l| l == level).expect("every level is in use");
        equation.block = u16::try_from(block).expect("there are at most as many blocks as equations");
    }
}

/// The strongly connected components of the dependencies, those without dependencies first.
fn components(equations: &[Equation]) -> Vec<Vec<usize>> {
    let successors: Vec<Vec<usize>> = equations.iter().map(|e| targets(e).collect()).collect();
    let scc = strong_components(equations.len(), 0..equations.len() as u32, |equation, next| {
        *next += 1;
        successors[equation as usize].get(*next - 1).map(|&target| target as u32)
    });
    scc.members()
}
