//! The formula language shared by finite-trace TL and LTL: nodes, atoms, parsing, printing.
//!
//! A [`Formula`] is a root in a [`Pool`] of shared nodes. Operands are always made before the nodes that use
//! them, so their ids are smaller and every algorithm over formulas is a loop, never a recursion: a formula
//! nested a hundred thousand deep is as harmless as a long one. Abbreviations (implication, weak until, …)
//! are expanded when a node is made; sharing keeps that linear.

mod events;
mod parse;
mod patterns;
mod primary;
mod print;
mod random;
pub(crate) mod scan;

use foldhash::fast::FixedState;
use hashbrown::HashMap;

pub use events::{EventMatcher, EventPattern, LabelPattern, PatternError, Who, split_process};
pub use parse::parse;
pub use patterns::pattern_names;
pub use random::{Shape, random_formula};

/// The index of a node in its pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(u32);

impl NodeId {
    /// As an index into a table with one entry per node.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The index of an atom in its pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AtomId(pub u32);

/// A node. `F g` is `true U g`, `G g` is `false R g`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Node {
    /// Always true.
    True,
    /// Never true.
    False,
    /// True where the atom is.
    Atom(AtomId),
    /// Negation.
    Not(NodeId),
    /// Conjunction.
    And(NodeId, NodeId),
    /// Disjunction.
    Or(NodeId, NodeId),
    /// There is a next position, and the operand is true there.
    Next(NodeId),
    /// If there is a next position, the operand is true there. On infinite runs the same as `Next`.
    WeakNext(NodeId),
    /// The second becomes true, and until then the first is.
    Until(NodeId, NodeId),
    /// The second is true up to and including the position where the first is, or for ever.
    Release(NodeId, NodeId),
}

impl Node {
    /// The operands, at most two.
    pub fn operands(self) -> impl Iterator<Item = NodeId> {
        let (a, b) = match self {
            Node::True | Node::False | Node::Atom(_) => (None, None),
            Node::Not(a) | Node::Next(a) | Node::WeakNext(a) => (Some(a), None),
            Node::And(a, b) | Node::Or(a, b) | Node::Until(a, b) | Node::Release(a, b) => (Some(a), Some(b)),
        };
        a.into_iter().chain(b)
    }
}

/// Where something stands in the text of a formula, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// Past the last byte.
    pub end: usize,
}

/// What a formula speaks of.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum AtomKind {
    /// A bare name: an event or a state predicate, as the question decides.
    Name(String),
    /// An event by pattern.
    Event(EventPattern),
    /// An expression in the language of the system, as text.
    Predicate(String),
}

/// An atom and the place of its first mention.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Atom {
    /// What it is.
    pub kind: AtomKind,
    /// Where it is first mentioned.
    pub span: Span,
}

/// Owner of nodes and atoms; equal nodes are one node.
#[derive(Debug, Clone)]
pub struct Pool {
    nodes: Vec<Node>,
    index: HashMap<Node, NodeId, FixedState>,
    atoms: Vec<Atom>,
    atom_index: HashMap<AtomKind, AtomId, FixedState>,
}

impl Default for Pool {
    fn default() -> Self {
        Self::new()
    }
}

impl Pool {
    /// A pool with the two constants.
    pub fn new() -> Self {
        let mut pool = Pool {
            nodes: Vec::new(),
            index: HashMap::with_hasher(FixedState::default()),
            atoms: Vec::new(),
            atom_index: HashMap::with_hasher(FixedState::default()),
        };
        pool.intern(Node::True);
        pool.intern(Node::False);
        pool
    }

    /// The constant true.
    pub const TRUE: NodeId = NodeId(0);
    /// The constant false.
    pub const FALSE: NodeId = NodeId(1);

    /// The number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there are only the constants.
    pub fn is_empty(&self) -> bool {
        self.nodes.len() == 2
    }

    /// A node.
    pub fn node(&self, id: NodeId) -> Node {
        self.nodes[id.index()]
    }

    /// The node made as the `n`-th.
    pub(crate) fn nth(&self, n: usize) -> Node {
        self.nodes[n]
    }

    /// The nodes in order: operands before what uses them.
    pub fn nodes(&self) -> impl Iterator<Item = (NodeId, Node)> + '_ {
        self.nodes.iter().enumerate().map(|(i, &n)| (NodeId(i as u32), n))
    }

    /// The atoms.
    pub fn atoms(&self) -> &[Atom] {
        &self.atoms
    }

    fn intern(&mut self, node: Node) -> NodeId {
        if let Some(&id) = self.index.get(&node) {
            return id;
        }
        let id = NodeId(u32::try_from(self.nodes.len()).expect("input texts are bounded below 4 GB"));
        self.nodes.push(node);
        self.index.insert(node, id);
        id
    }

    /// An atom as a formula.
    pub fn atom(&mut self, kind: AtomKind, span: Span) -> NodeId {
        let atom = match self.atom_index.get(&kind) {
            Some(&atom) => atom,
            None => {
                let atom = AtomId(self.atoms.len() as u32);
                self.atoms.push(Atom { kind: kind.clone(), span });
                self.atom_index.insert(kind, atom);
                atom
            }
        };
        self.intern(Node::Atom(atom))
    }

    /// `!a`.
    pub fn not(&mut self, a: NodeId) -> NodeId {
        match self.node(a) {
            Node::True => Self::FALSE,
            Node::False => Self::TRUE,
            Node::Not(inner) => inner,
            _ => self.intern(Node::Not(a)),
        }
    }

    /// `a & b`.
    pub fn and(&mut self, a: NodeId, b: NodeId) -> NodeId {
        match (a, b) {
            (Self::FALSE, _) | (_, Self::FALSE) => Self::FALSE,
            (Self::TRUE, x) | (x, Self::TRUE) => x,
            _ if a == b => a,
            _ => self.commutative(Node::And(a, b), Node::And(b, a)),
        }
    }

    /// `a | b`.
    pub fn or(&mut self, a: NodeId, b: NodeId) -> NodeId {
        match (a, b) {
            (Self::TRUE, _) | (_, Self::TRUE) => Self::TRUE,
            (Self::FALSE, x) | (x, Self::FALSE) => x,
            _ if a == b => a,
            _ => self.commutative(Node::Or(a, b), Node::Or(b, a)),
        }
    }

    /// The order of operands is kept as written, but only one of the two orders exists.
    fn commutative(&mut self, node: Node, swapped: Node) -> NodeId {
        match self.index.get(&swapped) {
            Some(&id) => id,
            None => self.intern(node),
        }
    }

    /// `a -> b`.
    pub fn implies(&mut self, a: NodeId, b: NodeId) -> NodeId {
        let not_a = self.not(a);
        self.or(not_a, b)
    }

    /// `a <-> b`.
    pub fn iff(&mut self, a: NodeId, b: NodeId) -> NodeId {
        let there = self.implies(a, b);
        let back = self.implies(b, a);
        self.and(there, back)
    }

    /// The strong next.
    pub fn next(&mut self, a: NodeId) -> NodeId {
        self.intern(Node::Next(a))
    }

    /// The weak next.
    pub fn weak_next(&mut self, a: NodeId) -> NodeId {
        self.intern(Node::WeakNext(a))
    }

    /// `a U b`.
    pub fn until(&mut self, a: NodeId, b: NodeId) -> NodeId {
        match self.node(b) {
            Node::Until(c, _) if a == c => b,
            _ => self.intern(Node::Until(a, b)),
        }
    }

    /// `a R b`.
    pub fn release(&mut self, a: NodeId, b: NodeId) -> NodeId {
        match self.node(b) {
            Node::Release(c, _) if a == c => b,
            _ => self.intern(Node::Release(a, b)),
        }
    }

    /// `a W b`: until, or the first for ever.
    pub fn weak_until(&mut self, a: NodeId, b: NodeId) -> NodeId {
        let either = self.or(a, b);
        self.release(b, either)
    }

    /// `a M b`: release that happens.
    pub fn strong_release(&mut self, a: NodeId, b: NodeId) -> NodeId {
        let both = self.and(a, b);
        self.until(b, both)
    }

    /// `<> a`.
    pub fn finally(&mut self, a: NodeId) -> NodeId {
        self.until(Self::TRUE, a)
    }

    /// `[] a`.
    pub fn globally(&mut self, a: NodeId) -> NodeId {
        self.release(Self::FALSE, a)
    }

    /// The nodes that `root` is made of, operands first, itself last.
    pub fn reachable(&self, root: NodeId) -> Vec<NodeId> {
        let mut seen = vec![false; root.index() + 1];
        let mut stack = vec![root];
        seen[root.index()] = true;
        while let Some(id) = stack.pop() {
            for operand in self.node(id).operands() {
                if !std::mem::replace(&mut seen[operand.index()], true) {
                    stack.push(operand);
                }
            }
        }
        seen.iter().enumerate().filter(|(_, s)| **s).map(|(i, _)| NodeId(i as u32)).collect()
    }

    /// Makes a node like `node`, with other operands.
    pub fn rebuild(&mut self, node: Node, operand: impl Fn(NodeId) -> NodeId) -> NodeId {
        match node {
            Node::True => Self::TRUE,
            Node::False => Self::FALSE,
            Node::Atom(_) => self.intern(node),
            Node::Not(a) => self.not(operand(a)),
            Node::And(a, b) => self.and(operand(a), operand(b)),
            Node::Or(a, b) => self.or(operand(a), operand(b)),
            Node::Next(a) => self.next(operand(a)),
            Node::WeakNext(a) => self.weak_next(operand(a)),
            Node::Until(a, b) => self.until(operand(a), operand(b)),
            Node::Release(a, b) => self.release(operand(a), operand(b)),
        }
    }
}

/// A parsed formula.
#[derive(Debug, Clone)]
pub struct Formula {
    /// The nodes.
    pub pool: Pool,
    /// The formula itself.
    pub root: NodeId,
}

impl Formula {
    /// The atoms that the formula really mentions, in order of their ids.
    pub fn atoms(&self) -> Vec<AtomId> {
        let mut atoms: Vec<AtomId> = self
            .pool
            .reachable(self.root)
            .into_iter()
            .filter_map(|id| match self.pool.node(id) {
                Node::Atom(atom) => Some(atom),
                _ => None,
            })
            .collect();
        atoms.sort_unstable();
        atoms
    }

    /// The text of an atom as the user would write it.
    pub fn atom_text(&self, atom: AtomId) -> String {
        print::atom_text(&self.pool.atoms()[atom.0 as usize].kind)
    }

    /// The negation.
    #[must_use]
    pub fn negated(mut self) -> Self {
        self.root = self.pool.not(self.root);
        self
    }

    /// The operands of the conjunctions at the top, `[]` distributed over them: separate small formulas that
    /// hold together exactly if the whole does.
    pub fn conjuncts(&self) -> (Pool, Vec<NodeId>) {
        let mut pool = self.pool.clone();
        let mut stack = vec![self.root];
        let mut parts = Vec::new();
        while let Some(id) = stack.pop() {
            match pool.node(id) {
                Node::And(a, b) => stack.extend([b, a]),
                Node::Release(never, body) if never == Pool::FALSE => match pool.node(body) {
                    Node::And(a, b) => {
                        let (ga, gb) = (pool.globally(a), pool.globally(b));
                        stack.extend([gb, ga]);
                    }
                    _ => parts.push(id),
                },
                Node::Not(inner) => match pool.node(inner) {
                    Node::Or(a, b) => {
                        let (na, nb) = (pool.not(a), pool.not(b));
                        stack.extend([nb, na]);
                    }
                    _ => parts.push(id),
                },
                Node::True => {}
                _ => parts.push(id),
            }
        }
        parts.sort_unstable();
        parts.dedup();
        (pool, parts)
    }
}
