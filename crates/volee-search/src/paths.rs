//! Runs from what a traversal keeps: which step leads from one state to the next is found again when somebody
//! asks.

use volee_store::{Names, StateRef};
use volee_system::{Flow, Step, System, Witness};

/// The ordinal of the first step between two states, found by expanding the first. `None` when there is no
/// such step.
pub(crate) fn ordinal_between<S: System + ?Sized>(
    system: &mut S,
    names: &mut Names,
    source: StateRef,
    target: StateRef,
) -> Option<u32> {
    let (mut from, mut to) = (Vec::new(), Vec::new());
    names.load(source, &mut from);
    names.load(target, &mut to);
    place_of(&to, |push| system.steps(&from, &mut |_: Step, state: &[u8]| push(state)))
}

/// The place of a state among those that are pushed, if it is one of them.
pub(crate) fn place_of(
    state: &[u8],
    enumerate: impl FnOnce(&mut dyn FnMut(&[u8]) -> Flow) -> Flow,
) -> Option<u32> {
    let mut place = 0;
    let found = enumerate(&mut |pushed| {
        if pushed == state {
            return Flow::Break(());
        }
        place += 1;
        Flow::Continue(())
    });
    found.is_break().then_some(place)
}

/// A traversal's knowledge of how it got to a state.
pub(crate) trait Paths<V> {
    /// How to get to the state that the traversal calls `at`, and from there by the step `last` if there is
    /// one.
    fn witness<S: System + ?Sized>(
        &self,
        system: &mut S,
        names: &mut Names,
        store: &V,
        at: usize,
        last: Option<u32>,
    ) -> Witness;
}
