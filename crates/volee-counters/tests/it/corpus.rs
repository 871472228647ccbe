//! The counter programs of the shared corpus, against the verdicts that other tools gave.

use std::path::PathBuf;
use std::time::Duration;

use volee_counters::{Answer, Direction, Options, Outcome, Program, check, parse_fst, parse_spec};
use volee_system::Budget;

pub fn corpus() -> Option<PathBuf> {
    volee_testkit::corpus::corpus("counters")
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

fn names() -> Vec<String> {
    let Some(dir) = corpus() else { return Vec::new() };
    let mut names: Vec<String> = std::fs::read_dir(dir)
        .expect("a folder")
        .map(|e| e.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// The verdict of other tools on the net of the same name.
fn oracle(name: &str) -> Option<bool> {
    let table = std::fs::read_to_string(corpus()?.join("../nets/oracle.csv")).expect("readable");
    let stem = name.split('.').next().unwrap_or(name);
    table.lines().find_map(|line| {
        let mut fields = line.split(',');
        let file = fields.next()?.rsplit('/').next()?.strip_suffix(".spec")?.to_owned();
        match (file == stem, fields.next()?) {
            (true, "safe") => Some(true),
            (true, "unsafe") => Some(false),
            _ => None,
        }
    })
}

#[test]
fn programs_of_the_corpus_are_decided_as_other_tools_decide_them() {
    for name in names() {
        // Half a minute of work; see `survey`.
        if name.starts_with("pncsacover") {
            continue;
        }
        let answer = decide(&name, Direction::Both, 60).expect("present");
        let safe = match answer.outcome {
            Outcome::Holds { .. } => true,
            Outcome::Violated { .. } => false,
            Outcome::Unknown(limit) => panic!("{name}: {limit}"),
        };
        assert_eq!(safe, !name.starts_with("swimming"), "{name}");
        // The net of this name that others were asked about starts with at least one of each.
        if name != "swimmingpool.fst" {
            assert!(oracle(&name).is_none_or(|verdict| verdict == safe), "{name}");
        }
    }
}
