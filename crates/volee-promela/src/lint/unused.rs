//! Variables and channels that nothing mentions. A name that stands somewhere else in the files, be it in a
//! part that the preprocessor left out or in a comment, counts as mentioned: the model may be meant to be
//! read in several ways.

use std::sync::Arc;

use hashbrown::HashSet;
use volee_system::Diagnostic;

use super::Context;
use super::walk::{self, Owner, behaviours, variable_of};
use crate::model::{ExprKind, Init, ProctypeId, ReceiveArgument, Reference, StatementKind, Type, Variable};

pub(super) fn variables(context: &Context, out: &mut Vec<Diagnostic>) {
    unused(context, |v| v.ty != Type::Chan, "the variable", out);
}

pub(super) fn channels(context: &Context, out: &mut Vec<Diagnostic>) {
    unused(context, |v| v.ty == Type::Chan, "the channel", out);
}

fn unused(context: &Context, wanted: fn(&Variable) -> bool, what: &str, out: &mut Vec<Diagnostic>) {
    let used = used(context);
    let mut reported: HashSet<Arc<str>> = HashSet::new();
    let mut check = |owner: Owner, number: usize, variable: &Variable| {
        let name = &variable.name;
        if !wanted(variable) || used.contains(&(owner, number as u32)) || name.starts_with('_') {
            return;
        }
        // A variable that a macro declared, or that other variants of the text use.
        if context.texts.name_at(&variable.place) != Some(name) || context.texts.mentions(name) > 1 {
            return;
        }
        if !reported.insert(name.clone()) {
            return;
        }
        let mut found = Diagnostic::warning(format!("{what} `{name}` is never used"), variable.place.clone())
            .spanning(name.len() as u32)
            .with_help("every variable is part of every state: take it away, or use it");
        if let Some(edit) = context.texts.remove_declaration(&variable.place) {
            found = found.with_fix(format!("take `{name}` away"), vec![edit]);
        }
        out.push(found);
    };
    for (i, variable) in context.model.globals.iter().enumerate() {
        check(Owner::Nobody, i, variable);
    }
    for (owner, behaviour) in behaviours(context.model) {
        let parameters = match owner {
            Owner::Process(ProctypeId(id)) => context.model.proctypes[id as usize].parameters as usize,
            _ => 0,
        };
        for (i, variable) in behaviour.locals.iter().enumerate().skip(parameters) {
            check(owner, i, variable);
        }
    }
}

/// Every variable that something reads or writes.
fn used(context: &Context) -> HashSet<(Owner, u32)> {
    let model = context.model;
    let mut used = HashSet::new();
    let mut note = |owner: Owner, reference: &Reference| used.extend(variable_of(owner, reference));
    let initial = model.globals.iter().chain(model.structs.iter().flat_map(|s| &s.fields));
    for variable in initial {
        if let Init::Value(value) = &variable.init {
            in_expression(Owner::Nobody, value, &mut note);
        }
    }
    for property in &model.ltl {
        walk::atoms(&property.formula, &mut |atom| in_expression(Owner::Nobody, atom, &mut note));
    }
    for (i, proctype) in model.proctypes.iter().enumerate() {
        if let Some(provided) = &proctype.provided {
            in_expression(Owner::Process(ProctypeId(i as u32)), provided, &mut note);
        }
    }
    for (owner, behaviour) in behaviours(model) {
        for variable in &behaviour.locals {
            if let Init::Value(value) = &variable.init {
                in_expression(owner, value, &mut note);
            }
        }
        behaviour.exclusive.iter().for_each(|e| note(owner, &e.channel));
        walk::statements(&behaviour.body, &mut |statement| {
            match &statement.kind {
                StatementKind::Assign { target, .. } => note(owner, target),
                StatementKind::Send { channel, .. } => note(owner, channel),
                StatementKind::Receive(receive) => {
                    note(owner, &receive.channel);
                    walk::stores(&receive.arguments).for_each(|r| note(owner, r));
                }
                _ => {}
            }
            walk::expressions(statement).into_iter().for_each(|e| in_expression(owner, e, &mut note));
        });
    }
    used
}

fn in_expression(owner: Owner, expr: &crate::model::Expr, note: &mut impl FnMut(Owner, &Reference)) {
    walk::expression(expr, &mut |e| match &e.kind {
        ExprKind::Variable(reference) => note(owner, reference),
        ExprKind::Channel(_, channel) => note(owner, channel),
        ExprKind::Poll(poll) => {
            note(owner, &poll.channel);
            for argument in &poll.arguments {
                if let ReceiveArgument::Store(reference) = argument {
                    note(owner, reference);
                }
            }
        }
        ExprKind::RemoteVariable { proctype, variable, .. } => note(Owner::Process(*proctype), variable),
        _ => {}
    });
}
