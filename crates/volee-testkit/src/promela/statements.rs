//! Statements and sequences of them, with labels and jumps.

use super::expressions::{Binding, TESTS};
use super::{Context, Grammar, Known, Type};
use crate::node;
use crate::tree::{Node, Part, Sort};

/// The kinds of statement, each with how often it is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Assign,
    Step,
    Condition,
    Send,
    SortedSend,
    Receive,
    RandomReceive,
    Copy,
    RandomCopy,
    Assert,
    Printf,
    Printm,
    Run,
    Goto,
    Break,
    If,
    Do,
    Atomic,
    DStep,
    Block,
    Unless,
    For,
    ForIn,
    Select,
    Declaration,
    Priority,
    Inline,
    Timeout,
    Skip,
    Exclusive,
}

const KINDS: [(Kind, usize); 30] = [
    (Kind::Assign, 30),
    (Kind::Step, 10),
    (Kind::Condition, 8),
    (Kind::Send, 14),
    (Kind::SortedSend, 5),
    (Kind::Receive, 14),
    (Kind::RandomReceive, 5),
    (Kind::Copy, 5),
    (Kind::RandomCopy, 5),
    (Kind::Assert, 6),
    (Kind::Printf, 5),
    (Kind::Printm, 4),
    (Kind::Run, 5),
    (Kind::Goto, 8),
    (Kind::Break, 10),
    (Kind::If, 10),
    (Kind::Do, 8),
    (Kind::Atomic, 8),
    (Kind::DStep, 8),
    (Kind::Block, 5),
    (Kind::Unless, 8),
    (Kind::For, 5),
    (Kind::ForIn, 5),
    (Kind::Select, 5),
    (Kind::Declaration, 5),
    (Kind::Priority, 12),
    (Kind::Inline, 12),
    (Kind::Timeout, 4),
    (Kind::Skip, 4),
    (Kind::Exclusive, 4),
];

impl Grammar {
    /// Statements one after the other, some with labels.
    pub(super) fn sequence(&mut self, length: usize, context: Context) -> Vec<Node> {
        let mut all = Vec::new();
        for index in 0..length.max(1) {
            let context = match index {
                0 => context,
                _ => Context { first: false, interrupted: false, escape: false, ..context },
            };
            let statement = self.statement(context);
            // SPIN takes no label on the first statement between braces.
            let refused = self.is_for_peer() && index == 0 && context.depth > 0;
            all.push(if refused { statement } else { self.labelled(statement, context) });
        }
        all
    }

    fn labelled(&mut self, statement: Node, context: Context) -> Node {
        if context.d_step || context.first || self.declared || !self.one_in(7) {
            return statement;
        }
        let wanted = self.wanted_labels.iter().find(|l| !self.placed_labels.contains(l)).cloned();
        let name = match (wanted, self.random.below(5)) {
            (Some(wanted), 0..=2) => wanted,
            (_, 0) => self.fresh("progress"),
            (_, 1) => self.fresh("accept"),
            (_, 2) => self.fresh("end"),
            _ => self.fresh("L"),
        };
        self.placed_labels.push(name.clone());
        node!(Statement, format!("{name}: "), statement)
    }

    /// Labels that something jumps to and that have no place yet.
    pub(super) fn missing_labels(&mut self) -> Vec<Node> {
        let missing: Vec<String> =
            self.wanted_labels.iter().filter(|l| !self.placed_labels.contains(l)).cloned().collect();
        self.placed_labels.extend(missing.iter().cloned());
        missing
            .into_iter()
            .map(|label| node!(Statement, format!("{label}: "), self.assignment(Context::default())))
            .collect()
    }

    fn statement(&mut self, context: Context) -> Node {
        self.fuel -= 1;
        let weights: Vec<usize> =
            KINDS.iter().map(|&(kind, weight)| if self.fits(kind, context) { weight } else { 0 }).collect();
        let inner = Context { depth: context.depth + 1, first: false, ..context };
        let kind = KINDS[self.random.weighted(&weights)].0;
        let statement = self.statement_of(kind, context, inner);
        // Nor does SPIN take a jump that jumps to itself.
        // A label on an `unless` inside another makes SPIN choose between the two escapes.
        self.declared = matches!(kind, Kind::Declaration | Kind::Exclusive | Kind::Goto)
            || kind == Kind::Unless && self.is_for_peer();
        statement
    }

    fn statement_of(&mut self, kind: Kind, context: Context, inner: Context) -> Node {
        match kind {
            Kind::Assign => self.assignment(context),
            Kind::Step => self.step(context),
            Kind::Condition => self.guard(),
            Kind::Send => self.send(context, "!"),
            Kind::SortedSend => self.send(context, "!!"),
            Kind::Receive => self.receive(context, "?", ""),
            Kind::RandomReceive => self.receive(context, "??", ""),
            Kind::Copy => self.receive(context, "?", "<"),
            Kind::RandomCopy => self.receive(context, "??", "<"),
            Kind::Assert => node!(Statement, "assert(", self.mostly_true(), ")"),
            Kind::Printf => node!(
                Statement,
                "printf(\"%d %e\\n\", ",
                self.value(1),
                ", ",
                self.value_for(Type::Mtype, 0),
                ")"
            ),
            Kind::Printm => node!(Statement, "printm(", self.value_for(Type::Mtype, 0), ")"),
            Kind::Run => self.run(),
            Kind::Goto => self.goto(),
            Kind::Break => node!(Statement, "break"),
            Kind::If => self.choice("if", "fi", inner),
            Kind::Do => self.choice("do", "od", Context { repeated: true, breakable: true, ..inner }),
            Kind::Atomic => self.block("atomic {", Context { first: context.first, atomic: true, ..inner }),
            Kind::DStep => self.d_step(Context { d_step: true, breakable: false, ..inner }),
            Kind::Block => self.block("{", Context { first: context.first, ..inner }),
            Kind::Unless => self.unless(Context { first: context.first, unless: true, ..inner }),
            Kind::For => self.for_range(Context { repeated: true, breakable: true, ..inner }),
            Kind::ForIn => self.for_in(Context { repeated: true, breakable: true, ..inner }),
            Kind::Select => self.select(),
            Kind::Declaration => self.declaration(),
            Kind::Priority => self.priority(),
            Kind::Inline => self.inline_call(),
            Kind::Timeout => node!(Statement, "timeout"),
            Kind::Skip => node!(Statement, "skip"),
            Kind::Exclusive => node!(Statement, *self.random.pick(&["xr qb", "xs qb"])),
        }
    }

    /// Whether a kind of statement may stand somewhere.
    fn fits(&mut self, kind: Kind, context: Context) -> bool {
        let nests = context.depth < 3 && self.fuel > 0;
        let waits = !context.d_step;
        match kind {
            Kind::If | Kind::Do => nests,
            // SPIN does not see that a deterministic process chooses one of these.
            Kind::DStep => nests && waits && !(self.is_for_peer() && self.deterministic),
            Kind::Skip => !(self.is_for_peer() && self.deterministic && context.first),
            Kind::Atomic | Kind::Block => nests && waits,
            // SPIN may take both escapes of an `unless` inside another, as its statements are numbered.
            Kind::Unless => {
                let both = self.is_for_peer() && context.unless;
                nests && waits && self.features.unless && !both
            }
            Kind::For | Kind::ForIn => nests && !context.first,
            Kind::Select => !context.first && (waits || !self.is_for_peer()),
            Kind::Run => waits && (!context.repeated || self.one_in(12)) && self.known.iter().any(startable),
            Kind::Goto => {
                let chosen = self.is_for_peer() && self.deterministic && context.first;
                waits && self.features.jumps && !chosen && !self.is_lost(context)
            }
            Kind::Break => context.breakable && !context.first && !self.is_lost(context),
            Kind::Declaration => waits && !context.first && context.depth < 2,
            // SPIN passes over steps that stand beside such a beginning of a `d_step`.
            Kind::Assert | Kind::Printf | Kind::Printm => waits || !self.is_for_peer(),
            Kind::Priority => self.features.priorities,
            Kind::Inline => self.macros && !context.first,
            Kind::Condition | Kind::Timeout => waits,
            Kind::Exclusive => waits && !context.first && (context.depth == 0 || !self.is_for_peer()),
            Kind::Send
            | Kind::SortedSend
            | Kind::Receive
            | Kind::RandomReceive
            | Kind::Copy
            | Kind::RandomCopy => waits || self.random.one_in(8),
            _ => true,
        }
    }

    /// Whether SPIN forgets a jump that stands here.
    fn is_lost(&self, context: Context) -> bool {
        self.is_for_peer() && context.atomic && context.interrupted
    }

    /// A condition that is true more often than not.
    fn mostly_true(&mut self) -> Node {
        match self.random.below(3) {
            0 => self.condition(1),
            1 => node!(Expression, "g0 < 4"),
            _ => node!(Expression, "(g0 != 3 || ", self.condition(1), ")"),
        }
    }

    fn guard(&mut self) -> Node {
        let condition = match self.random.below(10) {
            // SPIN leaves out the brackets around a poll inside a larger expression.
            0 => self.poll(),
            1 => self.channel_test(&TESTS),
            2..=3 => self.mostly_true(),
            _ => self.condition(2),
        };
        // A constant is a `skip` to SPIN: see there.
        let skips = self.is_for_peer()
            && self.deterministic
            && ["true", "1"].contains(&condition.to_string().as_str());
        node!(Statement, if skips { node!(Expression, "g0 < 3") } else { condition })
    }

    fn assignment(&mut self, context: Context) -> Node {
        let Some(target) = self.variable_of(|v| v.ty != Type::Message) else {
            return node!(Statement, "g0 = ", self.value(1));
        };
        if target.ty == Type::Chan && target.name == "lc" {
            return node!(Statement, "g0 = ", self.value(1));
        }
        if self.one_in(20) {
            return node!(Statement, "_ = ", self.value(1));
        }
        if !self.is_for_peer()
            && self.one_in(20)
            && let Some(whole) = self.variable_of(|v| v.ty == Type::Message)
        {
            let value = self.value_for(Type::Message, 0);
            return node!(Statement, format!("{} = ", whole.name), value);
        }
        let place = self.place(&target);
        let value = self.bounded_value(target.ty, target.length.is_some(), context);
        node!(Statement, place, " = ", value)
    }

    /// A value to assign; where statements are repeated, one that stays near 0.
    fn bounded_value(&mut self, ty: Type, element: bool, context: Context) -> Node {
        if !ty.is_number() {
            return self.value_for(ty, 1);
        }
        // SPIN stores single bits of an array in whole bytes.
        if self.is_for_peer() && element && ty.is_narrow() {
            return self.condition(1);
        }
        match context.repeated && !ty.is_narrow() {
            true => match self.random.below(3) {
                0 => self.number(),
                1 => node!(Expression, "(", self.value(1), " % 3)"),
                _ => self.condition(1),
            },
            false => self.value(2),
        }
    }

    fn step(&mut self, context: Context) -> Node {
        let peer = self.is_for_peer();
        let target = self.variable_of(|v| {
            v.ty.is_number()
                && !(peer && v.length.is_some() && v.ty.is_narrow())
                && (!context.repeated || v.ty.is_narrow())
        });
        let op = *self.random.pick(&["++", "--"]);
        match target {
            Some(target) => node!(Statement, self.place(&target), op),
            None if context.repeated => node!(Statement, "g0 = (g0 + 1) % 4"),
            None => node!(Statement, "g0++"),
        }
    }

    fn send(&mut self, context: Context, op: &'static str) -> Node {
        let sorted = op == "!!";
        // If nobody takes an offer, SPIN has done both another escape and what it escapes from.
        let offered = self.is_for_peer() && context.escape && context.depth > 2;
        let quiet = context.d_step || sorted || offered;
        let (name, fields) =
            self.channel(|c| !(quiet && c.rendezvous || sorted && c.fields.contains(&Type::Chan)));
        let values: Vec<Node> = fields
            .iter()
            .map(|&ty| match ty {
                Type::Bit | Type::Bool => self.condition(0),
                _ if ty.is_number() && context.repeated => self.bounded_value(ty, false, context),
                // SPIN compares what is sent before it is cut down with what was.
                _ if ty.is_number() && sorted && self.is_for_peer() => {
                    node!(Expression, "(", self.value_for(ty, 1), " & 7)")
                }
                _ => self.value_for(ty, 1),
            })
            .collect();
        self.message(name, op, &fields, values, ("", ""))
    }

    fn receive(&mut self, context: Context, op: &'static str, open: &'static str) -> Node {
        let buffered = context.d_step || op == "??" || open == "<";
        let (name, fields) = self.channel(|c| !(buffered && c.rendezvous));
        // SPIN undoes a receive in the channel that its index names by then.
        let binding = match self.is_for_peer() && name.to_string().contains("g0") {
            true => Binding::OftenBut("g0"),
            false => Binding::Often,
        };
        let patterns = self.patterns(&fields, binding);
        let close = if open == "<" { ">" } else { "" };
        self.message(name, op, &fields, patterns, (open, close))
    }

    /// `q!a, b`, or `q!a(b)` now and then.
    fn message(
        &mut self,
        name: Node,
        op: &str,
        fields: &[Type],
        values: Vec<Node>,
        (open, close): (&str, &str),
    ) -> Node {
        if fields == [Type::Mtype, Type::Byte] && open.is_empty() && self.one_in(3) {
            let mut values = values.into_iter();
            if let (Some(first), Some(second)) = (values.next(), values.next()) {
                return node!(Statement, name, op, first, "(", second, ")");
            }
            return node!(Statement, "skip");
        }
        Node::new(
            Sort::Statement,
            [name.into(), format!("{op}{open}").into(), Part::Many(values, ", "), close.into()],
        )
    }

    pub(super) fn run(&mut self) -> Node {
        let started: Vec<_> = self.known.iter().filter(|k| startable(k)).cloned().collect();
        let Some(of) = (!started.is_empty()).then(|| self.random.pick(&started).clone()) else {
            return node!(Statement, "g0 = 1");
        };
        let peer = self.is_for_peer();
        let argument = |ty: Type, grammar: &mut Self| match ty {
            // SPIN takes no variable for a symbolic parameter.
            Type::Mtype if peer => node!(Expression, "mb"),
            _ => grammar.value_for(ty, 1),
        };
        let arguments: Vec<Node> = of.parameters.iter().map(|&ty| argument(ty, self)).collect();
        let priority = match self.features.priorities && self.one_in(2) {
            true => format!(" priority {}", 1 + self.random.below(4)),
            false => String::new(),
        };
        let before = match self.one_in(3) && self.globals.iter().any(|v| v.name == "gp") {
            true => "gp = ",
            false => "",
        };
        Node::new(
            Sort::Statement,
            [
                format!("{before}run {}(", of.name).into(),
                Part::Many(arguments, ", "),
                format!("){priority}").into(),
            ],
        )
    }

    fn goto(&mut self) -> Node {
        let known: Vec<String> = self.placed_labels.iter().chain(&self.wanted_labels).cloned().collect();
        let label = match known.is_empty() || self.one_in(2) && self.wanted_labels.len() < 2 {
            true => {
                let label = self.fresh("J");
                self.wanted_labels.push(label.clone());
                label
            }
            false => self.random.pick(&known).clone(),
        };
        node!(Statement, format!("goto {label}"))
    }

    fn choice(&mut self, open: &str, close: &str, context: Context) -> Node {
        let looping = open == "do";
        let context = Context { interrupted: false, ..context };
        let count = 1 + self.random.below(3);
        let mut options: Vec<Node> = Vec::new();
        for _ in 0..count {
            let length = 1 + self.random.below(2);
            let mut body = match context.d_step && self.is_for_peer() || self.one_in(2) {
                true => vec![self.guard()],
                false => {
                    vec![self.statement(Context { first: true, depth: context.depth.max(1), ..context })]
                }
            };
            body.extend(self.sequence(length, Context { escape: false, ..context }));
            if looping && self.one_in(2) {
                body.push(node!(Statement, "break"));
            }
            options.push(option(body));
        }
        match self.random.below(4) {
            0 | 1 => options.push(self.otherwise(looping, context)),
            2 if !context.d_step && self.one_in(3) => {
                options.push(option(vec![
                    node!(Statement, "timeout"),
                    node!(Statement, if looping { "break" } else { "skip" }),
                ]));
            }
            _ if context.d_step || looping => options.push(self.otherwise(looping, context)),
            _ => {}
        }
        Node::new(
            Sort::Statement,
            [format!("{open}\n").into(), Part::Many(options, "\n"), format!("\n{close}").into()],
        )
    }

    fn otherwise(&mut self, looping: bool, context: Context) -> Node {
        let mut body = vec![node!(Statement, "else")];
        if self.one_in(2) {
            body.push(self.statement(Context { first: false, escape: false, ..context }));
        }
        body.push(node!(Statement, if looping { "break" } else { "skip" }));
        option(body)
    }

    fn block(&mut self, open: &str, context: Context) -> Node {
        let length = 1 + self.random.below(3);
        let body = self.sequence(length, context);
        Node::new(Sort::Statement, [format!("{open} ").into(), Part::Many(body, "; "), " }".into()])
    }

    fn d_step(&mut self, context: Context) -> Node {
        let mut body = Vec::new();
        if self.one_in(3) {
            let outside = Context { d_step: false, ..context };
            body.push(match self.random.below(3) {
                0 => self.receive(outside, "?", ""),
                1 => self.send(context, "!"),
                _ => self.guard(),
            });
        }
        let length = 1 + self.random.below(3);
        body.extend(self.sequence(length, context));
        if self.one_in(6) {
            // A jump inside, forwards.
            let label = self.fresh("D");
            let condition = self.condition(1);
            let jump = node!(Statement, "if :: ", condition, format!(" -> goto {label} :: else -> skip fi"));
            body.extend([
                jump,
                self.assignment(context),
                node!(Statement, format!("{label}: "), self.assignment(context)),
            ]);
        }
        Node::new(Sort::Statement, ["d_step { ".into(), Part::Many(body, "; "), " }".into()])
    }

    fn unless(&mut self, context: Context) -> Node {
        let length = 1 + self.random.below(2);
        let body = self.sequence(length, Context { interrupted: true, escape: false, ..context });
        let context = Context { interrupted: false, ..context };
        let guard = match self.random.below(4) {
            0 => self.receive(context, "?", ""),
            1 => self.statement(Context { first: true, escape: true, depth: 2, ..context }),
            _ => self.guard(),
        };
        let mut escape = vec![guard];
        if self.one_in(2) {
            escape.push(self.statement(Context { first: false, escape: false, ..context }));
        }
        Node::new(
            Sort::Statement,
            [
                "{ ".into(),
                Part::Many(body, "; "),
                " } unless { ".into(),
                Part::Many(escape, "; "),
                " }".into(),
            ],
        )
    }

    fn counter(&mut self) -> String {
        match self.locals.iter().any(|v| v.name == "l0") && !self.one_in(4) {
            true => "l0".into(),
            false => "g0".into(),
        }
    }

    fn for_range(&mut self, context: Context) -> Node {
        let counter = self.counter();
        let last = 1 + self.random.below(2);
        let body = self.tame(context);
        Node::new(
            Sort::Statement,
            [format!("for ({counter} : 0 .. {last}) {{ ").into(), Part::Many(body, "; "), " }".into()],
        )
    }

    fn for_in(&mut self, context: Context) -> Node {
        let array = self.variable_of(|v| v.length.is_some() && !v.name.contains('.'));
        let head = match array {
            Some(array) if self.one_in(2) || context.d_step => {
                format!("for ({} in {}) {{ ", self.counter(), array.name)
            }
            _ if self.globals.iter().any(|v| v.name == "gk")
                && self.channels.iter().any(|c| c.name == "qk") =>
            {
                "for (gk in qk) { ".into()
            }
            Some(array) => format!("for ({} in {}) {{ ", self.counter(), array.name),
            None => format!("for ({} : 1 .. 2) {{ ", self.counter()),
        };
        let body = self.tame(context);
        Node::new(Sort::Statement, [head.into(), Part::Many(body, "; "), " }".into()])
    }

    /// A short body for a loop that counts.
    fn tame(&mut self, context: Context) -> Vec<Node> {
        let length = 1 + self.random.below(2);
        self.sequence(length, context)
    }

    fn select(&mut self) -> Node {
        let counter = self.counter();
        let to = match self.one_in(3) {
            true => node!(Expression, "(g0 & 1) + 1"),
            false => node!(Expression, (1 + self.random.below(2)).to_string()),
        };
        node!(Statement, format!("select ({counter} : 0 .. "), to, ")")
    }

    fn declaration(&mut self) -> Node {
        let name = self.fresh("v");
        let text = match self.random.below(3) {
            0 => format!("byte {name}"),
            1 => format!("byte {name} = 2"),
            _ => format!("bool {name} = 1"),
        };
        match self.one_in(3) {
            true => node!(Statement, text),
            false => node!(Statement, format!("{text}; {name} = "), self.condition(0)),
        }
    }

    fn priority(&mut self) -> Node {
        let level = 1 + self.random.below(3);
        if self.one_in(3) {
            return node!(Statement, format!("_priority = {level}"));
        }
        // SPIN changes another priority when it goes back if the process has died.
        let there: &[&str] = if self.is_for_peer() { &["_pid", "0"] } else { &["_pid", "0", "1"] };
        let pid = *self.random.pick(there);
        node!(Statement, format!("set_priority({pid}, {level})"))
    }

    fn inline_call(&mut self) -> Node {
        let counter = self.counter();
        match self.one_in(2) {
            true => node!(Statement, format!("act({counter}, "), self.value(0), ")"),
            false => node!(Statement, format!("turn({counter})")),
        }
    }
}

fn option(body: Vec<Node>) -> Node {
    Node::new(Sort::Frame, [":: ".into(), Part::Many(body, "; ")])
}

/// Whether any process may start another of this type; members of a ring are started by `init` alone.
fn startable(known: &Known) -> bool {
    known.pids.is_empty() && !known.name.starts_with('N')
}
