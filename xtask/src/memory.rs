//! `cargo xtask figures memory [DIRECTORY]`: searches in ever less memory, beside the points of the 1991 report.
//!
//! Jard and Jéron decrease the memory from what all states need down to the least that ends, and plot the insertions and
//! the time (figures 1 and 2). Here the same is done for their random graphs and for protocol families, for each policy
//! of replacement, and written as CSV and SVG. Insertions and generated states do not depend on the machine.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use volee::lts::generate::family;
use volee::search::{Check, Replacement, Statistics, check};
use volee::system::{Budget, Meter, Quiet, System};

/// Systems by family and parameters.
const SYSTEMS: &[(&str, &[u64])] = &[
    ("random-graph", &[400_000, 3, 1]),
    ("random-graph", &[400_000, 4, 1]),
    ("philosophers", &[13]),
    ("abp", &[64, 3]),
    ("ring", &[15]),
];

const SHARES: &[f64] = &[1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.15, 0.1, 0.05];

const POLICIES: &[(&str, Replacement)] = &[
    ("random", Replacement::Random),
    ("oldest", Replacement::Oldest),
    ("least-deep", Replacement::LeastDeep),
    ("least-frequent", Replacement::LeastFrequent),
    ("clock", Replacement::Clock),
    ("cheapest", Replacement::Cheapest),
];

/// Bytes by state in a table that is full.
const SLOT: f64 = 64.0 / 6.0;
/// A search that takes this many times longer than the one with all memory is given up.
const PATIENCE: f64 = 20.0;

/// A measured point.
struct Point {
    policy: &'static str,
    share: f64,
    /// Insertions and time, against those with all memory; `None` where the search did not end.
    costs: Option<(f64, f64)>,
}

pub fn run(arguments: &[String]) -> Result<(), String> {
    match arguments.first().map(String::as_str) {
        Some("memory") => {}
        _ => return Err("usage: cargo xtask figures memory [DIRECTORY], or families [DIRECTORY]".into()),
    }
    let directory = arguments.get(1).map_or("target/figures", String::as_str);
    std::fs::create_dir_all(directory).map_err(|e| format!("{directory}: {e}"))?;
    let mut table = String::from("system,states,policy,memory_share,insertions_ratio,time_ratio\n");
    for (name, values) in SYSTEMS {
        let words: Vec<String> = values.iter().map(u64::to_string).collect();
        let title = format!("{name} {}", words.join(" "));
        let (states, points) = measure(name, values)?;
        for point in &points {
            let costs = point.costs.map_or("-,-".into(), |(ins, time)| format!("{ins:.4},{time:.3}"));
            let line = format!("{title},{states},{},{:.2},{costs}", point.policy, point.share);
            println!("{line}");
            let _ = writeln!(table, "{line}");
        }
        let file = format!("memory-{}.svg", title.replace(' ', "-"));
        write(directory, &file, &plot(&format!("{title}: {states} states"), &points))?;
    }
    write(directory, "memory.csv", &table)
}

fn write(directory: &str, file: &str, text: &str) -> Result<(), String> {
    let path = Path::new(directory).join(file);
    std::fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))
}

fn measure(name: &str, values: &[u64]) -> Result<(u64, Vec<Point>), String> {
    let family = family(name).ok_or_else(|| format!("no family {name}"))?;
    let mut system = family.make(values).map_err(|e| e.to_string())?;
    let full = search(system.as_mut(), Replacement::Random, Budget::default());
    // The least in which all fit: everything but the table as measured, the table without a free place.
    let needed = (full.memory_bytes - full.table_bytes) as f64 + full.states as f64 * SLOT;
    let mut points = Vec::new();
    for &(policy, replacement) in POLICIES {
        for &share in SHARES {
            let budget = Budget {
                memory: Some((needed * share) as u64),
                time: Some(Duration::from_secs_f64(full.seconds * PATIENCE + 0.5)),
                ..Budget::default()
            };
            let found = search(system.as_mut(), replacement, budget);
            let costs = found.complete.then(|| {
                let insertions = found.insertions as f64 / full.states as f64;
                (insertions, found.seconds / full.seconds)
            });
            points.push(Point { policy, share, costs });
            if costs.is_none() {
                break;
            }
        }
    }
    Ok((full.states, points))
}

struct Found {
    complete: bool,
    states: u64,
    insertions: u64,
    seconds: f64,
    memory_bytes: u64,
    table_bytes: u64,
}

fn search(system: &mut (dyn System + Send), replacement: Replacement, budget: Budget) -> Found {
    let meter = Meter::start(budget);
    let questions = Check::new().all_errors(true).replacement(Some(replacement)).seed(1);
    let outcome = check(system, &questions, &meter, &mut Quiet);
    let Statistics { states, seconds, memory_bytes, table_bytes, .. } = outcome.statistics;
    let insertions = outcome.statistics.turnover.as_ref().map_or(states, |t| t.insertions);
    Found { complete: outcome.limit.is_none(), states, insertions, seconds, memory_bytes, table_bytes }
}

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 400.0;
const LEFT: f64 = 60.0;
const TOP: f64 = 40.0;
const COLOURS: [&str; 6] = ["#1b6ca8", "#c0392b", "#8e44ad", "#7f8c8d", "#e67e22", "#27ae60"];

fn x(share: f64) -> f64 {
    LEFT + (1.0 - share) * (WIDTH - LEFT - 20.0)
}

fn y(ratio: f64) -> f64 {
    TOP + (HEIGHT - TOP - 40.0) * (1.0 - (ratio.clamp(1.0, 4.0) - 1.0) / 3.0)
}

/// Insertions against memory, a line per policy; the published points as crosses.
fn plot(title: &str, points: &[Point]) -> String {
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" \
         font-size=\"12\">\n<rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>\n<text x=\"{LEFT}\" \
         y=\"20\">{title}: insertions by state, against memory (share of what all states need)</text>\n"
    );
    for ratio in [1.0, 2.0, 3.0, 4.0] {
        let at = y(ratio);
        let _ = writeln!(
            svg,
            "<line x1=\"{LEFT}\" x2=\"{WIDTH}\" y1=\"{at}\" y2=\"{at}\" stroke=\"#ddd\"/><text x=\"20\" \
             y=\"{at}\">{ratio}</text>"
        );
    }
    for share in [1.0, 0.8, 0.6, 0.4, 0.2] {
        let percent = share * 100.0;
        let _ = writeln!(svg, "<text x=\"{}\" y=\"{}\">{percent:.0} %</text>", x(share), HEIGHT - 20.0);
    }
    for (index, &(policy, _)) in POLICIES.iter().enumerate() {
        svg.push_str(&curve(policy, COLOURS[index], TOP + 16.0 * index as f64, points));
    }
    for (share, ratio) in [(0.4, 1.7), (0.1, 1.01)] {
        let _ = writeln!(svg, "<text x=\"{}\" y=\"{}\">✕ 1991</text>", x(share) - 4.0, y(ratio) + 4.0);
    }
    svg.push_str("</svg>\n");
    svg
}

fn curve(policy: &str, colour: &str, legend: f64, points: &[Point]) -> String {
    let of_policy = points.iter().filter(|p| p.policy == policy);
    let line: Vec<String> = of_policy
        .filter_map(|p| p.costs.map(|(insertions, _)| format!("{:.1},{:.1}", x(p.share), y(insertions))))
        .collect();
    format!(
        "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\"/><text x=\"{}\" y=\"{legend}\" \
         fill=\"{colour}\">{policy}</text>\n",
        line.join(" "),
        LEFT + 10.0,
    )
}
