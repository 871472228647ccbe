//! One way through a model for everybody: each statement with where it stands, each expression below it, each
//! reference.

use crate::model::{
    Access, Base, Behaviour, Expr, ExprKind, Init, LabelId, Ltl, Model, ProctypeId, ReceiveArgument,
    Reference, Sequence, Statement, StatementKind,
};

/// What a statement stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Owner {
    Process(ProctypeId),
    Claim(u32),
    Trace,
    /// A formula, or a global declaration.
    Nobody,
}

/// All behaviours with their owners.
pub(crate) fn behaviours(model: &Model) -> impl Iterator<Item = (Owner, &Behaviour)> {
    let processes = model.proctypes.iter().enumerate();
    let processes = processes.map(|(i, p)| (Owner::Process(ProctypeId(i as u32)), &p.behaviour));
    let claims = model.claims.iter().enumerate().map(|(i, c)| (Owner::Claim(i as u32), &c.behaviour));
    processes.chain(claims).chain(model.trace.iter().map(|t| (Owner::Trace, &t.behaviour)))
}

/// Visits every statement of a sequence, those inside others included, each before its parts.
pub(crate) fn statements<'m>(sequence: &'m Sequence, visit: &mut impl FnMut(&'m Statement)) {
    for statement in sequence {
        visit(statement);
        match &statement.kind {
            StatementKind::Block(inner) | StatementKind::Atomic(inner) | StatementKind::DStep(inner) => {
                statements(inner, visit);
            }
            StatementKind::If(options) | StatementKind::Do(options, _) => {
                options.iter().for_each(|option| statements(option, visit));
            }
            StatementKind::Unless { body, escape } => {
                statements(body, visit);
                statements(escape, visit);
            }
            _ => {}
        }
    }
}

/// The expressions of one statement, not those of statements inside it.
pub(crate) fn expressions(statement: &Statement) -> Vec<&Expr> {
    fn of_arguments(arguments: &[ReceiveArgument]) -> impl Iterator<Item = &Expr> {
        arguments.iter().filter_map(|argument| match argument {
            ReceiveArgument::Match(value) => Some(value),
            _ => None,
        })
    }
    match &statement.kind {
        StatementKind::Declare { init: Init::Value(value), .. } => vec![value],
        StatementKind::Expression(e) | StatementKind::Assert(e) | StatementKind::Printm(e) => vec![e],
        StatementKind::Assign { target, value } => indices(target).chain([value]).collect(),
        StatementKind::Send { channel, arguments, .. } => indices(channel).chain(arguments).collect(),
        StatementKind::Receive(receive) => {
            let stores = stores(&receive.arguments).flat_map(indices);
            indices(&receive.channel).chain(of_arguments(&receive.arguments)).chain(stores).collect()
        }
        StatementKind::Printf { arguments, .. } => arguments.iter().collect(),
        StatementKind::SetPriority(pid, priority) => vec![pid, priority],
        _ => Vec::new(),
    }
}

/// The variables that a receive stores to.
pub(crate) fn stores(arguments: &[ReceiveArgument]) -> impl Iterator<Item = &Reference> {
    arguments.iter().filter_map(|argument| match argument {
        ReceiveArgument::Store(reference) => Some(reference),
        _ => None,
    })
}

/// The index expressions of a reference.
pub(crate) fn indices(reference: &Reference) -> impl Iterator<Item = &Expr> {
    reference.path.iter().filter_map(|access| match access {
        Access::Index { index, .. } => Some(&**index),
        Access::Field(_) => None,
    })
}

/// Visits an expression and everything below it, each before its parts. Remote references come with their
/// proctype.
pub(crate) fn expression<'m>(expr: &'m Expr, visit: &mut impl FnMut(&'m Expr)) {
    visit(expr);
    match &expr.kind {
        ExprKind::Variable(reference) => indices(reference).for_each(|e| expression(e, visit)),
        ExprKind::Unary(_, e) | ExprKind::Enabled(e) | ExprKind::PcValue(e) | ExprKind::GetPriority(e) => {
            expression(e, visit);
        }
        ExprKind::Binary(_, a, b) => {
            expression(a, visit);
            expression(b, visit);
        }
        ExprKind::Conditional(a, b, c) => {
            expression(a, visit);
            expression(b, visit);
            expression(c, visit);
        }
        ExprKind::Run(run) => run.arguments.iter().for_each(|e| expression(e, visit)),
        ExprKind::Channel(_, channel) => indices(channel).for_each(|e| expression(e, visit)),
        ExprKind::Poll(poll) => {
            indices(&poll.channel).for_each(|e| expression(e, visit));
            for argument in &poll.arguments {
                if let ReceiveArgument::Match(value) = argument {
                    expression(value, visit);
                }
            }
        }
        ExprKind::RemoteLabel { pid, .. } => pid.iter().for_each(|e| expression(e, visit)),
        ExprKind::RemoteVariable { pid, variable, .. } => {
            pid.iter().for_each(|e| expression(e, visit));
            indices(variable).for_each(|e| expression(e, visit));
        }
        _ => {}
    }
}

/// The atoms of a formula.
pub(crate) fn atoms<'m>(formula: &'m Ltl, visit: &mut impl FnMut(&'m Expr)) {
    match formula {
        Ltl::Atom(expr) => visit(expr),
        Ltl::Not(a) | Ltl::Next(a) | Ltl::Always(a) | Ltl::Eventually(a) => atoms(a, visit),
        Ltl::And(a, b)
        | Ltl::Or(a, b)
        | Ltl::Implies(a, b)
        | Ltl::Equivalent(a, b)
        | Ltl::Until(a, b)
        | Ltl::Release(a, b)
        | Ltl::WeakUntil(a, b) => {
            atoms(a, visit);
            atoms(b, visit);
        }
    }
}

/// Whether a statement carries a label of the kind.
pub(crate) fn has_label(
    behaviour: &Behaviour,
    statement: &Statement,
    kind: fn(&crate::model::Label) -> bool,
) -> bool {
    statement.labels.iter().any(|LabelId(id)| behaviour.labels.get(*id as usize).is_some_and(kind))
}

/// The variable that a reference begins with, if it is one of the model's.
pub(crate) fn variable_of(owner: Owner, reference: &Reference) -> Option<(Owner, u32)> {
    match reference.base {
        Base::Global(id) => Some((Owner::Nobody, id.0)),
        Base::Local(id) => Some((owner, id.0)),
        Base::Scratch | Base::Priority | Base::Stdin => None,
    }
}
