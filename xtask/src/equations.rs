//! `cargo xtask bench equations`: the kernel against the memory of the machine, the published formula on the published
//! size and beside mCRL2's figures, and how little an early answer explores. Stored in `bench/equations.csv`.
//!
//! The kernel's floor is two independent random reads for every edge, in memory of the size that the solver used, half of
//! it each, on ordinary pages; the processor keeps as many of them in flight as it can. Whole answers are those of the
//! command itself, in a process of its own: reading, solving, confirming, explaining.

use std::fmt::Write as _;
use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::process::Command;

use volee::bes::certificate::{Nobody, check};
use volee::bes::model::ModelGraph;
use volee::bes::random::{Implicit, Random};
use volee::bes::{Solver, solve};
use volee::logic::mu::{Equations, read};
use volee::lts::generate::family;
use volee::lts::{explore, write_file};
use volee::system::{Budget, Meter, Quiet, System};

const F1: &str = "nu X . ([/PUT.*/] mu Y . ((nu Z . <tau> Z) or (<true> true and [not /GET.*/] false) \
                  or (<true> true and [true] Y)) and [true] X)";

const F2: &str = "nu X . ([/PUT.*/] mu Y . (<true> true and [not /GET.*/] Y) and [true] X)";

/// The states of abp 256 3.
const STATES: f64 = 6_231_568.0;

/// CPU time of this thread in nanoseconds.
fn cpu() -> Result<u64, String> {
    let text = fs::read_to_string("/proc/thread-self/schedstat").map_err(|e| format!("schedstat: {e}"))?;
    text.split_whitespace()
        .next()
        .and_then(|n| n.parse().ok())
        .ok_or_else(|| "schedstat has no number".into())
}

/// The figures of mCRL2's lts2pbes and pbessolve for F1 on abp 64 2: CPU seconds and megabytes.
const PEER: (f64, f64) = (19.7, 445.0);

/// Runs all parts, or the one that is named; only a run of all parts is stored.
pub fn bench(arguments: &[String]) -> Result<(), String> {
    let only = arguments.first().map(String::as_str);
    let mut table = String::from("what,figure,value,bar\n");
    if only.is_none_or(|o| o == "kernel") {
        kernel(&mut table)?;
    }
    if only.is_none_or(|o| o == "early") {
        early(&mut table)?;
    }
    if only.is_none_or(|o| o == "f1") {
        published(&mut table)?;
    }
    if only.is_some() {
        return Ok(());
    }
    fs::create_dir_all("bench").map_err(|e| e.to_string())?;
    fs::write("bench/equations.csv", table).map_err(|e| e.to_string())
}

fn note(table: &mut String, what: &str, figure: &str, value: f64, bar: &str) {
    println!("  {what:<28} {figure:<34} {value:>12.3}  {bar}");
    let _ = writeln!(table, "{what},{figure},{value:.3},{bar}");
}

/// Nanoseconds per pair of independent random reads, from arrays of the sizes that the solver uses.
fn floor(first: usize, second: usize, pairs: usize) -> Result<f64, String> {
    let (a, b) = (vec![1u64; first / 8], vec![2u64; second / 8]);
    let mut random = Random::new(7);
    let start = cpu()?;
    let mut sum = 0u64;
    for _ in 0..pairs {
        let r = random.draw();
        let (i, j) = (((r >> 32) as usize * a.len()) >> 32, ((r & 0xffff_ffff) as usize * b.len()) >> 32);
        sum = sum.wrapping_add(a[i]).wrapping_add(b[j]);
    }
    black_box(sum);
    Ok((cpu()? - start) as f64 / pairs as f64)
}

const RUNS: usize = 7;

fn kernel(table: &mut String) -> Result<(), String> {
    println!("kernel: CPU ns per edge, 2.7 M variables and about 10 M edges, against two random reads");
    for constants in [0, 100, 400] {
        let graph = Implicit { variables: 2_750_000, degree: 4, constants };
        let what = format!("kernel {constants}/1000 constants");
        let (mut ratios, mut strict, mut edges) = (Vec::new(), Vec::new(), Vec::new());
        let mut memory = 160 << 20;
        for _ in 0..RUNS {
            let reads = floor(memory / 2, memory / 2, 5_000_000)?;
            let least = floor(32 << 20, 22 << 20, 5_000_000)?;
            let meter = Meter::start(Budget::default());
            let start = cpu()?;
            let solved =
                solve(&mut { graph }, Solver::BreadthFirst, &meter, &mut Quiet).map_err(|e| e.to_string())?;
            let per_edge = (cpu()? - start) as f64 / solved.statistics.edges as f64;
            memory = usize::try_from(solved.statistics.memory).map_err(|e| e.to_string())?;
            ratios.push(per_edge / reads);
            strict.push(per_edge / least);
            edges.push(per_edge);
        }
        note(table, &what, "memory of the solver in MB", (memory >> 20) as f64, "");
        note(table, &what, "ns per edge, median", median(edges), "");
        note(table, &what, "ratio to the floor, median", median(ratios), "1.8");
        note(table, &what, "ratio, table and records alone", median(strict), "");
    }
    Ok(())
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}

fn made(messages: u64, capacity: u64) -> Result<Box<dyn System + Send>, String> {
    family("abp").ok_or("no family abp")?.make(&[messages, capacity]).map_err(|e| e.to_string())
}

fn early(table: &mut String) -> Result<(), String> {
    println!("early answers on abp 256 3, generated on the fly ({STATES} states)");
    let mut system = made(256, 3)?;
    for (name, formula) in [("safety", "[true* . \"GET !5\"] false"), ("F2", F2)] {
        let equations = Equations::new(read("formula", formula).map_err(|e| e[0].to_string())?);
        let meter = Meter::start(Budget::default());
        let start = cpu()?;
        let mut graph = ModelGraph::new(system.as_mut(), equations).map_err(|e| e.to_string())?;
        let solved = solve(&mut graph, Solver::Auto, &meter, &mut Quiet).map_err(|e| e.to_string())?;
        check(&mut graph, &solved.solution, solved.value, &meter, &mut Nobody).map_err(|e| e.to_string())?;
        let spent = (cpu()? - start) as f64 / 1e6;
        if solved.value {
            return Err(format!("{name} is true, and should be false"));
        }
        let what = format!("early {name}");
        note(table, &what, "milliseconds", spent, "50");
        note(table, &what, "percent of the states", solved.statistics.places as f64 * 100.0 / STATES, "1");
    }
    Ok(())
}

fn published(table: &mut String) -> Result<(), String> {
    for (messages, capacity) in [(64, 2), (256, 3)] {
        println!("F1 on abp {messages} {capacity}, from the binary format");
        let path = std::env::temp_dir()
            .join(format!("volee-bench-{}-{messages}-{capacity}.vlts", std::process::id()));
        let meter = Meter::start(Budget::default());
        let lts =
            explore(made(messages, capacity)?.as_mut(), &meter, &mut Quiet).map_err(|e| e.to_string())?;
        write_file(&lts, &path).map_err(|e| e.to_string())?;
        drop(lts);
        let measured = whole(&path);
        let _ = fs::remove_file(&path);
        let (seconds, megabytes) = measured?;
        let what = format!("F1 abp {messages} {capacity}");
        if messages == 64 {
            note(table, &what, "CPU s, certificate included", seconds, "");
            note(table, &what, "peak MB", megabytes, "");
            note(table, &what, "CPU of mCRL2 / ours", PEER.0 / seconds, "at least 50");
            note(table, &what, "memory of mCRL2 / ours", PEER.1 / megabytes, "at least 10");
        } else {
            note(table, &what, "CPU s, certificate included", seconds, "6");
            note(table, &what, "peak MB", megabytes, "1024");
        }
    }
    Ok(())
}

/// CPU seconds and peak megabytes of `volee check`: the best of three runs.
fn whole(path: &Path) -> Result<(f64, f64), String> {
    let mut best = (f64::INFINITY, f64::INFINITY);
    for _ in 0..3 {
        let output = Command::new("/usr/bin/env")
            .args(["python3", "-c", crate::lts::ACCOUNT, "target/release/volee", "check"])
            .arg(path)
            .args(["--mu", F1])
            .output()
            .map_err(|e| e.to_string())?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let mut numbers = text.split_whitespace().filter_map(|word| word.parse::<f64>().ok());
        match (output.status.success(), numbers.next(), numbers.next()) {
            (true, Some(seconds), Some(megabytes)) => {
                best = (best.0.min(seconds), best.1.min(megabytes));
            }
            _ => return Err("volee did not run: build it first (cargo build --release)".into()),
        }
    }
    Ok(best)
}
