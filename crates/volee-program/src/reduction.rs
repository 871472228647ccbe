//! Which processes may move first without loss: persistent sets over what statements read and write.
//!
//! When a process stands where everything it can do concerns only itself, whatever the others do first commutes with it:
//! its steps alone are a persistent set (Godefroid 1996, chapter 4; the ample sets of Peled 1993 that consist of one
//! process). They neither enable nor disable nor change a step of another process, nor can one of those change them:
//! * they read and write its own locals only, which nobody else looks at: a process type whose variables or control
//!   points are observed from elsewhere (remote references, predicates) is never reduced;
//! * they are single statements that do not keep control, so no foreign statement is part of the step;
//! * `timeout` is false as long as such a step is possible, so it cannot come between;
//! * priorities, `_last`, `enabled()`, `pc_value()` and `np_` make a step visible to all: then nothing is reduced.
//!
//! What such a step changes no predicate sees (the visibility condition). That no step of another process is put off for
//! ever (the cycle condition) is the business of the search: it expands a state in full when its reduced successors are
//! all known.

use crate::optimise::{Observed, is_local, visit_program};
use crate::program::{Action, Expr, Location, Node, Piece, Program, Scope};

/// By process type and control point: whether all that can be done there is private.
pub(crate) fn private_nodes(program: &Program, observed: &Observed) -> Vec<Vec<bool>> {
    let mut looks_at_control = false;
    visit_program(program, &mut |e| looks_at_control |= sees_control(e));
    let hopeless = looks_at_control || program.uses_priorities || program.uses_last;
    let by_program = Observed::by_program(program);
    let observed_type = |number: usize| {
        [observed, &by_program].into_iter().any(|seen| {
            seen.nodes.iter().any(|(p, _)| usize::from(p.0) == number)
                || seen.locals.iter().any(|(p, ..)| usize::from(p.0) == number)
        })
    };
    program
        .proctypes
        .iter()
        .enumerate()
        .map(|(number, proctype)| {
            let open = hopeless || proctype.provided.is_some() || observed_type(number);
            proctype.nodes.iter().map(|node| !open && is_private(node)).collect()
        })
        .collect()
}

/// Whether an expression depends on where processes stand or what they could do, in a way that is not tracked by name.
pub(crate) fn sees_control(expr: &Expr) -> bool {
    matches!(expr, Expr::Enabled(_) | Expr::PcValue(_) | Expr::NonProgress | Expr::Last | Expr::Priority(_))
}

fn is_private(node: &Node) -> bool {
    !node.transitions.is_empty()
        && !node.in_d_step
        && node.transitions.iter().all(|t| !t.atomic && concerns_only_itself(&t.action))
}

fn concerns_only_itself(action: &Action) -> bool {
    match action {
        Action::Skip | Action::Else => true,
        Action::Guard(e) | Action::Assert(e) => is_local(e),
        Action::Assign(location, e) => is_own(location) && is_local(e),
        Action::Print(pieces) => pieces.iter().all(|piece| match piece {
            Piece::Text(_) => true,
            Piece::Value(_, e) | Piece::Name(e, _) => is_local(e),
        }),
        Action::Sequence(actions) => actions.iter().all(concerns_only_itself),
        Action::Send { .. }
        | Action::Receive { .. }
        | Action::SetPriority(..)
        | Action::End
        | Action::DStep(_) => false,
    }
}

fn is_own(location: &Location) -> bool {
    location.scope != Scope::Global && location.indices.iter().all(|index| is_local(&index.value))
}
