//! Negation normal form with the rewritings that make automata small.
//!
//! Constructors look at their operands and answer with the simplest equivalent they know; the rules are the
//! usual ones (Etessami & Holzmann 2000; Somenzi & Bloem 2000; Duret-Lutz 2014, appendix B). The input is
//! walked operands first, each node in both polarities, so nothing recurses over it.

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::implication::Facts;
use crate::formula::{Formula, Node, NodeId, Pool};

/// Conjunctions and disjunctions of more operands are not compared pairwise.
const COMPARED: usize = 64;
/// How many products multiplying out may give.
const MAX_PRODUCTS: usize = 16;

/// Simplified formulas in negation normal form: negation stands before atoms only, and there is one next.
pub(super) struct Simplifier {
    pub pool: Pool,
    pub facts: Facts,
    negations: HashMap<NodeId, NodeId, FixedState>,
}

impl Simplifier {
    /// The simplified form of a formula.
    pub fn new(formula: &Formula) -> (Self, NodeId) {
        let mut simplifier = Simplifier {
            pool: formula.pool.clone(),
            facts: Facts::default(),
            negations: HashMap::with_hasher(FixedState::default()),
        };
        let root = simplifier.normal_form(formula.root);
        (simplifier, root)
    }

    fn normal_form(&mut self, root: NodeId) -> NodeId {
        let nodes = self.pool.reachable(root);
        // Only the polarities that are needed are built: building has a price in rules.
        let mut needed: HashMap<(NodeId, bool), (), FixedState> = HashMap::with_hasher(FixedState::default());
        needed.insert((root, true), ());
        for &id in nodes.iter().rev() {
            for polarity in [true, false] {
                if needed.contains_key(&(id, polarity)) {
                    let flips = matches!(self.pool.node(id), Node::Not(_));
                    for operand in self.pool.node(id).operands() {
                        needed.insert((operand, polarity != flips), ());
                    }
                }
            }
        }
        let mut done: HashMap<(NodeId, bool), NodeId, FixedState> =
            HashMap::with_hasher(FixedState::default());
        for id in nodes {
            for polarity in [true, false] {
                if needed.contains_key(&(id, polarity)) {
                    let new = self.build(id, polarity, &done);
                    done.insert((id, polarity), new);
                }
            }
        }
        done[&(root, true)]
    }

    fn build(
        &mut self,
        id: NodeId,
        positive: bool,
        done: &HashMap<(NodeId, bool), NodeId, FixedState>,
    ) -> NodeId {
        let of = |operand| done[&(operand, positive)];
        match (self.pool.node(id), positive) {
            (Node::True, true) | (Node::False, false) => Pool::TRUE,
            (Node::False, true) | (Node::True, false) => Pool::FALSE,
            (Node::Atom(_), true) => id,
            (Node::Atom(_), false) => self.pool.not(id),
            (Node::Not(a), _) => done[&(a, !positive)],
            (Node::And(a, b), true) | (Node::Or(a, b), false) => self.and(of(a), of(b)),
            (Node::Or(a, b), true) | (Node::And(a, b), false) => self.or(of(a), of(b)),
            (Node::Next(a) | Node::WeakNext(a), _) => self.next(of(a)),
            (Node::Until(a, b), true) | (Node::Release(a, b), false) => self.until(of(a), of(b)),
            (Node::Release(a, b), true) | (Node::Until(a, b), false) => self.release(of(a), of(b)),
        }
    }

    /// The negation of a simplified formula, simplified.
    pub fn negate(&mut self, root: NodeId) -> NodeId {
        if let Some(&known) = self.negations.get(&root) {
            return known;
        }
        for id in self.pool.reachable(root) {
            if self.negations.contains_key(&id) {
                continue;
            }
            let of = |operand: NodeId| self.negations[&operand];
            let new = match self.pool.node(id) {
                Node::True => Pool::FALSE,
                Node::False => Pool::TRUE,
                Node::Atom(_) => self.pool.not(id),
                Node::Not(a) => a,
                Node::And(a, b) => self.pool.or(of(a), of(b)),
                Node::Or(a, b) => self.pool.and(of(a), of(b)),
                Node::Next(a) | Node::WeakNext(a) => self.pool.next(of(a)),
                Node::Until(a, b) => self.pool.release(of(a), of(b)),
                Node::Release(a, b) => self.pool.until(of(a), of(b)),
            };
            self.negations.insert(id, new);
        }
        self.negations[&root]
    }

    fn implies(&mut self, f: NodeId, g: NodeId) -> bool {
        self.facts.implies(&self.pool, f, g)
    }

    fn kind(&mut self, f: NodeId) -> super::implication::Kind {
        self.facts.kind(&self.pool, f)
    }

    /// The operands of a conjunction or disjunction, flattened.
    fn flatten(&self, root: NodeId, conjunction: bool) -> Vec<NodeId> {
        let mut flat = Vec::new();
        let mut stack = vec![root];
        while let Some(id) = stack.pop() {
            match self.pool.node(id) {
                Node::And(a, b) if conjunction => stack.extend([b, a]),
                Node::Or(a, b) if !conjunction => stack.extend([b, a]),
                _ => flat.push(id),
            }
        }
        flat.sort_unstable();
        flat.dedup();
        flat
    }

    /// `a && b`.
    pub fn and(&mut self, a: NodeId, b: NodeId) -> NodeId {
        let plain = self.pool.and(a, b);
        let parts = self.flatten(plain, true);
        if parts.len() > COMPARED {
            return plain;
        }
        let parts = self.strongest(parts);
        if self.contradictory(&parts, true) {
            return Pool::FALSE;
        }
        let parts = self.join(parts, true);
        if let Some(distributed) = self.distribute(&parts) {
            return distributed;
        }
        parts.into_iter().fold(Pool::TRUE, |all, part| self.pool.and(all, part))
    }

    /// A conjunction of disjunctions of fairness-like formulas, multiplied out where most products vanish:
    /// `([]<>a <-> []<>b)` is `<>[](!a && !b) || ([]<>a && []<>b)`.
    fn distribute(&mut self, parts: &[NodeId]) -> Option<NodeId> {
        let clauses: Vec<Vec<NodeId>> = parts.iter().map(|&p| self.flatten(p, false)).collect();
        let products: usize = clauses.iter().map(Vec::len).product();
        let factors = clauses.iter().filter(|c| c.len() > 1).count();
        if factors < 2 || products > MAX_PRODUCTS {
            return None;
        }
        if !clauses.iter().flatten().all(|&f| self.kind(f).suspendable()) {
            return None;
        }
        let mut terms = vec![Pool::TRUE];
        for clause in &clauses {
            let mut longer = Vec::new();
            for &term in &terms {
                for &literal in clause {
                    let product = self.and(term, literal);
                    if product != Pool::FALSE && !longer.contains(&product) {
                        longer.push(product);
                    }
                }
            }
            terms = longer;
        }
        let terms = self.weakest(terms);
        (terms.len() <= factors).then(|| terms.into_iter().fold(Pool::FALSE, |any, t| self.or(any, t)))
    }

    /// `a || b`.
    pub fn or(&mut self, a: NodeId, b: NodeId) -> NodeId {
        let plain = self.pool.or(a, b);
        let parts = self.flatten(plain, false);
        if parts.len() > COMPARED {
            return plain;
        }
        let parts = self.weakest(parts);
        if self.contradictory(&parts, false) {
            return Pool::TRUE;
        }
        let parts = self.join(parts, false);
        parts.into_iter().fold(Pool::FALSE, |any, part| self.pool.or(any, part))
    }

    /// Drops conjuncts that others imply.
    fn strongest(&mut self, parts: Vec<NodeId>) -> Vec<NodeId> {
        self.select(parts, |this, kept, candidate| this.implies(kept, candidate))
    }

    fn weakest(&mut self, parts: Vec<NodeId>) -> Vec<NodeId> {
        self.select(parts, |this, kept, candidate| this.implies(candidate, kept))
    }

    fn select(
        &mut self,
        mut parts: Vec<NodeId>,
        makes_superfluous: impl Fn(&mut Self, NodeId, NodeId) -> bool,
    ) -> Vec<NodeId> {
        let mut i = 0;
        while i < parts.len() {
            let candidate = parts[i];
            let others = parts.clone();
            if others.iter().any(|&o| o != candidate && makes_superfluous(self, o, candidate)) {
                parts.remove(i);
            } else {
                i += 1;
            }
        }
        parts
    }

    /// Whether two parts exclude each other (or, of a disjunction, cover everything).
    fn contradictory(&mut self, parts: &[NodeId], conjunction: bool) -> bool {
        parts.iter().enumerate().any(|(i, &f)| {
            let negated = self.negate(f);
            parts[i + 1..]
                .iter()
                .any(|&g| if conjunction { self.implies(g, negated) } else { self.implies(negated, g) })
        })
    }

    /// Joins parts that one temporal operator can hold together.
    fn join(&mut self, mut parts: Vec<NodeId>, conjunction: bool) -> Vec<NodeId> {
        let mut i = 0;
        while i < parts.len() {
            let pair = (i + 1..parts.len()).find_map(|j| {
                let joined = if conjunction {
                    self.join_and(parts[i], parts[j])
                } else {
                    self.join_or(parts[i], parts[j]).or_else(|| self.join_or(parts[j], parts[i]))
                };
                joined.map(|new| (j, new))
            });
            match pair {
                Some((j, new)) => {
                    parts.remove(j);
                    parts.remove(i);
                    parts.push(new);
                    i = 0;
                }
                None => i += 1,
            }
        }
        parts
    }

    fn join_and(&mut self, f: NodeId, g: NodeId) -> Option<NodeId> {
        match (self.pool.node(f), self.pool.node(g)) {
            // <>[]a && <>[]b
            (Node::Until(t, a), Node::Until(u, b)) if t == Pool::TRUE && u == Pool::TRUE => {
                let both_universal = self.kind(a).universal && self.kind(b).universal;
                both_universal.then(|| {
                    let body = self.and(a, b);
                    self.until(Pool::TRUE, body)
                })
            }
            (Node::Until(a, c), Node::Until(b, d)) if c == d => {
                let wait = self.and(a, b);
                Some(self.until(wait, c))
            }
            (Node::Release(a, b), Node::Release(c, d)) if a == c && a != Pool::FALSE => {
                let body = self.and(b, d);
                Some(self.release(a, body))
            }
            _ => None,
        }
    }

    fn join_or(&mut self, f: NodeId, g: NodeId) -> Option<NodeId> {
        match (self.pool.node(f), self.pool.node(g)) {
            // []<>a || []<>b
            (Node::Release(t, a), Node::Release(u, b)) if t == Pool::FALSE && u == Pool::FALSE => {
                let both_eventual = self.kind(a).eventual && self.kind(b).eventual;
                both_eventual.then(|| {
                    let body = self.or(a, b);
                    self.release(Pool::FALSE, body)
                })
            }
            (Node::Until(a, b), Node::Until(c, d)) if a == c => {
                let goal = self.or(b, d);
                Some(self.until(a, goal))
            }
            (Node::Release(a, b), Node::Release(c, d)) if b == d && a != Pool::FALSE && c != Pool::FALSE => {
                let end = self.or(a, c);
                Some(self.release(end, b))
            }
            // (a U b) || []a
            (Node::Until(a, b), Node::Release(never, c)) if never == Pool::FALSE && a == c => {
                let either = self.or(a, b);
                Some(self.release(b, either))
            }
            _ => None,
        }
    }

    /// `X a`.
    pub fn next(&mut self, a: NodeId) -> NodeId {
        if self.kind(a).suspendable() { a } else { self.pool.next(a) }
    }

    /// `a U b`.
    pub fn until(&mut self, a: NodeId, b: NodeId) -> NodeId {
        if a == Pool::FALSE || self.kind(b).eventual || self.implies(a, b) {
            return b;
        }
        match (self.pool.node(a), self.pool.node(b)) {
            (Node::Next(x), Node::Next(y)) => {
                let inner = self.until(x, y);
                return self.next(inner);
            }
            (Node::True, Node::Next(y)) => {
                let inner = self.until(a, y);
                return self.next(inner);
            }
            (_, Node::Until(c, _)) if self.implies(a, c) => return b,
            (Node::True, _) => return self.finally(b),
            // (a U b) U b and the like.
            (Node::Until(_, d), _) if d == b => return a,
            _ => {}
        }
        let not_b = self.negate(b);
        if self.implies(not_b, a) {
            return self.until(Pool::TRUE, b);
        }
        self.pool.until(a, b)
    }

    /// `<> b`, parts that do not depend on the moment taken out.
    fn finally(&mut self, b: NodeId) -> NodeId {
        match self.pool.node(b) {
            Node::And(..) => {
                let (out, rest): (Vec<_>, Vec<_>) =
                    self.flatten(b, true).into_iter().partition(|&p| self.kind(p).suspendable());
                if out.is_empty() {
                    return self.pool.finally(b);
                }
                let body = rest.into_iter().fold(Pool::TRUE, |all, p| self.and(all, p));
                let inner = self.until(Pool::TRUE, body);
                out.into_iter().fold(inner, |all, p| self.and(all, p))
            }
            Node::Or(..) => {
                let (out, rest): (Vec<_>, Vec<_>) =
                    self.flatten(b, false).into_iter().partition(|&p| self.kind(p).eventual);
                if out.is_empty() {
                    return self.pool.finally(b);
                }
                let body = rest.into_iter().fold(Pool::FALSE, |any, p| self.or(any, p));
                let inner = self.until(Pool::TRUE, body);
                out.into_iter().fold(inner, |any, p| self.or(any, p))
            }
            Node::Until(_, c) => self.until(Pool::TRUE, c),
            _ => self.pool.finally(b),
        }
    }

    /// `a R b`.
    pub fn release(&mut self, a: NodeId, b: NodeId) -> NodeId {
        if a == Pool::TRUE || self.kind(b).universal || self.implies(b, a) {
            return b;
        }
        match (self.pool.node(a), self.pool.node(b)) {
            (Node::Next(x), Node::Next(y)) => {
                let inner = self.release(x, y);
                return self.next(inner);
            }
            (Node::False, Node::Next(y)) => {
                let inner = self.release(a, y);
                return self.next(inner);
            }
            (_, Node::Release(c, _)) if self.implies(c, a) => return b,
            (Node::False, _) => return self.globally(b),
            (Node::Release(_, d), _) if d == b => return a,
            _ => {}
        }
        let not_b = self.negate(b);
        if self.implies(a, not_b) {
            return self.release(Pool::FALSE, b);
        }
        self.pool.release(a, b)
    }

    /// `[] b`, parts that do not depend on the moment taken out.
    fn globally(&mut self, b: NodeId) -> NodeId {
        match self.pool.node(b) {
            Node::Or(..) => {
                let (out, rest): (Vec<_>, Vec<_>) =
                    self.flatten(b, false).into_iter().partition(|&p| self.kind(p).suspendable());
                if out.is_empty() {
                    return self.pool.globally(b);
                }
                let body = rest.into_iter().fold(Pool::FALSE, |any, p| self.or(any, p));
                let inner = self.release(Pool::FALSE, body);
                out.into_iter().fold(inner, |any, p| self.or(any, p))
            }
            Node::And(..) => {
                let (out, rest): (Vec<_>, Vec<_>) =
                    self.flatten(b, true).into_iter().partition(|&p| self.kind(p).universal);
                if out.is_empty() {
                    return self.pool.globally(b);
                }
                let body = rest.into_iter().fold(Pool::TRUE, |all, p| self.and(all, p));
                let inner = self.release(Pool::FALSE, body);
                out.into_iter().fold(inner, |all, p| self.and(all, p))
            }
            Node::Release(_, c) => self.release(Pool::FALSE, c),
            _ => self.pool.globally(b),
        }
    }
}
