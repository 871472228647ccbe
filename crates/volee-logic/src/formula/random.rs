//! Random formulas for property tests and benchmarks, from a seed.

use super::{AtomKind, Formula, NodeId, Pool, Span};
use volee_system::Random;

/// How large a random formula is.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// The number of different atoms, named `p0`, `p1`, …
    pub atoms: usize,
    /// The number of operators.
    pub operators: usize,
}

/// A formula with about the given shape.
pub fn random_formula(random: &mut Random, shape: Shape) -> Formula {
    let mut pool = Pool::new();
    let mut parts: Vec<NodeId> =
        (0..shape.atoms).map(|i| pool.atom(AtomKind::Name(format!("p{i}")), Span::default())).collect();
    for _ in 0..shape.operators {
        let recent = parts.len().min(shape.atoms + 2);
        let mut pick = |parts: &[NodeId]| parts[parts.len() - 1 - random.below(recent)];
        let (a, b) = (pick(&parts), pick(&parts));
        let new = match random.below(10) {
            0 => pool.not(a),
            1 => pool.and(a, b),
            2 => pool.or(a, b),
            3 => pool.next(a),
            4 => pool.weak_next(a),
            5 => pool.until(a, b),
            6 => pool.release(a, b),
            7 => pool.finally(a),
            8 => pool.globally(a),
            _ => pool.iff(a, b),
        };
        parts.push(new);
    }
    let root = *parts.last().expect("there is at least one atom");
    Formula { pool, root }
}
