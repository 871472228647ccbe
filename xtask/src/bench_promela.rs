//! `cargo xtask bench promela`: speed and memory beside SPIN's, in the same run.
//!
//! For each model the verifier that SPIN generates (gcc -O2, exact storage, the best of three table sizes)
//! and our binary run by turns, equally often. First without reduction: what counts is transitions per second of CPU time,
//! and bytes per stored state. Then each as it is by default, with its own reduction: CPU time to a verdict;
//! SPIN's C compiler is counted on neither side. Before that small models, process start included; and at the end one
//! family at sizes far apart: what a transition costs must not grow with their number. Runs are stored in `bench/`.

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

/// Larger than the others by a factor of ten: not with `--quick`.
const LARGE: &[(&str, bool)] = &[("gen/2pc_9.pml", false), ("beem/cambridge.5.pml", true)];

/// Others of more than a million transitions.
const OTHERS: &[(&str, bool)] = &[
    ("gen/2pc_7.pml", false),
    ("beem/elevator2.2.pml", true),
    ("beem/szymanski.4.pml", true),
    ("beem/at.3.pml", true),
    ("spin-ex/cambridge.pml", true),
    ("spin-ex/sort.pml", true),
    ("spin-ltl/leader.pml", true),
    ("spin-ltl/pftp.pml", true),
    ("spins-cs/brp.pml", true),
    ("spins-cs/philo.pml", false),
];

/// Sizes of SPIN's table, as powers of two: each is run.
const TABLES: [u32; 3] = [20, 24, 26];

/// Runs of a small model; the one in the middle counts.
const SMALL_RUNS: u32 = 3;

/// Processes of the family, each with as many values as [`family`] says.
const FAMILY: &[u32] = &[5, 6, 7, 8];

/// So many processes that count to ten, each for itself but for a flag that all see: about as many states as
/// a one with so many zeros.
fn family(processes: u32) -> String {
    format!(
        "bit busy;\nactive [{processes}] proctype P() {{\n  byte x;\nend:\n  do\n  :: d_step {{ x < 9 && !busy -> x++ }}\n  \
         :: d_step {{ x == 9 -> x = 0; busy = 1 - busy }}\n  od\n}}\n"
    )
}

/// CPU seconds and output of a command.
///
/// # Errors
/// There is no shell to run it.
pub fn timed(folder: &Path, command: &str) -> Result<(f64, String), String> {
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

/// Which steps both take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Steps {
    All,
    Reduced,
}

fn generate(folder: &Path, model: &Path, plain: bool, steps: Steps) -> Result<(), String> {
    let flags = if plain { "-o1 -o2 -o3" } else { "" };
    let reduce = if steps == Steps::All { "-DNOREDUCE" } else { "" };
    let build = format!(
        "spin -a {flags} {} >/dev/null && gcc -O2 -w -DSAFETY {reduce} -DNOCLAIM -DMEMLIM=20000 -o pan pan.c",
        model.display()
    );
    let status =
        Command::new("bash").args(["-c", &build]).current_dir(folder).status().map_err(|e| e.to_string())?;
    if status.success() { Ok(()) } else { Err("SPIN or gcc failed".into()) }
}

fn run_spin(folder: &Path, steps: Steps, size: u32) -> Result<Best, String> {
    let errors = if steps == Steps::All { "-c0" } else { "-c1" };
    let (seconds, text) = timed(folder, &format!("./pan {errors} -m4000000 -w{size}"))?;
    let states = first_number(&text, "states, stored");
    let memory = first_number(&text, "actual memory usage for states");
    let transitions = first_number(&text, "transitions (=");
    Ok(Best { states, transitions, seconds, bytes_per_state: memory * 1e6 / states.max(1.0) })
}

fn run_volee(
    volee: &Path,
    folder: &Path,
    (model, plain): (&Path, bool),
    steps: Steps,
) -> Result<Best, String> {
    let plain = if plain { "--plain" } else { "" };
    let steps = if steps == Steps::All { "--all-errors --reduction none" } else { "" };
    let only = "--only deadlock --only assertions";
    let command = format!(
        "{} check {} {only} {steps} {plain} --workers 1 --format json",
        volee.display(),
        model.display()
    );
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

/// The one in the middle, or the mean of the two; zero of none.
pub fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = &values[values.len().saturating_sub(1) / 2..values.len().min(values.len() / 2 + 1)];
    middle.iter().sum::<f64>() / middle.len().max(1) as f64
}

/// Wall-clock seconds to a verdict on every model of fewer than 100,000 states, process start included.
fn small_models(volee: &Path, corpus: &Path) -> Result<Vec<f64>, String> {
    let mut times = Vec::new();
    for (model, _) in oracle(corpus)?.iter().filter(|(_, rows)| is_below(rows, 100_000)) {
        // A single run of a few milliseconds tells more about what else the machine does.
        let mut runs = Vec::new();
        for _ in 0..SMALL_RUNS {
            let mut command = Command::new(volee);
            command.arg("check").arg(corpus.join(model));
            let start = Instant::now();
            let _ = command.output().map_err(|e| e.to_string())?;
            runs.push(start.elapsed().as_secs_f64());
        }
        times.push(median(&mut runs));
    }
    Ok(times)
}

/// What a comparison needs.
struct Bench {
    volee: PathBuf,
    corpus: PathBuf,
    folder: PathBuf,
    runs: u32,
    with_spin: bool,
}

impl Bench {
    /// The best of some runs, ours and SPIN's by turns, as many of each.
    fn compare(&self, model: &str, plain: bool, steps: Steps) -> Result<(Best, Best), String> {
        let path = self.corpus.join(model);
        let (mut ours, mut spin) = (Best::default(), Best::default());
        if self.with_spin {
            generate(&self.folder, &path, plain, steps)?;
        }
        for size in TABLES.iter().cycle().take(TABLES.len() * self.runs as usize) {
            ours.keep(run_volee(&self.volee, &self.folder, (&path, plain), steps)?);
            if self.with_spin {
                spin.keep(run_spin(&self.folder, steps, *size)?);
            }
        }
        Ok((ours, spin))
    }

    /// Transitions per second and bytes per state, without reduction.
    fn rates(&self, models: &[(&str, bool)]) -> Result<String, String> {
        let mut table = String::from(
            "model,mode,states,transitions,cpu_s,bytes_per_state,spin_transitions,spin_cpu_s,spin_bytes_per_state,ratio\n",
        );
        let (mut ratios, mut bytes) = (Vec::new(), Vec::new());
        println!(
            "{:<24} {:>11} {:>9} {:>9} {:>7} {:>7} {:>6}",
            "model", "transitions", "ours M/s", "SPIN M/s", "ratio", "B/state", "SPIN"
        );
        for &(model, plain) in models {
            let (ours, spin) = self.compare(model, plain, Steps::All)?;
            let ratio = if self.with_spin { ours.rate() / spin.rate() } else { 0.0 };
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
            let _ = writeln!(
                table,
                "{model},{},{},{},{:.3},{:.1},{},{:.3},{:.1},{ratio:.2}",
                mode(plain),
                ours.states,
                ours.transitions,
                ours.seconds,
                ours.bytes_per_state,
                spin.transitions,
                spin.seconds,
                spin.bytes_per_state
            );
        }
        let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
        let most = bytes.iter().copied().fold(0.0, f64::max);
        let far = ratios.iter().filter(|&&ratio| ratio >= 8.0).count();
        let (ratio, per_state) = (median(&mut ratios), median(&mut bytes));
        let summary = format!(
            "median ratio {ratio:.2}, least {least:.2}, {far} of at least 8; bytes per state: median {per_state:.1}, most {most:.1}"
        );
        println!("{summary}");
        let _ = writeln!(table, "# {summary}");
        Ok(table)
    }

    /// CPU time to a verdict, each with its own reduction.
    fn verdicts(&self, models: &[(&str, bool)]) -> Result<String, String> {
        let mut table = String::from("model,mode,states,cpu_s,spin_states,spin_cpu_s,time\n");
        let mut ratios = Vec::new();
        println!("\nto a verdict, each with its own reduction");
        println!(
            "{:<24} {:>10} {:>9} {:>10} {:>9} {:>7}",
            "model", "states", "ours s", "SPIN's", "SPIN s", "time"
        );
        for &(model, plain) in models {
            let (ours, spin) = self.compare(model, plain, Steps::Reduced)?;
            let ratio = if self.with_spin { ours.seconds / spin.seconds.max(0.001) } else { 0.0 };
            ratios.push(ratio);
            println!(
                "{model:<24} {:>10} {:>9.3} {:>10} {:>9.3} {ratio:>7.3}",
                ours.states, ours.seconds, spin.states, spin.seconds
            );
            let _ = writeln!(
                table,
                "{model},{},{},{:.3},{},{:.3},{ratio:.3}",
                mode(plain),
                ours.states,
                ours.seconds,
                spin.states,
                spin.seconds
            );
        }
        let summary = format!("median of our time / SPIN's: {:.3}", median(&mut ratios));
        println!("{summary}");
        let _ = writeln!(table, "# {summary}");
        Ok(table)
    }

    /// One family at sizes far apart.
    fn slope(&self) -> Result<String, String> {
        let mut table =
            String::from("processes,states,transitions,cpu_s,ns_per_transition,bytes_per_state\n");
        println!("\none family, ever larger");
        for &processes in FAMILY {
            let path = self.folder.join(format!("family_{processes}.pml"));
            std::fs::write(&path, family(processes)).map_err(|e| e.to_string())?;
            let mut ours = Best::default();
            for _ in 0..self.runs {
                ours.keep(run_volee(&self.volee, &self.folder, (&path, false), Steps::All)?);
            }
            let cost = ours.seconds * 1e9 / ours.transitions.max(1.0);
            let line = format!(
                "{processes},{},{},{:.3},{cost:.1},{:.1}",
                ours.states, ours.transitions, ours.seconds, ours.bytes_per_state
            );
            println!("{line}");
            let _ = writeln!(table, "{line}");
        }
        Ok(table)
    }

    /// Small models, by the binary as `cargo install` leaves it (a copy) and as the linker does. The system keeps what a
    /// linker wrote a moment ago in small pieces, and takes half a millisecond longer to bring such a file near.
    fn small(&self) -> Result<String, String> {
        println!("\nmodels of fewer than 100,000 states, process start included");
        let mut table = String::from("binary,models,median_ms,most_ms\n");
        let copied = self.folder.join("volee");
        std::fs::copy(&self.volee, &copied).map_err(|e| e.to_string())?;
        for (binary, path) in [("installed", &copied), ("linked", &self.volee)] {
            let mut times = small_models(path, &self.corpus)?;
            let count = times.len();
            let typical = median(&mut times) * 1000.0;
            let slowest = times.last().copied().unwrap_or(0.0) * 1000.0;
            let line = format!("{binary},{count},{typical:.1},{slowest:.0}");
            println!("{line}");
            let _ = writeln!(table, "{line}");
        }
        Ok(table)
    }
}

fn mode(plain: bool) -> &'static str {
    if plain { "plain" } else { "default" }
}

/// `cargo xtask bench promela [--quick] [--small] [--runs N]`: the last runs small models only.
///
/// # Errors
/// The corpus or a tool is missing.
pub fn run(arguments: &[String]) -> Result<(), String> {
    let known =
        |a: &&String| matches!(a.as_str(), "--quick" | "--small" | "--runs") || a.parse::<u32>().is_ok();
    if let Some(unknown) = arguments.iter().find(|a| !known(a)) {
        return Err(format!(
            "`{unknown}` is not an option of `bench promela`: --quick, --small, --runs NUMBER"
        ));
    }
    let corpus = crate::corpus::folder("promela").ok_or("the corpus is not beside this checkout")?;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let runs: u32 = option(arguments, "--runs").map_or(Ok(2), |t| t.parse().map_err(|_| "--runs NUMBER"))?;
    let large: &[(&str, bool)] = if arguments.iter().any(|a| a == "--quick") { &[] } else { LARGE };
    let models: Vec<(&str, bool)> = MODELS.iter().chain(large).copied().collect();
    let folder = std::env::temp_dir().join(format!("volee-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
    let with_spin = Command::new("spin").arg("-V").output().is_ok();
    if !with_spin {
        println!("skipped: spin is not installed, so there is nothing to compare with");
    }
    let corpus = corpus.canonicalize().map_err(|e| e.to_string())?;
    let bench = Bench { volee: built(&root)?, corpus, folder, runs, with_spin };
    store(&root, "promela-small.csv", &bench.small()?)?;
    if arguments.iter().any(|a| a == "--small") {
        return std::fs::remove_dir_all(&bench.folder).map_err(|e| e.to_string());
    }
    store(&root, "promela.csv", &bench.rates(&models)?)?;
    println!("\nten others");
    store(&root, "promela-others.csv", &bench.rates(OTHERS)?)?;
    let mut all: Vec<(&str, bool)> = models.iter().chain(OTHERS).map(|&(model, _)| (model, false)).collect();
    all.sort_unstable();
    all.dedup();
    store(&root, "promela-reduced.csv", &bench.verdicts(&all)?)?;
    store(&root, "promela-slope.csv", &bench.slope()?)?;
    std::fs::remove_dir_all(&bench.folder).map_err(|e| e.to_string())
}

/// The release binary, built now.
///
/// # Errors
/// It does not build.
pub fn built(root: &Path) -> Result<PathBuf, String> {
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

/// Keeps a table in `bench/`.
///
/// # Errors
/// It cannot be written.
pub fn store(root: &Path, name: &str, table: &str) -> Result<(), String> {
    let folder = root.join("bench");
    std::fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
    std::fs::write(folder.join(name), table).map_err(|e| e.to_string())
}
