//! `cargo xtask bench nets`: the shared nets, each within 20 s of CPU, beside what peers needed for them.
//!
//! Answers are only counted when their certificate was re-checked or their run replayed, which is part of the
//! time. The table is stored in `bench/nets.csv`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::time::Duration;

use volee::families::{Choice, check};
use volee::nets::read_spec;
use volee::system::{Budget, Quiet, Verdict};
use xtask::clock::cpu_seconds;

const LIMIT: Duration = Duration::from_secs(20);

/// What peers said about one net.
#[derive(Default)]
struct Peers {
    verdict: Option<&'static str>,
    best: Option<f64>,
    who: String,
}

/// Runs the benchmark; an argument chooses another folder of nets.
pub fn run(arguments: &[String]) -> Result<(), String> {
    let folder = arguments.first().map_or("../shared/corpus/nets", String::as_str);
    let oracle = fs::read_to_string(Path::new(folder).join("oracle.csv"))
        .map_err(|e| format!("{folder}/oracle.csv: {e} (the corpus lives beside the checkout)"))?;
    let mut table = String::from("net,verdict,method,cpu_seconds,peer_verdict,peer,peer_seconds\n");
    let (mut decided, mut by_peers, mut wrong, mut total) = (0, 0, 0, 0);
    for (name, peers) in peers(&oracle) {
        let (verdict, method, seconds) = measure(&Path::new(folder).join(&name))?;
        let peer = peers.verdict.unwrap_or("unknown");
        total += 1;
        decided += u32::from(verdict != "unknown");
        by_peers += u32::from(peer != "unknown");
        wrong += u32::from(verdict != "unknown" && peer != "unknown" && verdict != peer);
        let best = peers.best.map(|b| format!("{b:.2}")).unwrap_or_default();
        println!("{name:64} {verdict:8} {method:10} {seconds:8.3} s   peers: {peer} {} {best}", peers.who);
        let _ = writeln!(table, "{name},{verdict},{method},{seconds:.3},{peer},{},{best}", peers.who);
    }
    println!("decided {decided} of {total} (all peers together {by_peers}), {wrong} against a peer");
    fs::create_dir_all("bench").map_err(|e| e.to_string())?;
    fs::write("bench/nets.csv", table).map_err(|e| e.to_string())?;
    if wrong > 0 { Err(format!("{wrong} verdicts contradict a peer")) } else { Ok(()) }
}

fn peers(oracle: &str) -> BTreeMap<String, Peers> {
    let mut all: BTreeMap<String, Peers> = BTreeMap::new();
    for line in oracle.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let [name, verdict, tool, wall, ..] = fields[..] else { continue };
        let entry = all.entry(name.to_string()).or_default();
        let verdict = match verdict {
            "safe" => "safe",
            "unsafe" => "unsafe",
            _ => continue,
        };
        entry.verdict = Some(verdict);
        let wall: f64 = wall.parse().unwrap_or(f64::INFINITY);
        if entry.best.is_none_or(|best| wall < best) {
            entry.best = Some(wall);
            entry.who = tool.to_string();
        }
    }
    all
}

fn measure(path: &Path) -> Result<(&'static str, &'static str, f64), String> {
    let bytes = fs::read(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let before = cpu_seconds();
    let net = read_spec(&path.display().to_string(), &String::from_utf8_lossy(&bytes))
        .map_err(|all| all[0].to_string())?;
    // The budget is wall-clock time, which on a busy machine is a multiple of what counts.
    let budget = Budget { time: Some(LIMIT * 4), memory: Some(4 << 30), ..Budget::default() };
    let checked = check(&net, Choice::Auto, budget, &mut Quiet).map_err(|e| e.to_string())?;
    let seconds = cpu_seconds() - before;
    let verdict = match checked.verdict {
        _ if seconds > LIMIT.as_secs_f64() => "unknown",
        Verdict::Holds => "safe",
        Verdict::Violated(_) => "unsafe",
        Verdict::Unknown(_) => "unknown",
    };
    Ok((verdict, checked.method.name(), seconds))
}
