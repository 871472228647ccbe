//! One test binary for the crate.
mod build;
mod corpus;
mod paper;
mod promela;
mod random;
