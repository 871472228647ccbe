//! `cargo xtask corpus bounded [--below STATES] [MODEL]`: the corpus models in less memory than their states
//! need.
//!
//! Each model is searched to the end, with all steps and with fewer, and then again in many shares of the memory
//! that took, from very little to more than enough. An answer must be the same, or unknown because of memory or
//! time: never another one. No search may pass its memory, and it is told where more memory has lost an answer.

use std::path::Path;
use std::time::Duration;

use volee::search::{Check, Outcome, Reduction, check};
use volee::system::{Budget, Meter, Quiet, Verdict};
use volee::{Model, Options};

use crate::corpus::folder;
use crate::promela::{is_below, oracle};

/// The shares of the full search's memory, in per cent.
pub const SHARES: [u64; 17] = [2, 4, 7, 10, 15, 20, 25, 30, 40, 50, 60, 70, 80, 90, 100, 110, 130];
const REDUCTIONS: [(Reduction, &str); 2] = [(Reduction::None, "all"), (Reduction::Persistent, "fewer")];
const DEFAULT_BELOW: u64 = 3_000_000;
/// What the first state and its tables may take beside any memory.
const FIRST: u64 = 4 << 10;

/// How a search in little memory ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// With the answers of the full search.
    Same,
    /// Without an answer, because of memory.
    Memory,
    /// Without an answer, because of time.
    Time,
}

/// What came out for a model and a reduction.
#[derive(Debug, Clone)]
pub struct Comparison {
    /// States of the full search.
    pub states: u64,
    /// Its memory.
    pub bytes: u64,
    /// How the searches ended, by share.
    pub ends: [End; SHARES.len()],
    /// Answers that differ, and memory that was passed: there must be none.
    pub wrong: Vec<String>,
}

impl Comparison {
    /// Shares in which an answer was lost that less memory gives.
    pub fn holes(&self) -> usize {
        let first = self.ends.iter().position(|&end| end == End::Same).unwrap_or(SHARES.len());
        self.ends[first..].iter().filter(|&&end| end == End::Memory).count()
    }
}

/// Compares one model. `None` when the full search does not end in this many seconds.
///
/// # Errors
/// The model cannot be read.
pub fn compare(
    path: &Path,
    reduction: Reduction,
    seed: u64,
    seconds: f64,
) -> Result<Option<Comparison>, String> {
    let mut model = Model::open(path, &Options::default()).map_err(|all| all[0].to_string())?;
    let mut search = |memory: u64, seconds: f64| {
        let time = Some(Duration::from_secs_f64(seconds));
        let budget = Budget { memory: Some(memory), time, ..Budget::default() };
        let all = Check::new().all_errors(true).reduction(reduction).seed(seed);
        check(model.draft.system(), &all, &Meter::start(budget), &mut Quiet)
    };
    let full = search(8 << 30, seconds);
    if full.limit.is_some() {
        return Ok(None);
    }
    let bytes = full.statistics.memory_bytes;
    let patience = 10.0 * full.statistics.seconds + 0.2;
    let mut ends = [End::Same; SHARES.len()];
    let mut wrong = Vec::new();
    for (share, end) in SHARES.iter().zip(&mut ends) {
        let budget = bytes * share / 100;
        let found = search(budget, patience.min(seconds));
        *end = match found.limit.as_ref().map(|limit| limit.kind()) {
            None => End::Same,
            Some("time") => End::Time,
            Some(_) => End::Memory,
        };
        wrong.extend(differences(&full, &found).map(|d| format!("{share} %: {d}")));
        let used = found.statistics.memory_bytes;
        if used > budget + FIRST {
            wrong.push(format!("{share} %: {used} bytes were used, there were {budget}"));
        }
    }
    Ok(Some(Comparison { states: full.statistics.states, bytes, ends, wrong }))
}

fn differences<'a>(full: &'a Outcome, found: &'a Outcome) -> impl Iterator<Item = String> + 'a {
    full.answers.iter().zip(&found.answers).filter_map(|(full, found)| {
        let words = (word(&full.verdict), word(&found.verdict));
        let fine = words.0 == words.1 || words.1 == "unknown";
        (!fine).then(|| format!("{} is {}, not {}", full.question, words.1, words.0))
    })
}

fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Holds => "holds",
        Verdict::Violated(_) => "violated",
        Verdict::Unknown(_) => "unknown",
    }
}

/// Runs the comparison.
///
/// # Errors
/// The corpus is not there, or an answer differs.
pub fn corpus(arguments: &[String]) -> Result<(), String> {
    let corpus = folder("promela").ok_or("the corpus is not beside this checkout")?;
    let mut below = DEFAULT_BELOW;
    let mut only = None;
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--below" => {
                let number = arguments.next().and_then(|n| n.parse().ok());
                below = number.ok_or("--below needs a number")?;
            }
            model => only = Some(model.to_owned()),
        }
    }
    println!("= the same answers, m unknown (memory), t unknown (time), at {SHARES:?} % of the memory");
    let (mut all, mut wrong) = (Vec::new(), 0);
    for (model, rows) in oracle(&corpus)? {
        let wanted = only.as_ref().is_none_or(|only| model.contains(only.as_str()));
        if !wanted || !is_below(&rows, below) {
            continue;
        }
        for (reduction, steps) in REDUCTIONS {
            let Some(found) = compare(&corpus.join(&model), reduction, 0, 20.0)? else { continue };
            let ends: String = found.ends.iter().map(|&end| letter(end)).collect();
            println!("{model:<36} {steps:<5} {:>9} states {:>10} bytes  {ends}", found.states, found.bytes);
            found.wrong.iter().for_each(|w| println!("  WRONG: {w}"));
            wrong += found.wrong.len();
            all.push(found);
        }
    }
    for (at, share) in SHARES.iter().enumerate() {
        let count = |end| all.iter().filter(|found| found.ends[at] == end).count();
        let (same, memory, time) = (count(End::Same), count(End::Memory), count(End::Time));
        println!(
            "{share:>3} %: {same} ended with the same answers, {memory} unknown (memory), {time} unknown (time)"
        );
    }
    let holes: usize = all.iter().map(Comparison::holes).sum();
    println!(
        "{} searches in little memory, {wrong} wrong; {holes} without the answer that less memory gives",
        all.len() * SHARES.len()
    );
    if wrong == 0 { Ok(()) } else { Err("answers differ, or memory was passed".into()) }
}

fn letter(end: End) -> char {
    match end {
        End::Same => '=',
        End::Memory => 'm',
        End::Time => 't',
    }
}
