//! Symbolic evaluation of expressions and actions: explicit variables have numbers, symbolic ones linear
//! forms of the values before the step.

use std::collections::BTreeMap;

use volee_integers::{Int, Row};
use volee_program::{Action, BinaryOp, Expr, Location, Program, Scalar, Scope};
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
    /// The events that it is, of those that somebody looks for: a bit each.
    pub(crate) events: u64,
}

impl Branch {
    /// Nothing has been done, under any condition.
    pub(crate) fn at(explicit: Explicit) -> Branch {
        Branch { guard: Formula::truth(true), updates: BTreeMap::new(), explicit, events: 0 }
    }
}

/// Columns of symbolic variables, given out as they are first met.
#[derive(Debug, Default)]
pub(crate) struct Columns {
    pub(crate) names: Vec<String>,
    /// The least and the largest value, where the type has them.
    pub(crate) bounds: Vec<Option<(i64, i64)>>,
    by_key: BTreeMap<Key, usize>,
}

/// A symbolic variable: a cell of the globals, of a process of a type, or a field of a message in a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Key {
    Global(usize),
    Local { pid: usize, proctype: u8, cell: usize },
    Field { channel: usize, slot: usize, field: usize },
}

/// The values of a type that wraps, and how many there are; none for those that are taken as unbounded.
pub(crate) fn range(scalar: Scalar) -> Option<(i64, i64)> {
    match scalar {
        Scalar::Bit => Some((0, 1)),
        Scalar::Byte => Some((0, 255)),
        Scalar::Short => Some((-(1 << 15), (1 << 15) - 1)),
        Scalar::Unsigned(bits) if bits < 32 => Some((0, (1 << bits) - 1)),
        Scalar::Int | Scalar::Unsigned(_) => None,
    }
}

impl Columns {
    pub(crate) fn clone_of(other: &Columns) -> Columns {
        Columns { names: other.names.clone(), bounds: other.bounds.clone(), by_key: other.by_key.clone() }
    }

    pub(crate) fn of(&mut self, key: Key, scalar: Scalar, name: impl FnOnce() -> String) -> usize {
        let (names, bounds) = (&mut self.names, &mut self.bounds);
        *self.by_key.entry(key).or_insert_with(|| {
            names.push(name());
            bounds.push(range(scalar));
            names.len() - 1
        })
    }

    /// The least and the largest value of a form, where all its variables have them.
    fn extent(&self, row: &[Int]) -> Option<(i64, i64)> {
        let first = row[0].to_i64()?;
        let (mut least, mut most) = (first, first);
        for (column, c) in row[1..].iter().enumerate().filter(|(_, c)| !c.is_zero()) {
            let (low, high) = self.bounds[column]?;
            let c = c.to_i64()?;
            let (a, b) = (c.checked_mul(low)?, c.checked_mul(high)?);
            least = least.checked_add(a.min(b))?;
            most = most.checked_add(a.max(b))?;
        }
        Some((least, most))
    }
}

/// Ways in which a value may wrap around before it counts as too complicated.
const MOST_ROUNDS: i64 = 8;

/// Why a statement is outside what the engine handles.
pub(crate) struct Refusal(pub(crate) String, pub(crate) Option<Place>);

impl From<TooComplicated> for Refusal {
    fn from(_: TooComplicated) -> Self {
        Refusal("its condition has too many alternatives".to_owned(), None)
    }
}

/// A run-time error, and when it is met. As in the machine, evaluation goes on with 0.
pub(crate) struct Fault {
    pub(crate) when: Formula,
    pub(crate) message: String,
    pub(crate) place: Option<Place>,
}

pub(crate) type Result<T> = std::result::Result<T, Refusal>;

impl Refusal {
    pub(crate) fn into_diagnostic(self, statement: &str, place: Option<&Place>) -> Diagnostic {
        let Refusal(reason, own) = self;
        let message = format!("the counters engine cannot handle `{statement}`: {reason}");
        Diagnostic::error(message, own.or_else(|| place.cloned())).with_help(
            "unbounded variables may be compared and assigned as sums with constant factors; \
             which variables are unbounded can be chosen",
        )
    }
}

pub(crate) fn unsupported<T>(reason: &str, place: Option<Place>) -> Result<T> {
    Err(Refusal(reason.to_owned(), place))
}

/// Where an element of a variable is.
enum Element {
    Explicit { pid: Option<usize>, cell: usize },
    Symbolic(usize),
    Nowhere,
}

/// The evaluator: what never changes, and the columns.
pub(crate) struct Evaluator<'a> {
    pub(crate) program: &'a Program,
    pub(crate) blocks: &'a Blocks,
    pub(crate) columns: Columns,
    /// When what is evaluated now is evaluated at all.
    when: Formula,
    /// The errors met since they were last asked for.
    faults: Vec<Fault>,
}

impl<'a> Evaluator<'a> {
    pub(crate) fn new(program: &'a Program, blocks: &'a Blocks, columns: Columns) -> Self {
        Evaluator { program, blocks, columns, when: Formula::truth(true), faults: Vec::new() }
    }

    /// The errors met since they were last asked for.
    pub(crate) fn take_faults(&mut self) -> Vec<Fault> {
        std::mem::take(&mut self.faults)
    }

    /// Notes an error that is met here, under a further condition.
    pub(crate) fn fail(&mut self, under: &Formula, message: String, place: Option<Place>) -> Result<()> {
        let when = self.when.and(under)?;
        if !when.is_false() {
            self.faults.push(Fault { when, message, place });
        }
        Ok(())
    }

    /// Evaluates something that is evaluated only under a condition.
    fn under<T>(&mut self, condition: &Formula, f: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let narrower = self.when.and(condition)?;
        let before = std::mem::replace(&mut self.when, narrower);
        let result = f(self);
        self.when = before;
        result
    }

    fn element(&mut self, branch: &Branch, pid: Option<usize>, location: &Location) -> Result<Element> {
        let mut offset = location.offset;
        for index in &location.indices {
            let value = self.number(branch, pid, &index.value)?;
            if value < 0 || value >= i64::from(index.count) {
                let message =
                    format!("array index {value} out of range (there are {} elements)", index.count);
                self.fail(&Formula::truth(true), message, location.place.clone())?;
                return Ok(Element::Nowhere);
            }
            offset += value as u32 * index.stride;
        }
        let missing = || Refusal("it uses a variable of an unknown layout".into(), location.place.clone());
        match (location.scope, pid) {
            (Scope::Nowhere, _) => Ok(Element::Nowhere),
            (Scope::Global, _) => {
                let cell = self.blocks.globals.at(offset).ok_or_else(missing)?;
                let info = &self.blocks.globals.cells[cell];
                Ok(if info.symbolic {
                    Element::Symbolic(self.columns.of(Key::Global(cell), info.scalar, || info.name.clone()))
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
                    Element::Symbolic(self.columns.of(key, info.scalar, || format!("{}[{pid}]", info.name)))
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
            Element::Symbolic(column) => column_value(branch, column),
        })
    }

    /// Stores a value, in each way in which it can wrap; an explicit variable takes only numbers.
    pub(crate) fn store(
        &mut self,
        mut branch: Branch,
        pid: Option<usize>,
        location: &Location,
        value: Row,
    ) -> Result<Vec<Branch>> {
        let (pid, cell) = match self.element(&branch, pid, location)? {
            Element::Nowhere => return Ok(vec![branch]),
            Element::Symbolic(column) => {
                let mut out = Vec::new();
                for (when, value) in self.wrapped(location.scalar, value, &location.place)? {
                    let guard = branch.guard.and(&when)?;
                    if !guard.is_false() {
                        let mut next = Branch { guard, ..branch.clone() };
                        next.updates.insert(column, value);
                        out.push(next);
                    }
                }
                return Ok(out);
            }
            Element::Explicit { pid, cell } => (pid, cell),
        };
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
        Ok(vec![branch])
    }

    /// What is read back after a value was stored: how it wraps, and when so.
    pub(crate) fn wrapped(
        &self,
        scalar: Scalar,
        value: Row,
        place: &Option<Place>,
    ) -> Result<Vec<(Formula, Row)>> {
        let Some((low, high)) = range(scalar) else { return Ok(vec![(Formula::truth(true), value)]) };
        if let Some(number) = constant(&value).and_then(Int::to_i64) {
            return Ok(vec![(Formula::truth(true), vec![Int::from(scalar.wrap(number as i32))])]);
        }
        let size = high - low + 1;
        let rounds = self
            .columns
            .extent(&value)
            .map(|(least, most)| ((least - low).div_euclid(size), (most - low).div_euclid(size)));
        let Some((first, last)) = rounds.filter(|(first, last)| last - first < MOST_ROUNDS) else {
            return unsupported("a value that may wrap around any number of times is stored", place.clone());
        };
        let mut out = Vec::new();
        for round in first..=last {
            let mut row = value.clone();
            row[0] += &Int::from(-round * size);
            let (mut above, mut below) = (row.clone(), row.iter().map(|c| -c).collect::<Row>());
            above[0] += &Int::from(-low);
            below[0] += &Int::from(high);
            // A bound that cannot be passed needs no guard: fewer rows, simpler cycles.
            let above = if round == first { Formula::truth(true) } else { Formula::at_least(above) };
            let below = if round == last { Formula::truth(true) } else { Formula::at_least(below) };
            out.push((above.and(&below)?, row));
        }
        Ok(out)
    }

    /// An expression that must have one number.
    pub(crate) fn number(&mut self, branch: &Branch, pid: Option<usize>, expr: &Expr) -> Result<i64> {
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
                let right = self.under(&left, |this| this.truth(branch, pid, b))?;
                Ok(left.and(&right)?)
            }
            Expr::Binary(B::Or, a, b, _) => {
                let left = self.truth(branch, pid, a)?;
                if left.is_true() {
                    return Ok(left);
                }
                let right = self.under(&left.not()?, |this| this.truth(branch, pid, b))?;
                Ok(left.or(&right)?)
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
            Expr::Poll { channel, patterns, anywhere, place } => {
                self.poll(branch, pid, channel, patterns, *anywhere, place)
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
                    for case in self.under(&when, |this| this.cases(branch, pid, side))? {
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
                        let when = l.when.and(&r.when)?;
                        let value = match arithmetic(*op, &l.value, &r.value, place)? {
                            Some(value) => value,
                            None => {
                                self.fail(&when, "division by zero".into(), place.clone())?;
                                vec![Int::ZERO]
                            }
                        };
                        out.push(Case { when, value });
                    }
                }
                Ok(out)
            }
            Expr::Complement(e) => {
                let number = self.number(branch, pid, e)?;
                Ok(always(vec![Int::from(!number)]))
            }
            Expr::At { proctype, pid: which, node, place } => {
                let found = self.remote(branch, pid, proctype.0, which.as_deref(), place)?;
                let there = found.is_some_and(|p| branch.explicit.processes[p].node == node.0);
                Ok(always(vec![Int::from(i64::from(there))]))
            }
            Expr::Remote { proctype, pid: which, location, place } => {
                match self.remote(branch, pid, proctype.0, which.as_deref(), place)? {
                    Some(p) => Ok(always(self.load(branch, Some(p), location)?)),
                    None => Ok(always(vec![Int::ZERO])),
                }
            }
            Expr::Timeout => unsupported("`timeout` is not supported", None),
            Expr::Channel(test, channel, place) => {
                let value = self.channel_test(branch, pid, *test, channel, place)?;
                Ok(always(vec![Int::from(value)]))
            }
            Expr::Poll { .. } => {
                let yes = self.truth(branch, pid, expr)?;
                let no = yes.not()?;
                let case = |when: Formula, value: i64| Case { when, value: vec![Int::from(value)] };
                Ok(vec![case(yes, 1), case(no, 0)])
            }
            Expr::Last | Expr::NonProgress | Expr::Enabled(..) | Expr::PcValue(_) | Expr::Priority(_) => {
                unsupported("it asks about the verifier's own state", None)
            }
            Expr::Run { place, .. } => {
                unsupported("`run` inside an expression is not supported", place.clone())
            }
        }
    }

    /// The process that a remote reference means: the given one, or the first of its type. One that is not
    /// there is at no label and has no variables; only a number that never was one is an error.
    fn remote(
        &mut self,
        branch: &Branch,
        pid: Option<usize>,
        proctype: u8,
        which: Option<&Expr>,
        place: &Option<Place>,
    ) -> Result<Option<usize>> {
        let processes = &branch.explicit.processes;
        let Some(which) = which else { return Ok(processes.iter().position(|q| q.proctype == proctype)) };
        let number = self.number(branch, pid, which)?;
        if !(0..=255).contains(&number) {
            let message = "there is no such process (remote reference)".into();
            self.fail(&Formula::truth(true), message, place.clone())?;
            return Ok(None);
        }
        let number = number as usize;
        Ok(processes.get(number).filter(|q| q.proctype == proctype).map(|_| number))
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
            Action::Send { channel, .. } => {
                let free =
                    self.channel(branch, Some(pid), channel, &None)?.filter(|&c| !self.meets(branch, c));
                Formula::truth(free.is_some_and(|c| self.has_room(branch, c)))
            }
            Action::Receive { channel, patterns, anywhere, .. } => {
                match self.channel(branch, Some(pid), channel, &None)?.filter(|&c| !self.meets(branch, c)) {
                    Some(c) => {
                        let mut any = Formula::truth(false);
                        for (_, when) in self.receivable(branch, pid, c, patterns, *anywhere)? {
                            any = any.or(&when)?;
                        }
                        any
                    }
                    None => Formula::truth(false),
                }
            }
            Action::SetPriority(..) => return unsupported("priorities are not supported", None),
        })
    }
}

/// The value of a column after what was done so far.
pub(crate) fn column_value(branch: &Branch, column: usize) -> Row {
    branch.updates.get(&column).cloned().unwrap_or_else(|| variable(column))
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

/// The value of an operation; none for a division by zero.
fn arithmetic(op: BinaryOp, a: &[Int], b: &[Int], place: &Option<Place>) -> Result<Option<Row>> {
    match op {
        BinaryOp::Add => return Ok(Some(add(a, 1, b))),
        BinaryOp::Sub => return Ok(Some(add(a, -1, b))),
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
            return Ok(Some(row.iter().map(|c| c * scale).collect()));
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
    Ok(op.apply(x as i32, y as i32).map(|value| vec![Int::from(value)]))
}
