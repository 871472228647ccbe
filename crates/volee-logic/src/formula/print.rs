//! Formulas as text, in the syntax that the parser reads.

use std::fmt;

use super::{AtomKind, Formula, Node, NodeId, Pool};

/// The text of an atom as a user would write it.
pub(super) fn atom_text(kind: &AtomKind) -> String {
    match kind {
        AtomKind::Name(name) => name.clone(),
        AtomKind::Event(pattern) => pattern.to_string(),
        AtomKind::Predicate(text) => format!("{{{text}}}"),
    }
}

enum Piece {
    Node(NodeId),
    Text(&'static str),
}

impl Pool {
    /// Writes a formula; shared parts are written as often as they are used, up to `limit` bytes.
    pub fn text(&self, root: NodeId, limit: usize) -> String {
        let mut out = String::new();
        let mut todo = vec![Piece::Node(root)];
        while let Some(piece) = todo.pop() {
            if out.len() > limit {
                out.push('…');
                break;
            }
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Node(id) => self.unfold(id, &mut out, &mut todo),
            }
        }
        out
    }

    fn unfold(&self, id: NodeId, out: &mut String, todo: &mut Vec<Piece>) {
        let mut unary = |op: &'static str, a| {
            out.push_str(op);
            todo.push(Piece::Node(a));
        };
        match self.node(id) {
            Node::True => out.push_str("true"),
            Node::False => out.push_str("false"),
            Node::Atom(atom) => out.push_str(&atom_text(&self.atoms()[atom.0 as usize].kind)),
            Node::Not(a) => unary("!", a),
            Node::Next(a) => unary("X ", a),
            Node::WeakNext(a) => unary("WX ", a),
            Node::Until(a, b) if a == Pool::TRUE => unary("<>", b),
            Node::Release(a, b) if a == Pool::FALSE => unary("[]", b),
            Node::And(a, b) => Self::binary(out, todo, a, " && ", b),
            Node::Or(a, b) => Self::binary(out, todo, a, " || ", b),
            Node::Until(a, b) => Self::binary(out, todo, a, " U ", b),
            Node::Release(a, b) => Self::binary(out, todo, a, " R ", b),
        }
    }

    fn binary(out: &mut String, todo: &mut Vec<Piece>, a: NodeId, op: &'static str, b: NodeId) {
        out.push('(');
        todo.extend([Piece::Text(")"), Piece::Node(b), Piece::Text(op), Piece::Node(a)]);
    }
}

impl fmt::Display for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.pool.text(self.root, 1 << 20))
    }
}
