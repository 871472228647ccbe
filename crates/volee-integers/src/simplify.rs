//! Cheap normalisation of a conjunct: no search, no linear programming, and the set never changes.
//!
//! * Equations are solved for hidden columns (unit coefficients by substitution, others by Euclid's algorithm
//!   on columns, which is the Hermite form built row by row). What remains hidden in an equation is a
//!   *stride* `g h + a(x) = 0`, and `h` occurs nowhere else.
//! * Inequalities are divided by their content with the constant rounded down, tightened by the strides,
//!   sorted, and an opposite pair that leaves no room becomes an equation.
//! * Hidden columns that occur in inequalities only are projected away while that is exact and does not grow
//!   the system (Fourier–Motzkin in the cases where the Omega test of Pugh (1991) calls it exact).
//!
//! The result has sorted rows, so equal systems mostly become equal as written.

use crate::row::{Normal, combine, eliminate, negated, normalise_equation, normalise_inequality};
use crate::{Conjunct, Int, Row};

/// The hidden column's bounds in the inequalities.
pub(crate) struct Sides {
    pub(crate) lower: Vec<usize>,
    pub(crate) upper: Vec<usize>,
}

impl Conjunct {
    /// Brings the conjunct into the form described at the head of this file.
    pub(crate) fn simplify(&mut self) {
        self.touched();
        if !self.empty && self.simplify_rows().is_none() {
            self.empty = true;
        }
        if self.empty {
            *self = Conjunct::nothing(self.visible);
        }
    }

    /// `None`: a contradiction.
    fn simplify_rows(&mut self) -> Option<()> {
        loop {
            self.normalise_equations()?;
            self.solve_equations()?;
            let found_equation = self.normalise_inequalities()?;
            if found_equation {
                continue;
            }
            if !self.project_hidden() {
                break;
            }
        }
        self.compact();
        Some(())
    }

    fn normalise_equations(&mut self) -> Option<()> {
        let mut kept = Vec::with_capacity(self.equations.len());
        for mut row in self.equations.drain(..) {
            match normalise_equation(&mut row) {
                Normal::Keep => kept.push(row),
                Normal::True => {}
                Normal::False => return None,
            }
        }
        self.equations = kept;
        Some(())
    }

    /// Solves the equations one by one, hidden columns first.
    fn solve_equations(&mut self) -> Option<()> {
        let mut strides: Vec<Row> = Vec::new();
        let mut plain: Vec<Row> = Vec::new();
        while let Some(at) = self.best_equation() {
            let mut row = self.equations.swap_remove(at);
            match normalise_equation(&mut row) {
                Normal::Keep => {}
                Normal::True => continue,
                Normal::False => return None,
            }
            self.gather_hidden(&mut row, &mut strides);
            let hidden =
                (self.visible + 1..row.len()).filter(|&c| !row[c].is_zero()).min_by_key(|&c| row[c].abs());
            let pivot = hidden.unwrap_or_else(|| pivot_column(&row));
            for other in
                self.equations.iter_mut().chain(&mut strides).chain(&mut plain).chain(&mut self.inequalities)
            {
                eliminate(other, &row, pivot);
            }
            match hidden {
                // The hidden column is an integer combination of the others: it may be forgotten.
                Some(h) if row[h].is_unit() => {}
                Some(_) => strides.push(row),
                None => plain.push(row),
            }
        }
        for mut row in strides {
            match normalise_equation(&mut row) {
                Normal::Keep => {}
                Normal::True => continue,
                Normal::False => return None,
            }
            let h = self.visible + 1 + row[self.visible + 1..].iter().position(|c| !c.is_zero())?;
            if !row[h].is_unit() && reduce_stride(&mut row, h)? {
                self.equations.push(row);
            }
        }
        for mut row in plain {
            match normalise_equation(&mut row) {
                Normal::Keep => self.equations.push(row),
                Normal::True => {}
                Normal::False => return None,
            }
        }
        self.equations.sort_unstable();
        let visible = self.visible;
        self.equations.dedup_by(|a, b| same_stride(a, b, visible));
        Some(())
    }

    /// An equation with a hidden column of coefficient ±1 if there is one, else with any hidden column.
    fn best_equation(&self) -> Option<usize> {
        let score = |row: &Row| {
            let hidden = &row[self.visible + 1..];
            if hidden.iter().any(Int::is_unit) {
                0
            } else if hidden.iter().any(|c| !c.is_zero()) {
                1
            } else {
                2
            }
        };
        (0..self.equations.len()).min_by_key(|&i| score(&self.equations[i]))
    }

    /// Euclid's algorithm on the hidden columns of `row`: afterwards at most one of them is in it. Column
    /// operations are applied to all other rows, `strides` included.
    fn gather_hidden(&mut self, row: &mut Row, strides: &mut [Row]) {
        loop {
            let present: Vec<usize> = (self.visible + 1..row.len()).filter(|&c| !row[c].is_zero()).collect();
            let Some(&pivot) = present.iter().min_by_key(|&&c| row[c].abs()) else { return };
            if present.len() == 1 || row[pivot].is_unit() {
                return;
            }
            for &column in present.iter().filter(|&&c| c != pivot) {
                let factor = -&row[column].div_floor(&row[pivot]);
                add_column(row, column, pivot, &factor);
                for other in self.equations.iter_mut().chain(&mut self.inequalities).chain(strides.iter_mut())
                {
                    add_column(other, column, pivot, &factor);
                }
            }
        }
    }

    /// Normalises, tightens, sorts and merges; `Some(true)` if an equation was found.
    fn normalise_inequalities(&mut self) -> Option<bool> {
        let strides: Vec<Row> = self
            .equations
            .iter()
            .filter(|e| e[self.visible + 1..].iter().any(|c| !c.is_zero()))
            .cloned()
            .collect();
        let mut rows = Vec::with_capacity(self.inequalities.len());
        for mut row in self.inequalities.drain(..) {
            match normalise_inequality(&mut row) {
                Normal::Keep => {
                    strides.iter().for_each(|s| tighten(&mut row, s, self.visible));
                    rows.push(row);
                }
                Normal::True => {}
                Normal::False => return None,
            }
        }
        // Among rows with the same coefficients the smallest constant is the tightest; it sorts first.
        rows.sort_unstable_by(|a, b| a[1..].cmp(&b[1..]).then_with(|| a[0].cmp(&b[0])));
        rows.dedup_by(|b, a| a[1..] == b[1..]);
        let mut equations = Vec::new();
        let mut pinned = vec![false; rows.len()];
        for i in 0..rows.len() {
            if !leading_is_positive(&rows[i]) {
                continue;
            }
            let opposite = negated(&rows[i]);
            let Ok(j) = rows.binary_search_by(|r| r[1..].cmp(&opposite[1..])) else { continue };
            let room = &rows[i][0] + &rows[j][0];
            if room.is_negative() {
                return None;
            }
            if room.is_zero() {
                equations.push(rows[i].clone());
                pinned[i] = true;
                pinned[j] = true;
            }
        }
        let found = !equations.is_empty();
        let mut at = 0;
        rows.retain(|_| {
            at += 1;
            !pinned[at - 1]
        });
        self.inequalities = rows;
        self.equations.extend(equations);
        Some(found)
    }

    /// Projects away one hidden column that occurs in inequalities only, if that is exact and cheap.
    fn project_hidden(&mut self) -> bool {
        for column in self.visible + 1..self.width() {
            if self.equations.iter().any(|e| !e[column].is_zero()) {
                continue;
            }
            let sides = self.sides(column);
            let (l, u) = (sides.lower.len(), sides.upper.len());
            if l + u == 0 || l * u > 2 * (l + u) + 12 {
                continue;
            }
            if let Some(shadow) = self.exact_shadow(column, &sides) {
                self.replace_sides(column, shadow);
                return true;
            }
        }
        false
    }

    pub(crate) fn sides(&self, column: usize) -> Sides {
        let rows = || self.inequalities.iter().enumerate();
        Sides {
            lower: rows().filter(|(_, r)| r[column].is_positive()).map(|(i, _)| i).collect(),
            upper: rows().filter(|(_, r)| r[column].is_negative()).map(|(i, _)| i).collect(),
        }
    }

    /// The rows that replace those with the column, if the projection is exact over the integers.
    pub(crate) fn exact_shadow(&self, column: usize, sides: &Sides) -> Option<Vec<Row>> {
        let mut shadow = Vec::new();
        for &l in &sides.lower {
            for &u in &sides.upper {
                let (lower, upper) = (&self.inequalities[l], &self.inequalities[u]);
                let a = &lower[column];
                let b = -&upper[column];
                let row = combine(&b, lower, a, upper);
                if !a.is_one() && !b.is_one() {
                    let dark = &(a - &Int::ONE) * &(&b - &Int::ONE);
                    let constant = row[1..].iter().all(Int::is_zero);
                    if !constant || row[0] < dark {
                        return None;
                    }
                }
                shadow.push(row);
            }
        }
        Some(shadow)
    }

    /// Drops the inequalities with the column and adds others.
    pub(crate) fn replace_sides(&mut self, column: usize, rows: Vec<Row>) {
        self.inequalities.retain(|r| r[column].is_zero());
        self.inequalities.extend(rows);
    }

    /// Removes hidden columns that no row uses.
    fn compact(&mut self) {
        let used: Vec<usize> = (self.visible + 1..self.width())
            .filter(|&c| self.equations.iter().chain(&self.inequalities).any(|r| !r[c].is_zero()))
            .collect();
        if used.len() == self.hidden {
            return;
        }
        for row in self.equations.iter_mut().chain(&mut self.inequalities) {
            for (to, &from) in used.iter().enumerate() {
                row.swap(self.visible + 1 + to, from);
            }
            row.truncate(self.visible + 1 + used.len());
        }
        self.hidden = used.len();
    }
}

fn leading_is_positive(row: &[Int]) -> bool {
    row[1..].iter().find(|c| !c.is_zero()).is_some_and(Int::is_positive)
}

fn pivot_column(row: &[Int]) -> usize {
    let unit = (1..row.len()).rev().find(|&c| row[c].is_unit());
    unit.or_else(|| (1..row.len()).filter(|&c| !row[c].is_zero()).min_by_key(|&c| row[c].abs())).unwrap_or(1)
}

fn add_column(row: &mut [Int], to: usize, from: usize, factor: &Int) {
    if !row[from].is_zero() {
        let product = factor * &row[from];
        row[to] += &product;
    }
}

/// Brings `g h + a(x) = 0` into a canonical form modulo `g`. `None`: no solution; `Some(false)`: always true.
fn reduce_stride(row: &mut Row, h: usize) -> Option<bool> {
    let g = row[h].abs();
    let mut scale = Int::ONE;
    if let Some(lead) = row[1..h].iter().map(|c| c.mod_floor(&g)).find(|c| !c.is_zero())
        && let Some(inverse) = inverse_modulo(&lead, &g)
    {
        scale = inverse;
    }
    for (i, c) in row.iter_mut().enumerate() {
        if i != h {
            *c = (&*c * &scale).mod_floor(&g);
        }
    }
    row[h] = -&g;
    if row[1..h].iter().all(Int::is_zero) {
        return row[0].is_zero().then_some(false);
    }
    Some(true)
}

fn inverse_modulo(a: &Int, m: &Int) -> Option<Int> {
    let (mut r0, mut r1) = (m.clone(), a.mod_floor(m));
    let (mut t0, mut t1) = (Int::ZERO, Int::ONE);
    while !r1.is_zero() {
        let q = r0.div_floor(&r1);
        (r0, r1) = (r1.clone(), &r0 - &(&q * &r1));
        (t0, t1) = (t1.clone(), &t0 - &(&q * &t1));
    }
    r0.is_one().then(|| t0.mod_floor(m))
}

/// Two strides that differ only in the name of their hidden column.
fn same_stride(a: &Row, b: &Row, visible: usize) -> bool {
    let hidden = |r: &Row| r[visible + 1..].iter().find(|c| !c.is_zero()).cloned();
    a[..=visible] == b[..=visible] && hidden(a).is_some() && hidden(a) == hidden(b)
}

/// Rounds the constant of an inequality down to the next value that its form can take under the stride, where
/// the form is plus or minus the stride's own.
fn tighten(row: &mut Row, stride: &Row, visible: usize) {
    let Some(g) = stride[visible + 1..].iter().find(|c| !c.is_zero()).map(Int::abs) else { return };
    if row[visible + 1..].iter().any(|c| !c.is_zero()) {
        return;
    }
    for sign in [Int::ONE, Int::MINUS_ONE] {
        let same = (1..=visible).all(|c| g.divides(&(&row[c] - &(&sign * &stride[c]))));
        if same {
            // row's form = sign * stride's form = -sign * stride[0] modulo g.
            let excess = (&row[0] - &(&sign * &stride[0])).mod_floor(&g);
            row[0] = &row[0] - &excess;
            return;
        }
    }
}
