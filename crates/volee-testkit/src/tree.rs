//! Texts with a structure: what a generator makes, prints, and makes smaller.
//!
//! A node knows its text and what may happen to it when a failing text is made smaller, nothing about the
//! language: whether a smaller text still means something is left to whoever reads it.

use std::fmt;

/// What may stand in place of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    /// Only less of itself.
    Frame,
    /// `skip`, or the statements inside it.
    Statement,
    /// A number, or an expression inside it.
    Expression,
}

/// A piece of a node's text.
#[derive(Debug, Clone)]
pub enum Part {
    /// Text that stays.
    Text(String),
    /// One node that must be there.
    One(Node),
    /// Nodes of which some may go, and what stands between them.
    Many(Vec<Node>, &'static str),
}

/// A text with a structure.
#[derive(Debug, Clone)]
pub struct Node {
    /// What may stand in its place.
    pub sort: Sort,
    /// Its text, in order.
    pub parts: Vec<Part>,
}

impl Node {
    /// A node of these parts.
    pub fn new(sort: Sort, parts: impl IntoIterator<Item = Part>) -> Self {
        Node { sort, parts: parts.into_iter().collect() }
    }

    /// A node that is only text.
    pub fn text(sort: Sort, text: impl Into<String>) -> Self {
        Node { sort, parts: vec![Part::Text(text.into())] }
    }

    /// The nodes directly inside it.
    pub fn children(&self) -> impl Iterator<Item = &Node> {
        self.parts.iter().flat_map(|part| match part {
            Part::Text(_) => &[][..],
            Part::One(node) => std::slice::from_ref(node),
            Part::Many(nodes, _) => nodes,
        })
    }

    /// The nodes directly inside it.
    pub fn children_mut(&mut self) -> impl Iterator<Item = &mut Node> {
        self.parts.iter_mut().flat_map(|part| match part {
            Part::Text(_) => &mut [][..],
            Part::One(node) => std::slice::from_mut(node),
            Part::Many(nodes, _) => nodes,
        })
    }
}

impl From<&str> for Part {
    fn from(text: &str) -> Self {
        Part::Text(text.into())
    }
}

impl From<String> for Part {
    fn from(text: String) -> Self {
        Part::Text(text)
    }
}

impl From<Node> for Part {
    fn from(node: Node) -> Self {
        Part::One(node)
    }
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for part in &self.parts {
            match part {
                Part::Text(text) => f.write_str(text)?,
                Part::One(node) => node.fmt(f)?,
                Part::Many(nodes, between) => {
                    for (index, node) in nodes.iter().enumerate() {
                        if index > 0 {
                            f.write_str(between)?;
                        }
                        node.fmt(f)?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// A node from pieces that become [`Part`]s: `node!(Statement, name, " = ", value)`.
#[macro_export]
macro_rules! node {
    ($sort:ident, $($part:expr),+ $(,)?) => {
        $crate::tree::Node::new($crate::tree::Sort::$sort, [$($crate::tree::Part::from($part)),+])
    };
}
