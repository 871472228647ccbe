//! `cargo xtask bench promela`: speed and memory beside SPIN's, in the same run.
//!
//! For each model the verifier that SPIN generates (gcc -O2, exact storage, no reduction, the better of two table
//! sizes) and our binary run by turns; what counts is transitions per second of CPU time, and bytes per stored state.
//! SPIN's C compiler is not counted against it there, but in the second table: time to a verdict on small models,
//! everything included. Runs are stored in `bench/`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use crate::promela::{is_below, option, oracle};

/// The models to beat SPIN on, and whether every optimisation of both is off.
const MODELS: &[(&str, bool)] = &[
    ("gen/2pc_8.pml", false),
    ("beem/szymanski.4.pml", false),
    ("beem/at.3.pml", false),
    ("spin-ltl/leader.pml", false),
    ("beem/adding.3.pml", true),
    ("beem/lamport.5.pml", true),
    ("beem/rether.4.pml", true),
    ("beem/phils.4.pml", true),
];

/// Larger than the others by a factor of ten: only with `--large`.
const LARGE: &[(&str, bool)] = &[("gen/2pc_9.pml", false), ("beem/cambridge.5.pml", true)];

/// CPU seconds and output of a command.
fn timed(folder: &Path, command: &str) -> Result<(f64, String), String> {
    let script = format!("TIMEFORMAT='cpu %U %S'; time {command}");
    let output =
        Command::new("bash").args(["-c", &script]).current_dir(folder).output().map_err(|e| e.to_string())?;
    let errors = String::from_utf8_lossy(&output.stderr);
    let cpu = errors.lines().rev().find_map(|l| l.strip_prefix("cpu ")).ok_or("no CPU time")?;
    let seconds = cpu.split_whitespace().filter_map(|t| t.parse::<f64>().ok()).sum();
    Ok((seconds, String::from_utf8_lossy(&output.stdout).into_owned()))
}

/// One side's best run.
#[derive(Debug, Clone, Copy, Default)]
struct Best {
    states: f64,
    transitions: f64,
    seconds: f64,
    bytes_per_state: f64,
}

impl Best {
    fn rate(self) -> f64 {
        self.transitions / self.seconds.max(0.001)
    }

    fn keep(&mut self, other: Best) {
        if self.seconds == 0.0 || other.seconds < self.seconds {
            *self = other;
        }
    }
}

fn first_number(text: &str, what: &str) -> f64 {
    let line = text.lines().find(|l| l.contains(what));
    line.and_then(|l| l.split_whitespace().next()?.parse().ok()).unwrap_or(0.0)
}

fn generate(folder: &Path, model: &Path, plain: bool) -> Result<(), String> {
    let flags = if plain { "-o1 -o2 -o3" } else { "" };
    let build = format!(
        "spin -a {flags} {} >/dev/null && gcc -O2 -w -DSAFETY -DNOREDUCE -DNOCLAIM -DMEMLIM=20000 -o pan pan.c",
        model.display()
    );
    let status =
        Command::new("bash").args(["-c", &build]).current_dir(folder).status().map_err(|e| e.to_string())?;
    if status.success() { Ok(()) } else { Err("SPIN or gcc failed".into()) }
}

fn run_spin(folder: &Path) -> Result<Best, String> {
    let mut best = Best::default();
    for size in [24, 26] {
        let (seconds, text) = timed(folder, &format!("./pan -c0 -m4000000 -w{size}"))?;
        let states = first_number(&text, "states, stored");
        let memory = first_number(&text, "actual memory usage for states");
        let transitions = first_number(&text, "transitions (=");
        best.keep(Best { states, transitions, seconds, bytes_per_state: memory * 1e6 / states.max(1.0) });
    }
    Ok(best)
}

fn run_volee(volee: &Path, folder: &Path, model: &Path, plain: bool) -> Result<Best, String> {
    let plain = if plain { "--plain" } else { "" };
    let command = format!("{} check {} --all-errors {plain} --format json", volee.display(), model.display());
    let (seconds, text) = timed(folder, &command)?;
    let number = |field: &str| -> f64 {
        let at = text.find(&format!("\"{field}\":")).map(|i| i + field.len() + 3);
        let rest = at.map(|i| text[i..].trim_start()).unwrap_or_default();
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        rest[..end].parse().unwrap_or(0.0)
    };
    let (states, transitions) = (number("states"), number("transitions"));
    Ok(Best { states, transitions, seconds, bytes_per_state: number("bytes_per_state") })
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

/// Wall-clock seconds to a verdict on every model of fewer than 100,000 states, process start included.
fn small_models(volee: &Path, corpus: &Path) -> Result<Vec<f64>, String> {
    let mut times = Vec::new();
    for (model, _) in oracle(corpus)?.iter().filter(|(_, rows)| is_below(rows, 100_000)) {
        let start = Instant::now();
        let _ =
            Command::new(volee).arg("check").arg(corpus.join(model)).output().map_err(|e| e.to_string())?;
        times.push(start.elapsed().as_secs_f64());
    }
    Ok(times)
}

/// `cargo xtask bench promela [--large] [--runs N]`
///
/// # Errors
/// The corpus or a tool is missing.
pub fn run(arguments: &[String]) -> Result<(), String> {
    let corpus = crate::corpus::folder("promela").ok_or("the corpus is not beside this checkout")?;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let volee = built(&root)?;
    let runs: u32 = option(arguments, "--runs").map_or(Ok(2), |t| t.parse().map_err(|_| "--runs NUMBER"))?;
    let large: &[(&str, bool)] = if arguments.iter().any(|a| a == "--large") { LARGE } else { &[] };
    let folder = std::env::temp_dir().join(format!("volee-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
    let with_spin = Command::new("spin").arg("-V").output().is_ok();
    if !with_spin {
        println!("skipped: spin is not installed, so there is nothing to compare with");
    }
    let mut table = String::from(
        "model,mode,states,transitions,cpu_s,bytes_per_state,spin_transitions,spin_cpu_s,spin_bytes_per_state,ratio\n",
    );
    let (mut ratios, mut bytes) = (Vec::new(), Vec::new());
    println!(
        "{:<24} {:>11} {:>9} {:>9} {:>7} {:>7} {:>6}",
        "model", "transitions", "ours M/s", "SPIN M/s", "ratio", "B/state", "SPIN"
    );
    for &(model, plain) in MODELS.iter().chain(large) {
        let path = corpus.canonicalize().map_err(|e| e.to_string())?.join(model);
        let (mut ours, mut spin) = (Best::default(), Best::default());
        if with_spin {
            generate(&folder, &path, plain)?;
        }
        for _ in 0..runs {
            ours.keep(run_volee(&volee, &folder, &path, plain)?);
            if with_spin {
                spin.keep(run_spin(&folder)?);
            }
        }
        let ratio = if with_spin { ours.rate() / spin.rate() } else { 0.0 };
        ratios.push(ratio);
        bytes.push(ours.bytes_per_state);
        println!(
            "{model:<24} {:>11} {:>9.2} {:>9.2} {ratio:>7.2} {:>7.1} {:>6.1}",
            ours.transitions,
            ours.rate() / 1e6,
            spin.rate() / 1e6,
            ours.bytes_per_state,
            spin.bytes_per_state
        );
        let mode = if plain { "plain" } else { "default" };
        let _ = writeln!(
            table,
            "{model},{mode},{},{},{},{:.1},{},{},{:.1},{ratio:.2}",
            ours.states,
            ours.transitions,
            ours.seconds,
            ours.bytes_per_state,
            spin.transitions,
            spin.seconds,
            spin.bytes_per_state
        );
    }
    let _ = std::fs::remove_dir_all(&folder);
    let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
    let (ratio, per_state) = (median(&mut ratios), median(&mut bytes));
    println!("median ratio {ratio:.2}, least {least:.2}; median bytes per state {per_state:.1}");
    let mut times = small_models(&volee, &corpus)?;
    let count = times.len();
    let typical = median(&mut times) * 1000.0;
    let slowest = times.last().copied().unwrap_or(0.0) * 1000.0;
    println!(
        "{count} models of fewer than 100,000 states: {typical:.1} ms to a verdict in the median, {slowest:.0} ms at most"
    );
    let _ =
        writeln!(table, "# median ratio {ratio:.2}, least {least:.2}, median bytes per state {per_state:.1}");
    let _ = writeln!(
        table,
        "# {count} small models: median {typical:.1} ms to a verdict, {slowest:.0} ms at most"
    );
    store(&root, "promela.csv", &table)
}

/// The release binary, built now.
fn built(root: &Path) -> Result<PathBuf, String> {
    let status = Command::new("cargo")
        .args(["build", "--release", "--quiet", "--package", "volee-cli"])
        .current_dir(root)
        .status()
        .map_err(|e| e.to_string())?;
    if !status.success() {
        return Err("volee does not build".into());
    }
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    target.join("release/volee").canonicalize().map_err(|e| e.to_string())
}

fn store(root: &Path, name: &str, table: &str) -> Result<(), String> {
    let folder = root.join("bench");
    std::fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
    std::fs::write(folder.join(name), table).map_err(|e| e.to_string())
}
