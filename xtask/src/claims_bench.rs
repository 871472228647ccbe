//! `cargo xtask bench claims`: claims of the corpus beside SPIN, each with its own reduction, in the same run.
//!
//! CPU time of the whole process to a verdict, the best of some runs by turns; of SPIN's verifier (gcc -O2, the
//! compiler not counted) with the best of three sizes of its table. Where SPIN refuses its reduction for a claim,
//! it goes without. Both are asked about the claim alone: neither may end at a deadlock. What
//! counts are claims that take one of the two more than a tenth of a second. Stored in `bench/claims.csv`.

use std::fmt::Write as _;

use crate::beside::Beside;
use crate::temporal::named;
use xtask::bench_promela::{median, store, timed};

const RUNS: usize = 3;
/// What is shorter for both says more about their start than about their search.
const SHORT: f64 = 0.1;
/// Seconds after which either is given up.
const PATIENCE: u32 = 60;

/// A claim of the corpus, and whether SPIN reduces the search for it.
struct Asked<'t> {
    model: &'t str,
    claim: &'t str,
    kind: &'t str,
    reduced: bool,
}

/// Runs the benchmark; an argument chooses the models whose path contains it.
pub fn run(arguments: &[String]) -> Result<(), String> {
    let Some(beside) = Beside::new("claims")? else { return Ok(()) };
    let text =
        std::fs::read_to_string(beside.corpus.join("spin_ltl_oracle.csv")).map_err(|e| e.to_string())?;
    let wanted = arguments.first().map_or("", String::as_str);
    let mut table = String::from("model,claim,reduced,exit,cpu_s,spin_errors,spin_cpu_s,ratio\n");
    let mut ratios = Vec::new();
    for asked in claims(&text).iter().filter(|a| a.model.contains(wanted)) {
        let Asked { model, claim, reduced, .. } = asked;
        let Some(row) = asked.compare(&beside)? else {
            println!("{model:<28} {claim:<20} SPIN does not answer");
            continue;
        };
        if row.ours < SHORT && row.spin < SHORT {
            continue;
        }
        let ratio = row.ours / row.spin.max(0.001);
        ratios.push(ratio);
        let (ours, exit, spin, errors) = (row.ours, row.exit, row.spin, row.errors);
        println!(
            "{model:<28} {claim:<20} ours {ours:7.3} s (exit {exit}), SPIN {spin:7.3} s ({errors} errors): {ratio:.2}"
        );
        let _ = writeln!(table, "{model},{claim},{reduced},{exit},{ours:.3},{errors},{spin:.3},{ratio:.2}");
    }
    let worst = ratios.iter().copied().fold(0.0, f64::max);
    let summary = format!(
        "{} claims of more than {SHORT} s: our time / SPIN's {:.2} in the median, {worst:.2} at worst",
        ratios.len(),
        median(&mut ratios)
    );
    println!("{summary}");
    let _ = writeln!(table, "# {summary}");
    if wanted.is_empty() {
        store(&beside.root, "claims.csv", &table)?;
    }
    Ok(())
}

/// Each claim once, with SPIN's reduction where it allows it.
fn claims(text: &str) -> Vec<Asked<'_>> {
    let mut all: Vec<Asked> = Vec::new();
    for line in text.lines().skip(1) {
        let [model, claim, kind, mode, verdict, ..] = line.split(',').collect::<Vec<_>>()[..] else {
            continue;
        };
        let reduced = mode == "por" && verdict != "error";
        match all.iter_mut().find(|a| (a.model, a.claim, a.kind) == (model, claim, kind)) {
            Some(known) => known.reduced |= reduced,
            None => all.push(Asked { model, claim, kind, reduced }),
        }
    }
    all
}

/// What a claim takes both.
struct Row {
    ours: f64,
    exit: i32,
    spin: f64,
    errors: String,
}

impl Asked<'_> {
    fn compare(&self, beside: &Beside) -> Result<Option<Row>, String> {
        let (model, folder) = (beside.corpus.join(self.model), &beside.folder);
        let (compile, flags) = match self.kind {
            "ltl" => ("", format!("-a -E -N {}", self.claim)),
            "np" => ("-DNP", "-l -E".into()),
            _ => ("", "-a -E".into()),
        };
        let reduce = if self.reduced { "" } else { "-DNOREDUCE" };
        if !beside.make_verifier(&model, &format!("{compile} {reduce}")) {
            return Ok(None);
        }
        let ours = format!(
            "{} check {} --workers 1 --time {PATIENCE}s {} --format json; echo exit $?",
            beside.volee.display(),
            model.display(),
            named(self.model, self.claim, self.kind).join(" ")
        );
        let mut row = Row { ours: f64::INFINITY, exit: -1, spin: f64::INFINITY, errors: String::new() };
        for _ in 0..RUNS {
            let (seconds, text) = timed(folder, &format!("{{ {ours}; }}"))?;
            row.ours = row.ours.min(seconds);
            row.exit = text.rsplit("exit ").next().and_then(|t| t.trim().parse().ok()).unwrap_or(-1);
            for size in [18, 22, 24] {
                let (seconds, text) =
                    timed(folder, &format!("timeout {PATIENCE} ./pan {flags} -m1000000 -w{size}"))?;
                row.spin = row.spin.min(seconds);
                let told = text.split("errors: ").nth(1).and_then(|t| t.split_whitespace().next());
                row.errors = told.unwrap_or("unknown").to_string();
            }
            if row.ours + row.spin > 10.0 {
                break;
            }
        }
        Ok(Some(row))
    }
}
