//! The negatable form of a conjunct: every hidden column becomes a *function* of the visible ones.
//!
//! "There is an h such that …" cannot be negated constraint by constraint, but "for h = the rounded quotient
//! of this form by that number, …" can: the definition of h stays, and only the other constraints are
//! negated. So:
//! * a stride `g h = a(x)` defines `h = floor(a(x) / g)`, and the equation remains as a constraint;
//! * a hidden column in inequalities is eliminated where that is exact;
//! * else, if it meets no other such column, its least value is one of its lower bounds rounded up (or its
//!   greatest one of its upper bounds rounded down): one disjunct per bound, which avoids the residue classes
//!   that the Omega test would enumerate;
//! * else it is eliminated by the dark shadow and splinters of the Omega test.

use std::rc::Rc;

use crate::row::{combine, negated};
use crate::{Conjunct, Effort, Exhausted, Int, Row};

/// Disjuncts made from one conjunct before it counts as too hard.
const DISJUNCTS: usize = 4_000;

/// A conjunct whose hidden columns are functions of the visible ones.
#[derive(Debug)]
pub(crate) struct Determined {
    pub(crate) hidden: usize,
    /// Inequalities that define the hidden columns: satisfiable for every visible vector, by one value each.
    pub(crate) definitions: Vec<Row>,
    /// Equations that must hold besides.
    pub(crate) equations: Vec<Row>,
    /// Inequalities that must hold besides. A stride is one of them: `a(x) - g h <= 0`.
    pub(crate) inequalities: Vec<Row>,
}

/// Work in progress: a conjunct and the hidden columns that are already defined.
struct Partial {
    conjunct: Conjunct,
    /// For each hidden column, the bound that defines it.
    defined: Vec<Option<Bound>>,
}

/// `a h + r >= 0` with the least such `h`, or `-b h + s >= 0` with the greatest.
#[derive(Clone)]
struct Bound(Row);

impl Conjunct {
    /// The negatable form; a union with the same points.
    pub(crate) fn determined(&self, effort: &Effort) -> Result<Rc<Vec<Determined>>, Exhausted> {
        if let Some(known) = self.determined.get() {
            return Ok(Rc::clone(known));
        }
        let done = Rc::new(determine(self, effort)?);
        Ok(Rc::clone(self.determined.get_or_init(|| done)))
    }
}

fn determine(conjunct: &Conjunct, effort: &Effort) -> Result<Vec<Determined>, Exhausted> {
    let mut out = Vec::new();
    let mut work = vec![Partial { conjunct: conjunct.clone(), defined: vec![None; conjunct.hidden] }];
    while let Some(partial) = work.pop() {
        effort.spend((partial.conjunct.size() + 1) * partial.conjunct.width())?;
        if work.len() + out.len() > DISJUNCTS {
            return Err(Exhausted);
        }
        match partial.next_column() {
            Some(column) => partial.eliminate(column, &mut work, effort)?,
            None => out.push(partial.finish()),
        }
    }
    Ok(out)
}

impl Partial {
    fn is_stride(&self, column: usize) -> bool {
        self.conjunct.equations.iter().any(|e| !e[column].is_zero())
    }

    /// A hidden column that is neither a stride nor defined; those that can go exactly come first.
    fn next_column(&self) -> Option<usize> {
        let first = self.conjunct.visible + 1;
        (first..self.conjunct.width())
            .filter(|&c| self.defined[c - first].is_none() && !self.is_stride(c))
            .min_by_key(|&c| {
                let sides = self.conjunct.sides(c);
                let exact = self.conjunct.exact_shadow(c, &sides).is_some();
                // Columns are defined last: every other elimination renumbers them.
                let rank = if exact {
                    0
                } else if self.is_alone(c) {
                    2
                } else {
                    1
                };
                (rank, sides.lower.len() * sides.upper.len())
            })
    }

    /// Whether no inequality relates the column to another undefined hidden column.
    fn is_alone(&self, column: usize) -> bool {
        let first = self.conjunct.visible + 1;
        let others = |r: &Row| {
            (first..r.len()).any(|c| c != column && !r[c].is_zero() && self.defined[c - first].is_none())
        };
        !self.conjunct.inequalities.iter().any(|r| !r[column].is_zero() && others(r))
    }

    fn eliminate(self, column: usize, work: &mut Vec<Partial>, effort: &Effort) -> Result<(), Exhausted> {
        let sides = self.conjunct.sides(column);
        if let Some(shadow) = self.conjunct.exact_shadow(column, &sides) {
            let mut conjunct = self.conjunct;
            conjunct.replace_sides(column, shadow);
            push(conjunct, self.defined, work);
            return Ok(());
        }
        if self.is_alone(column) {
            let fewer = if sides.lower.len() <= sides.upper.len() { &sides.lower } else { &sides.upper };
            for &bound in fewer {
                let mut defined = self.defined.clone();
                defined[column - 1 - self.conjunct.visible] =
                    Some(Bound(self.conjunct.inequalities[bound].clone()));
                work.push(Partial { conjunct: self.conjunct.clone(), defined });
            }
            return Ok(());
        }
        self.splinter(column, work, effort)
    }

    /// Dark shadow and splinters.
    fn splinter(self, column: usize, work: &mut Vec<Partial>, effort: &Effort) -> Result<(), Exhausted> {
        let sides = self.conjunct.sides(column);
        let rows = &self.conjunct.inequalities;
        let largest = sides.upper.iter().map(|&u| -&rows[u][column]).max().unwrap_or(Int::ONE);
        for &l in &sides.lower {
            let a = &rows[l][column];
            let last = (&(&(a * &largest) - a) - &largest).div_floor(&largest);
            let mut i = Int::ZERO;
            while i <= last {
                effort.spend(rows.len() * self.conjunct.width())?;
                let mut equation = rows[l].clone();
                equation[0] = &equation[0] - &i;
                let mut conjunct = self.conjunct.clone();
                conjunct.equations.push(equation);
                push(conjunct, self.defined.clone(), work);
                if work.len() > DISJUNCTS {
                    return Err(Exhausted);
                }
                i += &Int::ONE;
            }
        }
        let mut dark = Vec::new();
        for &l in &sides.lower {
            for &u in &sides.upper {
                let (a, b) = (&rows[l][column], -&rows[u][column]);
                let mut row = combine(&b, &rows[l], a, &rows[u]);
                row[0] = &row[0] - &(&(a - &Int::ONE) * &(&b - &Int::ONE));
                dark.push(row);
            }
        }
        let mut conjunct = self.conjunct;
        conjunct.replace_sides(column, dark);
        push(conjunct, self.defined, work);
        Ok(())
    }

    /// Splits the constraints into definitions and the rest.
    fn finish(self) -> Determined {
        let visible = self.conjunct.visible;
        let mut out = Determined {
            hidden: self.conjunct.hidden,
            definitions: Vec::new(),
            equations: Vec::new(),
            inequalities: Vec::new(),
        };
        for row in &self.conjunct.equations {
            match row[visible + 1..].iter().find(|c| !c.is_zero()) {
                None => out.equations.push(row.clone()),
                Some(g) => {
                    // a - g h, with g > 0, lies between 0 and g - 1 by definition and must be 0.
                    let g = g.abs();
                    let form = if row[visible + 1..].iter().any(Int::is_positive) {
                        negated(row)
                    } else {
                        row.clone()
                    };
                    let mut upper = negated(&form);
                    upper[0] += &(&g - &Int::ONE);
                    out.definitions.push(form.clone());
                    out.definitions.push(upper);
                    out.inequalities.push(negated(&form));
                }
            }
        }
        for (i, bound) in self.defined.iter().enumerate() {
            let Some(Bound(row)) = bound else { continue };
            // 0 <= row <= |coefficient| - 1 pins the rounded quotient.
            let mut other = negated(row);
            other[0] += &(&row[visible + 1 + i].abs() - &Int::ONE);
            out.definitions.push(row.clone());
            out.definitions.push(other);
        }
        for row in self.conjunct.inequalities {
            if !out.definitions.contains(&row) {
                out.inequalities.push(row);
            }
        }
        out
    }
}

/// Queues a changed conjunct. Simplification renumbers hidden columns, so none may be defined yet; the order
/// in [`Partial::next_column`] sees to that.
fn push(mut conjunct: Conjunct, defined: Vec<Option<Bound>>, work: &mut Vec<Partial>) {
    debug_assert!(defined.iter().all(Option::is_none));
    conjunct.simplify();
    if !conjunct.empty {
        let hidden = conjunct.hidden;
        work.push(Partial { conjunct, defined: vec![None; hidden] });
    }
}
