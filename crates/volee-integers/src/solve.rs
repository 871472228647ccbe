//! Is there an integer point, and which one.
//!
//! Three stages, each exact, each cheaper than the next:
//! 1. Equations are removed by a unimodular change of variables (Euclid on columns): the remaining variables
//!    range over the whole lattice of their solutions, so "no solution because of divisibility" ends here.
//! 2. The simplex decides the rational relaxation. It may only ever answer "empty"; an integral vertex
//!    answers "here is a point"; a few levels of branch and bound find most others.
//! 3. The Omega test (Pugh 1991) eliminates a variable: exactly where a coefficient is 1, else by the dark
//!    shadow and its splinters. It ends on every input, so branch and bound need not.

use crate::conjunct::Conjunct;
use crate::row::{
    Normal, combine, content, eliminate, negated, normalise_equation, normalise_inequality, value,
};
use crate::simplex::Simplex;
use crate::{Effort, Exhausted, Int, Row};

/// Nodes of branch and bound before the Omega test takes over.
const BRANCHES: usize = 48;

/// A point over all columns, hidden ones included.
pub(crate) fn solve(conjunct: &Conjunct, effort: &Effort) -> Result<Option<Vec<Int>>, Exhausted> {
    if conjunct.empty {
        return Ok(None);
    }
    let system = System {
        variables: conjunct.columns(),
        equations: conjunct.equations.clone(),
        inequalities: conjunct.inequalities.clone(),
    };
    system.solve(effort)
}

/// Whether the lattice of the equations misses the rational polyhedron of the inequalities.
pub(crate) fn is_rationally_empty(conjunct: &Conjunct, effort: &Effort) -> Result<bool, Exhausted> {
    let system = System {
        variables: conjunct.columns(),
        equations: conjunct.equations.clone(),
        inequalities: conjunct.inequalities.clone(),
    };
    effort.spend((system.equations.len() + system.inequalities.len() + 1) * (system.variables + 1))?;
    let Some((lattice, rows)) = Lattice::of(system) else { return Ok(true) };
    let Some(rows) = tidy(rows) else { return Ok(true) };
    Ok(Simplex::feasible(lattice.parameters.len(), &rows, effort)?.is_none())
}

/// All variables alike.
#[derive(Debug, Clone)]
struct System {
    variables: usize,
    equations: Vec<Row>,
    inequalities: Vec<Row>,
}

impl System {
    fn solve(self, effort: &Effort) -> Result<Option<Vec<Int>>, Exhausted> {
        effort.spend((self.equations.len() + self.inequalities.len() + 1) * (self.variables + 1))?;
        let Some((lattice, rows)) = Lattice::of(self) else { return Ok(None) };
        let Some(point) = solve_inequalities(lattice.parameters.len(), rows, effort)? else {
            return Ok(None);
        };
        Ok(Some(lattice.lift(&point)))
    }
}

/// The solutions of the equations as an affine image of free integer parameters.
struct Lattice {
    /// One row per variable, over the columns of the system.
    map: Vec<Row>,
    /// The columns that are still free.
    parameters: Vec<usize>,
    columns: usize,
}

impl Lattice {
    /// The lattice and the inequalities over its parameters; `None` if there is a contradiction.
    fn of(system: System) -> Option<(Lattice, Vec<Row>)> {
        let System { variables, mut equations, mut inequalities } = system;
        let mut map: Vec<Row> = Vec::new();
        let mut free = vec![true; variables + 1];
        if !equations.is_empty() {
            map = (0..variables).map(|v| unit(variables, v)).collect();
        }
        while let Some(mut equation) = equations.pop() {
            match normalise_equation(&mut equation) {
                Normal::Keep => {}
                Normal::True => continue,
                Normal::False => return None,
            }
            let pivot = loop {
                let present: Vec<usize> = (1..=variables).filter(|&c| !equation[c].is_zero()).collect();
                let &pivot = present.iter().min_by_key(|&&c| equation[c].abs())?;
                if equation[pivot].is_unit() {
                    break pivot;
                }
                // More than one column is left, because the content is 1.
                for &column in present.iter().filter(|&&c| c != pivot) {
                    let factor = -&equation[column].div_floor(&equation[pivot]);
                    let rows = std::iter::once(&mut equation).chain(&mut equations).chain(&mut inequalities);
                    for row in rows.chain(&mut map) {
                        if !row[pivot].is_zero() {
                            let product = &factor * &row[pivot];
                            row[column] += &product;
                        }
                    }
                }
            };
            for row in equations.iter_mut().chain(&mut inequalities).chain(&mut map) {
                eliminate(row, &equation, pivot);
            }
            free[pivot] = false;
        }
        let mut rows = Vec::with_capacity(inequalities.len());
        for mut row in inequalities {
            match normalise_inequality(&mut row) {
                Normal::Keep => rows.push(row),
                Normal::True => {}
                Normal::False => return None,
            }
        }
        let parameters: Vec<usize> =
            (1..=variables).filter(|&c| free[c] && rows.iter().any(|r| !r[c].is_zero())).collect();
        for row in &mut rows {
            *row =
                std::iter::once(row[0].clone()).chain(parameters.iter().map(|&c| row[c].clone())).collect();
        }
        Some((Lattice { map, parameters, columns: variables }, rows))
    }

    /// The variables' values from the parameters'; parameters that no inequality mentions are 0.
    fn lift(&self, point: &[Int]) -> Vec<Int> {
        let mut full = vec![Int::ZERO; self.columns];
        for (&column, v) in self.parameters.iter().zip(point) {
            full[column - 1] = v.clone();
        }
        if self.map.is_empty() { full } else { self.map.iter().map(|row| value(row, &full)).collect() }
    }
}

fn unit(variables: usize, v: usize) -> Row {
    let mut row = vec![Int::ZERO; variables + 1];
    row[v + 1] = Int::ONE;
    row
}

/// An integer point of inequalities only.
fn solve_inequalities(
    variables: usize,
    rows: Vec<Row>,
    effort: &Effort,
) -> Result<Option<Vec<Int>>, Exhausted> {
    let Some(rows) = tidy(rows) else { return Ok(None) };
    if rows.is_empty() {
        return Ok(Some(vec![Int::ZERO; variables]));
    }
    if let Some(equation) = opposite_pair(&rows) {
        let system = System { variables, equations: vec![equation], inequalities: rows };
        return system.solve(effort);
    }
    match branch_and_bound(variables, &rows, effort)? {
        Branched::Empty => Ok(None),
        Branched::Point(point) => Ok(Some(point)),
        Branched::GaveUp => omega(variables, &rows, effort),
    }
}

/// Normalised, sorted, without duplicates; `None` if plainly contradictory.
fn tidy(rows: Vec<Row>) -> Option<Vec<Row>> {
    let mut out = Vec::with_capacity(rows.len());
    for mut row in rows {
        match normalise_inequality(&mut row) {
            Normal::Keep => out.push(row),
            Normal::True => {}
            Normal::False => return None,
        }
    }
    out.sort_unstable_by(|a, b| a[1..].cmp(&b[1..]).then_with(|| a[0].cmp(&b[0])));
    out.dedup_by(|b, a| a[1..] == b[1..]);
    Some(out)
}

/// Two inequalities that leave their form one value.
fn opposite_pair(rows: &[Row]) -> Option<Row> {
    for row in rows {
        if row[1..].iter().find(|c| !c.is_zero()).is_some_and(Int::is_negative) {
            continue;
        }
        let opposite = negated(row);
        if let Ok(j) = rows.binary_search_by(|r| r[1..].cmp(&opposite[1..]))
            && !(&row[0] + &rows[j][0]).is_positive()
        {
            // With a negative sum the equation contradicts the other row, which the next round sees.
            return Some(row.clone());
        }
    }
    None
}

enum Branched {
    Empty,
    Point(Vec<Int>),
    GaveUp,
}

fn branch_and_bound(variables: usize, rows: &[Row], effort: &Effort) -> Result<Branched, Exhausted> {
    let Some(root) = Simplex::feasible(variables, rows, effort)? else { return Ok(Branched::Empty) };
    let mut stack = vec![root];
    for _ in 0..BRANCHES {
        let Some(node) = stack.pop() else { return Ok(Branched::Empty) };
        let point = node.point();
        let Some(v) = point.iter().position(|(_, d)| !d.is_one()) else {
            return Ok(Branched::Point(point.into_iter().map(|(n, _)| n).collect()));
        };
        let floor = point[v].0.div_floor(&point[v].1);
        let mut below = unit(variables, v);
        below[v + 1] = Int::MINUS_ONE;
        below[0] = floor.clone();
        let mut above = unit(variables, v);
        above[0] = -&(&floor + &Int::ONE);
        for bound in [below, above] {
            let mut child = node.clone();
            child.push(&bound);
            if child.repair(effort)? {
                stack.push(child);
            }
        }
    }
    Ok(if stack.is_empty() { Branched::Empty } else { Branched::GaveUp })
}

/// Eliminates one variable and puts it back into a point of the rest.
fn omega(variables: usize, rows: &[Row], effort: &Effort) -> Result<Option<Vec<Int>>, Exhausted> {
    let Some(at) =
        (1..=variables).filter(|&c| rows.iter().any(|r| !r[c].is_zero())).min_by_key(|&c| cost(rows, c))
    else {
        return Ok(Some(vec![Int::ZERO; variables]));
    };
    let lower: Vec<&Row> = rows.iter().filter(|r| r[at].is_positive()).collect();
    let upper: Vec<&Row> = rows.iter().filter(|r| r[at].is_negative()).collect();
    effort.spend((lower.len() * upper.len() + rows.len()) * (variables + 1))?;
    let rest: Vec<Row> = rows.iter().filter(|r| r[at].is_zero()).cloned().collect();
    let mut dark = rest;
    let mut exact = true;
    for l in &lower {
        for u in &upper {
            let (a, b) = (&l[at], -&u[at]);
            let mut row = combine(&b, l, a, u);
            let gap = &(a - &Int::ONE) * &(&b - &Int::ONE);
            exact &= gap.is_zero();
            row[0] = &row[0] - &gap;
            dark.push(row);
        }
    }
    if let Some(mut point) = solve_inequalities(variables, dark, effort)? {
        point[at - 1] = between(&lower, &upper, &point, at);
        return Ok(Some(point));
    }
    if exact {
        return Ok(None);
    }
    splinters(variables, rows, at, effort)
}

/// A point outside the dark shadow lies close above some lower bound.
fn splinters(
    variables: usize,
    rows: &[Row],
    at: usize,
    effort: &Effort,
) -> Result<Option<Vec<Int>>, Exhausted> {
    let largest = rows.iter().filter(|r| r[at].is_negative()).map(|r| -&r[at]).max().unwrap_or(Int::ONE);
    for lower in rows.iter().filter(|r| r[at].is_positive()) {
        let a = &lower[at];
        // (a * largest - a - largest) / largest, rounded down.
        let last = (&(&(a * &largest) - a) - &largest).div_floor(&largest);
        let mut i = Int::ZERO;
        while i <= last {
            let mut equation = lower.clone();
            equation[0] = &equation[0] - &i;
            let system = System { variables, equations: vec![equation], inequalities: rows.to_vec() };
            if let Some(point) = system.solve(effort)? {
                return Ok(Some(point));
            }
            i += &Int::ONE;
        }
    }
    Ok(None)
}

/// Exact eliminations first, then the one that adds fewest rows.
fn cost(rows: &[Row], at: usize) -> (bool, isize) {
    let (mut lower, mut upper) = (0_isize, 0_isize);
    let (mut unit_lower, mut unit_upper) = (true, true);
    for c in rows.iter().map(|r| &r[at]) {
        if c.is_positive() {
            lower += 1;
            unit_lower &= c.is_one();
        } else if c.is_negative() {
            upper += 1;
            unit_upper &= c.is_unit();
        }
    }
    (!(unit_lower || unit_upper), lower * upper - lower - upper)
}

/// An integer between all lower and all upper bounds, given the other variables; the caller knows there is
/// one.
fn between(lower: &[&Row], upper: &[&Row], point: &[Int], at: usize) -> Int {
    let rest = |row: &Row| {
        let mut without = row.clone();
        without[at] = Int::ZERO;
        value(&without, point)
    };
    let low = lower.iter().map(|r| (-&rest(r)).div_ceil(&r[at])).max();
    let high = upper.iter().map(|r| rest(r).div_floor(&-&r[at])).min();
    low.or(high).unwrap_or(Int::ZERO)
}

/// The minimum over the integers of a form over all columns, if there is a point at all and a bound.
pub(crate) fn minimise(conjunct: &Conjunct, form: &[Int], effort: &Effort) -> Result<Optimum, Exhausted> {
    let Some(mut point) = solve(conjunct, effort)? else { return Ok(Optimum::Empty) };
    let rows = conjunct.all_inequalities();
    let Some(mut simplex) = Simplex::feasible(conjunct.columns(), &rows, effort)? else {
        return Ok(Optimum::Empty);
    };
    let mut low = match simplex.minimum(form, |_| false, effort)? {
        // Some integer point exists and the constraints are rational: the form is unbounded over the integers
        // too.
        crate::simplex::Minimum::Unbounded => return Ok(Optimum::Unbounded),
        crate::simplex::Minimum::At((n, d)) => n.div_ceil(&d),
    };
    if content(form).is_zero() {
        return Ok(Optimum::At(form[0].clone(), point));
    }
    // Binary search between the rational minimum and the best point so far.
    let mut high = value(form, &point);
    while low < high {
        let middle = (&low + &high).div_floor(&Int::from(2));
        let mut bounded = conjunct.clone();
        let mut bound = negated(form);
        bound[0] += &middle;
        bounded.push_inequality(bound);
        match solve(&bounded, effort)? {
            Some(better) => {
                high = value(form, &better);
                point = better;
            }
            None => low = &middle + &Int::ONE,
        }
    }
    Ok(Optimum::At(high, point))
}

/// The least value of a linear form on a set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Optimum {
    /// The set has no point.
    Empty,
    /// There is no least value.
    Unbounded,
    /// The value and a point where it is taken.
    At(Int, Vec<Int>),
}
