//! Variables that an expression reads and no statement ever writes: where it reads nothing else, its value is
//! that of the initial state, and what is asked about it is decided before anything moves. Beside something
//! that changes (`x <= N`) they are parameters, of which there is nothing to tell.

use std::collections::BTreeSet;

use crate::optimise::{extent, visit_expr, visit_stores};
use crate::program::{Expr, Program, Scope};
use crate::types::Kind;

/// The names of the global variables in an expression, if all that it reads keeps its initial value in every
/// run.
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
    let mut varies = false;
    visit_expr(expr, &mut |part| {
        let location = match part {
            Expr::Load(location) if location.scope == Scope::Global && location.kind != Kind::Channel => {
                location
            }
            Expr::Const(_)
            | Expr::Not(_)
            | Expr::Neg(_)
            | Expr::Complement(_)
            | Expr::Binary(..)
            | Expr::Cond(..) => return,
            _ => {
                varies = true;
                return;
            }
        };
        let (start, length) = extent(location);
        let changes = written.iter().skip(start as usize).take(length as usize).any(|&byte| byte);
        let before = program.globals.iter().filter(|v| v.offset <= location.offset);
        let variable = before.max_by_key(|v| v.offset).filter(|v| v.shown);
        varies |= changes;
        if let Some(variable) = variable {
            names.insert(variable.name.replace("[]", ""));
        }
    });
    if varies { Vec::new() } else { names.into_iter().collect() }
}
