//! `cargo xtask figures families`: the ten problems of Yang and Li (ICSE 2010) by each of their four engines.
//!
//! A table like the last one of the paper: for each problem and engine the states that were kept and the
//! time, or what ended it. It is stored in `bench/families.csv`, and printed as the table that the book
//! shows. Models that the paper has by name only are reconstructions (each file says what), so states are to
//! be compared between engines, not with the paper's.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use volee::families::{Choice, Family, Method, Questions, check, family_of};
use volee::program::{Expr, NodeId, ProctypeId};
use volee::promela::{Lowered, parse_predicate};
use volee::system::{Budget, Limit, Quiet, Verdict};
use volee::{Model, Options};

/// The problems: file, templates, points that must not be occupied together.
const PROBLEMS: [(&str, &str, &str, &str); 10] = [
    ("p1", "p1-bin", "User", ""),
    ("p2", "p2-loop", "User", ""),
    ("p3", "p3-mutual-exclusion", "Client", "Client@critical,Client@critical"),
    ("p4", "p4-no-orphans", "Client", ""),
    ("p5", "p5-full-put", "Producer,Consumer", ""),
    ("p6", "p6-empty-get", "Producer,Consumer", ""),
    ("p7", "p7-produce-first", "Producer,Consumer", ""),
    ("p8", "p8-empty-get-and-full-put", "Producer,Consumer", ""),
    ("p9", "p9-gas-station", "Client", ""),
    ("p10", "p10-gas-station-hurried", "Client,Hurried", ""),
];

const ENGINES: [Method; 4] = [Method::CutOff, Method::Backward, Method::KarpMiller, Method::EmersonNamjoshi];
const TIME: Duration = Duration::from_secs(10);
const MEMORY: u64 = 256 << 20;
/// Runs of which the fastest counts.
const RUNS: u32 = 5;

/// What one engine made of one problem.
struct Cell {
    verdict: String,
    states: u64,
    milliseconds: f64,
}

/// Measures, prints and stores; an argument chooses another folder of models.
pub fn run(arguments: &[String]) -> Result<(), String> {
    let folder = arguments.first().map_or("examples/families", String::as_str);
    let mut csv = String::from("problem,engine,verdict,states,milliseconds\n");
    println!("| problem | verdict | fbra | bra | frakm | fraen |\n|---|---|---|---|---|---|");
    for (problem, file, templates, cover) in PROBLEMS {
        let path = Path::new(folder).join(format!("{file}.pml"));
        let family = open(&path, templates, cover).map_err(|e| format!("{}: {e}", path.display()))?;
        let cells: Vec<Cell> =
            ENGINES.iter().map(|&engine| measure(&family, engine)).collect::<Result<_, _>>()?;
        let decided = |c: &&Cell| c.verdict == "holds" || c.verdict == "violated";
        let verdicts: Vec<&str> = cells.iter().filter(decided).map(|c| c.verdict.as_str()).collect();
        if verdicts.windows(2).any(|w| w[0] != w[1]) {
            return Err(format!("{problem}: the engines disagree: {verdicts:?}"));
        }
        let shown = cells.iter().map(|c| match decided(&c) {
            true => format!("{}, {:.2} ms", c.states, c.milliseconds),
            false => c.verdict.clone(),
        });
        let shown: Vec<String> = shown.collect();
        println!(
            "| {problem} | {} | {} |",
            verdicts.first().copied().unwrap_or("unknown"),
            shown.join(" | ")
        );
        for (engine, cell) in ENGINES.iter().zip(&cells) {
            let Cell { verdict, states, milliseconds } = cell;
            let _ = writeln!(csv, "{problem},{},{verdict},{states},{milliseconds:.3}", engine.name());
        }
    }
    fs::create_dir_all("bench").map_err(|e| e.to_string())?;
    fs::write("bench/families.csv", csv).map_err(|e| e.to_string())
}

fn open(path: &Path, templates: &str, cover: &str) -> Result<Family, String> {
    let first = |all: Vec<volee::system::Diagnostic>| all[0].to_string();
    let options = Options { dormant: true, ..Options::default() };
    let model = Model::open(path, &options).map_err(first)?;
    let lowered = model.promela.ok_or("not a Promela model")?;
    let mut questions = Questions::default();
    if !cover.is_empty() {
        let points = cover.split(',').map(|point| place(&lowered, point)).collect::<Result<_, _>>()?;
        questions.covers.push((cover.to_string(), points));
    }
    let templates: Vec<String> = templates.split(',').map(String::from).collect();
    family_of(&lowered.program, &templates, &questions, None).map_err(|e| e.to_string())
}

fn place(lowered: &Lowered, point: &str) -> Result<(ProctypeId, NodeId), String> {
    let parsed = parse_predicate(lowered.model(), point).map_err(|all| all[0].to_string())?;
    match lowered.expression(&parsed).map_err(|d| d.to_string())? {
        Expr::At { proctype, node, .. } => Ok((proctype, node)),
        _ => Err(format!("`{point}` is not a point of control")),
    }
}

fn measure(family: &Family, engine: Method) -> Result<Cell, String> {
    let asked = family.asked.first().ok_or("nothing is asked")?;
    let net = family.net(asked);
    let budget = Budget { time: Some(TIME), memory: Some(MEMORY), ..Budget::default() };
    let mut best: Option<Cell> = None;
    for _ in 0..RUNS {
        let start = Instant::now();
        let checked =
            check(&net, Choice::Only(engine), budget.clone(), &mut Quiet).map_err(|e| e.to_string())?;
        let milliseconds = start.elapsed().as_secs_f64() * 1e3;
        let verdict = match checked.verdict {
            Verdict::Holds => "holds",
            Verdict::Violated(_) => "violated",
            Verdict::Unknown(Limit::Memory { .. }) => "out of memory",
            Verdict::Unknown(Limit::Time { .. }) => "out of time",
            Verdict::Unknown(_) => "gave up",
        };
        let cell = Cell { verdict: verdict.into(), states: checked.statistics.states, milliseconds };
        let undecided = verdict.starts_with("out") || verdict == "gave up";
        if best.as_ref().is_none_or(|b| milliseconds < b.milliseconds) {
            best = Some(cell);
        }
        if undecided {
            break;
        }
    }
    best.ok_or_else(|| "nothing was run".into())
}
