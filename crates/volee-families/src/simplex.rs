//! A small dense simplex: maximise `c·w` subject to `A w <= 0`, `sum of w <= 1`, `w >= 0`.
//!
//! Written for one purpose, guessing weights that exact code then checks, so it may be wrong but not slow.
//! All right-hand sides but one are zero, which is as degenerate as programs get; they are perturbed by tiny
//! different amounts so that the method cannot cycle. `w = 0` is always feasible and stays so when the
//! objective changes: each question starts from the vertex where the last one ended.

/// A dictionary: each basic variable as an affine function of the others.
#[derive(Debug)]
pub struct Simplex {
    columns: usize,
    rows: usize,
    /// Row-major; entry `(r, c)` is the coefficient of nonbasic variable `c` in basic variable `r`, negated.
    cells: Vec<f64>,
    right: Vec<f64>,
    /// Which variable is basic in a row: below `columns` a weight, from there on a slack.
    basic: Vec<usize>,
    nonbasic: Vec<usize>,
    work: u64,
}

const EPSILON: f64 = 1e-9;

impl Simplex {
    /// A program over `columns` weights with the given sparse rows `a·w <= 0`.
    pub fn new(columns: usize, sparse: &[Vec<(usize, f64)>]) -> Self {
        let rows = sparse.len() + 1;
        let mut cells = vec![0.0; rows * columns];
        let mut right = vec![0.0; rows];
        let mut seed = 0x9E37_79B9_7F4A_7C15u64;
        for (r, row) in sparse.iter().enumerate() {
            for &(c, value) in row {
                cells[r * columns + c] = value;
            }
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            right[r] = 1e-7 * (1.0 + (seed >> 40) as f64 / (1u64 << 24) as f64);
        }
        cells[(rows - 1) * columns..].fill(1.0);
        right[rows - 1] = 1.0;
        Simplex {
            columns,
            rows,
            cells,
            right,
            basic: (columns..columns + rows).collect(),
            nonbasic: (0..columns).collect(),
            work: 0,
        }
    }

    /// Cells touched so far.
    pub fn work(&self) -> u64 {
        self.work
    }

    /// Weights at an optimum, or `None` where the optimum is not positive or too many pivots were needed.
    pub fn maximise(&mut self, objective: &[f64]) -> Option<Vec<f64>> {
        let mut reduced = self.reduced(objective);
        let limit = 50 + 4 * (self.rows + self.columns);
        for _ in 0..limit {
            let entering = (0..self.columns)
                .filter(|&c| reduced[c] > EPSILON)
                .max_by(|&a, &b| reduced[a].total_cmp(&reduced[b]));
            let Some(entering) = entering else {
                return self.weights(objective);
            };
            let leaving = self.leaving(entering)?;
            self.pivot(leaving, entering, &mut reduced);
        }
        None
    }

    fn weights(&self, objective: &[f64]) -> Option<Vec<f64>> {
        let mut weights = vec![0.0; self.columns];
        let mut value = 0.0;
        for (r, &variable) in self.basic.iter().enumerate() {
            if variable < self.columns {
                weights[variable] = self.right[r].max(0.0);
                value += objective[variable] * self.right[r];
            }
        }
        (value > 1e-5).then_some(weights)
    }

    /// The objective in terms of the nonbasic variables.
    fn reduced(&self, objective: &[f64]) -> Vec<f64> {
        let mut reduced: Vec<f64> =
            self.nonbasic.iter().map(|&v| objective.get(v).copied().unwrap_or(0.0)).collect();
        for (r, &variable) in self.basic.iter().enumerate() {
            let Some(&gain) = objective.get(variable) else { continue };
            if gain != 0.0 {
                let row = &self.cells[r * self.columns..(r + 1) * self.columns];
                for (to, cell) in reduced.iter_mut().zip(row) {
                    *to -= gain * cell;
                }
            }
        }
        reduced
    }

    fn leaving(&self, entering: usize) -> Option<usize> {
        let mut best: Option<(f64, f64, usize)> = None;
        for r in 0..self.rows {
            let cell = self.cells[r * self.columns + entering];
            if cell > 1e-7 {
                let ratio = self.right[r].max(0.0) / cell;
                let better = match best {
                    None => true,
                    Some((least, pivot, _)) => {
                        ratio < least - 1e-13 || (ratio < least + 1e-13 && cell > pivot)
                    }
                };
                if better {
                    best = Some((ratio, cell, r));
                }
            }
        }
        best.map(|b| b.2)
    }

    fn pivot(&mut self, leaving: usize, entering: usize, reduced: &mut [f64]) {
        let width = self.columns;
        let inverse = 1.0 / self.cells[leaving * width + entering];
        let mut pivot_row = self.cells[leaving * width..(leaving + 1) * width].to_vec();
        for cell in &mut pivot_row {
            *cell *= inverse;
        }
        pivot_row[entering] = inverse;
        let pivot_right = self.right[leaving] * inverse;
        let nonzero: Vec<usize> = (0..width).filter(|&c| pivot_row[c].abs() > 1e-12).collect();
        self.work += self.rows as u64;
        for r in 0..self.rows {
            if r == leaving {
                continue;
            }
            let row = &mut self.cells[r * width..(r + 1) * width];
            let factor = row[entering];
            if factor.abs() <= 1e-12 {
                row[entering] = 0.0;
                continue;
            }
            row[entering] = 0.0;
            self.work += nonzero.len() as u64;
            for &c in &nonzero {
                row[c] -= factor * pivot_row[c];
            }
            self.right[r] -= factor * pivot_right;
        }
        let factor = reduced[entering];
        reduced[entering] = 0.0;
        for &c in &nonzero {
            reduced[c] -= factor * pivot_row[c];
        }
        self.cells[leaving * width..(leaving + 1) * width].copy_from_slice(&pivot_row);
        self.right[leaving] = pivot_right;
        std::mem::swap(&mut self.basic[leaving], &mut self.nonbasic[entering]);
    }
}
