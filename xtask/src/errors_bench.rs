//! `cargo xtask bench errors [MODEL]`: how long it takes to the first error, over the models of the corpus that
//! have one.
//!
//! Wall-clock time of a whole process: as anybody calls it (all cores), depth-first and breadth-first by one
//! thread, as a hunt, and SPIN's verifier (gcc -O2, the compiler not counted, with the better of two sizes of its
//! table). Runs of all take turns, and the best of each counts. What is asked of all cores is not to be much
//! slower than the best of depth-first, breadth-first and SPIN, whichever that is for a model. Where none of these
//! three needs longer than a process takes to start, there is nothing to compare. Stored in `bench/errors.csv`.

use std::fmt::Write as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::beside::Beside;
use xtask::bench_promela::{median, store};
use xtask::promela::{Row, oracle};

const RUNS: usize = 5;
/// Milliseconds below which a time says more about the start of a process.
const SHORT: f64 = 20.0;
/// Seconds after which any of them is given up.
const PATIENCE: u32 = 20;
/// One round is enough if it takes longer.
const LONG: Duration = Duration::from_secs(10);

/// How we are called, the first as anybody does.
const CALLS: [(&str, &str); 4] = [
    ("all cores", ""),
    ("depth", "--workers 1"),
    ("breadth", "--workers 1 --search bfs"),
    ("hunt", "--hunt"),
];

/// Runs the benchmark; an argument chooses the models whose path contains it.
pub fn run(arguments: &[String]) -> Result<(), String> {
    let Some(beside) = Beside::new("errors")? else { return Ok(()) };
    let wanted = arguments.first().map_or("", String::as_str);
    let answers = oracle(&beside.corpus)?;
    let has_error = |row: &Row| matches!(row.verdict.as_str(), "deadlock" | "assertion");
    let models = answers.iter().filter(|(_, rows)| rows.values().any(has_error)).map(|(model, _)| model);
    let mut table = String::from("model,all_cores_ms,depth_ms,breadth_ms,hunt_ms,spin_ms,ratio\n");
    let (mut ratios, mut short) = (Vec::new(), 0);
    for model in models.filter(|model| model.contains(wanted)) {
        let Some([all, depth, breadth, hunt, spin]) = measure(&beside, model)? else {
            println!("{model:<32} is not compared: no error is found in {PATIENCE} s");
            continue;
        };
        let best = depth.min(breadth).min(spin);
        if best < SHORT && all < SHORT {
            short += 1;
            continue;
        }
        let ratio = all / best.max(1.0);
        ratios.push(ratio);
        println!(
            "{model:<32} all cores {all:8.1} ms, depth {depth:8.1}, breadth {breadth:8.1}, hunt {hunt:8.1}, SPIN {spin:8.1}: {ratio:.2}"
        );
        let _ = writeln!(table, "{model},{all:.1},{depth:.1},{breadth:.1},{hunt:.1},{spin:.1},{ratio:.2}");
    }
    let worst = ratios.iter().copied().fold(0.0, f64::max);
    let summary = format!(
        "{} models ({short} others below {SHORT} ms): all cores / the best of three {:.2} in the median, {worst:.2} at worst",
        ratios.len(),
        median(&mut ratios)
    );
    println!("{summary}");
    let _ = writeln!(table, "# {summary}");
    if wanted.is_empty() {
        store(&beside.root, "errors.csv", &table)?;
    }
    Ok(())
}

/// Milliseconds of each call and of SPIN, infinite for who finds no error; `None` where there is nothing to
/// compare.
fn measure(beside: &Beside, model: &str) -> Result<Option<[f64; CALLS.len() + 1]>, String> {
    let model = beside.corpus.join(model);
    let has_verifier = beside.make_verifier(&model, "-DNOCLAIM");
    let mut best = [f64::INFINITY; CALLS.len() + 1];
    for _ in 0..RUNS {
        let round = Instant::now();
        for (at, (_, flags)) in CALLS.iter().enumerate() {
            let mut call = Command::new(&beside.volee);
            call.arg("check").arg(&model).args(["--skip", "claims", "--time", &format!("{PATIENCE}s")]);
            call.args(flags.split_whitespace()).current_dir(&beside.folder);
            best[at] = best[at].min(timed(&mut call, |code, _| code == 1)?);
        }
        for size in ["-w18", "-w22"].into_iter().filter(|_| has_verifier) {
            let mut pan = Command::new("timeout");
            pan.arg(PATIENCE.to_string()).args(["./pan", "-m1000000", size]).current_dir(&beside.folder);
            best[CALLS.len()] = best[CALLS.len()].min(timed(&mut pan, |_, text| text.contains("errors: 1"))?);
        }
        if round.elapsed() > LONG {
            break;
        }
    }
    let [all, depth, breadth, _, spin] = best;
    Ok((all.is_finite() && depth.min(breadth).min(spin).is_finite()).then_some(best))
}

/// How long a call takes to an error; for ever, where it finds none.
fn timed(call: &mut Command, found: impl Fn(i32, &str) -> bool) -> Result<f64, String> {
    let start = Instant::now();
    let output = call.stderr(Stdio::null()).output().map_err(|e| e.to_string())?;
    let time = start.elapsed().as_secs_f64() * 1e3;
    let code = output.status.code().unwrap_or(-1);
    Ok(if found(code, &String::from_utf8_lossy(&output.stdout)) { time } else { f64::INFINITY })
}
