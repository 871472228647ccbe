//! Programs with processes (Promela) as counter programs: every `int` is unbounded, everything else stays
//! explicit, save narrow variables that count: those are sets too, and wrap around.
//!
//! The explicit part of a state (control points, the other variables, who is inside an atomic sequence)
//! becomes a control location; a statement becomes an instruction over the unbounded variables. Conditions
//! that are not conjunctions become several transitions. Indivisible sequences pass through locations that
//! nobody sees, and most of those are composed away.

mod channels;
mod counting;
mod endless;
mod evaluate;
mod events;
mod execute;
mod explore;
mod formula;
mod reduce;
mod state;
mod translate;

pub use events::EventAtom;
pub(crate) use formula::Formula;
pub(crate) use reduce::remove_internal;
pub use translate::{Failure, ProcessOptions, Translation, translate, translate_watching};
