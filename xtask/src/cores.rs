//! `cargo xtask bench cores [--runs N] [--workers N]`: wall-clock time of several threads beside one, in the
//! same run.
//!
//! Models of more than a million states, without reduction and as they are by default, to the end; then
//! claims that hold; then formulas of the mu-calculus; then models with an error: time until it is known, beside a depth-first and a breadth-first search of one
//! thread; then models too small for threads. Runs of all kinds take turns, and the best of each counts. The
//! verdicts must be the same. Stored in `bench/cores.csv`. It means something only on a machine that has
//! nothing else to do.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use crate::bench_promela::{built, median};
use crate::promela::{is_below, option, oracle};

/// Models without errors, and whether every optimisation is off.
const LARGE: &[(&str, bool)] = &[
    ("gen/2pc_8.pml", false),
    ("gen/2pc_9.pml", false),
    ("beem/szymanski.4.pml", true),
    ("beem/at.3.pml", true),
    ("beem/lamport.5.pml", true),
    ("beem/adding.3.pml", true),
    ("beem/rether.4.pml", true),
    ("spins-cs/brp.pml", true),
    ("spins-cs/philo.pml", true),
    ("spin-ltl/leader.pml", true),
    ("spin-ex/cambridge.pml", true),
];

/// States from which on a model counts as large.
const MANY: u64 = 1_000_000;

/// Claims that hold: of the model by name after `=`, or formulas; with other flags. Models of our own are in
/// `models/`.
const CLAIMS: &[(&str, &str, &str)] = &[
    ("spin-ltl/leader.pml", "=p0", "--reduction none"),
    ("spin-ltl/leader.pml", "=p2", "--reduction none"),
    ("models/gen/levels.pml", "[](a==1 -> <>(c==N))", "-D N=80 --reduction none"),
    ("models/gen/levels.pml", "[]<>(a==N)", "-D N=80 --reduction none"),
    ("models/protocols/leader-election.pml", "<>(leaders==1)", "-D NODES=11 --reduction none"),
    ("gen/2pc_8.pml", "[](tm==1 -> [](ma==0))", "--reduction none"),
    ("gen/2pc_8.pml", "[]<>(tm==1) -> []<>(mc==1)", "--reduction none"),
];

/// Formulas of the mu-calculus for which all states are looked at: no deadlock; an end can always be reached
/// or never; what is done is done only so often.
const FORMULAS: &[(&str, &str)] = &[
    ("gen/2pc_8.pml", "nu X . (<true> true and [true] X)"),
    ("beem/at.3.pml", "nu X . (<true> true and [true] X)"),
    ("beem/szymanski.4.pml", "nu X . (<true> true and [true] X)"),
    ("beem/at.3.pml", "nu X . ((mu Y . (<true> Y or [true] false)) or <true> X)"),
    ("beem/szymanski.4.pml", "nu X . ((mu Y . ([true] false or <true> Y)) and [true] X)"),
    ("spins-cs/brp.pml", "mu X . (([true] false and <true> true) or <true> X)"),
    ("models/gen/levels.pml", "mu X . [true] X"),
];

/// Models with an error that one thread alone may be long in finding.
const ERRORS: &[&str] =
    &["beem/elevator_planning.2.pml", "beem/phils.4.pml", "beem/adding.3.pml", "beem/fischer.3.pml"];

/// Stands for a space within one word of the command line.
const SPACE: &str = "~";

fn spaced(word: &str) -> String {
    word.replace(SPACE, " ")
}

/// What a run came to.
#[derive(Debug, Clone, PartialEq)]
struct Run {
    seconds: f64,
    verdict: String,
    states: u64,
}

struct Bench {
    volee: PathBuf,
    root: PathBuf,
    corpus: PathBuf,
    runs: u32,
    workers: usize,
}

impl Bench {
    fn path(&self, model: &str) -> PathBuf {
        let folder = if model.starts_with("models/") { &self.root } else { &self.corpus };
        folder.join(model)
    }

    fn once(&self, model: &str, flags: &str) -> Result<Run, String> {
        let start = Instant::now();
        let mut command = Command::new(&self.volee);
        command.arg("check").arg(self.path(model)).args(flags.split_whitespace().map(spaced));
        let output = command.args(["--format", "json"]).output().map_err(|e| e.to_string())?;
        let seconds = start.elapsed().as_secs_f64();
        let answer: serde_json::Value = serde_json::from_slice(&output.stdout)
            .map_err(|e| format!("{model} {flags}: {e}: {}", String::from_utf8_lossy(&output.stderr)))?;
        let verdict = answer["verdict"].as_str().unwrap_or("none").to_string();
        Ok(Run { seconds, verdict, states: answer["statistics"]["states"].as_u64().unwrap_or(0) })
    }

    /// The best run of each kind, by turns.
    fn best(&self, model: &str, kinds: &[String]) -> Result<Vec<Run>, String> {
        let mut best: Vec<Option<Run>> = vec![None; kinds.len()];
        for _ in 0..self.runs {
            for (kept, flags) in best.iter_mut().zip(kinds) {
                let run = self.once(model, flags)?;
                if kept.as_ref().is_none_or(|kept| run.seconds < kept.seconds) {
                    *kept = Some(run);
                }
            }
        }
        Ok(best.into_iter().flatten().collect())
    }

    fn kinds(&self, flags: &str) -> Vec<String> {
        [1, self.workers].map(|workers| format!("{flags} --workers {workers}")).to_vec()
    }

    fn large(&self, reduction: &str) -> Result<String, String> {
        let rows = LARGE.iter().map(|&(model, plain)| {
            let plain = if plain && !reduction.is_empty() { "--plain" } else { "" };
            (model, format!("{plain} --only deadlock --only assertions {reduction}"))
        });
        let steps = if reduction.is_empty() { "reduced" } else { "all" };
        self.compared(rows, steps)
    }

    /// Claims that hold.
    fn claims(&self) -> Result<String, String> {
        let flags = |claim: &str, steps: &str| match claim.strip_prefix('=') {
            Some(name) => format!("--property {name} {steps}"),
            // A formula is one word of the command line.
            None => format!("--ltl {} {steps}", claim.replace(' ', "")),
        };
        self.compared(CLAIMS.iter().map(|&(model, claim, steps)| (model, flags(claim, steps))), "claim")
    }

    /// Formulas of the mu-calculus.
    fn formulas(&self) -> Result<String, String> {
        let flags = |formula: &str| format!("--mu {}", formula.replace(' ', SPACE));
        self.compared(FORMULAS.iter().map(|&(model, formula)| (model, flags(formula))), "mu")
    }

    /// One line for each model: several threads beside one.
    fn compared<'m>(
        &self,
        rows: impl Iterator<Item = (&'m str, String)>,
        kind: &str,
    ) -> Result<String, String> {
        let mut table = format!("model,steps,states_1,s_1,states_{0},s_{0},ratio\n", self.workers);
        let mut ratios = Vec::new();
        for (model, flags) in rows {
            if !self.path(model).exists() {
                println!("skipped: {model} is not there");
                continue;
            }
            let runs = self.best(model, &self.kinds(&flags))?;
            let [one, several] = &runs[..] else { continue };
            if one.verdict != several.verdict {
                return Err(format!("{model}: {} by one, {} by several", one.verdict, several.verdict));
            }
            if one.states < MANY {
                println!("{model} has {} states with these steps, and is not counted", one.states);
                continue;
            }
            let ratio = several.seconds / one.seconds;
            ratios.push(ratio);
            let line = format!(
                "{model},{kind},{},{:.3},{},{:.3},{ratio:.2}",
                one.states, one.seconds, several.states, several.seconds
            );
            println!("{line}");
            let _ = writeln!(table, "{line}");
        }
        let worst = ratios.iter().copied().fold(0.0, f64::max);
        let summary =
            format!("{} workers / one: median {:.2}, worst {worst:.2}", self.workers, median(&mut ratios));
        println!("{summary}");
        let _ = writeln!(table, "# {summary}");
        Ok(table)
    }

    fn errors(&self) -> Result<String, String> {
        let mut table = format!("model,dfs_1,bfs_1,s_{},to_the_better\n", self.workers);
        let mut ratios = Vec::new();
        for &model in ERRORS.iter().filter(|model| self.corpus.join(model).exists()) {
            let limit = "--time 120s --only deadlock --only assertions";
            let several = format!("{limit} --workers {}", self.workers);
            let kinds =
                [format!("{limit} --workers 1"), format!("{limit} --workers 1 --search bfs"), several];
            let runs = self.best(model, &kinds)?;
            let better = runs[0].seconds.min(runs[1].seconds);
            ratios.push(runs[2].seconds / better);
            let line = format!(
                "{model},{:.3},{:.3},{:.3},{:.2}",
                runs[0].seconds,
                runs[1].seconds,
                runs[2].seconds,
                runs[2].seconds / better
            );
            println!("{line}");
            let _ = writeln!(table, "{line}");
        }
        let _ =
            writeln!(table, "# time to a verdict where there is an error: median {:.2}", median(&mut ratios));
        Ok(table)
    }

    fn small(&self) -> Result<String, String> {
        let (mut one, mut several) = (0.0, 0.0);
        let all = oracle(&self.corpus)?;
        for (model, _) in all.iter().filter(|(_, rows)| is_below(rows, 100_000)) {
            let runs = self.best(model, &self.kinds(""))?;
            one += runs[0].seconds;
            several += runs[1].seconds;
        }
        let summary = format!(
            "models of fewer than 100,000 states: {one:.2} s together by one, {several:.2} s by {} ({:.2})",
            self.workers,
            several / one
        );
        println!("{summary}");
        Ok(format!("# {summary}\n"))
    }
}

/// Compares one thread with several.
///
/// # Errors
/// The corpus or the binary is missing, or verdicts differ.
pub fn run(arguments: &[String]) -> Result<(), String> {
    let corpus = crate::corpus::folder("promela").ok_or("the corpus is not beside this checkout")?;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let number = |name: &str, usual: u32| {
        option(arguments, name).map_or(Ok(usual), |t| t.parse().map_err(|_| format!("{name} NUMBER")))
    };
    let (runs, workers) = (number("--runs", 3)?, number("--workers", 2)? as usize);
    let bench = Bench { volee: built(&root)?, root: root.clone(), corpus, runs, workers };
    let mut table = bench.large("--all-errors --reduction none")?;
    table.push_str(&bench.large("")?);
    table.push_str(&bench.claims()?);
    table.push_str(&bench.formulas()?);
    table.push_str(&bench.errors()?);
    table.push_str(&bench.small()?);
    std::fs::write(root.join("bench/cores.csv"), table).map_err(|e| e.to_string())
}
