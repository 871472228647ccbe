//! Comparisons with peers, benchmarks with stored runs, figures: everything that is not the product itself.
//!
//! The library half holds what tests share with the `cargo xtask` command.

pub mod bench_promela;
pub mod bounded;
pub mod clock;
pub mod cores;
pub mod corpus;
pub mod faults;
pub mod fuzz;
pub mod integers;
pub mod oracle;
pub mod outside;
pub mod programs;
pub mod promela;
pub mod protocols;
pub mod reduction;
pub mod worker;
pub mod workers;
