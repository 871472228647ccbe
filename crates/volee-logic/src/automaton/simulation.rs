//! Reduction by direct simulation, with signatures as decision diagrams (Babiak, Badie, Duret-Lutz,
//! Křetínský, Strejček 2013).
//!
//! State `q` simulates `p` if every transition of `p` is matched, letter by letter, by one of `q` that has at
//! least its marks and leads to a state that simulates its target. A signature is the disjunction over
//! transitions of guard, missing marks, and a cube of variables for all states that simulate the target; `q`
//! simulates `p` exactly if the signature of `p` implies that of `q`. States that simulate each other become
//! one, and a transition is cut back where a strictly better one exists.

use super::{Automaton, Edge};
use crate::bdd::{Bdd, Manager};

/// Beyond this many states the quadratic relation is not worth its time.
const MAX_STATES: usize = 1500;

impl Automaton {
    /// Merges equivalent states and removes dominated transitions.
    pub fn quotient_by_simulation(&mut self) {
        if self.states.len() > MAX_STATES {
            return;
        }
        let Some(relation) = Relation::compute(self) else { return };
        self.merge_equivalent(&relation);
        self.cut_dominated(&relation);
    }

    fn merge_equivalent(&mut self, relation: &Relation) {
        for edge in self.states.iter_mut().flatten() {
            edge.target = relation.representative(edge.target);
        }
        self.initial = relation.representative(self.initial);
        // Unreachable copies go with the next pruning; they must not be seen as separate states before.
        let keep: Vec<bool> =
            (0..self.states.len() as u32).map(|s| relation.representative(s) == s).collect();
        for (s, kept) in keep.iter().enumerate() {
            if !kept {
                self.states[s].clear();
            }
        }
    }

    fn cut_dominated(&mut self, relation: &Relation) {
        for state in 0..self.states.len() {
            let edges = self.states[state].clone();
            let mut cut: Vec<Edge> = Vec::with_capacity(edges.len());
            for (i, edge) in edges.iter().enumerate() {
                let mut guard = edge.guard;
                for (j, other) in edges.iter().enumerate() {
                    let same = (edge.target, edge.marks) == (other.target, other.marks);
                    let dominated =
                        edge.marks & !other.marks == 0 && relation.simulates(other.target, edge.target);
                    if i != j && !same && dominated {
                        let outside = self.manager.not(other.guard);
                        guard = self.manager.and(guard, outside);
                    }
                }
                cut.push(Edge { guard, ..*edge });
            }
            cut.retain(|e| e.guard != Bdd::FALSE);
            self.states[state] = cut;
        }
    }
}

/// Who simulates whom.
struct Relation {
    /// `above[p]`: the states that simulate `p`, as bits.
    above: Vec<Vec<u64>>,
}

impl Relation {
    fn simulates(&self, q: u32, p: u32) -> bool {
        self.above[p as usize][q as usize / 64] >> (q % 64) & 1 == 1
    }

    /// The first state equivalent to this one.
    fn representative(&self, state: u32) -> u32 {
        (0..state).find(|&q| self.simulates(q, state) && self.simulates(state, q)).unwrap_or(state)
    }

    /// The greatest simulation, from above; `None` if the diagrams get too large.
    fn compute(automaton: &Automaton) -> Option<Relation> {
        let n = automaton.states.len();
        let mut relation = Relation { above: vec![vec![u64::MAX; n.div_ceil(64)]; n] };
        let mut pairs = n * n;
        loop {
            let (manager, signatures) = relation.signatures(automaton);
            relation = relation.refine(manager, &signatures)?;
            let now: usize = relation.above.iter().flatten().map(|bits| bits.count_ones() as usize).sum();
            if now == pairs {
                return Some(relation);
            }
            pairs = now;
        }
    }

    /// The signature of each state over the current relation. Variables: atoms, then missing marks, then
    /// states.
    fn signatures(&self, automaton: &Automaton) -> (Manager, Vec<Bdd>) {
        let atoms = automaton.atoms.len() as u32;
        let n = automaton.states.len() as u32;
        let mut manager = Manager::new(1 << 22);
        let mut copies = hashbrown::HashMap::with_hasher(foldhash::fast::FixedState::default());
        let above: Vec<Bdd> = (0..n)
            .map(|p| {
                let literals: Vec<_> = (0..n)
                    .filter(|&q| self.simulates(q, p))
                    // Of equivalent states one variable is enough.
                    .filter(|&q| self.representative(q) == q)
                    .map(|q| (atoms + automaton.sets + q, true))
                    .collect();
                manager.cube(&literals)
            })
            .collect();
        let mut signatures = Vec::with_capacity(n as usize);
        for edges in &automaton.states {
            let mut signature = Bdd::FALSE;
            for edge in edges {
                let missing: Vec<_> = (0..automaton.sets)
                    .filter(|set| edge.marks >> set & 1 == 0)
                    .map(|set| (atoms + set, true))
                    .collect();
                let missing = manager.cube(&missing);
                let guard = copy(&automaton.manager, edge.guard, &mut manager, &mut copies);
                let term = manager.and(missing, above[edge.target as usize]);
                let term = manager.and(guard, term);
                signature = manager.or(signature, term);
            }
            signatures.push(signature);
        }
        (manager, signatures)
    }

    fn refine(&self, mut manager: Manager, signatures: &[Bdd]) -> Option<Relation> {
        let n = signatures.len();
        let mut above = vec![vec![0u64; n.div_ceil(64)]; n];
        for p in 0..n {
            for q in 0..n {
                let related = self.simulates(q as u32, p as u32)
                    && (signatures[p] == signatures[q] || manager.implies(signatures[p], signatures[q]));
                if related {
                    above[p][q / 64] |= 1 << (q % 64);
                }
            }
        }
        (!manager.exhausted()).then_some(Relation { above })
    }
}

/// Copies a function over the same variables into another manager.
fn copy(
    from: &Manager,
    f: Bdd,
    to: &mut Manager,
    done: &mut hashbrown::HashMap<Bdd, Bdd, foldhash::fast::FixedState>,
) -> Bdd {
    if f.is_constant() {
        return f;
    }
    if let Some(&g) = done.get(&f) {
        return g;
    }
    let low = copy(from, from.low(f), to, done);
    let high = copy(from, from.high(f), to, done);
    let g = to.node(from.variable(f), low, high);
    done.insert(f, g);
    g
}
