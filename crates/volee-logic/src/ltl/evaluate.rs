//! The definition of LTL on a word that repeats for ever: the independent check of every lasso before it is
//! shown.

use crate::formula::{Formula, Node, NodeId};

/// Whether a formula is true of the word `letters[0..]`, whose part from `start` on repeats for ever. A
/// letter gives the truth of each atom, by the atom's number in the formula's pool. `start` is less than the
/// length.
pub fn holds_of_lasso(formula: &Formula, letters: &[Vec<bool>], start: usize) -> bool {
    let n = letters.len();
    let next = |i: usize| if i + 1 == n { start } else { i + 1 };
    let mut value: Vec<Vec<bool>> = vec![Vec::new(); formula.root.index() + 1];
    for id in formula.pool.reachable(formula.root) {
        let of = |f: NodeId| &value[f.index()];
        let row = match formula.pool.node(id) {
            Node::True => vec![true; n],
            Node::False => vec![false; n],
            Node::Atom(atom) => letters.iter().map(|l| l[atom.0 as usize]).collect(),
            Node::Not(a) => of(a).iter().map(|v| !v).collect(),
            Node::And(a, b) => of(a).iter().zip(of(b)).map(|(a, b)| *a && *b).collect(),
            Node::Or(a, b) => of(a).iter().zip(of(b)).map(|(a, b)| *a || *b).collect(),
            Node::Next(a) | Node::WeakNext(a) => (0..n).map(|i| of(a)[next(i)]).collect(),
            Node::Until(a, b) => fixpoint(n, next, false, |i, later| of(b)[i] || (of(a)[i] && later)),
            Node::Release(a, b) => fixpoint(n, next, true, |i, later| of(b)[i] && (of(a)[i] || later)),
        };
        value[id.index()] = row;
    }
    value[formula.root.index()][0]
}

/// The least (from `false`) or greatest (from `true`) solution of a one-step unfolding. Two rounds backwards
/// are enough: the first settles what the cycle knows by itself, the second carries it across the seam.
fn fixpoint(
    n: usize,
    next: impl Fn(usize) -> usize,
    from: bool,
    unfold: impl Fn(usize, bool) -> bool,
) -> Vec<bool> {
    let mut row = vec![from; n];
    for _ in 0..2 {
        for i in (0..n).rev() {
            row[i] = unfold(i, row[next(i)]);
        }
    }
    row
}
