//! States that were met lately, so that they are not looked up once more.
//!
//! Steps of different processes commute, and the searches expand states together that are near each other:
//! two thirds to three quarters of all targets of some models are among the last few thousand that were met, while
//! the table of all states is far away in memory. Their names are kept here in a small table in which a name has
//! one place. What is found in it was given to the store before, so nothing is to be done for it but to count the
//! step.
//!
//! Where few targets are found it costs more than it brings, so it is looked how many are, and if they are few
//! it rests for a while.

use volee_store::StateRef;

/// Names that are kept. They are to stay near the processor, beside all else that a search uses.
const SIZE: usize = 1 << 14;
/// Targets after which it is looked how many of them were found.
const LOOK: u64 = 1 << 14;
/// Targets for which it rests where few are found.
const REST: u64 = 1 << 19;
/// A table of states of so many bytes is near the processor itself.
pub(crate) const NEAR: u64 = 1 << 20;

/// No name has all bits.
const NONE: u64 = u64::MAX;

/// The names, each in its place.
pub(crate) type Names = [u64; SIZE];

/// Where a name is.
#[inline(always)]
pub(crate) fn place(name: StateRef) -> usize {
    (name.0.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (u64::BITS - SIZE.trailing_zeros())) as usize
}

/// The names of states that were met lately.
#[derive(Debug, Default)]
pub(crate) struct Recent {
    names: Option<Box<Names>>,
    is_on: bool,
    /// Targets that were found since the last look.
    found: u64,
    /// Steps of the search at the last look, and at the next one.
    looked: u64,
    next: u64,
}

impl Recent {
    /// Bytes that it takes once it is used.
    pub const BYTES: u64 = (SIZE * 8) as u64;

    /// Whether it is used.
    #[inline(always)]
    pub fn is_on(&self) -> bool {
        self.is_on
    }

    /// The names, where it was ever used.
    #[inline(always)]
    pub fn names(&mut self) -> Option<&mut Names> {
        self.names.as_deref_mut()
    }

    /// Names have changed.
    pub fn clear(&mut self) {
        if let Some(names) = &mut self.names {
            names.fill(NONE);
        }
    }

    /// Bytes in use.
    pub fn bytes(&self) -> u64 {
        if self.names.is_some() { Self::BYTES } else { 0 }
    }

    /// So many targets were found.
    #[inline(always)]
    pub fn found(&mut self, count: u64) {
        self.found += count;
    }

    /// Whether it is to be looked at after so many steps.
    #[inline(always)]
    pub fn is_due(&self, steps: u64) -> bool {
        steps >= self.next
    }

    /// Looks after so many steps whether it pays, which is so where two of three targets are found, or begins
    /// where it may and the table of states is far.
    #[cold]
    pub fn look(&mut self, steps: u64, far: bool, may: bool) {
        let pays = !self.is_on || self.found * 3 >= (steps - self.looked) * 2;
        self.is_on = pays && far && (self.names.is_some() || may);
        if self.is_on && self.names.is_none() {
            self.names = vec![NONE; SIZE].into_boxed_slice().try_into().ok();
        }
        let pause = if self.is_on || !far { LOOK } else { REST };
        (self.found, self.looked, self.next) = (0, steps, steps + pause);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// It begins where the table is far, goes on while two of three targets are found, and rests otherwise.
    #[test]
    fn it_is_used_where_it_pays() {
        let mut recent = Recent::default();
        recent.look(0, false, true);
        assert!(!recent.is_on() && recent.bytes() == 0 && !recent.is_due(LOOK - 1) && recent.is_due(LOOK));
        recent.look(LOOK, true, false);
        assert!(!recent.is_on(), "there is no room");
        recent.look(LOOK, true, true);
        assert!(recent.is_on() && recent.bytes() == Recent::BYTES);
        recent.found(LOOK / 3 * 2 + 1);
        recent.look(2 * LOOK, true, true);
        assert!(recent.is_on());
        recent.found(LOOK / 2);
        recent.look(3 * LOOK, true, true);
        assert!(!recent.is_on() && !recent.is_due(3 * LOOK + REST - 1) && recent.is_due(3 * LOOK + REST));
    }

    #[test]
    fn a_cleared_table_knows_nothing() {
        let mut recent = Recent::default();
        recent.look(0, true, true);
        let name = StateRef(77);
        recent.names().expect("it is on")[place(name)] = name.0;
        recent.clear();
        assert!(recent.names().expect("it is on").iter().all(|known| *known == NONE));
        assert!((0..1 << 20).all(|name| place(StateRef(name << 44 | name)) < SIZE));
    }
}
