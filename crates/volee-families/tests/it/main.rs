//! Behaviour of the families engines, against explicit search and the shared corpus.

mod corpus;
mod random;
mod spec;
mod unsound;
