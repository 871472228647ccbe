//! Where states are kept: names for states, sets of names, numbered states, and the pages below
//! them.
//!
//! | module | what it keeps |
//! |---|---|
//! | [`Tree`] | states of any length as 64-bit names, by tree compression |
//! | [`Exact`], [`Bounded`], [`Bitstate`], [`Compact`] | sets of names: all, within a budget, or approximately ([`Visited`]) |
//! | [`Concurrent`], [`SharedBits`] | a set of all names for several threads, or of bits |
//! | [`Places`], [`Hashed`], [`Words`], [`PackedStates`], [`Forgetful`] | states with dense numbers, and a set that forgets |
//! | [`Pages`], [`Pieces`], [`large`] | arrays on large pages, and prefetching |
//! | [`checkpoint`], [`handed`] | searches on disk, from which another process or several go on |
//! | [`Counting`] | the allocator that knows how much is held |
//!
//! A store sees bytes, never meaning. This is the only crate with `unsafe` code; each module that has some
//! says at its head why it is sound.
#![allow(missing_docs, reason = "a comment that repeats a name is worse than none")]
#![allow(clippy::len_without_is_empty, clippy::new_without_default, reason = "nobody asks, nobody needs it")]

mod bitstate;
mod bounded;
pub mod checkpoint;
mod claim;
mod coding;
mod collect;
mod compact;
mod concurrent;
mod counting;
mod dictionary;
mod exact;
mod forgetful;
mod frugal;
pub mod handed;
mod hash;
pub mod large;
mod line;
mod names;
mod near;
mod nodes;
mod numbering;
mod numbers;
mod others;
mod packed;
mod pages;
mod path;
mod pieces;
mod places;
mod policy;
mod quotients;
mod shared_bits;
mod sketch;
mod sleepers;
mod slots;
mod stacked;
mod table;
mod tree;
mod tuples;
mod words;

pub use bitstate::Bitstate;
pub use bounded::{Advance, Bounded, Forgotten, coding_of};
pub use coding::Coding;
pub use compact::Compact;
pub use concurrent::Concurrent;
pub use counting::{Counting, return_freed_memory};
pub use exact::Exact;
pub use forgetful::Forgetful;
pub use frugal::Frugal;
pub use hash::mix;
pub use names::{Names, Renaming};
pub use packed::PackedStates;
pub use pages::{Pages, Plain, prefetch, prefetch_at};
pub use path::PackedPath;
pub use pieces::Pieces;
pub use places::{Hashed, Keys, Links, Places, Share, tag};
pub use policy::Replacement;
pub use shared_bits::SharedBits;
pub use sketch::{Sketch, hash_state};
pub use slots::{At, Slots};
pub use stacked::Stacked;
pub use table::Turnover;
pub use tree::{Full, StateRef, Tree};
pub use tuples::{Field, Layouts, MOST_COMPONENTS, Tuple, Tuples, WAITING, Waiting};
pub use words::{Word, Words};

/// A set of names that a traversal has met.
pub trait Visited {
    /// Whether names may change under it: see [`Visited::rename`].
    const RENAMES: bool = false;
    /// Whether what was inserted is known for good, whatever else is.
    const LASTING: bool = false;

    /// Brings what is needed to decide about a name near, ahead of [`Visited::insert`].
    fn prefetch(&self, name: StateRef);

    /// Whether the name is new; it is remembered from now on. There must be room: see [`Visited::growth`].
    fn insert(&mut self, name: StateRef) -> bool;

    /// As [`Visited::prefetch`]. What was computed for it is told: it need not be computed again for
    /// [`Visited::insert_near`], until names change or the set grows.
    #[inline(always)]
    fn approach(&self, name: StateRef) -> u64 {
        self.prefetch(name);
        0
    }

    /// As [`Visited::insert`], with what was told about the name.
    #[inline(always)]
    fn insert_near(&mut self, name: StateRef, _near: u64) -> bool {
        self.insert(name)
    }

    /// How many bytes the set must grow by before `extra` more names can be inserted; `None` when it need
    /// not.
    fn growth(&self, extra: usize) -> Option<u64>;

    /// Grows as announced, once. `None` when there is no memory.
    fn grow(&mut self) -> Option<()>;

    /// This many bytes will have to be given ([`Visited::give_room`]). Where states will perhaps be forgotten for
    /// that, what is to be known of all is noted now.
    fn foresee_loss(&mut self, _bytes: u64, _names: &mut Names) {}

    /// There is no room to grow, or others need this many bytes of the common budget. `false` when the store
    /// cannot do with less, and the search must end.
    fn give_room(&mut self, _bytes: u64) -> bool {
        false
    }

    /// What it leaves of a budget that it could fill.
    fn margin(&self, _budget: u64) -> u64 {
        0
    }

    /// Others leave this many bytes of the common budget: the store may grow into them on its own.
    fn take_room(&mut self, _bytes: u64) {}

    /// Bytes in use, and those that it may still take on its own.
    fn reserved(&self) -> u64 {
        self.bytes()
    }

    /// What it grows by when names have this many bits.
    fn rename_growth(&self, _width: u32) -> u64 {
        0
    }

    /// All names change, to names of this many bits. `None` when there is no memory.
    fn rename(&mut self, _width: u32, _translate: &mut dyn FnMut(StateRef) -> StateRef) -> Option<()> {
        None
    }

    /// Bits of names up to which it keeps them in less memory.
    fn name_bits(&self) -> u32 {
        64
    }

    /// Whether the store forgets names to make room for others.
    #[inline(always)]
    fn replaces(&self) -> bool {
        false
    }

    /// Whether [`Visited::note`] may be left out.
    #[inline(always)]
    fn ignores_states(&self) -> bool {
        true
    }

    /// A state is visited, here in full: for estimates.
    #[inline(always)]
    fn note(&mut self, _state: &[u8]) {}

    /// What more memory is needed for, in words.
    fn needs(&self) -> String {
        format!("there are more than {} states", self.len())
    }

    /// Gives away each name that is remembered, where they are remembered as such.
    fn each_name(&self, _give: &mut dyn FnMut(StateRef)) {}

    /// How many names are remembered.
    fn len(&self) -> u64;

    /// Bytes in use.
    fn bytes(&self) -> u64;
}
