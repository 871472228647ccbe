//! Sets of values: a few known ones, or all between two bounds. Every operation gives a set that has at least
//! all results.

use std::collections::BTreeSet;

use crate::model::{BinaryOp, Type, UnaryOp};

/// More values than this are told by their bounds only.
const FEW: usize = 32;
/// More pairs than this are not tried one by one.
const PAIRS: usize = 256;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Set {
    Few(BTreeSet<i32>),
    Range(i32, i32),
}

impl Set {
    pub(crate) fn none() -> Self {
        Set::Few(BTreeSet::new())
    }

    pub(crate) fn one(value: i32) -> Self {
        Set::Few(BTreeSet::from([value]))
    }

    pub(crate) fn all() -> Self {
        Set::Range(i32::MIN, i32::MAX)
    }

    fn truth() -> Self {
        Set::Few(BTreeSet::from([0, 1]))
    }

    /// Everything a variable of the type can hold.
    pub(crate) fn of_type(ty: Type) -> Self {
        let (low, high) = bounds_of(ty);
        if high - low < FEW as i64 {
            (low as i32..=high as i32).collect()
        } else {
            Set::Range(low as i32, high as i32)
        }
    }

    fn between(low: i64, high: i64) -> Self {
        match (i32::try_from(low), i32::try_from(high)) {
            (Ok(low), Ok(high)) => Set::Range(low, high),
            _ => Set::all(),
        }
    }

    /// The least and the greatest; none if the set is empty.
    pub(crate) fn bounds(&self) -> Option<(i32, i32)> {
        match self {
            Set::Few(all) => Some((*all.first()?, *all.last()?)),
            Set::Range(low, high) => Some((*low, *high)),
        }
    }

    pub(crate) fn contains(&self, value: i32) -> bool {
        match self {
            Set::Few(all) => all.contains(&value),
            Set::Range(low, high) => (*low..=*high).contains(&value),
        }
    }

    /// The values one by one, if there are at most `most`.
    pub(crate) fn values(&self, most: usize) -> Option<Vec<i32>> {
        match self {
            Set::Few(all) => (all.len() <= most).then(|| all.iter().copied().collect()),
            Set::Range(low, high) => {
                (i64::from(*high) - i64::from(*low) < most as i64).then(|| (*low..=*high).collect())
            }
        }
    }

    pub(crate) fn join(&self, other: &Set) -> Set {
        if let (Set::Few(a), Set::Few(b)) = (self, other) {
            return a.union(b).copied().collect();
        }
        match (self.bounds(), other.bounds()) {
            (Some((a, b)), Some((c, d))) => Set::Range(a.min(c), b.max(d)),
            (None, _) => other.clone(),
            _ => self.clone(),
        }
    }

    /// `next` with every bound that moved since `self` moved on to that of the type, so that growing ends.
    pub(crate) fn widen(&self, next: &Set, ty: Type) -> Set {
        let (Some((a, b)), Some((c, d))) = (self.bounds(), next.bounds()) else { return next.clone() };
        let (low, high) = bounds_of(ty);
        Set::Range(if c < a { low as i32 } else { c }, if d > b { high as i32 } else { d })
    }

    /// What is left of the set where `value op bound` is true.
    pub(crate) fn where_true(&self, op: BinaryOp, bound: i32) -> Set {
        let holds = |value: i32| apply(op, value, bound) != 0;
        match self {
            Set::Few(all) => all.iter().copied().filter(|&v| holds(v)).collect(),
            Set::Range(low, high) => {
                let (mut low, mut high) = (i64::from(*low), i64::from(*high));
                let bound = i64::from(bound);
                match op {
                    BinaryOp::Lt => high = high.min(bound - 1),
                    BinaryOp::Le => high = high.min(bound),
                    BinaryOp::Gt => low = low.max(bound + 1),
                    BinaryOp::Ge => low = low.max(bound),
                    BinaryOp::Eq => (low, high) = (low.max(bound), high.min(bound)),
                    BinaryOp::Ne if bound == low => low += 1,
                    BinaryOp::Ne if bound == high => high -= 1,
                    _ => {}
                }
                if low > high { Set::none() } else { Set::between(low, high) }
            }
        }
    }

    /// As it is after being stored in a variable of the type.
    pub(crate) fn stored(&self, ty: Type) -> Set {
        let (low, high) = bounds_of(ty);
        let fits = |v: i32| (low..=high).contains(&i64::from(v));
        match self {
            Set::Few(all) => all.iter().map(|&v| if fits(v) { v } else { cut(v, ty) }).collect(),
            Set::Range(a, b) if fits(*a) && fits(*b) => self.clone(),
            Set::Range(..) => Set::of_type(ty),
        }
    }

    pub(crate) fn unary(op: UnaryOp, of: &Set) -> Set {
        match (of, op) {
            (Set::Few(all), _) => all.iter().map(|&v| op.apply(v)).collect(),
            (_, UnaryOp::Not) => Set::truth(),
            (Set::Range(a, b), UnaryOp::Negate) => Set::between(-i64::from(*b), -i64::from(*a)),
            (Set::Range(a, b), UnaryOp::Complement) => Set::Range(!b, !a),
        }
    }

    pub(crate) fn binary(op: BinaryOp, left: &Set, right: &Set) -> Set {
        if let (Set::Few(a), Set::Few(b)) = (left, right)
            && a.len() * b.len() <= PAIRS
        {
            return a.iter().flat_map(|&x| b.iter().map(move |&y| apply(op, x, y))).collect();
        }
        let (Some((a, b)), Some((c, d))) = (left.bounds(), right.bounds()) else { return Set::none() };
        let (a, b, c, d) = (i64::from(a), i64::from(b), i64::from(c), i64::from(d));
        match op {
            BinaryOp::Add => Set::between(a + c, b + d),
            BinaryOp::Sub => Set::between(a - d, b - c),
            BinaryOp::Mul => {
                let all = [a * c, a * d, b * c, b * d];
                Set::between(*all.iter().min().unwrap_or(&a), *all.iter().max().unwrap_or(&b))
            }
            BinaryOp::Div if c > 0 => Set::between((a / c).min(a / d), (b / c).max(b / d)),
            BinaryOp::Rem if c > 0 && a >= 0 => Set::between(0, b.min(d - 1)),
            BinaryOp::Rem if c > 0 => Set::between(1 - d, d - 1),
            BinaryOp::BitAnd if a >= 0 && c >= 0 => Set::between(0, b.min(d)),
            BinaryOp::Shr if a >= 0 && c >= 0 => Set::between(0, b),
            BinaryOp::Lt => decided(b < c, a >= d),
            BinaryOp::Le => decided(b <= c, a > d),
            BinaryOp::Gt => decided(a > d, b <= c),
            BinaryOp::Ge => decided(a >= d, b < c),
            BinaryOp::Eq => decided(false, b < c || d < a),
            BinaryOp::Ne => decided(b < c || d < a, false),
            BinaryOp::And | BinaryOp::Or => Set::truth(),
            _ => Set::all(),
        }
    }
}

impl FromIterator<i32> for Set {
    fn from_iter<I: IntoIterator<Item = i32>>(values: I) -> Self {
        let all: BTreeSet<i32> = values.into_iter().collect();
        match (all.len() > FEW, all.first(), all.last()) {
            (true, Some(&low), Some(&high)) => Set::Range(low, high),
            _ => Set::Few(all),
        }
    }
}

fn decided(is_true: bool, is_false: bool) -> Set {
    match (is_true, is_false) {
        (true, _) => Set::one(1),
        (_, true) => Set::one(0),
        _ => Set::truth(),
    }
}

/// The value of an operation; where it has none (division by zero) any will do, as the step fails.
pub(crate) fn apply(op: BinaryOp, a: i32, b: i32) -> i32 {
    op.apply(a, b).unwrap_or(0)
}

/// The least and the greatest value of a type.
pub(crate) fn bounds_of(ty: Type) -> (i64, i64) {
    match ty {
        Type::Bit => (0, 1),
        Type::Byte | Type::Pid | Type::Mtype(_) | Type::Chan => (0, 255),
        Type::Short => (i64::from(i16::MIN), i64::from(i16::MAX)),
        Type::Int | Type::Struct(_) => (i64::from(i32::MIN), i64::from(i32::MAX)),
        Type::Unsigned(bits) => (0, (1i64 << bits) - 1),
    }
}

/// A value cut to a type.
pub(crate) fn cut(value: i32, ty: Type) -> i32 {
    match ty {
        Type::Bit => value & 1,
        Type::Byte | Type::Pid | Type::Mtype(_) | Type::Chan => value & 255,
        Type::Short => i32::from(value as i16),
        Type::Int | Type::Struct(_) => value,
        Type::Unsigned(bits) => value & ((1i64 << bits) - 1) as i32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPS: [BinaryOp; 18] = [
        BinaryOp::Add,
        BinaryOp::Sub,
        BinaryOp::Mul,
        BinaryOp::Div,
        BinaryOp::Rem,
        BinaryOp::BitAnd,
        BinaryOp::BitXor,
        BinaryOp::BitOr,
        BinaryOp::Shl,
        BinaryOp::Shr,
        BinaryOp::Lt,
        BinaryOp::Le,
        BinaryOp::Gt,
        BinaryOp::Ge,
        BinaryOp::Eq,
        BinaryOp::Ne,
        BinaryOp::And,
        BinaryOp::Or,
    ];

    #[test]
    fn an_operation_on_ranges_has_every_result_of_its_values() {
        let ranges = [(-3, 40), (0, 60), (5, 45), (-50, -5), (1, 70), (7, 7)];
        for op in OPS {
            for (a, b) in ranges {
                for (c, d) in ranges {
                    let set = Set::binary(op, &Set::Range(a, b), &Set::Range(c, d));
                    for x in a..=b {
                        for y in c..=d {
                            // A division by zero has no result.
                            let partial = matches!(op, BinaryOp::Div | BinaryOp::Rem);
                            let value = apply(op, x, y);
                            assert!(partial && y == 0 || set.contains(value), "{x} {op:?} {y} in {set:?}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn what_a_condition_leaves_is_what_satisfies_it() {
        for op in &OPS[10..16] {
            for bound in -2..14 {
                let all = Set::Range(0, 11);
                let left = all.where_true(*op, bound);
                for v in 0..=11 {
                    assert!(apply(*op, v, bound) == 0 || left.contains(v), "{v} {op:?} {bound}");
                }
            }
        }
    }

    #[test]
    fn what_is_stored_fits_its_type() {
        for ty in [Type::Bit, Type::Byte, Type::Short, Type::Unsigned(3)] {
            let (low, high) = bounds_of(ty);
            for value in [-70_000, -1, 0, 1, 2, 7, 8, 255, 256, 40_000, i32::MAX] {
                let stored = Set::one(value).stored(ty);
                let (a, b) = stored.bounds().expect("one value");
                assert!(low <= i64::from(a) && i64::from(b) <= high, "{value} in {ty:?}");
            }
        }
    }
}
