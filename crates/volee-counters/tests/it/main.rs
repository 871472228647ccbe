//! One test binary for the crate.
mod build;
mod corpus;
mod machine;
mod paper;
mod promela;
mod random;
mod recurrence;
