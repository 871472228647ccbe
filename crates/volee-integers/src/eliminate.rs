//! Elimination of hidden columns from inequalities, at the price of more conjuncts.
//!
//! Hidden columns that simplification cannot remove pile up when images are taken of images. The Omega test
//! (Pugh 1991) removes them exactly: the dark shadow and, where that is not everything, splinters. Before
//! splitting, the simplex is asked whether the gap between the real and the dark shadow can be entered at
//! all; mostly it cannot.

use crate::row::{combine, complement};
use crate::{Conjunct, Effort, Exhausted, Int, Row};

impl Conjunct {
    /// Conjuncts with the same points together whose hidden columns occur in strides only; `None` if that
    /// takes more than `limit` conjuncts.
    ///
    /// # Errors
    /// The work allowed was not enough.
    pub fn strides_only(&self, limit: usize, effort: &Effort) -> Result<Option<Vec<Conjunct>>, Exhausted> {
        let mut out: Vec<Conjunct> = Vec::new();
        let mut work = vec![self.clone()];
        while let Some(piece) = work.pop() {
            if out.len() + work.len() > limit {
                return Ok(None);
            }
            effort.spend((piece.size() + 1) * piece.width())?;
            let Some(column) = piece.column_to_eliminate() else {
                if !out.contains(&piece) {
                    out.push(piece);
                }
                continue;
            };
            for part in piece.eliminate_column(column, limit, effort)? {
                let part = part.reduced(effort)?;
                if !part.empty && !part.is_empty(effort)? {
                    work.push(part);
                }
            }
        }
        Ok(Some(out))
    }

    /// A hidden column in inequalities; the one with the smallest coefficients.
    fn column_to_eliminate(&self) -> Option<usize> {
        (self.visible + 1..self.width())
            .filter(|&c| self.inequalities.iter().any(|r| !r[c].is_zero()))
            .min_by_key(|&c| {
                let sides = self.sides(c);
                let largest = |rows: &[usize]| rows.iter().map(|&i| self.inequalities[i][c].abs()).max();
                let (lower, upper) = (largest(&sides.lower), largest(&sides.upper));
                (lower.min(upper), sides.lower.len() * sides.upper.len())
            })
    }

    /// Conjuncts without the column; more than `limit` splinters count as too hard.
    fn eliminate_column(
        &self,
        column: usize,
        limit: usize,
        effort: &Effort,
    ) -> Result<Vec<Conjunct>, Exhausted> {
        let sides = self.sides(column);
        if let Some(shadow) = self.exact_shadow(column, &sides) {
            return Ok(vec![self.with_shadow(column, shadow)]);
        }
        let mut real: Vec<Row> = Vec::new();
        let mut dark: Vec<Row> = Vec::new();
        for &l in &sides.lower {
            for &u in &sides.upper {
                let (lower, upper) = (&self.inequalities[l], &self.inequalities[u]);
                let (a, b) = (&lower[column], -&upper[column]);
                let row = combine(&b, lower, a, upper);
                let mut darker = row.clone();
                darker[0] = &darker[0] - &(&(a - &Int::ONE) * &(&b - &Int::ONE));
                real.push(row);
                dark.push(darker);
            }
        }
        let shadow = self.with_shadow(column, real);
        if shadow.empty || self.gap_is_empty(column, &sides, &dark, effort)? {
            return Ok(vec![shadow]);
        }
        let mut out = vec![self.with_shadow(column, dark)];
        let rows = &self.inequalities;
        let largest = sides.upper.iter().map(|&u| -&rows[u][column]).max().unwrap_or(Int::ONE);
        for &l in &sides.lower {
            let a = &rows[l][column];
            let last = (&(&(a * &largest) - a) - &largest).div_floor(&largest);
            let mut i = Int::ZERO;
            while i <= last {
                effort.spend(rows.len() * self.width())?;
                let mut equation = rows[l].clone();
                equation[0] = &equation[0] - &i;
                let mut splinter = self.clone();
                splinter.push_equation(equation);
                splinter.simplify();
                out.push(splinter);
                if out.len() > 4 * limit + 8 {
                    return Err(Exhausted);
                }
                i += &Int::ONE;
            }
        }
        Ok(out)
    }

    /// Whether no point of the real shadow violates a dark constraint, so that the real shadow is exact.
    fn gap_is_empty(
        &self,
        column: usize,
        sides: &crate::simplify::Sides,
        dark: &[Row],
        effort: &Effort,
    ) -> Result<bool, Exhausted> {
        let mut base = self.clone();
        let mut real = Vec::new();
        for &l in &sides.lower {
            for &u in &sides.upper {
                let (lower, upper) = (&self.inequalities[l], &self.inequalities[u]);
                real.push(combine(&-&upper[column], lower, &lower[column], upper));
            }
        }
        base.replace_sides(column, real);
        base.touched();
        for row in dark {
            let mut gap = base.clone();
            gap.push_inequality(complement(row));
            if !gap.is_empty(effort)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn with_shadow(&self, column: usize, shadow: Vec<Row>) -> Conjunct {
        let mut out = self.clone();
        out.replace_sides(column, shadow);
        out.simplify();
        out
    }
}
