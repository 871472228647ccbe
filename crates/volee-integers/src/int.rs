//! Exact integers: a machine word while it is enough, a big integer as soon as it is not.
//!
//! Coefficients of counter programs are tiny, but elimination multiplies them, so an overflow must not end an
//! analysis and must never be wrong. The representation is canonical (`Big` only outside `i64`), so equality
//! and hashing are structural.

use std::cmp::Ordering;
use std::fmt;
use std::ops::{Add, AddAssign, Mul, Neg, Sub};

use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{Signed, ToPrimitive, Zero};

/// An integer of any size.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Int(Repr);

#[derive(Clone, PartialEq, Eq, Hash)]
enum Repr {
    Small(i64),
    Big(Box<BigInt>),
}

use Repr::{Big, Small};

impl Int {
    /// Zero.
    pub const ZERO: Int = Int(Small(0));
    /// One.
    pub const ONE: Int = Int(Small(1));
    /// Minus one.
    pub const MINUS_ONE: Int = Int(Small(-1));

    fn from_i128(value: i128) -> Self {
        match i64::try_from(value) {
            Ok(small) => Int(Small(small)),
            Err(_) => Int(Big(Box::new(BigInt::from(value)))),
        }
    }

    fn from_big(value: BigInt) -> Self {
        match value.to_i64() {
            Some(small) => Int(Small(small)),
            None => Int(Big(Box::new(value))),
        }
    }

    /// The same number as a big integer.
    pub fn to_big(&self) -> BigInt {
        match &self.0 {
            Small(a) => BigInt::from(*a),
            Big(a) => (**a).clone(),
        }
    }

    /// The same number as a machine word, if it fits.
    pub fn to_i64(&self) -> Option<i64> {
        match &self.0 {
            Small(a) => Some(*a),
            Big(_) => None,
        }
    }

    /// Whether this is 0.
    #[inline]
    pub fn is_zero(&self) -> bool {
        matches!(self.0, Small(0))
    }

    /// Whether this is 1.
    #[inline]
    pub fn is_one(&self) -> bool {
        matches!(self.0, Small(1))
    }

    /// Whether this is 1 or -1.
    #[inline]
    pub fn is_unit(&self) -> bool {
        matches!(self.0, Small(1 | -1))
    }

    /// Whether this is below 0.
    #[inline]
    pub fn is_negative(&self) -> bool {
        match &self.0 {
            Small(a) => *a < 0,
            Big(a) => a.is_negative(),
        }
    }

    /// Whether this is above 0.
    #[inline]
    pub fn is_positive(&self) -> bool {
        match &self.0 {
            Small(a) => *a > 0,
            Big(a) => a.is_positive(),
        }
    }

    /// The absolute value.
    #[must_use]
    pub fn abs(&self) -> Int {
        if self.is_negative() { -self } else { self.clone() }
    }

    /// The greatest common divisor, never negative; `gcd(0, 0) = 0`.
    #[must_use]
    pub fn gcd(&self, other: &Int) -> Int {
        match (&self.0, &other.0) {
            (Small(a), Small(b)) => Int::from_i128(i128::from(gcd_u64(a.unsigned_abs(), b.unsigned_abs()))),
            _ => Int::from_big(self.to_big().gcd(&other.to_big())),
        }
    }

    /// The quotient rounded towards minus infinity.
    ///
    /// # Panics
    /// `other` is 0.
    #[must_use]
    pub fn div_floor(&self, other: &Int) -> Int {
        match (&self.0, &other.0) {
            (Small(_), Small(-1)) => -self,
            (Small(a), Small(b)) => Int(Small(Integer::div_floor(a, b))),
            _ => Int::from_big(self.to_big().div_floor(&other.to_big())),
        }
    }

    /// The quotient rounded towards plus infinity.
    ///
    /// # Panics
    /// `other` is 0.
    #[must_use]
    pub fn div_ceil(&self, other: &Int) -> Int {
        -&(-self).div_floor(other)
    }

    /// The remainder of [`Int::div_floor`]: it has the sign of `other`.
    ///
    /// # Panics
    /// `other` is 0.
    #[must_use]
    pub fn mod_floor(&self, other: &Int) -> Int {
        self - &(&self.div_floor(other) * other)
    }

    /// Whether `self` divides `other`; 0 divides only 0.
    pub fn divides(&self, other: &Int) -> bool {
        if self.is_zero() { other.is_zero() } else { other.mod_floor(self).is_zero() }
    }

    /// `a * b + c * d`, the step of every elimination.
    #[inline]
    #[must_use]
    pub fn cross(a: &Int, b: &Int, c: &Int, d: &Int) -> Int {
        if let (Small(a), Small(b), Small(c), Small(d)) = (&a.0, &b.0, &c.0, &d.0) {
            let left = i128::from(*a) * i128::from(*b);
            let right = i128::from(*c) * i128::from(*d);
            if let Some(sum) = left.checked_add(right) {
                return Int::from_i128(sum);
            }
        }
        &(a * b) + &(c * d)
    }
}

fn gcd_u64(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

impl Default for Int {
    fn default() -> Self {
        Int::ZERO
    }
}

impl From<i64> for Int {
    fn from(value: i64) -> Self {
        Int(Small(value))
    }
}

impl From<i32> for Int {
    fn from(value: i32) -> Self {
        Int(Small(i64::from(value)))
    }
}

impl From<usize> for Int {
    fn from(value: usize) -> Self {
        Int::from_i128(value as i128)
    }
}

impl From<BigInt> for Int {
    fn from(value: BigInt) -> Self {
        Int::from_big(value)
    }
}

impl<'a> Add<&'a Int> for &'a Int {
    type Output = Int;
    #[inline]
    fn add(self, other: &Int) -> Int {
        if let (Small(a), Small(b)) = (&self.0, &other.0)
            && let Some(sum) = a.checked_add(*b)
        {
            return Int(Small(sum));
        }
        Int::from_big(self.to_big() + other.to_big())
    }
}

impl<'a> Sub<&'a Int> for &'a Int {
    type Output = Int;
    #[inline]
    fn sub(self, other: &Int) -> Int {
        if let (Small(a), Small(b)) = (&self.0, &other.0)
            && let Some(difference) = a.checked_sub(*b)
        {
            return Int(Small(difference));
        }
        Int::from_big(self.to_big() - other.to_big())
    }
}

impl<'a> Mul<&'a Int> for &'a Int {
    type Output = Int;
    #[inline]
    fn mul(self, other: &Int) -> Int {
        if let (Small(a), Small(b)) = (&self.0, &other.0) {
            return Int::from_i128(i128::from(*a) * i128::from(*b));
        }
        Int::from_big(self.to_big() * other.to_big())
    }
}

impl Neg for &Int {
    type Output = Int;
    #[inline]
    fn neg(self) -> Int {
        match &self.0 {
            Small(a) => Int::from_i128(-i128::from(*a)),
            Big(a) => Int::from_big(-(**a).clone()),
        }
    }
}

impl Neg for Int {
    type Output = Int;
    fn neg(self) -> Int {
        -&self
    }
}

impl AddAssign<&Int> for Int {
    #[inline]
    fn add_assign(&mut self, other: &Int) {
        *self = &*self + other;
    }
}

impl PartialOrd for Int {
    fn partial_cmp(&self, other: &Int) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Int {
    #[inline]
    fn cmp(&self, other: &Int) -> Ordering {
        match (&self.0, &other.0) {
            (Small(a), Small(b)) => a.cmp(b),
            // A big number lies outside the machine words, so its sign decides against any small one.
            (Small(_), Big(b)) => BigInt::zero().cmp(b),
            (Big(a), Small(_)) => (**a).cmp(&BigInt::zero()),
            (Big(a), Big(b)) => a.cmp(b),
        }
    }
}

impl fmt::Display for Int {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Small(a) => fmt::Display::fmt(a, f),
            Big(a) => fmt::Display::fmt(&**a, f),
        }
    }
}

impl fmt::Debug for Int {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overflow_grows_and_shrinks_back() {
        let max = Int::from(i64::MAX);
        let more = &max + &Int::ONE;
        assert_eq!(more.to_string(), "9223372036854775808");
        assert!(more > max);
        assert_eq!(&more - &Int::ONE, max);
        assert_eq!((-&Int::from(i64::MIN)).to_string(), "9223372036854775808");
        assert_eq!(Int::from(i64::MIN).gcd(&Int::ZERO).to_string(), "9223372036854775808");
        let square = &more * &more;
        assert_eq!(square.div_floor(&more), more);
    }

    #[test]
    fn division_rounds_down_and_up() {
        for a in -7..=7_i64 {
            for b in [-3, -2, -1, 1, 2, 3_i64] {
                let exact = a as f64 / b as f64;
                assert_eq!(Int::from(a).div_floor(&b.into()), Int::from(exact.floor() as i64));
                assert_eq!(Int::from(a).div_ceil(&b.into()), Int::from(exact.ceil() as i64));
            }
        }
    }

    #[test]
    fn cross_products_survive_extremes() {
        let m = Int::from(i64::MIN);
        let expected = BigInt::from(i64::MIN) * BigInt::from(i64::MIN) * BigInt::from(2);
        assert_eq!(Int::cross(&m, &m, &m, &m), Int::from(expected));
    }
}
