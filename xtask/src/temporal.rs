//! `cargo xtask temporal oracle`: every claim of the corpus, compared with SPIN's verdicts.
//! `cargo xtask temporal agree`: the same claims with two workers and with a tenth of the memory, compared
//! with the usual search. `cargo xtask temporal curves`: the 1989 figures, generated states and time against
//! the size of the heap, on the connect-disconnect protocol. `cargo xtask temporal random`: random formulas
//! over random programs, compared with a naive evaluator.

use std::collections::HashMap;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use volee::lts::generate::ConnectDisconnect;
use volee::system::{Random, System, collect_initial, collect_steps};

pub const CORPUS: &str = "../shared/corpus/promela";

/// Runs what is named.
pub fn run(arguments: &[String]) -> Result<(), String> {
    match arguments.first().map(String::as_str) {
        Some("oracle") => oracle(),
        Some("agree") => agree(),
        Some("curves") => curves(),
        Some("random") => random(arguments.get(1)),
        _ => Err("usage: cargo xtask temporal oracle|agree|curves|random [FORMULAS]".into()),
    }
}

/// Random formulas over random programs, by all searches and by a naive evaluator.
fn random(count: Option<&String>) -> Result<(), String> {
    let count = count.map_or(Ok(20_000), |text| text.parse()).map_err(|_| "FORMULAS is a number")?;
    println!("{:?}", volee_testkit::products::compare(count, 0x7e4));
    Ok(())
}

/// SPIN's verdict as our exit code; `None` where SPIN has no answer to compare.
fn expected(model: &str, mode: &str, verdict: &str) -> Option<i32> {
    if (model, mode) == ("traps/fair38.pml", "noreduce+fair") {
        // SPIN's fairness forgets runs in which all processes have ended; the run is fair and violates.
        return Some(1);
    }
    match verdict {
        // Where SPIN refuses its own reduction there is nothing to compare; otherwise verdicts do not depend
        // on it.
        "error" if mode == "por" => None,
        "ok" => Some(0),
        "acceptance_cycle" | "assertion" | "error" | "claim_end" | "non_progress_cycle" => Some(1),
        _ => None,
    }
}

fn oracle() -> Result<(), String> {
    let path = Path::new(CORPUS).join("spin_ltl_oracle.csv");
    let Ok(text) = std::fs::read_to_string(&path) else {
        println!("skipped: no corpus file {}", path.display());
        return Ok(());
    };
    let (mut compared, mut different) = (0, 0);
    for row in text.lines().skip(1).map(|line| line.split(',').collect::<Vec<_>>()) {
        let [model, claim, kind, mode, verdict, ..] = row[..] else { continue };
        let Some(code) = expected(model, mode, verdict) else { continue };
        let ended = ask(model, claim, kind, mode, &["--time", "60s"])?.0;
        compared += 1;
        if ended != Some(code) {
            different += 1;
            println!("{model} {claim} {mode}: SPIN says {verdict}, volee ends with {ended:?}");
        }
    }
    println!("{compared} claims compared, {different} different");
    if different == 0 { Ok(()) } else { Err("verdicts differ".into()) }
}

/// Asks for a claim of the corpus: the exit code, and the memory of the search in bytes.
fn ask(
    model: &str,
    claim: &str,
    kind: &str,
    mode: &str,
    more: &[&str],
) -> Result<(Option<i32>, Option<u64>), String> {
    let mut call = Command::new("target/release/volee");
    call.arg("check").arg(Path::new(CORPUS).join(model)).args(["--format", "json"]);
    call.args(more).args(named(model, claim, kind));
    if mode.ends_with("fair") {
        call.arg("--fair");
    }
    let outcome = call.output().map_err(|e| format!("build volee first (cargo build --release): {e}"))?;
    let told: serde_json::Value = serde_json::from_slice(&outcome.stdout).unwrap_or_default();
    Ok((outcome.status.code(), told["statistics"]["peak_memory_bytes"].as_u64()))
}

/// How the command line names a claim of the corpus.
pub fn named<'c>(model: &str, claim: &'c str, kind: &str) -> Vec<&'c str> {
    match kind {
        "ltl" => vec!["--property", claim],
        "np" => vec!["--progress"],
        _ if has_never_claim(model) => vec!["--property", "all"],
        _ => vec!["--acceptance"],
    }
}

/// How `volee` ends when a limit is reached: an answer that is not known differs from none.
const UNKNOWN: Option<i32> = Some(3);

/// Three answers to each claim in a time that one can wait for.
const SOON: [&str; 2] = ["--time", "10s"];

/// Two workers and a tenth of the memory answer as the usual search does, or that they do not know.
fn agree() -> Result<(), String> {
    let path = Path::new(CORPUS).join("spin_ltl_oracle.csv");
    let Ok(text) = std::fs::read_to_string(&path) else {
        println!("skipped: no corpus file {}", path.display());
        return Ok(());
    };
    let mut asked = std::collections::BTreeSet::new();
    let (mut compared, mut unknown, mut different) = (0, 0, 0);
    for row in text.lines().skip(1).map(|line| line.split(',').collect::<Vec<_>>()) {
        let [model, claim, kind, mode, ..] = row[..] else { continue };
        if !asked.insert((model.to_string(), claim.to_string(), kind.to_string(), mode.ends_with("fair"))) {
            continue;
        }
        let (usual, peak) = ask(model, claim, kind, mode, &SOON)?;
        let tenth = (peak.unwrap_or(1 << 20) / 10).max(1 << 12).to_string();
        for more in [["--workers", "2"], ["--memory", &tenth]] {
            let (ended, _) = ask(model, claim, kind, mode, &[&more[..], &SOON].concat())?;
            compared += 1;
            unknown += u32::from(ended == UNKNOWN);
            if ended != usual && ended != UNKNOWN && usual != UNKNOWN {
                different += 1;
                println!("{model} {claim} {mode}: usually {usual:?}, with {} {ended:?}", more.join(" "));
            }
        }
    }
    println!("{compared} answers compared, {unknown} not known, {different} different");
    if different == 0 { Ok(()) } else { Err("answers differ".into()) }
}

fn has_never_claim(model: &str) -> bool {
    let text = std::fs::read_to_string(Path::new(CORPUS).join(model)).unwrap_or_default();
    text.lines().any(|line| line.trim_start().starts_with("never"))
}

/// The capacity of the channel in the curves.
const CAPACITY: u16 = 200;

fn curves() -> Result<(), String> {
    let states = usize::from(CAPACITY) * usize::from(CAPACITY) / 4 + 3 * (usize::from(CAPACITY) + 1);
    println!("connect-disconnect, n = {CAPACITY}: {states} states");
    println!("| heap | generated | milliseconds |\n|---:|---:|---:|");
    for percent in [100, 75, 50, 25, 10, 5, 2, 1, 0] {
        let heap = states * percent / 100;
        let start = Instant::now();
        let generated = traverse(heap, 40 * states);
        let time = start.elapsed().as_secs_f64() * 1000.0;
        match generated {
            Some(generated) => println!("| {heap} ({percent} %) | {generated} | {time:.1} |"),
            None => println!("| {heap} ({percent} %) | more than {} | |", 40 * states),
        }
    }
    Ok(())
}

/// The traversal of figure 5: a stack, and a heap of bounded size with random replacement. Gives how many
/// states were generated and entered.
fn traverse(heap_size: usize, most: usize) -> Option<usize> {
    let mut system = ConnectDisconnect::new(CAPACITY);
    let mut random = Random::new(1989);
    let mut heap: Vec<Vec<u8>> = Vec::new();
    // Where a state is: on the stack, or at a place of the heap.
    let mut known: HashMap<Vec<u8>, Option<usize>> = HashMap::new();
    let first = collect_initial(&mut system).remove(0);
    let mut generated = 1;
    known.insert(first.clone(), None);
    let mut stack = vec![(first.clone(), successors(&mut system, &first))];
    while let Some((state, waiting)) = stack.last_mut() {
        if let Some(next) = waiting.pop() {
            if !known.contains_key(&next) {
                generated += 1;
                if generated > most {
                    return None;
                }
                known.insert(next.clone(), None);
                let waiting = successors(&mut system, &next);
                stack.push((next, waiting));
            }
            continue;
        }
        let state = std::mem::take(state);
        stack.pop();
        known.remove(&state);
        if heap.len() < heap_size {
            known.insert(state.clone(), Some(heap.len()));
            heap.push(state);
        } else if heap_size > 0 {
            let victim = random.below(heap_size);
            known.remove(&heap[victim]);
            known.insert(state.clone(), Some(victim));
            heap[victim] = state;
        }
    }
    Some(generated)
}

fn successors(system: &mut dyn System, state: &[u8]) -> Vec<Vec<u8>> {
    collect_steps(system, state).into_iter().map(|(_, target)| target).collect()
}
