//! `=` where a guard is meant. An option that begins with an assignment can always be taken: that is how a choice between values
//! is written, so it is a mistake only where something else speaks for a guard: an `else` beside it, which then never comes to
//! pass, or `->` behind it while another option asks about the same variable.

use volee_system::Diagnostic;

use super::Context;
use super::walk::{self, Owner, behaviours, variable_of};
use crate::model::{Expr, ExprKind, Reference, Sequence, Statement, StatementKind};
use crate::render;

pub(super) fn assignments(context: &Context, out: &mut Vec<Diagnostic>) {
    for (owner, behaviour) in behaviours(context.model) {
        walk::statements(&behaviour.body, &mut |statement| {
            let (StatementKind::If(options) | StatementKind::Do(options, _)) = &statement.kind else {
                return;
            };
            for option in options {
                let Some((first, target)) = option.first().and_then(assigned) else { continue };
                let Some(why) = why(context, owner, options, first, target) else { continue };
                let name = render::reference(context.model, &behaviour.locals, target);
                let message = format!("this option assigns to `{name}`, which is always possible: {why}");
                let mut found = Diagnostic::warning(message, first.place.clone())
                    .spanning(name.len() as u32)
                    .with_help("`==` compares, `=` assigns");
                if let Some(edit) = context.texts.replace_assign(&first.place, "==") {
                    found = found.with_fix("write `==`", vec![edit]);
                }
                out.push(found);
            }
        });
    }
}

/// The assignment that a statement is.
fn assigned(statement: &Statement) -> Option<(&Statement, &Reference)> {
    match &statement.kind {
        StatementKind::Assign { target, .. } => Some((statement, target)),
        _ => None,
    }
}

fn why(
    context: &Context,
    owner: Owner,
    options: &[Sequence],
    first: &Statement,
    target: &Reference,
) -> Option<&'static str> {
    let firsts = || options.iter().filter_map(|o| o.first());
    if firsts().any(|s| matches!(s.kind, StatementKind::Else)) && is_written(context, first) {
        return Some("the `else` beside it never comes to pass");
    }
    let is_asked = firsts().any(|s| match &s.kind {
        StatementKind::Expression(guard) => mentions(owner, guard, target),
        _ => false,
    });
    (is_asked && has_arrow(context, first)).then_some("is a comparison meant, as in the option beside it?")
}

fn mentions(owner: Owner, guard: &Expr, target: &Reference) -> bool {
    let mut found = false;
    walk::expression(guard, &mut |e| {
        if let ExprKind::Variable(reference) = &e.kind {
            found |= variable_of(owner, reference) == variable_of(owner, target);
        }
    });
    found
}

/// Whether the statement stands in the text as an assignment: `for` and `select` make some of their own.
fn is_written(context: &Context, statement: &Statement) -> bool {
    context.texts.replace_assign(&statement.place, "==").is_some()
}

fn has_arrow(context: &Context, statement: &Statement) -> bool {
    context.arrows.iter().any(|&at| context.sources.place(at) == statement.place)
}
