//! Which constructs of the language a text uses, and which kind of statement stands directly after which.
//!
//! For whoever makes programs and wants to know that none is missing: the lists are of what the parser knows,
//! so a construct that is added there must be named here too.

use std::collections::BTreeSet;

use crate::ast::{
    Block, Declaration, Expr, ExprKind, Init, Path, ReceiveArgument, Sequence, Statement, StatementKind,
    TypeName, Unit,
};
use crate::intern::Interner;
use crate::model::{ChannelTest, ExclusiveKind, UnaryOp, Visibility};
use crate::source::Sources;

/// What a text uses.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Census {
    /// The constructs, by names of [`CONSTRUCTS`].
    pub constructs: BTreeSet<&'static str>,
    /// Pairs of [`STATEMENTS`]: the second directly after the first.
    pub successions: BTreeSet<(&'static str, &'static str)>,
}

/// The kinds of statement.
pub const STATEMENTS: &[&str] = &[
    "declaration",
    "exclusive",
    "condition",
    "run",
    "timeout",
    "assignment",
    "step",
    "send",
    "sorted send",
    "receive",
    "random receive",
    "copy",
    "random copy",
    "assert",
    "printf",
    "printm",
    "set_priority",
    "else",
    "break",
    "goto",
    "block",
    "atomic",
    "d_step",
    "if",
    "do",
    "for",
    "for in",
    "select",
    "unless",
];

/// Everything else that the parser knows.
pub const CONSTRUCTS: &[&str] = &[
    "label",
    "end label",
    "progress label",
    "accept label",
    "number",
    "variable",
    "index",
    "field",
    "!",
    "unary -",
    "~",
    "+",
    "-",
    "*",
    "/",
    "%",
    "&",
    "|",
    "^",
    "<<",
    ">>",
    "==",
    "!=",
    "<",
    "<=",
    ">",
    ">=",
    "&&",
    "||",
    "conditional",
    "run priority",
    "run arguments",
    "len",
    "full",
    "empty",
    "nfull",
    "nempty",
    "poll",
    "random poll",
    "enabled",
    "pc_value",
    "get_priority",
    "remote label",
    "remote variable",
    "np_",
    "temporal operator",
    "eval",
    "pattern number",
    "pattern variable",
    "bit",
    "byte",
    "pid",
    "short",
    "int",
    "unsigned",
    "mtype",
    "mtype subset",
    "chan",
    "struct",
    "array",
    "initial value",
    "initial list",
    "channel",
    "hidden",
    "local",
    "show",
    "proctype",
    "D_proctype",
    "active",
    "parameters",
    "priority",
    "provided",
    "init",
    "never",
    "trace",
    "notrace",
    "ltl",
    "mtype names",
    "typedef",
];

/// What a text uses; none if it is not well-formed.
pub fn census(text: &str) -> Option<Census> {
    let mut sources = Sources::new();
    let mut interner = Interner::new();
    let options = crate::Options::default();
    let read = crate::preprocess::preprocess("census", text, &options, &[], &mut sources, &mut interner);
    let units = crate::parse::parse(read.tokens, &mut sources, &mut interner);
    if sources.has_errors() {
        return None;
    }
    let mut counter = Counter { census: Census::default(), interner: &interner };
    units.iter().for_each(|unit| counter.unit(unit));
    Some(counter.census)
}

struct Counter<'i> {
    census: Census,
    interner: &'i Interner,
}

impl Counter<'_> {
    fn met(&mut self, construct: &'static str) {
        self.census.constructs.insert(construct);
    }

    fn unit(&mut self, unit: &Unit) {
        match unit {
            Unit::Proctype(p) => {
                self.met(if p.deterministic { "D_proctype" } else { "proctype" });
                for (present, name) in [
                    (p.active.is_some(), "active"),
                    (!p.parameters.is_empty(), "parameters"),
                    (p.priority.is_some(), "priority"),
                    (p.provided.is_some(), "provided"),
                ] {
                    if present {
                        self.met(name);
                    }
                }
                p.parameters.iter().for_each(|d| self.declaration(d));
                p.provided.iter().for_each(|e| self.expr(e));
                self.sequence(&p.body.statements);
            }
            Unit::Init { body, .. } => {
                self.met("init");
                self.sequence(&body.statements);
            }
            Unit::Never { body, .. } => {
                self.met("never");
                self.sequence(&body.statements);
            }
            Unit::Trace { forbids, body, .. } => {
                self.met(if *forbids { "notrace" } else { "trace" });
                self.sequence(&body.statements);
            }
            Unit::Ltl { formula, .. } => {
                self.met("ltl");
                self.expr(formula);
            }
            Unit::Declaration(declaration) => self.declaration(declaration),
            Unit::Mtype { .. } => self.met("mtype names"),
            Unit::Typedef { fields, .. } => {
                self.met("typedef");
                fields.iter().for_each(|d| self.declaration(d));
            }
        }
    }

    fn declaration(&mut self, declaration: &Declaration) {
        match declaration.visibility {
            Visibility::Hidden => self.met("hidden"),
            Visibility::Local => self.met("local"),
            Visibility::Show => self.met("show"),
            Visibility::Plain => {}
        }
        self.type_name(declaration.ty);
        for variable in &declaration.variables {
            if variable.length.is_some() {
                self.met("array");
            }
            match &variable.init {
                Init::None => {}
                Init::Value(value) => {
                    self.met("initial value");
                    self.expr(value);
                }
                Init::List(values, _) => {
                    self.met("initial list");
                    values.iter().for_each(|e| self.expr(e));
                }
                Init::Channel { fields, .. } => {
                    self.met("channel");
                    fields.iter().for_each(|(ty, _)| self.type_name(*ty));
                }
            }
        }
    }

    fn type_name(&mut self, ty: TypeName) {
        self.met(match ty {
            TypeName::Bit => "bit",
            TypeName::Byte => "byte",
            TypeName::Pid => "pid",
            TypeName::Short => "short",
            TypeName::Int => "int",
            TypeName::Unsigned => "unsigned",
            TypeName::Mtype(None) => "mtype",
            TypeName::Mtype(Some(_)) => "mtype subset",
            TypeName::Chan => "chan",
            TypeName::Struct(_) => "struct",
        });
    }

    fn sequence(&mut self, statements: &Sequence) {
        let mut before = None;
        for statement in statements {
            let kind = self.statement(statement);
            if let Some(before) = before {
                self.census.successions.insert((before, kind));
            }
            before = Some(kind);
        }
    }

    fn block(&mut self, block: &Block) {
        self.sequence(&block.statements);
    }

    fn statement(&mut self, statement: &Statement) -> &'static str {
        for label in &statement.labels {
            let text = self.interner.text(label.sym);
            let kind = ["end label", "progress label", "accept label"].into_iter();
            let prefix = |kind: &&str| text.starts_with(kind.trim_end_matches(" label"));
            self.met(kind.clone().find(prefix).unwrap_or("label"));
        }
        let kind = self.kind(&statement.kind);
        self.met(kind);
        kind
    }

    fn kind(&mut self, kind: &StatementKind) -> &'static str {
        match kind {
            StatementKind::Declaration(declaration) => {
                self.declaration(declaration);
                "declaration"
            }
            StatementKind::Exclusive(ExclusiveKind::Receive | ExclusiveKind::Send, _) => "exclusive",
            StatementKind::Expression(e) => {
                self.expr(e);
                match e.kind {
                    ExprKind::Run { .. } => "run",
                    ExprKind::Timeout => "timeout",
                    _ => "condition",
                }
            }
            StatementKind::Assign(path, value) => {
                self.path(path);
                self.expr(value);
                "assignment"
            }
            StatementKind::Step(path, _) => {
                self.path(path);
                "step"
            }
            StatementKind::Send { channel, sorted, arguments } => {
                self.path(channel);
                arguments.iter().for_each(|e| self.expr(e));
                if *sorted { "sorted send" } else { "send" }
            }
            StatementKind::Receive { channel, random, keep, arguments } => {
                self.path(channel);
                arguments.iter().for_each(|a| self.pattern(a));
                match (random, keep) {
                    (false, false) => "receive",
                    (true, false) => "random receive",
                    (false, true) => "copy",
                    (true, true) => "random copy",
                }
            }
            StatementKind::Assert(e) => {
                self.expr(e);
                "assert"
            }
            StatementKind::Printf { arguments, .. } => {
                arguments.iter().for_each(|e| self.expr(e));
                "printf"
            }
            StatementKind::Printm(_) => "printm",
            StatementKind::SetPriority(..) => "set_priority",
            StatementKind::Else => "else",
            StatementKind::Break => "break",
            StatementKind::Goto(_) => "goto",
            StatementKind::Block(block) => {
                self.block(block);
                "block"
            }
            StatementKind::Atomic(block) => {
                self.block(block);
                "atomic"
            }
            StatementKind::DStep(block) => {
                self.block(block);
                "d_step"
            }
            StatementKind::If(options) => {
                options.iter().for_each(|o| self.sequence(o));
                "if"
            }
            StatementKind::Do(options) => {
                options.iter().for_each(|o| self.sequence(o));
                "do"
            }
            StatementKind::ForRange { body, .. } => {
                self.block(body);
                "for"
            }
            StatementKind::ForIn { body, .. } => {
                self.block(body);
                "for in"
            }
            StatementKind::Select { .. } => "select",
            StatementKind::Unless(body, escape) => {
                self.statement(body);
                self.statement(escape);
                "unless"
            }
        }
    }

    fn path(&mut self, path: &Path) {
        self.met(if path.segments.len() > 1 { "field" } else { "variable" });
        for index in path.segments.iter().filter_map(|s| s.index.as_ref()) {
            self.met("index");
            self.expr(index);
        }
    }

    fn pattern(&mut self, argument: &ReceiveArgument) {
        match argument {
            ReceiveArgument::Path(path) => {
                self.met("pattern variable");
                self.path(path);
            }
            ReceiveArgument::Eval(e) => {
                self.met("eval");
                self.expr(e);
            }
            ReceiveArgument::Number(e) => {
                self.met("pattern number");
                self.expr(e);
            }
        }
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Number(_) => self.met("number"),
            ExprKind::Path(path) => self.path(path),
            ExprKind::Unary(op, e) => {
                self.met(match op {
                    UnaryOp::Not => "!",
                    UnaryOp::Negate => "unary -",
                    UnaryOp::Complement => "~",
                });
                self.expr(e);
            }
            ExprKind::Binary(op, a, b) => {
                self.met(op.symbol());
                self.expr(a);
                self.expr(b);
            }
            ExprKind::Conditional(all) => {
                self.met("conditional");
                all.iter().for_each(|e| self.expr(e));
            }
            ExprKind::Run { arguments, priority, .. } => {
                for (present, name) in
                    [(priority.is_some(), "run priority"), (!arguments.is_empty(), "run arguments")]
                {
                    if present {
                        self.met(name);
                    }
                }
                arguments.iter().for_each(|e| self.expr(e));
            }
            ExprKind::Channel(test, path) => {
                self.met(match test {
                    ChannelTest::Len => "len",
                    ChannelTest::Full => "full",
                    ChannelTest::Empty => "empty",
                    ChannelTest::NotFull => "nfull",
                    ChannelTest::NotEmpty => "nempty",
                });
                self.path(path);
            }
            ExprKind::Poll { random, arguments, .. } => {
                self.met(if *random { "random poll" } else { "poll" });
                arguments.iter().for_each(|a| self.pattern(a));
            }
            ExprKind::Enabled(_) => self.met("enabled"),
            ExprKind::PcValue(_) => self.met("pc_value"),
            ExprKind::GetPriority(_) => self.met("get_priority"),
            ExprKind::RemoteLabel { .. } => self.met("remote label"),
            ExprKind::RemoteVariable { .. } => self.met("remote variable"),
            ExprKind::NonProgress => self.met("np_"),
            ExprKind::Timeout => self.met("timeout"),
            ExprKind::Temporal(_, operands) => {
                self.met("temporal operator");
                operands.iter().for_each(|e| self.expr(e));
            }
        }
    }
}
