//! Expressions: values, conditions, and what they read.

use super::{Channel, Grammar, Type, Variable};
use crate::node;
use crate::tree::{Node, Part, Sort};

/// Numbers at which some width ends.
const EDGES: [&str; 12] =
    ["255", "256", "-1", "127", "128", "32767", "32768", "65535", "-32769", "2147483647", "7", "8"];

/// What can be asked of a channel.
pub(super) const TESTS: [&str; 5] = ["full", "empty", "nfull", "nempty", "len"];

impl Grammar {
    /// A number; small ones mostly.
    pub(super) fn number(&mut self) -> Node {
        let text = match self.random.below(20) {
            0 => (*self.random.pick(&EDGES)).to_string(),
            1 => "true".into(),
            2 => "false".into(),
            3 if self.macros => "LIMIT".into(),
            4 => "'a'".into(),
            _ => self.random.below(4).to_string(),
        };
        Node::text(Sort::Expression, text)
    }

    /// All variables in sight of one type.
    fn of_type(&self, wanted: impl Fn(&Variable) -> bool) -> Vec<Variable> {
        self.locals.iter().chain(&self.globals).filter(|v| wanted(v)).cloned().collect()
    }

    /// A place to read or write: the variable, with an index if it has several.
    pub(super) fn place(&mut self, variable: &Variable) -> Node {
        match variable.length {
            None => Node::text(Sort::Expression, variable.name.clone()),
            Some(length) => node!(Expression, format!("{}[", variable.name), self.index(length), "]"),
        }
    }

    /// An index; for ourselves perhaps one that is too large.
    fn index(&mut self, length: usize) -> Node {
        if !self.is_for_peer() && self.one_in(30) {
            return self.value(0);
        }
        if self.one_in(4) {
            return node!(Expression, format!("g0 % {length}"));
        }
        Node::text(Sort::Expression, self.random.below(length).to_string())
    }

    pub(super) fn variable_of(&mut self, wanted: impl Fn(&Variable) -> bool) -> Option<Variable> {
        let all = self.of_type(wanted);
        (!all.is_empty()).then(|| self.random.pick(&all).clone())
    }

    /// A value of any number type; `depth` bounds how deep it nests.
    pub(super) fn value(&mut self, depth: u32) -> Node {
        match self.random.below(if depth == 0 { 9 } else { 18 }) {
            0..=2 => self.number(),
            3..=6 => match self.variable_of(|v| v.ty.is_number() && v.name != "gh") {
                Some(variable) => self.place(&variable),
                None => self.number(),
            },
            7 => Node::text(Sort::Expression, *self.random.pick(&["_pid", "_nr_pr", "len(qb)", "g0"])),
            8 => self.remote().unwrap_or_else(|| Node::text(Sort::Expression, "g0")),
            9 => self.condition(depth - 1),
            10 => {
                let (c, a, b) = (self.condition(depth - 1), self.value(depth - 1), self.value(depth - 1));
                node!(Expression, "(", c, " -> ", a, " : ", b, ")")
            }
            11 => node!(Expression, *self.random.pick(&["-", "~"]), "(", self.value(depth - 1), ")"),
            12 if self.features.priorities => Node::text(
                Sort::Expression,
                *self.random.pick(&["_priority", "get_priority(0)", "get_priority(_pid)"]),
            ),
            12 if self.features.enabled && !self.known.is_empty() => node!(Expression, "pc_value(0)"),
            13 => self.divided(depth - 1),
            14 => self.shifted(depth - 1),
            _ => {
                let op = *self.random.pick(&["+", "-", "*", "&", "|", "^", "+", "-"]);
                node!(Expression, "(", self.value(depth - 1), format!(" {op} "), self.value(depth - 1), ")")
            }
        }
    }

    /// A quotient or remainder; for ourselves perhaps by 0, which ends SPIN's verifier.
    fn divided(&mut self, depth: u32) -> Node {
        let op = *self.random.pick(&["/", "%"]);
        let divisor = match !self.is_for_peer() && self.one_in(8) {
            true => self.value(depth),
            false => node!(Expression, (1 + self.random.below(4)).to_string()),
        };
        node!(Expression, "(", self.value(depth), format!(" {op} "), divisor, ")")
    }

    /// A shift; C says nothing of shifts by more than 31.
    fn shifted(&mut self, depth: u32) -> Node {
        let op = *self.random.pick(&["<<", ">>"]);
        let by = match !self.is_for_peer() && self.one_in(8) {
            true => self.value(depth),
            false => node!(Expression, self.random.below(9).to_string()),
        };
        node!(Expression, "(", self.value(depth), format!(" {op} "), by, ")")
    }

    /// What a variable of this type may be given.
    pub(super) fn value_for(&mut self, ty: Type, depth: u32) -> Node {
        match ty {
            Type::Mtype => self.symbol(Type::Mtype, &["ma", "mb", "mc"]),
            Type::Colour => self.symbol(Type::Colour, &["red", "blue"]),
            Type::Chan => Node::text(Sort::Expression, self.some_channel_name()),
            Type::Message => match self.variable_of(|v| v.ty == Type::Message) {
                Some(variable) => Node::text(Sort::Expression, variable.name),
                None => Node::text(Sort::Expression, "gk"),
            },
            _ => self.value(depth),
        }
    }

    fn symbol(&mut self, ty: Type, names: &[&str]) -> Node {
        let variable = if self.one_in(3) { self.variable_of(|v| v.ty == ty) } else { None };
        match variable {
            Some(variable) => self.place(&variable),
            None => Node::text(Sort::Expression, *self.random.pick(names)),
        }
    }

    /// A channel of single bytes.
    pub(super) fn some_channel_name(&mut self) -> String {
        let mut names = vec!["qb".to_string()];
        names.extend(self.locals.iter().filter(|v| v.name == "lc").map(|v| v.name.clone()));
        if self.channels.iter().any(|c| c.name == "qa") {
            names.extend(["qa[0]".into(), "qa[1]".into()]);
        }
        self.random.pick(&names).clone()
    }

    /// A condition; `depth` bounds how deep it nests.
    pub(super) fn condition(&mut self, depth: u32) -> Node {
        match self.random.below(if depth == 0 { 10 } else { 14 }) {
            0..=3 => {
                let op = *self.random.pick(&["==", "!=", "<", "<=", ">", ">=", "<=", ">=", "!="]);
                let depth = depth.saturating_sub(1);
                node!(Expression, "(", self.value(depth), format!(" {op} "), self.value(depth), ")")
            }
            4 if self.is_for_peer() => self.channel_test(&["len"]),
            4 => self.channel_test(&TESTS),
            5 if !self.is_for_peer() => self.poll(),
            6 => self.symbols_compared(),
            7 if self.features.enabled && self.known.len() > 1 => {
                let pid = self.random.below(3);
                node!(Expression, format!("enabled({pid})"))
            }
            7 if self.macros => node!(Expression, "FEW(", self.value(0), ")"),
            8 => self.label_reached().unwrap_or_else(|| Node::text(Sort::Expression, "true")),
            5 | 7 | 9 => node!(Expression, *self.random.pick(&["true", "1", "_nr_pr > 0", "g0 < 3"])),
            10 => node!(Expression, "!(", self.plain_comparison(), ")"),
            _ => {
                let op = *self.random.pick(&["&&", "||"]);
                node!(
                    Expression,
                    "(",
                    self.condition(depth - 1),
                    format!(" {op} "),
                    self.condition(depth - 1),
                    ")"
                )
            }
        }
    }

    fn plain_comparison(&mut self) -> Node {
        let op = *self.random.pick(&["==", "<", ">"]);
        node!(Expression, self.value(0), format!(" {op} "), self.value(0))
    }

    /// A condition that any process may evaluate, and no process needs.
    pub(super) fn global_condition(&mut self) -> Node {
        let locals = std::mem::take(&mut self.locals);
        let condition = match self.random.below(4) {
            0 => node!(Expression, "g0 != 2"),
            1 => node!(Expression, "_pid != g0"),
            2 => node!(Expression, "len(qb) < 2"),
            _ => self.plain_comparison(),
        };
        self.locals = locals;
        condition
    }

    fn symbols_compared(&mut self) -> Node {
        let ty = if self.one_in(3) { Type::Colour } else { Type::Mtype };
        let Some(variable) = self.variable_of(|v| v.ty == ty) else {
            return Node::text(Sort::Expression, "g0 != 3");
        };
        let op = *self.random.pick(&["==", "!="]);
        let place = self.place(&variable);
        node!(Expression, "(", place, format!(" {op} "), self.value_for(ty, 0), ")")
    }

    /// SPIN knows the others of these only as conditions of their own.
    pub(super) fn channel_test(&mut self, tests: &[&'static str]) -> Node {
        let channel = self.channel(|c| !c.rendezvous);
        let test = *self.random.pick(tests);
        let after = if test == "len" { " > 0" } else { "" };
        let (name, _) = channel;
        node!(Expression, format!("{test}("), name, format!("){after}"))
    }

    pub(super) fn poll(&mut self) -> Node {
        let (name, fields) = self.channel(|c| !c.rendezvous && !c.fields.contains(&Type::Chan));
        let op = *self.random.pick(&["?[", "??["]);
        let patterns = self.patterns(&fields, Binding::Never);
        Node::new(Sort::Expression, [name.into(), op.into(), Part::Many(patterns, ", "), "]".into()])
    }

    /// A channel with its fields: its place, perhaps through a variable that holds it.
    pub(super) fn channel(&mut self, wanted: impl Fn(&Channel) -> bool) -> (Node, Vec<Type>) {
        let bytes =
            Channel { name: String::new(), fields: vec![Type::Byte], rendezvous: false, length: None };
        if self.features.aliases && wanted(&bytes) && self.one_in(3) {
            let peer = self.is_for_peer();
            // A peer's programs give `ca` a value first of all.
            let all = self.of_type(|v| v.ty == Type::Chan && !(peer && v.name == "ca"));
            if !all.is_empty() {
                return (Node::text(Sort::Expression, self.random.pick(&all).name.clone()), bytes.fields);
            }
        }
        let all: Vec<Channel> = self.channels.iter().filter(|c| wanted(c)).cloned().collect();
        let Some(channel) = (!all.is_empty()).then(|| self.random.pick(&all).clone()) else {
            return (Node::text(Sort::Expression, "qb"), bytes.fields);
        };
        let place = match channel.length {
            None => Node::text(Sort::Expression, channel.name),
            Some(length) => node!(Expression, format!("{}[", channel.name), self.index(length), "]"),
        };
        (place, channel.fields)
    }

    /// What a receive or poll says of each field.
    pub(super) fn patterns(&mut self, fields: &[Type], binding: Binding) -> Vec<Node> {
        let mut bound = Vec::new();
        if let Binding::OftenBut(name) = binding {
            bound.push(name.into());
        }
        // SPIN puts a message back as what a hidden variable holds by then.
        if self.is_for_peer() {
            bound.push("gh".into());
        }
        fields.iter().map(|&ty| self.pattern(ty, binding, &mut bound)).collect()
    }

    fn pattern(&mut self, ty: Type, binding: Binding, bound: &mut Vec<String>) -> Node {
        // SPIN gives a variable that is too narrow for the message the wrong value back when it goes back.
        let peer = self.is_for_peer();
        let fits = |v: &Variable| match ty {
            _ if ty == Type::Message || !ty.is_number() => v.ty == ty,
            _ if peer => v.ty == ty && v.length.is_none(),
            _ => v.ty.is_number(),
        };
        let roll = self.random.below(8);
        if ty == Type::Message || ty == Type::Chan || (binding != Binding::Never && roll < 5) {
            let variable = self.variable_of(|v| fits(v) && !bound.contains(&v.name));
            if let Some(variable) = variable {
                bound.push(variable.name.clone());
                return self.place(&variable);
            }
        }
        match roll {
            0 if ty.is_number() => node!(Expression, "eval(", self.value(1), ")"),
            1 | 2 | 5 if ty != Type::Message => Node::text(Sort::Expression, "_"),
            _ if ty == Type::Mtype => Node::text(Sort::Expression, *self.random.pick(&["ma", "mb"])),
            _ if ty == Type::Message => Node::text(Sort::Expression, "gk"),
            _ if ty == Type::Chan => Node::text(Sort::Expression, "_"),
            _ => Node::text(Sort::Expression, self.random.below(3).to_string()),
        }
    }

    /// The value of a variable of another process.
    fn remote(&mut self) -> Option<Node> {
        let known: Vec<_> =
            self.known.iter().filter(|k| !k.pids.is_empty() && !k.locals.is_empty()).cloned().collect();
        let of = (!known.is_empty()).then(|| self.random.pick(&known).clone())?;
        let local = self.random.pick(&of.locals).clone();
        Some(match of.pids.len() == 1 && self.one_in(2) && !self.is_for_peer() {
            true => node!(Expression, format!("{}:{local}", of.name)),
            false => node!(Expression, format!("{}[{}]:{local}", of.name, of.pids.start)),
        })
    }

    /// Whether another process is at a label.
    pub(super) fn label_reached(&mut self) -> Option<Node> {
        let known: Vec<_> =
            self.known.iter().filter(|k| !k.pids.is_empty() && !k.labels.is_empty()).cloned().collect();
        let of = (!known.is_empty()).then(|| self.random.pick(&known).clone())?;
        let label = self.random.pick(&of.labels).clone();
        Some(match of.pids.len() == 1 && self.one_in(2) {
            true => node!(Expression, format!("{}@{label}", of.name)),
            false => node!(Expression, format!("{}[{}]@{label}", of.name, of.pids.start)),
        })
    }
}

/// Whether a pattern may be a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Binding {
    Often,
    /// Any but this one.
    OftenBut(&'static str),
    Never,
}
