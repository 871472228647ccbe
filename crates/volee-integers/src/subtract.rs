//! Difference and inclusion, exact over the integers and in unions.
//!
//! The inclusion test of Boigelot & Wolper (1994, section 3.4) compares two sets at a time and may miss that
//! a set is covered by several others together; then a search that should end does not. Here a conjunct minus
//! a union is computed piece by piece: what survives every member of the union is not covered.

use crate::conjunct::{Bounds, boxes_disjoint};
use crate::determine::Determined;
use crate::row::{complement, negated};
use crate::{Conjunct, Effort, Exhausted, Int, Row};

/// Pieces of one difference before it counts as too hard.
const PIECES: usize = 20_000;

/// What is in `minuend` and in no member of `union`.
pub(crate) fn subtract(
    minuend: &Conjunct,
    union: &[Conjunct],
    effort: &Effort,
) -> Result<Vec<Conjunct>, Exhausted> {
    let mut pieces = vec![minuend.clone()];
    for member in union {
        if pieces.is_empty() {
            break;
        }
        let mut next = Vec::new();
        for piece in pieces {
            subtract_one(piece, member, &mut next, effort)?;
            if next.len() > PIECES {
                return Err(Exhausted);
            }
        }
        pieces = next;
    }
    Ok(pieces)
}

/// Whether every point of `small` is in some member of `union`.
pub(crate) fn covered(small: &Conjunct, union: &[&Conjunct], effort: &Effort) -> Result<bool, Exhausted> {
    if small.empty {
        return Ok(true);
    }
    let own = &small.shape().bounds;
    let near: Vec<&Conjunct> =
        union.iter().copied().filter(|c| !c.empty && !boxes_disjoint(&c.shape().bounds, own)).collect();
    for member in &near {
        if **member == *small || inside(small, member, effort)? {
            return Ok(true);
        }
    }
    match near.as_slice() {
        [] => return small.is_empty(effort),
        // The test above was exact for it.
        [only] if only.determined(effort)?.len() == 1 => return small.is_empty(effort),
        _ => {}
    }
    let mut pieces = vec![(small.clone(), 0)];
    let mut made = 0;
    while let Some((piece, at)) = pieces.pop() {
        if piece.is_empty(effort)? {
            continue;
        }
        let Some(member) = near.get(at) else { return Ok(false) };
        let mut rest = Vec::new();
        subtract_one(piece, member, &mut rest, effort)?;
        made += rest.len();
        if made > PIECES {
            return Err(Exhausted);
        }
        pieces.extend(rest.into_iter().map(|p| (p, at + 1)));
    }
    Ok(true)
}

/// Whether every point of `small` is in `big`.
fn inside(small: &Conjunct, big: &Conjunct, effort: &Effort) -> Result<bool, Exhausted> {
    if let Some(answer) = box_inside(small, big) {
        return Ok(answer);
    }
    let disjuncts = big.determined(effort)?;
    // Several disjuncts need the general way.
    let [only] = disjuncts.as_slice() else { return Ok(false) };
    let (base, first) = with_definitions(small, only);
    let outside = |row: Row| -> Result<bool, Exhausted> {
        let mut piece = base.clone();
        piece.push_inequality(row);
        Ok(!piece.is_empty(effort)?)
    };
    let own = &small.shape().bounds;
    for row in &only.inequalities {
        if !least(row, own).is_none_or(|v| v.is_negative()) {
            continue;
        }
        let row = small_row(small, row, first);
        if !base.inequalities.contains(&row) && outside(complement(&row))? {
            return Ok(false);
        }
    }
    for row in &only.equations {
        let row = small_row(small, row, first);
        if base.equations.contains(&row) {
            continue;
        }
        if outside(complement(&row))? || outside(complement(&negated(&row)))? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Decides inclusion by intervals alone, where that is enough.
fn box_inside(small: &Conjunct, big: &Conjunct) -> Option<bool> {
    if big.hidden > 0 {
        return None;
    }
    let shape = small.shape();
    let holds = |row: &[Int]| least(row, &shape.bounds).is_some_and(|v| !v.is_negative());
    let all = big.inequalities.iter().all(|r| holds(r))
        && big.equations.iter().all(|r| holds(r) && holds(&negated(r)));
    // In a box the least value of a form is taken.
    if all || shape.is_box { Some(all) } else { None }
}

/// The least value of a form in a box; `None` if there is none, or if the form has hidden columns.
fn least(row: &[Int], bounds: &[Bounds]) -> Option<Int> {
    let mut sum = row[0].clone();
    for (i, c) in row[1..].iter().enumerate() {
        if c.is_zero() {
            continue;
        }
        let (low, high) = bounds.get(i)?;
        let end = if c.is_positive() { low } else { high };
        sum += &(c * end.as_ref()?);
    }
    Some(sum)
}

/// `piece` minus `member`, appended to `out`; pieces that are empty are left out.
fn subtract_one(
    piece: Conjunct,
    member: &Conjunct,
    out: &mut Vec<Conjunct>,
    effort: &Effort,
) -> Result<(), Exhausted> {
    let (a, b) = (piece.shape(), member.shape());
    let apart = boxes_disjoint(&a.bounds, &b.bounds);
    if member.empty || apart || !(a.is_box && b.is_box) && piece.intersect(member).is_empty(effort)? {
        out.push(piece);
        return Ok(());
    }
    let mut pieces = vec![piece];
    for disjunct in member.determined(effort)?.iter() {
        let mut next = Vec::new();
        for piece in pieces {
            minus(piece, disjunct, &mut next, effort)?;
        }
        pieces = next;
    }
    out.append(&mut pieces);
    Ok(())
}

/// One piece per violated constraint, each satisfying the constraints before it: the pieces are disjoint.
fn minus(
    piece: Conjunct,
    disjunct: &Determined,
    out: &mut Vec<Conjunct>,
    effort: &Effort,
) -> Result<(), Exhausted> {
    let (mut inside, first) = with_definitions(&piece, disjunct);
    let mut constraints: Vec<Row> = Vec::new();
    for row in &disjunct.equations {
        constraints.push(small_row(&piece, row, first));
        constraints.push(negated(&small_row(&piece, row, first)));
    }
    constraints.extend(disjunct.inequalities.iter().map(|row| small_row(&piece, row, first)));
    let start = out.len();
    for row in constraints {
        let mut outside = inside.clone();
        outside.push_inequality(complement(&row));
        if outside.is_empty(effort)? {
            continue;
        }
        outside.simplify();
        out.push(outside);
        inside.push_inequality(row);
    }
    if out.len() > start && inside.is_empty(effort)? {
        // The two do not meet: the piece as it was is simpler than its fragments.
        out.truncate(start);
        out.push(piece);
    }
    Ok(())
}

/// The conjunct with the hidden columns of `disjunct` and their definitions, and where those columns start.
fn with_definitions(conjunct: &Conjunct, disjunct: &Determined) -> (Conjunct, usize) {
    let mut out = conjunct.clone();
    let first = out.add_hidden(disjunct.hidden);
    for row in &disjunct.definitions {
        let moved = out.moved(row, first);
        out.inequalities.push(moved);
    }
    (out, first)
}

/// A row of `disjunct` over the columns of [`with_definitions`].
fn small_row(conjunct: &Conjunct, row: &[Int], first: usize) -> Row {
    let visible = conjunct.visible;
    let mut out = vec![Int::ZERO; first + row.len() - 1 - visible];
    out[..=visible].clone_from_slice(&row[..=visible]);
    out[first..].clone_from_slice(&row[visible + 1..]);
    out
}
