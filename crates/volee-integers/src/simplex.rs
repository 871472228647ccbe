//! Exact linear programming over the rationals: is a system of inequalities feasible, at which point, and
//! what is the minimum of a linear form on it.
//!
//! The tableau follows the "general simplex" of Dutertre and de Moura (2006), simplified: every non-basic
//! column stands at 0, either because it is the slack of an inequality at its bound or because it is a free
//! variable. A row is a vector of integers over one positive denominator, divided by their common divisor
//! after each pivot, so numbers stay small without rational arithmetic. Bland's rule makes every loop end.

use crate::row::combine;
use crate::{Effort, Exhausted, Int, Row};

/// Pivots by the quick rule before the one that is sure to end.
const HASTE: usize = 60;

/// Who stands in a row or a column of the tableau.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Name {
    /// A variable of the system, without bounds.
    Free(usize),
    /// The slack of an inequality, not negative.
    Slack(usize),
}

/// `denominator * name = entries[0] + entries[1..] · columns`.
#[derive(Debug, Clone)]
struct Line {
    name: Name,
    denominator: Int,
    entries: Row,
}

impl Line {
    fn reduce(&mut self) {
        let mut g = self.denominator.clone();
        for e in &self.entries {
            if g.is_one() {
                return;
            }
            if !e.is_zero() {
                g = g.gcd(e);
            }
        }
        if g.is_one() {
            return;
        }
        self.denominator = self.denominator.div_floor(&g);
        self.entries.iter_mut().for_each(|e| *e = e.div_floor(&g));
    }

    /// Replaces column `at` by its expression in `source`, where `factor * column = source`.
    fn substitute(&mut self, at: usize, source: &[Int], factor: &Int) {
        if self.entries[at].is_zero() {
            return;
        }
        let coefficient = std::mem::take(&mut self.entries[at]);
        self.entries = combine(factor, &self.entries, &coefficient, source);
        self.denominator = &self.denominator * factor;
        self.reduce();
    }
}

/// A system of inequalities, feasible as far as it has been examined.
#[derive(Debug, Clone)]
pub(crate) struct Simplex {
    columns: Vec<Name>,
    lines: Vec<Line>,
    variables: usize,
    slacks: usize,
}

/// A rational number as numerator and positive denominator.
pub(crate) type Ratio = (Int, Int);

/// The least value of a form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Minimum {
    /// Attained.
    At(Ratio),
    /// There is none.
    Unbounded,
}

impl Simplex {
    /// No inequality yet.
    pub(crate) fn new(variables: usize) -> Self {
        Simplex { columns: (0..variables).map(Name::Free).collect(), lines: Vec::new(), variables, slacks: 0 }
    }

    /// The system of `rows`, if it has a rational solution.
    pub(crate) fn feasible(
        variables: usize,
        rows: &[Row],
        effort: &Effort,
    ) -> Result<Option<Simplex>, Exhausted> {
        let mut simplex = Simplex::new(variables);
        // Lower bounds of single variables first: exchanging the variable for the slack costs nothing yet.
        let mut bounded = vec![false; variables];
        let mut rest = Vec::with_capacity(rows.len());
        for row in rows {
            match lower_bound(row) {
                Some(v) if !bounded[v] => {
                    bounded[v] = true;
                    simplex.push(row);
                    let line = simplex.lines.len() - 1;
                    simplex.pivot(line, v, effort)?;
                }
                _ => rest.push(row),
            }
        }
        rest.into_iter().for_each(|row| simplex.push(row));
        Ok(simplex.repair(effort)?.then_some(simplex))
    }

    /// Adds `row >= 0`, expressed in the present columns.
    pub(crate) fn push(&mut self, row: &[Int]) {
        let (entries, denominator) = self.express(row);
        let mut line = Line { name: Name::Slack(self.slacks), denominator, entries };
        self.slacks += 1;
        line.reduce();
        self.lines.push(line);
    }

    /// A form over the variables as entries over the present columns and a denominator.
    fn express(&self, row: &[Int]) -> (Row, Int) {
        let mut line = Line {
            name: Name::Free(usize::MAX),
            denominator: Int::ONE,
            entries: vec![Int::ZERO; self.columns.len() + 1],
        };
        line.entries[0] = row[0].clone();
        for (c, name) in self.columns.iter().enumerate() {
            if let Name::Free(v) = name {
                line.entries[c + 1] = row[v + 1].clone();
            }
        }
        for basic in &self.lines {
            let Name::Free(v) = basic.name else { continue };
            if row[v + 1].is_zero() {
                continue;
            }
            let coefficient = &row[v + 1] * &line.denominator;
            line.entries = combine(&basic.denominator, &line.entries, &coefficient, &basic.entries);
            line.denominator = &line.denominator * &basic.denominator;
            line.reduce();
        }
        (line.entries, line.denominator)
    }

    /// Pivots until no slack is negative; `false` if that is impossible.
    pub(crate) fn repair(&mut self, effort: &Effort) -> Result<bool, Exhausted> {
        for pivots in 0_usize.. {
            let violated = (0..self.lines.len()).filter(|&i| {
                matches!(self.lines[i].name, Name::Slack(_)) && self.lines[i].entries[0].is_negative()
            });
            // The worst line first is quick; Bland's order, the first line first, is what makes the loop end.
            let chosen = if pivots < HASTE {
                violated.min_by(|&a, &b| self.lines[a].entries[0].cmp(&self.lines[b].entries[0]))
            } else {
                violated.min_by_key(|&i| self.lines[i].name)
            };
            let Some(line) = chosen else { return Ok(true) };
            let entries = &self.lines[line].entries;
            let entering = (0..self.columns.len())
                .filter(|&c| match self.columns[c] {
                    Name::Free(_) => !entries[c + 1].is_zero(),
                    Name::Slack(_) => entries[c + 1].is_positive(),
                })
                .min_by_key(|&c| self.columns[c]);
            let Some(column) = entering else { return Ok(false) };
            self.pivot(line, column, effort)?;
        }
        Ok(true)
    }

    /// Exchanges the name of a line with that of a column.
    fn pivot(&mut self, line: usize, column: usize, effort: &Effort) -> Result<(), Exhausted> {
        effort.spend(self.lines.len() * (self.columns.len() + 1))?;
        let at = column + 1;
        let pivot = self.lines[line].entries[at].clone();
        // pivot * column = denominator * name - the rest.
        let mut entries: Row = self.lines[line].entries.iter().map(|e| -e).collect();
        entries[at] = self.lines[line].denominator.clone();
        let mut denominator = pivot;
        if denominator.is_negative() {
            denominator = -denominator;
            entries.iter_mut().for_each(|e| *e = -&*e);
        }
        let mut fresh = Line { name: self.columns[column], denominator, entries };
        fresh.reduce();
        for (i, other) in self.lines.iter_mut().enumerate() {
            if i != line {
                other.substitute(at, &fresh.entries, &fresh.denominator);
            }
        }
        self.columns[column] = self.lines[line].name;
        self.lines[line] = fresh;
        Ok(())
    }

    /// The values of the variables at the present vertex.
    pub(crate) fn point(&self) -> Vec<Ratio> {
        let mut out = vec![(Int::ZERO, Int::ONE); self.variables];
        for line in &self.lines {
            if let Name::Free(v) = line.name {
                let g = line.entries[0].gcd(&line.denominator);
                out[v] = (line.entries[0].div_floor(&g), line.denominator.div_floor(&g));
            }
        }
        out
    }

    /// The least value of a form on the feasible set; `enough` may end the search as soon as a value low
    /// enough is seen.
    pub(crate) fn minimum(
        &mut self,
        form: &[Int],
        enough: impl Fn(&Ratio) -> bool,
        effort: &Effort,
    ) -> Result<Minimum, Exhausted> {
        let (entries, denominator) = self.express(form);
        let mut objective = Line { name: Name::Free(usize::MAX), denominator, entries };
        loop {
            let present = (objective.entries[0].clone(), objective.denominator.clone());
            if enough(&present) {
                return Ok(Minimum::At(present));
            }
            let entering = (0..self.columns.len())
                .filter(|&c| match self.columns[c] {
                    Name::Free(_) => !objective.entries[c + 1].is_zero(),
                    Name::Slack(_) => objective.entries[c + 1].is_negative(),
                })
                .min_by_key(|&c| self.columns[c]);
            let Some(column) = entering else { return Ok(Minimum::At(present)) };
            let grows = objective.entries[column + 1].is_negative();
            let Some(line) = self.blocking(column, grows) else { return Ok(Minimum::Unbounded) };
            self.pivot(line, column, effort)?;
            let source = &self.lines[line];
            objective.substitute(column + 1, &source.entries.clone(), &source.denominator.clone());
        }
    }

    /// The slack that reaches 0 first when the column moves up (`grows`) or down.
    fn blocking(&self, column: usize, grows: bool) -> Option<usize> {
        let mut best: Option<(usize, Int, Int)> = None;
        for (i, line) in self.lines.iter().enumerate() {
            let slope = if grows { -&line.entries[column + 1] } else { line.entries[column + 1].clone() };
            if !matches!(line.name, Name::Slack(_)) || !slope.is_positive() {
                continue;
            }
            let value = &line.entries[0];
            let better = match &best {
                None => true,
                Some((b, bv, bs)) => {
                    let (left, right) = (value * bs, bv * &slope);
                    left < right || (left == right && line.name < self.lines[*b].name)
                }
            };
            if better {
                best = Some((i, value.clone(), slope));
            }
        }
        best.map(|(i, _, _)| i)
    }
}

/// The variable of a row `x + c >= 0`.
fn lower_bound(row: &[Int]) -> Option<usize> {
    let mut nonzero = row[1..].iter().enumerate().filter(|(_, c)| !c.is_zero());
    match (nonzero.next(), nonzero.next()) {
        (Some((v, c)), None) if c.is_one() => Some(v),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row;

    #[test]
    fn a_triangle_has_its_corners() {
        let rows = [row(&[0, 1, 0]), row(&[0, 0, 1]), row(&[7, -2, -3])];
        let effort = Effort::ample();
        let mut s = Simplex::feasible(2, &rows, &effort).expect("cheap").expect("feasible");
        let max_x = s.minimum(&row(&[0, -1, 0]), |_| false, &effort);
        assert_eq!(max_x, Ok(Minimum::At((Int::from(-7), Int::from(2)))));
        assert_eq!(
            s.minimum(&row(&[5, 1, 1]), |_| false, &effort),
            Ok(Minimum::At((Int::from(5), Int::ONE)))
        );
    }

    #[test]
    fn contradictions_and_unbounded_forms_are_seen() {
        let effort = Effort::ample();
        let none = Simplex::feasible(1, &[row(&[-3, 2]), row(&[2, -2])], &effort).expect("cheap");
        assert!(none.is_none());
        let mut half = Simplex::feasible(2, &[row(&[-3, 1, -1])], &effort).expect("cheap").expect("feasible");
        assert_eq!(half.minimum(&row(&[0, 1, 0]), |_| false, &effort), Ok(Minimum::Unbounded));
        assert_eq!(
            half.minimum(&row(&[0, 1, -1]), |_| false, &effort),
            Ok(Minimum::At((Int::from(3), Int::ONE)))
        );
    }
}
