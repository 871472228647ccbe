//! `cargo xtask bench equations`: the kernel against the memory of the machine, the published formula on the
//! published size and beside mCRL2's figures, and how little an early answer explores. Stored in
//! `bench/equations.csv`.
//!
//! **The kernel's floor** is two independent random reads for each edge, as many in flight as the solver has
//! (`volee::bes::floor`). What is measured against what:
//! * the reads go to two arrays, one as large as the solver's table and one as large as all the rest that it
//!   reads at random: its records, and the edges where they are walked back. Not to what it only appends to
//!   or reads in order (keys, the edges of a system in which nothing is told): a larger field would make
//!   reads slower and the bar lower;
//! * the bar is on ordinary pages, on which the two reads cost the 30 ns that the design quotes. Large pages
//!   are one of the means of the solver, as prefetching is; the ratio to reads on large pages is stored too;
//! * an edge is looked up once, when its variable is expanded. It is walked a second time, backwards, when
//!   its target has become stable: that again takes two random reads, of the edge and of the dependant, and
//!   so it counts as another examination. The edges of a constant are never counted. CPU per edge looked up
//!   is stored too;
//! * the random system computes its edges from the variable. This takes time, which is not the solver's: it
//!   is measured in the same run, without a solver, and subtracted. Everything else counts, page faults and
//!   growing arrays as well;
//! * floor, generator and solver take turns, and of the ratios of several turns the median is taken.
//!
//! Whole answers are those of the command itself, in a process of its own: reading, solving, confirming,
//! explaining.

use std::fmt::Write as _;
use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::process::Command;

use volee::bes::certificate::{Nobody, check};
use volee::bes::floor::{Ahead, Field, Pages};
use volee::bes::model::ModelGraph;
use volee::bes::random::Implicit;
use volee::bes::{BooleanGraph as _, Node, Solver, Statistics, Successors, solve};
use volee::logic::mu::{Equations, read};
use volee::lts::generate::family;
use volee::lts::{explore, write_file};
use volee::system::{Budget, Flow, Meter, Quiet, System};
use xtask::clock::cpu_nanoseconds;

const F1: &str = "nu X . ([/PUT.*/] mu Y . ((nu Z . <tau> Z) or (<true> true and [not /GET.*/] false) \
                  or (<true> true and [true] Y)) and [true] X)";

const F2: &str = "nu X . ([/PUT.*/] mu Y . (<true> true and [not /GET.*/] Y) and [true] X)";

/// The states of abp 256 3.
const STATES: f64 = 6_231_568.0;

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

/// Reads of a pair that make a floor.
const PAIRS: u64 = 6_000_000;

/// Nanoseconds per pair of random reads, in the better way.
fn floor((first, second): (usize, usize), pages: Pages) -> Result<f64, String> {
    let field = Field::new(first, second, pages);
    let mut best = f64::INFINITY;
    for ahead in [Ahead::Processor, Ahead::Program] {
        let start = cpu_nanoseconds();
        field.read(PAIRS, ahead);
        best = best.min((cpu_nanoseconds() - start) as f64 / PAIRS as f64);
    }
    Ok(best)
}

/// The bytes of the solver's table, and of what else it reads at random (see `volee::bes::solve::single`):
/// lines of 64 bytes for four variables, at most 11/16 full; records of eight bytes; edges of eight bytes,
/// except those that met a variable.
fn random_bytes(statistics: &Statistics) -> (usize, usize) {
    let variables = statistics.variables as usize;
    let table = (variables * 16).div_ceil(11 * 4).next_power_of_two() * 64;
    let edges =
        if statistics.told > 0 { (statistics.edges as usize).saturating_sub(variables) * 8 } else { 0 };
    (table, variables * 8 + edges)
}

/// Counts what is pushed.
struct Counter(u64);

impl Successors for Counter {
    fn variable(&mut self, place: &[u8], _: Node) -> Flow {
        self.0 += u64::from(place[0]) + 1;
        Flow::Continue(())
    }

    fn constant(&mut self, _: bool) -> Flow {
        Flow::Break(())
    }
}

/// Nanoseconds to generate all right-hand sides, by nobody who wants them.
fn generator(mut graph: Implicit) -> Result<f64, String> {
    let start = cpu_nanoseconds();
    let mut counter = Counter(0);
    for variable in 0..graph.variables {
        let place = variable.to_le_bytes();
        black_box(graph.equation(&place, 0));
        graph.successors(&place, 0, &mut counter).map_err(|e| e.to_string())?;
    }
    black_box(counter.0);
    Ok((cpu_nanoseconds() - start) as f64)
}

const RUNS: usize = 9;

fn kernel(table: &mut String) -> Result<(), String> {
    println!("kernel: CPU ns per edge, 2.7 M variables and about 10 M edges, against two random reads");
    for constants in [0, 100, 400] {
        let graph = Implicit { variables: 2_750_000, degree: 4, constants };
        let what = format!("kernel {constants}/1000 constants");
        let mut statistics = Statistics::default();
        let mut rows: [Vec<f64>; 7] = Default::default();
        for run in 0..=RUNS {
            let generated = generator(graph)?;
            let meter = Meter::start(Budget::default());
            let start = cpu_nanoseconds();
            let solved =
                solve(&mut { graph }, Solver::BreadthFirst, &meter, &mut Quiet).map_err(|e| e.to_string())?;
            let spent = (cpu_nanoseconds() - start) as f64;
            statistics = solved.statistics;
            drop(solved);
            let bytes = random_bytes(&statistics);
            let (ordinary, large) = (floor(bytes, Pages::Ordinary)?, floor(bytes, Pages::Large)?);
            if run == 0 {
                continue; // The first run finds caches and the allocator cold.
            }
            let edges = statistics.edges as f64;
            let examined = (spent - generated) / (edges + statistics.told as f64);
            let figures = [
                spent / edges,
                generated / edges,
                examined,
                ordinary,
                large,
                examined / ordinary,
                examined / large,
            ];
            for (row, figure) in rows.iter_mut().zip(figures) {
                row.push(figure);
            }
        }
        note(table, &what, "memory of the solver in MB", (statistics.memory >> 20) as f64, "");
        let told = statistics.told as f64 / statistics.edges as f64;
        note(table, &what, "walked back per edge looked up", told, "");
        let names = [
            ("ns per edge looked up", ""),
            ("ns of the generator of it", ""),
            ("ns per edge examined", ""),
            ("floor on ordinary pages", ""),
            ("floor on large pages", ""),
            ("ratio to the floor", "1.8"),
            ("ratio to the floor on large pages", ""),
        ];
        for ((name, bar), row) in names.into_iter().zip(rows) {
            note(table, &what, name, median(row), bar);
        }
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
        let start = cpu_nanoseconds();
        let mut graph = ModelGraph::new(system.as_mut(), equations, Vec::new()).map_err(|e| e.to_string())?;
        let solved = solve(&mut graph, Solver::Auto, &meter, &mut Quiet).map_err(|e| e.to_string())?;
        check(&mut graph, &solved.solution, solved.value, &meter, &mut Nobody).map_err(|e| e.to_string())?;
        let spent = (cpu_nanoseconds() - start) as f64 / 1e6;
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
