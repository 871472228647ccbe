//! The counter programs of the shared corpus, against the verdicts that other tools gave.

use std::path::PathBuf;
use std::time::Duration;

use volee_counters::{Answer, Direction, Options, Outcome, Program, check, parse_fst, parse_spec};
use volee_system::Budget;

pub fn corpus() -> Option<PathBuf> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus/counters");
    if path.is_dir() {
        return Some(path);
    }
    println!("skipped: the shared corpus is not here");
    None
}

pub fn read(name: &str) -> Option<Program> {
    let path = corpus()?.join(name);
    let text = std::fs::read_to_string(&path).expect("readable");
    let parsed = if name.ends_with(".fst") { parse_fst(name, &text) } else { parse_spec(name, &text) };
    Some(parsed.unwrap_or_else(|e| panic!("{name}: {e:?}")))
}

fn decide(name: &str, direction: Direction, seconds: u64) -> Option<Answer> {
    let program = read(name)?;
    let budget = Budget { time: Some(Duration::from_secs(seconds)), ..Budget::default() };
    Some(check(&program, &Options { direction, budget }))
}

#[test]
#[ignore = "takes minutes; run by hand"]
fn survey() {
    let Some(dir) = corpus() else { return };
    let mut names: Vec<String> = std::fs::read_dir(dir)
        .expect("a folder")
        .map(|e| e.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    for name in names {
        for direction in [Direction::Both] {
            let start = std::time::Instant::now();
            let Some(answer) = decide(&name, direction, 20) else { return };
            let verdict = match &answer.outcome {
                Outcome::Holds { .. } => "holds".to_owned(),
                Outcome::Violated { witness, .. } => format!("violated, {} parts", witness.parts.len()),
                Outcome::Unknown(limit) => format!("unknown: {limit}"),
            };
            println!("{name:24} {direction:?} {verdict} {:.2} s {:?}", start.elapsed().as_secs_f64(), answer.statistics);
        }
    }
}
