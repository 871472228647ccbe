//! Behaviour of the logic crate, compared with naive evaluators and with the corpus of other tools' results.

mod corpus;
mod hoa;
mod ltl;
mod naive;
mod parsing;
mod tl;
