//! Making sets smaller on paper: redundant constraints, equations that inequalities hide, and two conjuncts
//! that are together one.
//!
//! Coalescing follows the idea of isl's (Verdoolaege 2015): build the tightest conjunct that the given
//! constraints, relaxed in parallel, can describe around both, and keep it if it has no other point. Whether
//! it has is decided exactly by subtraction, so there is one rule instead of isl's list of cases.

use crate::row::{complement, content, negated, value};
use crate::simplex::{Minimum, Simplex};
use crate::subtract::covered;
use crate::{Conjunct, Effort, Exhausted, Int, Row};

impl Conjunct {
    /// The same set without constraints that follow from the others, and with hidden equations made explicit.
    /// A conjunct that is empty over the rationals becomes plainly empty.
    ///
    /// # Errors
    /// The work allowed was not enough.
    pub fn reduced(&self, effort: &Effort) -> Result<Conjunct, Exhausted> {
        if self.shape().is_box {
            return Ok(self.clone());
        }
        let mut out = self.clone();
        while !out.empty {
            let Some(mut simplex) = Simplex::feasible(out.columns(), &out.all_inequalities(), effort)? else {
                return Ok(Conjunct::nothing(self.visible));
            };
            let Some(equation) = out.implied_equation(&mut simplex, effort)? else { break };
            out.equations.push(equation);
            out.simplify();
        }
        if out.empty {
            return Ok(out);
        }
        let mut at = out.inequalities.len();
        while at > 0 {
            at -= 1;
            let row = out.inequalities.swap_remove(at);
            if out.implies(&row, effort)? {
                continue;
            }
            out.inequalities.push(row);
            let last = out.inequalities.len() - 1;
            out.inequalities.swap(at, last);
        }
        out.simplify();
        Ok(out)
    }

    /// An inequality whose slack is always less than 1.
    fn implied_equation(&self, simplex: &mut Simplex, effort: &Effort) -> Result<Option<Row>, Exhausted> {
        let point = simplex.point();
        for row in &self.inequalities {
            // A slack of 1 or more at a known point refutes quickly.
            if slack_is_large(row, &point) {
                continue;
            }
            let room = simplex.minimum(&negated(row), |(n, d)| -n >= *d, effort)?;
            if let Minimum::At((n, d)) = room
                && -&n < d
            {
                return Ok(Some(row.clone()));
            }
        }
        Ok(None)
    }

    /// Whether `row >= 0` on all rational points (nearly: any value above -1 will do, since values are
    /// integers).
    pub(crate) fn implies(&self, row: &[Int], effort: &Effort) -> Result<bool, Exhausted> {
        if self.inequalities.iter().any(|r| r[1..] == row[1..] && r[0] <= row[0]) {
            return Ok(true);
        }
        let rows = self.all_inequalities();
        let Some(mut simplex) = Simplex::feasible(self.columns(), &rows, effort)? else { return Ok(true) };
        let low = |(n, d): &(Int, Int)| -n >= *d;
        Ok(match simplex.minimum(row, low, effort)? {
            Minimum::Unbounded => false,
            Minimum::At(value) => !low(&value),
        })
    }

    /// A conjunct that is exactly the union of both, if the constraints at hand can describe one.
    ///
    /// # Errors
    /// The work allowed was not enough.
    pub fn coalesce(&self, other: &Conjunct, effort: &Effort) -> Result<Option<Conjunct>, Exhausted> {
        if covered(self, &[other], effort)? {
            return Ok(Some(other.clone()));
        }
        if covered(other, &[self], effort)? {
            return Ok(Some(self.clone()));
        }
        let hidden_inequality =
            |c: &Conjunct| c.inequalities.iter().any(|r| r[c.visible + 1..].iter().any(|h| !h.is_zero()));
        if hidden_inequality(self) || hidden_inequality(other) {
            return Ok(None);
        }
        let hull = self.hull(other, effort)?;
        Ok(covered(&hull, &[self, other], effort)?.then_some(hull))
    }

    /// The constraints of both that, relaxed in parallel, hold for both; common equations and strides.
    fn hull(&self, other: &Conjunct, effort: &Effort) -> Result<Conjunct, Exhausted> {
        let mut out = Conjunct::universe(self.visible);
        for (from, to) in [(self, other), (other, self)] {
            for row in from.visible_inequalities() {
                if let Some(relaxed) = to.relaxed(&row, effort)? {
                    out.push_inequality(relaxed);
                }
            }
            from.share_strides(to, &mut out, effort)?;
        }
        for row in self.common_equations(other) {
            out.push_equation(row);
        }
        out.simplify();
        Ok(out)
    }

    /// The inequalities over visible columns, equations written as two.
    fn visible_inequalities(&self) -> Vec<Row> {
        let visible = |r: &Row| r[self.visible + 1..].iter().all(Int::is_zero);
        let cut = |r: Row| r[..=self.visible].to_vec();
        self.all_inequalities().into_iter().filter(visible).map(cut).collect()
    }

    /// The row with the least constant added that makes it hold here; `None` if no constant does.
    fn relaxed(&self, row: &[Int], effort: &Effort) -> Result<Option<Row>, Exhausted> {
        let mut wide = row.to_vec();
        wide.resize(self.width(), Int::ZERO);
        let rows = self.all_inequalities();
        let Some(mut simplex) = Simplex::feasible(self.columns(), &rows, effort)? else {
            return Ok(Some(row.to_vec()));
        };
        Ok(match simplex.minimum(&wide, |_| false, effort)? {
            Minimum::Unbounded => None,
            Minimum::At((n, d)) => {
                let mut out = row.to_vec();
                let low = n.div_ceil(&d);
                if low.is_negative() {
                    out[0] = &out[0] - &low;
                }
                Some(out)
            }
        })
    }

    /// Adds to `out` the strides of `self` that hold on `to` as well.
    fn share_strides(&self, to: &Conjunct, out: &mut Conjunct, effort: &Effort) -> Result<(), Exhausted> {
        for row in &self.equations {
            let Some(g) = row[self.visible + 1..].iter().find(|c| !c.is_zero()).map(Int::abs) else {
                continue;
            };
            let mut form = row[..=self.visible].to_vec();
            let mut outside = to.clone();
            let h = outside.add_hidden(1);
            let mut remainder = form.clone();
            remainder.resize(outside.width(), Int::ZERO);
            remainder[h] = -&g;
            let mut upper = negated(&remainder);
            upper[0] += &(&g - &Int::ONE);
            outside.push_inequality(upper);
            outside.push_inequality(complement(&negated(&remainder)));
            if outside.is_empty(effort)? {
                let h = out.add_hidden(1);
                form.resize(out.width(), Int::ZERO);
                form[h] = -g;
                out.push_equation(form);
            }
        }
        Ok(())
    }

    /// Equations over visible columns that hold on both affine hulls, as far as the explicit equations tell.
    fn common_equations(&self, other: &Conjunct) -> Vec<Row> {
        let plain = |c: &Conjunct| -> Vec<Row> {
            let visible = c.visible;
            let mut rows: Vec<Row> = c
                .equations
                .iter()
                .filter(|r| r[visible + 1..].iter().all(Int::is_zero))
                .map(|r| r[..=visible].to_vec())
                .collect();
            echelon(&mut rows);
            rows
        };
        meet(&plain(self), &plain(other))
    }
}

fn slack_is_large(row: &[Int], point: &[(Int, Int)]) -> bool {
    // Only integral points are worth the arithmetic here.
    if point.iter().any(|(_, d)| !d.is_one()) {
        return false;
    }
    let whole: Vec<Int> = point.iter().map(|(n, _)| n.clone()).collect();
    value(row, &whole).is_positive()
}

/// Row echelon form over the rationals, rows kept integral.
fn echelon(rows: &mut Vec<Row>) {
    let width = rows.first().map_or(0, Vec::len);
    let mut done = 0;
    // The constant is the last column of the elimination order.
    for column in (1..width).chain([0]) {
        let Some(at) = (done..rows.len()).find(|&i| !rows[i][column].is_zero()) else { continue };
        rows.swap(done, at);
        let pivot = rows[done].clone();
        for (i, row) in rows.iter_mut().enumerate() {
            if i != done {
                crate::row::eliminate(row, &pivot, column);
                shrink(row);
            }
        }
        done += 1;
    }
    rows.truncate(done);
}

fn shrink(row: &mut Row) {
    let g = content(row).gcd(&row[0]);
    if !g.is_zero() && !g.is_one() {
        row.iter_mut().for_each(|c| *c = c.div_floor(&g));
    }
}

/// The intersection of two row spaces (Zassenhaus): rows `[a | a]` over rows `[b | 0]`, reduced; what is left
/// with a zero first half is in both.
fn meet(a: &[Row], b: &[Row]) -> Vec<Row> {
    let Some(width) = a.first().or(b.first()).map(Vec::len) else { return Vec::new() };
    if a.is_empty() || b.is_empty() {
        return Vec::new();
    }
    let zero = vec![Int::ZERO; width];
    let mut rows: Vec<Row> = a.iter().map(|r| [r.as_slice(), r].concat()).collect();
    rows.extend(b.iter().map(|r| [r.as_slice(), &zero].concat()));
    let mut done = 0;
    for column in 0..width {
        let Some(at) = (done..rows.len()).find(|&i| !rows[i][column].is_zero()) else { continue };
        rows.swap(done, at);
        let pivot = rows[done].clone();
        for row in &mut rows[done + 1..] {
            crate::row::eliminate(row, &pivot, column);
            shrink(row);
        }
        done += 1;
    }
    rows[done..].iter().map(|r| r[width..].to_vec()).filter(|r| r.iter().any(|c| !c.is_zero())).collect()
}
