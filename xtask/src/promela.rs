//! Promela against SPIN: counts, verdicts and state-space sizes on the corpus.
//!
//! `spin_oracle.csv` has SPIN's answers per model and configuration. With every optimisation off, our states
//! and transitions must equal SPIN's without merging, dead-variable resetting and reduction
//! (`o123_noreduce`); with the default ones, verdicts must be the same, those of both searches too, and state
//! spaces hardly ever larger than SPIN's merged ones. Where SPIN is known to be wrong, [`SPIN_IS_WRONG`] says
//! so.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use volee::search::{Check, check};
use volee::system::{Budget, Meter, Quiet, ReasonKind, Verdict};
use volee::{Model, Options};

/// Models on which SPIN's own answer is not the one to give, and why.
pub const SPIN_IS_WRONG: &[(&str, &str)] =
    &[("traps/divzero.pml", "the verifier dies of SIGFPE; a division by zero is an error with a place")];

/// A row of SPIN's answers.
#[derive(Debug, Clone, Default)]
pub struct Row {
    /// SPIN's verdict of the run that stops at the first error.
    pub verdict: String,
    /// The complaint is about SPIN's own reduction (`xr`, `xs`), not about the model.
    pub about_reduction: bool,
    /// States of the whole space, where SPIN finished.
    pub states: Option<u64>,
    /// Transitions likewise.
    pub transitions: Option<u64>,
}

/// SPIN's answers: model, then configuration.
pub type Oracle = BTreeMap<String, BTreeMap<String, Row>>;

/// Reads `spin_oracle.csv`.
///
/// # Errors
/// The file is not there or not what it should be.
pub fn oracle(corpus: &Path) -> Result<Oracle, String> {
    let mut reader = csv::Reader::from_path(corpus.join("spin_oracle.csv")).map_err(|e| e.to_string())?;
    let headers = reader.headers().map_err(|e| e.to_string())?.clone();
    let column = |name: &str| headers.iter().position(|h| h == name).ok_or(format!("no column {name}"));
    let (model, config, verdict) = (column("model")?, column("config")?, column("verdict")?);
    let error = column("first_error")?;
    let (states, transitions, full) =
        (column("full_states")?, column("full_transitions")?, column("full_verdict")?);
    let mut oracle = Oracle::new();
    for record in reader.records() {
        let record = record.map_err(|e| e.to_string())?;
        let complete = record.get(full) == Some("complete");
        let number = |at: usize| record.get(at).filter(|_| complete).and_then(|text| text.parse().ok());
        let row = Row {
            verdict: record[verdict].to_owned(),
            about_reduction: record[error].contains("reduction invalid"),
            states: number(states),
            transitions: number(transitions),
        };
        oracle.entry(record[model].to_owned()).or_default().insert(record[config].to_owned(), row);
    }
    Ok(oracle)
}

/// What we find.
#[derive(Debug, Clone, Default)]
pub struct Found {
    /// States stored.
    pub states: u64,
    /// Transitions as SPIN counts them.
    pub transitions: u64,
    /// The kinds of violation.
    pub kinds: Vec<ReasonKind>,
    /// The search ended before it had seen everything.
    pub limit: Option<String>,
    /// Wall-clock seconds of the search.
    pub seconds: f64,
    /// All memory of the search by states.
    pub bytes_per_state: f64,
}

/// Explores a model to the end.
///
/// # Errors
/// The model cannot be read.
pub fn explore(path: &Path, plain: bool, seconds: u64) -> Result<Found, String> {
    let options = Options { plain, ..Options::default() };
    let mut model = Model::open(path, &options).map_err(|all| all[0].to_string())?;
    let budget =
        Budget { time: Some(Duration::from_secs(seconds)), memory: Some(8 << 30), ..Budget::default() };
    let outcome =
        check(model.draft.system(), &Check::new().all_errors(true), &Meter::start(budget), &mut Quiet);
    let mut kinds = Vec::new();
    for answer in &outcome.answers {
        if let Verdict::Violated(violations) = &answer.verdict {
            kinds.extend(violations.iter().map(|v| v.reason.kind));
        }
    }
    Ok(Found {
        states: outcome.statistics.states,
        transitions: outcome.statistics.transitions,
        kinds,
        limit: outcome.limit.map(|l| l.to_string()),
        seconds: outcome.statistics.seconds,
        bytes_per_state: outcome.statistics.bytes_per_state,
    })
}

/// Whether the kinds of violation we find fit SPIN's first error.
pub fn same_verdict(spin: &str, found: &Found) -> bool {
    match spin {
        "ok" => found.kinds.is_empty() && found.limit.is_none(),
        "deadlock" => found.kinds.contains(&ReasonKind::InvalidEndState),
        "assertion" => found.kinds.contains(&ReasonKind::Assertion),
        "error" | "crash" => found.kinds.contains(&ReasonKind::RuntimeError),
        _ => true,
    }
}

/// The comparison of one model: its lines for the table, and what differs.
#[derive(Debug, Default)]
pub struct Comparison {
    /// What differs, in words.
    pub differences: Vec<String>,
    /// The plain run.
    pub plain: Option<Found>,
    /// The default run.
    pub default: Option<Found>,
    /// We have more states than SPIN's merged search.
    pub larger: bool,
}

/// Compares one model in both modes.
pub fn compare(corpus: &Path, model: &str, rows: &BTreeMap<String, Row>, seconds: u64) -> Comparison {
    let mut comparison = Comparison::default();
    let path = corpus.join(model);
    let differs = &mut comparison.differences;
    match explore(&path, true, seconds) {
        Err(message) => {
            differs.push(message);
            return comparison;
        }
        Ok(found) => {
            if let Some(row) = rows.get("o123_noreduce")
                && let (Some(states), Some(transitions)) = (row.states, row.transitions)
                && (found.states, found.transitions) != (states, transitions)
            {
                let (s, t) = (found.states, found.transitions);
                differs.push(format!("plain: {s} states, {t} transitions; SPIN {states}, {transitions}"));
            }
            if let Some(row) = rows.get("o123_noreduce").filter(|r| !same_verdict(&r.verdict, &found)) {
                differs
                    .push(format!("plain: {:?} {:?}; SPIN says {}", found.kinds, found.limit, row.verdict));
            }
            comparison.plain = Some(found);
        }
    }
    match explore(&path, false, seconds) {
        Err(message) => differs.push(message),
        Ok(found) => {
            for (config, row) in rows.iter().filter(|(c, _)| c.as_str() != "o123_noreduce") {
                if !row.about_reduction && !same_verdict(&row.verdict, &found) {
                    let kinds = &found.kinds;
                    differs
                        .push(format!("default: {kinds:?} {:?}; SPIN {config} {}", found.limit, row.verdict));
                }
            }
            if let Some(plain) = &comparison.plain {
                differs.extend(differs_from_plain(&found, plain));
            }
            let merged = rows.get("merge_noreduce").and_then(|r| r.states);
            comparison.larger = merged.is_some_and(|m| found.states > m);
            comparison.default = Some(found);
        }
    }
    comparison
}

/// What the default search finds otherwise than the plain one, where both have seen everything.
fn differs_from_plain(default: &Found, plain: &Found) -> Option<String> {
    if default.limit.is_some() || plain.limit.is_some() {
        return None;
    }
    let same = default.kinds.iter().all(|kind| plain.kinds.contains(kind))
        && plain.kinds.iter().all(|kind| default.kinds.contains(kind));
    if !same {
        return Some(format!("default: {:?}; plain: {:?}", default.kinds, plain.kinds));
    }
    let (fewer, all) = (default.states, plain.states);
    (fewer > all).then(|| format!("default: {fewer} states, plain {all}"))
}

/// Whether SPIN's plain search of a model has fewer states than `bound` (or SPIN never finished it and it is
/// unknown).
pub fn is_below(rows: &BTreeMap<String, Row>, bound: u64) -> bool {
    rows.get("o123_noreduce").and_then(|r| r.states).is_some_and(|s| s < bound)
}

/// `cargo xtask corpus promela [--below STATES] [MODEL]`
///
/// # Errors
/// The corpus is not there, or something differs.
pub fn corpus(arguments: &[String]) -> Result<(), String> {
    let corpus = crate::corpus::folder("promela").ok_or("the corpus is not beside this checkout")?;
    let oracle = oracle(&corpus)?;
    let below =
        option(arguments, "--below").map_or(Ok(u64::MAX), |t| t.parse().map_err(|_| "--below NUMBER"))?;
    let seconds = option(arguments, "--time").map_or(Ok(60), |t| t.parse().map_err(|_| "--time SECONDS"))?;
    let wanted = arguments.iter().find(|a| a.contains(".p"));
    let (mut models, mut wrong, mut larger, mut exact) = (0, 0, 0, 0);
    println!(
        "{:<40} {:>11} {:>12} {:>11} {:>11}  note",
        "model", "states", "transitions", "default", "SPIN merged"
    );
    for (model, rows) in &oracle {
        if wanted.is_some_and(|w| w != model) || (below != u64::MAX && !is_below(rows, below)) {
            continue;
        }
        let comparison = compare(&corpus, model, rows, seconds);
        models += 1;
        larger += u32::from(comparison.larger);
        let complete = rows.get("o123_noreduce").is_some_and(|r| r.states.is_some());
        let excused = SPIN_IS_WRONG.iter().find(|(m, _)| m == model);
        wrong += u32::from(!comparison.differences.is_empty());
        exact += u32::from(complete && comparison.differences.iter().all(|d| !d.starts_with("plain")));
        let number = |n: Option<u64>| n.map_or("-".to_owned(), |n| n.to_string());
        let plain = comparison.plain.as_ref();
        let merged = rows.get("merge_noreduce").and_then(|r| r.states);
        println!(
            "{model:<40} {:>11} {:>12} {:>11} {:>11}  {}{}{}",
            number(plain.map(|f| f.states)),
            number(plain.map(|f| f.transitions)),
            number(comparison.default.as_ref().map(|f| f.states)),
            number(merged),
            if comparison.larger { "larger; " } else { "" },
            comparison.differences.join("; "),
            excused.map_or(String::new(), |(_, why)| format!(" (SPIN is wrong: {why})")),
        );
    }
    println!(
        "{models} models, {exact} with SPIN's exact counts, {larger} larger than SPIN's merged, {wrong} differ"
    );
    if wrong == 0 { Ok(()) } else { Err(format!("{wrong} models differ")) }
}

pub(crate) fn option<'a>(arguments: &'a [String], name: &str) -> Option<&'a str> {
    let at = arguments.iter().position(|a| a == name)?;
    arguments.get(at + 1).map(String::as_str)
}
