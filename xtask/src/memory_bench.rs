//! `cargo xtask bench random-graphs [SHARE]`: what a search in 40 % of the memory costs on the random graphs
//! of the 1991 report.
//!
//! For each graph the ordinary search and the one within the budget run one after the other, several times,
//! so that both see the same machine; the medians of their CPU times are compared. A second row has a budget
//! that everything fits into: it shows what the budget itself costs. The run is stored in
//! `bench/random-graphs.csv`.

use std::fmt::Write as _;

use volee::lts::generate::family;
use volee::system::{Budget, System};

use crate::memory::{Found, search};
use volee::search::Replacement;

/// States and degree.
const GRAPHS: &[(u64, u64)] =
    &[(400_000, 5), (400_000, 6), (400_000, 8), (1_000_000, 5), (1_000_000, 6), (1_000_000, 8)];
const RUNS: usize = 5;
const STORED: &str = "bench/random-graphs.csv";

pub fn run(arguments: &[String]) -> Result<(), String> {
    let share: f64 = match arguments.first() {
        Some(text) => text.parse().map_err(|_| "SHARE is like 0.4")?,
        None => 0.4,
    };
    let mut table =
        String::from("states,degree,memory_share,insertions,generated,cpu_seconds,full_cpu_seconds,time\n");
    for &(states, degree) in GRAPHS {
        let family = family("random-graph").ok_or("no random graphs")?;
        let mut system = family.make(&[states, degree, 1]).map_err(|e| e.to_string())?;
        for share in [1.25, share] {
            let line = compare(system.as_mut(), share)?;
            println!("{states},{degree},{line}");
            let _ = writeln!(table, "{states},{degree},{line}");
        }
    }
    std::fs::write(STORED, table).map_err(|e| format!("{STORED}: {e}"))
}

fn compare(system: &mut (dyn System + Send), share: f64) -> Result<String, String> {
    let everything = search(system, Replacement::Random, &Budget::default());
    let memory = Some((everything.memory_bytes as f64 * share) as u64);
    let budget = Budget { memory, ..Budget::default() };
    let (mut full, mut bounded): (Vec<Found>, Vec<Found>) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        full.push(search(system, Replacement::Random, &Budget::default()));
        bounded.push(search(system, Replacement::Random, &budget));
    }
    if bounded.iter().any(|found| !found.complete) {
        return Ok(format!("{share},-,-,-,-,-"));
    }
    let (full_seconds, seconds) = (median(&mut full), median(&mut bounded));
    Ok(format!(
        "{share},{:.3},{:.3},{seconds:.3},{full_seconds:.3},{:.2}",
        bounded[0].insertions as f64 / full[0].states as f64,
        bounded[0].generated as f64 / full[0].generated as f64,
        seconds / full_seconds
    ))
}

fn median(runs: &mut [Found]) -> f64 {
    runs.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    runs[runs.len() / 2].seconds
}
