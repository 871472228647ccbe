//! Formulas as text, for explanations and for people who want to see what a formula became.

use std::fmt;

use super::action::Action;
use super::equations::Sign;
use super::normal::{Formula, Node, NodeId};
use crate::formula::{EventPattern, LabelPattern};

/// Longer texts are cut here when a subformula is described.
const DESCRIPTION_LENGTH: usize = 120;

enum Piece {
    Text(&'static str),
    Owned(String),
    Node(NodeId),
}

impl Formula {
    /// The text of a subformula, cut to a length a person reads.
    pub fn describe(&self, id: NodeId) -> String {
        let mut text = String::new();
        self.write(id, DESCRIPTION_LENGTH, &mut text);
        if text.chars().count() > DESCRIPTION_LENGTH {
            text = text.chars().take(DESCRIPTION_LENGTH).collect();
            text.push_str(" …");
        }
        text
    }

    /// Writes until the text is longer than `enough`; an explicit stack, because formulas can be deep.
    fn write(&self, id: NodeId, enough: usize, text: &mut String) {
        let mut stack = vec![Piece::Node(id)];
        while let Some(piece) = stack.pop() {
            if text.len() > enough {
                return;
            }
            match piece {
                Piece::Text(piece) => text.push_str(piece),
                Piece::Owned(piece) => text.push_str(&piece),
                Piece::Node(id) => self.pieces(id, text, &mut stack),
            }
        }
    }

    fn pieces(&self, id: NodeId, text: &mut String, stack: &mut Vec<Piece>) {
        match self.node(id) {
            Node::Constant(value) => text.push_str(if value { "true" } else { "false" }),
            Node::Predicate(index, negated) => {
                text.push_str(if negated { "not {" } else { "{" });
                text.push_str(&self.predicates[index as usize].text);
                text.push('}');
            }
            Node::And(f, g) => {
                stack.extend([
                    Piece::Text(")"),
                    Piece::Node(g),
                    Piece::Text(" and "),
                    Piece::Node(f),
                    Piece::Text("("),
                ]);
            }
            Node::Or(f, g) => {
                stack.extend([
                    Piece::Text(")"),
                    Piece::Node(g),
                    Piece::Text(" or "),
                    Piece::Node(f),
                    Piece::Text("("),
                ]);
            }
            Node::Diamond(action, f) => {
                stack.push(Piece::Node(f));
                stack.push(Piece::Owned(format!("<{}> ", self.actions[action.0 as usize])));
            }
            Node::Box(action, f) => {
                stack.push(Piece::Node(f));
                stack.push(Piece::Owned(format!("[{}] ", self.actions[action.0 as usize])));
            }
            Node::Variable(v) => text.push_str(&self.variable_name(v.0)),
            Node::Fix(sign, v, f) => {
                let word = if sign == Sign::Mu { "mu" } else { "nu" };
                text.push_str(&format!("{word} {} . ", self.variable_name(v.0)));
                stack.push(Piece::Node(f));
            }
        }
    }

    fn variable_name(&self, variable: u32) -> String {
        let name = &self.names[variable as usize];
        if name == "_" { format!("X{variable}") } else { name.clone() }
    }
}

impl fmt::Display for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        self.write(self.root, usize::MAX, &mut text);
        f.write_str(&text)
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, all: &[Action], word: &str| {
            f.write_str("(")?;
            for (i, action) in all.iter().enumerate() {
                if i > 0 {
                    write!(f, " {word} ")?;
                }
                write!(f, "{action}")?;
            }
            f.write_str(")")
        };
        match self {
            Action::Constant(value) => write!(f, "{value}"),
            Action::Event(EventPattern { label: LabelPattern::Exact(text), .. }, _) => {
                write!(f, "\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
            }
            Action::Event(pattern, _) => write!(f, "{pattern}"),
            Action::Internal => f.write_str("tau"),
            Action::Not(inner) => write!(f, "not {inner}"),
            Action::And(all) => list(f, all, "and"),
            Action::Or(all) => list(f, all, "or"),
        }
    }
}
