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
    is_wide: bool,
    others: Others,
    /// For each component its field before and now.
    fields: Vec<(Field, Field)>,
}

impl Layouts {
    /// With the fields of all components; whether names were and are wide, and what numbers stood
    /// for.
    pub(super) fn new(
        fields: Vec<(Field, Field)>,
        (was_wide, is_wide): (bool, bool),
        others: Others,
    ) -> Self {
        let mut moves: Vec<(Tuple, u32)> = Vec::new();
        for (from, to) in &fields {
            let by = to.shift.wrapping_sub(from.shift) % Tuple::BITS;
            match moves.iter_mut().find(|(_, other)| *other == by) {
                Some((bits, _)) => *bits |= from.mask(),
                None => moves.push((from.mask(), by)),
            }
        }
        let short = moves.iter().map(|&(bits, by)| (bits as u64, by % u64::BITS)).collect();
        let short = (!was_wide && !is_wide).then_some(short);
        Layouts { short, moves, was_wide, is_wide, others, fields }
    }

    /// The tuple, as it is laid out now, of a name that was given before.
    #[inline]
    pub(super) fn translate(&self, name: StateRef) -> Tuple {
        if let Some(short) = &self.short {
            return short.iter().fold(0, |new, &(bits, by)| new | (name.0 & bits).rotate_left(by)).into();
        }
        self.word(expand(self.was_wide, &self.others, name))
    }

    /// Whether what was known of names by their fields can be told of the new ones: names have as much of
    /// their tuples as before, and no component has bits that had none.
    pub fn keep_fields(&self) -> bool {
        self.was_wide == self.is_wide && self.fields.iter().all(|(from, to)| from.width > 0 || to.width == 0)
    }

    /// Fields of an old tuple, or the differences of two, as they are laid out now.
    #[inline]
    pub fn word(&self, old: Tuple) -> Tuple {
        self.moves.iter().fold(0, |new, &(bits, by)| new | (old & bits).rotate_left(by))
    }

    /// The bits of the fields, as they are now, that had all their bits in an old mask.
    pub fn mask(&self, old: Tuple) -> Tuple {
        let within = |&&(from, _): &&(Field, Field)| from.width > 0 && from.mask() & !old == 0;
        self.fields.iter().filter(within).fold(0, |new, (_, to)| new | to.mask())
    }
}
