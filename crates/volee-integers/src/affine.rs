//! Affine maps on integer vectors, images and preimages of conjuncts under them, and the iteration of a
//! translation.
//!
//! Boigelot & Wolper (1994, section 3.2) iterate `T x <= u -> x := A x + b` when `A² = A`. We use the
//! slightly more general observation behind it: if `A^(p+1) = A^p`, then after `p` applications every further
//! one adds the same vector `A^p b`. So iteration is `p` plain images followed by [`Conjunct::translated`],
//! which by convexity checks the guard only at the first and at the last application.

use crate::row::value;
use crate::{Conjunct, Int, Row};

/// An affine map of a space to itself. Components that do not change are not stored.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Affine {
    rows: Vec<Option<Row>>,
}

impl Affine {
    /// The identity.
    pub fn identity(dimension: usize) -> Self {
        Affine { rows: vec![None; dimension] }
    }

    /// Lets component `at` of the result be `row` of the argument.
    pub fn set(&mut self, at: usize, row: Row) {
        debug_assert_eq!(row.len(), self.rows.len() + 1);
        let unchanged =
            row.iter().enumerate().all(|(i, c)| if i == at + 1 { c.is_one() } else { c.is_zero() });
        self.rows[at] = (!unchanged).then_some(row);
    }

    /// The dimension of the space.
    pub fn dimension(&self) -> usize {
        self.rows.len()
    }

    /// Component `at` of the result, if it differs from the argument's.
    pub fn component(&self, at: usize) -> Option<&Row> {
        self.rows[at].as_ref()
    }

    fn full(&self, at: usize) -> Row {
        self.rows[at].clone().unwrap_or_else(|| {
            let mut row = vec![Int::ZERO; self.rows.len() + 1];
            row[at + 1] = Int::ONE;
            row
        })
    }

    /// The form `row` of the result as a form of the argument.
    pub fn pull(&self, row: &[Int]) -> Row {
        let n = self.rows.len();
        let mut out = row.to_vec();
        for (i, changed) in self.rows.iter().enumerate() {
            let Some(changed) = changed else { continue };
            let c = row[i + 1].clone();
            if c.is_zero() {
                continue;
            }
            out[i + 1] = &out[i + 1] - &c;
            for (o, r) in out[..=n].iter_mut().zip(changed) {
                if !r.is_zero() {
                    *o += &(&c * r);
                }
            }
        }
        out
    }

    /// First `self`, then `next`.
    #[must_use]
    pub fn then(&self, next: &Affine) -> Affine {
        let mut out = Affine::identity(self.dimension());
        for i in 0..self.dimension() {
            out.set(i, self.pull(&next.full(i)));
        }
        out
    }

    /// The image of one vector.
    pub fn apply(&self, point: &[Int]) -> Vec<Int> {
        let component = |(i, row): (usize, &Option<Row>)| match row {
            Some(row) => value(row, point),
            None => point[i].clone(),
        };
        self.rows.iter().enumerate().map(component).collect()
    }

    /// The map without its constants.
    fn linear(&self) -> Affine {
        let mut out = self.clone();
        for row in out.rows.iter_mut().flatten() {
            row[0] = Int::ZERO;
        }
        for i in 0..out.rows.len() {
            if let Some(row) = out.rows[i].take() {
                out.set(i, row);
            }
        }
        out
    }

    /// The least `p <= limit` after which iteration is a translation, and the vector that each further
    /// application then adds.
    pub fn translation(&self, limit: usize) -> Option<(usize, Vec<Int>)> {
        let linear = self.linear();
        let mut power = Affine::identity(self.dimension());
        for p in 0..=limit {
            let next = power.then(&linear);
            if next == power {
                let constants: Vec<Int> =
                    self.rows.iter().map(|r| r.as_ref().map_or(Int::ZERO, |r| r[0].clone())).collect();
                return Some((p, power.apply(&constants)));
            }
            power = next;
        }
        None
    }

    /// The image of a conjunct.
    pub fn image(&self, of: &Conjunct) -> Conjunct {
        let changed: Vec<usize> = (0..self.dimension()).filter(|&i| self.rows[i].is_some()).collect();
        let mut out = of.clone();
        let first = out.add_hidden(changed.len());
        for row in out.equations.iter_mut().chain(&mut out.inequalities) {
            for (k, &i) in changed.iter().enumerate() {
                row.swap(i + 1, first + k);
            }
        }
        for &i in &changed {
            let Some(form) = &self.rows[i] else { continue };
            let mut row = form.clone();
            row.resize(out.width(), Int::ZERO);
            for (k, &j) in changed.iter().enumerate() {
                row.swap(j + 1, first + k);
            }
            row[i + 1] = &row[i + 1] - &Int::ONE;
            out.push_equation(row);
        }
        out.simplify();
        out
    }

    /// The vectors whose image is in the conjunct.
    pub fn preimage(&self, of: &Conjunct) -> Conjunct {
        let mut out = of.clone();
        out.touched();
        let width = self.dimension() + 1;
        for row in out.equations.iter_mut().chain(&mut out.inequalities) {
            let pulled = self.pull(&row[..width]);
            row[..width].clone_from_slice(&pulled);
        }
        out.simplify();
        out
    }
}

impl Conjunct {
    /// `{ y + j v : y in self, j >= 1, guard(y), guard(y + (j - 1) v) }`: one or more translations by
    /// `vector`, each from a vector where the inequalities of `guard` hold.
    #[must_use]
    pub fn translated(&self, vector: &[Int], guard: &[Row]) -> Conjunct {
        let mut out = self.clone();
        for row in guard {
            out.push_inequality(row.clone());
        }
        let j = out.add_hidden(1);
        // Old y = new y - j v, in every constraint so far.
        for row in out.equations.iter_mut().chain(&mut out.inequalities) {
            for (i, v) in vector.iter().enumerate() {
                if !v.is_zero() && !row[i + 1].is_zero() {
                    let product = &row[i + 1] * v;
                    row[j] = &row[j] - &product;
                }
            }
        }
        let mut positive = vec![Int::ZERO; out.width()];
        positive[0] = Int::MINUS_ONE;
        positive[j] = Int::ONE;
        out.push_inequality(positive);
        for row in guard {
            let before = shifted(row, vector, &Int::MINUS_ONE);
            out.push_inequality(before);
        }
        out.simplify();
        out
    }

    /// The vectors from which one or more guarded translations lead into this set: the inverse of
    /// [`Conjunct::translated`].
    #[must_use]
    pub fn translated_back(&self, vector: &[Int], guard: &[Row]) -> Conjunct {
        let back: Vec<Int> = vector.iter().map(|v| -v).collect();
        let moved: Vec<Row> = guard.iter().map(|row| shifted(row, vector, &Int::MINUS_ONE)).collect();
        self.translated(&back, &moved)
    }
}

/// The form at `x + times * vector`.
fn shifted(row: &[Int], vector: &[Int], times: &Int) -> Row {
    let mut out = row.to_vec();
    for (c, v) in row[1..].iter().zip(vector) {
        if !c.is_zero() && !v.is_zero() {
            out[0] += &(&(c * v) * times);
        }
    }
    out
}
