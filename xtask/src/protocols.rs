//! `cargo xtask bench memory`: protocol families in a part of the memory, with reduction on, beside the full
//! table.
//!
//! The families are the Promela models in `models/protocols`. The full table is what the search without a
//! budget and without reduction needs, stack and all; a share of it is then the budget of the search as a
//! user runs it, with reduction. The bar is for a tenth of the memory: at most twice the CPU time of the full
//! table, for three quarters of the families. The run is stored in `bench/memory.csv`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use volee::search::{Check, Outcome, Reduction, check};
use volee::system::{Budget, Meter, Quiet, Verdict};
use volee::{Model, Options};

use crate::clock::cpu_seconds;

/// A family: its file, and its sizes for a measurement and for a test.
pub struct Family {
    /// The name of the file without its extension.
    pub name: &'static str,
    large: &'static [&'static str],
    small: &'static [&'static str],
}

/// All families.
pub const FAMILIES: &[Family] = &[
    Family {
        name: "alternating-bit",
        large: &["PLACES=12", "NUMBERS=64"],
        small: &["PLACES=9", "NUMBERS=8"],
    },
    Family { name: "connect-disconnect", large: &["PAIRS=6"], small: &["PAIRS=4"] },
    Family { name: "dining-philosophers", large: &["SEATS=12"], small: &["SEATS=9"] },
    Family { name: "leader-election", large: &["NODES=9"], small: &["NODES=6"] },
    Family { name: "sliding-window", large: &["WINDOW=2", "PLACES=6"], small: &["WINDOW=2", "PLACES=4"] },
    Family { name: "two-phase-commit", large: &["PARTICIPANTS=7"], small: &["PARTICIPANTS=5"] },
];

const SHARES: &[f64] = &[0.5, 0.2, 0.1, 0.05];
/// The share of the memory for which there is a bar, and the bar.
const BAR: (f64, f64) = (0.1, 2.0);
/// A search that takes this many times longer than the full table is given up.
const PATIENCE: f64 = 10.0;
const RUNS: usize = 3;

/// A family in a part of the memory, as parts of what the full table takes.
#[derive(Debug, Clone, Copy)]
pub struct Part {
    /// Of the memory.
    pub share: f64,
    /// Of the CPU time; `None` where there was no verdict.
    pub time: Option<f64>,
    /// Whether the verdicts are those of the full table, or there are none.
    pub agrees: bool,
}

/// What a family came to.
#[derive(Debug)]
pub struct Measured {
    /// The states of the full table.
    pub states: u64,
    /// Its bytes, stack and all.
    pub bytes: u64,
    /// Its CPU time.
    pub seconds: f64,
    /// The states that reduction leaves, without a budget.
    pub reduced: u64,
    /// The same question with less memory.
    pub parts: Vec<Part>,
}

impl Family {
    fn sizes(&self, large: bool) -> &'static [&'static str] {
        if large { self.large } else { self.small }
    }

    /// Measures, at the size for measurements or for tests, the best of `runs`.
    ///
    /// # Errors
    /// The model cannot be read.
    pub fn measure(&self, large: bool, runs: usize) -> Result<Measured, String> {
        let defines = self.sizes(large).iter().map(|&d| d.to_owned()).collect();
        let options = Options { defines, ..Options::default() };
        let path = folder().join(self.name).with_extension("pml");
        let mut model = Model::open(&path, &options).map_err(|e| format!("{}: {e:?}", path.display()))?;
        let (full, seconds) = search(&mut model, Reduction::None, &Budget::default(), runs);
        let (reduced, _) = search(&mut model, Reduction::Both, &Budget::default(), 1);
        let bytes = full.statistics.memory_bytes;
        let mut parts = Vec::new();
        for &share in SHARES {
            let budget = Budget {
                memory: Some((bytes as f64 * share) as u64),
                time: Some(Duration::from_secs_f64(seconds * PATIENCE + 1.0)),
                ..Budget::default()
            };
            let (found, time) = search(&mut model, Reduction::Both, &budget, runs);
            let complete = found.limit.is_none();
            parts.push(Part {
                share,
                time: complete.then_some(time / seconds),
                agrees: !complete || violated(&found) == violated(&full),
            });
        }
        let states = full.statistics.states;
        Ok(Measured { states, bytes, seconds, reduced: reduced.statistics.states, parts })
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../models/protocols")
}

/// What is violated, by question.
fn violated(outcome: &Outcome) -> Vec<bool> {
    outcome.answers.iter().map(|a| matches!(a.verdict, Verdict::Violated(_))).collect()
}

/// The last of a few runs, and the CPU time of the fastest.
fn search(model: &mut Model, reduction: Reduction, budget: &Budget, runs: usize) -> (Outcome, f64) {
    let questions = Check::new().reduction(reduction);
    let mut once = || {
        let start = cpu_seconds();
        let outcome = check(model.draft.system(), &questions, &Meter::start(budget.clone()), &mut Quiet);
        (outcome, cpu_seconds() - start)
    };
    let (mut outcome, mut best) = once();
    for _ in 1..runs {
        let (again, seconds) = once();
        outcome = again;
        best = best.min(seconds);
    }
    (outcome, best)
}

/// `cargo xtask bench memory`
///
/// # Errors
/// A model or the stored run cannot be read or written, a verdict differs, or the bar is missed.
pub fn bench(_: &[String]) -> Result<(), String> {
    let mut table =
        String::from("family,sizes,states,bytes,cpu_seconds,reduced_states,memory_share,time_ratio\n");
    let (mut reached, mut differ) = (0, 0);
    for family in FAMILIES {
        let measured = family.measure(true, RUNS)?;
        let Measured { states, bytes, seconds, reduced, .. } = measured;
        let sizes = family.sizes(true).join(" ");
        println!(
            "{} {sizes}: {states} states, {bytes} bytes, {seconds:.3} s; reduced {reduced} states",
            family.name
        );
        for part in &measured.parts {
            let time = part.time.map_or("unknown".into(), |t| format!("{t:.3}"));
            println!("  {:>3.0} % of the memory: {time} of the time", part.share * 100.0);
            let _ = writeln!(
                table,
                "{},{sizes},{states},{bytes},{seconds:.3},{reduced},{},{time}",
                family.name, part.share
            );
            reached += usize::from(part.share == BAR.0 && part.time.is_some_and(|t| t <= BAR.1));
            differ += usize::from(!part.agrees);
        }
    }
    std::fs::write("bench/memory.csv", &table).map_err(|e| format!("bench/memory.csv: {e}"))?;
    println!(
        "{reached} of {} families take at most {} x the time with {} of the memory",
        FAMILIES.len(),
        BAR.1,
        BAR.0
    );
    if differ > 0 {
        return Err(format!("{differ} verdicts differ"));
    }
    if reached * 4 >= FAMILIES.len() * 3 { Ok(()) } else { Err("that is less than three quarters".into()) }
}
