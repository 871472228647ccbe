//! Sets as the paper prints them: `{ x = 2k : 0 <= k <= 500000 }`.
//!
//! Equations and strides are solved for a variable and stand before the colon; a stride brings a letter of
//! its own, shifted so that it starts at 0 where it can. Constraints on the same form become one chain of
//! comparisons.

use std::fmt;

use crate::row::{Normal, eliminate, normalise_inequality};
use crate::{Conjunct, Int, Row, Set};

/// A set with the names of its variables, ready to be printed.
pub struct Shown<'a> {
    set: &'a Set,
    names: Vec<String>,
}

impl Set {
    /// The set in mathematical notation, with a name for each component.
    pub fn display<'a, S: AsRef<str>>(&'a self, names: &[S]) -> Shown<'a> {
        Shown { set: self, names: names.iter().map(|n| n.as_ref().to_owned()).collect() }
    }
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.set.conjuncts().is_empty() {
            return f.write_str("{ }");
        }
        for (i, c) in self.set.conjuncts().iter().enumerate() {
            if i > 0 {
                f.write_str(" or ")?;
            }
            f.write_str(&conjunct(c, &self.names))?;
        }
        Ok(())
    }
}

/// The constraints as they are, for debugging.
pub(crate) fn raw(c: &Conjunct, names: &[String]) -> String {
    let names = with_hidden(names, c.hidden, "e");
    let mut parts: Vec<String> = c.equations.iter().map(|r| format!("{} = 0", form(r, &names))).collect();
    parts.extend(c.inequalities.iter().map(|r| format!("{} >= 0", form(r, &names))));
    if c.empty { "{ }".to_owned() } else { format!("{{ {} }}", parts.join(", ")) }
}

fn conjunct(c: &Conjunct, names: &[String]) -> String {
    let mut c = c.clone();
    let mut solved: Vec<(usize, Row)> = Vec::new();
    let mut letters = vec![false; c.hidden];
    let mut open: Vec<Row> = Vec::new();
    for mut row in std::mem::take(&mut c.equations) {
        let stride = (c.visible + 1..row.len()).find(|&i| !row[i].is_zero());
        if let Some(h) = stride {
            start_at_zero(&c, &mut row, h);
        }
        // The pivot that simplification has already removed from everywhere else, or the stride's leading
        // variable.
        let pivot = match stride {
            Some(_) => (1..=c.visible).find(|&i| row[i].is_one()),
            None => (1..=c.visible).rev().find(|&i| row[i].is_unit()),
        };
        let Some(pivot) = pivot else {
            open.push(row);
            continue;
        };
        if let Some(h) = stride {
            letters[h - 1 - c.visible] = true;
        }
        for other in c.inequalities.iter_mut().chain(&mut open).chain(solved.iter_mut().map(|(_, r)| r)) {
            eliminate(other, &row, pivot);
        }
        for (_, done) in &solved {
            // Keep solved forms free of each other's variables.
            let at = (1..=c.visible).find(|&i| i != pivot && done[i].is_one() && !row[i].is_zero());
            if at.is_some_and(|at| solved.iter().any(|(v, _)| *v == at)) {
                eliminate(&mut row, done, at.unwrap_or(pivot));
            }
        }
        solved.push((pivot, row));
    }
    c.inequalities.retain_mut(|r| matches!(normalise_inequality(r), Normal::Keep));
    solved.sort_by_key(|(v, _)| *v);
    let mut names_all = with_hidden(names, c.hidden, "e");
    name_letters(&mut names_all, &letters, c.visible);
    let heads: Vec<String> = solved
        .iter()
        .map(|(v, row)| format!("{} = {}", names_all[v - 1], solve_for(row, *v, &names_all)))
        .collect();
    let mut conditions: Vec<String> =
        open.iter().map(|row| format!("{} = 0", form(row, &names_all))).collect();
    conditions.extend(chains(&c.inequalities, &names_all));
    match (heads.is_empty(), conditions.is_empty()) {
        (true, true) => format!("{{ any {} }}", names.join(", ")),
        (true, false) => format!("{{ {} }}", conditions.join(", ")),
        (false, true) => format!("{{ {} }}", heads.join(", ")),
        (false, false) => format!("{{ {} : {} }}", heads.join(", "), conditions.join(", ")),
    }
}

/// Shifts the letter of a one-variable stride so that the variable's lower bound is its 0.
fn start_at_zero(c: &Conjunct, row: &mut Row, h: usize) {
    let used: Vec<usize> = (1..=c.visible).filter(|&i| !row[i].is_zero()).collect();
    let [at] = used[..] else { return };
    if !row[at].is_one() {
        return;
    }
    if row[h].is_positive() {
        row[h] = -&row[h];
    }
    let g = -&row[h];
    // x + r - g h = 0.
    let shape = c.shape();
    let bounds = &shape.bounds[at - 1];
    let start = match bounds {
        (Some(low), _) => low + &(-&(low + &row[0])).mod_floor(&g),
        (None, Some(high)) => high - &(high + &row[0]).mod_floor(&g),
        (None, None) => (-&row[0]).mod_floor(&g),
    };
    row[0] = -start;
}

fn with_hidden(names: &[String], hidden: usize, prefix: &str) -> Vec<String> {
    let mut out = names.to_vec();
    let mut number = 0;
    while out.len() < names.len() + hidden {
        let name = format!("{prefix}{number}");
        if !out.contains(&name) {
            out.push(name);
        }
        number += 1;
    }
    out
}

/// Gives the letters of strides the names k, k2, k3 …
fn name_letters(names: &mut [String], letters: &[bool], visible: usize) {
    let mut number = 1;
    for (i, _) in letters.iter().enumerate().filter(|(_, l)| **l) {
        loop {
            let name = if number == 1 { "k".to_owned() } else { format!("k{number}") };
            number += 1;
            if !names.contains(&name) {
                names[visible + i] = name;
                break;
            }
        }
    }
}

fn solve_for(row: &[Int], at: usize, names: &[String]) -> String {
    let mut rest = row.to_vec();
    let positive = rest[at].is_positive();
    rest[at] = Int::ZERO;
    if positive {
        rest = rest.iter().map(|c| -c).collect();
    }
    // Letters read better in front: 2k + 4, not 4 + 2k.
    form(&rest, names)
}

/// A linear form: terms first, then the constant.
fn form(row: &[Int], names: &[String]) -> String {
    let mut out = String::new();
    let order = positive_first(row);
    for i in order {
        let c = &row[i];
        let magnitude = c.abs();
        let sign = match (out.is_empty(), c.is_negative()) {
            (true, true) => "-",
            (true, false) => "",
            (false, true) => " - ",
            (false, false) => " + ",
        };
        out.push_str(sign);
        if !magnitude.is_one() {
            out.push_str(&magnitude.to_string());
        }
        out.push_str(&names[i - 1]);
    }
    if out.is_empty() {
        return row[0].to_string();
    }
    if row[0].is_positive() {
        out.push_str(&format!(" + {}", row[0]));
    } else if row[0].is_negative() {
        out.push_str(&format!(" - {}", row[0].abs()));
    }
    out
}

fn positive_first(row: &[Int]) -> Vec<usize> {
    let nonzero = |i: &usize| !row[*i].is_zero();
    let positive = (1..row.len()).filter(nonzero).filter(|&i| row[i].is_positive());
    let negative = (1..row.len()).filter(nonzero).filter(|&i| row[i].is_negative());
    positive.chain(negative).collect()
}

/// Inequalities grouped by form: `low <= form <= high`.
fn chains(rows: &[Row], names: &[String]) -> Vec<String> {
    let mut groups: Vec<(Row, Option<Int>, Option<Int>)> = Vec::new();
    for row in rows {
        let negative = row[1..].iter().find(|c| !c.is_zero()).is_some_and(Int::is_negative);
        let mut key: Row = if negative { row.iter().map(|c| -c).collect() } else { row.clone() };
        key[0] = Int::ZERO;
        let at = match groups.iter().position(|(k, _, _)| *k == key) {
            Some(at) => at,
            None => {
                groups.push((key, None, None));
                groups.len() - 1
            }
        };
        if negative {
            groups[at].2 = Some(row[0].clone());
        } else {
            groups[at].1 = Some(-&row[0]);
        }
    }
    groups.sort_by_key(|(key, _, _)| (1..key.len()).find(|&i| !key[i].is_zero()));
    groups.iter().map(|(key, low, high)| chain(key, low.as_ref(), high.as_ref(), names)).collect()
}

fn chain(key: &[Int], low: Option<&Int>, high: Option<&Int>, names: &[String]) -> String {
    match (low, high) {
        (Some(low), Some(high)) => format!("{low} <= {} <= {high}", form(key, names)),
        (Some(low), None) => comparison(key, low, "<=", names),
        (None, Some(high)) => comparison(key, high, ">=", names),
        (None, None) => String::new(),
    }
}

/// `bound sense key`, with negative terms moved to the side of the bound so that all signs are plus.
fn comparison(key: &[Int], bound: &Int, sense: &str, names: &[String]) -> String {
    let mut left = vec![bound.clone()];
    let mut right = vec![Int::ZERO];
    for c in &key[1..] {
        left.push(if c.is_negative() { -c } else { Int::ZERO });
        right.push(if c.is_positive() { c.clone() } else { Int::ZERO });
    }
    let single = left[1..].iter().all(Int::is_zero);
    if left[0].is_negative() && !single {
        right[0] = -&left[0];
        left[0] = Int::ZERO;
    }
    let (left, right) = (form(&left, names), form(&right, names));
    if sense == "<=" { format!("{left} <= {right}") } else { format!("{right} <= {left}") }
}
