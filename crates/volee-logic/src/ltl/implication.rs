//! What can be seen of a formula from its syntax: that it implies another, that it is a pure eventuality or
//! purely universal (Etessami & Holzmann 2000; Somenzi & Bloem 2000).
//!
//! A formula is *eventual* if putting something before a run that satisfies it keeps it true (`<>p`), and
//! *universal* if every suffix of such a run satisfies it too (`[]p`). One that is both (`[]<>p`) does not
//! depend on any finite part of the run.

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use crate::formula::{Node, NodeId, Pool};

/// How deep implication looks: it is a heuristic, and operands nest without bound.
const DEPTH: u32 = 12;

/// Remembers what was found out.
#[derive(Default)]
pub(super) struct Facts {
    kinds: Vec<Kind>,
    implications: HashMap<(NodeId, NodeId), bool, FixedState>,
}

/// What a formula is insensitive to.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Kind {
    pub eventual: bool,
    pub universal: bool,
}

impl Kind {
    /// Neither prefixes nor their removal matter.
    pub fn suspendable(self) -> bool {
        self.eventual && self.universal
    }
}

impl Facts {
    /// The kind of a node.
    pub fn kind(&mut self, pool: &Pool, id: NodeId) -> Kind {
        while self.kinds.len() <= id.index() {
            let kind = self.kind_of(pool.nth(self.kinds.len()));
            self.kinds.push(kind);
        }
        self.kinds[id.index()]
    }

    fn kind_of(&self, node: Node) -> Kind {
        let of = |id: NodeId| self.kinds[id.index()];
        match node {
            Node::True | Node::False => Kind { eventual: true, universal: true },
            Node::Atom(_) | Node::Not(_) => Kind::default(),
            Node::And(a, b) | Node::Or(a, b) => Kind {
                eventual: of(a).eventual && of(b).eventual,
                universal: of(a).universal && of(b).universal,
            },
            Node::Next(a) | Node::WeakNext(a) => of(a),
            Node::Until(a, b) => Kind {
                eventual: a == Pool::TRUE || of(b).eventual,
                universal: of(a).universal && of(b).universal,
            },
            Node::Release(a, b) => Kind {
                eventual: of(a).eventual && of(b).eventual,
                universal: a == Pool::FALSE || of(b).universal,
            },
        }
    }

    /// Whether `f` can be seen to imply `g`. `false` means nothing.
    pub fn implies(&mut self, pool: &Pool, f: NodeId, g: NodeId) -> bool {
        self.implies_within(pool, f, g, DEPTH)
    }

    fn implies_within(&mut self, pool: &Pool, f: NodeId, g: NodeId, depth: u32) -> bool {
        if f == g || f == Pool::FALSE || g == Pool::TRUE {
            return true;
        }
        if depth == 0 || f == Pool::TRUE || g == Pool::FALSE {
            return false;
        }
        if let Some(&known) = self.implications.get(&(f, g)) {
            return known;
        }
        let result = self.left(pool, f, g, depth - 1) || self.right(pool, f, g, depth - 1);
        self.implications.insert((f, g), result);
        result
    }

    /// Rules that take `f` apart.
    fn left(&mut self, pool: &Pool, f: NodeId, g: NodeId, depth: u32) -> bool {
        let g_kind = self.kind(pool, g);
        let mut imp = |f, g| self.implies_within(pool, f, g, depth);
        match (pool.node(f), pool.node(g)) {
            (Node::Or(a, b), _) => imp(a, g) && imp(b, g),
            (Node::And(a, b), _) if imp(a, g) || imp(b, g) => true,
            (Node::Until(a, b), Node::Until(c, d)) if imp(a, c) && imp(b, d) => true,
            (Node::Release(a, b), Node::Release(c, d)) if imp(a, c) && imp(b, d) => true,
            (Node::Next(a), Node::Next(b)) if imp(a, b) => true,
            (Node::Until(a, _), _) if a == Pool::TRUE && !g_kind.eventual => false,
            (Node::Until(_, b), _) if g_kind.eventual => imp(b, g),
            (Node::Until(a, b), _) => imp(a, g) && imp(b, g),
            (Node::Release(_, b), _) => imp(b, g),
            (Node::Next(a), _) if g_kind.eventual => imp(a, g),
            _ => false,
        }
    }

    /// Rules that take `g` apart.
    fn right(&mut self, pool: &Pool, f: NodeId, g: NodeId, depth: u32) -> bool {
        let f_kind = self.kind(pool, f);
        let mut imp = |f, g| self.implies_within(pool, f, g, depth);
        match pool.node(g) {
            Node::And(a, b) => imp(f, a) && imp(f, b),
            Node::Or(a, b) => imp(f, a) || imp(f, b),
            Node::Until(_, b) => imp(f, b),
            Node::Release(_, b) if f_kind.universal => imp(f, b),
            Node::Release(a, b) => imp(f, a) && imp(f, b),
            Node::Next(b) if f_kind.universal => imp(f, b),
            _ => false,
        }
    }
}
