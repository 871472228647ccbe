//! `cargo xtask corpus bounded [--below STATES] [MODEL]`: the corpus models in less memory than their states
//! need.
//!
//! Each model is searched to the end, and then again with a half, a fifth, a tenth and a twentieth of the
//! memory that took, with several seeds. An answer must be the same, or unknown because of memory or time:
//! never another one.

use std::path::Path;
use std::time::Duration;

use volee::search::{Check, Outcome, check};
use volee::system::{Budget, Meter, Quiet, Verdict};
use volee::{Model, Options};

use crate::corpus::folder;
use crate::promela::{is_below, oracle};

/// The shares of the full search's memory, in per cent.
pub const SHARES: [u64; 4] = [50, 20, 10, 5];
const SEEDS: [u64; 3] = [1, 2, 3];
const DEFAULT_BELOW: u64 = 3_000_000;

/// How the searches of one model with one share of the memory ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Ends {
    /// With the answers of the full search.
    pub same: u32,
    /// Without an answer, because of memory.
    pub memory: u32,
    /// Without an answer, because of time.
    pub time: u32,
}

/// What came out for a model.
#[derive(Debug, Clone)]
pub struct Comparison {
    /// States of the full search.
    pub states: u64,
    /// Its memory.
    pub bytes: u64,
    /// How the searches ended, by share.
    pub ends: [Ends; 4],
    /// Answers that differ: there must be none.
    pub different: Vec<String>,
}

/// Compares one model. `None` when the full search does not end in this many seconds.
///
/// # Errors
/// The model cannot be read.
pub fn compare(path: &Path, seeds: &[u64], seconds: f64) -> Result<Option<Comparison>, String> {
    let mut model = Model::open(path, &Options::default()).map_err(|all| all[0].to_string())?;
    let mut search = |memory: u64, seconds: f64, seed: u64| {
        let time = Some(Duration::from_secs_f64(seconds));
        let budget = Budget { memory: Some(memory), time, ..Budget::default() };
        check(
            model.draft.system(),
            &Check::new().all_errors(true).seed(seed),
            &Meter::start(budget),
            &mut Quiet,
        )
    };
    let full = search(8 << 30, seconds, 0);
    if full.limit.is_some() {
        return Ok(None);
    }
    let bytes = full.statistics.memory_bytes;
    let patience = 10.0 * full.statistics.seconds + 0.2;
    let mut ends = [Ends::default(); 4];
    let mut different = Vec::new();
    for (share, ends) in SHARES.iter().zip(&mut ends) {
        for &seed in seeds {
            let found = search(bytes * share / 100, patience.min(seconds), seed);
            match found.limit.as_ref().map(|limit| limit.kind()) {
                None => ends.same += 1,
                Some("time") => ends.time += 1,
                Some(_) => ends.memory += 1,
            }
            different.extend(differences(&full, &found).map(|d| format!("{share} %, seed {seed}: {d}")));
        }
    }
    Ok(Some(Comparison { states: full.statistics.states, bytes, ends, different }))
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
    println!("same / memory / time of {} searches at {SHARES:?} % of the memory", SEEDS.len());
    let mut totals = [Ends::default(); 4];
    let (mut models, mut different) = (0, 0);
    for (model, rows) in oracle(&corpus)? {
        let wanted = only.as_ref().is_none_or(|only| model.contains(only.as_str()));
        if !wanted || !is_below(&rows, below) {
            continue;
        }
        let Some(found) = compare(&corpus.join(&model), &SEEDS, 20.0)? else { continue };
        models += 1;
        different += found.different.len();
        let shown = found.ends.map(|e| format!("{}/{}/{}", e.same, e.memory, e.time)).join("  ");
        println!("{model:<36} {:>9} states {:>10} bytes  {shown}", found.states, found.bytes);
        found.different.iter().for_each(|d| println!("  DIFFERS: {d}"));
        for (total, ends) in totals.iter_mut().zip(found.ends) {
            total.same += ends.same;
            total.memory += ends.memory;
            total.time += ends.time;
        }
    }
    for (share, total) in SHARES.iter().zip(totals) {
        let Ends { same, memory, time } = total;
        println!(
            "{share:>3} %: {same} ended with the same answers, {memory} unknown (memory), {time} unknown (time)"
        );
    }
    println!("{models} models, {different} different answers");
    if different == 0 { Ok(()) } else { Err("answers differ".into()) }
}
