//! The semantics, written down as naively as possible: the second opinion for everything else.

use volee_logic::formula::{Node, NodeId, Pool};

/// Whether `root` is true of the finite word; each letter says which atoms are true, by number.
pub fn finite(pool: &Pool, root: NodeId, word: &[u32]) -> bool {
    let letters = word.len();
    // value[node][i]: true at position i; the position after the end stands for the empty rest.
    let mut value = vec![vec![false; letters + 1]; pool.len()];
    for (id, node) in pool.nodes() {
        for i in (0..letters).rev() {
            let at = |n: NodeId, i: usize| value[n.index()][i];
            let last = i + 1 == letters;
            value[id.index()][i] = match node {
                Node::True => true,
                Node::False => false,
                Node::Atom(a) => word[i] >> a.0 & 1 == 1,
                Node::Not(a) => !at(a, i),
                Node::And(a, b) => at(a, i) && at(b, i),
                Node::Or(a, b) => at(a, i) || at(b, i),
                Node::Next(a) => !last && at(a, i + 1),
                Node::WeakNext(a) => last || at(a, i + 1),
                Node::Until(a, b) => (i..letters).any(|j| at(b, j) && (i..j).all(|k| at(a, k))),
                Node::Release(a, b) => (i..letters).all(|j| at(b, j) || (i..j).any(|k| at(a, k))),
            };
        }
    }
    if letters == 0 { empty(pool, root) } else { value[root.index()][0] }
}

/// The empty word, by the definitions of the 1989 report.
fn empty(pool: &Pool, root: NodeId) -> bool {
    let mut value = vec![false; pool.len()];
    for (id, node) in pool.nodes() {
        let at = |n: NodeId| value[n.index()];
        value[id.index()] = match node {
            Node::True | Node::WeakNext(_) => true,
            Node::False | Node::Atom(_) | Node::Next(_) => false,
            Node::Not(a) => !at(a),
            Node::And(a, b) => at(a) && at(b),
            Node::Or(a, b) => at(a) || at(b),
            Node::Until(_, b) | Node::Release(_, b) => at(b),
        };
    }
    value[root.index()]
}

/// A word that is finite and then repeats: letters, and where the repetition starts.
#[derive(Debug, Clone)]
pub struct Lasso {
    pub letters: Vec<u32>,
    pub start: usize,
}

impl Lasso {
    pub fn next(&self, i: usize) -> usize {
        if i + 1 == self.letters.len() { self.start } else { i + 1 }
    }
}

/// Whether `root` is true of the infinite word.
pub fn infinite(pool: &Pool, root: NodeId, lasso: &Lasso) -> bool {
    let n = lasso.letters.len();
    let mut value = vec![vec![false; n]; pool.len()];
    for (id, node) in pool.nodes() {
        for i in 0..n {
            let at = |f: NodeId, i: usize| value[f.index()][i];
            // The positions met from i on, each once, in order.
            let ahead = || std::iter::successors(Some(i), |&j| Some(lasso.next(j))).take(2 * n);
            value[id.index()][i] = match node {
                Node::True => true,
                Node::False => false,
                Node::Atom(a) => lasso.letters[i] >> a.0 & 1 == 1,
                Node::Not(a) => !at(a, i),
                Node::And(a, b) => at(a, i) && at(b, i),
                Node::Or(a, b) => at(a, i) || at(b, i),
                Node::Next(a) | Node::WeakNext(a) => at(a, lasso.next(i)),
                Node::Until(a, b) => match ahead().find(|&j| at(b, j) || !at(a, j)) {
                    Some(j) => at(b, j),
                    None => false,
                },
                Node::Release(a, b) => match ahead().find(|&j| at(a, j) || !at(b, j)) {
                    Some(j) => at(b, j),
                    None => true,
                },
            };
        }
    }
    value[root.index()][0]
}
