//! Inductive linear inequalities `w·m <= b` that keep a bad marking out, found by linear programming.
//!
//! If the state equation `m0 + C x >= v, x >= 0` has no solution then, by Farkas, there are weights `w >= 0`
//! with `w·C <= 0` and `w·v > w·m0`: no transition raises the weighted sum, so no reachable marking is above
//! `v`. We look for the weights directly (they exist for transfers and resets too, where there is no state
//! equation) by maximising `w·(v - m0)`. The arithmetic of the search is floating point and nobody trusts it:
//! the weights are rounded to small integers and only believed when [`is_inductive`] agrees, in exact
//! arithmetic. One set of weights usually keeps out thousands of other markings, so they are kept.

use crate::simplex::Simplex;
use crate::sparse::Entry;
use crate::structure::Liveness;
use volee_nets::{Net, Transition};

/// `sum of weight * tokens <= bound` in every reachable marking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inequality {
    /// Weights, ascending by place, none zero.
    pub weights: Vec<(u32, u64)>,
    /// The bound.
    pub bound: u64,
}

impl Inequality {
    /// Whether every marking at least `vector` breaks the inequality.
    pub fn excludes(&self, vector: &[Entry]) -> bool {
        let mut sum = 0u128;
        let mut weights = self.weights.iter().peekable();
        for entry in vector {
            while weights.next_if(|w| w.0 < entry.place).is_some() {}
            if let Some(weight) = weights.next_if(|w| w.0 == entry.place) {
                sum += u128::from(weight.1) * u128::from(entry.tokens);
            }
        }
        sum > u128::from(self.bound)
    }
}

/// Whether no firable transition of the net can raise the weighted sum. Exact.
///
/// For `m >= guard` the sum after minus the sum before is `(wM - w)·m + w·c`; it is never positive iff no
/// coefficient is positive and the value at `m = guard` is not.
pub fn is_inductive(net: &Net, firable: &[bool], markable: &[bool], weights: &[i128]) -> bool {
    net.transitions.iter().zip(firable).all(|(t, &fires)| !fires || never_raises(t, markable, weights))
}

fn never_raises(transition: &Transition, markable: &[bool], weights: &[i128]) -> bool {
    let mut at_guard = 0i128;
    // Coefficient of each place that a row changes or reads.
    let mut coefficients: Vec<(usize, i128)> = Vec::new();
    for row in &transition.rows {
        let weight = weights[row.place.index()];
        at_guard += weight * i128::from(row.constant);
        coefficients.push((row.place.index(), -weight));
        coefficients.extend(row.sources.iter().map(|s| (s.index(), weight)));
    }
    coefficients.sort_unstable_by_key(|c| c.0);
    let mut at = 0;
    while at < coefficients.len() {
        let place = coefficients[at].0;
        let mut coefficient = 0;
        while at < coefficients.len() && coefficients[at].0 == place {
            coefficient += coefficients[at].1;
            at += 1;
        }
        if !markable[place] {
            continue;
        }
        if coefficient > 0 {
            return false;
        }
        let guard = transition.at_least.iter().find(|b| b.place.index() == place).map_or(0, |b| b.tokens);
        at_guard += coefficient * i128::from(guard);
    }
    at_guard <= 0
}

/// Finds inequalities for one net; keeps its tableau, so that the next question starts where the last one
/// ended.
#[derive(Debug)]
pub struct Separator {
    simplex: Simplex,
    /// Column of the program for each place; `None` where the weight must be zero.
    column: Vec<Option<usize>>,
    places: Vec<usize>,
    liveness: Liveness,
}

/// A program with more cells than this is not set up: a pivot would take longer than the search it saves.
const MAX_CELLS: usize = 60_000_000;

impl Separator {
    /// Prepares the program of a monotone net; `None` where it would be too large.
    pub fn new(net: &Net, liveness: &Liveness) -> Option<Self> {
        let mut column = vec![None; net.places.len()];
        let mut places = Vec::new();
        for (p, column) in column.iter_mut().enumerate() {
            if liveness.markable[p] && net.initial.iter().all(|i| !i.open[p]) {
                *column = Some(places.len());
                places.push(p);
            }
        }
        let mut rows: Vec<Vec<(usize, f64)>> = Vec::new();
        for (t, transition) in net.transitions.iter().enumerate() {
            if liveness.firable[t] {
                constraints(transition, &column, &liveness.markable, &mut rows);
            }
        }
        for row in &mut rows {
            row.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        }
        rows.sort_by(|a, b| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
        rows.dedup();
        if rows.len().saturating_mul(places.len()) > MAX_CELLS {
            return None;
        }
        let simplex = Simplex::new(places.len(), &rows);
        Some(Separator { simplex, column, places, liveness: liveness.clone() })
    }

    /// Cells touched so far: a measure of the time spent here that does not depend on the machine.
    pub fn work(&self) -> u64 {
        self.simplex.work()
    }

    /// An inequality that holds in every reachable marking and excludes `vector`, where linear reasoning
    /// finds one.
    pub fn separate(&mut self, net: &Net, vector: &[Entry]) -> Option<Inequality> {
        let mut objective = vec![0.0; self.places.len()];
        for entry in vector {
            if let Some(c) = self.column[entry.place as usize] {
                objective[c] += f64::from(entry.tokens);
            }
        }
        if objective.iter().all(|&c| c == 0.0) {
            return None;
        }
        let most = |p: usize| net.initial.iter().map(|i| i.base[p]).max().unwrap_or(0);
        for (c, &p) in self.places.iter().enumerate() {
            objective[c] -= f64::from(most(p));
        }
        let weights = self.simplex.maximise(&objective)?;
        self.round(net, vector, &weights)
    }

    /// Tries to read floating-point weights as multiples of a common unit.
    fn round(&self, net: &Net, vector: &[Entry], weights: &[f64]) -> Option<Inequality> {
        let largest = weights.iter().copied().fold(0.0, f64::max);
        if largest <= 1e-9 {
            return None;
        }
        let smallest = weights.iter().copied().filter(|&w| w > largest * 1e-4).fold(largest, f64::min);
        let units = (1..=12).map(|k| smallest / f64::from(k)).chain((1..=30).map(|k| largest / f64::from(k)));
        for unit in units {
            let mut integers = vec![0i128; net.places.len()];
            for (c, &p) in self.places.iter().enumerate() {
                integers[p] = (weights[c] / unit).round() as i128;
            }
            if let Some(found) = self.accept(net, vector, &integers) {
                return Some(found);
            }
        }
        None
    }

    fn accept(&self, net: &Net, vector: &[Entry], integers: &[i128]) -> Option<Inequality> {
        if !is_inductive(net, &self.liveness.firable, &self.liveness.markable, integers) {
            return None;
        }
        let bound = initial_bound(net, integers)?;
        let weights: Vec<(u32, u64)> = integers
            .iter()
            .enumerate()
            .filter(|(_, w)| **w > 0)
            .map(|(p, &w)| Some((p as u32, u64::try_from(w).ok()?)))
            .collect::<Option<_>>()?;
        let inequality = Inequality { weights, bound };
        inequality.excludes(vector).then_some(inequality)
    }
}

/// The largest weighted sum of an initial marking; `None` where it has no bound.
pub fn initial_bound(net: &Net, weights: &[i128]) -> Option<u64> {
    let mut most = 0i128;
    for initial in &net.initial {
        let mut sum = 0i128;
        for (p, &weight) in weights.iter().enumerate() {
            if weight != 0 && initial.open[p] {
                return None;
            }
            sum += weight * i128::from(initial.base[p]);
        }
        most = most.max(sum);
    }
    u64::try_from(most).ok()
}

/// Rows `a·w <= 0` that say: this transition never raises the weighted sum.
fn constraints(
    transition: &Transition,
    column: &[Option<usize>],
    markable: &[bool],
    rows: &mut Vec<Vec<(usize, f64)>>,
) {
    let mut at_guard: Vec<(usize, f64)> = Vec::new();
    let mut per_place: Vec<(usize, Vec<(usize, f64)>)> = Vec::new();
    let mut touched: Vec<usize> = transition.rows.iter().map(|r| r.place.index()).collect();
    touched.extend(transition.rows.iter().flat_map(|r| r.sources.iter().map(|s| s.index())));
    touched.sort_unstable();
    touched.dedup();
    for &place in touched.iter().filter(|&&p| markable[p]) {
        let mut terms: Vec<(usize, f64)> = Vec::new();
        let mut add = |p: usize, value: f64| {
            if let Some(c) = column[p] {
                terms.push((c, value));
            }
        };
        for row in &transition.rows {
            if row.place.index() == place {
                add(place, -1.0);
            }
            if row.sources.iter().any(|s| s.index() == place) {
                add(row.place.index(), 1.0);
            }
        }
        per_place.push((place, merge(terms)));
    }
    for row in &transition.rows {
        if let Some(c) = column[row.place.index()] {
            at_guard.push((c, row.constant as f64));
        }
    }
    for (place, terms) in per_place {
        let guard = transition.at_least.iter().find(|b| b.place.index() == place).map_or(0, |b| b.tokens);
        at_guard.extend(terms.iter().map(|&(c, v)| (c, v * f64::from(guard))));
        if terms.iter().any(|t| t.1 > 0.0) {
            rows.push(terms);
        }
    }
    let at_guard = merge(at_guard);
    if at_guard.iter().any(|t| t.1 > 0.0) {
        rows.push(at_guard);
    }
}

fn merge(mut terms: Vec<(usize, f64)>) -> Vec<(usize, f64)> {
    terms.sort_unstable_by_key(|t| t.0);
    let mut merged: Vec<(usize, f64)> = Vec::new();
    for (c, v) in terms {
        match merged.last_mut() {
            Some(last) if last.0 == c => last.1 += v,
            _ => merged.push((c, v)),
        }
    }
    merged.retain(|t| t.1 != 0.0);
    merged
}
