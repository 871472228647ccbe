//! What remembered steps are keyed by: the name of a state where it has all fields itself, or else the whole
//! tuple.

use std::ops::{BitAnd, BitOr, BitXor};

use volee_store::{Field, StateRef, Tuple, Tuples};

use super::{INLINE, Stage};

/// What names stand for: the name itself, or more bits than a name has.
pub(crate) trait Word:
    Copy + Eq + Default + BitAnd<Output = Self> + BitOr<Output = Self> + BitXor<Output = Self>
{
    const ALL: Self;

    fn of(tuples: &Tuples, name: StateRef) -> Self;
    fn of_tuple(tuple: Tuple) -> Self;
    fn tuple(self) -> Tuple;
    fn mask(field: Field) -> Self;
    fn number(self, field: Field) -> usize;
    fn hash(self) -> u64;
    fn bits(self) -> u32;
    /// A place in an array, kept where a word would be.
    fn from_place(place: usize) -> Self;
    fn place(self) -> usize;

    /// The name that stands for it, if there is one; most words differ little from that of the state beside them.
    fn name(self, tuples: &mut Tuples, beside: (StateRef, Self)) -> Option<StateRef>;

    /// Gives the first `count` of these to `stage`. `None` where one has no name.
    fn stage(
        words: [Self; INLINE],
        count: usize,
        naming: (&mut Tuples, (StateRef, Self)),
        stage: &mut impl Stage,
    ) -> Option<()>;
}

impl Word for u64 {
    const ALL: u64 = u64::MAX;

    #[inline(always)]
    fn of(_: &Tuples, name: StateRef) -> u64 {
        name.0
    }

    fn of_tuple(tuple: Tuple) -> u64 {
        tuple as u64
    }

    fn tuple(self) -> Tuple {
        Tuple::from(self)
    }

    #[inline(always)]
    fn mask(field: Field) -> u64 {
        field.mask() as u64
    }

    #[inline(always)]
    fn number(self, field: Field) -> usize {
        field.of_ref(StateRef(self))
    }

    #[inline(always)]
    fn hash(self) -> u64 {
        self
    }

    fn bits(self) -> u32 {
        self.count_ones()
    }

    fn from_place(place: usize) -> u64 {
        place as u64
    }

    fn place(self) -> usize {
        self as usize
    }

    #[inline(always)]
    fn name(self, _: &mut Tuples, _: (StateRef, u64)) -> Option<StateRef> {
        Some(StateRef(self))
    }

    #[inline(always)]
    fn stage(
        words: [u64; INLINE],
        count: usize,
        _: (&mut Tuples, (StateRef, u64)),
        stage: &mut impl Stage,
    ) -> Option<()> {
        stage.up_to_two(words.map(StateRef), count);
        Some(())
    }
}

impl Word for Tuple {
    const ALL: Tuple = Tuple::MAX;

    #[inline(always)]
    fn of(tuples: &Tuples, name: StateRef) -> Tuple {
        tuples.tuple(name)
    }

    fn of_tuple(tuple: Tuple) -> Tuple {
        tuple
    }

    fn tuple(self) -> Tuple {
        self
    }

    #[inline(always)]
    fn mask(field: Field) -> Tuple {
        field.mask()
    }

    #[inline(always)]
    fn number(self, field: Field) -> usize {
        field.of(self)
    }

    #[inline(always)]
    fn hash(self) -> u64 {
        self as u64 ^ ((self >> 64) as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29)
    }

    fn bits(self) -> u32 {
        self.count_ones()
    }

    fn from_place(place: usize) -> Tuple {
        place as Tuple
    }

    fn place(self) -> usize {
        self as usize
    }

    #[inline(always)]
    fn name(self, tuples: &mut Tuples, beside: (StateRef, Tuple)) -> Option<StateRef> {
        tuples.name_beside(self, beside)
    }

    #[inline(always)]
    fn stage(
        words: [Tuple; INLINE],
        count: usize,
        (tuples, beside): (&mut Tuples, (StateRef, Tuple)),
        stage: &mut impl Stage,
    ) -> Option<()> {
        for &word in &words[..count] {
            stage.one(word.name(tuples, beside)?);
        }
        Some(())
    }
}
