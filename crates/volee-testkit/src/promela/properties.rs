//! What a program says of itself: never claims, traces, `ltl` blocks.

use super::{Grammar, Type};
use crate::node;
use crate::tree::{Node, Sort};

impl Grammar {
    pub(super) fn properties(&mut self) -> Vec<Node> {
        let mut all = Vec::new();
        match self.random.below(8) {
            0 | 1 => all.push(self.never()),
            2 | 3 => {
                all.push(self.ltl());
                if self.one_in(3) {
                    all.push(self.ltl());
                }
            }
            _ => {}
        }
        if self.one_in(6) {
            all.push(self.trace());
        }
        all
    }

    /// A condition of a claim, which looks from outside.
    fn seen(&mut self) -> Node {
        match self.random.below(8) {
            0 => self.label_reached().unwrap_or_else(|| Node::text(Sort::Expression, "g0 == 1")),
            1 if !self.is_for_peer() => Node::text(Sort::Expression, "np_"),
            2 if !self.is_for_peer() => Node::text(Sort::Expression, "_last == 1"),
            3 if !self.features.rendezvous && !self.is_for_peer() => {
                Node::text(Sort::Expression, "enabled(0)")
            }
            _ => node!(Expression, "(", self.global_condition_without_pid(), ")"),
        }
    }

    fn global_condition_without_pid(&mut self) -> Node {
        match self.variable_of(|v| v.ty.is_number() && v.length.is_none() && v.name != "gh") {
            Some(variable) => {
                let op = *self.random.pick(&["==", "!=", "<", ">"]);
                node!(Expression, format!("{} {op} {}", variable.name, self.random.below(3)))
            }
            None => match self.variable_of(|v| v.ty == Type::Mtype) {
                Some(variable) => node!(Expression, format!("{} == ma", variable.name)),
                None => node!(Expression, "len(qb) == 0"),
            },
        }
    }

    fn never(&mut self) -> Node {
        let (a, b) = (self.seen(), self.seen());
        match self.random.below(4) {
            0 => node!(Frame, "never { do :: ", a, " -> break :: true od }"),
            1 => node!(
                Frame,
                "never {\nS0: if :: ",
                a,
                " -> goto accept0 :: true -> goto S0 fi;\naccept0: if :: ",
                b,
                " -> goto accept0 fi\n}"
            ),
            2 => node!(Frame, "never { do :: assert(", a, ") :: ", b, " -> break od }"),
            _ => node!(Frame, "never { ", a, "; accept1: do :: ", b, " :: else -> break od; skip }"),
        }
    }

    fn trace(&mut self) -> Node {
        let keyword = *self.random.pick(&["trace", "trace", "notrace"]);
        let body = match self.random.below(4) {
            0 => "do :: qb!_; qb?_ od",
            1 => "do :: qb!_ :: qb?_ od",
            2 => "qb!_; do :: qb!1 :: qb?_ :: qb!_ od",
            _ => "do :: qb!0 :: qb!_; qb?_; break od",
        };
        node!(Frame, format!("{keyword} {{ {body} }}"))
    }

    fn ltl(&mut self) -> Node {
        let name = self.fresh("f");
        let formula = self.formula(2);
        node!(Frame, format!("ltl {name} {{ "), formula, " }")
    }

    fn formula(&mut self, depth: u32) -> Node {
        if depth == 0 {
            return node!(Expression, "(", self.global_condition_without_pid(), ")");
        }
        match self.random.below(8) {
            0 => node!(Expression, "[] ", self.formula(depth - 1)),
            1 => node!(Expression, "<> ", self.formula(depth - 1)),
            2 => node!(Expression, "(", self.formula(depth - 1), " U ", self.formula(depth - 1), ")"),
            3 => node!(Expression, "[] (", self.formula(depth - 1), " -> <> ", self.formula(0), ")"),
            4 => node!(Expression, "<> [] ", self.formula(0)),
            5 => node!(Expression, "[] <> ", self.formula(0)),
            6 => node!(
                Expression,
                "(",
                self.formula(depth - 1),
                *self.random.pick(&[" && ", " || ", " <-> ", " V ", " W "]),
                self.formula(depth - 1),
                ")"
            ),
            _ => match !self.is_for_peer() && self.one_in(2) {
                true => node!(Expression, "X ", self.formula(depth - 1)),
                false => node!(Expression, "! ", self.formula(depth - 1)),
            },
        }
    }
}
