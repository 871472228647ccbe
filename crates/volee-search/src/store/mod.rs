//! Where states are kept: names for states ([`Tree`]), and sets of names ([`Visited`]).
//!
//! A store sees bytes, never meaning. All stores share the tree, which turns a state into a 64-bit name and back; they
//! differ in what they remember of the names, and a traversal does not know which of them it works with.

mod bitstate;
mod bounded;
mod coding;
mod collect;
mod compact;
mod exact;
pub(crate) mod hash;
mod line;
mod nodes;
pub(crate) mod pages;
mod policy;
mod sketch;
mod sleepers;
mod table;
mod trail;
mod tree;

pub(crate) use bitstate::Bitstate;
pub(crate) use bounded::{Advance, Bounded, coding_of};
pub(crate) use compact::Compact;
pub(crate) use exact::Exact;
pub(crate) use sketch::Sketch;
pub(crate) use trail::Trail;
pub(crate) use tree::{Full, Name, Tree};

/// A set of names that a traversal has met.
pub(crate) trait Visited {
    /// Brings what is needed to decide about a name near, ahead of [`Visited::insert`].
    fn prefetch(&self, name: Name);

    /// Whether the name is new; it is remembered from now on. There must be room: see [`Visited::growth`].
    fn insert(&mut self, name: Name) -> bool;

    /// How many bytes the set must grow by before `extra` more names can be inserted; `None` when it need not.
    fn growth(&self, extra: usize) -> Option<u64>;

    /// Grows as announced, once. `None` when there is no memory.
    fn grow(&mut self) -> Option<()>;

    /// There is no room to grow, or others need so many bytes of the common budget. `false` when the store cannot do
    /// with less, and the search must end.
    fn give_room(&mut self, _bytes: u64) -> bool {
        false
    }

    /// What it leaves of a budget that it could fill.
    fn margin(&self, _budget: u64) -> u64 {
        0
    }

    /// Others leave so many bytes of the common budget: the store may grow into them on its own.
    fn take_room(&mut self, _bytes: u64) {}

    /// Whether the store forgets names to make room for others.
    #[inline(always)]
    fn replaces(&self) -> bool {
        false
    }

    /// A state is visited, here in full: for estimates.
    #[inline(always)]
    fn note(&mut self, _state: &[u8]) {}

    /// What more memory is needed for, in words.
    fn needs(&self) -> String {
        format!("there are more than {} states", self.len())
    }

    /// How many names are remembered.
    fn len(&self) -> u64;

    /// Bytes in use.
    fn bytes(&self) -> u64;
}
