//! Boolean equations: the kernel against the memory of the machine, the published formula on the published size, and
//! how little an early answer explores.

use std::fs;
use std::hint::black_box;

use volee::bes::certificate::{Nobody, check};
use volee::bes::model::ModelGraph;
use volee::bes::random::{Implicit, Random};
use volee::bes::{Solver, solve};
use volee::logic::mu::{Equations, read};
use volee::lts::generate::family;
use volee::lts::{explore, read_file, write_file};
use volee::system::{Budget, Meter, Quiet, System};

const F1: &str = "nu X . ([/PUT.*/] mu Y . ((nu Z . <tau> Z) or (<true> true and [not /GET.*/] false) \
                  or (<true> true and [true] Y)) and [true] X)";

/// CPU time of this thread in nanoseconds.
fn cpu() -> Result<u64, String> {
    let text = fs::read_to_string("/proc/thread-self/schedstat").map_err(|e| format!("schedstat: {e}"))?;
    text.split_whitespace()
        .next()
        .and_then(|n| n.parse().ok())
        .ok_or_else(|| "schedstat has no number".into())
}

/// The peak of resident memory in bytes.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|l| l.starts_with("VmHWM:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|n| n.parse::<u64>().ok()).unwrap_or(0) * 1024
}

pub fn bench(arguments: &[String]) -> Result<(), String> {
    let only = arguments.first().map(String::as_str);
    if only.is_none_or(|o| o == "kernel") {
        kernel()?;
    }
    if only.is_none_or(|o| o == "early") {
        early()?;
    }
    if only.is_none_or(|o| o == "f1") {
        published()?;
    }
    Ok(())
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

fn kernel() -> Result<(), String> {
    println!("kernel: CPU ns per edge, 2.7 M variables and about 10 M edges, against two random reads");
    for constants in [0, 100, 400] {
        let graph = Implicit { variables: 2_750_000, degree: 4, constants };
        let mut ratios = Vec::new();
        for _ in 0..5 {
            let floor = floor(64 << 20, 43 << 20, 10_000_000)?;
            let meter = Meter::start(Budget::default());
            let start = cpu()?;
            let solved =
                solve(&mut { graph }, Solver::BreadthFirst, &meter, &mut Quiet).map_err(|e| e.to_string())?;
            let spent = (cpu()? - start) as f64;
            let per_edge = spent / solved.statistics.edges as f64;
            ratios.push(per_edge / floor);
            println!(
                "  constants {:>4}/1000: {:>9} variables {:>9} edges  {per_edge:6.1} ns per edge, floor {floor:5.1}, ratio {:.2}",
                constants,
                solved.statistics.variables,
                solved.statistics.edges,
                per_edge / floor
            );
        }
        ratios.sort_by(f64::total_cmp);
        println!("  constants {constants:>4}/1000: best ratio {:.2}, median {:.2}", ratios[0], ratios[2]);
    }
    Ok(())
}

fn made(messages: u64, capacity: u64) -> Result<Box<dyn System + Send>, String> {
    family("abp").ok_or("no family abp")?.make(&[messages, capacity]).map_err(|e| e.to_string())
}

/// Solves and confirms; prints what it cost.
fn ask(name: &str, system: &mut dyn System, formula: &str, solver: Solver) -> Result<bool, String> {
    let equations = Equations::new(read("formula", formula).map_err(|e| e[0].to_string())?);
    let meter = Meter::start(Budget::default());
    let start = cpu()?;
    let mut graph = ModelGraph::new(system, equations).map_err(|e| e.to_string())?;
    let solved = solve(&mut graph, solver, &meter, &mut Quiet).map_err(|e| e.to_string())?;
    let middle = cpu()?;
    check(&mut graph, &solved.solution, solved.value, &meter, &mut Nobody).map_err(|e| e.to_string())?;
    let end = cpu()?;
    let s = solved.statistics;
    println!(
        "  {name:<28} {:<11} {:<5} solve {:8.3} s, confirm {:8.3} s; {} places, {} variables, {} edges, {} MB; peak {} MB",
        solved.solver.name(),
        solved.value,
        (middle - start) as f64 / 1e9,
        (end - middle) as f64 / 1e9,
        s.places,
        s.variables,
        s.edges,
        s.memory >> 20,
        peak() >> 20,
    );
    Ok(solved.value)
}

fn early() -> Result<(), String> {
    println!("early answers on abp 256 3, generated on the fly (6231568 states)");
    let mut system = made(256, 3)?;
    for formula in [
        "[true* . \"GET !5\"] false",
        "nu X . ([/PUT.*/] mu Y . (<true> true and [not /GET.*/] Y) and [true] X)",
    ] {
        for solver in [Solver::Auto, Solver::BreadthFirst, Solver::DepthFirst] {
            ask("false, shallow", system.as_mut(), formula, solver)?;
        }
    }
    Ok(())
}

fn published() -> Result<(), String> {
    let folder = std::env::temp_dir();
    for (messages, capacity) in [(64, 2), (256, 3)] {
        println!("F1 on abp {messages} {capacity}");
        let path = folder.join(format!("volee-bench-{}-{messages}-{capacity}.vlts", std::process::id()));
        let meter = Meter::start(Budget::default());
        let lts =
            explore(made(messages, capacity)?.as_mut(), &meter, &mut Quiet).map_err(|e| e.to_string())?;
        println!("  generated: {} states, {} transitions", lts.state_count(), lts.transition_count());
        write_file(&lts, &path).map_err(|e| e.to_string())?;
        drop(lts);
        let start = cpu()?;
        let read = read_file(&path).map_err(|e| e.to_string());
        let _ = fs::remove_file(&path);
        let mut lts = read?;
        let (reading, bytes) = ((cpu()? - start) as f64 / 1e9, lts.memory() >> 20);
        println!("  read from the binary format: {reading:.3} s, {bytes} MB");
        for solver in [Solver::Auto, Solver::DepthFirst, Solver::BreadthFirst] {
            ask("F1, explicit", &mut lts, F1, solver)?;
        }
        drop(lts);
        ask("F1, on the fly", made(messages, capacity)?.as_mut(), F1, Solver::Auto)?;
    }
    Ok(())
}
