//! Which narrow variables count: bytes and the like that are assigned a sum of themselves.
//!
//! Such a variable taken explicitly makes up to 256 (or 65,536) locations of one; as a set it is one, and
//! where it wraps around two transitions. Others, flags and the like, are better explicit.

use std::collections::HashSet;

use volee_program::{Action, BinaryOp, Expr, Location, Program, Scalar, Scope, Variable};

/// Variables that count, by block (`None` for the globals) and offset.
pub(super) struct Counting(HashSet<(Option<usize>, u32)>);

impl Counting {
    pub(super) fn of(program: &Program) -> Self {
        let mut found = HashSet::new();
        for (number, proctype) in program.proctypes.iter().enumerate() {
            for transition in proctype.nodes.iter().flat_map(|n| &n.transitions) {
                note(number, &transition.action, &mut found);
            }
        }
        Counting(found)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn contains(&self, block: Option<usize>, variable: &Variable) -> bool {
        let wide = match variable.scalar {
            Scalar::Byte | Scalar::Short => true,
            Scalar::Unsigned(bits) => (4..32).contains(&bits),
            Scalar::Bit | Scalar::Int => false,
        };
        wide && self.0.contains(&(block, variable.offset))
    }
}

fn note(proctype: usize, action: &Action, found: &mut HashSet<(Option<usize>, u32)>) {
    match action {
        Action::Assign(location, expr) if is_sum_of(location, expr) => {
            let block = match location.scope {
                Scope::Global => None,
                Scope::Local => Some(proctype),
                Scope::Nowhere => return,
            };
            found.insert((block, location.offset));
        }
        Action::Sequence(all) => all.iter().for_each(|a| note(proctype, a, found)),
        _ => {}
    }
}

/// Whether an expression adds something to a variable or takes something from it.
fn is_sum_of(location: &Location, expr: &Expr) -> bool {
    match expr {
        Expr::Binary(BinaryOp::Add | BinaryOp::Sub, a, b, _) => {
            [a, b].into_iter().any(|side| is_load(location, side) || is_sum_of(location, side))
        }
        _ => false,
    }
}

fn is_load(location: &Location, expr: &Expr) -> bool {
    matches!(expr, Expr::Load(other) if other.scope == location.scope && other.offset == location.offset)
}
