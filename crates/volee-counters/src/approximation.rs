//! A quick over-approximation of what is reachable, for pruning the backward search: the state equation of
//! nets.
//!
//! If every transition adds a constant vector, a reachable vector is an initial one plus a non-negative
//! combination of those vectors. If some transitions do more, the linear forms that no transition changes
//! still keep their initial values. Both are inductive by construction: they hold initially and every
//! transition preserves them.

use volee_integers::{Conjunct, Effort, Int, Row};

use crate::program::{Domain, Program, naturals};

/// Vectors that may be reachable; others are not.
pub(crate) struct Approximation {
    /// One conjunct per initial region, with hidden columns for where the run began and how often each
    /// transition was taken.
    conjuncts: Vec<Conjunct>,
}

impl Approximation {
    pub(crate) fn of(program: &Program) -> Approximation {
        let vectors: Option<Vec<Vec<Int>>> = program
            .transitions
            .iter()
            .map(|t| t.instruction.update.translation(0).map(|(_, vector)| vector))
            .collect();
        let conjuncts = program
            .initial
            .iter()
            .filter(|r| r.conjunct.hidden() == 0)
            .map(|region| match &vectors {
                Some(vectors) => state_equation(program, &region.conjunct, vectors),
                None => invariants(program, &region.conjunct),
            })
            .collect::<Vec<_>>();
        if conjuncts.len() < program.initial.len() {
            return Approximation { conjuncts: vec![Conjunct::universe(program.dimension())] };
        }
        Approximation { conjuncts }
    }

    /// Whether no vector of the set is reachable, as far as the approximation tells.
    pub(crate) fn excludes(&self, set: &Conjunct, effort: &Effort) -> bool {
        self.conjuncts.iter().all(|c| set.is_rationally_disjoint(c, effort).unwrap_or(false))
    }
}

/// `x = x0 + sum of t_i * vector_i`, `x0` initial, `t >= 0`.
fn state_equation(program: &Program, initial: &Conjunct, vectors: &[Vec<Int>]) -> Conjunct {
    let n = program.dimension();
    let mut distinct: Vec<&Vec<Int>> = Vec::new();
    for v in vectors {
        if v.iter().any(|c| !c.is_zero()) && !distinct.contains(&v) {
            distinct.push(v);
        }
    }
    // x0 is substituted away: every initial constraint is stated of x - sum of t_i * vector_i.
    let width = 1 + n + distinct.len();
    let pull = |row: &Row| {
        let mut out = row[..=n].to_vec();
        out.resize(width, Int::ZERO);
        for (t, vector) in distinct.iter().enumerate() {
            for (c, v) in row[1..=n].iter().zip(vector.iter()) {
                if !c.is_zero() && !v.is_zero() {
                    let product = c * v;
                    out[n + 1 + t] = &out[n + 1 + t] - &product;
                }
            }
        }
        out
    };
    let equations = initial.equations().iter().map(pull).collect();
    let mut rows: Vec<Row> = initial.inequalities().iter().map(pull).collect();
    for t in 0..distinct.len() {
        let mut row = vec![Int::ZERO; width];
        row[n + 1 + t] = Int::ONE;
        rows.push(row);
    }
    rows.extend(domain(program));
    Conjunct::new(n, equations, rows)
}

/// `w · x = w · x0` for every form `w` that no transition changes.
fn invariants(program: &Program, initial: &Conjunct) -> Conjunct {
    let n = program.dimension();
    let forms = constant_forms(program);
    let width = 1 + 2 * n;
    let of_start = |row: &Row| {
        let mut out = vec![Int::ZERO; width];
        out[0] = row[0].clone();
        out[n + 1..].clone_from_slice(&row[1..=n]);
        out
    };
    let mut equations: Vec<Row> = initial.equations().iter().map(of_start).collect();
    for w in &forms {
        let mut row = vec![Int::ZERO; width];
        for (i, c) in w.iter().enumerate() {
            row[1 + i] = c.clone();
            row[1 + n + i] = -c;
        }
        equations.push(row);
    }
    let mut rows: Vec<Row> = initial.inequalities().iter().map(of_start).collect();
    rows.extend(domain(program));
    Conjunct::new(n, equations, rows)
}

fn domain(program: &Program) -> Vec<Row> {
    match program.domain {
        Domain::Naturals => naturals(program.dimension()),
        Domain::Integers => Vec::new(),
    }
}

/// A basis of the forms `w` with `w · (A x + b) = w · x` for every transition: the kernel of the columns of
/// all `A - 1` and `b`, by elimination.
fn constant_forms(program: &Program) -> Vec<Vec<Int>> {
    let n = program.dimension();
    // One equation on w per transition and per column of [b | A - 1].
    let mut equations: Vec<Row> = Vec::new();
    for t in &program.transitions {
        for column in 0..=n {
            let mut equation = vec![Int::ZERO; n];
            for (i, e) in equation.iter_mut().enumerate() {
                if let Some(row) = t.instruction.update.component(i) {
                    *e = row[column].clone();
                    if column == i + 1 {
                        *e = &*e - &Int::ONE;
                    }
                }
            }
            if equation.iter().any(|c| !c.is_zero()) && !equations.contains(&equation) {
                equations.push(equation);
            }
        }
    }
    kernel(equations, n)
}

fn kernel(mut rows: Vec<Row>, n: usize) -> Vec<Vec<Int>> {
    let mut pivots: Vec<usize> = Vec::new();
    for column in 0..n {
        let done = pivots.len();
        let Some(at) = (done..rows.len()).find(|&i| !rows[i][column].is_zero()) else { continue };
        rows.swap(done, at);
        let pivot = rows[done].clone();
        for (i, row) in rows.iter_mut().enumerate() {
            if i == done || row[column].is_zero() {
                continue;
            }
            let (a, b) = (pivot[column].clone(), -&row[column]);
            let mut next: Row = row.iter().zip(&pivot).map(|(r, p)| Int::cross(&a, r, &b, p)).collect();
            let g = next.iter().fold(Int::ZERO, |g, c| g.gcd(c));
            if !g.is_zero() {
                next.iter_mut().for_each(|c| *c = c.div_floor(&g));
            }
            *row = next;
        }
        pivots.push(column);
    }
    let mut basis = Vec::new();
    for free in (0..n).filter(|c| !pivots.contains(c)) {
        // Scale so that every pivot variable is integral.
        let mut scale = Int::ONE;
        for (i, &p) in pivots.iter().enumerate() {
            if !rows[i][free].is_zero() {
                let g = rows[i][p].gcd(&rows[i][free]);
                let need = rows[i][p].div_floor(&g).abs();
                scale = (&scale * &need).div_floor(&scale.gcd(&need));
            }
        }
        let mut w = vec![Int::ZERO; n];
        w[free] = scale.clone();
        for (i, &p) in pivots.iter().enumerate() {
            w[p] = -&(&rows[i][free] * &scale).div_floor(&rows[i][p]);
        }
        basis.push(w);
    }
    basis
}
