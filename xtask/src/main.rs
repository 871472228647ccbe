//! Comparisons with peers, benchmarks with stored runs, figures: everything that is not the product itself.

fn main() {}
