//! Reduced searches beside full ones and beside SPIN's partial-order reduction, on the shared models.
//!
//! `cargo xtask corpus reduction [--below STATES] [--time SECONDS]` prints a line for each model: our states
//! without and with reduction, and SPIN's (`merge_noreduce` and `merge_por`).

use std::path::Path;
use std::time::Duration;

use volee::search::{Check, Outcome, Reduction, check};
use volee::system::{Budget, Meter, Quiet, Verdict};
use volee::{Model, Options};

use crate::promela::{option, oracle};

/// SPIN gains this much, or the model says nothing about its reduction.
const GAIN: f64 = 0.05;

/// One model.
#[derive(Debug)]
pub struct Compared {
    /// Its path in the corpus.
    pub model: String,
    /// Our states without reduction.
    pub full: u64,
    /// Our states with it.
    pub reduced: u64,
    /// SPIN's states without and with its reduction, where it finished both and gains more than 5 %.
    pub spin: Option<(u64, u64)>,
    /// What is violated is the same with and without.
    pub same_verdicts: bool,
}

impl Compared {
    /// Whether we need no more states than SPIN, if it gains.
    pub fn is_as_small(&self) -> Option<bool> {
        self.spin.map(|(_, reduced)| self.reduced <= reduced)
    }
}

/// Compares all models that both searches finish in this many seconds each, and of which SPIN's merged search
/// has fewer than `below` states.
///
/// # Errors
/// The oracle cannot be read.
pub fn compare(
    corpus: &Path,
    below: u64,
    seconds: u64,
    mut tell: impl FnMut(&Compared),
) -> Result<Vec<Compared>, String> {
    let mut all = Vec::new();
    for (model, rows) in &oracle(corpus)? {
        let merged = rows.get("merge_noreduce").and_then(|r| r.states);
        if merged.is_none_or(|states| states >= below) {
            continue;
        }
        let reduced = rows.get("merge_por").and_then(|r| r.states);
        let spin = merged.zip(reduced).filter(|&(m, r)| (r as f64) < m as f64 * (1.0 - GAIN));
        let Some(compared) = compare_one(&corpus.join(model), model, spin, seconds) else { continue };
        tell(&compared);
        all.push(compared);
    }
    Ok(all)
}

fn compare_one(path: &Path, model: &str, spin: Option<(u64, u64)>, seconds: u64) -> Option<Compared> {
    let full = explore(path, Reduction::None, seconds)?;
    let reduced = explore(path, Reduction::Both, seconds)?;
    Some(Compared {
        model: model.to_owned(),
        full: full.statistics.states,
        reduced: reduced.statistics.states,
        spin,
        same_verdicts: violated(&full) == violated(&reduced),
    })
}

fn explore(path: &Path, reduction: Reduction, seconds: u64) -> Option<Outcome> {
    let mut model = Model::open(path, &Options::default()).ok()?;
    let budget =
        Budget { time: Some(Duration::from_secs(seconds)), memory: Some(8 << 30), ..Budget::default() };
    let questions = Check::new().all_errors(true).reduction(reduction);
    let outcome = check(model.draft.system(), &questions, &Meter::start(budget), &mut Quiet);
    outcome.limit.is_none().then_some(outcome)
}

/// What is violated, by question.
fn violated(outcome: &Outcome) -> Vec<(String, bool)> {
    let answers = outcome.answers.iter();
    answers.map(|a| (a.question.clone(), matches!(a.verdict, Verdict::Violated(_)))).collect()
}

/// How many models SPIN gains on, and on how many of them we need no more states.
pub fn score(all: &[Compared]) -> (usize, usize) {
    let verdicts: Vec<bool> = all.iter().filter_map(Compared::is_as_small).collect();
    (verdicts.len(), verdicts.iter().filter(|&&small| small).count())
}

/// `cargo xtask corpus reduction [--below STATES] [--time SECONDS]`
///
/// # Errors
/// The corpus is not there, or a verdict differs.
pub fn run(arguments: &[String]) -> Result<(), String> {
    let corpus = crate::corpus::folder("promela").ok_or("the corpus is not beside this checkout")?;
    let number = |name, default| {
        option(arguments, name).map_or(Ok(default), |t| t.parse().map_err(|_| format!("{name} NUMBER")))
    };
    let (below, seconds) = (number("--below", 3_000_000)?, number("--time", 60)?);
    println!("{:<40} {:>10} {:>10} {:>10} {:>10}", "model", "full", "reduced", "SPIN full", "reduced");
    let all = compare(&corpus, below, seconds, |c| {
        let (full, reduced) =
            c.spin.map_or(("-".into(), "-".into()), |(f, r)| (f.to_string(), r.to_string()));
        let note = match (c.same_verdicts, c.is_as_small()) {
            (false, _) => "VERDICTS DIFFER",
            (true, Some(false)) => "SPIN has fewer",
            _ => "",
        };
        println!("{:<40} {:>10} {:>10} {full:>10} {reduced:>10}  {note}", c.model, c.full, c.reduced);
    })?;
    let (gains, small) = score(&all);
    let larger = all.iter().filter(|c| c.reduced > c.full).count();
    let differ = all.iter().filter(|c| !c.same_verdicts).count();
    println!(
        "{} models; at most SPIN's states on {small} of the {gains} on which SPIN gains more than 5 %",
        all.len()
    );
    println!("{larger} have more states with reduction than without, {differ} another verdict");
    if larger + differ == 0 { Ok(()) } else { Err("reduction made a difference it must not make".into()) }
}
