//! `cargo xtask bench WHAT`: measurements beside those of peers, stored in `bench/`.

use crate::{
    claims_bench, cluster, conform, counters, equations, errors_bench, lts, memory_bench, models, nets,
    temporal_bench,
};

/// A benchmark: its name, and how it runs.
type Benchmark = (&'static str, fn(&[String]) -> Result<(), String>);

const BENCHMARKS: &[Benchmark] = &[
    ("claims", claims_bench::run),
    ("cluster", cluster::bench),
    ("conform", conform::bench),
    ("cores", xtask::cores::run),
    ("counters", counters::bench),
    ("equations", equations::bench),
    ("errors", errors_bench::run),
    ("lts", lts::bench),
    ("memory", xtask::protocols::bench),
    ("models", models::bench),
    ("nets", nets::run),
    ("promela", xtask::bench_promela::run),
    ("random-graphs", memory_bench::run),
    ("temporal", temporal_bench::run),
];

/// Runs the benchmark that the first argument names.
pub fn run(arguments: &[String]) -> Result<(), String> {
    let names: Vec<&str> = BENCHMARKS.iter().map(|b| b.0).collect();
    let named = arguments.first().and_then(|name| BENCHMARKS.iter().find(|b| b.0 == name));
    match named {
        Some((_, run)) => run(&arguments[1..]),
        None => Err(format!("usage: cargo xtask bench {}", names.join("|"))),
    }
}
