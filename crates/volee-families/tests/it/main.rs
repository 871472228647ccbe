//! Behaviour of the families engines, against explicit search and the shared corpus.

mod corpus;
mod programs;
mod random;
mod recurrence;
mod unsound;
