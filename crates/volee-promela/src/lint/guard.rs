//! `=` where a guard is meant. An option that begins with an assignment can always be taken: that is how a
//! choice between values is written, so it is a mistake only where something else speaks for a guard: an
//! `else` beside it, which then never comes to pass; or `->` behind it, and another option asks about the
//! same variable or counts it on in a loop that this one leaves, or there is no other option, or what was
//! assigned is overwritten at once. The last is a slip outside choices, too.

use volee_system::Diagnostic;

use super::Context;
use super::walk::{self, Owner, behaviours, variable_of};
use crate::model::{Expr, ExprKind, Reference, Sequence, Statement, StatementKind};
use crate::render;

pub(super) fn assignments(context: &Context, out: &mut Vec<Diagnostic>) {
    for (owner, behaviour) in behaviours(context.model) {
        let mut tell = |statement: &Statement, target: &Reference, why: &str| {
            let name = render::reference(context.model, &behaviour.locals, target);
            let message = format!("this assigns to `{name}`, which is always possible: {why}");
            let mut found = Diagnostic::warning(message, statement.place.clone())
                .spanning(name.len() as u32)
                .with_help("`==` compares, `=` assigns");
            if let Some(edit) = context.texts.replace_assign(&statement.place, "==") {
                found = found.with_fix("write `==`", vec![edit]);
            }
            out.push(found);
        };
        let mut sequence = |sequence: &Sequence, choice: Option<Choice>| {
            for (at, pair) in sequence.windows(2).enumerate() {
                // What stands first in an option is looked at with the options beside it; behind a guard `->`
                // is a semicolon.
                let is_guarded = at > 0 && is_guard(&sequence[at - 1]);
                if !is_guarded && (at > 0 || choice.is_none()) {
                    let overwritten = assigned(&pair[0]).filter(|_| overwrites(context, owner, pair));
                    overwritten.into_iter().for_each(|(first, target)| tell(first, target, OVERWRITTEN));
                }
            }
            let first = choice.and_then(|choice| Some((choice, sequence.first().and_then(assigned)?)));
            if let Some((choice, (first, target))) = first
                && let Some(why) = why(context, owner, choice, sequence, target)
            {
                tell(first, target, why);
            }
        };
        sequence(&behaviour.body, None);
        walk::statements(&behaviour.body, &mut |statement| match &statement.kind {
            StatementKind::If(options) => {
                let choice = Choice { options, is_loop: false };
                options.iter().for_each(|option| sequence(option, Some(choice)));
            }
            StatementKind::Do(options, _) => {
                let choice = Choice { options, is_loop: true };
                options.iter().for_each(|option| sequence(option, Some(choice)));
            }
            StatementKind::Block(inner) | StatementKind::Atomic(inner) | StatementKind::DStep(inner) => {
                sequence(inner, None);
            }
            StatementKind::Unless { body, escape } => {
                sequence(body, None);
                sequence(escape, None);
            }
            _ => {}
        });
    }
}

fn is_guard(statement: &Statement) -> bool {
    matches!(&statement.kind, StatementKind::Expression(e) if !matches!(e.kind, ExprKind::Constant { .. }))
}

const OVERWRITTEN: &str = "what it assigns is overwritten at once";

/// An `if` or a `do`.
#[derive(Clone, Copy)]
struct Choice<'m> {
    options: &'m [Sequence],
    is_loop: bool,
}

/// Whether an assignment with `->` behind it is followed by another to the same variable, which does not ask
/// what it was.
fn overwrites(context: &Context, owner: Owner, pair: &[Statement]) -> bool {
    let (Some((first, target)), StatementKind::Assign { target: next, value }) =
        (assigned(&pair[0]), &pair[1].kind)
    else {
        return false;
    };
    target.path.is_empty()
        && next.path.is_empty()
        && variable_of(owner, target).is_some()
        && variable_of(owner, target) == variable_of(owner, next)
        && !mentions(owner, value, target)
        && has_arrow(context, first)
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
    choice: Choice,
    option: &Sequence,
    target: &Reference,
) -> Option<&'static str> {
    let first = option.first()?;
    let firsts = || choice.options.iter().filter_map(|o| o.first());
    if firsts().any(|s| matches!(s.kind, StatementKind::Else)) && is_written(context, first) {
        return Some("the `else` beside it never comes to pass");
    }
    if !has_arrow(context, first) {
        return None;
    }
    let is_asked = firsts().any(|s| match &s.kind {
        StatementKind::Expression(guard) => mentions(owner, guard, target),
        _ => false,
    });
    let counts = |s: &Statement| match &s.kind {
        StatementKind::Assign { target: other, value } => {
            variable_of(owner, other) == variable_of(owner, target) && mentions(owner, value, target)
        }
        _ => false,
    };
    let leaves =
        matches!(option.get(1).map(|s| &s.kind), Some(StatementKind::Break | StatementKind::Goto(_)));
    match () {
        () if is_asked => Some("is a comparison meant, as in the option beside it?"),
        () if choice.is_loop && leaves && firsts().any(counts) => {
            Some("the loop is left whatever it is counted to")
        }
        () if !choice.is_loop && choice.options.len() == 1 => {
            Some("an `if` with this option alone is no choice")
        }
        () if option.get(..2).is_some_and(|pair| overwrites(context, owner, pair)) => Some(OVERWRITTEN),
        () => None,
    }
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
