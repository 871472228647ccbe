//! From one layout of names to the next.
//!
//! When a field becomes wider, those beside it move. Fields that move by the same distance move together, so
//! that a name is translated in two or three steps, however many components there are: a table of millions of
//! names is translated whenever one field is too narrow.

use super::{Field, Tuple, expand};
use crate::StateRef;
use crate::others::Others;

/// How names were laid out, and how they are now.
#[derive(Debug, Clone)]
pub struct Layouts {
    /// Bits of old tuples, and how far to the left they move, around the end.
    moves: Vec<(Tuple, u32)>,
    /// The same, where names have all fields themselves, before and now.
    short: Option<Vec<(u64, u32)>>,
    was_wide: bool,
    others: Others,
}

impl Layouts {
    /// For each component its field before and now; whether names were and are wide, and what numbers stood
    /// for.
    pub(super) fn new(fields: &[(Field, Field)], (was_wide, is_wide): (bool, bool), others: Others) -> Self {
        let mut moves: Vec<(Tuple, u32)> = Vec::new();
        for (from, to) in fields {
            let by = to.shift.wrapping_sub(from.shift) % Tuple::BITS;
            match moves.iter_mut().find(|(_, other)| *other == by) {
                Some((bits, _)) => *bits |= from.mask(),
                None => moves.push((from.mask(), by)),
            }
        }
        let short = moves.iter().map(|&(bits, by)| (bits as u64, by % u64::BITS)).collect();
        Layouts { short: (!was_wide && !is_wide).then_some(short), moves, was_wide, others }
    }

    /// The tuple, as it is laid out now, of a name that was given before.
    #[inline]
    pub(super) fn translate(&self, name: StateRef) -> Tuple {
        if let Some(short) = &self.short {
            return short.iter().fold(0, |new, &(bits, by)| new | (name.0 & bits).rotate_left(by)).into();
        }
        let old = expand(self.was_wide, &self.others, name);
        self.moves.iter().fold(0, |new, &(bits, by)| new | (old & bits).rotate_left(by))
    }
}
