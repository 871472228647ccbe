//! Values that do not fit: `byte x = 300`, and comparisons such as `x < 0` of a byte, which are decided
//! beforehand.

use volee_system::Diagnostic;

use super::Context;
use super::set::{Set, bounds_of, cut};
use super::walk::{self, Owner, behaviours, variable_of};
use crate::model::{BinaryOp, Expr, ExprKind, Init, Model, Reference, StatementKind, Type, Variable};
use crate::render;

/// Assignments, initial values, messages and arguments none of whose values the target can hold.
pub(super) fn assignments(context: &Context, out: &mut Vec<Diagnostic>) {
    let model = context.model;
    for variable in &model.globals {
        initial(context, Owner::Nobody, variable, &variable.init, out);
    }
    for field in model.structs.iter().flat_map(|s| &s.fields) {
        initial(context, Owner::Nobody, field, &field.init, out);
    }
    for (owner, behaviour) in behaviours(model) {
        for variable in &behaviour.locals {
            initial(context, owner, variable, &variable.init, out);
        }
        walk::statements(&behaviour.body, &mut |statement| match &statement.kind {
            StatementKind::Declare { local, init } => {
                initial(context, owner, &behaviour.locals[local.0 as usize], init, out);
            }
            StatementKind::Assign { target, value } => {
                let name = render::reference(model, &behaviour.locals, target);
                let declared = declaration(model, owner, target);
                check(context, owner, value, target.ty, &format!("`{name}`"), declared, out);
            }
            StatementKind::Send { channel, arguments, .. } => {
                let Some(variable) = declaration(model, owner, channel) else { return };
                let Init::Channel(init) = &variable.init else { return };
                for (value, &ty) in arguments.iter().zip(&init.fields) {
                    check(context, owner, value, ty, "the field of the message", None, out);
                }
            }
            _ => {}
        });
        walk::statements(&behaviour.body, &mut |statement| {
            for expr in walk::expressions(statement) {
                walk::expression(expr, &mut |e| {
                    let ExprKind::Run(run) = &e.kind else { return };
                    let target = &model.proctypes[run.proctype.0 as usize];
                    for (value, parameter) in run.arguments.iter().zip(&target.behaviour.locals) {
                        let what = format!("the parameter `{}`", parameter.name);
                        check(context, owner, value, parameter.ty, &what, Some(parameter), out);
                    }
                });
            }
        });
    }
}

fn initial(context: &Context, owner: Owner, variable: &Variable, init: &Init, out: &mut Vec<Diagnostic>) {
    let what = format!("`{}`", variable.name);
    match init {
        Init::Value(value) => check(context, owner, value, variable.ty, &what, Some(variable), out),
        Init::List(values) => {
            for &value in values.iter().filter(|v| !fits(**v, variable.ty)) {
                let found = told(context, value, variable.ty, &what, variable.place.clone(), Some(variable));
                out.push(found.spanning(variable.name.len() as u32));
            }
        }
        _ => {}
    }
}

/// The variable that an assignment writes to, if it is the whole of it.
fn declaration<'m>(model: &'m Model, owner: Owner, target: &Reference) -> Option<&'m Variable> {
    use crate::model::Access;
    if target.path.iter().any(|access| matches!(access, Access::Field(_))) {
        return None;
    }
    match variable_of(owner, target)? {
        (Owner::Nobody, id) => model.globals.get(id as usize),
        (of, id) => behaviours(model).find(|(o, _)| *o == of)?.1.locals.get(id as usize),
    }
}

fn check(
    context: &Context,
    owner: Owner,
    value: &Expr,
    ty: Type,
    what: &str,
    variable: Option<&Variable>,
    out: &mut Vec<Diagnostic>,
) {
    if matches!(ty, Type::Struct(_) | Type::Chan | Type::Mtype(_) | Type::Int) {
        return;
    }
    let set = context.values.eval(owner, value);
    let Some((low, high)) = set.bounds() else { return };
    let (least, most) = bounds_of(ty);
    if i64::from(high) >= least && i64::from(low) <= most {
        return;
    }
    // Of several values that do not fit the nearest one is told.
    let told_value = if i64::from(low) > most { low } else { high };
    out.push(told(context, told_value, ty, what, value.place.clone(), variable));
}

fn fits(value: i32, ty: Type) -> bool {
    let (low, high) = bounds_of(ty);
    (low..=high).contains(&i64::from(value))
}

fn told(
    context: &Context,
    value: i32,
    ty: Type,
    what: &str,
    place: volee_system::Place,
    variable: Option<&Variable>,
) -> Diagnostic {
    let (low, high) = bounds_of(ty);
    let name = render::type_name(context.model, ty);
    let message = format!("{value} does not fit {what}: a `{name}` holds {low} to {high}");
    let wide = match value {
        0..=255 => "byte",
        -32768..=32767 => "short",
        _ => "int",
    };
    let help = format!("it is stored as {}; declare it as `{wide}`", cut(value, ty));
    let diagnostic = Diagnostic::warning(message, place).with_help(help);
    let edit = variable.and_then(|v| Some((v, context.texts.replace_type(&v.place, wide)?)));
    match edit {
        Some((variable, edit)) => {
            diagnostic.with_fix(format!("declare `{}` as `{wide}`", variable.name), vec![edit])
        }
        None => diagnostic,
    }
}

/// Comparisons of a variable with a constant outside its type.
pub(super) fn comparisons(context: &Context, out: &mut Vec<Diagnostic>) {
    let model = context.model;
    for (owner, behaviour) in behaviours(model) {
        walk::statements(&behaviour.body, &mut |statement| {
            // The conditions that `for` makes are nobody's mistake: they stand at its variable.
            for expr in walk::expressions(statement) {
                walk::expression(expr, &mut |e| comparison(context, owner, &behaviour.locals, e, out));
            }
        });
    }
    for property in &model.ltl {
        walk::atoms(&property.formula, &mut |atom| {
            walk::expression(atom, &mut |e| comparison(context, Owner::Nobody, &[], e, out));
        });
    }
}

fn comparison(context: &Context, _: Owner, locals: &[Variable], expr: &Expr, out: &mut Vec<Diagnostic>) {
    let ExprKind::Binary(op, a, b) = &expr.kind else { return };
    let is_comparison =
        matches!(op, BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge | BinaryOp::Eq | BinaryOp::Ne);
    let (reference, value) = match (&a.kind, &b.kind) {
        (ExprKind::Variable(r), ExprKind::Constant { value, .. })
        | (ExprKind::Constant { value, .. }, ExprKind::Variable(r)) => (r, *value),
        _ => return,
    };
    if !is_comparison || matches!(reference.ty, Type::Struct(_) | Type::Chan | Type::Mtype(_)) {
        return;
    }
    let of_type = Set::of_type(reference.ty);
    let sides = match &a.kind {
        ExprKind::Variable(_) => (of_type, Set::one(value)),
        _ => (Set::one(value), of_type),
    };
    let Set::Few(result) = Set::binary(*op, &sides.0, &sides.1) else { return };
    let mut decided = result.iter();
    let (Some(&only), None) = (decided.next(), decided.next()) else { return };
    let name = render::reference(context.model, locals, reference);
    let ty = render::type_name(context.model, reference.ty);
    let (low, high) = bounds_of(reference.ty);
    let word = if only == 0 { "false" } else { "true" };
    let text = render::expr(context.model, locals, expr);
    let message = format!("`{}` is always {word}: `{name}` is a `{ty}`, from {low} to {high}", bare(&text));
    let place = match &a.kind {
        ExprKind::Variable(_) => a.place.clone(),
        _ => b.place.clone(),
    };
    out.push(
        Diagnostic::warning(message, place)
            .spanning(name.len() as u32)
            .with_help(format!("compare with what it can be, or declare `{name}` as a wider type")),
    );
}

/// An expression without the parentheses around it.
fn bare(text: &str) -> &str {
    text.strip_prefix('(').and_then(|t| t.strip_suffix(')')).unwrap_or(text)
}
