//! A small reduced ordered binary decision diagram package: the canonical form of formula states and of
//! letters.
//!
//! Derivatives of temporal formulas are boolean combinations of finitely many "next" atoms, and two of them
//! are the same state exactly if their diagrams are the same node; the 1989 report compared disjunctive
//! normal forms instead. Diagrams here have few variables (the atoms and temporal operators of one formula)
//! and few nodes, so the package is plain: no complement edges, no reordering, no garbage collection.
//!
//! Running out is a value: past the node limit the manager answers `FALSE` and remembers it; whoever builds
//! asks [`Manager::exhausted`] before trusting a result. Recursion is as deep as there are variables, which
//! callers bound by [`MAX_VARIABLES`].

use foldhash::fast::FixedState;
use hashbrown::{HashMap, HashTable};
use std::hash::BuildHasher;

/// The most variables a manager takes: recursion goes one level per variable.
pub const MAX_VARIABLES: u32 = 4096;

/// A boolean function, canonical within its manager.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bdd(u32);

impl Bdd {
    /// The constant false.
    pub const FALSE: Bdd = Bdd(0);
    /// The constant true.
    pub const TRUE: Bdd = Bdd(1);

    /// Whether this is a constant.
    pub fn is_constant(self) -> bool {
        self.0 < 2
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Node {
    variable: u32,
    low: Bdd,
    high: Bdd,
}

/// A literal of a cube: the variable, and whether it is positive.
pub type Literal = (u32, bool);

/// The owner of all nodes. Variables are their own order: the smallest is nearest the root.
#[derive(Clone)]
pub struct Manager {
    nodes: Vec<Node>,
    unique: HashTable<u32>,
    ite_cache: HashMap<(Bdd, Bdd, Bdd), Bdd, FixedState>,
    hasher: FixedState,
    limit: usize,
    exhausted: bool,
}

impl Manager {
    /// A manager that refuses to grow past `limit` nodes.
    pub fn new(limit: usize) -> Self {
        let terminal = |b| Node { variable: u32::MAX, low: b, high: b };
        Manager {
            nodes: vec![terminal(Bdd::FALSE), terminal(Bdd::TRUE)],
            unique: HashTable::new(),
            ite_cache: HashMap::with_hasher(FixedState::default()),
            hasher: FixedState::default(),
            limit,
            exhausted: false,
        }
    }

    /// Whether the node limit was hit: results since then are not to be trusted.
    pub fn exhausted(&self) -> bool {
        self.exhausted
    }

    /// The number of nodes made so far.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether only the constants exist.
    pub fn is_empty(&self) -> bool {
        self.nodes.len() == 2
    }

    /// The variable at the root; `u32::MAX` for constants.
    pub fn variable(&self, f: Bdd) -> u32 {
        self.nodes[f.0 as usize].variable
    }

    /// The function where its root variable is false.
    pub fn low(&self, f: Bdd) -> Bdd {
        self.nodes[f.0 as usize].low
    }

    /// The function where its root variable is true.
    pub fn high(&self, f: Bdd) -> Bdd {
        self.nodes[f.0 as usize].high
    }

    /// The function that is `high` where `variable` is true and `low` where it is false. Both must only speak
    /// of later variables.
    pub fn node(&mut self, variable: u32, low: Bdd, high: Bdd) -> Bdd {
        if low == high {
            return low;
        }
        let hash = self.hasher.hash_one((variable, low, high));
        let nodes = &self.nodes;
        let wanted = Node { variable, low, high };
        if let Some(&id) = self.unique.find(hash, |&id| nodes[id as usize] == wanted) {
            return Bdd(id);
        }
        if self.nodes.len() >= self.limit {
            self.exhausted = true;
            return Bdd::FALSE;
        }
        let id = self.nodes.len() as u32;
        self.nodes.push(wanted);
        let (nodes, hasher) = (&self.nodes, &self.hasher);
        self.unique.insert_unique(hash, id, |&id| {
            let n = nodes[id as usize];
            hasher.hash_one((n.variable, n.low, n.high))
        });
        Bdd(id)
    }

    /// The function that is one variable.
    pub fn literal(&mut self, variable: u32, positive: bool) -> Bdd {
        if positive {
            self.node(variable, Bdd::FALSE, Bdd::TRUE)
        } else {
            self.node(variable, Bdd::TRUE, Bdd::FALSE)
        }
    }

    /// `if f then g else h`.
    pub fn ite(&mut self, f: Bdd, g: Bdd, h: Bdd) -> Bdd {
        if f == Bdd::TRUE || g == h {
            return g;
        }
        if f == Bdd::FALSE {
            return h;
        }
        if g == Bdd::TRUE && h == Bdd::FALSE {
            return f;
        }
        if let Some(&r) = self.ite_cache.get(&(f, g, h)) {
            return r;
        }
        let top = self.variable(f).min(self.variable(g)).min(self.variable(h));
        let (f0, f1) = self.split(f, top);
        let (g0, g1) = self.split(g, top);
        let (h0, h1) = self.split(h, top);
        let low = self.ite(f0, g0, h0);
        let high = self.ite(f1, g1, h1);
        let result = self.node(top, low, high);
        self.ite_cache.insert((f, g, h), result);
        result
    }

    /// The two cofactors of `f` with respect to a variable not below its root.
    pub fn split(&self, f: Bdd, variable: u32) -> (Bdd, Bdd) {
        let node = self.nodes[f.0 as usize];
        if node.variable == variable { (node.low, node.high) } else { (f, f) }
    }

    /// Conjunction.
    pub fn and(&mut self, f: Bdd, g: Bdd) -> Bdd {
        let (f, g) = if f <= g { (f, g) } else { (g, f) };
        self.ite(f, g, Bdd::FALSE)
    }

    /// Disjunction.
    pub fn or(&mut self, f: Bdd, g: Bdd) -> Bdd {
        let (f, g) = if f <= g { (f, g) } else { (g, f) };
        self.ite(f, Bdd::TRUE, g)
    }

    /// Negation.
    pub fn not(&mut self, f: Bdd) -> Bdd {
        self.ite(f, Bdd::FALSE, Bdd::TRUE)
    }

    /// Equivalence.
    pub fn iff(&mut self, f: Bdd, g: Bdd) -> Bdd {
        let ng = self.not(g);
        self.ite(f, g, ng)
    }

    /// Whether `f` implies `g`.
    pub fn implies(&mut self, f: Bdd, g: Bdd) -> bool {
        self.ite(f, g, Bdd::TRUE) == Bdd::TRUE
    }

    /// The value under an assignment.
    pub fn eval(&self, f: Bdd, assignment: impl Fn(u32) -> bool) -> bool {
        self.follow(f, u32::MAX, assignment) == Bdd::TRUE
    }

    /// The cofactor reached by fixing every variable below `first_free`.
    pub fn follow(&self, f: Bdd, first_free: u32, assignment: impl Fn(u32) -> bool) -> Bdd {
        let mut at = f;
        loop {
            let node = self.nodes[at.0 as usize];
            if node.variable == u32::MAX || node.variable >= first_free {
                return at;
            }
            at = if assignment(node.variable) { node.high } else { node.low };
        }
    }

    /// There is a value of the variables for which `f` is true.
    pub fn exists(&mut self, f: Bdd, quantified: &dyn Fn(u32) -> bool) -> Bdd {
        let mut cache = HashMap::with_hasher(FixedState::default());
        self.exists_cached(f, quantified, &mut cache)
    }

    fn exists_cached(
        &mut self,
        f: Bdd,
        quantified: &dyn Fn(u32) -> bool,
        cache: &mut HashMap<Bdd, Bdd, FixedState>,
    ) -> Bdd {
        if f.is_constant() {
            return f;
        }
        if let Some(&r) = cache.get(&f) {
            return r;
        }
        let node = self.nodes[f.0 as usize];
        let low = self.exists_cached(node.low, quantified, cache);
        let high = self.exists_cached(node.high, quantified, cache);
        let result =
            if quantified(node.variable) { self.or(low, high) } else { self.node(node.variable, low, high) };
        cache.insert(f, result);
        result
    }

    /// The conjunction of literals.
    pub fn cube(&mut self, literals: &[Literal]) -> Bdd {
        let mut sorted = literals.to_vec();
        sorted.sort_unstable_by(|a, b| b.cmp(a));
        let mut result = Bdd::TRUE;
        for (variable, positive) in sorted {
            let literal = self.literal(variable, positive);
            result = self.and(literal, result);
        }
        result
    }

    /// An irredundant sum of prime implicants (Minato 1992): cubes whose disjunction is `f`. `None` if there
    /// are more than `limit` of them: a small diagram can have exponentially many.
    pub fn prime_cubes(&mut self, f: Bdd, limit: usize) -> Option<Vec<Vec<Literal>>> {
        let mut left = limit;
        let (_, cubes) = self.isop(f, f, &mut left)?;
        (!self.exhausted).then_some(cubes)
    }

    /// A sum of products between `lower` and `upper`, with its diagram.
    fn isop(&mut self, lower: Bdd, upper: Bdd, left: &mut usize) -> Option<(Bdd, Vec<Vec<Literal>>)> {
        if lower == Bdd::FALSE || self.exhausted {
            return Some((Bdd::FALSE, Vec::new()));
        }
        if upper == Bdd::TRUE {
            *left = left.checked_sub(1)?;
            return Some((Bdd::TRUE, vec![Vec::new()]));
        }
        let top = self.variable(lower).min(self.variable(upper));
        let (l0, l1) = self.split(lower, top);
        let (u0, u1) = self.split(upper, top);
        let not_u1 = self.not(u1);
        let only_low = self.and(l0, not_u1);
        let (f0, cubes0) = self.isop(only_low, u0, left)?;
        let not_u0 = self.not(u0);
        let only_high = self.and(l1, not_u0);
        let (f1, cubes1) = self.isop(only_high, u1, left)?;
        let (not_f0, not_f1) = (self.not(f0), self.not(f1));
        let rest0 = self.and(l0, not_f0);
        let rest1 = self.and(l1, not_f1);
        let rest = self.or(rest0, rest1);
        let both = self.and(u0, u1);
        let (fd, cubes_d) = self.isop(rest, both, left)?;
        let low = self.or(f0, fd);
        let high = self.or(f1, fd);
        let result = self.node(top, low, high);
        let mut cubes = Vec::with_capacity(cubes0.len() + cubes1.len() + cubes_d.len());
        let with = |positive| {
            move |mut cube: Vec<Literal>| {
                cube.push((top, positive));
                cube
            }
        };
        cubes.extend(cubes0.into_iter().map(with(false)));
        cubes.extend(cubes1.into_iter().map(with(true)));
        cubes.extend(cubes_d);
        Some((result, cubes))
    }
}

/// Replaces variables by functions, the same ones every time, and remembers the results.
pub struct Substitution {
    images: HashMap<u32, Bdd, FixedState>,
    cache: HashMap<Bdd, Bdd, FixedState>,
}

impl Substitution {
    /// The substitution that changes nothing.
    pub fn new() -> Self {
        Substitution {
            images: HashMap::with_hasher(FixedState::default()),
            cache: HashMap::with_hasher(FixedState::default()),
        }
    }

    /// Maps `variable` to `image` from now on; whatever was cached is forgotten.
    pub fn set(&mut self, variable: u32, image: Bdd) {
        self.images.insert(variable, image);
        self.cache.clear();
    }

    /// The image of a function.
    pub fn apply(&mut self, manager: &mut Manager, f: Bdd) -> Bdd {
        if f.is_constant() {
            return f;
        }
        if let Some(&r) = self.cache.get(&f) {
            return r;
        }
        let (variable, low, high) = (manager.variable(f), manager.low(f), manager.high(f));
        let low = self.apply(manager, low);
        let high = self.apply(manager, high);
        let condition = match self.images.get(&variable) {
            Some(&image) => image,
            None => manager.literal(variable, true),
        };
        let result = manager.ite(condition, high, low);
        self.cache.insert(f, result);
        result
    }
}

impl Default for Substitution {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Builds a function of four variables from its truth table.
    fn from_table(m: &mut Manager, table: u16) -> Bdd {
        let mut f = Bdd::FALSE;
        for row in 0..16u32 {
            if table >> row & 1 == 1 {
                let cube =
                    m.cube(&[(0, row & 1 != 0), (1, row & 2 != 0), (2, row & 4 != 0), (3, row & 8 != 0)]);
                f = m.or(f, cube);
            }
        }
        f
    }

    #[test]
    fn every_function_of_four_variables_has_one_node_and_is_the_sum_of_its_prime_cubes() {
        let mut m = Manager::new(1 << 20);
        for table in (0..=u16::MAX).step_by(37) {
            let f = from_table(&mut m, table);
            for row in 0..16u32 {
                assert_eq!(m.eval(f, |v| row >> v & 1 == 1), table >> row & 1 == 1);
            }
            let mut sum = Bdd::FALSE;
            for cube in m.prime_cubes(f, 16).expect("at most eight") {
                let cube = m.cube(&cube);
                assert!(m.implies(cube, f));
                sum = m.or(sum, cube);
            }
            assert_eq!(sum, f);
        }
    }

    #[test]
    fn a_full_manager_says_so() {
        let mut m = Manager::new(4);
        for v in 0..4 {
            m.literal(v, true);
        }
        assert!(m.exhausted());
    }

    #[test]
    fn substitution_is_simultaneous() {
        let mut m = Manager::new(1 << 10);
        let (a, b) = (m.literal(0, true), m.literal(1, true));
        let not_b = m.not(b);
        let f = m.and(a, not_b);
        let mut swap = Substitution::new();
        swap.set(0, b);
        swap.set(1, a);
        let not_a = m.not(a);
        assert_eq!(swap.apply(&mut m, f), m.and(b, not_a));
    }
}
