//! Symbolic evaluation of expressions and actions: explicit variables have numbers, symbolic ones linear forms of the
//! values before the step.

use std::collections::BTreeMap;

use volee_integers::{Int, Row};
use volee_program::{Action, BinaryOp, Expr, Location, Scope};
use volee_system::{Diagnostic, Place};

use super::formula::{Case, Formula, TooComplicated, add, constant};
use super::state::{Blocks, Explicit};

/// A run of a transition so far: under which condition, with which effect.
#[derive(Debug, Clone)]
pub(crate) struct Branch {
    pub(crate) guard: Formula,
    /// New values of symbolic columns, as forms of the old ones.
    pub(crate) updates: BTreeMap<usize, Row>,
    pub(crate) explicit: Explicit,
}

/// Columns of symbolic variables, given out as they are first met.
#[derive(Debug, Default)]
pub(crate) struct Columns {
    pub(crate) names: Vec<String>,
    by_key: BTreeMap<Key, usize>,
}

/// A symbolic variable: a cell of the globals, or of a process of a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Key {
    Global(usize),
    Local { pid: usize, proctype: u8, cell: usize },
}

impl Columns {
    pub(crate) fn clone_of(other: &Columns) -> Columns {
        Columns { names: other.names.clone(), by_key: other.by_key.clone() }
    }

    pub(crate) fn of(&mut self, key: Key, name: impl FnOnce() -> String) -> usize {
        let names = &mut self.names;
        *self.by_key.entry(key).or_insert_with(|| {
            names.push(name());
            names.len() - 1
        })
    }
}

/// Why a statement cannot be handled.
pub(crate) enum Refusal {
    /// It is outside what the engine handles.
    Unsupported(String, Option<Place>),
    /// It would fail when executed.
    Fault(String, Option<Place>),
}

impl From<TooComplicated> for Refusal {
    fn from(_: TooComplicated) -> Self {
        Refusal::Unsupported("its condition has too many alternatives".to_owned(), None)
    }
}

pub(crate) type Result<T> = std::result::Result<T, Refusal>;

impl Refusal {
    pub(crate) fn into_diagnostic(self, statement: &str, place: Option<&Place>) -> Diagnostic {
        let (reason, own) = match self {
            Refusal::Unsupported(reason, place) | Refusal::Fault(reason, place) => (reason, place),
        };
        let message = format!("the counters engine cannot handle `{statement}`: {reason}");
        Diagnostic::error(message, own.or_else(|| place.cloned())).with_help(
            "unbounded variables may be compared and assigned as sums with constant factors; \
             --symbolic chooses which variables are unbounded",
        )
    }
}

fn unsupported<T>(reason: &str, place: Option<Place>) -> Result<T> {
    Err(Refusal::Unsupported(reason.to_owned(), place))
}

/// Where an element of a variable is.
enum Element {
    Explicit { pid: Option<usize>, cell: usize },
    Symbolic(usize),
    Nowhere,
}

/// The evaluator: what never changes, and the columns.
pub(crate) struct Evaluator<'a> {
    pub(crate) blocks: &'a Blocks,
    pub(crate) columns: Columns,
}

impl Evaluator<'_> {
    fn element(&mut self, branch: &Branch, pid: Option<usize>, location: &Location) -> Result<Element> {
        let mut offset = location.offset;
        for index in &location.indices {
            let value = self.number(branch, pid, &index.value)?;
            if value < 0 || value >= i64::from(index.count) {
                let message =
                    format!("array index {value} out of range (there are {} elements)", index.count);
                return Err(Refusal::Fault(message, location.place.clone()));
            }
            offset += value as u32 * index.stride;
        }
        let missing =
            || Refusal::Unsupported("it uses a variable of an unknown layout".into(), location.place.clone());
        match (location.scope, pid) {
            (Scope::Nowhere, _) => Ok(Element::Nowhere),
            (Scope::Global, _) => {
                let cell = self.blocks.globals.at(offset).ok_or_else(missing)?;
                let info = &self.blocks.globals.cells[cell];
                Ok(if info.symbolic {
                    Element::Symbolic(self.columns.of(Key::Global(cell), || info.name.clone()))
                } else {
                    Element::Explicit { pid: None, cell }
                })
            }
            (Scope::Local, Some(pid)) => {
                let proctype = branch.explicit.processes[pid].proctype;
                let block = &self.blocks.locals[proctype as usize];
                let cell = block.at(offset).ok_or_else(missing)?;
                let info = &block.cells[cell];
                Ok(if info.symbolic {
                    let key = Key::Local { pid, proctype, cell };
                    Element::Symbolic(self.columns.of(key, || format!("{}[{pid}]", info.name)))
                } else {
                    Element::Explicit { pid: Some(pid), cell }
                })
            }
            (Scope::Local, None) => Err(missing()),
        }
    }

    /// The value of a variable.
    fn load(&mut self, branch: &Branch, pid: Option<usize>, location: &Location) -> Result<Row> {
        Ok(match self.element(branch, pid, location)? {
            Element::Nowhere => vec![Int::ZERO],
            Element::Explicit { pid: None, cell } => vec![Int::from(branch.explicit.globals[cell])],
            Element::Explicit { pid: Some(p), cell } => {
                vec![Int::from(branch.explicit.processes[p].cells[cell])]
            }
            Element::Symbolic(column) => {
                branch.updates.get(&column).cloned().unwrap_or_else(|| variable(column))
            }
        })
    }

    /// Stores a value; an explicit variable takes only numbers.
    pub(crate) fn store(
        &mut self,
        branch: &mut Branch,
        pid: Option<usize>,
        location: &Location,
        value: Row,
    ) -> Result<()> {
        match self.element(branch, pid, location)? {
            Element::Nowhere => {}
            Element::Symbolic(column) => {
                branch.updates.insert(column, value);
            }
            Element::Explicit { pid, cell } => {
                let Some(number) = constant(&value).and_then(Int::to_i64) else {
                    return unsupported(
                        "a value of unbounded variables is stored in a variable that is not unbounded",
                        location.place.clone(),
                    );
                };
                let slot = match pid {
                    None => &mut branch.explicit.globals[cell],
                    Some(p) => &mut branch.explicit.processes[p].cells[cell],
                };
                *slot = location.scalar.wrap(number as i32);
            }
        }
        Ok(())
    }

    /// An expression that must have one number.
    fn number(&mut self, branch: &Branch, pid: Option<usize>, expr: &Expr) -> Result<i64> {
        let cases = self.cases(branch, pid, expr)?;
        if let [case] = cases.as_slice()
            && let Some(value) = constant(&case.value).and_then(Int::to_i64)
        {
            return Ok(value);
        }
        unsupported("an index or argument depends on an unbounded variable", None)
    }

    /// When the expression is not 0.
    pub(crate) fn truth(&mut self, branch: &Branch, pid: Option<usize>, expr: &Expr) -> Result<Formula> {
        use BinaryOp as B;
        match expr {
            Expr::Not(e) => Ok(self.truth(branch, pid, e)?.not()?),
            Expr::Binary(B::And, a, b, _) => {
                let left = self.truth(branch, pid, a)?;
                if left.is_false() {
                    return Ok(left);
                }
                Ok(left.and(&self.truth(branch, pid, b)?)?)
            }
            Expr::Binary(B::Or, a, b, _) => {
                let left = self.truth(branch, pid, a)?;
                if left.is_true() {
                    return Ok(left);
                }
                Ok(left.or(&self.truth(branch, pid, b)?)?)
            }
            Expr::Binary(op @ (B::Eq | B::Ne | B::Lt | B::Le | B::Gt | B::Ge), a, b, _) => {
                let (left, right) = (self.cases(branch, pid, a)?, self.cases(branch, pid, b)?);
                let mut out = Formula::truth(false);
                for l in &left {
                    for r in &right {
                        let holds = compare(*op, &l.value, &r.value)?;
                        out = out.or(&l.when.and(&r.when)?.and(&holds)?)?;
                    }
                }
                Ok(out)
            }
            _ => {
                let mut out = Formula::truth(false);
                for case in self.cases(branch, pid, expr)? {
                    let nonzero = Formula::zero(case.value)?.not()?;
                    out = out.or(&case.when.and(&nonzero)?)?;
                }
                Ok(out)
            }
        }
    }

    /// The values of an expression and when it has them.
    pub(crate) fn cases(&mut self, branch: &Branch, pid: Option<usize>, expr: &Expr) -> Result<Vec<Case>> {
        use BinaryOp as B;
        let always = |value: Row| vec![Case { when: Formula::truth(true), value }];
        match expr {
            Expr::Const(k) => Ok(always(vec![Int::from(*k)])),
            Expr::Load(location) => Ok(always(self.load(branch, pid, location)?)),
            Expr::Neg(e) => {
                let cases = self.cases(branch, pid, e)?;
                let negate = |c: Case| Case { value: c.value.iter().map(|v| -v).collect(), ..c };
                Ok(cases.into_iter().map(negate).collect())
            }
            Expr::Pid => match pid {
                Some(p) => Ok(always(vec![Int::from(p)])),
                None => unsupported("`_pid` means nothing outside a process", None),
            },
            Expr::ProcessCount => Ok(always(vec![Int::from(branch.explicit.processes.len())])),
            Expr::Cond(c, a, b) => {
                let yes = self.truth(branch, pid, c)?;
                let no = yes.not()?;
                let mut out = Vec::new();
                for (when, side) in [(yes, a), (no, b)] {
                    if when.is_false() {
                        continue;
                    }
                    for case in self.cases(branch, pid, side)? {
                        out.push(Case { when: when.and(&case.when)?, value: case.value });
                    }
                }
                Ok(out)
            }
            Expr::Not(_)
            | Expr::Binary(B::And | B::Or | B::Eq | B::Ne | B::Lt | B::Le | B::Gt | B::Ge, ..) => {
                let yes = self.truth(branch, pid, expr)?;
                let no = yes.not()?;
                let case = |when: Formula, value: i64| Case { when, value: vec![Int::from(value)] };
                Ok([case(yes, 1), case(no, 0)].into_iter().filter(|c| !c.when.is_false()).collect())
            }
            Expr::Binary(op, a, b, place) => {
                let (left, right) = (self.cases(branch, pid, a)?, self.cases(branch, pid, b)?);
                let mut out = Vec::new();
                for l in &left {
                    for r in &right {
                        let value = arithmetic(*op, &l.value, &r.value, place)?;
                        out.push(Case { when: l.when.and(&r.when)?, value });
                    }
                }
                Ok(out)
            }
            Expr::Complement(e) => {
                let number = self.number(branch, pid, e)?;
                Ok(always(vec![Int::from(!number)]))
            }
            Expr::At { proctype, pid: Some(p), node, .. } => {
                let p = self.number(branch, pid, p)?;
                let process = usize::try_from(p).ok().and_then(|p| branch.explicit.processes.get(p));
                let there = process.is_some_and(|q| q.proctype == proctype.0 && q.node == node.0);
                Ok(always(vec![Int::from(i64::from(there))]))
            }
            Expr::At { proctype, pid: None, node, .. } => {
                let there =
                    branch.explicit.processes.iter().any(|q| q.proctype == proctype.0 && q.node == node.0);
                Ok(always(vec![Int::from(i64::from(there))]))
            }
            Expr::Remote { proctype, pid: which, location, place } => {
                let found = match which {
                    Some(p) => usize::try_from(self.number(branch, pid, p)?).ok(),
                    None => branch.explicit.processes.iter().position(|q| q.proctype == proctype.0),
                };
                let exists = found
                    .filter(|&p| branch.explicit.processes.get(p).is_some_and(|q| q.proctype == proctype.0));
                match exists {
                    Some(p) => Ok(always(self.load(branch, Some(p), location)?)),
                    None => Err(Refusal::Fault("there is no such process".into(), place.clone())),
                }
            }
            Expr::Timeout => unsupported("`timeout` is not supported", None),
            Expr::Channel(_, _, place) | Expr::Poll { place, .. } => {
                unsupported("channels are not supported", place.clone())
            }
            Expr::Last | Expr::NonProgress | Expr::Enabled(..) | Expr::PcValue(_) | Expr::Priority(_) => {
                unsupported("it asks about the verifier's own state", None)
            }
            Expr::Run { place, .. } => {
                unsupported("`run` inside an expression is not supported", place.clone())
            }
        }
    }

    /// When an action can be done; `before` is when an earlier option of the node can.
    pub(crate) fn enabled(
        &mut self,
        branch: &Branch,
        pid: usize,
        action: &Action,
        before: &Formula,
        d_step: &dyn Fn(&mut Self, volee_program::NodeId) -> Result<Formula>,
    ) -> Result<Formula> {
        Ok(match action {
            Action::Skip | Action::Assign(..) | Action::Assert(_) | Action::Print(_) => Formula::truth(true),
            Action::Guard(Expr::Run { .. }) => Formula::truth(true),
            Action::Guard(e) => self.truth(branch, Some(pid), e)?,
            Action::Else => before.not()?,
            Action::End => Formula::truth(pid + 1 == branch.explicit.processes.len()),
            Action::Sequence(all) => match all.first() {
                Some(first) => self.enabled(branch, pid, first, before, d_step)?,
                None => Formula::truth(true),
            },
            Action::DStep(entry) => d_step(self, *entry)?,
            Action::Send { .. } | Action::Receive { .. } => {
                return unsupported("channels are not supported", None);
            }
            Action::SetPriority(..) => return unsupported("priorities are not supported", None),
        })
    }
}

fn variable(column: usize) -> Row {
    let mut row = vec![Int::ZERO; column + 2];
    row[column + 1] = Int::ONE;
    row
}

fn compare(op: BinaryOp, a: &[Int], b: &[Int]) -> Result<Formula> {
    let less = |a: &[Int], b: &[Int], strict: bool| {
        let mut row = add(b, -1, a);
        if strict {
            row[0] += &Int::MINUS_ONE;
        }
        Formula::at_least(row)
    };
    Ok(match op {
        BinaryOp::Lt => less(a, b, true),
        BinaryOp::Le => less(a, b, false),
        BinaryOp::Gt => less(b, a, true),
        BinaryOp::Ge => less(b, a, false),
        BinaryOp::Eq => Formula::zero(add(a, -1, b))?,
        _ => less(a, b, true).or(&less(b, a, true))?,
    })
}

fn arithmetic(op: BinaryOp, a: &[Int], b: &[Int], place: &Option<Place>) -> Result<Row> {
    match op {
        BinaryOp::Add => return Ok(add(a, 1, b)),
        BinaryOp::Sub => return Ok(add(a, -1, b)),
        BinaryOp::Mul => {
            let (scale, row) = match (constant(a), constant(b)) {
                (Some(k), _) => (k, b),
                (_, Some(k)) => (k, a),
                _ => {
                    return unsupported(
                        "the product of two unbounded variables is not linear",
                        place.clone(),
                    );
                }
            };
            return Ok(row.iter().map(|c| c * scale).collect());
        }
        _ => {}
    }
    let numbers = constant(a).and_then(Int::to_i64).zip(constant(b).and_then(Int::to_i64));
    let Some((x, y)) = numbers else {
        return unsupported(
            "division, remainder and bits of unbounded variables are not linear",
            place.clone(),
        );
    };
    let (x, y) = (x as i32, y as i32);
    let value = match op {
        BinaryOp::Div | BinaryOp::Rem if y == 0 => {
            return Err(Refusal::Fault("division by zero".into(), place.clone()));
        }
        BinaryOp::Div => x.wrapping_div(y),
        BinaryOp::Rem => x.wrapping_rem(y),
        BinaryOp::BitAnd => x & y,
        BinaryOp::BitOr => x | y,
        BinaryOp::BitXor => x ^ y,
        BinaryOp::Shl => x.wrapping_shl(y as u32),
        _ => x.wrapping_shr(y as u32),
    };
    Ok(vec![Int::from(value)])
}
