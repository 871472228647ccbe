//! States that were met lately, so that they are not looked up once more.
//!
//! Steps of different processes commute, and the searches expand states together that are near each other:
//! two thirds to three quarters of all targets of some models are among the last few thousand that were met, while
//! the table of all states is far away in memory. Their names are kept here in a small table in which a name has
//! one place. What is found in it was given to the store before, so nothing is to be done for it but to count the
//! step.
//!
//! Where few targets are found it costs more than it brings, so it is looked how many are, and if they are few
//! it rests, longer each time.

use volee_store::StateRef;

/// Names that are kept. They are to stay near the processor, beside all else that a search uses.
const SIZE: usize = 1 << 14;
/// Steps after which it is looked how many of their targets were found, at first and later.
const TRY: u64 = 1 << 14;
const LOOK: u64 = 1 << 16;
/// Steps for which it rests where few are found, the first time and at most.
const REST: u64 = 1 << 18;
const LONGEST: u64 = 1 << 23;
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
    /// How long it has rested last.
    rested: u64,
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

    /// Looks after so many steps whether it pays, which is so where eleven of twenty targets are found, or begins
    /// where it may and the table of states is far.
    #[cold]
    pub fn look(&mut self, steps: u64, far: bool, may: bool) {
        let was_on = self.is_on;
        let pays = self.found * 20 >= (steps - self.looked) * 11;
        self.is_on = (pays || !was_on) && far && (self.names.is_some() || may);
        if self.is_on && self.names.is_none() {
            self.names = vec![NONE; SIZE].into_boxed_slice().try_into().ok();
        }
        let pause = match (was_on, self.is_on) {
            (true, false) => {
                self.rested = (self.rested * 2).clamp(REST, LONGEST);
                self.rested
            }
            (true, true) => {
                self.rested = 0;
                LOOK
            }
            _ => TRY,
        };
        (self.found, self.looked, self.next) = (0, steps, steps + pause);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// It begins where the table is far, goes on while most targets are found, and rests otherwise, ever longer.
    #[test]
    fn it_is_used_where_it_pays() {
        let mut recent = Recent::default();
        recent.look(0, false, true);
        assert!(!recent.is_on() && recent.bytes() == 0 && !recent.is_due(TRY - 1) && recent.is_due(TRY));
        recent.look(TRY, true, false);
        assert!(!recent.is_on(), "there is no room");
        let mut steps = 2 * TRY;
        let mut look = |steps: u64, found: u64, is_on: bool, next: u64| {
            recent.found(found);
            recent.look(steps, true, true);
            assert!(recent.is_on() == is_on && recent.bytes() == Recent::BYTES);
            assert!(!recent.is_due(steps + next - 1) && recent.is_due(steps + next), "{steps}");
        };
        look(steps, 0, true, TRY);
        look(steps + TRY, TRY * 2 / 3, true, LOOK);
        steps += TRY + LOOK;
        for rest in [REST, 2 * REST, 4 * REST] {
            look(steps, TRY / 2, false, rest);
            look(steps + rest, 0, true, TRY);
            steps += rest + TRY;
        }
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
