//! `cargo xtask figures memory [DIRECTORY [FAMILY]]`: searches in ever less memory, beside the points of the
//! 1989 and 1991 reports.
//!
//! Jard and Jéron decrease the memory from what all states need down to the least that ends, and plot
//! insertions, generated states and time (figure 8 of 1989, figures 1 and 2 of 1991). Here the same is done
//! for their random graphs and for protocol families, and written as CSV and SVG. All memory is what the
//! ordinary search needs at its peak, table, nodes and stack together; that is what a user without a budget
//! pays. Beside it stands the algorithm of the 1991 report itself, in states, on the same graphs
//! ([`crate::memory_twin`]). Insertions and generated states do not depend on the machine; times are CPU
//! times, the best of a few runs.

use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use volee::lts::explore;
use volee::lts::generate::family;
use volee::search::{Check, Replacement, check};
use volee::system::{Budget, Meter, Quiet, System};

use crate::memory_plot::{Curve, Mark, plot};
use crate::memory_twin::traverse;

/// Systems by family and parameters.
const SYSTEMS: &[(&str, &[u64])] = &[
    ("random-graph", &[400_000, 5, 1]),
    ("random-graph", &[400_000, 6, 1]),
    ("random-graph", &[400_000, 8, 1]),
    ("connect-disconnect", &[800]),
    ("abp", &[64, 3]),
    ("window", &[2, 2, 3]),
    ("retransmission", &[200, 100]),
    ("two-phase-commit", &[4]),
    ("leader", &[10, 3]),
    ("philosophers", &[12]),
    ("ring", &[14]),
];

const SHARES: &[f64] = &[1.0, 0.8, 0.6, 0.5, 0.4, 0.35, 0.3, 0.25, 0.2, 0.15, 0.125, 0.1, 0.075, 0.05];

const POLICIES: &[(&str, Replacement)] = &[
    ("random", Replacement::Random),
    ("oldest", Replacement::Oldest),
    ("least-deep", Replacement::LeastDeep),
    ("least-frequent", Replacement::LeastFrequent),
    ("clock", Replacement::Clock),
    ("cheapest", Replacement::Cheapest),
];

/// A search that takes this many times longer than the one with all memory is given up.
const PATIENCE: f64 = 16.0;
/// Measurements of one system end after this time: first come those of the default policy.
const PER_SYSTEM: Duration = Duration::from_secs(40);
/// The published points: share of the memory, insertions or generated states, time.
const PUBLISHED: &[(&str, f64, f64, f64)] =
    &[("1991", 0.4, 1.7, 1.5), ("1991", 0.1, 1.01, 1.11), ("1989", 0.1, 1.0, 0.5)];

/// What a search cost, against the one with all memory.
#[derive(Debug, Clone, Copy)]
struct Costs {
    insertions: f64,
    generated: f64,
    seconds: f64,
}

/// A measured point; without costs where the search did not end.
struct Point {
    policy: &'static str,
    share: f64,
    costs: Option<Costs>,
}

pub fn run(arguments: &[String]) -> Result<(), String> {
    let directory = arguments.first().map_or("target/figures", String::as_str);
    std::fs::create_dir_all(directory).map_err(|e| format!("{directory}: {e}"))?;
    let mut table =
        String::from("system,states,full_bytes,policy,memory_share,insertions,generated,seconds\n");
    for (name, share, insertions, time) in PUBLISHED {
        let _ = writeln!(table, "published {name},,,,{share},{insertions},{insertions},{time}");
    }
    let wanted = |name: &str| arguments.get(1).is_none_or(|only| name == only);
    for (name, values) in SYSTEMS.iter().filter(|(name, _)| wanted(name)) {
        let words: Vec<String> = values.iter().map(u64::to_string).collect();
        let title = format!("{name} {}", words.join(" "));
        let measured = measure(name, values)?;
        for point in &measured.points {
            let costs = point.costs.map_or("-,-,-".into(), |c| {
                format!("{:.4},{:.4},{:.3}", c.insertions, c.generated, c.seconds)
            });
            let Measured { states, full_bytes, .. } = measured;
            let line = format!("{title},{states},{full_bytes},{},{:.3},{costs}", point.policy, point.share);
            println!("{line}");
            let _ = writeln!(table, "{line}");
        }
        let file = format!("memory-{}.svg", title.replace(' ', "-"));
        write(directory, &file, &picture(&title, &measured))?;
    }
    write(directory, "memory.csv", &table)
}

fn write(directory: &str, file: &str, text: &str) -> Result<(), String> {
    let path = Path::new(directory).join(file);
    std::fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))
}

struct Measured {
    states: u64,
    full_bytes: u64,
    points: Vec<Point>,
}

fn measure(name: &str, values: &[u64]) -> Result<Measured, String> {
    let family = family(name).ok_or_else(|| format!("no family {name}"))?;
    let mut system = family.make(values).map_err(|e| e.to_string())?;
    let full = best(system.as_mut(), Replacement::Random, &Budget::default(), 3);
    let mut points = Vec::new();
    let start = Instant::now();
    for &(policy, replacement) in POLICIES {
        for &share in SHARES.iter().take_while(|_| start.elapsed() < PER_SYSTEM) {
            let budget = Budget {
                memory: Some((full.memory_bytes as f64 * share) as u64),
                time: Some(Duration::from_secs_f64(full.seconds * PATIENCE + 0.5)),
                ..Budget::default()
            };
            let runs = if policy == "random" { 3 } else { 1 };
            let found = best(system.as_mut(), replacement, &budget, runs);
            let costs = found.complete.then(|| Costs {
                insertions: found.insertions as f64 / full.states as f64,
                generated: found.generated as f64 / full.generated as f64,
                seconds: found.seconds / full.seconds,
            });
            points.push(Point { policy, share, costs });
            if costs.is_none() {
                break;
            }
        }
    }
    if name == "random-graph" {
        points.extend(report(system.as_mut(), full.states)?);
    }
    Ok(Measured { states: full.states, full_bytes: full.memory_bytes, points })
}

/// The algorithm of the 1991 report on the same graph, with its memory in states.
fn report(system: &mut (dyn System + Send), states: u64) -> Result<Vec<Point>, String> {
    let lts = explore(system, &Meter::start(Budget::default()), &mut Quiet).map_err(|e| e.to_string())?;
    let full = traverse(&lts, states as usize, u64::MAX).ok_or("a table for all states suffices")?;
    let mut points = Vec::new();
    for &share in SHARES {
        let capacity = (states as f64 * share) as usize;
        let costs = traverse(&lts, capacity, states * PATIENCE as u64).map(|found| Costs {
            insertions: found.insertions as f64 / full.insertions as f64,
            generated: found.generated as f64 / full.generated as f64,
            seconds: f64::NAN,
        });
        points.push(Point { policy: "report (in states)", share, costs });
    }
    Ok(points)
}

pub struct Found {
    pub complete: bool,
    pub states: u64,
    pub insertions: u64,
    pub generated: u64,
    pub seconds: f64,
    pub memory_bytes: u64,
}

/// CPU time of this thread.
fn cpu_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split_whitespace()
        .next()
        .and_then(|n| n.parse::<f64>().ok())
        .map_or(0.0, |nanoseconds| nanoseconds / 1e9)
}

/// The fastest of a few runs.
fn best(system: &mut (dyn System + Send), replacement: Replacement, budget: &Budget, runs: usize) -> Found {
    let mut found = search(system, replacement, budget);
    for _ in 1..runs {
        if found.complete {
            found.seconds = found.seconds.min(search(system, replacement, budget).seconds);
        }
    }
    found
}

pub fn search(system: &mut (dyn System + Send), replacement: Replacement, budget: &Budget) -> Found {
    let start = cpu_seconds();
    let meter = Meter::start(budget.clone());
    let questions = Check::new().all_errors(true).replacement(Some(replacement)).seed(1);
    let outcome = check(system, &questions, &meter, &mut Quiet);
    let seconds = cpu_seconds() - start;
    let statistics = outcome.statistics;
    let insertions = statistics.turnover.as_ref().map_or(statistics.states, |t| t.insertions);
    Found {
        complete: outcome.limit.is_none(),
        states: statistics.states,
        insertions,
        generated: statistics.transitions,
        seconds,
        memory_bytes: statistics.memory_bytes,
    }
}

fn picture(title: &str, measured: &Measured) -> String {
    let curve = |name: &str, policy: &str, value: fn(&Costs) -> f64| Curve {
        name: name.into(),
        points: measured
            .points
            .iter()
            .filter(|p| p.policy == policy)
            .filter_map(|p| p.costs.map(|c| (p.share, value(&c))))
            .filter(|(_, value)| value.is_finite())
            .collect(),
    };
    let mut curves = vec![
        curve("insertions", "random", |c| c.insertions),
        curve("generated states", "random", |c| c.generated),
        curve("time", "random", |c| c.seconds),
        curve("insertions, cheapest", "cheapest", |c| c.insertions),
        curve("insertions, 1991 algorithm by states", "report (in states)", |c| c.insertions),
    ];
    curves.retain(|curve| !curve.points.is_empty());
    let marks: Vec<Mark> = PUBLISHED
        .iter()
        .flat_map(|&(year, share, insertions, time)| {
            [(insertions, "insertions"), (time, "time")].map(|(value, what)| Mark {
                name: format!("{year} {what}"),
                share,
                value,
            })
        })
        .collect();
    let megabytes = measured.full_bytes as f64 / 1e6;
    plot(&format!("{title}: {} states, {megabytes:.1} MB", measured.states), &curves, &marks)
}
