//! Temporal formulas: the boolean and temporal operators become [`Ltl`], what is below them atoms.

use super::{Resolved, Resolver};
use crate::ast::{Expr, ExprKind, TemporalOp};
use crate::model::{BinaryOp, Ltl, UnaryOp};

impl Resolver<'_> {
    pub(super) fn ltl(&mut self, expr: &Expr) -> Resolved<Ltl> {
        let mut both = |make: fn(Box<Ltl>, Box<Ltl>) -> Ltl, left: &Expr, right: &Expr| {
            let (left, right) = (self.ltl(left), self.ltl(right));
            Ok(make(Box::new(left?), Box::new(right?)))
        };
        match &expr.kind {
            ExprKind::Unary(UnaryOp::Not, inner) => Ok(Ltl::Not(Box::new(self.ltl(inner)?))),
            ExprKind::Binary(BinaryOp::And, left, right) => both(Ltl::And, left, right),
            ExprKind::Binary(BinaryOp::Or, left, right) => both(Ltl::Or, left, right),
            ExprKind::Temporal(op, operands) => match (op, &operands[..]) {
                (TemporalOp::Implies, [left, right]) => both(Ltl::Implies, left, right),
                (TemporalOp::Equivalent, [left, right]) => both(Ltl::Equivalent, left, right),
                (TemporalOp::Until, [left, right]) => both(Ltl::Until, left, right),
                (TemporalOp::Release, [left, right]) => both(Ltl::Release, left, right),
                (TemporalOp::WeakUntil, [left, right]) => both(Ltl::WeakUntil, left, right),
                (TemporalOp::Next, [inner]) => Ok(Ltl::Next(Box::new(self.ltl(inner)?))),
                (TemporalOp::Always, [inner]) => Ok(Ltl::Always(Box::new(self.ltl(inner)?))),
                (TemporalOp::Eventually, [inner]) => Ok(Ltl::Eventually(Box::new(self.ltl(inner)?))),
                _ => unreachable!("the parser gives each operator its operands"),
            },
            _ => Ok(Ltl::Atom(self.state_expr(expr, "a formula")?)),
        }
    }
}
