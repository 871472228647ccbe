//! Variables that an expression reads and no statement ever writes: what is said of them says little.

use std::collections::BTreeSet;

use crate::optimise::{extent, visit_expr, visit_stores};
use crate::program::{Expr, Program, Scope};
use crate::types::Kind;

/// The names of the global variables in an expression that keep their initial value in every run.
pub fn constants(program: &Program, expr: &Expr) -> Vec<String> {
    let mut written = vec![false; program.globals_size as usize];
    for transition in program.proctypes.iter().flat_map(|p| &p.nodes).flat_map(|n| &n.transitions) {
        visit_stores(&transition.action, &mut |location| {
            if location.scope == Scope::Global {
                let (start, length) = extent(location);
                written.iter_mut().skip(start as usize).take(length as usize).for_each(|byte| *byte = true);
            }
        });
    }
    let mut names = BTreeSet::new();
    visit_expr(expr, &mut |part| {
        let Expr::Load(location) = part else { return };
        if location.scope != Scope::Global || location.kind == Kind::Channel {
            return;
        }
        let (start, length) = extent(location);
        let changes = written.iter().skip(start as usize).take(length as usize).any(|&byte| byte);
        let before = program.globals.iter().filter(|v| v.offset <= location.offset);
        let variable = before.max_by_key(|v| v.offset).filter(|v| v.shown);
        if let Some(variable) = variable.filter(|_| !changes) {
            names.insert(variable.name.replace("[]", ""));
        }
    });
    names.into_iter().collect()
}
