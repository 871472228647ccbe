//! Properties that mention nothing that changes: whatever the processes do, their truth is fixed from the
//! start.

use hashbrown::HashSet;
use volee_system::Diagnostic;

use super::Context;
use super::walk::{self, Owner, behaviours, variable_of};
use crate::model::{Expr, ExprKind, Model, ProctypeId, StatementKind, Variable};
use crate::render;

pub(super) fn properties(context: &Context, out: &mut Vec<Diagnostic>) {
    let changing = changing(context);
    let model = context.model;
    for property in &model.ltl {
        let (mut changes, mut names) = (false, Vec::new());
        walk::atoms(&property.formula, &mut |atom| {
            changes |= can_change((model, &[]), Owner::Nobody, atom, &changing, &mut names);
        });
        if !changes {
            let message =
                format!("the formula `{}` mentions nothing that changes{}", property.name, told(&names));
            out.push(
                Diagnostic::warning(message, property.place.clone())
                    .spanning(3)
                    .with_help("its truth is fixed from the start; does it name the right variables?"),
            );
        }
    }
    for (owner, behaviour) in behaviours(model) {
        walk::statements(&behaviour.body, &mut |statement| {
            let StatementKind::Assert(condition) = &statement.kind else { return };
            let mut names = Vec::new();
            // `assert(false)` marks what must not be reached.
            if can_change((model, &behaviour.locals), owner, condition, &changing, &mut names)
                || names.is_empty()
            {
                return;
            }
            let text = render::expr(model, &behaviour.locals, condition);
            let message = format!("this assertion mentions nothing that changes{}", told(&names));
            out.push(
                Diagnostic::warning(message, statement.place.clone()).spanning(6).with_help(format!(
                    "`{text}` is fixed from the start; does it name the right variables?"
                )),
            );
        });
    }
}

fn told(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => format!(": nothing assigns to `{one}`"),
        _ => format!(": nothing assigns to `{}`", names.join("`, `")),
    }
}

/// Every variable that some statement of a process gives a value to.
fn changing(context: &Context) -> HashSet<(Owner, u32)> {
    let model = context.model;
    let mut written = HashSet::new();
    for (owner, behaviour) in behaviours(model) {
        if let Owner::Process(ProctypeId(id)) = owner {
            // Parameters are different from process to process.
            written.extend((0..model.proctypes[id as usize].parameters).map(|i| (owner, i)));
        }
        for (i, variable) in behaviour.locals.iter().enumerate() {
            // So is what a process computes when it is born.
            if matches!(&variable.init, crate::model::Init::Value(e) if !matches!(e.kind, ExprKind::Constant { .. }))
            {
                written.insert((owner, i as u32));
            }
        }
        walk::statements(&behaviour.body, &mut |statement| match &statement.kind {
            StatementKind::Assign { target, .. } => written.extend(variable_of(owner, target)),
            StatementKind::Declare { local, .. } => {
                written.insert((owner, local.0));
            }
            StatementKind::Receive(receive) => {
                written.extend(walk::stores(&receive.arguments).filter_map(|r| variable_of(owner, r)));
            }
            _ => {}
        });
    }
    written
}

/// Whether an expression can change its value; the variables in it that cannot are added to `names`.
fn can_change(
    named: (&Model, &[Variable]),
    owner: Owner,
    expr: &Expr,
    changing: &HashSet<(Owner, u32)>,
    names: &mut Vec<String>,
) -> bool {
    let mut changes = false;
    walk::expression(expr, &mut |e| match &e.kind {
        ExprKind::Variable(reference) => match variable_of(owner, reference) {
            Some(variable) if !changing.contains(&variable) => {
                let name = render::reference(named.0, named.1, reference);
                if !names.contains(&name) {
                    names.push(name);
                }
            }
            _ => changes = true,
        },
        ExprKind::Constant { .. }
        | ExprKind::Unary(..)
        | ExprKind::Binary(..)
        | ExprKind::Conditional(..) => {}
        _ => changes = true,
    });
    changes
}
