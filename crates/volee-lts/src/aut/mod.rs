//! The `.aut` format: a header `des (initial, transitions, states)`, then a line `(source, label, target)`
//! each.
//!
//! Labels are bare or between double quotes; `i` and `tau`, bare or quoted, are the internal step. A quoted
//! label may itself contain quotes: it ends at the last one before the target, as CADP's and mCRL2's files
//! have it.

mod read;
mod write;

pub use read::read_aut;
pub use write::write_aut;
