//! Globals that nobody reads: what is written there cannot matter.
//!
//! Stores to them go nowhere and they take no part in the state. A variable that is read only to compute new
//! values of variables that nobody reads, such as a counter that only counts, is one of them. Channel numbers
//! are read by whoever uses the channel; a global that a property reads is observed and stays. Errors stay
//! too: an index out of range is still looked for, and what a division reads is always read.

use super::Observed;
use super::effects::{Cells, extent, visit_action, visit_expr, visit_stores};
use crate::program::{Action, BinaryOp, Expr, Location, Pattern, Program, Scope};

pub(super) fn drop_unread_globals(program: &mut Program, observed: &Observed) {
    let read = read_globals(program, observed);
    let unread = |location: &Location| location.scope == Scope::Global && !meets(&read, location);
    for proctype in &mut program.proctypes {
        for transition in proctype.nodes.iter_mut().flat_map(|n| &mut n.transitions) {
            forget(&mut transition.action, &unread);
        }
    }
    program.globals_init.retain(|(location, _)| !unread(location));
    program.globals.retain(|v| read.contains(v.offset));
}

/// What is stored to these bytes of the globals goes nowhere, as far as nobody reads them; the bytes that are
/// dropped.
pub(super) fn drop_hidden(
    program: &mut Program,
    hidden: &[(u32, u32)],
    observed: &Observed,
) -> Vec<(u32, u32)> {
    let read = read_globals(program, observed);
    let dropped: Vec<(u32, u32)> = hidden
        .iter()
        .copied()
        .filter(|&(start, length)| (start..start + length).all(|at| !read.contains(at)))
        .collect();
    let inside = |at: u32| dropped.iter().any(|&(start, length)| (start..start + length).contains(&at));
    let unread = |location: &Location| location.scope == Scope::Global && inside(location.offset);
    for proctype in &mut program.proctypes {
        for transition in proctype.nodes.iter_mut().flat_map(|n| &mut n.transitions) {
            forget(&mut transition.action, &unread);
        }
    }
    program.globals_init.retain(|(location, _)| !unread(location));
    program.globals.retain(|v| !inside(v.offset));
    dropped
}

/// The bytes of the globals that do not matter.
pub(super) fn unread_globals(program: &Program, observed: &Observed) -> Vec<(u32, u32)> {
    let mut all = Cells::none(program.globals_size);
    all.add((0, program.globals_size));
    all.runs_without(&read_globals(program, observed))
}

/// The bytes of the globals that matter.
fn read_globals(program: &Program, observed: &Observed) -> Cells {
    let mut read = Cells::none(program.globals_size);
    for &(start, length) in &observed.globals {
        read.add((start, length));
    }
    for channel in &program.channels {
        read.add(extent(&channel.holder));
    }
    visit_outside_actions(program, &mut |e| add_loads(e, &mut read));
    // Assignments to globals, which read for others only if what they write is read.
    let mut updates: Vec<(&Location, &Expr)> = Vec::new();
    for transition in program.proctypes.iter().flat_map(|p| &p.nodes).flat_map(|n| &n.transitions) {
        collect(&transition.action, &mut updates, &mut read);
    }
    while !updates.is_empty() {
        let before = updates.len();
        updates.retain(|(location, value)| {
            let matters = meets(&read, location);
            if matters {
                visit_expr(value, &mut |e| add_load(e, &mut read));
            }
            !matters
        });
        if updates.len() == before {
            break;
        }
    }
    read
}

/// Expressions that no statement evaluates.
fn visit_outside_actions(program: &Program, f: &mut dyn FnMut(&Expr)) {
    for (location, value) in &program.globals_init {
        location.indices.iter().for_each(|i| f(&i.value));
        f(value);
    }
    for proctype in &program.proctypes {
        proctype.provided.iter().for_each(&mut *f);
        for (location, value) in &proctype.locals_init {
            location.indices.iter().for_each(|i| f(&i.value));
            f(value);
        }
    }
    let steps = program.monitor.iter().flat_map(|m| m.nodes.iter().flatten());
    steps.flat_map(|step| step.fields.iter().flatten()).for_each(f);
}

/// Adds what an action reads, but for plain assignments to globals: those are put aside.
fn collect<'p>(action: &'p Action, updates: &mut Vec<(&'p Location, &'p Expr)>, read: &mut Cells) {
    match action {
        Action::Sequence(actions) => actions.iter().for_each(|a| collect(a, updates, read)),
        Action::Assign(location, value) if location.scope == Scope::Global && cannot_fail(value) => {
            location.indices.iter().for_each(|i| add_loads(&i.value, read));
            add_index_loads(value, read);
            updates.push((location, value));
        }
        action => {
            visit_action(action, &mut |e| add_load(e, read));
            // An index out of range is found by storing, so the store stays.
            visit_stores(action, &mut |location| {
                if location.scope == Scope::Global && !is_plain(location) {
                    read.add(extent(location));
                }
            });
        }
    }
}

pub(super) fn is_plain(location: &Location) -> bool {
    location.indices.iter().all(|i| matches!(i.value, Expr::Const(k) if (k as u32) < i.count))
}

/// Whether evaluating an expression never fails whatever the values of the variables are, but for indices out
/// of range.
fn cannot_fail(value: &Expr) -> bool {
    let mut fine = true;
    visit_expr(value, &mut |e| {
        fine &= matches!(
            e,
            Expr::Const(_) | Expr::Load(_) | Expr::Not(_) | Expr::Neg(_) | Expr::Complement(_) | Expr::Pid
        ) || matches!(e, Expr::Binary(op, ..) if !matches!(op, BinaryOp::Div | BinaryOp::Rem | BinaryOp::And | BinaryOp::Or));
    });
    fine
}

fn add_load(e: &Expr, read: &mut Cells) {
    if let Expr::Load(location) = e
        && location.scope == Scope::Global
    {
        read.add(extent(location));
    }
}

fn add_loads(expr: &Expr, read: &mut Cells) {
    visit_expr(expr, &mut |e| add_load(e, read));
}

/// Adds what the indices in an expression read: they may be out of range.
fn add_index_loads(expr: &Expr, read: &mut Cells) {
    visit_expr(expr, &mut |e| {
        if let Expr::Load(location) = e {
            location.indices.iter().for_each(|i| add_loads(&i.value, read));
        }
    });
}

fn meets(read: &Cells, location: &Location) -> bool {
    let (start, length) = extent(location);
    (start..start + length).any(|byte| read.contains(byte))
}

fn forget(action: &mut Action, unread: &dyn Fn(&Location) -> bool) {
    match action {
        Action::Assign(location, value) if unread(location) => {
            if !is_plain(location) {
                // Looked at instead of stored to, so that an index out of range is still found.
                let place = location.place.clone();
                let look = Expr::Load(Box::new(location.clone()));
                let value_before = std::mem::replace(value, Expr::Const(0));
                *value = Expr::Binary(BinaryOp::Add, Box::new(value_before), Box::new(look), place);
                location.indices.clear();
            }
            location.scope = Scope::Nowhere;
        }
        Action::Receive { patterns, .. } => {
            for pattern in patterns {
                if let Pattern::Bind(location) = pattern
                    && unread(location)
                {
                    *pattern = Pattern::Any;
                }
            }
        }
        Action::Sequence(actions) => actions.iter_mut().for_each(|a| forget(a, unread)),
        _ => {}
    }
}
