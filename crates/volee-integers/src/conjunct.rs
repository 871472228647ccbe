//! A conjunct: the integer points of one system of linear equations and inequalities, seen through the
//! projection on its visible columns. This is the periodic vector set of Boigelot & Wolper (1994, definition
//! 1): their periodicity vectors are our hidden (existential) columns.

use std::cell::OnceCell;
use std::rc::Rc;

use crate::determine::Determined;
use crate::row::{negated, value};
use crate::{Effort, Exhausted, Int, Row};

/// The set of integer vectors `x` for which some integer vector `h` satisfies all constraints on `(x, h)`.
#[derive(Clone)]
pub struct Conjunct {
    pub(crate) visible: usize,
    pub(crate) hidden: usize,
    pub(crate) equations: Vec<Row>,
    pub(crate) inequalities: Vec<Row>,
    /// Simplification found a contradiction.
    pub(crate) empty: bool,
    /// The form used by subtraction, computed when first needed.
    pub(crate) determined: OnceCell<Rc<Vec<Determined>>>,
    /// The interval of each variable, computed when first needed.
    shape: OnceCell<Rc<Shape>>,
}

/// What single constraints tell of a conjunct.
pub(crate) struct Shape {
    pub(crate) bounds: Vec<Bounds>,
    /// The bounds are all there is: the conjunct is the box, and not empty.
    pub(crate) is_box: bool,
}

/// The interval of one variable as far as single constraints tell: `None` is no bound.
pub(crate) type Bounds = (Option<Int>, Option<Int>);

impl Conjunct {
    /// All vectors of the dimension.
    pub fn universe(dimension: usize) -> Self {
        Conjunct {
            visible: dimension,
            hidden: 0,
            equations: Vec::new(),
            inequalities: Vec::new(),
            empty: false,
            determined: OnceCell::new(),
            shape: OnceCell::new(),
        }
    }

    /// The single vector.
    pub fn point(coordinates: &[Int]) -> Self {
        let mut out = Conjunct::universe(coordinates.len());
        for (i, c) in coordinates.iter().enumerate() {
            let mut row = vec![Int::ZERO; coordinates.len() + 1];
            row[0] = -c;
            row[i + 1] = Int::ONE;
            out.equations.push(row);
        }
        out
    }

    /// The vectors that satisfy the constraints: `equations` are rows that must be 0, `inequalities` rows
    /// that must not be negative. Rows have the constant first, then `dimension` coefficients, then one per
    /// hidden column, as many as the longest row has.
    pub fn new(dimension: usize, equations: Vec<Row>, inequalities: Vec<Row>) -> Self {
        let width = equations.iter().chain(&inequalities).map(Vec::len).max().unwrap_or(0).max(dimension + 1);
        let widen = |mut rows: Vec<Row>| {
            rows.iter_mut().for_each(|r| r.resize(width, Int::ZERO));
            rows
        };
        let mut out = Conjunct {
            visible: dimension,
            hidden: width - 1 - dimension,
            equations: widen(equations),
            inequalities: widen(inequalities),
            empty: false,
            determined: OnceCell::new(),
            shape: OnceCell::new(),
        };
        out.simplify();
        out
    }

    /// The number of visible columns.
    pub fn dimension(&self) -> usize {
        self.visible
    }

    /// The number of hidden columns.
    pub fn hidden(&self) -> usize {
        self.hidden
    }

    /// The equations, each a row that is 0.
    pub fn equations(&self) -> &[Row] {
        &self.equations
    }

    /// The inequalities, each a row that is not negative.
    pub fn inequalities(&self) -> &[Row] {
        &self.inequalities
    }

    /// The number of constraints.
    pub fn size(&self) -> usize {
        self.equations.len() + self.inequalities.len()
    }

    /// Forgets what was computed from the constraints.
    pub(crate) fn touched(&mut self) {
        self.determined = OnceCell::new();
        self.shape = OnceCell::new();
    }

    pub(crate) fn columns(&self) -> usize {
        self.visible + self.hidden
    }

    pub(crate) fn width(&self) -> usize {
        self.columns() + 1
    }

    pub(crate) fn nothing(dimension: usize) -> Self {
        Conjunct { empty: true, ..Conjunct::universe(dimension) }
    }

    /// Whether simplification alone already saw that there is no point. `false` means nothing.
    pub fn is_plainly_empty(&self) -> bool {
        self.empty
    }

    /// Adds `count` hidden columns and gives the index of the first in a row.
    pub(crate) fn add_hidden(&mut self, count: usize) -> usize {
        let first = self.width();
        self.hidden += count;
        let width = self.width();
        for row in self.equations.iter_mut().chain(&mut self.inequalities) {
            row.resize(width, Int::ZERO);
        }
        self.touched();
        first
    }

    /// Adds the constraint that the row is not negative, without simplifying.
    pub(crate) fn push_inequality(&mut self, mut row: Row) {
        row.resize(self.width(), Int::ZERO);
        self.inequalities.push(row);
        self.touched();
    }

    /// Adds the constraint that the row is 0, without simplifying.
    pub(crate) fn push_equation(&mut self, mut row: Row) {
        row.resize(self.width(), Int::ZERO);
        self.equations.push(row);
        self.touched();
    }

    /// The same set with more constraints over the visible columns.
    #[must_use]
    pub fn with(&self, equations: &[Row], inequalities: &[Row]) -> Conjunct {
        let mut out = self.clone();
        equations.iter().for_each(|r| out.push_equation(r.clone()));
        inequalities.iter().for_each(|r| out.push_inequality(r.clone()));
        out.simplify();
        out
    }

    /// The points in both; the dimensions must be equal.
    #[must_use]
    pub fn intersect(&self, other: &Conjunct) -> Conjunct {
        let mut out = self.clone();
        out.empty |= other.empty;
        out.append(other);
        out.simplify();
        out
    }

    /// Adds the constraints of `other`, its hidden columns after ours.
    pub(crate) fn append(&mut self, other: &Conjunct) {
        debug_assert_eq!(self.visible, other.visible);
        let first = self.add_hidden(other.hidden);
        for r in &other.equations {
            let moved = self.moved(r, first);
            self.equations.push(moved);
        }
        for r in &other.inequalities {
            let moved = self.moved(r, first);
            self.inequalities.push(moved);
        }
    }

    /// A row of a conjunct of the same dimension whose hidden columns are placed at `first`.
    pub(crate) fn moved(&self, row: &[Int], first: usize) -> Row {
        let mut out = vec![Int::ZERO; self.width()];
        out[..=self.visible].clone_from_slice(&row[..=self.visible]);
        out[first..first + row.len() - 1 - self.visible].clone_from_slice(&row[self.visible + 1..]);
        out
    }

    /// Forgets the columns for which `keep` is false: the projection on the others, in their order.
    #[must_use]
    pub fn project(&self, keep: &[bool]) -> Conjunct {
        let kept: Vec<usize> = (0..self.visible).filter(|&i| keep[i]).collect();
        let gone = (0..self.visible).filter(|&i| !keep[i]);
        let order: Vec<usize> =
            kept.iter().copied().chain(gone).chain(self.visible..self.columns()).collect();
        let mut out = self.permuted(&order, kept.len());
        out.simplify();
        out
    }

    /// Columns rearranged: new column `i` is old column `order[i]`; the first `visible` are visible.
    fn permuted(&self, order: &[usize], visible: usize) -> Conjunct {
        let permute = |row: &Row| {
            std::iter::once(row[0].clone()).chain(order.iter().map(|&c| row[c + 1].clone())).collect()
        };
        Conjunct {
            visible,
            hidden: order.len() - visible,
            equations: self.equations.iter().map(permute).collect(),
            inequalities: self.inequalities.iter().map(permute).collect(),
            empty: self.empty,
            determined: OnceCell::new(),
            shape: OnceCell::new(),
        }
    }

    /// Whether the vector is in the set.
    ///
    /// # Errors
    /// The work allowed was not enough.
    pub fn contains(&self, point: &[Int], effort: &Effort) -> Result<bool, Exhausted> {
        if self.hidden == 0 {
            return Ok(!self.empty
                && self.equations.iter().all(|r| value(r, point).is_zero())
                && self.inequalities.iter().all(|r| !value(r, point).is_negative()));
        }
        Ok(!self.intersect(&Conjunct::point(point)).is_empty(effort)?)
    }

    /// Whether there is no point at all, over the integers.
    ///
    /// # Errors
    /// The work allowed was not enough.
    pub fn is_empty(&self, effort: &Effort) -> Result<bool, Exhausted> {
        Ok(self.empty || (!self.shape().is_box && crate::solve::solve(self, effort)?.is_none()))
    }

    /// Whether every point is in some member of the union.
    ///
    /// # Errors
    /// The work allowed was not enough.
    pub fn is_covered(&self, union: &[&Conjunct], effort: &Effort) -> Result<bool, Exhausted> {
        crate::subtract::covered(self, union, effort)
    }

    /// Whether every point is in one other conjunct.
    ///
    /// # Errors
    /// The work allowed was not enough.
    pub fn is_subset(&self, other: &Conjunct, effort: &Effort) -> Result<bool, Exhausted> {
        crate::subtract::covered(self, &[other], effort)
    }

    /// Whether even the rational relaxations of both have no common point. `false` means nothing.
    ///
    /// # Errors
    /// The work allowed was not enough.
    pub fn is_rationally_disjoint(&self, other: &Conjunct, effort: &Effort) -> Result<bool, Exhausted> {
        let mut both = self.clone();
        both.empty |= other.empty;
        both.append(other);
        Ok(both.empty || crate::solve::is_rationally_empty(&both, effort)?)
    }

    /// Some point, if there is one.
    ///
    /// # Errors
    /// The work allowed was not enough.
    pub fn sample(&self, effort: &Effort) -> Result<Option<Vec<Int>>, Exhausted> {
        if self.empty {
            return Ok(None);
        }
        Ok(crate::solve::solve(self, effort)?.map(|mut p| {
            p.truncate(self.visible);
            p
        }))
    }

    /// The interval of each visible variable that constraints on it alone give.
    pub(crate) fn shape(&self) -> &Rc<Shape> {
        self.shape.get_or_init(|| {
            let bounds = self.bounds();
            let single = |r: &Row| only_column(r).is_some();
            let is_box = !self.empty
                && self.hidden == 0
                && self.equations.iter().all(single)
                && self.inequalities.iter().all(single)
                && bounds.iter().all(|b| !matches!(b, (Some(l), Some(h)) if l > h));
            Rc::new(Shape { bounds, is_box })
        })
    }

    fn bounds(&self) -> Vec<Bounds> {
        let mut out: Vec<Bounds> = vec![(None, None); self.visible];
        for row in &self.equations {
            if let Some((at, c)) = only_column(row)
                && at < self.visible
            {
                let v = (-&row[0]).div_floor(c);
                out[at] = (Some(v.clone()), Some(v));
            }
        }
        for row in &self.inequalities {
            let Some((at, c)) = only_column(row) else { continue };
            if at >= self.visible {
                continue;
            }
            if c.is_positive() {
                let low = (-&row[0]).div_ceil(c);
                if out[at].0.as_ref().is_none_or(|old| *old < low) {
                    out[at].0 = Some(low);
                }
            } else {
                let high = row[0].div_floor(&-c);
                if out[at].1.as_ref().is_none_or(|old| *old > high) {
                    out[at].1 = Some(high);
                }
            }
        }
        out
    }

    /// The same set with every equation written as two inequalities.
    pub(crate) fn all_inequalities(&self) -> Vec<Row> {
        let mut out = self.inequalities.clone();
        for e in &self.equations {
            out.push(e.clone());
            out.push(negated(e));
        }
        out
    }
}

impl PartialEq for Conjunct {
    /// Equal as written, not as sets.
    fn eq(&self, other: &Self) -> bool {
        self.visible == other.visible
            && self.hidden == other.hidden
            && self.empty == other.empty
            && self.equations == other.equations
            && self.inequalities == other.inequalities
    }
}

impl Eq for Conjunct {}

impl std::fmt::Debug for Conjunct {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<String> = (0..self.visible).map(|i| format!("x{i}")).collect();
        f.write_str(&crate::print::raw(self, &names))
    }
}

/// Whether two boxes have no common point.
pub(crate) fn boxes_disjoint(a: &[Bounds], b: &[Bounds]) -> bool {
    let below = |high: &Option<Int>, low: &Option<Int>| matches!((high, low), (Some(h), Some(l)) if h < l);
    a.iter().zip(b).any(|(a, b)| below(&a.1, &b.0) || below(&b.1, &a.0))
}

fn only_column(row: &[Int]) -> Option<(usize, &Int)> {
    let mut found = None;
    for (i, c) in row[1..].iter().enumerate() {
        if c.is_zero() {
            continue;
        }
        if found.is_some() {
            return None;
        }
        found = Some((i, c));
    }
    found
}
