//! Expressions and statements as text, the way SPIN shows them in its traces.
//!
//! Every operation has its parentheses, symbolic names appear as names.

use std::fmt::Write;

use crate::model::{
    Access, Base, ChannelTest, Conversion, Expr, ExprKind, FormatPiece, Init, LocalId, Ltl, Model, MtypeId,
    ProctypeId, ReceiveArgument, Reference, StatementKind, StructId, Type, UnaryOp, Variable,
};

/// What is needed to name things: the model, and the behaviour that the text belongs to.
struct Names<'m> {
    model: &'m Model,
    locals: &'m [Variable],
}

/// The text of an expression; `locals` are those of the behaviour it stands in.
pub fn expr(model: &Model, locals: &[Variable], expr: &Expr) -> String {
    let mut out = String::new();
    Names { model, locals }.expr(&mut out, expr);
    out
}

/// The text of a reference.
pub fn reference(model: &Model, locals: &[Variable], reference: &Reference) -> String {
    let mut out = String::new();
    Names { model, locals }.reference(&mut out, reference);
    out
}

/// The text of a statement without parts that are statements; nothing for others.
pub(crate) fn statement(model: &Model, locals: &[Variable], kind: &StatementKind) -> String {
    let mut out = String::new();
    Names { model, locals }.statement(&mut out, kind);
    out
}

/// The name of a type.
pub fn type_name(model: &Model, ty: Type) -> String {
    match ty {
        Type::Bit => "bit".into(),
        Type::Byte => "byte".into(),
        Type::Pid => "pid".into(),
        Type::Short => "short".into(),
        Type::Int => "int".into(),
        Type::Unsigned(bits) => format!("unsigned : {bits}"),
        Type::Mtype(MtypeId(id)) => match &model.mtypes[id as usize].name {
            Some(name) => format!("mtype:{name}"),
            None => "mtype".into(),
        },
        Type::Chan => "chan".into(),
        Type::Struct(StructId(id)) => model.structs[id as usize].name.to_string(),
    }
}

/// The text of a temporal formula.
pub fn ltl(model: &Model, formula: &Ltl) -> String {
    let mut out = String::new();
    Names { model, locals: &[] }.ltl(&mut out, formula);
    out
}

impl Names<'_> {
    fn statement(&self, out: &mut String, kind: &StatementKind) {
        match kind {
            StatementKind::Declare { local, init } => self.declare(out, *local, init),
            StatementKind::Expression(e) => self.parenthesised(out, e),
            StatementKind::Assign { target, value } => {
                self.reference(out, target);
                out.push_str(" = ");
                self.expr(out, value);
            }
            StatementKind::Send { channel, sorted, arguments } => {
                self.reference(out, channel);
                out.push_str(if *sorted { "!!" } else { "!" });
                self.list(out, arguments);
            }
            StatementKind::Receive(receive) => {
                self.reference(out, &receive.channel);
                out.push_str(if receive.random { "??" } else { "?" });
                out.push_str(if receive.keep { "<" } else { "" });
                self.receive_arguments(out, &receive.arguments);
                out.push_str(if receive.keep { ">" } else { "" });
            }
            StatementKind::Assert(e) => {
                out.push_str("assert");
                self.parenthesised(out, e);
            }
            StatementKind::Printf { format, arguments } => self.printf(out, format, arguments),
            StatementKind::Printm(e) => self.call(out, "printm", e),
            StatementKind::SetPriority(pid, priority) => {
                out.push_str("set_priority(");
                self.expr(out, pid);
                out.push_str(", ");
                self.expr(out, priority);
                out.push(')');
            }
            StatementKind::Else => out.push_str("else"),
            StatementKind::Break => out.push_str("break"),
            // A goto is shown by who knows its label.
            StatementKind::Goto(_)
            | StatementKind::Block(_)
            | StatementKind::Atomic(_)
            | StatementKind::DStep(_)
            | StatementKind::If(_)
            | StatementKind::Do(..)
            | StatementKind::Unless { .. } => {}
        }
    }

    fn declare(&self, out: &mut String, LocalId(local): LocalId, init: &Init) {
        let variable = &self.locals[local as usize];
        out.push_str(&variable.name);
        if variable.length.is_some() && matches!(init, Init::Zero) {
            out.push_str("[0]");
        }
        out.push_str(" = ");
        match init {
            Init::Value(e) => self.expr(out, e),
            Init::List(values) => {
                let values: Vec<String> = values.iter().map(i32::to_string).collect();
                let _ = write!(out, "{{{}}}", values.join(","));
            }
            Init::Zero | Init::Channel(_) => out.push('0'),
        }
    }

    fn printf(&self, out: &mut String, format: &[FormatPiece], arguments: &[Expr]) {
        out.push_str("printf('");
        for piece in format {
            match piece {
                FormatPiece::Text(text) => {
                    let escaped = text.replace('\\', "\\\\").replace('\n', "\\n").replace('\t', "\\t");
                    out.push_str(&escaped.replace('%', "%%"));
                }
                FormatPiece::Argument(conversion) => out.push_str(match conversion {
                    Conversion::Decimal => "%d",
                    Conversion::Unsigned => "%u",
                    Conversion::Hexadecimal => "%x",
                    Conversion::Octal => "%o",
                    Conversion::Character => "%c",
                    Conversion::Mtype => "%e",
                }),
            }
        }
        out.push('\'');
        for argument in arguments {
            out.push(',');
            self.expr(out, argument);
        }
        out.push(')');
    }

    fn list(&self, out: &mut String, all: &[Expr]) {
        for (i, e) in all.iter().enumerate() {
            if i > 0 {
                out.push(',');
            }
            self.expr(out, e);
        }
    }

    fn receive_arguments(&self, out: &mut String, arguments: &[ReceiveArgument]) {
        for (i, argument) in arguments.iter().enumerate() {
            if i > 0 {
                out.push(',');
            }
            match argument {
                ReceiveArgument::Match(e) if matches!(e.kind, ExprKind::Constant { .. }) => self.expr(out, e),
                ReceiveArgument::Match(e) => self.call(out, "eval", e),
                ReceiveArgument::Store(reference) => self.reference(out, reference),
                ReceiveArgument::Discard => out.push('_'),
            }
        }
    }

    /// The expression in exactly one pair of parentheses.
    fn parenthesised(&self, out: &mut String, e: &Expr) {
        if matches!(e.kind, ExprKind::Binary(..) | ExprKind::Conditional(..)) {
            return self.expr(out, e);
        }
        out.push('(');
        self.expr(out, e);
        out.push(')');
    }

    fn call(&self, out: &mut String, name: &str, e: &Expr) {
        out.push_str(name);
        self.parenthesised(out, e);
    }

    fn expr(&self, out: &mut String, e: &Expr) {
        match &e.kind {
            ExprKind::Constant { name: Some(name), .. } => out.push_str(name),
            ExprKind::Constant { value, name: None } => {
                let _ = write!(out, "{value}");
            }
            ExprKind::Variable(reference) => self.reference(out, reference),
            ExprKind::Pid => out.push_str("_pid"),
            ExprKind::ProcessCount => out.push_str("_nr_pr"),
            ExprKind::Last => out.push_str("_last"),
            ExprKind::NonProgress => out.push_str("np_"),
            ExprKind::Timeout => out.push_str("timeout"),
            ExprKind::Unary(op, operand) => {
                out.push(match op {
                    UnaryOp::Not => '!',
                    UnaryOp::Negate => '-',
                    UnaryOp::Complement => '~',
                });
                self.parenthesised(out, operand);
            }
            ExprKind::Binary(op, left, right) => {
                out.push('(');
                self.expr(out, left);
                out.push_str(op.symbol());
                self.expr(out, right);
                out.push(')');
            }
            ExprKind::Conditional(a, b, c) => {
                out.push('(');
                self.expr(out, a);
                out.push_str(" -> ");
                self.expr(out, b);
                out.push_str(" : ");
                self.expr(out, c);
                out.push(')');
            }
            ExprKind::Run(run) => {
                let _ = write!(out, "run {}(", self.proctype(run.proctype));
                self.list(out, &run.arguments);
                out.push(')');
            }
            ExprKind::Channel(test, channel) => {
                out.push_str(match test {
                    ChannelTest::Len => "len(",
                    ChannelTest::Full => "full(",
                    ChannelTest::Empty => "empty(",
                    ChannelTest::NotFull => "nfull(",
                    ChannelTest::NotEmpty => "nempty(",
                });
                self.reference(out, channel);
                out.push(')');
            }
            ExprKind::Poll(poll) => {
                self.reference(out, &poll.channel);
                out.push_str(if poll.random { "??[" } else { "?[" });
                self.receive_arguments(out, &poll.arguments);
                out.push(']');
            }
            ExprKind::Enabled(pid) => self.call(out, "enabled", pid),
            ExprKind::PcValue(pid) => self.call(out, "pc_value", pid),
            ExprKind::GetPriority(pid) => self.call(out, "get_priority", pid),
            ExprKind::RemoteLabel { proctype, pid, label } => {
                self.remote(out, *proctype, pid.as_deref());
                let labels = &self.model.proctypes[proctype.0 as usize].behaviour.labels;
                let _ = write!(out, "@{}", labels.get(label.0 as usize).map_or("?", |l| &l.name));
            }
            ExprKind::RemoteVariable { proctype, pid, variable } => {
                self.remote(out, *proctype, pid.as_deref());
                out.push(':');
                let locals = &self.model.proctypes[proctype.0 as usize].behaviour.locals;
                Names { model: self.model, locals }.reference(out, variable);
            }
        }
    }

    fn proctype(&self, ProctypeId(id): ProctypeId) -> &str {
        &self.model.proctypes[id as usize].name
    }

    fn remote(&self, out: &mut String, proctype: ProctypeId, pid: Option<&Expr>) {
        out.push_str(self.proctype(proctype));
        if let Some(pid) = pid {
            out.push('[');
            self.expr(out, pid);
            out.push(']');
        }
    }

    fn reference(&self, out: &mut String, reference: &Reference) {
        let variable = match reference.base {
            Base::Global(id) => self.model.globals.get(id.0 as usize),
            Base::Local(id) => self.locals.get(id.0 as usize),
            Base::Scratch => return out.push('_'),
            Base::Priority => return out.push_str("_priority"),
            Base::Stdin => return out.push_str("STDIN"),
        };
        let Some(variable) = variable else { return out.push('?') };
        out.push_str(&variable.name);
        let mut ty = variable.ty;
        for access in &reference.path {
            match access {
                Access::Index { index, .. } => {
                    out.push('[');
                    self.expr(out, index);
                    out.push(']');
                }
                Access::Field(field) => {
                    let Type::Struct(StructId(id)) = ty else { return };
                    let field = &self.model.structs[id as usize].fields[field.0 as usize];
                    out.push('.');
                    out.push_str(&field.name);
                    ty = field.ty;
                }
            }
        }
    }

    fn ltl(&self, out: &mut String, formula: &Ltl) {
        let mut unary = |operator: &str, inner: &Ltl| {
            out.push_str(operator);
            out.push('(');
            self.ltl(out, inner);
            out.push(')');
        };
        let (operator, left, right) = match formula {
            Ltl::Atom(e) => return self.expr(out, e),
            Ltl::Not(inner) => return unary("!", inner),
            Ltl::Next(inner) => return unary("X ", inner),
            Ltl::Always(inner) => return unary("[] ", inner),
            Ltl::Eventually(inner) => return unary("<> ", inner),
            Ltl::And(a, b) => (" && ", a, b),
            Ltl::Or(a, b) => (" || ", a, b),
            Ltl::Implies(a, b) => (" -> ", a, b),
            Ltl::Equivalent(a, b) => (" <-> ", a, b),
            Ltl::Until(a, b) => (" U ", a, b),
            Ltl::Release(a, b) => (" V ", a, b),
            Ltl::WeakUntil(a, b) => (" W ", a, b),
        };
        out.push('(');
        self.ltl(out, left);
        out.push_str(operator);
        self.ltl(out, right);
        out.push(')');
    }
}
