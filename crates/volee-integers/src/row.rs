//! Rows of coefficients, the common currency of the algorithms: the constant first, then one coefficient per
//! column. As a constraint, a row means `constant + coefficients · columns >= 0` (or `= 0`).

use crate::Int;

/// A linear form: `row[0]` is the constant, `row[1 + i]` the coefficient of column `i`.
pub type Row = Vec<Int>;

/// A row from machine words, the constant first.
pub fn row(numbers: &[i64]) -> Row {
    numbers.iter().map(|&n| Int::from(n)).collect()
}

/// The greatest common divisor of the coefficients, without the constant.
pub(crate) fn content(row: &[Int]) -> Int {
    let mut gcd = Int::ZERO;
    for c in &row[1..] {
        if c.is_zero() {
            continue;
        }
        gcd = gcd.gcd(c);
        if gcd.is_one() {
            break;
        }
    }
    gcd
}

/// `a * x + b * y`, columnwise.
pub(crate) fn combine(a: &Int, x: &[Int], b: &Int, y: &[Int]) -> Row {
    x.iter().zip(y).map(|(x, y)| Int::cross(a, x, b, y)).collect()
}

/// Subtracts the multiple of `pivot` that makes column `at` of `target` vanish; the factor put on `target` is
/// positive, so the sense of an inequality is kept. `pivot` must not vanish there and stands for an equation.
pub(crate) fn eliminate(target: &mut Row, pivot: &[Int], at: usize) {
    if target[at].is_zero() {
        return;
    }
    let p = &pivot[at];
    let g = p.gcd(&target[at]);
    let mut keep = p.div_floor(&g);
    let mut take = -&target[at].div_floor(&g);
    if keep.is_negative() {
        (keep, take) = (-&keep, -&take);
    }
    for (t, p) in target.iter_mut().zip(pivot) {
        if p.is_zero() && keep.is_one() {
            continue;
        }
        *t = Int::cross(&keep, t, &take, p);
    }
}

pub(crate) fn negated(row: &[Int]) -> Row {
    row.iter().map(|c| -c).collect()
}

/// The constraint "not `row >= 0`", that is `-row - 1 >= 0`.
pub(crate) fn complement(row: &[Int]) -> Row {
    let mut out = negated(row);
    out[0] = &out[0] - &Int::ONE;
    out
}

/// The value of the form at a point of all its columns.
pub(crate) fn value(row: &[Int], point: &[Int]) -> Int {
    let mut sum = row[0].clone();
    for (c, x) in row[1..].iter().zip(point) {
        if !c.is_zero() {
            sum += &(c * x);
        }
    }
    sum
}

/// What normalising a constraint found.
pub(crate) enum Normal {
    /// Keep it.
    Keep,
    /// It is always true.
    True,
    /// It has no integer solution.
    False,
}

/// Divides an inequality by its content, rounding the constant down: exact over the integers.
pub(crate) fn normalise_inequality(row: &mut Row) -> Normal {
    let g = content(row);
    if g.is_zero() {
        return if row[0].is_negative() { Normal::False } else { Normal::True };
    }
    if !g.is_one() {
        row[0] = row[0].div_floor(&g);
        for c in &mut row[1..] {
            if !c.is_zero() {
                *c = c.div_floor(&g);
            }
        }
    }
    Normal::Keep
}

/// Divides an equation by its content (no solution unless the constant is a multiple) and makes its first
/// coefficient positive.
pub(crate) fn normalise_equation(row: &mut Row) -> Normal {
    let g = content(row);
    if g.is_zero() {
        return if row[0].is_zero() { Normal::True } else { Normal::False };
    }
    if !g.divides(&row[0]) {
        return Normal::False;
    }
    let negative = row[1..].iter().find(|c| !c.is_zero()).is_some_and(Int::is_negative);
    let divisor = if negative { -g } else { g };
    if !divisor.is_one() {
        for c in row.iter_mut() {
            *c = c.div_floor(&divisor);
        }
    }
    Normal::Keep
}
