//! `cargo xtask bench counters [SECONDS]`: the counter programs of the corpus, forward, backward and both at
//! once.
//!
//! Prints verdict and CPU time of each, and stores the run in `bench/counters.csv`.

use std::fmt::Write as _;
use std::time::Duration;

use volee::counters::{Direction, Options, Outcome, check, parse_fst, parse_spec};
use volee::system::Budget;
use xtask::clock::cpu_seconds;

const DIRECTIONS: [Direction; 3] = [Direction::Both, Direction::Forward, Direction::Backward];
const SECONDS: u64 = 20;

pub fn bench(arguments: &[String]) -> Result<(), String> {
    let folder = xtask::corpus::folder("counters").ok_or("the corpus is not beside this checkout")?;
    let seconds = arguments.first().map_or(Ok(SECONDS), |t| t.parse().map_err(|_| "SECONDS is a number"))?;
    let entries = std::fs::read_dir(&folder).map_err(|e| e.to_string())?;
    let mut files: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    files.sort();
    let mut table = String::from("program,direction,verdict,cpu_seconds\n");
    for file in files {
        let name = file.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        let text = std::fs::read_to_string(&file).map_err(|e| format!("{name}: {e}"))?;
        let parsed = if name.ends_with(".fst") { parse_fst(&name, &text) } else { parse_spec(&name, &text) };
        let program = parsed.map_err(|e| format!("{name}: {e:?}"))?;
        for direction in DIRECTIONS {
            let budget = Budget { time: Some(Duration::from_secs(seconds)), ..Budget::default() };
            let start = cpu_seconds();
            let answer = check(&program, &Options { direction, budget });
            let verdict = match &answer.outcome {
                Outcome::Holds { .. } => "holds",
                Outcome::Violated { .. } => "violated",
                Outcome::Unknown(_) => "unknown",
            };
            let line = format!("{name},{direction:?},{verdict},{:.3}", cpu_seconds() - start);
            println!("{line}");
            let _ = writeln!(table, "{line}");
        }
    }
    std::fs::write("bench/counters.csv", table).map_err(|e| format!("bench/counters.csv: {e}"))
}
