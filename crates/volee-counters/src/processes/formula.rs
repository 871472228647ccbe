//! Conditions on unbounded variables in disjunctive form, and values that depend on such conditions.

use volee_integers::{Conjunct, Int, Row};

/// Alternatives of one condition before a statement counts as too complicated.
const ALTERNATIVES: usize = 512;

/// Rows that must all be non-negative.
pub(crate) type Conjunction = Vec<Row>;

/// A disjunction of conjunctions; no alternative is plainly contradictory.
#[derive(Debug, Clone)]
pub(crate) struct Formula(pub(crate) Vec<Conjunction>);

/// The condition has too many alternatives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooComplicated;

type Result<T> = std::result::Result<T, TooComplicated>;

impl Formula {
    pub(crate) fn truth(value: bool) -> Formula {
        Formula(if value { vec![Vec::new()] } else { Vec::new() })
    }

    pub(crate) fn is_false(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn is_true(&self) -> bool {
        self.0.iter().any(Vec::is_empty)
    }

    /// `row >= 0`.
    pub(crate) fn at_least(row: Row) -> Formula {
        if row[1..].iter().all(Int::is_zero) {
            Formula::truth(!row[0].is_negative())
        } else {
            Formula(vec![vec![row]])
        }
    }

    /// `row = 0`.
    pub(crate) fn zero(row: Row) -> Result<Formula> {
        let opposite = row.iter().map(|c| -c).collect();
        Formula::at_least(row).and(&Formula::at_least(opposite))
    }

    pub(crate) fn and(&self, other: &Formula) -> Result<Formula> {
        let pairs =
            self.0.iter().flat_map(|a| other.0.iter().map(move |b| a.iter().chain(b).cloned().collect()));
        Formula::tidy(pairs)
    }

    pub(crate) fn or(&self, other: &Formula) -> Result<Formula> {
        if self.is_true() || other.is_true() {
            return Ok(Formula::truth(true));
        }
        Formula::tidy(self.0.iter().chain(&other.0).cloned())
    }

    pub(crate) fn not(&self) -> Result<Formula> {
        let mut out = Formula::truth(true);
        for conjunction in &self.0 {
            let options = conjunction.iter().map(|row| vec![opposite(row)]);
            out = out.and(&Formula(options.collect()))?;
        }
        Ok(out)
    }

    fn tidy(alternatives: impl Iterator<Item = Conjunction>) -> Result<Formula> {
        let mut out: Vec<Conjunction> = Vec::new();
        for rows in alternatives {
            let Some(rows) = simplified(rows) else { continue };
            if rows.is_empty() {
                return Ok(Formula::truth(true));
            }
            if !out.contains(&rows) {
                out.push(rows);
            }
            if out.len() > ALTERNATIVES {
                return Err(TooComplicated);
            }
        }
        Ok(Formula(out))
    }
}

/// Without duplicates and trivial rows; `None` if plainly contradictory.
fn simplified(mut rows: Conjunction) -> Option<Conjunction> {
    let width = rows.iter().map(Vec::len).max().unwrap_or(1);
    rows.iter_mut().for_each(|r| r.resize(width, Int::ZERO));
    let conjunct = Conjunct::new(width - 1, Vec::new(), rows);
    (!conjunct.is_plainly_empty()).then(|| crate::program::inequalities(&conjunct))
}

/// `row < 0` as a row that is not negative.
fn opposite(row: &[Int]) -> Row {
    let mut out: Row = row.iter().map(|c| -c).collect();
    out[0] += &Int::MINUS_ONE;
    out
}

/// A linear value under a condition.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub(crate) when: Formula,
    pub(crate) value: Row,
}

/// `a + factor * b`, whatever their widths.
pub(crate) fn add(a: &[Int], factor: i64, b: &[Int]) -> Row {
    let mut out = a.to_vec();
    out.resize(a.len().max(b.len()), Int::ZERO);
    let factor = Int::from(factor);
    for (o, c) in out.iter_mut().zip(b) {
        *o += &(&factor * c);
    }
    out
}

/// The number, if the form has no variables.
pub(crate) fn constant(row: &[Int]) -> Option<&Int> {
    row[1..].iter().all(Int::is_zero).then(|| &row[0])
}
